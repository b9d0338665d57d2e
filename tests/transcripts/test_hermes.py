"""Hermes Agent sessions: the contracts, the database and the files beside it, copies, and what the harness tells itself."""

from __future__ import annotations

import json
import sqlite3
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pytest
from corpora import make_hermes
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import UsageError
from tallystick.model.evidence import Event, EventKind, Origin, Status
from tallystick.plugins import ingest_tools
from tallystick.store.memory import MemoryStore
from tallystick.testing.gather_contract import GatherContract
from tallystick.testing.trails import trail_over
from tallystick.transcripts.hermes import HERMES
from tallystick.transcripts.hermes_speech import said
from tallystick.transcripts.protocol import Reader
from tallystick.transcripts.sources import adapter_for
from tallystick.workflows.ingest import ingest
from tests.growth import assert_linear, repeated
from tests.transcripts.databases import CORPORA, GatheredReaderContract, changed, database_of, documents, read, rows_in
from tests.transcripts.golden import expected_path, golden, sessions

SQL = CORPORA / "hermes" / "state.sql"
FIRST, CHILD, TASK = "20260528_202640_aaaaaa", "20260528_203000_bbbbbb", "20260528_203100_cccccc"
BRANCH, CHAT, IN_PLACE = "20260528_203200_dddddd", "20260528_203300_eeeeee", "20260528_203400_ffffff"


def messages_of(database: Path, session: str) -> list[dict[str, Any]]:
    """The messages as the harness writes them into files, whose times say no zone."""
    asked = "SELECT role, content, tool_call_id, tool_calls, reasoning FROM messages WHERE session_id = ? ORDER BY id"
    found = []
    for role, content, call_id, calls, thought in sqlite3.connect(database).execute(asked, (session,)):
        more = ({"tool_call_id": call_id} if call_id else {}) | ({"tool_calls": json.loads(calls)} if calls else {})
        more |= {"reasoning": thought} if thought else {}
        found.append({"role": role, "content": content, **more, "timestamp": "2026-05-28T20:26:41.250000"})
    return found


def log_of(database: Path, session: str, folder: Path) -> Path:
    """A session as a gateway logs it."""
    meta = {
        "role": "session_meta",
        "tools": [],
        "model": "hermes-4",
        "platform": "slack",
        "timestamp": "2026-05-28T20:26:40",
    }
    folder.mkdir(exist_ok=True)
    path = folder / f"{session}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in (meta, *messages_of(database, session))), "utf-8")
    return path


def snapshot_of(database: Path, session: str, folder: Path) -> Path:
    """A session as it is written whole after every turn."""
    told = {"session_id": session, "model": "hermes-4", "platform": "cli", "session_start": "2026-05-28T20:26:40"}
    folder.mkdir(exist_ok=True)
    path = folder / f"session_{session}.json"
    path.write_text(json.dumps(told | {"messages": messages_of(database, session)}, indent=2), "utf-8")
    return path


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """The sample, as the harness keeps it."""
    return database_of(SQL, tmp_path)


class TestContract(GatheredReaderContract):
    adapter = HERMES
    sql = "state.sql"
    messages = "messages"
    unknown: ClassVar[dict[str, Any]] = {"role": "of_next_year", "content": "x"}


class TestDatabase(GatherContract):
    adapter = HERMES

    def place(self, folder: Path) -> Path:
        return database_of(SQL, folder)

    def grown(self, file: Path) -> None:
        changed(file, f"UPDATE messages SET active = 0 WHERE session_id = '{CHAT}' AND content = 'I see a price tag.'")


class TestLog(GatherContract):
    adapter = HERMES

    def place(self, folder: Path) -> Path:
        (folder / "made").mkdir()
        return log_of(database_of(SQL, folder / "made"), FIRST, folder)

    def grown(self, file: Path) -> None:
        with file.open("a") as log:
            log.write('{"role":"user","content":"More.","timestamp":"2026-05-28T21:00:00"}\n')


def events_of(database: Path, session: str = FIRST) -> tuple[list[Event], Reader]:
    return read(HERMES, documents(HERMES, database)[session])


def told(*messages: dict[str, Any], **more: Any) -> list[Event]:
    """The events of messages of one session."""
    return read(HERMES, json.dumps({"session_id": "s", "messages": messages, **more}).encode())[0]


def result(tool: str, answer: object, **arguments: Any) -> Event:
    """The result of one call."""
    text = answer if isinstance(answer, str) else json.dumps(answer)
    call = {"id": "c", "function": {"name": tool, "arguments": json.dumps(arguments)}}
    asks = {"role": "assistant", "content": "", "tool_calls": [call]}
    return told(asks, {"role": "tool", "content": text, "tool_call_id": "c"})[1]


def test_the_sample_is_what_its_script_makes(database: Path) -> None:
    """The SQL that is kept holds the rows that ``corpora/make_hermes.py`` makes."""
    assert rows_in(sqlite3.connect(database)) == rows_in(make_hermes.made())


@pytest.mark.parametrize("session", sessions("hermes"), ids=lambda path: path.name)
def test_expected_events(session: Path) -> None:
    """EVID.1, 6, 7: the events of the sample are those that a person has read and kept."""
    assert golden(HERMES, session) == expected_path(session).read_text("utf-8")


@pytest.mark.parametrize("write", [log_of, snapshot_of])
def test_files_tell_what_the_database_tells(database: Path, tmp_path: Path, write: Any) -> None:
    """EVID.1, 8, pitfall 51: a file has the same events with the same ids, and no times, since they say no zone."""
    file = write(database, FIRST, tmp_path / "sessions")
    database.unlink()
    assert adapter_for(file, [HERMES]) is HERMES
    (data,) = documents(HERMES, file).values()
    events, reader = read(HERMES, data)
    assert reader.facts.native_id == FIRST
    assert {event.at for event in events} == {None}
    kept = {event.uid: (event.text, event.origin) for event in events}
    again = events_of(database_of(SQL, tmp_path))[0]
    assert kept == {event.uid: (event.text, event.origin) for event in again}


def test_a_session_in_both_is_read_from_the_database(database: Path, tmp_path: Path) -> None:
    """EVID.5, pitfall 14: a file beside a database that has its session gives what the database gives: nothing counts twice."""
    tools = ingest_tools({"TALLY_PERSON": "ada"})._replace(adapters=[HERMES])
    alone = ingest(trail_over(MemoryStore()), [database], tools)
    for session in (FIRST, CHILD, CHAT):
        log_of(database, session, tmp_path / "sessions")
        snapshot_of(database, session, tmp_path / "sessions")
    trail = trail_over(MemoryStore())
    both = ingest(trail, [tmp_path], tools)
    assert (len(both.sessions), both.problems) == (len(alone.sessions), []) == (7, [])
    assert both.counts["events_archived"] == alone.counts["events_archived"]
    database.rename(tmp_path / "broken")
    (tmp_path / "state.db").write_bytes(b"SQLite format 3\0 torn")
    (data,) = documents(HERMES, tmp_path / "sessions" / f"{FIRST}.jsonl").values()
    assert read(HERMES, data)[0]


def test_an_export_of_many(database: Path, tmp_path: Path) -> None:
    """EVID.3: an export has a session a line; each is a session of its own."""
    export = tmp_path / "out.jsonl"
    lines = [
        {"id": each, "source": "cli", "parent_session_id": None, "messages": messages_of(database, each)}
        for each in (FIRST, CHAT)
    ]
    export.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert adapter_for(export, [HERMES]) is HERMES
    found = documents(HERMES, export)
    assert list(found) == [FIRST, CHAT]
    assert [read(HERMES, data)[1].facts.native_id for data in found.values()] == [FIRST, CHAT]


# --- copies


def test_compressing_splits_a_session(database: Path) -> None:
    """EVID.5, pitfalls 13, 17, 18: the child names its parent, and what it has of it is counted and said once."""
    events, reader = events_of(database, CHILD)
    assert (reader.facts.parent, reader.facts.thread) == (FIRST, "")
    assert reader.counts["record:copied"] == 3
    words = [event.text for event in events if event.kind is EventKind.MESSAGE]
    assert words == ["The tax table is next.", "Now the tax table, please."]
    assert [event.origin for event in events if event.kind is EventKind.SUMMARY] == [Origin.HARNESS]


def test_branching_and_compressing_in_place(database: Path) -> None:
    """EVID.5, pitfalls 13, 17: a branch has what is new in it; a session that was compressed in place says all once."""
    events, reader = events_of(database, BRANCH)
    assert [event.text for event in events if event.origin is Origin.USER] == ["Try decimals instead."]
    assert (reader.facts.parent, reader.facts.thread) == (CHILD, "")
    events, reader = events_of(database, IN_PLACE)
    assert [event.text for event in events if event.kind is EventKind.MESSAGE] == ["First.", "One.", "Second.", "Two."]
    assert reader.counts["record:copied"] == 2


def test_the_same_words_later_are_a_turn(database: Path) -> None:
    """EVID.5: what is said again away from a summary was said again, a copy or not of it standing before."""
    with sqlite3.connect(database) as connection:
        row = (CHAT, "user", "See this.", 1790000000.0)
        connection.execute("INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, ?, ?, ?)", row)
    events, reader = events_of(database, CHAT)
    assert [event.text for event in events if event.origin is Origin.USER] == ["See this."] * 2
    assert reader.counts["record:copied"] == 0


def test_what_was_taken_back(database: Path) -> None:
    """EVID.3, pitfall 22: messages that a person went back before are counted, and no evidence."""
    events, reader = events_of(database, CHAT)
    assert reader.counts["record:rewound"] == 2
    assert not any("elete" in event.text for event in events)


def test_a_task_of_another_session(database: Path) -> None:
    """EVID.6, pitfall 21: its user is the agent that gave it, on a thread of its own, under its parent."""
    events, reader = events_of(database, TASK)
    assert (reader.facts.parent, reader.facts.thread) == (FIRST, TASK)
    assert [(event.origin, event.thread) for event in events] == [(Origin.DELEGATED, TASK), (Origin.ASSISTANT, TASK)]


@pytest.mark.parametrize(
    ("config", "ended", "thread"),
    [
        ({"_reset_from": FIRST}, "compression", ""),
        ({"_delegate_from": "another"}, "compression", ""),
        (None, "session_reset", ""),
        (None, "branched", ""),
        (None, "cli_close", TASK),
        ([], None, TASK),
    ],
)
def test_what_a_session_is_to_its_parent(database: Path, config: object, ended: str | None, thread: str) -> None:
    """EVID.6: by the mark that it carries, else by how its parent ended; a mark of another session was inherited."""
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE sessions SET model_config = ? WHERE id = ?", (json.dumps(config), TASK))
        connection.execute("UPDATE sessions SET end_reason = ? WHERE id = ?", (ended, FIRST))
    assert events_of(database, TASK)[1].facts.thread == thread


# --- who is speaking


def test_who_is_speaking(database: Path) -> None:
    """EVID.6, pitfalls 28-30, 36: what a person typed or answered, and nothing that the harness put around it."""
    words = {
        name: [event.text.strip() for event in read(HERMES, data)[0] if event.origin is Origin.USER]
        for name, data in documents(HERMES, database).items()
    }
    assert words == {
        FIRST: [
            "Prices must be integers of cents, never floats.",
            "Euro only",
            "release 2.1 today",
            "Now the tax table, please.",
        ],
        CHILD: ["Now the tax table, please."],
        TASK: [],
        BRANCH: ["Try decimals instead."],
        CHAT: ["See this."],
        IN_PLACE: ["First.", "Second."],
        "cron_nightly_20260528": [],
    }


def test_self_review_is_never_evidence(database: Path) -> None:
    """EVID.6, pitfall 36: what the harness asks its model to remember, and all that it does about it, until a person speaks."""
    events, reader = events_of(database)
    assert reader.counts["record:self-review"] == 3
    assert [event.origin for event in events if "Review the conversation" in event.text] == [Origin.HARNESS]
    assert not any("likes cents" in event.text for event in events)
    assert reader.calls == {}


@pytest.mark.parametrize("tool", ["memory", "session_search", "skill_view", "skills_list"])
def test_memories_that_come_back_are_no_findings(tool: str) -> None:
    """EVID.6, pitfall 36: the answer of the harness's own memory is the harness's, not what a tool found out."""
    assert result(tool, {"success": True, "entries": ["all tests pass"]}).origin is Origin.HARNESS


BUNDLE = (
    '[IMPORTANT: The user has invoked the "/clean /work" skill bundle, loading 2 skills together. Treat every skill below as'
    " active.]\nUser instruction: tidy up\n\n[Loaded as part of the bundle]\nUser instruction: quoted"
)
ASKS = "The user has provided the following instruction alongside the skill invocation: "
MERGED = (
    f"[PRIOR CONTEXT — for reference only]\nold\n[END OF PRIOR CONTEXT — SUMMARY BELOW]\n{make_hermes.SUMMARY}\nold"
)
LOADED = (
    '[IMPORTANT: The "ops" skill is auto-loaded. Follow its instructions for this session.]\n\nBody, {}\n\nhi there'
)


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("dont run", ["dont run"]),
        (make_hermes.SKILL, ["release 2.1 today"]),
        (make_hermes.SKILL.replace("IMPORTANT", "SYSTEM"), ["release 2.1 today"]),
        (make_hermes.SKILL.replace("# Release", f"# Release\n{ASKS}quoted"), ["release 2.1 today"]),
        (make_hermes.SKILL.partition("\n\nThe user has provided")[0], []),
        (BUNDLE, ["tidy up"]),
        (LOADED.format("then run them with the terminal tool using the absolute path."), ["hi there"]),
        (LOADED.format("no foot"), []),
        ("[IMPORTANT: Background process 7 completed]\n\nOutput: all pass", []),
        ("[Your active task list was preserved across context compression]\n- [>] review", []),
        (make_hermes.SUMMARY, []),
        (make_hermes.SUMMARY + "\n\ngo on", ["go on"]),
        (MERGED, []),
        ("[CONTEXT SUMMARY]: what was done", []),
        (make_hermes.REVIEW, []),
        (make_hermes.NOTE + make_hermes.NOTE + "go on", ["go on"]),
        ('[Replying to: "All tests pass."]\n\nno they do not', ["no they do not"]),
        (f"before {make_hermes.MEMORY} after", ["before", "after"]),
        ("I mean the tag <memory-context> itself", ["I mean the tag <memory-context> itself"]),
        (f"{make_hermes.BRIEFING}\nfix it", ["fix it"]),
    ],
)  # fmt: skip
def test_what_was_typed(text: str, typed: list[str]) -> None:
    """EVID.6, pitfalls 28, 29, 34: skills, notes, memories and summaries are split off; the person's words remain theirs."""
    events = told({"role": "user", "content": text})
    assert [event.text.strip() for event in events if event.origin is Origin.USER] == typed


@given(
    st.lists(st.sampled_from([make_hermes.NOTE, make_hermes.MEMORY, "hi", "\n\n", "[SYSTEM:", "--- END"])).map("".join)
)
def test_no_word_is_lost(text: str) -> None:
    """EVID.3: whatever stands in a message, its stretches are all of it but white space."""
    assert "".join("".join(each.text.split()) for each in said(text, Origin.USER)) == "".join(text.split())


@pytest.mark.parametrize(
    "piece", [make_hermes.NOTE, make_hermes.MEMORY, "<memory-context>", "[System note: ", "\nUser instruction: "]
)
def test_no_text_makes_a_scan_slow(piece: str) -> None:
    """EVID.10: whatever a message repeats, it is told apart at a cost that grows with its length."""
    assert_linear(lambda text: said(text, Origin.USER), partial(repeated, piece), 50_000)
    assert_linear(lambda text: said(make_hermes.SKILL + text, Origin.USER), partial(repeated, piece), 50_000)


def test_parts_and_mirrors(database: Path) -> None:
    """EVID.3, 6, pitfall 5: content in parts is read and images counted; what was said elsewhere is not the person's here."""
    parts = [
        {"type": "text", "text": "See this."},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}},
    ]
    with sqlite3.connect(database) as connection:
        connection.execute(
            "UPDATE messages SET content = ? WHERE content = 'See this.'", ("\0json:" + json.dumps(parts),)
        )
    events, reader = events_of(database, CHAT)
    assert (events[0].text, reader.counts["image"]) == ("See this.", 1)
    assert [event.origin for event in told({"role": "user", "content": "x", "mirror": True})] == [Origin.HARNESS]


# --- how a call ended

RAN = make_hermes.ran


@pytest.mark.parametrize(
    ("tool", "answer", "status", "code", "flags"),
    [
        ("terminal", RAN("ok", 0), Status.OK, 0, ()),
        ("terminal", RAN("no", 2), Status.FAILED, 2, ()),
        ("terminal", RAN("no", -1, "no such folder"), Status.FAILED, -1, ()),
        ("terminal", RAN("x\n[Command timed out after 9s]", 124), Status.UNKNOWN, None, ("interrupted",)),
        ("terminal", RAN("x\n[Command interrupted]", 130), Status.UNKNOWN, None, ("interrupted",)),
        ("terminal", RAN("timeout: my own", 124), Status.FAILED, 124, ()),
        ("terminal", RAN("a [OUTPUT TRUNCATED - 9 chars omitted] b", 0), Status.OK, 0, ("truncated",)),
        ("terminal", RAN("", -1, "BLOCKED: User denied this") | {"status": "blocked"}, Status.REJECTED, None, ()),
        ("terminal", '{"exit_code": true}', Status.UNKNOWN, None, ()),
        ("terminal", "exit_code: 0", Status.UNKNOWN, None, ()),
        ("patch", {"success": True}, Status.OK, None, ()),
        ("patch", {"success": False}, Status.FAILED, None, ()),
        ("read_file", {"error": "no such file"}, Status.FAILED, None, ()),
        ("read_file", {"content": '{"success": true}'}, Status.UNKNOWN, None, ()),
        ("execute_code", {"status": "success", "output": "1"}, Status.OK, None, ()),
        ("execute_code", {"status": "error", "output": ""}, Status.FAILED, None, ()),
        ("execute_code", {"status": "timeout", "output": ""}, Status.UNKNOWN, None, ("interrupted",)),
        ("todo", {"status": "error"}, Status.UNKNOWN, None, ()),
    ],
)  # fmt: skip
def test_how_a_call_ended(tool: str, answer: object, status: Status, code: int | None, flags: tuple[str, ...]) -> None:
    """EVID.7, pitfalls 38, 39: by the fields of the answer, which is JSON; what a command prints is never read for one."""
    event = result(tool, answer, command="x")
    assert (event.status, event.exit_code, event.flags) == (status, code, flags)


@given(st.text(max_size=60).filter(lambda text: "tallystick" not in text))
@pytest.mark.parametrize("forged", ["", '{"output": "", "exit_code": 0, "error": null}', '"exit_code": 0'])
def test_no_printed_text_changes_an_exit_code(forged: str, printed: str) -> None:
    """EVID.7: whatever a command prints, the exit code is the one that the harness stated beside."""
    event = result("terminal", RAN(printed + forged, 7), command="x")
    assert (event.status, event.exit_code) == (Status.FAILED, 7)


def test_a_command_in_the_background_has_not_ended() -> None:
    """EVID.7: that it was started is not how it ended."""
    event = result("terminal", RAN("Background process started", 0), command="make serve", background=True)
    assert (event.status, event.exit_code, event.flags) == (Status.UNKNOWN, None, ("background",))


def test_a_result_without_a_call() -> None:
    """EVID.7, pitfall 26: of what nobody asked for it is not known how it ended."""
    (event,) = told({"role": "tool", "content": json.dumps(RAN("ok", 0)), "tool_call_id": "x", "tool_name": "terminal"})
    assert (event.status, event.exit_code) == (Status.UNKNOWN, None)


# --- the database


def test_times_are_those_of_the_clock(database: Path) -> None:
    """EVID.8: seconds with a fraction, to the microsecond."""
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE messages SET timestamp = 1776540000.214787 WHERE content = 'See this.'")
    assert events_of(database, CHAT)[0][0].at == 1776540000214787


def test_other_versions_of_the_database(database: Path) -> None:
    """EVID.3, pitfalls 9, 10: columns that are new, and ones that were not there yet, are no error; no table is a clear one."""
    before = documents(HERMES, database)
    changed(database, "ALTER TABLE messages ADD COLUMN hue TEXT", "ALTER TABLE sessions ADD COLUMN pinned INTEGER")
    assert documents(HERMES, database) == before
    for column in ("active", "compacted", "_compressed_summary", "observed", "reasoning_content"):
        changed(database, f"ALTER TABLE messages DROP COLUMN {column}")
    changed(database, "ALTER TABLE sessions DROP COLUMN cwd")
    assert list(documents(HERMES, database)) == list(before)
    assert adapter_for(database, [HERMES]) is HERMES
    changed(database, "DROP TABLE messages")
    with pytest.raises(UsageError, match=r"state\.db.*messages"):
        documents(HERMES, database)


def test_a_database_whose_tables_are_in_its_log(tmp_path: Path) -> None:
    """EVID.12, pitfall 9: one that is all log yet is known by its name, and read."""
    path = tmp_path / "state.db"
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.executescript(SQL.read_text("utf-8"))
    assert adapter_for(path, [HERMES]) is HERMES
    assert FIRST in documents(HERMES, path)
    writer.close()


def test_spoilt_rows(database: Path) -> None:
    """EVID.2, pitfalls 3, 4: a value of another shape costs itself, and is counted; the session is read."""
    changed(
        database,
        "UPDATE messages SET tool_calls = 'not JSON' WHERE tool_calls LIKE '%pytest%'",
        "UPDATE messages SET content = CAST(X'68FF69' AS TEXT) WHERE content = 'Tagged 2.1.'",
        "UPDATE messages SET tool_calls = '[5]' WHERE tool_calls LIKE '%sleep%'",
    )
    events, reader = events_of(database)
    assert (len(reader.problems), reader.counts["block:unreadable"]) == (1, 1)
    assert "h\ufffdi" in [event.text for event in events]


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b'{"role":"user","content":"hi","timestamp":"2026-01-01T00:00:00"}\n', "chat.jsonl"),
        (b'{"role":"user","created":1,"content":[]}\n', "20260101.jsonl"),
        (b'{"session_id":"x","type":"system","subtype":"init"}\n', "x.json"),
        (b'{"id":"x","source":"web","text":"hi"}\n', "x.jsonl"),
        (b"SQLite format 3\0 CREATE TABLE sessions (id, title) CREATE TABLE messages (id, content)", "state.db"),
    ],
)
def test_other_files_are_not_taken(head: bytes, name: str) -> None:
    """EVID.12, pitfall 11: chats of other programs, though they look a little like it."""
    assert not HERMES.recognises(head, name)


def test_a_log_without_metadata_is_known_by_its_name() -> None:
    """EVID.12: a log of an older version begins with a message, as those of other programs do; its name says whose it is."""
    line = b'{"role":"user","content":"hi","timestamp":"2026-01-01T00:00:00"}\n'
    assert HERMES.recognises(line, "20260101_000000_abcdef12.jsonl")
