"""Tombstones: by what is known again what was forgotten, so that reading its source once more brings nothing back (ERASE.3).

An archived event keeps its place, and its id unless that was made of a name that went. Beyond that there are keyed digests,
which mean nothing to anyone without the trail's digest key: of an event's words, of what a claim said and its holder's name,
of a session's own id, of a file's path, and of a text that was forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from tallystick.model.evidence import Event
from tallystick.store.protocol import ArchivedEvent, Reading
from tallystick.trail.archive import is_erased
from tallystick.trail.erased import has_tombstones

Digest = Callable[[bytes], bytes]
"""The trail's keyed digest."""


class Tombstones:
    """What a log knows of what was erased from it."""

    def __init__(self, rows: Reading, digest: Digest) -> None:
        self._rows = rows
        self._digest = digest
        self._any = has_tombstones(rows)

    def __bool__(self) -> bool:
        """Whether anything was ever erased; where nothing was, there is nothing to ask."""
        return self._any

    def has_event(self, event: str, content: Event) -> bool:
        """Whether an event was forgotten: the record itself, by its id, or the same words in a copy of it."""
        if not self._any:
            return False
        row = self.archived([event]).get(event)
        return (row is not None and is_erased(row)) or self._has(words_key(content)) or self._has(moment_key(content))

    def archived(self, events: Collection[str]) -> dict[str, ArchivedEvent]:
        """Where each of these events stands, those too that were forgotten and go by another id; the rest is left out."""
        found = self._rows.archived(events)
        if self._any:
            others = {nameless(self._digest, event): event for event in events if event not in found}
            found |= {others[row.event]: row for row in self._rows.archived(others).values()}
        return found

    def session(self, harness: str, native: str, thread: str) -> int:
        """The seq of a session whose name was erased; -1 where there is none."""
        found = self._rows.same(self._digest(session_key(harness, native, thread))) if self._any else None
        return -1 if found is None else found

    def has_source(self, path: str) -> bool:
        """Whether what was noted of a file was forgotten."""
        return self._any and self._has(source_key(path))

    def has_text(self, text: str) -> bool:
        """Whether exactly these words were forgotten, wherever they stood."""
        return self._any and self._has(text_key(text))

    def claim(self, holder: str, kind: str, text: str, about: Sequence[str]) -> int:
        """The claim that was forgotten and said this, of a holder of this name; -1 where there is none."""
        found = [self._rows.same(self._digest(key)) for key in claim_keys(holder, kind, text, about) if self._any]
        return next((claim for claim in found if claim is not None), -1)

    def noted_as(self, path: str) -> str:
        """What a file is noted under: its path, or of one that was forgotten a keyed digest of it."""
        key = source_key(path)
        return f"forgotten:{self._digest(key).hex()}" if self._any and self._has(key) else path

    def _has(self, key: bytes) -> bool:
        return self._rows.same(self._digest(key)) is not None


def nameless(digest: Digest, event: str) -> str:
    """The id of an event that was forgotten with its session's name, of which its own id was made."""
    return f"e{digest(_key('event', event))[:8].hex()}"


def words_key(event: Event) -> bytes:
    """Of an event that was erased for its words: they are known wherever they stand."""
    return _key("words", event.text)


def moment_key(event: Event) -> bytes:
    """Of an event that was erased with its session: the same words at the same moment, since "yes" is said every day."""
    return _key("moment", str(event.kind), str(event.origin), str(event.at), event.text)


def session_key(harness: str, native: str, thread: str) -> bytes:
    """Of a session, by the harness's own ids."""
    return _key("session", harness, native, thread)


def live_key(harness: str, native: str, thread: str) -> bytes:
    """Of a session that is there, by the harness's own ids (see ``known_sessions``)."""
    return _key("live session", harness, native, thread)


def source_key(path: str) -> bytes:
    """Of a file that was read."""
    return _key("source", path)


def claim_keys(holder: str, kind: str, text: str, about: Sequence[str]) -> list[bytes]:
    """Of a claim, by what it says and by its holder's name, of which what follows the colon counts."""
    name = holder.partition(":")[2] or holder
    said = [_key("said", name, kind, text)]
    return [*said, _key("about", name, kind, *about)] if about and all(about) else said


def text_key(text: str) -> bytes:
    """Of a text that was forgotten, exactly."""
    return _key("text", text)


def _key(*pieces: str) -> bytes:
    return "\0".join(("erased", *pieces)).encode("utf-8", "replace")
