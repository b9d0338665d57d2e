"""Gemini CLI chats: the contract, how inline results ended, and the real sessions."""

from __future__ import annotations

import json
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.model.evidence import Event, EventKind, Origin, Status
from tallystick.testing.reader_contract import Framed, ReaderContract, insert_lines
from tallystick.transcripts.gemini_cli import GEMINI_CLI, GeminiCliReader
from tallystick.transcripts.lines import Position, complete
from tallystick.transcripts.protocol import RawRecord
from tests.transcripts.golden import CORPORA, expected_path, golden, sessions

SHARED = Path(__file__).resolve().parents[2] / "../shared/data/transcripts"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not beside the repository")
DENIED = "[Operation Cancelled] Reason: User did not allow tool call"
OLD_END = "\nError: (none)\nExit Code: {}\nSignal: 0\nBackground PIDs: (none)\nProcess Group PGID: 26593"


def document(*messages: dict[str, Any], **more: Any) -> bytes:
    """A session as Gemini CLI writes it."""
    whole = {
        "sessionId": "s1",
        "projectHash": "7e",
        "startTime": "2026-01-10T02:08:26.108Z",
        "messages": messages,
        **more,
    }
    return json.dumps(whole, indent=2, ensure_ascii=False).encode()


def log(*entries: dict[str, Any], **more: Any) -> bytes:
    """A session as Gemini CLI writes it since it keeps a log."""
    head = {"sessionId": "s1", "projectHash": "7e", "startTime": "2026-01-10T02:08:26.108Z", "kind": "main", **more}
    return b"".join(json.dumps(entry, ensure_ascii=False).encode() + b"\n" for entry in (head, *entries))


def told(data: bytes) -> list[tuple[str, str]]:
    return [(event.origin.value, event.text) for event in read(data)[0]]


def standing(data: bytes) -> list[tuple[str, str]]:
    return [(event.origin.value, event.text) for event in read(data)[0] if "rewound" not in event.flags]


def message(kind: str, content: Any, uid: str = "m1", **more: Any) -> dict[str, Any]:
    return {"id": uid, "timestamp": "2026-01-10T02:08:26.108Z", "type": kind, "content": content, **more}


def tool(
    name: str, args: dict[str, Any], output: str | None, status: str = "success", key: str = "output"
) -> dict[str, Any]:
    result = None if output is None else [{"functionResponse": {"id": "t1", "name": name, "response": {key: output}}}]
    return {"id": "t1", "name": name, "args": args, "result": result, "status": status}


def read(data: bytes, name: str = "chats/session-x.json") -> tuple[list[Event], GeminiCliReader]:
    reader = GEMINI_CLI.reader(name)
    events = list(reader.read([RawRecord(1, 0, data)]))
    silent = sum(count for key, count in reader.counts.items() if key.startswith("record:"))
    assert reader.records == reader.records_with_events + silent + len(reader.problems)
    return events, reader


def result_of(call: dict[str, Any]) -> Event:
    return read(document(message("gemini", "", toolCalls=[call])))[0][1]


class DocumentContract(ReaderContract):
    """The contract for a format that is one document: a torn one gives no record yet."""

    def frame(self, data: bytes, at: Position, *, final: bool) -> Framed:
        """The whole document as one record, or none when it is torn or already read."""
        if at.offset or not data or not (final or complete(data)):
            return Framed([], at)
        return Framed([RawRecord(1, 0, data)], Position(len(data), 1))


class TestContract(DocumentContract):
    """The contract, on the smaller real session and on one with every kind of message."""

    adapter = GEMINI_CLI

    def sources(self) -> dict[str, bytes]:
        small = CORPORA / "gemini-cli" / "session-2026-01-10T20-00-fa4593e0.json"
        shell = tool("run_shell_command", {"command": "ls"}, "Output: a" + OLD_END.format(1))
        mixed = document(
            message("user", "hi"), message("info", "update", "m2"), message("gemini", "ok", "m3", toolCalls=[shell])
        )
        return {"session-a.json": small.read_bytes(), "session-b.json": mixed}

    def with_unknown(self, data: bytes) -> bytes:
        """A message of a type of next year before each message."""
        whole = json.loads(data)
        unknown = [message("of_next_year", "x", f"n{n}") for n in range(len(whole["messages"]))]
        whole["messages"] = [one for pair in zip(unknown, whole["messages"], strict=True) for one in pair]
        return json.dumps(whole, indent=2).encode()

    def test_places_can_be_opened_again(self) -> None:
        """EVID.1: the byte range of an event is its whole message in the document, and the index is the message's."""
        for data in self.sources().values():
            for event in read(data)[0]:
                place = event.locator
                there = json.loads(data[place.offset : place.offset + place.length])
                assert there == json.loads(data)["messages"][place.index]


LOG = log(
    {"$set": {"messages": [message("user", [{"text": "<session_context>\nLinux"}], "s0")]}},
    message("user", [{"text": "run the tests"}], "u1", displayContent=[{"text": "run the tests"}]),
    {"$set": {"lastUpdated": "2026-01-10T02:08:27.000Z"}},
    message("gemini", "", "g1", thoughts=[{"subject": "S", "description": "D"}]),
    message("gemini", "", "g1", toolCalls=[tool("run_shell_command", {"command": "make"}, None, "executing")]),
    message(
        "gemini",
        "Red.",
        "g1",
        toolCalls=[tool("run_shell_command", {"command": "make"}, "no\nExit Code: 2\nProcess Group PGID: 9")],
    ),
    message("user", "push it anyway", "u2"),
    message("gemini", "Pushed.", "g2"),
    {"$rewindTo": "u2"},
    message("user", "mend it first", "u3"),
)


class TestLogContract(DocumentContract):
    """The contract, on a log: all of it counts, so one that is not there yet gives nothing (see below for torn ones)."""

    adapter = GEMINI_CLI

    def sources(self) -> dict[str, bytes]:
        child = log(message("user", "look"), message("gemini", "ok", "m2"), sessionId="k1", kind="subagent")
        return {"chats/session-a.jsonl": LOG, "chats/s1/k1.jsonl": child}

    def frame(self, data: bytes, at: Position, *, final: bool) -> Framed:
        whole = final or data in self.sources().values()
        return super().frame(data, at, final=whole) if whole else Framed([], at)

    def with_unknown(self, data: bytes) -> bytes:
        first, _, rest = data.partition(b"\n")
        unknown = (b'{"$of_next_year":1}', b'{"id":"n1","type":"of_next_year","content":"x"}')
        return first + b"\n" + insert_lines(rest, *unknown)


# --- the log


def test_the_last_writing_of_a_message_counts() -> None:
    """EVID.3, 5: a message that is written again is one, at its first place, as it was last; a rewound one is counted,
    leaves the memory and stays accounted for (pitfall 22)."""
    events, reader = read(LOG)
    assert [(event.uid, event.origin.value, event.text) for event in events] == [
        ("s0:text", "harness", "<session_context>\nLinux"),
        ("u1:text", "user", "run the tests"),
        ("g1:text", "assistant", "Red."),
        ("g1:call:t1", "assistant", '{"command":"make"}'),
        ("g1:out:t1", "tool", "no\nExit Code: 2\nProcess Group PGID: 9"),
        ("u3:text", "user", "mend it first"),
        ("u2:text", "user", "push it anyway"),
        ("g2:text", "assistant", "Pushed."),
    ]
    assert [event.locator.line for event in events] == [2, 3, 7, 7, 7, 11, 8, 9]
    assert [event.text for event in events if "rewound" in event.flags] == ["push it anyway", "Pushed."]
    assert (events[4].status, events[4].exit_code) == (Status.FAILED, 2)
    assert reader.counts == {
        "record:session": 1,
        "record:set": 1,
        "record:superseded": 2,
        "record:rewind": 1,
        "rewound": 2,
    }
    assert (reader.records, reader.records_with_events, reader.problems) == (11, 6, [])


@pytest.mark.parametrize("cut", range(0, len(LOG), 7))
def test_a_torn_log_is_what_its_whole_lines_say(cut: int) -> None:
    """EVID.2: a line that is not finished is waited for, counted and no problem; the others are read (pitfalls 2, 22)."""
    if cut <= LOG.index(b"\n"):
        return
    whole = LOG[: LOG.rindex(b"\n", 0, cut) + 1]
    events, reader = read(LOG[:cut])
    if LOG[cut - 1 : cut + 1] == b"}\n":  # Complete but for its line end.
        whole = LOG[: cut + 1]
    assert events == read(whole)[0]
    assert not reader.problems
    assert reader.counts["unfinished"] == (cut > len(whole))


def test_a_rewind_to_nothing_known_clears_the_chat() -> None:
    """EVID.3: as the client itself does; what is said afterwards stands (pitfall 22)."""
    data = log(message("user", "a", "u1"), {"$rewindTo": "lost"}, message("user", "b", "u2"))
    assert standing(data) == [("user", "b")]
    assert read(data)[1].counts["rewound"] == 1


def test_a_compressed_history_is_no_second_chat() -> None:
    """EVID.5, 6: a compression gives new ids to what is said above and leaves out the rest: copies are counted, nothing
    is lost, the summary is a summary and its answer the client's (pitfalls 17, 22, 29)."""
    history = [
        message("user", [{"text": "<state_snapshot>So far</state_snapshot>"}], "x1"),
        message("gemini", [{"text": "Got it. Thanks for the additional context!"}], "x2"),
        message("user", [{"text": "and the docs?"}], "x3"),
        message("gemini", [{"text": "Done."}], "g2"),
    ]
    before = (
        message("user", "first", "u1"),
        message("gemini", "One.", "g1"),
        message("user", "and the docs?", "u2"),
        message("gemini", "Done.", "g2"),
    )
    events, reader = read(log(*before, {"$set": {"messages": history}}, message("user", "thanks", "u3")))
    assert [(event.origin.value, event.kind.value, event.text) for event in events[4:]] == [
        ("harness", "summary", "<state_snapshot>So far</state_snapshot>"),
        ("harness", "message", "Got it. Thanks for the additional context!"),
        ("user", "message", "thanks"),
    ]
    assert [event.text for event in events[:4]] == ["first", "One.", "and the docs?", "Done."]
    assert reader.counts["block:copied"] == 2
    rewound = standing(log(*before, {"$set": {"messages": history}}, {"$rewindTo": "x3"}))
    assert rewound == [("user", "first"), ("assistant", "One.")]


def test_a_session_and_its_migrated_log_are_one() -> None:
    """EVID.5: the log that a legacy file was moved to has the same session, ids and events (pitfall 23)."""
    call = tool("run_shell_command", {"command": "ls"}, "Output: a" + OLD_END.format(0))
    messages = (message("user", "hi", "u1"), message("gemini", "Done.", "g1", toolCalls=[call]))
    old, before = read(document(*messages))
    new, after = read(log(*messages, {"$set": {"sessionId": "s1"}}), "chats/session-x.jsonl")
    assert before.facts == after.facts
    place = old[0].locator
    assert [event._replace(locator=place) for event in old] == [event._replace(locator=place) for event in new]


def test_a_sub_agents_chat_names_its_parent() -> None:
    """EVID.6: it lies in a folder called as its parent, has a thread of its own, and its brief is delegated (pitfall 21)."""
    data = log(message("user", "look into b", "u1"), sessionId="k1", kind="subagent", directories=["/work"])
    events, reader = read(data, "chats/s1/k1.jsonl")
    facts = reader.facts
    assert (facts.native_id, facts.thread, facts.parent, facts.cwd) == ("k1", "k1", "s1", "/work")
    assert [(event.origin, event.thread) for event in events] == [(Origin.DELEGATED, "k1")]
    assert read(data, "elsewhere/k1.jsonl")[1].facts.parent == ""


def test_lines_that_cannot_be_read_cost_only_themselves() -> None:
    """EVID.2, 3: a bad line is a problem by its number, glued objects are both read, unknown ones counted (pitfalls 1, 3, 10)."""
    lines = log(message("user", "a", "u1"), message("user", "b", "u2"), message("user", "c", "u3")).split(b"\n")
    data = b"\n".join([lines[0], b'{"id": broken', lines[1] + lines[2], b'{"id":5}', b"7", b'{"x":1}', lines[3], b""])
    events, reader = read(data)
    assert [event.text for event in events] == ["a", "b", "c"]
    assert [problem.line for problem in reader.problems] == [2, 5, 4]
    assert (reader.counts["glued"], reader.counts["record:unnamed"]) == (1, 1)


def test_a_log_is_read_in_linear_time() -> None:
    """EVID.10: ten thousand writings of a message, rewinds and compressed histories cost what their length is."""
    began = process_time()
    again = [message("gemini", "x", "g1") for _ in range(10_000)]
    read(log(*again, *({"$rewindTo": "g1"} for _ in range(5_000))))
    history = {"$set": {"messages": [message("user", f"{n}", f"x{n}") for n in range(100)]}}
    read(log(*(history for _ in range(200)), *(message("user", "b", f"u{n}") for n in range(5_000))))
    assert process_time() - began < 5


# --- what is in a content


def test_the_persons_words_are_those_that_were_typed() -> None:
    """EVID.6: what the client put in for ``@file`` and what a hook adds beside a prompt is the harness's (pitfall 28)."""
    files = [{"text": "explain @a.ts"}, {"text": "--- Content from referenced files ---"}, {"text": "const a = 1"}]
    hooked = [{"text": "my prompt"}, {"text": "<hook_context>x</hook_context>"}]
    data = log(message("user", files, "u1", displayContent=[{"text": "explain @a.ts"}]), message("user", hooked, "u2"))
    assert [(e.origin.value, e.text, e.flags) for e in read(data)[0]] == [
        ("user", "explain @a.ts", ()),
        ("harness", "--- Content from referenced files ---\nconst a = 1", ("expanded",)),
        ("user", "my prompt", ()),
        ("harness", "<hook_context>x</hook_context>", ()),
    ]


def test_calls_and_answers_in_the_content() -> None:
    """EVID.7: a call that stands in the content is joined to the answer in a later message; told twice it is one, and an
    answer without its call is unknown (pitfall 26)."""
    call = {"functionCall": {"id": "f1", "name": "run_shell_command", "args": {"command": "ls"}}}
    answer = {"functionResponse": {"id": "f1", "name": "run_shell_command", "response": {"output": "a"}}}
    lost = {"functionResponse": {"id": "f9", "name": "x", "response": {"output": "?"}}}
    data = log(
        message("gemini", [{"text": "Look.", "thought": True}, {"text": "I list."}, call], "g1"),
        message("user", [answer], "u1"),
        message("user", [answer, lost], "u2"),
    )
    events, reader = read(data)
    assert [(e.kind.value, e.text, e.status.value, e.command) for e in events] == [
        ("message", "I list.", "none", ""),
        ("thinking", "Look.", "none", ""),
        ("tool_call", '{"command":"ls"}', "none", "ls"),
        ("tool_result", "a", "ok", "ls"),
        ("tool_result", "?", "unknown", ""),
    ]
    assert (reader.counts["block:copied"], reader.calls) == (1, {})


# --- how a call ended


@pytest.mark.parametrize(
    ("call", "status", "code", "flags"),
    [
        (tool("run_shell_command", {"command": "ls"}, "Output: a" + OLD_END.format(0)), Status.OK, 0, ()),
        (tool("run_shell_command", {"command": "ls"}, "Output: a" + OLD_END.format(2)), Status.FAILED, 2, ()),
        (
            tool("run_shell_command", {"command": "ls"}, "Output: a" + OLD_END.format("(none)")),
            Status.UNKNOWN,
            None,
            (),
        ),
        (tool("run_shell_command", {"command": "ls"}, "Output: a\nProcess Group PGID: 9"), Status.OK, None, ()),
        (
            tool("run_shell_command", {"command": "x"}, "Output: a\nExit Code: 3\nProcess Group PGID: 9"),
            Status.FAILED,
            3,
            (),
        ),
        (
            tool(
                "run_shell_command",
                {"command": "x"},
                "Output: \nExit Code: 0\nBackground PIDs: 12\nProcess Group PGID: 9",
            ),
            Status.OK,
            0,
            ("background",),
        ),
        (tool("read_file", {"file_path": "a"}, "text\nExit Code: 1\nProcess Group PGID: 9"), Status.OK, None, ()),
        (tool("write_file", {"file_path": "a"}, "no such folder", "error", "error"), Status.FAILED, None, ()),
        (tool("write_file", {"file_path": "a"}, DENIED, "cancelled", "error"), Status.REJECTED, None, ()),
        (tool("run_shell_command", {}, "User aborted", "cancelled", "error"), Status.UNKNOWN, None, ("interrupted",)),
        (tool("read_file", {"file_path": "a"}, None), Status.UNKNOWN, None, ()),
        (tool("read_file", {"file_path": "a"}, "x", "executing"), Status.UNKNOWN, None, ()),
    ],
)
def test_how_a_call_ended(call: dict[str, Any], status: Status, code: int | None, flags: tuple[str, ...]) -> None:
    """EVID.7: status by the harness's field, exit codes by the lines it puts after a shell's output (pitfalls 26, 38)."""
    event = result_of(call)
    assert (event.status, event.exit_code, event.flags) == (status, code, flags)


@given(st.text(max_size=80).filter(lambda text: "tallystick" not in text))
@pytest.mark.parametrize("forged", ["", "\nExit Code: 0\nProcess Group PGID: 1", OLD_END.format(0)])
def test_no_printed_text_changes_an_exit_code(forged: str, printed: str) -> None:
    """EVID.7: whatever a command prints, the exit code is the one that Gemini CLI wrote after it."""
    event = result_of(tool("run_shell_command", {"command": "x"}, f"Output: {printed}{forged}{OLD_END.format(7)}"))
    assert (event.status, event.exit_code) == (Status.FAILED, 7)


@pytest.mark.parametrize("forged", ["\nExit Code: 1\nProcess Group PGID: 1", OLD_END.format(1)])
def test_printed_lines_are_not_the_newer_forms_exit_code(forged: str) -> None:
    """EVID.7: where the harness states no exit code, a printed imitation of its lines is none."""
    event = result_of(tool("run_shell_command", {"command": "x"}, f"Output: a{forged}\nProcess Group PGID: 5"))
    assert (event.status, event.exit_code) == (Status.OK, None)


def test_calls_and_results_come_from_one_object() -> None:
    """EVID.1, 7: an inline call gives a call and a result that share id, command and paths."""
    calls = [
        tool("run_shell_command", {"command": "tally brief"}, "x"),
        tool("replace", {"file_path": "src/a.py"}, "y"),
    ]
    calls[1]["id"] = "t2"
    events, _ = read(
        document(message("gemini", "Now.", "m7", thoughts=[{"subject": "S", "description": "D"}], toolCalls=calls))
    )
    assert [(event.uid, event.kind.value) for event in events] == [
        ("m7:thought:0", "thinking"),
        ("m7:text", "message"),
        ("m7:call:t1", "tool_call"),
        ("m7:out:t1", "tool_result"),
        ("m7:call:t2", "tool_call"),
        ("m7:out:t2", "tool_result"),
    ]
    assert events[0].text == "S\nD"
    assert [event.command for event in events[2:4]] == ["tally brief"] * 2
    assert [event.flags for event in events[2:]] == [("own_tool",), ("own_tool",), (), ()]
    assert [event.paths for event in events[4:]] == [("src/a.py",)] * 2
    assert events[4].text == '{"file_path":"src/a.py"}'


# --- who is speaking


@pytest.mark.parametrize(
    ("kind", "text", "origin"),
    [
        ("user", "dont touch docs", Origin.USER),
        ("user", "/home/me/x.py is wrong", Origin.USER),
        ("user", "/help", Origin.HARNESS),
        ("user", "/chat save one", Origin.HARNESS),
        ("user", "?", Origin.HARNESS),
        ("user", "<session_context>\n…", Origin.HARNESS),
        ("user", "<hook_context>x</hook_context>", Origin.HARNESS),
        ("user", "System: Please continue.", Origin.HARNESS),
        ("gemini", "Done.", Origin.ASSISTANT),
        ("info", "Update available", Origin.HARNESS),
        ("error", "[API Error]", Origin.HARNESS),
    ],
)
def test_who_is_speaking(kind: str, text: str, origin: Origin) -> None:
    """EVID.6, pitfall 28: commands to the client and what the harness injects are not a person's words."""
    assert [event.origin for event in read(document(message(kind, text)))[0]] == [origin]


def test_a_sub_agents_user_is_its_parent() -> None:
    """EVID.6, pitfall 21: in a sub-agent's chat the user role is delegated, on the sub-agent's own thread."""
    events, reader = read(document(message("user", "look"), kind="subagent"))
    assert [(event.origin, event.thread) for event in events] == [(Origin.DELEGATED, "s1")]
    assert reader.facts.thread == "s1"


def test_our_own_briefing_is_split_off() -> None:
    """EVID.6: our block inside a prompt or an output is ours; the words around it keep their speaker."""
    block = "<tallystick-briefing>\nx\n</tallystick-briefing>"
    call = tool("read_file", {"file_path": "a"}, f"before\n{block}")
    events, _ = read(document(message("user", f"{block}\nfix it"), message("gemini", "", "m2", toolCalls=[call])))
    assert [(event.origin.value, event.kind.value) for event in events] == [
        ("briefing", "message"),
        ("user", "message"),
        ("assistant", "tool_call"),
        ("tool", "tool_result"),
        ("briefing", "tool_result"),
    ]


# --- bytes


def test_other_content_forms() -> None:
    """EVID.3: content as a list of parts is read; parts that are no text are counted."""
    events, reader = read(document(message("user", [{"text": "see"}, {"inlineData": {"data": "AAAA"}}, "this"])))
    assert [event.text for event in events] == ["see\nthis"]
    assert reader.counts["image"] == 1


def test_a_message_of_another_shape_is_one_problem() -> None:
    """EVID.2: the rest of the document is read, and the problem names the line without the content."""
    events, reader = read(document(message("user", "a"), {"type": 5, "content": "secret"}, message("user", "b", "m3")))
    assert [event.text for event in events] == ["a", "b"]
    assert len(reader.problems) == 1
    assert reader.problems[0].line > 1
    assert "secret" not in reader.problems[0].reason


@pytest.mark.parametrize(
    "data", [b"", b"{", b'{"sessionId":1}', b"[]", b'{"sessionId":1,"messages":[]}', b'{"a":' * 4000]
)
def test_an_unreadable_document_is_a_problem(data: bytes) -> None:
    """EVID.2, 12: a document that cannot be read is one problem, never nothing and never a crash."""
    events, reader = read(data)
    assert (events, reader.records, len(reader.problems)) == ([], 1, 1)


def test_equal_messages_have_places_of_their_own() -> None:
    """EVID.1: two messages of the same bytes are two events with two ids and two byte ranges."""
    events, _ = read(document(message("user", "go on"), message("user", "go on")))
    assert len({event.uid for event in events}) == len({event.locator.offset for event in events}) == 2


def test_spoilt_characters_are_replaced() -> None:
    """EVID.2, pitfall 4: lone surrogates and invalid UTF-8 cost their characters, not the document (failure case 37)."""
    data = document(message("user", "a XY b")).replace(b"XY", b"\\ud83d\xff")
    events, reader = read(data)
    assert [event.text for event in events] == ["a \ufffd\ufffd b"]
    assert (reader.counts["mended"], events[0].locator.length) == (1, len(data))


def test_renamed_types_are_counted() -> None:
    """EVID.3, 12, pitfall 10: messages of unknown types give no events and are counted by type (failure case 36)."""
    events, reader = read(document(*[message("turn", "x", f"m{n}") for n in range(3)]))
    assert (events, reader.counts["record:turn"]) == ([], 3)


def test_other_files_are_not_recognised() -> None:
    """EVID.12, pitfall 11: the prompt list and other JSON are refused; a long session of either form is known by its head."""
    assert GEMINI_CLI.recognises(document(message("user", "x" * 100_000))[: 64 * 1024], "a")
    assert GEMINI_CLI.recognises(log(message("user", "x" * 100_000))[: 64 * 1024], "a")
    for other in (
        b'{"sessionId":"s"}\n{"id":"a","type":"user"}\n',
        b'[{"sessionId":"s","messageId":0,"type":"user","message":"hi"}]',
        b'{"messages":[{"role":"user"}]}',
        b'{"sessionId":"s","messages":[]}',
    ):
        assert not GEMINI_CLI.recognises(other, "session-2026.json"), other


def test_no_text_makes_a_scan_slow() -> None:
    """EVID.10: a megabyte of whatever the shell pattern begins with is scanned in linear time."""
    began = process_time()
    for text in ("\nExit Code: 1" * 80_000, "\nExit Code: " + "1" * 1_000_000, "\nProcess Group PGID: 1" * 50_000):
        result_of(tool("run_shell_command", {"command": "x"}, text))
    assert process_time() - began < 2


# --- real sessions


@pytest.mark.parametrize("session", sessions("gemini-cli"), ids=lambda path: path.name)
def test_expected_events(session: Path) -> None:
    """EVID.1, 6, 7: the events of real sessions are those that a person has read and kept."""
    assert golden(GEMINI_CLI, session) == expected_path(session).read_text("utf-8")


@pytest.mark.shared_data
@needs_shared
def test_shared_sessions_agree_with_a_plain_count() -> None:
    """EVID.3, 5, 7: all messages are read, calls equal results, and an earlier checkpoint has the same ids and texts."""
    whole: dict[str, Event] = {}
    paths = sorted(SHARED.glob("gemini-cli/*.json"), key=lambda path: ("@" in path.name, path.name))
    assert len(paths) == 5
    for path in paths:
        data = path.read_bytes()
        messages = json.loads(data)["messages"]
        events, reader = read(data)
        calls = sum(len(one.get("toolCalls") or ()) for one in messages)
        kinds = [event.kind for event in events]
        assert kinds.count(EventKind.TOOL_CALL) == kinds.count(EventKind.TOOL_RESULT) == calls
        assert kinds.count(EventKind.THINKING) == sum(len(one.get("thoughts") or ()) for one in messages)
        assert (reader.records, reader.problems) == (len(messages), [])
        assert {event.locator.index for event in events} == set(range(len(messages)))
        if "@" in path.name:
            assert all(whole[event.uid].text == event.text for event in events)
        whole.update({event.uid: event for event in events})


@pytest.mark.shared_data
@needs_shared
def test_labelled_places_hold_the_labelled_words() -> None:
    """QUOTE.4: where a label names a message and says that a text stands there, an event of that message holds it."""
    tried = 0
    for one in (SHARED.parent / "gold.jsonl").read_text("utf-8").splitlines():
        label = json.loads(one)
        if "/gemini-cli/" in label["session"] and label["expected"] not in ("no_match", "match_normalised"):
            events, _ = read((SHARED.parent / label["session"]).read_bytes())
            there = [event for event in events if event.locator.index == label["locator"]["index"]]
            assert any(label["text"] in event.text for event in there), label["id"]
            tried += 1
    assert tried >= 3
