"""The reference store: plain dictionaries, the same answers, nothing on disk. What the SQL stores are compared with."""

from __future__ import annotations

import copy
import threading
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager

from tallystick.beliefs import ClaimRow, Closing, Effects, Epoch, Link, Name, Touch, VerdictRow, Version
from tallystick.errors import TrailUnreadable, UnknownId
from tallystick.log.merkle import Frontier, leaf_hash
from tallystick.model.claim import Standing
from tallystick.model.entry import Head, LogName
from tallystick.model.temporal import END_OF_TIME, START_OF_TIME
from tallystick.store.protocol import (
    ArchivedEvent,
    Belief,
    BlockRow,
    EntryRow,
    EntryTuple,
    PartRow,
    PartTuple,
    Selection,
    SourceRow,
    selects,
)
from tallystick.store.words import words


class Views:
    """The rows that ``beliefs.effects`` made, and the questions of ``beliefs.Held`` over them."""

    def __init__(self) -> None:
        self.claims: dict[int, ClaimRow] = {}
        self.versions_of: dict[int, list[Version]] = defaultdict(list)
        self.changed: dict[int, list[tuple[int, int]]] = defaultdict(list)
        self.verdicts_of: dict[int, dict[tuple[str, int], VerdictRow]] = defaultdict(dict)
        self.touches_of: dict[int, list[Touch]] = defaultdict(list)
        self.link_rows: list[Link] = []
        self.name_rows: list[Name] = []
        self.epochs: list[Epoch] = []

    def add(self, effects: Effects) -> None:
        """Keep the rows of one batch, in order."""
        for row in effects:
            if type(row) is VerdictRow:
                self.verdicts_of[row.claim][row.axis, row.seq] = row
            elif type(row) is Version:
                self._open(row)
            elif type(row) is ClaimRow:
                self.claims[row.claim] = row
            elif type(row) is Closing:
                self._close(row)
            elif type(row) is Touch:
                self.touches_of[row.claim].append(row)
            elif type(row) is Link:
                self.link_rows.append(row)
            elif type(row) is Name:
                self.name_rows.append(row)
            elif type(row) is Epoch:
                self.epochs.append(row._replace(epoch=len(self.epochs) + 1))

    def _open(self, row: Version) -> None:
        self.versions_of[row.claim].append(row)
        if row.tx_from != row.claim:
            self.changed[row.tx_from].append((row.claim, len(self.versions_of[row.claim]) - 1))

    def _close(self, row: Closing) -> None:
        rows = self.versions_of[row.claim]
        rows[-1] = rows[-1]._replace(tx_to=row.seq)
        self.changed[row.seq].append((row.claim, len(rows) - 1))

    def open_version(self, claim: int) -> Version | None:
        """See ``beliefs.Held``."""
        rows = self.versions_of.get(claim)
        return rows[-1] if rows and rows[-1].tx_to == END_OF_TIME else None

    def claim_row(self, claim: int) -> ClaimRow | None:
        """See ``beliefs.Held``."""
        return self.claims.get(claim)

    def versions_changed(self, seq: int) -> list[Version]:
        """See ``beliefs.Held``."""
        places = set(self.changed.get(seq, ()))
        if seq in self.claims:
            places.add((seq, 0))
        return [self.versions_of[claim][place] for claim, place in sorted(places)]

    def rows(self, view: str) -> Iterator[tuple[object, ...]]:
        """Every row of a view in order of its key."""
        if view == "claim":
            yield from (self.claims[claim] for claim in sorted(self.claims))
        elif view == "version":
            for claim in sorted(self.versions_of):
                holder = self.claims[claim].holder if claim in self.claims else ""
                yield from ((*version, holder) for version in self.versions_of[claim])
        elif view == "verdict":
            for claim in sorted(self.verdicts_of):
                by_key = self.verdicts_of[claim]
                yield from (by_key[key] for key in sorted(by_key))
        elif view == "touch":
            for claim in sorted(self.touches_of):
                yield from sorted(self.touches_of[claim])
        else:
            kept: dict[str, Sequence[tuple[object, ...]]]
            kept = {"link": self.link_rows, "name": self.name_rows, "epoch": self.epochs}
            yield from kept[view]


class MemoryLog:
    """One log held in memory; implements ``protocol.Writing``."""

    def __init__(self) -> None:
        self._entries: list[EntryRow] = []
        self._parts: dict[tuple[int, str], PartRow] = {}
        self._frontier = Frontier()
        self._meta: dict[str, str] = {}
        self._views = Views()
        self._texts: dict[int, frozenset[str]] = {}
        self._same: dict[bytes, int] = {}
        self._events: dict[tuple[int, int], ArchivedEvent] = {}
        self._event_by_id: dict[str, ArchivedEvent] = {}
        self._blocks: dict[int, BlockRow] = {}
        self._sources: dict[str, SourceRow] = {}

    def head(self) -> Head:
        """See ``protocol.Reading``."""
        at = self._entries[-1].at if self._entries else START_OF_TIME
        return Head(len(self._entries), self._frontier.root(), at, len(self._views.epochs))

    def frontier(self) -> Frontier:
        """See ``protocol.Reading``."""
        return Frontier(self._frontier.size, self._frontier.nodes)

    def meta(self, key: str) -> str:
        """See ``protocol.Reading``."""
        return self._meta.get(key, "")

    def entries(self, start: int = 0, stop: int | None = None) -> Iterator[EntryRow]:
        """See ``protocol.Reading``."""
        return iter(self._entries[max(start, 0) : stop])

    def parts(self, seq: int) -> list[PartRow]:
        """See ``protocol.Reading``."""
        return sorted(row for key, row in self._parts.items() if key[0] == seq)

    def all_parts(self) -> Iterator[PartRow]:
        """See ``protocol.Reading``."""
        return iter([self._parts[key] for key in sorted(self._parts)])

    def seq_at(self, instant: int) -> int:
        """See ``protocol.Reading``."""
        starts = [(0, START_OF_TIME), *((epoch.seq, epoch.at) for epoch in self._views.epochs)]
        stops = [*(seq for seq, _ in starts[1:]), len(self._entries)]
        for (start, at), stop in zip(reversed(starts), reversed(stops), strict=True):
            if at <= instant:
                found = bisect_right(self._entries, instant, start, stop, key=lambda row: row.at)
                if found > start:
                    return found - 1
        return -1

    def open_version(self, claim: int) -> Version | None:
        """See ``protocol.Reading``."""
        return self._views.open_version(claim)

    def claim_row(self, claim: int) -> ClaimRow | None:
        """See ``protocol.Reading``."""
        return self._views.claim_row(claim)

    def versions_changed(self, seq: int) -> list[Version]:
        """See ``protocol.Reading``."""
        return self._views.versions_changed(seq)

    def believed(self, selection: Selection) -> list[Belief]:
        """See ``protocol.Reading``."""
        found = [
            self._belief(self._views.claims[claim], version, selection.as_of)
            for claim in sorted(self._views.claims)
            for version in self._views.versions_of[claim]
            if selects(selection, self._views.claims[claim], version)
        ]
        return found[: selection.limit]

    def _belief(self, row: ClaimRow, version: Version, as_of: int) -> Belief:
        newest: dict[str, VerdictRow] = {}
        for (axis, seq), verdict in sorted(self._views.verdicts_of[row.claim].items()):
            if seq <= as_of:
                newest[axis] = verdict
        derivation, outcome = newest.get("derivation"), newest.get("outcome")
        return Belief(
            row,
            version,
            self.text(row.claim),
            derivation.value if derivation else "inferred",
            outcome.value if outcome else "none",
            "; ".join(each.reason for each in (derivation, outcome) if each and each.reason),
            max(row.said_at, *(touch.said_at for touch in self._views.touches_of[row.claim] if touch.seq <= as_of), -1),
        )

    def standings(self, selection: Selection) -> list[Standing]:
        """See ``protocol.Reading``."""
        return [
            Standing(row.claim, row.kind, row.origin, said_at, row.tokens, derivation, outcome)
            for row, _, _, derivation, outcome, _, said_at in self.believed(selection)
        ]

    def text(self, claim: int) -> str | None:
        """See ``protocol.Reading``."""
        part = self._parts.get((claim, "text"))
        return part.body.decode("utf-8", "replace") if part else None

    def count(self, selection: Selection) -> int:
        """See ``protocol.Reading``."""
        return len(self.believed(selection._replace(limit=None)))

    def matching(self, tokens: Sequence[Sequence[str]], as_of: int) -> dict[int, set[int]]:
        """See ``protocol.Reading``."""
        found = {
            claim: {index for index, forms in enumerate(tokens) if held.intersection(forms)}
            for claim, held in sorted(self._texts.items())
            if claim <= as_of
        }
        return {claim: hits for claim, hits in found.items() if hits}

    def versions(self, claim: int) -> list[Version]:
        """See ``protocol.Reading``."""
        return list(self._views.versions_of.get(claim, ()))

    def verdicts(self, claim: int) -> list[VerdictRow]:
        """See ``protocol.Reading``."""
        by_key = self._views.verdicts_of.get(claim, {})
        return [by_key[key] for key in sorted(by_key)]

    def touches(self, claim: int) -> list[Touch]:
        """See ``protocol.Reading``."""
        return sorted(self._views.touches_of.get(claim, ()))

    def links(self, as_of: int, kind: str) -> list[Link]:
        """See ``protocol.Reading``."""
        return [row for row in self._views.link_rows if row.seq <= as_of and row.kind == kind]

    def names(self, what: str) -> list[Name]:
        """See ``protocol.Reading``."""
        return [row for row in self._views.name_rows if row.what == what]

    def same(self, key: bytes) -> int | None:
        """See ``protocol.Reading``."""
        return self._same.get(key)

    def event(self, event: str) -> ArchivedEvent | None:
        """See ``protocol.Reading``."""
        return self._event_by_id.get(event)

    def session_size(self, session: int) -> int:
        """See ``protocol.Reading``."""
        return sum(1 for _ in self.session_events(session))

    def archived(self, events: Collection[str]) -> dict[str, ArchivedEvent]:
        """See ``protocol.Reading``."""
        return {event: self._event_by_id[event] for event in events if event in self._event_by_id}

    def session_events(self, session: int, first: int = 0, stop: int | None = None) -> Iterator[ArchivedEvent]:
        """See ``protocol.Reading``."""
        mine = [row for (owner, n), row in sorted(self._events.items()) if owner == session and n >= first]
        return iter([row for row in mine if stop is None or row.n < stop])

    def claims_of(self, session: int) -> list[ClaimRow]:
        """See ``protocol.Reading``."""
        return [row for _, row in sorted(self._views.claims.items()) if row.session == session]

    def events(self) -> Iterator[ArchivedEvent]:
        """See ``protocol.Reading``."""
        return iter([row for _, row in sorted(self._events.items())])

    def block(self, block: int) -> bytes:
        """See ``protocol.Reading``."""
        if block not in self._blocks:
            raise TrailUnreadable(f"archive block {block} is missing; run `tally verify`")
        return self._blocks[block].data

    def blocks(self) -> Iterator[BlockRow]:
        """See ``protocol.Reading``."""
        return iter([row for _, row in sorted(self._blocks.items())])

    def source(self, path: str) -> SourceRow | None:
        """See ``protocol.Reading``."""
        return self._sources.get(path)

    def sources(self, session: int) -> list[SourceRow]:
        """See ``protocol.Reading``."""
        return sorted(row for row in self._sources.values() if row.session == session)

    def rows(self, view: str) -> Iterator[tuple[object, ...]]:
        """See ``protocol.Reading``."""
        return self._views.rows(view)

    def append(self, entries: Iterable[EntryTuple], parts: Iterable[PartTuple], frontier: Frontier, at: int) -> None:
        """See ``protocol.Writing``."""
        kept = map(EntryRow._make, entries)
        self._entries.extend(row if row.leaf else row._replace(leaf=leaf_hash(row.canon)) for row in kept)
        self._parts.update({(row.seq, row.name): row for row in map(PartRow._make, parts)})
        self._frontier = Frontier(frontier.size, frontier.nodes)

    def apply(self, effects: Effects, texts: Iterable[tuple[int, str]]) -> None:
        """See ``protocol.Writing``."""
        self._views.add(effects)
        for claim, text in texts:
            self._texts[claim] = frozenset(words(text))

    def file(self, keys: Iterable[tuple[bytes, int]]) -> None:
        """See ``protocol.Writing``."""
        self._same.update(keys)

    def archive(self, blocks: Iterable[BlockRow], events: Iterable[ArchivedEvent]) -> None:
        """See ``protocol.Writing``."""
        self._blocks.update({row.block: row for row in blocks})
        for row in events:
            self._events[row.session, row.n] = row
            self._event_by_id.setdefault(row.event, row)

    def next_block(self) -> int:
        """See ``protocol.Writing``."""
        return max(self._blocks, default=-1) + 1

    def note_source(self, row: SourceRow) -> None:
        """See ``protocol.Writing``."""
        self._sources[row.path] = row

    def set_meta(self, key: str, value: str) -> None:
        """See ``protocol.Writing``."""
        self._meta[key] = value


class MemoryStore:
    """Implements ``protocol.Store``."""

    location = "memory"

    def __init__(self) -> None:
        self.logs = {log: MemoryLog() for log in LogName}
        self._locks = {log: threading.RLock() for log in LogName}

    @contextmanager
    def reading(self, log: LogName) -> Iterator[MemoryLog]:
        """See ``protocol.Store``."""
        yield self._log(log)

    @contextmanager
    def writing(self, log: LogName, committed: Callable[[Head], None]) -> Iterator[MemoryLog]:
        """See ``protocol.Store``. Works on a copy, so that a failure inside leaves no trace."""
        with self._locks[log]:
            draft = copy.deepcopy(self._log(log))
            yield draft
            self.logs[log] = draft
            committed(draft.head())

    def _log(self, log: LogName) -> MemoryLog:
        if log not in self.logs:
            raise UnknownId(f"no log {log!r}; a trail has {', '.join(LogName)}")
        return self.logs[log]

    def check(self, log: LogName) -> list[str]:
        """See ``protocol.Store``: memory has no files that could be damaged."""
        return []

    def close(self) -> None:
        """See ``protocol.Store``."""
