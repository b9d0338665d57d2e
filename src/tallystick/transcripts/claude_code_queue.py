"""Prompts typed while Claude Code was busy, until they are delivered: each is read once, wherever it turns up (EVID.5).

A queued prompt comes back as a user record (``dequeue``), goes into the running turn (``remove``, later versions with a
``queued_command`` attachment too), or returns to the input line (``popAll``). Only in the second case do its words stand
in the queue record alone. What is waiting is kept among the reader's open calls, so that a later read goes on with it.
"""

from __future__ import annotations

from typing import NamedTuple

from tallystick.model.evidence import Locator
from tallystick.transcripts.protocol import PendingCall

_QUEUE = "@queue:"
_PROMPT = "@prompt:"
_REMEMBERED_CHARS = 400
_MOST = 64
"""More prompts than this are not waiting at once; the oldest gives way."""
_WAITING, _IN_TURN, _READ = (), ("in-turn",), ("read",)


class Prompt(NamedTuple):
    """A prompt that was typed ahead, and the record in which it stands."""

    uid: str
    timestamp: str
    text: str
    place: Locator


class PromptQueue:
    """What is known of the prompts of one source that were typed ahead, in ``calls``."""

    def __init__(self, calls: dict[str, PendingCall]) -> None:
        self._calls = calls

    def enqueue(self, timestamp: str, text: str, place: Locator) -> None:
        """A prompt was typed; nothing is said until it is known where it went."""
        key = _QUEUE + (timestamp or str(place.offset))
        while key in self._calls:
            key += "+"
        # The place is kept with it: that is the record which an audit re-opens.
        self._calls[key] = PendingCall(timestamp, text, tuple(map(str, place)), _WAITING)
        keys = self._keys()
        if len(keys) > _MOST:
            del self._calls[keys[0]]

    def removed(self, text: str) -> Prompt | None:
        """The prompt that went into the running turn; None where its words stand elsewhere."""
        in_turn = self._find(text, _IN_TURN)
        if in_turn:
            del self._calls[in_turn]
            return None
        key = self._find(text, _WAITING)
        if key is None:
            return None
        prompt = self._calls[key]
        self._calls[key] = prompt._replace(flags=_READ)
        return Prompt(key[1:], prompt.tool, prompt.command, Locator(*map(int, prompt.paths)))

    def dequeued(self) -> None:
        """The next prompt is delivered as a user record, which says which one it was where several wait."""
        waiting = [key for key in self._keys() if self._calls[key].flags == _WAITING]
        if len(waiting) == 1:
            del self._calls[waiting[0]]

    def taken_back(self, text: str) -> None:
        """A prompt (without ``text``: all of them) went back to the input line: it was not said."""
        for key in self._keys():
            if self._calls[key].flags == _WAITING and text in ("", self._calls[key].command):
                del self._calls[key]

    def delivered(self, text: str) -> None:
        """A user record has ``text``; the prompts in it wait no longer."""
        for key in self._keys():
            if self._calls[key].flags == _WAITING and self._calls[key].command in text:
                del self._calls[key]

    def attached(self, text: str) -> bool:
        """An attachment has ``text``: whether that is its first appearance."""
        already = self._find(text, _READ) if text else None
        if already:
            del self._calls[already]
            return False
        key = self._find(text, _WAITING) if text else None
        if key:
            self._calls[key] = self._calls[key]._replace(flags=_IN_TURN)
        return True

    def _keys(self) -> list[str]:
        return [key for key in self._calls if key.startswith(_QUEUE)]

    def _find(self, text: str, state: tuple[str, ...]) -> str | None:
        """The oldest prompt in ``state`` with ``text``, or the oldest at all where the record does not say which."""
        for key in self._keys():
            prompt = self._calls[key]
            if prompt.flags == state and text in ("", prompt.command):
                return key
        return None


class LastPrompt:
    """The prompt that nothing has answered yet: after a hook stopped it, the harness writes it down again."""

    def __init__(self, calls: dict[str, PendingCall]) -> None:
        self._calls = calls

    def is_repeated(self, thread: str, text: str) -> bool:
        """Whether ``text`` is the prompt that a hook stopped; it is remembered in any case."""
        key = _PROMPT + thread
        before = self._calls.get(key)
        # Kept as words and not as a digest, which would let anybody confirm a guess of what was typed (TRAIL.4).
        mark = f"{len(text)} {text[:_REMEMBERED_CHARS]}"
        self._calls[key] = PendingCall("", mark, (), ())
        return before is not None and before.command == mark and "stopped" in before.flags

    def stopped(self, thread: str) -> None:
        """A hook stopped the prompt."""
        key = _PROMPT + thread
        before = self._calls.get(key)
        if before is not None:
            self._calls[key] = before._replace(flags=("stopped",))

    def answered(self, thread: str) -> None:
        """The model has spoken; the same words again are said again."""
        self._calls.pop(_PROMPT + thread, None)
