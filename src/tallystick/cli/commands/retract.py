"""``tally retract``: stop holding a claim."""

from __future__ import annotations

import click

from tallystick.cli.asked import Asked, claim_id
from tallystick.cli.commands.amending import show
from tallystick.cli.options import shared
from tallystick.workflows.amend import retract


@click.command("retract", help="Stop holding a claim. It stays visible as of before, with the reason.")
@click.argument("id")
@click.option("--because", metavar="R", required=True, help="Why.")
@shared(reads=False)
def command(asked: Asked, id: str, because: str) -> None:  # noqa: A002  # the contract's name of the argument
    """Retract."""
    show(asked, retract(asked.trail, claim_id(id), because), "retracted")
