"""How SQLite finds what is asked: by its indexes, in order, without reading a whole table or sorting a holder's claims."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.model.entry import LogName
from tallystick.store.protocol import Selection
from tallystick.store.sqlite import SqliteStore
from tallystick.store.sqlite.reading import _SQL, SqliteReading
from tallystick.testing.store_contract import HOLDER, said
from tests.store.places import on_disk

BOUND_BEFORE = {"held_at": 2, "standings": 3, "count": 0, "dated": 0}
SELECTIONS = {
    "a page of a holder": Selection(90, (HOLDER,), after=5),
    "some kinds of a holder": Selection(90, (HOLDER,), ("fact", "rule")),
    "everyone": Selection(90),
    "some claims": Selection(90, (HOLDER,), claims=(3, 5)),
    "some claims of everyone": Selection(90, claims=(3, 5)),
}


@pytest.mark.parametrize("selection", SELECTIONS.values(), ids=SELECTIONS.keys())
@pytest.mark.parametrize("name", BOUND_BEFORE)
def test_nothing_is_scanned_or_sorted(tmp_path: Path, name: str, selection: Selection) -> None:
    """TIME.4: at a million claims a scan or a sort is a second."""
    trail = on_disk(tmp_path)
    with trail.writing() as appender:
        for n in range(5):
            said(appender, f"claim {n}")
    trail.store.close()
    with SqliteStore(tmp_path / "trail").reading(LogName.MEMORY) as rows:
        assert isinstance(rows, SqliteReading)
        narrowed = rows._narrowed(_SQL[name], selection)
        assert narrowed
        for sql, bound in narrowed:
            plan = rows._db.execute(f"EXPLAIN QUERY PLAN {sql}", (1,) * BOUND_BEFORE[name] + tuple(bound))
            steps = [row[3] for row in plan]
            assert any("SEARCH v USING" in step for step in steps), steps
            assert not [step for step in steps if step.startswith("SCAN") and "json_each" not in step
                        and "(subquery" not in step], steps  # fmt: skip
            if selection.claims is None:
                assert not [step for step in steps if "TEMP B-TREE" in step], steps
