"""OpenHands conversations of both forms: the contracts, what each kind of event is, exit codes, and the real conversation."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from tallystick.model.evidence import Event, EventKind, Origin, Status
from tallystick.plugins import adapters
from tallystick.testing.gather_contract import GatherContract
from tallystick.transcripts.openhands import OPENHANDS, OpenHandsReader
from tallystick.transcripts.protocol import RawRecord
from tallystick.transcripts.view import DiskView
from tests.transcripts.golden import CORPORA, golden, sessions
from tests.transcripts.test_gemini_cli import DocumentContract

SHARED = Path(__file__).resolve().parents[2] / "../shared/data/transcripts"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not beside the repository")
ID = "3fdb316098bb48e1aa029ce56805792a"
AT = "2026-01-21T22:37:55.687967"


def event(kind: str, number: int = 1, source: str = "agent", **more: Any) -> dict[str, Any]:
    return {"id": f"e{number}", "timestamp": AT, "source": source, **more, "kind": kind}


def part(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def call(tool: str, number: int = 1, thought: str = "", **action: Any) -> dict[str, Any]:
    made = {"id": f"k{number}", "name": tool, "arguments": json.dumps(action)}
    joined: dict[str, Any] = {"tool_name": tool, "tool_call_id": f"k{number}", "tool_call": made}
    return event("ActionEvent", number, thought=[part(thought)], action=action, **joined)


def seen(tool: str, text: str = "x", number: int = 1, **observation: Any) -> dict[str, Any]:
    joined = {"tool_name": tool, "tool_call_id": f"k{number}", "action_id": f"e{number}"}
    return event(
        "ObservationEvent", number + 100, "environment", observation={"content": [part(text)], **observation}, **joined
    )


def old(number: int, source: str = "agent", **more: Any) -> dict[str, Any]:
    return {"id": number, "timestamp": AT, "source": source, "message": "", **more}


def document(*events: Any, base: dict[str, Any] | None = None) -> bytes:
    """A conversation as it is gathered."""
    found = [{"base": base}] if base else []
    return json.dumps({"session": ID, "events": [*found, *events]}, ensure_ascii=False).encode()


def read(*events: Any) -> tuple[list[Event], OpenHandsReader]:
    return read_bytes(document(*events))


def read_bytes(data: bytes) -> tuple[list[Event], OpenHandsReader]:
    reader = OPENHANDS.reader(ID)
    events = list(reader.read([RawRecord(1, 0, data)]))
    silent = sum(count for key, count in reader.counts.items() if key.startswith("record:"))
    assert reader.records == reader.records_with_events + silent + len(reader.problems)
    return events, reader


def members(file: Path) -> list[tuple[str, bytes]]:
    with DiskView() as view:
        return [(each.name, each.load()) for each in OPENHANDS.gather(view, OPENHANDS.anchor(file.as_posix()))]


class TestContract(DocumentContract):
    """The contract, on both forms as they are gathered."""

    adapter = OPENHANDS

    def sources(self) -> dict[str, bytes]:
        found = {name: data for path in sessions("openhands") for name, data in members(path)}
        every = document(
            event("SystemPromptEvent", 1, system_prompt=part("Be brief.")),
            event(
                "MessageEvent", 2, "user", llm_message={"role": "user", "content": [part("Hi."), {"image_urls": ["x"]}]}
            ),
            call("terminal", 3, "Look.", kind="TerminalAction", command="ls"),
            seen("terminal", "a.py", 3, kind="TerminalObservation", exit_code=0, metadata={"exit_code": 0}),
            event("Condensation", 4, "environment", summary="So far …", forgotten_event_ids=["e2"]),
            event("PauseEvent", 5, "user"),
            base={"id": ID, "workspace": {"working_dir": "/shop"}},
        )
        return {**found, "every": every}

    def with_unknown(self, data: bytes) -> bytes:
        """An event of an unknown kind at the end."""
        whole = json.loads(data)
        whole["events"].append(event("OfNextYearEvent", 99))
        return json.dumps(whole).encode()

    def test_recognised_by_content(self) -> None:
        """EVID.12: files of a conversation are recognised by their first bytes whatever they are called; other text is not."""
        for path in sorted((CORPORA / "openhands").rglob("*.json")):
            if path.name != "SOURCES.json":
                for name in (path.name, "unnamed"):
                    assert OPENHANDS.recognises(path.read_bytes()[: 64 * 1024], name), path
        for other in (
            b"",
            b"{}\n",
            b"[]",
            b'{"id":"x"}',
            b'{"id":1,"timestamp":"","source":"user"}',
            b'[{"id":1}]',
            b"null",
        ):
            assert not OPENHANDS.recognises(other, "event-00001-x.json"), other


class TestPlaces(GatherContract):
    """A folder of events."""

    adapter = OPENHANDS

    def place(self, folder: Path) -> Path:
        there = folder / "conversations" / ID
        (there / "events").mkdir(parents=True)
        (there / "base_state.json").write_text(json.dumps({"id": ID, "agent": {"llm": {"api_key": "sk-secret"}}}))
        for number in range(3):
            self._write(there, number)
        return there / "events" / "event-00001-e1.json"

    def grown(self, file: Path) -> None:
        self._write(file.parent.parent, 3)

    def _write(self, there: Path, number: int) -> None:
        said = event("MessageEvent", number, "user", llm_message={"content": [part(f"Message {number}.")]})
        (there / "events" / f"event-{number:05}-e{number}.json").write_text(json.dumps(said))

    def test_one_conversation_whichever_file_is_named(self, tmp_path: Path) -> None:
        """EVID.4, 9: each file of the folder has the folder as its place; no settings beside the events are read."""
        file = self.place(tmp_path)
        there = file.parent.parent
        for path in (file, there / "base_state.json", there / "event_cache" / "0-25.json"):
            assert OPENHANDS.anchor(path.as_posix()) == there.as_posix()
        ((name, data),) = members(file)
        assert name == ID
        assert b"secret" not in data

    def test_events_in_the_order_in_which_they_happened(self, tmp_path: Path) -> None:
        """EVID.1: by number, and by time where two files have one number; ten comes after nine (pitfall 14)."""
        file = self.place(tmp_path)
        for number, at in ((1, "2026-01-21T22:00:00"), (10, AT), (100_000, AT)):
            said = event("MessageEvent", number + 50, "user", llm_message={"content": f"{number}"}) | {"timestamp": at}
            file.with_name(f"event-{number:05}-z.json").write_text(json.dumps(said))
        texts = [event.text for event in read_bytes(members(file)[0][1])[0]]
        assert texts == ["Message 0.", "1", "Message 1.", "Message 2.", "10", "100000"]

    def test_an_event_that_cannot_be_read(self, tmp_path: Path) -> None:
        """EVID.2, 3: the last event may still be being written and is left; another one is a problem (pitfalls 2, 3)."""
        file = self.place(tmp_path)
        last = file.with_name("event-00002-e2.json")
        last.write_bytes(last.read_bytes()[:40])
        events, reader = read_bytes(members(file)[0][1])
        assert ([event.text for event in events], reader.problems) == (["Message 0.", "Message 1."], [])
        file.write_bytes(b"{")
        self._write(file.parent.parent, 2)
        events, reader = read_bytes(members(file)[0][1])
        assert [event.text for event in events] == ["Message 0.", "Message 2."]
        assert len(reader.problems) == 1


class TestPlacesOfV0(TestPlaces):
    """A folder of numbered events of V0."""

    def place(self, folder: Path) -> Path:
        there = folder / "sessions" / ID
        (there / "events").mkdir(parents=True)
        for number in range(3):
            self._write(there, number)
        return there / "events" / "1.json"

    def _write(self, there: Path, number: int) -> None:
        said = old(number, "user", action="message", args={"content": f"Message {number}."})
        (there / "events" / f"{number}.json").write_text(json.dumps(said))

    test_events_in_the_order_in_which_they_happened = None  # type: ignore[assignment]  # Files are named by number alone.
    test_an_event_that_cannot_be_read = None  # type: ignore[assignment]  # The other form's names.


# --- V1


def test_whose_words() -> None:
    """EVID.6: a person's, the agent's, what hooks and the environment say, and what another agent sent (pitfall 28)."""
    events, _ = read(
        event(
            "MessageEvent", 1, "user", llm_message={"content": [part("Fix it.")]}, extended_content=[part("<skill>…")]
        ),
        event("MessageEvent", 2, "agent", llm_message={"content": [part("Done.")], "reasoning_content": "Hm."}),
        event("MessageEvent", 3, "environment", llm_message={"content": [part("A hook says no.")]}),
        event("MessageEvent", 4, "user", sender="planner", llm_message={"content": "Do the tests."}),
        event("HookExecutionEvent", 5, "hook", stdout="checked"),
        event("ConversationErrorEvent", 6, "environment", code="x", detail="out of budget"),
    )
    assert [(each.kind, each.origin, each.text) for each in events] == [
        (EventKind.MESSAGE, Origin.USER, "Fix it."),
        (EventKind.MESSAGE, Origin.HARNESS, "<skill>…"),
        (EventKind.THINKING, Origin.ASSISTANT, "Hm."),
        (EventKind.MESSAGE, Origin.ASSISTANT, "Done."),
        (EventKind.MESSAGE, Origin.HARNESS, "A hook says no."),
        (EventKind.MESSAGE, Origin.DELEGATED, "Do the tests."),
        (EventKind.MESSAGE, Origin.HARNESS, "checked"),
        (EventKind.MESSAGE, Origin.HARNESS, "out of budget"),
    ]


def test_a_condensation_is_a_summary() -> None:
    """EVID.6: what a condenser wrote is a summary and nobody's turn; requests and state are counted (pitfall 29)."""
    events, reader = read(
        event("Condensation", 1, "environment", summary="The tests pass."),
        event("CondensationRequest", 2),
        event("PauseEvent", 3),
    )
    assert [(each.kind, each.origin) for each in events] == [(EventKind.SUMMARY, Origin.HARNESS)]
    assert (reader.counts["record:CondensationRequest"], reader.counts["record:PauseEvent"]) == (1, 1)


@pytest.mark.parametrize(
    ("tool", "observation", "status", "code", "flags"),
    [
        ("terminal", {"exit_code": 0}, Status.OK, 0, ()),
        ("terminal", {"exit_code": 2, "is_error": False}, Status.FAILED, 2, ()),
        ("terminal", {"metadata": {"exit_code": 1}}, Status.FAILED, 1, ()),
        ("execute_bash", {"exit_code": 0, "metadata": {"exit_code": 1}}, Status.OK, 0, ()),
        ("terminal", {"exit_code": -1, "timeout": True}, Status.UNKNOWN, None, ("background",)),
        ("terminal", {"metadata": {"exit_code": -1}}, Status.UNKNOWN, None, ("background",)),
        ("terminal", {"timeout": True}, Status.UNKNOWN, None, ("background",)),
        ("terminal", {}, Status.UNKNOWN, None, ()),
        ("terminal", {"is_error": True}, Status.FAILED, None, ()),
        ("terminal", {"exit_code": 0, "full_output_save_dir": "/x"}, Status.OK, 0, ("truncated", "persisted")),
        ("file_editor", {"is_error": False}, Status.OK, None, ()),
        ("file_editor", {"is_error": True, "exit_code": 0}, Status.FAILED, None, ()),
    ],
)
def test_how_calls_ended(
    tool: str, observation: dict[str, Any], status: Status, code: int | None, flags: tuple[str, ...]
) -> None:
    """EVID.7: a command by its exit code, of which -1 is still running; other tools by the error flag; never by the text."""
    events, reader = read(call(tool, command="pytest"), seen(tool, "Exit code: 1", **observation))
    result = events[-1]
    assert (result.kind, result.status, result.exit_code, result.flags) == (EventKind.TOOL_RESULT, status, code, flags)
    assert (result.call_id, result.command) == ("k1", "pytest" if tool != "file_editor" else "")
    assert reader.calls == {}


def test_calls_that_never_ran() -> None:
    """EVID.7: an error of the scaffold has failed; a refusal is rejected, its reason a person's or a hook's (pitfall 30)."""
    refusal = {"tool_name": "terminal", "tool_call_id": "k1", "action_id": "e1"}
    for kind, more, status, words in (
        ("AgentErrorEvent", {"error": "no such tool"}, Status.FAILED, ["no such tool"]),
        ("UserRejectObservation", {"rejection_reason": "not on main"}, Status.REJECTED, ["", "not on main"]),
        (
            "UserRejectObservation",
            {"rejection_reason": "User rejected the action"},
            Status.REJECTED,
            ["User rejected the action"],
        ),
        ("UserRejectObservation", {"rejection_reason": "no", "rejection_source": "hook"}, Status.REJECTED, ["no"]),
    ):
        events, _ = read(call("terminal", command="git push"), event(kind, 2, **refusal, **more))
        assert (events[1].status, [each.text for each in events[1:]]) == (status, words), more
        assert [each.origin for each in events[2:]] == [Origin.USER] * (len(words) - 1)


def test_what_the_agent_says_last() -> None:
    """EVID.6, QUOTE.6: the words of `finish` are the agent's, and so are they when they come back as its result."""
    events, _ = read(
        call("finish", kind="FinishAction", message="All tests pass."),
        seen("finish", "All tests pass.", kind="FinishObservation"),
    )
    assert [(each.kind, each.origin) for each in events] == [
        (EventKind.MESSAGE, Origin.ASSISTANT),
        (EventKind.TOOL_CALL, Origin.ASSISTANT),
        (EventKind.TOOL_RESULT, Origin.ASSISTANT),
    ]


def test_a_call_and_what_is_thought_of_it() -> None:
    """EVID.3, 7: reasoning once, words, the call, the files it writes; keys typed into a program are no command."""
    made = call("file_editor", 1, "I edit.", command="create", path="/a.py")
    events, _ = read({**made, "reasoning_content": "Hm.", "thinking_blocks": [{"thinking": "Hm."}, {"data": "x"}]})
    assert [(each.kind, each.text) for each in events[:2]] == [
        (EventKind.THINKING, "Hm."),
        (EventKind.MESSAGE, "I edit."),
    ]
    assert (events[2].paths, json.loads(events[2].text)["command"], len(events)) == (("/a.py",), "create", 3)
    assert read(call("file_editor", command="view", path="/a.py"))[0][0].paths == ()
    assert read(call("terminal", command="C-c", is_input=True))[0][0].command == ""
    assert read(call("terminal", command="tally brief"), seen("terminal"))[0][1].flags == ("own_tool",)


def test_a_result_without_a_call_and_an_event_twice() -> None:
    """EVID.1, 7: a result whose call is not there is joined to nothing; two events of one id are two (pitfall 26)."""
    events, _ = read(
        seen("terminal", exit_code=0), *[event("MessageEvent", 7, "user", llm_message={"content": t}) for t in "ab"]
    )
    assert (events[0].tool, events[0].command) == ("terminal", "")
    assert len({each.uid for each in events}) == 3


def test_no_time_is_kept() -> None:
    """EVID.8: local times without an offset are no times (pitfall 51)."""
    assert read(event("MessageEvent", 1, "user", llm_message={"content": "x"}))[0][0].at is None


# --- V0


def test_events_of_v0() -> None:
    """EVID.6, 7: actions and observations are joined by cause; -1 is still running; an error without a cause is the harness's."""
    run: dict[str, Any] = {"action": "run", "args": {"command": "pytest", "thought": "I test."}}
    events, reader = read(
        old(1, "user", action="message", args={"content": "Fix it."}),
        old(2, "environment", action="recall", args={"query": "Fix it."}),
        old(3, **run),
        old(
            4,
            observation="run",
            cause=3,
            content="1 failed",
            extras={"metadata": {"exit_code": 1, "working_dir": "/shop"}},
        ),
        old(5, **run),
        old(6, observation="run", cause=5, content="…", extras={"metadata": {"exit_code": -1}}),
        old(7, "user", action="run", args={"command": "ls"}),
        old(8, observation="user_rejected", cause=7, content="no"),
        old(9, "environment", observation="error", content="gave up", extras={}),
        old(10, action="condensation", args={"summary": "So far …"}),
        old(11, action="think", args={"thought": "Hm."}),
        old(12, action="write", args={"path": "/a.py", "content": "x"}),
        old(13, observation="error", cause=12, content="no such folder"),
        old(14, observation="agent_state_changed", cause=13, content="", extras={"agent_state": "finished"}),
    )
    assert [(each.uid, each.kind, each.origin, each.status, each.exit_code) for each in events] == [
        ("E1:text", EventKind.MESSAGE, Origin.USER, Status.NONE, None),
        ("E3:thought", EventKind.MESSAGE, Origin.ASSISTANT, Status.NONE, None),
        ("E3:call", EventKind.TOOL_CALL, Origin.ASSISTANT, Status.NONE, None),
        ("E4:out", EventKind.TOOL_RESULT, Origin.TOOL, Status.FAILED, 1),
        ("E5:thought", EventKind.MESSAGE, Origin.ASSISTANT, Status.NONE, None),
        ("E5:call", EventKind.TOOL_CALL, Origin.ASSISTANT, Status.NONE, None),
        ("E6:out", EventKind.TOOL_RESULT, Origin.TOOL, Status.UNKNOWN, None),
        ("E7:call", EventKind.TOOL_CALL, Origin.USER, Status.NONE, None),
        ("E8:out", EventKind.TOOL_RESULT, Origin.TOOL, Status.REJECTED, None),
        ("E9:text", EventKind.MESSAGE, Origin.HARNESS, Status.NONE, None),
        ("E10:text", EventKind.SUMMARY, Origin.HARNESS, Status.NONE, None),
        ("E11:thought", EventKind.THINKING, Origin.ASSISTANT, Status.NONE, None),
        ("E11:call", EventKind.TOOL_CALL, Origin.ASSISTANT, Status.NONE, None),
        ("E12:call", EventKind.TOOL_CALL, Origin.ASSISTANT, Status.NONE, None),
        ("E13:out", EventKind.TOOL_RESULT, Origin.TOOL, Status.FAILED, None),
    ]
    assert reader.counts["record:observation.agent_state_changed"] == 1
    assert read(old(1, action="run", args={"command": "C-c", "is_input": True}))[0][0].command == ""
    assert (events[-1].paths, reader.facts.cwd, reader.counts["record:action.recall"]) == (("/a.py",), "/shop", 1)


def test_a_list_of_events_is_called_after_its_folder(tmp_path: Path) -> None:
    """EVID.5: a `trajectory.json` names no session; the folder does, and another file is called what it is called."""
    data = json.dumps([old(1, "user", action="message", args={"content": "Hi."})]).encode()
    for name, session in (("run-7/trajectory.json", "run-7"), ("run-7/abc.json", "abc")):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        ((found, gathered),) = members(path)
        events, reader = read_bytes(gathered)
        assert (found, reader.facts.native_id, events[0].text) == (session, session, "Hi.")


# --- bytes


@pytest.mark.parametrize("data", [b"", b"{", b'{"session":1}', b'{"session":"x","events":{}}', b"[" * 5000])
def test_an_unreadable_document_is_a_problem(data: bytes) -> None:
    """EVID.2, 12: a document that cannot be read is one problem, never a crash."""
    events, reader = read_bytes(data)
    assert (events, reader.records, len(reader.problems)) == ([], 1, 1)


def test_recognition() -> None:
    """EVID.12: each file kept here is taken by one adapter at most, and those of other harnesses not by this one."""
    for path in [each for harness in CORPORA.iterdir() if harness.is_dir() for each in harness.rglob("*.json*")]:
        if path.name != "SOURCES.json" and path.parent.name != "expected":
            head = path.read_bytes()[: 64 * 1024]
            taken = [each.name for each in adapters() if each.recognises(head, path.name)]
            assert (OPENHANDS.name in taken) == ("openhands" in path.parts), path
            assert len(taken) == 1, path


def test_no_text_makes_a_scan_slow() -> None:
    """EVID.10: a megabyte of whatever a pattern begins with is scanned in linear time."""
    began = process_time()
    for start in (b'{"id":"', b'[{"id":', b"[" * 8, b'{"id":1,"timestamp":"'):
        for more in (b" " * 1_000_000, b"1" * 1_000_000, b'"' * 1_000_000):
            assert not OPENHANDS.recognises(start + more, "x")
    read(call("terminal", command="x" * 1_000_000), seen("terminal", "y" * 1_000_000, exit_code=0))
    assert process_time() - began < 2


# --- the real conversation


@pytest.mark.parametrize("session", sessions("openhands"), ids=lambda path: path.name)
def test_expected_events(session: Path) -> None:
    """EVID.1, 6, 7: the events of a real conversation and of a list written by hand are those that a person has read and kept."""
    kept = CORPORA / "openhands" / "expected" / f"{session.name}.events.jsonl"
    assert golden(OPENHANDS, session) == kept.read_text("utf-8")


def test_corpora_are_as_their_sources_say() -> None:
    """The files kept with the project are those that ``SOURCES.json`` names, unchanged, with their licence beside them."""
    folder = CORPORA / "openhands"
    named = json.loads((folder / "SOURCES.json").read_text("utf-8"))
    for source in [*named, *named[0]["events"]]:
        data = (folder / source["file"]).read_bytes()
        assert (hashlib.sha256(data).hexdigest(), len(data)) == (source["sha256"], source["size"])
    assert (folder / "OpenHands+software-agent-sdk.LICENSE").is_file()


@pytest.mark.shared_data
@needs_shared
def test_the_shared_conversation_agrees_with_a_plain_count() -> None:
    """EVID.3, 7: each of 12 real files is a record; turns, calls and results are as many as there are events of their kinds."""
    files = sorted((SHARED / "openhands").rglob("event-*.json"))
    ((_, data),) = members(files[0])
    events, reader = read_bytes(data)
    assert (reader.records, reader.problems, len(files)) == (12, [], 11)
    whole = [json.loads(path.read_bytes()) for path in files]
    for kind, there in (("ActionEvent", EventKind.TOOL_CALL), ("ObservationEvent", EventKind.TOOL_RESULT)):
        assert sum(each.kind is there for each in events) == sum(each["kind"] == kind for each in whole) == 3
    said = [each["llm_message"]["content"][0]["text"] for each in whole if each["kind"] == "MessageEvent"]
    assert [each.text for each in events if each.origin is Origin.USER] == said
    assert len({each.uid for each in events}) == len(events)
