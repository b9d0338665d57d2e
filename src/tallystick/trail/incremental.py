"""``verify`` of what was added since it last found a log sound: the new entries, and all that they mean (TRAIL.7).

What was verified then is taken as it was, down to the frontier of its tree, which is kept outside: new entries continue that
tree, or the log is not the one that was verified. What was changed among older parts, views and archived events since is for a
verify of all of it to find, and so are the engine's own checks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tallystick.errors import TrailUnreadable
from tallystick.log.merkle import Frontier
from tallystick.model.entry import LogName
from tallystick.store.outside import KnownHead, Verified
from tallystick.store.protocol import Reading
from tallystick.trail.appending import Trail
from tallystick.trail.archive import ArchiveReader, commits, manifest_digests
from tallystick.trail.fingerprints import Sums, Tagged, first_difference, of_effects, of_view
from tallystick.trail.verifying import Bad, Report, Whole, compare, known_heads
from tallystick.trail.walking import Walk


def verify_since(
    trail: Trail, log: LogName, verified: Verified, progress: Callable[[int], None] = lambda _: None
) -> Report:
    """Recompute what one log was given since ``verified``; ``progress`` is called with the number of entries that were reached.

    An entry that erases older parts is checked with the rest: they must be missing.
    """
    with trail.reading(log, checked=False) as rows:
        since = _Since(rows, log, verified)
        heads = known_heads(trail, since.identify({trail.id}), log)
        heads = [head for head in heads if not isinstance(head, KnownHead) or head.size >= verified.size]
        since.walk.wanted = frozenset(head.size for head in heads if isinstance(head, KnownHead))
        since.all(trail.store, progress)
        since.sealed(trail.outside, heads)
        state, why = compare(heads, since)
        since.in_place(trail)
    walk = since.walk
    if why:
        walk.found(walk.size if state in ("truncated", "older_copy") else -1, why)
    bad = sorted(map(Bad._make, walk.bad), key=lambda each: (each.seq < 0, each.seq))
    return Report(
        log, walk.size, walk.frontier.root(), tuple(bad), state, walk.unknown, verified.size, tuple(walk.frontier.nodes)
    )


_NAMES = "the names, epochs or links are not what the entries say"

_OF_NONE = frozenset({"link", "name", "ending", "epoch"})
"""Views that are looked through whole, since they are short: of what is in them no one claim is asked."""


class _Since(Whole):
    """What a log was given since it was verified."""

    def __init__(self, rows: Reading, log: LogName, verified: Verified) -> None:
        super().__init__(rows, log)
        self.walk = Walk(rows, log, "", Sums(b""), verified.size)
        self.walk.frontier = Frontier(verified.size, verified.nodes)
        self.walk.passed[verified.size] = Frontier(verified.size, verified.nodes)
        self.walk.at = next((row.at for row in rows.entries(verified.size - 1, verified.size)), self.walk.at)
        self.walk.epochs = sum(1 for row in rows.rows("epoch") if int(str(row[1])) < verified.size)
        self.walk.effects = lambda made: self._gather(of_effects(made, rows.made))
        self._made: dict[int, list[Tagged]] = {-1: []}
        """Claim → the rows that new entries make of it; -1: names, links and their ends, and epochs."""

    def all(self, store: object, progress: Callable[[int], None]) -> None:
        """See ``Whole``."""
        sizes: list[int] = []
        if not self.finishes(lambda: sizes.append(self.rows.head().size), "head") or sizes[0] < self.walk.start:
            return  # What was verified is not there any more: comparing the heads says so.
        self.stopped = not self.finishes(lambda: self.walk.walk(None, progress), "entries")
        self.finishes(self.erasures, "erasures")
        self.finishes(self.head, "head")
        self.finishes(self.nodes, "subtrees")
        self.finishes(self.views, "views")
        self.finishes(self.archive, "archive")

    def erasures(self) -> None:
        """See ``Whole``: of older entries the parts are looked for that were erased since."""
        walk = self.walk
        for seq in walk.erased:
            if seq < walk.start:
                there = {part.name for part in self.rows.parts(seq)}
                walk.missing[seq] = walk.erased[seq] - there
        super().erasures()

    def _gather(self, rows: Iterable[Tagged]) -> None:
        for row in rows:
            _, view, said = row
            self._made.setdefault(-1 if view in _OF_NONE else said[0], []).append(row)

    def views(self) -> None:
        """What the new entries make of each claim that they are about is what the store keeps of it since then."""
        start, size = self.walk.start, self.walk.size
        for claim in sorted(self._made):
            kept = self._kept_of(claim) if claim >= 0 else self._kept_of_none()
            apart = first_difference(self._made[claim], (row for row in kept if start <= row[0] < size))
            if apart is not None:
                self.walk.found(apart, f"the views of c{claim} are not what the entries say" if claim >= 0 else _NAMES)

    def _kept_of(self, claim: int) -> Iterator[Tagged]:
        row, size = self.rows.claim_row(claim), self.walk.size
        views: dict[str, list[Any]] = {
            "claim": [row] if row else [],
            "version": self.rows.versions(claim),
            "verdict": self.rows.verdicts(claim),
            "touch": self.rows.touches(claim),
        }
        for view, rows in views.items():
            yield from of_view(view, rows, size)

    def _kept_of_none(self) -> Iterator[Tagged]:
        for view in ("link", "name", "epoch"):
            yield from of_view(view, self.rows.rows(view), self.walk.size)

    def archive(self) -> None:
        """The events that the new entries observed, against their manifests."""
        reader = ArchiveReader(self.rows)
        for session, seq in self.walk.observed:
            manifest = next((part.body for part in self.rows.parts(seq) if part.name == "manifest"), b"")
            try:
                first, digests = manifest_digests(manifest)
            except (ValueError, KeyError, TypeError):
                self.walk.found(seq, "the manifest of the session's events is damaged")
                continue
            rows = {row.n: row for row in self.rows.session_events(session, first, first + len(digests))}
            for n, digest in enumerate(digests, first):
                row = rows.get(n)
                if row is not None and row.block < 0 and (session, n) in self.walk.erased_events:
                    continue
                try:
                    holds = row is not None and commits(row, reader.record(row), digest)
                except TrailUnreadable:
                    holds = False
                if not holds:
                    self.walk.found(seq, f"archived event {n} of session {session} is not one that was observed")
