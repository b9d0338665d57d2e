"""One log in one SQLite database: the answers of ``protocol.Reading`` and the writes of ``protocol.Writing``."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from itertools import islice
from operator import itemgetter
from typing import Any

import apsw

from tallystick.beliefs import ALWAYS, ClaimRow, Closing, Effects, Epoch, Link, Name, Touch, VerdictRow, Version
from tallystick.errors import TrailUnreadable
from tallystick.log.merkle import Frontier, leaf_hash
from tallystick.model.claim import Standing
from tallystick.model.entry import Head
from tallystick.model.temporal import END_OF_TIME, START_OF_TIME, Interval
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
    covers,
    selects,
)
from tallystick.store.sqlite.statements import statements

_SQL = statements()
_LAST = 2**62
# Half the time of ``_make``; a log has millions of these.
_entry = partial(tuple.__new__, EntryRow)
_part = partial(tuple.__new__, PartRow)
_standing = partial(tuple.__new__, Standing)
_CLAIM, _STANDING, _VALID = itemgetter(0), itemgetter(slice(7)), itemgetter(7)
"""Of a row of ``standings``."""
_RUN = 500
_MANY = 64
"""Entries in one go from which it pays to have every statement compiled again, as turning triggers off and on does."""


class SqliteLog:
    """Implements ``protocol.Writing`` over an open connection inside a transaction that its owner began."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection
        self._holders: dict[int, bytes] = {}
        self._stands: tuple[int, bytes, int, int] | None = None
        """Row of ``head``, asked for several times in each transaction; None when it has to be read."""

    def head(self) -> Head:
        """See ``protocol.Reading``."""
        size, nodes, at, epoch = self._where()
        return Head(size, Frontier.from_bytes(size, nodes).root(), at, epoch)

    def frontier(self) -> Frontier:
        """See ``protocol.Reading``."""
        size, nodes, _, _ = self._where()
        return Frontier.from_bytes(size, nodes)

    def _where(self) -> tuple[int, bytes, int, int]:
        if self._stands is None:
            self._stands = self._db.execute(_SQL["head"]).fetchone() or (0, b"", START_OF_TIME, 0)
        return self._stands

    def meta(self, key: str) -> str:
        """See ``protocol.Reading``."""
        row = self._db.execute(_SQL["meta"], (key,)).fetchone()
        return row[0] if row else ""

    def entries(self, start: int = 0, stop: int | None = None) -> Iterator[EntryRow]:
        """See ``protocol.Reading``."""
        return map(_entry, self._db.execute(_SQL["entries"], (start, _LAST if stop is None else stop)))

    def parts(self, seq: int) -> list[PartRow]:
        """See ``protocol.Reading``."""
        return [PartRow._make(row) for row in self._db.execute(_SQL["parts"], (seq,))]

    def all_parts(self) -> Iterator[PartRow]:
        """See ``protocol.Reading``."""
        return map(_part, self._db.execute(_SQL["all_parts"]))

    def seq_at(self, instant: int) -> int:
        """See ``protocol.Reading``: within an epoch ``at`` never goes back, so halving finds it."""
        size = self.head().size
        starts = [(0, START_OF_TIME), *((row[1], row[2]) for row in self._db.execute(_SQL["epochs"]))]
        stops = [*(seq for seq, _ in starts[1:]), size]
        for (start, at), stop in zip(reversed(starts), reversed(stops), strict=True):
            found = self._last_at(instant, start, stop) if at <= instant else -1
            if found >= 0:
                return found
        return -1

    def _last_at(self, instant: int, start: int, stop: int) -> int:
        low, high = start, stop
        while low < high:
            middle = (low + high) // 2
            row = self._db.execute(_SQL["at_of"], (middle,)).fetchone()
            if row is None:
                raise TrailUnreadable(f"entry {middle} is missing; run `tally verify`")
            if row[0] <= instant:
                low = middle + 1
            else:
                high = middle
        return low - 1 if low > start else -1

    def open_version(self, claim: int) -> Version | None:
        """See ``protocol.Reading``."""
        rows = self.versions(claim)
        return rows[-1] if rows and rows[-1].tx_to == END_OF_TIME else None

    def claim_row(self, claim: int) -> ClaimRow | None:
        """See ``protocol.Reading``."""
        row = self._db.execute(_SQL["claim_row"], (claim,)).fetchone()
        return _claim(row) if row else None

    def versions_changed(self, seq: int) -> list[Version]:
        """See ``protocol.Reading``."""
        claims = [row[0] for row in self._db.execute(_SQL["claims_changed"], (seq, seq))]
        return [each for claim in claims for each in self.versions(claim) if seq in (each.tx_from, each.tx_to)]

    def believed(self, selection: Selection) -> list[Belief]:
        """See ``protocol.Reading``."""
        sql, bindings = _filtered(_SQL["believed"], selection)
        s, at = selection.as_of, selection.valid_at
        always = at is None or START_OF_TIME <= at < END_OF_TIME
        found: list[Belief] = []
        for row in self._db.execute(sql + " ORDER BY v.claim", (s, s, s, s, s, selection.after, *bindings)):
            belief = _belief(row)
            if (always and row[10] is None) or selects(selection, belief.row, belief.version):
                found.append(belief)
                if len(found) == selection.limit:
                    break
        return found

    def standings(self, selection: Selection) -> list[Standing]:
        """See ``protocol.Reading``."""
        sql, bindings = _filtered(_SQL["standings"], selection)
        s, at = selection.as_of, selection.valid_at
        always = at is None or START_OF_TIME <= at < END_OF_TIME
        rows: list[Any] = self._db.execute(sql, (s, s, s, s, s, selection.after, *bindings)).fetchall()
        # They come nearly in order; SQLite would carry every column of every row through its sorter.
        rows.sort(key=_CLAIM)
        if not always or any(map(_VALID, rows)):
            rows = [row for row in rows if (always if row[7] is None else covers(_intervals(row[7]), at))]
        return list(map(_standing, map(_STANDING, islice(rows, selection.limit))))

    def text(self, claim: int) -> str | None:
        """See ``protocol.Reading``."""
        row = self._db.execute(_SQL["text"], (claim,)).fetchone()
        return str(row[0], "utf-8", "replace") if row else None

    def count(self, selection: Selection) -> int:
        """See ``protocol.Reading``."""
        if selection.valid_at is not None:
            return len(self.believed(selection._replace(limit=None)))
        sql, bindings = _filtered(_SQL["count"], selection)
        return int(self._db.execute(sql, (selection.as_of, selection.as_of, selection.after, *bindings)).get)

    def matching(self, tokens: Sequence[Sequence[str]], as_of: int) -> dict[int, set[int]]:
        """See ``protocol.Reading``."""
        found: dict[int, set[int]] = {}
        for index, forms in enumerate(tokens):
            query = " OR ".join(f'"{form}"' for form in forms)
            for (claim,) in self._db.execute(_SQL["matching"], (query, as_of)):
                found.setdefault(claim, set()).add(index)
        return dict(sorted(found.items()))

    def versions(self, claim: int) -> list[Version]:
        """See ``protocol.Reading``."""
        return [
            Version(row[0], row[1], row[2], _intervals(row[3])) for row in self._db.execute(_SQL["versions"], (claim,))
        ]

    def verdicts(self, claim: int) -> list[VerdictRow]:
        """See ``protocol.Reading``."""
        return [VerdictRow._make(row) for row in self._db.execute(_SQL["verdicts"], (claim,))]

    def touches(self, claim: int) -> list[Touch]:
        """See ``protocol.Reading``."""
        return [Touch._make(row) for row in self._db.execute(_SQL["touches"], (claim,))]

    def links(self, as_of: int, kind: str) -> list[Link]:
        """See ``protocol.Reading``."""
        return [Link._make(row) for row in self._db.execute(_SQL["links"], (as_of, kind))]

    def names(self, what: str) -> list[Name]:
        """See ``protocol.Reading``."""
        return [Name._make(row) for row in self._db.execute(_SQL["names"], (what,))]

    def same(self, key: bytes) -> int | None:
        """See ``protocol.Reading``."""
        row = self._db.execute(_SQL["same"], (key,)).fetchone()
        return row[0] if row else None

    def event(self, event: str) -> ArchivedEvent | None:
        """See ``protocol.Reading``."""
        row = self._db.execute(_SQL["event"], (_event_key(event),)).fetchone()
        return _archived(row) if row else None

    def claims_of(self, session: int) -> list[ClaimRow]:
        """See ``protocol.Reading``."""
        return [_claim(row) for row in self._db.execute(_SQL["claims_of"], (session,))]

    def session_size(self, session: int) -> int:
        """See ``protocol.Reading``: events are numbered from 0 without gaps."""
        return int(self._db.execute(_SQL["session_size"], (session,)).get)

    def archived(self, events: Collection[str]) -> dict[str, ArchivedEvent]:
        """See ``protocol.Reading``: asked in runs, since a session has thousands."""
        found: dict[str, ArchivedEvent] = {}
        keys = [_event_key(event) for event in events]
        for start in range(0, len(keys), _RUN):
            run = keys[start : start + _RUN]
            sql = _SQL["archived"].replace("(?)", f"({','.join('?' * len(run))})")
            for row in self._db.execute(sql, run):
                place = _archived(row)
                found.setdefault(place.event, place)
        return found

    def session_events(self, session: int, first: int = 0, stop: int | None = None) -> Iterator[ArchivedEvent]:
        """See ``protocol.Reading``."""
        bounds = (session, first, _LAST if stop is None else stop)
        return map(_archived, self._db.execute(_SQL["session_events"], bounds))

    def events(self) -> Iterator[ArchivedEvent]:
        """See ``protocol.Reading``."""
        return map(_archived, self._db.execute(_SQL["events"]))

    def block(self, block: int) -> bytes:
        """See ``protocol.Reading``."""
        row = self._db.execute(_SQL["block"], (block,)).fetchone()
        if row is None:
            raise TrailUnreadable(f"archive block {block} is missing; run `tally verify`")
        return bytes(row[0])

    def blocks(self) -> Iterator[BlockRow]:
        """See ``protocol.Reading``."""
        return map(BlockRow._make, self._db.execute(_SQL["blocks"]))

    def source(self, path: str) -> SourceRow | None:
        """See ``protocol.Reading``."""
        row = self._db.execute(_SQL["source"], (path,)).fetchone()
        return SourceRow._make(row) if row else None

    def sources(self, session: int) -> list[SourceRow]:
        """See ``protocol.Reading``."""
        return [SourceRow._make(row) for row in self._db.execute(_SQL["sources"], (session,))]

    def rows(self, view: str) -> Iterator[tuple[object, ...]]:
        """See ``protocol.Reading``."""
        rows = self._db.execute(_SQL[f"rows_{view}"])
        if view == "claim":
            return map(_claim, rows)
        if view == "version":
            return ((row[0], row[1], row[2], _intervals(row[3]), row[4].hex()) for row in rows)
        return iter(rows)

    def append(self, entries: Iterable[EntryTuple], parts: Iterable[PartTuple], frontier: Frontier, at: int) -> None:
        """See ``protocol.Writing``."""
        kept = [row if row[3] else (*row[:3], leaf_hash(row[2])) for row in entries]
        with self._unguarded() if len(kept) >= _MANY else nullcontext():
            self._db.executemany(_SQL["add_entry"], kept)
            self._db.executemany(_SQL["add_part"], parts)
        stands = (frontier.size, frontier.to_bytes(), at, self._where()[3])
        self._db.execute(_SQL["set_head"], stands)
        self._stands = stands

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
        """See ``protocol.Writing``: rows of one kind in one go, since only closings and versions mind their order."""
        waiting: dict[type, list[Any]] = {kind: [] for kind in _WRITTEN}
        for row in effects:
            kind = type(row)
            if (kind is Version and waiting[Closing]) or (kind is Closing and waiting[Version]):
                self._write(waiting)
                waiting = {kind: [] for kind in _WRITTEN}
            waiting[kind].append(row)
        self._write(waiting)
        self._db.executemany(_SQL["add_words"], texts)

    def _write(self, waiting: dict[type, list[Any]]) -> None:
        claims, versions, epochs = waiting[ClaimRow], waiting[Version], waiting[Epoch]
        if claims:
            self._add_claims(claims)
        if waiting[Closing]:
            closed = [(row.seq, row.claim, END_OF_TIME) for row in waiting[Closing]]
            self._db.executemany(_SQL["close_version"], closed)
        if versions:
            self._add_versions(versions)
        for kind, statement in _ADD.items():
            if waiting[kind]:
                self._db.executemany(_SQL[statement], waiting[kind])
        if epochs:
            self._db.executemany(_SQL["add_epoch"], [(row.seq, row.at) for row in epochs])
            self._db.execute("UPDATE head SET epoch = (SELECT count(*) FROM epoch)")
            self._stands = None

    def _add_claims(self, claims: list[ClaimRow]) -> None:
        ids = {holder: bytes.fromhex(holder) for holder in {row[1] for row in claims}}
        self._holders = {row[0]: ids[row[1]] for row in claims}
        self._db.executemany(
            _SQL["add_claim"],
            [(claim, ids[holder], a, b, c, d, e, f) for claim, holder, a, b, c, d, e, f in claims],
        )

    def _add_versions(self, versions: list[Version]) -> None:
        holders = self._holders
        rows = [
            (claim, tx_from, tx_to, holders[claim] if claim in holders else self._holder_of(claim), _kept(valid))
            for claim, tx_from, tx_to, valid in versions
        ]
        self._db.executemany(_SQL["add_version"], rows)

    def _holder_of(self, claim: int) -> bytes:
        known = self.claim_row(claim)
        return bytes.fromhex(known.holder) if known else b""

    def file(self, keys: Iterable[tuple[bytes, int]]) -> None:
        """See ``protocol.Writing``."""
        self._db.executemany(_SQL["file"], keys)

    def archive(self, blocks: Iterable[BlockRow], events: Iterable[ArchivedEvent]) -> None:
        """See ``protocol.Writing``."""
        self._db.executemany(_SQL["add_block"], blocks)
        self._db.executemany(_SQL["add_event"], [(r[0], r[1], _event_key(r[2]), *r[3:]) for r in events])

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
_WRITTEN: tuple[type, ...] = (ClaimRow, Closing, Version, *_ADD, Epoch)


def _filtered(sql: str, selection: Selection) -> tuple[str, list[object]]:
    bindings: list[object] = []
    if selection.holders is not None:
        sql += f" AND v.holder IN ({','.join('?' * len(selection.holders))})"
        bindings.extend(bytes.fromhex(holder) for holder in selection.holders)
    if selection.kinds is not None:
        sql += f" AND c.kind IN ({','.join('?' * len(selection.kinds))})"
        bindings.extend(selection.kinds)
    return sql, bindings


def _belief(row: Sequence[Any]) -> Belief:
    claim, _, _, _, _, _, _, _, tx_from, tx_to, valid, body, derivation, why, outcome, why_outcome, said_at = row
    version = Version(claim, tx_from, tx_to, ALWAYS if valid is None else _intervals(valid))
    text = None if body is None else str(body, "utf-8", "replace")
    reason = f"{why}; {why_outcome}" if why and why_outcome else why or why_outcome or ""
    return Belief(_claim(row[:8]), version, text, derivation or "inferred", outcome or "none", reason, said_at)


def _claim(row: Sequence[Any]) -> ClaimRow:
    claim, holder, *rest = row
    return tuple.__new__(ClaimRow, (claim, holder.hex(), *rest))


def _kept(valid: tuple[Interval, ...]) -> str | None:
    return None if valid is ALWAYS or valid == ALWAYS else json.dumps(valid, separators=(",", ":"))


def _intervals(text: str | None) -> tuple[Interval, ...]:
    return ALWAYS if text is None else tuple(Interval(start, end) for start, end in json.loads(text))


def _event_key(event: str) -> bytes:
    return bytes.fromhex(event[1:])


def _archived(row: Sequence[Any]) -> ArchivedEvent:
    return ArchivedEvent(row[0], row[1], "e" + row[2].hex(), *row[3:])
