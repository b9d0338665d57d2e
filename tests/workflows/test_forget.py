"""Forgetting over every store: what goes, what stays as it was, what comes again, and what is said of each place (ERASE)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.errors import UndoRefused, UnknownId, UsageError
from tallystick.model.claim import ClaimKind
from tallystick.model.entry import EntryKind, LogName
from tallystick.model.temporal import UNKNOWN_VALID_TIME, Interval, ValidTime
from tallystick.plugins import adapters, ingest_tools
from tallystick.store.memory import MemoryStore
from tallystick.store.protocol import VIEWS, Belief, Selection, Store
from tallystick.store.sqlite import SqliteStore
from tallystick.testing import strategies
from tallystick.testing.trails import SetClock, trail_over
from tallystick.trail import Trail
from tallystick.trail.verifying import verify_log
from tallystick.workflows import forget as forgetting
from tallystick.workflows.amend import merge, retract, revise, undo
from tallystick.workflows.brief import make_briefing
from tallystick.workflows.cite import cite
from tallystick.workflows.contexts import contexts
from tallystick.workflows.corrections import mark_corrected
from tallystick.workflows.diff import diff
from tallystick.workflows.forget import Forgotten, Selector, forget
from tallystick.workflows.ingest import IngestReport, ingest
from tallystick.workflows.places import Place
from tallystick.workflows.recall import recall
from tallystick.workflows.remember import Said, Tools, remember
from tallystick.workflows.replay import replay
from tallystick.workflows.scoping import EVERYONE, Scope
from tallystick.workflows.selecting import all_parts
from tallystick.workflows.sessions import find_session
from tallystick.workflows.valid_times import valid_part
from tallystick.workflows.verify import verify_trail
from tallystick.workflows.why import why
from tests.sessions import START, ClaudeCode

MAKES: dict[str, Callable[[Path], Store]] = {"memory": lambda _: MemoryStore(), "sqlite": SqliteStore}
ALL = Scope((EVERYONE,))
SECRET = "Kestrel-7731"
"""A word that is nowhere but where a test puts it."""


class Here(NamedTuple):
    """Where a test stands: a trail, and a folder for transcripts."""

    trail: Trail
    folder: Path

    def ingest(self, *sessions: Any, thorough: bool = False) -> IngestReport:
        """Write sessions as files of their harness and read them."""
        paths = [session.write(self.folder) for session in sessions]
        return ingest(self.trail, paths, ingest_tools({"TALLY_PERSON": "ada"}, thorough=thorough))

    def forget(self, *, key: bool = True, because: str = "asked for", dry_run: bool = False, **what: Any) -> Forgotten:
        """Forget, with the person's key unless told otherwise."""
        return forget(self.trail, Selector(**what), because, dry_run=dry_run, persons_key=key)

    def believed(self, seq: int | None = None) -> list[Belief]:
        """What is believed by anyone, at a point."""
        with self.trail.reading() as rows:
            return rows.believed(Selection(rows.head().size - 1 if seq is None else seq))

    def claim(self, word: str) -> int:
        """The claim in whose text a word stands."""
        return next(belief.row.claim for belief in self.believed() if word in (belief.text or ""))

    def size(self, log: LogName = LogName.MEMORY) -> int:
        """Entries of a log."""
        with self.trail.reading(log) as rows:
            return rows.head().size

    def sound(self) -> bool:
        """Whether every log is, by its bytes: what is new since it was last asked, and all of it."""
        for incremental in (True, False):
            found = verify_trail(self.trail, incremental=incremental)
            assert [report.bad for report in found.reports if report.bad] == []
        return True

    def remember(self, text: str, **more: Any) -> int:
        """Keep a claim by hand."""
        said = Said(
            text, more.pop("kind", ClaimKind.FACT), more.pop("quote", ""), more.pop("valid", UNKNOWN_VALID_TIME)
        )
        return remember(self.trail, said, more.pop("session", None), Tools(len, "project:/work/shop", "person:ada")).id

    def words(self) -> str:
        """Everything that the trail holds, as text."""
        found = []
        for log in LogName:
            with self.trail.reading(log) as rows:
                found += [part.body.decode("utf-8", "replace") for part in all_parts(rows)]
                found += [str(row) for view in VIEWS for row in rows.rows(view)]
                sessions = [name.seq for name in rows.names("session")]
                found += [str(source) for session in sessions for source in rows.sources(session)]
            found += [event.text for session in sessions for event in _events(self.trail, session)]
        return "\n".join(found)


def _events(trail: Trail, session: int) -> tuple[Any, ...]:
    return find_session(trail, f"s{session}", adapters()).events


@pytest.fixture(params=sorted(MAKES))
def here(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Here]:
    """A trail over each store."""
    trail = trail_over(MAKES[request.param](tmp_path / "trail"), clock=SetClock())
    folder = tmp_path / "sessions"
    folder.mkdir()
    yield Here(trail, folder)
    trail.store.close()


def place(done: Forgotten, name: str, state: str = "erased") -> Place | None:
    """The line of a report about a place in a state."""
    return next((each for each in done.places if (each.place, each.state) == (name, state)), None)


def pieces(done: Forgotten, name: str, state: str = "erased") -> int:
    """How many pieces a report says of a place in a state."""
    found = place(done, name, state)
    return found.pieces if found else 0


def told(name: str = "one", word: str = SECRET, *, start: Any = START) -> ClaudeCode:
    """A session with the word in a rule, in what an assistant says it did, in a command, in output and in a path."""
    session = ClaudeCode(name, start=start)
    session.says(f"Always run the {word} linter before committing.")
    session.edits(f"/work/shop/{word}.py", "a", "b")
    session.runs(f"pytest -q -k {word}", "5 passed")
    session.answers("All 5 tests pass.")
    session.calls("Write", {"file_path": f"/work/shop/docs/{word}.md", "content": "x"}, "File created successfully")
    session.answers(f"Created `docs/{word}.md` with the settings.")
    session.says("Never push to main directly.")
    return session


# By claim


def test_a_claim_goes_with_everything_that_was_said_of_it(here: Here) -> None:
    """ERASE.1, 2: text, quote, facets, verdicts and reasons go; the log is sound, and the archive is said to have its words."""
    here.ingest(told())
    assert here.sound()
    claim = here.claim("Created")
    before = here.size()
    recall(here.trail, "settings", ALL, as_of=None)
    make_briefing(here.trail, ALL, as_of=None, budget=2000)
    done = here.forget(claim=claim)
    assert (done.exit_code, done.claims) == (0, (claim,))
    assert pieces(done, "parts") >= 4
    assert pieces(done, "search index") == 1
    assert pieces(done, "access log") == 2
    kept = place(done, "archive", "kept")
    assert kept is not None
    assert "--session" in kept.why
    assert here.sound()
    assert claim not in {belief.row.claim for belief in here.believed()}
    (gone,) = (belief for belief in here.believed(before - 1) if belief.row.claim == claim)
    assert (gone.text, gone.row.kind, gone.row.subject, gone.reason, gone.derivation) == (None, "", "", "", "inferred")
    for log in LogName:
        with here.trail.reading(log) as rows:
            assert f"Created `docs/{SECRET}" not in "".join(str(part.body) for part in all_parts(rows))


def test_an_answer_that_cited_it_goes_too(here: Here) -> None:
    """ERASE.1, ACCESS.2, bitemporal case 29: the words of an answer and its context go; that it cited the claim stays."""
    claim = here.remember(f"the code name is {SECRET}")
    other = here.remember("the colour is blue")
    shown = recall(here.trail, "code name colour", ALL, as_of=None)
    answer = cite(here.trail, "It is the one that is a bird.", [claim], [shown.recall]).answer
    kept = cite(here.trail, "It is blue.", [other], [shown.recall]).answer
    retract(here.trail, claim, "over")
    mark_corrected(here.trail)
    done = here.forget(claim=claim)
    assert pieces(done, "access log") == 2
    given = contexts(here.trail, f"a{answer}", None)
    assert (given.text, [context.gone for context in given.contexts]) == (None, ["erased"])
    assert contexts(here.trail, f"a{kept}", None).text == "It is blue."
    assert SECRET not in here.words()
    assert here.sound()


def test_a_verdict_that_goes_is_no_correction(here: Here) -> None:
    """ERASE.1, ACCESS.2: a claim that lost a verdict to a text has it in its history, and is what past answers cited."""
    claim = here.remember("the colour is blue")
    shown = recall(here.trail, "colour", ALL, as_of=None)
    cite(here.trail, None, [claim], [shown.recall])
    said = {"verdicts": [{"verifier": "quotation/1", "value": "inferred", "reason": f"unlike {SECRET}"}]}
    with here.trail.writing() as appender:
        appender.add(EntryKind.JUDGED, {f"verdict/{claim}": json.dumps(said).encode()}, refs=[claim])
    done = here.forget(text=SECRET)
    assert pieces(done, "parts") == 1
    assert [line.kind for line in why(here.trail, claim, None).history][-1] == "erased"
    assert mark_corrected(here.trail) == []
    assert here.sound()


def test_as_of_before_there_is_a_tombstone(here: Here) -> None:
    """ERASE.2, bitemporal case 29: id, when it was held and what erased it, never the value; the same for why and replay."""
    first = here.remember("the port is 5432")
    second = here.remember("the cache is memcached")
    revise(
        here.trail, second, f"the cache is {SECRET}", "seen", change=False, valid=UNKNOWN_VALID_TIME, count_tokens=len
    )
    newer = here.claim(SECRET)
    retract(here.trail, first, "it moved")
    before = here.size() - 1
    done = here.forget(claim=newer)
    found = replay(here.trail, ALL, as_of=str(before))
    (item,) = (item for item in found.items if item.row.claim == newer)
    assert item.text is None
    assert found.erased[newer] == (done.seq, found.erased[newer].at, "asked for")
    was = why(here.trail, newer, str(before))
    assert was.text is None
    assert was.erased is not None
    assert was.erased.seq == done.seq
    assert SECRET not in repr(was)
    assert [line.kind for line in why(here.trail, newer, None).history][-1] == "erased"
    assert why(here.trail, second, None).erased is None
    retracted = replay(here.trail, ALL, as_of=str(first)).items
    assert [item.text for item in retracted] == ["the port is 5432"]
    steps = diff(here.trail, ALL, str(before), None).steps
    assert [(step.how, step.claim, step.text) for step in steps] == [("erased", newer, None)]


def test_forgetting_it_again_finds_nothing(here: Here) -> None:
    """ERASE.1: a second time adds no entry and says that nothing was found."""
    claim = here.remember(f"the key is {SECRET}")
    here.forget(claim=claim)
    size = here.size()
    done = here.forget(claim=claim)
    assert (done.exit_code, done.seq, here.size()) == (0, -1, size)
    assert {each.state for each in done.places if each.place in ("parts", "search index", "access log")} == {
        "not found"
    }


def test_reasons_that_may_quote_it_go(here: Here) -> None:
    """ERASE.1: the reason of a retraction and of a revision goes with either claim, and nothing else of the other."""
    old = here.remember(f"the vault is {SECRET}")
    new = revise(
        here.trail, old, "the vault is Bao", f"it was never {SECRET}", change=False, valid=UNKNOWN_VALID_TIME,
        count_tokens=len,
    ).id  # fmt: skip
    with here.trail.writing() as appender:
        appender.add(EntryKind.LINKED, {"contradicts": b"{}", "because": SECRET.encode()}, refs=[new, old])
    here.forget(claim=old)
    assert SECRET not in here.words()
    assert [belief.text for belief in here.believed()] == ["the vault is Bao"]
    assert why(here.trail, new, None).text == "the vault is Bao"
    assert here.sound()


def test_when_others_hold_rests_on_it(here: Here) -> None:
    """ERASE.1, TIME.7: the valid time of a claim that narrowed another is kept, and said to be; a free one goes."""
    year = ValidTime(
        (Interval(0, 86_400_000_000),), start_known=True, end_known=True, precision="day", words=f"in {SECRET}"
    )
    free = here.remember("the freeze is on", valid=year)
    old = here.remember("X is on call")
    revise(here.trail, old, "Y is on call", "swap", change=False, valid=year, count_tokens=len)
    new = here.claim("Y is")
    points = [here.believed(seq) for seq in range(here.size())]
    assert place(here.forget(claim=free), "parts", "kept") is None
    done = here.forget(claim=new)
    kept = place(done, "parts", "kept")
    assert kept is not None
    assert kept.where == (f"c{new}",)
    assert {name for name, _ in _parts(here.trail, free)} == set()
    assert {name for name, _ in _parts(here.trail, new)} == {"valid"}
    assert here.sound()
    for seq, then in enumerate(points):
        mine = [belief for belief in then if belief.row.claim == old]
        assert [belief for belief in here.believed(seq) if belief.row.claim == old] == mine
    left = here.forget(text=SECRET)
    assert left.exit_code == 1
    assert place(left, "parts", "found") is not None


def _parts(trail: Trail, seq: int) -> list[tuple[str, bytes]]:
    with trail.reading() as rows:
        return [(part.name, part.body) for part in rows.parts(seq)]


# By session


def test_a_session_goes_whole(here: Here) -> None:
    """ERASE.1, 2: events, claims, name, folder and notes of files go; entries and manifests stay and verify."""
    here.ingest(told())
    assert here.sound()
    session = _session(here)
    done = here.forget(session=session)
    assert done.exit_code == 0
    assert pieces(done, "archive") == 10
    assert pieces(done, "source notes") == 1
    assert pieces(done, "transcripts", "kept") == 1
    assert here.believed() == []
    assert SECRET not in here.words()
    assert "/work/shop" not in here.words().replace("project:/work/shop", "")
    assert find_session(here.trail, f"s{session}", adapters())[2:] == ((), session, 10)
    assert here.sound()


def _session(here: Here, place: int = 0) -> int:
    with here.trail.reading() as rows:
        return rows.names("session")[place].seq


def test_what_another_session_bears_out_stays(here: Here) -> None:
    """ERASE.1: a claim that two sessions said stays when one is forgotten, without that one's quote and verdicts."""
    one, two = told("one"), told("two", start=START.replace(day=5))
    here.ingest(one)
    here.ingest(two)
    claim = here.claim("Created")
    points = range(here.size())
    before = [here.believed(seq) for seq in points]
    done = here.forget(session=_session(here))
    kept = place(done, "parts", "kept")
    assert kept is not None
    assert f"c{claim}" in kept.where
    (belief,) = (belief for belief in here.believed() if belief.row.claim == claim)
    assert (belief.text, belief.derivation, belief.outcome) == (
        f"Created `docs/{SECRET}.md` with the settings.",
        "verbatim",
        "witnessed",
    )
    assert why(here.trail, claim, None).quote == ""
    with here.trail.reading() as rows:
        verdicts = [part.body.decode() for part in all_parts(rows) if part.name == f"verdict/{claim}"]
    assert verdicts
    assert not any(f'"s{_session(here)}"' in body for body in verdicts)
    assert {line.session for line in why(here.trail, claim, None).evidence if not line.erased} == {_session(here, 1)}
    assert here.sound()
    for seq in points:
        assert [b.row.claim for b in here.believed(seq)] == [b.row.claim for b in before[seq]]


def test_a_forks_copies_go_too(here: Here) -> None:
    """ERASE.2, EVID.5: a session that repeats the records of another shares their bytes; no copy of them is left."""
    one = told("one")
    fork = ClaudeCode("fork")
    fork.records = [record.replace(one.id.encode(), fork.id.encode()) for record in one.records[:6]]
    kept = ClaudeCode("other").says("Never deploy on a Friday.")
    here.ingest(one)
    here.ingest(fork)
    here.ingest(kept)
    done = here.forget(session=_session(here))
    assert pieces(done, "archive") == 16
    assert _events(here.trail, _session(here, 1)) == ()
    assert [event.text for event in _events(here.trail, _session(here, 2))] == ["Never deploy on a Friday."]
    assert here.sound()


# By text


def test_a_text_goes_from_everywhere(here: Here) -> None:
    """ERASE.1, 2: claims, events, reasons, questions, briefings and paths in which it stands go; their neighbours stay."""
    here.ingest(told(), ClaudeCode("other").says("Never deploy on a Friday.").answers("Noted."))
    asked = here.remember("the colour is blue")
    retract(here.trail, asked, f"{SECRET} was meant")
    recall(here.trail, f"what of {SECRET}?", ALL, as_of=None)
    make_briefing(here.trail, ALL, as_of=None, budget=2000)
    others = {belief.row.claim: belief.text for belief in here.believed() if SECRET not in (belief.text or "")}
    events = [event.text for n in (0, 1) for event in _events(here.trail, _session(here, n))]
    done = here.forget(text=SECRET)
    assert done.exit_code == 0
    assert pieces(done, "archive") == 8
    assert pieces(done, "access log") == 3
    assert SECRET not in here.words()
    assert {belief.row.claim: belief.text for belief in here.believed()} == others
    left = [event.text for n in (0, 1) for event in _events(here.trail, _session(here, n))]
    assert left == ["All 5 tests pass.", "Never push to main directly.", "Never deploy on a Friday.", "Noted."]
    assert len(events) == len(left) + 8
    assert here.sound()
    assert why(here.trail, here.claim("Never push"), None).evidence[0].digest_ok


def test_a_word_of_the_format_takes_nothing_by_its_fields(here: Here) -> None:
    """ERASE.1: the names of fields and kinds stand in every part; forgetting such a word erases where it was said."""
    here.ingest(told())
    here.remember("the session timed out")
    before = len(here.believed())
    done = here.forget(text="session")
    assert pieces(done, "parts") <= 4
    assert len(here.believed()) == before - 1
    assert here.forget(text="verifier", dry_run=True).claims == ()


@pytest.mark.parametrize("text", ['say "no"\n\ttwice', "naïve – 東京 😀", "back\\slash", "\u007f\u0001 odd"])
def test_a_text_is_found_however_it_is_written(here: Here, text: str) -> None:
    """ERASE.2: JSON writes it with escapes, and a claim's fields, a title and a path may hold it."""
    here.remember(f"first {text} last")
    session = ClaudeCode("one", cwd=f"/work/{text}").says(f"Never say {text} again.").runs(f"echo '{text}'", text)
    here.ingest(session.calls("Write", {"file_path": f"/x/{text}", "content": "x"}, "written"))
    said = {"kind": "fact", "origin": "assistant", "subject": text, "attribute": "a", "value": "v"}
    with here.trail.writing() as appender:
        parts = {"text": b"in a field", "facets": json.dumps(said).encode()}
        appender.add(EntryKind.ASSERTED, parts, holder=appender.holder("project:/work/shop", "project"))
    old = here.remember("the sky is green")
    revise(here.trail, old, f"the sky is {text}", "so", change=False, valid=UNKNOWN_VALID_TIME, count_tokens=len)
    here.forget(text=text)
    assert text not in here.words()
    assert json.dumps(text)[1:-1] not in here.words()
    assert "in a field" not in here.words()
    assert here.sound()


def test_a_secret_is_found_as_it_was_redacted(here: Here) -> None:
    """ERASE.1, EVID.9: a text with a secret in it is found by what was kept of it; the mark of a redaction alone by nothing."""
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    here.ingest(ClaudeCode("one").says(f"Never use {token} at the office.").says(f"Never print {token} elsewhere."))
    assert pieces(here.forget(text=token, dry_run=True), "archive", "found") == 0
    done = here.forget(text=f"use {token} at the office")
    assert pieces(done, "archive") == 1
    assert "at the office" not in here.words()
    assert "elsewhere" in here.words()


# By holder


def test_a_holder_goes_with_claims_sessions_and_name(here: Here) -> None:
    """ERASE.1: what a project holds, its sessions and its name go; another holder's memory stays."""
    here.ingest(told(), ClaudeCode("other", cwd="/work/else").says("Never deploy on a Friday."))
    here.remember("the port is 5432")
    done = here.forget(holder="project:/work/shop")
    assert done.exit_code == 0
    assert "/work/shop" not in here.words()
    assert SECRET not in here.words()
    assert [belief.text for belief in here.believed()] == ["Never deploy on a Friday."]
    assert here.sound()
    with pytest.raises(UsageError, match="no such holder"):
        here.forget(holder="project:/work/shop")


# What comes again


def test_reading_the_source_again_brings_nothing_back(here: Here) -> None:
    """ERASE.3: forgotten by session, by text or by claim, the same file read anew adds no event and no such claim."""
    one, two, three = told("one", "Alpha-1"), told("two", "Beta-2"), told("three", "Gamma-3")
    here.ingest(one, two, three)
    here.forget(session=_session(here))
    here.forget(text="Beta-2")
    gamma = here.claim("Gamma-3.md")
    here.forget(claim=gamma)
    with here.trail.reading() as rows:
        paths = [source.path for name in rows.names("session") for source in rows.sources(name.seq)]
    assert len(paths) == 2
    believed = [belief.text for belief in here.believed()]
    words = here.words()
    for session in (one, two, three):
        path = session.write(here.folder)
        path.touch()
        path.rename(path.with_name(f"again-{path.name}"))
        session.write(here.folder)
    report = ingest(here.trail, [here.folder], ingest_tools({"TALLY_PERSON": "ada"}, thorough=True))
    assert report.problems == []
    assert report.counts["events_archived"] == 0
    assert report.counts["claims:tombstoned"] >= 1
    assert [belief.text for belief in here.believed()] == believed
    assert "Alpha-1" not in here.words()
    assert "Beta-2" not in here.words()
    assert here.words().count("Gamma-3") == words.count("Gamma-3")
    assert here.sound()


def test_an_unchanged_source_is_not_opened_again(here: Here) -> None:
    """ERASE.3, EVID.4: the file of a forgotten session is noted under a keyed digest, and passed over from then on."""
    session = told()
    waiting = {"type": "tool_use", "id": "toolu_waiting", "name": "Bash", "input": {"command": f"make {SECRET}"}}
    session.record("assistant", message={"role": "assistant", "type": "message", "content": [waiting]})
    here.ingest(session)
    number = _session(here)
    with here.trail.reading() as rows:
        assert SECRET.encode() in rows.sources(number)[0].calls
    here.forget(session=number)
    tools = ingest_tools({"TALLY_PERSON": "ada"})
    assert ingest(here.trail, [here.folder], tools).skipped_unchanged == 0
    assert ingest(here.trail, [here.folder], tools).skipped_unchanged == 1
    assert str(here.folder) not in here.words()
    assert SECRET not in here.words()


def test_a_copy_under_other_ids_is_known(here: Here) -> None:
    """ERASE.3: the same words in another session are not archived again; of a forgotten session, if said at the same time."""
    here.ingest(told("one"))
    here.forget(session=_session(here))
    copy = told("copy")
    report = here.ingest(copy)
    assert report.counts["events_archived"] == 0
    assert SECRET not in here.words()
    with here.trail.reading() as rows:
        assert len(rows.names("session")) == 1
    later = ClaudeCode("later", start=START.replace(day=9)).says("Never push to main directly.")
    assert here.ingest(later).counts["events_archived"] == 1
    assert here.sound()


def test_words_forgotten_by_text_are_known_at_any_time(here: Here) -> None:
    """ERASE.3: an event that was erased for its words is known by them alone."""
    here.ingest(told("one"))
    here.forget(text=SECRET)
    report = here.ingest(told("two", start=START.replace(day=9)))
    assert report.counts["events_forgotten"] == 8
    assert SECRET not in here.words()
    assert here.sound()


def test_a_session_that_goes_on_is_heard_from_there(here: Here) -> None:
    """ERASE.3: what is said after a session was forgotten is new; no claim is withdrawn or judged on what is left."""
    session = told()
    here.ingest(session)
    here.forget(text=SECRET)
    kept = {belief.row.claim: belief for belief in here.believed()}
    session.says("Never deploy on a Friday.")
    report = here.ingest(session)
    assert report.counts["events_archived"] == 1
    assert report.counts["claims:withdrawn"] == 0
    now = {belief.row.claim: belief for belief in here.believed()}
    assert {claim: now[claim] for claim in kept} == kept
    assert [belief.text for belief in now.values() if belief.row.claim not in kept] == ["Never deploy on a Friday."]
    assert SECRET not in here.words()
    assert here.sound()


def test_less_evidence_gives_no_better_verdict(here: Here) -> None:
    """ERASE.3, QUOTE.8: forgetting the failed run leaves the claim contradicted, whoever says it again in that session."""
    session = ClaudeCode("one").runs("pytest -q -k Heron-12", "1 failed", exit_code=1).answers("All 5 tests pass.")
    here.ingest(session)
    (before,) = here.believed()
    assert before.outcome == "contradicted"
    here.forget(text="Heron-12")
    left = find_session(here.trail, session.id, adapters())
    again = here.remember("All 5 tests pass.", quote="All 5 tests pass.", kind=ClaimKind.OUTCOME, session=left)
    (after,) = here.believed()
    assert (after, again) == (before, before.row.claim)


def test_a_forgotten_session_that_goes_on_is_the_same(here: Here) -> None:
    """ERASE.3: what is said after it was forgotten stands under its old number, and its name and path do not come back."""
    session = told()
    here.ingest(session)
    number = _session(here)
    here.forget(session=number)
    session.says("Never deploy on a Friday.")
    assert here.ingest(session).counts["events_archived"] == 1
    assert [event.text for event in _events(here.trail, number)] == ["Never deploy on a Friday."]
    assert [belief.text for belief in here.believed()] == ["Never deploy on a Friday."]
    with here.trail.reading() as rows:
        assert [name.name for name in rows.names("session")] == [""]
    assert str(here.folder) not in here.words()
    assert here.sound()


def test_what_was_forgotten_is_not_remembered(here: Here) -> None:
    """ERASE.3: saying it again by hand, or as a correction of something else, is refused and leaves no trace."""
    claim = here.remember(f"the key is {SECRET}")
    other = here.remember("the key is round")
    here.forget(claim=claim)
    here.remember("the door is blue")
    here.forget(text="the door is blue")
    size = here.size()
    with pytest.raises(UsageError, match="forgotten"):
        here.remember(f"the key is {SECRET}")
    with pytest.raises(UsageError, match="forgotten"):
        here.remember("the door is blue")
    with pytest.raises(UsageError, match="forgotten"):
        revise(
            here.trail, other, f"the key is {SECRET}", "so", change=False, valid=UNKNOWN_VALID_TIME, count_tokens=len
        )
    assert here.size() == size


def test_a_claim_that_says_the_same_keeps_its_key(here: Here) -> None:
    """ERASE.3, TIME.12: forgetting the first of two that say the same leaves the second to be reconfirmed."""
    first = here.remember("the port is 5432")
    retract(here.trail, first, "moved")
    second = here.remember("the port is 5432")
    done = here.forget(claim=first)
    kept = [each for each in done.places if each.state == "kept" and f"c{second}" in each.where]
    assert len(kept) == 1
    assert here.remember("the port is 5432") == second


# The person's key


def test_a_persons_words_need_their_key(here: Here) -> None:
    """ERASE.4: without it a proposal is appended and nothing else changes; that is said, and it goes with the words."""
    here.ingest(told())
    rule = here.claim("Always run")
    size, believed, searched = here.size(), here.believed(), here.words().count(SECRET)
    for what in ({"claim": rule}, {"session": _session(here)}, {"text": SECRET}, {"holder": "project:/work/shop"}):
        done = here.forget(key=False, **what)
        assert (done.exit_code, done.seq, done.proposal) == (1, -1, size)
        assert {each.state for each in done.places} & {"erased", "proposed"} == {"proposed"}
        size += 1
    with here.trail.reading() as rows:
        proposed = rows.parts(size - 4)
        assert json.loads(proposed[0].body) == {"because": "asked for", "does": "forget", "selector": f"c{rule}"}
    assert here.believed() == believed
    assert here.words().count(SECRET) == searched + 1, "what a proposal by text says"
    here.forget(text=SECRET)
    assert SECRET not in here.words()
    assert here.sound()


def test_a_persons_words_need_their_key_where_no_claim_was_made_of_them(here: Here) -> None:
    """ERASE.4: what a person said is in the archive too; what a tool printed there needs no key."""
    here.ingest(ClaudeCode("one").says(f"What is {SECRET}?").runs("cat notes", "the code is Heron-12"))
    done = here.forget(key=False, text=SECRET)
    assert done.exit_code == 1
    assert len(done.personal) == 1
    assert done.personal[0].startswith(f"s{_session(here)} e")
    assert here.forget(key=False, session=_session(here)).proposal >= 0
    assert here.forget(key=False, text="Heron-12").exit_code == 0


def test_an_agents_claim_needs_no_key(here: Here) -> None:
    """ERASE.4: what an assistant said goes without."""
    here.ingest(told())
    assert here.forget(key=False, claim=here.claim("Created")).exit_code == 0


# What is said of it


def test_a_dry_run_changes_nothing(here: Here) -> None:
    """ERASE.1: it says where everything stands, and every log, note and view is as it was."""
    here.ingest(told())
    here.remember("the colour is blue")
    recall(here.trail, "linter", ALL, as_of=None)
    before = here.words(), here.size(), here.size(LogName.ACCESS)
    for what in (
        {"claim": here.claim("Created")},
        {"session": _session(here)},
        {"text": SECRET},
        {"holder": "person:ada"},
    ):
        done = here.forget(dry_run=True, key=False, because="", **what)
        assert (done.exit_code, done.seq, done.proposal) == (0, -1, -1)
        assert done.dry_run
    assert (here.words(), here.size(), here.size(LogName.ACCESS)) == before


def test_the_reason_may_not_say_it(here: Here) -> None:
    """ERASE.1: a reason is kept for ever, so one that repeats what goes is refused; and there must be one."""
    here.ingest(told())
    claim = here.remember(f"the key is {SECRET}")
    for because in (f"THE KEY IS {SECRET} and must go", "  ", ""):
        with pytest.raises(UsageError, match="because"):
            here.forget(claim=claim, because=because)
    with pytest.raises(UsageError, match="repeats"):
        here.forget(text=SECRET, because=f"{SECRET.lower()} leaked")
    with pytest.raises(UsageError, match="repeats"):
        here.forget(holder="project:/work/shop", because="/work/shop is sold")


def test_nothing_is_forgotten_by_a_wrong_name(here: Here) -> None:
    """ERASE.1: an unknown claim, session or holder, an empty text and an empty trail are refused by name."""
    with pytest.raises(UsageError, match="nothing was ever written"):
        here.forget(claim=1)
    here.remember("the colour is blue")
    for what, error in (
        ({"claim": 999}, UnknownId), ({"session": 999}, UnknownId), ({"claim": 0}, UnknownId),
        ({"holder": "nobody"}, UsageError), ({"text": " "}, UsageError),
    ):  # fmt: skip
        with pytest.raises(error):
            here.forget(**what)


def test_an_erasure_cannot_be_undone(here: Here) -> None:
    """ERASE.2, TIME.9: undo takes back neither the erasure nor what would open a claim that was erased."""
    old = here.remember("the port is 5432")
    revised = revise(
        here.trail, old, "the port is 5433", "so", change=False, valid=UNKNOWN_VALID_TIME, count_tokens=len
    )
    done = here.forget(claim=old)
    with pytest.raises(UsageError, match="nothing to take back"):
        undo(here.trail, done.seq, "mistaken")
    with pytest.raises(UndoRefused, match=str(done.seq)):
        undo(here.trail, revised.seq, "mistaken")


def test_the_reason_of_an_erasure_stays(here: Here) -> None:
    """ERASE.1: a text that stands in the reason of an earlier erasure is said to be found there, and the answer is bad news."""
    claim = here.remember("the colour is blue")
    here.forget(claim=claim, because=f"asked for by {SECRET}")
    done = here.forget(text=SECRET)
    found = place(done, "parts", "found")
    assert done.exit_code == 1
    assert found is not None
    assert found.where == (f"entry {here.size() - 1}",)


# Stopped halfway


class Stopped(Exception):
    """Raised between two logs."""


def test_what_was_stopped_between_logs_is_finished_by_running_it_again(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ERASE.1, TRAIL.5: the access log first, the memory log last; a crash between leaves both sound, and again finishes it."""
    here.ingest(told())
    claim = here.claim("Created")
    recall(here.trail, f"Created `docs/{SECRET}.md` with the settings.", ALL, as_of=None)
    make_briefing(here.trail, ALL, as_of=None, budget=2000)

    def stop(*_: Any, **__: Any) -> int:
        raise Stopped

    with monkeypatch.context() as patch:
        patch.setattr(forgetting, "_erase", stop)
        with pytest.raises(Stopped):
            here.forget(claim=claim)
    assert here.sound()
    assert here.claim("Created") == claim
    with here.trail.reading(LogName.ACCESS) as rows:
        assert SECRET not in "".join(str(part.body) for part in all_parts(rows) if part.name == "query")
    with monkeypatch.context() as patch:
        patch.setattr(forgetting, "scrub", stop)
        with pytest.raises(Stopped):
            here.forget(claim=claim)
    done = here.forget(claim=claim)
    assert pieces(done, "free pages") == 2
    assert pieces(here.forget(claim=claim), "free pages") == 0
    assert f"Created `docs/{SECRET}" not in "".join(each.text or "" for each in here.believed())
    assert here.sound()


# Any history


Op = tuple[Any, ...]
_picks = st.integers(0, 30)
_ops = st.one_of(
    st.tuples(st.just("say"), strategies.texts, strategies.claim_kinds, strategies.valid_times(), st.booleans()),
    st.tuples(st.just("again"), _picks, st.integers(-1, 9)),
    st.tuples(st.just("judge"), _picks, strategies.verdicts),
    st.tuples(st.just("retract"), _picks, strategies.texts),
    st.tuples(st.just("revise"), _picks, strategies.texts, st.booleans(), strategies.valid_times()),
    st.tuples(st.just("merge"), _picks, _picks),
    st.tuples(st.just("undo"), _picks),
    st.tuples(st.just("link"), _picks, _picks),
    st.tuples(st.just("forget"), _picks),
)


class _History:
    """One history played on one trail; ``claims`` are those that were opened, ``gone`` those that were forgotten."""

    def __init__(self, trail: Trail) -> None:
        self.trail = trail
        self.claims: list[int] = []
        self.gone: set[int] = set()

    def play(self, op: Op) -> None:
        """Do one thing; what is refused is no part of the history."""
        name, *given = op
        if name == "say":
            self._say(*given)
        elif self.claims:
            with suppress(UsageError):
                getattr(self, f"_{name}")(*given)

    def _claim(self, pick: int) -> int:
        return self.claims[pick % len(self.claims)]

    def _say(self, text: str, kind: str, valid: ValidTime, quoted: bool) -> None:
        facets = {
            "kind": kind,
            "origin": "assistant",
            "subject": text[:3],
            "attribute": "a",
            "value": text,
            "said_at": 3,
        }
        parts = {"text": text.encode("utf-8", "replace"), "facets": json.dumps(facets).encode()}
        parts |= {"quote": b"as said"} if quoted else {}
        parts |= {"valid": valid_part(valid)} if valid != ValidTime() else {}
        with self.trail.writing() as appender:
            self.claims.append(
                appender.add(EntryKind.ASSERTED, parts, holder=appender.holder("project:one", "project"))
            )

    def _append(self, kind: str, parts: dict[str, bytes], refs: list[int]) -> int:
        with self.trail.writing() as appender:
            return appender.add(kind, parts, refs=refs)

    def _again(self, pick: int, said: int) -> None:
        if self._claim(pick) not in self.gone:
            facets = json.dumps({"said_at": said}).encode()
            self._append(EntryKind.RECONFIRMED, {"facets": facets, "quote": b"once more"}, [self._claim(pick)])

    def _judge(self, pick: int, verdict: tuple[str, str, str]) -> None:
        claims = sorted({self._claim(pick), self._claim(pick + 1)} - self.gone)
        said = dict(zip(("verifier", "value", "reason"), verdict, strict=True))
        parts = {f"verdict/{claim}": json.dumps({"verdicts": [said]}).encode() for claim in claims}
        if claims:
            self._append(EntryKind.JUDGED, parts, claims)

    def _retract(self, pick: int, because: str) -> None:
        retract(self.trail, self._claim(pick), because)

    def _revise(self, pick: int, text: str, change: bool, valid: ValidTime) -> None:
        done = revise(self.trail, self._claim(pick), text, "so", change=change, valid=valid, count_tokens=len)
        self.claims.append(done.id)

    def _merge(self, pick: int, into: int) -> None:
        merge(self.trail, self._claim(pick), self._claim(into), "the same")

    def _undo(self, pick: int) -> None:
        with self.trail.reading() as rows:
            size = rows.head().size
        undo(self.trail, size - 1 - pick % min(8, size), "mistaken")

    def _link(self, pick: int, other: int) -> None:
        self._append(EntryKind.LINKED, {"contradicts": b"{}"}, [self._claim(pick), self._claim(other)])

    def _forget(self, pick: int) -> None:
        before = self._everything()
        claim = self._claim(pick)
        forget(self.trail, Selector(claim=claim), "x", persons_key=True)
        self.gone.add(claim)
        for seq, then in enumerate(before):
            assert [_without_content(b, self.gone) for b in self._at(seq)] == [
                _without_content(b, self.gone) for b in then
            ]
        assert verify_log(self.trail, LogName.MEMORY).bad == ()

    def _everything(self) -> list[list[Belief]]:
        with self.trail.reading() as rows:
            size = rows.head().size
        return [self._at(seq) for seq in range(size)]

    def _at(self, seq: int) -> list[Belief]:
        with self.trail.reading() as rows:
            return rows.believed(Selection(seq))


def _without_content(belief: Belief, gone: set[int]) -> Any:
    """A belief as it must stay; of one that is forgotten the claim and since when it was held."""
    if belief.row.claim not in gone:
        return belief
    return belief.row.claim, belief.row.holder, belief.row.lineage, belief.version.tx_from


@settings(max_examples=max(15, settings().max_examples // 4))
@given(ops=st.lists(_ops, max_size=14), last=st.lists(_picks, min_size=1, max_size=3))
def test_any_history_but_for_what_is_forgotten(ops: list[Op], last: list[int]) -> None:
    """ERASE.2, TIME.3: as-of answers of all other claims stay at every point; nothing is left of the claim; both stores agree."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        histories = [_History(trail_over(make(Path(folder)), clock=SetClock())) for _, make in sorted(MAKES.items())]
        try:
            for history in histories:
                for op in [*ops, *(("forget", pick) for pick in last)]:
                    history.play(op)
            _agree(histories)
        finally:
            for history in histories:
                history.trail.store.close()


def _agree(histories: list[_History]) -> None:
    views, parts = [], []
    for history in histories:
        with history.trail.reading() as rows:
            views.append({view: list(rows.rows(view)) for view in VIEWS})
            parts.append([(part.seq, part.name, part.body) for part in all_parts(rows)])
            for claim in history.gone:
                assert rows.text(claim) is None
                assert rows.open_version(claim) is None
                assert rows.verdicts(claim) == []
                assert {part.name for part in rows.parts(claim)} <= {"valid", "change", "into"}
        assert [report.bad for report in (verify_log(history.trail, log) for log in LogName)] == [(), (), ()]
    assert views[0] == views[1]
    assert parts[0] == parts[1]
