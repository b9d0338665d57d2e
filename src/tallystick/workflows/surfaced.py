"""What we ourselves showed, and when: words that come back after that are an echo and no new support (QUOTE.6)."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator

from tallystick.log.canonical import entry_from_bytes
from tallystick.model.entry import EntryKind, LogName
from tallystick.trail import Trail

NEWEST = 200
"""Of the briefings; an older one is looked for in its session alone. So is what a recall showed: there it is its own tool's."""
LOOKED_THROUGH = 5000
"""Entries of the access log, the newest, among which those are looked for."""
_SURFACED = f'"kind":"{EntryKind.SURFACED}"'.encode()


class Surfaced:
    """The briefings that were surfaced, from the access log, read at the first question."""

    def __init__(self, trail: Trail) -> None:
        self._trail = trail
        self._read = False
        self._times: list[int] = []
        self._texts: list[str] = []

    def before(self, instant: int | None) -> list[str]:
        """Texts that had been shown before an instant (microseconds UTC); all of them where no record says when."""
        if not self._read:
            self._load()
        return self._texts if instant is None else self._texts[: bisect_right(self._times, instant)]

    def _load(self) -> None:
        self._read = True
        if not self._trail.id:
            return
        found: list[tuple[int, str]] = []
        with self._trail.reading(LogName.ACCESS) as rows:
            for row in rows.entries(max(0, rows.head().size - LOOKED_THROUGH)):
                if _SURFACED not in row.canon or entry_from_bytes(row.canon).refs:
                    continue
                bodies = {part.name: part.body for part in rows.parts(row.seq)}
                if "context" in bodies:
                    found.append((row.at, "\n".join(_said_in(bodies["context"]))))
        found.sort()
        self._times = [at for at, _ in found[-NEWEST:]]
        self._texts = [text for _, text in found[-NEWEST:]]


def _said_in(context: bytes) -> Iterator[str]:
    """The words of a briefing: its text, or where it was shown as JSON every string in it."""
    text = context.decode("utf-8", "replace")
    try:
        waiting = [json.loads(text)] if text.startswith("{") else []
    except (ValueError, RecursionError):
        waiting = []
    if not waiting:
        yield text
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict | list):
            waiting += reversed(value.values() if isinstance(value, dict) else value)
