"""Splits a text into sentences with their places, keeping code, tables, lists and headings apart."""

from __future__ import annotations

from typing import NamedTuple


class Sentence(NamedTuple):
    """One sentence (or heading, list item, table row, code line) of a text."""

    text: str
    """Exactly ``source[start:end]``: nothing folded, no surrounding white space."""
    start: int
    """Character offset, half-open with ``end``."""
    end: int
    block: str
    """``prose`` | ``list`` | ``heading`` | ``quote`` (a line that begins with ``>``) | ``table`` | ``code`` (fenced or
    indented code block)."""


def sentences(source: str) -> list[Sentence]:
    """The sentences of ``source`` in order; every non-blank character of it is in exactly one, list and heading
    markers apart."""
    raise NotImplementedError
