"""Times that people type: instants need a zone, dates keep how exact they are, and what happened twice is flagged."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import BadTime
from tallystick.model.temporal import DAY, END_OF_TIME, START_OF_TIME
from tallystick.trail.instants import iso, parse_instant, parse_valid

LEAST, MOST = -62_135_596_800_000_000, 253_402_300_799_999_999
"""Of the years 1 and 9999."""


@given(st.integers(START_OF_TIME + 1, END_OF_TIME - 1).filter(lambda instant: instant != -1))
def test_there_and_back(instant: int) -> None:
    """TIME.10: an instant that is written out reads as the same microsecond."""
    assert parse_instant(iso(instant)) == (instant, ())
    assert iso(instant).endswith("Z")


@given(st.datetimes(timezones=st.timezones()))
def test_any_offset(moment: datetime) -> None:
    """TIME.10: an instant with an offset is that instant in UTC."""
    utc = moment.astimezone(UTC) if timedelta(days=2) < moment.replace(tzinfo=None) - datetime.min else None
    if utc is None or datetime.max - moment.replace(tzinfo=None) < timedelta(days=2):
        return
    expected = (utc - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    assert parse_instant(moment.isoformat())[0] == expected


@given(st.datetimes())
def test_naive_times_are_refused(moment: datetime) -> None:
    """TIME.10: without a zone nobody can say when that was, and the message says what form is expected."""
    with pytest.raises(BadTime, match="zone"):
        parse_instant(moment.isoformat())


@given(st.text())
def test_any_text(text: str) -> None:
    """TIME.10: whatever is typed is an instant in range, or refused as one line; never anything else."""
    with contextlib.suppress(BadTime):
        instant, _ = parse_instant(text)
        assert LEAST - DAY <= instant <= MOST + DAY
    for bounds in ((text, None), (None, text), (text, text)):
        try:
            valid = parse_valid(*bounds)
        except BadTime:
            continue
        assert valid.intervals[0].start < valid.intervals[0].end


@pytest.mark.parametrize(
    ("text", "utc", "flags"),
    [
        ("2026-03-29 01:59 Europe/Berlin", "2026-03-29T00:59:00Z", ()),
        ("2026-03-29 02:30 Europe/Berlin", "2026-03-29T01:30:00Z", ("nonexistent_local_time",)),
        ("2026-03-29 03:00 Europe/Berlin", "2026-03-29T01:00:00Z", ()),
        ("2026-10-25 01:59 Europe/Berlin", "2026-10-24T23:59:00Z", ()),
        ("2026-10-25 02:30 Europe/Berlin", "2026-10-25T00:30:00Z", ("ambiguous_local_time",)),
        ("2026-10-25 03:00 Europe/Berlin", "2026-10-25T02:00:00Z", ()),
        ("2026-07-01T12:00 America/Argentina/Buenos_Aires", "2026-07-01T15:00:00Z", ()),
        ("2026-10-04 02:15 Australia/Lord_Howe", "2026-10-03T15:45:00Z", ("nonexistent_local_time",)),
    ],
)
def test_local_times(text: str, utc: str, flags: tuple[str, ...]) -> None:
    """TIME.10: a local time is read in its zone; one that happened twice or never is flagged, and no other."""
    instant, found = parse_instant(text)
    assert found == flags
    if not flags or "ambiguous_local_time" in flags:
        assert iso(instant) == utc


@pytest.mark.parametrize(
    "text",
    ["", " ", "now", "2026-02-30T00:00:00Z", "2026-01-01T25:00:00Z", "2026-01-01 00:00 Mars/Base", "2026-01-01T00:00:00+99:00",
     "2026-01-01T00:00Z Europe/Berlin", "2026-01-01 00:00 ../../etc/passwd",
     "2026-01-01 00:00 Europe/..", "٢٠٢٦-01-01T00:00:00Z"],
)  # fmt: skip
def test_what_is_no_instant(text: str) -> None:
    """TIME.10: what is no time is refused, a zone's name is never a path."""
    with pytest.raises(BadTime):
        parse_instant(text)


@pytest.mark.parametrize(
    ("start", "end", "precision", "first", "last"),
    [
        ("2023", "2024", "year", "2023-01-01T00:00:00Z", "2024-01-01T00:00:00Z"),
        ("2023-05", None, "month", "2023-05-01T00:00:00Z", ""),
        ("2023-05-06", None, "day", "2023-05-06T00:00:00Z", ""),
        (None, "2023-05-06", "day", "", "2023-05-06T00:00:00Z"),
        ("2023-05-06T07:08:09Z", None, "second", "2023-05-06T07:08:09Z", ""),
    ],
)
def test_precision(start: str | None, end: str | None, precision: str, first: str, last: str) -> None:
    """TIME.10, 11: a date keeps how exact it was and the words as said; what was not said is unknown, not always."""
    valid = parse_valid(start, end)
    (interval,) = valid.intervals
    assert (valid.precision, iso(interval.start), iso(interval.end)) == (precision, first, last)
    assert (valid.start_known, valid.end_known) == (start is not None, end is not None)
    assert valid.words == " … ".join(filter(None, (start, end)))


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("2024", "2024"),
        ("2024-02", "2024-01"),
        ("2024-01-01T00:00:00Z", "2024-01-01T01:00:00+01:00"),
        ("2024-13", None),
        ("2024-02-30", None),
        ("0000", None),
    ],
)
def test_reversed_and_empty(start: str, end: str | None) -> None:
    """TIME.11: a start that is not before the end is refused, and so is a date that never was."""
    with pytest.raises(BadTime):
        parse_valid(start, end)
