"""``verify``: entries, parts, archive and views recomputed from bytes, and the first bad seq named (TRAIL.7, 8).

Nothing here believes a stored figure: the tree is built from the entries, the views are folded anew, and the head is
compared with what was written down outside. Problems are values; the first one in order of seq is the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import NamedTuple

import msgspec

from tallystick.beliefs import Effects, asks, effects
from tallystick.errors import CanonicalError, ProofError, TrailUnreadable
from tallystick.log.canonical import check_entry, entry_bytes
from tallystick.log.checkpoint import Note, parse, verify
from tallystick.log.merkle import Frontier, leaf_hash
from tallystick.model.entry import FORMAT, Entry, EntryKind, LogName
from tallystick.model.temporal import START_OF_TIME
from tallystick.store.memory import Views
from tallystick.store.outside import KnownHead, check_signature, key_name, origin
from tallystick.store.protocol import VIEWS, EntryRow, PartRow, Reading
from tallystick.trail.appending import Trail
from tallystick.trail.archive import ArchiveReader, commits, digests_of

_KINDS = frozenset(EntryKind)


class Bad(NamedTuple):
    """Something that does not hold; ``seq`` is -1 where no single entry can be named."""

    seq: int
    what: str


class Report(NamedTuple):
    """What ``verify`` found in one log."""

    log: str
    size: int
    root: bytes
    bad: tuple[Bad, ...]
    checkpoint: str
    """``matches`` | ``grown`` (the log grew since, consistently) | ``none`` (nothing outside to compare with) |
    ``truncated`` | ``older_copy`` | ``forked`` | ``bad_signature`` | ``unreadable``"""
    unknown_kinds: int
    """Entries of kinds or formats from a newer version: kept and verified, without effect on belief (TRAIL.9)."""

    @property
    def sound(self) -> bool:
        """Whether everything holds."""
        return not self.bad


class _Fields(msgspec.Struct, forbid_unknown_fields=True):
    """An entry as its JSON has it."""

    actor: str
    at: int
    clock: int
    kind: str
    log: str
    parts: dict[str, str]
    refs: list[int]
    seq: int
    trail: str
    v: int
    holder: str = ""
    xrefs: dict[str, list[int]] = {}


_decoder = msgspec.json.Decoder(_Fields)


def verify_log(
    trail: Trail, log: LogName, against: bytes | None = None, progress: Callable[[int], None] = lambda _: None
) -> Report:
    """Recompute one log. ``against`` is a signed checkpoint from elsewhere, taken instead of the one kept outside.

    ``progress`` is called with the number of entries read, every thousand.
    """
    engine = [Bad(-1, found) for found in trail.store.check(log)]
    with trail.reading(log) as rows:
        walk = _Walk(rows, log)
        try:
            walk.entries(progress)
            walk.views()
            walk.archive()
        except TrailUnreadable as error:
            walk.found(-1, str(error))
        heads = _known_heads(trail, walk.trail or trail.id, log, against)
        state, why = _compare(heads, walk)
    if why:
        walk.found(walk.size - 1 if walk.size else -1, why)
    bad = sorted(walk.bad, key=lambda each: (each.seq < 0, each.seq)) + engine
    return Report(log, walk.size, walk.frontier.root(), tuple(bad), state, walk.unknown)


class _Walk:
    """One pass over a log, gathering what does not hold."""

    def __init__(self, rows: Reading, log: LogName) -> None:
        self.rows = rows
        self.log = log
        self.trail = rows.meta("trail")
        self.size = 0
        self.frontier = Frontier()
        self.roots: dict[int, bytes] = {}
        self.bad: list[Bad] = []
        self.unknown = 0
        self._views = Views()
        self._at = START_OF_TIME
        self._manifests: dict[int, list[bytes]] = {}

    def found(self, seq: int, what: str) -> None:
        """Note a problem; the first thousand are kept."""
        if len(self.bad) < 1000:
            self.bad.append(Bad(seq, what))

    def entries(self, progress: Callable[[int], None]) -> None:
        """Every entry: canonical, in order, its parts as committed; the tree and the views grow on the way."""
        parts = _Grouped(self.rows.all_parts())
        made: Effects = []
        for row in self.rows.entries():
            bodies, extra = parts.take(row.seq)
            for seq in extra:
                self.found(seq, "a part of an entry that is not there")
            entry = self._entry(row)
            self.frontier.append(leaf_hash(row.canon))
            self.size += 1
            if entry is not None:
                made = self._fold(entry, bodies, made)
            if self.size % 1000 == 0:
                progress(self.size)
        self._views.add(made)
        for seq in parts.rest():
            self.found(seq, "a part of an entry that is not there")
        self._head()

    def _entry(self, row: EntryRow) -> Entry | None:
        if row.seq != self.size:
            self.found(self.size, f"entry {self.size} is missing; the next one is {row.seq}")
            self.size = row.seq
        try:
            entry = _read(row.canon)
        except CanonicalError as error:
            self.found(row.seq, str(error))
            return None
        wrong = [
            name
            for name, holds in (
                ("seq", entry.seq == row.seq),
                ("log", entry.log == self.log),
                ("trail id", entry.trail == self.trail),
                ("time column", entry.at == row.at),
                ("time, which went back", entry.at >= self._at or entry.kind == EntryKind.CLOCK_REPAIRED),
            )
            if not holds
        ]
        if wrong:
            self.found(row.seq, f"the entry's {', '.join(wrong)} does not fit")
        self._at = entry.at
        return entry

    def _fold(self, entry: Entry, found: list[PartRow], made: Effects) -> Effects:
        committed = dict(entry.parts)
        bodies: dict[str, bytes] = {}
        for part in found:
            digest = committed.pop(part.name, None)
            if digest is None:
                self.found(entry.seq, f"part {part.name!r} is not one of the entry's")
            elif len(part.salt) != 32 or sha256(part.salt + part.body).hexdigest() != digest:
                self.found(entry.seq, f"part {part.name!r} is not what the entry commits to")
            bodies[part.name] = part.body
        for name in committed:
            self.found(entry.seq, f"part {name!r} is missing and no entry says that it was erased")
        if entry.kind not in _KINDS or entry.v > FORMAT:
            self.unknown += 1
        if entry.kind == EntryKind.OBSERVED and entry.refs:
            self._manifests.setdefault(entry.refs[0], []).append(bodies.get("manifest", b""))
        if made and asks(entry):
            self._views.add(made)
            made = []
        made.extend(effects(entry, bodies, self._views))
        return made

    def _head(self) -> None:
        head = self.rows.head()
        if head.size != self.size or head.root != self.frontier.root():
            self.found(
                min(head.size, self.size),
                f"the head says {head.size} entries and another root than the {self.size} found",
            )
        elif head.at != self._at or head.epoch != len(self._views.epochs):
            self.found(self.size - 1, "the head's time or epoch is not that of the last entry")

    def views(self) -> None:
        """Every view against the fold."""
        for view in VIEWS:
            kept, folded = self.rows.rows(view), self._views.rows(view)
            for ours in folded:
                theirs = next(kept, None)
                if theirs != ours:
                    self.found(_seq_of(view, ours), f"view {view!r} is not what the entries say")
                    break
            else:
                if (extra := next(kept, None)) is not None:
                    self.found(_seq_of(view, extra), f"view {view!r} has rows that no entry made")

    def archive(self) -> None:
        """Every archived event against the manifests."""
        reader = ArchiveReader(self.rows)
        for session, manifests in self._manifests.items():
            try:
                digests = digests_of(manifests)
            except (ValueError, KeyError, TypeError):
                self.found(session, "the manifest of the session's events is damaged")
                continue
            for row in self.rows.session_events(session):
                digest = digests.pop(row.n, b"")
                if not commits(row, reader.record(row), digest):
                    self.found(session, f"archived event {row.event} is not the one that was observed")
            if digests:
                self.found(session, f"{len(digests)} archived events are missing")

    def root_at(self, size: int) -> bytes | None:
        """Root of the first ``size`` entries; None where there are fewer."""
        if size > self.size:
            return None
        frontier = Frontier()
        frontier.extend(leaf_hash(row.canon) for row in self.rows.entries(0, size))
        return frontier.root()


class _Grouped:
    """Parts in order, handed out by entry."""

    def __init__(self, rows: Iterator[PartRow]) -> None:
        self._rows = rows
        self._next = next(rows, None)

    def take(self, seq: int) -> tuple[list[PartRow], list[int]]:
        """The parts of entry ``seq``, and the seqs of parts before it that nobody took."""
        mine: list[PartRow] = []
        extra: list[int] = []
        while self._next is not None and self._next.seq <= seq:
            if self._next.seq == seq:
                mine.append(self._next)
            else:
                extra.append(self._next.seq)
            self._next = next(self._rows, None)
        return mine, extra

    def rest(self) -> list[int]:
        """Seqs of the parts after the last entry."""
        _, extra = self.take(2**62)
        return extra


def _read(canon: bytes) -> Entry:
    """The entry, read by a fast decoder and held to be canonical by encoding it again."""
    try:
        fields = _decoder.decode(canon)
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
        tuple((log, tuple(seqs)) for log, seqs in fields.xrefs.items()),
        fields.v,
    )
    check_entry(entry)
    if entry_bytes(entry) != canon:
        raise CanonicalError("the entry is not in canonical form")
    return entry


def _seq_of(view: str, row: tuple[object, ...]) -> int:
    place = 1 if view in ("version", "touch", "epoch") else 2 if view == "verdict" else 0
    seq = row[place]
    return seq if isinstance(seq, int) else -1


def _known_heads(trail: Trail, trail_id: str, log: LogName, against: bytes | None) -> list[KnownHead | str]:
    """What is known from elsewhere: the head and the signed checkpoint kept outside, or the checkpoint handed in."""
    public = trail.outside.public_key(trail_id) if trail_id else None
    if against is not None:
        return [_signed_head(against, trail_id, log, public)]
    known: list[KnownHead | str] = []
    if (head := trail.outside.read_head(trail_id, log)) is not None:
        known.append(head)
    if (note := trail.outside.read_checkpoint(trail_id, log)) is not None:
        known.append(_signed_head(note, trail_id, log, public))
    return known


def _signed_head(data: bytes, trail_id: str, log: LogName, public: bytes | None) -> KnownHead | str:
    try:
        note: Note = parse(data)
        if note.checkpoint.origin != origin(trail_id, log):
            return f"unreadable: the checkpoint is of {note.checkpoint.origin}, not of {origin(trail_id, log)}"
        if public is not None:
            verify(note, key_name(trail_id), public, check_signature(public))
    except ProofError as error:
        return f"bad_signature: {error}"
    return KnownHead(note.checkpoint.size, note.checkpoint.root)


def _compare(known: list[KnownHead | str], walk: _Walk) -> tuple[str, str]:
    """(state, what is wrong) of the log against the heads known from elsewhere; the worst of them counts."""
    state = "none"
    for head in known:
        if isinstance(head, str):
            kind, _, why = head.partition(": ")
            return kind, why
        root = walk.root_at(head.size)
        if root is None:
            return _shorter(head, walk)
        if root != head.root:
            same = (
                "two heads of one size" if head.size == walk.size else "its first entries are not the ones written down"
            )
            return "forked", f"forked: {same} ({head.size} entries)"
        if state != "matches":
            state = "matches" if head.size == walk.size else "grown"
    return state, ""


def _shorter(head: KnownHead, walk: _Walk) -> tuple[str, str]:
    """Cut off, or an older copy put back: an older copy is whole in itself, down to its views and head row."""
    if walk.bad:
        return "truncated", f"truncated: {walk.size} entries are left of {head.size}"
    return "older_copy", f"an older copy was put back, or the end cut off cleanly: {walk.size} entries of {head.size}"
