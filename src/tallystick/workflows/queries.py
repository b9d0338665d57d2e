"""How a query over the archive is read: natural words by their stems, and exactly what is quoted or no plain word.

``"…"`` is a phrase. Anything else that holds more than letters and digits (``src/api.py``, ``#123``, ``mini.local``,
``re-run``, ``--no-verify``, ``snake_case``) is looked for as it is written, whatever its case, and not inside of a longer word.
A number in hexadecimal digits may be the beginning of a longer one, as commits are written. Every text is a query.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tallystick.language.telling import STOP_WORDS
from tallystick.store.said_words import beginning, sought_word
from tallystick.store.words import words

MOST_WORDS = 64
"""Words of a query that are asked of the index; of a longer phrase the rest is held against the text alone."""
_PIECE = re.compile(r'"([^"]*)"|([^\s"]+)')
_NATURAL = re.compile(r"[^\W_]+(?:'[^\W_]+)*\Z")
_HEX = re.compile(r"(?=[0-9a-f]*[0-9])[0-9a-f]{7,40}\Z")
_STRAIGHT = str.maketrans("“”„«»‘’", '"""""\'\'')
_OPENING, _CLOSING = "([{<'`*", ".,;:!?)]}>'`*…"
_WORD_BEFORE, _WORD_AFTER = r"(?<![^\W_])", r"(?![^\W_])"
_LEAST_STEM = 3


class Query(NamedTuple):
    """What a query comes to."""

    words: tuple[tuple[str, ...], ...]
    """For the index: all of these, each in one of its forms (``store.said.Sought``). Empty where it has no word at all."""
    exact: tuple[re.Pattern[str], ...]
    """What must stand in the text as well."""
    natural: tuple[str, ...]
    """Stems and beginnings that were asked for, to be marked where they stand."""

    def places(self, text: str) -> list[tuple[int, int]] | None:
        """Where in a text that the index found the query stands, in order, as character ranges: the first place of each of
        its pieces. None where something that must stand there does not."""
        found: list[tuple[int, int]] = []
        for pattern in self.exact:
            match = pattern.search(text)
            if match is None:
                return None
            found.append(match.span())
        found += filter(None, (_place(stem, text) for stem in self.natural))
        return _apart(found)


def read_query(text: str) -> Query:
    """Read a query."""
    exact: list[str] = []
    natural: list[str] = []
    for phrase, piece in _PIECE.findall(text.translate(_STRAIGHT)):
        trimmed = piece.lstrip(_OPENING).rstrip(_CLOSING)
        if not words(phrase or trimmed):
            continue
        if phrase or not _NATURAL.match(trimmed):
            exact.append(phrase or trimmed)
        else:
            natural += words(trimmed)
    telling = [word for word in natural if word not in STOP_WORDS] or ([] if exact else natural)
    of_exact = [word for piece in exact for word in words(piece)]
    asked = dict.fromkeys([*map(sought_word, of_exact), *map(_form, telling)])
    return Query(
        tuple((form,) for form in list(asked)[:MOST_WORDS]),
        tuple(map(_pattern, dict.fromkeys(exact))),
        tuple(dict.fromkeys(map(_form, telling))),
    )


def _form(word: str) -> str:
    return beginning(word) if _HEX.match(word) else sought_word(word)


def _pattern(piece: str) -> re.Pattern[str]:
    """The piece as it is written, with any white space for white space, and no letter or digit next to one of its own."""
    said = piece.split()
    before = _WORD_BEFORE if said[0][0].isalnum() else ""
    after = _WORD_AFTER if said[-1][-1].isalnum() else ""
    return re.compile(before + r"\s+".join(map(re.escape, said)) + after, re.IGNORECASE)


def _place(stem: str, text: str) -> tuple[int, int] | None:
    """Where a word of this stem first stands; None where it stands there only with accents or in letters of another case."""
    start = stem.removesuffix("*")
    if len(start) > _LEAST_STEM and not stem.endswith("*"):
        start = start[:-1]  # "happi" is the stem of "happy".
    for match in re.finditer(f"{_WORD_BEFORE}{re.escape(start)}[^\\W_]*", text, re.IGNORECASE):
        if stem.endswith("*") or stem in map(sought_word, words(match[0])):
            return match.span()
    return None


def _apart(places: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The places in order, those that run into each other joined."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(places):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found
