"""``verify``: entries, parts, archive and views recomputed from bytes, and the first bad seq named (TRAIL.7, 8).

Nothing here believes a stored figure: the tree is built from the entries, the views are folded anew, and the head is
compared with what was written down outside. Problems are values; the first one in order of seq is the answer.

A long log is checked by several processes first, each a stretch of it; if anything does not hold, one walk over all of it says
what. Memory does not grow with the log.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future
from functools import partial
from itertools import groupby
from operator import itemgetter
from threading import Thread
from typing import NamedTuple

from tallystick.beliefs import Effects
from tallystick.errors import MachineError, ProofError, TrailUnreadable
from tallystick.log.canonical import is_id
from tallystick.log.checkpoint import Note, parse, verify
from tallystick.log.merkle import EMPTY_ROOT
from tallystick.model.entry import LogName
from tallystick.store.outside import KnownHead, Outside, check_signature, key_name, origin
from tallystick.store.protocol import VIEWS, Reading, Store
from tallystick.store.said_words import holder_of, said_of
from tallystick.trail.appending import Trail, exchanged
from tallystick.trail.archive import ArchiveReader, commits, event_from_record, manifest_digests, unpacked_size
from tallystick.trail.erased import has_tombstones
from tallystick.trail.facts import SEAL, is_noted
from tallystick.trail.fingerprints import BUCKET, Sums, Tagged, first_difference, of_effects, of_view
from tallystick.trail.indexing import SaidSums
from tallystick.trail.stretches import walked
from tallystick.trail.walking import Walk


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
    since: int = 0
    """Entries before these were taken as an earlier verify found them."""
    frontier: tuple[bytes, ...] = ()
    """Of the tree over all entries: what a later verify goes on from."""

    @property
    def sound(self) -> bool:
        """Whether everything holds."""
        return not self.bad


def verify_log(
    trail: Trail,
    log: LogName,
    against: bytes | None = None,
    progress: Callable[[int], None] = lambda _: None,
    *,
    key: bytes | None = None,
) -> Report:
    """Recompute one log. ``against`` is a signed checkpoint from elsewhere, which it is held against beside what is kept outside.

    ``key`` is the public key (32 bytes) that ``against`` was signed with; without it, the one that is kept of the trail.
    ``progress`` is called with the number of entries read, every thousand.

    Raises:
        MachineError: there is no key to check the signature of ``against`` with.
    """
    with trail.reading(log, checked=False) as rows:
        checking = _beside(partial(trail.store.check, log))
        whole = Whole(rows, log)
        trail_id = whole.identify(_ids(trail))
        heads = known_heads(trail, trail_id, log)
        if against is not None:
            heads.insert(0, _signed_head(against, trail_id, log, checking_key(trail, trail_id, key)))
        whole.walk.wanted = frozenset(head.size for head in heads if isinstance(head, KnownHead))
        whole.all(trail.store, progress)
        whole.sealed(trail.outside, heads)
        state, why = compare(heads, whole, given=against is not None)
        whole.in_place(trail)
    if why:
        whole.walk.found(whole.walk.size if state in ("truncated", "older_copy") else -1, why)
    engine = [Bad(-1, " ".join(found.split())) for found in checking.result()]
    bad = sorted(map(Bad._make, whole.walk.bad), key=lambda each: (each.seq < 0, each.seq)) + engine
    walk = whole.walk
    return Report(
        log, walk.size, walk.frontier.root(), tuple(bad), state, walk.unknown, frontier=tuple(walk.frontier.nodes)
    )


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


class Whole:
    """All of a log, in one pass and in one process."""

    def __init__(self, rows: Reading, log: LogName) -> None:
        self.rows = rows
        self.log = log
        self.trail = ""
        self.stopped = False
        self.sums = Sums(os.urandom(32))
        self.walk = Walk(rows, log, "", self.sums)

    def all(self, store: Store, progress: Callable[[int], None]) -> None:
        """Everything. A stage that the damage does not let finish is reported at the entry it had come to."""
        apart = self._apart(store, progress) if not self.walk.bad else None
        if apart is not None:
            self.walk = apart
        else:
            self.stopped = not self.finishes(lambda: self.walk.walk(None, progress), "entries")
        self.finishes(self.erasures, "erasures")
        self.finishes(self.head, "head")
        self.finishes(self.nodes, "subtrees")
        if apart is None:
            self.finishes(self.views, "views")
        self.finishes(self.epochs, "epochs")
        self.finishes(self.archive, "archive")
        self.finishes(self.blocks, "blocks")
        self.finishes(self.vectors, "vectors")

    def _apart(self, store: Store, progress: Callable[[int], None]) -> Walk | None:
        """What several processes make of a long log: None where they find anything, or cannot be had."""
        try:
            return walked(self.rows, store, self.log, self.walk.wanted, progress)
        except Exception:
            return None  # Whatever it was, the walk that follows says what is wrong.

    def finishes(self, stage: Callable[[], None], name: str) -> bool:
        """Whether damaged bytes let a stage finish: they can make any of our readers or the engine's fail in any way."""
        try:
            stage()
        except Exception as error:
            reached = self.walk.size if name == "entries" else -1
            what = f"the {name} cannot be read from here on: {type(error).__name__}: {_one_line(error)}"
            self.walk.found(reached, what)
            return False
        return True

    def identify(self, ids: set[str]) -> str:
        """Settle what log this is, and of which trail; ``ids`` are those that the trail's logs state."""
        self.finishes(self._identify, "facts")
        if len(ids) > 1:
            self.walk.found(-1, f"the logs belong to different trails: {', '.join(sorted(ids))}")
        return self.trail if is_id(self.trail) else min(ids, default="")

    def _identify(self) -> None:
        self.trail = self.walk.trail = self.rows.meta("trail")
        facts = self.rows.facts()
        if facts and facts.get("log") != self.log:
            self.walk.found(-1, f"the file says that it holds another log ({facts.get('log', '')!r})")
        for key, value in facts.items():
            if not is_noted(key, value):
                self.walk.found(-1, f"{value[:80]!r} is noted of the log as its {key[:80]!r}, which no version does")

    def erasures(self) -> None:
        """What is missing was erased, and what was erased is missing (ERASE.1)."""
        walk = self.walk
        if (walk.erased or walk.erased_events) and not has_tombstones(self.rows):
            walk.found(-1, "something was erased, and the log does not note that: it could come in again")
        for seq, names in sorted(walk.missing.items()):
            for name in sorted(names - walk.erased.get(seq, set())):
                walk.found(seq, f"part {name!r} is missing and no entry says that it was erased")
        for seq, names in sorted(walk.erased.items()):
            for name in sorted(names - walk.missing.get(seq, set())):
                walk.found(seq, f"part {name!r} was erased and is there again")

    def head(self) -> None:
        """The head row against what the entries come to."""
        head, walk = self.rows.head(), self.walk
        if head.size != walk.size or head.root != walk.frontier.root():
            walk.found(
                min(head.size, walk.size) if head.size != walk.size else -1,
                f"the head says {head.size} entries and another root than the {walk.size} found",
            )
        elif head.at != walk.at or head.epoch != walk.epochs:
            walk.found(walk.size - 1, "the head's time or epoch is not that of the last entry")

    def nodes(self) -> None:
        """The subtrees that proofs are made of."""
        for level, n, digest in self.walk.frontier.completed:
            if self.rows.nodes(level, n, n + 1) != [digest]:
                self.walk.found(-1, f"subtree {n} of level {level} is not the one that the entries make")
        due = sum(self.walk.size >> (8 * level) for level in range(1, 8))
        if (kept := self.rows.count_nodes()) != due:
            self.walk.found(-1, f"there are {kept} subtrees, and the entries make {due}")

    def views(self) -> None:
        """The views against the fold; no row is due to an entry that is not there."""
        kept = Sums(self.sums.key)
        for view in VIEWS:
            beyond: list[int] = []
            kept.add(of_view(view, self.rows.rows(view), self.walk.size, beyond.append))
            for seq in beyond[:1]:
                self.walk.found(seq, f"view {view!r} is not what the entries say")
        for view, bucket in sorted(self.sums.differ(kept).items()):
            apart = first_difference(self._folded(view, bucket), self._kept(view, bucket))
            self.walk.found(-1 if apart is None else apart, f"view {view!r} is not what the entries say")

    def epochs(self) -> None:
        """The numbers of epochs, which no entry states."""
        if any(row[0] != n for n, row in enumerate(self.rows.rows("epoch"), 1)):
            self.walk.found(-1, "view 'epoch' is not numbered in order")

    def _folded(self, view: str, bucket: int) -> Iterator[Tagged]:
        """What the entries of a bucket come to in one view."""
        again = Walk(self.rows, self.log, self.trail, Sums(b""), bucket * BUCKET)
        made: Effects = []
        again.effects = made.extend
        again.walk((bucket + 1) * BUCKET)
        return (row for row in of_effects(made, self.rows.made) if row[1] == view)

    def _kept(self, view: str, bucket: int) -> Iterator[Tagged]:
        source = {"ending": ("link", "name")}.get(view, (view,))
        rows = (row for each in source for row in of_view(each, self.rows.rows(each), self.walk.size))
        return (row for row in rows if row[1] == view and row[0] // BUCKET == bucket)

    def sealed(self, outside: Outside, heads: Collection[KnownHead | str]) -> None:
        """Whether who made the log come to this had the trail's key; not asked where the key is not there, or nothing is.

        A log of a version that did not seal is taken as long as nothing was added since its head was written down.
        """
        walk, kept = self.walk, self.rows.meta(SEAL)
        if not walk.size or (
            not kept and any(isinstance(head, KnownHead) and head.size == walk.size for head in heads)
        ):
            return
        if outside.seal(self.trail, self.log, walk.size, walk.frontier.root()) not in (None, kept):
            walk.found(-1, "what the log comes to was not written with the trail's key: its seal is another")

    def in_place(self, trail: Trail) -> None:
        """Whether the trail that lies here is the one that did before."""
        if why := exchanged(trail):
            self.walk.found(-1, why)

    def archive(self) -> None:
        """Every archived event against the manifests, and no event that none of them names."""
        observed: dict[int, list[int]] = {}
        for session, seq in self.walk.observed:
            observed.setdefault(session, []).append(seq)
        reader = ArchiveReader(self.rows)
        index = SaidSums()
        for session, rows in groupby(self.rows.events(), itemgetter(0)):
            holder = holder_of(self.rows, session)
            committed = self._committed(observed.pop(session, []))
            for row in rows:
                seq, digest = committed.pop(row.n, (-1, b""))
                erased = (session, row.n) in self.walk.erased_events
                if row.block < 0 or erased:
                    if not erased:
                        self.walk.found(seq, f"archived event {row.event} is gone and no entry says that it was erased")
                    elif row.block >= 0:
                        self.walk.found(seq, f"archived event {row.event} was erased and is there again")
                    continue
                try:
                    record = reader.record(row)
                    holds = commits(row, record, digest)
                    if holds:
                        index.due(said_of(session, row.n, holder, event_from_record(record)))
                except TrailUnreadable as error:
                    self.walk.found(seq, f"archived event {row.event} cannot be read: {error}")
                    continue
                if not holds:
                    self.walk.found(seq, f"archived event {row.event} is not one that was observed")
            self._not_there(session, committed)
        for session, seqs in observed.items():
            self._not_there(session, self._committed(seqs))
        self.finishes(lambda: self._said(index), "index of the archive")

    def _said(self, index: SaidSums) -> None:
        """The index of the archive against what the events that are there say."""
        index.kept(self.rows)
        for session in index.apart()[:1]:
            self.walk.found(-1, f"the index of the archive is not what the events of session {session} say")

    def blocks(self) -> None:
        """No block that holds anything but the records of its session's events."""
        uses = self.rows.block_uses()
        block, session, size = next(uses, _NO_MORE)
        for each in self.rows.blocks():
            while (block, session) < each[:2]:
                block, session, size = next(uses, _NO_MORE)
            if (block, session) != each[:2]:
                self.walk.found(-1, f"no event of session {each.session} stands in archive block {each.block}")
            elif unpacked_size(each.data) != size:
                self.walk.found(-1, f"archive block {each.block} holds something else than the records of events")

    def _not_there(self, session: int, committed: dict[int, tuple[int, bytes]]) -> None:
        for n, (seq, _) in committed.items():
            self.walk.found(seq, f"archived event {n} of session {session} is missing")

    def _committed(self, observed: Collection[int]) -> dict[int, tuple[int, bytes]]:
        """Number of an archived event of one session → (seq of the entry that observed it, its digest)."""
        found: dict[int, tuple[int, bytes]] = {}
        for seq in observed:
            manifest = next((part.body for part in self.rows.parts(seq) if part.name == "manifest"), b"")
            try:
                first, digests = manifest_digests(manifest)
            except (ValueError, KeyError, TypeError):
                if "manifest" not in self.walk.erased.get(seq, set()):
                    self.walk.found(seq, "the manifest of the session's events is damaged")
                continue
            found.update({n: (seq, digest) for n, digest in enumerate(digests, first)})
        return found

    def vectors(self) -> None:
        """No vector of a text that was erased: it would tell what that spoke of. What the others say is no evidence."""
        for claim in self.rows.vector_claims():
            if claim >= self.walk.size or "text" in self.walk.erased.get(claim, ()):
                self.walk.found(claim, "there is a vector of a text that is not there")

    def root_at(self, size: int) -> bytes | None:
        """Root of the first ``size`` entries, which was asked for beforehand; None where there are fewer."""
        if not size:
            return EMPTY_ROOT
        passed = self.walk.passed.get(size)
        return passed.root() if passed else None


_NO_MORE = (2**63, 0, 0)
"""A use of a block, after the last."""


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def known_heads(trail: Trail, trail_id: str, log: LogName) -> list[KnownHead | str]:
    """What is known from elsewhere: the head and the signed checkpoint kept outside."""
    public = trail.outside.public_key(trail_id) if trail_id else None
    known: list[KnownHead | str] = []
    if (head := trail.outside.read_head(trail_id, log)) is not None:
        known.append(head)
    if (note := trail.outside.read_checkpoint(trail_id, log)) is not None:
        known.append(_signed_head(note, trail_id, log, public))
    return known


def checking_key(trail: Trail, trail_id: str, given: bytes | None = None) -> bytes:
    """The public key, 32 bytes, that a checkpoint from elsewhere is checked with: the one ``given``, or the trail's own.

    Raises:
        MachineError: neither is there.
    """
    public = given or trail.outside.public_key(trail_id)
    if public is None:
        raise MachineError(
            f"{trail.outside.location}: the key of trail {trail_id} is not there, so nobody can tell who signed the checkpoint;"
            " give its public key with --key, as `tally checkpoint --key` prints it where the key is"
        )
    return public


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


def compare(known: list[KnownHead | str], whole: Whole, *, given: bool = False) -> tuple[str, str]:
    """(state, what is wrong) of the log against the heads known from elsewhere: the first that does not hold counts.

    Where all hold the state is that of the first, where it was handed in (``given``), or else of the one that says most.
    """
    state = "none"
    for head in known:
        if isinstance(head, str):
            kind, _, why = head.partition(": ")
            return kind, why
        root = whole.root_at(head.size)
        if root is None and whole.stopped:
            return "unreadable", ""
        if root is None:
            return _shorter(head, whole)
        if root != head.root:
            same = (
                "two heads of one size"
                if head.size == whole.walk.size
                else "its first entries are not the ones written down"
            )
            return "forked", f"forked: {same} ({head.size} entries)"
        if state == "none" or (state == "grown" and not given):
            state = "matches" if head.size == whole.walk.size else "grown"
    return state, ""


def _shorter(head: KnownHead, whole: Whole) -> tuple[str, str]:
    """Cut off, or an older copy put back: an older copy is whole in itself, down to its views and head row."""
    if whole.walk.bad:
        return "truncated", f"truncated: {whole.walk.size} entries are left of {head.size}"
    return (
        "older_copy",
        f"an older copy was put back, or the end cut off cleanly: {whole.walk.size} entries of {head.size}",
    )
