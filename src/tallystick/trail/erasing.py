"""Erasing in one log: parts, archived events, and every row that was made of them, with the entry that says so (ERASE.1, 2).

An erasure is one transaction. The entry goes first, since from then on ``verify`` takes what is missing for erased; then the
bytes and salts go, the kept views become what the fold makes of what is left, and blocks of the archive are packed anew.
Free pages of the engine's files may hold the old bytes until ``scrub`` has run; ``erased.is_unscrubbed`` says so till then.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from tallystick.beliefs import ALWAYS, ClaimRow, Effects, Name, Touch, VerdictRow, effects
from tallystick.log.canonical import entry_from_bytes
from tallystick.model.entry import Entry, EntryKind, LogName
from tallystick.store.protocol import ArchivedEvent, Reading, Writing
from tallystick.store.said import Said
from tallystick.store.said_words import holder_of, said_of
from tallystick.trail.appending import Appender, Trail
from tallystick.trail.archive import ArchiveReader, event_from_record, is_erased, repacked, unpacked
from tallystick.trail.erased import note_tombstones, note_unscrubbed
from tallystick.trail.walking import AsHeldBefore

_FOLDED = frozenset({"facets", "valid", "actor", "attribute", "holder", "session"})
"""Parts whose content is in the views, verdicts apart."""


class Erasure(NamedTuple):
    """What is to be erased of one log."""

    parts: Mapping[int, Collection[str]]
    """Names of parts by the seq of their entry; each is there."""
    events: Mapping[int, Collection[int]]
    """Numbers of archived events by the seq of their session; no copy of any is left out (see ``with_copies``)."""
    sources: Collection[int] = ()
    """Sessions, the notes of whose files are forgotten."""
    ids: Mapping[tuple[int, int], str] = {}
    """What events that are erased, or were before, go by from then on, by session and number: their ids told a name."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing that an entry would have to say."""
        return not (self.parts or self.events)


def erase(
    appender: Appender,
    what: Erasure,
    because: str,
    *,
    xrefs: Sequence[tuple[str, tuple[int, ...]]] = (),
    known: Iterable[tuple[bytes, int]] = (),
) -> int:
    """Erase within a write that is open, and return the seq of the entry that says so.

    ``known`` are keyed digests to recognise what was erased by, with what each stands for (``Writing.file``).
    """
    rows = appender.rows
    texts = [
        (seq, text)
        for seq, names in what.parts.items()
        if "text" in names and rows.claim_row(seq) is not None and (text := rows.text(seq)) is not None
    ]
    places = {
        "events": {str(session): sorted(numbers) for session, numbers in sorted(what.events.items())},
        "parts": {str(seq): sorted(names) for seq, names in sorted(what.parts.items())},
    }
    said = json.dumps(places, separators=(",", ":")).encode()
    refs = sorted({*what.parts, *what.events})
    seq = appender.add(EntryKind.ERASED, {"because": because.encode(), "places": said}, refs=refs, xrefs=xrefs)
    rows = appender.rows
    rows.erase(what.parts, texts)
    rows.refold(*_refolded(rows, what.parts))
    packs = _packs(rows, what.events)
    rows.unsay(_said(rows, what.events))
    rows.erase_events([(session, n) for session, numbers in what.events.items() for n in numbers])
    for block, kept in packs:
        data, moved = repacked(unpacked(block, rows.block(block)), kept) if kept else (None, [])
        rows.repack(block, data, moved)
    leave_known(rows, what, known)
    note_unscrubbed(rows, due=True)
    return seq


def leave_known(rows: Writing, what: Erasure, known: Iterable[tuple[bytes, int]]) -> None:
    """What no entry says: notes of files that go, ids that told a name, and digests to recognise what was forgotten by."""
    for session in what.sources:
        rows.forget_sources(session)
    rows.rename_events([(session, n, event) for (session, n), event in what.ids.items()])
    rows.file(known)
    note_tombstones(rows)
    if what.ids or what.sources:
        note_unscrubbed(rows, due=True)


def scrub(trail: Trail, log: LogName) -> None:
    """Leave nothing of what was erased from a log in the engine's files, and note that.

    Raises:
        TrailLocked: see ``store.protocol.Store.scrub``.
    """
    trail.store.scrub(log)
    with trail.writing(log) as appender:
        note_unscrubbed(appender.rows, due=False)


def with_copies(rows: Reading, events: Mapping[int, Collection[int]]) -> dict[int, set[int]]:
    """The same archived events with every other place that has them: a session that repeats another's records (EVID.5)."""
    found: dict[int, set[int]] = {session: set(numbers) for session, numbers in events.items()}
    ids = {
        row.event
        for session, numbers in found.items()
        for row in rows.session_events(session)
        if row.n in numbers and not is_erased(row)
    }
    if ids:
        for row in rows.events():
            if row.event in ids and not is_erased(row):
                found.setdefault(row.session, set()).add(row.n)
    return found


class _AsLeft(AsHeldBefore):
    """The views just before an entry, with verdicts as they come out of what is left."""

    def __init__(self, rows: Reading, claims: Iterable[int]) -> None:
        super().__init__(rows)
        self.anew: dict[int, list[VerdictRow]] = {claim: [] for claim in claims}

    def verdicts(self, claim: int) -> list[VerdictRow]:
        """See ``beliefs.Held``."""
        return sorted(self.anew[claim]) if claim in self.anew else super().verdicts(claim)


def _refolded(rows: Reading, parts: Mapping[int, Collection[str]]) -> tuple[set[int], Effects]:
    """(claims whose verdicts are made anew, the rows that the fold now makes) where parts have been erased."""
    judged = {int(name.partition("/")[2]) for names in parts.values() for name in names if name.startswith("verdict/")}
    about_verdicts = {row.seq for claim in judged for row in rows.verdicts(claim)}
    about_verdicts |= {touch.seq for claim in judged for touch in rows.touches(claim) if touch.kind == EntryKind.UNDONE}
    in_views = {seq for seq, names in parts.items() if not _FOLDED.isdisjoint(names)}
    held = _AsLeft(rows, judged)
    made: Effects = []
    for seq in sorted(about_verdicts | in_views):
        entry = _entry(rows, seq)
        held.seq = seq
        for row in effects(entry, {part.name: part.body for part in rows.parts(seq)}, held):
            if isinstance(row, VerdictRow) and row.claim in held.anew:
                held.anew[row.claim].append(row)
            elif isinstance(row, ClaimRow | Name | Touch) and seq in in_views:
                made.append(row)
    made.extend(row for claim in sorted(held.anew) for row in held.anew[claim])
    made.extend(
        version._replace(valid=ALWAYS)
        for seq, names in parts.items()
        if "valid" in names
        for version in rows.versions(seq)
    )
    return judged, made


def _entry(rows: Reading, seq: int) -> Entry:
    return next(entry_from_bytes(row.canon) for row in rows.entries(seq, seq + 1))


def _said(rows: Reading, events: Mapping[int, Collection[int]]) -> list[Said]:
    """What archived events are found by, as long as they are there."""
    reader = ArchiveReader(rows)
    found: list[Said] = []
    for session, numbers in sorted(events.items()):
        holder = holder_of(rows, session)
        found.extend(
            said_of(session, row.n, holder, event_from_record(reader.record(row)))
            for row in rows.session_events(session)
            if row.n in numbers and not is_erased(row)
        )
    return found


def _packs(rows: Reading, events: Mapping[int, Collection[int]]) -> list[tuple[int, list[tuple[int, int]]]]:
    """(block, places of the records that stay in it) for each block that holds one of the events."""
    if not events:
        return []
    gone = {session: frozenset(numbers) for session, numbers in events.items()}

    def goes(row: ArchivedEvent) -> bool:
        return row.n in gone.get(row.session, ())

    affected = {
        row.block for session in gone for row in rows.session_events(session) if goes(row) and not is_erased(row)
    }
    kept: defaultdict[int, set[tuple[int, int]]] = defaultdict(set)
    for row in rows.events() if affected else ():
        if row.block in affected and not goes(row):
            kept[row.block].add((row.offset, row.length))
    return [(block, sorted(kept[block])) for block in sorted(affected)]
