"""What we ourselves showed, and when: words that come back after that are an echo and no new support (QUOTE.6)."""

from __future__ import annotations

from bisect import bisect_right

from tallystick.log.canonical import entry_from_bytes
from tallystick.model.entry import EntryKind, LogName
from tallystick.trail import Trail

NEWEST = 200
"""Of what was shown; an older briefing is looked for in its session alone."""


class Surfaced:
    """The contexts that were surfaced, from the access log, read at the first question."""

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
            for row in rows.entries(max(0, rows.head().size - 4 * NEWEST)):
                if entry_from_bytes(row.canon).kind != EntryKind.SURFACED:
                    continue
                bodies = {part.name: part.body for part in rows.parts(row.seq)}
                if "context" in bodies:
                    found.append((row.at, bodies["context"].decode("utf-8", "replace")))
        found.sort()
        self._times = [at for at, _ in found[-NEWEST:]]
        self._texts = [text for _, text in found[-NEWEST:]]
