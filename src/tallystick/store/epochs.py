"""Where an instant falls in a log whose ``at`` never goes back within an epoch (TIME.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tallystick.model.temporal import START_OF_TIME


def seq_at(instant: int, epochs: Iterable[tuple[int, int]], size: int, last_at: Callable[[int, int, int], int]) -> int:
    """Seq of the last entry not after ``instant`` in the newest epoch that has one; -1 where none has.

    ``epochs`` is (first seq, its ``at``) of each but the first, in order; ``last_at(instant, start, stop)`` the last entry of a
    stretch that is not after an instant, -1 for none.
    """
    starts = [(0, START_OF_TIME), *epochs]
    stops = [*(seq for seq, _ in starts[1:]), size]
    for (start, at), stop in zip(reversed(starts), reversed(stops), strict=True):
        found = last_at(instant, start, stop) if at <= instant else -1
        if found >= 0:
            return found
    return -1
