"""The reference store: plain dictionaries, the same answers, nothing on disk. What the SQL stores are compared with."""

from __future__ import annotations

import copy
import threading
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from operator import itemgetter

from tallystick.beliefs import ALWAYS, ClaimRow, Effects, Link, Name, Touch, VerdictRow, Version
from tallystick.errors import TrailUnreadable, UnknownId
from tallystick.log.merkle import Frontier, leaf_hash
from tallystick.model.claim import Standing
from tallystick.model.entry import Head, LogName
from tallystick.model.temporal import END_OF_TIME, START_OF_TIME
from tallystick.store.epochs import seq_at
from tallystick.store.memory_views import Views
from tallystick.store.packing import Packed, unpacked
from tallystick.store.protocol import (
    ArchivedEvent,
    Belief,
    BlockRow,
    EntryRow,
    EntryTuple,
    NodeTuple,
    PartRow,
    PartsOfEntry,
    Selection,
    SourceRow,
    selects,
)
from tallystick.store.said import EARLIEST, Place, Places, Said, Sought, holds, is_within
from tallystick.store.vectors import Vector
from tallystick.store.words import words


class MemoryLog:
    """One log held in memory; implements ``protocol.Writing``."""

    def __init__(self) -> None:
        self._entries: list[EntryRow] = []
        self._parts: dict[tuple[int, str], PartRow] = {}
        self._frontier = Frontier()
        self._nodes: dict[tuple[int, int], bytes] = {}
        self._meta: dict[str, str] = {}
        self._views = Views()
        self._texts: dict[int, frozenset[str]] = {}
        self._vectors: dict[tuple[str, int], bytes] = {}
        self._same: dict[bytes, int] = {}
        self._events: dict[tuple[int, int], ArchivedEvent] = {}
        self._event_by_id: dict[str, ArchivedEvent] = {}
        self._blocks: dict[int, BlockRow] = {}
        self._sources: dict[str, SourceRow] = {}
        self._said: dict[int, Said] = {}
        """Place → event of the index of the archive."""

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

    def facts(self) -> dict[str, str]:
        """See ``protocol.Reading``."""
        return dict(self._meta)

    def entries(self, start: int = 0, stop: int | None = None) -> Iterator[EntryRow]:
        """See ``protocol.Reading``."""
        return iter(self._entries[max(start, 0) : stop])

    def nodes(self, level: int, start: int, stop: int) -> list[bytes]:
        """See ``protocol.Reading``."""
        if level == 0:
            return [row.leaf for row in self._entries[start:stop]]
        return [digest for (at, n), digest in sorted(self._nodes.items()) if at == level and start <= n < stop]

    def count_nodes(self) -> int:
        """See ``protocol.Reading``."""
        return len(self._nodes)

    def parts(self, seq: int) -> list[PartRow]:
        """See ``protocol.Reading``."""
        return sorted(row for key, row in self._parts.items() if key[0] == seq)

    def parts_between(self, start: int = 0, stop: int | None = None) -> Iterator[PartsOfEntry]:
        """See ``protocol.Reading``."""
        keys = sorted(key for key in self._parts if key[0] >= start and (stop is None or key[0] < stop))
        for seq, mine in groupby(keys, itemgetter(0)):
            yield seq, [(row.name, row.salt, row.body) for row in map(self._parts.__getitem__, mine)]

    def seq_at(self, instant: int) -> int:
        """See ``protocol.Reading``."""
        epochs = ((epoch.seq, epoch.at) for epoch in self._views.epochs)
        return seq_at(instant, epochs, len(self._entries), self._last_at)

    def _last_at(self, instant: int, start: int, stop: int) -> int:
        found = bisect_right(self._entries, instant, start, stop, key=lambda row: row.at)
        return found - 1 if found > start else -1

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
        if selection.derivations is not None:
            found = [belief for belief in found if belief.derivation in selection.derivations]
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
            None if version.valid == ALWAYS else self._body(row.claim, "valid"),
        )

    def standings(self, selection: Selection) -> list[Standing]:
        """See ``protocol.Reading``."""
        return [
            Standing(row.claim, row.kind, row.origin, said_at, row.tokens, derivation, outcome)
            for row, _, _, derivation, outcome, _, said_at, _ in self.believed(selection)
        ]

    def text(self, claim: int) -> str | None:
        """See ``protocol.Reading``."""
        body = self._body(claim, "text")
        return None if body is None else body.decode("utf-8", "replace")

    def _body(self, claim: int, name: str) -> bytes | None:
        part = self._parts.get((claim, name))
        return part.body if part else None

    def texts(self, claims: Collection[int]) -> dict[int, str]:
        """See ``protocol.Reading``."""
        return {claim: text for claim in claims if (text := self.text(claim)) is not None}

    def count(self, selection: Selection) -> int:
        """See ``protocol.Reading``."""
        return len(self.believed(selection._replace(limit=None)))

    def newest(self, tokens: Sequence[Sequence[str]], selection: Selection, limit: int) -> list[int]:
        """See ``protocol.Reading``."""
        every = selection._replace(claims=None, after=-1, valid_at=None)
        found = [
            claim
            for claim, held in self._texts.items()
            if claim <= selection.as_of
            and all(held.intersection(forms) for forms in tokens)
            and any(selects(every, self._views.claims[claim], one._replace(tx_from=-1, tx_to=END_OF_TIME))
                    for one in self._views.versions_of[claim][:1])
        ]  # fmt: skip
        return sorted(found, reverse=True)[:limit]

    def versions(self, claim: int) -> list[Version]:
        """See ``protocol.Reading``."""
        return list(self._views.versions_of.get(claim, ()))

    def verdicts(self, claim: int) -> list[VerdictRow]:
        """See ``protocol.Reading``."""
        return self._views.verdicts(claim)

    def touches(self, claim: int) -> list[Touch]:
        """See ``protocol.Reading``."""
        return sorted(self._views.touches_of.get(claim, ()))

    def links(self, as_of: int, kind: str) -> list[Link]:
        """See ``protocol.Reading``."""
        return [row for row in self._views.link_rows if row.seq <= as_of < row.tx_to and row.kind == kind]

    def links_of(self, claim: int) -> list[Link]:
        """See ``protocol.Reading``."""
        return [row for row in self._views.link_rows if claim in (row.newer, row.older)]

    def made(self, seq: int) -> list[Link | Name]:
        """See ``protocol.Reading``."""
        return self._views.made(seq)

    def about(self, holder: str, subject: str, attribute: str) -> list[ClaimRow]:
        """See ``protocol.Reading``."""
        wanted = holder, subject, attribute
        rows = (row for _, row in sorted(self._views.claims.items()))
        return [row for row in rows if (row.holder, row.subject, row.attribute) == wanted]

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

    def block_uses(self) -> Iterator[tuple[int, int, int]]:
        """See ``protocol.Reading``."""
        uses: Counter[tuple[int, int]] = Counter()
        for row in self._events.values():
            if row.block >= 0:
                uses[row.block, row.session] += row.length
        return iter([(*place, length) for place, length in sorted(uses.items())])

    def said(self, sought: Sought) -> Iterator[Place]:
        """See ``protocol.Reading``."""
        for place, said in sorted(self._said.items(), reverse=True):
            here = Place(place, *said[:3])
            if holds(said.words, sought.words) and is_within(here, sought):
                yield here

    def said_span(self, session: int, stop: int) -> tuple[int, int, int]:
        """See ``protocol.Reading``."""
        mine = [said.at for said in self._said.values() if said.session == session and said.n < stop]
        times = [at for at in mine if at >= 0]
        return len(mine), min(times, default=-1), max(times, default=-1)

    def said_places(self) -> Iterator[Place]:
        """See ``protocol.Reading``."""
        return (Place(place, *said[:3]) for place, said in self._said.items())

    def said_words(self) -> Iterator[tuple[str, int, int]]:
        """See ``protocol.Reading``."""
        return ((word, said.session, said.n) for said in self._said.values() for word in said.words)

    def source(self, path: str) -> SourceRow | None:
        """See ``protocol.Reading``."""
        return self._sources.get(path)

    def sources(self, session: int) -> list[SourceRow]:
        """See ``protocol.Reading``."""
        return sorted(row for row in self._sources.values() if row.session == session)

    def rows(self, view: str) -> Iterator[tuple[object, ...]]:
        """See ``protocol.Reading``."""
        return self._views.rows(view)

    def append(
        self,
        entries: Iterable[EntryTuple],
        parts: Iterable[Packed],
        nodes: Iterable[NodeTuple],
        frontier: Frontier,
        at: int,
    ) -> None:
        """See ``protocol.Writing``."""
        self.add_nodes(nodes)
        kept = map(EntryRow._make, entries)
        self._entries.extend(row if row.leaf else row._replace(leaf=leaf_hash(row.canon)) for row in kept)
        for seq, data in parts:
            self._parts.update({(seq, part[0]): PartRow(seq, *part) for part in unpacked(seq, data)})
        self._frontier = Frontier(frontier.size, frontier.nodes)

    def add_nodes(self, nodes: Iterable[NodeTuple]) -> None:
        """See ``protocol.Writing``."""
        self._nodes.update({(level, n): digest for level, n, digest in nodes})

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

    def say(self, said: Iterable[Said]) -> None:
        """See ``protocol.Writing``."""
        untimed = max((place for place in self._said if place < EARLIEST), default=0)
        self._said.update(Places(self._said.__contains__, lambda: untimed).given(said))

    def unsay(self, said: Iterable[Said]) -> None:
        """See ``protocol.Writing``."""
        gone = {each[:2] for each in said}
        self._said = {place: each for place, each in self._said.items() if each[:2] not in gone}

    def vectors(self, model: str, as_of: int, holders: Collection[str] | None, limit: int) -> list[Vector]:
        """See ``vectors.VectorReading``."""
        rows = sorted(self._views.claims.values(), reverse=True)
        mine = [row.claim for row in rows if row.claim <= as_of and (holders is None or row.holder in holders)]
        return [(claim, self._vectors.get((model, claim), b"")) for claim in mine[:limit]]

    def vector_claims(self) -> Iterator[int]:
        """See ``vectors.VectorReading``."""
        return (claim for _, claim in sorted(self._vectors))

    def place(self, model: str, vectors: Iterable[Vector]) -> None:
        """See ``vectors.VectorWriting``."""
        self._vectors.update({(model, claim): vector for claim, vector in vectors})

    def erase(self, parts: Mapping[int, Collection[str]], texts: Iterable[tuple[int, str]]) -> None:
        """See ``protocol.Writing``."""
        for seq, names in parts.items():
            for name in names:
                self._parts.pop((seq, name), None)
        for claim, _ in texts:
            self._texts.pop(claim, None)
            self._vectors = {key: vector for key, vector in self._vectors.items() if key[1] != claim}

    def refold(self, claims: Collection[int], effects: Effects) -> None:
        """See ``protocol.Writing``."""
        self._views.refold(claims, effects)

    def erase_events(self, events: Iterable[tuple[int, int]]) -> None:
        """See ``protocol.Writing``."""
        for key in events:
            row = self._events[key]
            gone = row._replace(block=-1, offset=0, length=0, salt=b"")
            self._events[key] = gone
            if self._event_by_id.get(row.event) == row:
                self._event_by_id[row.event] = gone

    def rename_events(self, ids: Iterable[tuple[int, int, str]]) -> None:
        """See ``protocol.Writing``."""
        for session, n, event in ids:
            self._events[session, n] = self._events[session, n]._replace(event=event)
        self._event_by_id = {row.event: row for _, row in sorted(self._events.items(), reverse=True)}

    def repack(self, block: int, data: bytes | None, moved: Iterable[tuple[int, int]]) -> None:
        """See ``protocol.Writing``."""
        if data is None:
            del self._blocks[block]
        else:
            self._blocks[block] = self._blocks[block]._replace(data=data)
        offsets = dict(moved)
        for kept in (self._events, self._event_by_id):
            for key, row in kept.items():
                if row.block == block:
                    kept[key] = row._replace(offset=offsets[row.offset])  # type: ignore[index]

    def forget_sources(self, session: int) -> None:
        """See ``protocol.Writing``."""
        self._sources = {path: row for path, row in self._sources.items() if row.session != session}

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
        self._open = dict.fromkeys(LogName, 0)
        """How many writes of a log are open: one thread may have one in another."""

    @contextmanager
    def reading(self, log: LogName) -> Iterator[MemoryLog]:
        """See ``protocol.Store``."""
        yield self._log(log)

    @contextmanager
    def writing(self, log: LogName, committed: Callable[[Head], None]) -> Iterator[MemoryLog]:
        """See ``protocol.Store``. Works on a copy, so that a failure inside leaves no trace."""
        with self._locks[log]:
            self._open[log] += 1
            try:
                draft = copy.deepcopy(self._log(log))
                yield draft
                self.logs[log] = draft
                committed(draft.head())
            finally:
                self._open[log] -= 1

    def written_since(self, log: LogName, size: int) -> bool:
        """See ``protocol.Store``."""
        return self._open[log] > 0 or self._log(log).head().size != size

    def _log(self, log: LogName) -> MemoryLog:
        if log not in self.logs:
            raise UnknownId(f"no log {log!r}; a trail has {', '.join(LogName)}")
        return self.logs[log]

    def scrub(self, log: LogName) -> None:
        """See ``protocol.Store``: nothing of it lies anywhere else."""

    def opener(self) -> None:
        """See ``protocol.Store``: it is in this process alone."""

    def check(self, log: LogName) -> list[str]:
        """See ``protocol.Store``: memory has no files that could be damaged."""
        return []

    def close(self) -> None:
        """See ``protocol.Store``."""
