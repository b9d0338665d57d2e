"""What ``revise``, ``retract`` and ``undo`` share: how what was done is shown."""

from __future__ import annotations

from tallystick.cli.asked import Asked
from tallystick.workflows.amend import Amended


def show(asked: Asked, done: Amended, verb: str) -> None:
    """Print an amendment."""
    document = {
        "id": f"c{done.id}",
        "closes": [f"c{claim}" for claim in done.closes],
        "seq": done.seq,
        "note": done.note or None,
    }

    def human() -> str:
        if done.note:
            return done.note
        closed = f", closes {', '.join(f'c{claim}' for claim in done.closes)}" if done.closes else ""
        return f"{verb} at {done.seq}{closed}"

    asked.show(document, human)
