"""Reads the named statements of ``queries.sql``."""

from __future__ import annotations

import os
from functools import cache

_HERE = os.path.dirname(__file__)
_MARK = "\n-- name: "


def schema() -> str:
    """The statements that make an empty log."""
    return _text("schema.sql")


def index_made_anew() -> str:
    """The statements that make the search index anew beside the one that is kept."""
    return _text("index_made_anew.sql")


@cache
def statements() -> dict[str, str]:
    """Statement text by name, comments left out."""
    pieces = _text("queries.sql").split(_MARK)[1:]
    named = (piece.partition("\n") for piece in pieces)
    return {name: _bare(text) for name, _, text in named}


def _text(name: str) -> str:
    with open(os.path.join(_HERE, name), encoding="utf-8") as file:
        return file.read()


def _bare(text: str) -> str:
    lines = (line for line in text.splitlines() if not line.startswith("--"))
    return "\n".join(lines).strip().rstrip(";")
