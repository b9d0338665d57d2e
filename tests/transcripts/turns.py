"""The readers' contract for a format that is one text with turns in it: it is read whole or not at all."""

from __future__ import annotations

from tallystick.testing.reader_contract import Framed, ReaderContract
from tallystick.transcripts.lines import Position
from tallystick.transcripts.protocol import RawRecord


class TurnContract(ReaderContract):
    """The contract; nothing in a text says that it is complete, so here the whole sources are."""

    def frame(self, data: bytes, at: Position, *, final: bool) -> Framed:
        """The whole text as one record, or none when it is torn or already read."""
        if at.offset or not data or not (final or data in self.sources().values()):
            return Framed([], at)
        return Framed([RawRecord(1, 0, data)], Position(len(data), 1))
