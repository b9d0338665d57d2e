"""Doctor: what could be wrong, looked at, with what to do (CARRY.8)."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import apsw

from tallystick.errors import TallyError
from tallystick.log.canonical import entry_from_bytes
from tallystick.model.entry import LogName
from tallystick.model.temporal import Instant
from tallystick.trail import Trail
from tallystick.trail.appending import EARLIEST_CLOCK, FAR_AHEAD
from tallystick.trail.erased import is_unscrubbed
from tallystick.trail.instants import iso
from tallystick.transcripts.discovery import Found
from tallystick.transcripts.protocol import Adapter
from tallystick.workflows.harnesses import Harness, harnesses
from tallystick.workflows.ingest import session_facts
from tallystick.workflows.scoping import same_as
from tallystick.workflows.verify import verify_trail

DAY = 24 * 60 * 60 * 1_000_000
SHOWN_REFUSED = 3
"""Files and projects that the advice names; ``--json`` has all of the files."""
_PROJECT = "project:"


class Check(NamedTuple):
    """One thing that was looked at."""

    name: str
    state: str
    """``ok`` | ``note`` (worth knowing) | ``bad`` (act on it)"""
    advice: str


class Examined(NamedTuple):
    """What doctor found."""

    checks: list[Check]
    harnesses: list[Harness]
    """Empty where the trail cannot be read."""


def examine(
    trail: Trail, found: Sequence[Found], adapters: Sequence[Adapter], main_checkout: Callable[[str], str]
) -> Examined:
    """Look at everything; nothing is changed.

    ``found`` are the harnesses' places on this machine; ``main_checkout`` says what a folder is called in the main checkout
    of its repository.
    """
    checks = [_engine(), _clock(trail), _folders([Path(each.path) for each in found])]
    try:
        known = trail.id
        seen = harnesses(trail, found, adapters)
    except TallyError as error:
        return Examined([*checks, Check("trail", "bad", str(error))], [])
    checks += [_harness(each, trail.clock()) for each in seen]
    if not known:
        nothing = Check("trail", "note", f"{trail.store.location}: nothing yet; run `tally ingest`")
        return Examined([*checks, nothing], seen)
    return Examined([*checks, *_projects(trail, main_checkout), *_kept(trail), _sound(trail)], seen)


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
    unreadable = [
        str(folder) for folder in folders if not os.access(folder, os.R_OK | (os.X_OK if os.path.isdir(folder) else 0))
    ]
    if unreadable:
        return Check("harnesses", "bad", f"cannot be read: {', '.join(unreadable)}; check who owns them")
    return Check("harnesses", "ok", ", ".join(map(str, folders)))


def _harness(seen: Harness, now: Instant) -> Check:
    """``note`` where something is left to do or cannot be read."""
    said = [f"{count} {what}" for count, what in ((seen.read, "read"), (seen.grown, "grown")) if count]
    said += [f"{seen.waiting} not read yet"] if seen.waiting else []
    said += [f"{len(seen.refused)} refused"] if seen.refused else []
    newest = ", none has a time"
    if seen.newest is not None:
        days = max(0, now - seen.newest) // DAY
        newest = f", the newest {iso(seen.newest)}, {'today' if not days else f'{days} days ago'}"
    parts = [f"files: {', '.join(said)}" if said else "no files here", f"sessions known: {seen.sessions}"]
    advice = "; ".join(parts) + (newest if seen.sessions else "")
    if not seen.is_read:
        advice += f"; this version does not read it: {seen.places[0]}" if seen.places else ""
    elif seen.waiting or seen.grown:
        advice += "; run `tally ingest`"
    if seen.is_read:
        advice += "".join(f"; {each.file}: {each.reason}" for each in seen.refused[:SHOWN_REFUSED])
    is_done = not (seen.waiting or seen.grown or seen.refused)
    return Check(seen.name, "ok" if is_done and seen.is_read else "note", advice)


def _projects(trail: Trail, main_checkout: Callable[[str], str]) -> list[Check]:
    """Holders that could be one: a work tree's from before it was known as its repository's, and those of one repository."""
    with trail.reading(checked=False) as rows:
        now = rows.head().size
        ids = {name.name: name.id for name in rows.names("holder")}
        pairs = {(name, _in(main_checkout, name)): "the same repository" for name in ids if name.startswith(_PROJECT)}
        names = {own: name for name, own in ids.items()}
        first: dict[str, str] = {}
        for name in rows.names("session"):
            repository = session_facts(name).get("repository", "")
            holders = (entry_from_bytes(row.canon).holder for row in rows.entries(name.seq, name.seq + 1))
            project = names.get(next(holders, ""), "") if repository else ""
            if project:
                pairs.setdefault((project, first.setdefault(repository, project)), f"both say {repository}")
        apart = [
            (one, other, why)
            for (one, other), why in pairs.items()
            if one != other and one in ids and other in ids and ids[one] not in same_as(rows, [ids[other]], now)
        ]
    advice = "; ".join(f"{one} and {other} ({why})" for one, other, why in apart[:SHOWN_REFUSED])
    more = f" and {len(apart) - SHOWN_REFUSED} more" if len(apart) > SHOWN_REFUSED else ""
    hint = "if they are one, `tally join HOLDER HOLDER --because …`"
    return [Check("projects", "note", f"{advice}{more}; {hint}")] if apart else []


def _in(main_checkout: Callable[[str], str], holder: str) -> str:
    return f"{_PROJECT}{main_checkout(holder.removeprefix(_PROJECT))}"


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
