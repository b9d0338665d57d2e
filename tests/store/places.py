"""Trails on disk for tests of faults, processes and tampering: where they are, what is believed, whether all is sound."""

from __future__ import annotations

from pathlib import Path

from tallystick.model.entry import LogName
from tallystick.plugins import ingest_tools
from tallystick.store.outside import OutsideFolder
from tallystick.store.protocol import Selection
from tallystick.store.sqlite import SqliteStore
from tallystick.testing.trails import RepeatingEntropy, SetClock
from tallystick.trail import Trail
from tallystick.trail.verifying import Report, verify_log
from tallystick.workflows.ingest import ingest
from tests.sessions import ClaudeCode


def on_disk(folder: Path, *, vfs: str | None = None, seed: int = 0) -> Trail:
    """The trail in ``folder/trail`` with its keys in ``folder/state``."""
    store = SqliteStore(folder / "trail", vfs=vfs)
    entropy = RepeatingEntropy(seed)
    return Trail(store, OutsideFolder(folder / "state", entropy), clock=SetClock(), entropy=entropy, actor="tester")


def reports(folder: Path) -> dict[LogName, Report]:
    """What a fresh process would find in each log."""
    trail = on_disk(folder)
    try:
        return {log: verify_log(trail, log) for log in LogName}
    finally:
        trail.store.close()


def believed(folder: Path) -> list[tuple[str, str, str, str]]:
    """(kind, text, derivation, outcome) of everything that is believed now, sorted: the same for two equal ingests."""
    trail = on_disk(folder)
    try:
        with trail.reading() as rows:
            beliefs = rows.believed(Selection(rows.head().size))
        return sorted((each.row.kind, each.text or "", each.derivation, each.outcome) for each in beliefs)
    finally:
        trail.store.close()


def write_session(path: Path, name: str = "one") -> Path:
    """A small session with a rule, an outcome and a decision in it."""
    session = ClaudeCode(name)
    session.says("Please fix the failing test. Always run the linter before you commit.")
    session.runs("pytest -q", "2 passed in 0.10s")
    session.answers(
        f"Done: all tests pass now. I decided to keep SQLite for the {name} cache because it needs no server."
    )
    session.says("No, the port is 5433, not 5432.")
    session.answers("Understood, the port is 5433.")
    return session.write(path)


def take_in(trail: Trail, *paths: Path) -> int:
    """Ingest, and give the number of claims that were opened."""
    report = ingest(trail, paths, ingest_tools({"TALLY_PERSON": "ada"}))
    assert report.refused == []
    return report.claims
