"""Whose memory a question is about: the project and the person by default, wider only when asked for (SEC.3)."""

from __future__ import annotations

from collections.abc import Sequence
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


def holders(rows: Reading, scope: Scope) -> tuple[str, ...] | None:
    """Ids of the holders in scope; None is every holder.

    A holder may be named in full (``project:/x``), by what follows the colon, or by its id.

    Raises:
        UsageError: a holder that was asked for is not known; the message names those that are.
    """
    if EVERYONE in scope.asked:
        return None
    known = rows.names("holder")
    if not scope.asked:
        wanted = {scope.project, scope.person}
        return tuple(row.id for row in known if row.name in wanted or _holds(row.name, scope.project))
    found: list[str] = []
    for asked in scope.asked:
        mine = [row.id for row in known if asked in (row.name, row.id, row.name.partition(":")[2])]
        if not mine:
            raise UsageError(f"--holder {asked}: no such holder; there are {_listed([row.name for row in known])}")
        found.extend(mine)
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
