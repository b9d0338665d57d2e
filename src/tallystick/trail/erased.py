"""What a log says of what was erased from it: the tombstone that stands in its place, and whether there is any (ERASE.2)."""

from __future__ import annotations

from typing import NamedTuple

from tallystick.model.entry import EntryKind
from tallystick.store.protocol import Reading, Writing
from tallystick.trail.facts import TOMBSTONES, UNSCRUBBED


class Tombstone(NamedTuple):
    """What stands where something was: the entry that erased it, and why."""

    seq: int
    at: int
    because: str


def tombstone(rows: Reading, number: int) -> Tombstone | None:
    """What erased words of a claim, or events of a session, last; None where nothing did."""
    for touch in reversed(rows.touches(number)):
        if touch.kind == EntryKind.ERASED:
            parts = {part.name: part.body for part in rows.parts(touch.seq)}
            at = next((row.at for row in rows.entries(touch.seq, touch.seq + 1)), -1)
            return Tombstone(touch.seq, at, parts.get("because", b"").decode("utf-8", "replace"))
    return None


def was_erased(rows: Reading, number: int) -> bool:
    """Whether anything of a claim or session was erased."""
    return any(touch.kind == EntryKind.ERASED for touch in rows.touches(number))


def has_tombstones(rows: Reading) -> bool:
    """Whether anything was ever erased from the log, or is to be known as forgotten."""
    return rows.meta(TOMBSTONES) == "1"


def note_tombstones(rows: Writing) -> None:
    """Note that something was forgotten, so that what comes in is held against it."""
    rows.set_meta(TOMBSTONES, "1")


def is_unscrubbed(rows: Reading) -> bool:
    """Whether something was erased from the log since the engine's files were last rid of what lies in free pages."""
    return rows.meta(UNSCRUBBED) == "1"


def note_unscrubbed(rows: Writing, *, due: bool) -> None:
    """Note whether free pages of the engine's files may hold what was erased."""
    rows.set_meta(UNSCRUBBED, "1" if due else "")
