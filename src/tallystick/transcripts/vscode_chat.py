"""Reads the chats of VS Code, Copilot's among them: one JSON object a session, or a log of changes to such an object.

A log is put together first; what was said is read from what it comes to: what is cut off is gone, and an undone request
has the flag ``rewound``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import msgspec

from tallystick.errors import UsageError
from tallystick.model.evidence import Event, EventKind, Locator, Origin, Problem, SessionFacts, Status
from tallystick.transcripts import vscode_chat_records as shapes
from tallystick.transcripts.documents import UNREADABLE, DocumentReader, Message, Read
from tallystick.transcripts.protocol import FileView, Member, PendingCall, RawRecord
from tallystick.transcripts.texts import is_own_tool, milliseconds, path_of_uri, runs_own_command, type_name

_FOLDERS = frozenset({"chatSessions", "emptyWindowChatSessions", "transferredChatSessions"})
_ENDINGS = (".jsonl", ".json")
_HEADER = b'{"tallystick-folder":'
"""Begins the line that a gathered session has before it: the folder of its window."""
_HEAD_BYTES = 8192
_DENIED, _SKIPPED = 0, 5
"""Why a tool was not run: kinds of confirmation, as the editor numbers them."""
_OF_AGENTS = frozenset({"runSubagent", "copilot_runSubagent"})
_NOWHERE = Locator(0, 0, 0, 0, 0)


class _Prefix(msgspec.Struct):
    folder: str = msgspec.field(default="", name="tallystick-folder")


class _Ending(NamedTuple):
    status: Status
    exit_code: int | None = None
    flags: tuple[str, ...] = ()


_PREFIX = msgspec.json.Decoder(_Prefix)


class VsCodeChatReader(DocumentReader):
    """Reads one session; see ``Reader``. ``records`` are requests with their answers, and the lines of a log."""

    harness = "vscode-chat"

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._folder = ""
        self._ids: set[str] = set()

    def document(self, record: RawRecord) -> Iterator[Event]:
        """The events of a session, whichever form it is kept in. Places are those of its file."""
        data = record.data
        if data.startswith(_HEADER):
            head, _, data = data.partition(b"\n")
            try:
                self._folder = path_of_uri(_PREFIX.decode(head).folder)
            except UNREADABLE:
                self.counts["unreadable_folder"] += 1
        whole = RawRecord(1, 0, data)
        return self._log(whole) if shapes.is_log(data) else super().document(whole)

    def messages(self, data: bytes) -> list[msgspec.Raw]:
        """The requests, and the facts of the session."""
        session = shapes.SESSION.decode(data)
        self._learn(session)
        return session.requests

    def _learn(self, session: shapes.Session) -> None:
        name = self.name.rpartition("/")[2].removesuffix(".jsonl").removesuffix(".json")
        self.facts = SessionFacts(
            self.harness,
            session.sessionId or name,
            cwd=self._folder or path_of_uri(session.workingDirectory or ""),
            title=session.customTitle or "",
        )

    def _log(self, whole: RawRecord) -> Iterator[Event]:
        log = shapes.Log()
        for line, objects in self.log_lines(whole):
            applied, reason = "", ""
            for data in objects:
                try:
                    applied = log.take(data)
                except UNREADABLE as error:
                    reason = f"change cannot be made: {str(error)[:200]}"
            if applied:
                self.counts[f"record:{applied}"] += 1
            else:
                self.problems.append(Problem(line.line, reason))
        try:
            session = shapes.SESSION.decode(msgspec.json.encode(log.state))
        except UNREADABLE as error:
            self.records += 1
            self.problems.append(Problem(1, f"not a {self.harness} session: {str(error)[:200]}"))
            return
        self._learn(session)
        for index, request in enumerate(session.requests):
            self.records += 1
            yield from self._message(Message(index, bytes(request), 0, len(whole.data), 1))

    # --- one request and its answer

    def message(self, message: Message) -> Read:
        """What was asked, and what came of it."""
        request = shapes.REQUEST.decode(message.data)
        uid = request.requestId or f"R{message.index}"
        uid = uid if uid not in self._ids else f"{uid}@{message.index}"
        self._ids.add(uid)
        message.at = milliseconds(request.timestamp)
        asked = request.message if isinstance(request.message, str) else request.message.text
        attached = len(request.variableData.variables or ()) if request.variableData else 0
        self.counts.update({"block:attachment": attached} if attached else {})
        by_client = request.isSystemInitiated or request.confirmation
        whose = Origin.HARNESS if by_client else Origin.USER
        events = self.texts(message, f"{uid}:asked", asked or "", EventKind.MESSAGE, whose)
        answered = request.responseTimestamp or (request.modelState or shapes.ModelState()).completedAt
        message.at = milliseconds(answered)
        rounds = shapes.rounds(request)
        text: list[str] = []
        for number, part in enumerate(request.response or ()):
            words = shapes.words(part)
            if words is not None:
                text.append(words)
                continue
            events += self._said(message, f"{uid}:{number}", text)
            text = []
            events += self._part(message, f"{uid}:{number}", part, rounds)
        events += self._said(message, f"{uid}:end", text)
        failed = request.result.errorDetails.message if request.result and request.result.errorDetails else ""
        events += self.texts(message, f"{uid}:error", failed, EventKind.MESSAGE, Origin.HARNESS)
        if shapes.undone(request):
            self.counts["rewound"] += 1
            events = [event._replace(flags=(*event.flags, "rewound")) for event in events]
        return Read("request", events)

    def _said(self, message: Message, uid: str, text: list[str]) -> list[Event]:
        """The words before a part that is none; its number names them."""
        said = "".join(text)
        return self.texts(message, f"{uid}:said", said, EventKind.MESSAGE, Origin.ASSISTANT) if said.strip() else []

    def _part(self, message: Message, uid: str, part: shapes.Part, rounds: shapes.Rounds) -> list[Event]:
        if part.kind == "thinking":
            thought = part.value if isinstance(part.value, str) else "\n".join(part.value or ())
            return self.texts(message, uid, thought, EventKind.THINKING, Origin.ASSISTANT)
        if part.kind in ("toolInvocationSerialized", "toolInvocation"):
            return self._invoked(message, uid, part, rounds)
        if part.kind in ("warning", "progressMessage"):
            return self.texts(message, uid, shapes.text(part.content), EventKind.MESSAGE, Origin.HARNESS)
        self.counts[f"block:{type_name(part.kind)}"] += 1
        return []

    def _invoked(self, message: Message, uid: str, part: shapes.Part, rounds: shapes.Rounds) -> list[Event]:
        """A tool that was run, or that the person refused: a call with its result."""
        call_id = part.toolCallId or uid
        terminal = part.toolSpecificData or shapes.Specific()
        details = part.resultDetails if isinstance(part.resultDetails, shapes.Details) else shapes.Details()
        command = shapes.command(terminal)
        tool = part.toolId or "tool"
        own = is_own_tool(tool) or runs_own_command(command)
        pending = PendingCall(tool, command, (), ("own_tool",) if own else ())
        asked = rounds.arguments.get(call_id) or details.input or command or shapes.text(part.invocationMessage)
        began = self.call(message, f"{uid}:call", asked, call_id, pending)
        ending = _ending(part, terminal, details)
        printed = (terminal.terminalCommandOutput or shapes.Printed()).text
        answer = rounds.results.get(call_id) or printed or shapes.outputs(details) or shapes.text(part.pastTenseMessage)
        ended = Event(
            f"{uid}:out",
            EventKind.TOOL_RESULT,
            Origin.DELEGATED if tool in _OF_AGENTS else Origin.TOOL,
            answer,
            _NOWHERE,
            tool=tool,
            call_id=call_id,
            status=ending.status,
            exit_code=ending.exit_code,
            command=command,
            flags=(*pending.flags, *ending.flags),
        )
        events = [began, *self.results(message, ended)]
        thread = part.subAgentInvocationId or ""
        return [event._replace(thread=thread) for event in events] if thread else events


def _ending(part: shapes.Part, terminal: shapes.Specific, details: shapes.Details) -> _Ending:
    """How an invocation ended by what the editor keeps of it: a terminal's exit code, a refusal, an error (EVID.7)."""
    confirmed = part.isConfirmed
    kind = confirmed.type if isinstance(confirmed, shapes.Confirmed) else None
    if confirmed is False or kind in (_DENIED, _SKIPPED):
        return _Ending(Status.REJECTED)
    if not part.isComplete:
        return _Ending(Status.UNKNOWN, None, ("interrupted",))
    code = (terminal.terminalCommandState or shapes.State()).exitCode
    if code is not None:
        return _Ending(Status.FAILED if code else Status.OK, code)
    if details.isError is not None:
        return _Ending(Status.FAILED if details.isError else Status.OK)
    return _Ending(Status.UNKNOWN)


class VsCodeChat:
    """``chatSessions/<uuid>.json`` and ``.jsonl`` of a window, which names its folder in a file beside them."""

    name = "vscode-chat"
    framing = "gathered"

    def recognises(self, head: bytes, name: str) -> bool:
        """True when the document begins as a session of either form does."""
        del name  # The content says all.
        start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:_HEAD_BYTES]
        if shapes.BEGINS_LOG.match(start):
            return b'"requests"' in start or b'"creationDate"' in start
        return start.startswith(b"{") and b'"responderUsername"' in start and b'"requests"' in start

    def reader(self, name: str, calls: dict[str, PendingCall] | None = None) -> VsCodeChatReader:
        """A new reader; a document has no calls left open from before."""
        del calls
        return VsCodeChatReader(name)

    def anchor(self, path: str) -> str:
        """The folder of a window's sessions, or the file where it lies elsewhere."""
        folder = PurePosixPath(path).parent
        return folder.as_posix() if folder.name in _FOLDERS else path

    def gather(self, view: FileView, anchor: str) -> Iterator[Member]:
        """The sessions of a window; of one that was moved to a log, the log."""
        pure = PurePosixPath(anchor)
        if pure.name not in _FOLDERS:
            yield from self._members(view, pure.parent.as_posix(), [pure.name], "")
            return
        names = [name for name in view.names(anchor) if name.endswith(_ENDINGS)]
        there = set(names)
        kept = [name for name in names if f"{name}l" not in there]
        yield from self._members(view, anchor, kept, _window(view, pure.parent.as_posix()))

    def _members(self, view: FileView, folder: str, names: Iterable[str], window: str) -> Iterator[Member]:
        header = _HEADER + msgspec.json.encode(window) + b"}\n"
        for name in names:
            path = f"{folder}/{name}"
            state = view.state(path)
            if state is None:
                raise UsageError(f"{path}: no such file")

            def load(path: str = path) -> bytes:
                return header + view.read(path)

            yield Member(PurePosixPath(name).stem, state, load)


def _window(view: FileView, folder: str) -> str:
    """The address of the folder that is open in a window; empty for a window without one."""
    if view.state(f"{folder}/workspace.json") is None:
        return ""
    try:
        window: Any = msgspec.json.decode(view.read(f"{folder}/workspace.json"), type=shapes.Window)
    except UNREADABLE:
        return ""
    return window.folder or ""


VSCODE_CHAT = VsCodeChat()
