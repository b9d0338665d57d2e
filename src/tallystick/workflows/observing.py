"""Observing: one pass over a session's events that gathers what certifying needs, in bounded memory (EVID.10).

Every event goes through here in order, whether it was archived before or is new: the extractor and the outcome signals
must have seen the whole session to say what stands at its end.
"""

from __future__ import annotations

from collections import OrderedDict

from tallystick.extractors.protocol import Extractor
from tallystick.model.claim import Candidate
from tallystick.model.evidence import Event, EventKind, Origin, SessionFacts
from tallystick.verifiers.signals import Signals, signal_of

REMEMBERED_BYTES = 16 * 1024 * 1024
"""Text of recent events kept for certifying; a quote is certified when its candidate is offered, so little is needed."""
SURFACED_CHARS = 256 * 1024
"""Of what we ourselves showed in the session, kept to know echoes by."""


def take_signal(signals: Signals, event: Event, position: int) -> None:
    """Add what one event signals of outcomes: a result, or words that can contradict."""
    if event.kind is EventKind.TOOL_RESULT:
        signal = signal_of(event, position)
        if signal is not None:
            signals.add(signal)
    elif event.kind is EventKind.MESSAGE:
        signals.add_message(event, position)


class Observation:
    """What has been gathered of one session so far."""

    def __init__(self, extractor: Extractor) -> None:
        self.extractor = extractor
        self.signals = Signals()
        self.candidates: list[tuple[Candidate, Event | None, int]] = []
        """(candidate, the event its words are said to stand in, that event's ordinal); the event is None where unknown."""
        self.surfaced: list[str] = []
        self._surfaced_chars = 0
        self._recent: OrderedDict[str, tuple[Event, int]] = OrderedDict()
        self._recent_bytes = 0
        self.seen = 0

    def take(self, event: Event, facts: SessionFacts) -> None:
        """Look at the next event of the session. What was taken back is kept in the archive and bears out nothing."""
        position = self.seen
        self.seen += 1
        if "rewound" in event.flags:
            return
        self._remember(event, position)
        take_signal(self.signals, event, position)
        if (event.origin is Origin.BRIEFING or "own_tool" in event.flags) and self._surfaced_chars < SURFACED_CHARS:
            self.surfaced.append(event.text[:SURFACED_CHARS])
            self._surfaced_chars += len(event.text)
        for candidate in self.extractor.offer(event, facts):
            self._offered(candidate)

    def close(self) -> None:
        """The session has been seen to its end."""
        for candidate in self.extractor.close():
            self._offered(candidate)

    def _offered(self, candidate: Candidate) -> None:
        event, position = self._recent.get(candidate.event, (None, -1))
        self.candidates.append((candidate, event, position))

    def _remember(self, event: Event, position: int) -> None:
        if event.kind is EventKind.THINKING or event.origin is Origin.TOOL:
            return
        self._recent[event.uid] = (event, position)
        self._recent_bytes += len(event.text)
        while self._recent_bytes > REMEMBERED_BYTES:
            _, (gone, _) = self._recent.popitem(last=False)
            self._recent_bytes -= len(gone.text)
