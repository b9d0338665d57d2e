"""``tally revise``: a correction, or a change in the world."""

from __future__ import annotations

import click

from tallystick.cli.asked import Asked, claim_id
from tallystick.cli.commands.amending import show
from tallystick.cli.options import shared
from tallystick.model.temporal import UNKNOWN_VALID_TIME
from tallystick.tokenizer import count_tokens
from tallystick.trail.instants import parse_valid
from tallystick.workflows.amend import revise


@click.command("revise", help="Replace a claim: a correction (it was never so) or a change (it is different since).")
@click.argument("id")
@click.argument("text")
@click.option("--because", metavar="R", required=True, help="Why.")
@click.option(
    "--kind", type=click.Choice(["correction", "change"]), default="correction", show_default=True, help="Which it is."
)
@click.option("--valid-from", metavar="T", help="Since when the new claim holds.")
@click.option("--valid-to", metavar="T", help="Until when, not including it.")
@shared(reads=False)
def command(
    asked: Asked,
    id: str,  # noqa: A002  # the contract's name
    text: str,
    because: str,
    kind: str,
    valid_from: str | None,
    valid_to: str | None,
) -> None:
    """Revise."""
    valid = parse_valid(valid_from, valid_to) if valid_from or valid_to else UNKNOWN_VALID_TIME
    done = revise(
        asked.trail, claim_id(id), text, because, change=kind == "change", valid=valid, count_tokens=count_tokens
    )
    show(asked, done, f"c{done.id}, {kind}")
