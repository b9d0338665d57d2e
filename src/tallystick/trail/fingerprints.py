"""Whether two runs over the same rows saw the same, in memory that does not grow with the log.

Every row of the views is due to one entry, and that it ended, to a later one: a row of its own. For each run of ``BUCKET``
entries the keyed digests of their rows are added up, so the order in which rows come does not matter. The key is random and of
this run: nobody can make rows ready whose sums would agree.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from typing import Any

import msgspec

from tallystick.beliefs import ClaimRow, Closing, Effects, Ending, Epoch, Link, Name, Touch, VerdictRow, Version
from tallystick.model.temporal import END_OF_TIME

BUCKET = 1024
"""Entries whose rows are added up together."""

Tagged = tuple[int, str, tuple[Any, ...]]
"""(seq of the entry that a row is due to, its view, what it says)."""

_encode = msgspec.msgpack.Encoder().encode


class Sums:
    """Sums of the digests of rows, by view and bucket."""

    def __init__(self, key: bytes) -> None:
        self.key = key
        self.sums: dict[tuple[str, int], int] = defaultdict(int)

    def add(self, rows: Iterable[Tagged]) -> None:
        """Take rows in."""
        key, sums = self.key, self.sums
        for seq, view, row in rows:
            digest = blake2b(_encode(row), digest_size=16, key=key).digest()
            sums[view, seq // BUCKET] += int.from_bytes(digest, "big")

    def merge(self, other: dict[tuple[str, int], int]) -> None:
        """Take in what another run has added up."""
        for place, value in other.items():
            self.sums[place] += value

    def differ(self, other: Sums) -> dict[str, int]:
        """View → the first bucket in which the two saw different rows."""
        apart = [place for place in {*self.sums, *other.sums} if self.sums[place] != other.sums[place]]
        return {view: min(bucket for each, bucket in apart if each == view) for view in {view for view, _ in apart}}


def of_effects(effects: Effects, made: Callable[[int], Iterable[Link | Name]]) -> Iterator[Tagged]:
    """What the fold says, row by row; ``made`` answers as ``protocol.Reading.made`` of the rows that are kept.

    An ending is of everything that an entry made and that was open until then, each a row of its own: what it made is kept as
    ``made`` says, or those rows differ too.
    """
    row: Any
    for row in effects:
        kind = type(row)
        if kind is Version:
            claim, tx_from, tx_to, valid = row
            yield tx_from, "version", (claim, tx_from, valid)
            if tx_to != END_OF_TIME:
                yield tx_to, "version", (claim, tx_to)
        elif kind is Closing:
            yield row[1], "version", (row[0], row[1])
        elif kind is ClaimRow:
            yield row[0], "claim", row
        elif kind is VerdictRow:
            yield row[2], "verdict", row
        elif kind is Touch:
            yield row[1], "touch", row
        elif kind is Link:
            yield row[0], "link", row[:-1]
        elif kind is Name:
            yield row[0], "name", row[:-1]
        elif kind is Epoch:
            yield row[1], "epoch", row[1:]
        elif kind is Ending:
            for ended in made(row[0]):
                if ended.tx_to >= row[1]:
                    yield _ending("name" if type(ended) is Name else "link", ended, row[1])


def of_view(
    view: str, rows: Iterable[tuple[Any, ...]], size: int, beyond: Callable[[int], None] = lambda _: None
) -> Iterator[Tagged]:
    """What a store keeps of one view, row by row, as it was when the log had ``size`` entries.

    ``beyond`` is told the seqs of later entries that rows are due to.
    """
    for row in rows:
        if view == "version":
            claim, tx_from, tx_to, valid = row
            if tx_from < size:
                yield tx_from, view, (claim, tx_from, valid)
            if tx_to <= tx_from:  # No entry makes such a one.
                yield tx_from, view, (claim, tx_from, tx_to)
            elif tx_to < size:
                yield tx_to, view, (claim, tx_to)
            if tx_from >= size or (tx_to >= size and tx_to != END_OF_TIME):
                beyond(tx_from if tx_to == END_OF_TIME else max(tx_from, tx_to))
            continue
        seq = row[_SEQ[view]]
        if seq >= size:
            beyond(seq)
            continue
        if view in ("link", "name"):
            tx_to = row[-1]
            if tx_to < size:
                yield _ending(view, row, tx_to)
            elif tx_to != END_OF_TIME:
                beyond(tx_to)
            row = row[:-1]
        yield seq, view, row[1:] if view == "epoch" else row


def _ending(view: str, row: tuple[Any, ...], tx_to: int) -> Tagged:
    """That a link or name ends at an entry; an end before its beginning, which no entry makes, stands with the beginning."""
    return max(row[0], tx_to), "ending", (view, *row[: _KEY[view]], tx_to)


_KEY = {"link": 4, "name": 2}
"""Columns of a row's key, of the views whose rows can end."""


_SEQ = {"claim": 0, "verdict": 2, "touch": 1, "link": 0, "name": 0, "epoch": 1}
"""Place in a row of the seq of the entry that it is due to."""


def first_difference(folded: Iterable[Tagged], kept: Iterable[Tagged]) -> int | None:
    """The smallest seq that two sets of rows differ about; None where they are the same."""
    count: dict[Tagged, int] = defaultdict(int)
    for row in folded:
        count[_hashable(row)] += 1
    for row in kept:
        count[_hashable(row)] -= 1
    return min((row[0] for row, times in count.items() if times), default=None)


def _hashable(row: Tagged) -> Tagged:
    return row[0], row[1], tuple(tuple(each) if isinstance(each, list) else each for each in row[2])
