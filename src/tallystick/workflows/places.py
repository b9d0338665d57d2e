"""The register of places that a value can be in, and what is said of each (ERASE.1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from tallystick.workflows.selecting import Kept

ERASED = "erased"
NOT_FOUND = "not found"
KEPT = "kept"
"""It stays, as it should by what was asked for; the reason says why."""
FOUND = "found"
"""It is there: of a dry run what would go, else what was to go and could not."""
CANNOT_TELL = "cannot tell"
PROPOSED = "proposed"
"""It stays until the person's key says otherwise."""

MOST_NAMED = 20
"""Of what stays; the count says how many there are."""


class Place(NamedTuple):
    """What became of a value in one place, and how many pieces of it there were."""

    place: str
    state: str
    pieces: int
    why: str = ""
    where: tuple[str, ...] = ()
    """The first of them, where naming them helps."""


def stays(kept: Iterable[Kept]) -> list[Place]:
    """What stays, a line for each place and reason."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for each in kept:
        state = FOUND if each.failed else CANNOT_TELL if each.unread else KEPT
        groups.setdefault((each.place, state, each.why), []).append(each.where)
    return [
        Place(place, state, len(where), why, tuple(where[:MOST_NAMED])) for (place, state, why), where in groups.items()
    ]


def transcripts(paths: Sequence[str]) -> list[Place]:
    """The harnesses' own files that told of it: never ours to delete, so they do not count as a failure."""
    there = [path for path in paths if _is_there(path)]
    gone = len(paths) - len(there)
    why = "the harness's own files, which are not tally's to change; delete them there"
    found = [Place("transcripts", KEPT, len(there), why, tuple(there[:MOST_NAMED]))] if there else []
    return found if found and not gone else [*found, Place("transcripts", NOT_FOUND, gone)]


def _is_there(path: str) -> bool:
    try:
        return Path(path).exists()
    except OSError:
        return True
