"""Reads the named statements of a store: ``queries.sql`` in its folder, and the files that make its schema."""

from __future__ import annotations

import os
from functools import cache

_MARK = "\n-- name: "


def text(folder: str, name: str) -> str:
    """A file of a store's folder."""
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return file.read()


@cache
def named(folder: str) -> dict[str, str]:
    """Statement by name, comments left out."""
    pieces = text(folder, "queries.sql").split(_MARK)[1:]
    parted = (piece.partition("\n") for piece in pieces)
    return {name: _bare(statement) for name, _, statement in parted}


def _bare(statement: str) -> str:
    lines = (line for line in statement.splitlines() if not line.startswith("--"))
    return "\n".join(lines).strip().rstrip(";")
