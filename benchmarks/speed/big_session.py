"""Ingest of one very large Claude Code session: how much memory it takes, and how fast it goes.

The session is generated, the same for the same size: one record in three is progress, tool results are from a line to
hundreds of kilobytes long, and people and assistants talk in between. It is removed afterwards.
"""

from __future__ import annotations

import json
import random
import shutil
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.speed.claims import SEED, vocabulary
from benchmarks.speed.ingest import PEAK_MB
from benchmarks.speed.running import Figure, Measure, child

SIZE_BYTES = 2_000_000_000
_SESSION = "00000000-0000-4000-8000-00000000b160"
_START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
_POOL_BYTES = 4_000_000
_COMMANDS = (
    "python -m pytest -q",
    "git status",
    "git commit -am 'wip'",
    "rg -n TODO src",
    "cat README.md",
    "make build",
)
_REPORTS = (
    "All tests pass now, and I committed the change.",
    "I decided to keep the old format because the readers depend on it.",
    "The build is done. Next I will look at the cache.",
    "We still need to migrate the second table before the release.",
)
_ASKS = (
    "Always run the linter before you commit.",
    "Please use port 8443 for the proxy, not 8080.",
    "Why does the importer stop at the third file?",
    "No, that is wrong: the limit is 300 requests.",
)


class _Writer:
    """Makes the records of one session, one turn after the other."""

    def __init__(self) -> None:
        self._rng = random.Random(SEED)
        words = vocabulary(self._rng)
        lines = (" ".join(self._rng.choices(words, k=self._rng.randint(3, 14))) for _ in range(_POOL_BYTES // 60))
        self._pool = "\n".join(f"{n}: {line}" for n, line in enumerate(lines))
        self._n = 0
        self._parent: str | None = None

    def turn(self) -> Iterator[dict[str, Any]]:
        """A person asks, the assistant calls tools, progress is shown, results come, and it reports."""
        rng = self._rng
        yield self._record("user", message={"role": "user", "content": f"{rng.choice(_ASKS)} {self._passage(200)}"})
        for _ in range(rng.randint(1, 8)):
            call = f"toolu_{self._n:024d}"
            said = {"command": rng.choice(_COMMANDS), "description": self._passage(60)}
            yield self._assistant([{"type": "tool_use", "id": call, "name": "Bash", "input": said}])
            for _ in range(rng.randint(0, 4)):
                data = {"type": "bash_progress", "output": self._passage(700), "elapsedTimeSeconds": self._n % 60}
                yield self._record("progress", data=data, toolUseID=call, parentToolUseID=call)
            yield self._result(call, self._passage(int(rng.lognormvariate(7.6, 1.7))))
        yield self._assistant([{"type": "text", "text": f"{rng.choice(_REPORTS)}\n\n{self._passage(500)}"}])

    def _passage(self, length: int) -> str:
        length = min(length, 400_000)
        start = self._rng.randrange(len(self._pool) - length)
        return self._pool[start : start + length]

    def _assistant(self, content: list[dict[str, Any]]) -> dict[str, Any]:
        usage = {"input_tokens": 4, "cache_read_input_tokens": 25_936, "output_tokens": 120, "service_tier": "standard"}
        message = {"role": "assistant", "id": f"msg_{self._n:024d}", "type": "message", "model": "claude-opus-4-5"}
        return self._record("assistant", message={**message, "content": content, "stop_reason": None, "usage": usage})

    def _result(self, call: str, output: str) -> dict[str, Any]:
        content = [{"tool_use_id": call, "type": "tool_result", "content": output, "is_error": False}]
        kept = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
        return self._record("user", message={"role": "user", "content": content}, toolUseResult=kept)

    def _record(self, kind: str, **rest: Any) -> dict[str, Any]:
        self._n += 1
        uid = f"{self._n:08x}-0000-4000-8000-{self._rng.getrandbits(48):012x}"
        at = (_START + timedelta(seconds=self._n)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        frame = {
            "parentUuid": self._parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": "/home/someone/importer",
            "sessionId": _SESSION,
            "version": "2.1.29",
            "gitBranch": "main",
        }
        self._parent = uid
        return {**frame, "type": kind, **rest, "uuid": uid, "timestamp": at}


def write_session(path: Path, size: int) -> None:
    """Write turns until the file is at least ``size`` bytes."""
    writer, written = _Writer(), 0
    with path.open("w", encoding="utf-8") as file:
        while written < size:
            for record in writer.turn():
                written += file.write(json.dumps(record, separators=(",", ":")) + "\n")


def run(scratch: Path, size: int = SIZE_BYTES) -> Measure:
    """Generate, ingest once, verify once, remove."""
    folder = scratch / "big"
    source = folder / "projects" / "-home-someone-importer" / f"{_SESSION}.jsonl"
    source.parent.mkdir(parents=True)
    environ = {"TALLY_TRAIL": str(folder / "trail"), "TALLY_STATE": str(folder / "state")}
    try:
        write_session(source, size)
        megabytes = source.stat().st_size / 1e6
        took = child([sys.executable, "-m", "tallystick", "ingest", str(source)], scratch, environ)
        checked = child([sys.executable, "-m", "tallystick", "verify"], scratch, environ)
        kept = sum(path.stat().st_size for path in (folder / "trail").iterdir()) / 1e6
    finally:
        shutil.rmtree(folder)
    return Measure(
        "one big session",
        f"one generated Claude Code session of {megabytes:,.0f} MB, once",
        (
            Figure("ingest, wall", took.wall, "s"),
            Figure("ingest, CPU", took.cpu, "s"),
            Figure("a second of CPU reads", megabytes / took.cpu, "MB/s"),
            Figure("peak memory of ingest", took.peak_mb, "MB", PEAK_MB),
            Figure("trail on disk", kept, "MB"),
            Figure("verify, CPU", checked.cpu, "s"),
            Figure("peak memory of verify", checked.peak_mb, "MB"),
        ),
    )
