"""Copilot CLI event logs: the contract, whose words they are, how calls ended, and the kept sample."""

from __future__ import annotations

import json
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.model.evidence import Event, EventKind, Origin, Status
from tallystick.testing.reader_contract import ReaderContract, insert_lines
from tallystick.transcripts.copilot_cli import COPILOT_CLI, CopilotCliReader
from tests.transcripts.golden import expected_path, golden, raw_records, sessions

(SAMPLE,) = sessions("copilot-cli")


def event(kind: str, data: Any, **more: Any) -> bytes:
    """One event, as the client writes it."""
    whole = {"type": kind, "data": data, "id": "e1", "timestamp": "2026-02-01T10:00:00.250Z", "parentId": None, **more}
    return json.dumps(whole, ensure_ascii=False).encode() + b"\n"


def call(name: str, **arguments: Any) -> bytes:
    return event("tool.execution_start", {"toolCallId": "t1", "toolName": name, "arguments": arguments}, id="c1")


def complete(**more: Any) -> bytes:
    return event("tool.execution_complete", {"toolCallId": "t1", **more}, id="c2")


def read(*lines: bytes) -> tuple[list[Event], CopilotCliReader]:
    reader = COPILOT_CLI.reader("x/events.jsonl")
    events = list(reader.read(raw_records(COPILOT_CLI, b"".join(lines))))
    silent = sum(count for key, count in reader.counts.items() if key.startswith("record:"))
    assert reader.records == reader.records_with_events + silent + len(reader.problems)
    return events, reader


class TestContract(ReaderContract):
    """The contract, on the sample and on a log without ids."""

    adapter = COPILOT_CLI

    def sources(self) -> dict[str, bytes]:
        bare = b'{"type":"user.message","data":{"content":"hi"}}\n{"type":"assistant.message","data":{"content":"Hello."}}\n'
        start = event("session.start", {"sessionId": "s1"})
        return {"s/events.jsonl": SAMPLE.read_bytes(), "t/events.jsonl": start + bare}

    def with_unknown(self, data: bytes) -> bytes:
        unknown = (b'{"type":"of.next_year","data":{"a":1}}', b'{"type":"session.of_next_year","data":5}')
        return insert_lines(data, *unknown) if b"aaaa-4bbb" in data else data + b"\n".join(unknown)


def test_expected_events() -> None:
    """EVID.1, 6, 7: the events of the sample are those that a person has read and kept."""
    assert golden(COPILOT_CLI, SAMPLE) == expected_path(SAMPLE).read_text("utf-8")


def test_a_call_is_told_once() -> None:
    """EVID.5, 7: by the assistant's message or by its start, whichever comes first, and its result is joined to it."""
    events, reader = read(*SAMPLE.read_bytes().splitlines(keepends=True))
    calls = [e.call_id for e in events if e.kind is EventKind.TOOL_CALL]
    assert calls == ["toolu_01", "toolu_02", "toolu_03", "toolu_05"]
    assert reader.counts["record:tool.execution_start"] == 1
    assert list(reader.calls) == ["toolu_05", "@copilot-cli"]


@pytest.mark.parametrize(
    ("tool", "more", "status", "code"),
    [
        ("bash", {"success": True, "result": {"content": "a\n<exited with exit code 0>"}}, Status.OK, 0),
        ("bash", {"success": True, "result": {"content": "a\n<exited with exit code 2>"}}, Status.FAILED, 2),
        (
            "powershell",
            {"success": True, "result": {"content": "<shellId: 1 completed with exit code 3>"}},
            Status.FAILED,
            3,
        ),
        ("bash", {"success": True, "shellExecution": {"exitCode": 1}, "result": {"content": "x"}}, Status.FAILED, 1),
        ("bash", {"success": True, "result": "<exited with exit code 1>\nmore"}, Status.OK, None),
        ("view", {"success": True, "result": {"content": "<exited with exit code 1>"}}, Status.OK, None),
        ("edit", {"success": False, "error": {"message": "no match", "code": "failure"}}, Status.FAILED, None),
        ("edit", {"success": False, "error": {"message": "no", "code": "rejected"}}, Status.REJECTED, None),
        ("bash", {"success": False, "error": {"message": "hook", "code": "denied"}}, Status.REJECTED, None),
        ("bash", {"result": {"content": "<exited with exit code 0>"}}, Status.UNKNOWN, None),
    ],
)
def test_how_a_call_ended(tool: str, more: dict[str, Any], status: Status, code: int | None) -> None:
    """EVID.7: by the client's own word, and a shell by its exit code where the client states it (pitfalls 26, 38, 39)."""
    result = read(call(tool, command="x"), complete(**more))[0][1]
    assert (result.status, result.exit_code) == (status, None if status is Status.UNKNOWN else code)


@given(st.text(max_size=60).filter(lambda text: "tallystick" not in text))
def test_no_printed_text_changes_an_exit_code(printed: str) -> None:
    """EVID.7: whatever a command prints, the exit code is the one the client wrote after it."""
    content = f"{printed}<exited with exit code 0>\n<exited with exit code 7>"
    result = read(call("bash", command="x"), complete(success=True, result={"content": content}))[0][1]
    assert (result.status, result.exit_code) == (Status.FAILED, 7)


def test_results_and_calls_that_have_no_other_half() -> None:
    """EVID.7: a result without its call is unknown whatever it says; a call without a result stays open (pitfall 26)."""
    events, reader = read(complete(success=True, shellExecution={"exitCode": 0}), call("bash", command="x"))
    assert (events[0].status, events[0].exit_code) == (Status.UNKNOWN, None)
    assert list(reader.calls) == ["t1"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (event("user.message", {"content": "dont"}), [(Origin.USER, "dont", ())]),
        (
            event("user.message", {"content": [{"type": "text", "text": "a"}, {"type": "image"}]}),
            [(Origin.USER, "a", ())],
        ),
        (event("user.message", {"content": "x", "source": "system"}), [(Origin.HARNESS, "x", ())]),
        (event("user.message", {"content": "x", "source": "skill-pdf"}), [(Origin.HARNESS, "x", ())]),
        (event("user.message", {"content": "x", "source": "agent-bridge"}), [(Origin.DELEGATED, "x", ())]),
        (event("user.message", {"content": "x"}, agentId="a1"), [(Origin.DELEGATED, "x", ())]),
        (
            event("user.message", {"content": "hi", "transformedContent": "<now/>\n\nhi\n<reminder/>"}),
            [(Origin.USER, "hi", ()), (Origin.HARNESS, "<now/>", ()), (Origin.HARNESS, "<reminder/>", ())],
        ),
        (
            event("user.message", {"content": "/plan", "transformedContent": "You plan."}),
            [(Origin.USER, "/plan", ()), (Origin.HARNESS, "You plan.", ("expanded",))],
        ),
        (event("skill.invoked", {"name": "pdf", "content": "Body"}), [(Origin.HARNESS, "Body", ("expanded",))]),
        (event("user_input.completed", {"answer": "use the second"}), [(Origin.USER, "use the second", ("feedback",))]),
        (event("session.error", {"message": "quota"}), [(Origin.HARNESS, "quota", ())]),
        (event("assistant.message_delta", {"deltaContent": "x"}, ephemeral=True), []),
    ],
)
def test_who_is_speaking(line: bytes, told: list[tuple[Origin, str, tuple[str, ...]]]) -> None:
    """EVID.6: what is typed is the person's; what the client adds, other agents send or skills say is not
    (pitfalls 21, 28, 30, 34)."""
    assert [(e.origin, e.text, e.flags) for e in read(line)[0]] == told


def test_a_sub_agents_events_have_its_thread() -> None:
    """EVID.6: by the agent's id, or by the call that started it (pitfall 21)."""
    older = event("assistant.message", {"content": "x", "parentToolCallId": "toolu_9"})
    newer = event("assistant.message", {"content": "x"}, agentId="a1")
    assert [read(line)[0][0].thread for line in (older, newer)] == ["toolu_9", "a1"]


def test_a_copied_event_is_the_same_event() -> None:
    """EVID.5: in the log of a session that another one was made from the same events have the same ids (pitfall 13)."""
    said = event("user.message", {"content": "hi"}, id="7d0c6b1e-2f57-4c0e-9a3f-5a4d6a0c1b77")
    one, other = (read(event("session.start", {"sessionId": name}), said)[0][0] for name in ("s1", "s2"))
    assert one == other
    assert one.uid.startswith("7d0c6b1e-2f57-4c0e-9a3f-5a4d6a0c1b77:")


def test_a_later_read_knows_its_session() -> None:
    """EVID.4: what is appended is of the session that the first line named."""
    _, reader = read(event("session.start", {"sessionId": "s1", "context": {"cwd": "/w"}}))
    later = COPILOT_CLI.reader("x", reader.calls)
    list(later.read(raw_records(COPILOT_CLI, event("user.message", {"content": "x"}))))
    assert later.facts.native_id == "s1"


@pytest.mark.parametrize("name", ["session-state/s7/events.jsonl", "history/session-state/s7.jsonl"])
def test_a_log_without_its_first_line_is_named_by_its_place(name: str) -> None:
    """EVID.1: all logs are called the same, so the folder names the session (pitfall 12)."""
    assert COPILOT_CLI.reader(name).facts.native_id == "s7"


@pytest.mark.parametrize(
    ("stamp", "at"), [("2026-02-01T10:00:00Z", 1769940000000000), (1769940000000, 1769940000000000), ("soon", None)]
)
def test_times(stamp: Any, at: int | None) -> None:
    """EVID.8: ISO or milliseconds; anything else is no time (pitfall 51)."""
    assert read(event("user.message", {"content": "x"}, timestamp=stamp))[0][0].at == at


def test_lines_that_cannot_be_read_cost_only_themselves() -> None:
    """EVID.2, 3: a bad line is a problem, glued events are both read, and so are spoilt characters (pitfalls 1, 3, 4)."""
    said = [event("user.message", {"content": text}, id=text) for text in ("a", "b")]
    events, reader = read(
        b"{broken\n", said[0].rstrip() + said[1], said[0].replace(b'"a"', b'"\\ud83d"'), b'{"type":5}\n'
    )
    assert [e.text for e in events] == ["a", "b", "\ufffd"]
    assert [problem.line for problem in reader.problems] == [1, 4]
    assert (reader.counts["glued"], reader.counts["mended"]) == (1, 1)


def test_our_own_briefing_is_split_off() -> None:
    """EVID.6: our block in a prompt or a result is ours (pitfall 36)."""
    block = "<tallystick-briefing>\nx\n</tallystick-briefing>"
    lines = (
        event("user.message", {"content": f"{block}\nfix it"}),
        call("bash", command="tally brief"),
        complete(result=block),
    )
    events, _ = read(*lines)
    assert [e.origin.value for e in events] == ["briefing", "user", "assistant", "briefing"]
    assert events[2].flags == ("own_tool",)


@pytest.mark.parametrize("text", ["<exited with exit code " * 50_000, "<shellId: " + "x" * 1_000_000, "{" * 500_000])
def test_no_text_makes_a_scan_slow(text: str) -> None:
    """EVID.10: a megabyte of whatever a pattern begins with is scanned in linear time."""
    began = process_time()
    read(call("bash", command=text), complete(success=True, result={"content": text}))
    read(event("user.message", {"content": text, "transformedContent": text + text}))
    assert process_time() - began < 2


def test_recognition() -> None:
    """EVID.12: a log is known by the kinds of its events; other lines are refused."""
    for other in (
        b'{"type":"user","timestamp":"2026-01-01T00:00:00Z","uuid":"u","message":{"role":"user","content":"x"}}\n',
        b'{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{}}\n',
        b'{"type":"user.message","data":"x"}\n',
        b'{"type":"user.message"}\n',
    ):
        assert not COPILOT_CLI.recognises(other, "events.jsonl"), other
