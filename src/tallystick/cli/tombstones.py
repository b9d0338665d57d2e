"""How a tombstone is shown: by what entry something went, when and why, and never what it was."""

from __future__ import annotations

from typing import Any

from tallystick.briefing import shown
from tallystick.trail.erased import Tombstone
from tallystick.trail.instants import iso


def tombstone_document(gone: Tombstone | None) -> dict[str, Any]:
    """For ``--json``; empty where no entry says what erased it."""
    return {} if gone is None else {"seq": gone.seq, "at": iso(gone.at), "because": gone.because}


def tombstone_line(gone: Tombstone | None) -> str:
    """For a reader."""
    return "[erased]" if gone is None else f"[erased at {gone.seq}, {iso(gone.at)}: {shown(gone.because)}]"
