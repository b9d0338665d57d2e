"""Finds what Markdown adds around words, and leaves alone what only looks like it: the context-bound rows of QUOTE.1.

Dropped: emphasis around words, back-ticks, line-leading list, heading and quotation markers. Dashes become hyphens.
Kept: whatever stands inside code, identifiers (``MAX_RETRIES``, ``__init__``), a lone ``*`` or ``_``, dashes between
operands, markers in the middle of a line. Every scan is linear in the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from tallystick.verifiers.boundaries import is_unspaced, is_word

Edit = tuple[int, int, str]
"""``(start, end, new)``: ``text[start:end]`` becomes ``new``."""

_FENCE = re.compile(r"\n[ \t]*+(`{3,}+|~{3,}+)([^\n]*+)")
# Patterns that begin with one literal character are searched five times faster than a class, a repeat or a look-behind.
_TICKS = re.compile("``*+")
_BLANK_LINE = re.compile(r"\n[ \t\r]*+\n")
_STARS = re.compile(r"\*\**+")
_TILDES = re.compile("~(?<!~~)~(?!~)")
_UNDERSCORES = re.compile(r"_(?<!__)(?:(?<!\w_)_*+|_*+(?!\w))")
_DUNDER = re.compile(r"__[a-z0-9]{1,32}(?:_[a-z0-9]{1,32}){0,8}__|__[A-Z0-9]{1,32}(?:_[A-Z0-9]{1,32}){0,8}__")
_BULLET = r"(#{1,6}+|[-*+]|\d{1,9}+\.)[ \t]++(?=\S)"
_MARKER = re.compile(rf"\n[ \t]*+(?=[#>*+\-\d])(?:(?:>(?!=)[ \t]*+)++(?:{_BULLET})?+|{_BULLET})")
_DASHES = "–—―‑"

_SPECIAL = frozenset("*_~`#>+-0123456789" + _DASHES)
_SHORT = 300
_LONGEST_TICKS = 10
_LONGEST_EMPHASIS = 400
"""Characters between a single ``*`` or ``_`` and its partner; longer pairs are chance."""
_BEFORE_EMPHASIS = frozenset(("", *" \t\n([{\"'`*~|>/—–-"))
_AFTER_EMPHASIS = frozenset(("", *" \t\r\n)]}\"'`*~|<.,;:!?—–/"))
"""What stands outside a single ``*`` or ``_`` that marks emphasis; elsewhere it is part of a name or an operator."""
_OPENS_NOTHING = frozenset(" \t\r\n/*.,;:)]}=|\\")
_CLOSES_NOTHING = frozenset(" \t\r\n/*([{=|\\")


class MarkdownEdits(NamedTuple):
    """What to replace, sorted and disjoint, and the line-leading markers among it."""

    replacements: list[Edit]
    markers: list[tuple[int, str]]
    """Character offset of the first word after the marker, and the marker (``-``, ``3.``, ``##``, ``>``)."""


_NO_EDITS = MarkdownEdits([], [])


def markdown_edits(text: str) -> MarkdownEdits:
    """The replacements that turn Markdown ``text`` into its words."""
    if len(text) < _SHORT and _SPECIAL.isdisjoint(text):
        return _NO_EDITS
    edits: list[Edit] = []
    masked = text
    if "`" in text or "~~~" in text:
        masked, edits = _mask_code(text)
    edits += _emphasis(masked)
    markers: list[tuple[int, str]] = []
    for found in _MARKER.finditer("\n" + masked):  # a match in the padded text lies one further right
        markers.append((found.end() - 1, found[1] or found[2] or ">"))
        edits.append((found.start(), found.end() - 1, ""))
    if not text.isascii():
        edits += [(at, at + 1, "-") for at in _dashes(masked) if not _between_operands(masked, at)]
    edits.sort()
    return MarkdownEdits(edits, markers)


def _mask_code(text: str) -> tuple[str, list[Edit]]:
    """``text`` with the inside of code spans and fences made of ``x``, same length; and the back-ticks to drop."""
    code: list[tuple[int, int]] = []
    drop: list[Edit] = []
    for run_start, run_end, start, end in _fences(text):
        drop.append((run_start, run_end, ""))
        if start < end:
            code.append((start, end))
    starts = [start for start, _ in code]
    ticks = [m.span() for m in _TICKS.finditer(text)]
    fenced = {start for start, _, _ in drop}
    free = [t for t in ticks if t[0] not in fenced and not _inside(t[0], starts, code)] if drop else ticks
    spans = list(_code_spans(text, free, [start for start, _, _ in drop]))
    span_starts = [start for start, _ in spans]
    drop += [(start, end, "") for start, end in free if not _inside(start, span_starts, spans)]
    pieces, last = [], 0
    for start, end in sorted(code + spans):
        pieces += [text[last:start], "x" * (end - start)]
        last = end
    pieces.append(text[last:])
    return "".join(pieces), drop


def _inside(position: int, starts: list[int], ranges: list[tuple[int, int]]) -> bool:
    n = bisect_right(starts, position) - 1
    return n >= 0 and position < ranges[n][1]


def _fences(text: str) -> Iterator[tuple[int, int, int, int]]:
    """Each fence line: the range of its run of marks, and the code that follows an opening one (empty on closing).

    A fence that is never closed runs to the end of the text.
    """
    if "```" not in text and "~~~" not in text:
        return
    fence, run, begin = "", (0, 0), 0
    for line in _FENCE.finditer("\n" + text):
        marks, rest = line[1], line[2]
        here = (line.start(1) - 1, line.end(1) - 1)
        if not fence:
            if marks[0] == "~" or "`" not in rest:
                fence, run, begin = marks, here, here[1]
        elif marks[0] == fence[0] and len(marks) >= len(fence) and not rest.strip():
            yield *run, begin, line.start()
            yield *here, here[1], here[1]
            fence = ""
    if fence:
        yield *run, begin, len(text)


def _code_spans(text: str, ticks: list[tuple[int, int]], fences: list[int]) -> Iterator[tuple[int, int]]:
    """The insides of inline code: a run of back-ticks to the next run of equal length in the same paragraph, which a
    blank line or a fence ends."""
    if not ticks:
        return
    breaks = sorted(fences + [m.start() for m in _BLANK_LINE.finditer(text)])
    partner: list[int] = [-1] * len(ticks)
    last_of: dict[int, int] = {}
    for n in range(len(ticks) - 1, -1, -1):
        length = ticks[n][1] - ticks[n][0]
        partner[n] = last_of.get(length, -1)
        last_of[length] = n
    n = 0
    while n < len(ticks):
        start, end = ticks[n]
        other = partner[n]
        if other < 0 or end - start > _LONGEST_TICKS or _broken(breaks, end, ticks[other][0]):
            n += 1
            continue
        yield end, ticks[other][0]
        n = other + 1


def _broken(breaks: list[int], start: int, end: int) -> bool:
    n = bisect_right(breaks, start - 1)
    return n < len(breaks) and breaks[n] < end


def _emphasis(text: str) -> list[Edit]:
    drop: list[Edit] = []
    waiting: dict[str, tuple[int, int]] = {}
    for found in chain(_STARS.finditer(text), _TILDES.finditer(text), _UNDERSCORES.finditer(text)):
        run = found[0]
        if len(run) > 3:
            continue
        start, end = found.span()
        opens, closes = _flanks(text, start, end)
        if run[0] in "*~" and len(run) > 1 and opens != closes:
            drop.append((start, end, ""))
            continue
        if len(run) == 1:
            unspaced = _touches_unspaced(text, start, end)
            opens = opens and (unspaced or text[start - 1 : start] in _BEFORE_EMPHASIS)
            closes = closes and (unspaced or text[end : end + 1] in _AFTER_EMPHASIS)
        if opens and closes and not _touches_unspaced(text, start, end):
            continue
        partner = waiting.get(run) if closes else None
        if partner is not None and _may_pair(text, partner, start, end, run):
            drop += [(*partner, ""), (start, end, "")]
            del waiting[run]
        elif opens:
            waiting[run] = (start, end)
    return drop


def _flanks(text: str, start: int, end: int) -> tuple[bool, bool]:
    """Whether the run may open and may close emphasis: it touches a word on one side and none on the other."""
    before = text[start - 1] if start else " "
    after = text[end] if end < len(text) else " "
    opens = after not in _OPENS_NOTHING and not after.isspace() and not is_word(before)
    closes = before not in _CLOSES_NOTHING and not before.isspace() and not is_word(after)
    return opens, closes


def _touches_unspaced(text: str, start: int, end: int) -> bool:
    return (start > 0 and is_unspaced(text[start - 1])) or (end < len(text) and is_unspaced(text[end]))


def _may_pair(text: str, opener: tuple[int, int], start: int, end: int, run: str) -> bool:
    if start - opener[1] > _LONGEST_EMPHASIS or text.count("\n", opener[1], start) > 1:
        return False
    return run != "__" or _DUNDER.fullmatch(text, opener[0], end) is None


def _dashes(text: str) -> Iterator[int]:
    for dash in _DASHES:
        if dash in text:
            yield from (found.start() for found in re.finditer(dash, text))


def _between_operands(text: str, at: int) -> bool:
    """Whether the dash at ``at`` stands, spaced on both sides, between numbers, single letters or brackets: a minus.

    Without spaces, and between digits too, it marks a range ("3–5 days").
    """
    if at < 2 or at + 2 >= len(text) or text[at - 1] != " " or text[at + 1] != " ":
        return False
    left, right = text[at - 2], text[at + 2]
    further_left = text[at - 3] if at > 2 else " "
    then = text[at + 3 : at + 5]
    left_operand = left.isdigit() or left in ")]" or (left.isalpha() and not is_word(further_left))
    letter = right.isalpha() and not (then and is_word(then[0])) and not (then[:1] == " " and then[1:].isalpha())
    return left_operand and (right.isdigit() or right in "([" or letter)
