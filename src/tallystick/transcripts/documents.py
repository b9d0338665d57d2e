"""Transcripts that are one JSON document with a list of messages: every message is a record, wherever it stands.

Such a file is written anew for each change, so it is read whole or not at all; a torn one is one problem (EVID.2, 3).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from tallystick.model.evidence import Event, EventKind, Locator, Origin, Problem, SessionFacts
from tallystick.model.temporal import Instant
from tallystick.transcripts.protocol import PendingCall, RawRecord
from tallystick.transcripts.texts import cut, mended, pieces, type_name

_MOST_MISSES = 8
UNREADABLE = (msgspec.DecodeError, RecursionError)


class Read(NamedTuple):
    """What came of one message: its events, and the type it is counted under when there are none."""

    type: str
    events: Sequence[Event]


class Message:
    """One message of the document while it is read, and where its events stand: blocks are numbered in order."""

    __slots__ = ("at", "block", "data", "index", "length", "offset")

    def __init__(self, index: int, data: bytes, offset: int, length: int) -> None:
        self.index = index
        self.data = data
        self.offset = offset
        self.length = length
        self.block = 0
        self.at: Instant | None = None

    def next_locator(self) -> Locator:
        """Where the next event of this message stands; a document has no lines."""
        self.block += 1
        return Locator(0, self.index, self.block - 1, self.offset, self.length)


class DocumentReader:
    """A ``Reader`` of a whole document; a subclass says what the document and one message of it mean."""

    harness = ""

    def __init__(self, name: str) -> None:
        self.name = name
        self.facts = SessionFacts(self.harness, "")
        self.counts: Counter[str] = Counter()
        self.problems: list[Problem] = []
        self.records = 0
        """Messages of the document, or 1 when the document itself cannot be read."""
        self.records_with_events = 0
        self.calls: dict[str, PendingCall] = {}

    def messages(self, data: bytes) -> Sequence[msgspec.Raw]:
        """The messages of the document; sets ``facts``.

        Raises:
            msgspec.DecodeError: not a document of this harness.
        """
        raise NotImplementedError

    def message(self, message: Message) -> Read:
        """The events of one message.

        Raises:
            msgspec.DecodeError: the message has another shape than this harness writes.
        """
        raise NotImplementedError

    def placed(self, found: Sequence[msgspec.Raw], record: RawRecord, *, exact: bool) -> Iterable[Message]:
        """Each message with its byte range, in the order in which they are read; ``found`` is in the order of the document.

        Messages that had to be mended are not ``exact``.
        """
        return placed(found, record, exact=exact)

    def read(self, records: Iterable[RawRecord]) -> Iterator[Event]:
        """Yield the events of the document in the order of its messages. Raises nothing for bad data."""
        for record in records:
            yield from self._document(record)

    def _document(self, record: RawRecord) -> Iterator[Event]:
        data = record.data
        exact = True
        try:
            found = self.messages(data)
        except UNREADABLE as error:
            repaired = mended(data)
            try:
                found = self.messages(repaired or b"")
                self.counts["mended"] += 1
                exact = False
            except UNREADABLE:
                self.records += 1
                self.problems.append(Problem(record.line, f"not a {self.harness} document: {str(error)[:200]}"))
                return
        for message in self.placed(found, record, exact=exact):
            self.records += 1
            yield from self._message(message, record)

    def _message(self, message: Message, record: RawRecord) -> Iterator[Event]:
        try:
            read = self.message(message)
        except UNREADABLE as error:
            line = record.line + record.data.count(b"\n", 0, message.offset - record.offset)
            self.problems.append(Problem(line, f"message {message.index}: unexpected shape: {str(error)[:200]}"))
            return
        if read.events:
            self.records_with_events += 1
        else:
            self.counts[f"record:{type_name(read.type)}"] += 1
        yield from read.events

    def texts(
        self, message: Message, uid: str, text: str, kind: EventKind, origin: Origin, flags: tuple[str, ...] = ()
    ) -> list[Event]:
        """Events for ``text``: one, or more where our own briefing stands in it; none when it is empty."""
        events = []
        for part, piece in enumerate(pieces(text) if text else ()):
            fitted, all_flags = self.fitted(piece.text, flags)
            whose = Origin.BRIEFING if piece.briefing else origin
            own_uid = f"{uid}:{part}" if part else uid
            place = message.next_locator()
            events.append(Event(own_uid, kind, whose, fitted, place, message.at, self.facts.thread, flags=all_flags))
        return events

    def call(self, message: Message, uid: str, text: str, call_id: str, pending: PendingCall) -> Event:
        """The call that ``pending`` will be remembered of."""
        fitted, flags = self.fitted(text, pending.flags)
        event = Event(uid, EventKind.TOOL_CALL, Origin.ASSISTANT, fitted, message.next_locator(), message.at)
        return event._replace(
            thread=self.facts.thread,
            tool=pending.tool,
            call_id=call_id,
            command=pending.command,
            paths=pending.paths,
            flags=flags,
        )

    def results(self, message: Message, like: Event) -> list[Event]:
        """``like``, the result of a call, with its place; more than one event where our own briefing stands in it."""
        events = []
        for part, piece in enumerate(pieces(like.text)):
            fitted, flags = self.fitted(piece.text, like.flags)
            event = like._replace(
                uid=f"{like.uid}:{part}" if part else like.uid,
                origin=Origin.BRIEFING if piece.briefing else like.origin,
                text=fitted,
                locator=message.next_locator(),
                at=message.at,
                thread=self.facts.thread,
                flags=flags,
            )
            events.append(event)
        return events

    def fitted(self, text: str, flags: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
        """``text`` cut to what an event may hold, with the flag that says so."""
        fitted = cut(text)
        if fitted is text:
            return text, flags
        self.counts["oversized_text"] += 1
        return fitted, flags if "truncated" in flags else (*flags, "truncated")


def placed(found: Sequence[msgspec.Raw], record: RawRecord, *, exact: bool = True) -> Iterator[Message]:
    """Each message with its byte range; messages that had to be mended have the range of the whole document.

    Those are not looked for: each would be looked for to the document's end. Nor is what follows, when several are not found.
    """
    at = misses = 0
    for index, raw in enumerate(found):
        data = bytes(raw)
        start = record.data.find(data, at) if exact and misses < _MOST_MISSES else -1
        if start < 0:
            misses += 1
            yield Message(index, data, record.offset, len(record.data))
        else:
            at = start + len(data)
            yield Message(index, data, record.offset + start, len(data))
