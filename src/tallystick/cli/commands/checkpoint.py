"""``tally checkpoint``: a signed head, to be kept elsewhere."""

from __future__ import annotations

import click

from tallystick.cli.asked import Asked
from tallystick.cli.options import shared
from tallystick.errors import UsageError
from tallystick.log.checkpoint import verifier_key
from tallystick.model.entry import LogName
from tallystick.store.outside import key_name


@click.command(
    "checkpoint", help="Print the signed checkpoint of a log: keep it where the trail's owner cannot change it."
)
@click.option(
    "--log", type=click.Choice([str(log) for log in LogName]), default="memory", show_default=True, help="Which log."
)
@click.option("--key", "only_key", is_flag=True, help="Print the public key it is signed with instead.")
@shared(reads=False)
def command(asked: Asked, log: str, only_key: bool) -> None:
    """Sign and print."""
    note = asked.trail.seal(LogName(log)).decode()
    if not note:
        raise UsageError(f"{asked.trail.store.location}: nothing was ever written there; `tally ingest` first")
    key = verifier_key(key_name(asked.trail.id), asked.trail.outside.public_key(asked.trail.id) or b"")
    asked.show({"log": log, "note": note, "key": key}, lambda: key if only_key else note)
