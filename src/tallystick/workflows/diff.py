"""Diff: what was learned, revised, retracted, undone and erased between two points, entry by entry (TIME.5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from tallystick.beliefs import places_of
from tallystick.errors import UsageError
from tallystick.log.canonical import entry_from_bytes
from tallystick.model.entry import Entry, EntryKind
from tallystick.store.protocol import Reading
from tallystick.trail import Trail
from tallystick.trail.points import Point, point
from tallystick.workflows.scoping import Scope, holders

LISTS = (
    "learned",
    "corrected",
    "changed",
    "merged",
    "reconfirmed",
    "judged",
    "contradicted",
    "retracted",
    "undone",
    "erased",
)
"""In the order in which they are shown."""
QUIET = ("reconfirmed", "judged")
"""Kinds that change no belief: counted, and listed only when asked for."""


class Step(NamedTuple):
    """What one entry did to one claim."""

    seq: int
    at: int
    how: str
    """One of ``LISTS``."""
    claim: int
    text: str | None
    """None where it was erased."""
    olds: tuple[int, ...] = ()
    """Claims that gave way to this one, or the one that it stands against."""
    because: str = ""
    actor: str = ""
    """Name of who appended it."""


class Diff(NamedTuple):
    """The steps of a page, and how many of each kind there are between the two points."""

    start: Point
    end: Point
    counts: dict[str, int]
    steps: tuple[Step, ...]
    more: bool


def diff(
    trail: Trail,
    scope: Scope,
    start: str,
    end: str | None,
    *,
    every: bool = False,
    after: int = -1,
    limit: int = 100,
    progress: Callable[[int, int], None] = lambda _done, _of: None,
) -> Diff:
    """What happened after the point ``start`` up to and including ``end``, or up to now.

    With ``every`` the kinds in ``QUIET`` are listed too. ``after`` is the seq that the page before ended with. ``progress`` is
    called with how many entries of how many were read.

    Raises:
        UsageError, BadTime: see ``trail.points.point``; or ``start`` is later than ``end``.
    """
    with trail.reading() as rows:
        first, last = point(trail, rows, start), point(trail, rows, end)
        if first.seq > last.seq:
            raise UsageError(
                f"from {start} (entry {first.seq}) to {end or 'now'} (entry {last.seq}): the first must be the earlier one"
            )
        asked = holders(rows, scope, last.seq)
        counts: Counter[str] = Counter()
        found: list[Step] = []
        actors = {name.id: name.name for name in rows.names("actor")}
        total = last.seq - first.seq
        for row in rows.entries(first.seq + 1, last.seq + 1):
            entry = entry_from_bytes(row.canon)
            for how, claim, olds in _erased(rows, entry) if entry.kind == EntryKind.ERASED else _steps(entry):
                if not _in_scope(rows, claim, asked):
                    continue
                counts[how] += 1
                if entry.seq > after and len(found) <= limit and (every or how not in QUIET):
                    found.append(_told(rows, entry, how, claim, olds, actors))
            if (done := row.seq - first.seq) % 1000 == 0:
                progress(done, total)
    kinds = {how: counts[how] for how in LISTS if counts[how]}
    page, more = _whole_entries(found, limit)
    return Diff(first, last, kinds, page, more)


def _whole_entries(found: list[Step], limit: int) -> tuple[tuple[Step, ...], bool]:
    """At most ``limit`` steps, the last entry's all or none of them unless it has more than that alone."""
    if not limit or len(found) <= limit:
        return tuple(found[:limit]), False
    cut = found[limit].seq
    page = [step for step in found[:limit] if step.seq != cut] or found[:limit]
    return tuple(page), True


def _steps(entry: Entry) -> Iterator[tuple[str, int, tuple[int, ...]]]:
    """(kind, claim, other claims) of everything that an entry did."""
    names = {name for name, _ in entry.parts}
    if entry.kind == EntryKind.ASSERTED:
        yield "learned", entry.seq, entry.refs
    elif entry.kind == EntryKind.REVISED and "into" in names:
        yield "merged", entry.refs[-1], entry.refs[:1]
    elif entry.kind == EntryKind.REVISED:
        yield "changed" if "change" in names else "corrected", entry.seq, entry.refs
    elif entry.kind == EntryKind.LINKED and "contradicts" in names:
        yield "contradicted", entry.refs[0], entry.refs[1:]
    elif entry.kind in (EntryKind.RECONFIRMED, EntryKind.RETRACTED):
        for claim in entry.refs[:1]:
            yield str(entry.kind), claim, ()
    elif entry.kind == EntryKind.JUDGED:
        for claim in entry.refs:
            yield "judged", claim, ()
    elif entry.kind == EntryKind.UNDONE:
        yield "undone", entry.seq, entry.refs


def _erased(rows: Reading, entry: Entry) -> Iterator[tuple[str, int, tuple[int, ...]]]:
    """The claims whose words an entry erased; what else it erased is nobody's belief."""
    places = places_of({part.name: part.body for part in rows.parts(entry.seq)})
    for seq, names in sorted(places.parts.items()):
        if "text" in names and rows.claim_row(seq) is not None:
            yield "erased", seq, ()


def _in_scope(rows: Reading, claim: int, asked: tuple[str, ...] | None) -> bool:
    row = rows.claim_row(claim)
    if row is not None:
        return asked is None or row.holder in asked
    # An undo is about the claims that it touched, which may be none.
    touched = _touched(rows, claim)
    holders_of = {found.holder for each in touched if (found := rows.claim_row(each))}
    return asked is None or not holders_of.isdisjoint(asked)


def _touched(rows: Reading, undone: int) -> set[int]:
    """The claims whose versions or verdicts an ``undone`` entry changed."""
    entries = (entry_from_bytes(row.canon) for row in rows.entries(undone, undone + 1))
    judged = {claim for entry in entries for claim in entry.refs[1:]}
    return judged | {version.claim for version in rows.versions_changed(undone)}


def _told(rows: Reading, entry: Entry, how: str, claim: int, olds: tuple[int, ...], actors: Mapping[str, str]) -> Step:
    if how == "undone":
        touched = tuple(sorted(_touched(rows, entry.seq)))
        text = rows.text(touched[0]) if touched else ""
        claim, olds = (touched[0], touched[1:]) if touched else (olds[0], ())
    else:
        text = rows.text(claim)
    return Step(entry.seq, entry.at, how, claim, text, olds, _because(rows, entry), actors.get(entry.actor, ""))


def _because(rows: Reading, entry: Entry) -> str:
    if not any(name == "because" for name, _ in entry.parts):
        return ""
    return next((part.body.decode("utf-8", "replace") for part in rows.parts(entry.seq) if part.name == "because"), "")
