"""``tally recall``: search what is believed."""

from __future__ import annotations

import os
from typing import Any

import click

from tallystick.briefing import shown
from tallystick.cli.asked import Asked
from tallystick.cli.narrowing import narrowed
from tallystick.cli.options import shared
from tallystick.cli.saying import say_exactly
from tallystick.language.polarity import denies
from tallystick.model.claim import Derivation
from tallystick.model.temporal import END_OF_TIME, START_OF_TIME
from tallystick.plugins import embedder
from tallystick.trail.instants import iso
from tallystick.workflows.recall import Recalled, recall
from tallystick.workflows.replay import Asking


@click.command("recall", help="Search what is believed. The question, what was found and what was shown are logged.")
@click.argument("query")
@click.option(
    "--limit", metavar="N", type=click.IntRange(1, 200), default=10, show_default=True, help="Most items shown."
)
@click.option("--words", "words_only", is_flag=True, help="By words alone, where $TALLY_EMBEDDER adds meaning.")
@narrowed
@shared()
def command(asked: Asked, query: str, limit: int, words_only: bool, asking: Asking) -> None:
    """Search, log, show."""
    found = recall(
        asked.trail,
        query,
        asked.scope,
        as_of=asked.as_of,
        render=lambda found: asked.form(_document(found), lambda: _shown(found)),
        asking=asking,
        limit=limit,
        embedder=None if words_only else embedder(os.environ),
    )
    say_exactly(found.shown)


def _document(found: Recalled) -> dict[str, Any]:
    items = [
        {
            "id": f"c{belief.row.claim}",
            "text": belief.text,
            "kind": belief.row.kind,
            "derivation": belief.derivation,
            "outcome": belief.outcome,
            "origin": belief.row.origin,
            "polarity": -1 if denies(belief.text or "") else 1,
            "score": score / 1_000_000,
            "rank": rank,
            "valid_from": iso(belief.version.valid[0].start) or None
            if belief.version.valid[0].start != START_OF_TIME
            else None,
            "valid_to": iso(belief.version.valid[-1].end) or None
            if belief.version.valid[-1].end != END_OF_TIME
            else None,
            "precision": found.precisions[belief.row.claim],
        }
        for rank, (belief, score) in enumerate(found.items, 1)
    ]
    return {
        "recall": f"r{found.recall}",
        "seq": found.point.seq,
        "items": items,
        "more": found.more,
        "method": found.method,
        "whole": found.whole,
    }


def _shown(found: Recalled) -> str:
    if not found.items:
        return f"nothing held at {found.point.seq} matches (r{found.recall})"
    lines = [
        f"{'✓' if belief.derivation == Derivation.VERBATIM else '~'} c{belief.row.claim} {belief.row.kind}, "
        f"{belief.row.origin}{'' if belief.outcome == 'none' else ', ' + belief.outcome}: {shown(belief.text or '[erased]')}"
        for belief, _ in found.items
    ]
    return "\n".join([*lines, f"{found.left}; as of {found.point.seq}, logged as r{found.recall}"])
