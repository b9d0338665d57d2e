"""Reads the event logs of GitHub Copilot CLI: one event a line, of which a few say something and most report progress.

From the event types that its public development kit declares; no real file was at hand.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import msgspec

from tallystick.model.evidence import Event, EventKind, Locator, Origin, Problem, SessionFacts, Status
from tallystick.model.temporal import Instant
from tallystick.transcripts.protocol import PendingCall, RawRecord
from tallystick.transcripts.salvage import salvaged
from tallystick.transcripts.texts import (
    cut,
    instant,
    is_own_tool,
    milliseconds,
    path_of_uri,
    pieces,
    runs_own_command,
    type_name,
)

_STATE = "@copilot-cli"
"""Key in ``calls`` that tells a later read of the file which session it is of."""
_LINES_TRIED = 8
_SHELLS = frozenset({"bash", "powershell", "shell"})
_WRITERS = frozenset({"create", "edit", "str_replace_editor", "write", "create_file", "apply_patch"})
_OF_AGENTS = frozenset({"task", "read_agent"})
"""Tools whose answer is another agent's report."""
_EXITED = re.compile(r"<(?:exited|shellId: [^\n<>]{1,80} completed) with exit code (-?\d{1,10})>\s{0,8}\Z")
_REFUSED = frozenset({"rejected", "denied"})
_KINDS = ("session.", "user.", "assistant.", "tool.", "system.", "hook.", "subagent.")
_UNREADABLE = (msgspec.DecodeError, RecursionError)


class _Line(msgspec.Struct):
    type: str
    data: msgspec.Raw = msgspec.Raw()
    id: str | None = None
    timestamp: str | float | None = None
    ephemeral: bool | None = None
    agentId: str | None = None  # noqa: N815


class _Block(msgspec.Struct):
    text: str | None = None
    content: str | None = None


_Content = str | list[_Block] | None


class _Context(msgspec.Struct):
    cwd: str | None = None
    branch: str | None = None
    repository: str | None = None


class _Start(msgspec.Struct):
    sessionId: str = ""  # noqa: N815
    copilotVersion: str | None = None  # noqa: N815
    context: _Context | None = None
    title: str | None = None


class _Said(msgspec.Struct):
    content: _Content = None
    transformedContent: str | None = None  # noqa: N815
    source: str | None = None
    inputOrigin: str | None = None  # noqa: N815
    attachments: list[msgspec.Raw] | None = None


class _Request(msgspec.Struct):
    toolCallId: str  # noqa: N815
    name: str = ""
    arguments: msgspec.Raw = msgspec.Raw(b"null")


class _Answer(msgspec.Struct):
    content: _Content = None
    reasoningText: str | None = None  # noqa: N815
    toolRequests: list[_Request] | None = None  # noqa: N815
    parentToolCallId: str | None = None  # noqa: N815


class _Started(msgspec.Struct):
    toolCallId: str  # noqa: N815
    toolName: str = ""  # noqa: N815
    arguments: msgspec.Raw = msgspec.Raw(b"null")
    parentToolCallId: str | None = None  # noqa: N815


class _Result(msgspec.Struct):
    content: _Content = None
    detailedContent: str | None = None  # noqa: N815


class _Error(msgspec.Struct):
    message: str = ""
    code: str | None = None


class _Shell(msgspec.Struct):
    exitCode: int | None = None  # noqa: N815


class _Complete(msgspec.Struct):
    toolCallId: str = ""  # noqa: N815
    success: bool | None = None
    result: _Result | str | None = None
    error: _Error | str | None = None
    shellExecution: _Shell | None = None  # noqa: N815
    parentToolCallId: str | None = None  # noqa: N815


class _Notice(msgspec.Struct):
    content: str | None = None
    message: str | None = None
    summaryContent: str | None = None  # noqa: N815
    answer: str | None = None


class _Arguments(msgspec.Struct):
    command: str | None = None
    path: str | None = None
    file_path: str | None = None


class _Ending(NamedTuple):
    text: str
    status: Status
    exit_code: int | None


_LINE = msgspec.json.Decoder(_Line)
_START = msgspec.json.Decoder(_Start)
_SAID = msgspec.json.Decoder(_Said)
_ANSWER = msgspec.json.Decoder(_Answer)
_STARTED = msgspec.json.Decoder(_Started)
_COMPLETE = msgspec.json.Decoder(_Complete)
_NOTICE = msgspec.json.Decoder(_Notice)
_ARGUMENTS = msgspec.json.Decoder(_Arguments)


class _Place:
    """One event of the log while it is read: where what it says stands."""

    def __init__(self, record: RawRecord, number: int, line: _Line) -> None:
        self.record = record
        self.block = 0
        self.at: Instant | None = _instant(line.timestamp)
        self.thread = line.agentId or ""
        self.uid = line.id or (f"L{record.line}:{number}" if number else f"L{record.line}")
        self.kind = line.type

    def next_locator(self) -> Locator:
        record = self.record
        self.block += 1
        return Locator(record.line, record.line - 1, self.block - 1, record.offset, len(record.data))


class CopilotCliReader:
    """Reads one log; see ``Reader``. ``calls`` may hold one entry that is no call, under ``@copilot-cli``."""

    def __init__(self, name: str, calls: dict[str, PendingCall] | None = None) -> None:
        self.calls: dict[str, PendingCall] = dict(calls or {})
        state = self.calls.pop(_STATE, PendingCall("", "", (), ()))
        self._named = "".join(state.paths)
        """The session's id as its first line gave it."""
        self.facts = SessionFacts("copilot-cli", self._named or _session(name))
        self.counts: Counter[str] = Counter()
        self.problems: list[Problem] = []
        self.records = 0
        self.records_with_events = 0
        self._begun = False
        self._readers: dict[str, Callable[[_Place, bytes], list[Event]]] = {
            "session.start": self._start,
            "session.resume": self._start,
            "user.message": self._user,
            "assistant.message": self._assistant,
            "tool.execution_start": self._started,
            "tool.user_requested": self._requested,
            "tool.execution_complete": self._complete,
            "session.compaction_complete": self._notice,
            "skill.invoked": self._notice,
            "system.notification": self._notice,
            "session.info": self._notice,
            "session.warning": self._notice,
            "session.error": self._notice,
            "user_input.completed": self._notice,
        }

    def read(self, records: Iterable[RawRecord]) -> Iterator[Event]:
        """Yield the events of each record, in order. Raises nothing for bad data."""
        for record in records:
            self.records += 1
            yield from self._record(record)
        if self._named:
            self.calls[_STATE] = PendingCall("", "", (self._named,), ())

    def _record(self, record: RawRecord) -> list[Event]:
        try:
            kind, events = self._object(record, 0, record.data)
        except _UNREADABLE:
            return self._salvaged(record)
        return self._settled(kind, events)

    def _salvaged(self, record: RawRecord) -> list[Event]:
        """A line that is not one clean object of a known shape: read what can be read, count the rest."""
        found, lost, repaired = salvaged(record.data)
        reason, kind = "" if found else "no JSON object", ""
        events: list[Event] = []
        for number, part in enumerate(found):
            try:
                told, more = self._object(record, number, part)
            except _UNREADABLE as error:
                reason = f"unexpected shape: {str(error)[:200]}"
                lost += 1
            else:
                kind, events = kind or told, events + more
        if not kind:
            self.problems.append(Problem(record.line, reason))
            return []
        for key, count in (("glued", len(found) - 1), ("mended", repaired), ("block:unreadable", lost)):
            self.counts.update({key: count} if count else {})
        return self._settled(kind, events)

    def _settled(self, kind: str, events: list[Event]) -> list[Event]:
        if events:
            self.records_with_events += 1
        else:
            self.counts[f"record:{kind}"] += 1
        return events

    def _object(self, record: RawRecord, number: int, data: bytes) -> tuple[str, list[Event]]:
        line = _LINE.decode(data)
        reader = self._readers.get(line.type)
        kind = type_name(line.type)
        if reader is None or line.ephemeral:
            return kind, []
        return kind, reader(_Place(record, number, line), bytes(line.data) or b"{}")

    # --- what each event says

    def _start(self, place: _Place, data: bytes) -> list[Event]:
        """Where the session runs; no event."""
        start = _START.decode(data)
        context = start.context or _Context()
        if not self._begun:
            self._begun = True
            self._named = self._named or start.sessionId
            self.facts = SessionFacts(
                "copilot-cli",
                self._named or self.facts.native_id,
                cwd=path_of_uri(context.cwd or ""),
                repository=context.repository or "",
                branch=context.branch or "",
                version=start.copilotVersion or "",
                title=start.title or "",
            )
        return []

    def _user(self, place: _Place, data: bytes) -> list[Event]:
        """A prompt as typed, and what the client put around it before the model saw it."""
        said = _SAID.decode(data)
        self.counts.update({"block:attachment": len(said.attachments)} if said.attachments else {})
        source = said.source or "user"
        if place.thread or said.inputOrigin or source.startswith("agent"):
            whose = Origin.DELEGATED
        else:
            whose = Origin.USER if source == "user" else Origin.HARNESS
        text = self._joined(said.content)
        events = self._texts(place, f"{place.uid}:text", text, EventKind.MESSAGE, whose)
        seen = said.transformedContent or ""
        at = seen.find(text) if text else -1
        around = (seen[:at].strip(), seen[at + len(text) :].strip()) if at >= 0 else (seen.strip(),)
        flags = () if at >= 0 else ("expanded",)
        for number, piece in enumerate(around):
            uid = f"{place.uid}:around:{number}"
            events += self._texts(place, uid, piece, EventKind.MESSAGE, Origin.HARNESS, flags)
        return events

    def _assistant(self, place: _Place, data: bytes) -> list[Event]:
        answer = _ANSWER.decode(data)
        place.thread = place.thread or answer.parentToolCallId or ""
        thought, text = answer.reasoningText or "", self._joined(answer.content)
        events = self._texts(place, f"{place.uid}:thought", thought, EventKind.THINKING, Origin.ASSISTANT)
        events += self._texts(place, f"{place.uid}:text", text, EventKind.MESSAGE, Origin.ASSISTANT)
        for request in answer.toolRequests or ():
            events += self._call(place, request.toolCallId, request.name, request.arguments)
        return events

    def _started(self, place: _Place, data: bytes) -> list[Event]:
        """The start of a call that the assistant's message did not tell of; else a copy."""
        started = _STARTED.decode(data)
        place.thread = place.thread or started.parentToolCallId or ""
        return self._call(place, started.toolCallId, started.toolName, started.arguments)

    def _requested(self, place: _Place, data: bytes) -> list[Event]:
        """A command that the person ran: theirs, and no call of the assistant."""
        started = _STARTED.decode(data)
        pending = _pending(started.toolName, _arguments(started.arguments))
        self.calls[started.toolCallId] = pending
        text = pending.command or _arguments(started.arguments)
        return self._texts(place, f"{place.uid}:text", text, EventKind.MESSAGE, Origin.USER)

    def _call(self, place: _Place, call_id: str, name: str, arguments: msgspec.Raw) -> list[Event]:
        if call_id in self.calls:
            return []
        text = _arguments(arguments)
        pending = _pending(name, text)
        self.calls[call_id] = pending
        fitted, flags = self._fitted(text, pending.flags)
        event = Event(
            f"{place.uid}:call:{call_id}",
            EventKind.TOOL_CALL,
            Origin.ASSISTANT,
            fitted,
            place.next_locator(),
            place.at,
            place.thread,
            pending.tool,
            call_id,
            command=pending.command,
            paths=pending.paths,
            flags=flags,
        )
        return [event]

    def _complete(self, place: _Place, data: bytes) -> list[Event]:
        complete = _COMPLETE.decode(data)
        place.thread = place.thread or complete.parentToolCallId or ""
        pending = self.calls.pop(complete.toolCallId, PendingCall("", "", (), ()))
        ending = self._ending(complete, pending.tool)
        origin = Origin.DELEGATED if pending.tool in _OF_AGENTS else Origin.TOOL
        events = []
        for part, piece in enumerate(pieces(ending.text)):
            fitted, flags = self._fitted(piece.text, pending.flags)
            event = Event(
                f"{place.uid}:out:{part}" if part else f"{place.uid}:out",
                EventKind.TOOL_RESULT,
                Origin.BRIEFING if piece.briefing else origin,
                fitted,
                place.next_locator(),
                place.at,
                place.thread,
                pending.tool,
                complete.toolCallId,
                ending.status,
                ending.exit_code,
                pending.command,
                pending.paths,
                flags,
            )
            events.append(event)
        return events

    def _ending(self, complete: _Complete, tool: str) -> _Ending:
        """How a call ended: by what the client says of it, and a shell by its exit code (EVID.7)."""
        result, error = complete.result, complete.error
        text = self._joined(result.content) if isinstance(result, _Result) else result or ""
        refused = isinstance(error, _Error) and (error.code or "") in _REFUSED
        text = "\n".join(filter(None, (text, error.message if isinstance(error, _Error) else error or "")))
        if not tool:
            return _Ending(text, Status.UNKNOWN, None)
        code = (complete.shellExecution or _Shell()).exitCode
        if code is None and tool in _SHELLS and (found := _EXITED.search(text[-120:])):
            code = int(found[1])
        if complete.success is None:
            return _Ending(text, Status.UNKNOWN, None)
        if complete.success:
            return _Ending(text, Status.FAILED if code else Status.OK, code)
        return _Ending(text, Status.REJECTED if refused else Status.FAILED, None if refused else code)

    def _notice(self, place: _Place, data: bytes) -> list[Event]:
        """What the client itself says: a summary, the body of a skill, a notice; and a person's answer to a question."""
        notice = _NOTICE.decode(data)
        uid = f"{place.uid}:text"
        if place.kind == "session.compaction_complete":
            return self._texts(place, uid, notice.summaryContent or "", EventKind.SUMMARY, Origin.HARNESS)
        if place.kind == "user_input.completed":
            return self._texts(place, uid, notice.answer or "", EventKind.MESSAGE, Origin.USER, ("feedback",))
        flags = ("expanded",) if place.kind == "skill.invoked" else ()
        text = notice.content or notice.message or ""
        return self._texts(place, uid, text, EventKind.MESSAGE, Origin.HARNESS, flags)

    # --- texts

    def _texts(
        self, place: _Place, uid: str, text: str, kind: EventKind, origin: Origin, flags: tuple[str, ...] = ()
    ) -> list[Event]:
        events = []
        for part, piece in enumerate(pieces(text) if text else ()):
            fitted, all_flags = self._fitted(piece.text, flags)
            whose = Origin.BRIEFING if piece.briefing else origin
            own = f"{uid}:{part}" if part else uid
            events.append(
                Event(own, kind, whose, fitted, place.next_locator(), place.at, place.thread, flags=all_flags)
            )
        return events

    def _fitted(self, text: str, flags: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
        fitted = cut(text)
        if fitted is text:
            return text, flags
        self.counts["oversized_text"] += 1
        return fitted, (*flags, "truncated")

    def _joined(self, content: _Content) -> str:
        if isinstance(content, str) or content is None:
            return content or ""
        texts = [block.text if block.text is not None else block.content for block in content]
        self.counts.update({"image": lost} if (lost := texts.count(None)) else {})
        return "\n".join(text for text in texts if text is not None)


def _arguments(arguments: msgspec.Raw) -> str:
    """The arguments as compact JSON; some builds write them as JSON in a string."""
    try:
        return msgspec.json.decode(arguments, type=str)
    except _UNREADABLE:
        pass
    text = bytes(arguments)
    return "" if text == b"null" else msgspec.json.format(text, indent=-1).decode("utf-8", "replace")


def _pending(name: str, arguments: str) -> PendingCall:
    try:
        known = _ARGUMENTS.decode(arguments)
    except (*_UNREADABLE, UnicodeEncodeError):
        known = _Arguments()
    command = (known.command or "") if name in _SHELLS else ""
    path = known.path or known.file_path or ""
    own = is_own_tool(name) or runs_own_command(command)
    return PendingCall(name, command, (path,) if name in _WRITERS and path else (), ("own_tool",) if own else ())


def _session(name: str) -> str:
    """The id in a log's name: of its folder, and in older builds of the file. All logs of the later builds have one name."""
    folder, _, file = name.rpartition("/")
    return folder.rpartition("/")[2] if file == "events.jsonl" else file.removesuffix(".zst").removesuffix(".jsonl")


def _instant(stamp: str | float | None) -> Instant | None:
    return instant(stamp) if isinstance(stamp, str) else milliseconds(stamp)


class CopilotCli:
    """``~/.copilot/session-state/<id>/events.jsonl``; the database beside the folders is made from them."""

    name = "copilot-cli"
    framing = "lines"

    def recognises(self, head: bytes, name: str) -> bool:
        """True when one of the first lines is an event of a kind that only this client writes, with its data."""
        del name  # The content says all.
        for line in head.lstrip(b"\xef\xbb\xbf").split(b"\n", _LINES_TRIED)[:_LINES_TRIED]:
            try:
                decoded = _LINE.decode(line)
            except _UNREADABLE:
                continue
            if decoded.type.startswith(_KINDS) and bytes(decoded.data).startswith(b"{"):
                return True
        return False

    def reader(self, name: str, calls: dict[str, PendingCall] | None = None) -> CopilotCliReader:
        """A new reader; the name of a log, or of its folder, is the session's where no line of it says."""
        return CopilotCliReader(name, calls)


COPILOT_CLI = CopilotCli()
