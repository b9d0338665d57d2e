"""Whose memory a question is about: the project and the person by default, wider only when asked for (SEC.3)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from tallystick.errors import UsageError
from tallystick.store.protocol import Reading
from tallystick.trail import Trail

EVERYONE = "*"


class Scope(NamedTuple):
    """Names of holders asked for: as given, or the defaults of where one stands."""

    asked: tuple[str, ...] = ()
    project: str = ""
    person: str = ""
    also: str = ""
    """Of a linked work tree: the project of its own folder, under which its sessions were kept by earlier versions."""


def holders(rows: Reading, scope: Scope, as_of: int) -> tuple[str, ...] | None:
    """Ids of the holders in scope, and of those that were one with them at a point; None is every holder.

    A holder may be named in full (``project:/x``), by what follows the colon, or by its id.

    Raises:
        UsageError: a holder that was asked for is not known; the message names those that are.
    """
    if EVERYONE in scope.asked:
        return None
    known = rows.names("holder")
    if not scope.asked:
        wanted = {scope.project, scope.person, scope.also} - {""}
        mine = [
            row.id
            for row in known
            if row.name in wanted or _holds(row.name, scope.project) or _holds(row.name, scope.also)
        ]
        return same_as(rows, mine, as_of)
    found: list[str] = []
    for asked in scope.asked:
        named = [row.id for row in known if asked in (row.name, row.id, row.name.partition(":")[2])]
        if not named:
            raise UsageError(
                f"--holder {asked}: no such holder; there are {_listed([row.name for row in known if row.name])}"
            )
        found.extend(named)
    return same_as(rows, found, as_of)


def same_as(rows: Reading, holders: Collection[str], as_of: int) -> tuple[str, ...]:
    """These holders, by id, and all that were one with any of them at a point."""
    links = rows.links(as_of, "same_as")
    if not links:
        return tuple(holders)
    ids = {name.seq: name.id for name in rows.names("holder")}
    pairs = [(ids[link.newer], ids[link.older]) for link in links if link.newer in ids and link.older in ids]
    found = dict.fromkeys(holders)
    grown = True
    while grown:
        grown = False
        for one, other in pairs:
            if (one in found) != (other in found):
                found |= {one: None, other: None}
                grown = True
    return tuple(found)


def holder_name(trail: Trail, asked: str) -> str:
    """The full name of the holder that ``asked`` names, or of a new project where the trail knows none of that name."""
    if trail.id:
        with trail.reading() as rows:
            for row in rows.names("holder"):
                if asked in (row.name, row.id, row.name.partition(":")[2]):
                    return row.name
    return asked if ":" in asked else f"project:{asked}"


def _holds(name: str, project: str) -> bool:
    """A session that ran in a folder below the project's top belongs to the project."""
    return bool(project) and name.startswith(f"{project.rstrip('/')}/")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "") if names else "none yet"
