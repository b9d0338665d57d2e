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
_SIGNS = {"learned": "+", "retracted": "-", "erased": "×", "undone": "↶", "parted": "↶", "unregistered": "↶"}
_OF_HOLDERS = ("joined", "parted")
_ERASED = "[erased]"


@click.command(
    "diff",
    help="What was learned, corrected, changed, retracted, undone and erased, and which holders were joined or parted and "
    "attributes registered or no longer, after FROM, up to and including TO. "
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
        **_about(step),
        "because": step.because or None,
        "actor": step.actor or None,
    }


def _about(step: Step) -> dict[str, Any]:
    """The claim and those it is about beside it; or two holders; or a subject and its attribute, None where it was erased."""
    if step.claim >= 0:
        return {"id": f"c{step.claim}", "text": step.text, "others": [f"c{claim}" for claim in step.olds]}
    if step.how in _OF_HOLDERS:
        return {"holders": [name or None for name in step.names]}
    subject, attribute = step.names
    return {"subject": (subject or "*") if attribute else None, "attribute": attribute or None}


def _said_of(step: Step) -> str:
    if step.claim >= 0:
        others = f" ({', '.join(f'c{claim}' for claim in step.olds)})" if step.olds else ""
        return f"c{step.claim}{others}: {shown(_ERASED if step.text is None else step.text)}"
    if step.how in _OF_HOLDERS:
        return ", ".join(shown(name or _ERASED) for name in step.names)
    subject, attribute = step.names
    return f"{shown(attribute)} of {shown(subject or 'any subject')}" if attribute else _ERASED


def _shown(found: Diff) -> str:
    said = ", ".join(f"{count} {how}" for how, count in found.counts.items()) or "nothing"
    lines = [f"after {found.start.seq}, up to {found.end.seq}: {said}"]
    for step in found.steps:
        why = f" because {shown(step.because)}" if step.because else ""
        lines.append(f"  {_SIGNS.get(step.how, '~')} {step.seq} {step.how} {_said_of(step)}{why}")
    if found.more and found.steps:
        lines.append(f"  more with --after {found.steps[-1].seq}")
    return "\n".join(lines)
