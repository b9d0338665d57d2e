"""Both stores held to the store contract, and driven through random histories against the pure fold."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import apsw
from hypothesis import settings

from tallystick.model.entry import LogName
from tallystick.store.memory import MemoryStore
from tallystick.store.protocol import Store
from tallystick.store.sqlite import SqliteStore
from tallystick.testing.store_contract import StoreContract
from tallystick.testing.trail_machine import trail_machine


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


class TestSqliteStore(StoreContract):
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
