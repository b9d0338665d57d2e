"""Why: where a claim comes from, with its evidence read again from the archive and checked against what was committed to."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from tallystick.beliefs import facets_of
from tallystick.errors import TrailUnreadable, UnknownId
from tallystick.log.canonical import entry_from_bytes
from tallystick.model.entry import EntryKind, LogName
from tallystick.model.evidence import Event
from tallystick.store.protocol import ArchivedEvent, Belief, Reading, Selection
from tallystick.trail import Trail
from tallystick.trail.archive import ArchiveReader, commits, digests_of, event_from_record, manifests
from tallystick.trail.points import Point, point
from tallystick.workflows.ingest import session_facts


class EvidenceLine(NamedTuple):
    """One place that bears a claim, as it reads now."""

    session: int
    event: str
    start: int
    end: int
    text: str
    """The bytes of the span, or of the whole event where the span is of all of it."""
    origin: str
    at: int
    """When it was said, microseconds UTC; -1 where no record says."""
    line: int
    """1-based physical line in the source file."""
    role: str
    """``quote`` | ``elided`` (what a stitched quote skips) | ``witness`` | ``said`` (where the extractor found it)"""
    digest_ok: bool
    """Whether the archived bytes are the ones that the trail commits to."""
    source: str
    source_state: str
    """``there`` | ``source gone`` | ``source changed`` | ``unknown``"""


class HistoryLine(NamedTuple):
    """One entry that was about the claim."""

    seq: int
    at: int
    kind: str
    what: str


class Provenance(NamedTuple):
    """All of it, as of a point."""

    point: Point
    belief: Belief | None
    """None where the claim is not held at the point."""
    claim: int
    text: str | None
    quote: str
    facts: dict[str, Any]
    evidence: tuple[EvidenceLine, ...]
    history: tuple[HistoryLine, ...]
    answers: tuple[int, ...]
    """Seqs of the access log that surfaced or cited it."""


def why(trail: Trail, claim: int, as_of: str | None) -> Provenance:
    """The provenance of a claim.

    Raises:
        UnknownId: no such claim at that point.
    """
    with trail.reading() as rows:
        at = point(trail, rows, as_of)
        if rows.claim_row(claim) is None or claim > at.seq:
            raise UnknownId(f"c{claim}: no such claim; `tally replay` lists what is believed")
        parts = {part.name: part.body for part in rows.parts(claim)}
        found = rows.believed(Selection(at.seq, after=claim - 1, limit=1))
        belief = found[0] if found and found[0].row.claim == claim else None
        evidence = tuple(_evidence(rows, claim, at.seq, parts))
        history = tuple(_history(rows, claim, at.seq))
    text = parts.get("text")
    quote = parts.get("quote", b"").decode("utf-8", "replace")
    return Provenance(
        at, belief, claim, None if text is None else text.decode("utf-8", "replace"), quote, _object(parts.get("facets", b"")),
        evidence, history, _answers(trail, claim, at.at if as_of is not None else None),
    )  # fmt: skip


def _evidence(rows: Reading, claim: int, seq: int, parts: dict[str, bytes]) -> list[EvidenceLine]:
    places: dict[tuple[str, int, int], str] = {}
    for row in rows.verdicts(claim):
        if row.seq <= seq:
            for verdict in _verdicts(rows, row.seq, claim):
                role = "witness" if verdict["verifier"].startswith("outcome/") else "quote"
                spans = [(str(event), int(start), int(end)) for _, event, start, end in verdict.get("spans", ())]
                places |= dict.fromkeys(spans, role) | dict.fromkeys(_skipped(spans), "elided")
    again = [touch.seq for touch in rows.touches(claim) if touch.kind == EntryKind.RECONFIRMED and touch.seq <= seq]
    said = [facets_of(parts).event]
    said += [facets_of({part.name: part.body for part in rows.parts(each)}).event for each in again]
    quoted = {event for event, _, _ in places}
    places |= {(event, 0, 0): "said" for event in said if event and event not in quoted}
    reader = _Evidence(rows)
    return [line for (event, start, end), role in places.items() if (line := reader.line(event, start, end, role))]


def _skipped(spans: list[tuple[str, int, int]]) -> list[tuple[str, int, int]]:
    """What stands between the pieces of a stitched quote, where they are of one event (QUOTE.3)."""
    return [
        (event, end, start)
        for (event, _, end), (following, start, _) in pairwise(spans)
        if event == following and end < start
    ]


def _verdicts(rows: Reading, seq: int, claim: int) -> list[dict[str, Any]]:
    body = next((part.body for part in rows.parts(seq) if part.name == f"verdict/{claim}"), b"")
    found = _object(body).get("verdicts", [])
    return found if isinstance(found, list) else []


class _Evidence:
    """Reads archived events again, each session's manifests once."""

    def __init__(self, rows: Reading) -> None:
        self._rows = rows
        self._archive = ArchiveReader(rows)
        self._digests: dict[int, dict[int, bytes]] = {}

    def line(self, event: str, start: int, end: int, role: str) -> EvidenceLine | None:
        row = self._rows.event(event)
        if row is None:
            return None
        record = self._archive.record(row)
        ok = commits(row, record, self._committed(row))
        try:
            content = event_from_record(record)
        except TrailUnreadable:
            ok, content = False, None
        source, state = _source_state(self._rows, row.session)
        if content is None:
            return EvidenceLine(row.session, event, start, end, "", "", -1, 0, role, ok, source, state)
        data = content.text.encode("utf-8", "replace")
        text = data[start : end or len(data)].decode("utf-8", "replace")
        return EvidenceLine(
            row.session, event, start, end or len(data), text, content.origin, _at(content), content.locator.line, role, ok,
            source, state,
        )  # fmt: skip

    def _committed(self, row: ArchivedEvent) -> bytes:
        if row.session not in self._digests:
            self._digests[row.session] = digests_of(manifests(self._rows, row.session))
        return self._digests[row.session].get(row.n, b"")


def _source_state(rows: Reading, session: int) -> tuple[str, str]:
    sources = rows.sources(session)
    for noted in sources:
        try:
            stat = Path(noted.path).stat()
        except OSError:
            continue
        same = stat.st_size >= noted.offset and stat.st_ino == noted.inode
        return noted.path, "there" if same else "source changed"
    return (sources[0].path, "source gone") if sources else ("", "unknown")


def _history(rows: Reading, claim: int, seq: int) -> list[HistoryLine]:
    seqs = {claim, *(touch.seq for touch in rows.touches(claim)), *(row.seq for row in rows.verdicts(claim))}
    lines = []
    for each in sorted(seqs):
        if each > seq:
            break
        for row in rows.entries(each, each + 1):
            entry = entry_from_bytes(row.canon)
            lines.append(HistoryLine(each, row.at, entry.kind, _what(rows, entry.kind, each, claim)))
    return lines


def _what(rows: Reading, kind: str, seq: int, claim: int) -> str:
    if kind == EntryKind.JUDGED:
        said = [f"{each['verifier']}: {each['value']} ({each['reason']})" for each in _verdicts(rows, seq, claim)]
        return "; ".join(said)
    parts = {part.name: part.body for part in rows.parts(seq)}
    if kind == EntryKind.REVISED and seq != claim:
        return f"by c{seq}: {parts.get('because', b'').decode('utf-8', 'replace')}"
    return parts.get("because", b"").decode("utf-8", "replace")


def _answers(trail: Trail, claim: int, before: int | None) -> tuple[int, ...]:
    """Before an instant, where one is given: what the access log held then never changes any more (TIME.3)."""
    with trail.reading(LogName.ACCESS) as rows:
        entries = (entry_from_bytes(row.canon) for row in rows.entries() if before is None or row.at < before)
        return tuple(entry.seq for entry in entries if claim in dict(entry.xrefs).get(LogName.MEMORY, ()))


def _at(event: Event) -> int:
    return -1 if event.at is None else event.at


def _object(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def session_label(rows: Reading, session: int) -> str:
    """``s12 (claude-code 2398…)`` for a reader."""
    for name in rows.names("session"):
        if name.seq == session:
            return f"s{session} ({session_facts(name).get('harness', '')} {name.name})"
    return f"s{session}"
