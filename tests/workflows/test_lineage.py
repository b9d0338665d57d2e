"""Sessions as a graph: spawned, resumed, forked, compacted; one event in two of them stays one (EVID.5)."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.plugins import ingest_tools
from tallystick.store.memory import MemoryStore
from tallystick.store.protocol import Store
from tallystick.store.sqlite import SqliteStore
from tallystick.testing.trails import trail_over
from tallystick.trail import Trail
from tallystick.workflows.ingest import IngestReport, ingest
from tallystick.workflows.lineage import Kin, lineage, tree
from tallystick.workflows.why import why
from tests.growth import assert_linear
from tests.sessions import START, ClaudeCode, Codex, session_id

RULE = "Always run the linter before committing."


def fork(of: ClaudeCode, name: str, records: int | None = None, *, minutes: int = 60) -> ClaudeCode:
    """A session that tells the first records of another again, under its own id, and goes on from there later."""
    copy = ClaudeCode(name, cwd=of.cwd, start=START + timedelta(minutes=minutes))
    for line in of.records[:records]:
        record = json.loads(line) | {"sessionId": copy.id}
        copy.records.append(json.dumps(record, ensure_ascii=False).encode() + b"\n")
    return copy


def agent(of: ClaudeCode, name: str) -> ClaudeCode:
    """A sub-agent's own file: the parent's session id, and its first record the parent's brief."""
    told = ClaudeCode(f"{of.id}/{name}", cwd=of.cwd)
    told.says("Remember: always use tabs.").answers("The tests pass.")
    told.records = [
        json.dumps(json.loads(line) | {"sessionId": of.id, "isSidechain": True, "agentId": name}).encode() + b"\n"
        for line in told.records
    ]
    return told


class World:
    """A trail, and what was ingested into it."""

    def __init__(self, folder: Path, store: Store | None = None) -> None:
        self.trail: Trail = trail_over(store or MemoryStore())
        self.folder = folder

    def read(self, session: ClaudeCode | Codex, name: str = "") -> IngestReport:
        path = self.folder / (name or session.file_name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(session.data)
        return ingest(self.trail, [path], ingest_tools({"TALLY_PERSON": "ada"}))

    def kin(self, name: str, thread: str = "", as_of: str | None = None) -> Kin:
        wanted = session_id(name)
        return next(
            each for each in lineage(self.trail, as_of=as_of) if (each.native_id, each.thread) == (wanted, thread)
        )


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A fresh one."""
    return World(tmp_path)


def test_a_fork_is_one_event_in_two_sessions(world: World) -> None:
    """EVID.5 (pitfall 13): what a fork tells again is one event of two lineages; the claim stands once, and having been copied
    is no second observation of it."""
    one = ClaudeCode("one").says(RULE).answers("Yes.")
    first = world.read(one)
    two = fork(one, "two").says("Use ruff for that.")
    second = world.read(two)
    assert first.claims >= 1
    assert (second.counts["events_shared"], second.counts["events_archived"]) == (2, 3)
    assert second.counts["claims:reconfirmed"] == second.counts["claims:contradictions"] == 0
    with world.trail.reading() as rows:
        claims = [row for row in rows.claims_of(world.kin("one").session) if rows.text(row.claim) == RULE]
        assert len(claims) == 1
        assert [touch.kind for touch in rows.touches(claims[0].claim)].count("reconfirmed") == 0
        assert not [row for row in rows.claims_of(world.kin("two").session) if rows.text(row.claim) == RULE]
    assert len(why(world.trail, claims[0].claim, None).evidence) == 1
    assert (world.kin("two").fork_of, world.kin("two").shared) == (world.kin("one").session, 2)
    assert world.kin("one").forks == (world.kin("two").session,)


def test_a_fork_that_is_read_first(world: World) -> None:
    """EVID.5 (pitfall 13): the claim stands once in this order too."""
    one = ClaudeCode("one").says(RULE).answers("Yes.")
    assert world.read(fork(one, "two").says("Use ruff for that.")).claims >= 1
    report = world.read(one)
    assert (report.claims, report.counts["claims:reconfirmed"]) == (0, 0)
    assert world.kin("two").fork_of == world.kin("one").session


Order = Sequence[int]


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_who_is_the_original_does_not_depend_on_the_order(world: World, order: Order) -> None:
    """EVID.5 (pitfall 13): of sessions that share records, the one that went its own way first is the original."""
    one = ClaudeCode("one").says(RULE).answers("Yes.").says("Now the tests.").answers("Done.")
    resumed = fork(one, "resumed", 4, minutes=60).says("Go on.").answers("I did.")
    early = fork(one, "early", 2, minutes=120).says("Something else.")
    again = fork(resumed, "again", minutes=180).says("And on.")
    sessions = [one, resumed, early, again]
    for number in order:
        world.read(sessions[number])
    names = ("one", "resumed", "early", "again")
    seqs = {name: world.kin(name).session for name in names}
    above = {name: world.kin(name).fork_of for name in names}
    assert above == {"one": -1, "resumed": seqs["one"], "early": seqs["one"], "again": seqs["resumed"]}
    assert [world.kin(name).shared for name in names] == [0, 4, 2, 6]


def test_an_earlier_copy_of_a_session_is_the_same_session(world: World) -> None:
    """EVID.5 (pitfall 14): a backup has the session's own id: it adds nothing, whichever was read first."""
    whole = ClaudeCode("one").says(RULE).answers("Yes.").says("Now the tests.")
    earlier = ClaudeCode("one").says(RULE).answers("Yes.")
    world.read(earlier, "backup.jsonl")
    assert world.read(whole).counts["events_archived"] == 1
    assert world.read(earlier, "backup-2.jsonl").counts["events_archived"] == 0
    assert len(lineage(world.trail)) == 1
    assert world.kin("one").events == 3


def test_a_sub_agent_stands_under_its_parent(world: World) -> None:
    """EVID.6 (pitfall 21): a thread of its own; its first prompt is its parent's, no preference or correction of a person."""
    one = ClaudeCode("one").says(RULE)
    world.read(agent(one, "a1b2c3"), f"{one.id}/subagents/agent-a1b2c3.jsonl")
    orphan = world.kin("one", "a1b2c3")
    assert (orphan.parent, orphan.missing) == (-1, one.id)
    world.read(one)
    parent, child = world.kin("one"), world.kin("one", "a1b2c3")
    assert (child.parent, child.missing, parent.agents) == (parent.session, "", (child.session,))
    with world.trail.reading() as rows:
        assert {row.origin for row in rows.claims_of(child.session)} <= {"assistant", "delegated"}
        assert not [row for row in rows.claims_of(child.session) if row.kind in ("preference", "correction")]
    assert [line.startswith(mark) for line, mark in zip(tree([parent, child]), ["s", "└─ s"], strict=True)] == [
        True,
        True,
    ]


def test_a_codex_child_names_its_parent(world: World) -> None:
    """EVID.6 (pitfall 18): a spawned thread and a fork name where they come from."""
    world.read(Codex("one").says(RULE))
    for name, named in {
        "spawned": {"source": {"subagent": {"thread_spawn": {"parent_thread_id": session_id("one")}}}},
        "forked": {"forked_from_id": session_id("one")},
        "lost": {"forked_from_id": session_id("nobody")},
    }.items():
        child = Codex(name).says(f"Never commit to {name}.")
        meta = json.loads(child.records[0])
        meta["payload"] |= named
        child.records[0] = json.dumps(meta).encode() + b"\n"
        world.read(child, f"rollout-{name}.jsonl")
    one = world.kin("one")
    assert world.kin("spawned", session_id("spawned")).parent == one.session
    assert world.kin("forked").fork_of == one.session
    assert (world.kin("lost").fork_of, world.kin("lost").missing) == (-1, session_id("nobody"))
    assert len(one.agents) == len(one.forks) == 1


def compacted(session: ClaudeCode) -> ClaudeCode:
    """A compaction: a boundary without a parent, and the summary that the session goes on from."""
    before = json.loads(session.records[-1])["uuid"]
    session.record("system", subtype="compact_boundary", parentUuid=None, logicalParentUuid=before, content="Compacted")
    told = "This session is being continued from a previous conversation that ran out of context. The tests pass."
    return session.record("user", isCompactSummary=True, message={"role": "user", "content": told})


def test_rounds_of_compaction_are_marked(world: World) -> None:
    """EVID.3 (pitfalls 20, 29): what stands before a boundary and after it is all there, whatever the parents of records say;
    the summaries are marked, and nobody's words."""
    one = compacted(compacted(ClaudeCode("one").says(RULE)).says("Go on.")).says("And on.")
    record = json.loads(one.records[-1]) | {"parentUuid": session_id("not in the file")}
    one.records[-1] = json.dumps(record).encode() + b"\n"
    report = world.read(one)
    assert (report.events, report.problems) == (5, [])
    kin = world.kin("one")
    assert len(kin.compactions) == 2
    assert kin.compactions[0].at is not None
    assert "compacted 2 times" in tree([kin])[0]
    with world.trail.reading() as rows:
        assert all(row.kind != "outcome" for row in rows.claims_of(kin.session))


def test_a_title_of_another_session_is_not_this_ones(world: World) -> None:
    """EVID.6 (pitfall 27): a ``summary`` line at the head may be about another session: it names the one it ends at."""
    other = ClaudeCode("other").says("Something.")
    leaf = json.loads(other.records[-1])["uuid"]
    one = ClaudeCode("one")
    one.raw(json.dumps({"type": "summary", "summary": "Other work", "leafUuid": leaf}).encode())
    one.says(RULE)
    mine = {"type": "summary", "summary": "The linter", "leafUuid": json.loads(one.records[-1])["uuid"]}
    world.read(one.raw(json.dumps(mine).encode()))
    with world.trail.reading() as rows:
        facts = [json.loads(name.facts) for name in rows.names("session")]
    assert [each.get("title") for each in facts] == ["The linter"]


def test_a_message_in_several_records_is_one(world: World) -> None:
    """EVID.5 (pitfall 19): a message may lie in several records of one ``message.id``: its blocks in order, each once."""
    one = ClaudeCode("one").says(RULE)
    for block in ("First.", "Second.", "Third."):
        content = [{"type": "text", "text": block}]
        one.record("assistant", message={"id": "msg_1", "model": "m", "role": "assistant", "content": content})
    world.read(one)
    from tallystick.workflows.sessions import find_session

    session = find_session(world.trail, session_id("one"), [])
    assert [event.text for event in session.events] == [RULE, "First.", "Second.", "Third."]


def test_inline_sub_agents_are_threads(world: World) -> None:
    """EVID.6 (pitfall 21): early versions wrote a sub-agent among its parent's records."""
    one = ClaudeCode("one").says(RULE)
    one.record("user", isSidechain=True, message={"role": "user", "content": "Look at the tests."})
    world.read(one)
    assert world.kin("one").threads == ("sidechain",)


def test_as_of(world: World) -> None:
    """TIME.4: at an earlier point the graph is what it was."""
    one = ClaudeCode("one").says(RULE)
    world.read(one)
    with world.trail.reading() as rows:
        then = str(rows.head().size - 1)
    before = lineage(world.trail, as_of=then)
    world.read(compacted(fork(one, "two")).says("More."))
    world.read(compacted(one))
    assert lineage(world.trail, as_of=then) == before
    assert [each.fork_of for each in before] == [-1]
    assert len(lineage(world.trail)) == 2


def test_as_of_before_a_session_repeated_another(world: World) -> None:
    """TIME.4: what two sessions share counts from when it was read."""
    one, two = ClaudeCode("one").says(RULE), ClaudeCode("two").pause(hours=1).says("Use tabs.")
    world.read(one)
    world.read(two)
    with world.trail.reading() as rows:
        then = str(rows.head().size - 1)
    two.records = fork(one, "two").records + two.records
    world.read(two)
    assert (world.kin("two", as_of=then).fork_of, world.kin("two", as_of=then).shared) == (-1, 0)
    assert (world.kin("two").fork_of, world.kin("two").shared) == (world.kin("one").session, 1)


def test_one_family(world: World) -> None:
    """EVID.5: asked about one session, all that hang together with it are given, and no others."""
    one = ClaudeCode("one").says(RULE)
    world.read(one)
    world.read(fork(one, "two").says("More."))
    world.read(agent(one, "a1"), f"{one.id}/subagents/agent-a1.jsonl")
    world.read(ClaudeCode("alone").says("Something else entirely."))
    family = lineage(world.trail, world.kin("two").session)
    assert {each.native_id for each in family} == {session_id("one"), session_id("two")}
    assert len(family) == 3
    assert len(lineage(world.trail, world.kin("alone").session)) == 1
    assert lineage(world.trail, 10**6) == []
    assert lineage(trail_over(MemoryStore())) == []


@pytest.mark.parametrize("names", [["a"], ["a", "b"], ["a", "b", "c"]])
def test_sessions_that_name_each_other_in_a_circle(world: World, names: list[str]) -> None:
    """EVID.3: every session stands in the tree once, and asking ends."""
    for name, parent in zip(names, names[1:] + names[:1], strict=True):
        child = Codex(name).says(f"Never commit to {name}.")
        meta = json.loads(child.records[0])
        meta["payload"]["forked_from_id"] = session_id(parent)
        child.records[0] = json.dumps(meta).encode() + b"\n"
        world.read(child, f"{name}.jsonl")
    found = lineage(world.trail)
    assert len(tree(found)) == len(found) == len(names)
    assert len([each for each in found if each.above < 0]) == 1


@given(st.lists(st.tuples(st.integers(-1, 12), st.integers(-1, 12), st.booleans()), max_size=12), st.randoms())
def test_every_session_stands_in_the_tree_once(edges: list[tuple[int, int, bool]], random: Any) -> None:
    """EVID.3: whatever sessions say of each other; also of a part of them."""
    from tallystick.workflows.lineage import _break_circles

    known = {
        n: Kin(
            n,
            "codex",
            str(n),
            "",
            "",
            1,
            parent=parent if parent < len(edges) else -1,
            fork_of=of if of < len(edges) else -1,
        )
        for n, (parent, of, _) in enumerate(edges)
    }
    _break_circles(known)
    shown = [each for each in known.values() if edges[each.session][2]]
    lines = tree(shown)
    assert sorted(int(line.lstrip("│├└─ s").split()[0].rstrip(",")) for line in lines) == [
        each.session for each in shown
    ]


def test_the_tree_as_a_person_reads_it(world: World) -> None:
    """EVID.5: each session under the one that it comes from."""
    one = ClaudeCode("one").says(RULE).answers("Yes.")
    world.read(one)
    world.read(agent(one, "a1"), f"{one.id}/subagents/agent-a1.jsonl")
    two = fork(one, "two").says("More.")
    world.read(two)
    world.read(compacted(fork(two, "three", minutes=120)))
    number = [each.session for each in lineage(world.trail)]
    assert tree(lineage(world.trail)) == [
        f"s{number[0]} claude-code, 2 events",
        f"├─ s{number[1]} sub-agent, 2 events",
        f"└─ s{number[2]} resumed or forked, 2 of 3 events told by s{number[0]} too",
        f"   └─ s{number[3]} resumed or forked, 3 of 4 events told by s{number[2]} too, compacted 1 times",
    ]


def test_many_copies_cost_what_they_hold(tmp_path: Path) -> None:
    """EVID.10: a session that was forked again and again costs as much as all its copies hold, not each with each."""

    worlds: dict[str, World] = {}
    number = itertools.count()

    def make(copies: int) -> str:
        world = worlds[str(copies)] = World(
            tmp_path / str(copies), SqliteStore(tmp_path / f"trail-{copies}-{next(number)}")
        )
        one = ClaudeCode("one")
        for line in range(10):
            one.says(f"Line {line} of the talk.")
        for copy in range(copies):
            world.read(fork(one, f"copy {copy}", minutes=60 + copy).says(f"Own {copy}."))
        return str(copies)

    assert_linear(lambda copies: lineage(worlds[copies].trail), make, 7)
