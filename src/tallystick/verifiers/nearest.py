"""Finds the passage of a session that a refused quote comes closest to, and says in words what differs (QUOTE.5).

Seed and extend: rare runs of the quote's words are looked up in the session, and only the places that several of them
agree on are aligned. Closeness is shown to people; it never changes a verdict.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ahocorasick_rs import AhoCorasick
from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from tallystick.model.evidence import Event, Origin
from tallystick.verifiers.boundaries import cuts_word
from tallystick.verifiers.folding import Folded, fold

LEAST_LIKENESS = 60.0
"""Percent of characters in common (``rapidfuzz`` partial ratio) below which nothing is near."""
LONGEST_ALIGNED = 1_000
"""Characters of a quote that are aligned; the rest of a longer quote is not looked at."""
_HITS_PER_SEED = 200
_SEEDS_PER_QUOTE = 24
_PLACES_PER_QUOTE = 4
_DIFFERENCES_TOLD = 3


class Nearest(NamedTuple):
    """The passage a refused quote comes closest to."""

    event: str
    start: int
    """Byte offset into the event's UTF-8 text, half-open with ``end``."""
    end: int
    text: str
    """The passage as it stands in the source."""
    differs: str
    """Such as ``'300' where the source has '30'``; at most three differences."""


def nearest_passages(quotes: Mapping[int, str], session: Sequence[Event]) -> dict[int, Nearest]:
    """The nearest passage for each folded quote that has one near enough, under the quote's key. Our own briefing is
    never near anything."""
    shortened = {key: text[:LONGEST_ALIGNED] for key, text in quotes.items() if text}
    places = _places(shortened, session)
    by_event: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for key, starts in places.items():
        for order, start in starts:
            by_event[order].append((key, start))
    best: dict[int, tuple[float, Nearest]] = {}
    for order in sorted(by_event):
        folded = fold(session[order].text)
        for key, start in by_event[order]:
            found = _align(shortened[key], folded, start, session[order].uid)
            if found is not None and (key not in best or found[0] > best[key][0]):
                best[key] = found
    return {key: nearest for key, (_, nearest) in best.items()}


def difference(quote: str, source: str) -> str:
    """What the words of ``quote`` have that those of ``source`` have not, in words; both folded."""
    ours, theirs = quote.split(), source.split()
    told: list[str] = []
    for change in Levenshtein.opcodes(theirs, ours):
        there = " ".join(theirs[change.src_start : change.src_end])
        here = " ".join(ours[change.dest_start : change.dest_end])
        if change.tag == "replace":
            told.append(f"'{here}' where the source has '{there}'")
        elif change.tag == "insert":
            told.append(f"'{here}' is not in the source")
        elif change.tag == "delete":
            told.append(f"'{there}' of the source is left out")
    if len(told) > _DIFFERENCES_TOLD:
        told[_DIFFERENCES_TOLD:] = [f"and {len(told) - _DIFFERENCES_TOLD} more"]
    return "; ".join(told) or "a sign or a list number in front of the same words"


def _places(quotes: Mapping[int, str], session: Sequence[Event]) -> dict[int, list[tuple[int, int]]]:
    """For each quote the few ``(event order, folded offset)`` at which most of its seeds agree that it would begin."""
    seeds: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for key, text in quotes.items():
        for offset, run in _seeds(text):
            seeds[run].append((key, offset))
    if not seeds:
        return {}
    runs = list(seeds)
    hits: list[list[tuple[int, int]]] = [[] for _ in runs]
    automaton = AhoCorasick(runs)
    for order, event in enumerate(session):
        if event.origin is Origin.BRIEFING or not event.text:
            continue
        for n, start, _ in automaton.find_matches_as_indexes(fold(event.text).text, overlapping=True):
            if len(hits[n]) < _HITS_PER_SEED:
                hits[n].append((order, start))
    votes: dict[int, dict[tuple[int, int], float]] = defaultdict(lambda: defaultdict(float))
    for run, found in zip(runs, hits, strict=True):
        for key, offset in seeds[run]:
            stride = max(len(quotes[key]) // 4, 8)
            for order, start in found:
                votes[key][order, (start - offset) // stride * stride] += len(run) / len(found)
    return {key: sorted(of, key=lambda place: (-of[place], place))[:_PLACES_PER_QUOTE] for key, of in votes.items()}


def _seeds(text: str) -> list[tuple[int, str]]:
    """Runs of one to three words of ``text`` with their offsets: all the short ones of a short quote, a spread of
    three-word runs of a long one."""
    words: list[tuple[int, int]] = []
    start = 0
    for word in text.split(" "):
        words.append((start, start + len(word)))
        start += len(word) + 1
    sizes = (3,) if len(words) > 12 else (1, 2)
    found = [
        (words[n][0], text[words[n][0] : words[n + size - 1][1]])
        for size in sizes
        for n in range(len(words) - size + 1)
        if words[n + size - 1][1] - words[n][0] > 2
    ]
    return found[:: -(-len(found) // _SEEDS_PER_QUOTE)] if found else [(0, text)]


def _align(quote: str, folded: Folded, start: int, event: str) -> tuple[float, Nearest] | None:
    slack = len(quote) // 3 + 24
    low, high = max(0, start - slack), min(len(folded.text), start + len(quote) + 2 * slack)
    window = folded.text[low:high]
    aligned = fuzz.partial_ratio_alignment(quote, window, score_cutoff=LEAST_LIKENESS)
    if aligned is None or aligned.dest_start >= aligned.dest_end or len(window) < len(quote) // 2:
        return None
    first, last = _to_word_ends(folded.text, low + aligned.dest_start, low + aligned.dest_end)
    if first >= last:
        return None
    passage = folded.text[first:last]
    score = fuzz.ratio(quote, passage)
    chars = folded.char_span(first, last)
    begin, end = folded.byte_span(first, last)
    return score, Nearest(event, begin, end, folded.source[chars[0] : chars[1]], difference(quote, passage))


def _to_word_ends(text: str, first: int, last: int) -> tuple[int, int]:
    """The range widened to the words and numbers that its ends cut, by a few dozen characters at most."""
    for _ in range(48):
        if not cuts_word(text, first):
            break
        first -= 1
    for _ in range(48):
        if not cuts_word(text, last):
            break
        last += 1
    while first < last and text[first] == " ":
        first += 1
    while first < last and text[last - 1] == " ":
        last -= 1
    return first, last
