"""What ``revise``, ``retract`` and ``undo`` share: how what was done is shown."""

from __future__ import annotations

from tallystick.cli.asked import Asked
from tallystick.model.temporal import UNKNOWN_VALID_TIME, ValidTime
from tallystick.trail.instants import flag_notes
from tallystick.workflows.amend import Amended


def show(asked: Asked, done: Amended, verb: str, valid: ValidTime | None = None) -> None:
    """Print an amendment; ``valid`` is the valid time that was stated with it, of those that take one."""
    document = {
        "id": None if done.parted else f"c{done.id}",
        "closes": [f"c{claim}" for claim in done.closes],
        "seq": done.seq,
        "note": done.note or None,
        "affected_answers": [f"a{answer}" for answer in done.affected],
        **({} if valid is None else {"flags": list(valid.flags)}),
    }

    def human() -> str:
        if done.note:
            return done.note
        closed = f", closes {', '.join(f'c{claim}' for claim in done.closes)}" if done.closes else ""
        affected = f"\nanswers that cited it: {', '.join(f'a{answer}' for answer in done.affected)}"
        notes = "".join(f"\n{note}" for note in flag_notes(valid or UNKNOWN_VALID_TIME))
        return f"{verb} at {done.seq}{closed}{notes}{affected if done.affected else ''}"

    asked.show(document, human)
