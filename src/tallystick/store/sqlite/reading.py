"""One log in one SQLite database: the answers of ``protocol.Reading``."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from heapq import merge
from itertools import islice
from operator import itemgetter
from typing import Any

import apsw

from tallystick.beliefs import (
    ALWAYS,
    ClaimRow,
    Link,
    Name,
    Touch,
    VerdictRow,
    Version,
)
from tallystick.errors import TrailUnreadable
from tallystick.log.merkle import Frontier
from tallystick.model.claim import Standing
from tallystick.model.entry import Head
from tallystick.model.temporal import END_OF_TIME, START_OF_TIME, Interval
from tallystick.store.epochs import seq_at
from tallystick.store.packing import body_of, told_apart, unpacked
from tallystick.store.protocol import (
    ArchivedEvent,
    Belief,
    BlockRow,
    EntryRow,
    PartRow,
    PartsOfEntry,
    Selection,
    SourceRow,
    covers,
)
from tallystick.store.sqlite.said import SaidReading
from tallystick.store.sqlite.statements import statements
from tallystick.store.sqlite.vectors import SqliteVectors
from tallystick.store.words import words

_SQL = statements()
_LAST = 2**62
# Half the time of ``_make``; a log has millions of these.
_entry = partial(tuple.__new__, EntryRow)
_standing = partial(tuple.__new__, Standing)
_believed = partial(tuple.__new__, Belief)
_version = partial(tuple.__new__, Version)
_CLAIM, _STANDING, _VALID, _VALID_OF_HELD = itemgetter(0), itemgetter(slice(7)), itemgetter(7), itemgetter(13)
_RUN = 500
_json = json.JSONDecoder().raw_decode
"""Of text that the engine wrote: half the time of ``json.loads``."""


class SqliteReading(SaidReading, SqliteVectors):
    """Implements ``protocol.Reading`` over an open connection inside a transaction that its owner began."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection
        self._holders: dict[int, str] | None = None
        self._stands: tuple[int, bytes, int, int] | None = None
        """Row of ``head``, asked for several times in each transaction; None when it has to be read."""

    @property
    def _settled(self) -> apsw.Connection:
        """The connection, once everything that was handed over is in the tables."""
        return self._db

    def head(self) -> Head:
        """See ``protocol.Reading``."""
        _ = self._settled
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

    def facts(self) -> dict[str, str]:
        """See ``protocol.Reading``."""
        return dict(self._db.execute(_SQL["facts"]))

    def entries(self, start: int = 0, stop: int | None = None) -> Iterator[EntryRow]:
        """See ``protocol.Reading``."""
        return map(_entry, self._db.execute(_SQL["entries"], (start, _LAST if stop is None else stop)))

    def nodes(self, level: int, start: int, stop: int) -> list[bytes]:
        """See ``protocol.Reading``."""
        if level:
            return [row[0] for row in self._db.execute(_SQL["nodes"], (level, start, stop))]
        return [row[0] for row in self._db.execute(_SQL["leaves"], (start, stop))]

    def count_nodes(self) -> int:
        """See ``protocol.Reading``."""
        return int(self._db.execute(_SQL["count_nodes"]).get)

    def parts(self, seq: int) -> list[PartRow]:
        """See ``protocol.Reading``."""
        row = self._db.execute(_SQL["parts"], (seq,)).fetchone()
        return [PartRow(seq, *part) for part in unpacked(seq, row[0])] if row else []

    def parts_between(self, start: int = 0, stop: int | None = None) -> Iterator[PartsOfEntry]:
        """See ``protocol.Reading``."""
        for seq, data in self._db.execute(_SQL["parts_between"], (start, _LAST if stop is None else stop)):
            yield seq, told_apart(seq, data)

    def seq_at(self, instant: int) -> int:
        """See ``protocol.Reading``: within an epoch ``at`` never goes back, so halving finds it."""
        epochs = ((row[1], row[2]) for row in self._settled.execute(_SQL["epochs"]))
        return seq_at(instant, epochs, self.head().size, self._last_at)

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
        row = self._db.execute(_SQL["open_version"], (claim, END_OF_TIME)).fetchone()
        return Version(row[0], row[1], row[2], _intervals(row[3])) if row else None

    def claim_row(self, claim: int) -> ClaimRow | None:
        """See ``protocol.Reading``."""
        row = self._db.execute(_SQL["claim_row"], (claim,)).fetchone()
        return self._claim(row) if row else None

    def versions_changed(self, seq: int) -> list[Version]:
        """See ``protocol.Reading``."""
        claims = [row[0] for row in self._settled.execute(_SQL["claims_changed"], (seq, seq))]
        return [each for claim in claims for each in self.versions(claim) if seq in (each.tx_from, each.tx_to)]

    def believed(self, selection: Selection) -> list[Belief]:
        """See ``protocol.Reading``."""
        s = selection.as_of
        found = map(self._belief, self._selected(_SQL["held_at"], selection, _VALID_OF_HELD, (s, s)))
        if selection.derivations is None:
            return list(islice(found, selection.limit))
        return list(islice((each for each in found if each.derivation in selection.derivations), selection.limit))

    def _belief(self, row: Sequence[Any]) -> Belief:
        claim, said_at = row[0], row[6]
        tx_from, tx_to, valid, data, verdicts, again = row[11:]
        derivation, outcome, reason, because = "inferred", "none", "", ""
        for axis, value, why in _json(verdicts)[0]:  # In order of axis, and of each axis the one that stands last.
            if axis == "derivation":
                derivation, reason = value or "inferred", why
            elif axis == "outcome":
                outcome, because = value or "none", why
        body = None if data is None else body_of(claim, data, "text")
        return _believed(
            (
                self._claim(row[:11]),
                _version((claim, tx_from, tx_to, _intervals(valid))),
                None if body is None else str(body, "utf-8", "replace"),
                derivation,
                outcome,
                f"{reason}; {because}" if reason and because else reason or because,
                said_at if again is None or again < said_at else again,
                None if valid is None or data is None else body_of(claim, data, "valid"),
            )
        )

    def standings(self, selection: Selection) -> list[Standing]:
        """See ``protocol.Reading``."""
        s = selection.as_of
        rows = self._selected(_SQL["standings"], selection, _VALID, (s, s, s))
        found = map(_standing, map(_STANDING, rows))
        if selection.derivations is not None:
            found = (row for row in found if row.derivation in selection.derivations)  # type: ignore[assignment]
        return list(islice(found, selection.limit))

    def _selected(
        self, sql: str, selection: Selection, valid_of: Callable[[Any], Any], before: Sequence[object] = ()
    ) -> Iterator[Any]:
        """The rows of a statement that a selection takes in, in order of claim; read as they are asked for, where they can be.

        ``before`` is bound before what every such statement takes.
        """
        streams = [self._settled.execute(text, (*before, *bound)) for text, bound in self._narrowed(sql, selection)]
        if not streams:
            return iter(())
        rows: Iterator[Any] = iter(streams[0]) if len(streams) == 1 else merge(*streams, key=_CLAIM)
        at = selection.valid_at
        if at is None:
            return rows
        always = covers(ALWAYS, at, strict=selection.strict)
        return (
            row
            for row in rows
            if (always if valid_of(row) is None else covers(_intervals(valid_of(row)), at, strict=selection.strict))
        )

    def _narrowed(self, sql: str, selection: Selection) -> list[tuple[str, list[object]]]:
        """A statement and what is bound to it for each holder, so that each can be read in order of claim along its index."""
        bound: list[object] = [selection.as_of, selection.as_of, selection.after]
        if selection.kinds is not None:
            sql += f" AND kind IN ({','.join('?' * len(selection.kinds))})"
            bound.extend(selection.kinds)
        if selection.claims is not None:
            # The claims come first: asked whether each of a trail's claims is among them, SQLite would read all of it.
            asked = "FROM (SELECT value AS asked FROM json_each(?)) CROSS JOIN version AS v ON v.claim = asked WHERE"
            sql = sql.replace("FROM version AS v WHERE", asked)
            bound.insert(0, json.dumps(selection.claims))
        order = " ORDER BY claim"
        if selection.holders is None:
            return [(sql + order, bound)]
        numbers = self._numbers_of(selection.holders)
        if selection.claims is not None:
            if not numbers:
                return []
            return [(f"{sql} AND +holder IN ({','.join('?' * len(numbers))}){order}", [*bound, *numbers])]
        return [(f"{sql} AND holder = ?{order}", [*bound, number]) for number in numbers]

    def text(self, claim: int) -> str | None:
        """See ``protocol.Reading``."""
        row = self._db.execute(_SQL["parts"], (claim,)).fetchone()
        body = body_of(claim, row[0], "text") if row else None
        return None if body is None else str(body, "utf-8", "replace")

    def texts(self, claims: Collection[int]) -> dict[int, str]:
        """See ``protocol.Reading``."""
        return {claim: text for claim in claims if (text := self.text(claim)) is not None}

    def count(self, selection: Selection) -> int:
        """See ``protocol.Reading``: without kinds one search for each holder; the claims that state when they hold are few."""
        selection = selection._replace(limit=None, after=-1 if selection.after < 0 else selection.after)
        if selection.derivations is not None:
            return len(self.standings(selection))
        if selection.kinds is not None or selection.claims is not None or selection.after >= 0:
            total = sum(int(self._settled.execute(*each).get) for each in self._unordered("count", selection))
        elif selection.holders is None:
            total = int(self._settled.execute(_SQL["held_by_all"], (selection.as_of,)).get)
        else:
            total = sum(self._held_before(each, selection.as_of) for each in self._numbers_of(selection.holders))
        at = selection.valid_at
        if at is None:
            return total
        dated = [row[0] for each in self._unordered("dated", selection) for row in self._settled.execute(*each)]
        covered = sum(covers(_intervals(valid), at, strict=selection.strict) for valid in dated)
        return covered + (total - len(dated) if covers(ALWAYS, at, strict=selection.strict) else 0)

    def _unordered(self, name: str, selection: Selection) -> list[tuple[str, list[object]]]:
        return [(sql.removesuffix(" ORDER BY claim"), bound) for sql, bound in self._narrowed(_SQL[name], selection)]

    def _held_before(self, holder: int, seq: int) -> int:
        row = self._settled.execute(_SQL["held_before"], (holder, seq)).fetchone()
        return row[0] if row else 0

    def newest(self, tokens: Sequence[Sequence[str]], selection: Selection, limit: int) -> list[int]:
        """See ``protocol.Reading``."""
        wanted = [list(forms) for forms in tokens]
        if selection.kinds is not None:
            wanted.append([_word_of_kind(kind) for kind in selection.kinds])
        whose = [None] if selection.holders is None else self._numbers_of(selection.holders)
        if not wanted or not all(wanted) or not whose:
            return []
        query = " AND ".join(
            f"({' OR '.join(_quoted(form, mine) for form in forms for mine in whose)})" for forms in wanted
        )
        return [row[0] for row in self._settled.execute(_SQL["newest"], (query, selection.as_of, limit))]

    def _numbers_of(self, holders: Collection[str]) -> list[int]:
        known = self._numbers()
        return sorted({known[holder] for holder in holders if holder in known})

    def versions(self, claim: int) -> list[Version]:
        """See ``protocol.Reading``."""
        return [
            Version(row[0], row[1], row[2], _intervals(row[3]))
            for row in self._settled.execute(_SQL["versions"], (claim,))
        ]

    def verdicts(self, claim: int) -> list[VerdictRow]:
        """See ``protocol.Reading``."""
        return [VerdictRow._make(row) for row in self._settled.execute(_SQL["verdicts"], (claim,))]

    def touches(self, claim: int) -> list[Touch]:
        """See ``protocol.Reading``."""
        return [Touch._make(row) for row in self._settled.execute(_SQL["touches"], (claim,))]

    def links(self, as_of: int, kind: str) -> list[Link]:
        """See ``protocol.Reading``."""
        return [Link._make(row) for row in self._settled.execute(_SQL["links"], (kind, as_of, as_of))]

    def links_of(self, claim: int) -> list[Link]:
        """See ``protocol.Reading``."""
        return [Link._make(row) for row in self._settled.execute(_SQL["links_of"], (claim, claim))]

    def made(self, seq: int) -> list[Link | Name]:
        """See ``protocol.Reading``."""
        links = [Link._make(row) for row in self._settled.execute(_SQL["links_made"], (seq,))]
        return [*links, *(Name._make(row) for row in self._settled.execute(_SQL["attributes_made"], (seq,)))]

    def about(self, holder: str, subject: str, attribute: str) -> list[ClaimRow]:
        """See ``protocol.Reading``."""
        number = self._numbers().get(holder)
        rows = self._settled.execute(_SQL["about"], (subject, attribute, number))
        return [self._claim(row) for row in rows]

    def names(self, what: str) -> list[Name]:
        """See ``protocol.Reading``."""
        return [Name._make(row) for row in self._settled.execute(_SQL["names"], (what,))]

    def same(self, key: bytes) -> int | None:
        """See ``protocol.Reading``."""
        row = self._db.execute(_SQL["same"], (key,)).fetchone()
        return row[0] if row else None

    def event(self, event: str) -> ArchivedEvent | None:
        """See ``protocol.Reading``."""
        row = self._db.execute(_SQL["event"], (event_key(event),)).fetchone()
        return _archived(row) if row else None

    def claims_of(self, session: int) -> list[ClaimRow]:
        """See ``protocol.Reading``."""
        return [self._claim(row) for row in self._settled.execute(_SQL["claims_of"], (session,))]

    def session_size(self, session: int) -> int:
        """See ``protocol.Reading``: events are numbered from 0 without gaps."""
        return int(self._db.execute(_SQL["session_size"], (session,)).get)

    def archived(self, events: Collection[str]) -> dict[str, ArchivedEvent]:
        """See ``protocol.Reading``: asked in runs, since a session has thousands."""
        found: dict[str, ArchivedEvent] = {}
        keys = [event_key(event) for event in events]
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

    def block_uses(self) -> Iterator[tuple[int, int, int]]:
        """See ``protocol.Reading``."""
        return iter(self._db.execute(_SQL["block_uses"]))

    def source(self, path: str) -> SourceRow | None:
        """See ``protocol.Reading``."""
        row = self._db.execute(_SQL["source"], (path,)).fetchone()
        return SourceRow._make(row) if row else None

    def sources(self, session: int) -> list[SourceRow]:
        """See ``protocol.Reading``."""
        return [SourceRow._make(row) for row in self._db.execute(_SQL["sources"], (session,))]

    def rows(self, view: str) -> Iterator[tuple[object, ...]]:
        """See ``protocol.Reading``."""
        rows = self._settled.execute(_SQL[f"rows_{view}"])
        if view == "claim":
            return map(self._claim, rows)
        if view == "version":
            return ((row[0], row[1], row[2], _intervals(row[3])) for row in rows)
        return iter(rows)

    def _claim(self, row: Sequence[Any]) -> ClaimRow:
        claim, holder, *rest = row
        return tuple.__new__(ClaimRow, (claim, self._ids().get(holder, ""), *rest))

    def _ids(self) -> dict[int, str]:
        """Holder ids by the number that stands for them in the tables."""
        if self._holders is None:
            self._holders = {n: id_.hex() for n, id_ in self._db.execute(_SQL["holders"])}
        return self._holders

    def _numbers(self) -> dict[str, int]:
        return {id_: n for n, id_ in self._ids().items()}


def indexed(seq: int, data: bytes, holder: int, kind: str) -> str | None:
    """What should stand in the search index for a claim, from its parts; None where its text was erased."""
    body = body_of(seq, data, "text")
    return None if body is None else in_index(str(body, "utf-8", "replace"), holder, kind)


def in_index(text: str, holder: int, kind: str) -> str:
    """A claim as it stands in the search index: the words of its text and one of ours for its kind, each with its holder.

    So a search asks for the claims of a holder that hold a word as one list, however many others hold it.
    """
    mine = _HOLDER + str(holder)
    return f"{mine} ".join([*words(text), _word_of_kind(kind)]) + mine


_HOLDER, _KIND = "\ue000", "\ue001"
"""Neither letters nor digits: in no word of a text."""


def _word_of_kind(kind: str) -> str:
    return _KIND + kind.encode("utf-8", "replace").hex()


def _quoted(word: str, holder: int | None) -> str:
    """The word as one holder has it, or, of all of them, whatever begins like it."""
    return f'"{word}{_HOLDER}" *' if holder is None else f'"{word}{_HOLDER}{holder}"'


def kept(valid: tuple[Interval, ...]) -> str | None:
    """Valid time as a version's row has it: JSON, or nothing for all of time."""
    return None if valid is ALWAYS or valid == ALWAYS else json.dumps(valid, separators=(",", ":"))


def _intervals(text: str | None) -> tuple[Interval, ...]:
    return ALWAYS if text is None else tuple(Interval(start, end) for start, end in json.loads(text))


def event_key(event: str) -> bytes:
    """The 8 bytes of an event id."""
    return bytes.fromhex(event[1:])


def _archived(row: Sequence[Any]) -> ArchivedEvent:
    return ArchivedEvent(row[0], row[1], "e" + row[2].hex(), *row[3:])
