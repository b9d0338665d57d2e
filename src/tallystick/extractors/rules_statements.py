"""A message as statements: sentences with the heading they stand under, cleaned for a reader, pasted matter set apart.

Everything that the rules judge is a ``Statement``: its ``text`` is the exact slice of the event that becomes the quote,
its ``plain`` is the same words without Markdown emphasis and markers, which becomes the candidate's text (QUOTE.7).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from tallystick.language.sentences import Sentence, sentences

LONG_TEXT = 20_000
"""Characters from which a message is taken for pasted matter: only its two ends are read."""
END_OF_LONG_TEXT = 4_000
MAX_STATEMENT = 600
"""Longer sentences are no statements that a hand-over note would repeat."""

_PROSE = frozenset({"prose", "list"})
_EMPHASIS = re.compile(r"\*\*|~~|__(?=\S)|(?<=\S)__|(?<![\w*])[*_](?=\S)|(?<=\S)[*_](?![\w*])")
_CODE_SPAN = re.compile(r"`[^`\n]{1,200}`")
_MARKER = re.compile(r"[-*+•]|\(?(\d{1,2}|[A-Za-z])[.):]")
_LEADING_NOISE = re.compile(r"(?:[-*+•>#]+\s|\[[ xX]\]\s|✅|✓|✔️?|❌|⚠️|🔥|🎉|→|-->?)\s*")
_SPACES = re.compile(r"\s+")
_CHECKBOX = re.compile(r"\[([ xX])\]")
_LEAD = re.compile(
    r"(?:yes|yep|yeah|yea|yup|ok|okay|k|hm+|alright|all right|right|so|and|then|well|no|nope|nah|sure|please|actually|"
    r"also|oh|ah+|great|cool|thanks|thank you|good|perfect|perfekt|oui|non|d['’]accord|alors|donc|et|parfait|super|bon|"
    r"wait|hey|sorry|uh|um|but|mais|one more thing|fair enough|got it|done|fixed|fait|c['’]est fait|note|btw)"
    r"(?:\s*[,.!:;…✅-]+\s*|\s+)",
    re.IGNORECASE,
)
_PERSONAL = re.compile(
    r"\b(?:i|i'm|i've|we|you|let's|lets|can|please|my|our|us|me|je|j'ai|on|tu|vous|nous|mon|ma)\b|\?", re.IGNORECASE
)
_TERMINAL_LINE = re.compile(
    r"\s*(?:[❯⎿$>%•│]\s|\d{4}-\d\d-\d\d[T ]|\{\"|at \S+ \(|---? ?(?:FAIL|PASS)|Error:|diff --git|@@ |\+\+\+ |fatal:)"
)
_REVIEW_BOT = re.compile(r"(?:^|\n)\s*(?:low|medium|high|critical) severity\s*(?:\n|$)", re.IGNORECASE)
_TEMPLATE = re.compile(
    r"</[a-z][\w-]*>|CRITICAL=\"|\A\s*(?:Operation (?:stopped|blocked) by hook|Stop hook|Caveat:)|"
    r"\A\s*(?:# AGENTS\.md|Base directory for this skill)",
)


class Statement(NamedTuple):
    """One sentence or list item of a message, outside code, tables and quoted lines."""

    text: str
    """Exactly ``source[start:end]``."""
    start: int
    end: int
    block: str
    """``prose`` or ``list``."""
    marker: str
    """``-`` for a bullet, ``1`` or ``a`` for a numbered item, ``[ ]`` or ``[x]`` for a task item, else empty."""
    heading: str
    """Lower-cased heading, or the line ending in a colon, that it stands under; empty where there is none."""
    paragraph: int
    """Ordinal of the paragraph or list item; statements that share it follow each other without a break."""
    plain: str
    """The same words for a reader: no emphasis, no markers, white space folded."""

    @property
    def is_question(self) -> bool:
        """Whether it ends in a question mark."""
        return self.plain.rstrip(" )\"'*_`🙏😅").endswith("?")


def plain_words(text: str) -> str:
    """``text`` without Markdown emphasis, leading markers and line breaks; code spans are left as they stand."""
    pieces: list[str] = []
    place = 0
    for span in _CODE_SPAN.finditer(text):
        pieces.extend((_EMPHASIS.sub("", text[place : span.start()]), span.group()))
        place = span.end()
    pieces.append(_EMPHASIS.sub("", text[place:]))
    plain = _SPACES.sub(" ", "".join(pieces)).strip()
    while (noise := _LEADING_NOISE.match(plain)) and noise.end() < len(plain):
        plain = plain[noise.end() :]
    return plain


def without_lead(plain: str) -> str:
    """``plain`` without the words that only take up the thread ("yes, ok, so …")."""
    for _ in range(6):
        lead = _LEAD.match(plain)
        if lead is None or lead.end() >= len(plain):
            break
        plain = plain[lead.end() :]
    return plain


def is_pasted(text: str) -> bool:
    """Whether a person's message is mostly someone else's words: terminal output, a review bot's finding, a template."""
    if _TEMPLATE.search(text[:8_000]) or _REVIEW_BOT.search(text[:2_000]):
        return True
    lines = [line for line in text[:8_000].split("\n") if line.strip()]
    if len(lines) > 4 and sum(bool(_TERMINAL_LINE.match(line)) for line in lines) * 3 > len(lines):
        return True
    return len(text) > 180 and not _PERSONAL.search(text[:4_000])


def statements(text: str) -> list[Statement]:
    """The statements of ``text`` in order; of a very long text, those of its first and last 4,000 characters."""
    if len(text) <= LONG_TEXT:
        return list(_statements(text, 0))
    tail = len(text) - END_OF_LONG_TEXT
    return [*_statements(text[:END_OF_LONG_TEXT], 0), *_statements(text[tail:], tail)]


def _statements(source: str, base: int) -> Iterator[Statement]:
    heading = ""
    colon_line = ""
    paragraph = 0
    previous: Sentence | None = None
    for sentence in sentences(source):
        if previous is not None and _breaks(source, previous, sentence):
            paragraph += 1
        previous = sentence
        plain = plain_words(sentence.text)
        if sentence.block == "heading" or _is_bold_line(sentence.text):
            heading, colon_line = plain.rstrip(":").lower(), ""
            continue
        if sentence.block not in _PROSE or not plain:
            continue
        introduces = plain.endswith(":")
        marker = _marker(source, sentence)
        if introduces or (sentence.block == "prose" and not marker):
            colon_line = ""
        text = sentence.text.rstrip(":* ") if introduces else sentence.text
        if text and len(text) <= MAX_STATEMENT:
            start = sentence.start + base
            place = colon_line or heading
            plain = plain_words(text) if introduces else plain
            yield Statement(text, start, start + len(text), sentence.block, marker, place, paragraph, plain)
        if introduces:
            colon_line = plain.lower()


def _breaks(source: str, before: Sentence, after: Sentence) -> bool:
    between = source[before.end : after.start]
    return "\n\n" in between or before.block != after.block or ("\n" in between and after.block == "list")


def _is_bold_line(text: str) -> bool:
    return len(text) < 90 and text.startswith("**") and text.rstrip(": ").endswith("**") and text.count("**") == 2


def _marker(source: str, sentence: Sentence) -> str:
    line_start = source.rfind("\n", max(0, sentence.start - 40), sentence.start) + 1
    before = source[line_start : sentence.start].strip() if sentence.start - line_start < 40 else ""
    box = _CHECKBOX.search(before) or _CHECKBOX.match(sentence.text)
    if box is not None:
        return "[x]" if box.group(1) != " " else "[ ]"
    mark = _MARKER.match(before.lstrip("*> "))
    if mark is None:
        mark = _MARKER.match(sentence.text[:6].lstrip("*")) if not before else None
        if mark is None or not mark.group(1):
            return ""
    return (mark.group(1) or "-").lower()
