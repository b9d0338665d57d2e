"""``tally doctor``: is everything found, reachable, sound, current; what to do if not."""

from __future__ import annotations

import os

import click

from tallystick.cli.app import stop
from tallystick.cli.asked import Asked
from tallystick.cli.options import shared
from tallystick.config import session_folders
from tallystick.plugins import home
from tallystick.workflows.doctor import accept_heads, examine


@click.command("doctor", help="Check the trail, its keys, the clock and the harnesses, and say what to do.")
@click.option(
    "--accept-head", is_flag=True, help="Take the trail as it is now for true, after a backup was put back on purpose."
)
@shared(reads=False)
def command(asked: Asked, accept_head: bool) -> None:
    """Examine."""
    if accept_head:
        accept_heads(asked.trail)
    checks = examine(asked.trail, session_folders(os.environ, home()))
    document = {"checks": [check._asdict() for check in checks]}
    asked.show(document, lambda: "\n".join(f"{check.state:5} {check.name}: {check.advice}" for check in checks))
    if any(check.state == "bad" for check in checks):
        stop(1)
