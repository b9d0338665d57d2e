"""Reads the chats of Gemini CLI: one JSON object a session, or a log in which messages are written again and taken back.

Of a log the last writing of a message counts, at its first place; what was rewound is counted and leaves the memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

import msgspec

from tallystick.model.evidence import Event, EventKind, Locator, Origin, Problem, SessionFacts, Status
from tallystick.transcripts import gemini_cli_records as shapes
from tallystick.transcripts.documents import UNREADABLE, DocumentReader, Message, Read
from tallystick.transcripts.protocol import PendingCall, RawRecord
from tallystick.transcripts.texts import instant, is_own_tool, runs_own_command

_SHELL = "run_shell_command"
_TYPES = frozenset({"user", "gemini", "info", "error", "warning"})
_WRITERS = frozenset({"write_file", "replace", "edit", "smart_edit"})
_COMMAND = re.compile(r"/[A-Za-z][\w:-]*(?:\s|\Z)")
_NOT_TYPED = ("<session_context>", "<hook_context>", "System: Please continue.")
_SUMMARY = "<state_snapshot>"
_AFTER_SUMMARY = "Got it. Thanks for the additional context!"
"""What the client itself lets the model answer to a summary."""
_EXIT = "\nExit Code: "
_TAIL = re.compile(
    r"\nExit Code: (-?\d{1,10}|\(none\))(?:\nSignal: [^\n]{0,40})?(?:\nBackground PIDs: ([^\n]{0,400}))?"
    r"\nProcess Group PGID: [^\n]{0,40}\Z"
)
_BEGINS = re.compile(rb'\{\s{0,16}"sessionId"')
_NOT_ALLOWED = "User did not allow tool call"
_CUT = ("Tool output was too large", "Output too large.", "... [CONTENT TRUNCATED]")
_NOWHERE = Locator(0, 0, 0, 0, 0)


class _Ending(NamedTuple):
    status: Status
    exit_code: int | None
    flags: tuple[str, ...]


class GeminiCliReader(DocumentReader):
    """Reads one session; see ``Reader``. ``records`` are messages, or the lines of a log."""

    harness = "gemini-cli"

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._ids: set[str] = set()
        self._answered: set[str] = set()
        """Ids of calls whose result was read."""

    # --- the two forms

    def document(self, record: RawRecord) -> Iterator[Event]:
        """The events of a session, whichever form it is kept in."""
        return self._log(record) if shapes.is_log(record.data) else super().document(record)

    def messages(self, data: bytes) -> list[msgspec.Raw]:
        """The messages, and the facts of the session."""
        document = shapes.DOCUMENT.decode(data)
        session = shapes.Session(document.sessionId, document.kind, document.summary, document.directories)
        self._learn(session)
        return document.messages

    def _learn(self, session: shapes.Session) -> None:
        native = session.sessionId or self.facts.native_id
        delegated = session.kind == "subagent" or (session.kind is None and bool(self.facts.thread))
        self.facts = SessionFacts(
            self.harness,
            native,
            thread=native if delegated else "",
            cwd=(session.directories or [self.facts.cwd])[0],
            title=session.summary or self.facts.title,
            parent=self._parent() if delegated else "",
        )

    def _parent(self) -> str:
        """A sub-agent's chat lies in a folder that is called as the session that started it."""
        folders = self.name.split("/")[:-1]
        return folders[-1] if len(folders) > 1 and folders[-2] == "chats" else ""

    def _log(self, record: RawRecord) -> Iterator[Event]:
        log = shapes.Log()
        for line, objects in self.log_lines(record):
            for data in objects:
                try:
                    session = log.take(line, data)
                except UNREADABLE as error:
                    log.unread[line.line] = f"unexpected shape: {str(error)[:200]}"
                    continue
                if session is not None:
                    self._learn(session)
        telling: set[int] = set()
        unread: dict[int, str] = log.unread
        # After those that stand, so that what is told by both is told by them.
        for number, written in enumerate((*log.shown.values(), *log.gone)):
            gone = number >= len(log.shown)
            line = written.line
            message = Message(line.line - 1, written.data, line.offset, len(line.data), line.line, line.line)
            try:
                events = self.message(message).events
            except UNREADABLE as error:
                unread.setdefault(line.line, f"unexpected shape: {str(error)[:200]}")
                continue
            if events:
                telling.add(line.line)
            yield from (event._replace(flags=(*event.flags, "rewound")) if gone else event for event in events)
        for number, kind in log.kinds.items():
            if number in telling:
                self.records_with_events += 1
            elif number in unread:
                self.problems.append(Problem(number, unread[number]))
            else:
                self.counts[f"record:{kind}"] += 1
        self.counts.update(log.counts)
        self.counts.update({"block:unreadable": len(telling & unread.keys())} if telling & unread.keys() else {})

    # --- one message

    def message(self, message: Message) -> Read:
        """Thoughts, then the text, then each call with its result: the order in which they came about."""
        decoded = shapes.MESSAGE.decode(message.data)
        if decoded.type not in _TYPES:
            return Read(decoded.type, ())
        uid = decoded.id if decoded.id and decoded.id not in self._ids else f"{decoded.id}@{message.index}"
        self._ids.add(uid)
        message.at = instant(decoded.timestamp)
        events: list[Event] = []
        for number, thought in enumerate(decoded.thoughts or ()):
            text = "\n".join(filter(None, (thought.subject, thought.description)))
            events += self.texts(message, f"{uid}:thought:{number}", text, EventKind.THINKING, Origin.ASSISTANT)
        events += self._words(message, uid, decoded)
        for number, call in enumerate(decoded.toolCalls or ()):
            events += self._tool(message, uid, call, call.id or str(number))
        for part in shapes.parts(decoded.content):
            events += self._function(message, uid, part, {call.id for call in decoded.toolCalls or ()})
        return Read(decoded.type, events)

    def _words(self, message: Message, uid: str, decoded: shapes.Message) -> list[Event]:
        """The texts of a message by whose they are; a person's as typed, without what was put in for ``@file``."""
        self.counts.update({"image": images} if (images := shapes.images(decoded.content)) else {})
        said = _by_origin(self._spoken(part, decoded.type) for part in shapes.texts(decoded.content))
        typed = "\n".join(shapes.texts(decoded.displayContent)) if decoded.type == "user" else ""
        whole = "\n".join(shapes.texts(decoded.content))
        if typed.strip() and typed != whole:
            rest = whole.removeprefix(typed).lstrip("\n")
            said = [*_by_origin([self._spoken(typed, decoded.type)]), (EventKind.MESSAGE, Origin.HARNESS, rest)]
        events: list[Event] = []
        for number, (kind, origin, text) in enumerate(said):
            own = f"{uid}:text:more:{number}" if number else f"{uid}:text"
            expanded = ("expanded",) if number and typed.strip() else ()
            events += self.texts(message, own, text, kind, origin, expanded)
        for number, thought in enumerate(shapes.texts(decoded.content, thoughts=True)):
            own = f"{uid}:text:thought:{number}"
            events += self.texts(message, own, thought, EventKind.THINKING, Origin.ASSISTANT)
        return events

    def _spoken(self, text: str, kind: str) -> tuple[EventKind, Origin, str]:
        if kind == "gemini":
            whose = Origin.HARNESS if text == _AFTER_SUMMARY else Origin.ASSISTANT
        elif kind == "user" and text.startswith(_SUMMARY):
            return EventKind.SUMMARY, Origin.HARNESS, text
        elif kind != "user" or text.startswith(_NOT_TYPED) or text.strip() == "?" or _COMMAND.match(text):
            whose = Origin.HARNESS
        else:
            whose = Origin.DELEGATED if self.facts.thread else Origin.USER
        return EventKind.MESSAGE, whose, text

    def _function(self, message: Message, uid: str, part: shapes.Part, inline: set[str]) -> list[Event]:
        """A call or an answer that stands as a part of the content, unless the same is told by ``toolCalls``."""
        call, answer = part.functionCall, part.functionResponse
        if call is not None and call.id and call.id not in self.calls and call.id not in self._answered | inline:
            pending = _pending(call.name, call.args)
            self.calls[call.id] = pending
            return [self.call(message, f"{uid}:call:{call.id}", _arguments(call.args), call.id, pending)]
        if answer is None or answer.id in self._answered or answer.id in inline:
            self.counts.update({"block:copied": 1} if call or answer else {})
            return []
        pending = self.calls.pop(answer.id, PendingCall("", "", (), ()))
        text = _answer(answer.response)
        ending = _ending(shapes.ToolCall(pending.tool, status="success" if pending.tool else ""), text, told=True)
        self._answered.add(answer.id)
        return self._ended(message, f"{uid}:out:{answer.id}", answer.id, pending, ending, text)

    def _tool(self, message: Message, uid: str, call: shapes.ToolCall, call_id: str) -> list[Event]:
        pending = _pending(call.name, call.args)
        began = self.call(message, f"{uid}:call:{call_id}", _arguments(call.args), call_id, pending)
        message.at = instant(call.timestamp) or message.at
        text = self._output(call.result)
        self._answered.add(call_id)
        ending = _ending(call, text, told=bytes(call.result) != b"null")
        return [began, *self._ended(message, f"{uid}:out:{call_id}", call_id, pending, ending, text)]

    def _ended(
        self, message: Message, uid: str, call_id: str, pending: PendingCall, ending: _Ending, text: str
    ) -> list[Event]:
        ended = Event(
            uid,
            EventKind.TOOL_RESULT,
            Origin.TOOL,
            text,
            _NOWHERE,
            tool=pending.tool,
            call_id=call_id,
            status=ending.status,
            exit_code=ending.exit_code,
            command=pending.command,
            paths=pending.paths,
            flags=(*pending.flags, *ending.flags),
        )
        return self.results(message, ended)

    def _output(self, result: msgspec.Raw) -> str:
        """What the tool answered: its output or error, or the answer as JSON where it is neither."""
        try:
            decoded = shapes.RESULT.decode(result)
        except UNREADABLE:
            return bytes(result).decode("utf-8", "replace")
        if decoded is None or isinstance(decoded, str):
            return decoded or ""
        texts = []
        for part in decoded if isinstance(decoded, list) else [decoded]:
            if bytes(part.inlineData) != b"null":
                self.counts["image"] += 1
            if part.text is not None:
                texts.append(part.text)
            if part.functionResponse is not None:
                texts.append(_answer(part.functionResponse.response))
        return "\n".join(texts)


def _by_origin(said: Iterable[tuple[EventKind, Origin, str]]) -> list[tuple[EventKind, Origin, str]]:
    """Texts of one speaker that follow each other as one."""
    return [
        (*whose, "\n".join(text for _, _, text in parts)) for whose, parts in groupby(said, key=lambda each: each[:2])
    ]


def _pending(name: str, args: msgspec.Raw) -> PendingCall:
    try:
        known = shapes.ARGUMENTS.decode(args)
    except UNREADABLE:
        known = shapes.Arguments()
    command = known.command if name == _SHELL else ""
    paths = (known.file_path,) if name in _WRITERS and known.file_path else ()
    own = is_own_tool(name) or runs_own_command(command)
    return PendingCall(name, command, paths, ("own_tool",) if own else ())


def _arguments(args: msgspec.Raw) -> str:
    """Compact, since the indentation of a call depends on how deep it stands in the file."""
    return msgspec.json.format(bytes(args), indent=-1).decode("utf-8", "replace")


def _answer(response: msgspec.Raw) -> str:
    try:
        decoded = shapes.RESPONSE.decode(response)
    except UNREADABLE:
        decoded = shapes.Response()
    for text in (decoded.output, decoded.error):
        if text is not None:
            return text
    return bytes(response).decode("utf-8", "replace")


def _ending(call: shapes.ToolCall, text: str, *, told: bool) -> _Ending:
    """How the call ended: by its own status field, and a shell by the lines Gemini CLI puts after its output (EVID.7)."""
    cut = ("truncated",) if text.startswith(_CUT[:2]) or _CUT[2] in text else ()
    if call.status == "cancelled":
        refused = _NOT_ALLOWED in text
        return _Ending(Status.REJECTED if refused else Status.UNKNOWN, None, cut if refused else (*cut, "interrupted"))
    if call.status == "error":
        return _Ending(Status.FAILED, _shell_exit(text)[0] if call.name == _SHELL else None, cut)
    if call.status != "success" or not told:
        return _Ending(Status.UNKNOWN, None, cut)
    if call.name != _SHELL:
        return _Ending(Status.OK, None, cut)
    code, killed, background = _shell_exit(text)
    status = Status.UNKNOWN if killed else Status.FAILED if code else Status.OK
    return _Ending(status, code, (*cut, *(("background",) if background else ())))


def _shell_exit(text: str) -> tuple[int | None, bool, bool]:
    """Exit code where one is stated, whether a signal ended the command, and whether it left processes running."""
    found = _TAIL.match(text, at) if (at := text.rfind(_EXIT)) >= 0 else None
    if found is None:
        return None, False, False
    background = (found[2] or "(none)") != "(none)"
    return (None, True, background) if found[1] == "(none)" else (int(found[1]), False, background)


class GeminiCli:
    """``~/.gemini/tmp/<project>/chats/``: ``session-*.json`` and ``.jsonl``, sub-agents a folder lower.

    ``logs.json`` beside them holds prompts only and is no session.
    """

    name = "gemini-cli"
    framing = "document"

    def recognises(self, head: bytes, name: str) -> bool:
        """True when the document begins as a session of either form does."""
        del name  # The content says all.
        start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
        if not _BEGINS.match(start):
            return False
        first, ended, _ = start[:4096].partition(b"\n")
        if ended and shapes.is_entry(first):
            return b'"projectHash"' in first
        return b'"projectHash"' in start[:4096] and b'"messages"' in start[:4096]

    def reader(self, name: str, calls: dict[str, PendingCall] | None = None) -> GeminiCliReader:
        """A new reader; a document has no calls left open from before."""
        del calls
        return GeminiCliReader(name)


GEMINI_CLI = GeminiCli()
