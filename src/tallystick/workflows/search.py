"""Search over everything that was said, shown and printed by tools: the archived events that hold a query, newest first.

The index finds by words; whether a phrase, a path or a number stands in an event is then read off the event's own redacted
text, one by one from the newest on and only until enough are found, so that what is shown is exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from tallystick.errors import UsageError
from tallystick.model.evidence import Event, Status
from tallystick.store.protocol import Reading
from tallystick.store.said import Sought, code_word, holder_word, role_word, status_word, tool_word
from tallystick.store.said_words import searchable
from tallystick.trail import Trail
from tallystick.trail.archive import ArchiveReader, observed_by
from tallystick.trail.points import Point, point
from tallystick.workflows.ingest import session_facts
from tallystick.workflows.queries import Query, read_query
from tallystick.workflows.scoping import Scope, holders
from tallystick.workflows.typed import fit

LONGEST_QUERY = 4096
"""Characters."""
_BLOCKS = 32
"""Of the archive that are held in memory: sessions of one time take turns."""
_AROUND = 100
"""Characters of an excerpt before the first place and after it."""


class Searching(NamedTuple):
    """What narrows a search; everything is optional."""

    roles: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    """Names as the harness has them, whatever their case."""
    exit: str = ""
    """An exit code, or ``failed``: every result that did not end well."""
    harness: str = ""
    session: int | None = None
    since: int | None = None
    until: int | None = None
    """Microseconds UTC; half-open."""


class Hit(NamedTuple):
    """An event that was found."""

    session: int
    n: int
    event: Event
    """Its ``uid`` is our event id."""
    excerpt: str
    """A piece of its text around the first place, on one line, without anything that a terminal would obey."""
    marks: tuple[tuple[int, int], ...]
    """Where the query stands in the excerpt, as character ranges."""


class Found(NamedTuple):
    """The answer, newest first."""

    point: Point
    items: tuple[Hit, ...]
    more: bool
    """Whether there are others."""


def search(trail: Trail, query: str, scope: Scope, *, as_of: str | None, narrowed: Searching, limit: int = 10) -> Found:
    """Search the archive of the sessions of the holders in scope.

    Raises:
        UsageError: nothing is asked for: the query has no letter or digit and nothing narrows it; or it is too long.
        UsageError, BadTime: see ``trail.points.point`` and ``scoping.holders``.
    """
    if len(query) > LONGEST_QUERY:
        raise UsageError(f"the query has {len(query)} characters; at most {LONGEST_QUERY} are looked for")
    asked = read_query(fit(query))
    if query.strip() and not asked.words:
        raise UsageError(f"{query[:40]!r} has no letter or digit, so nothing could be found by it")
    with trail.reading() as rows:
        at = point(trail, rows, as_of)
        sought = _sought(rows, asked, narrowed, holders(rows, scope, at.seq))
        if not sought.words:
            raise UsageError("nothing to look for: give a word, or narrow by --role, --tool, --exit or --session")
        whole = at.seq == rows.head().size - 1
        hits = list(islice(_hits(rows, asked, sought, None if whole else at.seq), limit + 1))
    return Found(at, tuple(hits[:limit]), len(hits) > limit)


def _sought(rows: Reading, query: Query, narrowed: Searching, whose: tuple[str, ...] | None) -> Sought:
    wanted = list(query.words)
    if narrowed.roles:
        wanted.append(tuple(map(role_word, narrowed.roles)))
    if narrowed.tools:
        wanted.append(tuple(map(tool_word, narrowed.tools)))
    if narrowed.exit:
        is_code = narrowed.exit != Status.FAILED
        wanted.append((code_word(int(narrowed.exit)) if is_code else status_word(Status.FAILED),))
    sessions = None if narrowed.session is None else frozenset((narrowed.session,))
    if narrowed.harness:
        mine = (name.seq for name in rows.names("session") if session_facts(name).get("harness") == narrowed.harness)
        sessions = frozenset(mine) if sessions is None else sessions & frozenset(mine)
    if sessions is not None and not wanted:
        wanted.append(tuple(map(role_word, ROLES)))
    if whose is not None and wanted:
        wanted.append(tuple(map(holder_word, whose)))
    return Sought(tuple(wanted), sessions, narrowed.since, narrowed.until)


ROLES = ("user", "assistant", "tool", "delegated", "harness", "briefing")
"""Every role an event can have (``model.origin``)."""


def _hits(rows: Reading, query: Query, sought: Sought, as_of: int | None) -> Iterator[Hit]:
    """What holds the query, each event once, however many sessions repeat it."""
    reader = ArchiveReader(rows, _BLOCKS)
    met: set[str] = set()
    known: dict[int, int] = {}
    for place in rows.said(sought):
        if as_of is not None:
            if place.session not in known:
                known[place.session] = observed_by(rows, place.session, as_of)
            if place.n >= known[place.session]:
                continue
        row = next(rows.session_events(place.session, place.n, place.n + 1))
        if row.event in met:
            continue
        event = reader.read(row)
        text = searchable(event)
        places = query.places(text)
        if places is not None:
            met.add(row.event)
            yield Hit(place.session, place.n, event, *excerpt(text, places))


def excerpt(text: str, places: list[tuple[int, int]]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """A piece of ``text`` around the first of ``places`` on one line, and where the places stand in it."""
    first = places[0] if places else (0, 0)
    start, end = max(0, first[0] - _AROUND), min(len(text), max(first[1], first[0]) + _AROUND)
    pieces: list[str] = ["… "] if start else []
    marks: list[tuple[int, int]] = []
    length = sum(map(len, pieces))
    at = start
    for begin, stop in [(b, min(s, end)) for b, s in places if b < end] or [(end, end)]:
        for piece, is_mark in ((_plain(text[at:begin]), False), (_plain(text[begin:stop]), True)):
            if is_mark and piece:
                marks.append((length, length + len(piece)))
            pieces.append(piece)
            length += len(piece)
        at = stop
    pieces += [_plain(text[at:end]), " …" if end < len(text) else ""]
    return "".join(pieces), tuple(marks)


def _plain(piece: str) -> str:
    """On one line, without controls and without what is not seen."""
    shown = "".join(each if each.isprintable() else " " for each in piece)
    flat = " ".join(shown.split())
    if not flat:
        return " " if shown else ""
    return f"{' ' * shown[0].isspace()}{flat}{' ' * shown[-1].isspace()}"
