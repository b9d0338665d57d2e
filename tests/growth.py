"""How the cost of reading a text grows with its length, on a machine that does other work meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable

TIMES = 10
"""The longer text is this many times the shorter one; what grows with the square costs a hundred times as much."""
NOISE_SECONDS = 0.15
TRIES = 3


def repeated(piece: str, length: int, before: str = "", after: str = "") -> str:
    """``piece`` over and over, about ``length`` characters in all."""
    return before + piece * (length // len(piece)) + after


def assert_linear(read: Callable[[str], object], make: Callable[[int], str], length: int) -> None:
    """Fail where ten times the text costs more than thirty times as much, three times in a row."""
    times = []
    for _ in range(TRIES):
        short, long = (_cpu_seconds(read, make(size)) for size in (length, TIMES * length))
        times.append((short, long))
        if long < 3 * TIMES * short + NOISE_SECONDS:
            return
    raise AssertionError(f"{length} and {TIMES * length} characters took (seconds): {times}; {make(60)!r}")


def _cpu_seconds(read: Callable[[str], object], text: str) -> float:
    begin = time.process_time()
    read(text)
    return time.process_time() - begin
