"""What a person dictates word for word: the text a command shall print, the name a thing shall have.

A frame of wording ("print something like:", "it should behave like:", "change it to") announces the words; they follow in
quotation marks, in a fence or on the lines below, and belong to the quote, because without them it says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tallystick.extractors.rules_statements import Statement, plain_words

MAX_DICTATED = 420
"""Characters of the announcing words and what they announce that go into the quote; longer is cut at a line's end."""
LATEST_PLACE = 6_000
"""Dictated words that begin later in a message are not looked for."""

_ANNOUNCES = re.compile(
    r"\b(?:print|prints|say|says|show|shows|display|displays|output|outputs|read|reads|behave|behaves|look|looks|return|"
    r"returns|log|logs|write|reword(?:ed)?|rephrase|call|affiche[rz]?|message|wording|text|format|headline|banner|"
    r"change)\b[^\n.:;?!]{0,60}?\b(?:like|as|this|following|to|with|into|be|comme|suit)(?: this| that| so| follows)?"
    r"[ \t]?[.:]?[ \t]*\r?\n",
    re.IGNORECASE,
)
_NOT_A_TEXT = re.compile(
    r"(?:can you|could you|why|what|how|please|i |we |the |it |this |error|panic|fatal|traceback|warning|at |https?:|"
    r"diff |\$ |\d{4}-|```diff|--- |goroutine|file )",
    re.IGNORECASE,
)
_REPORTS = re.compile(
    r"\b(?:i see|i['’]?m seeing|i (?:get|got|have)|it (?:now |still |currently )?(?:says|shows|prints|looks|printed)|"
    r"currently|still|got this|gives me|happen\w*|why|fail\w*|error)\b",
    re.IGNORECASE,
)
_ASKS_A_NAME = re.compile(
    r"\b(?:what|which|how)\b.{0,60}\b(?:name|call|rename|branch|title|nom|nommer|appeler)\b", re.IGNORECASE
)
_A_NAME = re.compile(r"[`\"']?[\w@][\w./@:-]{3,80}[`\"']?\.?$")
_PICKS_SEVERAL = re.compile(
    r"(?:please )?(?:implement|do|fix|address|keep|use|take|apply|go with|let['’]s do)(?: (?:only|just))? "
    r"#?\d{1,2}(?: ?(?:,|and|&|et|\+|/|-) ?#?\d{1,2}){1,8}\b",
    re.IGNORECASE,
)


def dictated(text: str, spoken: Sequence[Statement]) -> Statement | None:
    """The announcing words and the words dictated, as one statement, or None where the message dictates nothing."""
    if not spoken:
        return None
    for announced in _ANNOUNCES.finditer(text, 0, LATEST_PLACE):
        start = max((each.start for each in spoken if each.start <= announced.start()), default=-1)
        before = text[start : announced.start()]
        if start < 0 or len(before) > 200 or _REPORTS.search(before):
            continue
        end = _end_of_words(text, announced.end(), start + MAX_DICTATED)
        if end - announced.end() < 8 or _NOT_A_TEXT.match(text[announced.end() : end].lstrip('"“`\n ')):
            continue
        quote = text[start:end].strip()
        place = text.index(quote, start)
        return spoken[0]._replace(
            text=quote, start=place, end=place + len(quote), plain=plain_words(quote), introduces=False, marker=""
        )
    return None


def names(closing: Sequence[Statement], spoken: Sequence[Statement]) -> bool:
    """Whether the whole answer is one name, after the agent asked how a thing shall be called."""
    if len(spoken) != 1 or not _A_NAME.match(spoken[0].plain) or spoken[0].plain.isalpha():
        return False
    return any(each.is_question and _ASKS_A_NAME.search(each.plain) for each in closing[-3:])


def picks_several(statement: Statement) -> bool:
    """Whether the person orders some of the numbered points, and so leaves out the others ("Implement 1,2 and 3")."""
    return bool(_PICKS_SEVERAL.match(statement.core)) and not statement.is_question


def _end_of_words(text: str, begin: int, limit: int) -> int:
    """Where the dictated words end: at the closing fence or quotation mark, else at the last line's end within reach."""
    opening = text[begin : begin + 40].lstrip()
    if opening.startswith("```"):
        closing = text.find("```", text.index("```", begin) + 3, limit)
        return closing + 3 if closing >= 0 else _line_end(text, begin, limit)
    if opening[:1] in '"“':
        closing = max(text.rfind('"\n', begin + 3, limit), text.rfind("”", begin + 3, limit))
        return closing + 1 if closing >= 0 else _line_end(text, begin, limit)
    return _line_end(text, begin, limit)


def _line_end(text: str, begin: int, limit: int) -> int:
    if len(text) <= limit:
        return len(text)
    return max(text.rfind("\n", begin, limit), begin)
