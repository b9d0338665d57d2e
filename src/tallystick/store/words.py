"""What counts as a word of a text for search: runs of letters and digits, case and Latin accents aside.

The same definition as SQLite's ``unicode61 remove_diacritics 2`` tokenizer for the letters that Unicode 6.1 knew. It folds
an accented letter only where an ASCII letter is under the accent: a Hangul syllable, й and ά stay what they are.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
_ASCII_WORD = re.compile(r"[a-z0-9]+")
_WORD = re.compile(r"[^\W_]+")
_FOLDED = dict(zip("ςµϐϑϕϖϰϱϵſẛǡ\u1fbe", "σμβθφπκρεssǡι", strict=True))
"""Where the tokenizer parts from lower case and from the letter under the accents."""


def words(text: str) -> list[str]:
    """The words of ``text`` in order, lower-cased and without accents."""
    text = text.lower()
    if text.isascii():
        return _ASCII_WORD.findall(text)
    text = _BEYOND_ASCII.sub(_plain, text)
    return _WORD.findall(text)


def _plain(found: re.Match[str]) -> str:
    return _folded(found[0])


@lru_cache(maxsize=65_536)
def _folded(letter: str) -> str:
    if unicodedata.combining(letter):
        return ""
    if letter in _FOLDED:
        return _FOLDED[letter]
    base = unicodedata.normalize("NFD", letter)[0]
    return base if base.isascii() and base.isalpha() else letter
