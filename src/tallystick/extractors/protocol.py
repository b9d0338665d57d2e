"""What an extractor is: it reads one event at a time, in order, and offers candidates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from tallystick.model.claim import Candidate
from tallystick.model.evidence import Event, SessionFacts


class Extractor(Protocol):
    """One per session and thread order; state is bounded whatever the session's length.

    Everything it offers passes the verifiers; it has no way to set trust.
    """

    name: str
    """Name and version, such as ``rules/1``."""

    def offer(self, event: Event, facts: SessionFacts) -> Iterable[Candidate]:
        """The candidates found in ``event``, given what came before it in the session."""
        ...

    def close(self) -> Iterable[Candidate]:
        """What only the end of the session shows (loops that stayed open)."""
        ...
