"""Searches of a large archive: ``python -m benchmarks.speed.archive_search [--mb 400] [--asked 300] [--folder FOLDER]``.

The same archive every time: sessions of 250 events with words of uneven frequency, paths, hashes and issues, in 40 projects
over two years. Asked, in turn: a common word, a rare one, two and three words, a path, a hash, an issue, a phrase that stands
there, a phrase of common words that may not, a failed result by word, a word of one project, a word within a month. The
command's own start is not in the figures; reading the events that are shown is.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

from benchmarks.speed.claims import WORDS, vocabulary
from benchmarks.speed.running import machine
from tallystick.config import Places
from tallystick.log.canonical import encode
from tallystick.model.entry import EntryKind
from tallystick.model.evidence import Event, EventKind, Locator, Origin, Status
from tallystick.plugins import open_trail
from tallystick.trail import Trail
from tallystick.trail.archive import event_id
from tallystick.workflows.archiving import SessionArchive
from tallystick.workflows.scoping import EVERYONE, Scope
from tallystick.workflows.search import Searching, search

SEED = 20261130
EVENTS, PROJECTS = 250, 40
BEGIN, YEARS = 1_735_689_600_000_000, 2 * 365 * 86_400_000_000
ROLES = ((Origin.USER, 300), (Origin.ASSISTANT, 900), (Origin.TOOL, 2600))
"""Whose words, and how many characters of them, on average."""
GOAL_MS = 30.0


class Text:
    """Text like that of sessions, from a seed."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.words = vocabulary(rng)
        self._weights = list(accumulate(1 / (rank + 10) for rank in range(WORDS)))

    def of(self, count: int) -> str:
        """``count`` words with anchors among them."""
        said = self.rng.choices(self.words, cum_weights=self._weights, k=count)
        for _ in range(count // 25):
            said[self.rng.randrange(count)] = self.anchor()
        return " ".join(said)

    def anchor(self) -> str:
        """A path, a commit or an issue."""
        rng = self.rng
        path = f"src/{rng.choice(self.words)}/{rng.choice(self.words)}.py"
        return rng.choice((path, f"{rng.getrandbits(160):040x}", f"#{rng.randrange(9000)}"))


def events(text: Text, start: int) -> Iterator[Event]:
    """The events of one session."""
    at = start
    for n in range(EVENTS):
        origin, size = ROLES[n % len(ROLES)]
        at += text.rng.randrange(1, 90) * 1_000_000
        said = text.of(max(3, int(text.rng.expovariate(8 / size))))
        failed = origin is Origin.TOOL and text.rng.random() < 0.05
        status = Status.NONE if origin is not Origin.TOOL else Status.FAILED if failed else Status.OK
        kind = EventKind.TOOL_RESULT if origin is Origin.TOOL else EventKind.MESSAGE
        yield Event(
            f"{start}-{n}", kind, origin, said, Locator(n + 1, n, 0, 0, len(said)), at, tool="Bash", status=status
        )


def fill(trail: Trail, size: int) -> int:
    """Archive sessions until there are ``size`` bytes of text; gives how many bytes there are."""
    text = Text(random.Random(SEED))
    done = session = 0
    while done < size:
        with trail.writing() as appender:
            holder = appender.holder(f"project:/work/{session % PROJECTS}", "project")
            name = encode({"harness": "generated", "name": f"session-{session}"})
            seq = appender.add(EntryKind.INTRODUCED, {"session": name}, holder=holder)
            start = BEGIN + text.rng.randrange(YEARS)
            made = [(event_id("generated", str(session), "", event.uid), event) for event in events(text, start)]
            SessionArchive("generated/1", "", lambda data: data[:16].ljust(16, b"\0")).keep(appender, seq, made)
        done += sum(len(event.text) for _, event in made)
        session += 1
    return done


def questions(trail: Trail, asked: int) -> Iterator[tuple[str, str, Scope, Searching]]:
    """(sort, query, scope, what narrows it), the same every time."""
    words, rng, everyone = Text(random.Random(SEED)).words, random.Random(SEED + 1), Scope((EVERYONE,))
    hits = search(trail, "", everyone, as_of=None, narrowed=Searching(roles=("user",)), limit=200).items
    said = [hit.event.text.split() for hit in hits]
    anchors = [word for each in said for word in each if not word.isalpha()]
    for n in range(asked):
        common, rare = words[rng.randrange(20)], words[rng.randrange(WORDS // 2, WORDS)]
        piece = rng.choice(said)
        start = rng.randrange(max(1, len(piece) - 5))
        month = BEGIN + rng.randrange(YEARS)
        one_project = Scope((f"project:/work/{rng.randrange(PROJECTS)}",))
        sorts: tuple[tuple[str, str, Scope, Searching], ...] = (
            ("common word", common, everyone, Searching()),
            ("rare word", rare, everyone, Searching()),
            ("two words", f"{common} {rare}", everyone, Searching()),
            ("three words", " ".join(rng.sample(words[:300], 3)), everyone, Searching()),
            ("path, hash or issue", rng.choice(anchors), everyone, Searching()),
            ("phrase", f'"{" ".join(piece[start : start + 5])}"', everyone, Searching()),
            ("phrase of common words", f'"{" ".join(rng.sample(words[:40], 2))}"', everyone, Searching()),
            ("failed", words[rng.randrange(200)], everyone, Searching(exit="failed")),
            ("one project", words[rng.randrange(500)], one_project, Searching()),
            (
                "one month",
                words[rng.randrange(200)],
                everyone,
                Searching(since=month, until=month + 30 * 86_400_000_000),
            ),
        )
        yield sorts[n % len(sorts)]


def measured(trail: Trail, asked: int) -> dict[str, Any]:
    """CPU milliseconds by sort of question and of all: median, p95, most; and how many found nothing."""
    times: dict[str, list[float]] = {}
    nothing = 0
    for sort, query, scope, narrowed in list(questions(trail, asked)):
        began = time.process_time()
        found = search(trail, query, scope, as_of=None, narrowed=narrowed)
        took = 1000 * (time.process_time() - began)
        nothing += not found.items
        for name in (sort, "all"):
            times.setdefault(name, []).append(took)
    return {**{name: _figures(took) for name, took in times.items()}, "found nothing": nothing}


def _figures(took: list[float]) -> dict[str, float]:
    took = sorted(took)
    p95 = took[min(len(took) - 1, int(0.95 * len(took)))]
    return {
        "n": len(took),
        "median": round(statistics.median(took), 2),
        "p95": round(p95, 2),
        "most": round(took[-1], 2),
    }


def main() -> None:
    """Make the archive, where it is not there yet, and ask."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mb", type=int, default=400, help="megabytes of text")
    parser.add_argument("--asked", type=int, default=300, help="questions")
    parser.add_argument("--folder", type=Path, help="where the archive is made, and kept")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = chosen.folder or Path(scratch)
        trail = open_trail(Places(folder / "trail", folder / "state"))
        began, made = time.process_time(), 0
        if not trail.id:
            made = fill(trail, chosen.mb * 1_000_000)
        seconds = time.process_time() - began
        measured(trail, chosen.asked)

        figures = measured(trail, chosen.asked)
        kept = sum(path.stat().st_size for path in (folder / "trail").glob("*.db"))
        trail.store.close()
    report = {
        "machine": machine(),
        "bytes of text": made,
        "trail": kept,
        "CPU seconds": round(seconds, 1),
        "CPU ms": figures,
    }
    report["goal met"] = figures["all"]["p95"] < GOAL_MS
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
