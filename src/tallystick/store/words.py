"""What counts as a word of a text for search: runs of letters and digits, case and Latin accents aside.

The same definition as SQLite's ``unicode61 remove_diacritics 2`` tokenizer for the letters that Unicode 6.1 knew. It folds
an accented letter only where an ASCII letter is under the accent: a Hangul syllable, й and ά stay what they are.
"""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"[^\W_]+")
_FOLDED = dict(zip("ςµϐϑϕϖϰϱϵſẛǡ\u1fbe", "σμβθφπκρεssǡι", strict=True))
"""Where the tokenizer parts from lower case and from the letter under the accents."""


def words(text: str) -> list[str]:
    """The words of ``text`` in order, lower-cased and without accents."""
    text = text.lower()
    if not text.isascii():
        text = "".join(_folded(each) for each in text if not unicodedata.combining(each))
    return _WORD.findall(text)


def _folded(letter: str) -> str:
    if letter in _FOLDED:
        return _FOLDED[letter]
    base = unicodedata.normalize("NFD", letter)[0]
    return base if base.isascii() and base.isalpha() else letter
