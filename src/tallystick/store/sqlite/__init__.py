"""The trail in a folder: one SQLite database per log, so that writing one never waits for another."""

from tallystick.store.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
