"""A walk over a stretch of entries: canonical, in order, their parts as committed; the tree and the rows they come to.

The fold asks the kept views as they stood just before each entry. That is sound though they are what is to be checked: rows due
to earlier entries that agree with the fold are the right ones, so the first entry whose rows do not agree is found whatever
comes after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256

import msgspec

from tallystick.beliefs import ClaimRow, Effects, Link, Name, VerdictRow, Version, asks, effects, places_of
from tallystick.errors import CanonicalError
from tallystick.log.canonical import check_fields, check_newer, is_digest
from tallystick.log.merkle import Frontier, leaf_hash
from tallystick.log.strict_json import within_limits
from tallystick.model.entry import FORMAT, Entry, EntryKind, LogName
from tallystick.model.temporal import END_OF_TIME, START_OF_TIME
from tallystick.store.protocol import EntryRow, PartsOfEntry, Reading
from tallystick.trail.fingerprints import Sums, of_effects

_KINDS = frozenset(EntryKind)
_PAST_THE_LAST = 2**63
"""Beyond every seq that a store can hold."""


class AsHeldBefore:
    """The questions of ``beliefs.Held``, answered by a store's views as they stood just before entry ``seq``."""

    def __init__(self, rows: Reading) -> None:
        self._rows = rows
        self.seq = 0

    def open_version(self, claim: int) -> Version | None:
        """See ``beliefs.Held``."""
        return next((row for row in reversed(self._versions(claim)) if row.tx_to == END_OF_TIME), None)

    def claim_row(self, claim: int) -> ClaimRow | None:
        """See ``beliefs.Held``."""
        return self._rows.claim_row(claim) if claim < self.seq else None

    def versions_changed(self, seq: int) -> list[Version]:
        """See ``beliefs.Held``."""
        if seq >= self.seq:
            return []
        claims = sorted({version.claim for version in self._rows.versions_changed(seq)})
        return [row for claim in claims for row in self._versions(claim) if seq in (row.tx_from, row.tx_to)]

    def verdicts(self, claim: int) -> list[VerdictRow]:
        """See ``beliefs.Held``."""
        return [row for row in self._rows.verdicts(claim) if row.seq < self.seq]

    def made(self, seq: int) -> list[Link | Name]:
        """See ``beliefs.Held``."""
        if seq >= self.seq:
            return []
        return [row._replace(tx_to=END_OF_TIME) if row.tx_to >= self.seq else row for row in self._rows.made(seq)]

    def _versions(self, claim: int) -> list[Version]:
        rows = (row for row in self._rows.versions(claim) if row.tx_from < self.seq)
        return [row._replace(tx_to=END_OF_TIME) if row.tx_to >= self.seq else row for row in rows]


class Walk:
    """One pass over the entries from ``start`` on; everything that does not hold is gathered."""

    def __init__(self, rows: Reading, log: LogName, trail: str, sums: Sums, start: int = 0) -> None:
        self.rows = rows
        self.log = log
        self.trail = trail
        self.start = start
        self.size = start
        self.frontier = Frontier()
        """Of the entries walked over; the whole log's where ``start`` is 0."""
        self.sums = sums
        self.wanted: frozenset[int] = frozenset()
        """Sizes of the log at which ``passed`` is to keep the frontier."""
        self.passed: dict[int, Frontier] = {}
        self.bad: list[tuple[int, str]] = []
        self.unknown = 0
        self.first: tuple[int, bool] = (START_OF_TIME, True)
        """``at`` of the first entry, and whether it begins an epoch."""
        self.at = START_OF_TIME
        self.epochs = 0
        self.observed: list[tuple[int, int]] = []
        """(session, the entry that observed a slice of it)."""
        self.missing: dict[int, set[str]] = {}
        """Parts that entries name and that are not there."""
        self.there_again: list[tuple[int, str]] = []
        self.erased: dict[int, set[str]] = {}
        """Parts that entries walked over say were erased."""
        self.erased_events: set[tuple[int, int]] = set()
        self.nodes: list[tuple[int, int, bytes]] = []
        self.effects: Callable[[Effects], None] = lambda made: sums.add(of_effects(made, rows.made))
        self._held = AsHeldBefore(rows)

    def found(self, seq: int, what: str) -> None:
        """Note a problem; the first thousand are kept."""
        if len(self.bad) < 1000:
            self.bad.append((seq, what))

    def walk(self, stop: int | None, progress: Callable[[int], None] = lambda _: None) -> None:
        """Every entry up to ``stop``."""
        parts = _Parts(self.rows.parts_between(self.start, stop))
        made: Effects = []
        for row in self.rows.entries(self.start, stop):
            bodies, extra = parts.take(row.seq)
            for seq in extra:
                self.found(seq, "a part of an entry that is not there")
            entry = self._entry(row)
            leaf = leaf_hash(row.canon)
            if leaf != row.leaf:
                self.found(row.seq, "the entry is not the one that was appended: its leaf hash is another")
            self.frontier.append(leaf)
            self.size += 1
            if self.size in self.wanted:
                self.passed[self.size] = Frontier(self.frontier.size, self.frontier.nodes)
            if entry is not None:
                made.extend(self._fold(entry, bodies))
            if len(made) >= 2000:
                self.effects(made)
                made = []
            if self.size % 1000 == 0:
                progress(self.size)
        self.effects(made)
        for seq in parts.rest():
            self.found(seq, "a part of an entry that is not there")

    def _entry(self, row: EntryRow) -> Entry | None:
        if row.seq != self.size:
            self.found(self.size, f"entry {self.size} is missing; the next one is {row.seq}")
            self.size = row.seq
        try:
            entry = read_entry(row.canon)
        except CanonicalError as error:
            self.found(row.seq, str(error))
            return None
        facts = entry.seq, entry.log, entry.trail, entry.at
        repairs = entry.kind == EntryKind.CLOCK_REPAIRED
        in_time = entry.at >= self.at or repairs
        if facts != (row.seq, self.log, self.trail, row.at) or not in_time:
            self._misfit(entry, row, in_time=in_time)
        if self.size == self.start:
            self.first = entry.at, repairs
        self.at = entry.at
        self.epochs += repairs
        return entry._replace(seq=row.seq)

    def _misfit(self, entry: Entry, row: EntryRow, *, in_time: bool) -> None:
        wrong = [
            name
            for name, holds in (
                ("seq", entry.seq == row.seq),
                ("log", entry.log == self.log),
                ("trail id", entry.trail == self.trail),
                ("time column", entry.at == row.at),
                ("time, which went back", in_time),
            )
            if not holds
        ]
        self.found(row.seq, f"the entry's {', '.join(wrong)} does not fit")

    def _fold(self, entry: Entry, found: list[tuple[str, bytes, bytes]]) -> Effects:
        bodies = self._parts(entry, found)
        if entry.kind not in _KINDS or entry.v > FORMAT:
            self.unknown += 1
        if entry.kind == EntryKind.OBSERVED and entry.refs:
            self.observed.append((entry.refs[0], entry.seq))
        elif entry.kind == EntryKind.ERASED and entry.v <= FORMAT:
            self._note_erased(entry, bodies)
        if asks(entry):
            self._held.seq = entry.seq
        return effects(entry, bodies, self._held)

    def _parts(self, entry: Entry, found: list[tuple[str, bytes, bytes]]) -> dict[str, bytes]:
        """The bodies of the parts that are there, each held against its digest."""
        committed = dict(entry.parts)
        bodies: dict[str, bytes] = {}
        for name, salt, body in found:
            digest = committed.pop(name, None)
            if digest is None:
                self.found(entry.seq, f"part {name!r} is not one of the entry's")
            elif len(salt) != 32 or sha256(salt + body).hexdigest() != digest:
                self.found(entry.seq, f"part {name!r} is not what the entry commits to")
            bodies[name] = body
        for name, digest in committed.items():
            if is_digest(digest):
                self.missing.setdefault(entry.seq, set()).add(name)
            else:
                self.found(entry.seq, f"part {name!r} has a damaged digest")
        return bodies

    def _note_erased(self, entry: Entry, bodies: dict[str, bytes]) -> None:
        places, about = places_of(bodies), frozenset(entry.refs)
        for seq, names in places.parts.items():
            if seq in about and seq < entry.seq:
                self.erased.setdefault(seq, set()).update(names)
        self.erased_events |= {(session, n) for session, numbers in places.events.items() for n in numbers}


class _Parts:
    """Parts in order, handed out by entry."""

    def __init__(self, groups: Iterator[PartsOfEntry]) -> None:
        self._groups = groups
        self._seq, self._mine = next(groups, _NO_MORE)

    def take(self, seq: int) -> tuple[list[tuple[str, bytes, bytes]], list[int]]:
        """The parts of entry ``seq``, and the seqs before it of parts that nobody took."""
        extra: list[int] = []
        while self._seq < seq:
            extra.append(self._seq)
            self._seq, self._mine = next(self._groups, _NO_MORE)
        if self._seq > seq:
            return [], extra
        mine = self._mine
        self._seq, self._mine = next(self._groups, _NO_MORE)
        return mine, extra

    def rest(self) -> list[int]:
        """Seqs of the parts after the last entry."""
        _, extra = self.take(_PAST_THE_LAST - 1)
        return extra


_NO_MORE: PartsOfEntry = (_PAST_THE_LAST, [])


class _Fields(msgspec.Struct, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """An entry as its JSON has it, in the order in which it has it."""

    actor: str
    at: int
    clock: int
    holder: str = ""
    kind: str
    log: str
    parts: dict[str, str]
    refs: list[int]
    seq: int
    trail: str
    v: int
    xrefs: dict[str, list[int]] = {}


class _NewerFields(_Fields, forbid_unknown_fields=False):
    """An entry of a newer format."""


_decoder = msgspec.json.Decoder(_Fields)
_lenient = msgspec.json.Decoder(_NewerFields)
_encode = msgspec.json.Encoder().encode


def read_entry(canon: bytes) -> Entry:
    """The entry, read by a fast decoder and held to be canonical by encoding it again; the digests, by the parts.

    Raises:
        CanonicalError: it cannot be read or is not canonical.
    """
    try:
        fields = _known_fields(canon)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CanonicalError(f"the entry cannot be read: {error}") from None
    entry = Entry(
        fields.trail,
        fields.log,
        fields.seq,
        fields.at,
        fields.clock,
        fields.kind,
        fields.actor,
        fields.holder,
        tuple(fields.refs),
        tuple(fields.parts.items()),
        tuple((log, tuple(seqs)) for log, seqs in fields.xrefs.items()) if fields.xrefs else (),
        fields.v,
    )
    check_fields(entry)
    if type(fields) is _Fields and _encode(fields) != canon:
        raise CanonicalError("the entry is not in canonical form")
    return entry


def _known_fields(canon: bytes) -> _Fields:
    """The fields that this version knows; a newer format may have others, if it says so and is canonical (TRAIL.9)."""
    try:
        return _decoder.decode(canon)
    except msgspec.ValidationError:
        if not within_limits(canon):
            raise
        fields = _lenient.decode(canon)
        if fields.v <= FORMAT:
            raise
        check_newer(canon)
        return fields
