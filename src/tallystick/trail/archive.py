"""The archive: every event's redacted text, kept compressed and committed to, so that evidence outlives its source (EVID.11).

One event is one record: a JSON line of what is known of it, then its text in UTF-8. The ``observed`` entry of a slice
commits to ``SHA-256(salt ‖ event id ‖ newline ‖ record)`` of each of its events, so each can be erased alone. Blocks that
pack records for compression are storage and mean nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from typing import NamedTuple

import zstandard

from tallystick.errors import TrailUnreadable
from tallystick.log.canonical import MAX_INTEGER, encode
from tallystick.log.strict_json import json_value
from tallystick.model.entry import EntryKind
from tallystick.model.evidence import Event
from tallystick.store.protocol import ArchivedEvent, BlockRow, Reading, Writing
from tallystick.store.records import event_from_record as event_from_record
from tallystick.store.records import record_bytes as record_bytes
from tallystick.store.records import unpacked as unpacked
from tallystick.store.records import unpacked_size as unpacked_size
from tallystick.store.said_words import holder_of, said_of

BLOCK_BYTES = 512 * 1024
"""Records are packed until a block is at least this large before compression; one record is never split."""
_LEVEL = 3
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class Slice(NamedTuple):
    """A run of events ready to be kept: rows for the store and the manifest that an ``observed`` entry commits to."""

    blocks: list[BlockRow]
    events: list[ArchivedEvent]
    manifest: bytes
    contents: list[Event]
    """What each of the events says, in the same order."""


def event_id(harness: str, session: str, thread: str, uid: str) -> str:
    """``e`` and 16 hex digits: a digest of the record's own ids, the same on every machine (EVID.1).

    A ``uid`` that begins with a UUID names the record wherever it stands, so the session is left out and a fork's copy is
    the same event (EVID.5); any other is unique in its session and thread alone.
    """
    where = "" if names_itself(uid) else f"{session}\0{thread}"
    return "e" + sha256(f"{harness}\0{where}\0{uid}".encode("utf-8", "replace")).hexdigest()[:16]


def names_itself(uid: str) -> bool:
    """Whether a record's own id is made of a UUID, which nobody guesses; any other event id is made of its session's name."""
    return _UUID.match(uid) is not None


def version_id(event: str, version: int) -> str:
    """Id of the ``version``-th event whose record has the id ``event`` and says something else; the same everywhere."""
    return "e" + sha256(f"{event}\0{version}".encode()).hexdigest()[:16]


class Packer:
    """Packs the events of one slice of a session, new ones into blocks and ones known from another session by place."""

    def __init__(self, *, session: int, first: int, block: int, salts: Callable[[], bytes]) -> None:
        """Events are numbered from ``first`` in their session, blocks from ``block``; ``salts`` gives 32 random bytes."""
        self._compressor = zstandard.ZstdCompressor(level=_LEVEL)
        self._session = session
        self._first = first
        self._block = block
        self._salts = salts
        self._blocks: list[BlockRow] = []
        self._rows: list[ArchivedEvent] = []
        self._digests: list[bytes] = []
        self._contents: list[Event] = []
        self._waiting: list[bytes] = []
        self._size = 0

    def add(self, event: str, content: Event) -> None:
        """Keep a new event."""
        record, salt = record_bytes(content), self._salts()
        place = self._block + len(self._blocks), self._size, len(record)
        self._keep(event, place, salt, record)
        self._contents.append(content)
        self._waiting.append(record)
        self._size += len(record)
        if self._size >= BLOCK_BYTES:
            self._close()

    def adopt(self, known: ArchivedEvent, record: bytes) -> None:
        """Take in an event whose bytes another session has archived (EVID.5): no second copy, a second place."""
        self._keep(known.event, (known.block, known.offset, known.length), known.salt, record)
        self._contents.append(event_from_record(record))

    def _keep(self, event: str, place: tuple[int, int, int], salt: bytes, record: bytes) -> None:
        self._rows.append(ArchivedEvent(self._session, self._first + len(self._rows), event, *place, salt))
        self._digests.append(_digest(salt, event, record))

    def _close(self) -> None:
        data = self._compressor.compress(b"".join(self._waiting))
        self._blocks.append(BlockRow(self._block + len(self._blocks), self._session, data))
        self._waiting, self._size = [], 0

    def finish(self, made_by: dict[str, str]) -> Slice:
        """The slice. ``made_by`` names the versions of the reader and the redactor and goes into the manifest."""
        if self._waiting:
            self._close()
        header = encode({"events": len(self._rows), "first": self._first, **made_by})
        return Slice(self._blocks, self._rows, header + b"\n" + b"".join(self._digests), self._contents)


def keep(rows: Writing, made: Slice) -> None:
    """Add a slice to the archive, and what its events say to the index of it; the session was introduced before."""
    rows.archive(made.blocks, made.events)
    session = made.events[0].session if made.events else -1
    holder = holder_of(rows, session)
    rows.say(
        [said_of(row.session, row.n, holder, event) for row, event in zip(made.events, made.contents, strict=True)]
    )


def manifest_digests(manifest: bytes) -> tuple[int, list[bytes]]:
    """(number of the first event, digests in order) of a manifest. Raises ``ValueError`` when it is damaged."""
    line, _, raw = manifest.partition(b"\n")
    head = json_value(line)
    first, events = head["first"], head["events"]
    if type(first) is not int or not 0 <= first <= MAX_INTEGER:
        raise ValueError("the number of its first event is none")
    if type(events) is not int or len(raw) != 32 * events:
        raise ValueError("its digests are cut")
    return first, [raw[at : at + 32] for at in range(0, len(raw), 32)]


class ArchiveReader:
    """Reads archived events, one decompressed block in memory at a time, or the last few."""

    def __init__(self, rows: Reading, blocks: int = 1) -> None:
        self._rows = rows
        self._most = blocks
        self._blocks: dict[int, bytes] = {}
        """The last blocks that were read, the last of them last."""

    def record(self, row: ArchivedEvent) -> bytes:
        """The bytes of an archived record.

        Raises:
            TrailUnreadable: its block is missing or damaged, or it was erased.
        """
        if is_erased(row):
            raise TrailUnreadable(f"archived event {row.event} was erased")
        data = self._blocks.pop(row.block, None)
        if data is None:
            if len(self._blocks) >= self._most:
                del self._blocks[next(iter(self._blocks))]
            data = unpacked(row.block, self._rows.block(row.block))
        self._blocks[row.block] = data
        return data[row.offset : row.offset + row.length]

    def read(self, row: ArchivedEvent) -> Event:
        """What an archived event says; its ``uid`` is our id of it.

        Raises:
            TrailUnreadable: see ``record``.
        """
        return event_from_record(self.record(row))._replace(uid=row.event)

    def event(self, event: str) -> Event | None:
        """An archived event by id; None where it is not in the archive, or was erased."""
        row = self._rows.event(event)
        return None if row is None or is_erased(row) else event_from_record(self.record(row))

    def session(self, session: int, as_of: int | None = None) -> Iterator[tuple[str, Event]]:
        """``(event id, event)`` of a session as it happened; what was erased is left out. See ``in_order``."""
        for row in self.in_order(session, as_of):
            if not is_erased(row):
                yield row.event, event_from_record(self.record(row))

    def in_order(self, session: int, as_of: int | None = None) -> Iterator[ArchivedEvent]:
        """The events of a session as they happened, whatever order its files were read in; what was erased is among them.

        With ``as_of`` only what had been observed by that entry.

        Files of one session are stretches of it; a stretch keeps its own order, and stretches follow each other by the
        time of their first event.
        """
        stretches = []
        for manifest in manifests(self._rows, session, as_of):
            first, digests = manifest_digests(manifest)
            stop = first + len(digests)
            stretches.append((self._began(session, first, stop), first, stop))
        for _, first, stop in sorted(stretches):
            yield from self._rows.session_events(session, first, stop)

    def _began(self, session: int, first: int, stop: int) -> int:
        rows = self._rows.session_events(session, first, stop)
        times = (event_from_record(self.record(row)).at for row in rows if not is_erased(row))
        return next((at for at in times if at is not None), -1)


def is_erased(row: ArchivedEvent) -> bool:
    """Whether nothing but the place of an archived event is left (ERASE.2)."""
    return row.block < 0


def repacked(whole: bytes, kept: Iterable[tuple[int, int]]) -> tuple[bytes, list[tuple[int, int]]]:
    """A block of nothing but the records at the places ``(offset, length)`` of another's, and their (old, new) offsets."""
    pieces: list[bytes] = []
    moved: list[tuple[int, int]] = []
    size = 0
    for offset, length in sorted(set(kept)):
        pieces.append(whole[offset : offset + length])
        moved.append((offset, size))
        size += length
    return zstandard.ZstdCompressor(level=_LEVEL).compress(b"".join(pieces)), moved


def manifests(rows: Reading, session: int, as_of: int | None = None) -> list[bytes]:
    """The manifests of a session's slices, in the order of their archiving; by a point, where one is given."""
    observed = [touch.seq for touch in rows.touches(session) if touch.kind == EntryKind.OBSERVED]
    observed = [seq for seq in observed if as_of is None or seq <= as_of]
    return [part.body for seq in observed for part in rows.parts(seq) if part.name == "manifest"]


def observed_by(rows: Reading, session: int, as_of: int) -> int:
    """How many events of a session had been observed by a point; they are its first, since they are numbered as they come."""
    counts = (manifest_digests(manifest) for manifest in manifests(rows, session, as_of))
    return max((first + len(digests) for first, digests in counts), default=0)


def commits(row: ArchivedEvent, record: bytes, digest: bytes) -> bool:
    """Whether a record is the one that a manifest's digest stands for."""
    return _digest(row.salt, row.event, record) == digest


def _digest(salt: bytes, event: str, record: bytes) -> bytes:
    """Of an archived event: its id is in it, since a claim's evidence is looked up by id."""
    return sha256(salt + event.encode() + b"\n" + record).digest()


def digests_of(rows: Iterable[bytes]) -> dict[int, bytes]:
    """Digest by event number, over the manifests of one session."""
    found: dict[int, bytes] = {}
    for manifest in rows:
        first, digests = manifest_digests(manifest)
        found.update(enumerate(digests, first))
    return found
