"""Amp threads: the contract, whose words they are, how a run ended, and the kept sample."""

from __future__ import annotations

import json
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from tallystick.model.evidence import Event, EventKind, Origin, Status
from tallystick.transcripts.amp import AMP, AmpReader
from tallystick.transcripts.protocol import RawRecord
from tests.transcripts.golden import expected_path, golden, sessions
from tests.transcripts.test_gemini_cli import DocumentContract

(SAMPLE,) = sessions("amp")


def thread(*messages: dict[str, Any], **more: Any) -> bytes:
    """A thread as Amp writes it."""
    whole = {"v": 1, "id": "T-0d5c4c55-aaaa", "created": 1, "messages": messages, **more}
    return json.dumps(whole, ensure_ascii=False).encode("utf-8", "surrogatepass")


def said(role: str, *content: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": "t1", "name": name, "input": arguments}


def result(**run: Any) -> dict[str, Any]:
    return {"type": "tool_result", "toolUseID": "t1", "run": run}


def read(data: bytes) -> tuple[list[Event], AmpReader]:
    reader = AMP.reader("threads/T-x.json")
    events = list(reader.read([RawRecord(1, 0, data)]))
    silent = sum(count for key, count in reader.counts.items() if key.startswith("record:"))
    assert reader.records == reader.records_with_events + silent + len(reader.problems)
    return events, reader


class TestContract(DocumentContract):
    """The contract, on the sample and on a thread on one line."""

    adapter = AMP

    def sources(self) -> dict[str, bytes]:
        small = thread(said("user", text("hi")), said("assistant", text("Hello."), call("Read", path="a")))
        return {"threads/T-a.json": SAMPLE.read_bytes(), "threads/T-b.json": small}

    def with_unknown(self, data: bytes) -> bytes:
        """A message of a role of next year after each."""
        whole = json.loads(data)
        unknown = {"role": "of_next_year", "content": [text("x")]}
        whole["messages"] = [one for each in whole["messages"] for one in (each, unknown)]
        if not any("messageId" in each for each in whole["messages"]):
            whole["messages"] = [*json.loads(data)["messages"], unknown]
        return json.dumps(whole).encode()


def test_expected_events() -> None:
    """EVID.1, 6, 7: the events of the sample are those that a person has read and kept."""
    assert golden(AMP, SAMPLE) == expected_path(SAMPLE).read_text("utf-8")


def test_what_a_thread_says_of_itself() -> None:
    """EVID.1: id, folder, repository, branch, client and parent; a folder on Windows is a path (pitfall 52)."""
    facts = read(SAMPLE.read_bytes())[1].facts
    assert (facts.native_id, facts.cwd, facts.branch) == (
        "T-5f6d1c1e-0d5c-4c55-9a57-3c1f0f6b2a10",
        "/home/sam/lists",
        "main",
    )
    windows = {"initial": {"trees": [{"uri": "file:///c%3A/Users/sam/my%20app"}]}}
    parents = [{"threadID": "T-child", "role": "child"}, {"threadID": "T-p", "role": "parent"}]
    facts = read(thread(said("user", text("x")), env=windows, relationships=parents))[1].facts
    assert (facts.cwd, facts.parent) == ("c:/Users/sam/my app", "T-p")


@pytest.mark.parametrize(
    ("run", "status", "code", "flags"),
    [
        ({"status": "done", "result": {"output": "a", "exitCode": 0}}, Status.OK, 0, ()),
        ({"status": "done", "result": {"output": "a", "exitCode": 2}}, Status.FAILED, 2, ()),
        ({"status": "done", "result": {"output": "exit code 1"}}, Status.OK, None, ()),
        ({"status": "error", "error": {"message": "no such file"}}, Status.FAILED, None, ()),
        ({"status": "error", "error": "plain"}, Status.FAILED, None, ()),
        ({"status": "rejected-by-user", "reason": "no"}, Status.REJECTED, None, ()),
        ({"status": "cancelled"}, Status.UNKNOWN, None, ("interrupted",)),
        ({"status": "in-progress"}, Status.UNKNOWN, None, ()),
        ({}, Status.UNKNOWN, None, ()),
    ],
)
def test_how_a_run_ended(run: dict[str, Any], status: Status, code: int | None, flags: tuple[str, ...]) -> None:
    """EVID.7: by its own status and exit code, and by nothing that was printed (pitfalls 26, 38, 39)."""
    events, reader = read(thread(said("assistant", call("Bash", cmd="make")), said("user", result(**run))))
    assert (events[1].status, events[1].exit_code, events[1].flags) == (status, code, flags)
    assert (events[1].command, reader.calls) == ("make", {})


def test_calls_and_results_without_their_other_half() -> None:
    """EVID.7: a result without its call is unknown whatever it says; a call without a result stays open (pitfall 26)."""
    orphan = result(status="done", result={"output": "ok", "exitCode": 0})
    events, _ = read(thread(said("user", orphan)))
    assert (events[0].status, events[0].exit_code) == (Status.UNKNOWN, None)
    assert list(read(thread(said("assistant", call("Bash", cmd="x"))))[1].calls) == ["t1"]


@pytest.mark.parametrize(
    ("message", "origin"),
    [
        (said("user", text("dont")), Origin.USER),
        (said("user", text("reminder", hidden=True)), Origin.HARNESS),
        (said("user", text("go on"), meta={"fromExecutorThreadID": "T-1"}), Origin.DELEGATED),
        (said("info", text("note")), Origin.HARNESS),
        (said("assistant", text("Done.")), Origin.ASSISTANT),
    ],
)
def test_who_is_speaking(message: dict[str, Any], origin: Origin) -> None:
    """EVID.6: what is hidden from the person, or comes from another thread, is not theirs (pitfalls 21, 28)."""
    assert [event.origin for event in read(thread(message))[0]] == [origin]


def test_a_report_is_delegated_and_a_typed_command_the_persons() -> None:
    """EVID.6: what a sub-agent answers is a report; a command that the person ran is theirs, and its result a tool's."""
    report = result(status="done", result="All green.")
    events, _ = read(thread(said("assistant", call("Task", prompt="test it")), said("user", report)))
    assert (events[1].origin, events[1].text) == (Origin.DELEGATED, "All green.")
    typed = {"type": "manual_bash_invocation", "args": {"cmd": "ls"}, "toolRun": {"status": "done", "result": "a"}}
    events, _ = read(thread(said("info", typed)))
    assert [(e.origin, e.kind, e.text, e.status) for e in events] == [
        (Origin.USER, EventKind.MESSAGE, "ls", Status.NONE),
        (Origin.TOOL, EventKind.TOOL_RESULT, "a", Status.OK),
    ]


@pytest.mark.parametrize(
    ("more", "at"),
    [
        ({"meta": {"sentAt": 1760600001000}}, 1760600001000000),
        ({"usage": {"timestamp": "2025-10-16T07:33:21Z"}}, 1760600001000000),
        ({"meta": {"traces": [{"endTime": "2025-10-16T07:33:21Z"}]}}, 1760600001000000),
        ({"usage": {"timestamp": "2025-10-16T07:33:21"}}, None),
        ({"meta": {"sentAt": -5}}, None),
        ({}, None),
    ],
)
def test_times(more: dict[str, Any], at: int | None) -> None:
    """EVID.8: milliseconds or ISO with an offset; without a time, or with a naive one, there is none (pitfall 51)."""
    assert read(thread(said("assistant", text("x"), **more)))[0][0].at == at


def test_unknown_blocks_are_counted() -> None:
    """EVID.3: images and blocks that are not known yet are counted by type (pitfalls 5, 10)."""
    _, reader = read(thread(said("user", text("x"), {"type": "image"}, {"type": "of_next_year"})))
    assert (reader.counts["image"], reader.counts["block:of_next_year"]) == (1, 1)


def test_a_long_thread_is_read_in_linear_time() -> None:
    """EVID.10: messages that are equal, or of another shape, cost what their length is."""
    began = process_time()
    read(thread(*(said("user", text("x")) for _ in range(20_000))))
    read(thread(*({"role": 5} for _ in range(20_000))))
    read(thread(said("user", text("\ud800")), *(said("user", text("x")) for _ in range(20_000))))
    assert process_time() - began < 5


def test_recognition(tmp_path: Path) -> None:
    """EVID.12: a thread is known by its id, in whatever order its fields stand; other documents are refused."""
    for other in (
        b'{"id":"7f1c","messages":[]}',
        b'{"sessionId":"T-0d5c4c55-aaaa","projectHash":"h","messages":[]}',
        b'[{"id":"T-0d5c4c55-aaaa","messages":[]}]',
        b'{"v":1,"id":"T-0d5c4c55-aaaa"}',
    ):
        assert not AMP.recognises(other, "T-x.json"), other
