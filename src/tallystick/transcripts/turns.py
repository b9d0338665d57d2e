"""Transcripts that are one text with turns in it, as a harness wrote them for people: every turn is a record.

Like a document it is read whole; where one turn ends and who speaks in it is for the harness's own reader to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tallystick.model.evidence import Event, Problem
from tallystick.transcripts.documents import UNREADABLE, DocumentReader, Message
from tallystick.transcripts.protocol import RawRecord


class Turn(NamedTuple):
    """A stretch of the text, without the blank lines around it."""

    kind: str
    """What it is to its reader."""
    start: int
    end: int


class TurnReader(DocumentReader):
    """A ``Reader`` of a whole text; a subclass says where its turns are, and reads one (see ``DocumentReader.message``)."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.kind = ""
        """Of the turn that is being read."""

    def turns(self, data: bytes) -> Sequence[Turn]:
        """The turns of the text in order; sets ``facts``. Between them stands nothing that anyone said.

        Raises:
            msgspec.DecodeError: not a text of this harness.
        """
        raise NotImplementedError

    def read(self, records: Iterable[RawRecord]) -> Iterator[Event]:
        """Yield the events of the text in the order of its turns. Raises nothing for bad data."""
        for record in records:
            try:
                found = self.turns(record.data)
            except UNREADABLE as error:
                self.records += 1
                self.problems.append(Problem(record.line, f"not a {self.harness} text: {str(error)[:200]}"))
                continue
            at, line = 0, record.line
            for index, turn in enumerate(found):
                self.records += 1
                self.kind = turn.kind
                data = record.data[turn.start : turn.end]
                line += record.data.count(b"\n", at, turn.start)
                at = turn.start
                yield from self._message(Message(index, data, record.offset + turn.start, len(data), line))

    def decoded(self, data: bytes) -> str:
        """``data`` as text; invalid UTF-8 costs its characters and is counted as ``mended``."""
        try:
            return data.decode()
        except UnicodeDecodeError:
            self.counts["mended"] += 1
            return data.decode("utf-8", "replace")


def lines_of(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The offset of each line and the line, without its ``\\n`` and ``\\r``."""
    at = 0
    for line in data.split(b"\n"):
        yield at, line.removesuffix(b"\r")
        at += len(line) + 1


_WHERE, _WHERE_ENDS = b"\n<!-- in ", b" -->\n"


class Told(NamedTuple):
    """A text, and the folder that it is about; empty where nothing says so."""

    text: bytes
    folder: bytes


def with_folder(text: bytes, folder: str) -> bytes:
    """``text``, which ends in a line end, as a gathered document that says what folder it is about.

    Behind the text, so that the folder moves no place in it.
    """
    return text + _WHERE + folder.replace("\n", " ").encode("utf-8", "replace") + _WHERE_ENDS


def told(document: bytes) -> Told:
    """What ``with_folder`` put together; a document that says no folder is all text."""
    at = document.rfind(_WHERE) if document.endswith(_WHERE_ENDS) else -1
    return Told(document, b"") if at < 0 else Told(document[:at], document[at + len(_WHERE) : -len(_WHERE_ENDS)])
