"""Files that may be transcripts: found under a folder, told apart by content, read from where they ended (EVID.4, 9, 10)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from tallystick.errors import NotATranscript, UsageError
from tallystick.transcripts.lines import LineSource
from tallystick.transcripts.protocol import MAX_RECORD_BYTES, Adapter, RawRecord

HEAD_BYTES = 64 * 1024
ENDINGS = (".jsonl", ".json")
NEVER_READ = frozenset(
    {
        ".credentials.json",
        "auth.json",
        "credentials.json",
        "settings.json",
        "settings.local.json",
        "config.json",
        "history.jsonl",
        "session_index.jsonl",
        ".claude.json",
        "package.json",
    }
)
"""Credential, configuration and prompt-history files that harnesses keep beside their sessions (EVID.9)."""


class FileState(NamedTuple):
    """What tells whether a file changed without opening it."""

    size: int
    mtime_ns: int
    inode: int


class Unreadable(NamedTuple):
    """A path that gave nothing, and why; ``asked`` when it was named by the caller and not merely found."""

    path: str
    reason: str
    asked: bool


def found_files(paths: Sequence[Path]) -> tuple[list[Path], list[Unreadable]]:
    """The files named by ``paths``, folders searched in order of name; and what could not be read.

    A folder gives its ``.jsonl`` and ``.json`` files; a file that is named is taken whatever it is called.
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
        for name in sorted(names):
            path = Path(where) / name
            if name.endswith(ENDINGS) and name not in NEVER_READ and path.is_file():
                yield path


def state_of(path: Path) -> FileState:
    """Size, modification time and inode. Raises ``UsageError`` when the file cannot be looked at."""
    try:
        stat = path.stat()
    except OSError as error:
        raise UsageError(f"{shown_path(path)}: {error.strerror}") from None
    return FileState(stat.st_size, stat.st_mtime_ns, stat.st_ino)


def adapter_for(path: Path, adapters: Sequence[Adapter]) -> Adapter:
    """The adapter that recognises the file's content.

    Raises:
        NotATranscript: none does, or the file is one that is never read.
        UsageError: the file cannot be read.
    """
    if path.name in NEVER_READ:
        raise NotATranscript(f"{shown_path(path)}: credential, configuration and history files are never read")
    try:
        with path.open("rb") as stream:
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


def digest_of(path: Path, offset: int, digest: Callable[[bytes], bytes]) -> bytes:
    """Keyed digest of the first ``offset`` bytes, by which it is checked before reading on that all that was read is still
    there (EVID.4): a chain over pieces of 1 MiB, about a millisecond each."""
    chain = b""
    with path.open("rb") as stream:
        left = offset
        while left > 0 and (piece := stream.read(min(1 << 20, left))):
            chain = digest(chain + piece)
            left -= len(piece)
    return chain
