"""Reads the chat files of Gemini CLI in their first form: one JSON object a session, results inside the calls.

The later form, a log of messages that may be written again or taken back, is another format and is not recognised.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import msgspec

from tallystick.model.evidence import Event, EventKind, Locator, Origin, SessionFacts, Status
from tallystick.transcripts.documents import DocumentReader, Message, Read
from tallystick.transcripts.protocol import PendingCall
from tallystick.transcripts.texts import instant, is_own_tool, runs_own_command

_SHELL = "run_shell_command"
_TYPES = frozenset({"user", "gemini", "info", "error", "warning"})
_WRITERS = frozenset({"write_file", "replace", "edit", "smart_edit"})
_COMMAND = re.compile(r"/[A-Za-z][\w:-]*(?:\s|\Z)")
_NOT_TYPED = ("<session_context>", "<hook_context>", "System: Please continue.")
_EXIT = "\nExit Code: "
_TAIL = re.compile(
    r"\nExit Code: (-?\d{1,10}|\(none\))(?:\nSignal: [^\n]{0,40})?(?:\nBackground PIDs: ([^\n]{0,400}))?"
    r"\nProcess Group PGID: [^\n]{0,40}\Z"
)
_BEGINS = re.compile(rb'\{\s{0,16}"sessionId"')
_NOT_ALLOWED = "User did not allow tool call"
_CUT = ("Tool output was too large", "Output too large.", "... [CONTENT TRUNCATED]")
_NOWHERE = Locator(0, 0, 0, 0, 0)


class _Document(msgspec.Struct):
    sessionId: str  # noqa: N815
    messages: list[msgspec.Raw]
    projectHash: str = ""  # noqa: N815
    summary: str | None = None
    directories: list[str] | None = None
    kind: str = ""


class _Thought(msgspec.Struct):
    subject: str = ""
    description: str = ""


class _Part(msgspec.Struct):
    text: str | None = None


class _ToolCall(msgspec.Struct):
    name: str
    id: str = ""
    args: msgspec.Raw = msgspec.Raw(b"{}")
    result: msgspec.Raw = msgspec.Raw(b"null")
    status: str = ""
    timestamp: str = ""


class _Message(msgspec.Struct):
    type: str
    id: str = ""
    timestamp: str = ""
    content: str | list[_Part | str] | _Part | None = None
    toolCalls: list[_ToolCall] | None = None  # noqa: N815
    thoughts: list[_Thought] | None = None


class _Arguments(msgspec.Struct):
    command: str = ""
    file_path: str = ""


class _FunctionResponse(msgspec.Struct):
    response: msgspec.Raw = msgspec.Raw(b"null")


class _ResultPart(msgspec.Struct):
    functionResponse: _FunctionResponse | None = None  # noqa: N815
    text: str | None = None
    inlineData: msgspec.Raw = msgspec.Raw(b"null")  # noqa: N815


class _Response(msgspec.Struct):
    output: str | None = None
    error: str | None = None


class _Ending(NamedTuple):
    status: Status
    exit_code: int | None
    flags: tuple[str, ...]


_DOCUMENT = msgspec.json.Decoder(_Document)
_MESSAGE = msgspec.json.Decoder(_Message)
_ARGUMENTS = msgspec.json.Decoder(_Arguments)
_RESULT = msgspec.json.Decoder(list[_ResultPart] | _ResultPart | str | None)
_RESPONSE = msgspec.json.Decoder(_Response)


class GeminiCliReader(DocumentReader):
    """Reads one session; see ``Reader``. ``records`` are messages."""

    harness = "gemini-cli"

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._ids: set[str] = set()

    def messages(self, data: bytes) -> list[msgspec.Raw]:
        """The messages, and the facts of the session."""
        document = _DOCUMENT.decode(data)
        delegated = document.kind == "subagent"
        self.facts = SessionFacts(
            self.harness,
            document.sessionId,
            thread=document.sessionId if delegated else "",
            cwd=(document.directories or [""])[0],
            title=document.summary or "",
        )
        return document.messages

    def message(self, message: Message) -> Read:
        """Thoughts, then the text, then each call with its result: the order in which they came about."""
        decoded = _MESSAGE.decode(message.data)
        uid = decoded.id if decoded.id and decoded.id not in self._ids else f"{decoded.id}@{message.index}"
        self._ids.add(uid)
        message.at = instant(decoded.timestamp)
        events: list[Event] = []
        for number, thought in enumerate(decoded.thoughts or ()):
            text = "\n".join(filter(None, (thought.subject, thought.description)))
            events += self.texts(message, f"{uid}:thought:{number}", text, EventKind.THINKING, Origin.ASSISTANT)
        text = self._text(decoded.content)
        events += self.texts(message, f"{uid}:text", text, EventKind.MESSAGE, self._origin(decoded.type, text))
        for number, call in enumerate(decoded.toolCalls or ()):
            events += self._tool(message, uid, call, call.id or str(number))
        return Read(decoded.type, events if decoded.type in _TYPES else ())

    def _text(self, content: str | list[_Part | str] | _Part | None) -> str:
        if isinstance(content, str) or content is None:
            return content or ""
        texts = []
        for part in content if isinstance(content, list) else [content]:
            text = part if isinstance(part, str) else part.text
            if text is None:
                self.counts["image"] += 1
            else:
                texts.append(text)
        return "\n".join(texts)

    def _origin(self, kind: str, text: str) -> Origin:
        if kind == "gemini":
            return Origin.ASSISTANT
        if kind != "user" or text.startswith(_NOT_TYPED) or text.strip() == "?" or _COMMAND.match(text):
            return Origin.HARNESS
        return Origin.DELEGATED if self.facts.thread else Origin.USER

    def _tool(self, message: Message, uid: str, call: _ToolCall, call_id: str) -> list[Event]:
        # Compact, since the indentation of a call depends on how deep it stands in the file.
        arguments = msgspec.json.format(bytes(call.args), indent=-1).decode("utf-8", "replace")
        try:
            known = _ARGUMENTS.decode(call.args)
        except (msgspec.DecodeError, RecursionError):
            known = _Arguments()
        command = known.command if call.name == _SHELL else ""
        paths = (known.file_path,) if call.name in _WRITERS and known.file_path else ()
        own = is_own_tool(call.name) or runs_own_command(command)
        pending = PendingCall(call.name, command, paths, ("own_tool",) if own else ())
        began = self.call(message, f"{uid}:call:{call_id}", arguments, call_id, pending)
        message.at = instant(call.timestamp) or message.at
        text = self._output(call.result)
        status, exit_code, flags = _ending(call, text)
        ended = Event(
            f"{uid}:out:{call_id}",
            EventKind.TOOL_RESULT,
            Origin.TOOL,
            text,
            _NOWHERE,
            tool=call.name,
            call_id=call_id,
            status=status,
            exit_code=exit_code,
            command=command,
            paths=paths,
            flags=(*pending.flags, *flags),
        )
        return [began, *self.results(message, ended)]

    def _output(self, result: msgspec.Raw) -> str:
        """What the tool answered: its output or error, or the answer as JSON where it is neither."""
        try:
            decoded = _RESULT.decode(result)
        except (msgspec.DecodeError, RecursionError):
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


def _answer(response: msgspec.Raw) -> str:
    try:
        decoded = _RESPONSE.decode(response)
    except (msgspec.DecodeError, RecursionError):
        decoded = _Response()
    for text in (decoded.output, decoded.error):
        if text is not None:
            return text
    return bytes(response).decode("utf-8", "replace")


def _ending(call: _ToolCall, text: str) -> _Ending:
    """How the call ended: by its own status field, and a shell by the lines Gemini CLI puts after its output (EVID.7)."""
    cut = ("truncated",) if text.startswith(_CUT[:2]) or _CUT[2] in text else ()
    if call.status == "cancelled":
        refused = _NOT_ALLOWED in text
        return _Ending(Status.REJECTED if refused else Status.UNKNOWN, None, cut if refused else (*cut, "interrupted"))
    if call.status == "error":
        return _Ending(Status.FAILED, _shell_exit(text)[0] if call.name == _SHELL else None, cut)
    if call.status != "success" or bytes(call.result) == b"null":
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
    """``~/.gemini/tmp/<project>/chats/session-*.json``; ``logs.json`` beside it holds prompts only and is no session."""

    name = "gemini-cli"
    framing = "document"

    def recognises(self, head: bytes, name: str) -> bool:
        """True when the document begins as a session of the first form does."""
        del name  # The content says all.
        start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
        if not _BEGINS.match(start):
            return False
        try:
            _DOCUMENT.decode(start.partition(b"\n")[0])
        except msgspec.ValidationError:
            return False  # A line that is an object by itself: the later form, a log.
        except (msgspec.DecodeError, RecursionError):
            pass
        return b'"projectHash"' in start[:4096] and b'"messages"' in start[:4096]

    def reader(self, name: str, calls: dict[str, PendingCall] | None = None) -> GeminiCliReader:
        """A new reader; a document has no calls left open from before."""
        del calls
        return GeminiCliReader(name)


GEMINI_CLI = GeminiCli()
