"""``tally brief``: the briefing."""

from __future__ import annotations

import click

from tallystick.cli.options import Asked, project_option, shared, with_project
from tallystick.errors import UsageError
from tallystick.workflows.brief import DEFAULT_BUDGET_TOKENS, make_briefing


@click.command("brief", help="Print what the next session should know, each line with its mark, age and id.")
@click.option(
    "--budget",
    metavar="TOKENS",
    type=click.IntRange(min=1),
    default=DEFAULT_BUDGET_TOKENS,
    show_default=True,
    help="Most tokens it may take.",
)
@click.option("--spot-check", is_flag=True, help="Re-read the outside while briefing (comes with a later version).")
@project_option
@shared()
def command(asked: Asked, budget: int, spot_check: bool, project: str | None) -> None:
    """Brief and log what was shown."""
    if spot_check:
        raise UsageError("--spot-check is not in this version; run the command that a line offers")
    made = make_briefing(asked.trail, with_project(asked.scope, project), as_of=asked.as_of, budget=budget)
    document = {
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
    asked.show(document, lambda: made.briefing.text)
