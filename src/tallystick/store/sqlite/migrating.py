"""Brings a log that an earlier version wrote to the format of this one: numbered SQL files, each once, in one transaction."""

from __future__ import annotations

from typing import Any

import apsw

from tallystick.store.folding import fold_anew
from tallystick.store.packing import packed
from tallystick.store.said_words import index_anew
from tallystick.store.sqlite.log import SqliteLog
from tallystick.store.sqlite.statements import migration

_FOLDED_ALIKE = 2
"""The first format whose views are those of this one."""


class _Packed:
    """SQL's ``packed(seq, name, salt, body)``: the parts of one entry, which come in order of name."""

    def __init__(self) -> None:
        self._rows: list[Any] = []

    def step(self, *row: Any) -> None:
        self._rows.append(row[1:])

    def final(self) -> bytes:
        return packed(self._rows)


def migrate(connection: apsw.Connection, newest: int) -> None:
    """Bring the log to format ``newest``; its owner holds the lock. Whatever stops it leaves the log as it was.

    Raises:
        CanonicalError, TrailUnreadable: an entry or part is damaged; verify with the version that wrote it.
        apsw.Error: the disk is full or fails.
    """
    connection.create_aggregate_function("packed", _Packed, 4)
    connection.execute("BEGIN IMMEDIATE")
    try:
        before = int(connection.execute("PRAGMA user_version").get)
        for version in range(before + 1, newest + 1):
            connection.execute(migration(version))
        if before < newest:
            draft = SqliteLog(connection)
            if before < _FOLDED_ALIKE:
                fold_anew(draft)
            index_anew(draft)
            draft.settle()
            connection.execute(f"PRAGMA user_version = {newest}")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        connection.create_aggregate_function("packed", None, 4)
