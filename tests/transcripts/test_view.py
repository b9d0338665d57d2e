"""The disk as adapters see it: folders in order, databases as they stood at the first question, never written to (EVID.10)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from tallystick.errors import UsageError
from tallystick.transcripts.view import DiskView


@pytest.fixture
def view() -> Iterator[DiskView]:
    """A view that is closed at the end."""
    with DiskView() as opened:
        yield opened


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """One with a row in its log, as a harness that is running leaves it."""
    path = tmp_path / "a folder" / "sessions?.db"
    path.parent.mkdir()
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    connection.execute("CREATE TABLE session (id, title); INSERT INTO session VALUES (1, 'one')")
    return path


def test_folders_and_files(view: DiskView, tmp_path: Path) -> None:
    """Names come in order, folders told apart; what is not there is empty, None or a clear error."""
    (tmp_path / "b").mkdir()
    (tmp_path / "a.json").write_bytes(b"{}")
    assert view.names(str(tmp_path)) == ["a.json", "b/"]
    assert view.names(str(tmp_path / "none")) == view.names(str(tmp_path / "a.json")) == []
    state = view.state(str(tmp_path / "a.json"))
    assert state is not None
    assert state.size == 2
    assert view.state(str(tmp_path / "none")) is None
    assert view.read(str(tmp_path / "a.json")) == b"{}"
    with pytest.raises(UsageError, match="none: No such file"):
        view.read(str(tmp_path / "none"))


def test_a_database_is_read_as_it_stood(view: DiskView, database: Path) -> None:
    """Pitfall 9: what a harness writes after the first question is not seen until the next view, its log included in what
    changed."""
    ask = "SELECT title FROM session WHERE id > ? ORDER BY id"
    before = view.state(str(database))
    assert list(view.rows(str(database), ask, (0,))) == [("one",)]
    with apsw.Connection(str(database)) as writer:
        writer.execute("INSERT INTO session VALUES (2, 'two')")
    assert list(view.rows(str(database), ask, (0,))) == [("one",)]
    assert view.state(str(database)) != before
    with DiskView() as later:
        assert list(later.rows(str(database), ask, (0,))) == [("one",), ("two",)]
    with pytest.raises(UsageError, match="cannot be read as this harness's database"):
        list(view.rows(str(database), "DELETE FROM session"))


@pytest.mark.parametrize("sql", ["SELECT * FROM message", "SELECT absent FROM session"])
def test_what_a_database_has_not(view: DiskView, database: Path, sql: str) -> None:
    """Pitfall 9: a table or column of another version is named, and so is the file."""
    with pytest.raises(UsageError, match=r"sessions\?\.db.*no such"):
        list(view.rows(str(database), sql))


@pytest.mark.parametrize("data", [b"", b"SQLite format 3\x00", os.urandom(5000)], ids=["empty", "torn", "noise"])
def test_what_is_no_database(view: DiskView, tmp_path: Path, data: bytes) -> None:
    """Bytes of any kind end in one clear error."""
    path = tmp_path / "x.db"
    path.write_bytes(data)
    with pytest.raises(UsageError, match=r"x\.db"):
        list(view.rows(str(path), "SELECT id FROM session"))


def test_a_database_that_is_held(database: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Pitfall 9: one that another program has for itself is waited for a little, and then named."""
    monkeypatch.setattr("tallystick.transcripts.view.BUSY_MILLISECONDS", 20)
    path = tmp_path / "plain.db"
    held = apsw.Connection(str(path))
    held.execute("CREATE TABLE session (id); BEGIN EXCLUSIVE")
    with DiskView() as view, pytest.raises(UsageError, match=r"plain\.db: another program holds"):
        list(view.rows(str(path), "SELECT id FROM session"))


def test_a_folder_that_may_not_be_written(view: DiskView, database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database whose log cannot be opened where it lies is read from a copy, log and all; nothing is left behind."""
    held = apsw.Connection(str(database))
    held.execute("BEGIN")
    held.execute("SELECT * FROM session").fetchall()
    with apsw.Connection(str(database)) as writer:
        writer.execute("INSERT INTO session VALUES (3, 'three')")
    opened = apsw.Connection

    def refused(path: str, *arguments: object, **named: object) -> apsw.Connection:
        if str(database.parent) in path.replace("%20", " "):
            raise apsw.CantOpenError("unable to open database file")
        return opened(path, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(apsw, "Connection", refused)
    assert len(list(view.rows(str(database), "SELECT id FROM session"))) == 2
    copies = [Path(copy.name) for copy in view._copies]
    view.close()
    assert copies
    assert not any(copy.exists() for copy in copies)


def test_text_that_is_none(view: DiskView, database: Path) -> None:
    """EVID.2: a text of a database that is no UTF-8 is an error that names it, where it was asked for as text."""
    with apsw.Connection(str(database)) as writer:
        writer.execute("INSERT INTO session VALUES (4, CAST(x'f4ff' AS TEXT))")
    with pytest.raises(UsageError, match=r"sessions\?\.db.*cannot be read"):
        list(view.rows(str(database), "SELECT title FROM session"))
