"""How long 1,000 quotes take against 5.75 MB: a session file of that size, and that much text, beside a floor of plain search.

The file is real Claude Code sessions one after the other; the quotes are cut from its events. The floor is
``bytes.find`` of every quote over all the text: no folding, no boundaries, no spans.

    python benchmarks/speed/quotes.py ../shared
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.quality.quotes import SEED, read_session, session_paths, true_quote
from tallystick.model.evidence import Event
from tallystick.transcripts.claude_code import CLAUDE_CODE
from tallystick.transcripts.lines import LineSource
from tallystick.verifiers.quotation import verify_quotes

SIZE_BYTES = 5_750_000
QUOTES = 1_000
ROUNDS = 5


def session_file(shared: Path) -> bytes:
    """Real sessions one after the other, cut at a line end once 5.75 MB are reached."""
    data = b""
    for path in session_paths(shared):
        data += path.read_bytes()
        if len(data) >= SIZE_BYTES:
            break
    return data[: data.rfind(b"\n", 0, SIZE_BYTES) + 1]


def much_text(shared: Path) -> list[Event]:
    """Events of real sessions until their texts are 5.75 MB."""
    events: list[Event] = []
    size = 0
    for path in session_paths(shared):
        for event in read_session(path):
            events.append(event)
            size += len(event.text.encode())
            if size >= SIZE_BYTES:
                return events
    return events


def _quotes(events: Sequence[Event]) -> list[str]:
    rng = random.Random(SEED)
    texts = [event.text for event in events if len(event.text) > 40]
    found: list[str] = []
    while len(found) < QUOTES:
        quote = true_quote(rng, rng.choice(texts), fewest=5)
        if quote is not None:
            found.append(quote)
    return found


def _median_seconds(work: Callable[[], object]) -> float:
    seconds = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return round(statistics.median(seconds), 4)


def _measure(events: Sequence[Event]) -> dict[str, Any]:
    quotes = _quotes(events)
    joined = "\n".join(event.text for event in events).encode()
    needles = [quote.encode() for quote in quotes]
    verdicts = verify_quotes(quotes, events)
    seconds = _median_seconds(lambda: verify_quotes(quotes, events))
    floor = _median_seconds(lambda: [joined.find(needle) for needle in needles])
    return {
        "events": len(events),
        "text bytes": len(joined),
        "quotes": len(quotes),
        "verbatim": sum(verdict.reason == "contiguous" for verdict in verdicts),
        "seconds": seconds,
        "floor seconds": floor,
        "times the floor": round(seconds / floor, 2),
    }


def run(shared: Path) -> dict[str, Any]:
    """Both timings, medians of five, ready for JSON."""
    data = session_file(shared)
    reader = CLAUDE_CODE.reader("session.jsonl")
    events = list(reader.read(LineSource(BytesIO(data), final=True)))
    return {
        "seed": SEED,
        "session file": {"file bytes": len(data), **_measure(events)},
        "text": _measure(much_text(shared)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shared", type=Path)
    json.dump(run(parser.parse_args().shared), sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
