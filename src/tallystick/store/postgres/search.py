"""The search index: runs of claims by word, and the newest claims that hold every word.

A run is one row: a holder, a word, and the claims of one block of 4096 seqs that hold it, ascending, two bytes each. Newest first
is then a walk along the key from the point backwards, in stretches of claims that grow as long as too little is found.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Any

from tallystick.store.words import words

BLOCK = 4096
"""Seqs whose claims one run can hold; ``queries.sql`` says it too."""
FIRST_STRETCH = 4 * BLOCK
_LARGEST_STRETCH = 256 * BLOCK
_MOST_KNOWN = 20_000_000
"""Claims, each as often as there are words, that a reader keeps in memory between questions."""
_LOOKED_INTO = 16
"""Claims in a run for each that is looked for, up to which it is quicker to make a set of them."""
_LONGEST_WORD, _BEGINNING = 64, 32

Run = tuple[int, str, int, bytes]
"""(holder's number, word, largest claim, claims)."""


def word_of_kind(kind: str) -> str:
    """A kind as a word among those of the texts, none of which has an equals sign."""
    return _short(f"={kind}")


def words_of(text: str, kind: str) -> set[str]:
    """What a claim is found by."""
    return {word_of_kind(kind), *map(_short, words(text))}


def sought(word: str) -> str:
    """A word that is looked for, as the index has it."""
    return _short(word)


def _short(word: str) -> str:
    """An index has no room for a word of any length: of a longer one its beginning, and a digest of it."""
    if len(word) <= _LONGEST_WORD:
        return word
    return f"{word[:_BEGINNING]}={blake2b(word.encode('utf-8', 'surrogatepass'), digest_size=16).hexdigest()}"


def packed_claims(claims: Iterable[int]) -> bytes:
    """Claims of one block, as a run keeps them."""
    places = array("H", [claim % BLOCK for claim in claims])
    if sys.byteorder == "big":
        places.byteswap()
    return places.tobytes()


def claims_in(upto: int, data: bytes) -> list[int]:
    """The claims of a run."""
    base = upto - upto % BLOCK
    return [base + place for place in _places(data)]


def _places(data: bytes) -> array[int]:
    places = array("H", data)
    if sys.byteorder == "big":
        places.byteswap()
    return places


class Pending:
    """Claims on their way into the index, gathered so that a run holds many."""

    def __init__(self) -> None:
        self._claims: dict[tuple[int, int], dict[str, list[int]]] = {}
        self.size = 0

    def add(self, claim: int, holder: int, found_by: Collection[str]) -> None:
        """A claim is added after every one before it."""
        runs = self._claims.setdefault((holder, claim // BLOCK), defaultdict(list))
        for word in found_by:
            runs[word].append(claim)
        self.size += 1

    def taken(self) -> list[Run]:
        """The runs of what was gathered, which begins anew."""
        gathered, self._claims, self.size = self._claims, {}, 0
        return [
            (holder, word, claims[-1], packed_claims(claims))
            for (holder, _), runs in sorted(gathered.items())
            for word, claims in sorted(runs.items())
        ]


Found = tuple[str, int, bytes]
"""(word, largest claim, claims): a run, whoever's it is."""
Fetch = Callable[[tuple[int, ...], Sequence[str] | None, int, int], list[Found]]
"""Runs of these holders and words (None: of every kind's) with ``start <= upto < stop``."""
_Stretch = tuple[tuple[int, ...], int, int]
"""(holders, start, stop)."""
_Runs = dict[int, list["array[int]"]]
"""By block, the runs of a word: places in the block, ascending."""


class Index:
    """The search index as a reader sees it. What one question fetched is there for the next: a recall asks for every word
    alone, and then for several of them together."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
        self._known: dict[tuple[_Stretch, str], _Runs] = {}
        self._size = 0

    def newest(
        self,
        holders: tuple[int, ...],
        tokens: Sequence[Sequence[str]],
        kinds: Sequence[str] | None,
        as_of: int,
        limit: int,
    ) -> list[int]:
        """See ``protocol.Reading.newest``."""
        wanted = [frozenset(map(sought, forms)) for forms in tokens]
        if kinds is not None:
            wanted.append(frozenset(map(word_of_kind, kinds)))
        if not all(wanted) or limit <= 0:
            return []
        found: list[int] = []
        for start, stop in _stretches(as_of):
            here = self._every(wanted, (holders, start, stop))
            found += sorted((claim for claim in here if claim <= as_of), reverse=True)
            if len(found) >= limit:
                break
        return found[:limit]

    def _every(self, wanted: list[frozenset[str]], stretch: _Stretch) -> set[int]:
        """The claims of a stretch that are found by one word of each set."""
        if not wanted:
            return {
                claim
                for _, upto, data in self._fetch(stretch[0], None, *stretch[1:])
                for claim in claims_in(upto, data)
            }
        self._learn({word for forms in wanted for word in forms}, stretch)
        lists = [_either([self._known[stretch, word] for word in forms]) for forms in wanted]
        lists.sort(key=_size)
        found = {block: set[int]().union(*runs) for block, runs in lists[0].items()}
        for each in lists[1:]:
            found = {block: left for block, places in found.items() if (left := _among(places, each.get(block, ())))}
        return {block * BLOCK + place for block, places in found.items() for place in places}

    def _learn(self, words_: set[str], stretch: _Stretch) -> None:
        if self._size > _MOST_KNOWN:
            self._known, self._size = {}, 0
        new = sorted(word for word in words_ if (stretch, word) not in self._known)
        if not new:
            return
        self._known.update({(stretch, word): {} for word in new})
        for word, upto, data in self._fetch(stretch[0], new, *stretch[1:]):
            self._known[stretch, word].setdefault(upto // BLOCK, []).append(_places(data))
            self._size += len(data) // 2


def _either(lists: list[_Runs]) -> _Runs:
    """The runs of several words."""
    if len(lists) == 1:
        return lists[0]
    found: _Runs = defaultdict(list)
    for blocks in lists:
        for block, runs in blocks.items():
            found[block] += runs
    return found


def _size(blocks: _Runs) -> int:
    return sum(len(run) for runs in blocks.values() for run in runs)


def _among(places: set[int], runs: Sequence[array[int]]) -> set[int]:
    """Those of ``places`` that are in one of the runs. A long run is looked into, for few, and not taken apart."""
    if sum(map(len, runs)) <= _LOOKED_INTO * len(places):
        return places.intersection(*[set[int]().union(*runs)])
    return {place for place in places if any(_holds(run, place) for run in runs)}


def _holds(run: array[int], place: int) -> bool:
    at = bisect_left(run, place)
    return at < len(run) and run[at] == place


def _stretches(as_of: int) -> Iterator[tuple[int, int]]:
    """From the block of ``as_of`` back to the first, [start, stop) in whole blocks."""
    stop, length = (as_of // BLOCK + 1) * BLOCK, FIRST_STRETCH
    while stop > 0:
        start = max(0, stop - length)
        yield start, stop
        stop, length = start, min(4 * length, _LARGEST_STRETCH)


def without(runs: Iterable[tuple[str, int, bytes]], claim: int) -> Iterator[tuple[str, int, list[int]]]:
    """(word, key as it is, claims that stay) of each of the runs that holds a claim."""
    for word, upto, data in runs:
        claims = claims_in(upto, data)
        if claim in claims:
            yield word, upto, [each for each in claims if each != claim]


def with_claim(runs: Iterable[tuple[str, int, bytes]], claim: int) -> tuple[int | None, list[int]]:
    """(key of the run that a claim belongs into, None where there is none; its claims then). The runs of one word do not run into
    each other, and each is ascending."""
    for _, upto, data in runs:
        return upto, sorted({*claims_in(upto, data), claim})
    return None, [claim]


def run_of(holder: int, word: str, claims: list[int]) -> Run:
    """A run of claims of one block."""
    return holder, word, max(claims), packed_claims(claims)


def mark(holder: int, word: str, claim: int) -> int:
    """A number by which two indexes are compared: sums of it over a block are equal where the block holds the same."""
    return hash((holder, word, claim)) & (2**61 - 1)


def marks(runs: Iterable[Any]) -> dict[int, int]:
    """Sum of marks by block, of the rows of an index."""
    found: dict[int, int] = defaultdict(int)
    for holder, word, upto, data in runs:
        claims = claims_in(upto, data)
        if claims != sorted(claims) or claims[-1:] != [upto]:
            found[upto // BLOCK] += 1  # As good as missing: what is not in order is not found.
        for claim in claims:
            found[claim // BLOCK] += mark(holder, word, claim)
    return found
