"""Several processes come to what one walk comes to, and leave it to that walk where anything does not hold (TRAIL.7)."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from tallystick.model.entry import EntryKind, LogName
from tallystick.testing.store_contract import said
from tallystick.trail import Trail, stretches
from tallystick.trail.fingerprints import Sums
from tallystick.trail.verifying import verify_log
from tallystick.trail.walking import Walk
from tests.store.places import on_disk

HEIGHT = 6
COUNT = 700


@pytest.fixture
def trail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trail:
    """A trail of some hundred entries, which is long where a stretch has 64: every tenth claim is revised much later."""
    monkeypatch.setattr(stretches, "HEIGHT", HEIGHT)
    monkeypatch.setattr(stretches, "STRETCH", 2**HEIGHT)
    monkeypatch.setattr(stretches, "WORTH_IT", 2**HEIGHT)
    monkeypatch.setattr(stretches, "processes", lambda: 2)
    made = on_disk(tmp_path)
    with made.writing() as appender:
        claims = [said(appender, f"claim {n}") for n in range(COUNT)]
        verdict = b'{"verdicts":[{"verifier":"quotation/1","value":"verbatim","reason":"","spans":[]}]}'
        appender.add(EntryKind.JUDGED, {f"verdict/{claim}": verdict for claim in claims[::7]}, refs=claims[::7])
        for both in (claims[1:3], claims[3:5]):
            parts = {"text": b"new", "facets": b'{"kind":"fact"}', "because": b"r"}
            seq = appender.add(EntryKind.REVISED, parts, refs=both, holder="5" * 32)
            appender.add(EntryKind.UNDONE, {"because": b"r"}, refs=[seq])
        for claim in claims[::10]:
            parts = {"text": b"new", "facets": b'{"kind":"fact"}', "because": b"r"}
            appender.add(EntryKind.REVISED, parts, refs=[claim], holder="5" * 32)
    made.seal()
    return made


def test_several_come_to_what_one_comes_to(trail: Trail) -> None:
    """TRAIL.3, 7: the tree, its subtrees, earlier roots, the sums of all rows and what was gathered on the way."""
    wanted = [1, 63, 64, 65, 500, 640, COUNT]
    with trail.reading() as rows:
        apart = stretches.walked(rows, trail.store, LogName.MEMORY, wanted, lambda _: None)
        assert apart is not None
        alone = Walk(rows, LogName.MEMORY, rows.meta("trail"), Sums(apart.sums.key))
        alone.wanted = frozenset(wanted)
        alone.walk(None)
        assert (apart.size, apart.frontier.root(), apart.at) == (alone.size, alone.frontier.root(), alone.at)
        assert sorted(apart.frontier.completed) == sorted(alone.frontier.completed) != []
        assert {size: each.root() for size, each in apart.passed.items()} == {
            size: each.root() for size, each in alone.passed.items()
        }
        assert set(apart.passed) == set(wanted)
        assert not apart.sums.differ(alone.sums)
        assert (apart.unknown, apart.epochs, apart.missing) == (alone.unknown, alone.epochs, alone.missing)
    report = verify_log(trail, LogName.MEMORY)
    assert (report.bad, report.checkpoint, report.root) == ((), "matches", alone.frontier.root())


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE entry SET leaf = zeroblob(32) WHERE seq = 300",
        "DELETE FROM entry WHERE seq = 300",
        "DELETE FROM part WHERE seq = 300",
        "UPDATE version SET tx_to = 500 WHERE claim = 303",
        "DELETE FROM verdict WHERE claim > 300",
        "UPDATE touch SET said_at = 7",
        "DELETE FROM link WHERE seq % 5 = 0",
        "UPDATE link SET tx_to = 9007199254740991 WHERE older = 2",
        "UPDATE link SET tx_to = tx_to + 1 WHERE older = 4",
        "UPDATE link SET tx_to = 100000 WHERE older = 301",
        "INSERT INTO touch VALUES (300, 100000, 'retracted', -1)",
        "INSERT INTO version SELECT 100000, 100000, tx_to, valid, holder, kind, origin, lineage, session, said_at, tokens,"
        " subject, attribute, value FROM version WHERE claim = 300",
        "INSERT INTO epoch VALUES (1, 5, 5)",
        "UPDATE node SET hash = zeroblob(32) WHERE n = 1",
    ],
)
def test_what_does_not_hold_is_named_all_the_same(trail: Trail, tmp_path: Path, edit: str) -> None:
    """TRAIL.7: an edit that one of several processes meets is named as one walk names it."""
    database = apsw.Connection(str(tmp_path / "trail" / "memory.db"))
    triggers = list(database.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"))
    for name, _ in triggers:
        database.execute(f"DROP TRIGGER {name}")
    database.execute(edit)
    assert database.changes()
    for _, sql in triggers:
        database.execute(sql)
    database.close()
    by_several = verify_log(trail, LogName.MEMORY)
    stretches.WORTH_IT = 2**40
    by_one = verify_log(trail, LogName.MEMORY)
    assert by_several.bad == by_one.bad != ()
