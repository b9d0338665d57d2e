"""A long log verified by several processes at once, each a stretch of it; sound, or to be looked at again in one walk (TRAIL.7).

Stretches begin at multiples of ``STRETCH`` entries, which is a power of two: each is a complete subtree, so their roots make the
log's. What processes cannot say for themselves (does time go on, was what is missing erased later) is settled where their
answers come together. Anything that does not hold makes the answer None: naming it is one walk's work.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from multiprocessing import get_context
from typing import NamedTuple

from tallystick.log.merkle import Frontier
from tallystick.model.entry import LogName
from tallystick.store.protocol import VIEWS, Reading, Store
from tallystick.trail.fingerprints import Sums, of_view
from tallystick.trail.walking import Walk

HEIGHT = 15
STRETCH = 2**HEIGHT
WORTH_IT = 4 * STRETCH
"""Entries from which it pays to start other processes."""


class Task(NamedTuple):
    """What one call of another process does: a stretch of entries, or one view as it is kept."""

    open: Callable[[], Store]
    log: LogName
    trail: str
    key: bytes
    size: int
    start: int
    stop: int
    view: str
    """Empty for a stretch."""
    wanted: frozenset[int]


class Answer(NamedTuple):
    """What came of a task."""

    bad: bool
    nodes: tuple[bytes, ...] = ()
    """Frontier of the stretch."""
    completed: tuple[tuple[int, int, bytes], ...] = ()
    passed: Mapping[int, tuple[int, tuple[bytes, ...]]] = {}
    first: tuple[int, bool] = (0, True)
    at: int = 0
    epochs: int = 0
    unknown: int = 0
    observed: tuple[tuple[int, int], ...] = ()
    missing: Mapping[int, set[str]] = {}
    erased: Mapping[int, set[str]] = {}
    erased_events: frozenset[tuple[int, int]] = frozenset()
    sums: Mapping[tuple[str, int], int] = {}


def processes() -> int:
    """How many are worth starting on this machine; 1 where other processes cannot import what is run here."""
    main = getattr(sys.modules.get("__main__"), "__file__", None)
    return min(4, os.cpu_count() or 1) if main and os.path.exists(main) else 1


def walked(
    rows: Reading, store: Store, log: LogName, wanted: Collection[int], progress: Callable[[int], None]
) -> Walk | None:
    """A ``Walk`` over the whole log as it stands in ``rows``, done by several processes; None where one is to do it.

    The walk has everything but problems; its ``sums`` have been held against the views.
    """
    opener, size = store.opener(), rows.head().size
    count = processes()
    if opener is None or size < WORTH_IT or count < 2:
        return None
    trail, key = rows.meta("trail"), os.urandom(32)
    whole = Walk(rows, log, trail, Sums(key))
    stretches = [(start, min(start + STRETCH, size)) for start in range(0, size, STRETCH)]
    tasks = [Task(opener, log, trail, key, size, *each, "", frozenset(wanted)) for each in stretches]
    tasks[1:1] = [Task(opener, log, trail, key, size, 0, size, view, frozenset()) for view in VIEWS]
    kept = Sums(key)
    with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:
        answers = pool.map(_answered, tasks)
        for task, answer in zip(tasks, answers, strict=True):
            if answer.bad:
                pool.shutdown(cancel_futures=True)
                return None
            if task.view:
                kept.merge(dict(answer.sums))
            elif not _joined(whole, task, answer):
                pool.shutdown(cancel_futures=True)
                return None
            else:
                progress(whole.size)
    return whole if whole.size == size and not whole.sums.differ(kept) else None


def _joined(whole: Walk, task: Task, answer: Answer) -> bool:
    """Put a stretch after those before it; False where it does not follow them."""
    at, repairs = answer.first
    if whole.size != task.start or (at < whole.at and not repairs):
        return False
    for size, (length, nodes) in answer.passed.items():
        whole.passed[size] = Frontier(task.start + length, [*whole.frontier.nodes, *nodes])
    before = whole.frontier
    length = task.stop - task.start
    if length == STRETCH:
        whole.frontier.append_subtree(HEIGHT, answer.nodes[0])
    else:
        completed = before.completed
        whole.frontier = Frontier(task.stop, [*before.nodes, *answer.nodes])
        whole.frontier.completed = completed
    if task.stop in task.wanted:
        whole.passed[task.stop] = Frontier(whole.frontier.size, whole.frontier.nodes)
    whole.frontier.completed += [(level, n + (task.start >> 8 * level), each) for level, n, each in answer.completed]
    whole.size = task.stop
    whole.at = answer.at
    whole.epochs += answer.epochs
    whole.unknown += answer.unknown
    whole.observed += answer.observed
    whole.missing.update(answer.missing)
    for seq, names in answer.erased.items():
        whole.erased.setdefault(seq, set()).update(names)
    whole.erased_events |= answer.erased_events
    whole.sums.merge(dict(answer.sums))
    return True


def _answered(task: Task) -> Answer:
    """Runs in another process."""
    with closing(task.open()) as store, store.reading(task.log) as rows:
        if task.view:
            # What was appended since ``task.size`` was asked for has rows too, and is the next verify's.
            kept, size, of_none = Sums(task.key), max(task.size, rows.head().size), set[bool]()
            kept.add(of_view(task.view, rows.rows(task.view), task.size, lambda seq: of_none.add(seq >= size)))
            return Answer(bad=True in of_none, sums=dict(kept.sums))
        walk = Walk(rows, task.log, task.trail, Sums(task.key), task.start)
        walk.wanted = frozenset(size for size in task.wanted if task.start < size < task.stop)
        walk.walk(task.stop)
        return Answer(
            bad=bool(walk.bad) or walk.size != task.stop,
            nodes=tuple(walk.frontier.nodes),
            completed=tuple(walk.frontier.completed),
            passed={size: (each.size, tuple(each.nodes)) for size, each in walk.passed.items()},
            first=walk.first,
            at=walk.at,
            epochs=walk.epochs,
            unknown=walk.unknown,
            observed=tuple(walk.observed),
            missing=walk.missing,
            erased=walk.erased,
            erased_events=frozenset(walk.erased_events),
            sums=dict(walk.sums.sums),
        )
