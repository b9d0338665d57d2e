"""Finding a session by any name it goes by, ingested or not, and reading its events (``--session``, ``--at``)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tallystick.beliefs import Name
from tallystick.errors import UsageError
from tallystick.model.evidence import Event, EventKind, Origin, SessionFacts
from tallystick.redaction import redact_event
from tallystick.store.protocol import Reading
from tallystick.trail import Trail
from tallystick.trail.archive import ArchiveReader, event_id, is_erased
from tallystick.trail.points import point
from tallystick.transcripts.protocol import Adapter, Gatherer
from tallystick.transcripts.sources import Source, adapter_for, members_of, records_of, shown_path, source_of
from tallystick.transcripts.view import DiskView
from tallystick.workflows.ingest import session_facts, session_seq
from tallystick.workflows.tombstones import Tombstones

_OURS = re.compile(r"s(\d+)\Z")
_LOCATOR = re.compile(r"(line|index):(\d+)\Z")
_EVENT = re.compile(r"e[0-9a-f]{4,16}\Z")


class Session(NamedTuple):
    """A session's events in order; each event's ``uid`` is our event id."""

    label: str
    """``s12`` where it was ingested, else the harness's own id."""
    facts: SessionFacts
    events: tuple[Event, ...]
    seq: int
    """Of the entry that introduced it; -1 where it was not ingested."""
    erased: int = 0
    """How many more events there were that have been erased."""

    def surfaced(self) -> list[str]:
        """What we ourselves showed in it."""
        return [event.text for event in self.events if event.origin is Origin.BRIEFING or "own_tool" in event.flags]


def find_session(trail: Trail, wanted: str, adapters: Sequence[Adapter], as_of: str | None = None) -> Session:
    """The session that ``wanted`` names: ``s12``, the harness's id or a unique prefix of it, or a transcript's path;
    of a file that holds several sessions ``path#name``.

    Raises:
        UsageError: none, or more than one; the message says which.
        NotATranscript: a path to something else.
    """
    path, member = _place(wanted)
    if path is not None:
        if as_of is not None:
            raise UsageError(
                f"--as-of: {wanted} is a file, which has no past; name the session that was ingested from it"
            )
        return read_session(path, adapters, member)
    with trail.reading() as rows:
        name = _by_name(rows, wanted)
        seq = point(trail, rows, as_of).seq
        if name.seq > seq:
            raise UsageError(f"--session {wanted}: not yet known at {seq}")
        said = session_facts(name)
        facts = SessionFacts(
            harness=said.get("harness", ""), native_id=name.name, thread=said.get("thread", ""), cwd=said.get("cwd", "")
        )
        events = tuple(content._replace(uid=event) for event, content in ArchiveReader(rows).session(name.seq, seq))
        erased = sum(map(is_erased, rows.session_events(name.seq)))
    has_results = any(event.kind is EventKind.TOOL_RESULT for event in events)
    return Session(f"s{name.seq}", facts._replace(has_results=has_results), events, name.seq, erased)


def session_number(trail: Trail, wanted: str, adapters: Sequence[Adapter]) -> int:
    """The seq that introduced the ingested session that ``wanted`` names, as for ``find_session``.

    Raises:
        UsageError: none, or more than one; or a transcript's path whose session was not ingested.
        NotATranscript: a path to something else.
    """
    path, member = _place(wanted)
    if path is None:
        with trail.reading() as rows:
            return _by_name(rows, wanted).seq
    session = read_session(path, adapters, member)
    names = session.facts.harness, session.label, session.facts.thread
    with trail.reading() as rows:
        found = session_seq(rows, *names)
        if found < 0 and trail.id:
            found = Tombstones(rows, partial(trail.outside.digest, trail.id)).session(*names)
    if found < 0:
        raise UsageError(f"--session {wanted}: that session was never ingested; nothing of it is kept")
    return found


def _place(wanted: str) -> tuple[Path | None, str]:
    """(file, what stands behind ``#``) where ``wanted`` is a path, with or without the name of one of its sessions."""
    if _is_file(Path(wanted), wanted):
        return Path(wanted), ""
    path, _, member = wanted.rpartition("#")
    return (Path(path), member) if path and _is_file(Path(path), wanted) else (None, "")


def _is_file(path: Path, wanted: str) -> bool:
    try:
        return path.is_file()
    except OSError as error:
        raise UsageError(f"--session {wanted[:80]}: {error.strerror}") from None


def read_session(path: Path, adapters: Sequence[Adapter], member: str = "") -> Session:
    """A transcript read straight from its file, redacted, nothing kept; ``member`` names one of several that a file holds.

    Raises:
        NotATranscript, UsageError: it is none, cannot be read, or holds several and none of them is named.
    """
    adapter = adapter_for(path, adapters)
    if not isinstance(adapter, Gatherer):
        return _read(adapter, source_of(path), path.stem)
    with DiskView() as view:
        found = [each for each in members_of(adapter, view, path) if not member or each.name == member]
        if len(found) != 1:
            names = ", ".join(each.name for each in found[:4])
            what = f"holds {len(found)} sessions ({names} …); name one behind #" if found else f"no session {member!r}"
            raise UsageError(f"--session {shown_path(path)}: {what}")
        return _read(adapter, found[0], member or found[0].stem)


def _read(adapter: Adapter, source: Source, name: str) -> Session:
    reader = adapter.reader(source.name)
    events: list[Event] = []
    with source.opened() as stream:
        for event in reader.read(records_of(adapter, stream, 0, 1)):
            facts = reader.facts
            place = event_id(facts.harness, facts.native_id, facts.thread, event.uid)
            clean, _ = redact_event(event)
            events.append(clean._replace(uid=place))
    return Session(reader.facts.native_id or name, reader.facts, tuple(events), -1)


def located(session: Session, locator: str | None) -> list[int]:
    """Ordinals of the events at a place: ``line:383``, ``index:12``, or an event id; all of them where it is None.

    Raises:
        UsageError: the locator has another form, or nothing stands there.
    """
    if locator is None:
        return list(range(len(session.events)))
    form = _LOCATOR.match(locator)
    if form:
        field, number = form[1], int(form[2])
        found = [n for n, event in enumerate(session.events) if getattr(event.locator, field) == number]
    elif _EVENT.match(locator):
        found = [n for n, event in enumerate(session.events) if event.uid.startswith(locator)]
    else:
        raise UsageError(f"--at {locator}: expected line:N (1-based), index:N (0-based) or an event id such as e3f0…")
    if not found:
        raise UsageError(f"--at {locator}: no event of session {session.label} stands there")
    return found


def _by_name(rows: Reading, wanted: str) -> Name:
    sessions = rows.names("session")
    ours = _OURS.match(wanted)
    if ours:
        mine = [name for name in sessions if name.seq == int(ours[1])]
    else:
        exact = [name for name in sessions if name.name == wanted and not session_facts(name).get("thread")]
        mine = exact or [name for name in sessions if wanted and name.name.startswith(wanted)]
        mine = [name for name in mine if not session_facts(name).get("thread")] or mine
    if len(mine) == 1:
        return mine[0]
    if not mine:
        raise UsageError(
            f"--session {wanted}: no such session or file; give s…, the harness's id or a prefix, or a path"
        )
    raise UsageError(f"--session {wanted}: {len(mine)} sessions begin so: {', '.join(name.name for name in mine[:4])}")
