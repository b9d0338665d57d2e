"""Both stores held to the store contract, and driven through random histories against the pure fold."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import apsw
import pytest
from hypothesis import settings

from tallystick.errors import TrailUnreadable
from tallystick.model.entry import LogName
from tallystick.store.memory import MemoryStore
from tallystick.store.protocol import Store
from tallystick.store.sqlite import SqliteStore
from tallystick.store.sqlite.log import SqliteLog
from tallystick.testing.store_contract import StoreContract, said
from tallystick.testing.trail_machine import trail_machine
from tallystick.trail import Trail


class TestMemoryStore(StoreContract):
    def make(self, folder: Path) -> Store:
        return MemoryStore()

    def kept_entries(self, store: Store, log: LogName) -> Iterable[tuple[int, bytes]]:
        assert isinstance(store, MemoryStore)
        return [(row.seq, row.canon) for row in store.logs[log]._entries]

    def overwrite_entry(self, store: Store, log: LogName, seq: int, canon: bytes) -> None:
        assert isinstance(store, MemoryStore)
        rows = store.logs[log]._entries
        rows[seq] = rows[seq]._replace(canon=canon)


SHORT_RUN, LONG_RUN = 3, 200


class TestSqliteStore(StoreContract):
    @pytest.mark.parametrize("count", [SHORT_RUN, LONG_RUN])
    @pytest.mark.parametrize("what", ["entries", "parts"])
    def test_nothing_is_appended_in_the_place_of_another(self, trail: Trail, count: int, what: str) -> None:
        """TRAIL.1: a run that has what is there already is refused by the engine, however long it is."""
        with trail.writing() as appender:
            for n in range(count):
                said(appender, f"claim {n}")
        with trail.reading() as rows:
            before = list(rows.entries()), list(rows.all_parts())
            head, frontier = rows.head(), rows.frontier()
        entries, parts = before
        beyond = [(head.size + n, head.at, row.canon, row.leaf) for n, row in enumerate(entries)]
        with (
            pytest.raises(TrailUnreadable, match="contradict"),
            trail.store.writing(LogName.MEMORY, lambda _: None) as draft,
        ):
            draft.append(entries if what == "entries" else beyond, parts if what == "parts" else [], frontier, head.at)
        with trail.reading() as rows:
            assert (list(rows.entries()), list(rows.all_parts())) == before

    def test_the_guards_stand_after_a_long_run(self, trail: Trail) -> None:
        """TRAIL.1: within the write that appended a long run, and after it, nothing can be changed or deleted."""
        with trail.writing() as appender:
            for n in range(LONG_RUN):
                said(appender, f"claim {n}")
            rows = appender.rows
            assert isinstance(rows, SqliteLog)
            for verb in ("UPDATE entry SET at = 0", "DELETE FROM part", "REPLACE INTO entry SELECT * FROM entry"):
                with pytest.raises(apsw.ConstraintError, match=r"never|only"):
                    rows._db.execute(verb)

    def make(self, folder: Path) -> Store:
        return SqliteStore(folder)

    def kept_entries(self, store: Store, log: LogName) -> Iterable[tuple[int, bytes]]:
        assert isinstance(store, SqliteStore)
        database = apsw.Connection(str(store.folder / f"{log}.db"))
        try:
            return list(database.execute("SELECT seq, canon FROM entry ORDER BY seq"))
        finally:
            database.close()

    def overwrite_entry(self, store: Store, log: LogName, seq: int, canon: bytes) -> None:
        assert isinstance(store, SqliteStore)
        database = apsw.Connection(str(store.folder / f"{log}.db"))
        database.execute("DROP TRIGGER entry_keeps")
        database.execute("UPDATE entry SET canon = ? WHERE seq = ?", (canon, seq))
        database.close()


TestHistories = trail_machine(SqliteStore).TestCase
TestHistories.settings = settings(max_examples=max(25, settings().max_examples // 5), stateful_step_count=25)
