"""Both stores held to the store contract, and driven through random histories against the pure fold."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from pathlib import Path

import apsw
import pytest
from hypothesis import settings

from tallystick.errors import TrailUnreadable
from tallystick.model.entry import LogName
from tallystick.store.memory import MemoryStore
from tallystick.store.packing import packed
from tallystick.store.protocol import Store
from tallystick.store.sqlite import SqliteStore
from tallystick.store.sqlite.log import SqliteLog
from tallystick.testing.store_contract import StoreContract, said
from tallystick.testing.trail_machine import trail_machine
from tallystick.trail import Trail
from tallystick.trail.verifying import verify_log


class TestMemoryStore(StoreContract):
    def make(self, folder: Path) -> Store:
        return MemoryStore()

    def test_an_actor_is_introduced_once_and_again_to_an_older_copy(self, trail: Trail) -> None:
        """TRAIL.8: who appends is introduced once, and anew where a copy from before that was put back and accepted."""
        store = trail.store
        assert isinstance(store, MemoryStore)
        with store.writing(LogName.MEMORY, lambda _: None) as rows:
            rows.set_meta("trail", trail.id or "a" * 32)
            rows.set_meta("log", LogName.MEMORY)
        older = copy.deepcopy(store.logs[LogName.MEMORY])
        trail.outside.create("a" * 32)
        for n in range(3):
            with trail.writing() as appender:
                said(appender, f"claim {n}")
        with trail.reading() as reading:
            assert len(reading.names("actor")) == 1
        store.logs[LogName.MEMORY] = older
        trail.outside.write_head(trail.id, LogName.MEMORY, older.head())
        with trail.writing() as appender:
            said(appender, "claim")
        with trail.reading() as reading:
            assert len(reading.names("actor")) == 1
        assert verify_log(trail, LogName.MEMORY).sound

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
            before = list(rows.entries()), [(seq, packed(parts)) for seq, parts in rows.parts_between()]
            head, frontier = rows.head(), rows.frontier()
        entries, parts = before
        beyond = [(head.size + n, head.at, row.canon, row.leaf) for n, row in enumerate(entries)]
        with (
            pytest.raises(TrailUnreadable, match="contradict"),
            trail.store.writing(LogName.MEMORY, lambda _: None) as draft,
        ):
            draft.append(
                entries if what == "entries" else beyond, parts if what == "parts" else [], [], frontier, head.at
            )
        with trail.reading() as rows:
            assert (
                list(rows.entries()),
                [(seq, packed(parts)) for seq, parts in rows.parts_between()],
            ) == before

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
