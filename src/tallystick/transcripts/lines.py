"""Physical lines of a growing file as records, with the place to go on from: how every line-based reader is fed.

A line ends at ``\\n`` and nowhere else: U+2028 and U+0085 inside a string are content (EVID.2, 10).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from tallystick.model.evidence import Problem
from tallystick.transcripts.protocol import MAX_RECORD_BYTES, RawRecord

_BOM = b"\xef\xbb\xbf"
BLANK = b" \t\r\n\0"
"""What may stand around a record without being part of it."""
_SKIP_BYTES = 1 << 20

# Strings are one token, so that brackets in them do not count; an unclosed string ends with the data, so that no start
# is ever scanned twice.
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.?)*+(?:"|\Z)|[{}\[\]]', re.DOTALL)


class Position(NamedTuple):
    """Where the next read begins: the first byte not yet taken in, and the 1-based line it stands on."""

    offset: int = 0
    line: int = 1


class LineSource:
    """The non-blank lines of ``stream`` from ``offset`` on, as an iterator of ``RawRecord`` that is read once.

    A last line without ``\\n`` is read when it is complete JSON, or when ``final`` says that nothing more will come;
    else it stays unread and ``position`` points at its first byte. A byte order mark at the start of the file, NUL
    bytes around a line and a closing ``\\r`` are not part of the record; ``offset`` is that of its first byte that is.
    """

    def __init__(
        self,
        stream: BinaryIO,
        *,
        offset: int = 0,
        line: int = 1,
        final: bool = False,
        max_bytes: int = MAX_RECORD_BYTES,
    ) -> None:
        self.position = Position(offset, line)
        self.problems: list[Problem] = []
        """Lines over ``max_bytes`` and runs of NUL bytes that were skipped; they are not among the reader's records."""
        self._stream = stream
        self._final = final
        self._max_bytes = max_bytes

    def __iter__(self) -> Iterator[RawRecord]:
        offset, line = self.position
        if offset:
            self._stream.seek(offset)
        while data := self._stream.readline(self._max_bytes):
            ended = data.endswith(b"\n")
            size = len(data)
            if not ended and size == self._max_bytes:
                size, ended = self._skip_rest(line)
                data = b""
            elif not (ended or self._final or complete(data)):
                return
            # The position moves before the record is handed over: what was handed over is never read again.
            self.position = Position(offset + size, line + ended)
            record = self._record(data, offset, line)
            if record is not None:
                yield record
            offset, line = self.position

    def _record(self, data: bytes, offset: int, line: int) -> RawRecord | None:
        if offset == 0 and data.startswith(_BOM):
            data, offset = data[3:], 3
        if (body := data.rstrip(BLANK)) and body[0] in BLANK:
            stripped = body.lstrip(BLANK)
            offset += len(body) - len(stripped)
            body = stripped
        if not body:
            if b"\0" in data:
                self.problems.append(Problem(line, "only NUL bytes"))
            return None
        return RawRecord(line, offset, body)

    def _skip_rest(self, line: int) -> tuple[int, bool]:
        """Size of the over-long line and whether its end was reached; nothing of it is kept."""
        self.problems.append(Problem(line, f"line longer than {self._max_bytes} bytes"))
        size = self._max_bytes
        while rest := self._stream.readline(_SKIP_BYTES):
            size += len(rest)
            if rest.endswith(b"\n"):
                return size, True
        return size, False


def records(
    stream: BinaryIO, *, offset: int = 0, line: int = 1, final: bool = False, problems: list[Problem] | None = None
) -> Iterator[RawRecord]:
    """The records of ``stream`` as ``LineSource`` gives them, for a caller who does not need the place reached.

    Skipped lines are added to ``problems``.
    """
    source = LineSource(stream, offset=offset, line=line, final=final)
    if problems is not None:
        source.problems = problems
    return iter(source)


def objects(data: bytes) -> Iterator[tuple[int, int]]:
    """Byte ranges of the top-level JSON objects and arrays that stand side by side in ``data``, in order.

    Writers that append without a lock glue records together. Brackets are matched and nothing else is checked; what is
    not closed is not in the result. Linear in ``len(data)``, in constant memory.
    """
    depth = start = 0
    for token in _TOKEN.finditer(data):
        at = token.start()
        mark = data[at]
        if mark in b"{[":
            if not depth:
                start = at
            depth += 1
        elif mark in b"}]" and depth:
            depth -= 1
            if not depth:
                yield start, at + 1


def complete(data: bytes) -> bool:
    """Whether ``data`` ends where a JSON object or array ends, so that a line without its ``\\n`` can be read."""
    body = data.rstrip(BLANK)
    if not body.endswith((b"}", b"]")):
        return False
    end = 0
    for _, end in objects(body):  # noqa: B007  (the last one counts)
        pass
    return end == len(body)
