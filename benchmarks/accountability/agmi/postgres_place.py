"""All that the attacks know of how PostgreSQL keeps a trail: rows under its key, edited by a superuser past every policy."""

from __future__ import annotations

import atexit
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import psycopg
from tests.store.postgres_server import Server, embedded, let_go, shared_server

from benchmarks.accountability.agmi.places import Refused, Row
from tallystick.store.packing import packed, unpacked
from tallystick.store.postgres import PostgresStore
from tallystick.store.protocol import Store

_COPIES = "agmi"
"""Schema in which copies are kept."""


@cache
def _server() -> Server:
    atexit.register(let_go)
    return shared_server(embedded())


class PostgresPlace:
    """Implements ``places.Place`` over one trail of a database, named after the folder."""

    name = "PostgreSQL"

    def __init__(self, folder: Path) -> None:
        self._trail = _named(folder)

    def store(self) -> Store:
        """See ``Place``."""
        return PostgresStore(_server().url(trail=self._trail))

    def rows(self) -> list[Row]:
        """See ``Place``."""
        with self._opened() as (database, key):
            parts = {
                seq: tuple(unpacked(seq, data))
                for seq, data in database.execute(
                    "SELECT seq, data FROM tally.part WHERE trail = %s AND log = 0", (key,)
                )
            }
            entries = database.execute(
                "SELECT seq, at, canon, leaf FROM tally.entry WHERE trail = %s AND log = 0 ORDER BY seq", (key,)
            )
            return [Row(seq, at, canon, leaf, parts.get(seq, ())) for seq, at, canon, leaf in entries]

    def put(self, row: Row, *, guards: bool) -> None:
        """See ``Place``: only what differs is written, since a guard of the other table would hide what this one does."""
        there = {each.seq: each for each in self.rows()}.get(row.seq)
        said = {"seq": row.seq, "at": row.at, "canon": row.canon, "leaf": row.leaf, "data": packed(sorted(row.parts))}
        with self._opened(guards=guards) as (database, key):
            statements = [*_entry_edit(there, row), *_part_edit(there, row)]
            for statement in statements:
                database.execute(statement.encode(), {**said, "trail": key})

    def drop(self, seq: int, *, guards: bool) -> None:
        """See ``Place``."""
        with self._opened(guards=guards) as (database, key):
            for table in ("entry", "part"):
                database.execute(f"DELETE FROM tally.{table}{_AT}".encode(), {"trail": key, "seq": seq})

    def label(self, claim: int) -> str:
        """See ``Place``."""
        with self._opened() as (database, key):
            where = "SELECT origin FROM tally.version WHERE trail = %s AND log = 0 AND claim = %s"
            row = database.execute(where, (key, claim)).fetchone()
            return str(row[0]) if row else ""

    def relabel(self, claim: int, origin: str, *, guards: bool) -> None:
        """See ``Place``. No guard stands over the views."""
        with self._opened(guards=guards) as (database, key):
            edit = "UPDATE tally.version SET origin = %s WHERE trail = %s AND log = 0 AND claim = %s"
            database.execute(edit, (origin, key, claim))

    def copy(self, folder: Path) -> None:
        """See ``Place``: into tables of their own."""
        folder.mkdir(parents=True)
        with self._opened() as (database, key):
            database.execute(f"CREATE SCHEMA IF NOT EXISTS {_COPIES}".encode())
            for table, columns in _tables(database).items():
                kept = f"CREATE TABLE {_COPIES}.{_named(folder)}_{table} AS SELECT {columns} FROM tally.{table}"
                database.execute(f"{kept} WHERE trail = '{key}'".encode())

    def put_back(self, folder: Path) -> None:
        """See ``Place``: under this place's own key, wherever the copy is from."""
        self.clear()
        with self._opened(guards=False, made=True) as (database, key):
            for table, columns in _tables(database).items():
                back = f"INSERT INTO tally.{table} (trail, {columns}) SELECT '{key}', {columns}"
                database.execute(f"{back} FROM {_COPIES}.{_named(folder)}_{table}".encode())

    def clear(self) -> None:
        """See ``Place``."""
        with self._opened(guards=False) as (database, key):
            for table in _tables(database):
                database.execute(f"DELETE FROM tally.{table} WHERE trail = %s".encode(), (key,))
            database.execute("DELETE FROM tally.trail WHERE trail = %s", (key,))

    @contextmanager
    def _opened(self, *, guards: bool = True, made: bool = False) -> Iterator[tuple[psycopg.Connection[Any], str]]:
        """A superuser's session in one transaction, and the trail's key; without guards no trigger fires in it.

        ``made``: the trail is named if it is not there yet.
        """
        try:
            with _server().connect() as database, database.transaction():
                row = database.execute("SELECT tally.trail_named(%s, %s)", (self._trail, made)).fetchone()
                if not guards:
                    database.execute("SET LOCAL session_replication_role = replica")
                yield database, str(row[0]) if row else ""
        except (psycopg.errors.IntegrityError, psycopg.errors.RaiseException) as error:
            raise Refused(" ".join(str(error).split())) from None


_AT = " WHERE trail = %(trail)s AND log = 0 AND seq = %(seq)s"


def _entry_edit(there: Row | None, row: Row) -> list[str]:
    if there is None:
        columns = "trail, log, seq, at, canon, leaf"
        return [f"INSERT INTO tally.entry ({columns}) VALUES (%(trail)s, 0, %(seq)s, %(at)s, %(canon)s, %(leaf)s)"]
    if there[:4] == row[:4]:
        return []
    return [f"UPDATE tally.entry SET at = %(at)s, canon = %(canon)s, leaf = %(leaf)s{_AT}"]


def _part_edit(there: Row | None, row: Row) -> list[str]:
    if there is None or not there.parts:
        new = "INSERT INTO tally.part (trail, log, seq, data) VALUES (%(trail)s, 0, %(seq)s, %(data)s)"
        return [new] if row.parts else []
    if not row.parts:
        return [f"DELETE FROM tally.part{_AT}"]
    same = sorted(there.parts) == sorted(row.parts)
    return [] if same else [f"UPDATE tally.part SET data = %(data)s{_AT}"]


def _tables(database: psycopg.Connection[Any]) -> dict[str, str]:
    """Tables that keep rows of trails, each with its columns but the key."""
    rows = database.execute(
        "SELECT table_name, string_agg(quote_ident(column_name), ', ' ORDER BY ordinal_position)"
        " FROM information_schema.columns WHERE table_schema = 'tally' AND column_name <> 'trail' AND table_name IN"
        " (SELECT table_name FROM information_schema.columns WHERE table_schema = 'tally' AND column_name = 'trail')"
        " AND table_name <> 'trail' GROUP BY table_name"
    )
    return dict(rows)


def _named(folder: Path) -> str:
    """A name for a folder."""
    return "agmi_" + blake2b(str(folder).encode(), digest_size=12).hexdigest()
