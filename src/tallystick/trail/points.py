"""A point of the trail, as a seq, an instant or a checkpoint file names it (TIME.2–4)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from tallystick.errors import BadTime, ProofError, TrailLocked, TrailUnreadable, UsageError
from tallystick.log.merkle import frontier_at
from tallystick.model.entry import LogName
from tallystick.model.temporal import START_OF_TIME
from tallystick.store.outside import check_signature, key_name, origin
from tallystick.store.protocol import Reading
from tallystick.trail.appending import FAR_AHEAD, Trail

if TYPE_CHECKING:
    from tallystick.log.checkpoint import Checkpoint


class Point(NamedTuple):
    """The point an answer was given at; naming it again gives the same answer (TIME.3)."""

    seq: int
    """Entries 0 … seq count; -1 is the empty log."""
    at: int
    """``at`` of that entry, microseconds UTC."""


def point(trail: Trail, rows: Reading, as_of: str | None, log: LogName = LogName.MEMORY) -> Point:
    """The point that ``as_of`` names; the newest where it is None.

    Raises:
        BadTime: an instant later than now and than the newest entry, naive, or not a time at all.
        TrailLocked: an instant by which entries may still be appended, since somebody is writing.
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
        now, head = trail.clock(), rows.head()
        # A head so far ahead came from a wrong reading: the next write begins an epoch, and does not follow it.
        settled = head.at if head.at - now <= FAR_AHEAD else START_OF_TIME
        if instant > max(now, settled):
            raise BadTime(f"--as-of {as_of} is later than now ({iso(now)}); nothing is believed yet at that time")
        # Of a write that is open the clock was read when it began. It is never before ``settled``, and never at it while the
        # clock goes forward.
        is_settled = instant < settled or instant == settled < now
        if not is_settled and trail.store.written_since(log, head.size):
            by_seq = f"with --as-of {head.size - 1}, or " if head.size else ""
            raise TrailLocked(
                f"--as-of {as_of} is later than what is settled: another process is writing, since when is not known, and what"
                f" it writes may count by then; ask {by_seq}again when it is done"
            )
        seq = rows.seq_at(instant)
        if seq < 0 < size:
            first = next(row.at for row in rows.entries(0, 1))
            raise BadTime(f"--as-of {as_of} is before the trail, which begins at {iso(first)}")
    return Point(seq, next((row.at for row in rows.entries(seq, seq + 1)), START_OF_TIME))


def named_instant(as_of: str | None) -> int | None:
    """The instant that ``as_of`` names, microseconds UTC; None where it names a seq, a checkpoint file, or nothing.

    Raises:
        BadTime: naive, or not a time at all.
    """
    if as_of is None or as_of.isdecimal() or os.path.isfile(as_of):
        return None
    from tallystick.trail.instants import parse_instant

    return parse_instant(as_of)[0]


def _checkpoint_seq(trail: Trail, rows: Reading, as_of: str, log: LogName) -> int:
    from pathlib import Path

    try:
        note = Path(as_of).read_bytes()
    except OSError as error:
        raise UsageError(f"{as_of}: {error.strerror}") from None
    return checkpoint_in(trail, rows, note, as_of, log).size - 1


def checkpoint_in(trail: Trail, rows: Reading, data: bytes, name: str, log: LogName) -> Checkpoint:
    """What a signed checkpoint of this log says; ``name`` is what a message calls it.

    Raises:
        UsageError: it is not of this log, was not signed by this trail's key where that is known, or the log's entries are
            not the ones it was signed over, or are fewer.
    """
    from tallystick.log.checkpoint import parse, verify

    mine = rows.meta("trail")
    try:
        note = parse(data)
        stated = note.checkpoint
        if stated.origin != origin(mine, log):
            raise UsageError(f"{name}: a checkpoint of {stated.origin}, this log is {origin(mine, log)}")
        public = trail.outside.public_key(mine)
        if public is not None:
            verify(note, key_name(mine), public, check_signature(public))
    except ProofError as error:
        raise UsageError(f"{name}: {error}") from None
    there = rows.head().size
    if stated.size > there:
        raise UsageError(f"{name}: a checkpoint of {stated.size} entries, and the log has {there}; run `tally verify`")
    if root_at(rows, stated.size) != stated.root:
        raise UsageError(
            f"{name}: the trail's first {stated.size} entries do not have the checkpoint's root; run `tally verify`"
        )
    return stated


def root_at(rows: Reading, size: int) -> bytes:
    """Root of the tree over the first ``size`` entries, or over all where there are fewer.

    Raises:
        TrailUnreadable: hashes that are kept for it are missing.
    """
    try:
        return frontier_at(min(size, rows.head().size), rows.nodes).root()
    except ProofError as error:
        raise TrailUnreadable(f"the tree of the log: {error}; run `tally verify`") from None
