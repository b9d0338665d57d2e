"""Exports of many conversations in one JSON array, gathered one at a time, in memory for one of them (EVID.10).

The array is cut at its brackets as it streams by, so that a file of any size takes one pass of linear time, and no more than
``MAX_RECORD_BYTES`` and a piece of 1 MiB are held. A conversation larger than that is a problem that names it, and is skipped.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple

from tallystick.errors import UsageError
from tallystick.transcripts.protocol import MAX_RECORD_BYTES, FileState, FileView, Member

PIECE_BYTES = 1 << 20
_MOST_NANOSECONDS = 2**63 - 1
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,119}\Z")
# Whole strings are passed over at once; a string that this piece does not close stops it at its quotation mark.
_BETWEEN = re.compile(rb'(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
_IN_STRING = re.compile(rb"(?:[^\"\\]++|\\.)*+", re.DOTALL)
_OPENS = b"{["
_QUOTE, _BACKSLASH, _ARRAY = b'"\\['


class Element(NamedTuple):
    """One object of a top-level array, or a top-level object, and where it stands in the file."""

    offset: int
    length: int
    data: bytes | None
    """None where it is longer than what may be held."""


class Named(NamedTuple):
    """What a conversation says of itself without being read."""

    id: str
    changed_ns: int
    """When it was last changed, nanoseconds since 1970; 0 where it does not say."""


class Elements:
    """The objects of ``stream``, an array of them or objects one after the other, in order; read once."""

    def __init__(self, stream: BinaryIO, *, most_bytes: int = MAX_RECORD_BYTES) -> None:
        self._stream = stream
        self._most_bytes = most_bytes
        self._floor = -1
        self._depth = 0
        self._start = -1
        """Place in the file of the element that is open; -1 between two."""
        self._held: list[bytes] = []
        self._held_bytes = 0
        self.whole = False
        """Whether the file ended where its outermost bracket is closed. False until all was read."""

    def __iter__(self) -> Iterator[Element]:
        offset, rest, quoted = 0, b"", False
        while piece := self._stream.read(PIECE_BYTES):
            data = rest + piece
            # A backslash at the end belongs to what the next piece begins with.
            rest = b""
            at = begun = 0
            while at < len(data):
                if quoted:
                    at = _after(_IN_STRING, data, at)
                    if at < len(data) and data[at] == _BACKSLASH:
                        data, rest = data[:at], data[at:]
                    quoted = at == len(data)
                    at += not quoted
                    continue
                at = _after(_BETWEEN, data, at)
                if at == len(data):
                    break
                mark = data[at]
                at += 1
                if mark == _QUOTE:
                    quoted = True
                elif mark in _OPENS:
                    if self._opens(mark, offset + at - 1):
                        begun = at - 1
                elif self._closes():
                    self._hold(data[begun:at])
                    yield self._ended(offset + at)
            if self._start >= 0:
                self._hold(data[begun:])
            offset += len(data)
        self.whole = self._floor >= 0 and not self._depth and not quoted

    def _opens(self, mark: int, place: int) -> bool:
        """Whether an element begins with this bracket."""
        if self._floor < 0:
            self._floor = 1 if mark == _ARRAY else 0
        begins = self._depth == self._floor
        self._depth += 1
        if begins:
            self._start = place
        return begins

    def _closes(self) -> bool:
        """Whether an element ends with this bracket."""
        self._depth -= self._depth > 0
        return self._depth == self._floor and self._start >= 0

    def _hold(self, data: bytes) -> None:
        self._held_bytes += len(data)
        if self._held_bytes > self._most_bytes:
            self._held.clear()
        else:
            self._held.append(data)

    def _ended(self, end: int) -> Element:
        fits = self._held_bytes <= self._most_bytes
        found = Element(self._start, end - self._start, b"".join(self._held) if fits else None)
        self._start, self._held, self._held_bytes = -1, [], 0
        return found


def conversations(view: FileView, path: str, named: Callable[[bytes], Named]) -> Iterator[Member]:
    """Each conversation of an export, called by its own id, or by its place where it has none that could be a name.

    Its state has its length, its time and a digest, so that a newer export of the same conversation is not read again.
    What cannot be read, the torn end of a file among it, is a member whose ``load`` raises ``UsageError``.
    """
    taken: set[str] = set()
    number = 0
    with view.opened(path) as stream:
        elements = Elements(stream)
        for number, element in enumerate(elements, 1):
            place = f"conversation-{number}"
            if element.data is None:
                yield unreadable(
                    path, place, f"{element.length} bytes, and {MAX_RECORD_BYTES} are the most that are read"
                )
                continue
            own = named(element.data)
            name = own.id if _NAME.match(own.id) and own.id not in taken else place
            taken.add(name)
            digest = _digest(element.data)
            changed = min(max(own.changed_ns, 0), _MOST_NANOSECONDS)
            yield Member(
                name,
                FileState(element.length, changed, digest),
                _Slice(view, path, element.offset, element.length, digest),
            )
    if not elements.whole:
        yield unreadable(path, f"conversation-{number + 1}", "the file ends in the middle of it, or is no JSON")


def unreadable(path: str, name: str, reason: str) -> Member:
    """A member that says why it cannot be read, so that the others of its place are."""

    def load() -> bytes:
        raise UsageError(f"{path}: {name}: {reason}")

    return Member(name, FileState(0, 0, 0), load)


class _Slice:
    """Some bytes of a file, read when they are asked for."""

    __slots__ = ("_digest", "_length", "_offset", "_path", "_view")

    def __init__(self, view: FileView, path: str, offset: int, length: int, digest: int) -> None:
        self._view = view
        self._path = path
        self._offset = offset
        self._length = length
        self._digest = digest

    def __call__(self) -> bytes:
        with self._view.opened(self._path) as stream:
            stream.seek(self._offset)
            data = stream.read(self._length)
        if _digest(data) != self._digest:
            raise UsageError(f"{self._path}: changed while it was read; run the command again")
        return data


def _digest(data: bytes) -> int:
    """56 bits that tell two versions of a conversation apart."""
    return int.from_bytes(hashlib.blake2b(data, digest_size=7).digest(), "big")


def _after(pattern: re.Pattern[bytes], data: bytes, at: int) -> int:
    found = pattern.match(data, at)
    return found.end() if found else at


def first_keys(head: bytes) -> frozenset[str]:
    """Keys of the first object of an array, or of a top-level object, as far as ``head`` goes; empty for anything else."""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if start[:1] == b"[":
        start = start[1:].lstrip(b" \t\r\n")
    if start[:1] != b"{":
        return frozenset()
    keys: set[str] = set()
    depth = 0
    for token in _KEY_TOKEN.finditer(start):
        mark = start[token.start()]
        if mark in _OPENS:
            depth += 1
        elif mark == _QUOTE:
            if depth == 1 and token[1] is not None:
                keys.add(token[1].decode("utf-8", "replace"))
        else:
            depth -= 1
            if not depth:
                break
    return frozenset(keys)


_KEY_TOKEN = re.compile(rb'"((?:[^"\\]++|\\.)*+)"(?=\s{0,16}:)|"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[{}\[\]]', re.DOTALL)
