"""Decides whether the words of a quote really stand in a session, by search alone: no model, no clock, no score (QUOTE.1-6).

A quote is ``verbatim`` when, folded, it stands contiguously inside one event, on word boundaries, not under a negation
in front of it, and not only where our own memory is being repeated. Everything else is ``inferred`` with a reason and,
where there is one, the passage that comes nearest.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from ahocorasick_rs import AhoCorasick, Implementation

from tallystick.model.claim import Derivation
from tallystick.model.evidence import Event, Origin
from tallystick.verifiers.boundaries import cuts_word
from tallystick.verifiers.departure import governing_negation
from tallystick.verifiers.folding import Folded, fold, fold_literally, may_hide_characters
from tallystick.verifiers.nearest import Nearest, nearest_passages
from tallystick.verifiers.stitching import QuoteSpan, joined_across_events, pieces_in_order, pieces_of

__all__ = ["VERIFIER", "Nearest", "QuoteSpan", "QuoteVerdict", "span_reads", "verify_quote", "verify_quotes"]

VERIFIER = "quotation/1"
"""Name and version of the verifier whose verdicts these are."""
SPANS_KEPT = 20
"""Places listed in one verdict."""
ECHO_WORDS = 3
"""A shared passage of fewer words is no sign that one text repeats the other, unless they are equal."""

_RANK = {Origin.USER: 0, Origin.TOOL: 1, Origin.ASSISTANT: 2, Origin.DELEGATED: 3, Origin.HARNESS: 4}
_CONTEXT_BEFORE = 160
_CONTEXT_BOUND = frozenset("*_~`#>+-–—―‑.\\")
"""Characters whose folding depends on what surrounds them; a quote without any is found in folded text or nowhere."""
_MANY_NESTED = 32
_EMPHASIS = ("*", "_", "~", "`")
_FEW = 32
"""As many quotes are first looked for by one word of theirs, so that few events need be folded."""
_PLAIN_RUN = re.compile("[A-Za-z0-9]+")
_PLAIN_RUN_OF_CODE = re.compile("[!#-&(-~]+")
"""What every text that folds to a quote shows as it is, invisible characters apart."""


class QuoteVerdict(NamedTuple):
    """What the session says of one quote."""

    derivation: Derivation
    reason: str
    """``contiguous`` (the only verbatim one), or why not: ``stitched`` (pieces of it stand apart), ``negated`` (a
    negation in front governs it), ``echo`` (only our own memory coming back), ``boundary`` (it cuts through a word or
    number), ``no_match``, ``empty``."""
    spans: tuple[QuoteSpan, ...]
    """Where it stands, a person's words before a tool's before an assistant's, earliest first, at most 20; of a
    stitched quote its pieces in order."""
    nearest: Nearest | None
    """For ``boundary`` and ``no_match``, when asked for."""


class _Place(NamedTuple):
    rank: int
    order: int
    start: int
    end: int
    event: str


class _Needle(NamedTuple):
    """One text to look for."""

    text: str
    markers: tuple[tuple[int, str], ...] = ()
    """Offsets in ``text`` at which a line-leading marker of the quote was dropped, and the marker."""


_NOTHING = _Needle("")


class _Found:
    """Where one needle was seen, sorted by what its standing there is worth."""

    __slots__ = ("_counts", "cut", "echo", "negated", "support")

    def __init__(self) -> None:
        self.support: list[_Place] = []
        self.echo: list[_Place] = []
        self.negated: list[_Place] = []
        self.cut = False
        self._counts: dict[int, int] = {}

    def full(self, rank: int) -> bool:
        """Whether enough places of this rank are known."""
        return self._counts.get(rank, 0) >= SPANS_KEPT

    def add(self, places: list[_Place], place: _Place) -> None:
        """Keep ``place`` in ``places``, which is one of the three lists."""
        places.append(place)
        self._counts[place.rank] = self._counts.get(place.rank, 0) + 1

    def anywhere(self) -> list[_Place]:
        """All places, in the order of the session."""
        return sorted(self.support + self.negated + self.echo, key=lambda p: (p.order, p.start))


def verify_quote(
    quote: str, events: Iterable[Event], *, surfaced: Collection[str] = (), nearest: bool = True
) -> QuoteVerdict:
    """The verdict on one quote against the events of one session, in their order.

    ``surfaced`` is what tallystick itself showed in that session. ``nearest`` asks for the nearest passage of a
    refused quote, which costs a second look at the session.
    """
    return verify_quotes([quote], events, surfaced=surfaced, nearest=nearest)[0]


def verify_quotes(
    quotes: Sequence[str], events: Iterable[Event], *, surfaced: Collection[str] = (), nearest: bool = True
) -> list[QuoteVerdict]:
    """The verdicts on many quotes, in their order, for one search of the session. See ``verify_quote``."""
    session = events if isinstance(events, list | tuple) else list(events)
    needles = [_needle(quote, quote_escapes=True) for quote in quotes]
    as_written = {n: _needle(quote, quote_escapes=False) for n, quote in enumerate(quotes) if "\\" in quote}
    pieces = [pieces_of(needle.text) for needle in needles]
    wanted = dict.fromkeys([*needles, *as_written.values()])
    wanted.update(dict.fromkeys(_Needle(piece) for of_one in pieces for piece in of_one))
    wanted.pop(_NOTHING, None)
    echoes = _echoes([needle.text for needle in wanted], surfaced)
    found = _search(list(wanted), session, echoes, literally=False)
    for n, needle in as_written.items():
        if needle.text and _worth(found[needle]) > _worth(found.get(needles[n])):
            needles[n] = needle
    _search_literally(quotes, needles, found, session, echoes)

    verdicts = [
        _verdict(found.get(needle, _Found()), [found[_Needle(piece)].anywhere() for piece in of_one])
        if needle.text
        else QuoteVerdict(Derivation.INFERRED, "empty", (), None)
        for needle, of_one in zip(needles, pieces, strict=True)
    ]
    missing = {n: needles[n].text for n, verdict in enumerate(verdicts) if verdict.reason in ("no_match", "boundary")}
    for n, spans in joined_across_events(missing, session).items():
        verdicts[n] = QuoteVerdict(Derivation.INFERRED, "stitched", spans, None)
        del missing[n]
    if nearest and missing:
        for n, passage in nearest_passages(missing, session).items():
            verdicts[n] = verdicts[n]._replace(nearest=passage)
    return verdicts


def span_reads(text: str, start: int, end: int, quote: str) -> bool:
    """Whether the bytes ``[start, end)`` of an event's ``text`` still read as ``quote``, folded: the re-check of
    QUOTE.4. False when the range is not within the text or does not fall on characters."""
    encoded = text.encode("utf-8", "replace")
    try:
        passage = encoded[start:end].decode()
    except UnicodeDecodeError:
        return False
    if not 0 <= start < end <= len(encoded):
        return False
    needle = fold(quote, quote=True).text
    if needle in (fold(passage).text, fold_literally(passage).text):
        return True
    if fold_literally(passage).text == fold_literally(quote).text:
        return True
    whole = fold(text)
    at = whole.text.find(needle)
    while at >= 0:
        first, last = whole.byte_span(at, at + len(needle))
        if first >= start and last <= end:
            return True
        if first > end:
            return False
        at = whole.text.find(needle, at + 1)
    return False


def _verdict(found: _Found, pieces: list[list[_Place]]) -> QuoteVerdict:
    if found.support:
        return QuoteVerdict(Derivation.VERBATIM, "contiguous", _spans(found.support), None)
    if found.negated:
        return QuoteVerdict(Derivation.INFERRED, "negated", _spans(found.negated), None)
    if found.echo:
        spans = _spans([place for place in found.echo if place.rank in _RANK.values()])
        return QuoteVerdict(Derivation.INFERRED, "echo", spans, None)
    if pieces and (chain := pieces_in_order([[(p.order, p.start, p.end, p.event) for p in of] for of in pieces])):
        return QuoteVerdict(Derivation.INFERRED, "stitched", chain, None)
    return QuoteVerdict(Derivation.INFERRED, "boundary" if found.cut else "no_match", (), None)


def _worth(found: _Found | None) -> int:
    """2 with support, 1 with any place, 0 with none."""
    return 0 if found is None else 2 if found.support else bool(found.negated or found.echo)


def _spans(places: list[_Place]) -> tuple[QuoteSpan, ...]:
    return tuple(dict.fromkeys(QuoteSpan(p.event, p.start, p.end) for p in sorted(places)))[:SPANS_KEPT]


def _says_something(text: str) -> bool:
    return any(char.isalnum() for char in text)


def _needle(quote: str, *, quote_escapes: bool) -> _Needle:
    folded = fold(quote, quote=quote_escapes)
    return _Needle(folded.text, _folded_markers(folded)) if _says_something(folded.text) else _NOTHING


def _folded_markers(folded: Folded) -> tuple[tuple[int, str], ...]:
    """The dropped markers of a quote, by offset in its folded text."""
    if not folded.markers:
        return ()
    positions = range(len(folded.text))
    return tuple(
        (bisect_left(positions, offset, key=lambda p: folded.char_span(p, p + 1)[0]), marker)
        for offset, marker in folded.markers
        if offset < len(folded.source)
    )


# Search


def _search(
    needles: list[_Needle], session: Sequence[Event], echoes: set[str], *, literally: bool
) -> dict[_Needle, _Found]:
    found = {needle: _Found() for needle in needles}
    if not needles:
        return found
    records = list(found.items())
    matches = _matcher([needle.text for needle in needles])
    plain = _PLAIN_RUN_OF_CODE if literally else _PLAIN_RUN
    few = len(needles) <= _FEW
    signs = [max(plain.findall(needle.text), key=len, default="") for needle in needles] if few else [""]
    for order, event in enumerate(session):
        text = event.text
        if not text or not (any(sign in text for sign in signs) or may_hide_characters(text)):
            continue
        folded = fold_literally(text) if literally else fold(text)
        rank = _RANK.get(event.origin, len(_RANK))
        for n, start, end in matches(folded.text):
            needle, record = records[n]
            if record.full(rank):
                continue
            if cuts_word(folded.text, start) or cuts_word(folded.text, end):
                record.cut = True
            else:
                _place(needle, record, folded, start, end, (rank, order, event), echoes)
    return found


def _place(
    needle: _Needle,
    record: _Found,
    folded: Folded,
    start: int,
    end: int,
    where: tuple[int, int, Event],
    echoes: set[str],
) -> None:
    rank, order, event = where
    if needle.markers and not _markers_agree(needle, folded, start):
        return
    first, last = _tidy_span(folded, start, end)
    place = _Place(rank, order, folded.offsets.at(first), folded.offsets.at(last), event.uid)
    if _is_echo(event, needle.text, echoes):
        record.add(record.echo, place)
    elif governing_negation(folded.source[max(0, first - _CONTEXT_BEFORE) : first], needle.text):
        record.add(record.negated, place)
    else:
        record.add(record.support, place)


def _search_literally(
    quotes: Sequence[str],
    needles: list[_Needle],
    found: dict[_Needle, _Found],
    session: Sequence[Event],
    echoes: set[str],
) -> None:
    """Look once more, letter for letter, for quotes that cut through Markdown, and add what is found to ``found``."""
    literal: dict[_Needle, list[_Needle]] = {}
    for quote, needle in zip(quotes, needles, strict=True):
        record = found.get(needle)
        if record is None or record.support:
            continue
        if not _CONTEXT_BOUND.isdisjoint(quote) and (text := fold_literally(quote).text):
            literal.setdefault(_Needle(text), []).append(needle)
            if needle.text in echoes:
                echoes.add(text)
    for at, record in _search(list(literal), session, echoes, literally=True).items():
        for needle in literal[at]:
            record.cut |= found[needle].cut
            if _worth(record) >= _worth(found[needle]):
                found[needle] = record


def _matcher(texts: list[str]) -> Callable[[str], Iterable[tuple[int, int, int]]]:
    """A function from folded text to ``(index of text, start, end)`` of every occurrence."""
    automaton = AhoCorasick(texts, implementation=Implementation.ContiguousNFA)
    longest = max(texts, key=len)
    if len(automaton.find_matches_as_indexes(longest, overlapping=True)) <= _MANY_NESTED + len(longest):
        return lambda haystack: automaton.find_matches_as_indexes(haystack, overlapping=True)
    # Quotes nested hundreds deep would make the automaton list every one at every place: look for them one by one.
    return lambda haystack: _one_by_one(texts, haystack)


def _one_by_one(texts: list[str], haystack: str) -> Iterator[tuple[int, int, int]]:
    for n, text in enumerate(texts):
        at, seen = haystack.find(text), 0
        while at >= 0 and seen < SPANS_KEPT:
            yield n, at, at + len(text)
            seen += not (cuts_word(haystack, at) or cuts_word(haystack, at + len(text)))
            at = haystack.find(text, at + 1)


def _tidy_span(folded: Folded, start: int, end: int) -> tuple[int, int]:
    """Character range of the source behind a match, widened by the emphasis marks that touch it when only so both
    ends of a pair are inside: then the span, read alone, folds to the match."""
    first, last = folded.char_span(start, end)
    source = folded.source
    if source[first - 1 : first] not in _EMPHASIS and source[last : last + 1] not in _EMPHASIS:
        return first, last
    wanted = folded.text[start:end]
    left, right = first, last
    while left > 0 and first - left < 4 and source[left - 1] in "*_~`":
        left -= 1
    while right < len(source) and right - last < 4 and source[right] in "*_~`":
        right += 1
    for a, b in ((first, last), (left, last), (first, right), (left, right)):
        if fold(source[a:b]).text == wanted:
            return a, b
    return first, last


def _markers_agree(needle: _Needle, folded: Folded, start: int) -> bool:
    """Whether each line marker dropped from the quote is of no other meaning than what stands there in the source.

    "+ 5" is not "- 5" and "30. Stop" is not "300. Stop", though all begin with what may be a list marker.
    """
    dropped = dict(folded.markers)
    for offset, marker in needle.markers:
        at = start + offset
        place = folded.char_span(at, at + 1)[0]
        there = dropped.get(place)
        before = folded.source[max(0, place - 16) : place].rstrip(" \t*_`")
        if there is not None:
            agrees = _same_meaning(marker, there, needle.text[offset:])
        elif offset == 0 and not marker[0].isdigit() and needle.text[0].isalpha() and before.endswith((".", "!", "?")):
            agrees = True  # a sentence out of a paragraph, quoted as a list item
        else:
            agrees = not before or before.endswith("\n") or _ends_with_marker(before, marker)
        if not agrees:
            return False
    return True


def _ends_with_marker(before: str, marker: str) -> bool:
    return before.endswith(marker) and not before[: -len(marker)][-1:].isalnum()


def _same_meaning(marker: str, other: str, words: str) -> bool:
    """Whether two line markers in front of ``words`` only look different: ``-`` and ``*``, a bullet and a number."""
    if marker[0].isdigit() or other[0].isdigit():
        return marker == other or not (marker[0].isdigit() and other[0].isdigit())
    if marker[0] == other[0]:
        return True
    return {marker, other} == {"-", "*"} and not words[:1].isdigit()


# Echoes


def _is_echo(event: Event, text: str, echoes: set[str]) -> bool:
    if event.origin is Origin.BRIEFING or "own_tool" in event.flags:
        return True
    return text in echoes and event.origin not in (Origin.USER, Origin.TOOL)


def _echoes(texts: list[str], surfaced: Collection[str]) -> set[str]:
    """Those of ``texts`` that stand in something surfaced, or in which something surfaced stands (QUOTE.6)."""
    shown = list(dict.fromkeys(text for each in surfaced if _says_something(text := fold(each).text)))
    if not shown or not texts:
        return set()
    echoes = set(texts) & set(shown)
    for needles, haystacks in ((texts, shown), (shown, texts)):
        long_enough = [needle for needle in needles if needle.count(" ") + 1 >= ECHO_WORDS]
        if not long_enough:
            continue
        matches = _matcher(long_enough)
        for haystack in haystacks:
            for n, start, end in matches(haystack):
                if not (cuts_word(haystack, start) or cuts_word(haystack, end)):
                    echoes.add(long_enough[n] if needles is texts else haystack)
    return echoes
