"""Reads the times that people type: instants with their zone, and dates that keep how exact they are (TIME.10, 11)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from tallystick.errors import BadTime
from tallystick.model.temporal import END_OF_TIME, START_OF_TIME, Instant, Interval, ValidTime

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

_COARSE = re.compile(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?\Z")
_ZONED = re.compile(r"(\S+[T ]\S+) ([A-Za-z_]+/[A-Za-z_/+-]+)\Z")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_COARSEST_FIRST = ("year", "month", "day", "second")
_FLAGS = {
    "nonexistent_local_time": "a local time that never was, as clocks were put forward: read with the offset from before that",
    "ambiguous_local_time": "a local time that was twice, as clocks were put back: read as the first; an offset says otherwise",
}
EXPECTED = "expected ISO 8601 with a zone, such as 2026-05-01T12:00:00Z or '2026-05-01 12:00 Europe/Berlin'"


def parse_instant(text: str) -> tuple[Instant, tuple[str, ...]]:
    """An instant in microseconds UTC, with flags for a local time that happened twice or never.

    Raises:
        BadTime: not a time, or naive: without a zone nobody can say when that was.
    """
    zoned = _ZONED.match(text.strip())
    try:
        if zoned:
            return _local(datetime.fromisoformat(zoned[1]), _zone(zoned[2]))
        moment = datetime.fromisoformat(text.strip())
    except (ValueError, OverflowError):
        raise BadTime(f"{text!r} is not a time; {EXPECTED}") from None
    if moment.tzinfo is None:
        raise BadTime(f"{text!r} has no zone, so nobody can say when that was; {EXPECTED}")
    return (moment - _EPOCH) // _MICROSECOND, ()


def parse_moment(text: str, zone: str = "") -> Instant:
    """An instant, or where a bare year, month or day begins in ``zone``, which is UTC where it is empty.

    Beyond what a valid time can state it is the first or last instant that one can: nothing begins or ends out there.

    Raises:
        BadTime: see ``parse_instant``; or no such zone.
    """
    return min(max(_bound(text, zone)[0], START_OF_TIME), END_OF_TIME - 1)


def _zone(name: str) -> ZoneInfo:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # 10 ms; hardly anybody types a zone's name

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise BadTime(f"{name!r}: no such time zone; {EXPECTED}") from None


def _local(naive: datetime, zone: ZoneInfo) -> tuple[Instant, tuple[str, ...]]:
    if naive.tzinfo is not None:
        raise BadTime(f"{naive.isoformat()} names a zone twice; {EXPECTED}")
    first, second = naive.replace(tzinfo=zone), naive.replace(tzinfo=zone, fold=1)
    instant = (first - _EPOCH) // _MICROSECOND
    flags: tuple[str, ...] = ()
    if first.utcoffset() != second.utcoffset():
        there = first.astimezone(UTC).astimezone(zone).replace(tzinfo=None)
        flags = ("nonexistent_local_time",) if there != naive else ("ambiguous_local_time",)
    return instant, flags


def parse_valid(start: str | None, end: str | None, zone: str = "") -> ValidTime:
    """Valid time from what was typed: dates keep their precision, and half-open ends mean "until then, not including it".

    Bare dates are read in ``zone``, which is UTC where it is empty.

    Raises:
        BadTime: a naive time, no such zone, or a start that is not before the end.
    """
    first, start_precision, flags = _bound(start, zone) if start else (START_OF_TIME, "", ())
    last, end_precision, more = _bound(end, zone) if end else (END_OF_TIME, "", ())
    for said, bound in ((start, first), (end, last)):
        if said and not START_OF_TIME < bound < END_OF_TIME:
            raise BadTime(f"{said!r} is too far off: a valid time begins and ends in the years 1685 to 2254")
    if first >= last:
        raise BadTime(f"valid from {start} to {end}: the start must come before the end")
    words = " … ".join(filter(None, (start, end)))
    return ValidTime(
        (Interval(first, last),),
        bool(start),
        bool(end),
        min(filter(None, (start_precision, end_precision)), key=_COARSEST_FIRST.index, default="unknown"),
        words,
        (*flags, *more),
        zone if {start_precision, end_precision} - {"", "second"} else "",
    )


def _bound(text: str, zone: str) -> tuple[Instant, str, tuple[str, ...]]:
    """(first microsecond, precision, flags) of a bound; dates are read in a zone, or in UTC where none is named."""
    coarse = _COARSE.match(text.strip())
    if not coarse:
        instant, flags = parse_instant(text)
        return instant, "second", flags
    year, month, day = coarse.groups()
    try:
        begin = datetime(int(year), int(month or 1), int(day or 1))
        instant, flags = (
            _local(begin, _zone(zone)) if zone else ((begin.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND, ())
        )
    except (ValueError, OverflowError):
        raise BadTime(f"{text!r} is not a date; {EXPECTED}") from None
    return instant, "day" if day else "month" if month else "year", flags


def flag_notes(valid: ValidTime) -> list[str]:
    """What the flags of a valid time mean for the one who stated it, a line each, in order."""
    return [f"note: {valid.words}: {_FLAGS[flag]}" for flag in dict.fromkeys(valid.flags)]


def iso(instant: Instant) -> str:
    """ISO 8601 UTC with ``Z``, microseconds only where there are any; empty for "always" and "no record says"."""
    if instant in (START_OF_TIME, END_OF_TIME, -1):
        return ""
    moment = _EPOCH + timedelta(microseconds=instant)
    return moment.isoformat(timespec="microseconds" if instant % 1_000_000 else "seconds").replace("+00:00", "Z")


def periods(valid: Iterable[Interval]) -> list[dict[str, str | None]]:
    """Valid time as people read it: ``from`` (in it) and ``to`` (not in it any more) of each interval, None where it is open."""
    return [{"from": iso(each.start) or None, "to": iso(each.end) or None} for each in valid]
