"""Amending: revise, retract and undo, which close or narrow what is believed and change no entry (TIME.5, 8, 9, ERASE.4)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NamedTuple

from tallystick.beliefs import facets_of
from tallystick.briefing import shown
from tallystick.errors import NeedsPersonsKey, UndoRefused, UnknownId, UsageError
from tallystick.log.canonical import entry_from_bytes
from tallystick.model.entry import EntryKind
from tallystick.model.evidence import Origin
from tallystick.model.temporal import END_OF_TIME, UNKNOWN_VALID_TIME, ValidTime
from tallystick.store.protocol import Reading
from tallystick.trail import Trail
from tallystick.workflows.reconciling import valid_part
from tallystick.workflows.typed import fit

COMES_WITH_THE_GATE = "the person's key comes with the gate, which this version does not have yet"
_UNDOABLE = frozenset({EntryKind.ASSERTED, EntryKind.REVISED, EntryKind.RETRACTED, EntryKind.UNDONE})


class Amended(NamedTuple):
    """What was done: the claim that stands now (of an undo that leaves none, the one that was closed), what was
    closed, and the entry's seq."""

    id: int
    closes: tuple[int, ...]
    seq: int
    note: str = ""


def revise(
    trail: Trail,
    claim: int,
    text: str,
    because: str,
    *,
    change: bool,
    valid: ValidTime,
    count_tokens: Callable[[str], int],
) -> Amended:
    """Replace a claim: as a correction ("it was never so"), or with ``change`` ("it is different since").

    Raises:
        UnknownId, UsageError: no such claim, or it is not held any more; the message says since when and why.
        NeedsPersonsKey: a person said or approved it.
    """
    if not text.strip() or not because.strip():
        raise UsageError("a revision needs the new text and --because")
    text = fit(text)
    with trail.writing() as appender:
        rows = appender.rows
        facets = _held_facets(rows, claim)
        _refuse_personal(rows, claim)
        new: dict[str, object] = {
            **{name: facets[name] for name in ("kind", "subject", "attribute") if name in facets},
            "by": "revise",
            "event": "",
            "origin": Origin.ASSISTANT,
            "said_at": appender.at,
            "session": -1,
            "tokens": count_tokens(shown(text)),
        }
        parts = {
            "text": text.encode(),
            "facets": json.dumps(new, sort_keys=True).encode(),
            "because": fit(because).encode(),
        }
        if change:
            parts["change"] = b"{}"
        if valid != UNKNOWN_VALID_TIME:
            parts["valid"] = valid_part(valid)
        holder = next(entry_from_bytes(row.canon).holder for row in rows.entries(claim, claim + 1))
        seq = appender.add(EntryKind.REVISED, parts, refs=[claim], holder=holder)
    trail.seal()
    return Amended(seq, (claim,), seq)


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
            return Amended(
                claim,
                (),
                _closed_by(rows, claim),
                f"c{claim} is not held already ({_closing(rows, claim)}); nothing was added",
            )
        _refuse_personal(rows, claim)
        seq = appender.add(EntryKind.RETRACTED, {"because": fit(because).encode()}, refs=[claim])
    trail.seal()
    return Amended(claim, (claim,), seq)


def undo(trail: Trail, seq: int, because: str) -> Amended:
    """Take back one entry's effect from now on, reopening what it closed.

    Raises:
        UnknownId: no such entry. UsageError: an entry of that kind has nothing to take back.
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
        if found[0].kind not in _UNDOABLE:
            raise UsageError(
                f"entry {seq} is {found[0].kind!r}, which has nothing to take back; undo takes {', '.join(sorted(_UNDOABLE))}"
            )
        claims = sorted({version.claim for version in rows.versions_changed(seq)})
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
        stands = next((claim for claim in claims if claim not in closed), claims[0] if claims else seq)
    trail.seal()
    return Amended(stands, closed, made)


def _held_facets(rows: Reading, claim: int) -> dict[str, object]:
    if rows.claim_row(claim) is None:
        raise UnknownId(f"c{claim}: no such claim; `tally replay` lists what is believed")
    if rows.open_version(claim) is None:
        raise UsageError(f"c{claim} is not held any more ({_closing(rows, claim)}); revise what replaced it")
    facets = facets_of({part.name: part.body for part in rows.parts(claim)})
    return {name: value for name, value in facets._asdict().items() if value != ""}


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
