"""A trail at the size of the largest published one: ``python -m benchmarks.speed.at_size [SIZE …] [--postgres URL]``.

1.5 million claims, a tenth of them revisions, with 1.9 evidence links each; and a tenth and a hundredth of that, to see what
grows. All that is asked is asked as of now and as of a seq in the past, both warm. Beside it the same questions to a plain
table of the texts with a full-text index, which knows no past, no trust and no evidence.

The trails are made once in ``--folder`` (a temporary one, if not given) and asked by this one process.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from benchmarks.speed.claims import WORDS, vocabulary
from benchmarks.speed.running import ROOT, here, machine
from tallystick.cli import COLLECTED_EACH
from tallystick.config import Places
from tallystick.model.entry import EntryKind, LogName
from tallystick.plugins import open_trail
from tallystick.store.protocol import Selection
from tallystick.trail import Appender, Trail
from tallystick.trail.verifying import verify_log
from tallystick.workflows.recall import recall
from tallystick.workflows.replay import Asking, replay
from tallystick.workflows.scoping import Scope
from tallystick.workflows.why import why

SIZES = (15_000, 150_000, 1_500_000)
SEED = 20261130
HOLDERS = 16
AT_ONCE = 20_000
"""Claims in one transaction, as an ingest has them."""
ASKED = 200
KINDS = ("fact", "outcome", "decision", "open_loop", "rule")
GOALS_MS = {"count": 0.5, "page": 3.0, "recall": 20.0, "why": 3.0}
"""p95, of SQLite at the largest size; a count's is its median."""
APPENDS, BYTES, VERIFY_SECONDS, VERIFY_MB, PAST = 20_000, 1500, 20, 100, 1.5


class Said(NamedTuple):
    """A claim ready to be appended."""

    holder: int
    text: bytes
    facets: bytes
    verdict: bytes
    revises: float
    """Place in what its holder said, from 0 to 1, of the claim that it takes the place of; negative for none."""


def claims(count: int) -> Iterator[Said]:
    """The same ``count`` claims every time: 120 bytes of text, one to three spans, 16 holders of uneven size."""
    rng = random.Random(SEED)
    words = vocabulary(rng)
    weights = list(accumulate(1 / (rank + 10) for rank in range(WORDS)))
    shares = list(accumulate(1 / (n + 1) for n in range(HOLDERS)))
    for n in range(count):
        text = f"{' '.join(rng.choices(words, cum_weights=weights, k=18))[:112]} {n}".encode()
        facets = (
            f'{{"by":"rules/1","event":"e{rng.getrandbits(64):016x}","kind":"{KINDS[n % 5]}","origin":"assistant",'
            f'"said_at":{1_772_000_000_000_000 + n * 1_000_000},"session":4,"tokens":30}}'
        ).encode()
        spans = ",".join(
            f'["s4","e{rng.getrandbits(64):016x}",{(start := rng.randrange(5000))},{start + 120}]'
            for _ in range(rng.choice((1, 1, 2, 2, 2, 2, 2, 3)))
        )
        verdict = (
            f'{{"verdicts":[{{"reason":"contiguous","spans":[{spans}],"value":"verbatim","verifier":"quotation/1"}}]}}'
        )
        (holder,) = rng.choices(range(HOLDERS), cum_weights=shares)
        revises = rng.random() if rng.random() < 0.1 else -1.0
        yield Said(holder, text, facets, verdict.encode(), revises)


class Made(NamedTuple):
    """What making a trail took."""

    claims: int
    seconds: float
    cpu: float


def make(trail: Trail, count: int) -> Made:
    """Append ``count`` claims; the time is that of appending, not of making them up."""
    seconds = cpu = 0.0
    mine: list[list[int]] = [[] for _ in range(HOLDERS)]
    source = claims(count)
    left = count
    while left:
        batch = [next(source) for _ in range(min(AT_ONCE, left))]
        left -= len(batch)
        spent = here(lambda batch=batch: _appended(trail, batch, mine))  # type: ignore[misc]
        seconds += spent.wall
        cpu += spent.cpu
        gc.unfreeze()
    trail.seal()
    return Made(count, seconds, cpu)


def _appended(trail: Trail, batch: Sequence[Said], mine: list[list[int]]) -> None:
    with trail.writing() as appender:
        holders = [appender.holder(f"project:/p{n}", "project") for n in range(HOLDERS)]
        verdicts: dict[int, bytes] = {}
        for said in batch:
            verdicts[_one(appender, said, mine[said.holder], holders[said.holder])] = said.verdict
            if len(verdicts) == 50:
                _judge(appender, verdicts)
                verdicts = {}
        _judge(appender, verdicts)


def _one(appender: Appender, said: Said, mine: list[int], holder: str) -> int:
    parts = {"facets": said.facets, "text": said.text}
    if said.revises < 0 or not mine:
        mine.append(appender.add(EntryKind.ASSERTED, parts, holder=holder))
        return mine[-1]
    place = int(said.revises * len(mine))
    parts |= {"because": b"it changed", "change": b"{}"}
    mine[place] = appender.add(EntryKind.REVISED, parts, refs=[mine[place]], holder=holder)
    return mine[place]


def _judge(appender: Appender, verdicts: dict[int, bytes]) -> None:
    if verdicts:
        parts = {f"verdict/{claim}": body for claim, body in verdicts.items()}
        appender.add(EntryKind.JUDGED, parts, refs=sorted(verdicts))


def queries() -> list[str]:
    """What is searched for: two to four words, common and rare ones together."""
    rng = random.Random(SEED + 1)
    words = vocabulary(random.Random(SEED))
    weights = list(accumulate(1 / (rank + 10) for rank in range(WORDS)))
    return [" ".join(rng.choices(words, cum_weights=weights, k=rng.randint(2, 4))) for _ in range(ASKED)]


class Questions:
    """The questions, asked of one trail."""

    def __init__(self, trail: Trail, count: int) -> None:
        self._trail = trail
        self._rng = random.Random(SEED + 2)
        self._queries = queries()
        with trail.reading() as rows:
            self.size = rows.head().size
            self._held = [each.claim for each in rows.standings(Selection(self.size // 2, limit=50 * ASKED))]

    def asked(self, as_of: int | None) -> dict[str, dict[str, float]]:
        """Milliseconds of each question: median and 95th percentile of 200, after as many to warm up."""
        point = None if as_of is None else str(as_of)
        last = self.size - 1 if as_of is None else as_of
        asks: dict[str, Callable[[int], object]] = {
            "count": lambda n: replay(self._trail, _scope(n), as_of=point, limit=0),
            "page": lambda n: replay(
                self._trail, _scope(n), as_of=point, asking=Asking((KINDS[n % 5], "fact"), ("verbatim",)),
                after=self._rng.randrange(1, last + 1), limit=100,
            ),
            "recall": lambda n: recall(self._trail, self._queries[n], _scope(n), as_of=point),
            "why": lambda n: why(self._trail, self._held[(37 * n) % len(self._held)], point),
        }  # fmt: skip
        return {name: _timed(ask) for name, ask in asks.items()}


def _scope(n: int) -> Scope:
    return Scope((f"project:/p{n % 4}",))


def _timed(ask: Callable[[int], object]) -> dict[str, float]:
    for n in range(ASKED // 4):
        ask(n)
    took = []
    for n in range(ASKED):
        began = time.perf_counter()
        ask(n)
        took.append((time.perf_counter() - began) * 1000)
    return {"p50": statistics.median(took), "p95": statistics.quantiles(took, n=20)[-1]}


def plain(folder: Path, count: int) -> dict[str, Any]:
    """The same texts in a plain table with a full-text index ordered by BM25, and the questions that it can answer."""
    path = folder / "plain.db"
    path.unlink(missing_ok=True)
    database = apsw.Connection(str(path))
    database.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
    database.execute(
        "CREATE TABLE note (id INTEGER PRIMARY KEY, holder INTEGER, kind TEXT, text TEXT);"
        "CREATE INDEX note_by_holder ON note (holder, id);"
        "CREATE VIRTUAL TABLE word USING fts5 (text, content = 'note', content_rowid = 'id')"
    )
    seconds = 0.0
    source = enumerate(claims(count))
    for _ in range(0, count, AT_ONCE):
        rows = [(n, each.holder, KINDS[n % 5], each.text.decode()) for n, each in zip_first(source, AT_ONCE)]
        began = time.perf_counter()
        with database:
            database.executemany("INSERT INTO note VALUES (?, ?, ?, ?)", rows)
            database.executemany("INSERT INTO word (rowid, text) VALUES (?, ?)", [(row[0], row[3]) for row in rows])
        seconds += time.perf_counter() - began
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    rng = random.Random(SEED + 2)
    sought = [" OR ".join(query.split()) for query in queries()]
    best = (
        "SELECT note.id, note.text FROM word CROSS JOIN note ON note.id = word.rowid WHERE word MATCH ? AND holder = ?"
        " ORDER BY rank LIMIT 10"
    )
    asks: dict[str, Callable[[int], object]] = {
        "count": lambda n: database.execute("SELECT count(*) FROM note WHERE holder = ?", (n % 4,)).get,
        "page": lambda n: database.execute(
            "SELECT id, kind, text FROM note WHERE holder = ? AND id > ? AND kind IN (?, 'fact') ORDER BY id LIMIT 100",
            (n % 4, rng.randrange(count), KINDS[n % 5]),
        ).fetchall(),
        "recall": lambda n: database.execute(best, (sought[n], n % 4)).fetchall(),
        "why": lambda n: database.execute("SELECT text FROM note WHERE id = ?", (37 * n,)).get,
    }
    found = {name: _timed(ask) for name, ask in asks.items()}
    database.close()
    size = path.stat().st_size / count
    path.unlink()
    return {"appends/s": count / seconds, "bytes": size, "asked": found}


def zip_first(source: Iterator[tuple[int, Said]], count: int) -> Iterator[tuple[int, Said]]:
    """At most ``count`` of what comes next."""
    for _ in range(count):
        each = next(source, None)
        if each is None:
            return
        yield each


def where_bytes_go(folder: Path, count: int) -> dict[str, float]:
    """Bytes a claim of each table and index of the memory log, largest first."""
    database = apsw.Connection(str(folder / "trail" / "memory.db"))
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    sums: list[Any] = database.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name ORDER BY 2 DESC").fetchall()
    database.close()
    return {name: size / count for name, size in sums if size / count >= 0.5}


def verified(trail: Trail) -> dict[str, float | bool]:
    """Seconds of ``verify`` with views, archive and the engine's own checks; and peak memory of this and its processes."""
    import resource

    began = time.perf_counter()
    report = verify_log(trail, LogName.MEMORY)
    seconds = time.perf_counter() - began
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return {"sound": report.sound, "entries": report.size, "seconds": seconds, "a process, MB": children}


def measured(folder: Path, count: int, url: str | None) -> dict[str, Any]:
    """One size on one store."""
    place = folder / f"{count}"
    trail = open_trail(Places(url or place / "trail", place / "state"))
    found: dict[str, Any] = {"claims": count}
    if not trail.id:
        made = make(trail, count)
        found |= {"appends/s, wall": count / made.seconds, "appends/s, CPU": count / made.cpu}
    with trail.reading() as rows:
        size = rows.head().size
    questions = Questions(trail, count)
    found["now"] = questions.asked(None)
    found["past"] = questions.asked(size // 2)
    found["now again"] = questions.asked(None)
    found["verify"] = verified(trail)
    if url is None:
        found["bytes"] = where_bytes_go(place, count)
        found["plain"] = plain(place, count)
    trail.store.close()
    return found


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=int, default=list(SIZES))
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--postgres", metavar="URL")
    parser.add_argument("--keep", action="store_true", help="Write the result beside the others.")
    asked = parser.parse_args()
    gc.set_threshold(COLLECTED_EACH)
    with tempfile.TemporaryDirectory() as scratch:
        folder = asked.folder or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        result: dict[str, Any] = {
            "command": "python -m benchmarks.speed.at_size " + " ".join(map(str, asked.sizes)),
            "date": time.strftime("%Y-%m-%d"),
            "machine": machine(),
            "store": "PostgreSQL" if asked.postgres else "SQLite",
            "sizes": [],
        }
        for size in asked.sizes:
            url = f"{asked.postgres}{'&' if '?' in asked.postgres else '?'}trail=t{size}" if asked.postgres else None
            result["sizes"].append(measured(folder, size, url))
            print(json.dumps(result["sizes"][-1], indent=1))
    if asked.keep:
        name = f"at-size-{result['store'].lower()}-{result['date']}.json"
        (ROOT / "benchmarks" / "speed" / "results" / name).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    os.environ.setdefault("TALLY_PERSON", "nobody")
    main()
