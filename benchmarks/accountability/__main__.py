"""All accountability figures in one run, committed as ``results/<date>.json``: ``python -m benchmarks.accountability``."""

from __future__ import annotations

import json
import time
from pathlib import Path

from benchmarks.accountability import flips, kills
from benchmarks.accountability.agmi import suite

STRIDE = 23
KILLS = 200
SEED = 7


def main() -> None:
    """Flip one byte in ``STRIDE``, kill ``KILLS`` ingests, run a public suite of attacks, print, keep.

    ``flips 1`` alone flips every byte.
    """
    date = time.strftime("%Y-%m-%d", time.gmtime())
    result = {
        "date": date,
        "machine": flips.machine(),
        "command": "python -m benchmarks.accountability",
        "flips": flips.run(STRIDE),
        "kills": kills.run(KILLS, SEED),
        "agmi": suite.run(),
    }
    text = json.dumps(result, indent=2) + "\n"
    print(text, end="")
    kept = Path(__file__).parent / "results"
    kept.mkdir(exist_ok=True)
    (kept / f"{date}.json").write_text(text)


if __name__ == "__main__":
    main()
