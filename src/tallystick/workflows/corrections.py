"""Corrections: what became of claims that past answers cited, told from both logs, and marked in the access log (ACCESS.2).

The two logs are two transactions. What is told of an answer is therefore computed from the memory log, which says what was
closed; a ``corrected`` entry that a stopped process left out is written by whoever looks next.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from tallystick.beliefs import places_of
from tallystick.errors import MachineError
from tallystick.log.strict_json import json_value
from tallystick.model.entry import Entry, EntryKind, LogName
from tallystick.store.protocol import Reading
from tallystick.trail import Appender, Trail
from tallystick.trail.facts import CORRECTED_TO
from tallystick.trail.intact import intact_parts
from tallystick.workflows.contexts import entry_at, given_to, shown_as_of

CORRECTION, CHANGE, RETRACTED, ERASED, UNDONE = "correction", "change", "retracted", "erased", "undone"
KINDS = (CORRECTION, CHANGE, RETRACTED, ERASED, UNDONE)
"""How a claim stopped being what an answer cited."""
_CLOSING = frozenset({EntryKind.REVISED, EntryKind.RETRACTED, EntryKind.UNDONE, EntryKind.ERASED})
_NOTED_EACH = 5000
"""Entries of the memory log that may be looked at again, rather than write down each time how far one came."""


class Correction(NamedTuple):
    """That a claim is not what it was when an answer was shown it."""

    claim: int
    seq: int
    """The entry of the memory log that says so."""
    kind: str
    """One of ``KINDS``."""
    by: int
    """The claim that stands instead; -1 where none does."""
    because: str | None
    """None where no reason was given, or it was erased."""


class Mark(NamedTuple):
    """One ``corrected`` entry: a step of the memory log, and the answers and claims that it concerns."""

    seq: int
    """Of the entry in the memory log."""
    kind: str
    answers: tuple[int, ...]
    claims: tuple[int, ...]


def corrections(rows: Reading, claim: int, after: int, upto: int) -> list[Correction]:
    """What closed or narrowed a claim after the point ``after``, up to ``upto``, and has not been taken back since.

    ``rows`` are the memory log's. In order of seq.
    """
    touches = [touch for touch in rows.touches(claim) if touch.kind in _CLOSING and touch.seq <= upto]
    if not touches or touches[-1].seq <= after:
        return []
    closed = {version.tx_to for version in rows.versions(claim)}
    standing: dict[int, Correction] = {}
    for touch in touches:
        entry = entry_at(rows, touch.seq)
        if entry is None:
            continue
        taken_back = entry.refs[0] if touch.kind == EntryKind.UNDONE else -1
        if taken_back in standing:
            del standing[taken_back]
            continue
        if touch.seq in closed or (touch.kind == EntryKind.ERASED and _erases_words(rows, touch.seq, claim)):
            standing[touch.seq] = _correction(rows, claim, entry)
    return [each for seq, each in standing.items() if seq > after]


def _erases_words(rows: Reading, seq: int, claim: int) -> bool:
    """Whether an ``erased`` entry took the words of a claim, and not a verdict alone, which corrects nothing."""
    return "text" in places_of(intact_parts(rows, seq)).parts.get(claim, ())


def _correction(rows: Reading, claim: int, entry: Entry) -> Correction:
    names = {name for name, _ in entry.parts}
    kind, by = str(entry.kind), -1
    if entry.kind == EntryKind.REVISED:
        kind = CHANGE if "change" in names else CORRECTION
        by = entry.refs[-1] if "into" in names else entry.seq
    because = intact_parts(rows, entry.seq).get("because")
    return Correction(claim, entry.seq, kind, by, None if because is None else because.decode("utf-8", "replace"))


def mark(appender: Appender, made: Mark) -> int:
    """Append a ``corrected`` entry to the access log and return its seq."""
    by = json.dumps({"kind": made.kind, "seq": made.seq}).encode()
    return appender.add(EntryKind.CORRECTED, {"by": by}, refs=made.answers, xrefs=[(LogName.MEMORY, made.claims)])


def marks_for(answers: Iterable[tuple[int, Correction]]) -> list[Mark]:
    """One mark for each step of the memory log, from (answer, correction), in order of seq."""
    steps: defaultdict[int, list[tuple[int, Correction]]] = defaultdict(list)
    for answer, correction in answers:
        steps[correction.seq].append((answer, correction))
    return [
        Mark(
            seq,
            of_step[0][1].kind,
            tuple(sorted({answer for answer, _ in of_step})),
            tuple(sorted({correction.claim for _, correction in of_step})),
        )
        for seq, of_step in sorted(steps.items())
    ]


def mark_corrected(trail: Trail) -> list[Mark]:
    """Mark every past answer that cited what was corrected since, and was not marked yet; gives the marks that were made.

    Whoever closes claims calls this when that is committed. Again, it adds nothing. A log that cannot be written now is no
    failure of the caller's: it is noted, and the marks are made the next time.
    """
    try:
        due, is_far = _look(trail)
    except MachineError as error:
        trail.notices.append(f"whether answers cited what was corrected cannot be told: {error}")
        return []
    if not due and not is_far:
        return []
    try:
        return _mark_due(trail)
    except MachineError as error:
        if due:
            trail.notices.append(f"answers that cited what was corrected are not marked yet: {error}")
        return []


def affected_by(trail: Trail, seq: int) -> tuple[int, ...]:
    """The answers that cited what entry ``seq`` of the memory log corrected, in order.

    None where the access log cannot be read: that is ``mark_corrected``'s to note, and no failure of who corrected.
    """
    try:
        with trail.reading(LogName.ACCESS) as shown, trail.reading() as rows:
            upto = rows.head().size - 1
            claims = _concerned(rows, seq)
            found = {a for claim in claims for a, each in _cited(rows, shown, claim, upto) if each.seq == seq}
    except MachineError:
        return ()
    return tuple(sorted(found))


def affected_answers(trail: Trail, claim: int) -> tuple[int, ...]:
    """The answers that cited a claim which is not what it was when they were shown it, in order."""
    with trail.reading(LogName.ACCESS) as shown, trail.reading() as rows:
        return tuple(sorted({answer for answer, _ in _cited(rows, shown, claim, rows.head().size - 1)}))


def _look(trail: Trail) -> tuple[list[Mark], bool]:
    """(what is to be marked, whether one came so far that it should be written down)."""
    if not trail.id:
        return [], False
    with trail.reading(LogName.ACCESS) as shown:
        if not shown.head().size:
            return [], False
        with trail.reading() as rows:
            looked = _looked_to(shown, rows)
            return _unmarked(rows, shown, looked), rows.head().size - 1 - looked > _NOTED_EACH


def _mark_due(trail: Trail) -> list[Mark]:
    """Look again with the right to write, so that nobody else marks the same meanwhile."""
    with trail.writing(LogName.ACCESS) as appender, trail.reading() as rows:
        made = _unmarked(rows, appender.rows, _looked_to(appender.rows, rows))
        for each in made:
            mark(appender, each)
        appender.rows.set_meta(CORRECTED_TO, str(rows.head().size - 1))
    if made:
        trail.seal(LogName.ACCESS)
    return made


def _looked_to(shown: Reading, rows: Reading) -> int:
    noted = shown.meta(CORRECTED_TO)
    looked = int(noted) if noted.isascii() and noted.isdecimal() and len(noted) < 17 else -1
    return looked if looked < rows.head().size else -1  # Else an older copy of the memory log was put back since.


def _unmarked(rows: Reading, shown: Reading, looked: int) -> list[Mark]:
    """The marks that are due to entries of the memory log after ``looked``."""
    kinds = [f'"kind":"{kind}"'.encode() for kind in _CLOSING]
    claims: set[int] = set()
    for row in rows.entries(looked + 1):
        # Canonical bytes have one form, and no string that could hold this: most entries need not be decoded.
        if any(kind in row.canon for kind in kinds):
            claims |= _concerned(rows, row.seq)
    newest = rows.head().size - 1
    return marks_for(
        (answer, correction) for claim in sorted(claims) for answer, correction in _due(rows, shown, claim, newest)
    )


def _concerned(rows: Reading, seq: int) -> set[int]:
    """The claims that an entry of the memory log opened, closed or erased; what is erased may be held no more already."""
    entry = entry_at(rows, seq)
    erased = entry.refs if entry is not None and entry.kind == EntryKind.ERASED else ()
    return {*erased, *(version.claim for version in rows.versions_changed(seq))}


def _due(rows: Reading, shown: Reading, claim: int, newest: int) -> list[tuple[int, Correction]]:
    """(answer, correction) of everything that is to be marked of one claim, and is not."""
    found = _cited(rows, shown, claim, newest)
    marks = [touch.seq for touch in shown.touches(claim) if touch.kind == EntryKind.CORRECTED] if found else []
    marked = {each for seq in marks for each in _marked_by(shown, seq)}
    return [(answer, each) for answer, each in found if (answer, each.seq) not in marked]


def _cited(rows: Reading, shown: Reading, claim: int, newest: int) -> list[tuple[int, Correction]]:
    """(answer, correction) of everything that became of one claim since the answers that cite it were shown it."""
    answers = [touch.seq for touch in shown.touches(claim) if touch.kind == EntryKind.CITED]
    found = corrections(rows, claim, -1, newest) if answers else []
    return [
        (answer, each)
        for answer in (answers if found else ())
        for since in [_shown_as_of(shown, answer, claim)]
        for each in found
        if each.seq > since
    ]


def _shown_as_of(shown: Reading, answer: int, claim: int) -> int:
    entry = entry_at(shown, answer)
    return shown_as_of(given_to(shown, entry), claim) if entry is not None else -1


def _marked_by(shown: Reading, seq: int) -> list[tuple[int, int]]:
    """(answer, entry of the memory log) of each answer that a ``corrected`` entry marks."""
    entry = entry_at(shown, seq)
    if entry is None:
        return []
    try:
        by = json_value(intact_parts(shown, seq).get("by", b""))["seq"]
    except (ValueError, KeyError, TypeError):
        return []
    return [(answer, by) for answer in entry.refs]
