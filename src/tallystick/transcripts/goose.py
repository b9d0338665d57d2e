"""Reads the sessions of Goose: a database and, before it, one log a session; results come back in messages of the user role.

Compacting hides messages and adds some, and nothing goes: a message is known by its place. The document that is made of a
session has the shape of what ``goose session export`` writes, which is read too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from tallystick.errors import UsageError
from tallystick.model.evidence import Event, EventKind, Locator, Origin, SessionFacts, Status
from tallystick.model.temporal import Instant
from tallystick.transcripts.databases import (
    MAGIC,
    columns_of,
    has_columns,
    instant_of,
    row_of,
    rows_of,
    tables_in,
    text_of,
)
from tallystick.transcripts.documents import UNREADABLE, DocumentReader, Message, Read, json_in, json_lines
from tallystick.transcripts.protocol import FileState, FileView, Member, PendingCall
from tallystick.transcripts.texts import is_own_tool, runs_own_command, type_name

_SECOND, _MILLISECOND = 1_000_000, 1_000
_MOST_SECONDS = 100_000_000_000
"""A time of more than this is one in milliseconds: some versions write those."""
_WRITERS = frozenset({"write", "edit", "text_editor"})
_WRITING = frozenset({"", "write", "create", "str_replace", "insert", "edit_file", "undo_edit"})
"""What ``text_editor`` may be asked for that writes; the newer tools are not asked anything."""
_DELEGATES = frozenset({"delegate", "subagent", "execute_task", "dynamic_task"})
_REFUSED = (
    "The user has declined to run this tool",
    "This tool call was blocked",
    "Let the user know the tool call was skipped",
)
_EXITED = re.compile(r"\n\nCommand exited with code (-?\d{1,10})\Z")
_TIMED_OUT = re.compile(r"\n\nCommand timed out(?: after \d{1,10} seconds)?\Z")
_SAVED = re.compile(r"Full output saved to [^\n]{0,400}\]")
_LAST = 1_000
"""Characters at the end of an output in which the harness says how a command ended."""
_COMPACTED = b'"Your context was compacted'
_NOWHERE = Locator(0, 0, 0, 0, 0)
_FIRST_LINE = re.compile(rb'\{\s{0,8}"(?:working_dir|description|id|role|created|schedule_id)"\s{0,4}:')
_MESSAGE_HEAD = re.compile(
    rb'\{\s{0,8}(?:"id"\s{0,4}:\s{0,4}(?:null|"[^"\n]{0,200}")\s{0,4},\s{0,8})?"role"\s{0,4}:\s{0,4}"(?:user|assistant)"\s{0,4},'
    rb'\s{0,8}"created"\s{0,4}:\s{0,4}\d{1,16}\s{0,4},\s{0,8}"content"\s{0,4}:\s{0,4}\['
)


class _Document(msgspec.Struct):
    id: str
    conversation: list[msgspec.Raw]
    working_dir: str = ""
    name: str | None = None
    description: str | None = None
    session_type: str | None = None
    parent_session_id: str | None = None
    recipe: Any = None


class _Metadata(msgspec.Struct, frozen=True):
    userVisible: bool = True  # noqa: N815
    agentVisible: bool = True  # noqa: N815


class _Message(msgspec.Struct):
    role: str
    content: list[msgspec.Raw]
    created: Any = None
    metadata: _Metadata | None = None


class _Call(msgspec.Struct):
    name: str = ""
    arguments: msgspec.Raw = msgspec.Raw(b"{}")


class _ToolCall(msgspec.Struct, frozen=True):
    status: str = ""
    value: msgspec.Raw = msgspec.Raw(b"{}")
    error: str = ""


class _Content(msgspec.Struct):
    type: str
    text: str = ""
    thinking: str = ""
    msg: str = ""
    id: str = ""
    toolCall: _ToolCall = _ToolCall()  # noqa: N815
    toolResult: _ToolCall = _ToolCall()  # noqa: N815
    data: Any = None


class _Annotations(msgspec.Struct):
    audience: list[str] | None = None


class _Resource(msgspec.Struct):
    text: str | None = None


class _Item(msgspec.Struct):
    type: str = ""
    text: str | None = None
    resource: _Resource | None = None
    annotations: _Annotations | None = None


class _Result(msgspec.Struct):
    content: list[_Item] | None = None
    isError: bool | None = None  # noqa: N815
    structuredContent: Any = None  # noqa: N815


class _Arguments(msgspec.Struct):
    command: str = ""
    path: str = ""


class _Ending(NamedTuple):
    status: Status
    exit_code: int | None
    flags: tuple[str, ...]


_DOCUMENT = msgspec.json.Decoder(_Document)
_MESSAGE = msgspec.json.Decoder(_Message)
_CONTENT = msgspec.json.Decoder(_Content)
_CALL = msgspec.json.Decoder(_Call)
_RESULT = msgspec.json.Decoder(_Result | list[_Item])
_ARGUMENTS = msgspec.json.Decoder(_Arguments)


class GooseReader(DocumentReader):
    """Reads one session; see ``Reader``. ``records`` are messages; what a content of a kind without words is, is counted."""

    harness = "goose"

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._typed = Origin.USER
        """Whose words the visible ones of the user role are."""
        self._recipe = ""
        self._summaries: set[int] = set()
        self._last_prompt: list[str] = []
        self._repeats = False
        """A summary was put in, behind which the harness writes the last prompt once more."""

    def messages(self, data: bytes) -> list[msgspec.Raw]:
        """The messages, and the facts of the session."""
        document = _DOCUMENT.decode(data)
        delegated = document.session_type == "sub_agent"
        self.facts = SessionFacts(
            self.harness,
            document.id,
            thread=document.id if delegated else "",
            cwd=document.working_dir,
            title=document.name or document.description or "",
            parent=document.parent_session_id or "",
        )
        if delegated:
            self._typed = Origin.DELEGATED
        elif document.session_type in ("scheduled", "hidden"):
            self._typed = Origin.HARNESS
        self._recipe = text_of(document.recipe.get("prompt")) if isinstance(document.recipe, dict) else ""
        found = document.conversation
        self._summaries = {n - 1 for n, each in enumerate(found) if _COMPACTED in bytes(each)}
        return found

    def message(self, message: Message) -> Read:
        """By role; what only the model sees is the harness's."""
        decoded = _MESSAGE.decode(message.data)
        if decoded.role not in ("user", "assistant"):
            return Read(decoded.role, ())
        message.at = _instant(decoded.created)
        metadata = decoded.metadata or _Metadata()
        hidden = metadata.agentVisible and not metadata.userVisible
        contents = self._contents(decoded.content)
        if decoded.role == "user" and not hidden and self._is_repeated(contents):
            return Read("repeated", ())
        if hidden and message.index in self._summaries:
            self._repeats = True
        events: list[Event] = []
        for number, content in contents:
            events += self._content(message, decoded.role, content, f"m{message.index}:{number}", hidden=hidden)
        return Read(decoded.role, events)

    def _contents(self, raw: Sequence[msgspec.Raw]) -> list[tuple[int, _Content]]:
        contents = []
        for number, each in enumerate(raw):
            try:
                contents.append((number, _CONTENT.decode(each)))
            except UNREADABLE:
                self.counts["block:unreadable"] += 1
        return contents

    def _is_repeated(self, contents: Sequence[tuple[int, _Content]]) -> bool:
        """Whether these are the words of the last prompt, which compacting writes a second time behind its summary."""
        texts = [content.text for _, content in contents if content.type == "text"]
        if not texts or any(content.type == "toolResponse" for _, content in contents):
            return False
        repeated = self._repeats and "\n".join(texts) == "\n".join(self._last_prompt)
        self._repeats = False
        self._last_prompt = texts
        return repeated

    def _content(self, message: Message, role: str, content: _Content, uid: str, *, hidden: bool) -> list[Event]:
        if content.type == "text":
            kind = EventKind.SUMMARY if hidden and message.index in self._summaries else EventKind.MESSAGE
            origin = Origin.HARNESS if hidden else self._speaker(role, content.text)
            return self.texts(message, uid, content.text, kind, origin)
        if content.type in ("thinking", "reasoning"):
            thought = content.thinking or content.text
            return self.texts(message, uid, thought, EventKind.THINKING, Origin.ASSISTANT)
        if content.type in ("toolRequest", "frontendToolRequest"):
            return [self._call(message, content, uid)]
        if content.type == "toolResponse":
            return self._result(message, content, uid)
        if content.type == "systemNotification":
            return self.texts(message, uid, content.msg, EventKind.MESSAGE, Origin.HARNESS)
        if content.type == "actionRequired" and (answer := _answer(content.data)):
            return self.texts(message, uid, answer, EventKind.MESSAGE, Origin.USER, ("feedback",))
        self.counts["image" if content.type == "image" else f"block:{type_name(content.type)}"] += 1
        return []

    def _speaker(self, role: str, text: str) -> Origin:
        if role == "assistant":
            return Origin.ASSISTANT
        return Origin.HARNESS if self._recipe and text.strip() == self._recipe.strip() else self._typed

    def _call(self, message: Message, content: _Content, uid: str) -> Event:
        try:
            call = _CALL.decode(content.toolCall.value)
        except UNREADABLE:
            call = _Call()
        # Compact, since an export is indented and the database is not.
        given = msgspec.json.format(bytes(call.arguments), indent=-1).decode("utf-8", "replace")
        text = given if call.name else content.toolCall.error
        pending = _pending(call)
        self.calls[content.id] = pending
        return self.call(message, uid, text, content.id, pending)

    def _result(self, message: Message, content: _Content, uid: str) -> list[Event]:
        pending = self.calls.pop(content.id, PendingCall("", "", (), ()))
        answer = content.toolResult
        try:
            decoded = _RESULT.decode(answer.value)
        except UNREADABLE:
            decoded = _Result()
            if answer.status == "success":
                self.counts["block:unreadable"] += 1
        result = decoded if isinstance(decoded, _Result) else _Result(content=decoded)
        text = answer.error if answer.status == "error" else self._output(result.content or ())
        status, exit_code, flags = _ending(answer.status, result, text, pending)
        tool = pending.tool.rpartition("__")
        like = Event(
            uid,
            EventKind.TOOL_RESULT,
            Origin.DELEGATED if not _DELEGATES.isdisjoint((tool[0], tool[2])) else Origin.TOOL,
            text,
            _NOWHERE,
            tool=pending.tool,
            call_id=content.id,
            status=status,
            exit_code=exit_code,
            command=pending.command,
            paths=pending.paths,
            flags=(*pending.flags, *flags),
        )
        return self.results(message, like)

    def _output(self, items: Sequence[_Item]) -> str:
        """What the tool answered, once: some tools give one text for the model and the same again for the person."""
        for_person = [item.annotations is not None and item.annotations.audience == ["user"] for item in items]
        texts: list[str] = []
        for item, personal in zip(items, for_person, strict=True):
            text = item.resource.text if item.resource is not None else item.text
            if text is None:
                self.counts["image" if item.type == "image" else f"block:{type_name(item.type)}"] += 1
            elif personal and not all(for_person):
                self.counts["block:for-person"] += 1
            else:
                texts.append(text)
        return "\n".join(texts)


def _pending(call: _Call) -> PendingCall:
    try:
        known = _ARGUMENTS.decode(call.arguments)
    except UNREADABLE:
        known = _Arguments()
    tool = call.name.rpartition("__")[2]
    command = known.command if tool == "shell" else ""
    writes = tool in _WRITERS and known.command in _WRITING
    own = is_own_tool(call.name) or runs_own_command(command)
    return PendingCall(call.name, command, (known.path,) if writes and known.path else (), ("own_tool",) if own else ())


def _ending(status: str, result: _Result, text: str, pending: PendingCall) -> _Ending:
    """How the call ended; of a command only an exit code says that it went well, since older versions call it a success
    whatever it was (EVID.7)."""
    if text.startswith(_REFUSED):
        return _Ending(Status.REJECTED, None, ())
    if status == "error":
        return _Ending(Status.FAILED, None, ())
    if status != "success" or not pending.tool:
        return _Ending(Status.UNKNOWN, None, ())
    tail = text[-_LAST:]
    flags = ("truncated",) if _SAVED.search(tail) else ()
    if pending.tool.rpartition("__")[2] != "shell":
        return _Ending(Status.FAILED if result.isError else Status.OK, None, flags)
    stated = result.structuredContent.get("exit_code") if isinstance(result.structuredContent, dict) else None
    code = stated if isinstance(stated, int) and not isinstance(stated, bool) else None
    if result.isError:
        if _TIMED_OUT.search(tail):
            return _Ending(Status.UNKNOWN, None, (*flags, "interrupted"))
        # What the harness puts last, behind whatever was printed.
        printed = _EXITED.search(tail)
        return _Ending(Status.FAILED, int(printed[1]) if printed and code is None else code, flags)
    return _Ending(Status.UNKNOWN if code is None else Status.FAILED if code else Status.OK, code, flags)


def _answer(data: object) -> str:
    """What a person filled in where a tool asked for something, as JSON; empty for the question itself."""
    if not isinstance(data, dict) or data.get("actionType") != "elicitationResponse":
        return ""
    given = data.get("userData", data.get("user_data"))
    return "" if given is None else msgspec.json.encode(given).decode()


def _instant(created: object) -> Instant | None:
    late = isinstance(created, int | float) and created >= _MOST_SECONDS
    return instant_of(created, _MILLISECOND if late else _SECOND)


class Goose:
    """``sessions.db`` below ``~/.local/share/goose/sessions``, the ``.jsonl`` before it, and what is exported."""

    name = "goose"
    framing = "gathered"

    def recognises(self, head: bytes, name: str) -> bool:
        """True for the database, for a log that begins with a session's metadata or a message, and for an export."""
        if head.startswith(MAGIC):
            tables = tables_in(head)
            if not tables:
                return name == "sessions.db"
            messages = has_columns(tables, "messages", b"session_id", b"content_json", b"created_timestamp")
            return messages or has_columns(tables, "sessions", b"working_dir", b"extension_data")
        start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
        if not _FIRST_LINE.match(start):
            return False
        if _MESSAGE_HEAD.match(start):
            return True
        line = start.partition(b"\n{")[0]
        log = b'"working_dir"' in line and b'"message_count"' in line and b'"total_tokens"' in line
        return log or (b'"working_dir"' in start and (b'"extension_data"' in start or b'"conversation"' in start))

    def reader(self, name: str, calls: dict[str, PendingCall] | None = None) -> GooseReader:
        """A new reader; a document has no calls left open from before."""
        del calls
        return GooseReader(name)

    def anchor(self, path: str) -> str:
        """The file itself, which holds one session or all."""
        return path

    def gather(self, view: FileView, anchor: str) -> Iterator[Member]:
        """The sessions by id; the one of a log is called what the file is, as the harness does."""
        stem, _, ending = anchor.rpartition("/")[2].rpartition(".")
        if ending not in ("json", "jsonl"):
            yield from _in_database(view, anchor)
            return
        state = view.state(anchor)
        if state is None:
            raise UsageError(f"{anchor}: no session of Goose lies there")

        def load() -> bytes:
            data = view.read(anchor)
            return data if ending == "json" else _of_log(stem, data)

        yield Member(stem, state, load)


_SESSION = ("id", "name", "description", "session_type", "working_dir", "recipe_json", "parent_session_id")
_MESSAGES = ("role", "content_json", "created_timestamp", "metadata_json")


def _in_database(view: FileView, path: str) -> Iterator[Member]:
    metadata = (
        " + ifnull(octet_length(m.metadata_json), 0)" if "metadata_json" in columns_of(view, path, "messages") else ""
    )
    counted = f"""SELECT s.id, sum(octet_length(m.content_json){metadata}), max(m.id), count(m.id)
        FROM sessions s LEFT JOIN messages m ON m.session_id = s.id GROUP BY s.id ORDER BY s.id"""  # noqa: S608
    for session, *numbers in view.rows(path, counted):
        state = FileState(*(int(each) if isinstance(each, int | float) else 0 for each in numbers))

        def load(session: str = str(session)) -> bytes:
            return _document(view, path, session)

        yield Member(str(session), state, load)


def _document(view: FileView, path: str, session: str) -> bytes:
    """A session of the database in the shape of an export."""
    row = row_of(view, path, "sessions", _SESSION, session)
    messages = [
        {
            "role": text_of(each["role"]),
            "created": each["created_timestamp"],
            "content": json_in(text_of(each["content_json"]).encode()),
            "metadata": json_in(text_of(each["metadata_json"]).encode()) if each["metadata_json"] else None,
        }
        for each in rows_of(view, path, "messages", _MESSAGES, "WHERE session_id = ? ORDER BY id", (session,))
    ]
    facts = {name: text_of(row[name]) for name in _SESSION if name not in ("id", "recipe_json")}
    recipe = json_in(text_of(row["recipe_json"]).encode()) if row["recipe_json"] else None
    return msgspec.json.encode({"id": session, **facts, "recipe": recipe, "conversation": messages})


def _of_log(session: str, data: bytes) -> bytes:
    """The same shape of a log, whose first line says what the session is, or is a message already."""
    lines = json_lines(data)
    facts: dict[str, msgspec.Raw] = {}
    if lines and not _MESSAGE_HEAD.match(bytes(lines[0])):
        try:
            facts = msgspec.json.decode(lines[0], type=dict[str, msgspec.Raw])
        except UNREADABLE:
            facts = {}
        lines = lines[1:] if "working_dir" in facts else lines
    return msgspec.json.encode({**facts, "id": session, "conversation": lines})


GOOSE = Goose()
