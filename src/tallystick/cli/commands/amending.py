"""What ``revise``, ``retract`` and ``undo`` share: how what was done is shown."""

from __future__ import annotations

from tallystick.cli.asked import Asked
from tallystick.workflows.amend import Amended


def show(asked: Asked, done: Amended, verb: str) -> None:
    """Print an amendment."""
    document = {
        "id": None if done.parted else f"c{done.id}",
        "closes": [f"c{claim}" for claim in done.closes],
        "seq": done.seq,
        "note": done.note or None,
        "affected_answers": [f"a{answer}" for answer in done.affected],
    }

    def human() -> str:
        if done.note:
            return done.note
        closed = f", closes {', '.join(f'c{claim}' for claim in done.closes)}" if done.closes else ""
        affected = f"\nanswers that cited it: {', '.join(f'a{answer}' for answer in done.affected)}"
        return f"{verb} at {done.seq}{closed}{affected if done.affected else ''}"

    asked.show(document, human)
