"""Reads the named statements of ``queries.sql``."""

from __future__ import annotations

import re
from pathlib import Path

_HERE = Path(__file__).parent
_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


def schema() -> str:
    """The statements that make an empty log."""
    return (_HERE / "schema.sql").read_text("utf-8")


def index_made_anew() -> str:
    """The statements that make the search index anew beside the one that is kept."""
    return (_HERE / "index_made_anew.sql").read_text("utf-8")


def statements() -> dict[str, str]:
    """Statement text by name, comments left out."""
    pieces = _NAME.split((_HERE / "queries.sql").read_text("utf-8"))
    return {name: _bare(text) for name, text in zip(pieces[1::2], pieces[2::2], strict=True)}


def _bare(text: str) -> str:
    lines = (line for line in text.splitlines() if not line.startswith("--"))
    return "\n".join(lines).strip().rstrip(";")
