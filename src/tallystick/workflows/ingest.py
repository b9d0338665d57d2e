"""Ingest: transcripts in, archived events and certified claims out, with an account of every record (EVID.1–12)."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tallystick.beliefs import Name, object_of
from tallystick.errors import NotATranscript, UsageError
from tallystick.extractors.protocol import Extractor
from tallystick.log.canonical import encode, entry_from_bytes
from tallystick.model.entry import EntryKind, LogName
from tallystick.model.evidence import Event, Origin, SessionFacts
from tallystick.redaction import redact, redact_event
from tallystick.store.protocol import Reading, SourceRow, Writing
from tallystick.trail import Appender, Trail
from tallystick.trail.archive import ArchiveReader, event_id
from tallystick.trail.erased import was_erased
from tallystick.transcripts.protocol import Adapter, Gatherer, Reader
from tallystick.transcripts.sources import (
    ENDINGS,
    Source,
    Unreadable,
    adapter_for,
    found_files,
    members_of,
    records_of,
    shown_path,
    source_of,
)
from tallystick.transcripts.view import DiskView
from tallystick.workflows.archiving import SessionArchive
from tallystick.workflows.certifying import Certified, capped, certify_outcome, certify_quote, renamed
from tallystick.workflows.corrections import mark_corrected
from tallystick.workflows.known_sessions import file_all, file_session, known_session
from tallystick.workflows.observing import Observation
from tallystick.workflows.reconciling import Holders, Reconciler
from tallystick.workflows.resuming import ANEW, Start, calls_kept, note_place, where_to_start
from tallystick.workflows.tombstones import Tombstones

SLICE_BYTES = 8 * 1024 * 1024
SLICE_EVENTS = 20_000
"""A longer session is committed in slices of this many events or bytes of text."""
LOOKED_UP = 256
"""Events that are looked up at once among what was forgotten, where anything was."""


class IngestProblem(NamedTuple):
    """Something that could not be read; ``line`` is 0 where it is the file as a whole."""

    file: str
    line: int
    reason: str


class Tools(NamedTuple):
    """What ingest is handed: nothing here is chosen by the workflow."""

    adapters: Sequence[Adapter]
    extractor: Callable[[], Extractor]
    count_tokens: Callable[[str], int]
    person: str
    """Name of the person's holder."""
    project_of: Callable[[SessionFacts], str]
    """Name of the project's holder for a session."""
    since: int | None = None
    """Only files changed at or after this instant."""
    thorough: bool = False
    redact_emails: bool = False
    shown_before: Callable[[int | None], Sequence[str]] = lambda _at: ()
    """What we showed anywhere before an instant: an assistant that says it again adds nothing (QUOTE.6)."""
    progress: Callable[[str, int], None] = lambda _name, _bytes: None
    """Told the name of each file and its size when it is done."""


class IngestReport:
    """What happened, for the caller to show; filled as the work goes on."""

    def __init__(self) -> None:
        self.files = 0
        self.sessions: set[int] = set()
        self.events = 0
        self.skipped_unchanged = 0
        self.bytes = 0
        self.seconds = 0.0
        self.size = 0
        self.problems: list[IngestProblem] = []
        self.refused: list[Unreadable] = []
        """Paths that the caller named and that gave nothing."""
        self.counts: Counter[str] = Counter()
        self.gathered: set[Path] = set()
        """Files and folders that sessions were gathered from: the other files in them are not looked at."""

    @property
    def claims(self) -> int:
        """Claims opened."""
        return self.counts["claims:asserted"]


def ingest(trail: Trail, paths: Sequence[Path], tools: Tools, *, discovered: bool = False) -> IngestReport:
    """Read every transcript among ``paths`` and keep what it says. Problems are counted and reported, never raised.

    A path that was ``discovered``, and not named by anybody, may turn out to hold no transcript.

    Raises:
        MachineError: the trail cannot be written; what was committed before stays.
    """
    began = time.perf_counter()
    report = IngestReport()
    files, bad = found_files(paths)
    for each in bad:
        report.problems.append(IngestProblem(each.path, 0, each.reason))
        if each.asked:
            report.refused.append(each)
    named = set() if discovered else set(paths)
    wrote = False
    for path in files:
        wrote |= _file(trail, path, tools, report, asked=path in named)
    if wrote:
        trail.seal(LogName.MEMORY)
    if report.counts["claims:withdrawn"] or report.counts["claims:superseding"]:
        mark_corrected(trail)
    with trail.reading() as rows:
        report.size = rows.head().size
    report.seconds = time.perf_counter() - began
    return report


def _file(trail: Trail, path: Path, tools: Tools, report: IngestReport, *, asked: bool) -> bool:
    """Read one file; True when anything was written."""
    if not report.gathered.isdisjoint((path, *path.parents)):
        return False
    wrote = False
    try:
        source = source_of(path)
        if tools.since is not None and source.state.mtime_ns // 1000 < tools.since:
            report.counts["files_before_since"] += 1
            return False
        start = where_to_start(trail, source, report.counts, thorough=tools.thorough)
        if start is None:
            report.skipped_unchanged += 1
            return False
        adapter = adapter_for(path, tools.adapters)
        if isinstance(adapter, Gatherer):
            wrote = _members(trail, path, adapter, tools, report)
        else:
            if adapter.framing == "document":
                start = ANEW._replace(session=start.session)
            read = _SourceRead(trail, source, adapter, tools, report, start)
            read.run()
            wrote = read.wrote
    except NotATranscript as error:
        report.counts["files_not_transcripts"] += 1
        if asked or path.name.endswith(ENDINGS):
            _refuse(report, path, str(error), asked=asked)
        return wrote
    except UsageError as error:
        _refuse(report, path, str(error), asked=True)
        return wrote
    except (OSError, UnicodeError) as error:
        _refuse(report, path, getattr(error, "strerror", None) or str(error), asked=asked)
        return wrote
    tools.progress(shown_path(Path(path.name)), source.state.size)
    return wrote


def _members(trail: Trail, path: Path, adapter: Gatherer, tools: Tools, report: IngestReport) -> bool:
    """Read every session that is gathered from where a file lies; True when anything was written.

    One that cannot be read is a problem and the others are read; of the place it is noted that it was read when all were.
    """
    wrote = failed = False
    anchor = Path(adapter.anchor(path.as_posix()))
    report.gathered.add(anchor)
    with DiskView() as view:
        state = view.state(str(anchor))
        try:
            for source in members_of(adapter, view, path):
                start = where_to_start(trail, source, report.counts, thorough=tools.thorough)
                if start is None:
                    report.skipped_unchanged += 1
                    continue
                read = _SourceRead(trail, source, adapter, tools, report, ANEW._replace(session=start.session))
                try:
                    read.run()
                except (OSError, UnicodeError, UsageError) as error:
                    report.problems.append(IngestProblem(source.shown, 0, str(error)))
                    failed = True
                wrote |= read.wrote
        except (OSError, UnicodeError, UsageError) as error:
            # Of a place that breaks off, what was read before is kept, and sealed with the rest.
            _refuse(report, anchor, str(error), asked=True)
            failed = True
    if state is not None and anchor.is_file() and trail.id and not failed:
        note_place(trail, shown_path(anchor), state)
        wrote = True
    return wrote


def _refuse(report: IngestReport, path: Path, reason: str, *, asked: bool) -> None:
    reason = reason.removeprefix(f"{shown_path(path)}: ")
    report.problems.append(IngestProblem(shown_path(path), 0, reason))
    if asked:
        report.refused.append(Unreadable(shown_path(path), reason, asked=True))


class _SourceRead:
    """One reading of one file: events into slices, then the session's claims with the last slice."""

    def __init__(
        self,
        trail: Trail,
        source: Source,
        adapter: Adapter,
        tools: Tools,
        report: IngestReport,
        start: Start,
    ) -> None:
        self._trail = trail
        self._source = source
        self._adapter = adapter
        self._tools = tools
        self._report = report
        self._start = start
        self._session = start.session
        self._reader: Reader = adapter.reader(source.name, start.calls)
        self._observation = Observation(tools.extractor())
        self._slice: list[tuple[str, Event]] = []
        self._slice_bytes = 0
        self._noted_as = source.shown
        self._waiting: list[tuple[Event, SessionFacts]] = []
        """Events that may have been forgotten, to be looked up together."""
        self._forgets = False
        self._forgotten = 0
        self._forgotten_calls: set[str] = set()
        if trail.id:
            with trail.reading() as rows:
                tombstones = Tombstones(rows, self._digest)
                self._forgets = bool(tombstones)
                self._noted_as = tombstones.noted_as(self._noted_as)
        named = "" if self._noted_as != source.shown else redact(source.shown).text
        self._archive = SessionArchive(adapter.name, named, self._digest)
        self._changed = False
        self.wrote = False

    def run(self) -> None:
        """Read to the end of what is there."""
        if self._start.offset:
            self._replay_archive()
        with self._source.opened() as stream:
            records = records_of(self._adapter, stream, self._start.offset, self._start.line)
            for event in self._reader.read(records):
                self._take(event)
            position = records.position
        self._observe()
        self._account(records.problems)
        if self._reader.records or self._start.offset:
            self._finish(position)
        self._report.counts.update(self._archive.counts)

    def _replay_archive(self) -> None:
        """A grown session is observed from its beginning; what was read before comes from the archive."""
        facts = self._reader.facts
        with self._trail.reading() as rows:
            for event, content in ArchiveReader(rows).session(self._session):
                self._observation.take(content._replace(uid=event), facts)

    def _take(self, event: Event) -> None:
        facts = self._reader.facts
        place = event_id(facts.harness, facts.native_id, facts.thread, event.uid)
        event, redacted = redact_event(event, emails=self._tools.redact_emails)
        if redacted:
            self._report.counts.update({f"redacted:{kind}": n for kind, n in redacted.items()})
        self._waiting.append((event._replace(uid=place), facts))
        if not self._forgets or len(self._waiting) >= LOOKED_UP:
            self._observe()
        self._slice.append((place, event))
        self._slice_bytes += len(event.text)
        self._report.events += 1
        if self._slice_bytes >= SLICE_BYTES or len(self._slice) >= SLICE_EVENTS:
            with self._trail.writing() as appender:
                self._keep(appender)
            self.wrote = True

    def _observe(self) -> None:
        """Observe what waits, but for what was forgotten."""
        waiting, self._waiting = self._waiting, []
        if self._forgets and waiting:
            with self._trail.reading() as rows:
                tombstones = Tombstones(rows, self._digest)
                gone = [event for event, _ in waiting if tombstones.has_event(event.uid, event)]
            self._forgotten += len(gone)
            self._report.counts["events_forgotten"] += len(gone)
            self._forgotten_calls |= {event.call_id for event in gone}
            dropped = {event.uid for event in gone}
            waiting = [(event, facts) for event, facts in waiting if event.uid not in dropped]
        for event, facts in waiting:
            self._observation.take(event, facts)

    def _keep(self, appender: Appender) -> None:
        """Archive the slice under its session; what was forgotten as a whole introduces none."""
        events, self._slice, self._slice_bytes = self._slice, [], 0
        if self._session < 0 and not self._observation.seen and self._forgotten:
            self._session = self._known_session(appender.rows)
            if self._session < 0:
                return
        session = self._find_session(appender)
        self._changed |= self._archive.keep(appender, session, events)

    def _find_session(self, appender: Appender) -> int:
        facts = self._reader.facts
        native = facts.native_id or self._source.stem
        if self._session < 0:
            self._session = self._known_session(appender.rows)
        if self._session < 0:
            project = appender.holder(redact(self._tools.project_of(facts)).text, "project")
            about = {
                "branch": facts.branch,
                "cwd": facts.cwd,
                "harness": facts.harness,
                "name": native,
                "parent": facts.parent,
                "repository": facts.repository,
                "thread": facts.thread,
                "title": facts.title,
                "version": facts.version,
            }
            body = {
                name: redact(value).text.encode("utf-8", "replace").decode() for name, value in about.items() if value
            }
            self._session = appender.add(EntryKind.INTRODUCED, {"session": encode(body)}, holder=project)
            file_session(appender.rows, self._digest, self._names(), self._session)
            self._changed = True
        self._report.sessions.add(self._session)
        return self._session

    def _names(self) -> tuple[str, str, str]:
        facts = self._reader.facts
        return facts.harness, facts.native_id or self._source.stem, facts.thread

    def _known_session(self, rows: Writing) -> int:
        names = self._names()
        file_all(rows, self._digest, sessions_by_name)
        found = known_session(rows, self._digest, names)
        return found if found >= 0 else Tombstones(rows, self._digest).session(*names)

    def _account(self, unread: Sequence[object]) -> None:
        reader, report = self._reader, self._report
        report.files += 1
        report.bytes += self._source.state.size - self._start.offset
        report.counts["records"] += reader.records
        report.counts["records_with_events"] += reader.records_with_events
        report.counts.update(reader.counts)
        for problem in (*reader.problems, *unread):
            line, reason = getattr(problem, "line", 0), getattr(problem, "reason", str(problem))
            report.problems.append(IngestProblem(self._source.shown, line, reason))
        report.counts["records_unreadable"] += len(reader.problems)
        report.counts["lines_skipped"] += len(unread)
        if reader.records and not (self._observation.seen or self._forgotten):
            known = reader.records == sum(n for kind, n in reader.counts.items() if kind.startswith("record:"))
            unknown = sum(n for kind, n in reader.counts.items() if kind.startswith("record:unknown"))
            if not known or unknown:
                reason = f"no events in {reader.records} records: the harness may have renamed them; nothing was kept"
                report.problems.append(IngestProblem(self._source.shown, 0, reason))

    def _finish(self, position: tuple[int, int]) -> None:
        """The last slice, the claims and the note of how far the file was read, in one transaction."""
        self._observation.close()
        with self._trail.writing() as appender:
            if self._slice or self._session >= 0:
                self._keep(appender)
            if self._session >= 0 and (self._changed or not self._start.offset):
                # A file read from its start is always heard out: an earlier reading may have stopped between its events
                # and its claims, and saying what is known already adds nothing.
                self._see_whole(appender)
                if self._observation.seen or not self._forgotten:
                    self._say(appender)
            digest = self._digest
            offset, line = position
            appender.rows.note_source(
                SourceRow(
                    self._noted_as,
                    self._session,
                    *self._source.state,
                    offset,
                    line,
                    self._source.digest(offset, digest),
                    calls_kept(self._reader.calls, self._forgotten_calls),
                )
            )
        self.wrote = True

    def _see_whole(self, appender: Appender) -> None:
        """Where other files have told of this session too, observe all of it in the order in which it happened."""
        rows = appender.rows
        others = [source for source in rows.sources(self._session) if source.path != self._noted_as]
        covered = self._archive.covered and not self._start.offset
        if covered or not (others or not self._start.offset):
            return
        self._observation = Observation(self._tools.extractor())
        for event, content in ArchiveReader(rows).session(self._session):
            self._observation.take(content._replace(uid=event), self._reader.facts)
        self._observation.close()
        self._archive.renamed.clear()

    def _digest(self, data: bytes) -> bytes:
        return self._trail.outside.digest(self._trail.id, data)

    def _say(self, appender: Appender) -> None:
        """Certify what the extractor offered, and reconcile it with what is believed."""
        project = _holder_of(appender.rows, self._session)
        holders = Holders(project, appender.holder(self._tools.person, "person"))
        reconciler = Reconciler(appender, holders, self._digest, self._tools.count_tokens)
        said: Iterable[Certified] = self._certified()
        if self._forgets and was_erased(appender.rows, self._session):
            # What is left of the events before says other things than all of them did.
            said = (each for each in said if each.event in self._archive.fresh)
        reconciler.session(self._session, list(said), self._observation.extractor.name)
        self._report.counts.update({f"claims:{name}": n for name, n in reconciler.counts.items()})

    def _certified(self) -> Iterator[Certified]:
        facts, seen = self._reader.facts, self._observation
        for offered, event, position in seen.candidates:
            if event is None:
                self._report.counts["candidates_without_event"] += 1
                continue
            candidate = capped(offered._replace(origin=event.origin))
            session = f"s{self._session}"
            shown = [*seen.surfaced, *self._tools.shown_before(event.at)] if event.origin is Origin.ASSISTANT else []
            quoted = certify_quote(candidate, [event], shown, session)
            outcome = certify_outcome(
                candidate,
                seen.signals,
                position=position,
                thread=event.thread,
                session=session,
                has_results=facts.has_results,
            )
            verdicts = (quoted,) if outcome.verdict is None else (quoted, outcome.verdict)
            yield renamed(Certified(candidate, event.uid, position, verdicts, outcome.settle), self._archive.renamed)


def session_seq(rows: Reading, harness: str, native: str, thread: str) -> int:
    """Our number of a session, by the harness's own id and thread; -1 where it is not known."""
    for name in rows.names("session"):
        facts = session_facts(name)
        if (name.name, facts.get("harness", ""), facts.get("thread", "")) == (native, harness, thread):
            return name.seq
    return -1


def sessions_by_name(rows: Reading) -> list[tuple[tuple[str, str, str], int]]:
    """((harness, the harness's own id, thread), number) of every session whose name is there."""
    found = []
    for name in rows.names("session"):
        facts = session_facts(name)
        found.append(((facts.get("harness", ""), name.name, facts.get("thread", "")), name.seq))
    return found


def session_facts(name: Name) -> dict[str, str]:
    """What was said of a session when it was introduced."""
    return {key: value for key, value in object_of(name.facts.encode()).items() if isinstance(value, str)}


def _holder_of(rows: Reading, session: int) -> str:
    """The holder under which a session was introduced."""
    return next((entry_from_bytes(row.canon).holder for row in rows.entries(session, session + 1)), "")
