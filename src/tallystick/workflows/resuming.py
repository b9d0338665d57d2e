"""Where reading a source goes on: at its beginning, where it grew, or not at all (EVID.4)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection
from typing import NamedTuple

from tallystick.redaction import redact
from tallystick.store.protocol import SourceRow
from tallystick.trail import Trail
from tallystick.transcripts.protocol import FileState, PendingCall
from tallystick.transcripts.sources import Source
from tallystick.workflows.tombstones import Tombstones


class Start(NamedTuple):
    """Where reading a file begins, and what was noted of it."""

    offset: int
    line: int
    calls: dict[str, PendingCall]
    session: int
    """-1 where the file was never read."""


NO_SESSION = -1
ANEW = Start(0, 1, {}, NO_SESSION)


def where_to_start(trail: Trail, source: Source, counts: Counter[str], *, thorough: bool) -> Start | None:
    """Where to read a source from; None for what did not change (EVID.4).

    What grew is read on, after a look that what was read is still there.
    """
    if not trail.id:
        return ANEW

    def digest(data: bytes) -> bytes:
        return trail.outside.digest(trail.id, data)

    with trail.reading() as rows:
        noted = rows.source(Tombstones(rows, digest).noted_as(source.shown))
    if noted is None:
        return ANEW
    same_state = (noted.size, noted.mtime_ns, noted.inode) == source.state
    if same_state and not thorough:
        return None
    if noted.session == NO_SESSION and not noted.offset:
        return ANEW
    whole = source.digest(noted.offset, digest) == noted.digest
    if whole and same_state:
        return None
    if whole:
        return Start(noted.offset, noted.line, _calls_from(noted.calls), noted.session)
    counts["files_rewritten"] += 1
    return ANEW


def note_place(trail: Trail, shown: str, state: FileState) -> None:
    """Note a file whose sessions were gathered, so that it is not opened again while it does not change."""
    with trail.writing() as appender:
        appender.rows.note_source(SourceRow(shown, NO_SESSION, *state, 0, 1, b"", b"{}"))


def calls_kept(calls: dict[str, PendingCall], forgotten: Collection[str]) -> bytes:
    """Open calls as they may be stored: no secrets in what is waiting for its result, and nothing that was forgotten."""
    kept = {
        name: [
            redact(call.tool).text,
            redact(call.command).text,
            [redact(path).text for path in call.paths],
            call.flags,
        ]
        for name, call in calls.items()
        if name not in forgotten
    }
    return json.dumps(kept).encode()


def _calls_from(data: bytes) -> dict[str, PendingCall]:
    calls = json.loads(data)
    return {
        name: PendingCall(tool, command, tuple(paths), tuple(flags))
        for name, (tool, command, paths, flags) in calls.items()
    }
