"""Every store held to the cases of the two time axes."""

from __future__ import annotations

import uuid
from pathlib import Path

import apsw
import psycopg

from tallystick.model.entry import LogName
from tallystick.store.memory import MemoryStore
from tallystick.store.postgres import PostgresStore
from tallystick.store.postgres.rows import NUMBERS
from tallystick.store.protocol import Store
from tallystick.store.sqlite import SqliteStore
from tallystick.testing.bitemporal_contract import BitemporalContract
from tests.store.postgres_server import embedded, shared_server

_CHANGE = "UPDATE entry SET canon = CAST(replace(canon, '\"clock\":', '\"clock\":1') AS BLOB) WHERE seq = ?"


class TestMemoryStore(BitemporalContract):
    def make(self, folder: Path) -> Store:
        return MemoryStore()

    def another(self, store: Store, folder: Path) -> Store:
        return store

    def tamper(self, store: Store, seq: int) -> None:
        assert isinstance(store, MemoryStore)
        rows = store.logs[LogName.MEMORY]._entries
        rows[seq] = rows[seq]._replace(canon=rows[seq].canon.replace(b'"clock":', b'"clock":1'))


class TestSqliteStore(BitemporalContract):
    refusal = apsw.ConstraintError

    def make(self, folder: Path) -> Store:
        return SqliteStore(folder)

    def edit(self, store: Store, seq: int) -> None:
        self._write(store, (_CHANGE, (seq,)))

    def tamper(self, store: Store, seq: int) -> None:
        self._write(store, ("DROP TRIGGER entry_keeps", ()), (_CHANGE, (seq,)))

    @staticmethod
    def _write(store: Store, *statements: tuple[str, tuple[int, ...]]) -> None:
        assert isinstance(store, SqliteStore)
        database = apsw.Connection(str(store.folder / f"{LogName.MEMORY}.db"))
        try:
            for sql, bound in statements:
                database.execute(sql, bound)
        finally:
            database.close()


class TestPostgresStore(BitemporalContract):
    refusal = psycopg.Error

    def make(self, folder: Path) -> Store:
        return PostgresStore(shared_server(embedded()).url(trail=uuid.uuid5(uuid.NAMESPACE_URL, str(folder)).hex[:12]))

    def edit(self, store: Store, seq: int) -> None:
        self._write(store, seq)

    def tamper(self, store: Store, seq: int) -> None:
        self._write(store, seq, "SET session_replication_role = replica")

    @staticmethod
    def _write(store: Store, seq: int, *before: str) -> None:
        changed = "convert_to(replace(convert_from(canon, 'UTF8'), '\"clock\":', '\"clock\":1'), 'UTF8')"
        sql = (
            f"UPDATE tally.entry SET canon = {changed} FROM tally.trail AS t WHERE t.trail = entry.trail AND name = %s"
        )
        with shared_server(embedded()).connect() as connection:
            for each in before:
                connection.execute(each.encode())
            name = store.location.rpartition("trail=")[2]
            done = connection.execute(f"{sql} AND log = %s AND seq = %s".encode(), (name, NUMBERS[LogName.MEMORY], seq))
            assert done.rowcount == 1
