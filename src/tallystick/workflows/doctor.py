"""Doctor: what could be wrong, looked at, with what to do (CARRY.8)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import apsw

from tallystick.errors import TallyError
from tallystick.model.entry import LogName
from tallystick.trail import Trail
from tallystick.trail.appending import EARLIEST_CLOCK, FAR_AHEAD
from tallystick.trail.erased import is_unscrubbed
from tallystick.trail.instants import iso
from tallystick.workflows.verify import verify_trail


class Check(NamedTuple):
    """One thing that was looked at."""

    name: str
    state: str
    """``ok`` | ``note`` (worth knowing) | ``bad`` (act on it)"""
    advice: str


def examine(trail: Trail, folders: Sequence[Path]) -> list[Check]:
    """Look at everything; nothing is changed."""
    checks = [_engine(), _clock(trail), _folders(folders)]
    try:
        found = trail.id
    except TallyError as error:
        return [*checks, Check("trail", "bad", str(error))]
    if not found:
        return [*checks, Check("trail", "note", f"{trail.store.location}: nothing yet; run `tally ingest`")]
    return [*checks, *_kept(trail), _sound(trail)]


def accept_heads(trail: Trail) -> None:
    """Write down the logs as they are now as the heads to compare with, after a backup was put back on purpose."""
    trail.outside.note_at(trail.store.location, trail.id)
    for log in LogName:
        with trail.reading(log, checked=False) as rows:
            head = rows.head()
        if head.size or trail.outside.read_head(trail.id, log):
            trail.outside.write_head(trail.id, log, head)
            trail.outside.write_checkpoint(trail.id, log, head)


def _engine() -> Check:
    return Check("sqlite", "ok", f"SQLite {apsw.sqlite_lib_version()}, apsw {apsw.apsw_version()}")


def _clock(trail: Trail) -> Check:
    now = trail.clock()
    if now < EARLIEST_CLOCK:
        return Check("clock", "bad", f"the clock reads {iso(now)}; set it, nothing can be appended before")
    try:
        with trail.reading(checked=False) as rows:
            head = rows.head()
    except TallyError:
        return Check("clock", "ok", iso(now))
    if head.size and head.at > now + FAR_AHEAD:
        return Check("clock", "note", f"the newest entry is dated {iso(head.at)}; the next append opens a new epoch")
    return Check("clock", "ok", iso(now))


def _folders(folders: Sequence[Path]) -> Check:
    if not folders:
        return Check("harnesses", "note", "no sessions found on this machine; name a folder to `tally ingest`")
    unreadable = [str(folder) for folder in folders if not os.access(folder, os.R_OK | os.X_OK)]
    if unreadable:
        return Check("harnesses", "bad", f"cannot be read: {', '.join(unreadable)}; check who owns them")
    return Check("harnesses", "ok", ", ".join(map(str, folders)))


def _kept(trail: Trail) -> list[Check]:
    public = trail.outside.public_key(trail.id)
    if public is None:
        advice = f"the signing key is not in {trail.outside.location}; restore it, nothing can be appended without"
        return [Check("keys", "bad", advice)]
    with trail.reading(checked=False) as rows:
        head = rows.head()
    note = "ok" if os.access(trail.store.location, os.W_OK) else "note"
    return [
        Check("keys", "ok", f"in {trail.outside.location}, apart from the trail"),
        Check("trail", note, f"{trail.store.location}: {head.size} entries, the newest {iso(head.at)}"),
        *_unscrubbed(trail),
    ]


def _unscrubbed(trail: Trail) -> list[Check]:
    for log in LogName:
        with trail.reading(log, checked=False) as rows:
            if is_unscrubbed(rows):
                advice = (
                    f"free pages of the {log} log may still hold what was erased; run the same `tally forget` again"
                )
                return [Check("erasure", "bad", advice)]
    return []


def _sound(trail: Trail) -> Check:
    try:
        found = verify_trail(trail)
    except TallyError as error:
        return Check("soundness", "bad", str(error))
    if found.sound:
        return Check("soundness", "ok", f"{sum(report.size for report in found.reports)} entries verified")
    first = found.first_bad
    what = f"{first[0]} entry {first[1].seq}: {first[1].what}" if first else "broken"
    return Check("soundness", "bad", f"{what}; run `tally verify`, restore a backup")
