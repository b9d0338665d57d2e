"""Cite: an answer bound to the claims it used, and to the recalls and briefings that showed them (ACCESS.2)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from tallystick.errors import UnknownId, UsageError
from tallystick.model.entry import EntryKind, LogName
from tallystick.store.protocol import Reading
from tallystick.trail import Trail
from tallystick.workflows.contexts import Shown, shown_as, shown_by
from tallystick.workflows.corrections import Correction, corrections, mark, marks_for
from tallystick.workflows.typed import fit

MOST_BYTES = 1_000_000
"""Of an answer's text."""


class Cited(NamedTuple):
    """An answer as it was kept."""

    answer: int
    """``a12``: the entry of the access log that binds it."""
    claims: tuple[int, ...]
    """What it used, ascending."""
    ignored: tuple[int, ...]
    """What it was shown and did not use, ascending."""
    shown: tuple[int, ...]
    """The recalls and briefings it answers from, in order."""
    corrected: tuple[Correction, ...]
    """What became of its claims between the showing and the answer."""


def cite(trail: Trail, text: str | None, claims: Sequence[int], shown: Sequence[int]) -> Cited:
    """Keep that an answer used these claims, all of which the recalls and briefings ``shown`` (their numbers) showed it.

    Without ``shown`` it answers from the newest one that showed all of the claims. Without claims it used nothing of what it
    was shown.

    Raises:
        UsageError, UnknownId: no such recall or briefing, a claim that it did not show, or an answer of more than
            ``MOST_BYTES``; nothing is kept.
        MachineError: the access log cannot be written.
    """
    kept = _fit(text)
    wanted = tuple(sorted(set(claims)))
    if not wanted and not shown:
        raise UsageError("name what the answer used with --claims, or what it was shown with --recall")
    with trail.reading(LogName.ACCESS) as rows:
        given = _named(rows, shown) if shown else [_newest(rows, wanted)]
    points = {claim: max(each.as_of for each in given if claim in each.claims) for claim in _claims(given)}
    if missing := [claim for claim in wanted if claim not in points]:
        numbers = " and ".join(f"r{each.number}" for each in given)
        raise UsageError(f"{_listed(missing)} was not shown by {numbers}, so no answer from there can cite it")
    ignored = tuple(claim for claim in sorted(points) if claim not in wanted)
    with trail.writing(LogName.ACCESS) as appender:
        with trail.reading() as memory:
            newest = memory.head().size - 1
            since = [each for claim in wanted for each in corrections(memory, claim, points[claim], newest)]
        parts = {"point": json.dumps({"as_of": newest}).encode()}
        if kept is not None:
            parts["answer"] = kept.encode()
        answer = appender.add(EntryKind.CITED, parts, refs=[each.seq for each in given], xrefs=_of_memory(wanted))
        if ignored:
            appender.add(EntryKind.IGNORED, refs=[answer], xrefs=_of_memory(ignored))
        for each in marks_for((answer, correction) for correction in since):
            mark(appender, each)
    trail.seal(LogName.ACCESS)
    return Cited(answer, wanted, ignored, tuple(each.number for each in given), tuple(since))


def _fit(text: str | None) -> str | None:
    if text is None:
        return None
    if not text.strip():
        raise UsageError("the answer is empty; leave it out, or give its words")
    if len(text.encode("utf-8", "replace")) > MOST_BYTES:
        raise UsageError(f"the answer has more than {MOST_BYTES:,} bytes; give the part that rests on the claims")
    return fit(text)


def _named(rows: Reading, numbers: Sequence[int]) -> list[Shown]:
    """What each of the numbers showed, once each, in the order of time."""
    found: dict[int, Shown] = {}
    for number in numbers:
        shown = shown_as(rows, number)
        if shown is None:
            raise UnknownId(f"r{number}: no recall or briefing of that number showed anything")
        found[shown.seq] = shown
    return [found[seq] for seq in sorted(found)]


def _newest(rows: Reading, claims: Sequence[int]) -> Shown:
    """The newest that showed all of the claims."""
    seqs: set[int] = set()
    for n, claim in enumerate(claims):
        mine = {touch.seq for touch in rows.touches(claim) if touch.kind == EntryKind.SURFACED}
        if not mine:
            raise UsageError(
                f"c{claim} was never shown, so no answer can cite it; `tally recall` shows what is believed"
            )
        seqs = mine if not n else seqs & mine
    shown = shown_by(rows, max(seqs)) if seqs else None
    if shown is None:
        raise UsageError(f"nothing showed {_listed(claims)} together; name what did with --recall, once for each")
    return shown


def _claims(given: Sequence[Shown]) -> set[int]:
    return {claim for each in given for claim in each.claims}


def _of_memory(claims: Sequence[int]) -> list[tuple[str, tuple[int, ...]]]:
    return [(LogName.MEMORY, tuple(claims))] if claims else []


def _listed(claims: Sequence[int]) -> str:
    named = [f"c{claim}" for claim in claims[:8]]
    return " and ".join(named) + (f" and {len(claims) - 8} more" if len(claims) > 8 else "")
