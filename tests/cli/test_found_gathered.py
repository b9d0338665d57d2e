"""Sessions that lie in databases and shared files, found on this machine, read, and told of by doctor (EVID.4, 9)."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.cli.surface import Tally

CORPORA = Path(__file__).parents[2] / "corpora"
RUN = "\n# aider chat started at 2026-03-0{day} 09:00:00\n\n#### Always run the linter before committing, {day}.\n\nYes.\n"


def harness(tally: Tally, name: str) -> dict[str, Any]:
    return next(each for each in tally.json("doctor")["harnesses"] if each["name"] == name)


def counts(tally: Tally, name: str) -> list[int]:
    seen = harness(tally, name)
    return [seen["read"], seen["grown"], seen["waiting"], len(seen["refused"])]


@pytest.mark.parametrize(
    ("name", "sql", "place"),
    [
        ("goose", "goose/sessions.sql", ".local/share/goose/sessions/sessions.db"),
        ("opencode", "opencode/opencode.sql", ".local/share/opencode/opencode.db"),
    ],
)
def test_a_database(tally: Tally, name: str, sql: str, place: str) -> None:
    """EVID.4: a database is one file that is read or not, and grown when it or its log did; it is found and never written to."""
    path = tally.folder / "home" / place
    path.parent.mkdir(parents=True)
    with sqlite3.connect(path) as database:
        database.executescript((CORPORA / sql).read_text("utf-8"))
    before = path.read_bytes()
    assert counts(tally, name) == [0, 0, 1, 0]
    report = tally.json("ingest", "--harness", name)
    assert (report["sessions"] > 0, report["problems"]) == (True, [])
    assert counts(tally, name) == [1, 0, 0, 0]
    assert harness(tally, name)["sessions"] == report["sessions"]
    assert path.read_bytes() == before
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE another (id)")
    assert counts(tally, name) == [0, 1, 0, 0]


def test_a_history_in_the_project(tally: Tally) -> None:
    """EVID.9: what a harness keeps in the project is found from anywhere in it, and not from elsewhere."""
    (tally.project / ".git").mkdir()
    (tally.project / "src").mkdir()
    path = tally.project / ".aider.chat.history.md"
    path.write_text("".join(RUN.format(day=day) for day in (1, 2)), "utf-8")
    tally.stand(tally.folder)
    assert "no sessions" in tally.refused("ingest")
    tally.stand(tally.project / "src")
    assert tally.json("ingest")["sessions"] == 2
    assert counts(tally, "aider") == [1, 0, 0, 0]
    path.write_text(path.read_text("utf-8") + RUN.format(day=3), "utf-8")
    assert counts(tally, "aider") == [0, 1, 0, 0]
