"""``tally answers``: what was answered, and what became of what it cited."""

from __future__ import annotations

from typing import Any

import click

from tallystick.briefing import shown
from tallystick.cli.asked import Asked, access_id, claim_id
from tallystick.cli.options import shared
from tallystick.trail.instants import iso
from tallystick.workflows.answers import Answer, answers
from tallystick.workflows.corrections import Correction

PAGE = 100
EXCERPT = 400
"""Characters of an answer's text that a list shows; `tally context` has all of it."""


@click.command(
    "answers", help="List the answers that were kept, and which of the claims they cited were corrected since."
)
@click.option("--cited", metavar="C", help="Only those that cite this claim, c12.")
@click.option("--affected", is_flag=True, help="Only those that cite what was corrected since.")
@click.option(
    "--limit", metavar="N", type=click.IntRange(min=1), default=PAGE, show_default=True, help="Items on a page."
)
@click.option("--after", metavar="A", help="The last id of the page before, a12.")
@shared()
def command(asked: Asked, cited: str | None, affected: bool, limit: int, after: str | None) -> None:
    """List answers."""
    found = answers(
        asked.trail,
        asked.scope,
        as_of=asked.as_of,
        cited=claim_id(cited) if cited is not None else None,
        affected=affected,
        after=-1 if after is None else int(access_id(after, "a", "an answer; expected a12")[1:]),
        limit=limit,
    )
    last = f"a{found.items[-1].seq}" if found.more else None
    document = {
        "seq": found.point.seq,
        "items": [_item(answer) for answer in found.items],
        "more": found.more,
        "next": last,
    }

    def human() -> str:
        lines = [line for answer in found.items for line in _lines(answer)]
        if last:
            lines.append(f"more with --after {last}")
        return "\n".join(lines) or f"no answers as of {found.point.seq}"

    asked.show(document, human)


def correction(each: Correction) -> dict[str, Any]:
    """A correction as JSON has it."""
    return {
        "claim": f"c{each.claim}",
        "seq": each.seq,
        "kind": each.kind,
        "by": f"c{each.by}" if each.by >= 0 else None,
        "because": each.because,
    }


def told(each: Correction) -> str:
    """A correction in a line."""
    by = f" → c{each.by}" if each.by >= 0 else ""
    because = f": {shown(each.because)}" if each.because else ""
    return f"c{each.claim} {each.kind} at {each.seq}{by}{because}"


def _item(answer: Answer) -> dict[str, Any]:
    return {
        "id": f"a{answer.seq}",
        "at": iso(answer.at),
        "claims": [f"c{claim}" for claim in answer.claims],
        "recalls": [f"r{number}" for number in answer.shown],
        "text": _excerpt(answer.text),
        "corrected": [correction(each) for each in answer.corrected],
    }


def _excerpt(text: str | None) -> str | None:
    return text if text is None or len(text) <= EXCERPT else f"{text[:EXCERPT]}…"


def _lines(answer: Answer) -> list[str]:
    cited = ", ".join(f"c{claim}" for claim in answer.claims) or "nothing"
    words = f": {shown(answer.text)[:EXCERPT]}" if answer.text else ""
    shown_by = ", ".join(f"r{number}" for number in answer.shown)
    first = f"a{answer.seq} {iso(answer.at)} cites {cited} of {shown_by}{words}"
    return [first, *(f"  {told(each)}" for each in answer.corrected)]
