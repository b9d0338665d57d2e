"""``tally join``: two holders that are one."""

from __future__ import annotations

import click

from tallystick.cli.asked import Asked
from tallystick.cli.options import shared
from tallystick.workflows.identities import join


@click.command(
    "join",
    help="Say that two holders are one: what is asked of either is asked of both from here on. No claim is rewritten, and "
    "`tally undo SEQ` parts them again.",
)
@click.argument("holder_one", metavar="HOLDER")
@click.argument("holder_two", metavar="HOLDER")
@click.option("--because", metavar="R", required=True, help="Why.")
@shared(reads=False)
def command(asked: Asked, holder_one: str, holder_two: str, because: str) -> None:
    """Join."""
    done = join(asked.trail, holder_one, holder_two, because)
    conflicts = [[f"c{claim}" for claim in pair] for pair in done.conflicts]

    def human() -> str:
        lines = [f"one since {done.seq}: {', '.join(done.names)}"]
        lines += [f"  held and different: {', '.join(pair)}; revise or retract what is wrong" for pair in conflicts]
        return "\n".join(lines)

    asked.show({"seq": done.seq, "holders": list(done.names), "conflicts": conflicts}, human)
