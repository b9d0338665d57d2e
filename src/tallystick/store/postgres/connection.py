"""Connecting to a server, and telling what went wrong in words a person can act on; a password is never among them."""

from __future__ import annotations

import logging
import uuid
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

import psycopg
from psycopg import conninfo, errors, pq
from psycopg.types.numeric import Int8BinaryDumper, Int8Dumper

from tallystick.errors import MachineError, NewerFormat, TrailLocked, TrailUnreadable, TrailUnwritable, UsageError
from tallystick.store.postgres import columns

LOCK_TIMEOUT_SECONDS = 30.0
CONNECT_TIMEOUT_SECONDS = 10
OLDEST_SERVER = 150_000
"""As ``server_version_num`` says it: 15.0."""
SESSION_ROLE = "tally_session"
_LONGEST_NAME = 200

_ADVICE: dict[str, tuple[type[MachineError], str]] = {
    "55P03": (TrailLocked, "another session holds it; try again"),
    "40P01": (TrailLocked, "another session waits for what this one holds, and it for that; try again"),
    "40001": (TrailLocked, "another session changed it at the same time; try again"),
    "57014": (
        TrailUnwritable,
        "the statement was stopped; nothing was kept of it: raise statement_timeout, or try again",
    ),
    "25P03": (TrailUnwritable, "idle for too long in a transaction; nothing was kept of it, run the command again"),
    "25P04": (
        TrailUnwritable,
        "nothing was kept of a transaction that took too long: raise transaction_timeout, or try again",
    ),
    "25006": (TrailUnwritable, "a read-only server or session; write to the primary"),
    "28P01": (TrailUnreadable, "wrong password; correct it in the URL, in PGPASSWORD or in ~/.pgpass"),
    "28000": (TrailUnreadable, "the server does not let this user in; see its pg_hba.conf"),
    "3D000": (TrailUnreadable, "there is no such database; make it with createdb"),
    "42501": (TrailUnwritable, "no permission; an administrator grants the role tally_session to this user"),
    "53100": (TrailUnwritable, "the server's disk is full; free some space and run the command again"),
    "53200": (TrailUnwritable, "the server is out of memory; nothing was kept, try again"),
    "53300": (TrailUnreadable, "the server has no connection left; try again, or raise max_connections"),
    "54000": (TrailUnwritable, "more than the server can hold in one value"),
    "57P03": (TrailUnreadable, "the server is starting up or shutting down; try again"),
}
_CLASSES: dict[str, tuple[type[MachineError], str]] = {
    "08": (TrailUnwritable, "the server went away; nothing was kept of what was under way, run the command again"),
    "22": (TrailUnreadable, "a value that the server cannot hold"),
    "23": (TrailUnreadable, "rows that contradict each other; run `tally verify`"),
    "42": (TrailUnreadable, "not a trail of this version; run `tally verify`"),
    "53": (TrailUnwritable, "the server lacks something that it needs; nothing was kept"),
    "57": (TrailUnwritable, "the server went away; nothing was kept of what was under way, run the command again"),
    "58": (TrailUnwritable, "the server's disk reports an error; check it before writing on"),
    "XX": (TrailUnreadable, "the server finds its own files damaged; run `tally verify` and restore a backup"),
}
_SAID = (
    ("password authentication failed", "28P01"),
    ("no password supplied", "28P01"),
    ("no pg_hba.conf entry", "28000"),
    ("authentication failed", "28000"),
    ("does not exist", "3D000"),
    ("too many clients", "53300"),
    ("remaining connection slots", "53300"),
    ("starting up", "57P03"),
    ("shutting down", "57P03"),
)
"""What libpq says where it was not let in, without a code."""

logging.getLogger("psycopg").addHandler(logging.NullHandler())
"""What the driver has to say of a connection that went is in the error; without a handler it would stand on the terminal too."""


class Address:
    """Where a trail is: a server, a database, and the trail's name in it, from ``postgresql://user@host/db?trail=name``."""

    def __init__(self, url: str) -> None:
        """Raises ``UsageError`` where the URL cannot be read."""
        parts = _split(url)
        given = parse_qsl(parts.query, keep_blank_values=True)
        self.trail = dict(given).get("trail", "default")
        rest = urlencode([(key, value) for key, value in given if key != "trail"], quote_via=quote)
        # "postgresql:/db" is what urlunsplit makes of an empty host, and libpq does not read it.
        bare = urlunsplit(("", "", parts.path, rest, ""))
        try:
            self.info: dict[str, Any] = dict(conninfo.conninfo_to_dict(f"postgresql://{parts.netloc}{bare}"))
        except psycopg.Error as error:
            raise UsageError(f"{_without_password(url)}: {_line(str(error), _password_in(url))}") from None
        if not 0 < len(self.trail) <= _LONGEST_NAME or not self.trail.isprintable():
            raise UsageError(f"trail={self.trail[:40]!r}: expected a name of 1 to {_LONGEST_NAME} printable characters")
        self._password = str(self.info.get("password") or "")
        self.location = self._location()

    def _location(self) -> str:
        """What to call it in a message: everything but the password."""
        info = {name: str(self.info.get(name) or "") for name in ("user", "host", "port", "dbname")}
        host, after = info["host"], [f"trail={self.trail}"]
        if host.startswith("/"):
            host, after = "", [f"host={host}", *after]
        user = f"{info['user']}@" if info["user"] else ""
        port = f":{info['port']}" if info["port"] else ""
        return f"postgresql://{user}{host}{port}/{info['dbname']}?{'&'.join(after)}"

    def connect(self) -> psycopg.Connection[Any]:
        """A connection in which every statement is its own transaction unless one is begun.

        Raises:
            MachineError: it cannot be had; the message says why.
        """
        settings = {"connect_timeout": CONNECT_TIMEOUT_SECONDS, "application_name": "tallystick", **self.info}
        try:
            made = psycopg.connect(**settings, autocommit=True)
        except psycopg.Error as error:
            raise self.translated(error, connecting=True) from None
        try:
            self._check(made)
            # Whatever a role's or a database's settings say, no function or operator of others stands before the server's own.
            made.execute("SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', false)")
        except psycopg.Error as error:
            closed(made)
            raise self.translated(error) from None
        except MachineError:
            closed(made)
            raise
        # A number that is small is sent as one of few bytes, and each size of it would be planned for anew.
        made.adapters.register_dumper(int, Int8Dumper)
        made.adapters.register_dumper(int, Int8BinaryDumper)
        columns.register(made)
        return made

    def _check(self, made: psycopg.Connection[Any]) -> None:
        version = made.info.server_version
        if version < OLDEST_SERVER:
            raise TrailUnreadable(
                f"{self.location}: the server is PostgreSQL {version // 10_000}; a trail needs 15 or newer"
            )
        encoding = made.info.parameter_status("server_encoding")
        if encoding != "UTF8":
            raise TrailUnreadable(
                f"{self.location}: the database's encoding is {encoding}; make it with createdb --encoding=UTF8"
            )

    def translated(self, error: psycopg.Error, *, connecting: bool = False, committing: bool = False) -> MachineError:
        """The server's error as one line that names it and says what to do."""
        # Without what follows the first line: the statement, and rows that are somebody's memory.
        said = _line(error.diag.message_primary or str(error) or type(error).__name__, self._password)
        code = error.sqlstate or next((code for words, code in _SAID if connecting and words in said), "")
        if committing and (not code or code[:2] in ("08", "57")):
            return TrailUnwritable(
                f"{self.location}: the server went away while it committed; all of it was kept or nothing,"
                f" and the next command finds which ({said})"
            )
        if connecting and not code:
            return TrailUnreadable(
                f"{self.location}: cannot be reached; check that the server runs and the address is right ({said})"
            )
        kind, advice = _ADVICE.get(code) or _CLASSES.get(code[:2]) or _CLASSES["08" if _is_gone(error) else "42"]
        return kind(f"{self.location}: {advice} ({said})")


def closed(connection: psycopg.Connection[Any]) -> None:
    """Close, whatever the server says."""
    with suppress(psycopg.Error, OSError):
        connection.close()


def is_idle(connection: psycopg.Connection[Any]) -> bool:
    """Whether it is open and in no transaction."""
    return not connection.closed and connection.info.transaction_status == pq.TransactionStatus.IDLE


def is_lost(error: psycopg.Error) -> bool:
    """Whether the connection went before the server answered, so that another one may ask again."""
    return isinstance(error, psycopg.OperationalError) and (error.sqlstate or "08")[:2] in ("08", "57")


def lock_key(trail: uuid.UUID, log: int) -> int:
    """The number of a log's advisory lock, which is one in the whole database: 61 bits of the trail's random id, and the log."""
    return ((trail.int >> 64) ^ (trail.int & (2**64 - 1))) % 2**61 * 4 + log


def newer(location: str, version: int) -> NewerFormat:
    """That a newer tallystick has been at the tables."""
    return NewerFormat(f"{location}: written by a newer tallystick (migration {version}); upgrade this one")


def _is_gone(error: psycopg.Error) -> bool:
    return isinstance(error, psycopg.OperationalError | errors.InterfaceError) and not error.sqlstate


def _split(url: str) -> Any:
    try:
        return urlsplit(url)
    except ValueError as error:
        raise UsageError(f"{_without_password(url)}: {error}") from None


def _password_in(url: str) -> str:
    with suppress(ValueError):
        parts = urlsplit(url)
        return parts.password or dict(parse_qsl(parts.query)).get("password", "")
    return ""


def _without_password(url: str) -> str:
    """As much of a URL that cannot be read as is surely no secret."""
    return f"postgresql://…{url.rpartition('@')[2].partition('?')[0]}" if "@" in url else url.partition("?")[0]


def _line(said: str, password: str) -> str:
    line = " ".join(said.split())
    return line.replace(password, "***") if password else line
