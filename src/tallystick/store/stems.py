"""Stems of English words, so that a search for "deploying" finds "deployed": M. F. Porter, An algorithm for suffix stripping,
Program 14(3), 1980, with the two departures that its author published with it (``logi`` and ``bli``).

A word that is not made of the letters a–z alone is no natural word and stays as it is: hashes, numbers, other scripts.
"""

from __future__ import annotations

import re

_PLAIN = re.compile(r"[a-z]{3,32}\Z")
_SECOND = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("bli", "ble"),
    ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate"),
    ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"),
    ("iviti", "ive"), ("biliti", "ble"), ("logi", "log"),
)  # fmt: skip
_THIRD = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", ""),
)  # fmt: skip
_FOURTH = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti",
    "ous", "ive", "ize",
)  # fmt: skip


def stem(word: str) -> str:
    """The stem of a word as ``words.words`` makes them: lower case, without accents."""
    if not _PLAIN.match(word):
        return word
    word = _without_inflection(_without_plural(word))
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = f"{word[:-1]}i"
    word = _replaced(_replaced(word, _SECOND), _THIRD)
    return _without_end(_without_fourth(word))


def _shape(word: str) -> str:
    """``c`` and ``v`` for each letter."""
    shape: list[str] = []
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and shape[-1:] == ["c"])
        shape.append("v" if vowel else "c")
    return "".join(shape)


def _measure(word: str) -> int:
    """How often a vowel is followed by a consonant."""
    return _shape(word).count("vc")


def _has_vowel(word: str) -> bool:
    return "v" in _shape(word)


def _ends_double(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _shape(word)[-1] == "c"


def _ends_short(word: str) -> bool:
    """Consonant, vowel, consonant, and the last is none of w, x, y."""
    return _shape(word)[-3:] == "cvc" and word[-1] not in "wxy"


def _without_plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _without_inflection(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    for ending in ("ed", "ing"):
        if word.endswith(ending):
            rest = word[: -len(ending)]
            if not _has_vowel(rest):
                return word
            if rest.endswith(("at", "bl", "iz")):
                return f"{rest}e"
            if _ends_double(rest) and rest[-1] not in "lsz":
                return rest[:-1]
            return f"{rest}e" if _measure(rest) == 1 and _ends_short(rest) else rest
    return word


def _replaced(word: str, endings: tuple[tuple[str, str], ...]) -> str:
    found = max((each for each in endings if word.endswith(each[0])), key=lambda each: len(each[0]), default=None)
    if found is None:
        return word
    rest = word[: -len(found[0])]
    return rest + found[1] if _measure(rest) else word


def _without_fourth(word: str) -> str:
    ending = max((each for each in _FOURTH if word.endswith(each)), key=len, default="")
    rest = word[: len(word) - len(ending)]
    if not ending or _measure(rest) < 2 or (ending == "ion" and rest[-1:] not in ("s", "t")):
        return word
    return rest


def _without_end(word: str) -> str:
    if word.endswith("e"):
        rest = word[:-1]
        measure = _measure(rest)
        if measure > 1 or (measure == 1 and not _ends_short(rest)):
            word = rest
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word
