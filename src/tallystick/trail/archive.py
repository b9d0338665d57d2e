"""The archive: every event's redacted text, kept compressed and committed to, so that evidence outlives its source (EVID.11).

One event is one record: a JSON line of what is known of it, then its text in UTF-8. The ``observed`` entry of a slice
commits to ``SHA-256(salt ‖ record)`` of each of its records, so each can be erased alone. Blocks that pack records for
compression are storage and mean nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

import zstandard

from tallystick.errors import TrailUnreadable
from tallystick.log.canonical import encode
from tallystick.model.evidence import Event, EventKind, Locator, Origin, Status
from tallystick.store.protocol import ArchivedEvent, BlockRow, Reading

RECORD_FORMAT = 1
BLOCK_BYTES = 512 * 1024
"""Records are packed until a block is at least this large before compression; one record is never split."""
_LEVEL = 3


class Slice(NamedTuple):
    """A run of events ready to be kept: rows for the store and the manifest that an ``observed`` entry commits to."""

    blocks: list[BlockRow]
    events: list[ArchivedEvent]
    manifest: bytes


def event_id(harness: str, session: str, thread: str, uid: str, *, global_uids: bool) -> str:
    """``e`` and 16 hex digits: a digest of the record's own ids, the same on every machine (EVID.1).

    Where the harness's record ids are unique everywhere, the session is left out, so that a fork's copy is the same
    event (EVID.5).
    """
    where = "" if global_uids else f"{session}\0{thread}"
    return "e" + sha256(f"{harness}\0{where}\0{uid}".encode("utf-8", "replace")).hexdigest()[:16]


def record_bytes(event: Event) -> bytes:
    """The archived form of an event."""
    head = [RECORD_FORMAT, *event[:3], list(event.locator), *event[5:]]
    line = json.dumps(head, ensure_ascii=False, separators=(",", ":"))
    return f"{line}\n{event.text}".encode("utf-8", "replace")


def event_from_record(record: bytes) -> Event:
    """Inverse of ``record_bytes``.

    Raises:
        TrailUnreadable: the record is damaged or of a newer format.
    """
    line, _, text = record.partition(b"\n")
    try:
        head: list[Any] = json.loads(line)
        if head[0] != RECORD_FORMAT:
            raise TrailUnreadable(f"an archived event of format {head[0]}; upgrade tallystick")
        return Event(
            head[1],
            EventKind(head[2]),
            Origin(head[3]),
            text.decode("utf-8"),
            Locator(*head[4]),
            head[5],
            head[6],
            head[7],
            head[8],
            Status(head[9]),
            head[10],
            head[11],
            tuple(head[12]),
            tuple(head[13]),
        )
    except (ValueError, IndexError, TypeError) as error:
        raise TrailUnreadable(f"an archived event is damaged ({error}); run `tally verify`") from None


def pack(
    events: Sequence[tuple[str, Event]],
    *,
    session: int,
    first: int,
    block: int,
    salts: Callable[[], bytes],
    made_by: dict[str, str],
) -> Slice:
    """Pack ``(event id, event)`` pairs, numbered from ``first`` in their session, into blocks numbered from ``block``.

    ``made_by`` names the versions of the reader and the redactor and goes into the manifest.
    """
    compressor = zstandard.ZstdCompressor(level=_LEVEL)
    rows: list[ArchivedEvent] = []
    blocks: list[BlockRow] = []
    digests: list[bytes] = []
    waiting: list[bytes] = []
    size = 0
    for n, (event, content) in enumerate(events, first):
        record, salt = record_bytes(content), salts()
        digests.append(sha256(salt + record).digest())
        rows.append(ArchivedEvent(session, n, event, block + len(blocks), size, len(record), salt))
        waiting.append(record)
        size += len(record)
        if size >= BLOCK_BYTES:
            blocks.append(BlockRow(block + len(blocks), session, compressor.compress(b"".join(waiting))))
            waiting, size = [], 0
    if waiting:
        blocks.append(BlockRow(block + len(blocks), session, compressor.compress(b"".join(waiting))))
    header = encode({"events": len(rows), "first": first, **made_by})
    return Slice(blocks, rows, header + b"\n" + b"".join(digests))


def manifest_digests(manifest: bytes) -> tuple[int, list[bytes]]:
    """(number of the first event, digests in order) of a manifest. Raises ``ValueError`` when it is damaged."""
    line, _, raw = manifest.partition(b"\n")
    head = json.loads(line)
    if len(raw) != 32 * head["events"]:
        raise ValueError("its digests are cut")
    return head["first"], [raw[at : at + 32] for at in range(0, len(raw), 32)]


class ArchiveReader:
    """Reads archived events, one decompressed block in memory at a time."""

    def __init__(self, rows: Reading) -> None:
        self._rows = rows
        self._block = -1
        self._data = b""

    def record(self, row: ArchivedEvent) -> bytes:
        """The bytes of an archived record.

        Raises:
            TrailUnreadable: its block is missing or damaged.
        """
        if row.block != self._block:
            try:
                self._data = zstandard.ZstdDecompressor().decompress(self._rows.block(row.block))
            except zstandard.ZstdError:
                raise TrailUnreadable(f"archive block {row.block} is damaged; run `tally verify`") from None
            self._block = row.block
        return self._data[row.offset : row.offset + row.length]

    def event(self, event: str) -> Event | None:
        """An archived event by id; None where it is not in the archive."""
        row = self._rows.event(event)
        return event_from_record(self.record(row)) if row else None

    def session(self, session: int) -> Iterator[tuple[str, Event]]:
        """``(event id, event)`` of a session in order."""
        for row in self._rows.session_events(session):
            yield row.event, event_from_record(self.record(row))


def commits(row: ArchivedEvent, record: bytes, digest: bytes) -> bool:
    """Whether a record is the one that a manifest's digest stands for."""
    return sha256(row.salt + record).digest() == digest


def digests_of(rows: Iterable[bytes]) -> dict[int, bytes]:
    """Digest by event number, over the manifests of one session."""
    found: dict[int, bytes] = {}
    for manifest in rows:
        first, digests = manifest_digests(manifest)
        found.update(enumerate(digests, first))
    return found
