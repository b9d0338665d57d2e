"""The index of the archive in PostgreSQL: runs of places by word, and the newest events that hold every word.

A run is one row: a word, and the places (``store.said``) of one block of 65,536 that hold it, ascending, two bytes each. Newest
first is then a walk back over the blocks, in stretches that grow as long as nothing is found.
"""

from __future__ import annotations

import sys
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from tallystick.store.postgres.archive import RUN, Archive
from tallystick.store.said import Place, Said, Sought, is_within, ranges, session_word

BLOCK = 65_536
"""Places that one run can hold; ``queries.sql`` says it too."""
_FEW = 64
"""Sessions up to which they are looked for as words."""
_LONGEST_STRETCH = 4096
_LOOKED_UP = 256

SaidRun = tuple[str, int, bytes]
"""(word, largest place, places)."""


def packed_places(places: Iterable[int]) -> bytes:
    """Places of one block, as a run keeps them."""
    kept = array("H", [place % BLOCK for place in places])
    if sys.byteorder == "big":
        kept.byteswap()
    return kept.tobytes()


def places_in(upto: int, data: bytes) -> list[int]:
    """The places of a run."""
    kept = array("H", data)
    if sys.byteorder == "big":
        kept.byteswap()
    base = upto - upto % BLOCK
    return [base + place for place in kept]


def runs_of(given: Iterable[tuple[int, Said]]) -> list[SaidRun]:
    """The runs of events, which come in order of place."""
    found: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
    for place, said in given:
        for word in said.words:
            found[word, place // BLOCK].append(place)
    return [(word, places[-1], packed_places(places)) for (word, _), places in sorted(found.items())]


class SaidReading(Archive):
    """What ``protocol.Reading`` answers of the index of the archive."""

    def said(self, sought: Sought) -> Iterator[Place]:
        """See ``protocol.Reading``."""
        wanted: list[Sequence[str]] = list(sought.words)
        if sought.sessions is not None and len(sought.sessions) <= _FEW:
            wanted.append([session_word(session) for session in sought.sessions])
        if not wanted or not all(wanted):
            return
        row = self._one("said_bounds")
        if row is None or row[0] is None:
            return
        sets = [self._spelled(forms) for forms in wanted]
        for first, last in ranges(sought):
            yield from self._between(sets, max(first, row[0]), min(last, row[1]), sought)

    def _spelled(self, forms: Iterable[str]) -> frozenset[str]:
        """Words, with every word of the index that begins like one that ends with ``*``."""
        found: set[str] = set()
        for form in forms:
            if form.endswith("*"):
                found.update(
                    row[0] for row in self._ask("said_beginning", first=form[:-1], last=f"{form[:-1]}\U0010ffff")
                )
            else:
                found.add(form)
        return frozenset(found)

    def _between(self, sets: list[frozenset[str]], first: int, last: int, sought: Sought) -> Iterator[Place]:
        length = 1
        stop = last // BLOCK + 1
        while stop * BLOCK > first and last >= first:
            start = max(first // BLOCK, stop - length)
            places = iter(self._holding(sets, start * BLOCK, stop * BLOCK))
            none = True
            while asked := list(islice(places, _LOOKED_UP)):
                for row in self._ask("said_places_among", places=asked).fetchall():
                    place = Place._make(row)
                    if first <= place.place <= last and is_within(place, sought):
                        none = False
                        yield place
            stop, length = start, min(4 * length, _LONGEST_STRETCH) if none else length

    def _holding(self, sets: list[frozenset[str]], start: int, stop: int) -> list[int]:
        """Places that hold a word of each set, newest first."""
        words = sorted(frozenset[str]().union(*sets))
        runs: defaultdict[str, list[tuple[int, bytes]]] = defaultdict(list)
        for word, upto, data in self._ask("said_runs", words=words, start=start, stop=stop).fetchall():
            runs[word].append((upto, data))
        found: set[int] | None = None
        for forms in sorted(sets, key=lambda forms: sum(len(data) for word in forms for _, data in runs.get(word, ()))):
            here = {place for word in forms for upto, data in runs.get(word, ()) for place in places_in(upto, data)}
            found = here if found is None else found & here
            if not found:
                return []
        return sorted(found or (), reverse=True)

    def said_span(self, session: int, stop: int) -> tuple[int, int, int]:
        """See ``protocol.Reading``."""
        count, began, ended = self._one("said_span", session=session, stop=stop) or (0, -1, -1)
        return count, began, ended

    def said_places(self) -> Iterator[Place]:
        """See ``protocol.Reading``."""
        after = -1
        while True:
            rows = self._ask("said_places", after=after, run=RUN).fetchall()
            yield from map(Place._make, rows)
            if len(rows) < RUN:
                return
            after = rows[-1][0]

    def said_words(self) -> Iterator[tuple[str, int, int]]:
        """See ``protocol.Reading``. A word that would not be found where it stands comes with -1 for its session.

        The places of all events are held in memory meanwhile.
        """
        events = {place.place: place[1:3] for place in self.said_places()}
        for word, upto, data in self._said_runs():
            places = places_in(upto, data)
            if max(places, default=-1) != upto:
                yield word, -1, -1
            for place in places:
                yield (word, *events.get(place, (-1, -1)))

    def _said_runs(self) -> Iterator[Any]:
        word, upto = "", -1
        while True:
            rows = self._ask("rows_said", word=word, upto=upto, run=RUN).fetchall()
            yield from rows
            if len(rows) < RUN:
                return
            word, upto = rows[-1][:2]
