"""Brings the tables of a database to this version: numbered SQL files, in order, under a lock, each once."""

from __future__ import annotations

import os
from hashlib import sha256
from typing import Any, NamedTuple

import psycopg
from psycopg import errors

from tallystick.errors import MachineError, TrailUnreadable, TrailUnwritable
from tallystick.store.postgres.connection import SESSION_ROLE, Address, newer
from tallystick.store.postgres.rows import NUMBERS
from tallystick.store.said_words import index_anew
from tallystick.store.statements import text

HERE = os.path.dirname(__file__)
_INDEXED = 2
"""The migration that makes an index of the archive."""
_LOCK = 0x74616C6C79  # "tally"; no log's lock is that small.


class Migration(NamedTuple):
    """One numbered file."""

    number: int
    name: str
    sql: str

    @property
    def digest(self) -> bytes:
        """SHA-256 of the file: one that was released is never edited."""
        return sha256(self.sql.encode()).digest()


def migrations() -> list[Migration]:
    """The files of ``migrations/``, in order of their numbers."""
    folder = os.path.join(HERE, "migrations")
    names = sorted(name for name in os.listdir(folder) if name.endswith(".sql"))
    return [Migration(int(name[:4]), name, text(folder, name)) for name in names]


def newest() -> int:
    """The number of the last migration."""
    return migrations()[-1].number


def migrate(connection: psycopg.Connection[Any], address: Address) -> None:
    """Apply what has not been applied, all or nothing; ``connection`` is as the user logged in.

    Raises:
        MachineError: the user may not make tables, an extension is missing, or another version was here.
    """
    try:
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            applied = _applied(connection)
            _check(applied, address)
            for each in migrations():
                if each.number not in applied:
                    connection.execute(each.sql.encode())
                    connection.execute(
                        "INSERT INTO tally.migration (number, name, digest) VALUES (%s, %s, %s)",
                        (each.number, each.name, each.digest),
                    )
            if applied and _INDEXED not in applied:
                _index_archives(connection)
            if not _may_become_the_session(connection):
                connection.execute(f"GRANT {SESSION_ROLE} TO CURRENT_USER")
    except psycopg.Error as error:
        raise _translated(error, connection, address) from None


def _index_archives(connection: psycopg.Connection[Any]) -> None:
    """Read the archives of all trails into the index that has just been made for them."""
    from tallystick.store.postgres.log import PostgresLog  # Once in the life of a database.

    for (trail,) in connection.execute("SELECT trail FROM tally.trail").fetchall():
        connection.execute("SELECT set_config('tally.trail', %s, true)", (str(trail),))
        for log in sorted(NUMBERS.values()):
            index_anew(PostgresLog(connection, log, trail))


def is_there(connection: psycopg.Connection[Any]) -> bool:
    """Whether any migration has been applied."""
    sql = (
        "SELECT 1 FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace"
        " WHERE n.nspname = 'tally' AND c.relname = 'migration'"
    )
    return connection.execute(sql).fetchone() is not None


def _applied(connection: psycopg.Connection[Any]) -> dict[int, bytes]:
    if not is_there(connection):
        return {}
    return dict(connection.execute("SELECT number, digest FROM tally.migration").fetchall())


def _check(applied: dict[int, bytes], address: Address) -> None:
    known = {each.number: each for each in migrations()}
    for number, digest in sorted(applied.items()):
        if number not in known:
            raise newer(address.location, number)
        if digest != known[number].digest:
            raise TrailUnreadable(
                f"{address.location}: migration {known[number].name} is not the one that was applied; install a release"
            )


def _may_become_the_session(connection: psycopg.Connection[Any]) -> bool:
    granted = "SET" if connection.info.server_version >= 160_000 else "MEMBER"
    row = connection.execute("SELECT pg_has_role(current_user, %s, %s)", (SESSION_ROLE, granted)).fetchone()
    return bool(row and row[0])


def _translated(error: psycopg.Error, connection: psycopg.Connection[Any], address: Address) -> MachineError:
    user = connection.info.user
    if isinstance(error, errors.InsufficientPrivilege):
        return TrailUnwritable(
            f"{address.location}: {user} may not make the tables ({error.diag.message_primary}); an administrator runs:"
            f' CREATE ROLE {SESSION_ROLE} NOLOGIN; GRANT {SESSION_ROLE} TO "{user}" WITH ADMIN OPTION;'
            f' CREATE SCHEMA tally AUTHORIZATION "{user}"; CREATE EXTENSION btree_gist WITH SCHEMA tally'
        )
    if isinstance(error, errors.UndefinedFile | errors.FeatureNotSupported):
        return TrailUnwritable(
            f"{address.location}: the server lacks the extension btree_gist; install its contrib package"
            f" ({error.diag.message_primary})"
        )
    return address.translated(error)
