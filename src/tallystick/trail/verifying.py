"""``verify``: entries, parts, archive and views recomputed from bytes, and the first bad seq named (TRAIL.7, 8).

Nothing here believes a stored figure: the tree is built from the entries, the views are folded anew, and the head is
compared with what was written down outside. Problems are values; the first one in order of seq is the answer.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from functools import partial
from hashlib import sha256
from itertools import groupby
from operator import itemgetter
from threading import Thread
from typing import NamedTuple

import msgspec

from tallystick.beliefs import Effects, asks, effects
from tallystick.errors import CanonicalError, ProofError, TrailUnreadable
from tallystick.log.canonical import check_fields, decode, is_digest, is_id
from tallystick.log.checkpoint import Note, parse, verify
from tallystick.log.merkle import EMPTY_ROOT, Frontier, leaf_hash
from tallystick.model.entry import FORMAT, Entry, EntryKind, LogName
from tallystick.model.temporal import START_OF_TIME
from tallystick.store.memory import Views
from tallystick.store.outside import KnownHead, check_signature, key_name, origin
from tallystick.store.protocol import VIEWS, EntryRow, PartRow, Reading
from tallystick.trail.appending import Trail
from tallystick.trail.archive import ArchiveReader, commits, manifest_digests
from tallystick.trail.differences import first_difference

_KINDS = frozenset(EntryKind)
_PAST_THE_LAST = 2**63
"""Beyond every seq that a store can hold."""


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


def verify_log(
    trail: Trail, log: LogName, against: bytes | None = None, progress: Callable[[int], None] = lambda _: None
) -> Report:
    """Recompute one log. ``against`` is a signed checkpoint from elsewhere, taken instead of the one kept outside.

    ``progress`` is called with the number of entries read, every thousand.
    """
    checking = _beside(partial(trail.store.check, log))
    with trail.reading(log, checked=False) as rows:
        walk = _Walk(rows, log)
        heads = _known_heads(trail, walk.identify(_ids(trail)), log, against)
        walk.wanted = {head.size for head in heads if isinstance(head, KnownHead)}
        walk.all(progress)
        state, why = _compare(heads, walk)
    if why:
        walk.found(walk.size if state in ("truncated", "older_copy") else -1, why)
    engine = [Bad(-1, " ".join(found.split())) for found in checking.result()]
    bad = sorted(walk.bad, key=lambda each: (each.seq < 0, each.seq)) + engine
    return Report(log, walk.size, walk.frontier.root(), tuple(bad), state, walk.unknown)


def _beside(work: Callable[[], list[str]]) -> Future[list[str]]:
    """``work`` in a thread, while this one walks the log: the engine computes without the interpreter. Nobody waits for it
    who has been interrupted."""
    answer: Future[list[str]] = Future()

    def run() -> None:
        try:
            answer.set_result(work())
        except BaseException as error:
            answer.set_exception(error)

    Thread(target=run, daemon=True).start()
    return answer


def _ids(trail: Trail) -> set[str]:
    """The trail's id as each of its logs states it: a log whose file is gone is still known to have been."""
    found = set()
    for log in LogName:
        with contextlib.suppress(Exception), trail.reading(log, checked=False) as rows:
            found.add(rows.meta("trail"))
    return {each for each in found if is_id(each)}


class _Walk:
    """One pass over a log, gathering what does not hold."""

    def __init__(self, rows: Reading, log: LogName) -> None:
        self.rows = rows
        self.log = log
        self.trail = ""
        self.size = 0
        self.frontier = Frontier()
        self.wanted: set[int] = set()
        self.roots: dict[int, bytes] = {}
        self.stopped = False
        self.bad: list[Bad] = []
        self.unknown = 0
        self._views = Views()
        self._at = START_OF_TIME
        self._manifests: dict[int, list[tuple[int, bytes]]] = {}

    def found(self, seq: int, what: str) -> None:
        """Note a problem; the first thousand are kept."""
        if len(self.bad) < 1000:
            self.bad.append(Bad(seq, what))

    def all(self, progress: Callable[[int], None]) -> None:
        """Everything. A stage that the damage does not let finish is reported at the entry it had come to."""
        self.stopped = not self._finishes(lambda: self.entries(progress), "entries")
        self._finishes(self.head, "head")
        for view in VIEWS:
            self._finishes(partial(self.view, view), f"view {view!r}")
        self._finishes(self.archive, "archive")

    def _finishes(self, stage: Callable[[], None], name: str) -> bool:
        """Whether damaged bytes let a stage finish: they can make any of our readers or the engine's fail in any way."""
        try:
            stage()
        except Exception as error:
            reached = self.size if name == "entries" else -1
            self.found(reached, f"the {name} cannot be read from here on: {type(error).__name__}: {_one_line(error)}")
            return False
        return True

    def identify(self, ids: set[str]) -> str:
        """Settle what log this is, and of which trail; ``ids`` are those that the trail's logs state."""
        self._finishes(self._identify, "facts")
        if len(ids) > 1:
            self.found(-1, f"the logs belong to different trails: {', '.join(sorted(ids))}")
        return self.trail if is_id(self.trail) else min(ids, default="")

    def _identify(self) -> None:
        self.trail = self.rows.meta("trail")
        if self.rows.meta("log") not in ("", self.log):
            self.found(-1, f"the file says that it holds another log ({self.rows.meta('log')!r})")

    def entries(self, progress: Callable[[int], None]) -> None:
        """Every entry: canonical, in order, its parts as committed; the tree and the views grow on the way."""
        parts = _Grouped(self.rows.all_parts())
        made: Effects = []
        for row in self.rows.entries():
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
                self.roots[self.size] = self.frontier.root()
            if entry is not None:
                made = self._fold(entry, bodies, made)
            if self.size % 1000 == 0:
                progress(self.size)
        self._views.add(made)
        for seq in parts.rest():
            self.found(seq, "a part of an entry that is not there")

    def _entry(self, row: EntryRow) -> Entry | None:
        if row.seq != self.size:
            self.found(self.size, f"entry {self.size} is missing; the next one is {row.seq}")
            self.size = row.seq
        try:
            entry = _read(row.canon)
        except CanonicalError as error:
            self.found(row.seq, str(error))
            return None
        facts = entry.seq, entry.log, entry.trail, entry.at
        in_time = entry.at >= self._at or entry.kind == EntryKind.CLOCK_REPAIRED
        if facts != (row.seq, self.log, self.trail, row.at) or not in_time:
            self._misfit(entry, row, in_time=in_time)
        self._at = entry.at
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

    def _fold(self, entry: Entry, found: list[PartRow], made: Effects) -> Effects:
        committed = dict(entry.parts)
        bodies: dict[str, bytes] = {}
        for _, name, salt, body in found:
            digest = committed.pop(name, None)
            if digest is None:
                self.found(entry.seq, f"part {name!r} is not one of the entry's")
            elif len(salt) != 32 or sha256(salt + body).hexdigest() != digest:
                self.found(entry.seq, f"part {name!r} is not what the entry commits to")
            bodies[name] = body
        for name, digest in committed.items():
            what = "is missing and no entry says that it was erased" if is_digest(digest) else "has a damaged digest"
            self.found(entry.seq, f"part {name!r} {what}")
        if entry.kind not in _KINDS or entry.v > FORMAT:
            self.unknown += 1
        if entry.kind == EntryKind.OBSERVED and entry.refs:
            self._manifests.setdefault(entry.refs[0], []).append((entry.seq, bodies.get("manifest", b"")))
        if made and asks(entry):
            self._views.add(made)
            made = []
        made.extend(effects(entry, bodies, self._views))
        return made

    def head(self) -> None:
        """The head row against what the entries come to."""
        head = self.rows.head()
        if head.size != self.size or head.root != self.frontier.root():
            self.found(
                min(head.size, self.size) if head.size != self.size else -1,
                f"the head says {head.size} entries and another root than the {self.size} found",
            )
        elif head.at != self._at or head.epoch != len(self._views.epochs):
            self.found(self.size - 1, "the head's time or epoch is not that of the last entry")

    def view(self, view: str) -> None:
        """One view against the fold."""
        seq = first_difference(view, self._views.rows(view), self.rows.rows(view))
        if seq is not None:
            self.found(seq, f"view {view!r} is not what the entries say")

    def archive(self) -> None:
        """Every archived event against the manifests, and no event that none of them names."""
        committed = self._committed()
        reader = ArchiveReader(self.rows)
        for row in self.rows.events():
            seq, digest = committed.pop((row.session, row.n), (-1, b""))
            try:
                holds = commits(row, reader.record(row), digest)
            except TrailUnreadable as error:
                self.found(seq, f"archived event {row.event} cannot be read: {error}")
                continue
            if not holds:
                self.found(seq, f"archived event {row.event} is not one that was observed")
        for (session, n), (seq, _) in committed.items():
            self.found(seq, f"archived event {n} of session {session} is missing")

    def _committed(self) -> dict[tuple[int, int], tuple[int, bytes]]:
        """(session, n) of each archived event → (seq of the entry that observed it, its digest)."""
        found: dict[tuple[int, int], tuple[int, bytes]] = {}
        for session, manifests in self._manifests.items():
            for seq, manifest in manifests:
                try:
                    first, digests = manifest_digests(manifest)
                except (ValueError, KeyError, TypeError):
                    self.found(seq, "the manifest of the session's events is damaged")
                    continue
                found.update({(session, n): (seq, digest) for n, digest in enumerate(digests, first)})
        return found

    def root_at(self, size: int) -> bytes | None:
        """Root of the first ``size`` entries, which was asked for beforehand; None where there are fewer."""
        return self.roots.get(size) if size else EMPTY_ROOT


class _Grouped:
    """Parts in order, handed out by entry."""

    def __init__(self, rows: Iterator[PartRow]) -> None:
        self._groups = groupby(rows, itemgetter(0))
        self._seq = -1
        self._parts: list[PartRow] = []
        self._advance()

    def _advance(self) -> None:
        self._seq, parts = next(self._groups, (_PAST_THE_LAST, iter(())))
        self._parts = list(parts)

    def take(self, seq: int) -> tuple[list[PartRow], list[int]]:
        """The parts of entry ``seq``, and the seqs of parts before it that nobody took."""
        extra: list[int] = []
        while self._seq < seq:
            extra += [self._seq] * len(self._parts)
            self._advance()
        if self._seq > seq:
            return [], extra
        mine = self._parts
        self._advance()
        return mine, extra

    def rest(self) -> list[int]:
        """Seqs of the parts after the last entry."""
        _, extra = self.take(_PAST_THE_LAST - 1)
        return extra


def _read(canon: bytes) -> Entry:
    """The entry, read by a fast decoder and held to be canonical by encoding it again; the digests, by the parts."""
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
    if entry.v <= FORMAT and _encode(fields) != canon:
        raise CanonicalError("the entry is not in canonical form")
    return entry


def _known_fields(canon: bytes) -> _Fields:
    """The fields that this version knows; a newer format may have others, if it says so and is canonical (TRAIL.9)."""
    try:
        return _decoder.decode(canon)
    except msgspec.ValidationError:
        fields = _lenient.decode(canon)
        if fields.v <= FORMAT:
            raise
        decode(canon)
        return fields


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


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
        if root is None and walk.stopped:
            return "unreadable", ""
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
