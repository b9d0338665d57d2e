"""Harnesses: of each that keeps sessions here, what lies there, how much of it was read, what is refused, how new it is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tallystick.errors import NotATranscript, UsageError
from tallystick.model.temporal import Instant
from tallystick.store.protocol import Reading
from tallystick.trail import Trail
from tallystick.trail.archive import ArchiveReader, event_from_record, is_erased
from tallystick.transcripts.discovery import Found
from tallystick.transcripts.protocol import Adapter, Gatherer
from tallystick.transcripts.sources import ENDINGS, adapter_for, found_files, shown_path, source_of
from tallystick.workflows.ingest import session_facts
from tallystick.workflows.tombstones import Tombstones

LAST_EVENTS = 8
"""Of a session, among which the newest is looked for: its last ones may have no time, or stand a little out of order."""


class Refused(NamedTuple):
    """A file in a harness's place that cannot be read, and why."""

    file: str
    reason: str


class Harness(NamedTuple):
    """What is known of one harness on this machine."""

    name: str
    places: tuple[str, ...]
    """Its files and folders that are there."""
    is_read: bool
    """Whether this version has an adapter for it."""
    read: int
    """Files as they are that ingest has read; of those that are gathered from one place, the place."""
    grown: int
    """Files that changed since they were read."""
    waiting: int
    """Files that can be read and were not."""
    refused: tuple[Refused, ...]
    sessions: int
    """Sessions that the trail knows, sub-agents' among them."""
    newest: Instant | None
    """Of the last event of any session that the trail knows; None where none has a time."""


class _Seen:
    """Counts of one harness, while its places are looked through."""

    def __init__(self) -> None:
        self.places: list[str] = []
        self.counts = {"read": 0, "grown": 0, "waiting": 0}
        self.refused: list[Refused] = []
        self.sessions = 0
        self.newest: Instant | None = None


def harnesses(trail: Trail, found: Sequence[Found], adapters: Sequence[Adapter]) -> list[Harness]:
    """What is found of each harness and known of its sessions, in order of name. Only heads of unread files are opened."""
    seen: dict[str, _Seen] = defaultdict(_Seen)
    for each in found:
        seen[each.harness].places.append(each.path)
    with trail.reading(checked=False) as rows:
        gathered = _sessions(rows, seen)
        tombstones = Tombstones(rows, partial(trail.outside.digest, trail.id)) if trail.id else None
        for each in found:
            _files(rows, tombstones, Path(each.path), adapters, gathered, seen[each.harness])
    known = {adapter.name for adapter in adapters}
    return [
        Harness(
            name,
            tuple(one.places),
            name in known,
            **one.counts,
            refused=tuple(one.refused),
            sessions=one.sessions,
            newest=one.newest,
        )
        for name, one in sorted(seen.items())
    ]


def _sessions(rows: Reading, seen: dict[str, _Seen]) -> set[str]:
    """Count what the trail knows; the answer is the places that sessions were gathered from."""
    gathered = set()
    archive = ArchiveReader(rows)
    for name in rows.names("session"):
        harness = session_facts(name).get("harness", "")
        if not harness:
            continue  # It was forgotten, and nobody knows any more whose it was.
        one = seen[harness]
        one.sessions += 1
        size = rows.session_size(name.seq)
        for row in rows.session_events(name.seq, max(0, size - LAST_EVENTS)):
            at = None if is_erased(row) else event_from_record(archive.record(row)).at
            if at is not None and (one.newest is None or at > one.newest):
                one.newest = at
        for source in rows.sources(name.seq):
            place, mark, _ = source.path.rpartition("#")
            if mark:
                gathered.add(place)
    return gathered


def _files(
    rows: Reading,
    tombstones: Tombstones | None,
    place: Path,
    adapters: Sequence[Adapter],
    gathered: set[str],
    seen: _Seen,
) -> None:
    """Tell apart the files of one place; what is gathered from one file or folder counts as one."""
    files, bad = found_files([place])
    seen.refused += [Refused(each.path, each.reason) for each in bad]
    counted: set[str] = set()
    for path in files:
        above = map(shown_path, (path, *path.parents))
        shown = next((each for each in above if each in gathered or each in counted), shown_path(path))
        if shown in counted:
            continue
        try:
            state = _state(rows, tombstones, shown, is_gathered=shown in gathered)
            if state == "waiting":
                adapter = adapter_for(path, adapters)
                shown = adapter.anchor(path.as_posix()) if isinstance(adapter, Gatherer) else shown
            seen.counts[state] += 1
        except UsageError as error:
            # Most of what is not named like a session has nothing to do with any harness.
            if path.name.endswith(ENDINGS) or not isinstance(error, NotATranscript):
                seen.refused.append(Refused(shown, str(error).removeprefix(f"{shown}: ")))
        counted.add(shown)


def _state(rows: Reading, tombstones: Tombstones | None, shown: str, *, is_gathered: bool) -> str:
    """``read``, ``grown`` or ``waiting``. Raises ``UsageError`` when the file cannot be looked at."""
    noted = rows.source(tombstones.noted_as(shown)) if tombstones is not None else None
    if noted is None:
        return "read" if is_gathered else "waiting"
    return "read" if (noted.size, noted.mtime_ns, noted.inode) == source_of(Path(shown)).state else "grown"
