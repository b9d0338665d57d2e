"""Identities: two holders that turn out to be one, joined and parted again without rewriting a claim (case 35)."""

from __future__ import annotations

from typing import NamedTuple

from tallystick.errors import UnknownId, UsageError
from tallystick.model.entry import EntryKind
from tallystick.store.protocol import Reading
from tallystick.trail import Trail
from tallystick.workflows.attributes import differing
from tallystick.workflows.scoping import same_as
from tallystick.workflows.typed import fit


class Joined(NamedTuple):
    """That two holders are one; undoing the entry parts them again."""

    seq: int
    names: tuple[str, ...]
    """Of all holders that are one now."""
    conflicts: tuple[tuple[int, int], ...] = ()
    """(older, newer) claims that are held and differ about a registered attribute at one time, now in one memory."""


def join(trail: Trail, one: str, other: str, because: str) -> Joined:
    """Say that two holders, named in full, by what follows the colon, or by id, are one from here on.

    What they hold stays as it is; what differs about a registered attribute is linked as ``contradicts`` until they are parted.

    Raises:
        UnknownId: no such holder. UsageError: they are one already, or no reason is given.
    """
    if not because.strip():
        raise UsageError("joining two holders needs --because")
    with trail.writing() as appender:
        rows = appender.rows
        first, second = _introduced(rows, one), _introduced(rows, other)
        ids = {name.seq: name.id for name in rows.names("holder")}
        now = rows.head().size
        mine, theirs = (same_as(rows, [ids[each]], now) for each in (first, second))
        if ids[second] in mine:
            raise UsageError(f"{one} and {other} are one holder already")
        seq = appender.add(EntryKind.LINKED, {"same_as": b"{}", "because": fit(because).encode()}, refs=[first, second])
        names = tuple(name.name for name in appender.rows.names("holder") if name.id in (*mine, *theirs))
        conflicts = tuple(differing(appender.rows, mine, theirs))
        for older, newer in conflicts:
            appender.add(EntryKind.LINKED, {"contradicts": b"{}"}, refs=[newer, older])
    trail.seal()
    return Joined(seq, names, conflicts)


def parted_links(rows: Reading, seq: int) -> list[int]:
    """Entries that linked two claims as contradicting each other which stood in one memory until entry ``seq`` parted their
    holders, and do so no longer."""
    found = []
    for link in rows.links(seq, "contradicts"):
        newer, older = rows.claim_row(link.newer), rows.claim_row(link.older)
        if newer is None or older is None or newer.holder == older.holder:
            continue
        before, now = (older.holder in same_as(rows, [newer.holder], at) for at in (seq - 1, seq))
        if before and not now:
            found.append(link.seq)
    return found


def _introduced(rows: Reading, asked: str) -> int:
    for name in rows.names("holder"):
        if asked in (name.name, name.id, name.name.partition(":")[2]):
            return name.seq
    known = ", ".join(name.name for name in rows.names("holder")[:8]) or "none yet"
    raise UnknownId(f"{asked}: no such holder; there are {known}")
