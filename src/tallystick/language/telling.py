"""Which words of a text tell what it speaks of: all but stop words, negations and modal words, whatever their order."""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"[^\W_]+")
STOP_WORDS = frozenset(
    "a an and are as at be been but by can did do does for from had has have how i if in into is it its me my no not of on or"
    " our so than that the their them then there they this to was we were what when where which who why with you your".split()
)
_TURNING = frozenset(
    "don t doesn didn isn aren wasn weren won shouldn mustn cannot never always ever no longer must should shall may"
    " might".split()
)


def plain_words(text: str) -> list[str]:
    """Runs of letters and digits in order, lower-cased and without accents."""
    plain = "".join(each for each in unicodedata.normalize("NFD", text) if not unicodedata.combining(each))
    return _WORD.findall(plain.lower())


def telling_words(text: str) -> list[str]:
    """The distinct telling words in order of the alphabet: two texts with the same ones speak of the same thing, whichever
    way."""
    return sorted(set(plain_words(text)) - STOP_WORDS - _TURNING)
