"""Where a kept view and the one folded anew part ways, and which entry that is about (TRAIL.7)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Row = tuple[Any, ...]

_KEY_LENGTH = {"claim": 1, "version": 2, "verdict": 3, "touch": 2, "link": 4, "name": 2, "epoch": 1}
_SEQ = {"version": 1, "verdict": 2, "touch": 1, "epoch": 1}
"""Place of the seq of the entry that made the row; the first unless it is said here."""
_TX_TO = 2


def first_difference(view: str, folded: Iterator[Row], kept: Iterator[Row]) -> int | None:
    """The smallest seq that the rows differ about; None where they are the same. Both come in order of their key."""
    return min(_differences(view, folded, kept), default=None)


def _differences(view: str, folded: Iterator[Row], kept: Iterator[Row]) -> Iterator[int]:
    length = _KEY_LENGTH[view]
    ours, theirs = next(folded, None), next(kept, None)
    while ours is not None or theirs is not None:
        if ours == theirs:
            ours, theirs = next(folded, None), next(kept, None)
        elif theirs is None or (ours is not None and ours[:length] < theirs[:length]):
            yield _seq_of(view, ours or ())
            ours = next(folded, None)
        elif ours is None or theirs[:length] < ours[:length]:
            yield _seq_of(view, theirs)
            theirs = next(kept, None)
        else:
            closed_otherwise = view == "version" and ours[_TX_TO] != theirs[_TX_TO]
            yield min(ours[_TX_TO], theirs[_TX_TO]) if closed_otherwise else _seq_of(view, ours)
            ours, theirs = next(folded, None), next(kept, None)


def _seq_of(view: str, row: Row) -> int:
    return int(row[_SEQ.get(view, 0)])
