"""Attributes that have one value at a time: registered for a subject, or for any; without that nothing is superseded (TIME.5–7).

A claim says what it is ``about``: subject, attribute, value. Where the pair of subject and attribute is registered, a claim with
another value for the same time gives way to the one that was said later, and keeps what the later one does not cover. Where it
is not, both stand. Holders that are one when something is said are one here too; the claims stay in the memory they were said in.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

from tallystick.beliefs import ClaimRow, Name, Version, object_of, without
from tallystick.errors import UsageError
from tallystick.log.canonical import encode
from tallystick.model.claim import Candidate
from tallystick.model.entry import EntryKind
from tallystick.model.origin import Origin
from tallystick.model.temporal import END_OF_TIME, START_OF_TIME, UNKNOWN_VALID_TIME, Instant, Interval, ValidTime
from tallystick.store.protocol import Reading, covers
from tallystick.trail import Trail
from tallystick.trail.points import Point, point
from tallystick.workflows.scoping import same_as
from tallystick.workflows.typed import fit

ANY = ""
"""Of a registration: whatever the subject is."""
UNREADABLE = "\0"
"""Of a registration: a subject that was erased or cannot be read, which no claim is about."""


class Registered(NamedTuple):
    """That an attribute has one value at a time."""

    seq: int
    subject: str
    attribute: str
    tx_to: int
    conflicts: tuple[tuple[int, ...], ...] = ()
    """Claims that are held and differ about one subject at one time, as it was registered."""


def register(trail: Trail, subject: str, attribute: str, because: str) -> Registered:
    """Register an attribute of a subject, or of any where ``subject`` is ``*``. Undoing the entry ends it.

    What is held already is left as it is; claims that differ about it are named.

    Raises:
        UsageError: an empty name, or it is registered already.
    """
    subject, attribute = "" if subject == "*" else fit(subject).strip(), fit(attribute).strip()
    if not attribute or not because.strip():
        raise UsageError("an attribute to register needs a name and --because")
    with trail.writing() as appender:
        rows = appender.rows
        for known in registered(rows):
            if (known.subject, known.attribute) == (subject, attribute) and known.tx_to == END_OF_TIME:
                raise UsageError(f"{attribute!r} of {subject or 'any subject'!r} is registered already, at {known.seq}")
        said = encode({"name": attribute, "subject": subject})
        seq = appender.add(EntryKind.INTRODUCED, {"attribute": said, "because": fit(because).encode()})
        conflicts = tuple(_conflicts(appender.rows, subject, attribute))
    trail.seal()
    return Registered(seq, subject, attribute, END_OF_TIME, conflicts)


def registered(rows: Reading, as_of: int = END_OF_TIME) -> list[Registered]:
    """Every registration that had been made by a point, those that had ended too, in order."""
    return [
        Registered(name.seq, subject_of(name), name.name, name.tx_to if name.tx_to <= as_of else END_OF_TIME)
        for name in rows.names("attribute")
        if name.seq <= as_of
    ]


def registered_at(trail: Trail, as_of: str | None) -> tuple[Point, list[Registered]]:
    """The point that ``as_of`` names, and what ``registered`` gives at it.

    Raises:
        UsageError, BadTime: see ``trail.points.point``.
    """
    with trail.reading() as rows:
        at = point(trail, rows, as_of)
        return at, registered(rows, at.seq)


def subject_of(registration: Name) -> str:
    """Of a registration, ``ANY`` where it is any; of one that was erased or cannot be read, what no claim is about."""
    said = object_of(registration.facts.encode()).get("subject")
    return said if isinstance(said, str) else UNREADABLE


def one_valued(rows: Reading) -> frozenset[tuple[str, str]]:
    """(subject, attribute) of everything that is registered now; the subject is ``ANY`` where it is any."""
    return frozenset((each.subject, each.attribute) for each in registered(rows) if each.tx_to == END_OF_TIME)


def is_one_valued(known: Collection[tuple[str, str]], subject: str, attribute: str) -> bool:
    """Whether an attribute of a subject has one value at a time, by what ``one_valued`` gave."""
    return bool(subject and attribute) and ((subject, attribute) in known or (ANY, attribute) in known)


class Superseding(NamedTuple):
    """What becomes of a value of a registered attribute."""

    olds: tuple[int, ...]
    """Claims that it takes the place of, in whole or in part."""
    change: bool
    """The world changed: they hold until the new one does. Else they never held where it does."""
    valid: ValidTime
    """When the new one holds, where no claim says the same already."""
    against: tuple[int, ...] = ()
    """Claims of another value that stand beside it: a person's own words, which only the person takes back (ERASE.4)."""
    said_in: int = -1
    """The held claim that says the same of all of that time; -1 where none does, and a new one is to be opened."""


_Held = tuple[ClaimRow, Version]


def superseding(rows: Reading, holder: str, candidate: Candidate, at: Instant) -> Superseding:
    """What a claim about a registered attribute takes the place of in the memory of ``holder``, and of those who are one with
    it now; ``at`` is now.

    It holds as stated, or since it was said; with no end, until the next value begins, so that what is older than a claim
    that stands gets the time until then and takes nothing away, in whatever order the two arrive (TIME.6).
    """
    subject, attribute, value = candidate.about
    held = _held(rows, holder, subject, attribute)
    others = [each for each in held if each[0].value != value]
    said = at if candidate.said_at is None else candidate.said_at
    valid = _placed(rows, candidate.valid, said, others)
    mine = [(row, version) for row, version in held if row.value == value and row.holder == holder]
    left = valid.intervals
    for _, version in mine:
        left = without(left, version.valid)
    if not left:
        begins = valid.intervals[0].start
        said_in = next((row.claim for row, version in mine if covers(version.valid, begins)), mine[0][0].claim)
        return Superseding((), False, valid, (), said_in)
    return _superseding(others, valid._replace(intervals=left), person=candidate.origin == Origin.USER)


def revising(
    rows: Reading, claim: int, value: str, valid: ValidTime, at: Instant, *, change: bool
) -> Superseding | None:
    """What a revision of a held claim takes the place of beside it; None where its attribute is not registered.

    A correction that states no time is one of all the time that the claim has.
    """
    old, version = rows.claim_row(claim), rows.open_version(claim)
    if old is None or version is None or not is_one_valued(one_valued(rows), old.subject, old.attribute):
        return None
    held = _held(rows, old.holder, old.subject, old.attribute)
    others = [each for each in held if each[0].value != value and each[0].claim != claim]
    if valid == UNKNOWN_VALID_TIME and not change:
        valid = valid._replace(intervals=version.valid)
    elif change:
        valid = _placed(rows, valid, at, others)
    found = _superseding(others, valid, person=old.origin == Origin.USER)
    return found._replace(olds=(claim, *found.olds), change=change)


def _superseding(others: list[_Held], valid: ValidTime, *, person: bool) -> Superseding:
    meeting = [(row, version) for row, version in others if _meet(version.valid, valid.intervals)]
    against = tuple(row.claim for row, _ in meeting if row.origin == Origin.USER and not person)
    olds = tuple(row.claim for row, _ in meeting if row.claim not in against)
    since = valid.intervals[0].start
    begun = all(version.valid[0].start < since for row, version in meeting if row.claim in olds)
    return Superseding(olds, _is_open(valid) and begun and since != START_OF_TIME, valid, against)


def _placed(rows: Reading, valid: ValidTime, said: Instant, others: list[_Held]) -> ValidTime:
    """``valid``, since it was said where it states nothing, and up to the next value where it has no end."""
    if valid == UNKNOWN_VALID_TIME:
        valid = valid._replace(intervals=(Interval(said, END_OF_TIME),))
    if not _is_open(valid):
        return valid
    since = valid.intervals[0].start
    later = [moment for each in others for moment in _beginnings(rows, *each) if moment > since]
    return valid._replace(intervals=(Interval(since, min(later, default=END_OF_TIME)),))


def _is_open(valid: ValidTime) -> bool:
    return len(valid.intervals) == 1 and valid.intervals[0].end == END_OF_TIME


def _beginnings(rows: Reading, row: ClaimRow, version: Version) -> list[Instant]:
    """When a claim begins to hold, and when it was said again of a time at which it holds."""
    start = version.valid[0].start
    moments = [_said(rows, row.claim, row.said_at) if start == START_OF_TIME else start]
    again = [touch for touch in rows.touches(row.claim) if touch.kind == EntryKind.RECONFIRMED]
    moments += [_said(rows, touch.seq, touch.said_at) for touch in again]
    return [moment for moment in moments if covers(version.valid, moment)]


def _said(rows: Reading, seq: int, said_at: Instant) -> Instant:
    """When an entry's words were said; when they were appended, where no record says."""
    return next(rows.entries(seq, seq + 1)).at if said_at < 0 else said_at


def _held(rows: Reading, holder: str, subject: str, attribute: str) -> list[_Held]:
    """What is held of an attribute by a holder, or by one who is one with it now; in order of claim."""
    together = same_as(rows, [holder], rows.head().size)
    claims = sorted(row for each in together for row in rows.about(each, subject, attribute))
    return [(row, version) for row in claims if (version := rows.open_version(row.claim)) is not None]


def _meet(one: Collection[Interval], other: Collection[Interval]) -> bool:
    return any(a.start < b.end and b.start < a.end for a in one for b in other)


def differing(rows: Reading, one: Collection[str], other: Collection[str]) -> list[tuple[int, int]]:
    """(older, newer) held claims, the first said before the second, one of each side's holders, that differ about a
    registered attribute of one subject at one time."""
    known = one_valued(rows)
    held = _held_by(rows, {*one, *other}, lambda row: is_one_valued(known, row.subject, row.attribute)) if known else []
    return sorted(
        (first.claim, second.claim)
        for mine in held
        for its in held
        if mine[0].holder in one and its[0].holder in other and _differ(mine, its)
        for first, second in [
            sorted((mine[0], its[0]), key=lambda row: (_said(rows, row.claim, row.said_at), row.claim))
        ]
    )


def _held_by(rows: Reading, holders: Collection[str] | None, wanted: Callable[[ClaimRow], bool]) -> list[_Held]:
    claims = map(ClaimRow._make, rows.rows("claim"))
    mine = [row for row in claims if (holders is None or row.holder in holders) and wanted(row)]
    return [(row, version) for row in mine if (version := rows.open_version(row.claim)) is not None]


def _differ(one: _Held, other: _Held) -> bool:
    """Whether two claims give one attribute of one subject two values at one time."""
    (row, version), (its, then) = one, other
    is_of_one = (row.subject, row.attribute) == (its.subject, its.attribute)
    return is_of_one and row.value != its.value and _meet(version.valid, then.valid)


def _conflicts(rows: Reading, subject: str, attribute: str) -> list[tuple[int, ...]]:
    """Groups of held claims of one holder, or of some who are one now, and of one subject that differ about one time."""
    now = rows.head().size
    held: dict[tuple[str, str], list[_Held]] = {}
    first: dict[str, str] = {}
    for each in _held_by(
        rows, None, lambda row: row.attribute == attribute and bool(row.subject) and subject in (ANY, row.subject)
    ):
        holder = each[0].holder
        if holder not in first:
            first[holder] = min(same_as(rows, [holder], now))
        held.setdefault((first[holder], each[0].subject), []).append(each)
    found = []
    for group in held.values():
        apart = tuple(sorted({one[0].claim for one in group for other in group if _differ(one, other)}))
        if apart:
            found.append(apart)
    return found


def _subject(name: Name) -> str:
    """Of a registration; of one that was erased or cannot be read, what no claim is about."""
    said = object_of(name.facts.encode()).get("subject")
    return said if isinstance(said, str) else "\0"
