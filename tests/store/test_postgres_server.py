"""The server that the tests share: started once, and nothing is left of it, whatever happened."""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path

import pytest

from tests.store.postgres_server import _locked, shared_server


def test_a_server_that_does_not_start_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No folder, no note and no lock."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(pytest.fail.Exception, match="no PostgreSQL server could be started"):
        shared_server(tmp_path / "nowhere" / "bin")
    assert list(tmp_path.iterdir()) == []


def test_workers_that_come_and_go_leave_nothing(tmp_path: Path) -> None:
    """However they come and go: one at a time is in it, it is started by the first alone, and the last removes the files."""
    inside: list[int] = []
    most: list[int] = []
    begun: list[int] = []
    ended: list[int] = []

    def work() -> None:
        for _ in range(100):
            for by in (1, -1):
                with _locked(tmp_path / "note.json") as kept:
                    inside.append(1)
                    most.append(len(inside))
                    (begun if not kept["users"] else []).append(1)
                    kept["users"] += by
                    (ended if not kept["users"] else []).append(1)
                    inside.pop()

    workers = [threading.Thread(target=work) for _ in range(6)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    assert max(most) == 1
    assert len(begun) == len(ended)
    assert list(tmp_path.iterdir()) == []
