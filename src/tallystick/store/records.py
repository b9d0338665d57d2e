"""The bytes of an archived event, and of a block of them: what the archive commits to, and what it is compressed in (EVID.11).

One event is one record: a JSON line of what is known of it, then its text in UTF-8. A block is the records of consecutive events
of a session, one behind the other, compressed; storage, without meaning.
"""

from __future__ import annotations

import json
from typing import Any

import zstandard

from tallystick.errors import TrailUnreadable
from tallystick.model.evidence import Event, EventKind, Locator, Origin, Status

RECORD_FORMAT = 1
LARGEST_BLOCK = 2**31
"""A block that says it is larger is damaged; without this a flipped bit could ask for all the memory there is."""


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


def unpacked(block: int, data: bytes) -> bytes:
    """The records of a block, one behind the other.

    Raises:
        TrailUnreadable: it is damaged.
    """
    try:
        if not 0 <= unpacked_size(data) <= LARGEST_BLOCK:
            raise TrailUnreadable(f"archive block {block} does not say how large it is; run `tally verify`")
        return zstandard.ZstdDecompressor().decompress(data, allow_extra_data=False)
    except zstandard.ZstdError:
        raise TrailUnreadable(f"archive block {block} is damaged; run `tally verify`") from None


def unpacked_size(data: bytes) -> int:
    """Bytes of the records of a block, by its own word, to which ``unpacked`` holds it; -1 where it has none."""
    try:
        return zstandard.frame_content_size(data)
    except zstandard.ZstdError:
        return -1
