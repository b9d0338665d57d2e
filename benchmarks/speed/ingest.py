"""``tally ingest`` of every Claude Code and Codex session in the shared data, as a ratio to parsing and loading the same.

Both sides are one process each with everything in it: its start, and for ours redaction, certifying, the archive, the
tree and the signed checkpoint. The floor parses every line with the faster of two JSON parsers and loads the same texts
into one FTS5 table.
"""

from __future__ import annotations

import shutil
import sys
from functools import partial
from pathlib import Path

from benchmarks.quality.quotes import read_session
from benchmarks.speed import floors
from benchmarks.speed.running import Figure, Measure, Spent, child, here, interleaved, median

ROUNDS = 5
TIMES_THE_FLOOR = 6.0
PEAK_MB = 300.0


def run(shared: Path, scratch: Path, rounds: int = ROUNDS) -> Measure:
    """Time, memory and ratio, medians of interleaved runs."""
    folders = [shared / "data" / "transcripts" / harness for harness in ("claude-code", "codex")]
    paths = sorted(path for folder in folders for path in folder.rglob("*.jsonl"))
    listing, texts = scratch / "files", scratch / "texts"
    listing.write_text("\n".join(map(str, paths)), "utf-8")
    text_bytes = floors.write_texts(texts, (event.text for path in paths for event in read_session(path)))
    parser, parsing = fastest_parser([str(path) for path in paths])

    def floor() -> Spent:
        database = scratch / "floor.db"
        database.unlink(missing_ok=True)
        arguments = ["-m", "benchmarks.speed.floors", parser, str(listing), str(texts), str(database)]
        return child([sys.executable, *arguments], scratch, {})

    def ours() -> Spent:
        return ingest_once(folders, scratch)

    found = interleaved(rounds, {"floor": floor, "tally ingest": ours}, warm=True)
    least, took = median(found["floor"]), median(found["tally ingest"])
    size = sum(path.stat().st_size for path in paths)
    return Measure(
        "ingest",
        f"{len(paths)} files, {size / 1e6:.1f} MB, {text_bytes / 1e6:.1f} MB of text in events; medians of {rounds} runs, "
        f"interleaved; floor: every line by {parser}, texts into one FTS5 table",
        (
            Figure("ingest, wall", took.wall, "s"),
            Figure("ingest, CPU", took.cpu, "s"),
            Figure("floor, wall", least.wall, "s"),
            Figure("floor, CPU", least.cpu, "s", note=f"parsing alone {parsing.cpu:.2f} s"),
            Figure("ingest ÷ floor, wall", took.wall / least.wall, "×", TIMES_THE_FLOOR),
            Figure("ingest ÷ floor, CPU", took.cpu / least.cpu, "×", TIMES_THE_FLOOR),
            Figure("peak memory", took.peak_mb, "MB", PEAK_MB),
        ),
    )


def ingest_once(sources: list[Path], scratch: Path) -> Spent:
    """One ``tally ingest`` into a new trail, which is removed afterwards."""
    folder = scratch / "ingested"
    shutil.rmtree(folder, ignore_errors=True)
    environ = {"TALLY_TRAIL": str(folder / "trail"), "TALLY_STATE": str(folder / "state")}
    spent = child([sys.executable, "-m", "tallystick", "ingest", *map(str, sources)], scratch, environ)
    shutil.rmtree(folder)
    return spent


def fastest_parser(files: list[str]) -> tuple[str, Spent]:
    """The JSON parser that takes least CPU to parse every line, best of three, and what it took."""

    def best(parser: str) -> Spent:
        return min((here(partial(floors.parse_lines, parser, files)) for _ in range(3)), key=lambda each: each.cpu)

    spent = {parser: best(parser) for parser in ("orjson", "msgspec")}
    fastest = min(spent, key=lambda parser: spent[parser].cpu)
    return fastest, spent[fastest]
