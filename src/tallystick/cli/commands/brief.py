"""``tally brief``: the briefing. A harness calls it at the start of a session, so it is declared and starts without click."""

from __future__ import annotations

from functools import partial
from typing import Any

from tallystick.cli.asked import Asked, answered, with_project
from tallystick.cli.declared import PROJECT, READS, Command, Option
from tallystick.cli.saying import say_exactly
from tallystick.errors import UsageError
from tallystick.workflows.brief import DEFAULT_BUDGET_TOKENS, Briefed, make_briefing

_BUDGET = Option("--budget", "budget", "Most tokens it may take.", "TOKENS", least=1, default=DEFAULT_BUDGET_TOKENS)
_SPOT_CHECK = Option("--spot-check", "spot_check", "Re-read the outside while briefing (comes with a later version).")


def _brief(asked: Asked, budget: int, spot_check: bool, project: str | None) -> None:
    """Brief and log what was shown."""
    if spot_check:
        raise UsageError("--spot-check is not in this version; run the command that a line offers")
    made = make_briefing(
        asked.trail,
        with_project(asked.scope, project),
        as_of=asked.as_of,
        budget=budget,
        render=lambda made: asked.form(_document(made), lambda: made.briefing.text),
    )
    say_exactly(made.shown)


def _document(made: Briefed) -> dict[str, Any]:
    return {
        "seq": made.point.seq,
        "tokens": made.briefing.tokens,
        "lines": [
            {
                "id": f"c{line.claim}",
                "mark": line.mark,
                "text": line.text,
                "quote": line.quote or None,
                "age_seconds": None if line.age < 0 else line.age // 1_000_000,
                "section": line.section,
            }
            for line in made.briefing.lines
        ],
        "left_out": made.briefing.left_out,
        "tokenizer": "cl100k_base",
    }


command = Command(
    "brief",
    "Print what the next session should know, each line with its mark, age and id.",
    (_BUDGET, _SPOT_CHECK, PROJECT, *READS),
    partial(answered, _brief),
)
