"""A session as seen from where words were said, and what it says of one claim."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tallystick.model.claim import Outcome
from tallystick.verifiers.commands import Action
from tallystick.verifiers.programs import CommandKind
from tallystick.verifiers.signals import Result, Signal, Signals, edits_of, is_code, result_of
from tallystick.verifiers.speech import Speech


class Finding(NamedTuple):
    """What the session says of one claim."""

    outcome: Outcome
    reason: str
    signals: tuple[Signal, ...] = ()
    results: tuple[Result | None, ...] = ()
    """How the action that matters ended, for each signal."""
    speeches: tuple[Speech, ...] = ()


class Ended(NamedTuple):
    """One action of a signal, and how it ended."""

    signal: Signal
    action: Action
    result: Result


class Session:
    """The signals of a session as seen from where the words were said."""

    def __init__(self, signals: Signals, position: int | None, thread: str) -> None:
        self.memory = signals
        self.position = position
        self.thread = thread
        seen = signals.before(position, thread)
        self.reports = [s for s in seen if s.delegated]
        self.before = [s for s in seen if not s.delegated]
        self.after = [s for s in signals.after(position, thread) if not s.delegated]
        self.turn = signals.turn_start(position)
        self.edits = [(s, path) for s in self.before for path in edits_of(s)]

    def last_code_edit(self) -> int:
        """Position of the last edit of code; -1 when there was none."""
        return max((s.position for s, path in self.edits if path == "*" or is_code(path)), default=-1)

    def ended(self, kinds: Iterable[CommandKind], signals: list[Signal] | None = None) -> list[Ended]:
        """Actions of these kinds with how they ended, oldest first; those that only pretend left out."""
        wanted = frozenset(kinds)
        return [
            Ended(s, a, result_of(s, a))
            for s in (self.before if signals is None else signals)
            for a in s.actions
            if a.kind in wanted and not a.vacuous
        ]


def seen(outcome: Outcome, reason: str, *ended: Ended) -> Finding:
    """A finding with the actions that bear it out."""
    return Finding(outcome, reason, tuple(e.signal for e in ended), tuple(e.result for e in ended))


def unwitnessed(reason: str) -> Finding:
    """A finding that nothing in the session bears on the claim."""
    return Finding(Outcome.UNWITNESSED, reason)


def same_hash(a: str, b: str) -> bool:
    """Whether two abbreviated commit ids, of seven hexadecimal digits or more, can be of one commit."""
    return a.startswith(b[:7]) and (a.startswith(b) or b.startswith(a))
