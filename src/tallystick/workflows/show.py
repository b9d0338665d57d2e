"""The sessions of a trail, and what a session's events say: the redacted text from the archive, a page at a time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import dropwhile, islice
from typing import NamedTuple

from tallystick.beliefs import Name
from tallystick.errors import UsageError
from tallystick.model.evidence import Event
from tallystick.store.protocol import Reading
from tallystick.store.said_words import holder_of
from tallystick.trail import Trail
from tallystick.trail.archive import ArchiveReader, is_erased, observed_by
from tallystick.trail.erased import Tombstone, tombstone
from tallystick.trail.points import Point, point
from tallystick.transcripts.protocol import Adapter
from tallystick.workflows.ingest import session_facts
from tallystick.workflows.scoping import Scope, holders
from tallystick.workflows.sessions import session_number

_NUMBER = re.compile(r"\d{1,12}\Z")
_EVENT = re.compile(r"e[0-9a-f]{4,16}\Z")


class Listed(NamedTuple):
    """A session as a list of them shows it."""

    seq: int
    name: str
    """The harness's own id; empty where it was erased."""
    facts: dict[str, str]
    """``harness``, ``thread``, ``parent``, ``title``, ``cwd`` …, as far as its source said them."""
    project: str
    """Name of the holder in whose memory it stands."""
    events: int
    """Those that are there."""
    erased: int
    began: int
    ended: int
    """Microseconds UTC of its first and last event that has a time; -1 where none has."""
    claims: int
    """Opened from it by the point, held or not."""


class Listing(NamedTuple):
    """Sessions, those that ended last first."""

    point: Point
    items: tuple[Listed, ...]
    total: int


class Shown(NamedTuple):
    """One event of a session."""

    n: int
    """Its number in the session, from 0, in the order of archiving."""
    id: str
    event: Event | None
    """None where it was erased."""


class Page(NamedTuple):
    """Some of the events of a session, as they happened."""

    point: Point
    session: Listed
    items: tuple[Shown, ...]
    more: bool
    gone: Tombstone | None
    """What erased events of this session, last."""


def list_sessions(
    trail: Trail,
    scope: Scope,
    *,
    as_of: str | None,
    harness: str = "",
    since: int | None = None,
    until: int | None = None,
    limit: int = 50,
) -> Listing:
    """The sessions of the holders in scope that a point knows; of a span of time those that have an event in it.

    Raises:
        UsageError, BadTime: see ``trail.points.point`` and ``scoping.holders``.
    """
    with trail.reading() as rows:
        at = point(trail, rows, as_of)
        whose = holders(rows, scope, at.seq)
        names = _holder_names(rows)
        found: list[Listed] = []
        for name in rows.names("session"):
            if name.seq > at.seq or (harness and session_facts(name).get("harness", "") != harness):
                continue
            holder = holder_of(rows, name.seq)
            if whose is not None and holder not in whose:
                continue
            listed = _listed(rows, name, names.get(holder, ""), at)
            if (since is None or listed.ended >= since) and (until is None or 0 <= listed.began < until):
                found.append(listed)
    found.sort(key=lambda each: (each.ended, each.seq), reverse=True)
    return Listing(at, tuple(found[:limit]), len(found))


def show_session(
    trail: Trail,
    wanted: str,
    scope: Scope,
    adapters: Sequence[Adapter],
    *,
    as_of: str | None,
    event: str = "",
    after: int = -1,
    limit: int = 100,
) -> Page:
    """A page of a session's events; ``event`` names a single one, by its number or its id or a prefix of that.

    Raises:
        UsageError: no such session or event, or one of a holder that is not in scope.
    """
    number = session_number(trail, wanted, adapters)
    with trail.reading() as rows:
        at = point(trail, rows, as_of)
        name = next(name for name in rows.names("session") if name.seq == number)
        if number > at.seq:
            raise UsageError(f"s{number}: not yet known at {at.seq}")
        whose, holder = holders(rows, scope, at.seq), holder_of(rows, number)
        project = _holder_names(rows).get(holder, "")
        if whose is not None and holder not in whose:
            raise UsageError(f"s{number} is a session of {project or 'another holder'}; say --holder '*' to read it")
        reader = ArchiveReader(rows)
        in_order = reader.in_order(number, at.seq)
        if event:
            chosen = [row for row in in_order if _is_named(event, row.n, row.event)]
            if len(chosen) != 1:
                what = f"{len(chosen)} events begin so" if chosen else f"s{number} has no such event"
                raise UsageError(
                    f"--event {event[:40]}: {what}; give its number or its id, as `tally show` prints them"
                )
        else:
            if after >= 0:
                in_order = islice(dropwhile(lambda row: row.n != after, in_order), 1, None)
            chosen = list(islice(in_order, limit + 1))
        items = [Shown(row.n, row.event, None if is_erased(row) else reader.read(row)) for row in chosen[:limit]]
        gone = tombstone(rows, number) if any(item.event is None for item in items) else None
        return Page(at, _listed(rows, name, project, at), tuple(items), len(chosen) > limit, gone)


def _is_named(wanted: str, n: int, event: str) -> bool:
    if _NUMBER.match(wanted):
        return n == int(wanted)
    if not _EVENT.match(wanted):
        raise UsageError(f"--event {wanted[:40]}: expected a number such as 12, or an event id such as e3f0…")
    return event.startswith(wanted)


def _listed(rows: Reading, name: Name, project: str, at: Point) -> Listed:
    known = observed_by(rows, name.seq, at.seq)
    events, began, ended = rows.said_span(name.seq, known)
    claims = sum(row.claim <= at.seq for row in rows.claims_of(name.seq))
    return Listed(name.seq, name.name, session_facts(name), project, events, known - events, began, ended, claims)


def _holder_names(rows: Reading) -> dict[str, str]:
    return {name.id: name.name for name in rows.names("holder")}
