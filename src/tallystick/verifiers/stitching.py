"""Recognises a quote that was put together: pieces joined by an ellipsis, or the end of one event and the start of another.

A stitched quote is never verbatim (QUOTE.3); its pieces are shown so that a reader sees what was left out.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tallystick.model.evidence import Event, Origin
from tallystick.verifiers.boundaries import cuts_word
from tallystick.verifiers.folding import fold

PIECE_WORDS = 2
"""Words that a piece must have; one word stands anywhere."""
LONGEST_JOINED = 400
"""Words of a quote that is tried at every place for a join of two events."""

_ELLIPSIS = re.compile(r" ?(?:\[ ?(?:\.\.\.|…) ?\]|\( ?(?:\.\.\.|…) ?\)|\.\.\.\.*+|…) ?")

_LETTERS = re.compile(r"[^\W_]+")

Stretch = tuple[int, int, int, str]
"""Order of an event, start and end byte, and the event's uid."""


class QuoteSpan(NamedTuple):
    """Where words stand."""

    event: str
    """The event's ``uid``."""
    start: int
    """Byte offset into the event's UTF-8 text, half-open with ``end``."""
    end: int


class _Join(NamedTuple):
    quote: int
    at: int
    """Offset in the folded quote of the space at which it would be joined."""


def pieces_of(text: str) -> tuple[str, ...]:
    """What stands between the ellipses of a folded quote; empty when it has none, or a piece of a single word."""
    if "..." not in text and "…" not in text:
        return ()
    pieces = tuple(piece for piece in _ELLIPSIS.split(text) if piece)
    return () if any(piece.count(" ") + 1 < PIECE_WORDS for piece in pieces) else pieces


def pieces_in_order(pieces: Sequence[Sequence[Stretch]]) -> tuple[QuoteSpan, ...]:
    """One place for each piece, each after the one before, as early as can be; empty when there is no such choice.

    ``pieces`` holds for each piece its places in order."""
    chain: list[QuoteSpan] = []
    last: tuple[int, int] = (-1, 0)
    for places in pieces:
        n = bisect_left(places, last, key=lambda place: place[:2])
        if n == len(places):
            return ()
        order, start, end, event = places[n]
        chain.append(QuoteSpan(event, start, end))
        last = (order, end)
    return tuple(chain)


def joined_across_events(quotes: Mapping[int, str], session: Sequence[Event]) -> dict[int, tuple[QuoteSpan, ...]]:
    """Those of the folded ``quotes`` that are the end of one event followed by the start of a later one, with the two
    spans. Each piece has two words or is all its event says."""
    if not quotes:
        return {}
    tails: dict[str, list[_Join]] = defaultdict(list)
    heads: dict[str, list[_Join]] = defaultdict(list)
    reach = 0
    for key, text in quotes.items():
        if not 1 <= text.count(" ") < LONGEST_JOINED:
            continue
        reach = max(reach, 2 * len(text) + 256)
        for space in re.finditer(" ", text):
            join = _Join(key, space.start())
            tails[_last_word(text[max(0, join.at - 80) : join.at])].append(join)
            heads[_first_word(text[join.at + 1 : join.at + 81])].append(join)
    ended: dict[_Join, QuoteSpan] = {}
    joined: dict[int, tuple[QuoteSpan, ...]] = {}
    for event in session:
        if event.origin is Origin.BRIEFING or not event.text:
            continue
        starting = [j for j in heads.get(_first_word(event.text[:80]), ()) if j in ended and j.quote not in joined]
        for join, span in _at_start(starting, quotes, event, reach):
            joined.setdefault(join.quote, (ended[join], span))
        ending = [j for j in tails.get(_last_word(event.text[-80:]), ()) if j.quote not in joined]
        ended.update(_at_end(ending, quotes, event, reach))
    return joined


def _first_word(text: str) -> str:
    found = _LETTERS.search(text)
    return found[0] if found else ""


def _last_word(text: str) -> str:
    found = _LETTERS.findall(text)
    return found[-1] if found else ""


def _at_start(joins: list[_Join], quotes: Mapping[int, str], event: Event, reach: int) -> list[tuple[_Join, QuoteSpan]]:
    if not joins:
        return []
    head = fold(event.text[:reach])
    found = []
    for join in joins:
        piece = quotes[join.quote][join.at + 1 :]
        whole = len(event.text) <= reach and piece == head.text
        if head.text.startswith(piece) and not cuts_word(head.text, len(piece)) and (whole or " " in piece):
            found.append((join, QuoteSpan(event.uid, *head.byte_span(0, len(piece)))))
    return found


def _at_end(joins: list[_Join], quotes: Mapping[int, str], event: Event, reach: int) -> list[tuple[_Join, QuoteSpan]]:
    if not joins:
        return []
    skipped = max(0, len(event.text) - reach)
    tail = fold(event.text[skipped:])
    before = len(event.text[:skipped].encode("utf-8", "replace"))
    found = []
    for join in joins:
        piece = quotes[join.quote][: join.at]
        at = len(tail.text) - len(piece)
        whole = not skipped and piece == tail.text
        if tail.text.endswith(piece) and not cuts_word(tail.text, at) and (whole or " " in piece):
            start, end = tail.byte_span(at, len(tail.text))
            found.append((join, QuoteSpan(event.uid, before + start, before + end)))
    return found
