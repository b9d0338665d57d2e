"""Instants and valid time: whole microseconds UTC, half-open intervals, and what was not known (TIME.1, 10, 11).

An instant is an ``int`` of microseconds since 1970-01-01T00:00:00Z. Floats never stand for time.
"""

from __future__ import annotations

from typing import NamedTuple

Instant = int
"""Microseconds since the Unix epoch, UTC."""

MICROSECOND = 1
SECOND = 1_000_000
DAY = 86_400 * SECOND

START_OF_TIME: Instant = -(2**53 - 1)
"""Stands for "no lower bound" in an interval; the smallest integer that canonical JSON may hold (TRAIL.2)."""
END_OF_TIME: Instant = 2**53 - 1
"""Stands for "no upper bound"; also the ``tx_to`` of what is still open."""


class Interval(NamedTuple):
    """Half-open ``[start, end)`` in microseconds UTC; ``start < end`` always holds (made by ``valid_time``)."""

    start: Instant
    end: Instant


class ValidTime(NamedTuple):
    """When a claim holds in the world: disjoint intervals in order, how exact they are, and the words as said.

    ``start_known`` is false where nothing was said about the beginning: that is not the same as "since always"
    (TIME.11). ``precision`` is the coarsest unit in which the bounds were given.
    """

    intervals: tuple[Interval, ...] = (Interval(START_OF_TIME, END_OF_TIME),)
    start_known: bool = False
    end_known: bool = False
    precision: str = "unknown"
    """``microsecond`` | ``second`` | ``minute`` | ``hour`` | ``day`` | ``month`` | ``year`` | ``unknown``"""
    words: str = ""
    flags: tuple[str, ...] = ()
    """``ambiguous_local_time`` | ``nonexistent_local_time``"""
    zone: str = ""
    """IANA name of the zone in which bare dates were read; empty for UTC."""


UNKNOWN_VALID_TIME = ValidTime()
