"""OpenCode sessions: the contracts, the database and the older tree, what calls came to, and who is speaking."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from corpora import make_opencode

from tallystick.errors import UsageError
from tallystick.model.evidence import Event, EventKind, Origin, Status
from tallystick.plugins import ingest_tools
from tallystick.store.memory import MemoryStore
from tallystick.testing.gather_contract import GatherContract
from tallystick.testing.reader_contract import without_place
from tallystick.testing.trails import trail_over
from tallystick.transcripts.opencode import OPENCODE
from tallystick.transcripts.sources import adapter_for
from tallystick.workflows.ingest import ingest
from tallystick.workflows.sessions import find_session
from tests.transcripts.databases import CORPORA, GatheredReaderContract, changed, database_of, documents, read, rows_in
from tests.transcripts.golden import expected_path, golden, sessions

SQL = CORPORA / "opencode" / "opencode.sql"
MAIN, CHILD, UNDONE = "ses_01prices", "ses_02find", "ses_03undone"


def tree_of(database: Path, root: Path) -> Path:
    """The same sessions as the older version keeps them: a file a session, message and part. The last part's path."""
    connection = sqlite3.connect(database)

    def write(path: str, value: dict[str, Any]) -> Path:
        file = root / f"{path}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(value, indent=2, ensure_ascii=False), "utf-8")
        return file

    asked = "SELECT id, project_id, parent_id, directory, title, version, revert, time_created FROM session"
    for session, project, parent, directory, title, version, revert, at in connection.execute(asked):
        more = {"parentID": parent} if parent else {}
        more |= {"revert": json.loads(revert)} if revert else {}
        info = {"id": session, "version": version, "projectID": project, "directory": directory, "title": title}
        write(f"session/{project}/{session}", info | more | {"time": {"created": at, "updated": at}})
    for message, session, data in connection.execute("SELECT id, session_id, data FROM message"):
        write(f"message/{session}/{message}", {"id": message, "sessionID": session} | json.loads(data))
    last = root
    for part, message, session, data in connection.execute("SELECT id, message_id, session_id, data FROM part"):
        ids = {"id": part, "sessionID": session, "messageID": message}
        last = write(f"part/{message}/{part}", ids | json.loads(data))
    return last


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """The sample, as the harness keeps it."""
    return database_of(SQL, tmp_path)


class TestContract(GatheredReaderContract):
    adapter = OPENCODE
    sql = "opencode.sql"
    messages = "messages"

    def with_unknown(self, data: bytes) -> bytes:
        """A message of a role, and a part of a type, of next year before each: ids do not depend on places."""
        whole = json.loads(data)
        unknown = {"info": {"id": "", "role": "of_next_year"}, "parts": [{"id": "prt_z", "type": "text", "text": "x"}]}
        whole["messages"] = [one for each in whole["messages"] for one in (unknown, each)]
        for each in whole["messages"]:
            each["parts"].insert(0, {"id": "prt_z", "type": "of-next-year"})
        return json.dumps(whole, ensure_ascii=False).encode()


class TestDatabase(GatherContract):
    adapter = OPENCODE

    def place(self, folder: Path) -> Path:
        return database_of(SQL, folder)

    def grown(self, file: Path) -> None:
        changed(
            file,
            f"""INSERT INTO message VALUES ('msg_1', '{MAIN}', 1790000000000, 1790000000000, '{{"role":"user"}}')""",
            f"""INSERT INTO part VALUES
                ('prt_1', 'msg_1', '{MAIN}', 1790000000000, 1790000000000, '{{"type":"text","text":"More."}}')""",
        )


class TestTree(GatherContract):
    adapter = OPENCODE

    def place(self, folder: Path) -> Path:
        (folder / "made").mkdir()
        return tree_of(database_of(SQL, folder / "made"), folder / "storage")

    def grown(self, file: Path) -> None:
        part = json.loads(file.read_text("utf-8"))
        new = file.with_name("prt_zzz.json")
        new.write_text(json.dumps(part | {"id": "prt_zzz"}), "utf-8")


def events_of(database: Path, session: str = MAIN) -> list[Event]:
    return read(OPENCODE, documents(OPENCODE, database)[session])[0]


def result(tool: dict[str, Any]) -> Event:
    """The result of one call."""
    whole = {
        "info": {"id": "ses_1", "directory": "/w"},
        "messages": [{"info": {"id": "msg_1", "role": "assistant"}, "parts": [tool]}],
    }
    events, _ = read(OPENCODE, json.dumps(whole).encode())
    return next(event for event in events if event.kind is EventKind.TOOL_RESULT)


def test_the_sample_is_what_its_script_makes(database: Path) -> None:
    """The SQL that is kept holds the rows that ``corpora/make_opencode.py`` makes."""
    assert rows_in(sqlite3.connect(database)) == rows_in(make_opencode.made())


@pytest.mark.parametrize("session", sessions("opencode"), ids=lambda path: path.name)
def test_expected_events(session: Path) -> None:
    """EVID.1, 6, 7: the events of the sample are those that a person has read and kept."""
    assert golden(OPENCODE, session) == expected_path(session).read_text("utf-8")


def test_the_tree_tells_what_the_database_tells(database: Path, tmp_path: Path) -> None:
    """EVID.1, 5: a session has the same events with the same ids in both; each file of the tree leads to all of it."""
    last = tree_of(database, tmp_path / "storage")
    for file in (
        last,
        next((tmp_path / "storage").glob("session/*/*")),
        next((tmp_path / "storage").glob("message/*/*")),
    ):
        assert adapter_for(file, [OPENCODE]) is OPENCODE
        in_tree = documents(OPENCODE, file)
        assert list(in_tree) == list(documents(OPENCODE, database))
    for session, data in documents(OPENCODE, database).items():
        events, reader = read(OPENCODE, data)
        again, other = read(OPENCODE, in_tree[session])
        assert [without_place(event) for event in events] == [without_place(event) for event in again]
        assert (reader.facts, reader.counts) == (other.facts, other.counts)


def test_a_tree_is_read_in_the_order_of_time(tmp_path: Path) -> None:
    """EVID.1: messages come by their time, whatever they are called; a session that was moved to another project is one."""
    for path, told in {
        "session/p1/ses_1": {"id": "ses_1", "projectID": "p1", "directory": "/w"},
        "session/p2/ses_1": {"id": "ses_1", "projectID": "p2", "directory": "/w"},
        "message/ses_1/msg_b": {"id": "msg_b", "sessionID": "ses_1", "role": "user", "time": {"created": 1}},
        "message/ses_1/msg_a": {"id": "msg_a", "sessionID": "ses_1", "role": "user", "time": {"created": 2}},
        "part/msg_a/prt_a": {
            "id": "prt_a",
            "sessionID": "ses_1",
            "messageID": "msg_a",
            "type": "text",
            "text": "second",
        },
        "part/msg_b/prt_b": {
            "id": "prt_b",
            "sessionID": "ses_1",
            "messageID": "msg_b",
            "type": "text",
            "text": "first",
        },
    }.items():
        file = tmp_path / "storage" / f"{path}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(told))
    (data,) = documents(OPENCODE, file).values()
    assert [event.text for event in read(OPENCODE, data)[0]] == ["first", "second"]


def test_an_export_is_read_too(database: Path, tmp_path: Path) -> None:
    """EVID.1: what ``opencode export`` writes has the shape of the document that is made of a session."""
    export = tmp_path / "export.json"
    export.write_bytes(documents(OPENCODE, database)[MAIN])
    assert adapter_for(export, [OPENCODE]) is OPENCODE
    assert documents(OPENCODE, export) == {"export": export.read_bytes()}


def test_a_part_changes_in_place(database: Path) -> None:
    """EVID.4, pitfall 24: the last state of a part counts, and a call that was running has its result when it has come."""
    trail = trail_over(MemoryStore())
    tools = ingest_tools({"TALLY_PERSON": "ada"})._replace(adapters=[OPENCODE])
    first = ingest(trail, [database], tools)
    assert (len(first.sessions), first.problems) == (3, [])
    calls = [event for event in find_session(trail, MAIN, []).events if "test_tax" in event.command]
    assert [event.kind for event in calls] == [EventKind.TOOL_CALL]
    running = next(event.uid for event in events_of(database) if "test_tax" in event.command).removesuffix(":call")
    state = {"status": "completed", "input": {"command": "pytest tests/test_tax.py"}, "output": "1 failed", "title": "",
             "metadata": {"exit": 1}, "time": {"start": 1780000039000, "end": 1780000040000}}  # fmt: skip
    data = json.dumps({"type": "tool", "callID": "toolu_000034", "tool": "bash", "state": state})
    changed(database, f"UPDATE part SET time_updated = 1790000000000, data = '{data}' WHERE id = '{running}'")
    second = ingest(trail, [database], tools)
    assert (second.files, second.skipped_unchanged, second.counts["events_archived"]) == (1, 2, 1)
    ended = [event for event in find_session(trail, MAIN, []).events if "test_tax" in event.command]
    assert [(event.kind, event.exit_code) for event in ended] == [
        (EventKind.TOOL_CALL, None),
        (EventKind.TOOL_RESULT, 1),
    ]
    assert ingest(trail, [database], tools).skipped_unchanged == 1


def test_half_a_sentence_waits_for_the_rest(database: Path) -> None:
    """EVID.2, pitfalls 2, 24: what of the last answer is still being written is counted, and read when it has ended."""
    _, reader = read(OPENCODE, documents(OPENCODE, database)[MAIN])
    assert (reader.counts["block:unfinished"], reader.counts["record:assistant"]) == (2, 1)
    whole = json.loads(documents(OPENCODE, database)[MAIN])
    whole["messages"][-1]["parts"][0] |= {"text": "All tests but two pass.", "time": {"start": 1, "end": 2}}
    assert read(OPENCODE, json.dumps(whole).encode())[0][-1].text == "All tests but two pass."
    whole["messages"].append({"info": {"id": "msg_y", "role": "user"}, "parts": []})
    whole["messages"][-2]["parts"][0]["time"] = {"start": 1}
    assert "All tests but two pass." in [event.text for event in read(OPENCODE, json.dumps(whole).encode())[0]]


TIMED_OUT = (
    "x\n\n<shell_metadata>\nshell tool terminated command after exceeding timeout 120000 ms. Retry.\n</shell_metadata>"
)
CUT = "(Output was truncated due to length limit)"
RULED_OUT = "The user has specified a rule which prevents you from using this specific tool call."


@pytest.mark.parametrize(
    ("tool", "state", "status", "code", "flags"),
    [
        ("bash", {"output": "ok", "metadata": {"exit": 0}}, Status.OK, 0, ()),
        ("bash", {"output": "no", "metadata": {"exit": 2}}, Status.FAILED, 2, ()),
        ("bash", {"output": "no", "metadata": {"exit": True}}, Status.UNKNOWN, None, ()),
        ("bash", {"output": "exit 0", "metadata": {}}, Status.UNKNOWN, None, ()),
        ("bash", {"output": TIMED_OUT, "metadata": {"exit": None}}, Status.UNKNOWN, None, ("interrupted",)),
        ("bash", {"output": TIMED_OUT, "metadata": {"exit": 0}}, Status.UNKNOWN, None, ("interrupted",)),
        ("bash", {"output": "x\n\n(Command timed out after 60000 ms)"}, Status.UNKNOWN, None, ("interrupted",)),
        ("bash", {"output": "x", "metadata": {"exit": 0, "truncated": True}}, Status.OK, 0, ("truncated",)),
        ("bash", {"output": f"x\n\n{CUT}", "metadata": {"exit": 0}}, Status.OK, 0, ("truncated",)),
        ("invalid", {"output": "The arguments provided to the tool are invalid"}, Status.FAILED, None, ()),
        ("read", {"output": "text"}, Status.OK, None, ()),
        ("read", {"status": "error", "error": "Error: File not found"}, Status.FAILED, None, ()),
        ("bash", {"status": "error", "error": "Tool execution aborted"}, Status.UNKNOWN, None, ("interrupted",)),
        ("bash", {"status": "error", "error": "x", "metadata": {"interrupted": True}}, Status.UNKNOWN, None, ("interrupted",)),
        ("bash", {"status": "error", "error": f"{make_opencode.REJECTED}."}, Status.REJECTED, None, ()),
        ("edit", {"status": "error", "error": RULED_OUT}, Status.REJECTED, None, ()),
    ],
)  # fmt: skip
def test_how_a_call_ended(
    tool: str, state: dict[str, Any], status: Status, code: int | None, flags: tuple[str, ...]
) -> None:
    """EVID.7, pitfalls 38, 39, 50: by its exit code, which a ``completed`` command states beside; ``invalid`` is a bad call."""
    event = result({"id": "p", "type": "tool", "callID": "c", "tool": tool, "state": {"status": "completed", **state}})
    assert (event.status, event.exit_code, event.flags) == (status, code, flags)


def test_calls_without_an_end_stay_open(database: Path) -> None:
    """EVID.7, pitfall 26: a call that runs has no result, and is remembered."""
    _, reader = read(OPENCODE, documents(OPENCODE, database)[MAIN])
    assert [(call.tool, call.command) for call in reader.calls.values()] == [("bash", "pytest tests/test_tax.py")]


def test_who_is_speaking(database: Path) -> None:
    """EVID.6, pitfalls 21, 28-30, 33: only what a person typed, or answered to a question or a refusal, is theirs."""
    said = [event.text for event in events_of(database) if event.origin is Origin.USER]
    assert said == [
        "Prices must be integers of cents, never floats. See @src/price.py",
        "never force-push here",
        "tab",
        "Euro only",
        "Now the tax table, please.",
    ]
    child = events_of(database, CHILD)
    assert [event.origin for event in child if event.kind is EventKind.MESSAGE] == [Origin.DELEGATED, Origin.ASSISTANT]
    assert {event.thread for event in child} == {CHILD}
    _, reader = read(OPENCODE, documents(OPENCODE, database)[CHILD])
    assert (reader.facts.thread, reader.facts.parent) == (CHILD, MAIN)
    summaries = [event for event in events_of(database) if event.kind is EventKind.SUMMARY]
    assert [(event.origin, event.text[:7]) for event in summaries] == [(Origin.HARNESS, "## Goal")]
    assert [event.origin for event in events_of(database) if "Overloaded" in event.text] == [Origin.HARNESS]


def test_our_own_words_coming_back(database: Path) -> None:
    """EVID.6, pitfall 36: what our command printed is our briefing, not what a tool found."""
    (event,) = [event for event in events_of(database) if event.origin is Origin.BRIEFING]
    assert (event.kind, event.flags) == (EventKind.TOOL_RESULT, ("own_tool",))


def test_a_prompt_that_is_put_in_again_is_one_turn(database: Path) -> None:
    """EVID.5, pitfalls 17, 32: behind a summary that cut it off; the same words typed again later are a turn."""
    _, reader = read(OPENCODE, documents(OPENCODE, database)[MAIN])
    assert reader.counts["record:repeated"] == 1
    whole = json.loads(documents(OPENCODE, database)[MAIN])
    whole["messages"].append({"info": {"id": "msg_y", "role": "user"}, "parts": whole["messages"][5]["parts"]})
    events, again = read(OPENCODE, json.dumps(whole).encode())
    assert again.counts["record:repeated"] == 1
    assert [event.text for event in events if event.origin is Origin.USER].count("Now the tax table, please.") == 2


def test_what_was_undone_is_no_evidence(database: Path) -> None:
    """EVID.3, pitfall 22: messages from the one on that a person went back to are counted, and have no events."""
    _, reader = read(OPENCODE, documents(OPENCODE, database)[UNDONE])
    assert (reader.counts["record:reverted"], reader.records) == (2, 4)


def test_a_later_version_of_the_database(database: Path) -> None:
    """EVID.3, pitfalls 9, 10: columns and tables that are new, and ones that are gone, are no error; no table is a clear one."""
    before = documents(OPENCODE, database)
    changed(
        database,
        "ALTER TABLE session ADD COLUMN workspace_id text",
        "ALTER TABLE part ADD COLUMN hue text",
        "ALTER TABLE session DROP COLUMN share_url",
        "CREATE TABLE session_message (id text, data text)",
    )
    assert documents(OPENCODE, database) == before
    changed(database, "ALTER TABLE session DROP COLUMN version", "ALTER TABLE session DROP COLUMN revert")
    assert list(documents(OPENCODE, database)) == list(before)
    assert adapter_for(database, [OPENCODE]) is OPENCODE
    changed(database, "DROP TABLE part")
    with pytest.raises(UsageError, match=r"opencode\.db.*part"):
        documents(OPENCODE, database)


def test_spoilt_rows(database: Path) -> None:
    """EVID.2, pitfalls 3, 4, 7: a row that is no JSON or no UTF-8 costs itself, and is counted; the session is read."""
    thought, words = [event.uid for event in events_of(database) if event.locator.index == 1][:2]
    changed(
        database,
        f"UPDATE part SET data = 'not JSON' WHERE id = '{thought}'",
        f"""UPDATE part SET data = '{{"type":"text","text":"half \\ud83d"}}' WHERE id = '{words}'""",
        "UPDATE message SET data = CAST(X'7BFF' AS TEXT) WHERE data LIKE '%plan%'",
    )
    events, reader = read(OPENCODE, documents(OPENCODE, database)[MAIN])
    assert reader.counts["block:unreadable"] == 1
    assert len(reader.problems) == 1
    assert "half \ufffd" in [event.text for event in events]
    assert "Euro only" in [event.text for event in events]


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b'{"type":"tool_use","timestamp":1,"sessionID":"ses_1","part":{"messageID":"msg_1"}}', "run.jsonl"),
        (b'{"id":"ses_1","secret":"x","url":"https://opncd.ai/share/x"}', "ses_1.json"),
        (b'[{"id":"1","content":"x","status":"pending"}]', "ses_1.json"),
        (b'{"id":"prj","worktree":"/w","time":{"created":1}}', "prj.json"),
        (b'{"info":{"title":"an API"},"openapi":"3.1"}', "openapi.json"),
        (b'{"role":"user","content":[],"created":1}', "x.json"),
        (b"SQLite format 3\0 CREATE TABLE session (id, title)", "opencode.db"),
    ],
)
def test_other_files_are_not_taken(head: bytes, name: str) -> None:
    """EVID.12, pitfall 11: what the harness keeps beside its sessions, and what looks a little like it."""
    assert not OPENCODE.recognises(head, name)


def test_a_database_whose_tables_are_in_its_log(tmp_path: Path) -> None:
    """EVID.12, pitfall 9: one that is all log yet is known by its name, and read."""
    path = tmp_path / "opencode.db"
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.executescript(SQL.read_text("utf-8"))
    assert b"CREATE TABLE" not in path.read_bytes()
    assert adapter_for(path, [OPENCODE]) is OPENCODE
    assert MAIN in documents(OPENCODE, path)
    writer.close()


def test_a_part_outside_of_a_tree_is_an_error(tmp_path: Path) -> None:
    """EVID.12: a lone file of a tree leads nowhere and says so, and takes no other file with it."""
    part = tmp_path / "prt_1.json"
    part.write_text('{"id":"prt_1","sessionID":"ses_1","messageID":"msg_1","type":"text","text":"x"}')
    assert adapter_for(part, [OPENCODE]) is OPENCODE
    assert OPENCODE.anchor(part.as_posix()) == part.as_posix()
    (data,) = documents(OPENCODE, part).values()
    events, reader = read(OPENCODE, data)
    assert (events, len(reader.problems)) == ([], 1)
