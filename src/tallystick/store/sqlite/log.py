"""One log in one SQLite database: the writes of ``protocol.Writing``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from operator import itemgetter

import apsw

from tallystick.beliefs import (
    ClaimRow,
    Effects,
    Link,
    Name,
    Touch,
    VerdictRow,
    Version,
)
from tallystick.log.merkle import Frontier, leaf_hash
from tallystick.model.temporal import END_OF_TIME
from tallystick.store.packing import Packed, without
from tallystick.store.protocol import (
    ArchivedEvent,
    BlockRow,
    EntryTuple,
    NodeTuple,
    SourceRow,
)
from tallystick.store.sqlite.gathering import Gathered
from tallystick.store.sqlite.reading import SqliteReading, event_key, in_index, kept
from tallystick.store.sqlite.said import SaidWriting
from tallystick.store.sqlite.statements import statements

_SQL = statements()
_LAST = 2**62
_SEQ = itemgetter(0)
_GATHERED = 16_384
"""Rows that are written in one run: of some four thousand claims."""
_MANY = 64
"""Entries in one go from which it pays to have every statement compiled again, as turning triggers off and on does."""


class SqliteLog(SaidWriting, SqliteReading):
    """Implements ``protocol.Writing`` over an open connection inside a transaction that its owner began."""

    def __init__(self, connection: apsw.Connection) -> None:
        super().__init__(connection)
        self._numbered: dict[str, int] = {}
        self._balances: dict[int, int] = {}
        self._gathered = Gathered()

    @property
    def _settled(self) -> apsw.Connection:
        if not self._gathered.is_empty:
            self.settle()
        return self._db

    def open_version(self, claim: int) -> Version | None:
        """See ``protocol.Reading``."""
        gathered = self._gathered
        return gathered.open_version(claim) if gathered.knows(claim) else super().open_version(claim)

    def claim_row(self, claim: int) -> ClaimRow | None:
        """See ``protocol.Reading``."""
        return self._gathered.claims.get(claim) or super().claim_row(claim)

    def append(
        self,
        entries: Iterable[EntryTuple],
        parts: Iterable[Packed],
        nodes: Iterable[NodeTuple],
        frontier: Frontier,
        at: int,
    ) -> None:
        """See ``protocol.Writing``."""
        added = [row if row[3] else (*row[:3], leaf_hash(row[2])) for row in entries]
        with self._unguarded() if len(added) >= _MANY else nullcontext():
            self._db.executemany(_SQL["add_entry"], added)
            self._db.executemany(_SQL["add_part"], parts)
        self.add_nodes(nodes)
        stands = (frontier.size, frontier.to_bytes(), at, self._where()[3])
        self._db.execute(_SQL["set_head"], stands)
        self._stands = stands

    def add_nodes(self, nodes: Iterable[NodeTuple]) -> None:
        """See ``protocol.Writing``."""
        self._db.executemany(_SQL["add_node"], nodes)

    @contextmanager
    def _unguarded(self) -> Iterator[None]:
        """No triggers: a tenth of the time of a claim, to look for the key that INSERT OR FAIL refuses by itself.

        They are for whoever says REPLACE, UPDATE or DELETE, which the statements under this never do.
        """
        self._db.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
        try:
            yield
        finally:
            self._db.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 1)

    def apply(self, effects: Effects, texts: Iterable[tuple[int, str]]) -> None:
        """See ``protocol.Writing``. Rows are gathered, and written in runs: at the end, or when something else is asked."""
        self._gathered.take(effects, list(texts))
        if self._gathered.size >= _GATHERED:
            self.settle()

    def settle(self) -> None:
        """Write what was gathered; its owner does before the commit."""
        gathered, self._gathered = self._gathered, Gathered()
        if gathered.is_empty:
            return
        execute, many = self._db.execute, self._db.executemany
        numbers = {holder: self._number_of(holder) for holder in {row[1] for row in gathered.claims.values()}}
        many(
            _SQL["add_version"],
            [
                (row[0], row[1], row[2], kept(row[3]), numbers[claim[1]], *claim[2:])
                for row in gathered.opened.values()
                for claim in (gathered.claims[row[0]],)
            ],
        )
        many(_SQL["close_version"], [(seq, claim, END_OF_TIME) for claim, seq in sorted(gathered.closed.items())])
        many(
            _SQL["add_later_version"],
            [(row.tx_from, row.tx_to, kept(row.valid), row.claim) for row in gathered.later],
        )
        for kind, rows in gathered.others.items():
            many(_SQL[_ADD[kind]], rows)
        for ending in gathered.endings:
            for statement in ("end_links", "end_names"):
                execute(_SQL[statement], (ending.tx_to, ending.seq, END_OF_TIME))
        for epoch in gathered.epochs:
            execute(_SQL["add_epoch"], (epoch.seq, epoch.at))
        if gathered.epochs:
            execute("UPDATE head SET epoch = (SELECT count(*) FROM epoch)")
            self._stands = None
        many(_SQL["add_held"], self._balanced(gathered, numbers))
        claims = gathered.claims
        many(_SQL["add_words"], [(claim, self._indexed(claim, text, claims)) for claim, text in gathered.texts])

    def _balanced(self, gathered: Gathered, numbers: Mapping[str, int]) -> list[tuple[int, int, int]]:
        """(holder, seq, claims held then) for each entry that opened or closed a claim."""
        claims = gathered.claims
        changes = [(seq, numbers[claims[seq][1]], 1) for seq in gathered.opened]
        for seq, claim, change in gathered.changes:
            row = claims.get(claim)
            changes.append((seq, numbers[row[1]] if row else self._holder_of(claim), change))
        changes.sort(key=_SEQ)
        balances: dict[tuple[int, int], int] = {}
        for seq, holder, change in changes:
            if holder not in self._balances:
                self._balances[holder] = self._held_before(holder, _LAST)
            self._balances[holder] += change
            balances[holder, seq] = self._balances[holder]
        return [(holder, seq, held) for (holder, seq), held in balances.items()]

    def _number_of(self, holder: str) -> int:
        known = self._numbered
        if holder not in known:
            known.update(self._numbers())
            if holder not in known:
                known[holder] = len(known)
                self._db.execute(_SQL["add_holder"], (known[holder], bytes.fromhex(holder)))
                self._holders = None
        return known[holder]

    def _holder_of(self, claim: int) -> int:
        return int(self._db.execute(_SQL["holder_of"], (claim,)).get or 0)

    def _indexed(self, claim: int, text: str, claims: Mapping[int, ClaimRow]) -> str:
        row = claims.get(claim) or self.claim_row(claim)
        return in_index(text, self._number_of(row[1]), row[2]) if row else ""

    def erase(self, parts: Mapping[int, Collection[str]], texts: Iterable[tuple[int, str]]) -> None:
        """See ``protocol.Writing``."""
        gone = [(claim, self._indexed(claim, text, {})) for claim, text in texts]
        self._settled.executemany(_SQL["erase_words"], gone)
        self._settled.executemany(_SQL["erase_vectors"], [(claim,) for claim, _ in gone])
        with self._unguarded():
            for seq, names in parts.items():
                row = self._settled.execute(_SQL["parts"], (seq,)).fetchone()
                if row is not None:
                    self._settled.execute(_SQL["erase_parts"], (seq,))
                    self._settled.execute(_SQL["add_part"], (seq, without(seq, row[0], names)))

    def refold(self, claims: Collection[int], effects: Effects) -> None:
        """See ``protocol.Writing``."""
        self._settled.executemany(_SQL["erase_verdicts"], [(claim,) for claim in claims])
        for row in effects:
            if type(row) is ClaimRow:
                self._settled.execute(_SQL["refold_claim"], (*row[2:], row.claim))
            elif type(row) is VerdictRow:
                self._settled.execute(_SQL["add_verdict"], row)
            elif type(row) is Version:
                self._settled.execute(_SQL["refold_version"], (kept(row.valid), row.claim, row.tx_from))
            elif type(row) is Name:
                self._settled.execute(_SQL["refold_name"], (row.name, row.facts, row.seq, row.what))
            elif type(row) is Touch:
                self._settled.execute(_SQL["refold_touch"], (row.said_at, row.claim, row.seq))

    def erase_events(self, events: Iterable[tuple[int, int]]) -> None:
        """See ``protocol.Writing``."""
        self._db.executemany(_SQL["erase_event"], events)

    def rename_events(self, ids: Iterable[tuple[int, int, str]]) -> None:
        """See ``protocol.Writing``."""
        self._db.executemany(_SQL["rename_event"], [(event_key(event), session, n) for session, n, event in ids])

    def repack(self, block: int, data: bytes | None, moved: Iterable[tuple[int, int]]) -> None:
        """See ``protocol.Writing``."""
        if data is None:
            self._db.execute(_SQL["erase_block"], (block,))
            return
        self._db.execute(_SQL["repack_block"], (data, block))
        offsets = dict(moved)
        there = list(self._db.execute(_SQL["places_in_block"], (block,)))
        self._db.executemany(_SQL["move_event"], [(offsets[old], *place) for old, *place in there])

    def forget_sources(self, session: int) -> None:
        """See ``protocol.Writing``."""
        self._db.execute(_SQL["forget_sources"], (session,))

    def file(self, keys: Iterable[tuple[bytes, int]]) -> None:
        """See ``protocol.Writing``."""
        self._db.executemany(_SQL["file"], keys)

    def archive(self, blocks: Iterable[BlockRow], events: Iterable[ArchivedEvent]) -> None:
        """See ``protocol.Writing``."""
        self._db.executemany(_SQL["add_block"], blocks)
        self._db.executemany(_SQL["add_event"], [(r[0], r[1], event_key(r[2]), *r[3:]) for r in events])

    def next_block(self) -> int:
        """See ``protocol.Writing``."""
        return int(self._db.execute(_SQL["next_block"]).get)

    def note_source(self, row: SourceRow) -> None:
        """See ``protocol.Writing``."""
        self._db.execute(_SQL["note_source"], row)

    def set_meta(self, key: str, value: str) -> None:
        """See ``protocol.Writing``."""
        self._db.execute(_SQL["set_meta"], (key, value))


_ADD: dict[type, str] = {VerdictRow: "add_verdict", Touch: "add_touch", Link: "add_link", Name: "add_name"}
