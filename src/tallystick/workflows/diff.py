"""Diff: what was learned, revised, retracted, undone and erased between two points, entry by entry (TIME.5).

What changes whose memory is asked, or what gives way from then on, is listed too: holders joined and parted, attributes
registered and no longer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from tallystick.beliefs import Link, Name, places_of
from tallystick.errors import UsageError
from tallystick.log.canonical import entry_from_bytes
from tallystick.model.entry import Entry, EntryKind
from tallystick.store.protocol import Reading
from tallystick.trail import Trail
from tallystick.trail.points import Point, point
from tallystick.workflows.attributes import subject_of
from tallystick.workflows.scoping import Scope, holders

LISTS = (
    "learned",
    "corrected",
    "changed",
    "merged",
    "reconfirmed",
    "judged",
    "contradicted",
    "joined",
    "parted",
    "registered",
    "unregistered",
    "retracted",
    "undone",
    "erased",
)
"""In the order in which they are shown."""
QUIET = ("reconfirmed", "judged")
"""Kinds that change no belief: counted, and listed only when asked for."""


class Step(NamedTuple):
    """What one entry did to one claim, to two holders, or to an attribute."""

    seq: int
    at: int
    how: str
    """One of ``LISTS``."""
    claim: int
    """-1 where it is about ``names``."""
    text: str | None
    """None where it was erased, or where it is about ``names``."""
    olds: tuple[int, ...] = ()
    """Claims that gave way to this one, or the one that it stands against."""
    because: str = ""
    actor: str = ""
    """Name of who appended it."""
    names: tuple[str, ...] = ()
    """Of the two holders that were joined or parted; of a registration the subject, empty for any, and the attribute. Both
    are empty where what introduced them was erased."""


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
            for did in _erased(rows, entry) if entry.kind == EntryKind.ERASED else _steps(rows, entry):
                if not _in_scope(rows, did, asked):
                    continue
                counts[did.how] += 1
                if entry.seq > after and len(found) <= limit and (every or did.how not in QUIET):
                    found.append(_told(rows, entry, did, actors))
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


class _Did(NamedTuple):
    how: str
    claim: int
    olds: tuple[int, ...] = ()
    """Other claims."""
    about: tuple[Name, ...] = ()
    """The two holders, or the registration, that it is about in the place of a claim."""


def _steps(rows: Reading, entry: Entry) -> Iterator[_Did]:
    """Everything that an entry did."""
    names = {name for name, _ in entry.parts}
    if entry.kind == EntryKind.ASSERTED:
        yield _Did("learned", entry.seq, entry.refs)
    elif entry.kind == EntryKind.REVISED and "into" in names:
        yield _Did("merged", entry.refs[-1], entry.refs[:1])
    elif entry.kind == EntryKind.REVISED:
        yield _Did("changed" if "change" in names else "corrected", entry.seq, entry.refs)
    elif entry.kind == EntryKind.LINKED and "contradicts" in names:
        yield _Did("contradicted", entry.refs[0], entry.refs[1:])
    elif entry.kind in (EntryKind.RECONFIRMED, EntryKind.RETRACTED):
        for claim in entry.refs[:1]:
            yield _Did(str(entry.kind), claim)
    elif entry.kind == EntryKind.JUDGED:
        for claim in entry.refs:
            yield _Did("judged", claim)
    elif entry.kind == EntryKind.UNDONE:
        made = (each for seq in entry.refs[:1] for each in _made(rows, seq, ended=entry.seq))
        ended = [each._replace(how=_ENDED[each.how]) for each in made]
        yield from ended or [_Did("undone", entry.seq, entry.refs)]
    elif (entry.kind == EntryKind.LINKED and "same_as" in names) or "attribute" in names:
        yield from _made(rows, entry.seq)


_ENDED = {"joined": "parted", "registered": "unregistered"}


def _made(rows: Reading, seq: int, ended: int | None = None) -> Iterator[_Did]:
    """The holders that an entry joined, and the attributes that it registered; with ``ended`` those that ended there."""
    for made in rows.made(seq):
        if ended is not None and made.tx_to != ended:
            continue
        if isinstance(made, Name):
            if made.what == "attribute":
                yield _Did("registered", -1, (), (made,))
        elif made.kind == "same_as":
            introduced = {name.seq: name for name in rows.names("holder")}
            if made.newer in introduced and made.older in introduced:
                yield _Did("joined", -1, (), (introduced[made.newer], introduced[made.older]))


def _erased(rows: Reading, entry: Entry) -> Iterator[_Did]:
    """The claims whose words an entry erased; what else it erased is nobody's belief."""
    places = places_of({part.name: part.body for part in rows.parts(entry.seq)})
    for seq, names in sorted(places.parts.items()):
        if "text" in names and rows.claim_row(seq) is not None:
            yield _Did("erased", seq)


def _in_scope(rows: Reading, did: _Did, asked: tuple[str, ...] | None) -> bool:
    """Whether it is about the memory of a holder who was asked for; what gives way when is everyone's concern."""
    if asked is None or did.how in ("registered", "unregistered"):
        return True
    if did.about:
        return not {name.id for name in did.about}.isdisjoint(asked)
    # An undo is about the claims that it touched, which may be none.
    claims = _touched(rows, did.claim) if did.how == "undone" else {did.claim, *did.olds}
    return not {found.holder for each in claims if (found := rows.claim_row(each))}.isdisjoint(asked)


def _touched(rows: Reading, undone: int) -> set[int]:
    """The claims whose versions, verdicts or links an ``undone`` entry changed."""
    entries = [entry_from_bytes(row.canon) for row in rows.entries(undone, undone + 1)]
    judged = {claim for entry in entries for claim in entry.refs[1:]}
    made = [row for entry in entries for first in entry.refs[:1] for row in rows.made(first)]
    linked = {claim for row in made if isinstance(row, Link) for claim in (row.newer, row.older)}
    return judged | linked | {version.claim for version in rows.versions_changed(undone)}


def _told(rows: Reading, entry: Entry, did: _Did, actors: Mapping[str, str]) -> Step:
    claim, olds = did.claim, did.olds
    text: str | None = None
    if did.how == "undone":
        touched = tuple(sorted(_touched(rows, entry.seq)))
        text = rows.text(touched[0]) if touched else ""
        claim, olds = (touched[0], touched[1:]) if touched else (olds[0], ())
    elif not did.about:
        text = rows.text(claim)
    because, actor = _because(rows, entry), actors.get(entry.actor, "")
    return Step(entry.seq, entry.at, did.how, claim, text, olds, because, actor, _names(did.about))


def _names(about: tuple[Name, ...]) -> tuple[str, ...]:
    if [name.what for name in about] == ["attribute"]:
        return subject_of(about[0]), about[0].name
    return tuple(name.name for name in about)


def _because(rows: Reading, entry: Entry) -> str:
    if not any(name == "because" for name, _ in entry.parts):
        return ""
    return next((part.body.decode("utf-8", "replace") for part in rows.parts(entry.seq) if part.name == "because"), "")
