"""The statements of the SQLite store, and the files that make its schema."""

from __future__ import annotations

import os

from tallystick.store.statements import named, text

_HERE = os.path.dirname(__file__)


def schema() -> str:
    """The statements that make an empty log."""
    return text(_HERE, "schema.sql")


def migration(version: int) -> str:
    """The statements that bring a log from the format before to this one."""
    folder = os.path.join(_HERE, "migrations")
    return text(folder, next(name for name in sorted(os.listdir(folder)) if name.startswith(f"{version:04d}_")))


def index_made_anew() -> str:
    """The statements that make the search index anew beside the one that is kept."""
    return text(_HERE, "index_made_anew.sql")


def statements() -> dict[str, str]:
    """Statement text by name, comments left out."""
    return named(_HERE)
