"""The facts that are noted of a log beside its entries (``protocol.Reading.meta``), and what each can say (TRAIL.7)."""

from __future__ import annotations

import re

from tallystick.model.entry import LogName

SEAL = "seal"
"""Keyed digest of the log's size and root, made in the write that made them."""
TOMBSTONES = "tombstones"
"""That something was erased from the log, so that what comes in is held against it."""
UNSCRUBBED = "unscrubbed"
"""That free pages of the engine's files may hold what was erased."""
CORRECTED_TO = "corrected_to"
"""Of the access log: the entry of the memory log up to which every answer is marked. Losing it costs time."""

_ALLOWED = {
    "trail": r"[0-9a-f]{32}",
    "log": "|".join(LogName),
    SEAL: r"([0-9a-f]{32})?",
    TOMBSTONES: "1",
    UNSCRUBBED: "1?",
    CORRECTED_TO: r"-1|[0-9]{1,16}",
}


def is_noted(key: str, value: str) -> bool:
    """Whether this is a fact that some version notes, and a value that it can have."""
    return key in _ALLOWED and re.fullmatch(_ALLOWED[key], value) is not None
