"""Naming a point of a trail: by seq, by instant, by checkpoint file; anything else is refused with the reason (TIME.2–4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tallystick.errors import BadTime, TrailLocked, UsageError
from tallystick.model.entry import EntryKind, LogName
from tallystick.model.temporal import DAY
from tallystick.store.memory import MemoryStore
from tallystick.store.outside import OutsideFolder
from tallystick.trail.appending import Trail
from tallystick.trail.instants import iso
from tallystick.trail.points import point, root_at

START = 1_775_001_600_000_000
HOUR = 3_600_000_000


class Clock:
    now = START

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def trail(tmp_path: Path, clock: Clock) -> Trail:
    """Five appends, an hour apart, the first of which introduces the actor as entry 0."""
    numbers = iter(range(10**6))

    def entropy(size: int) -> bytes:
        return b"".join(next(numbers).to_bytes(32, "big") for _ in range(size // 32 + 1))[:size]

    made = Trail(MemoryStore(), OutsideFolder(tmp_path / "state", entropy), clock=clock, entropy=entropy)
    for n in range(5):
        clock.now = START + n * HOUR
        with made.writing() as appender:
            appender.add(EntryKind.ASSERTED, {"text": b"x"})
    return made


Ask = Callable[[str | None], int]


@pytest.fixture
def seq(trail: Trail) -> Iterator[Ask]:
    with trail.reading() as rows:
        yield lambda as_of: point(trail, rows, as_of).seq


def test_the_newest(trail: Trail, seq: Ask) -> None:
    """TIME.3: without a point it is the newest entry, and the answer names it."""
    with trail.reading() as rows:
        assert seq(None) == rows.head().size - 1 == 5
        assert point(trail, rows, None).at == START + 4 * HOUR


def test_by_seq(trail: Trail, seq: Ask) -> None:
    """TIME.4: every seq that is there names itself and its time; the next one is refused, naming the newest."""
    with trail.reading() as rows:
        for n in range(6):
            assert point(trail, rows, str(n)) == (n, next(iter(rows.entries(n, n + 1))).at)
    for wrong in ("6", "7", "1" * 30):
        with pytest.raises(UsageError, match="the newest is 5"):
            seq(wrong)


def test_by_instant(seq: Ask) -> None:
    """TIME.1: an instant names the last entry at or before it: exactly at one it is in, a microsecond before it is not."""
    for n in range(1, 5):
        at = START + n * HOUR
        assert [seq(iso(instant)) for instant in (at - 1, at, at + 1) if instant <= START + 4 * HOUR][:2] == [n, n + 1]
    with pytest.raises(BadTime, match="before the trail, which begins at"):
        seq(iso(START - 1))


def test_the_future(trail: Trail, clock: Clock, seq: Ask) -> None:
    """TIME.2: an instant later than now is refused; now itself is not."""
    assert seq(iso(clock.now)) == 5
    with pytest.raises(BadTime, match="later than now"):
        seq(iso(clock.now + 1))


def test_an_instant_after_a_clock_that_was_ahead(trail: Trail, clock: Clock) -> None:
    """TIME.2: after a repaired clock, instants resolve in the newest epoch that covers them."""
    clock.now = START + 20_000 * HOUR
    with trail.writing() as appender:
        appender.add(EntryKind.ASSERTED, {"text": b"ahead"})
    clock.now = START + 5 * HOUR
    with trail.writing() as appender:
        last = appender.add(EntryKind.ASSERTED, {"text": b"repaired"})
    with trail.reading() as rows:
        assert point(trail, rows, iso(clock.now)).seq == last
        assert point(trail, rows, iso(START + 2 * HOUR)).seq == 3
        assert rows.head().epoch == 1


def test_an_answers_own_instant(trail: Trail, clock: Clock, seq: Ask) -> None:
    """TIME.2, 3: the instant of the newest entry is answered where the clock stands behind it; what lies after it is not."""
    at = clock.now
    clock.now -= 5_000_000
    assert seq(None) == seq(iso(at)) == 5
    assert seq(iso(at - 1)) == 4
    with pytest.raises(BadTime, match="later than now"):
        seq(iso(at + 1))
    with trail.writing(), pytest.raises(TrailLocked, match="with --as-of 5, or again"):
        seq(iso(at))  # A write that began now keeps the instant of the newest entry.
    clock.now = at - 2 * DAY
    with pytest.raises(BadTime, match="later than now"):
        seq(iso(at))  # The next write begins an epoch that takes this instant in.


def test_by_checkpoint(trail: Trail, clock: Clock, tmp_path: Path, seq: Ask) -> None:
    """TIME.4: a checkpoint file names the last entry it covers, whatever came since."""
    note = tmp_path / "a.note"
    note.write_bytes(trail.seal())
    with trail.writing() as appender:
        appender.add(EntryKind.ASSERTED, {"text": b"later"})
    with trail.reading() as rows:
        assert point(trail, rows, str(note)).seq == 5
        assert root_at(rows, 6).hex() != root_at(rows, 7).hex()


def test_checkpoints_that_do_not_hold(trail: Trail, tmp_path: Path, seq: Ask) -> None:
    """TIME.4, TRAIL.8: of another log, changed anywhere, cut, or no note at all: refused, and the file is named."""
    good = trail.seal()
    with trail.writing(LogName.ACCESS) as appender:
        appender.add(EntryKind.RECALLED, {"query": b"x"})
    lines = good.splitlines(keepends=True)
    wrong = {
        "access": trail.seal(LogName.ACCESS),
        "size": b"".join([lines[0], b"3\n", *lines[2:]]),
        "root": b"".join([*lines[:2], b"A" * 43 + b"=\n", *lines[3:]]),
        "signature": good[:-10] + (b"A" if good[-10:-9] != b"A" else b"B") + good[-9:],
        "unsigned": b"".join(lines[:4]),
        "cut": good[: len(good) // 2],
        "empty": b"",
        "noise": bytes(range(256)),
    }
    for name, data in wrong.items():
        file = tmp_path / f"{name}.note"
        file.write_bytes(data)
        with pytest.raises(UsageError, match=file.name):
            seq(str(file))


def test_root_at(trail: Trail) -> None:
    """TIME.3: the root of a prefix is that of the log when it had that size."""
    with trail.reading() as rows:
        assert root_at(rows, rows.head().size) == rows.head().root
        assert root_at(rows, 0).hex().startswith("e3b0c442")
