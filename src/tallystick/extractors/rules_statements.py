"""A message as statements: sentences with the heading they stand under, cleaned for a reader, pasted matter set apart.

Everything that the rules judge is a ``Statement``: its ``text`` is the exact slice of the event that becomes the quote,
its ``plain`` is the same words without Markdown emphasis and markers, which becomes the candidate's text (QUOTE.7).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from tallystick.language.anchors import anchors
from tallystick.language.sentences import Sentence, sentences

LONG_TEXT = 20_000
"""Characters from which a message is taken for pasted matter: only its two ends are read."""
END_OF_LONG_TEXT = 4_000
MAX_STATEMENT = 600
"""Longer sentences are no statements that a hand-over note would repeat."""

TITLE_WORDS = 8
"""A line of more words above a list is a sentence, not its title."""

MAX_DRAFTS = 4
"""Markdown fences of a message that are read for what they draft."""

_DRAFT = re.compile(r"(?:^|\n)[ \t]*```(?:markdown|md)[ \t]*\r?\n")
_READ = frozenset({"prose", "list", "heading"})
_EMPHASIS = re.compile(r"\*\*|~~|__(?=\S)|(?<=\S)__|(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*])")
_UNDERSCORED = re.compile(r"(?<![\w/])_(?=[^\s_])([^_\n]{1,200})(?<=\S)_(?!\w)")
_CODE_SPAN = re.compile(r"`[^`\n]{1,200}`")
_MARKER = re.compile(r"[-*+•]|\(?(\d{1,2}|[A-Za-z])[.):]")
_ITEM_BEGINS = re.compile(r"[ \t]*\n[ \t]*(?:[-*+•]|\d{1,2}[.)])?[ \t]*")
_LEADING_NOISE = re.compile(r"(?:[-*+•>#]+\s|\[[ xX]\]\s|✅|✓|✔️?|❌|⚠️|🔥|🎉|→|-->?)\s*")
_MAY_EMPHASISE = re.compile(r"[*_~]")
_WORD = re.compile(r"[a-zà-ÿœ]+")
_AFTER_MARKER = frozenset(")].:")
_CHECKBOX = re.compile(r"\[([ xX])\]")
_LEAD = re.compile(
    r"(?:#\d+|yes|yep|yeah|yea|yup|ok|okay|k|hm+|alright|all right|right|so|and|then|well|no|nope|nah|sure|please|"
    r"actually|"
    r"also|oh|ah+|great|cool|thanks|thank you|good|perfect|perfekt|oui|non|d['’]accord|alors|donc|et|parfait|super|bon|"
    r"however|wait|hey|sorry|uh|um|but|mais|one more thing|fair enough|got it|done|fixed|fait|c['’]est fait|note|btw)"
    r"(?:\s*[,.!:;…✅-]+\s*|\s+)",
    re.IGNORECASE,
)
_PERSONAL = re.compile(
    r"\b(?:i|i'm|i've|we|you|let's|lets|can|please|my|our|us|me|je|j'ai|on|tu|vous|nous|mon|ma)\b|\?", re.IGNORECASE
)
_TERMINAL_LINE = re.compile(
    r"\s*(?:[❯⎿$>%•│]\s|\d{4}-\d\d-\d\d[T ]|\{\"|at \S+ \(|---? ?(?:FAIL|PASS)|Error:|diff --git|@@ |\+\+\+ |fatal:)"
)
_REVIEW_BOT = re.compile(r"^[ \t]*(?:low|medium|high|critical) severity[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_TEMPLATE = re.compile(
    r"</[a-z][\w-]*>|CRITICAL=\"|\A\s*(?:Operation (?:stopped|blocked) by hook|Stop hook|Caveat:|Warning:)|"
    r"\A\s*(?:# AGENTS\.md|Base directory for this skill)",
)

_UNSURE = frozenset(
    "would could might may probably likely perhaps maybe think assume assumed guess believe should if seem seems appear "
    "appears possibly peut probablement semble pourrait".split()
)
_DANGLING = re.compile(
    r"(?:it|this|that|these|those|they|both|he|she|its|their|there|the (?:same|former|latter|other|first|second|"
    r"third|above|following|only)\b|such|"
    r"neither|either|which|so|then|also|instead|otherwise|however|additionally|plus|cela|ça|il|elle|ils|elles|ceci|"
    r"celui|ces?)\b",
    re.IGNORECASE,
)
_CUT_SHORT = re.compile(
    r"\b(?:which|with|that|creates?|includes?|these|the|like|as|to|for|on|by|either|if|when|where|uses?|two|"
    r"following|avec|sur|"
    r"dans)$",
    re.IGNORECASE,
)


class Statement(NamedTuple):
    """One sentence or list item of a message, outside code, tables and quoted lines."""

    text: str
    """Exactly ``source[start:end]``."""
    start: int
    end: int
    block: str
    """``prose``, ``list`` or ``heading``."""
    marker: str
    """``-`` for a bullet, ``1`` or ``a`` for a numbered item, ``[ ]`` or ``[x]`` for a task item, else empty."""
    heading: str
    """Lower-cased heading, or the line ending in a colon, that it stands under; empty where there is none."""
    paragraph: int
    """Ordinal of the paragraph or list item; statements that share it follow each other without a break."""
    plain: str
    """The same words for a reader: no emphasis, no markers, white space folded."""
    introduces: bool
    """A colon follows: what it speaks of stands in the lines after it."""
    core: str
    """``plain`` without the words that only take up the thread ("yes, ok, so …")."""
    words: frozenset[str]
    """The lower-cased words of ``core``: a cheap first look before a pattern is tried."""

    @property
    def is_question(self) -> bool:
        """Whether it ends in a question mark."""
        return self.plain.rstrip(" )\"'*_`🙏😅").endswith("?")


def plain_words(text: str) -> str:
    """``text`` without Markdown emphasis, leading markers and line breaks; code spans are left as they stand."""
    plain = " ".join((_without_emphasis(text) if _MAY_EMPHASISE.search(text) else text).split())
    while (noise := _LEADING_NOISE.match(plain)) and noise.end() < len(plain):
        plain = plain[noise.end() :]
    return plain


def _without_emphasis(text: str) -> str:
    pieces: list[str] = []
    place = 0
    for span in _CODE_SPAN.finditer(text):
        pieces.extend((_unmarked(text[place : span.start()]), span.group()))
        place = span.end()
    pieces.append(_unmarked(text[place:]))
    return "".join(pieces)


def _unmarked(text: str) -> str:
    """``text`` without stars, and without underscores that come in pairs; a lone one belongs to a name (QUOTE.1)."""
    return _EMPHASIS.sub("", _UNDERSCORED.sub(r"\1", text) if "_" in text else text)


def without_lead(plain: str) -> str:
    """``plain`` without the words that only take up the thread ("yes, ok, so …")."""
    for _ in range(6):
        lead = _LEAD.match(plain)
        if lead is None or lead.end() >= len(plain):
            break
        plain = plain[lead.end() :]
    return plain


def names_something(plain: str) -> bool:
    """Whether the sentence names a thing: a code span, quoted words, path, number, version, symbol …"""
    return "`" in plain or '"' in plain or bool(anchors(plain))


def is_hedged(statement: Statement) -> bool:
    """Whether the sentence says what may be, not what is."""
    return not _UNSURE.isdisjoint(statement.words)


def is_dangling(statement: Statement) -> bool:
    """Whether the sentence begins with a word that only the sentence before it explains."""
    return bool(_DANGLING.match(statement.core))


def is_cut_short(statement: Statement) -> bool:
    """Whether what it says stands in the lines after it ("The script now creates:")."""
    return statement.introduces and (bool(_CUT_SHORT.search(statement.plain)) or len(statement.plain.split()) < 4)


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


def drafted(text: str) -> list[Statement]:
    """The statements of what a message drafts in its first four Markdown fences, each read up to its first inner fence."""
    found: list[Statement] = []
    place = 0
    for _ in range(MAX_DRAFTS):
        fence = _DRAFT.search(text, place)
        if fence is None:
            break
        end = text.find("\n```", fence.end())
        place = len(text) if end < 0 else end
        found.extend(_statements(text[fence.end() : min(place, fence.end() + LONG_TEXT)], fence.end()))
    return found


def _statements(source: str, base: int) -> Iterator[Statement]:
    heading = ""
    colon_line = ""
    paragraph = 0
    previous: Sentence | None = None
    for sentence in sentences(source):
        if previous is not None and _breaks(source, previous, sentence):
            paragraph += 1
        if previous is not None and _is_title(source, previous, sentence):
            colon_line = plain_words(previous.text).lower()
        previous = sentence
        if sentence.block not in _READ or len(sentence.text) > MAX_STATEMENT:
            continue
        plain = plain_words(sentence.text)
        if sentence.block == "heading" or _is_bold_line(sentence.text):
            heading, colon_line = plain.rstrip(":").lower(), ""
            yield _statement(sentence.text, sentence.start + base, "heading", "", "", paragraph, plain, introduces=True)
            continue
        if not plain:
            continue
        introduces = plain.endswith(":")
        marker = _marker(source, sentence)
        if introduces or (sentence.block == "prose" and not marker):
            colon_line = ""
        text = sentence.text.rstrip(":* ") if introduces else sentence.text
        if text:
            start = sentence.start + base
            place = colon_line or heading
            plain = plain_words(text) if introduces else plain
            yield _statement(text, start, sentence.block, marker, place, paragraph, plain, introduces=introduces)
        if introduces:
            colon_line = plain.lower()


def _statement(
    text: str, start: int, block: str, marker: str, heading: str, paragraph: int, plain: str, *, introduces: bool
) -> Statement:
    core = without_lead(plain)
    words = frozenset(_WORD.findall(core.lower()))
    return Statement(text, start, start + len(text), block, marker, heading, paragraph, plain, introduces, core, words)


def _breaks(source: str, before: Sentence, after: Sentence) -> bool:
    between = source[before.end : after.start]
    return "\n\n" in between or before.block != after.block or ("\n" in between and after.block == "list")


def _is_title(source: str, before: Sentence, item: Sentence) -> bool:
    """Whether a short line without a full stop stands right above a list: "Changes so far", then its items."""
    if item.block != "list" or before.block != "prose" or not 1 < len(before.text.split()) <= TITLE_WORDS:
        return False
    starts_line = before.start == 0 or source[before.start - 1] == "\n"
    ends_bare = before.text[-1].isalnum() or before.text[-1] in "`)"
    return starts_line and ends_bare and bool(_ITEM_BEGINS.fullmatch(source, before.end, item.start))


def _is_bold_line(text: str) -> bool:
    return len(text) < 90 and text.startswith("**") and text.rstrip(": ").endswith("**") and text.count("**") == 2


def _marker(source: str, sentence: Sentence) -> str:
    if sentence.block == "prose" and sentence.text[1:2] not in _AFTER_MARKER and sentence.text[:1] not in "-*[(•":
        return ""
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
