"""Whatever is changed of any row of any table of a log, ``verify`` notices it (TRAIL.7); but for what is no evidence."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from tallystick.model.entry import EntryKind, LogName
from tallystick.testing.store_contract import said
from tallystick.trail.erasing import Erasure, erase
from tallystick.trail.verifying import verify_log
from tests.store.places import on_disk, take_in, write_session

NO_EVIDENCE = {"same", "source"}
"""docs/spec/trail.md: what stands only in a store, and in no entry."""
FREE = {("meta", "unscrubbed"), ("meta", "corrected_to")}
"""Facts whose loss, or other value, costs time."""
SAID = {"said", "said_data", "said_idx", "said_config"}
"""Tables of the index of the archive that the engine keeps."""
MOST = 1
"""Rows of a table that are tried, from its end; more find nothing more and take a second each."""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trail with something in every table: two sessions, a fork, links and an attribute that ended, an erasure, an epoch."""
    folder = tmp_path_factory.mktemp("written")
    trail = on_disk(folder)
    take_in(trail, write_session(folder / "one.jsonl"), write_session(folder / "two.jsonl", "two"))
    with trail.writing() as appender:
        holder = appender.holder("project:here", "project")
        claims = [said(appender, f"fact number {n}", holder) for n in range(260)]
        both = {"facets": b'{"kind":"fact"}', "text": b"both", "because": b"b", "valid": b'{"intervals":[[0,5]]}'}
        revised = appender.add(EntryKind.REVISED, both, refs=claims[11:13], holder=holder)
        appender.add(EntryKind.UNDONE, {"because": b"b"}, refs=[revised])
        facts = {"attribute": b'{"name":"port"}', "holder": b'{"name":"ada"}'}
        name = appender.add(EntryKind.INTRODUCED, facts, holder="a" * 32)
        appender.add(EntryKind.UNDONE, {"because": b"b"}, refs=[name])
        appender.add(EntryKind.LINKED, {"contradicts": b"{}"}, refs=claims[:2])
        verdict = b'{"verdicts":[{"verifier":"quotation/1","value":"verbatim","reason":"","spans":[]}]}'
        appender.add(EntryKind.JUDGED, {f"verdict/{claims[3]}": verdict}, refs=[claims[3]])
        appender.add(EntryKind.RETRACTED, refs=[claims[4]])
        appender.add(EntryKind.CLOCK_REPAIRED)
        session = next(row.session for row in appender.rows.events())
        erase(appender, Erasure({claims[5]: {"text"}}, {session: {1}}), "asked for")
    trail.seal()
    trail.store.close()
    return folder


def _edits(database: apsw.Connection) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """(statement, values): each row changed in each of its columns, deleted, and repeated under another key."""
    tables = [row[0] for row in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")]
    for table in tables:
        if table in NO_EVIDENCE or table.partition("_")[0] == "words" or table in SAID:
            continue
        columns = [row[1:6:4] for row in database.execute(f"PRAGMA table_info({table})")]
        names = [name for name, _ in columns]
        keys = [name for name, key in columns if key] or names
        found = list(database.execute(f"SELECT {', '.join(names)} FROM {table}"))
        for row in found[-MOST:]:
            values = dict(zip(names, row, strict=True))
            if (table, values.get("key")) in FREE:
                continue
            where = " AND ".join(f"{key} = ?" for key in keys)
            at = tuple(values[key] for key in keys)
            yield f"DELETE FROM {table} WHERE {where}", at
            for name in names:
                for other in _others(values[name]):
                    yield f"UPDATE {table} SET {name} = ? WHERE {where}", (other, *at)
                    if name in keys:
                        moved = (other if each == name else values[each] for each in names)
                        yield f"INSERT INTO {table} VALUES ({', '.join('?' * len(names))})", tuple(moved)


def _others(value: Any) -> list[Any]:
    if isinstance(value, int):
        return [value + 1, 2**53 - 1 if value < 2**53 - 1 else 3]
    if isinstance(value, bytes):
        return [value + b"\0"]
    return ["[[1,2]]" if value is None else f"{value}x"]


def _noticed(folder: Path, statement: str, values: tuple[Any, ...]) -> bool:
    """Whether an edit is; True where the database takes no such row."""
    database = apsw.Connection(str(folder / "trail" / "memory.db"))
    triggers = list(database.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"))
    for name, _ in triggers:
        database.execute(f"DROP TRIGGER {name}")
    try:
        database.execute(statement, values)
    except (apsw.ConstraintError, apsw.MismatchError):
        return True
    finally:
        for _, sql in triggers:
            database.execute(sql)
        database.close()
    trail = on_disk(folder)
    try:
        return not verify_log(trail, LogName.MEMORY).sound
    finally:
        trail.store.close()


def test_whatever_is_changed_of_a_row_is_noticed(written: Path, tmp_path: Path) -> None:
    """TRAIL.7: a row changed in one column, gone, or there once more with another key: some problem is found."""
    trail = on_disk(written)
    assert verify_log(trail, LogName.MEMORY).bad == ()
    trail.store.close()
    database = apsw.Connection(str(written / "trail" / "memory.db"))
    edits = list(_edits(database))
    database.close()
    missed = []
    for number, (statement, values) in enumerate(edits):
        folder = tmp_path / str(number)
        shutil.copytree(written, folder)
        if not _noticed(folder, statement, values):
            missed.append((statement, values))
        shutil.rmtree(folder)
    assert len({statement for statement, _ in edits}) > 80
    assert missed == []
