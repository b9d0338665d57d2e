"""Writes the expected events of the sessions in ``corpora`` anew; a person reads the difference before it is committed.

From the repository's root: ``python -m corpora.regenerate claude-code codex``; without names, all harnesses.

``corpora/<harness>/SOURCES.json`` lists the sessions with where they come from, their licence and digest. For each there
is ``corpora/<harness>/expected/<name>.events.jsonl``: one line an event (fields at their default left out, text cut to
160 characters, with the digest of the whole text) and a last line with facts, counts, problems and open calls.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from tests.transcripts.golden import ADAPTERS, golden, home, sessions

from tallystick.transcripts.claude_code import CLAUDE_CODE
from tallystick.transcripts.protocol import Adapter

ALL: dict[str, Adapter] = {CLAUDE_CODE.name: CLAUDE_CODE, **ADAPTERS}


def expected_path(harness: str, session: Path) -> Path:
    """Where the expected events of ``session`` stand; a sub-agent's stand beside its session's."""
    return home(harness) / "expected" / f"{session.name}.events.jsonl"


def main(names: Sequence[str]) -> int:
    """Write the expected events of the harnesses called ``names``; the answer is the exit code."""
    unknown = sorted(set(names) - set(ALL))
    if unknown:
        sys.stderr.write(f"no such harness: {', '.join(unknown)}; there are {', '.join(sorted(ALL))}\n")
        return 2
    for harness in names or sorted(ALL):
        for session in sessions(harness):
            path = expected_path(harness, session)
            path.parent.mkdir(exist_ok=True)
            path.write_text(golden(ALL[harness], session), "utf-8")
            sys.stdout.write(f"{harness}/expected/{path.name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
