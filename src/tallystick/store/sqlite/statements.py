"""Reads the named statements of ``queries.sql``."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_HERE = Path(__file__).parent
_MARK = "\n-- name: "


def schema() -> str:
    """The statements that make an empty log."""
    return (_HERE / "schema.sql").read_text("utf-8")


def index_made_anew() -> str:
    """The statements that make the search index anew beside the one that is kept."""
    return (_HERE / "index_made_anew.sql").read_text("utf-8")


@cache
def statements() -> dict[str, str]:
    """Statement text by name, comments left out."""
    pieces = (_HERE / "queries.sql").read_text("utf-8").split(_MARK)[1:]
    named = (piece.partition("\n") for piece in pieces)
    return {name: _bare(text) for name, _, text in named}


def _bare(text: str) -> str:
    lines = (line for line in text.splitlines() if not line.startswith("--"))
    return "\n".join(lines).strip().rstrip(";")
