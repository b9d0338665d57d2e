"""Amending: revise, retract and undo, which close or narrow what is believed and change no entry (TIME.5, 8, 9, ERASE.4)."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from tallystick.beliefs import Link, facets_of
from tallystick.briefing import shown
from tallystick.errors import NeedsPersonsKey, UndoRefused, UnknownId, UsageError
from tallystick.log.canonical import entry_from_bytes
from tallystick.model.entry import Entry, EntryKind
from tallystick.model.evidence import Origin
from tallystick.model.temporal import END_OF_TIME, UNKNOWN_VALID_TIME, ValidTime
from tallystick.store.protocol import Reading
from tallystick.trail import Appender, Trail
from tallystick.trail.erased import has_tombstones
from tallystick.workflows.attributes import revising
from tallystick.workflows.corrections import affected_by, mark_corrected
from tallystick.workflows.identities import parted_links
from tallystick.workflows.reconciling import FORGOTTEN, keys_of, text_key
from tallystick.workflows.tombstones import Tombstones
from tallystick.workflows.typed import fit
from tallystick.workflows.valid_times import valid_part

COMES_WITH_THE_GATE = "the person's key comes with the gate, which this version does not have yet"
_UNDOABLE = frozenset({EntryKind.ASSERTED, EntryKind.REVISED, EntryKind.RETRACTED, EntryKind.UNDONE})
_ENDED = frozenset({EntryKind.LINKED, EntryKind.INTRODUCED})
"""Of these an undo ends what they made: links, joined holders, registered attributes."""


class Amended(NamedTuple):
    """What was done: the claim that stands now (of an undo that leaves none, the one that was closed), what was
    closed, and the entry's seq."""

    id: int
    closes: tuple[int, ...]
    seq: int
    note: str = ""
    parted: bool = False
    """No claim was touched: a link, an identity or a registration ended, or a judgement was taken back."""
    affected: tuple[int, ...] = ()
    """Past answers that cited what was closed, marked ``corrected`` (ACCESS.2)."""


def merge(trail: Trail, claim: int, into: int, because: str) -> Amended:
    """Correct a claim into another that is held and says it right: that one stands, with the evidence of both (case 16).

    Raises:
        UnknownId, UsageError: no such claim, one of them is not held, or they are the same or stand in two memories.
        NeedsPersonsKey: a person said or approved the first.
    """
    if not because.strip():
        raise UsageError("a revision needs --because")
    with trail.writing() as appender:
        rows = appender.rows
        for each in (claim, into):
            _held_facets(rows, each)
        _refuse_personal(rows, claim)
        old, new = rows.claim_row(claim), rows.claim_row(into)
        if claim == into:
            raise UsageError(f"c{claim} cannot be revised into itself")
        if old is None or new is None or old.holder != new.holder:
            raise UsageError(f"c{claim} and c{into} stand in two memories; retract the one that is wrong")
        parts = {"because": fit(because).encode(), "into": b"{}"}
        seq = appender.add(EntryKind.REVISED, parts, refs=[claim, into], holder=new.holder)
    return _sealed(trail, Amended(into, (claim,), seq))


def revise(
    trail: Trail,
    claim: int,
    text: str,
    because: str,
    *,
    change: bool,
    valid: ValidTime,
    count_tokens: Callable[[str], int],
    value: str = "",
) -> Amended:
    """Replace a claim: as a correction ("it was never so"), or with ``change`` ("it is different since").

    ``value`` is the new one of a claim that is about one attribute of one thing; the text, where it is not given. Where that
    attribute is registered, other values give way to it as well.

    Raises:
        UnknownId, UsageError: no such claim, or it is not held any more; the message says since when and why.
        NeedsPersonsKey: a person said or approved it.
        UsageError: the new words were forgotten.
    """
    if not text.strip() or not because.strip():
        raise UsageError("a revision needs the new text and --because")
    text = fit(text)
    with trail.writing() as appender:
        rows = appender.rows
        facets = _held_facets(rows, claim)
        _refuse_personal(rows, claim)
        _refuse_forgotten(trail, rows, claim, text)
        new: dict[str, object] = {
            **{name: facets[name] for name in ("kind", "subject", "attribute") if name in facets},
            "by": "revise",
            "event": "",
            "origin": Origin.ASSISTANT,
            "said_at": appender.at,
            "session": -1,
            "tokens": count_tokens(shown(text)),
        }
        if "subject" in facets and "attribute" in facets:
            new["value"] = fit(value) or text
        elif value:
            raise UsageError(f"c{claim} is about no attribute of one thing, so there is no value to state")
        parts = {
            "text": text.encode(),
            "facets": json.dumps(new, sort_keys=True).encode(),
            "because": fit(because).encode(),
        }
        if change:
            parts["change"] = b"{}"
        place = revising(rows, claim, str(new.get("value", "")), valid, appender.at, change=change)
        if place is not None:
            valid = place.valid
        if valid != UNKNOWN_VALID_TIME:
            parts["valid"] = valid_part(valid)
        olds = (claim,) if place is None else place.olds
        holder = next(entry_from_bytes(row.canon).holder for row in rows.entries(claim, claim + 1))
        seq = appender.add(EntryKind.REVISED, parts, refs=olds, holder=holder)
        appender.rows.file(keys_of(appender.rows, lambda data: trail.outside.digest(trail.id, data), seq, holder))
        for other in () if place is None else place.against:
            appender.add(EntryKind.LINKED, {"contradicts": b"{}"}, refs=[seq, other])
    return _sealed(trail, Amended(seq, olds, seq))


def retract(trail: Trail, claim: int, because: str) -> Amended:
    """Stop holding a claim; reopens nothing. A second time says so and adds nothing.

    Raises:
        UnknownId: no such claim. NeedsPersonsKey: a person said or approved it.
    """
    if not because.strip():
        raise UsageError("a retraction needs --because")
    with trail.writing() as appender:
        rows = appender.rows
        if rows.claim_row(claim) is None:
            raise UnknownId(f"c{claim}: no such claim; `tally replay` lists what is believed")
        if rows.open_version(claim) is None:
            note = f"c{claim} is not held already ({_closing(rows, claim)}); nothing was added"
            done = Amended(claim, (), _closed_by(rows, claim), note)
        else:
            _refuse_personal(rows, claim)
            seq = appender.add(EntryKind.RETRACTED, {"because": fit(because).encode()}, refs=[claim])
            done = Amended(claim, (claim,), seq)
    return _sealed(trail, done)


def undo(trail: Trail, seq: int, because: str) -> Amended:
    """Take back one entry's effect from now on, reopening what it closed.

    Raises:
        UnknownId: no such entry. UsageError: it is of a kind that has nothing to take back, or changed nothing.
        UndoRefused: later entries touched the same claims; the message names them.
        NeedsPersonsKey: a person said or approved one of the claims.
    """
    if not because.strip():
        raise UsageError("an undo needs --because")
    with trail.writing() as appender:
        rows = appender.rows
        found = [entry_from_bytes(row.canon) for row in rows.entries(seq, seq + 1)]
        if not found:
            raise UnknownId(f"{seq}: no such entry; the newest is {rows.head().size - 1}")
        if found[0].kind == EntryKind.JUDGED:
            done = _undo_judged(appender, found[0], because)
        elif found[0].kind in _ENDED:
            done = _undo_made(appender, found[0], because)
        elif found[0].kind in _UNDOABLE:
            done = _undo_held(appender, seq, because)
        else:
            takes = ", ".join(sorted({*_UNDOABLE, EntryKind.JUDGED, EntryKind.LINKED}))
            raise UsageError(
                f"entry {seq} is {found[0].kind!r}, which has nothing to take back; undo takes {takes} and registrations"
            )
    return _sealed(trail, done)


def _sealed(trail: Trail, done: Amended) -> Amended:
    """What follows when it is committed: a checkpoint, and the answers that it corrects marked as that."""
    trail.seal()
    mark_corrected(trail)
    return done._replace(affected=affected_by(trail, done.seq))


def _undo_held(appender: Appender, seq: int, because: str) -> Amended:
    """What the entry opened is closed, and what it closed is open again."""
    rows = appender.rows
    claims = sorted({version.claim for version in rows.versions_changed(seq)})
    if not claims:
        raise UsageError(f"entry {seq} changed nothing that is believed: nothing to take back")
    later = sorted(
        {(touch.seq, touch.kind, claim) for claim in claims for touch in rows.touches(claim) if touch.seq > seq}
    )
    if later:
        named = ", ".join(f"{each} ({kind} c{claim})" for each, kind, claim in later[:8])
        raise UndoRefused(
            f"entry {seq} cannot be undone: later entries touched the same claims: {named}; undo those first"
        )
    for claim in claims:
        _refuse_personal(rows, claim)
    made = appender.add(EntryKind.UNDONE, {"because": fit(because).encode()}, refs=[seq])
    closed = tuple(claim for claim in claims if appender.rows.open_version(claim) is None)
    stands = next((claim for claim in claims if claim not in closed), claims[0])
    return Amended(stands, closed, made)


def _undo_judged(appender: Appender, judged: Entry, because: str) -> Amended:
    """Each claim that was judged there has its verdicts of before again."""
    rows = appender.rows
    later = sorted(
        {
            (row.seq, claim)
            for claim in judged.refs
            for row in rows.verdicts(claim)
            if row.seq > judged.seq
            and any(row.axis == mine.axis for mine in rows.verdicts(claim) if mine.seq == judged.seq)
        }
    )
    if later:
        named = ", ".join(f"{seq} (c{claim})" for seq, claim in later[:8])
        raise UndoRefused(f"entry {judged.seq} cannot be undone: later verdicts stand on the same claims: {named}")
    claims = sorted(set(judged.refs))
    seq = appender.add(EntryKind.UNDONE, {"because": fit(because).encode()}, refs=[judged.seq, *claims])
    return Amended(claims[0] if claims else judged.seq, (), seq, parted=True)


def _undo_made(appender: Appender, made: Entry, because: str) -> Amended:
    """What the entry made ends: a link, two holders that were one, an attribute that was registered.

    With holders that are parted, the links that say that a claim of one contradicts one of the other end too.
    """
    found = appender.rows.made(made.seq)
    if not found:
        raise UsageError(f"entry {made.seq} is {made.kind!r}, and made nothing that could end: nothing to take back")
    ended = [row.tx_to for row in found if row.tx_to != END_OF_TIME]
    if ended:
        note = f"what entry {made.seq} made has ended already, at {ended[0]}; nothing was added"
        return Amended(made.seq, (), ended[0], note, parted=True)
    parts = {"because": fit(because).encode()}
    seq = appender.add(EntryKind.UNDONE, parts, refs=[made.seq])
    if any(isinstance(row, Link) and row.kind == "same_as" for row in found):
        for link in parted_links(appender.rows, seq):
            appender.add(EntryKind.UNDONE, parts, refs=[link])
    return Amended(made.seq, (), seq, parted=True)


def _held_facets(rows: Reading, claim: int) -> dict[str, object]:
    if rows.claim_row(claim) is None:
        raise UnknownId(f"c{claim}: no such claim; `tally replay` lists what is believed")
    if rows.open_version(claim) is None:
        raise UsageError(f"c{claim} is not held any more ({_closing(rows, claim)}); revise what replaced it")
    facets = facets_of({part.name: part.body for part in rows.parts(claim)})
    return {name: value for name, value in facets._asdict().items() if value != ""}


def _refuse_forgotten(trail: Trail, rows: Reading, claim: int, text: str) -> None:
    """What was forgotten does not come back as the correction of something else (ERASE.3)."""
    digest = partial(trail.outside.digest, trail.id)
    row = rows.claim_row(claim)
    if row is None or not has_tombstones(rows):
        return
    same = rows.same(digest(text_key(row.holder, row.kind, text)))
    tombstones = Tombstones(rows, digest)
    name = next((each.name for each in rows.names("holder") if each.id == row.holder), "")
    by_name = same is None and tombstones.claim(name, row.kind, text, ()) >= 0
    if tombstones.has_text(text) or by_name or (same is not None and rows.text(same) is None):
        raise UsageError(FORGOTTEN)


def _refuse_personal(rows: Reading, claim: int) -> None:
    row = rows.claim_row(claim)
    if row is not None and row.origin == Origin.USER:
        raise NeedsPersonsKey(
            f"c{claim} is a person's own words, and only the person's key may change it; {COMES_WITH_THE_GATE}"
        )


def _closed_by(rows: Reading, claim: int) -> int:
    versions = rows.versions(claim)
    return versions[-1].tx_to if versions and versions[-1].tx_to != END_OF_TIME else claim


def _closing(rows: Reading, claim: int) -> str:
    seq = _closed_by(rows, claim)
    kind = next((entry_from_bytes(row.canon).kind for row in rows.entries(seq, seq + 1)), "closed")
    because = next((part.body.decode("utf-8", "replace") for part in rows.parts(seq) if part.name == "because"), "")
    return f"{kind} at {seq}: {because}" if because else f"{kind} at {seq}"
