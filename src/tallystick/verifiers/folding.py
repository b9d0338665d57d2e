"""Folds away what typing and rendering change in a text, and nothing that carries meaning, with the way back (QUOTE.1).

Two texts that fold alike say the same words: quotation marks, dashes, white space, Unicode composition, invisible
characters and Markdown may differ; case, digits, letters, operators, signs, negation and word order may not. Every
folded character leads back to the exact bytes it came from. Folding is linear in the text and costs no Python object
per character; the way back is built only when somebody asks for it.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from tallystick.verifiers.markdown import Edit, markdown_edits

STRAIGHT = {
    "“": '"', "”": '"', "„": '"', "‟": '"', "″": '"',
    "‘": "'", "’": "'", "‚": "'", "‛": "'", "′": "'",
}  # fmt: skip
"""Quotation marks and primes, each with the straight mark it folds to; one character for one."""

_PRIMES = "′″"
_FEET = re.compile("(?<!\\d)[′″]")
_INVISIBLE = re.compile("[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]+")
_MAY_BE_INVISIBLE = re.compile(b"\xe2(?:\x80[\x8b-\x8f\xaa-\xae]|\x81[\xa0-\xaf])")
_INVISIBLE_ELSEWHERE = tuple(char.encode() for char in "\u00ad\u061c\u180e\ufeff")
_COLOUR = re.compile("\x1b\\[[0-9;]{0,32}m")
"""Terminal colour codes print nothing, as zero-width characters do (SGR only: other sequences move the cursor)."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_NOT_ASCII = re.compile("[\x00-\x7f]?[^\x00-\x7f]+")
_MANY_SPACES = re.compile(r"\s{2,}")
_ESCAPED = re.compile(r'\\[nt"]')
_CHARACTER = {"\\n": "\n", "\\t": "\t", '\\"': '"'}
_CODE_SPAN = re.compile("`[^`\n]*`")

MARKS_IN_ONE_CLUSTER = 30
"""Unicode's stream-safe limit; without one, sorting the marks of a hostile text takes quadratic time."""
_STRIDE = 4096


class Step:
    """One stage of folding: what it was given and the replacements it made, indexed when first asked."""

    __slots__ = ("_at", "_edits", "before")

    def __init__(self, before: str, edits: list[Edit] | None = None) -> None:
        self.before = before
        self._edits = edits
        """Sorted and disjoint; None for the white-space stage, whose replacements are found again on demand."""
        self._at: list[int] | None = None

    def index(self) -> tuple[list[int], list[Edit]]:
        """Where each replacement begins in the result, and the replacements, both in order."""
        if self._edits is None:
            self._edits = _space_edits(self.before)
        if self._at is None:
            self._at, drift = [], 0
            for start, end, new in self._edits:
                self._at.append(start + drift)
                drift += len(new) - (end - start)
        return self._at, self._edits

    def before_range(self, position: int) -> tuple[int, int]:
        """The half-open range of ``before`` that the character at ``position`` of the result came from."""
        at, edits = self.index()
        n = bisect_right(at, position) - 1
        if n < 0:
            return position, position + 1
        start, end, new = edits[n]
        beyond = position - at[n] - len(new)
        return (start, end) if beyond < 0 else (end + beyond, end + beyond + 1)


class ByteOffsets:
    """UTF-8 byte offsets of character offsets of one text: a checkpoint per few thousand characters, made on demand."""

    __slots__ = ("_ascii", "_checkpoints", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._ascii = text.isascii()
        self._checkpoints: list[int] | None = None

    def at(self, position: int) -> int:
        """Bytes before the character at ``position``."""
        if self._ascii:
            return position
        if self._checkpoints is None:
            self._checkpoints, total = [], 0
            for start in range(0, len(self._text) + 1, _STRIDE):
                self._checkpoints.append(total)
                total += len(self._text[start : start + _STRIDE].encode())
        block = position // _STRIDE
        return self._checkpoints[block] + len(self._text[block * _STRIDE : position].encode())


class Folded(NamedTuple):
    """A folded text and the way back to its source."""

    text: str
    source: str
    """The text that was folded, lone surrogates replaced by U+FFFD (as many characters and as many bytes)."""
    steps: tuple[Step, ...]
    offsets: ByteOffsets
    markers: tuple[tuple[int, str], ...] = ()
    """Line-leading Markdown markers that were dropped: character offset in ``source`` where the line's words begin,
    and the marker (``-``, ``3.``, ``#``)."""

    def char_span(self, start: int, end: int) -> tuple[int, int]:
        """Character range of ``source`` behind ``text[start:end]``; ``start < end``."""
        for step in reversed(self.steps):
            if step.index()[0]:
                start, end = step.before_range(start)[0], step.before_range(end - 1)[1]
        return start, end

    def byte_span(self, start: int, end: int) -> tuple[int, int]:
        """UTF-8 byte range of the source behind ``text[start:end]``; ``start < end``."""
        first, last = self.char_span(start, end)
        return self.offsets.at(first), self.offsets.at(last)


def fold(text: str, *, quote: bool = False) -> Folded:
    r"""Fold ``text`` by the table of QUOTE.1.

    With ``quote``, ``\n``, ``\t`` and ``\"`` that were left as escapes outside code become the characters they stand
    for: quotes are often copied out of JSON. Folded text has no white space at its ends.
    """
    source, current, steps = _context_free(text, quote=quote)
    edits = markdown_edits(current)
    markers: tuple[tuple[int, str], ...] = ()
    if edits.replacements:
        back = Folded(current, source, tuple(steps), ByteOffsets(""))
        markers = tuple((back.char_span(p, p + 1)[0] if p < len(current) else len(source), m) for p, m in edits.markers)
        steps.append(Step(current, edits.replacements))
        current = _apply(current, edits.replacements)
    return _one_space(source, current, steps, markers)


def fold_literally(text: str) -> Folded:
    """Fold ``text`` as if all of it were code: Markdown and dashes stay. What stands in a text letter for letter is
    found this way however the quote cuts through its emphasis, lists and fences."""
    source, current, steps = _context_free(text, quote=False)
    return _one_space(source, current, steps, ())


def _one_space(source: str, current: str, steps: list[Step], markers: tuple[tuple[int, str], ...]) -> Folded:
    steps.append(Step(current))
    return Folded(" ".join(current.split()), source, tuple(steps), ByteOffsets(source), markers)


def _context_free(text: str, *, quote: bool) -> tuple[str, str, list[Step]]:
    """The stages that need not know what surrounds a character."""
    steps: list[Step] = []
    if not text.isascii():
        text = _without_surrogates(text)
    current = text
    for edits in (_escape_edits, _invisible_edits, _composition_edits):
        if edits is _escape_edits and not quote:
            continue
        found = edits(current)
        if found:
            steps.append(Step(current, found))
            current = _apply(current, found)
    return text, _straighten(current), steps


def _without_surrogates(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)
    return text


def _straighten(text: str) -> str:
    if text.isascii():
        return text
    for mark, straight in STRAIGHT.items():
        if mark in text and mark not in _PRIMES:
            text = text.replace(mark, straight)
    if "′" in text or "″" in text:  # after a digit a prime measures feet or minutes
        text = _FEET.sub(lambda found: STRAIGHT[found[0]], text)
    return text


def _invisible_edits(text: str) -> list[Edit]:
    found = [(m.start(), m.end(), "") for m in _COLOUR.finditer(text)] if "\x1b" in text else []
    if not text.isascii() and _has_invisible(text.encode()):
        found += [(m.start(), m.end(), "") for m in _INVISIBLE.finditer(text)]
        found.sort()
    return found


def may_hide_characters(text: str) -> bool:
    """Whether ``text`` holds characters that folding drops between the letters of a word."""
    return "\x1b" in text or (not text.isascii() and _has_invisible(text.encode("utf-8", "replace")))


def _has_invisible(encoded: bytes) -> bool:
    return _MAY_BE_INVISIBLE.search(encoded) is not None or any(char in encoded for char in _INVISIBLE_ELSEWHERE)


def _composition_edits(text: str) -> list[Edit]:
    if text.isascii() or unicodedata.is_normalized("NFC", text):
        return []
    return [
        (start, end, composed)
        for run in _NOT_ASCII.finditer(text)
        for start, end in _clusters(text, run.start(), run.end())
        if (composed := unicodedata.normalize("NFC", text[start:end])) != text[start:end]
    ]


def _clusters(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The ranges of a character and the marks that may compose with it."""
    begin = start
    for at in range(start + 1, end):
        if not _joins_the_last(text[at]) or at - begin > MARKS_IN_ONE_CLUSTER:
            yield begin, at
            begin = at
    yield begin, end


def _joins_the_last(char: str) -> bool:
    return unicodedata.category(char)[0] == "M" or "\u1160" <= char <= "\u11ff"  # marks, and Hangul vowels and finals


def _escape_edits(text: str) -> list[Edit]:
    if "\\" not in text:
        return []
    code = [(m.start(), m.end()) for m in _CODE_SPAN.finditer(text)]
    starts = [start for start, _ in code]
    found: list[Edit] = []
    for escape in _ESCAPED.finditer(text):
        n = bisect_right(starts, escape.start()) - 1
        if n < 0 or escape.start() >= code[n][1]:
            found.append((escape.start(), escape.end(), _CHARACTER[escape[0]]))
    return found


def _space_edits(text: str) -> list[Edit]:
    inner_start, inner_end = len(text) - len(text.lstrip()), len(text.rstrip())
    edits: list[Edit] = [(0, inner_start, "")] if inner_start else []
    edits += [(m.start(), m.end(), " ") for m in _MANY_SPACES.finditer(text, inner_start, inner_end)]
    if inner_end < len(text) and inner_end > inner_start:
        edits.append((inner_end, len(text), ""))
    return edits


def _apply(text: str, edits: list[Edit]) -> str:
    pieces, last = [], 0
    for start, end, new in edits:
        pieces.append(text[last:start])
        if new:
            pieces.append(new)
        last = end
    pieces.append(text[last:])
    return "".join(pieces)
