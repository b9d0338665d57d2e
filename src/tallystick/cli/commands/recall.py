"""``tally recall``: search what is believed."""

from __future__ import annotations

import click

from tallystick.briefing import shown
from tallystick.cli.asked import Asked
from tallystick.cli.options import shared
from tallystick.model.claim import ClaimKind, Derivation
from tallystick.model.temporal import END_OF_TIME, START_OF_TIME
from tallystick.trail.instants import iso
from tallystick.workflows.recall import recall


@click.command("recall", help="Search what is believed. The question, what was found and what was shown are logged.")
@click.argument("query")
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice([str(kind) for kind in ClaimKind]),
    help="Only claims of this kind.",
)
@click.option(
    "--limit", metavar="N", type=click.IntRange(1, 200), default=10, show_default=True, help="Most items shown."
)
@shared()
def command(asked: Asked, query: str, kinds: tuple[str, ...], limit: int) -> None:
    """Search, log, show."""
    found = recall(asked.trail, query, asked.scope, as_of=asked.as_of, kinds=kinds or None, limit=limit)
    items = [
        {
            "id": f"c{belief.row.claim}",
            "text": belief.text,
            "kind": belief.row.kind,
            "derivation": belief.derivation,
            "outcome": belief.outcome,
            "origin": belief.row.origin,
            "score": score / 1_000_000,
            "rank": rank,
            "valid_from": iso(belief.version.valid[0].start) or None
            if belief.version.valid[0].start != START_OF_TIME
            else None,
            "valid_to": iso(belief.version.valid[-1].end) or None
            if belief.version.valid[-1].end != END_OF_TIME
            else None,
        }
        for rank, (belief, score) in enumerate(found.items, 1)
    ]
    document = {"recall": f"r{found.recall}", "seq": found.point.seq, "items": items, "more": found.more}

    def human() -> str:
        if not items:
            return f"nothing held at {found.point.seq} matches (r{found.recall})"
        lines = [
            f"{'✓' if belief.derivation == Derivation.VERBATIM else '~'} c{belief.row.claim} {belief.row.kind}, "
            f"{belief.row.origin}{'' if belief.outcome == 'none' else ', ' + belief.outcome}: {shown(belief.text or '[erased]')}"
            for belief, _ in found.items
        ]
        return "\n".join([*lines, f"{found.more} more; as of {found.point.seq}, logged as r{found.recall}"])

    asked.show(document, human)
