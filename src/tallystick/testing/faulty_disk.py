"""A disk that fails at a chosen moment: an SQLite VFS that refuses the k-th write, or ends the process there (TRAIL.5).

::

    disk = FaultyDisk()
    store = SqliteStore(folder, vfs=disk.name)
    disk.fail(at=7, fault="full")      # the 7th operation that changes the disk, counted from now
    ...
    disk.mend()

What counts: opening a file that may be made, writing, syncing, truncating and deleting.
"""

from __future__ import annotations

import itertools
import os
import signal
from types import TracebackType
from typing import Any

import apsw

FAULTS = ("full", "io", "readonly")
"""What ``fail`` can be told; ``stop`` too, which writes half of what is to be written and kills the process; and ``power``,
which first takes back every write that was not synced, as a disk does that loses its power."""

_ERRORS: dict[str, type[apsw.Error]] = {
    "full": apsw.FullError,
    "io": apsw.IOError,
    "readonly": apsw.ReadOnlyError,
}
_numbers = itertools.count()


class FaultyDisk(apsw.VFS):
    """The machine's own disk until ``fail`` is called. Use one per test; ``unregister`` when done."""

    def __init__(self) -> None:
        self.name = f"faulty-{os.getpid()}-{next(_numbers)}"
        self.seen = 0
        """Operations that changed the disk since ``fail`` or ``mend``."""
        self._at = 0
        self._fault = ""
        self._stays = False
        self.unsynced: dict[str, list[tuple[int, bytes, int]]] = {}
        """By path, since its last sync: (offset, the bytes that were there before, the size before) of each write."""
        super().__init__(self.name, base="")

    def fail(self, at: int, fault: str, *, stays: bool = False) -> None:
        """Fail the ``at``-th operation from now, from 1; with ``stays`` every one after it too."""
        self.seen, self._at, self._fault, self._stays = 0, at, fault, stays

    def mend(self) -> None:
        """Work again."""
        self.fail(0, "")

    @property
    def failed(self) -> bool:
        """Whether it came to the fault."""
        return 0 < self._at <= self.seen

    def step(self) -> bool:
        """Count one operation; True where the process is to end in the middle of it. Raises the fault where it is due."""
        self.seen += 1
        due = self.seen == self._at or (self._stays and self.failed)
        if due and self._fault in _ERRORS:
            raise _ERRORS[self._fault](f"{self._fault}: as the test wishes")
        if due and self._fault == "power":
            self._lose_power()
        return due

    def _lose_power(self) -> None:
        for path, writes in self.unsynced.items():
            handle = os.open(path, os.O_RDWR)
            for offset, before, size in reversed(writes):
                os.pwrite(handle, before, offset)
                os.ftruncate(handle, size)
            os.close(handle)
        stop()

    def xOpen(self, name: Any, flags: list[int]) -> FaultyFile:  # noqa: N802
        """Count a file that may be made, and wrap it."""
        if flags[0] & apsw.SQLITE_OPEN_CREATE and self.step():
            stop()
        return FaultyFile(self, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        """Count and delete."""
        if self.step():
            stop()
        self.unsynced.pop(filename, None)
        super().xDelete(filename, syncdir)

    def excepthook(
        self, etype: type[BaseException] | None, evalue: BaseException | None, etraceback: TracebackType | None
    ) -> bool:
        """The engine already heard of it; where it goes on regardless, so do we."""
        return True


class FaultyFile(apsw.VFSFile):
    """A file on a ``FaultyDisk``."""

    def __init__(self, disk: FaultyDisk, name: Any, flags: list[int]) -> None:
        self._disk = disk
        self._path = str(name.filename() if isinstance(name, apsw.URIFilename) else name)
        self._forget()
        super().__init__("", name, flags)

    def _forget(self) -> None:
        self._disk.unsynced[self._path] = []

    def _remember(self, offset: int, length: int) -> None:
        size = self.xFileSize()
        before = self.xRead(min(length, size - offset), offset) if offset < size else b""
        self._disk.unsynced[self._path].append((offset, before, size))

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        """Count and write; a process that ends here has written half."""
        if self._disk.step():
            super().xWrite(bytes(data)[: len(data) // 2], offset)
            stop()
        self._remember(offset, len(data))
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802
        """Count and sync."""
        if self._disk.step():
            stop()
        super().xSync(flags)
        self._forget()

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        """Count and truncate."""
        if self._disk.step():
            stop()
        self._remember(newsize, max(0, self.xFileSize() - newsize))
        super().xTruncate(newsize)

    def excepthook(
        self, etype: type[BaseException] | None, evalue: BaseException | None, etraceback: TracebackType | None
    ) -> bool:
        """See ``FaultyDisk.excepthook``."""
        return True


def stop() -> None:
    """End this process as a power cut would: nothing is flushed, closed or said."""
    os.kill(os.getpid(), signal.SIGKILL)
