"""Archiving: the events of one session as they are read, each kept once, whatever file tells of it (EVID.4, 5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tallystick.log.canonical import encode
from tallystick.model.entry import EntryKind
from tallystick.model.evidence import Event
from tallystick.redaction import REDACTOR
from tallystick.store.protocol import ArchivedEvent, Writing
from tallystick.trail import Appender
from tallystick.trail.archive import ArchiveReader, Packer, event_from_record, is_erased, keep, version_id
from tallystick.workflows.tombstones import Digest, Tombstones

Read = tuple[str, Event]
"""An event's id as its record gives it, and the event."""


class SessionArchive:
    """Keeps the events of one reading of one session; what is there already, or was forgotten, adds nothing."""

    def __init__(self, reader: str, source: str, digest: Digest) -> None:
        """``reader`` names what read the events, ``source`` the file they stand in; ``digest`` is the trail's keyed one."""
        self._reader = reader
        self._source = source
        self._digest = digest
        self._known: set[str] | None = None
        self._met: set[str] = set()
        self.renamed: dict[str, str] = {}
        """Ids under which events were kept whose record has the id of an earlier one and says something else: a rewritten
        file, or two records of one name. What was quoted from the earlier one still stands as it was."""
        self.fresh: set[str] = set()
        """Ids of the events that this reading added."""
        self.counts: Counter[str] = Counter()

    def keep(self, appender: Appender, session: int, events: Sequence[Read]) -> bool:
        """Archive a slice and append the entry that commits to it; False where all of it was there."""
        rows = appender.rows
        known = self._known_events(rows, session)
        archive = ArchiveReader(rows)
        packer = Packer(session=session, first=len(known), block=rows.next_block(), salts=appender.salt)
        tombstones = Tombstones(rows, self._digest)
        places = tombstones.archived([event for event, _ in events])
        fresh: dict[str, Event] = {}
        for event, content in events:
            if tombstones and tombstones.has_event(event, content):
                self._skip(places[event].event if event in places else event, known)
                continue
            place = self._place(event, content, tombstones, archive, places, fresh)
            if place in places and is_erased(places[place]):
                self._skip(places[place].event, known)
                continue
            if place in known:
                self.counts["events_known"] += place not in self._met
            elif place in places:
                self.counts["events_shared"] += 1
                packer.adopt(places[place], archive.record(places[place]))
                self.fresh.add(place)
            else:
                fresh[place] = content
                packer.add(place, content)
                self.fresh.add(place)
            known.add(place)
            self._met.add(place)
        made = packer.finish({"reader": self._reader, "redactor": REDACTOR})
        if not made.events:
            return False
        self.counts["events_archived"] += len(made.events)
        keep(rows, made)
        parts = {"manifest": made.manifest, "source": encode({"path": self._source})}
        appender.add(EntryKind.OBSERVED, parts, refs=[session])
        return True

    def _skip(self, event: str, known: set[str]) -> None:
        """Pass over an event that was forgotten; it was met all the same."""
        if event in known:
            self._met.add(event)

    @property
    def covered(self) -> bool:
        """Whether every archived event of the session was met in this reading."""
        return self._known is None or len(self._met) == len(self._known)

    def _known_events(self, rows: Writing, session: int) -> set[str]:
        if self._known is None or len(self._known) != rows.session_size(session):
            # The second case: another process is reading the same session.
            self._known = {row.event for row in rows.session_events(session)}
        return self._known

    def _place(
        self,
        event: str,
        content: Event,
        tombstones: Tombstones,
        archive: ArchiveReader,
        places: dict[str, ArchivedEvent],
        fresh: dict[str, Event],
    ) -> str:
        """The id under which an event is kept: its own, unless that one says something else already; or that of a tombstone."""
        place, version = event, 1
        while (there := self._there(place, archive, places, fresh)) is not None:
            if (there.text, there.kind, there.origin) == (content.text, content.kind, content.origin):
                break
            version += 1
            place = version_id(event, version)
            places.update(tombstones.archived([place]))
        if place != event:
            self.renamed[event] = place
        return place

    @staticmethod
    def _there(
        place: str, archive: ArchiveReader, places: dict[str, ArchivedEvent], fresh: dict[str, Event]
    ) -> Event | None:
        if place in fresh:
            return fresh[place]
        known = places.get(place)
        return None if known is None or is_erased(known) else event_from_record(archive.record(known))
