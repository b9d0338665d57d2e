"""Identities: two holders that turn out to be one, joined and parted again without rewriting a claim (case 35)."""

from __future__ import annotations

from typing import NamedTuple

from tallystick.errors import UnknownId, UsageError
from tallystick.model.entry import EntryKind
from tallystick.store.protocol import Reading
from tallystick.trail import Trail
from tallystick.workflows.scoping import same_as
from tallystick.workflows.typed import fit


class Joined(NamedTuple):
    """That two holders are one; undoing the entry parts them again."""

    seq: int
    names: tuple[str, ...]
    """Of all holders that are one now."""


def join(trail: Trail, one: str, other: str, because: str) -> Joined:
    """Say that two holders, named in full, by what follows the colon, or by id, are one from here on.

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
        if ids[second] in same_as(rows, [ids[first]], now):
            raise UsageError(f"{one} and {other} are one holder already")
        seq = appender.add(EntryKind.LINKED, {"same_as": b"{}", "because": fit(because).encode()}, refs=[first, second])
        together = same_as(appender.rows, [ids[first]], seq)
        names = tuple(name.name for name in appender.rows.names("holder") if name.id in together)
    trail.seal()
    return Joined(seq, names)


def _introduced(rows: Reading, asked: str) -> int:
    for name in rows.names("holder"):
        if asked in (name.name, name.id, name.name.partition(":")[2]):
            return name.seq
    known = ", ".join(name.name for name in rows.names("holder")[:8]) or "none yet"
    raise UnknownId(f"{asked}: no such holder; there are {known}")
