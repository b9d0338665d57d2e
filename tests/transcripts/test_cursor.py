"""Cursor: the contracts over its three forms, who is speaking, and how a call ended. No real files are known to us."""

from __future__ import annotations

import json
import sqlite3
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tallystick.errors import UsageError
from tallystick.model.evidence import Event, EventKind, Origin, Status
from tallystick.plugins import ingest_tools
from tallystick.store.memory import MemoryStore
from tallystick.testing.gather_contract import GatherContract
from tallystick.testing.reader_contract import without_place
from tallystick.testing.trails import trail_over
from tallystick.transcripts.cursor import CURSOR, CursorReader
from tallystick.transcripts.protocol import RawRecord
from tallystick.transcripts.view import DiskView
from tallystick.workflows.ingest import ingest
from tallystick.workflows.sessions import find_session
from tests.growth import assert_linear
from tests.transcripts.cursor_places import ANSWER, CHAT, LATER, QUERY, THOUGHT, bubble, tool, write_state
from tests.transcripts.golden import CORPORA, expected_path, golden, sessions
from tests.transcripts.turns import TurnContract

SAMPLES = CORPORA / "cursor"
RUN = {"command": "pytest"}


def read(data: bytes, name: str = CHAT) -> tuple[list[Event], CursorReader]:
    reader = CURSOR.reader(name)
    events = list(reader.read([RawRecord(1, 0, data)]))
    silent = sum(count for key, count in reader.counts.items() if key.startswith("record:"))
    assert reader.records == reader.records_with_events + silent + len(reader.problems)
    return events, reader


def gathered(path: Path) -> dict[str, bytes]:
    """The documents of a place, by the name of the member."""
    with DiskView() as view:
        return {member.name: member.load() for member in CURSOR.gather(view, path.as_posix())}


def said(data: bytes, name: str = CHAT) -> list[tuple[str, str, str]]:
    return [(event.kind.value, event.origin.value, event.text) for event in read(data, name)[0]]


def text(assistant: str, query: str = "fix it") -> bytes:
    """A transcript of one query and one turn of the assistant."""
    return f"user:\n<user_query>\n{query}\n</user_query>\n\nassistant:\n{assistant}\n".encode()


def log(*lines: Any) -> bytes:
    """A transcript as lines of JSON; a pair is (role, content)."""
    whole = [{"role": each[0], "message": {"content": each[1]}} if isinstance(each, tuple) else each for each in lines]
    return "".join(json.dumps(each) + "\n" for each in whole).encode()


def chat(tmp_path: Path, *bubbles: Any, **about: Any) -> tuple[list[Event], CursorReader]:
    """What a chat of these bubbles in the editor's database is read as."""
    (data,) = gathered(write_state(tmp_path / "state.vscdb", {CHAT: bubbles}, **about)).values()
    return read(data)


class TestContract(TurnContract):
    adapter = CURSOR

    def sources(self) -> dict[str, bytes]:
        chats = gathered(SAMPLES / "state.vscdb")
        answered = [
            {"type": "thinking", "thinking": "Hm."},
            {"type": "tool_use", "id": "t1", "name": "Shell", "input": RUN},
        ]
        result = [{"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "3 passed"}]}]
        return {
            CHAT: (SAMPLES / f"{CHAT}.txt").read_bytes(),
            "log": (SAMPLES / f"{CHAT}.jsonl").read_bytes(),
            f"{CHAT}/subagents/{LATER}": log(("user", "look"), ("assistant", answered), ("user", result)),
            "chat": chats[CHAT],
        }

    def with_unknown(self, data: bytes) -> bytes:
        """A line of next year behind each, or a block in a text of which only a count is left."""
        if data.startswith(b"user:"):
            return data + b"\n[Tool result] of_next_year\n"
        unknown = b'{"type":"of_next_year"}\n'
        return b"".join(line + b"\n" + unknown for line in data.splitlines())

    def test_reading_may_pause_at_any_record(self) -> None:
        """EVID.4: a transcript is one document: it is read whole or not at all."""


class TestDatabase(GatherContract):
    adapter = CURSOR

    def place(self, folder: Path) -> Path:
        chats = {CHAT: [bubble(1, "hi"), tool("Shell", RUN, None, "loading")], LATER: [bubble(1, "ho")], "empty": []}
        return write_state(folder / "state.vscdb", chats)

    def grown(self, file: Path) -> None:
        with sqlite3.connect(file) as database:
            done = json.dumps(tool("Shell", RUN, {"output": "ok", "exitCodeV2": 0}))
            database.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", (f"bubbleId:{CHAT}:b1", done))
        database.close()

    def test_a_part_that_changed_in_place_is_read_again(self, tmp_path: Path) -> None:
        """EVID.4, 7: a call that was running and has ended since has its result (pitfalls 24, 26)."""
        file = self.place(tmp_path)
        before = read(self.members(file)[CHAT][1])
        self.grown(file)
        after = read(self.members(file)[CHAT][1])
        assert [without_place(each) for each in after[0][:-1]] == [without_place(each) for each in before[0]]
        assert (after[0][-1].status, after[0][-1].exit_code) == (Status.OK, 0)
        assert list(before[1].calls) == ["t-Shell"]


class TestTranscripts(GatherContract):
    adapter = CURSOR

    def place(self, folder: Path) -> Path:
        path = folder / "agent-transcripts" / CHAT / f"{CHAT}.jsonl"
        path.parent.mkdir(parents=True)
        path.write_bytes(log(("user", "<user_query>hi</user_query>")))
        return path

    def grown(self, file: Path) -> None:
        file.write_bytes(file.read_bytes() + log(("assistant", [{"type": "text", "text": "Hello."}])))


# --- who is speaking


def test_a_text_is_told_apart() -> None:
    """EVID.6, OUTCOME.5: query, thought, call and answer; a transcript has no results, so nothing is held against it (46)."""
    data = text(
        f"[Thinking] {THOUGHT}\n\nI look.\n[Tool call] Shell\n  command: make test\n\n  x\n[Tool result] Shell\n\nDone."
    )
    assert said(data) == [
        ("message", "user", "fix it"),
        ("thinking", "assistant", THOUGHT),
        ("message", "assistant", "I look."),
        ("tool_call", "assistant", "  command: make test\n\n  x"),
        ("message", "assistant", "Done."),
    ]
    events, reader = read(data)
    assert (events[3].tool, events[3].command, events[3].at) == ("Shell", "make test", None)
    assert (reader.facts.native_id, reader.facts.has_results) == (CHAT, False)
    assert reader.counts["block:tool_result"] == 1


def test_what_a_person_pastes_begins_no_turn() -> None:
    """EVID.6: a line ``assistant:`` inside a query is the person's."""
    pasted = "look:\n\nassistant:\nAll tests pass.\n[Tool call] x"
    assert said(text("Yes.", pasted)) == [("message", "user", pasted), ("message", "assistant", "Yes.")]


def test_what_cursor_puts_around_a_query() -> None:
    """EVID.6: wrappers on the person's side are the harness's, with a query in them or without (pitfall 28)."""
    wrapped = (
        "<open_files>\na.py\n</open_files>\n<user_query>\nfix it\n</user_query>\n<system_reminder>x</system_reminder>"
    )
    assert [each[1:] for each in said(log(("user", [{"type": "text", "text": wrapped}])))] == [
        ("harness", "<open_files>\na.py\n</open_files>"),
        ("user", "fix it"),
        ("harness", "<system_reminder>x</system_reminder>"),
    ]
    assert [each[1] for each in said(log(("user", "<user_info>\nx\n</user_info>"), ("user", "plain")))] == [
        "harness",
        "user",
    ]


def test_a_sub_agents_user_is_its_parent(tmp_path: Path) -> None:
    """EVID.6: a file below ``subagents`` is a thread of its parent's session; its user is not a person (pitfall 21)."""
    path = tmp_path / CHAT / "subagents" / f"{LATER}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(log(("user", "<user_query>look</user_query>")))
    ((name, data),) = gathered(path).items()
    events, reader = read(data, name)
    assert (reader.facts.native_id, reader.facts.thread) == (CHAT, LATER)
    assert [(event.origin, event.thread) for event in events] == [(Origin.DELEGATED, LATER)]
    events, reader = chat(tmp_path, bubble(1, "look"), subagentInfo={"parentComposerId": "p"})
    assert (reader.facts.native_id, reader.facts.thread, events[0].origin) == ("p", CHAT, Origin.DELEGATED)


def test_our_own_briefing_is_split_off(tmp_path: Path) -> None:
    """EVID.6: our block is ours in every form, and our own command and tools are flagged (pitfall 36)."""
    block = "<tallystick-briefing>\nx\n</tallystick-briefing>"
    for data in (text("Yes.", f"{block}\nfix it"), log(("user", f"{block}\nfix it"))):
        assert [each[1] for each in said(data)][:2] == ["briefing", "user"]
    events, _ = chat(tmp_path, tool("Shell", {"command": "tally brief"}, {"output": block, "exitCodeV2": 0}))
    assert [(event.origin.value, event.flags) for event in events] == [
        ("assistant", ("own_tool",)),
        ("briefing", ("own_tool",)),
    ]


# --- how a call ended


@pytest.mark.parametrize(
    ("name", "result", "status", "ended", "code", "flags"),
    [
        ("run_terminal_cmd", {"output": "x", "exitCodeV2": 0}, "completed", Status.OK, 0, ()),
        ("run_terminal_command_v2", {"output": "x", "exitCode": 2}, "completed", Status.FAILED, 2, ()),
        ("run_terminal_cmd", {"output": "Exit code: 0"}, "completed", Status.UNKNOWN, None, ()),
        ("run_terminal_cmd", {"output": "x", "exitCodeV2": True}, "completed", Status.UNKNOWN, None, ()),
        ("run_terminal_cmd", {"output": "x"}, "error", Status.FAILED, None, ()),
        ("run_terminal_cmd", {"output": "x", "exitCodeV2": 0}, "cancelled", Status.UNKNOWN, None, ("interrupted",)),
        (
            "run_terminal_cmd",
            {"notInterrupted": False, "exitCodeV2": 0},
            "completed",
            Status.UNKNOWN,
            None,
            ("interrupted",),
        ),
        (
            "run_terminal_cmd",
            {"endedReason": "X_BACKGROUND", "exitCodeV2": 0},
            "completed",
            Status.UNKNOWN,
            None,
            ("background",),
        ),
        ("run_terminal_cmd", {"rejected": True}, "completed", Status.REJECTED, None, ()),
        ("read_file", {"contents": "x", "exitCodeV2": 3}, "completed", Status.OK, None, ()),
        ("read_file", None, "completed", Status.UNKNOWN, None, ()),
        ("read_file", {"error": "no"}, "error", Status.FAILED, None, ()),
    ],
)
def test_how_a_call_ended(
    tmp_path: Path, name: str, result: Any, status: str, ended: Status, code: int | None, flags: tuple[str, ...]
) -> None:
    """EVID.7: by the fields that say so; a shell that states no code may have had any (pitfalls 38, 39, 50)."""
    events, reader = chat(tmp_path, tool(name, RUN, result, status))
    assert [event.kind for event in events] == [EventKind.TOOL_CALL, EventKind.TOOL_RESULT]
    assert (events[1].status, events[1].exit_code, events[1].flags) == (ended, code, flags)
    assert events[0].call_id == events[1].call_id == f"t-{name}"
    assert reader.facts.has_results


def test_results_in_a_transcript_are_read_where_there_are_any() -> None:
    """EVID.7: a block that holds a result is joined to its call and says only whether it failed."""
    used = {"type": "tool_use", "id": "t1", "name": "Shell", "input": RUN}
    for failed, status in ((True, Status.FAILED), (False, Status.UNKNOWN)):
        result = {"type": "tool_result", "tool_use_id": "t1", "content": "3 passed", "is_error": failed}
        events, reader = read(log(("assistant", [used]), ("user", [result])))
        assert (events[1].status, events[1].command, events[1].text) == (status, "pytest", "3 passed")
        assert reader.facts.has_results


# --- the database


def test_chats_of_any_age(tmp_path: Path) -> None:
    """EVID.3: bubbles inline or apart, missing, taken back or of a type that is not known: read or counted (22, 24)."""
    path = write_state(tmp_path / "state.vscdb", {CHAT: [bubble(1, "one"), bubble(7), bubble(2, "two")]})
    old = {
        "composerId": LATER,
        "conversation": [{"type": 1, "bubbleId": "a", "text": "inline", "createdAt": 1_770_112_800_000}],
    }
    with sqlite3.connect(path) as database:
        database.execute("DELETE FROM cursorDiskKV WHERE key LIKE '%:b2'")
        rows: list[tuple[str, object]] = [
            (f"bubbleId:{CHAT}:gone", json.dumps(bubble(2, "taken back"))),
            (f"composerData:{LATER}", json.dumps(old)),
        ]
        rows += [("composerData:odd", "{"), ("composerData:null", None), ("composerData:blob", b"\xff")]
        database.executemany("INSERT INTO cursorDiskKV VALUES (?, ?)", rows)
    database.close()
    found = gathered(path)
    assert list(found) == [CHAT, LATER]
    events, reader = read(found[CHAT])
    assert [event.text for event in events] == ["one"]
    assert dict(reader.counts) == {"block:rewound": 1, "record:unknown": 1, "record:missing": 1}
    assert [(event.text, event.at) for event in read(found[LATER])[0]] == [("inline", 1_770_112_800_000_000)]


def test_a_database_of_another_program(tmp_path: Path) -> None:
    """EVID.2, 12: no such table, no sessions; a damaged one is an error that names it, never a transcript."""
    path = tmp_path / "state.vscdb"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE ItemTable (key TEXT UNIQUE, value BLOB)")
    database.close()
    assert not CURSOR.recognises(path.read_bytes(), path.name)
    assert gathered(path) == {}
    for name in ("state.vscdb", "state.db"):
        (tmp_path / name).write_bytes(b"SQLite format 3\0" + b"x" * 200)
        with pytest.raises(UsageError, match=name):
            gathered(tmp_path / name)


def test_a_session_in_three_forms_counts_once(tmp_path: Path) -> None:
    """EVID.5: text, lines and chat of one id are one session, in which the same words stand once (pitfalls 13, 14)."""
    trail = trail_over(MemoryStore())
    report = ingest(trail, [SAMPLES], ingest_tools({"TALLY_PERSON": "ada"}))
    assert len(report.sessions) == 2
    assert [each for each in report.problems if "expected" not in each.file and "SOURCES" not in each.file] == []
    events = find_session(trail, f"s{min(report.sessions)}", []).events
    for words in (QUERY, THOUGHT, ANSWER):
        assert [event.text for event in events].count(words) == 1
    assert [event.status for event in events if event.kind is EventKind.TOOL_RESULT] == [Status.FAILED, Status.OK]


# --- bytes


def test_a_log_that_is_still_written() -> None:
    """EVID.2: a last line that is torn waits; a bad one before it is one problem (pitfalls 2, 3)."""
    whole = log(("user", "one"), ("assistant", "two"))
    torn, reader = read(whole[:-9])
    assert [event.text for event in torn] == ["one"]
    assert (reader.records, reader.problems) == (1, [])
    assert [event.text for event in read(whole.rstrip())[0]] == ["one", "two"]
    _, reader = read(whole.replace(b'{"role": "user"', b'{"role": "user'))
    assert (reader.records, [problem.line for problem in reader.problems]) == (2, [1])


def test_spoilt_characters_are_replaced() -> None:
    """EVID.2: lone surrogates, invalid UTF-8, a mark and CR LF cost no turn (pitfalls 4, 7; failure case 37)."""
    events, reader = read(b"\xef\xbb\xbf" + log(("user", "a XY b")).replace(b"XY", b"\\ud83d\xff"))
    assert [event.text for event in events] == ["a \ufffd\ufffd b"]
    assert reader.counts["mended"] == 1
    plain = text("[Thinking] x\n\nyes\n[Tool call] Read\n  path: a")
    assert said(b"\xef\xbb\xbf" + plain.replace(b"\n", b"\r\n")) == said(plain)


@pytest.mark.parametrize(
    ("other", "is_one"),
    [
        (b"---\ntitle: A session\ndate: 2026-01-01\n---\n\n# Transcript\n\n" + text("Yes."), True),
        (b"<!-- kept -->\n" + text("Yes."), True),
        (b"user:\nhi\n\nassistant:\nHello.\n", False),
        (b"# Notes\n\nuser: <user_query>\n", False),
        (b'{"role":"user","content":"hi"}\n', False),
        (b'{"type":"user","message":{"role":"user","content":"hi"},"uuid":"u"}\n', False),
        (b"SQLite format 3\0" + b"\0" * 100 + b"CREATE TABLE session (id)", False),
    ],
)
def test_what_is_recognised(other: bytes, is_one: bool) -> None:
    """EVID.12: by what stands in it, with whatever someone put above it; lines and databases of others are none (11)."""
    assert CURSOR.recognises(other, "x.txt") is is_one
    if is_one:
        assert [each[1] for each in said(other)] == ["user", "assistant"]


PIECES = ["user:\n", "<user_query>", "</user_query>\n", "[Thinking] ", "[Tool call] Shell\n", " command: x\n"]


@pytest.mark.parametrize("piece", [*PIECES, "---\n", "#\n", "<a>", "{"])
def test_no_text_makes_a_scan_slow(piece: str) -> None:
    """EVID.10: whatever repeats in a transcript, it is read at a cost that grows with its length."""

    def cost(long: str) -> object:
        many = log(*(("user", long[:50]) for _ in range(len(long) // 50)))
        return CURSOR.recognises(long.encode(), "x"), read(text(long, long)), read(log(("user", long))), read(many)

    assert_linear(cost, partial(_repeated, piece), 10_000)


def _repeated(piece: str, length: int) -> str:
    return piece * (length // len(piece))


@pytest.mark.parametrize("session", sessions("cursor"), ids=lambda path: path.name)
def test_expected_events(session: Path) -> None:
    """EVID.1, 6, 7: the events of the samples that were made are those that a person has read and kept."""
    assert golden(CURSOR, session) == expected_path(session).read_text("utf-8")
