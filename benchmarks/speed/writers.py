"""Many processes append at once: 40 of them, 25 claims each, every append acknowledged by itself and durable (TRAIL.6).

They start together at a barrier. The floor beside it is how often a file can be made durable on this disk.
"""

from __future__ import annotations

import multiprocessing
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.speed.claims import opened
from benchmarks.speed.floors import syncs_per_second
from benchmarks.speed.running import Figure, Measure
from tallystick.config import Places
from tallystick.log.canonical import encode
from tallystick.model.entry import EntryKind
from tallystick.plugins import open_trail

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.synchronize import Barrier

PROCESSES = 40
APPENDS = 25
ROUNDS = 3
SECONDS = 2.0
STALL_SECONDS = 0.3


def run(scratch: Path, rounds: int = ROUNDS) -> Measure:
    """Time from the barrier to the last append, and the longest that any single append took; medians of ``rounds``."""
    taken = [_round(scratch / f"writers-{n}") for n in range(rounds)]
    syncs = syncs_per_second(scratch)
    alone = _alone(scratch / "alone")
    return Measure(
        "many writers",
        f"{PROCESSES} processes × {APPENDS} durable appends from one barrier; medians of {rounds}",
        (
            Figure("all appended", statistics.median(seconds for seconds, _ in taken), "s", SECONDS),
            Figure("longest single append", statistics.median(stall for _, stall in taken), "s", STALL_SECONDS),
            Figure("one process alone, appends", alone, "/s"),
            Figure("floor: fdatasync", syncs, "/s"),
        ),
    )


def _round(folder: Path) -> tuple[float, float]:
    places = Places(folder / "trail", folder / "state")
    trail = open_trail(places)
    with trail.writing() as appender:
        holders, _ = opened(appender, "project:writers")
    trail.store.close()
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(PROCESSES + 1)
    pipes, workers = [], []
    for n in range(PROCESSES):
        mine, theirs = context.Pipe(duplex=False)
        workers.append(context.Process(target=_writer, args=(places, holders.project, n, barrier, theirs)))
        workers[-1].start()
        pipes.append(mine)
    barrier.wait()
    began = time.perf_counter()
    said: list[tuple[float, float]] = [pipe.recv() for pipe in pipes]
    for worker in workers:
        worker.join()
    with trail.reading() as rows:
        size = rows.head().size
    trail.store.close()
    if size < PROCESSES * APPENDS:
        raise RuntimeError(f"{size} entries are there of {PROCESSES * APPENDS} that were acknowledged")
    return max(ended for ended, _ in said) - began, max(stall for _, stall in said)


def _writer(places: Places, holder: str, number: int, barrier: Barrier, pipe: Connection) -> None:
    trail = open_trail(places)
    stalls = []
    barrier.wait()
    for n in range(APPENDS):
        began = time.perf_counter()
        with trail.writing() as appender:
            appender.add(EntryKind.ASSERTED, _parts(f"Writer {number} says {n}."), holder=holder)
        stalls.append(time.perf_counter() - began)
    pipe.send((time.perf_counter(), max(stalls)))
    trail.store.close()


def _parts(text: str) -> dict[str, bytes]:
    return {"facets": encode({"kind": "fact", "origin": "assistant"}), "text": text.encode(), "quote": text.encode()}


def _alone(folder: Path) -> float:
    trail = open_trail(Places(folder / "trail", folder / "state"))
    with trail.writing() as appender:
        holders, _ = opened(appender, "project:writers")
    began = time.perf_counter()
    for n in range(200):
        with trail.writing() as appender:
            appender.add(EntryKind.ASSERTED, _parts(f"Alone, {n}."), holder=holders.project)
    seconds = time.perf_counter() - began
    trail.store.close()
    return 200 / seconds
