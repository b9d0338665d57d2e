"""How long a briefing keeps a session waiting: as a command on a warm trail of 10,000 claims, and of 1,000 in this process."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from benchmarks.speed.claims import trail_with
from benchmarks.speed.running import Figure, Measure, Spent, child, here, interleaved, median, patched_environment
from tallystick.plugins import clock
from tallystick.store.protocol import Selection
from tallystick.workflows.brief import DEFAULT_BUDGET_TOKENS, make_briefing
from tallystick.workflows.scoping import Scope

ROUNDS = 21
CLAIMS = 10_000
COMMAND_SECONDS = 0.120
VERSION_SECONDS = 0.045
FEW = 1_000
IN_PROCESS_SECONDS = 0.020


def commands(scratch: Path, rounds: int = ROUNDS) -> Measure:
    """``tally brief``, ``tally --version`` and ``python -c pass``, each a process of its own, in turn."""
    folder = scratch / "brief"
    folder.mkdir()
    trail_with(CLAIMS, folder, f"project:{folder}").store.close()
    environ = {"TALLY_TRAIL": str(folder / "trail"), "TALLY_STATE": str(folder / "state"), "TALLY_PERSON": "someone"}
    tally = str(Path(sys.executable).with_name("tally"))

    def process(*arguments: str) -> Spent:
        return child(arguments, scratch, environ, folder)

    found = interleaved(
        rounds,
        {
            "brief": lambda: process(tally, "brief"),
            "version": lambda: process(tally, "--version"),
            "pass": lambda: process(sys.executable, "-c", "pass"),
        },
        warm=True,
    )
    brief, version, bare = (median(found[name]) for name in ("brief", "version", "pass"))
    best = min(each.wall for each in found["brief"])
    return Measure(
        "commands",
        f"`tally brief` on a warm trail of {CLAIMS:,} claims, `tally --version`, `python -c pass`; medians of {rounds}, in turn",
        (
            Figure(
                "tally brief, wall", brief.wall * 1000, "ms", COMMAND_SECONDS * 1000, note=f"best {best * 1000:.0f} ms"
            ),
            Figure("tally brief, CPU", brief.cpu * 1000, "ms", COMMAND_SECONDS * 1000),
            Figure("tally brief, peak memory", brief.peak_mb, "MB"),
            Figure("python -c pass, wall", bare.wall * 1000, "ms"),
            Figure("python -c pass, CPU", bare.cpu * 1000, "ms"),
            Figure("tally --version beyond it, wall", (version.wall - bare.wall) * 1000, "ms", VERSION_SECONDS * 1000),
            Figure("tally --version beyond it, CPU", (version.cpu - bare.cpu) * 1000, "ms", VERSION_SECONDS * 1000),
        ),
    )


def in_process(scratch: Path, rounds: int = ROUNDS) -> Measure:
    """A briefing of 1,000 candidate claims, read, chosen, rendered and logged; and the part that reads them."""
    folder = scratch / "few"
    folder.mkdir()
    trail = trail_with(FEW, folder, "project:few")
    scope = Scope(project="project:few", person="person:someone")

    def read() -> None:
        with trail.reading() as rows:
            rows.standings(Selection(rows.head().size - 1, valid_at=clock()))

    def brief() -> None:
        make_briefing(trail, scope, as_of=None, budget=DEFAULT_BUDGET_TOKENS)

    with patched_environment({"TALLY_CLOCK": str(clock())}):
        brief()
        found = interleaved(rounds, {"brief": lambda: here(brief), "read": lambda: here(read)})
    trail.store.close()
    whole, reading = median(found["brief"]), median(found["read"])
    return Measure(
        "briefing in process",
        f"{FEW:,} candidate claims, budget {DEFAULT_BUDGET_TOKENS} tokens; medians of {rounds}, in turn; pid's own CPU "
        f"({os.cpu_count()} cores)",
        (
            Figure("briefing, wall", whole.wall * 1000, "ms", IN_PROCESS_SECONDS * 1000),
            Figure("briefing, CPU", whole.cpu * 1000, "ms", IN_PROCESS_SECONDS * 1000),
            Figure("of which reading how claims stand, CPU", reading.cpu * 1000, "ms"),
        ),
    )
