"""A verify that goes on from where the last one ended: what is new is recomputed whole, and the rest must be its beginning."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from tallystick.model.entry import EntryKind, LogName
from tallystick.model.temporal import ValidTime
from tallystick.testing.store_contract import said
from tallystick.trail import Trail
from tallystick.trail.verifying import Report
from tallystick.workflows.amend import retract, revise, undo
from tallystick.workflows.verify import verify_trail
from tests.store.places import on_disk, take_in, write_session


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A trail that was verified, and then a session, claims, a revision, an undo, a link and a retraction were added."""
    trail = on_disk(tmp_path)
    with trail.writing() as appender:
        holder = appender.holder("project:here", "project")
        claims = [said(appender, f"old {n}", holder) for n in range(300)]
    trail.seal()
    assert verify_trail(trail, incremental=True).reports[0].since == 0
    take_in(trail, write_session(tmp_path / "session.jsonl"))
    done = revise(trail, claims[3], "new", "so", change=False, valid=ValidTime(), count_tokens=len)
    undo(trail, done.seq, "no")
    revise(trail, claims[5], "newer", "so", change=True, valid=ValidTime(), count_tokens=len)
    retract(trail, claims[7], "over")
    with trail.writing() as appender:
        verdict = b'{"verdicts":[{"verifier":"quotation/1","value":"verbatim","reason":"","spans":[]}]}'
        appender.add(EntryKind.JUDGED, {f"verdict/{claims[9]}": verdict}, refs=[claims[9]])
        link = appender.add(EntryKind.LINKED, {"contradicts": b"{}"}, refs=claims[:2])
        both = {"facets": b'{"kind":"fact"}', "text": b"both", "because": b"b"}
        revised = appender.add(EntryKind.REVISED, both, refs=claims[11:13], holder=holder)
    undo(trail, link, "no")
    undo(trail, revised, "no")
    trail.seal()
    trail.store.close()
    return tmp_path


def _incremental(folder: Path) -> Report:
    trail = on_disk(folder)
    try:
        return verify_trail(trail, incremental=True).memory
    finally:
        trail.store.close()


def test_it_comes_to_what_a_whole_one_comes_to(folder: Path) -> None:
    """TRAIL.7: the same size and root, sound; a third time there is nothing left to do."""
    report = _incremental(folder)
    assert (report.bad, report.since, report.checkpoint) == ((), 302, "matches")
    trail = on_disk(folder)
    whole = verify_trail(trail).memory
    assert (report.size, report.root, report.unknown_kinds) == (whole.size, whole.root, whole.unknown_kinds)
    trail.store.close()
    again = _incremental(folder)
    assert (again.bad, again.since) == ((), report.size)


NEW_EDITS = {
    "entry": "UPDATE entry SET canon = CAST(replace(canon, '\"clock\":1', '\"clock\":2') AS BLOB) WHERE seq = {last}",
    "entry gone": "DELETE FROM entry WHERE seq = {last} - 1",
    "part": "UPDATE part SET packed = (SELECT packed FROM part WHERE seq = 5) WHERE seq = {last} - 1",
    "claim": "UPDATE version SET kind = 'rule' WHERE claim > 302",
    "closing": "UPDATE version SET tx_to = tx_to + 1 WHERE tx_to BETWEEN 303 AND 1000",
    "verdict": "DELETE FROM verdict WHERE seq > 302",
    "touch": "DELETE FROM touch WHERE seq > 302",
    "link": "UPDATE link SET tx_to = 9007199254740991",
    "one of two links that ended": "UPDATE link SET tx_to = 9007199254740991 WHERE older = {two}",
    "one of two links ended before": "UPDATE link SET tx_to = 7 WHERE older = {two}",
    "a link of claims that nothing is said of": "INSERT INTO link VALUES ({last}, 20, 21, 'same_as', 9007199254740991)",
    "name": "UPDATE name SET name = 'x' WHERE what = 'session'",
    "head": "UPDATE head SET size = size - 1",
    "archived": "UPDATE event SET offset = offset + 1 WHERE n = 1",
}


@pytest.mark.parametrize("edit", NEW_EDITS.values(), ids=NEW_EDITS.keys())
def test_an_edit_of_what_is_new_is_found(folder: Path, edit: str) -> None:
    """TRAIL.7: entries, parts, views and archived events that were added since: whatever is changed of them is found."""
    database = apsw.Connection(str(folder / "trail" / "memory.db"))
    last = database.execute("SELECT max(seq) FROM entry").get
    triggers = list(database.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"))
    for name, _ in triggers:
        database.execute(f"DROP TRIGGER {name}")
    two = database.execute("SELECT max(older) FROM link WHERE kind = 'revises'").get
    database.execute(edit.format(last=last, two=two))
    assert database.changes()
    database.close()
    assert _incremental(folder).bad


def _another(folder: Path) -> None:
    shutil.rmtree(folder / "trail")
    elsewhere = folder / "elsewhere"
    trail = on_disk(elsewhere, seed=4)
    with trail.writing() as appender:
        for n in range(400):
            said(appender, f"other {n}")
    trail.store.close()
    shutil.copytree(elsewhere / "trail", folder / "trail")


def _cut(folder: Path) -> None:
    database = apsw.Connection(str(folder / "trail" / "memory.db"))
    database.execute("DROP TRIGGER entry_stays; DELETE FROM entry WHERE seq > 200")
    database.close()


@pytest.mark.parametrize("done", [_another, _cut])
def test_what_was_verified_must_be_its_beginning(folder: Path, done: Callable[[Path], None]) -> None:
    """TRAIL.8: another log in the place of the one that was verified, or less of it than was, is found."""
    done(folder)
    trail: Trail = on_disk(folder)
    found = verify_trail(trail, incremental=True)
    assert not found.sound
    assert found.memory.log == LogName.MEMORY
    trail.store.close()
