"""What an attack came to, in the words of the suite: rejected, reported, or missed."""

from __future__ import annotations

from typing import NamedTuple

REJECTED = "rejected"
"""The engine or the API would not have it."""
REPORTED = "reported"
"""``verify`` says that the trail is not sound; of something planted through the API: it is handed over marked as what it is."""
MISSED = "missed"


class Outcome(NamedTuple):
    """One attack by one attacker on one store."""

    attack: str
    """The suite's name for it, with its number."""
    by: str
    """How it was done."""
    outcome: str
    """``REJECTED`` | ``REPORTED`` | ``MISSED``"""
    said: str
    """What the engine, the API or ``verify`` said of it."""
