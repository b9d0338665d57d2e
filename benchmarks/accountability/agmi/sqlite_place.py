"""All that the attacks know of how SQLite keeps a trail. When the tables change, this file is what changes with them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from benchmarks.accountability.agmi.places import Refused, Row
from tallystick.store.packing import packed, unpacked
from tallystick.store.protocol import Store
from tallystick.store.sqlite import SqliteStore


class SqlitePlace:
    """Implements ``places.Place`` over the folder with the databases."""

    name = "SQLite"

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def store(self) -> Store:
        """See ``Place``."""
        return SqliteStore(self._folder)

    def rows(self) -> list[Row]:
        """See ``Place``."""
        with self._database() as database:
            kept = _asked(database, "SELECT seq, packed FROM part ORDER BY seq")
            entries = _asked(database, "SELECT seq, at, canon, leaf FROM entry ORDER BY seq")
        parts = {seq: tuple(unpacked(seq, data)) for seq, data in kept}
        return [Row(seq, at, canon, leaf, tuple(parts.get(seq, ()))) for seq, at, canon, leaf in entries]

    def put(self, row: Row, *, guards: bool) -> None:
        """See ``Place``: only what differs is written, since a guard of the other table would hide what this one does."""
        there = {each.seq: each for each in self.rows()}.get(row.seq)
        with self._database(guards=guards) as database:
            if there is None:
                database.execute(
                    "INSERT INTO entry (seq, at, canon, leaf) VALUES (?, ?, ?, ?)",
                    (row.seq, row.at, row.canon, row.leaf),
                )
            elif there[:4] != row[:4]:
                database.execute(
                    "UPDATE entry SET at = ?, canon = ?, leaf = ? WHERE seq = ?",
                    (row.at, row.canon, row.leaf, row.seq),
                )
            kept = [(row.seq, packed(sorted(row.parts)))] if row.parts else []
            if not there or not there.parts:
                database.executemany("INSERT INTO part (seq, packed) VALUES (?, ?)", kept)
            elif sorted(there.parts) != sorted(row.parts):
                database.executemany(
                    "UPDATE part SET packed = ?2 WHERE seq = ?1" if kept else "DELETE FROM part WHERE seq = ?",
                    kept or [(row.seq,)],
                )

    def drop(self, seq: int, *, guards: bool) -> None:
        """See ``Place``."""
        with self._database(guards=guards) as database:
            database.execute("DELETE FROM entry WHERE seq = ?", (seq,))
            database.execute("DELETE FROM part WHERE seq = ?", (seq,))

    def label(self, claim: int) -> str:
        """See ``Place``."""
        with self._database() as database:
            return str(database.execute("SELECT origin FROM version WHERE claim = ?", (claim,)).get)

    def relabel(self, claim: int, origin: str, *, guards: bool) -> None:
        """See ``Place``. No guard stands over the views."""
        with self._database(guards=guards) as database:
            database.execute("UPDATE version SET origin = ? WHERE claim = ?", (origin, claim))

    def copy(self, folder: Path) -> None:
        """See ``Place``."""
        shutil.copytree(self._folder, folder)

    def put_back(self, folder: Path) -> None:
        """See ``Place``."""
        self.clear()
        shutil.copytree(folder, self._folder)

    def clear(self) -> None:
        """See ``Place``."""
        shutil.rmtree(self._folder)

    @contextmanager
    def _database(self, *, guards: bool = True) -> Iterator[apsw.Connection]:
        """The memory log's database in one transaction; without guards its triggers are gone until it is left."""
        database = apsw.Connection(str(self._folder / "memory.db"))
        triggers = _asked(database, "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
        try:
            with database:
                for name, _ in [] if guards else triggers:
                    database.execute(f"DROP TRIGGER {name}")
                yield database
                for _, sql in [] if guards else triggers:
                    database.execute(sql)
        except apsw.ConstraintError as error:
            raise Refused(str(error)) from None
        finally:
            database.close()


def _asked(database: apsw.Connection, sql: str) -> list[tuple[Any, ...]]:
    return database.execute(sql).fetchall()
