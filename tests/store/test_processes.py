"""Many processes at one trail at once, and processes that are killed (TRAIL.5, 6)."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import pytest
from benchmarks.accountability import kills

from tallystick.model.entry import LogName
from tallystick.store.protocol import Belief, Selection
from tallystick.store.sqlite.connection import is_in_wal_mode
from tests.store.places import on_disk, reports

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_SECONDS = 120


def _start(folder: Path, writers: int, count: int) -> subprocess.Popen[bytes]:
    """A herd of processes that stand at the barrier."""
    command = [sys.executable, "-m", "tests.store.appending_process", str(folder), str(writers), str(count)]
    made = subprocess.Popen(command, cwd=ROOT)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while len(list(folder.glob("*.ready"))) < writers:
        assert time.monotonic() < deadline
        assert made.poll() is None
        time.sleep(0.01)
    return made


def _said(folder: Path) -> list[tuple[int, str, int]]:
    """(claim, writer, number) of every claim."""
    trail = on_disk(folder)
    with trail.reading() as rows:
        beliefs = rows.believed(Selection(rows.head().size))
    trail.store.close()
    told = [(each.row.claim, (each.text or "").partition(" says ")) for each in beliefs]
    return [(claim, writer, int(number)) for claim, (writer, _, number) in told]


def test_forty_processes_append_at_once(tmp_path: Path) -> None:
    """TRAIL.6: 40 processes × 25 appends, from nothing: 1,000 claims, one valid tree, each writer's own in its order."""
    made = _start(tmp_path, 40, 25)
    (tmp_path / "go").touch()
    assert made.wait(PATIENCE_SECONDS) == 0
    told = _said(tmp_path)
    assert len(told) == 1_000
    by_writer = defaultdict(list)
    for _, writer, number in told:
        by_writer[writer].append(number)
    assert by_writer == {f"w{n}": list(range(25)) for n in range(40)}
    report = reports(tmp_path)[LogName.MEMORY]
    assert report.bad == ()
    assert report.size == 1_001
    assert report.checkpoint == "matches"


def test_readers_among_writers(tmp_path: Path) -> None:
    """TRAIL.6, TIME.3: reading never fails or waits while others write, and an answer as of a point does not change."""
    made = _start(tmp_path, 4, 60)
    reader = on_disk(tmp_path)
    (tmp_path / "go").touch()
    seen: dict[int, list[Belief]] = {}
    readings = 0
    while made.poll() is None or not readings:
        with reader.reading() as rows:
            newest = rows.head().size - 1
            assert len(list(rows.entries())) == newest + 1
            for seq in {newest, newest // 2, newest - 3}:
                assert seen.setdefault(seq, rows.believed(Selection(seq))) == rows.believed(Selection(seq))
        readings += 1
    assert made.wait(PATIENCE_SECONDS) == 0
    with reader.reading() as rows:
        assert {seq: rows.believed(Selection(seq)) for seq in seen} == seen
    reader.store.close()
    assert readings > 10
    assert len(_said(tmp_path)) == 240


def test_ingests_that_are_killed() -> None:
    """TRAIL.5: ``kill -9`` of real ingests at random instants; each trail is sound and the next run completes it."""
    result = kills.run(3, seed=20, sessions=kills.SESSIONS[1:4])
    assert result["sound"] == result["completed"] == 3, result


def test_the_lock_is_given_back_by_a_killed_writer(tmp_path: Path) -> None:
    """TRAIL.6: a writer that is killed while it holds the lock holds up nobody."""
    code = (
        "import sys, time, pathlib; from tests.store.places import on_disk\n"
        "with on_disk(pathlib.Path(sys.argv[1])).writing(): print('in', flush=True); time.sleep(100)"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"in\n"
        os.kill(holder.pid, 9)
    trail = on_disk(tmp_path, seed=2)
    began = time.monotonic()
    with trail.writing():
        pass
    assert time.monotonic() - began < 5
    trail.store.close()
    assert reports(tmp_path)[LogName.MEMORY].bad == ()


@pytest.mark.parametrize("begun", [b"", b"\x00" * 100])
def test_a_log_that_is_only_being_made_is_left_to_who_has_the_lock(tmp_path: Path, begun: bytes) -> None:
    """TRAIL.6: nobody opens, before the lock is his, a file that another process has begun and not put into WAL mode yet."""
    path = tmp_path / "memory.db"
    path.write_bytes(begun)
    assert not is_in_wal_mode(path)
    assert not is_in_wal_mode(tmp_path / "nothing.db")
    trail = on_disk(tmp_path / "made")
    with trail.writing():
        pass
    assert is_in_wal_mode(tmp_path / "made" / "trail" / "memory.db")
    trail.store.close()
    assert is_in_wal_mode(tmp_path / "made" / "trail" / "memory.db")


def test_the_search_index_is_sound_while_others_append(tmp_path: Path) -> None:
    """TRAIL.6, 7: a check reads the texts and the words of one moment, whoever appends meanwhile."""
    trail = on_disk(tmp_path)
    with trail.writing():
        pass
    herd = _start(tmp_path, 2, 60)
    (tmp_path / "go").touch()
    found: list[str] = []
    while herd.poll() is None:
        found += trail.store.check(LogName.MEMORY)
    assert herd.wait(PATIENCE_SECONDS) == 0
    assert found == []
    trail.store.close()
