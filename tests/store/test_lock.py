"""The lock of a log: one holder at a time, in the order of asking, and never longer than its holder lives."""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import signal
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tallystick.errors import TrailLocked
from tallystick.store.sqlite.connection import locked
from tallystick.testing.store_contract import said
from tests.store.places import on_disk

if TYPE_CHECKING:
    from multiprocessing.synchronize import Event

ROUNDS = 5
WAITERS = 6


def _hold(path: Path, held: Event, let_go: Event) -> None:
    with locked(path):
        held.set()
        let_go.wait(30)


def _held_elsewhere(path: Path) -> tuple[multiprocessing.context.SpawnProcess, Event]:
    context = multiprocessing.get_context("spawn")
    held, let_go = context.Event(), context.Event()
    holder = context.Process(target=_hold, args=(path, held, let_go))
    holder.start()
    assert held.wait(30)
    return holder, let_go


def test_a_lock_that_is_held_too_long_is_refused_by_name(tmp_path: Path) -> None:
    """TRAIL.6: who waits longer than the timeout is told which file, and a later attempt gets the lock."""
    path = tmp_path / "memory.lock"
    holder, let_go = _held_elsewhere(path)
    began = time.monotonic()
    with pytest.raises(TrailLocked, match=r"memory\.lock"), locked(path, timeout_seconds=0.2):
        pytest.fail("two held the lock at once")
    assert 0.2 <= time.monotonic() - began < 10
    let_go.set()
    holder.join(30)
    with locked(path, timeout_seconds=10):
        assert holder.exitcode == 0


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files cannot be counted here")
def test_who_gave_up_keeps_nothing_open(tmp_path: Path) -> None:
    """TRAIL.6: a wait that was given up holds neither the lock nor a file once the holder has gone."""
    path = tmp_path / "memory.lock"
    holder, let_go = _held_elsewhere(path)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        with pytest.raises(TrailLocked), locked(path, timeout_seconds=0.05):
            pytest.fail("two held the lock at once")
    let_go.set()
    holder.join(30)
    with locked(path, timeout_seconds=10):
        pass
    deadline = time.monotonic() + 10
    while len(os.listdir("/proc/self/fd")) > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(os.listdir("/proc/self/fd")) <= before


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files cannot be counted here")
def test_who_gave_up_stands_in_no_second_queue(tmp_path: Path) -> None:
    """TRAIL.6: a wait that ran out at the turnstile asks for no lock behind it: it is over once it is let through."""
    path = tmp_path / "memory.lock"
    holder, let_go = _held_elsewhere(path)
    before = len(os.listdir("/proc/self/fd"))
    with (tmp_path / "memory.turn").open("w") as turnstile:
        fcntl.flock(turnstile, fcntl.LOCK_EX)
        with pytest.raises(TrailLocked), locked(path, timeout_seconds=0.05):
            pytest.fail("it went through a turnstile that is held")
    deadline = time.monotonic() + 10
    while len(os.listdir("/proc/self/fd")) > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(os.listdir("/proc/self/fd")) <= before
    let_go.set()
    holder.join(30)


def test_a_killed_holder_leaves_no_lock(tmp_path: Path) -> None:
    """TRAIL.5: ``kill -9`` of a writer lets the next one in."""
    path = tmp_path / "memory.lock"
    holder, _ = _held_elsewhere(path)
    assert holder.pid is not None
    os.kill(holder.pid, signal.SIGKILL)
    with locked(path, timeout_seconds=10):
        holder.join(30)
        assert holder.exitcode == -signal.SIGKILL


def test_nobody_is_let_in_twice_before_one_who_waits(tmp_path: Path) -> None:
    """TRAIL.6: writers that ask again and again take turns; each gets in once before any gets in a third time.

    A busy machine may keep a thread from asking at all, so one fair round of several is enough; an unfair lock has none.
    """
    unfair: list[str] = []
    for number in range(ROUNDS):
        unfair.append(_unfairness(tmp_path / f"memory{number}.lock"))
        if not unfair[-1]:
            return
    pytest.fail("; ".join(unfair))


def _unfairness(path: Path) -> str:
    """What was unfair when several threads asked twenty times each; empty when nothing was."""
    order: list[int] = []
    start = threading.Barrier(WAITERS)

    def write_often(number: int) -> None:
        start.wait(10)
        for _ in range(20):
            with locked(path):
                order.append(number)
                time.sleep(0.002)

    writers = [threading.Thread(target=write_often, args=(number,)) for number in range(WAITERS)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert len(order) == 20 * WAITERS
    together = order[WAITERS : -20 - WAITERS]
    if any(length > 2 for length in _lengths_of_runs(together)):
        return f"let in several times in a row: {order}"
    if set(order[: 3 * WAITERS]) != set(range(WAITERS)):
        return f"somebody was left waiting: {order}"
    return ""


def _lengths_of_runs(order: list[int]) -> list[int]:
    lengths, before = [0], -1
    for number in order:
        if number != before:
            lengths.append(0)
        lengths[-1] += 1
        before = number
    return lengths


def test_two_never_hold_it_at_once(tmp_path: Path) -> None:
    """TRAIL.6: a counter that is read, waited on and written under the lock loses no count."""
    path, counter = tmp_path / "memory.lock", tmp_path / "counter"
    counter.write_text("0")
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_count, args=(path, counter)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert counter.read_text() == str(4 * 25)


def _count(path: Path, counter: Path) -> None:
    for _ in range(25):
        with locked(path):
            number = int(counter.read_text())
            time.sleep(0.0005)
            counter.write_text(str(number + 1))


def _locks_on(path: Path) -> int:
    """Locks that this process has on a file, as the kernel lists them."""
    inode, pid = path.stat().st_ino, str(os.getpid())
    lines = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
    return sum(
        fields[1:2] == ["POSIX"] and pid in fields and f":{inode} " in " ".join(fields) + " " for fields in lines
    )


def test_opening_to_write_lets_go_of_no_lock(tmp_path: Path) -> None:
    """TRAIL.6: whoever reads while the same process begins to write keeps the engine's lock on the file."""
    with (tmp_path / "tried").open("w") as tried:
        fcntl.lockf(tried, fcntl.LOCK_EX)
        if not (Path("/proc/locks").exists() and _locks_on(tmp_path / "tried")):
            pytest.skip("locks are not listed here")
    trail = on_disk(tmp_path)
    with trail.writing() as appender:
        said(appender, "one")
    trail.store.close()
    with trail.reading() as rows:
        assert rows.head().size
        assert _locks_on(tmp_path / "trail" / "memory.db") == 1
        with trail.writing() as appender:
            said(appender, "two")
        assert _locks_on(tmp_path / "trail" / "memory.db") >= 1
    trail.store.close()
