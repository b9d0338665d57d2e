"""What counts as a word of a text for search: runs of letters and digits, case and accents aside.

The same definition as SQLite's ``unicode61 remove_diacritics 2`` tokenizer for the scripts that Unicode 6.1 knew.
"""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"[^\W_]+")


def words(text: str) -> list[str]:
    """The words of ``text`` in order, lower-cased and without accents."""
    if not text.isascii():
        text = "".join(each for each in unicodedata.normalize("NFD", text) if not unicodedata.combining(each))
    return _WORD.findall(text.lower())
