"""All that the attacks know of how PostgreSQL keeps a trail: a database for each place, edited by a superuser."""

from __future__ import annotations

import atexit
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import psycopg
from tests.store.postgres_server import Server, embedded, started

from benchmarks.accountability.agmi.places import Refused, Row
from tallystick.store.packing import packed, unpacked
from tallystick.store.postgres import PostgresStore
from tallystick.store.protocol import Store


@cache
def _server() -> Server:
    server = started(embedded())

    def stop() -> None:
        server.stop()
        shutil.rmtree(server.folder, ignore_errors=True)

    atexit.register(stop)
    return server


class PostgresPlace:
    """Implements ``places.Place`` over a database that is named after the folder."""

    name = "PostgreSQL"

    def __init__(self, folder: Path) -> None:
        self._database = _named(folder)
        self._made = False

    def store(self) -> Store:
        """See ``Place``."""
        if not self._made:
            self._there()
        return PostgresStore(_server().url(self._database))

    def _there(self) -> None:
        with _server().connect("postgres") as connection:
            known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (self._database,)).fetchone()
        if known is None:
            _server().make_database(self._database)
        self._made = True

    def rows(self) -> list[Row]:
        """See ``Place``."""
        with self._opened() as database:
            parts = {
                seq: tuple(unpacked(seq, data))
                for seq, data in database.execute("SELECT seq, data FROM tally.part WHERE log = 0")
            }
            entries = database.execute("SELECT seq, at, canon, leaf FROM tally.entry WHERE log = 0 ORDER BY seq")
            return [Row(seq, at, canon, leaf, parts.get(seq, ())) for seq, at, canon, leaf in entries]

    def put(self, row: Row, *, guards: bool) -> None:
        """See ``Place``: only what differs is written, since a guard of the other table would hide what this one does."""
        there = {each.seq: each for each in self.rows()}.get(row.seq)
        kept = packed(sorted(row.parts))
        with self._opened(guards=guards) as database:
            trail = database.execute("SELECT trail FROM tally.trail").fetchone()
            key = {"trail": trail[0] if trail else None, "seq": row.seq}
            if there is None:
                database.execute(
                    "INSERT INTO tally.entry (trail, log, seq, at, canon, leaf)"
                    " VALUES (%(trail)s, 0, %(seq)s, %(at)s, %(canon)s, %(leaf)s)",
                    {**key, "at": row.at, "canon": row.canon, "leaf": row.leaf},
                )
            elif there[:4] != row[:4]:
                database.execute(
                    "UPDATE tally.entry SET at = %(at)s, canon = %(canon)s, leaf = %(leaf)s WHERE log = 0 AND seq = %(seq)s",
                    {**key, "at": row.at, "canon": row.canon, "leaf": row.leaf},
                )
            if there is None or not there.parts:
                if row.parts:
                    database.execute(
                        "INSERT INTO tally.part (trail, log, seq, data) VALUES (%(trail)s, 0, %(seq)s, %(kept)s)",
                        {**key, "kept": kept},
                    )
            elif not row.parts:
                database.execute("DELETE FROM tally.part WHERE log = 0 AND seq = %(seq)s", key)
            elif sorted(there.parts) != sorted(row.parts):
                database.execute(
                    "UPDATE tally.part SET data = %(kept)s WHERE log = 0 AND seq = %(seq)s", {**key, "kept": kept}
                )

    def drop(self, seq: int, *, guards: bool) -> None:
        """See ``Place``."""
        with self._opened(guards=guards) as database:
            database.execute("DELETE FROM tally.entry WHERE log = 0 AND seq = %s", (seq,))
            database.execute("DELETE FROM tally.part WHERE log = 0 AND seq = %s", (seq,))

    def label(self, claim: int) -> str:
        """See ``Place``."""
        with self._opened() as database:
            row = database.execute("SELECT origin FROM tally.version WHERE log = 0 AND claim = %s", (claim,)).fetchone()
            return str(row[0]) if row else ""

    def relabel(self, claim: int, origin: str, *, guards: bool) -> None:
        """See ``Place``."""
        with self._opened(guards=guards) as database:
            database.execute("UPDATE tally.version SET origin = %s WHERE log = 0 AND claim = %s", (origin, claim))

    def copy(self, folder: Path) -> None:
        """See ``Place``: the server copies a database as a whole."""
        folder.mkdir(parents=True)
        self._copied(self._database, _named(folder))

    def put_back(self, folder: Path) -> None:
        """See ``Place``."""
        self.clear()
        self._copied(_named(folder), self._database)

    def clear(self) -> None:
        """See ``Place``."""
        with _server().connect("postgres") as connection:
            connection.execute(f'DROP DATABASE IF EXISTS "{self._database}" WITH (FORCE)'.encode())
        self._made = False

    def _copied(self, source: str, target: str) -> None:
        with _server().connect("postgres") as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (source,)
            ).fetchall()
            connection.execute(f'CREATE DATABASE "{target}" TEMPLATE "{source}"'.encode())

    @contextmanager
    def _opened(self, *, guards: bool = True) -> Iterator[psycopg.Connection[Any]]:
        """A superuser's session in one transaction; without guards no trigger fires in it."""
        try:
            with _server().connect(self._database) as database, database.transaction():
                if not guards:
                    database.execute("SET LOCAL session_replication_role = replica")
                yield database
        except (psycopg.errors.IntegrityError, psycopg.errors.RaiseException) as error:
            raise Refused(" ".join(str(error).split())) from None


def _named(folder: Path) -> str:
    """A database's name for a folder."""
    return "agmi_" + blake2b(str(folder).encode(), digest_size=12).hexdigest()
