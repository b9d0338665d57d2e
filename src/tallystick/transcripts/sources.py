"""Files that may be transcripts: found under a folder, told apart by content, read from where they ended (EVID.4, 9, 10)."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from io import BufferedReader, BytesIO, RawIOBase, UnsupportedOperation
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import zstandard

from tallystick.errors import NotATranscript, UsageError
from tallystick.transcripts.lines import LineSource
from tallystick.transcripts.protocol import (
    MAX_RECORD_BYTES,
    Adapter,
    FileState,
    FileView,
    Gatherer,
    Member,
    RawRecord,
)
from tallystick.transcripts.view import state_of

HEAD_BYTES = 64 * 1024
ENDINGS = (".jsonl", ".json")
"""Files that are opened in a folder, and named where they are no transcripts."""
OTHER_ENDINGS = (".jsonl.zst", ".traj", ".md", ".txt", ".db", ".sqlite", ".vscdb")
"""Files that are opened too, and passed over in silence: most of them have nothing to do with any harness."""
NEVER_READ = frozenset(
    {
        ".claude.json",
        ".credentials.json",
        "agent_settings.json",
        "apps.json",
        "auth.json",
        "cline_mcp_settings.json",
        "config.json",
        "credentials.json",
        "google_accounts.json",
        "history.jsonl",
        "hosts.json",
        "mcp-auth.json",
        "mcp-config.json",
        "mcp-oauth-tokens-v2.json",
        "mcp-oauth-tokens.json",
        "mcp.json",
        "mcp_settings.json",
        "oauth_creds.json",
        "package.json",
        "secrets.json",
        "session_index.jsonl",
        "settings.json",
        "settings.local.json",
    }
)
"""Credential, configuration and prompt-history files that harnesses keep beside their sessions, in small letters (EVID.9)."""


class Unreadable(NamedTuple):
    """A path that gave nothing, and why; ``asked`` when it was named by the caller and not merely found."""

    path: str
    reason: str
    asked: bool


def found_files(paths: Sequence[Path]) -> tuple[list[Path], list[Unreadable]]:
    """The files named by ``paths``, folders searched in order of name; and what could not be read.

    A folder gives the files of ``ENDINGS`` and ``OTHER_ENDINGS``; a file that is named is taken whatever it is called. Of a file
    that is there with and without ``.zst``, the one without is taken.
    """
    files: dict[Path, None] = {}
    bad: list[Unreadable] = []
    for path in paths:
        try:
            if path.is_dir():
                files.update(dict.fromkeys(_walk(path, bad)))
            elif path.is_file():
                files[path] = None
            elif path.exists():
                bad.append(Unreadable(shown_path(path), "neither a file nor a folder", asked=True))
            else:
                bad.append(Unreadable(shown_path(path), "no such file or folder", asked=True))
        except OSError as error:
            bad.append(Unreadable(shown_path(path), error.strerror or "cannot be read", asked=True))
    return list(files), bad


def _walk(folder: Path, bad: list[Unreadable]) -> Iterator[Path]:
    def failed(error: OSError) -> None:
        bad.append(
            Unreadable(str(error.filename), error.strerror or "cannot be read", str(error.filename) == str(folder))
        )

    for where, folders, names in os.walk(folder, onerror=failed):
        folders.sort()
        there = set(names)
        for name in sorted(names):
            if name.endswith(".zst") and name.removesuffix(".zst") in there:
                continue
            if name.endswith((*ENDINGS, *OTHER_ENDINGS)) and _may_be_read(os.path.join(where, name)):
                yield Path(where, name)


def _may_be_read(path: str) -> bool:
    """Whether it is a file, and none that is never read; one look at most of them, since there may be ten thousand."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return False
    if stat.S_ISLNK(mode):
        return os.path.isfile(path) and not is_never_read(Path(path))
    return stat.S_ISREG(mode) and os.path.basename(path).lower() not in NEVER_READ


def is_never_read(path: Path) -> bool:
    """Whether a file, or the one that a link leads to, is of ``NEVER_READ``; some file systems do not tell letters apart."""
    names = (path.name, os.path.basename(os.path.realpath(path))) if path.is_symlink() else (path.name,)
    return not NEVER_READ.isdisjoint(name.lower() for name in names)


class Source:
    """Where one session is read from: a file, or a member of what an adapter gathered."""

    def __init__(self, path: Path, state: FileState, member: Member | None = None) -> None:
        self.path = path
        self.state = state
        self._member = member
        self._data: bytes | None = None

    @property
    def shown(self) -> str:
        """The path, and for a member its name behind ``#``."""
        return shown_path(self.path) + (f"#{self._member.name}" if self._member else "")

    @property
    def name(self) -> str:
        """What the reader is told: the last three parts of the path, or the member's name."""
        return self._member.name if self._member else "/".join(self.path.parts[-3:])

    @property
    def stem(self) -> str:
        """What the session is called where it does not name itself."""
        return self._member.name.rpartition("/")[2] if self._member else self.path.stem

    def opened(self) -> BinaryIO:
        """Its bytes, to be closed by the caller; of a ``.zst`` file those that were compressed.

        Raises:
            OSError, UsageError: they cannot be read.
        """
        if self._member:
            if self._data is None:
                self._data = self._member.load()
            return BytesIO(self._data)
        return opened(self.path)

    def digest(self, offset: int, digest: Callable[[bytes], bytes]) -> bytes:
        """Keyed digest of the first ``offset`` bytes, by which it is checked before reading on that all that was read is still
        there (EVID.4): a chain over pieces of 1 MiB, about a millisecond each."""
        chain = b""
        with self.opened() as stream:
            left = offset
            while left > 0 and (piece := stream.read(min(1 << 20, left))):
                chain = digest(chain + piece)
                left -= len(piece)
        return chain


def source_of(path: Path) -> Source:
    """A file as it is now. Raises ``UsageError`` when it cannot be looked at."""
    try:
        return Source(path, state_of(str(path)))
    except OSError as error:
        raise UsageError(f"{shown_path(path)}: {error.strerror}") from None


def members_of(adapter: Gatherer, view: FileView, path: Path) -> Iterator[Source]:
    """The sessions that an adapter gathers from where a file that it recognised lies; see ``Gatherer.gather``."""
    anchor = adapter.anchor(path.as_posix())
    for member in adapter.gather(view, anchor):
        yield Source(Path(anchor), member.state, member)


def path_of(shown: str) -> str:
    """The path of the file or folder that a source lies in, as it was noted (see ``Source.shown``)."""
    path, mark, _ = shown.rpartition("#")
    return path if mark and not os.path.exists(shown) else shown


def opened(path: Path) -> BinaryIO:
    """A file's bytes; of a ``.zst`` file those that were compressed.

    Raises:
        OSError: it cannot be read.
    """
    stream = path.open("rb")
    return BufferedReader(_Decompressed(stream)) if path.suffix == ".zst" else stream


class _Decompressed(RawIOBase):
    """What was compressed, as far as it is there: a torn file ends where it was torn. It goes forward only."""

    def __init__(self, stream: BinaryIO) -> None:
        self._reader: Any = zstandard.ZstdDecompressor().stream_reader(stream, read_across_frames=True, closefd=True)
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence != os.SEEK_SET or offset < self._at:
            raise UnsupportedOperation("compressed data is read forwards")
        while self._at < offset and self._more(bytearray(min(1 << 20, offset - self._at))):
            pass
        return self._at

    def readinto(self, buffer: Any) -> int:
        return self._more(memoryview(buffer))

    def _more(self, buffer: Any) -> int:
        try:
            data = self._reader.read(len(buffer))
        except zstandard.ZstdError as error:
            raise OSError(errno.EIO, f"damaged zstd data: {error}") from None
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)

    def close(self) -> None:
        self._reader.close()
        super().close()


def adapter_for(path: Path, adapters: Sequence[Adapter]) -> Adapter:
    """The adapter that recognises the file's content.

    Raises:
        NotATranscript: none does, or the file is one that is never read.
        UsageError: the file cannot be read.
    """
    if is_never_read(path):
        raise NotATranscript(f"{shown_path(path)}: credential, configuration and history files are never read")
    try:
        with opened(path) as stream:
            head = stream.read(HEAD_BYTES)
    except OSError as error:
        raise UsageError(f"{shown_path(path)}: {error.strerror}") from None
    for adapter in adapters:
        if adapter.recognises(head, path.name):
            return adapter
    looked_for = ", ".join(adapter.name for adapter in adapters)
    raise NotATranscript(
        f"{shown_path(path)}: not a transcript of {looked_for}; name the file of a session, or its folder"
    )


def records_of(adapter: Adapter, stream: BinaryIO, offset: int, line: int) -> LineSource | DocumentSource:
    """The records of an open file from a place on, as the adapter frames them."""
    if adapter.framing == "lines":
        return LineSource(stream, offset=offset, line=line)
    return DocumentSource(stream)


class DocumentSource:
    """A whole file as one record; stands where ``LineSource`` stands."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.position = (0, 1)
        self.problems: list[object] = []

    def __iter__(self) -> Iterator[RawRecord]:
        data = self._stream.read(MAX_RECORD_BYTES + 1)
        if len(data) > MAX_RECORD_BYTES:
            raise UsageError(f"the document is larger than {MAX_RECORD_BYTES} bytes, the most that is read as one")
        self.position = (len(data), 2)
        yield RawRecord(1, 0, data)


def shown_path(path: Path) -> str:
    """A path as text that can be stored and shown: bytes that are no UTF-8 are escaped."""
    return str(path).encode("utf-8", "backslashreplace").decode()
