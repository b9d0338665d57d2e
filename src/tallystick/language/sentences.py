"""Splits a text into sentences with their places, keeping code, tables, lists and headings apart.

One pass over the lines tells the blocks apart; one pass over each paragraph finds where its sentences end. Lines end at
``\\n`` only. Both passes are linear in the length of the text (EVID.10).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class Sentence(NamedTuple):
    """One sentence (or heading, list item, table row, code line) of a text."""

    text: str
    """Exactly ``source[start:end]``: nothing folded, no surrounding white space."""
    start: int
    """Character offset, half-open with ``end``."""
    end: int
    block: str
    """``prose`` | ``list`` | ``heading`` | ``quote`` (a line that begins with ``>``) | ``table`` | ``code`` (fenced or
    indented code block)."""


def sentences(source: str) -> list[Sentence]:
    """The sentences of ``source`` in order; every non-blank character of it is in exactly one, list and heading
    markers apart."""
    found: list[Sentence] = []
    for start, end, block in _paragraphs(source):
        if block == "prose" or block == "list":
            found.extend(_split(source, start, end, block))
        else:
            found.append(Sentence(source[start:end], start, end, block))
    return found


class _Line(NamedTuple):
    start: int
    """Of the line's first non-blank character, or its end where it is blank."""
    end: int
    """After its last non-blank character."""
    indent: int
    """Columns of white space before ``start``; a tab counts four."""
    hard_break: bool
    """Ends with two spaces or a backslash, as Markdown's line break does."""


_LIST = re.compile(r"(?:[-*+•–]|\d{1,4}[.)])(?:[ \t]\s*|$)")
_HEADING = re.compile(r"#{1,6}(?:[ \t]\s*|$)")
_FENCE = re.compile(r"`{3,}|~{3,}")
_RULE = re.compile(r"(?:[-*_=][ \t]*){3,}$")
WRAP_COLUMN = 60
"""A line shorter than this that ends without punctuation was not wrapped: the next capital letter opens a sentence."""


def _lines(source: str) -> Iterator[_Line]:
    position = 0
    for raw in source.split("\n"):
        bare = raw.rstrip()
        body = bare.lstrip()
        start = position + len(bare) - len(body)
        lead = bare[: len(bare) - len(body)]
        indent = len(lead) + 3 * lead.count("\t") if lead else 0
        yield _Line(start, position + len(bare), indent, raw.endswith("  ") and bool(body))
        position += len(raw) + 1


class _Open:
    """The paragraph being gathered, and what the lines before it make of the next one."""

    __slots__ = ("block", "end", "fence", "in_list", "indented_code", "start")

    def __init__(self) -> None:
        self.start = self.end = 0
        self.block = ""
        self.fence = ""
        self.in_list = False
        self.indented_code = True  # at the top of a text, as after a blank line, four columns open a code block

    def close(self) -> Iterator[tuple[int, int, str]]:
        if self.block:
            yield self.start, self.end, self.block
        self.block = ""

    def open(self, start: int, end: int, block: str) -> None:
        self.start, self.end, self.block = start, end, block


def _paragraphs(source: str) -> Iterator[tuple[int, int, str]]:
    """Runs of lines that sentences may cross: ``start, end, block``, without their markers."""
    state = _Open()
    for line in _lines(source):
        if state.fence:
            yield from _in_fence(source, line, state)
        elif line.start == line.end:
            yield from state.close()
            state.indented_code = True
        else:
            yield from _line(source, line, state)
    yield from state.close()


def _in_fence(source: str, line: _Line, state: _Open) -> Iterator[tuple[int, int, str]]:
    if line.start < line.end:
        yield line.start, line.end, "code"
        fence = _FENCE.match(source, line.start, line.end)
        if fence and fence.end() == line.end and fence[0].startswith(state.fence):
            state.fence = ""
            state.indented_code = True


def _line(source: str, line: _Line, state: _Open) -> Iterator[tuple[int, int, str]]:
    start, end = line.start, line.end
    first = source[start]
    if line.indent == 0 and state.indented_code:
        state.in_list = (
            False  # what is not indented after a blank line is outside the list, unless it is an item itself
        )
    if (
        first in "`~"
        and (fence := _FENCE.match(source, start, end))
        and (first == "~" or "`" not in source[fence.end() : end])
    ):
        state.fence = fence[0]
        yield from _alone(state, start, end, "code")
    elif line.indent >= 4 and state.indented_code and not state.in_list:
        yield from _alone(state, start, end, "code")
        state.indented_code = True
    elif first == ">":
        yield from _alone(state, start, end, "quote")
    elif first == "|":
        yield from _alone(state, start, end, "table")
    elif first == "#" and (marker := _HEADING.match(source, start, end)):
        yield from _alone(state, marker.end(), end, "heading")
        state.in_list = False
    elif first in "-*_=" and end - start < 200 and _RULE.match(source, start, end):
        yield from _alone(state, start, end, "prose")
    elif marker := _LIST.match(source, start, end):
        yield from state.close()
        state.in_list = True
        if marker.end() < end:
            state.open(marker.end(), end, "list")
    else:
        yield from _continue(source, line, state)
    if line.hard_break:
        yield from state.close()


def _alone(state: _Open, start: int, end: int, block: str) -> Iterator[tuple[int, int, str]]:
    yield from state.close()
    state.indented_code = False
    if start < end:
        yield start, end, block


def _continue(source: str, line: _Line, state: _Open) -> Iterator[tuple[int, int, str]]:
    """A line without a marker: it goes on with the open paragraph, or opens one."""
    if state.block and not _breaks(source, state, line):
        state.end = line.end
        return
    yield from state.close()
    state.indented_code = False
    state.open(line.start, line.end, "list" if state.in_list else "prose")


def _breaks(source: str, state: _Open, line: _Line) -> bool:
    """Whether a line break ends the sentence although no punctuation does."""
    last = source[state.end - 1]
    if last == ":":
        return True
    if source[line.start].islower() or last in ",;(-–—":
        return False
    line_start = source.rfind("\n", max(state.start, state.end - WRAP_COLUMN), state.end)
    return state.end - max(line_start, state.start) < WRAP_COLUMN or state.end - state.start < WRAP_COLUMN


_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'’”»)\]*_`~]*+(?=\s|$)")
"""Possessive, and only at the start of a run: a run of marks that ends nothing is read once, not once from each mark."""
_SPAN = re.compile(r"`+|[\"“”«»\n]")
_ABBREVIATIONS = frozenset(
    "e.g i.e eg ie etc vs cf approx resp incl excl no nr fig eq sec ch vol pp dr mr mrs ms prof st jr sr inc ltd dept "
    "est al p.ex ex env cad m mme".split()
)
_LONGEST_WORD = 24
"""As many characters before a full stop are looked at: no abbreviation is longer."""
_NEEDS_MORE = frozenset("e.g i.e eg ie vs cf approx resp incl no nr fig eq pp dr mr mrs ms prof p.ex ex c.-à-d".split())


def _split(source: str, start: int, end: int, block: str) -> Iterator[Sentence]:
    spans: list[tuple[int, int]] | None = None
    position, begin = 0, start
    for stop in _END.finditer(source, start, end):
        at = stop.end()
        if at < end:
            if not _ends(source, begin, stop.start(), stop[0], at, end):
                continue
            if spans is None:
                spans = _closed_spans(source, start, end)
            while position < len(spans) and spans[position][1] < at:
                position += 1
            if position < len(spans) and spans[position][0] < stop.start() and at < spans[position][1]:
                continue
        yield Sentence(source[begin:at], begin, at, block)
        begin = at
        while begin < end and source[begin].isspace():
            begin += 1
    if begin < end:
        yield Sentence(source[begin:end], begin, end, block)


def _closed_spans(source: str, start: int, end: int) -> list[tuple[int, int]]:
    """Inline code and double-quoted passages that open and close on one line, in order; a full stop inside ends nothing."""
    spans: list[tuple[int, int]] = []
    opened, closer = -1, ""
    for found in _SPAN.finditer(source, start, end):
        mark = found[0]
        if mark == "\n":
            opened = -1
        elif opened < 0:
            if mark not in "”»":
                opened, closer = found.start(), _CLOSER.get(mark, mark)
        elif mark == closer:
            spans.append((opened, found.end()))
            opened = -1
    return spans


_CLOSING_QUOTES = frozenset("\"'’”»)")
_CLOSER = {"“": "”", "«": "»"}


def _ends(source: str, begin: int, dot: int, mark: str, at: int, end: int) -> bool:
    """Whether the punctuation at ``dot`` ends a sentence, by the word before and the character after."""
    following = source[at:end][:4].lstrip() if at + 4 > end else source[at : at + 4].lstrip()
    if mark[-1] in _CLOSING_QUOTES and following[:1].islower():
        return False
    if mark[0] == "." and not mark.startswith(".."):
        before = source[max(begin, dot - _LONGEST_WORD) : dot]
        word = "" if before[-1:].isspace() else "".join(before.split()[-1:]).lstrip("(*_\"'“").lower()
        if word in _ABBREVIATIONS:
            return word not in _NEEDS_MORE and following[:1].isupper()
        if len(word) == 1 and word.isalpha() and word != "i":
            return not following[:1].isupper() or begin < dot - 12
        return not (word.isdigit() and dot - begin <= len(word) + 2)
    if mark.startswith(("..", "…")):
        return not following[:1].islower()
    return True
