"""ATIF trajectories: the contract, whose words and how it ended by the agent that is converted, and the real conversions."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from io import BytesIO
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from tallystick.model.evidence import Event, EventKind, Origin, Status
from tallystick.plugins import adapters
from tallystick.transcripts.atif import ATIF, AtifReader
from tallystick.transcripts.lines import records
from tallystick.transcripts.protocol import RawRecord
from tallystick.transcripts.sources import adapter_for
from tests.transcripts.golden import CORPORA, expected_path, golden, sessions
from tests.transcripts.test_gemini_cli import DocumentContract

SHARED = Path(__file__).resolve().parents[2] / "../shared/data/transcripts"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not beside the repository")
CODE = re.compile(r"(?:Exit code:? |<returncode>)(\d+)(?:\nWall)?")
AT = "2026-01-21T20:53:19.229Z"
NATIVE = "4b2030ed-5563-49ea-b703-6a002f2d3cc8"


def step(source: str, message: Any = "", **more: Any) -> dict[str, Any]:
    return {"step_id": 1, "timestamp": AT, "source": source, "message": message, **more}


def ran(tool: str, arguments: dict[str, Any], *results: dict[str, Any], **more: Any) -> dict[str, Any]:
    call = {"tool_call_id": "k1", "function_name": tool, "arguments": arguments}
    return step("agent", tool_calls=[call], observation={"results": results}, **more)


def result(content: Any, call_id: str | None = "k1", **extra: Any) -> dict[str, Any]:
    return {
        "content": content,
        **({"source_call_id": call_id} if call_id else {}),
        **({"extra": extra} if extra else {}),
    }


def document(*steps: dict[str, Any], agent: str = "claude-code", version: str = "1.7", **more: Any) -> bytes:
    whole = {
        "schema_version": f"ATIF-v{version}",
        "session_id": NATIVE,
        "agent": {"name": agent, "version": "2.1.14"},
        "steps": steps,
        **more,
    }
    return json.dumps(whole, indent=2, ensure_ascii=False).encode()


def read(data: bytes) -> tuple[list[Event], AtifReader]:
    reader = ATIF.reader("trial/agent/trajectory.json")
    events = list(reader.read([RawRecord(1, 0, data)]))
    silent = sum(count for key, count in reader.counts.items() if key.startswith("record:"))
    assert reader.records == reader.records_with_events + silent + len(reader.problems)
    return events, reader


def said(events: list[Event]) -> list[tuple[Origin, str]]:
    return [(event.origin, event.text) for event in events]


class TestContract(DocumentContract):
    """The contract, on conversions of five harnesses, and on one with everything that those lack."""

    adapter = ATIF

    def sources(self) -> dict[str, bytes]:
        inner = {
            "schema_version": "ATIF-v1.8",
            "trajectory_id": "t2",
            "agent": {"name": "a"},
            "steps": [step("user", "Do it.")],
        }
        every = document(
            step("user", [{"type": "text", "text": "Look."}, {"type": "image", "source": {"path": "a.png"}}]),
            step("user", "Look.", is_copied_context=True),
            ran("shell", {"command": ["ls", "-l"]}, result("a", None, exit_code=0)),
            step("agent", "Sure.", model_name="<synthetic>"),
            agent="another",
            version="1.8",
            subagent_trajectories=[inner],
        )
        return {path.name: path.read_bytes() for path in sessions("atif")} | {"every.json": every}

    def with_unknown(self, data: bytes) -> bytes:
        """A step of an unknown source at the end: a step's index is part of an id here."""
        whole = json.loads(data)
        whole.get("subagent_trajectories", [whole])[-1]["steps"].append(
            {"step_id": 99, "source": "of_next_year", "message": "x"}
        )
        return json.dumps(whole, indent=2).encode()


@pytest.mark.parametrize("version", [f"1.{minor}" for minor in range(9)])
def test_every_version_is_recognised(version: str) -> None:
    """EVID.12: every version of the format is known by the version it names (pitfall 11)."""
    data = document(step("user", "Hello."), version=version)
    assert ATIF.recognises(data[:200], "x")
    assert said(read(data)[0]) == [(Origin.USER, "Hello.")]


def test_recognition() -> None:
    """EVID.12: each file kept here is taken by exactly one adapter, and no other document by this one."""
    for path in [each for harness in CORPORA.iterdir() if harness.is_dir() for each in harness.iterdir()]:
        if path.is_file() and path.suffix not in (".md", ".LICENSE", ".txt") and path.name != "SOURCES.json":
            head = path.read_bytes()[: 64 * 1024]
            taken = [each.name for each in adapters() if each.recognises(head, path.name)]
            assert (ATIF.name in taken) == (path.parent.name == "atif"), path
            assert len(taken) <= 1, path
    quoted = json.dumps({"type": "user", "message": document().decode()}).encode()
    for other in (quoted, b'{"schema_version":"1"}', b'["schema_version","ATIF-v1.7"]'):
        assert not ATIF.recognises(other, "trajectory.json"), other


# --- whose words


def test_words_of_a_claude_code_session() -> None:
    """EVID.6: the wrappers that Claude Code writes on the user role are the harness's, also in a conversion (pitfall 28)."""
    events, _ = read(
        document(
            step("user", "Fix it.\n<system-reminder>Be brief.</system-reminder>"),
            step(
                "user",
                "<command-message>review</command-message>\n<command-name>/review</command-name>",
                timestamp="2026-01-21T21:00:00Z",
            ),
            step("user", "You are an expert reviewer.", timestamp="2026-01-21T21:00:00Z"),
            step("user", "Base directory for this skill: /x\n\n# PR", timestamp="2026-01-21T21:01:00Z"),
            step("agent", "API Error", model_name="<synthetic>"),
        )
    )
    assert [event.origin for event in events] == [Origin.USER, *[Origin.HARNESS] * 5]
    assert [event.flags for event in events[3:5]] == [("expanded",), ("expanded",)]


@pytest.mark.parametrize(
    ("agent", "text", "expected"),
    [
        ("codex", "<environment_context>\n</environment_context>", [Origin.HARNESS]),
        ("codex", "\nYou must fully embody this agent", [Origin.HARNESS]),
        (
            "codex",
            "# Context from my IDE setup:\n## Open\n\n## My request for Codex:\nfix it",
            [Origin.HARNESS, Origin.USER],
        ),
        ("codex", "fix it", [Origin.USER]),
        ("gemini-cli", "System: Please continue.", [Origin.HARNESS]),
        (
            "mini-swe-agent",
            "<pr_description>\nConsider the following PR description:\nIt fails\n</pr_description>\n…",
            [Origin.HARNESS, Origin.USER, Origin.HARNESS],
        ),
        ("terminus-2", "<environment_context>", [Origin.USER]),
    ],
)
def test_words_of_other_sessions(agent: str, text: str, expected: list[Origin]) -> None:
    """EVID.6: what another harness writes around a person's words is its own in a conversion too (pitfalls 28, 34)."""
    events, _ = read(document(step("user", text), step("system", "x"), agent=agent))
    assert [event.origin for event in events] == [*expected, Origin.HARNESS]


def test_sub_agents_stand_in_threads() -> None:
    """EVID.6: steps of a sub-agent that were merged in are its thread, and its `user` is the parent (pitfall 21)."""
    side = {"is_sidechain": True, "agent_id": "a2"}
    inner = {
        "schema_version": "ATIF-v1.8",
        "trajectory_id": "t2",
        "agent": {"name": "x"},
        "steps": [step("user", "Do it.")],
    }
    events, reader = read(
        document(
            step("user", "Spawn one."),
            step("user", "Search the web.", extra=side),
            ran("WebSearch", {"query": "x"}, result("found"), extra=side),
            ran("Task", {"prompt": "x"}, result("Report.")),
            step("user", "Old.", extra={"is_sidechain": True}),
            subagent_trajectories=[{**inner, "subagent_trajectories": [{**inner, "trajectory_id": "t3"}]}],
        )
    )
    assert [(event.thread, event.origin) for event in events if event.kind is not EventKind.TOOL_CALL] == [
        ("", Origin.USER),
        ("a2", Origin.DELEGATED),
        ("a2", Origin.TOOL),
        ("", Origin.DELEGATED),
        ("sidechain", Origin.DELEGATED),
        ("t2", Origin.DELEGATED),
        ("t3", Origin.DELEGATED),
    ]
    assert reader.records == 7


def test_trajectories_too_deep_are_problems() -> None:
    """EVID.3, 10: however deep sub-agents stand in each other, every record is accounted for."""
    inner: dict[str, Any] = {"schema_version": "ATIF-v1.8", "steps": [step("user", "x")]}
    for _ in range(60):
        inner = {**inner, "subagent_trajectories": [inner]}
    events, reader = read(document(subagent_trajectories=[inner, {"not": "one"}]))
    assert (len(events), len(reader.problems)) == (33, 2)


def test_copied_context_is_a_repeat() -> None:
    """EVID.5: steps that a continuation copied from the segment before are counted and not read again (pitfall 17)."""
    events, reader = read(document(step("user", "Old.", is_copied_context=True), step("user", "New.")))
    assert (said(events), reader.counts["record:copied_context"]) == ([(Origin.USER, "New.")], 1)


def test_a_thought_that_the_message_repeats() -> None:
    """EVID.3: reasoning with which the message begins is counted once, other reasoning is thinking."""
    events, reader = read(
        document(
            step("agent", "Look.\n```ls```", reasoning_content="Look.\n"), step("agent", "a", reasoning_content="b")
        )
    )
    assert [(event.kind, event.text) for event in events] == [
        (EventKind.MESSAGE, "Look.\n```ls```"),
        (EventKind.THINKING, "b"),
        (EventKind.MESSAGE, "a"),
    ]
    assert reader.counts["block:thought_in_message"] == 1


def test_blocks_that_became_text() -> None:
    """EVID.3: an image that the converter wrote into the text is counted, not kept (pitfall 5)."""
    image = json.dumps({"type": "image", "source": {"type": "base64", "data": "iVBOR"}})
    both = f"{json.dumps({'type': 'text', 'text': 'See.'})}\n\n{image}"
    events, reader = read(document(step("user", image), step("user", both), step("user", '{"type": "x"}')))
    assert said(events) == [(Origin.USER, "See."), (Origin.USER, '{"type": "x"}')]
    assert reader.counts["image"] == 2


# --- how it ended


@pytest.mark.parametrize(
    ("agent", "tool", "found", "status", "code"),
    [
        ("claude-code", "Bash", result("ok"), Status.OK, None),
        ("claude-code", "Bash", result("ok", tool_result_is_error=False), Status.OK, None),
        ("claude-code", "Bash", result("Exit code 2\nno", tool_result_is_error=True), Status.FAILED, 2),
        ("claude-code", "Read", result("x", tool_result_metadata={"is_error": True}), Status.FAILED, None),
        ("claude-code", "Bash", result("said:\nExit code 1"), Status.OK, None),
        ("codex", "shell_command", result("Exit code: 1\nWall time: 1 s\nOutput:\n"), Status.FAILED, 1),
        ("codex", "shell_command", result("Output:\nExit code: 0\nWall time: 1 s\n"), Status.UNKNOWN, None),
        ("mini-swe-agent", "bash", result("<returncode>0</returncode>\n<output>", None), Status.OK, 0),
        ("mini-swe-agent", "bash", result("<returncode>-9</returncode>", None), Status.FAILED, -9),
        ("mini-swe-agent", "bash", result("<output>\n<returncode>0</returncode>", None), Status.UNKNOWN, None),
        ("swe-agent", "swe_agent_action", result("Exit code: 0"), Status.UNKNOWN, None),
        ("terminus-2", "bash", result("<returncode>0</returncode>"), Status.UNKNOWN, None),
        ("terminus-2", "bash", result("x", exit_code=1), Status.FAILED, 1),
        ("terminus-2", "bash", result("x", is_error=True), Status.FAILED, None),
    ],
)
def test_endings(agent: str, tool: str, found: dict[str, Any], status: Status, code: int | None) -> None:
    """EVID.7: how a call ended is read where its converter kept it, and only at the very start of a text (pitfalls 38, 39)."""
    events, _ = read(document(ran(tool, {"command": "x"}, found), agent=agent))
    assert (events[1].status, events[1].exit_code, events[1].tool) == (status, code, tool)


def test_sessions_without_endings_downgrade_nothing() -> None:
    """OUTCOME.5: where a conversion says of no call how it ended, there are no results to read until one says it (pitfall 46)."""
    for agent, results in (
        ("claude-code", True),
        ("codex", True),
        ("swe-agent", False),
        ("gemini-cli", False),
        ("x", False),
    ):
        assert read(document(step("user", "x"), agent=agent))[1].facts.has_results is results, agent
    assert read(document(ran("t", {}, result("x", exit_code=0)), agent="x"))[1].facts.has_results


def test_a_refusal_and_what_was_said_with_it() -> None:
    """EVID.6, 7: words in a refused call's result are a person's; the converter's own line behind it is not read (pitfall 30)."""
    refused = (
        "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, "
        "the user said:\nuse the other file"
    )
    raw = {"is_error": True, "raw_tool_result": {"content": refused}}
    found = result(f"{refused}\n\n[error] tool reported failure", tool_result_metadata=raw, tool_result_is_error=True)
    events, _ = read(document(ran("Edit", {"file_path": "/x/a.py"}, found)))
    assert (events[1].status, events[1].text, events[1].paths) == (Status.REJECTED, refused, ("/x/a.py",))
    assert (events[2].origin, events[2].text, events[2].flags) == (Origin.USER, "use the other file", ("feedback",))


def test_results_are_joined_to_calls() -> None:
    """EVID.7: by id, and by order where there is none; a call without a result and a result without a call too (pitfall 26)."""
    calls = [{"tool_call_id": f"k{n}", "function_name": "bash", "arguments": {"command": f"c{n}"}} for n in range(4)]
    results = [result("r2", "k2"), result("r0", None), result("r1", None), result("odd", "k9")]
    events, reader = read(
        document(step("agent", tool_calls=calls, observation={"results": results}), agent="mini-swe-agent")
    )
    assert [(event.text, event.call_id, event.command) for event in events[4:]] == [
        ("r2", "k2", "c2"),
        ("r0", "k0", "c0"),
        ("r1", "k1", "c1"),
        ("odd", "k9", ""),
    ]
    assert set(reader.calls) == {"k3"}
    assert read(document(step("agent", observation={"results": [result("x", None)]})))[0][0].status is Status.UNKNOWN


@pytest.mark.parametrize(
    ("agent", "tool", "arguments", "command", "paths"),
    [
        ("codex", "shell", {"command": ["bash", "-lc", "ls"]}, "bash -lc ls", ()),
        ("codex", "apply_patch", {"input": "*** Begin Patch\n*** Update File: a.py\n"}, "", ("a.py",)),
        ("gemini-cli", "run_shell_command", {"command": "ls"}, "ls", ()),
        ("gemini-cli", "write_file", {"file_path": "a.py", "content": "x"}, "", ("a.py",)),
        ("swe-agent", "swe_agent_action", {"raw_action": "ls\n"}, "ls", ()),
        ("openhands", "execute_bash", {"command": "ls"}, "ls", ()),
        ("openhands", "str_replace_editor", {"command": "create", "path": "/a.py"}, "", ("/a.py",)),
        ("openhands", "str_replace_editor", {"command": "view", "path": "/a.py"}, "", ()),
        ("claude-code", "Read", {"file_path": "/a.py"}, "", ()),
        ("claude-code", "Bash", 5, "", ()),
    ],
)
def test_commands_and_files(agent: str, tool: str, arguments: Any, command: str, paths: tuple[str, ...]) -> None:
    """EVID.7: the command of a call that runs one, and the files that it writes, on call and result."""
    events, _ = read(document(ran(tool, arguments, result("x")), agent=agent))
    assert {(event.command, event.paths) for event in events} == {(command, paths)}


def test_our_own_tool_is_marked() -> None:
    """EVID.6: what our own command or tool prints is marked on call and result (pitfall 36)."""
    for tool, arguments in (("Bash", {"command": "tally brief"}), ("mcp__tallystick__recall", {})):
        events, _ = read(document(ran(tool, arguments, result("x"))))
        assert [event.flags for event in events] == [("own_tool",), ("own_tool",)], tool


# --- names and times


@pytest.mark.parametrize(
    ("agent", "stated", "native", "parent"),
    [
        ("claude-code", NATIVE, f"claude-code/{NATIVE}", NATIVE),
        ("mini-swe-agent", "django-1.traj", f"mini-swe-agent/django-1.traj@{AT}", "django-1"),
        ("swe-agent", "eps", f"swe-agent/eps@{AT}", "eps"),
        ("x", None, "", ""),
    ],
)
def test_a_second_telling_is_named_after_the_first(agent: str, stated: str | None, native: str, parent: str) -> None:
    """EVID.5, TIME.12: a conversion is a session of its own, what it tells again its parent; runs of one task are apart."""
    """EVID.5, TIME.12: a conversion is its own session, with what it tells again as its parent; runs of one task are apart."""
    facts = read(document(step("user", "x"), agent=agent, session_id=stated))[1].facts
    assert (facts.native_id, facts.parent) == (native, parent)


def test_times() -> None:
    """EVID.8: a naive time is none, and neither is that of a conversion (pitfall 51)."""
    naive = step("user", "x", timestamp="2026-01-21T20:53:19")
    assert [event.at for event in read(document(step("user", "x"), naive))[0]] == [1769028799229000, None]
    assert [event.at for event in read(document(step("user", "x"), agent="swe-agent"))[0]] == [None]


@pytest.mark.parametrize(
    "data", [b"", b"{", b'{"schema_version":"ATIF-v1.7"}', b'{"schema_version":1,"steps":[]}', b"[" * 5000]
)
def test_an_unreadable_document_is_a_problem(data: bytes) -> None:
    """EVID.2, 12: a document that cannot be read is one problem, never a crash."""
    events, reader = read(data)
    assert (events, reader.records, len(reader.problems)) == ([], 1, 1)


def test_no_text_makes_a_scan_slow() -> None:
    """EVID.10: a megabyte of whatever a scan looks for is read in linear time."""
    began = process_time()
    for text in (
        '{"type": "text"} ' * 60_000,
        '{"type": "' * 100_000,
        "<returncode>" * 80_000,
        "<system-reminder>" * 60_000,
    ):
        read(document(step("user", text), ran("Bash", {"command": text}, result(text))))
    assert process_time() - began < 3


# --- real conversions


@pytest.mark.parametrize("session", sessions("atif"), ids=lambda path: path.name)
def test_expected_events(session: Path) -> None:
    """EVID.1, 6, 7: the events of real conversions are those that a person has read and kept."""
    assert golden(ATIF, session) == expected_path(session).read_text("utf-8")


def test_corpora_are_as_their_sources_say() -> None:
    """The files kept with the project are those that ``SOURCES.json`` names, unchanged, with their licences beside them."""
    for source in json.loads((CORPORA / "atif" / "SOURCES.json").read_text("utf-8")):
        data = (CORPORA / "atif" / source["file"]).read_bytes()
        assert (hashlib.sha256(data).hexdigest(), len(data)) == (source["sha256"], source["size"])
        owner = "+".join(source["source_repo"].split("/")[-2:])
        assert list((CORPORA / "atif").glob(f"{owner}.LICENSE*")), source["file"]


def original(converted: Path) -> list[Event]:
    """The events of the session that was converted, by the reader of its own harness."""
    harness, _, name = converted.parts[-3].partition("__")
    found = next(
        path for path in sorted((SHARED / harness).rglob(f"{name}*")) if path.is_file() and "@" not in path.name
    )
    adapter = adapter_for(found, adapters())
    data = found.read_bytes()
    framed = records(BytesIO(data), final=True) if adapter.framing == "lines" else [RawRecord(1, 0, data)]
    return list(adapter.reader(found.name).read(framed))


@pytest.mark.shared_data
@needs_shared
def test_shared_conversions_agree_with_a_plain_count() -> None:
    """EVID.3, 7: in 28 real conversions steps, calls and results are as many as the files have, and each has its own id."""
    paths = sorted(SHARED.glob("atif/*/agent/trajectory.json"))
    assert len(paths) == 28
    ids, codes, stated = set(), Counter[int](), Counter[int]()
    for path in paths:
        whole = json.loads(path.read_bytes())
        events, reader = read(path.read_bytes())
        steps = whole["steps"]
        assert (reader.records, reader.problems) == (len(steps), []), path
        kinds = Counter(event.kind for event in events)
        assert kinds[EventKind.TOOL_CALL] == sum(len(each.get("tool_calls") or ()) for each in steps), path
        results = [one for each in steps for one in (each.get("observation") or {}).get("results", ())]
        assert kinds[EventKind.TOOL_RESULT] == len(results), path
        assert len({event.uid for event in events}) == len(events), path
        ids.add(reader.facts.native_id)
        codes.update(event.exit_code for event in events if event.exit_code is not None)
        stated.update(
            int(found[1])
            for one in results
            if (found := CODE.match(one["content"]))
            and (found[0][:9] != "Exit code" or "Wall" in found[0] or one["extra"]["tool_result_is_error"])
        )
    assert len(ids) == 28
    assert codes == stated
    assert codes.total() > 500


@pytest.mark.shared_data
@needs_shared
def test_shared_conversions_agree_with_what_was_converted() -> None:
    """EVID.6, 7: nothing is a person's that the session itself does not say is, and no call ended otherwise than it did."""
    for path in sorted(SHARED.glob("atif/*/agent/trajectory.json")):
        events, _ = read(path.read_bytes())
        first = original(path)
        theirs = {event.text.strip() for event in first if event.origin is Origin.USER}
        assert {event.text.strip() for event in events if event.origin is Origin.USER} <= theirs, path
        stated = {
            event.call_id: (event.status, event.exit_code) for event in first if event.kind is EventKind.TOOL_RESULT
        }
        for event in events:
            if event.status not in (Status.NONE, Status.UNKNOWN) and event.call_id in stated:
                assert (event.status, event.exit_code) == stated[event.call_id], (path, event.uid)
