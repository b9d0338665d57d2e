"""Folders, files and SQLite databases as they lie on the disk, for adapters that gather sessions from them (EVID.9, 10).

A harness may be writing its database meanwhile: it is read in one transaction, waited for a little, and never written to.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

import apsw

from tallystick.errors import UsageError
from tallystick.transcripts.protocol import FileState

BUSY_MILLISECONDS = 5_000
_LOG = "-wal"


class DiskView:
    """Implements ``protocol.FileView``. Databases stay open until it is closed."""

    def __init__(self) -> None:
        self._open: dict[str, apsw.Connection] = {}
        self._copies: list[tempfile.TemporaryDirectory[str]] = []

    def __enter__(self) -> DiskView:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def names(self, folder: str) -> list[str]:
        """See ``protocol.FileView``."""
        try:
            with os.scandir(folder) as found:
                return sorted(f"{each.name}/" if each.is_dir() else each.name for each in found)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise UsageError(f"{folder}: {error.strerror}") from None

    def state(self, path: str) -> FileState | None:
        """See ``protocol.FileView``."""
        try:
            return state_of(path)
        except OSError:
            return None

    def read(self, path: str) -> bytes:
        """See ``protocol.FileView``."""
        try:
            return Path(path).read_bytes()
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror}") from None

    def opened(self, path: str) -> BinaryIO:
        """See ``protocol.FileView``."""
        try:
            return Path(path).open("rb")
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror}") from None

    def rows(self, path: str, sql: str, bound: Sequence[object] = ()) -> Iterator[tuple[object, ...]]:
        """See ``protocol.FileView``."""
        try:
            yield from self._database(path).execute(sql, tuple(bound))
        except apsw.BusyError:
            raise UsageError(f"{path}: another program holds the database; run the command again") from None
        except (apsw.Error, UnicodeDecodeError) as error:
            raise UsageError(f"{path}: cannot be read as this harness's database: {error}") from None

    def close(self) -> None:
        """Let go of every database."""
        for database in self._open.values():
            with suppress(apsw.Error):
                database.close()
        self._open.clear()
        for copy in self._copies:
            copy.cleanup()
        self._copies.clear()

    def _database(self, path: str) -> apsw.Connection:
        if path not in self._open:
            try:
                self._open[path] = _opened(path)
            except (apsw.CantOpenError, apsw.ReadOnlyError):
                # A database in WAL mode in a folder that may not be written: what lies beside it cannot be made there.
                self._open[path] = _opened(self._copied(path))
        return self._open[path]

    def _copied(self, path: str) -> str:
        try:
            folder = tempfile.TemporaryDirectory(prefix="tally-read-")
            self._copies.append(folder)
            copy = os.path.join(folder.name, os.path.basename(path))
            shutil.copyfile(path, copy)
            with suppress(FileNotFoundError):
                shutil.copyfile(path + _LOG, copy + _LOG)
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror}") from None
        return copy


def state_of(path: str) -> FileState:
    """What tells whether a file changed; of a database together with its log. Raises ``OSError``."""
    found = os.stat(path)
    with suppress(OSError):
        log = os.stat(path + _LOG)
        return FileState(found.st_size + log.st_size, max(found.st_mtime_ns, log.st_mtime_ns), found.st_ino)
    return FileState(found.st_size, found.st_mtime_ns, found.st_ino)


def _opened(path: str) -> apsw.Connection:
    """In one transaction, at the first question in which its snapshot is taken."""
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    database = apsw.Connection(f"file:{quote(path)}?mode=ro", flags=flags)
    try:
        database.set_busy_timeout(BUSY_MILLISECONDS)
        database.execute("PRAGMA query_only = 1")
        database.execute("BEGIN")
        database.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    except apsw.Error:
        database.close()
        raise
    return database
