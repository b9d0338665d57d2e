"""Opening a log's database and its lock, and telling what went wrong in words a person can act on."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

import apsw

from tallystick.errors import MachineError, TrailLocked, TrailUnreadable, TrailUnwritable

LOCK_TIMEOUT_SECONDS = 30.0
_ASK_AGAIN_SECONDS = 0.01
_LOOK_SECONDS = 0.25
"""How long a writer waits for the lock at the least: who looks whether it is held has it for a moment (``is_held``)."""
CACHE_KB = 32 * 1024
"""Of pages, for a connection: a search of a long log has the same few thousand pages read over and over."""
SAFE_WAL = (3, 51, 3)
"""Older libraries can lose committed pages when two connections write and checkpoint at one instant."""

_WORDS = {
    apsw.FullError: (TrailUnwritable, "the disk is full; free some space and run the command again, nothing was lost"),
    apsw.ReadOnlyError: (TrailUnwritable, "the disk or the file is read-only; choose another folder with --trail"),
    apsw.PermissionsError: (TrailUnwritable, "no permission; check who owns the folder"),
    apsw.CantOpenError: (TrailUnreadable, "cannot be opened; check that the folder is there and readable"),
    apsw.NotADBError: (TrailUnreadable, "is not a trail, or its first bytes are damaged; restore a backup"),
    apsw.CorruptError: (TrailUnreadable, "is damaged; run `tally verify` and restore a backup"),
    apsw.BusyError: (TrailLocked, "another process holds it; try again"),
    apsw.LockedError: (TrailLocked, "another process holds it; try again"),
    apsw.IOError: (TrailUnwritable, "the disk reports an error; check it before writing on"),
    apsw.ConstraintError: (TrailUnreadable, "holds rows that contradict each other; run `tally verify`"),
    apsw.SQLError: (TrailUnreadable, "is not a trail of this version; run `tally verify`"),
}


def translated(error: apsw.Error, path: str) -> MachineError:
    """The engine's error as one line that names the file and says what to do."""
    for kind, (becomes, advice) in _WORDS.items():
        if isinstance(error, kind):
            return becomes(f"{path}: {advice} ({type(error).__name__})")
    return TrailUnreadable(f"{path}: {error}; run `tally verify`")


def open_database(path: str, *, write: bool, vfs: str | None = None) -> apsw.Connection:
    """A connection to one log's database, in WAL mode.

    Raises:
        TrailUnreadable, TrailUnwritable: it cannot be opened; the message says why.
    """
    if apsw.sqlite_lib_version() < ".".join(map(str, SAFE_WAL)) and _version() < SAFE_WAL:
        raise TrailUnwritable(
            f"SQLite {apsw.sqlite_lib_version()} can lose data in WAL mode; install apsw 3.54 or newer"
        )
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE if write else apsw.SQLITE_OPEN_READWRITE
    connection = None
    if write:
        # Made here, for its owner alone; SQLite gives its own files the mode of the database. One that is there is left alone:
        # closing it would let go of the locks that this process has on it through other connections (fcntl).
        with suppress(OSError):
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    try:
        connection = _open(path, flags, vfs)
        connection.set_busy_timeout(int(LOCK_TIMEOUT_SECONDS * 1000))
        if write:
            _put_into_wal_mode(connection)
        else:
            connection.execute("PRAGMA query_only = 1")
        connection.execute(f"PRAGMA cache_size = -{CACHE_KB}")
        connection.execute("PRAGMA synchronous = FULL")
    except apsw.Error as error:
        if connection is not None:
            closed(connection)
        raise translated(error, path) from None
    return connection


def _put_into_wal_mode(connection: apsw.Connection) -> None:
    """Ask again while somebody reads the file that is being made: for this SQLite does not wait by itself."""
    deadline = time.monotonic() + LOCK_TIMEOUT_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except apsw.BusyError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(_ASK_AGAIN_SECONDS)
        else:
            return


def is_in_wal_mode(path: str | os.PathLike[str]) -> bool:
    """Whether the file says that it is a database in WAL mode (bytes 18 and 19 of its header); False where it cannot be read."""
    with suppress(OSError), open(path, "rb") as file:
        return file.read(20)[18:] == b"\x02\x02"
    return False


def closed(connection: apsw.Connection) -> None:
    """Close, whatever the disk says: what was committed is in the file or its log, and the next opening finds it there."""
    with suppress(apsw.Error):
        connection.close()


def _open(path: str, flags: int, vfs: str | None) -> apsw.Connection:
    try:
        return apsw.Connection(path, flags=flags, vfs=vfs)
    except apsw.CantOpenError:
        if flags & apsw.SQLITE_OPEN_CREATE or not os.path.exists(path):
            raise
    return apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY, vfs=vfs)


def _version() -> tuple[int, ...]:
    return tuple(int(piece) for piece in apsw.sqlite_lib_version().split("."))


@contextmanager
def locked(path: str | os.PathLike[str], timeout_seconds: float = LOCK_TIMEOUT_SECONDS) -> Iterator[None]:
    """Hold the exclusive lock of one log, in the order of asking.

    SQLite's own busy handler is unfair under load, and so is polling. Whoever wants the lock first stands at a turnstile,
    a lock of its own, and keeps standing there until it has the other: so who has just written cannot be first again.

    Raises:
        TrailLocked: not to be had within the timeout.
        TrailUnwritable: the lock files cannot be made.
    """
    with _opened(_turnstile_of(path)) as turnstile, _opened(path) as handle:
        at_once = _acquired(turnstile, path) and _acquired(handle, path)
        if not at_once and not _waited((turnstile, handle), timeout_seconds):
            raise TrailLocked(f"{path}: another process has been writing for {timeout_seconds:.0f} s; try again later")
        fcntl.flock(turnstile, fcntl.LOCK_UN)
        yield


def is_held(path: str | os.PathLike[str]) -> bool:
    """Whether somebody holds the exclusive lock of a log; True where that cannot be told.

    Tells it by a shared lock, since ``flock`` has no other way: it is let go of at once, keeps no other reader from asking,
    and stands in nobody's queue. A writer who comes in that instant is next.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def _turnstile_of(path: str | os.PathLike[str]) -> str:
    return f"{os.path.splitext(path)[0]}.turn"


@contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[int]:
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise TrailUnwritable(
            f"{path}: {os.strerror(error.errno or errno.EIO)}; choose another folder with --trail"
        ) from None
    try:
        yield handle
    finally:
        os.close(handle)


def _acquired(handle: int, path: str | os.PathLike[str]) -> bool:
    """Whether the lock could be had without waiting."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
            raise TrailUnwritable(f"{path}: {os.strerror(error.errno or errno.EIO)}") from None
        return False
    return True


def _waited(handles: Sequence[int], timeout_seconds: float) -> bool:
    """Wait for one lock after the other in the kernel's queues, in one thread since there it cannot be interrupted.

    Where the time is up the thread is left behind. Its copies of the handles keep their numbers from being given to other
    files. It asks for no further lock, and one that it was waiting for it has for no longer than it takes to close them.
    """
    from _thread import allocate_lock, start_new_thread  # ``Thread`` has its starter wait until it runs.

    copies: list[int] = []
    over, got, given_up = allocate_lock(), [False], [False]
    over.acquire()

    def wait() -> None:
        with suppress(OSError):
            for copy in copies:
                if given_up[0]:
                    break
                fcntl.flock(copy, fcntl.LOCK_EX)
            else:
                got[0] = True
        for copy in copies:
            os.close(copy)
        over.release()

    try:
        copies += map(os.dup, handles)
        start_new_thread(wait, ())
    except (OSError, RuntimeError) as error:
        for copy in copies:
            os.close(copy)
        raise TrailUnwritable(f"the lock of the trail cannot be waited for: {error}; try again later") from None
    given_up[0] = not over.acquire(timeout=max(_LOOK_SECONDS, timeout_seconds))
    return got[0]
