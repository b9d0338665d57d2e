"""Exports and bundles in files: noted outside the trail, so that what is forgotten can be looked for in them (ERASE.1)."""

from __future__ import annotations

import base64
import json
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from tallystick.errors import TallyError
from tallystick.model.entry import LogName
from tallystick.store.outside import origin
from tallystick.trail import Trail
from tallystick.trail.archive import unpacked
from tallystick.workflows.occurrences import Needles
from tallystick.workflows.places import CANNOT_TELL, FOUND, MOST_NAMED, NOT_FOUND, Place


class Sought(NamedTuple):
    """What is looked for in an export."""

    trail: str
    parts: Mapping[str, Mapping[int, Iterable[str]]]
    """Log → seq → names of parts."""
    events: Collection[tuple[int, int]]
    """Archived events as ``(session, n)``."""
    needles: Needles


def note_export(trail: Trail, path: Path) -> None:
    """Write down, before it is made, that an export or a bundle goes to a file.

    Raises:
        TrailUnwritable: it cannot be written down.
    """
    trail.outside.note_export(trail.id, str(path.absolute()))


def known_exports(trail: Trail, sought: Sought) -> list[Place]:
    """What the files say to which the trail was exported, by state."""
    states: dict[str, list[str]] = {FOUND: [], CANNOT_TELL: [], NOT_FOUND: []}
    try:
        paths = trail.outside.exports(trail.id)
    except TallyError as error:
        return [Place("exports", CANNOT_TELL, 1, str(error))]
    for path in paths:
        states[_state(Path(path), sought)].append(path)
    reasons = {
        FOUND: "an export still has it; delete the file, or export anew to it",
        CANNOT_TELL: "a file that an export was written to cannot be read as one",
        NOT_FOUND: "",
    }
    if not any(states.values()):
        return [Place("exports", NOT_FOUND, 0, "no export to a file is known; one to stdout leaves no trace here")]
    return [
        Place("exports", state, len(paths), reasons[state], tuple(paths[:MOST_NAMED]))
        for state, paths in states.items()
        if paths
    ]


def drop_exports_named(trail: Trail, needles: Needles) -> None:
    """Forget of the files whose path has a text in it; what was in them was told."""
    with suppress(TallyError):
        for path in trail.outside.exports(trail.id):
            if needles.stand_in(path):
                trail.outside.drop_export(trail.id, path)


def _state(path: Path, sought: Sought) -> str:
    try:
        with path.open("rb") as lines:
            return FOUND if _holds(lines, sought) else NOT_FOUND
    except FileNotFoundError:
        return NOT_FOUND
    except (OSError, ValueError, KeyError, TypeError, RecursionError, TallyError):
        return CANNOT_TELL


def _holds(lines: Iterable[bytes], sought: Sought) -> bool:
    log, is_ours = "", False
    for line in lines:
        said = json.loads(line)
        if "export" in said:
            log, is_ours = str(said["log"]), said["trail"] == sought.trail
        elif "bundle" in said:
            log = str(LogName.MEMORY)
            is_ours = str(said["checkpoint"]).startswith(f"{origin(sought.trail, LogName.MEMORY)}\n")
        elif is_ours and _line_holds(said, log, sought):
            return True
    if not log:
        raise ValueError("not an export")
    return False


def _line_holds(said: dict[str, Any], log: str, sought: Sought) -> bool:
    if "part" in said:
        if said["part"] in sought.parts.get(log, {}).get(said["seq"], ()):
            return True
        return bool(sought.needles) and sought.needles.stand_in_part(said["part"], base64.b64decode(said["body"]))
    if "leaf" in said:
        seq = json.loads(said["leaf"])["seq"]
        lines = [{"body": body, "part": name, "seq": seq} for name, (_, body) in said["parts"].items()]
        return any(_line_holds(each, log, sought) for each in lines)
    if "believed" in said:
        belief = said["believed"]
        told = belief["text"] is not None and "text" in sought.parts.get(log, {}).get(belief["claim"], ())
        return told or sought.needles.stand_in(belief["text"] or "")
    if "event" in said:
        session, n, _, block, *_ = said["event"]
        return block >= 0 and (session, n) in sought.events
    if "data" in said and sought.needles:
        return sought.needles.may_stand_in(unpacked(said["block"], base64.b64decode(said["data"])))
    return False
