"""One secret found in a text, and what a finder of secrets is."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

MARK = "[redacted:"
"""What every replacement begins with."""


class Found(NamedTuple):
    """A secret's range in the text and its kind."""

    start: int
    end: int
    kind: str
    rank: int
    """Where two overlap, the kind of the lower rank names both: a provider's token before a plain assignment."""


Finder = Callable[[str, int, int], Found | None]
"""Given the text and the range of a literal that was hit, the secret there or None; reads a bounded distance around it."""

EXAMINED = 48
"""This much of a plain value is examined; a secret that is longer is taken out to its end."""
MAX_VALUE = 512
"""What a secret at least this long covers is not read again for a better name of it."""
UNREAL = frozenset("xX*._-0…")
"""A value of these alone is drawn, not issued."""


_COLOUR = re.compile(r"(?:\x1b|\\u001b|\\x1b|\\033|\\e)\[[0-9;]{0,12}m$")
_DIGIT = re.compile(r"[0-9]")
_LETTER = re.compile(r"[A-Za-z]")


def begins(text: str, start: int) -> bool:
    """Whether a token can begin at ``start``: not inside a word; ``\\n``, ``%3D`` and colours, as JSON, URLs and terminals
    write them, end one."""
    if not start:
        return True
    before = text[start - 1]
    if not (before.isalnum() or before == "_"):
        return True
    if before == "m" and _COLOUR.search(text, max(0, start - 20), start):
        return True
    return (before in "ntr" and text[start - 2 : start - 1] == "\\") or (start > 2 and text[start - 3] == "%")


def has_digit_and_letter(value: str) -> bool:
    """Whether a value mixes digits and letters, as issued secrets do and words do not."""
    return _DIGIT.search(value) is not None and _LETTER.search(value) is not None
