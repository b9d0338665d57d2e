"""``kill -9`` of real ingests at random instants: ``python -m benchmarks.accountability.kills [N] [SEED]`` (TRAIL.5).

After each kill the trail must open, be sound, and hold nothing that an undisturbed ingest would not; run again, the ingest
must complete to the same believed set. The seed is printed and in the result.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tallystick.config import Places
from tallystick.model.entry import LogName
from tallystick.plugins import open_trail
from tallystick.store.protocol import Selection
from tallystick.trail.verifying import verify_log

ROOT = Path(__file__).resolve().parents[2]
SESSIONS = sorted((ROOT / "corpora" / "claude-code").glob("[1-9]*.jsonl"))
Beliefs = list[tuple[str, str, str, str]]


class Killed(NamedTuple):
    """What became of one killed ingest."""

    seconds: float
    """How long it had been writing."""
    killed: bool
    """False where it was done before it could be killed."""
    size: int
    """Entries that were committed."""
    sound: bool
    completed: bool
    """Whether the next run came to the same believed set as an undisturbed one."""


def run(count: int, seed: int, sessions: Sequence[Path] = SESSIONS) -> dict[str, Any]:
    """Figures over ``count`` kills."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        process = _ingest(folder / "undisturbed", sessions)
        _begun(folder / "undisturbed", process)
        began = time.monotonic()
        process.wait()
        whole = time.monotonic() - began
        expected, _, _ = _found(folder / "undisturbed")
        done = []
        for n in range(count):
            (folder / str(n)).mkdir()
            done.append(_kill(folder / str(n), chance.uniform(0.0, 1.0) * whole, expected, sessions))
    killed = [each for each in done if each.killed]
    return {
        "seed": seed,
        "n": count,
        "killed before they were done": len(killed),
        "killed between two commits": sum(each.size > 0 for each in killed),
        "different sizes found": len({each.size for each in killed}),
        "sound": sum(each.sound for each in done),
        "completed": sum(each.completed for each in done),
        "seconds of writing in an undisturbed ingest": round(whole, 2),
        "claims": len(expected),
    }


def _kill(folder: Path, seconds: float, expected: Beliefs, sessions: Sequence[Path]) -> Killed:
    process = _ingest(folder / "killed", sessions)
    _begun(folder / "killed", process)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.kill(process.pid, signal.SIGKILL)
    killed = process.wait() == -signal.SIGKILL
    held, size, sound = _found(folder / "killed")
    again = _ingest(folder / "killed", sessions).wait()
    completed, _, still_sound = _found(folder / "killed")
    known = {text for _, text, _, _ in expected}
    sound = sound and still_sound and {text for _, text, _, _ in held} <= known
    return Killed(round(seconds, 3), killed, size, sound, again == 0 and completed == expected)


def _begun(folder: Path, process: subprocess.Popen[bytes]) -> None:
    """Wait until the first file of the trail is there: before that there is nothing to be broken."""
    while not (folder / "trail" / "memory.db").exists() and process.poll() is None:
        time.sleep(0.001)


def _ingest(folder: Path, sessions: Sequence[Path]) -> subprocess.Popen[bytes]:
    own = {"TALLY_TRAIL": str(folder / "trail"), "TALLY_STATE": str(folder / "state"), "TALLY_PERSON": "ada"}
    command = [sys.executable, "-m", "tallystick", "ingest", *map(str, sessions)]
    return subprocess.Popen(command, env={**os.environ, **own}, stdout=subprocess.DEVNULL, cwd=ROOT)


def _found(folder: Path) -> tuple[Beliefs, int, bool]:
    """(what is believed, entries, whether every log is sound)."""
    trail = open_trail(Places(folder / "trail", folder / "state"))
    try:
        sound = all(verify_log(trail, log).sound for log in LogName)
        with trail.reading() as rows:
            size = rows.head().size
            beliefs = rows.believed(Selection(size))
    finally:
        trail.store.close()
    return sorted((each.row.kind, each.text or "", each.derivation, each.outcome) for each in beliefs), size, sound


if __name__ == "__main__":
    import json

    print(json.dumps(run(int(sys.argv[1]) if sys.argv[1:] else 200, int(sys.argv[2]) if sys.argv[2:] else 7), indent=2))
