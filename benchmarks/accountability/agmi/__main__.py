"""Every attack of the suite, printed and kept as ``results/agmi-<date>.json``: ``python -m benchmarks.accountability.agmi``."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from benchmarks.accountability import flips
from benchmarks.accountability.agmi import suite, told


def main() -> None:
    """Run, print and keep; exit 1 where anything was missed."""
    date = time.strftime("%Y-%m-%d", time.gmtime())
    result = {
        "date": date,
        "machine": flips.machine(),
        "command": "python -m benchmarks.accountability.agmi",
        **suite.run(),
    }
    print("\n".join(told.lines(result)))
    kept = Path(__file__).parents[1] / "results"
    kept.mkdir(exist_ok=True)
    (kept / f"agmi-{date}.json").write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n")
    print(f"\nmissed: {'; '.join(result['missed']) or 'nothing'}")
    sys.exit(1 if result["missed"] else 0)


if __name__ == "__main__":
    main()
