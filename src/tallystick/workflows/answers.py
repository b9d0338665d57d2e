"""Answers: what was answered, from which claims, and what has become of those since (ACCESS.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tallystick.errors import UnknownId
from tallystick.model.entry import Entry, EntryKind, LogName
from tallystick.store.protocol import Reading
from tallystick.trail import Trail
from tallystick.trail.points import Point
from tallystick.workflows.contexts import (
    Shown,
    answered_at,
    claims_in,
    entry_at,
    given_to,
    moment,
    shown_as_of,
    text_of,
)
from tallystick.workflows.corrections import Correction, corrections, mark_corrected
from tallystick.workflows.scoping import Scope, holders

_CITED = f'"kind":"{EntryKind.CITED}"'.encode()
"""As it stands in the canonical bytes of an answer's entry, and of no other's."""


class Answer(NamedTuple):
    """One answer as it stands at a point."""

    seq: int
    """``a12``: its entry in the access log."""
    at: int
    claims: tuple[int, ...]
    """What it cites."""
    shown: tuple[int, ...]
    """Numbers of the recalls and briefings it answers from."""
    text: str | None
    """None where no words were kept, or they were erased."""
    corrected: tuple[Correction, ...]
    """What became of its claims since it was shown them, by the point; in order of claim, then seq."""


class Answers(NamedTuple):
    """A page of answers."""

    point: Point
    items: tuple[Answer, ...]
    more: bool


def answers(
    trail: Trail,
    scope: Scope,
    *,
    as_of: str | None,
    cited: int | None = None,
    affected: bool = False,
    after: int = -1,
    limit: int = 100,
) -> Answers:
    """The answers that were given before a point, in order, and what had become of their claims at it.

    ``cited`` narrows to those that cite a claim, ``affected`` to those of which a claim was corrected since; ``after`` is the
    last of the page before. An answer is in scope when every claim that it cites is; one that cites none, when all that it
    ignored are. Asked about a claim by its id, and for nobody in particular, every answer counts.

    Raises:
        UnknownId: no such claim at the point.
        UsageError, BadTime: see ``trail.points.point`` and ``scoping.holders``.
    """
    found: list[Answer] = []
    with trail.reading(LogName.ACCESS) as shown, trail.reading() as rows:
        when = moment(trail, rows, as_of)
        asked = None if cited is not None and not scope.asked else holders(rows, scope, when.point.seq)
        if cited is not None and (rows.claim_row(cited) is None or cited > when.point.seq):
            raise UnknownId(f"c{cited}: no such claim; `tally replay` lists what is believed")
        for entry in _entries(shown, cited, after):
            if not when.follows(entry.at, answered_at(shown, entry)):
                continue
            given = given_to(shown, entry)
            if not _in_scope(entry, given, rows, asked):
                continue
            answer = _answer(entry, given, shown, rows, when.point.seq)
            if answer.corrected or not affected:
                found.append(answer)
            if len(found) > limit:
                break
    if as_of is None:
        mark_corrected(trail)
    return Answers(when.point, tuple(found[:limit]), len(found) > limit)


def _entries(shown: Reading, cited: int | None, after: int) -> Iterator[Entry]:
    """The ``cited`` entries after ``after``, in order; with ``cited`` those that cite this claim."""
    if cited is None:
        seqs = (row.seq for row in shown.entries(after + 1) if _CITED in row.canon)
    else:
        seqs = (each.seq for each in shown.touches(cited) if each.kind == EntryKind.CITED and each.seq > after)
    for seq in seqs:
        entry = entry_at(shown, seq)
        if entry is not None:
            yield entry


def _in_scope(entry: Entry, given: Sequence[Shown], rows: Reading, asked: tuple[str, ...] | None) -> bool:
    if asked is None:
        return True
    claims = claims_in(entry) or [claim for each in given for claim in each.claims]
    return all((row := rows.claim_row(claim)) is not None and row.holder in asked for claim in claims)


def _answer(entry: Entry, given: Sequence[Shown], shown: Reading, rows: Reading, upto: int) -> Answer:
    claims = claims_in(entry)
    found = [each for claim in claims for each in corrections(rows, claim, shown_as_of(given, claim), upto)]
    numbers = tuple(each.number for each in given)
    return Answer(entry.seq, entry.at, claims, numbers, text_of(shown, entry.seq), tuple(found))
