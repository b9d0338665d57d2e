"""``tally revise``: a correction, or a change in the world."""

from __future__ import annotations

import click

from tallystick.cli.asked import Asked, claim_id
from tallystick.cli.commands.amending import show
from tallystick.cli.narrowing import ZONE
from tallystick.cli.options import shared
from tallystick.errors import UsageError
from tallystick.model.temporal import UNKNOWN_VALID_TIME
from tallystick.tokenizer import count_tokens
from tallystick.trail.instants import parse_valid
from tallystick.workflows.amend import merge, revise


@click.command("revise", help="Replace a claim: a correction (it was never so) or a change (it is different since).")
@click.argument("id")
@click.argument("text", required=False)
@click.option("--into", metavar="ID", help="Instead of a text: a claim that is held and says it right.")
@click.option("--because", metavar="R", required=True, help="Why.")
@click.option(
    "--kind", type=click.Choice(["correction", "change"]), default="correction", show_default=True, help="Which it is."
)
@click.option(
    "--value", metavar="V", default="", help="The new value of a claim about an attribute; the text, if not given."
)
@click.option("--valid-from", metavar="T", help="Since when the new claim holds.")
@click.option("--valid-to", metavar="T", help="Until when, not including it.")
@ZONE
@shared(reads=False)
def command(
    asked: Asked,
    id: str,  # noqa: A002  # the contract's name
    text: str | None,
    into: str | None,
    because: str,
    kind: str,
    value: str,
    valid_from: str | None,
    valid_to: str | None,
    zone: str,
) -> None:
    """Revise."""
    if (text is None) == (into is None):
        raise UsageError("a revision takes the new text, or --into a claim that says it right")
    if into is not None:
        if kind == "change" or value or valid_from or valid_to:
            raise UsageError("--into goes with neither --kind change nor a value or valid time: nothing new is said")
        done = merge(asked.trail, claim_id(id), claim_id(into), because)
        show(asked, done, f"c{done.id}, correction", UNKNOWN_VALID_TIME)
        return
    valid = parse_valid(valid_from, valid_to, zone) if valid_from or valid_to else UNKNOWN_VALID_TIME
    done = revise(
        asked.trail,
        claim_id(id),
        text or "",
        because,
        change=kind == "change",
        valid=valid,
        count_tokens=count_tokens,
        value=value,
    )  # fmt: skip
    show(asked, done, f"c{done.id}, {kind}", valid)
