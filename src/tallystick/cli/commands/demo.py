"""``tally demo``: the whole thing on the bundled sample sessions, in a throw-away trail."""

from __future__ import annotations

import os

import click

from tallystick.cli.asked import Asked
from tallystick.cli.options import shared
from tallystick.plugins import demo_stage
from tallystick.workflows.demo import demonstrate


@click.command(
    "demo", help="Ingest the bundled sample sessions into a throw-away trail and show what can be asked of it."
)
@shared(reads=False)
def command(asked: Asked) -> None:
    """Show everything once."""
    steps = list(demonstrate(demo_stage(os.environ), lambda text: None if asked.as_json else click.echo(text)))
    if asked.as_json:
        asked.show({"steps": steps}, str)
