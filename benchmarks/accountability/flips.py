"""Every byte of a trail's files flipped in turn: ``python -m benchmarks.accountability.flips [STRIDE]`` (TRAIL.7).

A trail of fifty entries and its recalls, checkpointed, and once more with its last entries in a write-ahead log. At every
position one random bit and then all bits are flipped. Either every logical read (``flipping.read_memory`` and
``read_access``) is what it was before, or ``verify`` must say that the trail is not sound; and where the file still opens
and the byte belongs to an entry, its leaf hash or a part, ``verify`` must name that entry first.

Two sorts of positions are not tried one by one, and are counted apart: pages that no read touches at all, which a trace of
the reads shows; and the gap between the cell pointers and the cells of a page, which is inverted as a whole and then byte by
byte at every ``GAP_STRIDE``-th position.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import platform
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from benchmarks.accountability import flipping
from benchmarks.accountability.flipping import Place, build, open_at, places_of
from tallystick.errors import MachineError
from tallystick.model.entry import LogName
from tallystick.store.sqlite import SqliteStore
from tallystick.trail import Trail
from tallystick.trail.verifying import Report, verify_log

ROOT = Path(__file__).resolve().parents[2]
SESSION = ROOT / "corpora" / "claude-code" / "cf564e14-9b07-42ad-8d9a-4faa1b79a0ed.jsonl"
SEED = 20
GAP_STRIDE = 32
PAGE = 4096


class Target(NamedTuple):
    """A file whose bytes are flipped, and what is read of the trail around it."""

    name: str
    file: str
    log: LogName
    read: Callable[[Trail], str]


class Outcome(NamedTuple):
    """What one flip came to."""

    how: str
    """``same reads`` | ``not sound`` | ``does not open`` | ``UNNOTICED`` | ``NOT NAMED``"""
    detail: str = ""


def run(stride: int, processes: int = 2) -> dict[str, Any]:
    """Flip every ``stride``-th position of every file; figures for each, and up to ten failures in full."""
    began = time.monotonic()
    shares = [(stride, share, processes) for share in range(processes)]
    if processes == 1:
        done = [_share(*shares[0])]
    else:
        with multiprocessing.get_context("fork").Pool(processes) as pool:
            done = pool.starmap(_share, shares)
    figures: dict[str, Counter[str]] = {}
    failures: list[str] = []
    for found, bad in done:
        failures += bad
        for name, counts in found.items():
            figures.setdefault(name, Counter()).update(counts)
    return {
        "stride": stride,
        "seed": SEED,
        "files": {name: dict(sorted(counts.items())) for name, counts in figures.items()},
        "failures": len(failures),
        "first failures": sorted(failures)[:10],
        "seconds": round(time.monotonic() - began, 1),
    }


def _share(stride: int, share: int, processes: int) -> tuple[dict[str, Counter[str]], list[str]]:
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = Path(tempfile.mkdtemp(dir=memory))
    figures: dict[str, Counter[str]] = {}
    failures: list[str] = []
    try:
        for target, prepared in _targets(folder):
            flips = _Flips(target, prepared, folder / "flipped")
            counts = figures[target.name] = Counter()
            for where, outcome in flips.all(stride, share, processes):
                counts[outcome.how] += 1
                if outcome.how.isupper():
                    failures.append(f"{target.name} {where}: {outcome.how} {outcome.detail}")
            counts.update(flips.skipped)
    finally:
        shutil.rmtree(folder)
    return figures, failures


def _targets(folder: Path) -> Iterator[tuple[Target, Path]]:
    """Each file to flip, with the prepared trail it belongs to."""
    trail = build(folder / "closed", SESSION)
    with trail.reading() as rows:
        claims = [int(str(row[0])) for row in rows.rows("claim")]
    shutil.copytree(folder / "closed", folder / "open")
    trail.store.close()
    shutil.rmtree(folder / "closed" / "trail")
    shutil.copytree(folder / "open" / "trail", folder / "closed" / "trail")
    open_at(folder / "closed").store.close()
    for log in (LogName.MEMORY, LogName.ACCESS):
        database = apsw.Connection(str(folder / "closed" / "trail" / f"{log}.db"))
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.close()
    assert not list((folder / "closed" / "trail").glob("*-wal"))
    yield Target("memory.db", "memory.db", LogName.MEMORY, lambda t: flipping.read_memory(t, claims)), folder / "closed"
    yield Target("access.db", "access.db", LogName.ACCESS, flipping.read_access), folder / "closed"
    waiting = _with_wal(folder)
    yield Target("memory.db-wal", "memory.db-wal", LogName.MEMORY, lambda t: flipping.read_memory(t, claims)), waiting


def _with_wal(folder: Path) -> Path:
    """The same trail with one more write that no checkpoint has moved into the database."""
    made, source = folder / "waiting", folder / "closed"
    shutil.copytree(source, made)
    trail = open_at(made)
    with trail.writing() as appender:
        appender.add("reconfirmed", {"facets": b'{"said_at":77}'}, refs=[appender.size - 1])
    caught = folder / "caught"
    shutil.copytree(made, caught)
    trail.store.close()
    return caught


class _Flips:
    """Flips in one file of one prepared trail."""

    def __init__(self, target: Target, prepared: Path, scratch: Path) -> None:
        self._target = target
        self._prepared = prepared
        self._scratch = scratch
        shutil.rmtree(scratch, ignore_errors=True)
        shutil.copytree(prepared, scratch)
        self._path = scratch / "trail" / target.file
        self._data = (prepared / "trail" / target.file).read_bytes()
        self._alone = target.file.endswith(".db")
        self._before, self._pages = self._traced()
        self._places: list[Place] = places_of(self._fresh(), target.log, self._data) if self._alone else []
        self._fresh()
        self.skipped: Counter[str] = Counter()

    def all(self, stride: int, share: int, processes: int) -> Iterator[tuple[str, Outcome]]:
        """(where and how, what came of it) of this process's share of the positions."""
        chance = random.Random(f"{SEED}/{self._target.name}/{share}")
        gaps = _gaps(self._data) if self._alone else []
        within = {at for start, end in gaps for at in range(start, end)}
        for number, (start, end) in enumerate(gaps):
            if number % processes == share:
                yield f"gap at {start}", self._flip(start, bytes(255 - byte for byte in self._data[start:end]))
        for at in range(share * stride, len(self._data), stride * processes):
            if self._alone and at // PAGE not in self._pages:
                self.skipped["on a page that no read touches"] += 1
            elif at in within and at % GAP_STRIDE:
                self.skipped["in a gap that was inverted as a whole"] += 1
            else:
                for how, mask in (("one bit", 1 << chance.randrange(8)), ("all bits", 255)):
                    yield f"byte {at}, {how}", self._flip(at, bytes([self._data[at] ^ mask]))

    def _flip(self, at: int, new: bytes) -> Outcome:
        with self._path.open("r+b") as file:
            file.seek(at)
            file.write(new)
        trail = open_at(self._scratch)
        try:
            return self._judged(trail, at)
        finally:
            trail.store.close()
            self._mend(at, len(new))

    def _judged(self, trail: Trail, at: int) -> Outcome:
        place = next((place for place in self._places if place.start <= at < place.end), None)
        # Reads come first where they are likely to be as before, since then nothing else need be asked.
        if self._alone and place is None and _told(self._target.read, trail) == self._before:
            return Outcome("same reads")
        report = _verified(trail, self._target.log)
        if report is None:
            return Outcome("does not open")
        if report.sound:
            same = _told(self._target.read, trail) == self._before
            return Outcome("same reads") if same and place is None else Outcome("UNNOTICED", f"of entry {place}")
        if place is not None and report.bad[0].seq != place.seq:
            return Outcome("NOT NAMED", f"entry {place.seq}; verify says {report.bad[:3]}")
        return Outcome("not sound")

    def _mend(self, at: int, length: int) -> None:
        if not self._alone:
            self._fresh()
            return
        with self._path.open("r+b") as file:
            file.seek(at)
            file.write(self._data[at : at + length])
        if self._path.read_bytes() != self._data:
            self._fresh()

    def _fresh(self) -> Path:
        """The prepared files put back."""
        for file in (self._scratch / "trail").iterdir():
            file.unlink()
        for file in (self._prepared / "trail").iterdir():
            shutil.copy(file, self._scratch / "trail" / file.name)
        return self._scratch

    def _traced(self) -> tuple[str, set[int]]:
        """What is read when nothing is flipped, and the pages of the file that it takes."""
        trace = _Trace(self._path)
        trail = open_at(self._scratch)
        trail.store.close()
        trail.store = SqliteStore(self._scratch / "trail", vfs=trace.name)
        told = self._target.read(trail)
        trail.store.close()
        trace.unregister()
        self._fresh()
        return told, trace.pages


def _told(read: Callable[[Trail], str], trail: Trail) -> str:
    try:
        return read(trail)
    except Exception as error:  # A read that fails has noticed; whether verify has is what is asked next.
        return f"{type(error).__name__}: {error}"


def _verified(trail: Trail, log: LogName) -> Report | None:
    try:
        return verify_log(trail, log)
    except MachineError:
        return None


def _gaps(data: bytes) -> list[tuple[int, int]]:
    """The unallocated stretch of each b-tree page, between its cell pointers and its cells."""
    found = []
    for page in range(0, len(data), PAGE):
        head = page + (100 if page == 0 else 0)
        kind = data[head]
        if kind not in (2, 5, 10, 13):
            continue
        cells = int.from_bytes(data[head + 3 : head + 5])
        start = head + (8 if kind in (10, 13) else 12) + 2 * cells
        end = page + (int.from_bytes(data[head + 5 : head + 7]) or 65536)
        if start < end:
            found.append((start, end))
    return found


class _Trace(apsw.VFS):
    """Notes the pages that are read of one file."""

    def __init__(self, path: Path) -> None:
        self.name = f"trace-{os.getpid()}-{path.name}"
        self.path = str(path)
        self.pages: set[int] = set()
        super().__init__(self.name, base="")

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        return _TracedFile(self, name, flags)


class _TracedFile(apsw.VFSFile):
    def __init__(self, trace: _Trace, name: Any, flags: list[int]) -> None:
        filename = name.filename() if isinstance(name, apsw.URIFilename) else name
        self._pages = trace.pages if filename == trace.path else set()
        super().__init__("", name, flags)

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        self._pages.update(range(offset // PAGE, (offset + amount - 1) // PAGE + 1))
        return super().xRead(amount, offset)


def machine() -> dict[str, Any]:
    """Cores and processor; nothing else of the machine is told."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    model = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine())
    return {
        "cores": os.cpu_count(),
        "cpu": model,
        "python": platform.python_version(),
        "sqlite": apsw.sqlite_lib_version(),
    }


def main() -> None:
    """Run, print and keep."""
    stride = int(sys.argv[1]) if sys.argv[1:] else 1
    date = time.strftime("%Y-%m-%d")
    result = {
        "date": date,
        "machine": machine(),
        "command": f"python -m benchmarks.accountability.flips {stride}",
        **run(stride),
    }
    text = json.dumps(result, indent=2) + "\n"
    print(text, end="")
    if stride <= 10:
        kept = Path(__file__).parent / "results"
        kept.mkdir(exist_ok=True)
        (kept / f"flips-{date}.json").write_text(text)
    sys.exit(1 if result["failures"] else 0)


if __name__ == "__main__":
    main()
