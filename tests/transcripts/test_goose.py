"""Goose sessions: the contracts, the database, the older logs and exports, what calls came to, and who is speaking."""

from __future__ import annotations

import json
import sqlite3
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pytest
from corpora import make_goose

from tallystick.errors import UsageError
from tallystick.model.evidence import Event, EventKind, Origin, Status
from tallystick.plugins import ingest_tools
from tallystick.store.memory import MemoryStore
from tallystick.testing.gather_contract import GatherContract
from tallystick.testing.reader_contract import without_place
from tallystick.testing.trails import trail_over
from tallystick.transcripts.goose import GOOSE
from tallystick.transcripts.sources import adapter_for
from tallystick.workflows.ingest import ingest
from tests.growth import assert_linear, repeated
from tests.transcripts.databases import CORPORA, GatheredReaderContract, changed, database_of, documents, read, rows_in
from tests.transcripts.golden import expected_path, golden, sessions

SQL = CORPORA / "goose" / "sessions.sql"
MAIN, CHILD, NIGHTLY, RECIPE, OLD = "20260528_1", "20260528_2", "20260528_3", "20260528_4", "20250612_143022"


def log_of(database: Path, session: str, folder: Path, *, told: bool = True) -> Path:
    """The same session as the older version keeps it: a line of metadata, then one a message."""
    connection = sqlite3.connect(database)
    lines: list[dict[str, Any]] = []
    if told:
        lines.append({"working_dir": "/work/shop", "description": "", "message_count": 3, "total_tokens": None})
    asked = "SELECT role, created_timestamp, content_json, metadata_json FROM messages WHERE session_id = ? ORDER BY id"
    for role, created, content, metadata in connection.execute(asked, (session,)):
        line = {"id": None, "role": role, "created": created, "content": json.loads(content)}
        lines.append(line | ({"metadata": json.loads(metadata)} if metadata else {}))
    path = folder / f"{session}.jsonl"
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")
    return path


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """The sample, as the harness keeps it."""
    return database_of(SQL, tmp_path)


class TestContract(GatheredReaderContract):
    adapter = GOOSE
    sql = "sessions.sql"
    messages = "conversation"
    unknown: ClassVar[dict[str, Any]] = {
        "role": "of_next_year",
        "created": 1,
        "content": [{"type": "text", "text": "x"}],
    }


class TestDatabase(GatherContract):
    adapter = GOOSE

    def place(self, folder: Path) -> Path:
        return database_of(SQL, folder)

    def grown(self, file: Path) -> None:
        said = """'[{"type":"text","text":"More."}]'"""
        changed(
            file,
            f"""INSERT INTO messages (session_id, role, content_json, created_timestamp)
                VALUES ('{MAIN}', 'user', {said}, 1790000000)""",
        )


class TestLog(GatherContract):
    adapter = GOOSE

    def place(self, folder: Path) -> Path:
        (folder / "made").mkdir()
        return log_of(database_of(SQL, folder / "made"), MAIN, folder)

    def grown(self, file: Path) -> None:
        with file.open("a") as log:
            log.write('{"id":null,"role":"user","created":1790000000,"content":[{"type":"text","text":"More."}]}\n')


def events_of(database: Path, session: str = MAIN) -> list[Event]:
    return read(GOOSE, documents(GOOSE, database)[session])[0]


def result(name: str, given: dict[str, Any], answer: dict[str, Any]) -> Event:
    """The result of one call."""
    w = make_goose.Writer()
    w.begin("s", "one")
    w.uses(name, given, answer)
    content = [json.loads(row[0]) for row in w.database.execute("SELECT content_json FROM messages ORDER BY id")]
    told = [{"role": role, "content": each} for role, each in zip(("assistant", "user"), content, strict=True)]
    events, _ = read(GOOSE, json.dumps({"id": "s", "conversation": told}).encode())
    return events[-1]


def test_the_sample_is_what_its_script_makes(database: Path) -> None:
    """The SQL that is kept holds the rows that ``corpora/make_goose.py`` makes."""
    assert rows_in(sqlite3.connect(database)) == rows_in(make_goose.made())


@pytest.mark.parametrize("session", sessions("goose"), ids=lambda path: path.name)
def test_expected_events(session: Path) -> None:
    """EVID.1, 6, 7: the events of the sample are those that a person has read and kept."""
    assert golden(GOOSE, session) == expected_path(session).read_text("utf-8")


@pytest.mark.parametrize("session", [MAIN, OLD])
@pytest.mark.parametrize("told", [True, False], ids=["metadata first", "messages only"])
def test_a_log_tells_what_the_database_tells(database: Path, tmp_path: Path, session: str, told: bool) -> None:
    """EVID.1, 5: the log of a session that was taken over into the database has the same events with the same ids."""
    log = log_of(database, session, tmp_path, told=told)
    assert adapter_for(log, [GOOSE]) is GOOSE
    (in_log,) = documents(GOOSE, log).values()
    events, reader = read(GOOSE, in_log)
    assert [without_place(event) for event in events] == [
        without_place(event) for event in events_of(database, session)
    ]
    assert (reader.facts.native_id, reader.facts.cwd) == (session, "/work/shop" if told else "")


def test_an_export_is_read_too(database: Path, tmp_path: Path) -> None:
    """EVID.1: what ``goose session export`` writes, indented as it is, has the same events."""
    export = tmp_path / "export.json"
    whole = json.loads(documents(GOOSE, database)[MAIN])
    export.write_text(json.dumps({"id": whole["id"], "working_dir": "/w", "extension_data": {}, **whole}, indent=2))
    assert adapter_for(export, [GOOSE]) is GOOSE
    (data,) = documents(GOOSE, export).values()
    assert [without_place(event) for event in read(GOOSE, data)[0]] == [
        without_place(event) for event in events_of(database)
    ]


def test_the_log_and_the_database_together_count_once(database: Path, tmp_path: Path) -> None:
    """EVID.5, pitfalls 14, 23: a session that lies in both is one, and its events are kept once."""
    log_of(database, OLD, tmp_path)
    trail = trail_over(MemoryStore())
    report = ingest(trail, [tmp_path], ingest_tools({"TALLY_PERSON": "ada"})._replace(adapters=[GOOSE]))
    assert (len(report.sessions), report.problems) == (5, [])
    assert report.counts["events_archived"] == sum(
        len(events_of(database, each)) for each in documents(GOOSE, database)
    )


def test_a_torn_and_a_glued_log(database: Path, tmp_path: Path) -> None:
    """EVID.2, pitfalls 1-4: what is glued is told apart, what is torn waits, what is spoilt is counted and passed over."""
    log = log_of(database, MAIN, tmp_path)
    first, second, third, *rest = log.read_bytes().split(b"\n")
    log.write_bytes(b"\n".join([first, second + third, b'{"role": broken', *rest])[:-40])
    (data,) = documents(GOOSE, log).values()
    events, reader = read(GOOSE, data)
    assert len(reader.problems) == 1
    assert [event.text for event in events][:3] == [event.text for event in events_of(database)][:3]
    assert [event.text for event in events if event.origin is Origin.USER][-1] != "The tax table is next."


PRINTED, DECLINED = make_goose.printed, make_goose.DECLINED


@pytest.mark.parametrize(
    ("name", "answer", "status", "code", "flags"),
    [
        ("shell", PRINTED("ok", stdout="ok", exit_code=0), Status.OK, 0, ()),
        ("developer__shell", PRINTED("no", failed=True, exit_code=7), Status.FAILED, 7, ()),
        ("shell", PRINTED("no\n\nCommand exited with code 7", failed=True), Status.FAILED, 7, ()),
        ("shell", PRINTED("no\n\nCommand exited with code 7\n", failed=True), Status.FAILED, None, ()),
        ("shell", PRINTED("no\n\nCommand exited with code 7"), Status.UNKNOWN, None, ()),
        ("shell", PRINTED("Command exited with code 7\n\nCommand exited with code 1", failed=True), Status.FAILED, 1, ()),
        ("shell", PRINTED("x\n\nCommand timed out", failed=True, stdout="x"), Status.UNKNOWN, None, ("interrupted",)),
        ("shell", PRINTED("x\n\nCommand timed out after 9 seconds", failed=True), Status.UNKNOWN, None, ("interrupted",)),
        ("shell", PRINTED("x", exit_code=True), Status.UNKNOWN, None, ()),
        ("shell", PRINTED("x"), Status.UNKNOWN, None, ()),
        ("shell", PRINTED("[Over limit. Full output saved to /tmp/x. Read it.]", exit_code=0), Status.OK, 0, ("truncated",)),
        ("shell", PRINTED(DECLINED, failed=True), Status.REJECTED, None, ()),
        ("shell", PRINTED(DECLINED), Status.REJECTED, None, ()),
        ("edit", PRINTED("Edited."), Status.OK, None, ()),
        ("edit", PRINTED("no match", failed=True), Status.FAILED, None, ()),
        ("edit", {"status": "error", "error": "-32603: no"}, Status.FAILED, None, ()),
        ("edit", {"status": "of next year"}, Status.UNKNOWN, None, ()),
        ("edit", {}, Status.UNKNOWN, None, ()),
    ],
)  # fmt: skip
def test_how_a_call_ended(
    name: str, answer: dict[str, Any], status: Status, code: int | None, flags: tuple[str, ...]
) -> None:
    """EVID.7, pitfalls 38, 39: by the exit code that is stated beside or that the harness put last; no code, no success."""
    event = result(name, {"command": "x"}, answer)
    assert (event.status, event.exit_code, event.flags) == (status, code, flags)


def test_a_result_without_a_call() -> None:
    """EVID.7, pitfall 26: of what nobody asked for it is not known how it ended."""
    told = {"role": "user", "content": [{"type": "toolResponse", "id": "x", "toolResult": PRINTED("ok", exit_code=0)}]}
    (event,) = read(GOOSE, json.dumps({"id": "s", "conversation": [told]}).encode())[0]
    assert (event.status, event.exit_code, event.tool) == (Status.UNKNOWN, None, "")


@pytest.mark.parametrize(
    ("name", "given", "paths"),
    [
        ("developer__text_editor", {"command": "write", "path": "a.py"}, ("a.py",)),
        ("developer__text_editor", {"command": "view", "path": "a.py"}, ()),
        ("edit", {"path": "a.py", "before": "x", "after": "y"}, ("a.py",)),
        ("write", {"path": "a.py", "content": "x"}, ("a.py",)),
        ("read", {"path": "a.py"}, ()),
        ("write", {"path": 5}, ()),
    ],
)
def test_files_that_a_call_writes(name: str, given: dict[str, Any], paths: tuple[str, ...]) -> None:
    """EVID.7: what only looks at a file writes none."""
    assert result(name, given, PRINTED("done")).paths == paths


def test_who_is_speaking(database: Path) -> None:
    """EVID.6, pitfalls 21, 28-30: results, hidden messages, recipes and schedules are on the user role, and not typed."""
    said = {
        name: [event.text for event in events_of(database, name) if event.origin is Origin.USER]
        for name in documents(GOOSE, database)
    }
    assert said == {
        MAIN: ["Prices must be integers of cents, never floats.", '{"currency":"Euro"}', "Now the tax table, please."],
        CHILD: [],
        NIGHTLY: [],
        RECIPE: ["Then merge it."],
        OLD: ["Which files are there?"],
    }
    child = events_of(database, CHILD)
    assert [(event.origin, event.thread) for event in child] == [(Origin.DELEGATED, CHILD), (Origin.ASSISTANT, CHILD)]
    delegated = [event.text for event in events_of(database) if event.origin is Origin.DELEGATED]
    assert delegated == ["Two floats are left in src/tax.py."]


@pytest.mark.parametrize(
    ("kind", "origin"),
    [
        ("user", Origin.USER),
        ("scheduled", Origin.HARNESS),
        ("hidden", Origin.HARNESS),
        ("sub_agent", Origin.DELEGATED),
        ("of_next_year", Origin.USER),
    ],
)
def test_sessions_that_nobody_sits_at(kind: str, origin: Origin) -> None:
    """EVID.6, pitfall 34: what a schedule asks for was not typed in its session."""
    told = {"role": "user", "content": [{"type": "text", "text": "Run the tests."}]}
    whole = {"id": "s", "session_type": kind, "conversation": [told]}
    assert [event.origin for event in read(GOOSE, json.dumps(whole).encode())[0]] == [origin]


def test_our_own_words_coming_back(database: Path) -> None:
    """EVID.6, pitfall 36: what our command printed is our briefing, not what a tool found."""
    (event,) = [event for event in events_of(database) if event.origin is Origin.BRIEFING]
    assert (event.kind, event.flags) == (EventKind.TOOL_RESULT, ("own_tool",))


def test_compacting_says_nothing_twice(database: Path) -> None:
    """EVID.5, pitfalls 17, 29: a summary is the harness's, and the prompt that is written again behind it is no second turn."""
    events, reader = read(GOOSE, documents(GOOSE, database)[MAIN])
    assert [event.origin for event in events if event.kind is EventKind.SUMMARY] == [Origin.HARNESS]
    assert reader.counts["record:repeated"] == 1
    whole = json.loads(documents(GOOSE, database)[MAIN])
    whole["conversation"].append(whole["conversation"][27])
    events, reader = read(GOOSE, json.dumps(whole).encode())
    assert reader.counts["record:repeated"] == 1
    assert [event.text for event in events].count("Now the tax table, please.") == 2


def test_compacting_keeps_every_id(database: Path) -> None:
    """EVID.1, 4: the harness writes all messages again when it compacts; what was said before has the ids it had."""
    whole = json.loads(documents(GOOSE, database)[MAIN])
    before = {"id": whole["id"], "conversation": [each | {"metadata": None} for each in whole["conversation"][:25]]}
    early, _ = read(GOOSE, json.dumps(before).encode())
    late = {event.uid: event for event in events_of(database)}
    assert [(event.text, event.origin) for event in early] == [
        (late[event.uid].text, late[event.uid].origin) for event in early
    ]


@pytest.mark.parametrize(
    ("created", "at"),
    [
        (1780000000, 1780000000000000),
        (1780000000123, 1780000000123000),
        (-1, None),
        ("2026", None),
        (None, None),
        (True, None),
        (10**40, None),
    ],
)
def test_times(created: object, at: int | None) -> None:
    """EVID.8, pitfall 51: seconds, or milliseconds as some versions write them; anything else is no time."""
    told = {"role": "user", "created": created, "content": [{"type": "text", "text": "x"}]}
    (event,) = read(GOOSE, json.dumps({"id": "s", "conversation": [told]}).encode())[0]
    assert event.at == at


def test_other_versions_of_the_database(database: Path) -> None:
    """EVID.3, pitfalls 9, 10: columns that are new, and ones that were not there yet, are no error; no table is a clear one."""
    before = documents(GOOSE, database)
    changed(database, "ALTER TABLE messages ADD COLUMN hue TEXT", "ALTER TABLE sessions ADD COLUMN thread_id TEXT")
    assert documents(GOOSE, database) == before
    for column in (
        "messages DROP COLUMN metadata_json",
        "sessions DROP COLUMN session_type",
        "sessions DROP COLUMN name",
    ):
        changed(database, f"ALTER TABLE {column}")
    assert list(documents(GOOSE, database)) == list(before)
    assert adapter_for(database, [GOOSE]) is GOOSE
    changed(database, "DROP TABLE messages")
    with pytest.raises(UsageError, match=r"sessions\.db.*messages"):
        documents(GOOSE, database)


def test_spoilt_rows(database: Path) -> None:
    """EVID.2, pitfalls 3, 4: a row that is no JSON or no UTF-8 costs itself, and is counted; the session is read."""
    changed(
        database,
        f"UPDATE messages SET content_json = 'not JSON' WHERE id = (SELECT min(id) FROM messages WHERE session_id = '{MAIN}')",
        "UPDATE messages SET content_json = CAST(X'5BFF5D' AS TEXT) WHERE content_json LIKE '%Written.%'",
        """UPDATE messages SET content_json = '[{"type":"text","text":"half \\ud83d"},5]' WHERE content_json LIKE '%bad%'""",
    )
    events, reader = read(GOOSE, documents(GOOSE, database)[MAIN])
    assert len(reader.problems) == 2
    assert reader.counts["block:unreadable"] == 2
    assert [event.text for event in events].count("half \ufffd") == 2


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b'{"id":"x","role":"user","content":"hi"}\n', "x.jsonl"),
        (b'{"role":"user","content":"hi","timestamp":"2026-01-01T00:00:00"}\n', "20260101_000000_abcdef.jsonl"),
        (b'{"working_dir":"/w","model":"x"}\n', "x.json"),
        (b'{"id":"x","object":"chat.completion","created":1,"choices":[]}', "x.json"),
        (b"SQLite format 3\0 CREATE TABLE sessions (id, title) CREATE TABLE messages (id, content)", "sessions.db"),
    ],
)
def test_other_files_are_not_taken(head: bytes, name: str) -> None:
    """EVID.12, pitfall 11: chats of other programs, though they look a little like it."""
    assert not GOOSE.recognises(head, name)


def test_no_text_makes_a_scan_slow() -> None:
    """EVID.10: whatever repeats at the end of an output, reading it costs what its length does."""

    def scan(text: str) -> object:
        return result("shell", {"command": "x"}, PRINTED(text, failed=True))

    for piece in ("\n\nCommand exited with code 1", "Full output saved to ", "\n\nCommand timed out"):
        assert_linear(scan, partial(repeated, piece), 100_000)
