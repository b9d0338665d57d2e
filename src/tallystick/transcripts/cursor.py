"""Cursor: agent transcripts as text or JSON lines, and the chats in the editor's database (docs/formats/cursor.md).

Transcripts hold no results; the database does. Known from source only, so what is not certain is left unknown.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import msgspec

from tallystick.errors import UsageError
from tallystick.model.evidence import Event, EventKind, Locator, Origin, SessionFacts, Status
from tallystick.model.temporal import END_OF_TIME, Instant
from tallystick.transcripts.documents import Message, Read
from tallystick.transcripts.protocol import FileState, FileView, Member, PendingCall
from tallystick.transcripts.texts import instant, is_own_tool, mended, runs_own_command
from tallystick.transcripts.turns import Turn, TurnReader, lines_of

_TURN, _LINE, _BUBBLE = "turn", "line", "bubble"
_SQLITE = b"SQLite format 3\0"
_CHAT = b'{"composerData":{'
_JSON_LINE = re.compile(
    rb'\{\s{0,8}"role"\s{0,8}:\s{0,8}"(?:user|assistant)"\s{0,8},'
    rb'\s{0,8}"message"\s{0,8}:\s{0,8}\{\s{0,8}"content"'
)
_FRONT_MATTER = re.compile(rb"\A---\r?\n(?:(?!---)[^\n]{0,2000}\n){0,60}---\r?\n")
_PREFACE = re.compile(rb"(?:[ \t]{0,80}(?:#[^\n]{0,400}|<!--[^\n]{0,400})?\r?\n){0,20}")
_ROLE = re.compile(rb"(user|assistant):[ \t]{0,8}\Z")
_QUERY, _QUERY_ENDS = "<user_query>", "</user_query>"
_MARKER = re.compile(r"(?m)^\[(Thinking|Tool call|Tool result)\][ \t]{0,8}([^\n]*)$")
_WRAPPED = re.compile(r"\s{0,80}<(?!tallystick-briefing)[a-z][a-z_-]{1,60}>")
_TYPED_COMMAND = re.compile(r"(?m)^[ \t]{1,8}command: ([^\n]{1,20000})$")
_SHELLS = frozenset({"Shell", "Bash", "run_terminal_cmd", "run_terminal_command", "run_terminal_command_v2"})
_WRITERS = frozenset(
    "Write StrReplace Edit MultiEdit Delete write edit_file edit_file_v2 search_replace create_file delete_file".split()
)
_PATHS = ("path", "file_path", "target_file", "relativeWorkspacePath")
_ENDED = frozenset({"completed", "error", "cancelled"})
_NOWHERE = Locator(0, 0, 0, 0, 0)
_ANY = msgspec.json.Decoder(Any)
_CANONICAL = msgspec.json.Encoder(order="sorted")


class _Chat(NamedTuple):
    """One chat of the database: what is said of it, and the ids or bodies of its bubbles in order."""

    about: dict[str, str]
    bubbles: list[Any]


class _Ending(NamedTuple):
    text: str
    status: Status
    exit_code: int | None = None
    flags: tuple[str, ...] = ()


class CursorReader(TurnReader):
    """Reads one transcript or chat; see ``Reader``. ``records`` are turns, lines or bubbles."""

    harness = "cursor"

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._met: Counter[str] = Counter()

    def turns(self, data: bytes) -> list[Turn]:
        """The turns of a text, or the lines of a log or a chat; the facts are in the name of a file, and in a chat."""
        thread = PurePosixPath(self.name).stem
        parent, _, sub = self.name.partition("/subagents/")
        native = parent.rpartition("/")[2] if sub else thread
        self.facts = SessionFacts(self.harness, native, thread if sub else "", has_results=False)
        start = data.lstrip(b"\xef\xbb\xbf \t\r\n")
        if start.startswith(_CHAT):
            head, *bubbles = _lines(data, _BUBBLE) or [Turn(_BUBBLE, 0, len(data))]
            self._about(_dict(_dict(_ANY.decode(data[head.start : head.end])).get("composerData")))
            return bubbles
        if start.startswith(b"{"):
            return _lines(data, _LINE)
        found = _turns(data)
        if not found:
            raise msgspec.DecodeError("no line that says whose turn it is")
        return found

    def message(self, message: Message) -> Read:
        """By the form it stands in."""
        if self.kind == _TURN:
            return self._turn(message)
        try:
            decoded = _ANY.decode(message.data)
        except (msgspec.DecodeError, RecursionError):
            repaired = mended(message.data)
            if repaired is None:
                raise
            self.counts["mended"] += 1
            decoded = _ANY.decode(repaired)
        if not isinstance(decoded, dict):
            raise msgspec.DecodeError("not an object")
        return self._bubble(message, decoded) if self.kind == _BUBBLE else self._line(message, decoded)

    def _about(self, about: dict[str, Any]) -> None:
        text = {name: _str(value) for name, value in about.items()}
        parent = text.get("parent", "")
        self.facts = SessionFacts(
            self.harness,
            parent or text.get("composerId", ""),
            thread=text.get("composerId", "") if parent else "",
            cwd=text.get("folder", ""),
            branch=text.get("branch", ""),
            title=text.get("name", ""),
        )
        if (left := about.get("left_out")) and isinstance(left, int):
            self.counts["block:rewound"] += left

    # --- what stands in any form

    def _words(self, message: Message, text: str, kind: EventKind, origin: Origin) -> list[Event]:
        """Words are known by themselves, so that a session that is kept in two forms says them once."""
        return self.texts(message, self._uid(f"{origin}:{kind}", text.strip()), text, kind, origin)

    def _uid(self, what: str, text: str) -> str:
        uid = f"{what}:{sha256(text.encode('utf-8', 'replace')).hexdigest()[:16]}"
        self._met[uid] += 1
        return f"{uid}:{self._met[uid]}"

    def _person(self, message: Message, text: str) -> list[Event]:
        """A query is the person's, what Cursor puts around it is not; a sub-agent's user is its parent."""
        if self.facts.thread:
            return self._words(message, text, EventKind.MESSAGE, Origin.DELEGATED)
        start, end = text.find(_QUERY), text.rfind(_QUERY_ENDS)
        if start < 0:
            origin = Origin.HARNESS if _WRAPPED.match(text) else Origin.USER
            return self._words(message, text.strip(), EventKind.MESSAGE, origin)
        inside = text[start + len(_QUERY) : end if end > start else None]
        after = text[end + len(_QUERY_ENDS) :] if end > start else ""
        events = []
        for part, origin in ((text[:start], Origin.HARNESS), (inside, Origin.USER), (after, Origin.HARNESS)):
            events += self._words(message, part.strip(), EventKind.MESSAGE, origin)
        return events

    def _called(self, message: Message, tool: str, arguments: Any, call_id: str = "") -> Event:
        text = arguments if isinstance(arguments, str) else _CANONICAL.encode(arguments).decode()
        known = _dict(arguments)
        command = _str(known.get("command")) if tool in _SHELLS else ""
        if isinstance(arguments, str) and tool in _SHELLS and (typed := _TYPED_COMMAND.search(arguments)):
            command = typed[1]
        path = next((_str(known[name]) for name in _PATHS if known.get(name)), "") if tool in _WRITERS else ""
        own = ("own_tool",) if is_own_tool(tool) or runs_own_command(command) else ()
        uid = self._uid(f"call:{tool}", text)
        return self.call(message, uid, text, call_id or uid, PendingCall(tool, command, (path,) if path else (), own))

    def _ended(self, message: Message, call: Event, ending: _Ending) -> list[Event]:
        self.facts = self.facts._replace(has_results=True)
        like = call._replace(
            uid=f"out:{call.uid}",
            kind=EventKind.TOOL_RESULT,
            origin=Origin.TOOL,
            text=ending.text,
            locator=_NOWHERE,
            status=ending.status,
            exit_code=ending.exit_code,
            flags=(*(flag for flag in call.flags if flag == "own_tool"), *ending.flags),
        )
        return self.results(message, like)

    # --- a text

    def _turn(self, message: Message) -> Read:
        head, _, rest = message.data.partition(b"\n")
        body = self.decoded(rest).replace("\r\n", "\n")
        if head.startswith(b"user"):
            return Read("user", self._person(message, body))
        events: list[Event] = []
        kind, tool, at = "", "", 0
        for marker in _MARKER.finditer(body):
            events += self._block(message, kind, tool, body[at : marker.start()])
            kind, tool, at = marker[1], marker[2].strip(), marker.end()
        events += self._block(message, kind, tool, body[at:])
        return Read("assistant", events)

    def _block(self, message: Message, kind: str, about: str, text: str) -> list[Event]:
        """What stands from one marker to the next: a thought ends with its paragraph, a call not before the next marker."""
        if kind == "Thinking":
            thought, _, text = f"{about}{text}".partition("\n\n")
            events = self._words(message, thought.strip(), EventKind.THINKING, Origin.ASSISTANT)
            return events + self._words(message, text.strip(), EventKind.MESSAGE, Origin.ASSISTANT)
        if kind == "Tool call":
            return [self._called(message, about, text.strip("\n"))]
        events = []
        if kind == "Tool result":
            self.counts["block:tool_result"] += 1
            shown, _, text = text.partition("\n\n")
            events = self._words(message, shown.strip(), EventKind.MESSAGE, Origin.TOOL)
            events = [event._replace(tool=about) for event in events]
        return events + self._words(message, text.strip(), EventKind.MESSAGE, Origin.ASSISTANT)

    # --- a line

    def _line(self, message: Message, decoded: dict[str, Any]) -> Read:
        role = _str(decoded.get("role"))
        if role not in ("user", "assistant"):
            return Read(_str(decoded.get("type")) or role or "unknown", ())
        content = _dict(decoded.get("message")).get("content")
        blocks = content if isinstance(content, list) else [content]
        events: list[Event] = []
        for block in blocks:
            if isinstance(block, str):
                block = {"type": "text", "text": block}
            events += self._content(message, role, _dict(block))
        return Read(role, events)

    def _content(self, message: Message, role: str, block: dict[str, Any]) -> list[Event]:
        kind = _str(block.get("type"))
        if kind == "text":
            text = _str(block.get("text"))
            return (
                self._person(message, text)
                if role == "user"
                else self._words(message, text, EventKind.MESSAGE, Origin.ASSISTANT)
            )
        if kind == "thinking":
            text = _str(block.get("thinking")) or _str(block.get("text"))
            return self._words(message, text, EventKind.THINKING, Origin.ASSISTANT)
        if kind == "tool_use":
            call_id = _str(block.get("id"))
            event = self._called(message, _str(block.get("name")), block.get("input"), call_id)
            if call_id:
                self.calls[call_id] = PendingCall(event.tool, event.command, event.paths, event.flags)
            return [event]
        if kind == "tool_result":
            call_id = _str(block.get("tool_use_id"))
            pending = self.calls.pop(call_id, PendingCall("", "", (), ()))
            text = _text(block.get("content"))
            status = Status.FAILED if block.get("is_error") is True else Status.UNKNOWN
            like = Event(
                self._uid(f"result:{call_id}", text),
                EventKind.TOOL_CALL,
                Origin.ASSISTANT,
                "",
                _NOWHERE,
                tool=pending.tool,
            )
            like = like._replace(call_id=call_id, command=pending.command, paths=pending.paths, flags=pending.flags)
            return self._ended(message, like, _Ending(text, status))
        self.counts["image" if kind == "image" else "block:unknown"] += 1
        return []

    # --- a bubble

    def _bubble(self, message: Message, decoded: dict[str, Any]) -> Read:
        message.at = _instant(decoded.get("createdAt"))
        kind = decoded.get("type")
        text = _str(decoded.get("text"))
        if (images := decoded.get("images")) and isinstance(images, list):
            self.counts["image"] += len(images)
        if kind == 1:
            return Read("user", self._person(message, text))
        if kind != 2:
            return Read("missing" if kind is None else "unknown", ())
        thought = _str(_dict(decoded.get("thinking")).get("text"))
        events = self._words(message, thought, EventKind.THINKING, Origin.ASSISTANT)
        events += self._words(message, text, EventKind.MESSAGE, Origin.ASSISTANT)
        used = _dict(decoded.get("toolFormerData"))
        if tool := _str(used.get("name")):
            call = self._called(message, tool, _arguments(used), _str(used.get("toolCallId")))
            events.append(call)
            if used.get("status") in _ENDED:
                events += self._ended(message, call, _ending(tool, used))
            else:
                self.calls[call.call_id] = PendingCall(tool, call.command, call.paths, call.flags)
        return Read("assistant", events)


def _arguments(used: dict[str, Any]) -> Any:
    """What the model asked for: ``rawArgs``, else ``params``, each JSON inside JSON."""
    for name in ("rawArgs", "params"):
        value = _unwrapped(used.get(name))
        if value:
            return value
    return {}


def _ending(tool: str, used: dict[str, Any]) -> _Ending:
    """How a call ended, by the fields that say so; a shell's by its exit code and nothing else (EVID.7)."""
    result = _unwrapped(used.get("result"))
    said = _dict(result)
    text = _str(said.get("output")) if tool in _SHELLS else _text(result)
    if said.get("rejected") is True or used.get("userDecision") == "rejected":
        return _Ending(text, Status.REJECTED)
    if used["status"] == "cancelled":
        return _Ending(text, Status.UNKNOWN, flags=("interrupted",))
    if tool in _SHELLS:
        code = next((said[name] for name in ("exitCodeV2", "exitCode") if type(said.get(name)) is int), None)
        if said.get("notInterrupted") is False:
            return _Ending(text, Status.UNKNOWN, flags=("interrupted",))
        if "BACKGROUND" in _str(said.get("endedReason")):
            return _Ending(text, Status.UNKNOWN, flags=("background",))
        if code is not None and abs(code) < 2**31:
            return _Ending(text, Status.FAILED if code else Status.OK, code)
    if used["status"] == "error":
        return _Ending(text or _text(used.get("error")), Status.FAILED)
    # A shell that states no code may have had any.
    return _Ending(text, Status.UNKNOWN if tool in _SHELLS or result is None else Status.OK)


def _unwrapped(value: Any) -> Any:
    """A value that may stand in a string as JSON."""
    if not isinstance(value, str):
        return value
    try:
        return _ANY.decode(value)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return value


def _text(value: Any) -> str:
    """A value as words: itself, the text parts of a list of blocks, or JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, list) and all(_dict(each).get("type") == "text" for each in value):
        return "\n".join(_str(_dict(each).get("text")) for each in value)
    return _CANONICAL.encode(value).decode()


def _str(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _instant(value: Any) -> Instant | None:
    """Microseconds of an ISO time with a zone, or of milliseconds since 1970; None for anything else."""
    if type(value) is int:
        return value * 1000 if 0 < value * 1000 < END_OF_TIME else None
    return instant(_str(value))


def _lines(data: bytes, kind: str) -> list[Turn]:
    """The lines that are not blank; a last one that has no end and is no JSON is still being written (EVID.2)."""
    found = [Turn(kind, at, at + len(line)) for at, line in lines_of(data) if line.strip(b" \t\0\xef\xbb\xbf")]
    if found and found[0].start == 0 and data.startswith(b"\xef\xbb\xbf"):
        found[0] = found[0]._replace(start=3)
    if found and not data.endswith(b"\n"):
        try:
            _ANY.decode(data[found[-1].start :])
        except (msgspec.DecodeError, RecursionError):
            found.pop()
    return found


def _turns(data: bytes) -> list[Turn]:
    """The turns of a text: each from a line that names a role, outside a query, to the next one."""
    found: list[Turn] = []
    asking = False
    for at, line in lines_of(data):
        mark = 0 if at or not line.startswith(b"\xef\xbb\xbf") else 3
        if _ROLE.match(line, mark) and not asking:
            found.append(Turn(_TURN, at + mark, at + len(line)))
        elif found and line.strip():
            found[-1] = found[-1]._replace(end=at + len(line))
        if found and data.startswith(b"user", found[-1].start):
            opened, closed = line.rfind(b"<user_query>"), line.rfind(b"</user_query>")
            asking = opened > closed or (asking and closed < 0)
    return found


class Cursor:
    """``~/.cursor/projects/*/agent-transcripts/`` and ``User/**/state.vscdb``; ``~/.cursor/chats/*/*/store.db`` is not read."""

    name = "cursor"
    framing = "gathered"

    def recognises(self, head: bytes, name: str) -> bool:
        """True for the editor's database, for lines of role and message, and for a text of turns with a query."""
        del name  # The content says all.
        if head.startswith(_SQLITE):
            return b"cursorDiskKV" in head
        start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
        if _JSON_LINE.match(start) or start.startswith(_CHAT):
            return True
        matter = _FRONT_MATTER.match(start)
        start = start[matter.end() :] if matter else start
        preface = _PREFACE.match(start)
        start = start[preface.end() :] if preface else start
        return bool(_ROLE.match(start.partition(b"\n")[0].rstrip(b"\r"))) and b"<user_query>" in start

    def anchor(self, path: str) -> str:
        """The file itself."""
        return path

    def gather(self, view: FileView, anchor: str) -> Iterator[Member]:
        """The chats of a database, by id; of a transcript the one session that it is."""
        path = PurePosixPath(anchor)
        try:
            tables = {name for (name,) in view.rows(anchor, "SELECT name FROM sqlite_schema WHERE type = 'table'")}
        except UsageError:
            text = b"" if path.suffix == ".vscdb" else view.read(anchor)
            if not text or text.startswith(_SQLITE):
                raise
            sub = f"{path.parts[-3]}/subagents/" if path.parts[-2:-1] == ("subagents",) else ""
            yield Member(f"{sub}{path.stem}", FileState(len(text), 0, zlib.crc32(text)), lambda: text)
            return
        if "cursorDiskKV" in tables:
            yield from _chats(view, anchor)

    def reader(self, name: str, calls: dict[str, PendingCall] | None = None) -> CursorReader:
        """A new reader; a transcript or chat is read whole."""
        del calls
        return CursorReader(name)


def _chats(view: FileView, anchor: str) -> Iterator[Member]:
    """The chats in which something was said, and a state for each that changes with any of its bubbles."""
    keyed = "SELECT key, value FROM cursorDiskKV WHERE key >= ? AND key < ? ORDER BY key"
    states = "SELECT count(*), total(length(value)), max(rowid) FROM cursorDiskKV WHERE key >= ? AND key < ?"
    # Read to its end before another question is asked: a database answers one at a time.
    for key, value in list(view.rows(anchor, keyed, ("composerData:", "composerData;"))):
        data = value.encode() if isinstance(value, str) else bytes(value) if isinstance(value, bytes) else b""
        chat = _chat(str(key).partition(":")[2], data)
        if not chat.bubbles:
            continue
        composer = chat.about["composerId"]
        within = f"bubbleId:{composer}:", f"bubbleId:{composer};"
        ((_, size, row),) = list(view.rows(anchor, states, within))
        state = FileState(int(float(str(size))) + len(data), int(str(row or 0)), zlib.crc32(data))
        yield Member(composer, state, partial(_document, view, anchor, keyed, within, chat))


def _chat(composer: str, data: bytes) -> _Chat:
    try:
        said = _dict(_ANY.decode(data))
    except (msgspec.DecodeError, RecursionError):
        said = {}
    headers, inline = said.get("fullConversationHeadersOnly"), said.get("conversation")
    bubbles = [_str(_dict(each).get("bubbleId")) for each in headers] if isinstance(headers, list) else []
    folder = _dict(_dict(said.get("workspaceIdentifier")).get("uri")).get("fsPath")
    about = {
        "composerId": composer,
        "name": _str(said.get("name")),
        "branch": _str(said.get("createdOnBranch")),
        "folder": _str(folder),
        "parent": _str(_dict(said.get("subagentInfo")).get("parentComposerId")),
    }
    return _Chat(about, bubbles or (inline if isinstance(inline, list) else []))


def _document(view: FileView, anchor: str, keyed: str, within: tuple[str, str], chat: _Chat) -> bytes:
    """What is said of a chat in the first line, then a bubble a line, as it stands there."""
    bodies = {str(key).rpartition(":")[2]: value for key, value in view.rows(anchor, keyed, within)}
    lines: list[bytes] = []
    for bubble in chat.bubbles:
        if not isinstance(bubble, str):
            lines.append(msgspec.json.encode(bubble))
            continue
        body = bodies.pop(bubble, None)
        data = body.encode() if isinstance(body, str) else body if isinstance(body, bytes) else b""
        lines.append(data.replace(b"\n", b" ").strip() or msgspec.json.encode({"bubbleId": bubble}))
    about = {**chat.about, "left_out": len(bodies)}
    return msgspec.json.encode({"composerData": about}) + b"\n" + b"".join(line + b"\n" for line in lines)


CURSOR = Cursor()
