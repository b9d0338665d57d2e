"""Many processes that append to one trail at once: each waits at a barrier, then appends its entries one by one."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from tallystick.config import entropy
from tallystick.store.outside import OutsideFolder
from tallystick.store.postgres import PostgresStore
from tallystick.store.sqlite import SqliteStore
from tallystick.testing.store_contract import said
from tallystick.trail import Trail


def append(folder: Path, name: str, count: int, url: str) -> None:
    """Append ``count`` claims, each in a write of its own, once ``folder/go`` is there."""
    clock = lambda: time.time_ns() // 1000  # noqa: E731
    store = PostgresStore(url) if url else SqliteStore(folder / "trail")
    trail = Trail(store, OutsideFolder(folder / "state"), clock=clock, entropy=entropy)
    (folder / f"{name}.ready").touch()
    while not (folder / "go").exists():
        time.sleep(0.002)
    for n in range(count):
        with trail.writing() as appender:
            said(appender, f"{name} says {n}")
    trail.store.close()


def main(folder: Path, writers: int, count: int, url: str = "") -> int:
    """Fork the writers before anything is opened, and give the number of those that failed."""
    children = []
    for n in range(writers):
        child = os.fork()
        if child == 0:
            append(folder, f"w{n}", count, url)
            os._exit(0)
        children.append(child)
    return sum(os.waitpid(child, 0)[1] != 0 for child in children)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:]))
