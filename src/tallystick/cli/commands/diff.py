"""``tally diff``: what happened between two points."""

from __future__ import annotations

from typing import Any

import click

from tallystick.briefing import shown
from tallystick.cli.asked import MOST_DIGITS, Asked
from tallystick.cli.options import shared
from tallystick.cli.progress import counted
from tallystick.errors import UsageError
from tallystick.trail.instants import iso
from tallystick.workflows.diff import LISTS, Diff, Step, diff

PAGE = 200
_SIGNS = {"learned": "+", "retracted": "-", "erased": "×", "undone": "↶"}


@click.command(
    "diff",
    help="What was learned, corrected, changed, retracted, undone and erased after FROM, up to and including TO. "
    "Each is a seq, an instant or a checkpoint file; TO is now where it is left out.",
)
@click.argument("start", metavar="FROM")
@click.argument("end", metavar="TO", required=False)
@click.option("--all", "every", is_flag=True, help="List reconfirmations and verdicts too; they are always counted.")
@click.option(
    "--limit", metavar="N", type=click.IntRange(min=1), default=PAGE, show_default=True, help="Items on a page."
)
@click.option("--after", metavar="SEQ", default="", help="The last seq of the page before.")
@click.option("--count", "only_count", is_flag=True, help="The counts alone.")
@shared(reads=False)
def command(asked: Asked, start: str, end: str | None, every: bool, limit: int, after: str, only_count: bool) -> None:
    """Compare two points."""
    if after and (not after.isdecimal() or len(after) > MOST_DIGITS):
        raise UsageError(f"--after {after[:40]}: expected the seq that the page before ended with")
    with counted("entries") as progress:
        found = diff(
            asked.trail, asked.scope, start, end, every=every, after=int(after or -1),
            limit=0 if only_count else limit, progress=progress,
        )  # fmt: skip
    asked.show(_document(found), lambda: _shown(found))


def _document(found: Diff) -> dict[str, Any]:
    lists: dict[str, list[dict[str, Any]]] = {how: [] for how in LISTS}
    for step in found.steps:
        lists[step.how].append(_item(step))
    return {
        "from": {"seq": found.start.seq, "at": iso(found.start.at) or None},
        "to": {"seq": found.end.seq, "at": iso(found.end.at) or None},
        "counts": found.counts,
        **lists,
        "next": found.steps[-1].seq if found.more and found.steps else None,
    }


def _item(step: Step) -> dict[str, Any]:
    return {
        "seq": step.seq,
        "at": iso(step.at),
        "id": f"c{step.claim}",
        "text": step.text,
        "others": [f"c{claim}" for claim in step.olds],
        "because": step.because or None,
        "actor": step.actor or None,
    }


def _shown(found: Diff) -> str:
    said = ", ".join(f"{count} {how}" for how, count in found.counts.items()) or "nothing"
    lines = [f"after {found.start.seq}, up to {found.end.seq}: {said}"]
    for step in found.steps:
        others = f" ({', '.join(f'c{claim}' for claim in step.olds)})" if step.olds else ""
        why = f" because {shown(step.because)}" if step.because else ""
        text = shown("[erased]" if step.text is None else step.text)
        lines.append(f"  {_SIGNS.get(step.how, '~')} {step.seq} {step.how} c{step.claim}{others}: {text}{why}")
    if found.more and found.steps:
        lines.append(f"  more with --after {found.steps[-1].seq}")
    return "\n".join(lines)
