"""All three logs of a trail in one folder: opening, transactions, and what the engine finds wrong with its own files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import apsw

from tallystick.errors import CanonicalError, MachineError, NewerFormat, TrailLocked, TrailUnreadable, TrailUnwritable
from tallystick.model.entry import Head, LogName
from tallystick.model.temporal import END_OF_TIME
from tallystick.store.presence import is_there
from tallystick.store.sqlite.connection import (
    LOCK_TIMEOUT_SECONDS,
    closed,
    is_held,
    is_in_wal_mode,
    locked,
    open_database,
    translated,
)
from tallystick.store.sqlite.log import SqliteLog
from tallystick.store.sqlite.reading import SqliteReading, indexed
from tallystick.store.sqlite.statements import index_made_anew, schema, statements

if TYPE_CHECKING:
    from pathlib import Path

_SQL = statements()
SCHEMA_VERSION = 3
"""``PRAGMA user_version`` of the databases; the highest migration that has been applied."""


class SqliteStore:
    """Implements ``protocol.Store`` over a folder with ``memory.db``, ``access.db`` and ``ledger.db``.

    The folder and the databases are made at the first write. ``vfs`` names an apsw VFS; tests inject faults through it.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        vfs: str | None = None,
        lock_timeout_seconds: float = LOCK_TIMEOUT_SECONDS,
    ) -> None:
        self.location = os.fspath(folder)
        self._paths = {log: os.path.join(self.location, f"{log}.db") for log in LogName}
        self._locks = {log: os.path.join(self.location, f"{log}.lock") for log in LogName}
        self._vfs = vfs
        self._timeout = lock_timeout_seconds
        self._nothing: apsw.Connection | None = None
        """What a log that was never written reads as."""
        self._readers: dict[LogName, apsw.Connection] = {}
        self._writers: dict[LogName, apsw.Connection] = {}

    @property
    def folder(self) -> Path:
        """Where the databases are."""
        from pathlib import Path  # A briefing does without: it takes a twentieth of its time to load.

        return Path(self.location)

    @contextmanager
    def reading(self, log: LogName) -> Iterator[SqliteReading]:
        """See ``protocol.Store``. A log that was never written reads as empty."""
        path = self._path(log)
        connection = self._reader(log) if log in self._readers or is_there(path) else None
        if connection is None:
            if self._nothing is None:
                self._nothing = self._empty()
            yield SqliteReading(self._nothing)
            return
        try:
            connection.execute("BEGIN")
            yield SqliteReading(connection)
        except apsw.Error as error:
            raise translated(error, path) from None
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")

    @contextmanager
    def writing(self, log: LogName, committed: Callable[[Head], None]) -> Iterator[SqliteLog]:
        """See ``protocol.Store``: the lock file first, then ``BEGIN IMMEDIATE``, and only then may the caller read a clock."""
        path = self._path(log)
        if log not in self._writers:
            self._make_folder()
            self._open_early(log)
        with locked(self._locks[log], self._timeout):
            connection = self._writer(log)
            try:
                connection.execute("BEGIN IMMEDIATE")
                draft = SqliteLog(connection)
                yield draft
                draft.settle()
                head = draft.head()
                connection.execute("COMMIT")
                committed(head)
            except apsw.Error as error:
                raise translated(error, path) from None
            finally:
                self._roll_back(log, connection)

    def _roll_back(self, log: LogName, connection: apsw.Connection) -> None:
        if not connection.in_transaction:
            return
        try:
            connection.execute("ROLLBACK")
        except apsw.Error:
            # An I/O error may have rolled back already; a fresh connection starts from what is on disk.
            closed(self._writers.pop(log))

    def written_since(self, log: LogName, size: int) -> bool:
        """See ``protocol.Store``: the lock file first, then the head, which a connection of its own sees as it is now."""
        path = self._path(log)
        if is_held(self._locks[log]):
            return True
        if not is_there(path):
            return size != 0
        connection = open_database(path, write=False, vfs=self._vfs)
        try:
            return size != (0 if self._is_blank(connection, log) else SqliteReading(connection).head().size)
        except apsw.Error as error:
            raise translated(error, path) from None
        finally:
            closed(connection)

    def opener(self) -> Callable[[], SqliteStore]:
        """See ``protocol.Store``."""
        return partial(SqliteStore, self.location, vfs=self._vfs, lock_timeout_seconds=self._timeout)

    def check(self, log: LogName) -> list[str]:
        """See ``protocol.Store``: page structure, tables and triggers, and the search index against its texts."""
        path = self._path(log)
        if not is_there(path):
            return []
        try:
            # One of its own: the trail may be read through the others meanwhile, from another thread.
            connection = open_database(path, write=False, vfs=self._vfs)
            try:
                if self._is_blank(connection, log):
                    return []
                self._check_version(connection, log)
                found = [row[0] for row in connection.execute("PRAGMA integrity_check(5)") if row[0] != "ok"]
                return found or self._check_schema(connection) or _check_counts(connection) or self._check_search(path)
            finally:
                closed(connection)
        except apsw.FullError as error:
            # No room to compute in says nothing of the trail.
            raise translated(error, path) from None
        except apsw.Error as error:
            return [str(translated(error, path))]
        except UnicodeDecodeError as error:
            return [f"{path}: text that is no UTF-8: {error}"]
        except MachineError as error:
            return [str(error)]

    def _check_schema(self, connection: apsw.Connection) -> list[str]:
        """What guards the entries is still there, and every table is what the statements take it for (TRAIL.1)."""
        empty = self._empty()
        wanted, kept = _schema_of(empty), _schema_of(connection)
        empty.close()
        names = sorted({name for _, name, _, _ in wanted ^ kept})
        return [f"the schema of {name} was changed" for name in names]

    def _check_search(self, path: str) -> list[str]:
        """The words made anew from the texts against those that are kept; then what FTS5 says of its own structure.

        FTS5's checksum alone would not do: changes of two occurrences of a word can cancel in it. It checks itself by a
        write that writes nothing, so it is asked on a connection that may write.
        """
        connection = apsw.Connection(path, vfs=self._vfs)
        try:
            connection.set_busy_timeout(int(self._timeout * 1000))
            connection.create_scalar_function("indexed", _indexed, 4, deterministic=True)
            connection.execute("PRAGMA temp_store = FILE")
            connection.execute(index_made_anew())
            if connection.execute(_SQL["words_apart"]).fetchone():
                return ["search index: its words are not those of the texts"]
            connection.execute("ROLLBACK")
            with suppress(apsw.ReadOnlyError, apsw.BusyError):  # Nothing may be written, at all or now: not unsound.
                for index in _INDEXES:
                    connection.execute(f"BEGIN IMMEDIATE; {_CHECKED.format(index)}; ROLLBACK")
        except (apsw.ReadOnlyError, apsw.CantOpenError):
            return []
        except apsw.FullError:
            raise
        except apsw.Error as error:
            return [f"search index: {error}"]
        finally:
            closed(connection)
        return []

    def scrub(self, log: LogName) -> None:
        """See ``protocol.Store``: the search index merged into one segment, the database written anew, its log emptied."""
        path = self._path(log)
        if not is_there(path):
            return
        with locked(self._locks[log], self._timeout):
            connection = self._writer(log)
            try:
                connection.set_busy_timeout(int(self._timeout * 1000))
                for index in _INDEXES:
                    connection.execute(_MERGED.format(index))
                connection.execute("VACUUM")
                busy, _, _ = next(connection.execute("PRAGMA wal_checkpoint(TRUNCATE)"))
            except apsw.Error as error:
                raise translated(error, path) from None
            finally:
                connection.set_busy_timeout(int(LOCK_TIMEOUT_SECONDS * 1000))
            if busy:
                raise TrailLocked(
                    f"{path}: another process is reading it, so its log still holds what was erased; try again"
                )

    def close(self) -> None:
        """See ``protocol.Store``."""
        for connection in (*self._readers.values(), *self._writers.values()):
            closed(connection)
        self._readers.clear()
        self._writers.clear()

    def _path(self, log: LogName) -> str:
        return self._paths[log]

    def _reader(self, log: LogName) -> apsw.Connection | None:
        """None while there is no more than a file: another process is making the log, or was stopped while it did."""
        if log not in self._readers:
            connection = open_database(self._path(log), write=False, vfs=self._vfs)
            if self._is_blank(connection, log):
                closed(connection)
                return None
            if self._is_older(connection, log):
                closed(connection)
                self._migrate(log)
                return self._reader(log)
            self._check_version(connection, log)
            self._readers[log] = connection
        return self._readers[log]

    def _writer(self, log: LogName) -> apsw.Connection:
        if log not in self._writers:
            connection = open_database(self._path(log), write=True, vfs=self._vfs)
            if self._is_blank(connection, log):
                self._create(connection, log)
            if self._is_older(connection, log):
                from tallystick.store.sqlite.migrating import migrate  # Once in the life of a trail.

                try:
                    migrate(connection, SCHEMA_VERSION)
                except (apsw.Error, CanonicalError, UnicodeDecodeError) as error:
                    closed(connection)
                    raise _not_migrated(error, self._path(log)) from None
            self._check_version(connection, log)
            self._writers[log] = connection
        return self._writers[log]

    def _is_older(self, connection: apsw.Connection, log: LogName) -> bool:
        return 0 < self._user_version(connection, log) < SCHEMA_VERSION

    def _migrate(self, log: LogName) -> None:
        """Bring a log that an earlier version wrote to the format of this one; who comes second finds it done."""
        with locked(self._locks[log], self._timeout):
            self._writer(log)

    def _open_early(self, log: LogName) -> None:
        """Open what is a trail already before the lock is taken, so that nobody who waits for the lock waits for that.

        A file that is not in WAL mode yet is left to who has the lock: two who put it there at once refuse each other. One
        that is open here already is in that mode, and is not looked at: closing it would let go of the locks on it (fcntl).
        """
        if log not in self._readers and not is_in_wal_mode(self._path(log)):
            return
        connection = open_database(self._path(log), write=True, vfs=self._vfs)
        if self._is_blank(connection, log) or self._is_older(connection, log):
            closed(connection)
            return
        self._check_version(connection, log)
        self._writers[log] = connection

    def _create(self, connection: apsw.Connection, log: LogName) -> None:
        try:
            connection.execute(f"BEGIN IMMEDIATE; {schema()}; PRAGMA user_version = {SCHEMA_VERSION}; COMMIT")
        except apsw.Error as error:
            closed(connection)
            raise translated(error, self._path(log)) from None

    def _check_version(self, connection: apsw.Connection, log: LogName) -> None:
        version = self._user_version(connection, log)
        if version == SCHEMA_VERSION:
            return
        closed(connection)
        if version > SCHEMA_VERSION:
            raise NewerFormat(f"{self._path(log)}: written by a newer tallystick (format {version}); upgrade this one")
        raise TrailUnreadable(
            f"{self._path(log)}: an empty or foreign database, not a trail; choose another folder with --trail"
        )

    def _is_blank(self, connection: apsw.Connection, log: LogName) -> bool:
        try:
            return not connection.execute("SELECT count(*) FROM sqlite_schema").get
        except apsw.Error as error:
            closed(connection)
            raise translated(error, self._path(log)) from None

    def _user_version(self, connection: apsw.Connection, log: LogName) -> int:
        try:
            return int(connection.execute("PRAGMA user_version").get)
        except apsw.Error as error:
            raise translated(error, self._path(log)) from None

    def _empty(self) -> apsw.Connection:
        connection = apsw.Connection(":memory:")
        connection.execute(schema())
        return connection

    def _make_folder(self) -> None:
        try:
            os.makedirs(self.location, mode=0o700, exist_ok=True)
        except OSError as error:
            raise TrailUnwritable(f"{self.location}: {error.strerror}; choose another folder with --trail") from None


def _not_migrated(error: Exception, path: str) -> MachineError:
    if isinstance(error, apsw.FullError | apsw.ReadOnlyError | apsw.PermissionsError):
        return translated(error, path)
    said = " ".join(str(error).split())
    return TrailUnreadable(
        f"{path}: cannot be brought to the format of this version ({said}); verify with the one that wrote it"
    )


def _indexed(*row: Any) -> str | None:
    return indexed(*row)


def _check_counts(connection: apsw.Connection) -> list[str]:
    if connection.execute(_SQL["held_apart"], (END_OF_TIME, END_OF_TIME)).fetchone():
        return ["the counts of claims held are not what the versions of claims come to"]
    if found := connection.execute(_SQL["holders_apart"]).fetchone():
        return [f"holder {found[0].hex()} is in no claim"]
    if found := connection.execute(_SQL["versions_apart"]).fetchone():
        return [f"the versions of c{found[0]} do not say the same of it"]
    return []


_SCHEMA = "SELECT CAST(type AS BLOB), CAST(name AS BLOB), CAST(tbl_name AS BLOB), CAST(sql AS BLOB) FROM sqlite_schema"
_INDEXES = ("words", "said")
"""The search indexes: of claims, and of the archive."""
_SETTINGS = "SELECT k, v FROM {}_config"
_MERGED = "INSERT INTO {0} ({0}) VALUES ('optimize')"
_CHECKED = "INSERT INTO {0} ({0}, rank) VALUES ('integrity-check', 1)"
_KEPT_BY_THE_INDEX = frozenset(f"{index}_{table}" for index in _INDEXES for table in ("data", "idx", "config"))
"""Tables that FTS5 makes for the search indexes, in the words of its own version."""


def _schema_of(connection: apsw.Connection) -> set[tuple[str, str, str, str]]:
    """(sort, name, its table, statement) of everything there is, without FTS5's own statements; then what FTS5 is set to."""
    found: set[tuple[str, str, str, str]] = set()
    for row in connection.execute(_SCHEMA):
        sort, name, table, sql = (_text(each) for each in row)
        found.add((sort, name, table, "" if sort == "table" and name in _KEPT_BY_THE_INDEX else sql))
    for index in _INDEXES:
        if ("table", f"{index}_config", f"{index}_config", "") in found:
            settings = connection.execute(_SETTINGS.format(index))
            found |= {("set", index, repr(key), repr(value)) for key, value in settings}
    return found


def _text(value: Any) -> str:
    return str(value, "utf-8", "replace") if isinstance(value, bytes) else "" if value is None else str(value)
