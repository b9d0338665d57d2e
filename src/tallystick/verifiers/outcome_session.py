"""A session as seen from where words were said, and what it says of one claim."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

from tallystick.model.claim import Outcome
from tallystick.verifiers.programs import CommandKind
from tallystick.verifiers.results import moved_behind
from tallystick.verifiers.signals import Ended, Result, Signal, Signals, is_code
from tallystick.verifiers.speech import Speech


class Finding(NamedTuple):
    """What the session says of one claim."""

    outcome: Outcome
    reason: str
    signals: tuple[Signal, ...] = ()
    results: tuple[Result | None, ...] = ()
    """How the action that matters ended, for each signal."""
    speeches: tuple[Speech, ...] = ()


class Session:
    """The signals of a session as seen from where the words were said."""

    def __init__(self, signals: Signals, position: int | None, thread: str) -> None:
        self.memory = signals
        self.position = position
        self.thread = thread
        self.turn = signals.turn_start(position)

    @cached_property
    def before(self) -> list[Signal]:
        """Results up to the words, oldest first, reports left out."""
        return [s for s in self.memory.before(self.position, self.thread) if not s.delegated]

    @cached_property
    def after(self) -> list[Signal]:
        """Results behind the words, oldest first, reports left out."""
        return [s for s in self.memory.after(self.position, self.thread) if not s.delegated]

    @cached_property
    def edits(self) -> list[tuple[Signal, str]]:
        """Successful edits up to the words: the signal, and the file."""
        return self.memory.edits(self.position, self.thread)

    @cached_property
    def last_code_edit(self) -> int:
        """Position of the last edit of code; -1 when there was none."""
        return max((s.position for s, path in self.edits if path == "*" or is_code(path)), default=-1)

    @cached_property
    def last_change(self) -> int:
        """Position of the last edit of code, or of the last checkout, pull or reset if that is later; else -1."""
        return max(self.last_code_edit, self.memory.last_move(self.position, self.thread))

    def is_stale(self, ended: Ended) -> bool:
        """Whether the code changed after a run: it was edited, or other commits were put into the working tree."""
        return self.last_change > ended.signal.position or moved_behind(ended.signal, ended.action)

    @cached_property
    def launches(self) -> list[Signal]:
        """Results that only say that something was started, up to the words."""
        return [s for s in self.memory.before(self.position, self.thread) if s.launch]

    def made(self, path: str) -> bool:
        """Whether a file of that name was created in the session."""
        return self.memory.made(path)

    def reported(self) -> bool:
        """Whether another agent's report came in the turn of the words."""
        return any(s.position > self.turn for s in self.memory.reports(self.position, self.thread))

    def ended(self, kinds: Iterable[CommandKind]) -> list[Ended]:
        """Actions of these kinds up to the words with how they ended, oldest first."""
        return self.memory.ended(kinds, self.position, self.thread)


def seen(outcome: Outcome, reason: str, *ended: Ended) -> Finding:
    """A finding with the actions that bear it out."""
    return Finding(outcome, reason, tuple(e.signal for e in ended), tuple(e.result for e in ended))


def unwitnessed(reason: str) -> Finding:
    """A finding that nothing in the session bears on the claim."""
    return Finding(Outcome.UNWITNESSED, reason)


def same_hash(a: str, b: str) -> bool:
    """Whether two abbreviated commit ids, of seven hexadecimal digits or more, can be of one commit."""
    return a.startswith(b[:7]) and (a.startswith(b) or b.startswith(a))
