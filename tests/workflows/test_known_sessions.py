"""Sessions are looked up by what is filed of them: as many as there are, each costs the same (EVID.4)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.beliefs import Name
from tallystick.plugins import ingest_tools
from tallystick.store.sqlite import SqliteStore
from tallystick.store.sqlite.reading import SqliteReading
from tallystick.testing.trails import trail_over
from tallystick.trail import Trail
from tallystick.workflows.ingest import ingest
from tests.cli.surface import Tally
from tests.sessions import ClaudeCode


@pytest.fixture
def trail(tmp_path: Path) -> Trail:
    """A fresh one."""
    return trail_over(SqliteStore(tmp_path / "trail"))


def written(folder: Path, *names: str) -> list[Path]:
    """Files of sessions of these names."""
    folder.mkdir(exist_ok=True)
    return [
        ClaudeCode(name, cwd="/work/shop").says(f"Use tabs in {name}.").write(folder / f"{name}.jsonl")
        for name in names
    ]


def test_names_are_gone_through_once(trail: Trail, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many sessions come, those that are there are listed once in the life of a trail."""
    listed: list[str] = []
    names = SqliteReading.names

    def told(rows: SqliteReading, what: str) -> list[Name]:
        listed.append(what)
        return names(rows, what)

    monkeypatch.setattr(SqliteReading, "names", told)
    files = written(tmp_path / "one", *(f"session-{n}" for n in range(9)))
    assert len(ingest(trail, files, ingest_tools({})).sessions) == 9
    assert listed.count("session") == 1


def test_sessions_of_an_earlier_version_are_filed(trail: Trail, tmp_path: Path) -> None:
    """A trail whose sessions were not filed, such as an imported one: the next file files them, and none is there twice."""
    ingest(trail, written(tmp_path / "one", "a", "b"), ingest_tools({}))
    with trail.writing() as appender:
        appender.rows._db.execute("DELETE FROM same")  # type: ignore[attr-defined]
    again = written(tmp_path / "two", "b", "c")
    ingest(trail, again, ingest_tools({}))
    with trail.reading() as rows:
        assert len({name.name for name in rows.names("session")}) == len(rows.names("session")) == 3


def test_a_session_that_was_only_quoted_is_known(tally: Tally) -> None:
    """What `remember --session` introduced is the session that an ingest reads later."""
    first = ClaudeCode("first", cwd=str(tally.project)).says("Hello.").write(tally.folder / "first.jsonl")
    tally.json("ingest", first)
    path = ClaudeCode("late", cwd=str(tally.project)).says("Always use tabs.").write(tally.folder / "late.jsonl")
    tally.json("remember", "Always use tabs.", "--quote", "Always use tabs.", "--session", path)
    before = tally.json("sessions", "--holder", "*")
    tally.json("ingest", path)
    assert len(tally.json("sessions", "--holder", "*")["items"]) == len(before["items"]) == 2
