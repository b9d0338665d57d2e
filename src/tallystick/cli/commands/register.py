"""``tally register``: attributes that have one value at a time."""

from __future__ import annotations

import click

from tallystick.briefing import shown
from tallystick.cli.asked import Asked
from tallystick.cli.options import shared
from tallystick.errors import UsageError
from tallystick.model.temporal import END_OF_TIME
from tallystick.trail.instants import iso
from tallystick.workflows.attributes import Registered, register, registered_at


@click.command(
    "register",
    help="Say that an ATTRIBUTE of a SUBJECT ('*': of any) has one value at a time, so that a claim with another value takes "
    "the place of the one before; without arguments list what is registered, or was --as-of a point. `tally undo SEQ` ends it.",
)
@click.argument("subject", required=False)
@click.argument("attribute", required=False)
@click.option("--because", metavar="R", default="", help="Why.")
@shared()
def command(asked: Asked, subject: str | None, attribute: str | None, because: str) -> None:
    """Register, or list."""
    if subject is None:
        at, listed = registered_at(asked.trail, asked.as_of)
        document = {"seq": at.seq, "at": iso(at.at) or None, "items": [_item(each) for each in listed]}
        nothing = "nothing is registered" if asked.as_of is None else f"nothing is registered as of {at.seq}"
        asked.show(document, lambda: "\n".join(map(_line, listed)) or nothing)
        return
    if asked.as_of is not None:
        raise UsageError("--as-of goes with the listing alone: what is registered now holds from now on")
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
