"""``tally replay``: the believed set at a point."""

from __future__ import annotations

import click

from tallystick.briefing import shown
from tallystick.cli.asked import Asked, claim_id
from tallystick.cli.options import shared
from tallystick.model.claim import Derivation
from tallystick.trail.instants import iso, parse_instant
from tallystick.workflows.replay import replay

PAGE = 100


@click.command(
    "replay", help="List what was believed at a point. Asking again gives the same answer, whatever came since."
)
@click.option(
    "--limit", metavar="N", type=click.IntRange(min=1), default=PAGE, show_default=True, help="Items on a page."
)
@click.option("--after", metavar="ID", default="", help="The last id of the page before.")
@click.option("--count", "only_count", is_flag=True, help="The count alone.")
@click.option("--valid-at", metavar="T", help="Only what held in the world at this instant.")
@shared()
def command(asked: Asked, limit: int, after: str, only_count: bool, valid_at: str | None) -> None:
    """Replay."""
    found = replay(
        asked.trail,
        asked.scope,
        as_of=asked.as_of,
        valid_at=parse_instant(valid_at)[0] if valid_at else None,
        after=claim_id(after) if after else -1,
        limit=0 if only_count else limit,
    )
    document = {
        "seq": found.point.seq,
        "at": iso(found.point.at),
        "root": found.root.hex(),
        "count": found.total,
        "items": [
            {
                "id": f"c{belief.row.claim}",
                "kind": belief.row.kind,
                "text": belief.text,
                "derivation": belief.derivation,
                "outcome": belief.outcome,
                "origin": belief.row.origin,
                "said_at": iso(belief.said_at) or None,
                "since": belief.version.tx_from,
            }
            for belief in found.items
        ],
        "next": f"c{found.items[-1].row.claim}" if found.more else None,
    }

    def human() -> str:
        lines = [
            f"{found.total} believed as of {found.point.seq} ({iso(found.point.at) or 'empty'}), root {found.root.hex()[:16]}…"
        ]
        lines += [
            f"  {'✓' if belief.derivation == Derivation.VERBATIM else '~'} c{belief.row.claim} {belief.row.kind}: "
            f"{shown(belief.text or '[erased]')}"
            for belief in found.items
        ]
        if found.more:
            lines.append(f"  more with --after c{found.items[-1].row.claim}")
        return "\n".join(lines)

    asked.show(document, human)
