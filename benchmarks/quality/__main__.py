"""All quality figures in one run, committed as ``results/<date>.json``: ``python -m benchmarks.quality [SHARED]``.

Each figure has its n and a Wilson 95 % interval; where the labels come from is said in ``labels/*.md`` and in README.md.
"""

from __future__ import annotations

import json
import platform
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.quality import extraction, outcomes, quotes, redaction

HERE = Path(__file__).parent
SHARED = HERE.parents[2] / "shared"


def measured(shared: Path) -> dict[str, Any]:
    """Quotes, outcomes, secrets, and extraction: recall on each set of labels, precision as readers judged samples."""
    return {
        "quotes": quotes.run(shared),
        "outcomes": outcomes.run(shared),
        "redaction": redaction.run(shared),
        "extraction, recall": {name: extraction.run(shared, name) for name in "abcde"},
        "extraction, two readers of the same sessions": extraction.readers(),
        "extraction, candidates judged by a reader": {
            path.stem: extraction.precision(path) for path in sorted(extraction.LABELS.glob("candidates*.jsonl"))
        },
    }


def main() -> None:
    """Measure, print, keep."""
    shared = Path(sys.argv[1]) if len(sys.argv) > 1 else SHARED
    if not (shared / "data").is_dir():
        sys.exit(f"{shared}: the shared data is not there; give its folder: python -m benchmarks.quality SHARED")
    date = time.strftime("%Y-%m-%d", time.gmtime())
    result = {
        "date": date,
        "command": "python -m benchmarks.quality",
        "python": platform.python_version(),
        **measured(shared),
    }
    results = HERE / "results"
    results.mkdir(exist_ok=True)
    text = json.dumps(result, indent=1, ensure_ascii=False, default=str) + "\n"
    (results / f"{date}.json").write_text(text, "utf-8")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
