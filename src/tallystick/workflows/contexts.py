"""Contexts: the exact bytes that a recall or a briefing showed, kept before they are shown, and given back (ACCESS.3)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from tallystick.beliefs import object_of
from tallystick.errors import CanonicalError, TrailUnreadable, UnknownId
from tallystick.log.canonical import entry_from_bytes
from tallystick.model.entry import FORMAT, Entry, EntryKind, LogName
from tallystick.store.protocol import Reading
from tallystick.trail import Appender, Trail
from tallystick.trail.intact import intact_parts
from tallystick.trail.points import Point, named_instant, point

ERASED, NOT_KEPT = "erased", "not kept"
"""Why the bytes of a context are not there: taken out since, or shown by a version that kept none."""


class Shown(NamedTuple):
    """What one recall or briefing showed, as its ``surfaced`` entry says."""

    seq: int
    """Of that entry, in the access log."""
    number: int
    """``r5``: the recall's own entry; of a briefing ``seq``."""
    at: int
    claims: tuple[int, ...]
    as_of: int
    """The point of the memory log that it was asked as of; -1 where that is not known."""
    newest: int
    """The newest entry of the memory log when it was shown; -1 where that is not known."""


class Context(NamedTuple):
    """The bytes of one showing."""

    number: int
    at: int
    body: bytes | None
    gone: str
    """Empty, or one of ``ERASED`` and ``NOT_KEPT``."""


class Given(NamedTuple):
    """What an answer was given, in the order of time; of a recall or a briefing, its own context."""

    id: str
    text: str | None
    """The answer's own words; None where none were kept, or they were erased."""
    contexts: tuple[Context, ...]


class Moment(NamedTuple):
    """A point of the memory log, for questions to the access log."""

    point: Point
    asked: bool
    """Whether a point was named; else everything up to now counts."""
    instant: int | None
    """Microseconds UTC, where an instant was named."""

    def follows(self, at: int, newest: int) -> bool:
        """Whether what was logged at ``at``, with ``newest`` the newest entry of the memory log, came before this moment.

        As of a seq, that is before that entry was appended; as of an instant, before the instant. Nothing that is logged
        later comes before a moment that is past, so asking again gives the same answer (TIME.3).
        """
        if not self.asked or newest < self.point.seq:
            return True
        return self.instant is not None and newest == self.point.seq and at < self.instant


def moment(trail: Trail, rows: Reading, as_of: str | None) -> Moment:
    """The moment that ``as_of`` names; ``rows`` are the memory log's.

    Raises:
        UsageError, BadTime: see ``trail.points.point``.
    """
    return Moment(point(trail, rows, as_of), as_of is not None, named_instant(as_of))


def exactly(text: str) -> str:
    """A text as UTF-8 can hold it, so that what is kept of it and what is printed are the same bytes."""
    return text.encode("utf-8", "replace").decode()


def surface(
    appender: Appender, text: str, at: Point, newest: int, claims: Sequence[int], refs: Sequence[int] = ()
) -> int:
    """Log that ``text`` is about to be shown, and return the entry's seq; ``refs`` names the recall that asked for it."""
    parts = {"context": text.encode(), "point": json.dumps({"as_of": at.seq, "newest": newest}).encode()}
    xrefs = [(LogName.MEMORY, tuple(claims))] if claims else []
    return appender.add(EntryKind.SURFACED, parts, refs=refs, xrefs=xrefs)


def entry_at(rows: Reading, seq: int) -> Entry | None:
    """The entry, where there is one of a format that this version reads.

    Raises:
        TrailUnreadable: it is damaged.
    """
    for row in rows.entries(seq, seq + 1):
        try:
            entry = entry_from_bytes(row.canon)
        except CanonicalError as error:
            raise TrailUnreadable(f"entry {seq} is damaged ({error}); run `tally verify`") from None
        return entry if entry.v <= FORMAT else None
    return None


def claims_in(entry: Entry) -> tuple[int, ...]:
    """The claims of the memory log that an entry of the access log names."""
    return dict(entry.xrefs).get(LogName.MEMORY, ())


def shown_by(rows: Reading, seq: int) -> Shown | None:
    """What the ``surfaced`` entry ``seq`` showed; None where that entry is none.

    Raises:
        TrailUnreadable: the entry or a part of it is not what was committed to.
    """
    entry = entry_at(rows, seq)
    if entry is None or entry.kind != EntryKind.SURFACED:
        return None
    said = object_of(intact_parts(rows, seq).get("point", b""))
    number = entry.refs[0] if entry.refs else seq
    as_of = _number(said, "as_of")
    if as_of < 0 and entry.refs:  # A recall of an earlier version says it with its pool alone.
        as_of = _number(object_of(intact_parts(rows, number).get("pool", b"")), "as_of")
    newest = _number(said, "newest")
    return Shown(seq, number, entry.at, claims_in(entry), as_of, newest if newest >= 0 else as_of)


def shown_as(rows: Reading, number: int) -> Shown | None:
    """What the recall or briefing ``r<number>`` showed; None where it is neither, or showed nothing that was logged."""
    entry = entry_at(rows, number)
    if entry is None or (entry.kind == EntryKind.SURFACED and entry.refs):
        return None
    if entry.kind != EntryKind.RECALLED:
        return shown_by(rows, number)
    found = shown_by(rows, number + 1)  # The two are written together.
    return found if found and found.number == number else None


def answered_at(rows: Reading, entry: Entry) -> int:
    """The newest entry of the memory log when the answer of a ``cited`` entry was given; -1 where that is not known."""
    return _number(object_of(intact_parts(rows, entry.seq).get("point", b"")), "as_of")


def given_to(rows: Reading, answer: Entry) -> list[Shown]:
    """What was shown to the answer of a ``cited`` entry, in the order of time."""
    return [found for seq in answer.refs if (found := shown_by(rows, seq))]


def shown_as_of(given: Sequence[Shown], claim: int) -> int:
    """The latest point as of which a claim was shown; -1 where none of these showed it."""
    return max((each.as_of for each in given if claim in each.claims), default=-1)


def contexts(trail: Trail, id: str, as_of: str | None) -> Given:  # noqa: A002  # the contract's word for it
    """The context that an answer (``a12``), a recall or a briefing (``r5``) was given or gave, byte for byte.

    Raises:
        UnknownId: there is none by that name before the point.
        TrailUnreadable: what is kept is not what was committed to.
        UsageError, BadTime: see ``trail.points.point``.
    """
    letter, number = id[:1], int(id[1:])
    with trail.reading() as memory:
        when = moment(trail, memory, as_of)
    with trail.reading(LogName.ACCESS) as rows:
        entry = entry_at(rows, number)
        if letter == "a":
            if entry is None or entry.kind != EntryKind.CITED or not when.follows(entry.at, answered_at(rows, entry)):
                raise UnknownId(f"{id}: no such answer; `tally answers` lists them")
            kept = tuple(_context(rows, seq) for seq in entry.refs)
            return Given(id, text_of(rows, number), kept)
        found = shown_as(rows, number)
        if found is None and entry is not None and entry.kind == EntryKind.RECALLED and not when.asked:
            return Given(id, None, (Context(number, entry.at, None, NOT_KEPT),))
        if found is None or not when.follows(found.at, found.newest):
            raise UnknownId(f"{id}: no such recall or briefing; `tally why` names those that showed a claim")
        return Given(id, None, (_context(rows, found.seq),))


def text_of(rows: Reading, answer: int) -> str | None:
    """The words of an answer; None where none were kept, or they were erased."""
    body = intact_parts(rows, answer).get("answer")
    return None if body is None else body.decode("utf-8", "replace")


def _context(rows: Reading, seq: int) -> Context:
    entry = entry_at(rows, seq)
    if entry is None:
        return Context(seq, 0, None, NOT_KEPT)
    body = intact_parts(rows, seq).get("context")
    number = entry.refs[0] if entry.refs else seq
    if body is not None:
        return Context(number, entry.at, body, "")
    return Context(number, entry.at, None, ERASED if any(name == "context" for name, _ in entry.parts) else NOT_KEPT)


def _number(said: dict[str, Any], name: str) -> int:
    value = said.get(name, -1)
    return value if type(value) is int else -1
