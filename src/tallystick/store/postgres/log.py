"""One log in PostgreSQL: the writes of ``protocol.Writing``, inside a transaction that its owner began."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from tallystick.beliefs import ClaimRow, Closing, Effects, Ending, Epoch, Link, Name, Touch, VerdictRow, Version
from tallystick.log.merkle import Frontier, leaf_hash
from tallystick.store.packing import Packed, without
from tallystick.store.postgres import search
from tallystick.store.postgres.archive import LAST
from tallystick.store.postgres.columns import bigints, columns
from tallystick.store.postgres.reading import PostgresReading, Where
from tallystick.store.postgres.rows import claim_kept, event_key, kept, path_key, valid_kept
from tallystick.store.postgres.said import SaidRun, packed_places, places_in, runs_of
from tallystick.store.protocol import (
    ArchivedEvent,
    BlockRow,
    EntryTuple,
    NodeTuple,
    Selection,
    SourceRow,
)
from tallystick.store.said import EARLIEST, Places, Said

_COLUMNS = "abcdefghijklmnopqrstuvwxyz"
_GATHERED = 8192
"""Claims whose words are kept back, so that a run of the search index holds many."""
_ADDED: dict[type, str] = {VerdictRow: "add_verdicts", Touch: "add_touches", Link: "add_links", Name: "add_names"}
_KINDS: tuple[type, ...] = (ClaimRow, Closing, Version, *_ADDED, Epoch)


class PostgresLog(PostgresReading):
    """Implements ``protocol.Writing``."""

    def __init__(self, connection: Any, log: int, trail: Any, where: Where | None = None) -> None:
        """``trail`` is the uuid that the connection is bound to."""
        super().__init__(connection, log, where)
        self._trail = trail
        self._opened: dict[int, ClaimRow] = {}
        """Claims that this write opened and may still ask about."""
        self._balances: dict[int, int] = {}
        """Claims held by a holder, by its number, as this write has made it."""
        self._pending = search.Pending()
        self._free: Places | None = None
        self._by_id: dict[str, int] = {}
        """Numbers of holders."""

    def _add(self, name: str, rows: Iterable[Sequence[Any]], **values: Any) -> None:
        """Rows of a statement that takes a column of each in turn: one statement, however many."""
        found = columns(rows)
        if found:
            self._ask(name, trail=self._trail, **values, **dict(zip(_COLUMNS, found, strict=False)))

    def append(
        self,
        entries: Iterable[EntryTuple],
        parts: Iterable[Packed],
        nodes: Iterable[NodeTuple],
        frontier: Frontier,
        at: int,
    ) -> None:
        """See ``protocol.Writing``."""
        self._add("add_entries", [row if row[3] else (*row[:3], leaf_hash(row[2])) for row in entries])
        self._add("add_parts", parts)
        self.add_nodes(nodes)
        self._set_head((frontier.size, frontier.to_bytes(), at, self._where()[3]))

    def add_nodes(self, nodes: Iterable[NodeTuple]) -> None:
        """See ``protocol.Writing``."""
        self._add("add_nodes", nodes)

    def _set_head(self, where: Where) -> None:
        size, frontier, at, epoch = where
        self._ask("set_head", trail=self._trail, size=size, frontier=frontier, at=at, epoch=epoch)
        self._stands = where

    def apply(self, effects: Effects, texts: Iterable[tuple[int, str]]) -> None:
        """See ``protocol.Writing``: rows of one kind in one go, since only closings and versions mind their order."""
        waiting = _nothing()
        reopened: set[int] = set()
        for row in effects:
            kind = type(row)
            if kind is Ending:
                self._write(waiting)
                waiting, reopened = _nothing(), set()
                self._end(row)  # type: ignore[arg-type]
                continue
            if kind is Closing and row.claim in reopened:  # type: ignore[union-attr]
                self._write(waiting)
                waiting, reopened = _nothing(), set()
            elif kind is Version:
                reopened.add(row.claim)  # type: ignore[union-attr]
            waiting[kind].append(row)
        self._write(waiting)
        self._gather(list(texts))

    def _write(self, waiting: dict[type, list[Any]]) -> None:
        self._opened.update({row.claim: row for row in waiting[ClaimRow]})
        self._add("close_versions", [(row.claim, row.seq) for row in waiting[Closing]])
        self._know([*waiting[Version], *waiting[Closing]])
        self._number({self._opened[row.claim].holder for row in waiting[Version]})
        self._add_versions(waiting[Version])
        self._balance(waiting[Closing], waiting[Version])
        self._add("add_verdicts", _verdicts(waiting[VerdictRow]))
        self._add("add_touches", waiting[Touch])
        self._add("add_links", waiting[Link])
        self._add("add_names", map(_name, waiting[Name]))
        if waiting[Epoch]:
            self._add("add_epochs", [(row.seq, row.at) for row in waiting[Epoch]])
            self._ask("count_epochs")
            self._stands = None

    def _know(self, rows: Iterable[Version | Closing]) -> None:
        """Fetch those claims of ``rows`` that an earlier write opened."""
        missing = sorted({row.claim for row in rows} - self._opened.keys())
        if missing:
            self._opened.update({claim: ClaimRow(claim, "", "", "", claim, -1, -1, 0) for claim in missing})
            self._opened.update({row.claim: row for row in self._claims(self._ask("claim_rows", claims=missing))})

    def _number(self, holders: set[str]) -> None:
        """Give a number to holders that have none."""
        ids = self._holders()
        self._by_id = {id_: n for n, id_ in ids.items()}
        for id_ in sorted(holders - self._by_id.keys()):
            self._by_id[id_] = number = len(ids) + 1
            ids[number] = id_
            self._add("add_holders", [(number, bytes.fromhex(id_))])

    def _add_versions(self, versions: list[Version]) -> None:
        rows = []
        for claim, tx_from, tx_to, valid in versions:
            row = self._opened[claim]
            rows.append((claim, tx_from, tx_to, valid_kept(valid), self._by_id[row.holder], *claim_kept(row)))
        self._add("add_versions", rows)

    def _balance(self, closings: list[Closing], versions: list[Version]) -> None:
        """The running number of held claims after each entry that changed it."""
        changes = [(row.seq, self._opened[row.claim].holder, -1) for row in closings]
        changes += [(row.tx_from, self._opened[row.claim].holder, 1) for row in versions]
        numbered = sorted((seq, self._by_id[holder], by) for seq, holder, by in changes if holder in self._by_id)
        new = sorted({number for _, number, _ in numbered} - self._balances.keys())
        if new:
            self._balances.update({n: held or 0 for n, held in self._ask("held", holders=new, as_of=LAST).fetchall()})
        after: dict[tuple[int, int], int] = {}
        for seq, number, by in numbered:
            self._balances[number] += by
            after[number, seq] = self._balances[number]
        self._add("add_held", [(*key, held) for key, held in sorted(after.items())])

    def _end(self, row: Ending) -> None:
        for name in ("end_links", "end_names"):
            self._ask(name, seq=row.seq, tx_to=row.tx_to)

    def _gather(self, texts: list[tuple[int, str]]) -> None:
        self._know(Closing(claim, -1) for claim, _ in texts)
        for claim, text in texts:
            row = self._opened[claim]
            self._pending.add(claim, self._by_id[row.holder], search.words_of(text, kept(row.kind)))
        if self._pending.size >= _GATHERED:
            self.finish()

    def finish(self) -> None:
        """Write what is kept back; asked for before the commit."""
        self._add("add_runs", self._pending.taken())
        self._opened.clear()
        self._index = search.Index(self._fetch)

    def join_runs(self) -> None:
        """One run for each word, holder and block, in the place of the many that single appends leave."""
        self.finish()
        self._ask("join_runs", trail=self._trail)
        self._ask("join_said_runs", trail=self._trail)

    def newest(self, tokens: Sequence[Sequence[str]], selection: Selection, limit: int) -> list[int]:
        """See ``protocol.Reading``."""
        self.finish()
        return super().newest(tokens, selection, limit)

    def file(self, keys: Iterable[tuple[bytes, int]]) -> None:
        """See ``protocol.Writing``."""
        self._add("file", dict(keys).items())

    def archive(self, blocks: Iterable[BlockRow], events: Iterable[ArchivedEvent]) -> None:
        """See ``protocol.Writing``."""
        self._add("add_blocks", blocks)
        self._add("add_events", [(r[0], r[1], event_key(r[2]), *r[3:]) for r in events])

    def say(self, said: Iterable[Said]) -> None:
        """See ``protocol.Writing``."""
        if self._free is None:
            self._free = Places(self._is_taken, self._last_untimed)
        given = self._free.given(said)
        self._add("add_said_places", [(place, *each[:3]) for place, each in given])
        self._add("add_said_runs", runs_of(given))

    def _is_taken(self, place: int) -> bool:
        return bool(self._one("is_said_place", place=place)[0])

    def _last_untimed(self) -> int:
        return int(self._one("last_said_place", stop=EARLIEST)[0])

    def unsay(self, said: Iterable[Said]) -> None:
        """See ``protocol.Writing``."""
        for each in said:
            row = self._one("said_place_of", session=each.session, n=each.n)
            if row is None:
                continue
            again: list[SaidRun] = []
            for word, upto, data in self._ask("said_runs_of_place", words=sorted(each.words), place=row[0]).fetchall():
                places = places_in(upto, data)
                if row[0] in places:
                    self._ask("drop_said_run", word=word, upto=upto)
                    left = sorted(place for place in places if place != row[0])
                    again += [(word, left[-1], packed_places(left))] if left else []
            self._add("add_said_runs", again)
            self._ask("drop_said_place", place=row[0])
        self._free = None

    def next_block(self) -> int:
        """See ``protocol.Writing``."""
        row = self._one("next_block")
        return int(row[0])

    def erase(self, parts: Mapping[int, Collection[str]], texts: Iterable[tuple[int, str]]) -> None:
        """See ``protocol.Writing``."""
        self.finish()
        for seq, data in self._ask("parts_of", seqs=bigints(sorted(parts))).fetchall():
            left = without(seq, data, parts[seq])
            if left != data:
                self._ask("erase", seq=seq, data=left)
        said = list(texts)
        self._know(Closing(claim, -1) for claim, _ in said)
        self._ask("erase_vectors", claims=[claim for claim, _ in said])
        for claim, text in said:
            row = self._opened[claim]
            self._unfile(claim, row.holder, search.words_of(text, kept(row.kind)))

    def _unfile(self, claim: int, holder: str, found_by: Collection[str]) -> bool:
        """Take a claim out of the runs of some words; whether it was in any."""
        numbers = self._numbers((holder,))
        if not numbers:
            return False
        runs = self._ask("runs_of_claim", holder=numbers[0], words=sorted(found_by), claim=claim).fetchall()
        again: list[search.Run] = []
        without_it = list(search.without(runs, claim))
        for word, upto, claims in without_it:
            self._ask("drop_run", holder=numbers[0], word=word, upto=upto)
            again += [search.run_of(numbers[0], word, claims)] if claims else []
        self._add("add_runs", again)
        return bool(without_it)

    def refold(self, claims: Collection[int], effects: Effects) -> None:
        """See ``protocol.Writing``."""
        self.finish()
        self._ask("drop_verdicts", claims=sorted(claims))
        waiting = _nothing()
        for row in effects:
            waiting[type(row)].append(row)
        self._set_claims(waiting[ClaimRow])
        self._add("set_valid", [(row.claim, row.tx_from, valid_kept(row.valid)) for row in waiting[Version]])
        self._add("add_verdicts", _verdicts(waiting[VerdictRow]))
        self._add("set_names", map(_name, waiting[Name]))
        self._add("set_touches", waiting[Touch])

    def _set_claims(self, rows: list[ClaimRow]) -> None:
        before = {row.claim: row for row in self._claims(self._ask("claim_rows", claims=[row.claim for row in rows]))}
        for row in rows:
            was, now = (search.word_of_kind(kept(each.kind)) for each in (before.get(row.claim, row), row))
            if was != now and self._unfile(row.claim, row.holder, {was}):
                self._refile(row.claim, self._numbers((row.holder,))[0], now)
        self._add("set_claims", [(row.claim, *claim_kept(row)) for row in rows])
        self._opened.clear()

    def _refile(self, claim: int, holder: int, word: str) -> None:
        upto, claims = search.with_claim(self._ask("runs_of_claim", holder=holder, words=[word], claim=claim), claim)
        if upto is not None:
            self._ask("drop_run", holder=holder, word=word, upto=upto)
        self._add("add_runs", [search.run_of(holder, word, claims)])

    def erase_events(self, events: Iterable[tuple[int, int]]) -> None:
        """See ``protocol.Writing``."""
        self._add("erase_events", events)

    def rename_events(self, ids: Iterable[tuple[int, int, str]]) -> None:
        """See ``protocol.Writing``."""
        self._add("rename_events", [(session, n, bytes.fromhex(event[1:])) for session, n, event in ids])

    def repack(self, block: int, data: bytes | None, moved: Iterable[tuple[int, int]]) -> None:
        """See ``protocol.Writing``."""
        self._add("move_events", moved, block=block)
        if data is None:
            self._ask("drop_block", block=block)
        else:
            self._ask("set_block", block=block, data=data)

    def forget_sources(self, session: int) -> None:
        """See ``protocol.Writing``."""
        self._ask("forget_sources", session=session)

    def note_source(self, row: SourceRow) -> None:
        """See ``protocol.Writing``."""
        values = row._asdict()
        values |= {"path": kept(row.path), "inode": str(row.inode), "start": values.pop("offset")}
        self._ask("note_source", trail=self._trail, key=path_key(row.path), **values)

    def set_meta(self, key: str, value: str) -> None:
        """See ``protocol.Writing``."""
        self._ask("set_meta", trail=self._trail, key=key, value=value)


def _nothing() -> dict[type, list[Any]]:
    return {kind: [] for kind in _KINDS}


def _verdicts(rows: Iterable[VerdictRow]) -> list[tuple[Any, ...]]:
    """One for each claim, axis and entry: the last, as of a verdict that is given twice."""
    newest = {(claim, axis, seq): (value, reason, judged) for claim, axis, seq, value, reason, judged in rows}
    return [(*key, kept(value), kept(reason), judged) for key, (value, reason, judged) in newest.items()]


def _name(row: Name) -> tuple[Any, ...]:
    seq, what, id_, name, facts, tx_to = row
    return seq, what, id_, kept(name), kept(facts), tx_to
