"""Placing: vectors for the texts of claims that have none yet, so that a search finds what says the same in other words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tallystick.embedders.protocol import Embedder
from tallystick.store.protocol import Reading
from tallystick.store.vectors import Vector
from tallystick.trail import Trail

AT_ONCE = 256
"""Claims that are placed in one transaction; nobody waits while their vectors are made."""
NEAREST_OF = 50_000
"""The newest claims of the holders asked for, among which the nearest are looked for."""
_PAGE = 10_000


class Placed(NamedTuple):
    """What came of it."""

    placed: int
    there: int
    """Claims that had vectors before."""
    model: str


def place_claims(
    trail: Trail, embedder: Embedder, progress: Callable[[int, int], None] = lambda _done, _of: None
) -> Placed:
    """Give every claim with a text that has no vector of this model one, the newest first. ``progress`` is told how many of
    how many are done; stopped at any time, what was placed stays.

    Raises:
        MachineError: the model cannot be run or reached, or the trail cannot be written.
    """
    missing, there = _missing(trail, embedder.name)
    placed = 0
    for start in range(0, len(missing), AT_ONCE):
        placed += place_some(trail, embedder, missing[start : start + AT_ONCE])
        progress(min(start + AT_ONCE, len(missing)), len(missing))
    return Placed(placed, there, embedder.name)


def _missing(trail: Trail, model: str) -> tuple[list[int], int]:
    missing: list[int] = []
    there = 0
    with trail.reading() as rows:
        before = rows.head().size
        while page := rows.vectors(model, before - 1, None, _PAGE):
            missing += [claim for claim, vector in page if not vector]
            there += sum(bool(vector) for _, vector in page)
            before = page[-1][0]
    return missing, there


def place_some(trail: Trail, embedder: Embedder, claims: Sequence[int]) -> int:
    """Place these claims, those whose texts are gone aside; how many were. The model runs before the lock is asked for."""
    with trail.reading() as rows:
        texts = rows.texts(claims)
    if not texts:
        return 0
    vectors = list(zip(texts, embedder.embed(list(texts.values())), strict=True))
    with trail.writing() as appender:
        kept = [(claim, vector) for claim, vector in vectors if appender.rows.text(claim) == texts[claim]]
        appender.rows.place(embedder.name, kept)
    return len(kept)


def placed_or_missing(
    rows: Reading, model: str, as_of: int, holders: tuple[str, ...] | None
) -> tuple[list[Vector], list[int]]:
    """(vectors of the newest claims of these holders at a point, those claims that have none and a text)."""
    found = rows.vectors(model, as_of, holders, NEAREST_OF)
    missing = [claim for claim, vector in found if not vector]
    return [each for each in found if each[1]], [claim for claim in missing if rows.text(claim) is not None]
