"""One log in PostgreSQL: the answers of ``protocol.Reading``, inside a transaction that its owner began."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

from tallystick.beliefs import ALWAYS, ClaimRow, Link, Name, Touch, VerdictRow, Version
from tallystick.errors import TrailUnreadable
from tallystick.log.merkle import Frontier
from tallystick.model.claim import Standing
from tallystick.model.entry import Head
from tallystick.model.temporal import END_OF_TIME, START_OF_TIME
from tallystick.store.epochs import seq_at
from tallystick.store.packing import body_of, told_apart, unpacked
from tallystick.store.postgres import search
from tallystick.store.postgres.archive import LAST, RUN, SQL
from tallystick.store.postgres.columns import bigints
from tallystick.store.postgres.rows import (
    claim_told,
    kept,
    told,
    topic,
    valid_told,
)
from tallystick.store.postgres.said import SaidReading
from tallystick.store.postgres.vectors import PostgresVectors
from tallystick.store.protocol import (
    Belief,
    EntryRow,
    PartRow,
    PartsOfEntry,
    Selection,
    covers,
)

_WAYS = 64
"""Places that one question looks at when an instant is sought among the entries."""
# Half the time of ``_make``; a log has millions of these.
_entry = partial(tuple.__new__, EntryRow)
_standing = partial(tuple.__new__, Standing)

Where = tuple[int, bytes, int, int]
"""(size, frontier, at, epoch): the row of ``head``."""
_Verdict = tuple[str, str]
"""(value, reason)."""
_INFERRED: _Verdict = ("inferred", "")
_NO_OUTCOME: _Verdict = ("none", "")
_SPARSE = 4
"""Seqs for each claim up to which it is quicker to read a stretch than claim by claim."""
NOWHERE: Where = (0, b"", START_OF_TIME, 0)


class PostgresReading(SaidReading, PostgresVectors):
    """Implements ``protocol.Reading``.

    Raises, in every method, ``psycopg.Error``, which the store translates.
    """

    def __init__(self, connection: Any, log: int, where: Where | None = None) -> None:
        """``connection`` is a ``psycopg.Connection`` bound to the trail, or whatever answers like one."""
        super().__init__(connection, log)
        self._stands = where
        self._ids: dict[int, str] | None = None
        self._index = search.Index(self._fetch)
        self._streams = 0

    @property
    def connection(self) -> Any:
        """For the store's own questions about the tables."""
        return self._db

    def counts_apart(self) -> list[str]:
        """What the tables say twice, and not alike: numbers of held claims, holders, and what versions say of their claim."""
        found = (
            ["the counts of claims held are not what the versions of claims come to"] if self._one("held_apart") else []
        )
        if row := self._one("holders_apart"):
            found.append(f"holder {row[0].hex()} is in no claim")
        row = self._one("versions_apart")
        return [*found, *([f"the versions of c{row[0]} do not say the same of it"] if row else [])]

    def search_rows(self) -> Iterator[Any]:
        """(holder's number, word, largest claim, claims) of every run of the search index."""
        return self._streamed("rows_search")

    def sought(self) -> Iterator[Any]:
        """(claim, holder's number, kind, packed parts) of every claim that has parts left."""
        after = -1
        while True:
            rows = self._ask("texts", after=after, run=RUN).fetchall()
            yield from rows
            if len(rows) < RUN:
                return
            after = rows[-1][0]

    def head(self) -> Head:
        """See ``protocol.Reading``."""
        size, nodes, at, epoch = self._where()
        return Head(size, Frontier.from_bytes(size, nodes).root(), at, epoch)

    def frontier(self) -> Frontier:
        """See ``protocol.Reading``."""
        size, nodes, _, _ = self._where()
        return Frontier.from_bytes(size, nodes)

    def _where(self) -> Where:
        if self._stands is None:
            self._stands = self._one("head") or NOWHERE
        return self._stands

    def meta(self, key: str) -> str:
        """See ``protocol.Reading``."""
        row = self._one("meta", key=key)
        return row[0] if row else ""

    def facts(self) -> dict[str, str]:
        """See ``protocol.Reading``."""
        return dict(self._ask("facts").fetchall())

    def entries(self, start: int = 0, stop: int | None = None) -> Iterator[EntryRow]:
        """See ``protocol.Reading``."""
        return map(_entry, self._paged("entries", start, stop))

    def _paged(self, name: str, start: int, stop: int | None) -> Iterator[Any]:
        """Rows by their seq, asked for in runs so that a log of any size is streamed."""
        end = LAST if stop is None else stop
        while start < end:
            rows = self._ask(name, start=start, stop=end, run=RUN).fetchall()
            yield from rows
            if len(rows) < RUN:
                return
            start = rows[-1][0] + 1

    def nodes(self, level: int, start: int, stop: int) -> list[bytes]:
        """See ``protocol.Reading``."""
        if level == 0:
            return [row[0] for row in self._ask("leaves", start=start, stop=stop)]
        return [row[0] for row in self._ask("nodes", level=level, start=start, stop=stop)]

    def count_nodes(self) -> int:
        """See ``protocol.Reading``."""
        row = self._one("count_nodes")
        return row[0] if row else 0

    def block_uses(self) -> Iterator[tuple[int, int, int]]:
        """See ``protocol.Reading``."""
        return self._streamed("block_uses")

    def parts(self, seq: int) -> list[PartRow]:
        """See ``protocol.Reading``."""
        return [PartRow(seq, *part) for _, data in self._paged("parts", seq, seq + 1) for part in unpacked(seq, data)]

    def parts_between(self, start: int = 0, stop: int | None = None) -> Iterator[PartsOfEntry]:
        """See ``protocol.Reading``."""
        for seq, data in self._paged("parts", start, stop):
            yield seq, told_apart(seq, data)

    def seq_at(self, instant: int) -> int:
        """See ``protocol.Reading``: within an epoch ``at`` never goes back."""
        epochs = ((row[1], row[2]) for row in self._ask("epochs"))
        return seq_at(instant, epochs, self._where()[0], self._last_at)

    def _last_at(self, instant: int, start: int, stop: int) -> int:
        """The last entry of a stretch that is not after ``instant``; -1 for none. Each question looks at many places at once."""
        low, high = start, stop
        while low < high:
            places = sorted({low + (high - low) * n // _WAYS for n in range(_WAYS)})
            found = dict(self._ask("at_of", seqs=places).fetchall())
            for place in places:
                if place not in found:
                    raise TrailUnreadable(f"entry {place} is missing; run `tally verify`")
                if found[place] > instant:
                    high = place
                    break
                low = place + 1
        return low - 1 if low > start else -1

    def open_version(self, claim: int) -> Version | None:
        """See ``protocol.Reading``."""
        rows = self.versions(claim)
        return rows[-1] if rows and rows[-1].tx_to == END_OF_TIME else None

    def claim_row(self, claim: int) -> ClaimRow | None:
        """See ``protocol.Reading``."""
        return next(iter(self._claims(self._ask("claim_rows", claims=[claim]))), None)

    def _claims(self, rows: Any) -> list[ClaimRow]:
        return [claim_told(row, self._id_of(row[1])) for row in rows.fetchall()]

    def _id_of(self, number: int) -> str:
        """The id of a holder that the tables have by number."""
        return self._holders().get(number, "")

    def _holders(self) -> dict[int, str]:
        """Ids of holders by number; asked once, since nobody else adds any to what this transaction sees."""
        if self._ids is None:
            self._ids = {n: id_.hex() for n, id_ in self._ask("holders")}
        return self._ids

    def _numbers(self, holders: Collection[str] | None) -> list[int]:
        """The numbers of holders, ascending; of every holder where None is given."""
        return sorted(n for n, id_ in self._holders().items() if holders is None or id_ in holders)

    def versions_changed(self, seq: int) -> list[Version]:
        """See ``protocol.Reading``."""
        return self._versions(self._ask("versions_changed", seq=seq))

    def versions(self, claim: int) -> list[Version]:
        """See ``protocol.Reading``."""
        return self._versions(self._ask("versions", claim=claim))

    def _versions(self, rows: Any) -> list[Version]:
        return [Version(row[0], row[1], row[2], valid_told(row[3])) for row in rows]

    def believed(self, selection: Selection) -> list[Belief]:
        """See ``protocol.Reading``."""
        return list(islice(self._believed(selection), selection.limit))

    def _believed(self, selection: Selection) -> Iterator[Belief]:
        for page in self._pages(selection):
            parts = dict(self._among("parts_among", page, selection.as_of, b"seq"))
            for row, derivation, outcome, said_at in self._judged(page, selection):
                claim, tx_from, tx_to, valid, *facts = row
                body = body_of(claim, parts[claim], "text") if claim in parts else None
                yield Belief(
                    claim_told((claim, *facts), self._id_of(facts[0])),
                    Version(claim, tx_from, tx_to, valid_told(valid)),
                    None if body is None else str(body, "utf-8", "replace"),
                    derivation[0],
                    outcome[0],
                    "; ".join(reason for _, reason in (derivation, outcome) if reason),
                    said_at,
                    None if valid is None or claim not in parts else body_of(claim, parts[claim], "valid"),
                )

    def standings(self, selection: Selection) -> list[Standing]:
        """See ``protocol.Reading``."""
        found = (
            _standing((row[0], told(row[5]), told(row[6]), said_at, row[10], derivation[0], outcome[0]))
            for page in self._pages(selection)
            for row, derivation, outcome, said_at in self._judged(page, selection)
        )
        return list(islice(found, selection.limit))

    def _judged(self, page: list[Any], selection: Selection) -> Iterator[tuple[Any, _Verdict, _Verdict, int]]:
        """(row, derivation, outcome, when it was last said) of the rows of a page that a selection takes in."""
        verdicts: dict[tuple[int, str], _Verdict] = {
            (claim, axis): (told(value), told(reason))
            for claim, axis, value, reason in self._among("newest_verdicts", page, selection.as_of)
        }
        again = dict(self._among("said_again", page, selection.as_of))
        wanted = selection.derivations
        for row in page:
            claim, said_at = row[0], row[9]
            derivation = verdicts.get((claim, "derivation"), _INFERRED)
            if wanted is None or derivation[0] in wanted:
                outcome = verdicts.get((claim, "outcome"), _NO_OUTCOME)
                yield row, derivation, outcome, max(said_at, again.get(claim, -1))

    def _among(self, name: str, page: list[Any], as_of: int, column: bytes = b"claim") -> list[Any]:
        """Rows of a statement that are of the claims of a page: as a stretch, where those are most of it."""
        claims = [row[0] for row in page]
        if not claims:
            return []
        values: dict[str, Any] = {"as_of": as_of}
        if len(claims) >= RUN and claims[-1] - claims[0] < _SPARSE * len(claims):
            where = column + b" BETWEEN %(first)s::bigint AND %(last)s::bigint"
            values |= {"first": claims[0], "last": claims[-1]}
        else:
            where = column + b" = ANY (%(claims)b::bigint[])"
            values["claims"] = bigints(claims)
        rows: list[Any] = self._run(SQL[name].replace(b"{claims}", where), values).fetchall()
        return rows

    def _pages(self, selection: Selection) -> Iterator[list[Any]]:
        """Rows of the versions of a selection, in order of claim, whatever was judged of them."""
        at, strict = selection.valid_at, selection.strict
        always = covers(ALWAYS, at, strict=strict)
        filtered = at is not None or selection.derivations is not None
        limit = RUN if selection.limit is None else min(RUN, selection.limit * (2 if filtered else 1))
        place = self._places(selection)
        if place is None or limit <= 0:
            return
        shelves, where, values = place
        sql = SQL["found"].replace(b"{shelves}", shelves).replace(b"{place}", where)
        values["limit"] = limit
        while True:
            rows = self._run(sql, values).fetchall()
            kept_rows = rows
            if at is not None:
                kept_rows = [
                    row for row in rows if (always if row[3] is None else covers(valid_told(row[3]), at, strict=strict))
                ]
            yield kept_rows
            if len(rows) < limit:
                return
            values["after"] = rows[-1][0]

    def _places(self, selection: Selection) -> tuple[bytes, bytes, dict[str, Any]] | None:
        """(what to walk along, conditions, values) of a selection; None where no claim can be meant."""
        values: dict[str, Any] = {"as_of": selection.as_of, "after": selection.after}
        holders = None if selection.holders is None else self._numbers(selection.holders)
        kinds = None if selection.kinds is None else sorted(set(map(kept, selection.kinds)))
        if holders == [] or kinds == [] or selection.claims == ():
            return None
        shelves, places = [], []
        if selection.claims is not None:
            values["claims"] = bigints(selection.claims)
            places.append(b"claim = ANY (%(claims)b::bigint[])")
        each = selection.claims is None and holders is not None
        if holders is not None:
            values["holders"] = holders
            shelves += [b"unnest(%(holders)s::integer[]) AS h (n)"] if each else []
            places.append(b"holder = h.n" if each else b"holder = ANY (%(holders)s::integer[])")
        if kinds is not None:
            values["kinds"] = kinds
            shelves += [b"unnest(%(kinds)s::text[]) AS k (kind)"] if each else []
            places.append(b"kind = k.kind" if each else b"kind = ANY (%(kinds)s::text[])")
        return b" CROSS JOIN ".join(shelves) or b"(SELECT 1) AS s", b" AND ".join(places) or b"true", values

    def text(self, claim: int) -> str | None:
        """See ``protocol.Reading``."""
        return self.texts((claim,)).get(claim)

    def texts(self, claims: Collection[int]) -> dict[int, str]:
        """See ``protocol.Reading``."""
        found: dict[int, str] = {}
        for seq, data in self._ask("parts_of", seqs=bigints(list(claims))):
            body = body_of(seq, data, "text")
            if body is not None:
                found[seq] = str(body, "utf-8", "replace")
        return found

    def count(self, selection: Selection) -> int:
        """See ``protocol.Reading``: one look at an index for each holder, unless more is asked."""
        selection = selection._replace(limit=None)
        plain = selection.kinds is None and selection.claims is None and selection.after < 0
        if selection.derivations is not None or not (plain or selection.valid_at is None):
            return len(self.standings(selection))
        if not plain:
            return self._counted(selection)
        holders = self._numbers(selection.holders)
        held = self._ask("held", holders=holders, as_of=selection.as_of).fetchall()
        total = sum(each or 0 for _, each in held)
        at, strict = selection.valid_at, selection.strict
        if at is None or not total:
            return total
        bounded = [valid_told(row[0]) for row in self._ask("count_bounded", holders=holders, as_of=selection.as_of)]
        covered = sum(covers(valid, at, strict=strict) for valid in bounded)
        return covered + (total - len(bounded) if covers(ALWAYS, at, strict=strict) else 0)

    def _counted(self, selection: Selection) -> int:
        place = self._places(selection)
        if place is None:
            return 0
        _, where, values = place
        where = where.replace(b"= h.n", b"= ANY (%(holders)s::integer[])").replace(
            b"= k.kind", b"= ANY (%(kinds)s::text[])"
        )
        row = self._run(SQL["count_found"].replace(b"{place}", where), values).fetchone()
        return int(row[0]) if row else 0

    def newest(self, tokens: Sequence[Sequence[str]], selection: Selection, limit: int) -> list[int]:
        """See ``protocol.Reading``."""
        as_of = min(selection.as_of, self._where()[0] - 1)
        holders = self._numbers(selection.holders)
        if not holders or as_of < 0:
            return []
        kinds = None if selection.kinds is None else [kept(kind) for kind in selection.kinds]
        return self._index.newest(tuple(holders), tokens, kinds, as_of, limit)

    def _fetch(
        self, holders: tuple[int, ...], asked: Sequence[str] | None, start: int, stop: int
    ) -> list[search.Found]:
        values = {"holders": list(holders), "start": start, "stop": stop}
        if asked is None:
            rows = self._ask("runs_of_kinds", **values).fetchall()
        else:
            rows = self._ask("runs", words=list(asked), **values).fetchall()
        return list(rows)

    def verdicts(self, claim: int) -> list[VerdictRow]:
        """See ``protocol.Reading``."""
        return [_verdict(row) for row in self._ask("verdicts", claim=claim)]

    def touches(self, claim: int) -> list[Touch]:
        """See ``protocol.Reading``."""
        return [Touch._make(row) for row in self._ask("touches", claim=claim)]

    def made(self, seq: int) -> list[Link | Name]:
        """See ``protocol.Reading``."""
        links = [Link._make(row) for row in self._ask("links_made", seq=seq)]
        return [*links, *(_name(row) for row in self._ask("attributes_made", seq=seq))]

    def links(self, as_of: int, kind: str) -> list[Link]:
        """See ``protocol.Reading``."""
        return [Link._make(row) for row in self._ask("links", as_of=as_of, kind=kind)]

    def links_of(self, claim: int) -> list[Link]:
        """See ``protocol.Reading``."""
        return [Link._make(row) for row in self._ask("links_of", claim=claim)]

    def names(self, what: str) -> list[Name]:
        """See ``protocol.Reading``."""
        return [_name(row) for row in self._ask("names", what=what)]

    def about(self, holder: str, subject: str, attribute: str) -> list[ClaimRow]:
        """See ``protocol.Reading``."""
        numbers = self._numbers((holder,))
        if not numbers:
            return []
        key = topic(subject, attribute)
        if key is None:
            return self._claims(self._ask("about_nothing", holder=numbers[0]))
        about = {"subject": kept(subject), "attribute": kept(attribute)}
        return self._claims(self._ask("about", holder=numbers[0], topic=key, **about))

    def same(self, key: bytes) -> int | None:
        """See ``protocol.Reading``."""
        row = self._one("same", key=key)
        return row[0] if row else None

    def claims_of(self, session: int) -> list[ClaimRow]:
        """See ``protocol.Reading``."""
        return self._claims(self._ask("claims_of", session=session))

    def rows(self, view: str) -> Iterator[tuple[object, ...]]:
        """See ``protocol.Reading``."""
        told_as = {
            "claim": lambda row: claim_told(row, self._id_of(row[1])),
            "version": lambda row: (*row[:3], valid_told(row[3])),
            "verdict": _verdict,
            "name": _name,
        }.get(view, tuple)
        self._holders()
        return map(told_as, self._streamed(f"rows_{view}"))

    def _streamed(self, name: str) -> Iterator[Any]:
        """All rows of a statement, a few thousand at a time; the server's cursor goes with the transaction."""
        self._streams += 1
        cursor = f"stream_{self._streams}"
        self._db.execute(
            f"DECLARE {cursor} NO SCROLL CURSOR FOR ".encode() + SQL[name], {"log": self._log}, prepare=False
        )
        while rows := self._db.execute(f"FETCH {RUN} FROM {cursor}".encode(), binary=True, prepare=False).fetchall():
            yield from rows


def _verdict(row: Sequence[Any]) -> VerdictRow:
    claim, axis, seq, value, reason, judged = row
    return VerdictRow(claim, axis, seq, told(value), told(reason), judged)


def _name(row: Sequence[Any]) -> Name:
    seq, what, id_, name, facts, tx_to = row
    return Name(seq, what, id_, told(name), told(facts), tx_to)
