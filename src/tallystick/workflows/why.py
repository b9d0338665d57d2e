"""Why: where a claim comes from, with its evidence read again from the archive and checked against what was committed to."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from tallystick.beliefs import axis_of, facets_of, object_of
from tallystick.errors import TrailUnreadable, UnknownId
from tallystick.log.canonical import entry_from_bytes
from tallystick.model.entry import Entry, EntryKind, LogName
from tallystick.model.evidence import Event
from tallystick.store.protocol import ArchivedEvent, Belief, Reading, Selection
from tallystick.trail import Trail
from tallystick.trail.archive import ArchiveReader, commits, digests_of, event_from_record, is_erased, manifests
from tallystick.trail.erased import Tombstone, tombstone
from tallystick.trail.points import Point, point
from tallystick.transcripts.sources import path_of
from tallystick.workflows.contexts import entry_at
from tallystick.workflows.ingest import session_facts
from tallystick.workflows.valid_times import Stated, stated

MOST_OF_A_CHAIN = 500
"""Members of a chain of revisions that are followed up."""


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
    erased: bool = False
    """Whether the event was erased: nothing is left to be read again."""


class HistoryLine(NamedTuple):
    """One entry that was about the claim."""

    seq: int
    at: int
    kind: str
    what: str


class ChainLine(NamedTuple):
    """One member of a chain of revisions."""

    claim: int
    held: bool
    followed_by: tuple[int, ...]
    """More than one where it was revised twice: of two times, or in a fork."""
    forked: bool = False
    """It was revised again when it was not held any more: what followed it contradicts itself."""


class AnswerLine(NamedTuple):
    """That a recall or briefing showed the claim, or that an answer cited or ignored it, or was corrected in it."""

    id: str
    """``r5`` or ``a12``."""
    kind: str
    """``surfaced`` | ``cited`` | ``ignored`` | ``corrected``"""
    at: int


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
    answers: tuple[AnswerLine, ...]
    """Where it was shown, and what the answers made of it, in the order of time."""
    chain: tuple[ChainLine, ...] = ()
    """Of the revisions that it is part of; the claim alone where it is part of none."""
    erased: Tombstone | None = None
    """What stands in the place of its words, whatever point was asked for."""
    stated: Stated = Stated()
    """How its valid time was stated."""


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
        belief = next(iter(rows.believed(Selection(at.seq, claims=(claim,)))), None)
        evidence = tuple(_evidence(rows, claim, at.seq, parts))
        history = tuple(_history(rows, claim, at.seq))
        chain = _chain(rows, claim, at.seq)
        gone = tombstone(rows, claim) if "text" not in parts else None
        how = stated(rows, claim)
    text = parts.get("text")
    quote = parts.get("quote", b"").decode("utf-8", "replace")
    return Provenance(
        at, belief, claim, None if text is None else text.decode("utf-8", "replace"), quote, object_of(parts.get("facets", b"")),
        evidence, history, _answers(trail, claim, at.at if as_of is not None else None), chain, gone, how,
    )  # fmt: skip


def _evidence(rows: Reading, claim: int, seq: int, parts: dict[str, bytes]) -> list[EvidenceLine]:
    """What bears the claim at the point: what its verdicts of then say, and where it and what was merged into it was said."""
    places: dict[tuple[str, int, int], str] = {}
    reader = _Evidence(rows)
    for each in (claim, *_merged_into(rows, claim, seq)):
        own = parts if each == claim else {part.name: part.body for part in rows.parts(each)}
        places |= _borne_by(rows, each, seq, own)
    return [line for (event, start, end), role in places.items() if (line := reader.line(event, start, end, role))]


def _merged_into(rows: Reading, claim: int, seq: int) -> list[int]:
    """Claims that were corrected into this one, by the point."""
    links = [link for link in rows.links_of(claim) if link.kind == "revises" and link.seq <= seq < link.tx_to]
    return [link.older for link in links if link.newer == claim != link.seq]


def _borne_by(rows: Reading, claim: int, seq: int, parts: dict[str, bytes]) -> dict[tuple[str, int, int], str]:
    """(event, start, end) → role of what one claim rests on: of each axis the verdict that stood at the point (TIME.13)."""
    places: dict[tuple[str, int, int], str] = {}
    newest = {row.axis: row for row in rows.verdicts(claim) if row.seq <= seq}
    for row in newest.values():
        for verdict in _verdicts(rows, row.judged, claim):
            if axis_of(str(verdict.get("verifier", ""))) == row.axis:
                role = "witness" if row.axis == "outcome" else "quote"
                spans = [(str(event), int(start), int(end)) for _, event, start, end in verdict.get("spans", ())]
                places |= dict.fromkeys(spans, role) | dict.fromkeys(_skipped(spans), "elided")
    again = [touch.seq for touch in rows.touches(claim) if touch.kind == EntryKind.RECONFIRMED and touch.seq <= seq]
    said = [facets_of(parts).event]
    said += [facets_of({part.name: part.body for part in rows.parts(each)}).event for each in again]
    quoted = {event for event, _, _ in places}
    return places | {(event, 0, 0): "said" for event in said if event and event not in quoted}


def _chain(rows: Reading, claim: int, seq: int) -> tuple[ChainLine, ...]:
    """Everything that the claim followed or that followed it, by revisions, in order (case 20)."""
    found: dict[int, None] = {claim: None}
    links: dict[tuple[int, int], int] = {}
    waiting = [claim]
    while waiting and len(found) <= MOST_OF_A_CHAIN:
        for link in rows.links_of(waiting.pop()):
            if link.kind == "revises" and link.seq <= seq < link.tx_to:
                links[link.newer, link.older] = link.seq
                fresh = [each for each in (link.newer, link.older) if each not in found]
                found |= dict.fromkeys(fresh)
                waiting += fresh
    held = {row.row.claim for row in rows.believed(Selection(seq, claims=tuple(sorted(found))))}
    lines = []
    for each in sorted(found):
        followed = {newer: at for (newer, older), at in links.items() if older == each}
        forked = len(followed) > 1 and not all(_held_before(rows, each, at) for at in followed.values())
        lines.append(ChainLine(each, each in held, tuple(sorted(followed)), forked))
    return tuple(lines)


def _held_before(rows: Reading, claim: int, seq: int) -> bool:
    return any(version.tx_from < seq <= version.tx_to for version in rows.versions(claim))


def _skipped(spans: list[tuple[str, int, int]]) -> list[tuple[str, int, int]]:
    """What stands between the pieces of a stitched quote, where they are of one event (QUOTE.3)."""
    return [
        (event, end, start)
        for (event, _, end), (following, start, _) in pairwise(spans)
        if event == following and end < start
    ]


def _verdicts(rows: Reading, seq: int, claim: int) -> list[dict[str, Any]]:
    body = next((part.body for part in rows.parts(seq) if part.name == f"verdict/{claim}"), b"")
    found = object_of(body).get("verdicts", [])
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
        if is_erased(row):
            source, state = _source_state(self._rows, row.session)
            return EvidenceLine(row.session, event, start, end, "", "", -1, 0, role, False, source, state, erased=True)
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
            stat = Path(path_of(noted.path)).stat()
        except OSError:
            continue
        # Whether one session of many in a place changed, and how long what is compressed is, is for ingest to find.
        apart = path_of(noted.path) != noted.path or noted.path.endswith(".zst")
        same = apart or (stat.st_size >= noted.offset and stat.st_ino == noted.inode)
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


def _answers(trail: Trail, claim: int, before: int | None) -> tuple[AnswerLine, ...]:
    """Before an instant, where one is given: what the access log held then never changes any more (TIME.3)."""
    found: list[AnswerLine] = []
    cited: set[int] = set()
    with trail.reading(LogName.ACCESS) as rows:
        for touch in rows.touches(claim):
            entry = entry_at(rows, touch.seq)
            if entry is None or (before is not None and entry.at >= before):
                continue
            if entry.kind == EntryKind.CITED:
                cited.add(entry.seq)
            found += [AnswerLine(each, entry.kind, entry.at) for each in _ids(entry, cited)]
    return tuple(found)


def _ids(entry: Entry, cited: set[int]) -> list[str]:
    """The recall or briefing, or the answers, that an entry of the access log is about; of a correction those in ``cited``."""
    if entry.kind in (EntryKind.RECALLED, EntryKind.SURFACED):
        return [f"r{entry.refs[0] if entry.refs else entry.seq}"]
    if entry.kind == EntryKind.CITED:
        return [f"a{entry.seq}"]
    if entry.kind == EntryKind.IGNORED:
        return [f"a{seq}" for seq in entry.refs[:1]]
    return [f"a{seq}" for seq in entry.refs if seq in cited]


def _at(event: Event) -> int:
    return -1 if event.at is None else event.at


def session_label(rows: Reading, session: int) -> str:
    """``s12 (claude-code 2398…)`` for a reader."""
    for name in rows.names("session"):
        if name.seq == session:
            return f"s{session} ({session_facts(name).get('harness', '')} {name.name})"
    return f"s{session}"
