"""Orders what a search found by values that are fixed at the point asked about, so that asking again gives the same (TIME.3).

The weight of a word is its rarity among the claims that had been opened by then; an engine's own BM25 is not used, since
it changes with every later append. Scores are whole millionths.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from tallystick.language.telling import STOP_WORDS, plain_words
from tallystick.model.claim import Derivation, Outcome

METHOD = "coverage-idf/1"
MAX_QUERY_TOKENS = 32

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


def score(found: Mapping[int, set[int]], opened: int, trust: Mapping[int, tuple[str, str]]) -> list[Scored]:
    """Order claims by how much of the query they hold, best first; the newer claim first where scores are equal.

    ``found`` is claim → indexes of query words it holds, over all claims ever opened by the point; ``opened`` how many
    entries there were; ``trust`` the (derivation, outcome) of those that are held at the point, which alone are scored.
    """
    frequency: dict[int, int] = {}
    for hits in found.values():
        for index in hits:
            frequency[index] = frequency.get(index, 0) + 1
    weight = {index: round(1_000_000 * math.log(1 + opened / count)) for index, count in frequency.items()}
    total = sum(weight.values()) or 1
    scored = [
        Scored(
            claim,
            sum(weight[index] for index in found[claim]) * 1_000_000 // total
            + _TRUST.get(derivation, 0)
            + _OUTCOME.get(outcome, 0),
        )
        for claim, (derivation, outcome) in trust.items()
        if claim in found
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
