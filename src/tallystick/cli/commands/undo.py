"""``tally undo``: take back one entry's effect."""

from __future__ import annotations

import click

from tallystick.cli.asked import MOST_DIGITS, Asked
from tallystick.cli.commands.amending import show
from tallystick.cli.options import shared
from tallystick.errors import UsageError
from tallystick.workflows.amend import undo


@click.command(
    "undo",
    help="Take back the effect of entry SEQ from now on, reopening what it closed; what it linked, joined or registered ends, "
    "and of a judgement the one before stands again.",
)
@click.argument("seq")
@click.option("--because", metavar="R", required=True, help="Why.")
@shared(reads=False)
def command(asked: Asked, seq: str, because: str) -> None:
    """Undo."""
    digits = seq.removeprefix("c")
    if not digits.isdecimal() or len(digits) > MOST_DIGITS:
        raise UsageError(f"{seq!r} is not an entry; expected its seq, as `tally why` prints it in the history")
    show(asked, undo(asked.trail, int(digits), because), "undone")
