"""``tally replay``: the believed set at a point."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tallystick.briefing import shown
from tallystick.cli.asked import Asked, claim_id
from tallystick.cli.narrowing import narrowed
from tallystick.cli.options import shared
from tallystick.cli.tombstones import tombstone_document, tombstone_line
from tallystick.errors import UsageError
from tallystick.model.claim import Derivation
from tallystick.trail.instants import iso, periods
from tallystick.workflows.exports import note_export
from tallystick.workflows.proved_replay import prove_replay
from tallystick.workflows.replay import Asking, replay

PAGE = 100


@click.command(
    "replay", help="List what was believed at a point. Asking again gives the same answer, whatever came since."
)
@click.option(
    "--limit", metavar="N", type=click.IntRange(min=1), default=PAGE, show_default=True, help="Items on a page."
)
@click.option("--after", metavar="ID", default="", help="The last id of the page before.")
@click.option("--count", "only_count", is_flag=True, help="The count alone.")
@click.option(
    "--prove",
    "proved_in",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write a bundle with which others can check, offline, that all of this was believed and nothing else, under the"
    " checkpoint of --as-of or the newest that was signed. The words are in it.",
)
@narrowed
@shared()
def command(asked: Asked, limit: int, after: str, only_count: bool, asking: Asking, proved_in: Path | None) -> None:
    """Replay."""
    if proved_in is not None and (asking.kinds or asking.derivations or asking.strict):
        raise UsageError(
            "--prove proves all that was believed, or all that held --valid-at an instant; leave the rest out"
        )
    as_of, proof = (asked.as_of, None) if proved_in is None else _prove(asked, proved_in, asking.valid_at)
    found = replay(
        asked.trail,
        asked.scope,
        as_of=as_of,
        asking=asking,
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
                "valid": periods(belief.version.valid),
                "precision": found.precisions[belief.row.claim],
                **(
                    {}
                    if belief.text is not None
                    else {"erased": tombstone_document(found.erased.get(belief.row.claim))}
                ),
            }
            for belief in found.items
        ],
        "next": f"c{found.items[-1].row.claim}" if found.more else None,
    }
    if proof is not None:
        document["proof"] = proof

    def human() -> str:
        total = "more" if found.total is None else str(found.total)
        when = iso(found.point.at) or "empty"
        lines = [f"{total} believed as of {found.point.seq} ({when}), root {found.root.hex()[:16]}…"]
        lines += [
            f"  {'✓' if belief.derivation == Derivation.VERBATIM else '~'} c{belief.row.claim} {belief.row.kind}: "
            f"{tombstone_line(found.erased.get(belief.row.claim)) if belief.text is None else shown(belief.text)}"
            for belief in found.items
        ]
        if found.more:
            lines.append(f"  more with --after c{found.items[-1].row.claim}")
        if proof is not None:
            newer = f"; entries newer than its checkpoint: {proof['newer']}" if proof["newer"] else ""
            lines.append(f"all {proof['believed']} proved in {proof['file']}, with {proof['leaves']} leaves{newer}")
        return "\n".join(lines)

    asked.show(document, human)


def _prove(asked: Asked, file: Path, valid_at: int | None) -> tuple[str, dict[str, Any]]:
    """Write the bundle; returns the point that it is about, and what is said of it."""
    note_export(asked.trail, file)
    made = prove_replay(asked.trail, asked.scope, file, as_of=asked.as_of, valid_at=valid_at)
    return str(made.seq), {"file": str(file), "believed": made.believed, "leaves": made.leaves, "newer": made.newer}
