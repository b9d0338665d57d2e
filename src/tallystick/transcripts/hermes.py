"""Reads the sessions of Hermes Agent: a database, and the logs and snapshots that versions before it and gateways write.

Compressing begins a new session with copies of the old one's messages; the harness talks to its model about what to
remember, and puts skills and memories into prompts: none of that is evidence of what anybody said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from tallystick.model.evidence import Event, EventKind, Locator, Origin, SessionFacts, Status
from tallystick.model.temporal import SECOND, Instant
from tallystick.transcripts.databases import MAGIC, has_columns, instant_of, tables_in, text_of
from tallystick.transcripts.documents import UNREADABLE, DocumentReader, Message, Read
from tallystick.transcripts.hermes_places import DELEGATE, in_database, in_file
from tallystick.transcripts.hermes_speech import Said, is_self_review, is_summary, said
from tallystick.transcripts.protocol import FileView, Member, PendingCall
from tallystick.transcripts.texts import instant, is_own_tool, runs_own_command

_SHELL = "terminal"
_WRITERS = frozenset({"write_file", "patch"})
_RECALLING = frozenset({"memory", "session_search", "skill_view", "skills_list"})
"""Tools whose answers are the harness's own memory: what stands in it was said elsewhere, if at all."""
_DELEGATES = frozenset({"delegate_task", "delegate"})
_QUESTION = "clarify"
_NO_ANSWER = "The user did not provide a response within the time limit."
_PATCHED = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): ([^\r\n]+)", re.MULTILINE)
_REFUSED = ("BLOCKED:", "User denied")
_STOPPED_CODES = frozenset({124, 130})
"""What the harness states of a command that it stopped: after its time, or because the person interrupted."""
_CUT = "[OUTPUT TRUNCATED"
_NOWHERE = Locator(0, 0, 0, 0, 0)
_META_LINE = re.compile(rb'\{\s{0,8}"role"\s{0,4}:\s{0,4}"session_meta"')
_FILE_NAME = re.compile(r"\d{8}_\d{6}_[0-9a-f]{6,12}\.jsonl")
_ROLE_LINE = re.compile(rb'\{\s{0,8}"role"\s{0,4}:\s{0,4}"(?:user|assistant|system)"')
_SNAPSHOT = re.compile(rb'\{\s{0,16}"session_id"\s{0,4}:')
_EXPORT_LINE = re.compile(rb'\{\s{0,16}"id"\s{0,4}:\s{0,4}"[^"\n]{1,200}"\s{0,4},\s{0,16}"source"\s{0,4}:')


class _Document(msgspec.Struct):
    messages: list[msgspec.Raw]
    session_id: str = ""
    id: str = ""
    source: str | None = None
    platform: str | None = None
    parent_session_id: str | None = None
    relation: str = ""
    title: str | None = None
    cwd: str | None = None
    git_branch: str | None = None
    git_repo_root: str | None = None


class _Part(msgspec.Struct):
    text: str | None = None


class _Message(msgspec.Struct):
    role: str
    content: str | list[_Part] | None = None
    tool_calls: list[msgspec.Raw] | None = None
    tool_call_id: str | None = None
    tool_name: str | None = None
    timestamp: Any = None
    reasoning: Any = None
    reasoning_content: Any = None
    observed: Any = None
    mirror: Any = None
    copied: Any = None
    rewound: Any = None


class _Function(msgspec.Struct, frozen=True):
    name: str = ""
    arguments: msgspec.Raw = msgspec.Raw(b"{}")


class _ToolCall(msgspec.Struct):
    id: str = ""
    function: _Function = _Function()


class _Arguments(msgspec.Struct):
    command: str = ""
    path: str = ""
    patch: str = ""
    background: Any = None


class _Result(msgspec.Struct):
    output: str | None = None
    exit_code: Any = None
    error: Any = None
    status: Any = None
    success: Any = None
    user_response: Any = None
    responses: Any = None


class _Ending(NamedTuple):
    status: Status
    exit_code: int | None
    flags: tuple[str, ...]


_DOCUMENT = msgspec.json.Decoder(_Document)
_MESSAGE = msgspec.json.Decoder(_Message)
_TOOL_CALL = msgspec.json.Decoder(_ToolCall)
_ARGUMENTS = msgspec.json.Decoder(_Arguments)
_RESULT = msgspec.json.Decoder(_Result)
_ROLES = ("user", "assistant", "tool", "system")
_UNKNOWN = _Ending(Status.UNKNOWN, None, ())


class HermesReader(DocumentReader):
    """Reads one session; see ``Reader``. ``records`` are messages."""

    harness = "hermes"

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._typed = Origin.USER
        """Whose words those of the user role are that no harness put there."""
        self._reviewing = False

    def messages(self, data: bytes) -> list[msgspec.Raw]:
        """The messages, and the facts of the session."""
        document = _DOCUMENT.decode(data)
        session = document.session_id or document.id
        if not session:
            raise msgspec.ValidationError("a session without an id")
        delegated = document.relation == DELEGATE
        self.facts = SessionFacts(
            self.harness,
            session,
            thread=session if delegated else "",
            cwd=document.cwd or "",
            repository=document.git_repo_root or "",
            branch=document.git_branch or "",
            title=document.title or "",
            parent=document.parent_session_id or "",
        )
        if delegated:
            self._typed = Origin.DELEGATED
        elif "cron" in (document.source, document.platform):
            self._typed = Origin.HARNESS
        return document.messages

    def message(self, message: Message) -> Read:
        """By role; copies, what was taken back and what the harness tells itself have no events."""
        decoded = _MESSAGE.decode(message.data)
        if decoded.role not in _ROLES:
            return Read(decoded.role, ())
        if decoded.rewound or decoded.copied:
            return Read("rewound" if decoded.rewound else "copied", ())
        text = self._text(decoded.content)
        message.at = _instant(decoded.timestamp)
        if decoded.role == "user":
            self._reviewing = is_self_review(text)
        elif self._reviewing:
            return Read("self-review", ())
        uid = f"m{message.index}"
        if decoded.role == "assistant":
            events = self._assistant(message, decoded, text, uid)
        elif decoded.role == "tool":
            events = self._result(message, decoded, text, uid)
        elif decoded.role == "system":
            events = self.texts(message, uid, text, EventKind.MESSAGE, Origin.HARNESS)
        else:
            elsewhere = bool(decoded.observed or decoded.mirror)
            events = self._said(message, uid, said(text, Origin.HARNESS if elsewhere else self._typed))
        return Read(decoded.role, events)

    def _text(self, content: str | list[_Part] | None) -> str:
        if isinstance(content, str) or content is None:
            return content or ""
        if images := sum(part.text is None for part in content):
            self.counts["image"] += images
        return "\n".join(part.text for part in content if part.text is not None)

    def _said(self, message: Message, uid: str, stretches: Sequence[Said]) -> list[Event]:
        events = []
        for number, each in enumerate(stretches):
            events += self.texts(message, f"{uid}:{number}", each.text, each.kind, each.origin, each.flags)
        return events

    def _assistant(self, message: Message, decoded: _Message, text: str, uid: str) -> list[Event]:
        thought = text_of(decoded.reasoning) or text_of(decoded.reasoning_content)
        events = self.texts(message, f"{uid}:thought", thought, EventKind.THINKING, Origin.ASSISTANT)
        if is_summary(text):
            events += self._said(message, uid, said(text, Origin.HARNESS))
        else:
            events += self.texts(message, f"{uid}:0", text, EventKind.MESSAGE, Origin.ASSISTANT)
        for number, raw in enumerate(decoded.tool_calls or ()):
            try:
                call = _TOOL_CALL.decode(raw)
            except UNREADABLE:
                self.counts["block:unreadable"] += 1
                continue
            given = _arguments_text(call.function.arguments)
            pending = _pending(call.function.name, given)
            call_id = call.id or f"{uid}:{number}"
            self.calls[call_id] = pending
            events.append(self.call(message, f"{uid}:call:{number}", given, call_id, pending))
        return events

    def _result(self, message: Message, decoded: _Message, text: str, uid: str) -> list[Event]:
        call_id = decoded.tool_call_id or ""
        pending = self.calls.pop(call_id, PendingCall("", "", (), ()))
        tool = pending.tool or decoded.tool_name or ""
        try:
            result = _RESULT.decode(text.encode())
        except (*UNREADABLE, UnicodeEncodeError):
            result = _Result()
        status, exit_code, flags = _ending(tool, result, text, pending)
        like = Event(
            f"{uid}:out",
            EventKind.TOOL_RESULT,
            _whose(tool),
            _output(result, text),
            _NOWHERE,
            tool=tool,
            call_id=call_id,
            status=status,
            exit_code=exit_code,
            command=pending.command,
            paths=pending.paths,
            flags=(*(flag for flag in pending.flags if flag != "background"), *flags),
        )
        events = self.results(message, like)
        for number, answer in enumerate(_answers(result) if tool == _QUESTION else ()):
            uid_of_answer = f"{uid}:said:{number}"
            events += self.texts(message, uid_of_answer, answer, EventKind.MESSAGE, Origin.USER, ("feedback",))
        return events


def _whose(tool: str) -> Origin:
    return Origin.HARNESS if tool in _RECALLING else Origin.DELEGATED if tool in _DELEGATES else Origin.TOOL


def _arguments_text(raw: msgspec.Raw) -> str:
    """The arguments of a call, which are JSON in a string, or JSON."""
    try:
        return msgspec.json.decode(raw, type=str)
    except UNREADABLE:
        return bytes(raw).decode("utf-8", "replace")


def _pending(tool: str, given: str) -> PendingCall:
    try:
        known = _ARGUMENTS.decode(given.encode())
    except (*UNREADABLE, UnicodeEncodeError):
        known = _Arguments()
    command = known.command if tool == _SHELL else ""
    paths = (known.path,) if tool in _WRITERS and known.path else ()
    if tool == "patch" and not paths:
        paths = tuple(dict.fromkeys(path.strip() for path in _PATCHED.findall(known.patch)))
    own = ("own_tool",) if is_own_tool(tool) or runs_own_command(command) else ()
    return PendingCall(tool, command, paths, (*own, *(("background",) if known.background is True else ())))


def _ending(tool: str, result: _Result, text: str, pending: PendingCall) -> _Ending:
    """How the call ended, by the JSON that the tool answered with; a tool that says nothing of it is unknown (EVID.7)."""
    if not pending.tool:
        return _UNKNOWN
    error = text_of(result.error)
    if error.startswith(_REFUSED) or text.startswith(_REFUSED) or result.status == "blocked":
        return _Ending(Status.REJECTED, None, ())
    if tool != _SHELL:
        if tool == "execute_code" and result.status in ("timeout", "interrupted"):
            return _Ending(Status.UNKNOWN, None, ("interrupted",))
        if result.success is False or error or (tool == "execute_code" and result.status == "error"):
            return _Ending(Status.FAILED, None, ())
        well = result.success is True or (tool == "execute_code" and result.status == "success")
        return _Ending(Status.OK, None, ()) if well else _UNKNOWN
    cut = ("truncated",) if _CUT in (result.output or "") else ()
    if "background" in pending.flags:
        return _Ending(Status.UNKNOWN, None, (*cut, "background"))
    code = result.exit_code
    if isinstance(code, bool) or not isinstance(code, int):
        return _Ending(Status.FAILED if error else Status.UNKNOWN, None, cut)
    if code in _STOPPED_CODES and _says_it_was_stopped(result):
        return _Ending(Status.UNKNOWN, None, (*cut, "interrupted"))
    return _Ending(Status.FAILED if code or error else Status.OK, code, cut)


def _says_it_was_stopped(result: _Result) -> bool:
    """Whether the harness's own last words of an output are that it stopped the command."""
    end = (result.output or "")[-200:] + text_of(result.error)[-200:]
    return "[Command timed out after " in end or "Command timed out after " in end or "[Command interrupted" in end


def _output(result: _Result, text: str) -> str:
    """What a command printed, and the error; the whole answer of other tools."""
    if result.output is None:
        return text
    return "\n".join(filter(None, (result.output, text_of(result.error))))


def _answers(result: _Result) -> list[str]:
    """What a person answered to one question or several, choices as lines."""
    each = result.responses if isinstance(result.responses, list) else [{"user_response": result.user_response}]
    given = [answer.get("user_response") for answer in each if isinstance(answer, dict)]
    texts = [one if isinstance(one, list) else [one] for one in given]
    lines = ["\n".join(line for line in one if isinstance(line, str)) for one in texts]
    return [line for line in lines if line and not line.startswith(_NO_ANSWER)]


def _instant(stamp: object) -> Instant | None:
    """Of seconds in the database; a time in a file says no zone, and is none (EVID.8)."""
    return instant(stamp) if isinstance(stamp, str) else instant_of(stamp, SECOND)


class Hermes:
    """``state.db`` and ``sessions/`` in ``~/.hermes``, and what ``hermes sessions export`` writes."""

    name = "hermes"
    framing = "gathered"

    def recognises(self, head: bytes, name: str) -> bool:
        """True for the database, a log that begins with its metadata, a snapshot, and an export; a log without
        metadata is known by its name."""
        if head.startswith(MAGIC):
            tables = tables_in(head)
            if not tables:
                return name == "state.db"
            sessions = has_columns(tables, "sessions", b"parent_session_id", b"source", b"end_reason")
            return sessions or has_columns(tables, "messages", b"tool_call_id", b"tool_calls", b"finish_reason")
        start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
        if _META_LINE.match(start):
            return True
        if _ROLE_LINE.match(start):
            return _FILE_NAME.fullmatch(name) is not None
        if _SNAPSHOT.match(start):
            return b'"session_start"' in start[:4096] or b'"parent_session_id"' in start[:4096]
        return _EXPORT_LINE.match(start) is not None and b'"parent_session_id"' in start

    def reader(self, name: str, calls: dict[str, PendingCall] | None = None) -> HermesReader:
        """A new reader; a document has no calls left open from before."""
        del calls
        return HermesReader(name)

    def anchor(self, path: str) -> str:
        """The file itself, which holds one session or many."""
        return path

    def gather(self, view: FileView, anchor: str) -> Iterator[Member]:
        """The sessions by id; of an export in its order."""
        yield from (in_file if anchor.endswith((".json", ".jsonl")) else in_database)(view, anchor)


HERMES = Hermes()
