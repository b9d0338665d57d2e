"""The words of the reference store and those of SQLite's tokenizer, letter by letter."""

from __future__ import annotations

import unicodedata

import apsw

from tallystick.store.words import words

SCRIPTS = (
    "LATIN",
    "GREEK",
    "CYRILLIC",
    "HEBREW",
    "ARABIC",
    "DEVANAGARI",
    "HANGUL",
    "HIRAGANA",
    "KATAKANA",
    "CJK",
    "THAI",
    "DIGIT",
)
ODD = frozenset("ͿԨԪԬԮ\u0345")
"""Capitals that are younger than the tokenizer's tables, and a mark that Unicode calls a letter."""


def _letters() -> list[str]:
    letters = (chr(code) for code in range(0x80, 0xD800))
    return [
        each
        for each in letters
        if each not in ODD
        and unicodedata.category(each)[0] in "LN"
        and unicodedata.name(each, "").startswith(SCRIPTS)
        and unicodedata.ucd_3_2_0.category(each) != "Cn"
    ]


def test_a_word_is_the_same_to_both_stores() -> None:
    """TIME.4: free-text search finds a word in the SQLite store exactly where the reference store has it."""
    letters = _letters()
    assert len(letters) > 35_000
    database = apsw.Connection(":memory:")
    database.execute("CREATE VIRTUAL TABLE w USING fts5 (text, tokenize = 'unicode61 remove_diacritics 2')")
    database.execute("CREATE VIRTUAL TABLE v USING fts5vocab (w, instance)")
    with database:
        database.executemany("INSERT INTO w VALUES (?)", ((f"q{letter}z",) for letter in letters))
    kept: dict[int, list[str]] = {}
    for term, row in database.execute("SELECT term, doc FROM v ORDER BY doc, offset"):
        kept.setdefault(row, []).append(term)
    differing = [letter for row, letter in enumerate(letters, 1) if words(f"q{letter}z") != kept.get(row, [])]
    assert differing == []


def test_accents_and_case_are_aside_for_latin_letters() -> None:
    """TIME.4: déjà-vu is found as deja vu; й, 각 and ά are letters of their own."""
    assert words("Déjà-VU_х Crème") == ["deja", "vu", "х", "creme"]
    assert words("пройдены 각하 άλφα ΟΔΟΣ") == ["пройдены", "각하", "άλφα", "οδοσ"]
