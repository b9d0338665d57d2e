"""Reading a part only as its entry commits to it: what is shown to anyone is what ``verify`` would read (TRAIL.7)."""

from __future__ import annotations

from tallystick.errors import CanonicalError, TrailUnreadable
from tallystick.log.canonical import entry_from_bytes, part_digest
from tallystick.store.protocol import Reading


def intact_parts(rows: Reading, seq: int) -> dict[str, bytes]:
    """The parts of an entry that have not been erased, each held against the entry's digest of it.

    Raises:
        TrailUnreadable: a part is not what its entry commits to; the message names the entry.
    """
    committed: dict[str, str] = {}
    for row in rows.entries(seq, seq + 1):
        try:
            committed = dict(entry_from_bytes(row.canon).parts)
        except CanonicalError as error:
            raise TrailUnreadable(f"entry {seq} is damaged ({error}); run `tally verify`") from None
    found: dict[str, bytes] = {}
    for part in rows.parts(seq):
        if len(part.salt) != 32 or committed.get(part.name) != part_digest(part.salt, part.body):
            raise TrailUnreadable(
                f"entry {seq}: part {part.name!r} is not what the entry commits to; run `tally verify`"
            )
        found[part.name] = part.body
    return found
