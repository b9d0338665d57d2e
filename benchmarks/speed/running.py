"""What every measure of speed shares: a figure with its goal, children with what they spent, interleaved rounds, the machine.

Wall time on a machine with other work on it says little, so CPU seconds (user and system) stand beside it everywhere.
"""

from __future__ import annotations

import gc
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TypeVar

ROOT = Path(__file__).resolve().parents[2]
LAUNCHER = Path(__file__).with_name("launcher.py")

T = TypeVar("T")


class Figure(NamedTuple):
    """One measured number, what it is held against, and whether it holds."""

    name: str
    value: float
    unit: str
    goal: float | None = None
    """None for what is only shown, such as a floor."""
    at_least: bool = False
    """The goal is a lower bound, otherwise an upper one."""
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None where there is none."""
        if self.goal is None:
            return None
        return self.value >= self.goal if self.at_least else self.value <= self.goal


class Measure(NamedTuple):
    """Figures taken together, with how they were taken."""

    name: str
    how: str
    """What was run, on how much, how many times."""
    figures: tuple[Figure, ...]


class Spent(NamedTuple):
    """What a piece of work took: seconds of wall time and of CPU; megabytes at its peak where it was a child."""

    wall: float
    cpu: float
    peak_mb: float = 0.0


def child(arguments: Sequence[str], scratch: Path, environ: Mapping[str, str], folder: Path = ROOT) -> Spent:
    """Run a command as a child of a process that is small itself, with the byte code an installed package would have.

    Byte code is kept in ``scratch``, so the first run of a command is not to be counted.

    Raises:
        RuntimeError: it ended with another code than 0.
    """
    result = scratch / "spent.json"
    byte_code = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(scratch / "byte-code")}
    subprocess.run(
        [sys.executable, "-S", "-E", str(LAUNCHER), str(result), *arguments],
        env={**os.environ, **byte_code, **environ},
        cwd=folder,
        stdout=subprocess.DEVNULL,
        check=True,
    )
    said = json.loads(result.read_bytes())
    if said["code"]:
        raise RuntimeError(f"{' '.join(arguments[:4])} … ended with code {said['code']}")
    return Spent(said["wall"], said["user"] + said["system"], said["peak_kb"] / 1024)


def here(work: Callable[[], object]) -> Spent:
    """Run something in this process; what the benchmark itself has made is kept from the garbage collector's rounds."""
    gc.collect()
    gc.freeze()
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Spent(time.perf_counter() - wall, time.process_time() - cpu)


def interleaved(rounds: int, works: Mapping[str, Callable[[], T]], *, warm: bool = False) -> dict[str, list[T]]:
    """Each work once per round, in turn (A B A B …), so that a slow minute of the machine falls on all of them.

    With ``warm`` each is run once before, and not counted.
    """
    found: dict[str, list[T]] = {name: [] for name in works}
    if warm:
        for work in works.values():
            work()
    for _ in range(rounds):
        for name, work in works.items():
            found[name].append(work())
    return found


def median(spent: Sequence[Spent]) -> Spent:
    """The median of each field by itself."""
    return Spent(*(statistics.median(column) for column in zip(*spent, strict=True)))


@contextmanager
def patched_environment(values: Mapping[str, str]) -> Iterator[None]:
    """The process's environment with ``values``, put back afterwards."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def machine() -> dict[str, str | int | float]:
    """Cores, processor, memory, versions and how busy the machine is; nothing that names it."""
    return {
        "cores": os.cpu_count() or 0,
        "processor": _field("/proc/cpuinfo", "model name") or platform.machine(),
        "memory GB": round(int(_field("/proc/meminfo", "MemTotal").split()[0] or 0) / 1e6, 1),
        "system": f"{platform.system()} {platform.release().partition('-')[0]}",
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 1),
    }


def _field(path: str, name: str) -> str:
    try:
        lines = Path(path).read_text("utf-8").splitlines()
    except OSError:
        return "0"
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), "0")
