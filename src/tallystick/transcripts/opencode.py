"""Reads the sessions of OpenCode: a database or, before it, a tree of JSON files; calls with their results in one part.

A part is written again while it comes about, so a session is read as it stands: the last state counts. The document that is
made of a session has the shape of ``opencode export``, which is read too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from tallystick.model.evidence import Event, EventKind, Locator, Origin, SessionFacts, Status
from tallystick.model.temporal import Instant
from tallystick.transcripts.databases import MAGIC, has_columns, instant_of, tables_in, text_of
from tallystick.transcripts.documents import UNREADABLE, DocumentReader, Message, Read
from tallystick.transcripts.opencode_places import MILLISECOND, in_database, in_export, in_tree
from tallystick.transcripts.protocol import FileView, Member, PendingCall
from tallystick.transcripts.texts import is_own_tool, runs_own_command, type_name

_SHELL = "bash"
_INVALID = "invalid"
_SUBAGENT = "task"
_QUESTION = "question"
_WRITERS = frozenset({"write", "edit", "multiedit"})
_PATCHED = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): ([^\r\n]+)", re.MULTILINE)
_REFUSED = (
    "The user rejected permission to use this",
    "The user has specified a rule which prevents you from using this",
    "The user has specifically restricted access to this command",
    "The user dismissed this question",
    "Permission denied by ruleset",
)
_FEEDBACK = re.compile(r"The user rejected permission[^\n:]{0,80} with (?:the following )?feedback: ")
_ABORTED = "Tool execution aborted"
_STOPPED = re.compile(
    r"\n\n(?:<(?:bash|shell)_metadata>\n(?:(?:bash|shell|terminal) tool terminated command after |User aborted the command)"
    r"|\(Command (?:timed out after |was aborted))"
)
_LAST = 2_000
"""Characters at the end of an output in which the harness says how a command was stopped."""
_CUT = ("(Output was truncated due to length limit)", "<truncated>")
_ATTACHED = re.compile(r"\[Attached [^\]\n]{0,400}\]")
"""What stands for an image in a prompt that is put in again."""
_NOWHERE = Locator(0, 0, 0, 0, 0)
_FILE = re.compile(rb'\{\s{0,16}"(?:id|sessionID|messageID|info|slug|role)"\s{0,16}:')
_TREE = ("session", "message", "part")
_HEAD_BYTES = 64 * 1024


class _Session(msgspec.Struct):
    id: str
    directory: str = ""
    parentID: str | None = None  # noqa: N815
    title: str = ""
    version: str = ""
    revert: Any = None


class _Document(msgspec.Struct):
    info: _Session
    messages: list[msgspec.Raw]


class _Message(msgspec.Struct):
    role: str
    id: str = ""
    time: Any = None
    summary: Any = None
    error: Any = None


class _WithParts(msgspec.Struct):
    info: _Message
    parts: list[msgspec.Raw]


class _State(msgspec.Struct, frozen=True):
    status: str = ""
    input: msgspec.Raw = msgspec.Raw(b"{}")
    output: str = ""
    error: str = ""
    metadata: Any = None
    time: Any = None
    attachments: list[Any] | None = None


class _Part(msgspec.Struct):
    type: str
    id: str = ""
    text: str = ""
    synthetic: bool | None = None
    ignored: bool | None = None
    time: Any = None
    tool: str = ""
    callID: str = ""  # noqa: N815
    state: _State = _State()
    prompt: str = ""
    mime: str = ""
    overflow: bool | None = None


class _Arguments(msgspec.Struct):
    command: str = ""
    filePath: str = ""  # noqa: N815
    patchText: str = ""  # noqa: N815


class _Ending(NamedTuple):
    status: Status
    exit_code: int | None
    flags: tuple[str, ...]


_DOCUMENT = msgspec.json.Decoder(_Document)
_WITH_PARTS = msgspec.json.Decoder(_WithParts)
_PART = msgspec.json.Decoder(_Part)
_ARGUMENTS = msgspec.json.Decoder(_Arguments)


class OpenCodeReader(DocumentReader):
    """Reads one session; see ``Reader``. ``records`` are messages; what a part of a kind without words is, is counted."""

    harness = "opencode"

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._reverted_from = ""
        self._last_prompt: list[str] = []
        self._repeats = False
        """The harness put the last prompt in again, behind a summary that did not hold it."""
        self._last = 0
        """Index of the last message, which may still be coming about."""

    def messages(self, data: bytes) -> list[msgspec.Raw]:
        """The messages with their parts, and the facts of the session."""
        document = _DOCUMENT.decode(data)
        session = document.info
        parent = session.parentID or ""
        self.facts = SessionFacts(
            self.harness,
            session.id,
            thread=session.id if parent else "",
            cwd=session.directory,
            version=session.version,
            title=session.title,
            parent=parent,
        )
        self._reverted_from = _text_at(session.revert, "messageID")
        self._last = len(document.messages) - 1
        return document.messages

    def message(self, message: Message) -> Read:
        """By role, the parts in their order; of a kind that holds no words, parts are counted."""
        decoded = _WITH_PARTS.decode(message.data)
        info = decoded.info
        created = _moment(info.time, "created")
        if info.role not in ("user", "assistant"):
            return Read(info.role, ())
        if self._reverted_from and info.id >= self._reverted_from:
            return Read("reverted", ())
        parts = self._parts(decoded.parts)
        if info.role == "user" and self._is_repeated(parts):
            return Read("repeated", ())
        events: list[Event] = []
        for number, part in parts:
            uid = part.id or f"{info.id}:{number}"
            message.at = _moment(part.time, "start") or created
            if message.index == self._last and _comes_about(info, part):
                self.counts["block:unfinished"] += 1
                continue
            events += self._part(message, info, part, uid)
        message.at = _moment(info.time, "completed") or created
        events += self.texts(message, f"{info.id}:error", _error(info.error), EventKind.MESSAGE, Origin.HARNESS)
        return Read(info.role, events)

    def _parts(self, raw: Sequence[msgspec.Raw]) -> list[tuple[int, _Part]]:
        parts = []
        for number, each in enumerate(raw):
            try:
                parts.append((number, _PART.decode(each)))
            except UNREADABLE:
                self.counts["block:unreadable"] += 1
        return parts

    def _is_repeated(self, parts: Sequence[tuple[int, _Part]]) -> bool:
        """Whether these are the words of the prompt that an overflowing summary cut off, put in again by the harness."""
        compaction = [part for _, part in parts if part.type == "compaction"]
        if compaction:
            self._repeats = any(part.overflow for part in compaction)
            return False
        texts = [part.text for _, part in parts if part.type == "text" and not part.synthetic]
        said = [text for text in texts if not _ATTACHED.fullmatch(text)]
        repeated = self._repeats and bool(said) and said == self._last_prompt
        self._repeats = self._repeats and not said
        self._last_prompt = said or self._last_prompt
        return repeated

    def _part(self, message: Message, info: _Message, part: _Part, uid: str) -> list[Event]:
        if part.type == "text":
            kind, origin = self._speaker(info, part)
            return self.texts(message, uid, part.text, kind, origin)
        if part.type == "reasoning":
            return self.texts(message, uid, part.text, EventKind.THINKING, Origin.ASSISTANT)
        if part.type == "tool":
            return self._tool(message, part, uid)
        if part.type == "subtask":
            return self.texts(message, uid, part.prompt, EventKind.MESSAGE, Origin.HARNESS, ("expanded",))
        image = part.type == "file" and part.mime.startswith("image/")
        self.counts["image" if image else f"block:{type_name(part.type)}"] += 1
        return []

    def _speaker(self, info: _Message, part: _Part) -> tuple[EventKind, Origin]:
        if info.role == "assistant":
            if info.summary is True:
                return EventKind.SUMMARY, Origin.HARNESS
            return EventKind.MESSAGE, Origin.HARNESS if part.synthetic else Origin.ASSISTANT
        if part.synthetic or part.ignored:
            return EventKind.MESSAGE, Origin.HARNESS
        return EventKind.MESSAGE, Origin.DELEGATED if self.facts.thread else Origin.USER

    def _tool(self, message: Message, part: _Part, uid: str) -> list[Event]:
        state = part.state
        pending = _call(part)
        # Compact, since the tree is indented and the database is not.
        arguments = msgspec.json.format(bytes(state.input), indent=-1).decode("utf-8", "replace")
        call_id = part.callID or uid
        message.at = _moment(state.time, "start") or message.at
        events = [self.call(message, f"{uid}:call", arguments, call_id, pending)]
        if state.status not in ("completed", "error"):
            self.calls[call_id] = pending
            return events
        message.at = _moment(state.time, "end") or message.at
        status, exit_code, flags = _ending(part)
        text = state.error if state.status == "error" else state.output
        if state.attachments:
            self.counts["image"] += len(state.attachments)
        feedback = _FEEDBACK.match(text) if status is Status.REJECTED else None
        said = [text[feedback.end() :]] if feedback else _answers(part)
        result = Event(
            f"{uid}:out",
            EventKind.TOOL_RESULT,
            Origin.DELEGATED if part.tool == _SUBAGENT else Origin.TOOL,
            text[: feedback.end()] if feedback else text,
            _NOWHERE,
            tool=part.tool,
            call_id=call_id,
            status=status,
            exit_code=exit_code,
            command=pending.command,
            paths=pending.paths,
            flags=(*pending.flags, *flags),
        )
        events += self.results(message, result)
        for number, words in enumerate(said):
            answer = f"{uid}:said:{number}"
            events += self.texts(message, answer, words, EventKind.MESSAGE, Origin.USER, ("feedback",))
        return events


def _comes_about(info: _Message, part: _Part) -> bool:
    """Whether a part of the last answer is still being written: half a sentence says something else than the whole."""
    if part.type == "tool":
        return part.state.status == "pending"
    times = part.time if isinstance(part.time, dict) else {}
    begun = _moment(times, "start") is not None and _moment(times, "end") is None
    return begun and info.role == "assistant" and _moment(info.time, "completed") is None


def _call(part: _Part) -> PendingCall:
    try:
        known = _ARGUMENTS.decode(part.state.input)
    except UNREADABLE:
        known = _Arguments()
    command = known.command if part.tool == _SHELL else ""
    paths = (known.filePath,) if part.tool in _WRITERS and known.filePath else ()
    if part.tool in ("patch", "apply_patch"):
        paths = tuple(dict.fromkeys(path.strip() for path in _PATCHED.findall(known.patchText)))
    own = is_own_tool(part.tool) or runs_own_command(command)
    return PendingCall(part.tool, command, paths, ("own_tool",) if own else ())


def _ending(part: _Part) -> _Ending:
    """How the call ended: a command by its exit code, since its status is ``completed`` whatever that was (EVID.7)."""
    state = part.state
    metadata = state.metadata if isinstance(state.metadata, dict) else {}
    if state.status == "error":
        if state.error.startswith(_REFUSED):
            return _Ending(Status.REJECTED, None, ())
        if state.error.startswith(_ABORTED) or metadata.get("interrupted") is True:
            return _Ending(Status.UNKNOWN, None, ("interrupted",))
        return _Ending(Status.FAILED, None, ())
    cut = ("truncated",) if metadata.get("truncated") is True or state.output.rstrip().endswith(_CUT) else ()
    if part.tool == _INVALID:
        return _Ending(Status.FAILED, None, cut)
    if part.tool != _SHELL:
        return _Ending(Status.OK, None, cut)
    code = metadata.get("exit")
    stopped = ("interrupted",) if _STOPPED.search(state.output, max(0, len(state.output) - _LAST)) else ()
    if isinstance(code, bool) or not isinstance(code, int) or stopped:
        return _Ending(Status.UNKNOWN, None, (*cut, *stopped))
    return _Ending(Status.FAILED if code else Status.OK, code, cut)


def _answers(part: _Part) -> list[str]:
    """What a person answered to the questions of a call, an answer with several choices as lines of one."""
    metadata = part.state.metadata
    answers = metadata.get("answers") if part.tool == _QUESTION and isinstance(metadata, dict) else None
    if not isinstance(answers, list):
        return []
    chosen = [each if isinstance(each, list) else [each] for each in answers]
    return ["\n".join(text for text in each if isinstance(text, str)) for each in chosen]


def _error(error: object) -> str:
    """The name of an error that ended an answer, and what was said of it."""
    data = error.get("data") if isinstance(error, dict) else None
    return ": ".join(filter(None, (_text_at(error, "name"), _text_at(data, "message"))))


def _text_at(value: object, key: str) -> str:
    return text_of(value.get(key)) if isinstance(value, dict) else ""


def _moment(times: object, key: str) -> Instant | None:
    return instant_of(times.get(key), MILLISECOND) if isinstance(times, dict) else None


class OpenCode:
    """``opencode.db`` and ``storage/`` below ``~/.local/share/opencode``, and what ``opencode export`` writes."""

    name = "opencode"
    framing = "gathered"

    def recognises(self, head: bytes, name: str) -> bool:
        """True for the database, for an export, and for each file of the older tree that tells of a session."""
        if head.startswith(MAGIC):
            tables = tables_in(head)
            if not tables:
                return name == "opencode.db"
            sessions = has_columns(tables, "session", b"project_id", b"parent_id", b"directory")
            return sessions or has_columns(tables, "part", b"message_id", b"session_id", b"data")
        start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
        return _FILE.match(start) is not None and _is_of_the_tree(start[:_HEAD_BYTES])

    def reader(self, name: str, calls: dict[str, PendingCall] | None = None) -> OpenCodeReader:
        """A new reader; a document has no calls left open from before."""
        del calls
        return OpenCodeReader(name)

    def anchor(self, path: str) -> str:
        """The database or export itself; of a file of the tree, the folder above ``session``, ``message`` and ``part``."""
        parts = path.split("/")
        in_tree = path.endswith(".json") and len(parts) > 3 and parts[-3] in _TREE
        return "/".join(parts[:-3]) if in_tree else path

    def gather(self, view: FileView, anchor: str) -> Iterator[Member]:
        """The sessions by id."""
        if view.names(f"{anchor}/session"):
            yield from in_tree(view, anchor)
        elif anchor.endswith(".json"):
            yield from in_export(view, anchor)
        else:
            yield from in_database(view, anchor)


def _is_of_the_tree(start: bytes) -> bool:
    """Whether a file that begins so is a session, message or part of the tree, or an export."""
    ids = {kind: re.search(rb'"' + kind + rb'"\s{0,16}:\s{0,16}"', start) is not None for kind in _IDS}
    if re.search(rb'"id"\s{0,16}:\s{0,16}"ses_', start):
        return ids[b"projectID"] or ids[b"directory"]
    return re.search(rb'"sessionID"\s{0,16}:\s{0,16}"ses_', start) is not None and (ids[b"messageID"] or ids[b"role"])


_IDS = (b"projectID", b"directory", b"messageID", b"role")


OPENCODE = OpenCode()
