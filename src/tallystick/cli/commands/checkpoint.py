"""``tally checkpoint``: a signed head, to be kept elsewhere."""

from __future__ import annotations

import click

from tallystick.cli.asked import Asked
from tallystick.cli.options import shared
from tallystick.errors import UsageError
from tallystick.model.entry import LogName


@click.command(
    "checkpoint", help="Print the signed checkpoint of a log: keep it where the trail's owner cannot change it."
)
@click.option(
    "--log", type=click.Choice([str(log) for log in LogName]), default="memory", show_default=True, help="Which log."
)
@shared(reads=False)
def command(asked: Asked, log: str) -> None:
    """Sign and print."""
    note = asked.trail.seal(LogName(log)).decode()
    if not note:
        raise UsageError(f"{asked.trail.store.location}: nothing was ever written there; `tally ingest` first")
    asked.show({"log": log, "note": note}, lambda: note)
