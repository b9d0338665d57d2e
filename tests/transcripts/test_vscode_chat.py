"""VS Code chats: the contracts, what a log comes to, whose words they are, how tools ended, and the kept samples."""

from __future__ import annotations

import json
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from tallystick.model.evidence import Event, EventKind, Locator, Origin, Status
from tallystick.testing.gather_contract import GatherContract
from tallystick.testing.reader_contract import Framed
from tallystick.transcripts.lines import Position
from tallystick.transcripts.protocol import RawRecord
from tallystick.transcripts.view import DiskView
from tallystick.transcripts.vscode_chat import VSCODE_CHAT, VsCodeChatReader
from tests.transcripts.golden import expected_path, golden, sessions
from tests.transcripts.test_gemini_cli import DocumentContract

(FOLDER,) = sessions("vscode-chat")
DOCUMENT = FOLDER / "5c1f0a3e-5b2d-4e8f-9a61-2d4c8b0e6f13.json"
LOCATOR = Locator(0, 0, 0, 0, 0)
LOG = FOLDER / "0fb1b9c7-9892-48c1-996a-b6de7726603c.jsonl"


def session(*requests: dict[str, Any], **more: Any) -> bytes:
    """A session as the editor writes it."""
    whole = {"version": 3, "responderUsername": "GitHub Copilot", "requests": requests, "sessionId": "s1", **more}
    return json.dumps(whole, ensure_ascii=False).encode()


def log(*changes: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(change).encode() + b"\n" for change in changes)


def request(asked: str, *response: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"requestId": "q1", "timestamp": 1760600001000, "message": {"text": asked}, "response": response, **more}


def tool(**more: Any) -> dict[str, Any]:
    return {"kind": "toolInvocationSerialized", "toolId": "t", "toolCallId": "c1", "isComplete": True, **more}


def terminal(command: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"kind": "terminal", "commandLine": command, **more}


def read(data: bytes) -> tuple[list[Event], VsCodeChatReader]:
    reader = VSCODE_CHAT.reader("s1")
    events = list(reader.read([RawRecord(1, 0, data)]))
    silent = sum(count for key, count in reader.counts.items() if key.startswith("record:"))
    assert reader.records == reader.records_with_events + silent + len(reader.problems)
    return events, reader


def told(data: bytes) -> list[tuple[str, str]]:
    return [(event.origin.value, event.text) for event in read(data)[0]]


class TestDocument(DocumentContract):
    """The contract, on the sample that is one object."""

    adapter = VSCODE_CHAT

    def sources(self) -> dict[str, bytes]:
        return {"a.json": DOCUMENT.read_bytes(), "b.json": session(request("hi", {"value": "Hello."}))}

    def with_unknown(self, data: bytes) -> bytes:
        whole = json.loads(data)
        whole["requests"].append(request("", {"kind": "ofNextYear"}, requestId="n1"))
        return json.dumps(whole).encode()


class TestLog(DocumentContract):
    """The contract, on the sample that is a log: all of it counts, so one that is not there yet gives nothing."""

    adapter = VSCODE_CHAT

    def sources(self) -> dict[str, bytes]:
        return {"a.jsonl": LOG.read_bytes()}

    def frame(self, data: bytes, at: Position, *, final: bool) -> Framed:
        whole = final or data in self.sources().values()
        return super().frame(data, at, final=whole) if whole else Framed([], at)

    def with_unknown(self, data: bytes) -> bytes:
        return data + b'{"kind":1,"k":["ofNextYear"],"v":1}\n'


class TestPlaces(GatherContract):
    """What is gathered from a window."""

    adapter = VSCODE_CHAT

    def place(self, folder: Path) -> Path:
        there = folder / "workspaceStorage" / "hash"
        (there / "chatSessions").mkdir(parents=True)
        (there / "workspace.json").write_bytes((FOLDER.parent / "workspace.json").read_bytes())
        for file in (DOCUMENT, LOG):
            (there / "chatSessions" / file.name).write_bytes(file.read_bytes())
        return there / "chatSessions" / LOG.name

    def grown(self, file: Path) -> None:
        with file.open("ab") as stream:
            stream.write(log({"kind": 2, "k": ["requests"], "v": [request("more", requestId="q9")]}))


def test_expected_events() -> None:
    """EVID.1, 6, 7: the events of the samples are those that a person has read and kept."""
    assert golden(VSCODE_CHAT, FOLDER) == expected_path(FOLDER).read_text("utf-8")


# --- places


def test_a_session_has_the_folder_of_its_window() -> None:
    """EVID.1: the window names it in a file beside the sessions (pitfall 52)."""
    with DiskView() as view:
        members = {member.name: member.load() for member in VSCODE_CHAT.gather(view, str(FOLDER))}
    assert [read(data)[1].facts.cwd for data in members.values()] == ["/home/sam/lists"] * 2
    assert read(DOCUMENT.read_bytes())[1].facts.cwd == ""
    assert [e.locator for e in read(members[LOG.stem])[0]] == [e.locator for e in read(LOG.read_bytes())[0]]


def test_a_session_that_was_moved_to_a_log_is_one(tmp_path: Path) -> None:
    """EVID.5: where both forms of a session lie there, the log is read (pitfall 23)."""
    folder = tmp_path / "chatSessions"
    folder.mkdir()
    (folder / "s1.json").write_bytes(session(request("hi")))
    (folder / "s1.jsonl").write_bytes(log({"kind": 0, "v": json.loads(session(request("hi"), request("more")))}))
    with DiskView() as view:
        (member,) = VSCODE_CHAT.gather(view, VSCODE_CHAT.anchor(f"{folder}/s1.json"))
        assert told(member.load()) == [("user", "hi"), ("user", "more")]


def test_a_session_elsewhere_is_its_own_place(tmp_path: Path) -> None:
    """EVID.12: a session that was copied out of its folder takes no other file with it."""
    path = tmp_path / "saved.json"
    path.write_bytes(session(request("hi")))
    (tmp_path / "other.json").write_text("{}")
    assert VSCODE_CHAT.anchor(str(path)) == str(path)
    with DiskView() as view:
        assert [member.name for member in VSCODE_CHAT.gather(view, str(path))] == ["saved"]


# --- what a log comes to


def test_what_a_log_comes_to() -> None:
    """EVID.3, 5: changes are made in order, cut-off answers and requests are gone, and each line is counted (pitfall 22)."""
    events, reader = read(LOG.read_bytes())
    assert [(e.origin.value, e.text, e.thread) for e in events] == [
        ("user", "fix the build", ""),
        ("assistant", "Looking at it.", ""),
        ("assistant", "look into b", "s1"),
        ("delegated", "b is fine", "s1"),
        ("user", "thanks", ""),
        ("harness", "network error", ""),
        ("harness", "A command ended.", ""),
    ]
    assert reader.counts == {"record:initial": 1, "record:push": 6, "record:set": 3, "record:delete": 1}
    assert (reader.records, reader.records_with_events, reader.facts.title) == (14, 3, "Build")


@pytest.mark.parametrize(
    "bad",
    [
        b"{broken",
        b'{"kind":9,"v":1}',
        b'{"kind":1,"k":[],"v":1}',
        b'{"kind":1,"k":["requests",7,"x"],"v":1}',
        b'{"kind":2,"k":["requests",0,"message"],"v":[1]}',
        b'{"kind":2,"k":["requests"],"v":[],"i":99}',
        b'{"kind":1,"k":[5],"v":1}',
    ],
)
def test_changes_that_cannot_be_made(bad: bytes) -> None:
    """EVID.2, 3: such a line is one problem by its number, and the others count (pitfalls 3, 10)."""
    first = {"kind": 0, "v": json.loads(session(request("hi")))}
    more = {"kind": 2, "k": ["requests"], "v": [request("more")]}
    events, reader = read(log(first) + bad + b"\n" + log(more))
    assert [event.text for event in events] == ["hi", "more"]
    assert [problem.line for problem in reader.problems] == [2]


def test_a_torn_log_is_what_its_whole_lines_say() -> None:
    """EVID.2: a line that is not finished is waited for, counted and no problem (pitfall 2)."""
    data = LOG.read_bytes()
    for cut in range(data.index(b"\n") + 1, len(data), 11):
        events, reader = read(data[:cut])
        whole = data[: data.rindex(b"\n", 0, cut) + 1]
        assert not reader.problems
        if reader.counts["unfinished"]:
            assert [e._replace(locator=LOCATOR) for e in events] == [
                e._replace(locator=LOCATOR) for e in read(whole)[0]
            ]


# --- whose words, and how a tool ended


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (request("dont"), [("user", "dont")]),
        (request("go", isSystemInitiated=True), [("harness", "go")]),
        (request("Continue", confirmation="Continue"), [("harness", "Continue")]),
        (request("undone", {"value": "Done."}, shouldBeRemovedOnSend={"requestId": "q1"}), []),
        (request("half", shouldBeRemovedOnSend={"requestId": "q1", "afterUndoStop": "u"}), [("user", "half")]),
        (request("x", {"value": "a "}, {"value": "b"}), [("user", "x"), ("assistant", "a b")]),
        (request("x", {"kind": "markdownContent", "content": {"value": "c"}}), [("user", "x"), ("assistant", "c")]),
        (request("x", {"kind": "thinking", "value": ["p", "q"]}), [("user", "x"), ("assistant", "p\nq")]),
        (request("x", {"kind": "warning", "content": {"value": "w"}}), [("user", "x"), ("harness", "w")]),
        ({"message": "plain", "response": None}, [("user", "plain")]),
    ],
)
def test_who_is_speaking(asked: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    """EVID.6: what the editor sends by itself is not the person's, and an undone request is nobody's any more
    (pitfalls 22, 28)."""
    events, reader = read(session(asked))
    standing = [event for event in events if "rewound" not in event.flags]
    assert [(event.origin.value, event.text) for event in standing] == expected
    assert reader.counts["rewound"] == (not expected)


@pytest.mark.parametrize(
    ("part", "status", "code", "flags"),
    [
        (tool(toolSpecificData=terminal({}, terminalCommandState={"exitCode": 0})), Status.OK, 0, ()),
        (tool(toolSpecificData=terminal({}, terminalCommandState={"exitCode": 2})), Status.FAILED, 2, ()),
        (tool(toolSpecificData=terminal({}, terminalCommandOutput={"text": "exit code 1"})), Status.UNKNOWN, None, ()),
        (tool(resultDetails={"input": "x", "output": [], "isError": True}), Status.FAILED, None, ()),
        (tool(resultDetails={"input": "x", "output": [], "isError": False}), Status.OK, None, ()),
        (tool(resultDetails=[{"path": "/a"}]), Status.UNKNOWN, None, ()),
        (tool(isConfirmed=False), Status.REJECTED, None, ()),
        (tool(isConfirmed={"type": 0}), Status.REJECTED, None, ()),
        (tool(isConfirmed={"type": 5}), Status.REJECTED, None, ()),
        (tool(isConfirmed={"type": 4}), Status.UNKNOWN, None, ()),
        (tool(isComplete=False), Status.UNKNOWN, None, ("interrupted",)),
    ],
)
def test_how_a_tool_ended(part: dict[str, Any], status: Status, code: int | None, flags: tuple[str, ...]) -> None:
    """EVID.7: by the exit code of a terminal, a refusal, or the error that is stated (pitfalls 26, 38)."""
    result = read(session(request("x", part)))[0][2]
    assert (result.kind, result.status, result.exit_code, result.flags) == (EventKind.TOOL_RESULT, status, code, flags)


def test_a_command_is_the_one_that_ran() -> None:
    """EVID.7: as the person changed it before it ran, on the call and on its result."""
    part = tool(toolSpecificData=terminal({"original": "rm -r a", "toolEdited": "rm a", "userEdited": "ls a"}))
    assert [event.command for event in read(session(request("x", part)))[0]] == ["", "ls a", "ls a"]


def test_what_the_model_was_given_is_the_result() -> None:
    """EVID.7: the rounds that Copilot keeps have the arguments and answers of calls, under ids with an ending of their own."""
    rounds = {
        "toolCallRounds": [{"toolCalls": [{"id": "c1__vscode-9", "name": "t", "arguments": "{}"}]}],
        "toolCallResults": {"c1__vscode-9": {"content": [{"value": "the answer"}, {"value": {"no": "text"}}]}},
    }
    asked = request("x", tool(pastTenseMessage={"value": "Ran t"}), result={"metadata": rounds})
    assert [event.text for event in read(session(asked))[0]] == ["x", "{}", "the answer"]
    assert [event.text for event in read(session(request("x", tool(pastTenseMessage="Ran t"))))[0]][2] == "Ran t"


def test_unknown_parts_and_attachments_are_counted() -> None:
    """EVID.3: what is no text and no tool is counted by its kind (pitfall 10)."""
    asked = request("x", {"kind": "textEditGroup", "uri": {}}, variableData={"variables": [{}, {}]})
    counts = read(session(asked))[1].counts
    assert (counts["block:textEditGroup"], counts["block:attachment"]) == (1, 2)


def test_times_are_in_milliseconds() -> None:
    """EVID.8: of the request, and of the answer where it is stated (pitfall 51)."""
    events, _ = read(
        session(request("x", {"value": "y"}), request("z", {"value": "w"}, responseTimestamp=1760600009000))
    )
    assert [event.at for event in events] == [1760600001000000, None, 1760600001000000, 1760600009000000]
    assert events[0].origin is Origin.USER


def test_a_long_log_is_read_in_linear_time() -> None:
    """EVID.10: ten thousand changes, cut-offs and pieces of an answer cost what their length is."""
    began = process_time()
    first = {"kind": 0, "v": json.loads(session(request("hi")))}
    place = ["requests", 0, "response"]
    pieces = [{"kind": 2, "k": place, "v": [{"value": "x"}]} for _ in range(20_000)]
    cuts = [{"kind": 2, "k": place, "v": [{"value": "x"}], "i": 1} for _ in range(20_000)]
    read(log(first, *pieces, *cuts, *pieces))
    assert process_time() - began < 5


def test_recognition() -> None:
    """EVID.12: either form is known by how it begins; other documents and logs are refused."""
    for other in (b'{"kind":0,"v":{"a":1}}\n', b'{"kind":1,"k":["requests"],"v":1}\n', b'{"requests":[]}', b"[]"):
        assert not VSCODE_CHAT.recognises(other, "x.json"), other
