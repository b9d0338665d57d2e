"""The passage that a sentence is understood with: the list it is an item of, the words of the person around it.

One sentence of a list ("`Close()` waits 100 ms") says nothing without the line that introduces it, and a person's sentence
often takes its subject from the one before. The passage is one contiguous piece of the message, so that it can be quoted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tallystick.extractors.rules_statements import Statement, is_dangling, names_something, plain_words

MAX_PASSAGE = 420
"""Characters; what would be longer is left as the sentence alone."""
_REFERS = re.compile(
    r"\b(?:it|its|this|that|these|those|them|they|which|there|both|ones?|le|la|les|ça|cela|celui|celle|ceux|il|elle)\b",
    re.IGNORECASE,
)


def listed(statement: Statement, spoken: Sequence[Statement], text: str) -> Statement:
    """The whole list that the item stands in, from the line that introduces it to its last item; the statement itself where
    it is no item of such a list, or the list is too long."""
    place = _place(statement, spoken)
    if place < 0 or not _is_item(statement):
        return statement
    first = place
    while first > 0 and _is_item(spoken[first]) and spoken[first - 1].heading == statement.heading:
        first -= 1
    if first > 0 and _is_item(spoken[first]):
        first -= 1
    last = place
    while last + 1 < len(spoken) and _is_item(spoken[last + 1]) and spoken[last + 1].heading == statement.heading:
        last += 1
    if not spoken[first].introduces or spoken[first].block == "heading":
        return statement
    return _span(spoken[first], spoken[last], statement, text)


def spoken_with(statement: Statement, spoken: Sequence[Statement], text: str) -> Statement:
    """A person's sentence that refers to something, or names nothing, with what they said before it in the message."""
    place = _place(statement, spoken)
    refers = is_dangling(statement) or _REFERS.search(statement.core) or not names_something(statement.core)
    if place < 1 or statement.marker or not refers:
        return statement
    first = place
    while first > 0 and not spoken[first - 1].marker and spoken[first - 1].block == "prose":
        if statement.end - spoken[first - 1].start > MAX_PASSAGE:
            break
        first -= 1
    return _span(spoken[first], statement, statement, text)


def stand_together(first: Statement, second: Statement) -> bool:
    """Whether two sentences of one paragraph can be quoted as one."""
    if first.paragraph != second.paragraph or first.is_question or second.is_question:
        return False
    return first.block == second.block != "heading" and second.end - first.start <= MAX_PASSAGE


def joined(first: Statement, second: Statement, text: str) -> Statement:
    """Both and what stands between them, as one statement with the place of ``first``."""
    quote = text[first.start : second.end]
    return first._replace(text=quote, end=second.end, plain=plain_words(quote))


def _place(statement: Statement, spoken: Sequence[Statement]) -> int:
    return next((i for i, each in enumerate(spoken) if each.start == statement.start and each.end == statement.end), -1)


def _is_item(statement: Statement) -> bool:
    return statement.block == "list" or bool(statement.marker)


def _span(first: Statement, last: Statement, statement: Statement, text: str) -> Statement:
    if first is last or last.end - first.start > MAX_PASSAGE:
        return statement
    quote = text[first.start : last.end]
    return statement._replace(text=quote, start=first.start, end=last.end, plain=plain_words(quote))
