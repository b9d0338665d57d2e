"""The index of the archive against the archive, in memory that grows with the number of sessions alone (TRAIL.7).

Of each word of each event a number is made that nobody foresees, and both sides are added up by session: sums are equal where
the words are. A place counts like a word, and one that a search would not look at counts as missing.
"""

from __future__ import annotations

from collections import Counter

from tallystick.store.protocol import Reading
from tallystick.store.said import Said, may_stand_at


class SaidSums:
    """What is due less what is kept, by session."""

    def __init__(self) -> None:
        self._left: Counter[int] = Counter()

    def due(self, said: Said) -> None:
        """Take an event that is in the archive."""
        session, n, at, words = said
        self._left[session] += sum([hash((word, session, n)) for word in words]) + hash((at, session, n))

    def kept(self, rows: Reading) -> None:
        """Take all that is in the index."""
        left = self._left
        for place, session, n, at in rows.said_places():
            if may_stand_at(place, at):
                left[session] -= hash((at, session, n))
        for posting in rows.said_words():
            left[posting[1]] -= hash(posting)

    def apart(self) -> list[int]:
        """The sessions whose sums differ, in order; -1 stands for none that is known."""
        return sorted({-1 if session is None else session for session, left in self._left.items() if left})
