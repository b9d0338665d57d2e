"""Orders what a search found by values that are fixed at the point asked about, so that asking again gives the same (TIME.3).

The weight of a word is its rarity among what had been said by then; an engine's own BM25 is not used, since it changes with
every later append. Of each word the newest ``EACH`` claims at or before the point are looked at: which those are never changes
any more, and a search costs no more in a trail of millions. A word that more claims hold is as rare as it is among them.
Scores are whole millionths.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from tallystick.language.telling import STOP_WORDS, plain_words
from tallystick.model.claim import Derivation, Outcome

METHOD = "coverage-idf/2"
MAX_QUERY_TOKENS = 32
EACH = 1000
"""Claims that are looked at for one word, and for several common ones together, at first."""
DEEPEST = 64 * EACH
"""Where too few of those are held, up to so many."""
CHECKED = 200
"""Claims whose words are read to see which common words they hold."""
_LEFT_OUT_ONE_BY_ONE = 8
"""Common words up to which those that all but one of them are in are looked for too."""

# Keyed by plain words: a verdict of a newer version, which has none of these, counts for nothing (TRAIL.9).
_TRUST: dict[str, int] = {Derivation.VERBATIM: 50_000}
_OUTCOME: dict[str, int] = {Outcome.WITNESSED: 50_000, Outcome.CONTRADICTED: -200_000, Outcome.STALE_WITNESS: -50_000}


class Scored(NamedTuple):
    """A claim found by a search and its score in millionths."""

    claim: int
    score: int


def query_tokens(query: str) -> list[tuple[str, ...]]:
    """The words of a query that carry meaning, each with the forms it may stand in; stop words only where nothing else is left.

    Any text is a safe query: everything but letters and digits separates words. At most 32 words are taken.
    """
    words = list(dict.fromkeys(plain_words(query)))
    telling = [word for word in words if word not in STOP_WORDS] or words
    return [_forms(word) for word in telling[:MAX_QUERY_TOKENS]]


class Candidates(NamedTuple):
    """What a search found before it is known which of it is held."""

    best: Sequence[int]
    """Claims, best first: those that hold most of the query, the newer one first where they hold as much."""
    coverage: Callable[[int], int]
    """How much of the query one of them holds, in millionths."""
    whole: bool
    """Whether every claim that holds a word of the query is among them: no word was looked for in the newest ones alone."""


def candidates(
    tokens: Sequence[Sequence[str]],
    as_of: int,
    newest: Callable[[Sequence[Sequence[str]]], list[int]],
    words_of: Callable[[Sequence[int]], Mapping[int, frozenset[str]]],
    each: int = EACH,
) -> Candidates:
    """Look for the claims that hold most of a query.

    ``newest`` gives the newest ``each`` claims at or before the point that hold all tokens it is handed, newest first;
    ``words_of`` the words of claims.
    """
    found = [(forms, claims) for forms in tokens if (claims := newest([forms]))]
    weights = [_weight(claims, as_of, each) for _, claims in found]
    total = sum(weights) or 1
    holds: dict[int, int] = {}
    """Claim → the words that it is known to hold, one bit each."""
    for index, (_, claims) in enumerate(found):
        bit = 1 << index
        for claim in claims:
            holds[claim] = holds.get(claim, 0) | bit
    common = {index: claims[-1] for index, (_, claims) in enumerate(found) if len(claims) >= each}
    for together in _together(sorted(common, key=lambda index: (-weights[index], index))):
        bits = sum(1 << index for index in together)
        for claim in newest([found[index][0] for index in together]):
            holds[claim] = holds.get(claim, 0) | bits
    weighed = _Weighed(weights)
    forms = {index: found[index][0] for index in common}
    for claim, bits in _settled_common(holds, common, weighed, forms, words_of).items():
        holds[claim] |= bits
    best = list(_best_first(holds.items(), weighed))
    return Candidates(best, lambda claim: weighed[holds[claim]] * 1_000_000 // total, not common)


class _Weighed(dict[int, int]):
    """Sums of weights by the bits of the words; few sets of words are ever met."""

    def __init__(self, weights: Sequence[int]) -> None:
        super().__init__()
        self._weights = weights

    def __missing__(self, bits: int) -> int:
        self[bits] = sum(weight for index, weight in enumerate(self._weights) if bits >> index & 1)
        return self[bits]


def _best_first(claims: Iterable[tuple[int, int]], weighed: _Weighed) -> Iterator[int]:
    """Claims, each with the bits it is judged by, by their weight; the newer one first where they are equal."""
    alike: defaultdict[int, list[int]] = defaultdict(list)
    for claim, bits in claims:
        alike[bits].append(claim)
    equal: defaultdict[int, list[int]] = defaultdict(list)
    for bits, held in alike.items():
        equal[weighed[bits]] += held
    for weight in sorted(equal, reverse=True):
        yield from sorted(equal[weight], reverse=True)


def _weight(claims: Sequence[int], as_of: int, each: int) -> int:
    """Of a word, from the newest claims that hold it: all of them, or as many as were looked at."""
    looked_through = as_of + 1 if len(claims) < each else as_of + 1 - claims[-1]
    return round(1_000_000 * math.log(1 + looked_through / len(claims)))


def _together(common: Sequence[int]) -> list[tuple[int, ...]]:
    """Sets of common words that claims are looked for which hold all of them: all, the rarest ones, all but one."""
    sets = [tuple(common[:count]) for count in range(len(common), 1, -1)]
    if 2 < len(common) <= _LEFT_OUT_ONE_BY_ONE:
        sets += [tuple(each for each in common if each != left) for left in common]
    return list(dict.fromkeys(tuple(sorted(each)) for each in sets))


def _settled_common(
    holds: Mapping[int, int],
    common: Mapping[int, int],
    weighed: _Weighed,
    forms: Mapping[int, Sequence[str]],
    words_of: Callable[[Sequence[int]], Mapping[int, frozenset[str]]],
) -> dict[int, int]:
    """Which common words older claims hold, as bits: of those that can become best, by reading them.

    ``common`` is word → the oldest claim that was looked at for it; of every newer claim it is known whether it holds it.
    """
    oldest = sorted(common.values())
    # A claim that is older than the oldest that was looked at for a word is unsure of it.
    unsure_from = [sum(1 << index for index, last in common.items() if last > before) for before in (-1, *oldest)]
    unsure = {
        claim: missing for claim, bits in holds.items() if (missing := unsure_from[bisect(oldest, claim)] & ~bits)
    }
    at_best = ((claim, holds[claim] | missing) for claim, missing in unsure.items())
    settled: dict[int, int] = {}
    for claim, words in words_of(list(islice(_best_first(at_best, weighed), CHECKED))).items():
        settled[claim] = sum(
            1 << index for index in common if unsure[claim] >> index & 1 and not words.isdisjoint(forms[index])
        )
    return settled


def score(coverage: Callable[[int], int], trust: Mapping[int, tuple[str, str]]) -> list[Scored]:
    """Order claims by how much of the query they hold and how far they are to be trusted, best first; then the newer first.

    ``trust`` is the (derivation, outcome) of those that are held at the point, which alone are scored.
    """
    scored = [
        Scored(claim, coverage(claim) + _TRUST.get(derivation, 0) + _OUTCOME.get(outcome, 0))
        for claim, (derivation, outcome) in trust.items()
    ]
    return sorted(scored, key=lambda each: (-each.score, -each.claim))


def _forms(word: str) -> tuple[str, ...]:
    """A word and its plain English inflections; digits and short words stand for themselves."""
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return (word,)
    stems = {word}
    for ending, least in (("ies", 5), ("es", 5), ("s", 4), ("ing", 6), ("ed", 5)):
        if word.endswith(ending) and len(word) >= least and not word.endswith("ss"):
            stems.add(word[: -len(ending)] + ("y" if ending == "ies" else ""))
            if ending in ("ing", "ed"):
                stems.add(word[: -len(ending)] + "e")
    forms: set[str] = set()
    for stem in stems:
        base = stem.removesuffix("e")
        forms |= {stem, stem + "s", base + "es", base + "ed", base + "ing"}
        if stem.endswith("y"):
            forms.add(stem[:-1] + "ies")
    return tuple(sorted(forms))


HYBRID = f"{METHOD}+nearness/1+rrf/1"
_RRF_K = 60
"""Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank learning methods", 2009."""


def fused(*rankings: Sequence[int]) -> list[Scored]:
    """Several orders of claims, each best first, as one: the sum of ``1 / (60 + rank)`` in millionths, ranks from 1.

    Where sums are equal, whatever stands higher in the first order that has either; then the newer claim.
    """
    sums: dict[int, int] = {}
    for ranking in rankings:
        for rank, claim in enumerate(ranking, 1):
            sums[claim] = sums.get(claim, 0) + 1_000_000 // (_RRF_K + rank)
    first = {claim: rank for ranking in reversed(rankings) for rank, claim in enumerate(ranking)}
    order = sorted(sums, key=lambda claim: (-sums[claim], first[claim], -claim))
    return [Scored(claim, sums[claim]) for claim in order]
