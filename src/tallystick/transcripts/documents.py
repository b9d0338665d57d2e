"""Transcripts that are one JSON document with a list of messages: every message is a record, wherever it stands.

Such a file is written anew for each change, so it is read whole or not at all; a torn one is one problem (EVID.2, 3).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from typing import NamedTuple

import msgspec

from tallystick.model.evidence import Event, EventKind, Locator, Origin, Problem, SessionFacts
from tallystick.model.temporal import Instant
from tallystick.transcripts.lines import LineSource, objects, records
from tallystick.transcripts.protocol import PendingCall, RawRecord
from tallystick.transcripts.salvage import salvaged
from tallystick.transcripts.texts import cut, mended, pieces, type_name

UNREADABLE = (msgspec.DecodeError, RecursionError)


class Read(NamedTuple):
    """What came of one message: its events, and the type it is counted under when there are none."""

    type: str
    events: Sequence[Event]


class Message:
    """One message of the document while it is read, and where its events stand: blocks are numbered in order."""

    __slots__ = ("at", "block", "data", "index", "length", "line", "offset", "starts_on")

    def __init__(self, index: int, data: bytes, offset: int, length: int, starts_on: int = 0, line: int = 0) -> None:
        self.index = index
        self.data = data
        self.offset = offset
        self.length = length
        self.starts_on = starts_on
        """The physical line it begins on, as a problem names it."""
        self.line = line
        """The same in a document that is a log of lines, else 0."""
        self.block = 0
        self.at: Instant | None = None

    def next_locator(self) -> Locator:
        """Where the next event of this message stands; a document has no lines, unless it is a log."""
        self.block += 1
        return Locator(self.line, self.index, self.block - 1, self.offset, self.length)


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
            yield from self.document(record)

    def document(self, record: RawRecord) -> Iterator[Event]:
        """The events of one document. A format that has also a log of lines overrides this one."""
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
            yield from self._message(message)

    def _message(self, message: Message) -> Iterator[Event]:
        try:
            read = self.message(message)
        except UNREADABLE as error:
            reason = f"message {message.index}: unexpected shape: {str(error)[:200]}"
            self.problems.append(Problem(message.starts_on, reason))
            return
        if read.events:
            self.records_with_events += 1
        else:
            self.counts[f"record:{type_name(read.type)}"] += 1
        yield from read.events

    def log_lines(self, record: RawRecord) -> Iterator[tuple[RawRecord, list[bytes]]]:
        """Of a document that is a log: each line with the JSON objects on it, mostly one; counted as a record.

        A line without any is a problem. The last one may not be finished yet: it is read with the next reading of the
        document, and counted as ``unfinished``.
        """
        source = LineSource(BytesIO(record.data))
        for line in source:
            self.records += 1
            found, lost, repaired = salvaged(line.data)
            if found:
                for key, count in (("glued", len(found) - 1), ("mended", repaired), ("block:unreadable", lost)):
                    self.counts.update({key: count} if count else {})
                yield line, found
            else:
                self.problems.append(Problem(line.line, "no JSON object"))
        self.counts.update({"unfinished": 1} if source.position.offset < len(record.data) else {})
        self.records += len(source.problems)
        self.problems += source.problems

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
    """Each message with its byte range; from the first one that had to be mended on, that of the whole document.

    Only what stands there as it is can be looked for in linear time.
    """
    at, line, lost = 0, record.line, not exact
    for index, raw in enumerate(found):
        data = bytes(raw)
        start = -1 if lost else record.data.find(data, at)
        if start < 0:
            lost = True
            yield Message(index, data, record.offset, len(record.data), line)
        else:
            line += record.data.count(b"\n", at, start)
            yield Message(index, data, record.offset + start, len(data), line)
            at = start + len(data)
            line += data.count(b"\n")


def json_in(data: bytes) -> msgspec.Raw:
    """The JSON value in ``data`` as it stands, or mended; what is none is a JSON string of it, for the reader to count.

    What a gatherer makes documents of.
    """
    try:
        return msgspec.json.decode(data.decode("utf-8", "replace").encode(), type=msgspec.Raw)
    except UNREADABLE:
        repaired = mended(data)
        return msgspec.Raw(repaired or msgspec.json.encode(data.decode("utf-8", "replace")))


def json_lines(data: bytes) -> list[msgspec.Raw]:
    """The JSON values on the lines of ``data``, each as ``json_in`` gives it; those that were glued on one line apart, and
    without a last line that is not all there yet."""
    found = []
    for record in records(BytesIO(data)):
        value = json_in(record.data)
        parts = [record.data[start:end] for start, end in objects(record.data)] if bytes(value)[:1] == b'"' else []
        found += [json_in(part) for part in parts] if len(parts) > 1 else [value]
    return found
