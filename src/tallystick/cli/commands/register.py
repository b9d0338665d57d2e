"""``tally register``: attributes that have one value at a time."""

from __future__ import annotations

import click

from tallystick.briefing import shown
from tallystick.cli.asked import Asked
from tallystick.cli.options import shared
from tallystick.errors import UsageError
from tallystick.model.temporal import END_OF_TIME
from tallystick.workflows.attributes import Registered, register, registered


@click.command(
    "register",
    help="Say that an ATTRIBUTE of a SUBJECT ('*': of any) has one value at a time, so that a claim with another value takes "
    "the place of the one before; without arguments list what is registered. `tally undo SEQ` ends it.",
)
@click.argument("subject", required=False)
@click.argument("attribute", required=False)
@click.option("--because", metavar="R", default="", help="Why.")
@shared(reads=False)
def command(asked: Asked, subject: str | None, attribute: str | None, because: str) -> None:
    """Register, or list."""
    if subject is None:
        with asked.trail.reading() as rows:
            listed = registered(rows)
        items = [_item(each) for each in listed]
        asked.show({"items": items}, lambda: "\n".join(map(_line, listed)) or "nothing is registered")
        return
    if attribute is None:
        raise UsageError("register takes a subject and an attribute, such as: tally register mini state --because …")
    done = register(asked.trail, subject, attribute, because)
    conflicts = [[f"c{claim}" for claim in group] for group in done.conflicts]

    def human() -> str:
        lines = [_line(done)]
        lines += [
            f"  held already and different: {', '.join(group)}; revise or retract what is wrong" for group in conflicts
        ]
        return "\n".join(lines)

    asked.show({**_item(done), "conflicts": conflicts}, human)


def _item(each: Registered) -> dict[str, object]:
    ended = None if each.tx_to == END_OF_TIME else each.tx_to
    return {"seq": each.seq, "subject": each.subject or "*", "attribute": each.attribute, "ended": ended}


def _line(each: Registered) -> str:
    ended = "" if each.tx_to == END_OF_TIME else f", ended at {each.tx_to}"
    return (
        f"{each.seq}: {shown(each.attribute)} of {shown(each.subject or 'any subject')} has one value at a time{ended}"
    )
