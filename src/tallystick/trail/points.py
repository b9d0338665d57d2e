"""A point of the trail, as a seq, an instant or a checkpoint file names it (TIME.2–4)."""

from __future__ import annotations

import os
from typing import NamedTuple

from tallystick.errors import BadTime, ProofError, UsageError
from tallystick.log.merkle import Frontier, leaf_hash
from tallystick.model.entry import LogName
from tallystick.model.temporal import START_OF_TIME
from tallystick.store.outside import check_signature, key_name, origin
from tallystick.store.protocol import Reading
from tallystick.trail.appending import Trail


class Point(NamedTuple):
    """The point an answer was given at; naming it again gives the same answer (TIME.3)."""

    seq: int
    """Entries 0 … seq count; -1 is the empty log."""
    at: int
    """``at`` of that entry, microseconds UTC."""


def point(trail: Trail, rows: Reading, as_of: str | None, log: LogName = LogName.MEMORY) -> Point:
    """The point that ``as_of`` names; the newest where it is None.

    Raises:
        BadTime: an instant later than now, naive, or not a time at all.
        UsageError: a seq that is not there yet, or a checkpoint that is not of this log.
    """
    size = rows.head().size
    if as_of is None:
        seq = size - 1
    elif as_of.isdecimal():
        seq = int(as_of)
        if seq >= size:
            raise UsageError(f"--as-of {seq}: the trail has {size} entries, the newest is {size - 1}")
    elif os.path.isfile(as_of):
        seq = _checkpoint_seq(trail, rows, as_of, log)
    else:
        from tallystick.trail.instants import iso, parse_instant  # Loads datetime, which the newest point does without.

        instant, _ = parse_instant(as_of)
        now = trail.clock()
        if instant > now:
            raise BadTime(f"--as-of {as_of} is later than now ({iso(now)}); nothing is believed yet at that time")
        seq = rows.seq_at(instant)
    return Point(seq, next((row.at for row in rows.entries(seq, seq + 1)), START_OF_TIME))


def _checkpoint_seq(trail: Trail, rows: Reading, as_of: str, log: LogName) -> int:
    from pathlib import Path

    from tallystick.log.checkpoint import parse, verify

    path = Path(as_of)
    mine = rows.meta("trail")
    try:
        note = parse(path.read_bytes())
        if note.checkpoint.origin != origin(mine, log):
            raise UsageError(f"{path}: a checkpoint of {note.checkpoint.origin}, this log is {origin(mine, log)}")
        public = trail.outside.public_key(mine)
        if public is not None:
            verify(note, key_name(mine), public, check_signature(public))
    except (ProofError, OSError) as error:
        raise UsageError(f"{path}: {error}") from None
    size = note.checkpoint.size
    if root_at(rows, size) != note.checkpoint.root:
        raise UsageError(
            f"{path}: the trail's first {size} entries do not have the checkpoint's root; run `tally verify`"
        )
    return size - 1


def root_at(rows: Reading, size: int) -> bytes:
    """Root of the tree over the first ``size`` entries, or over all where there are fewer."""
    frontier = Frontier()
    frontier.extend(leaf_hash(row.canon) for row in rows.entries(0, size))
    return frontier.root()
