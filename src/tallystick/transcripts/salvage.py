"""What can be read of a line that is not one clean JSON object: glued, spoilt, or with something else beside it (EVID.2)."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from tallystick.transcripts.lines import objects
from tallystick.transcripts.texts import mended

_UNREADABLE = (msgspec.DecodeError, RecursionError)


class Salvage(NamedTuple):
    """What could be read of a line that is not one clean JSON object."""

    objects: list[bytes]
    lost: int
    """Stretches of the line that stay unreadable."""
    mended: int
    """Objects in which characters had to be replaced."""


def salvaged(data: bytes) -> Salvage:
    """The JSON objects that stand side by side in ``data``, with characters that are none replaced by U+FFFD."""
    found: list[bytes] = []
    lost = repaired = end = 0
    for start, stop in objects(data):
        part: bytes | None = data[start:stop]
        if not _is_object(part):
            part = mended(data[start:stop])
            repaired += part is not None
        if part is not None and _is_object(part):
            found.append(part)
        else:
            lost += 1
        lost += bool(data[end:start].strip())
        end = stop
    return Salvage(found, lost + bool(data[end:].strip()), repaired)


def _is_object(data: bytes | None) -> bool:
    try:
        return data is not None and isinstance(msgspec.json.decode(data), dict)
    except _UNREADABLE:
        return False
