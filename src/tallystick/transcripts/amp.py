"""Reads the threads of Amp as its client keeps or exports them: one JSON document a thread, results in the user's messages.

From what public programs read of such files: there is no published schema, and no real file was at hand.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import msgspec

from tallystick.model.evidence import Event, EventKind, Locator, Origin, SessionFacts, Status
from tallystick.model.temporal import Instant
from tallystick.transcripts.documents import DocumentReader, Message, Read
from tallystick.transcripts.protocol import PendingCall
from tallystick.transcripts.texts import instant, is_own_tool, milliseconds, path_of_uri, runs_own_command, type_name

_SHELLS = frozenset({"Bash", "shell_command"})
_WRITERS = frozenset({"edit_file", "create_file", "undo_edit", "delete_file"})
_OF_AGENTS = frozenset({"Task", "oracle", "librarian", "finder"})
"""Tools whose answer is another agent's report."""
_BEGINS = re.compile(rb'\{\s{0,16}"(?:v|id|created|title|\$schema)"')
_NAMED = re.compile(rb'"id"\s{0,4}:\s{0,4}"T-[0-9a-fA-F-]{8,40}"')
_HEAD_BYTES = 4096
_NOWHERE = Locator(0, 0, 0, 0, 0)
_STATUSES = {"done": Status.OK, "error": Status.FAILED, "rejected-by-user": Status.REJECTED}


class _Repository(msgspec.Struct):
    url: str | None = None
    ref: str | None = None


class _Tree(msgspec.Struct):
    uri: str | None = None
    repository: _Repository | None = None


class _Platform(msgspec.Struct):
    clientVersion: str | None = None  # noqa: N815


class _Initial(msgspec.Struct):
    trees: list[_Tree] | None = None
    platform: _Platform | None = None


class _Env(msgspec.Struct):
    initial: _Initial | None = None


class _Relationship(msgspec.Struct):
    threadID: str = ""  # noqa: N815
    role: str = ""


class _Thread(msgspec.Struct):
    id: str
    messages: list[msgspec.Raw]
    title: str | None = None
    env: _Env | None = None
    mainThreadID: str | None = None  # noqa: N815
    relationships: list[_Relationship] | None = None


class _Trace(msgspec.Struct):
    endTime: str | float | None = None  # noqa: N815


class _Meta(msgspec.Struct):
    sentAt: str | float | None = None  # noqa: N815
    traces: list[_Trace] | None = None
    fromAggman: bool | None = None  # noqa: N815
    fromExecutorThreadID: str | None = None  # noqa: N815


class _Usage(msgspec.Struct):
    timestamp: str | float | None = None


class _Error(msgspec.Struct):
    message: str = ""


class _Run(msgspec.Struct):
    status: str = ""
    result: msgspec.Raw = msgspec.Raw()
    error: _Error | str | None = None
    reason: str | None = None


class _Input(msgspec.Struct):
    cmd: str | list[str] | None = None
    command: str | list[str] | None = None
    path: str | None = None


class _Summary(msgspec.Struct):
    summary: str = ""


class _Block(msgspec.Struct):
    type: str
    text: str | None = None
    thinking: str | None = None
    hidden: bool | None = None
    id: str = ""
    name: str = ""
    input: msgspec.Raw = msgspec.Raw(b"{}")
    toolUseID: str = ""  # noqa: N815
    run: _Run | None = None
    summary: _Summary | str | None = None
    args: msgspec.Raw = msgspec.Raw(b"{}")
    toolRun: _Run | None = None  # noqa: N815


class _Message(msgspec.Struct):
    role: str
    content: list[_Block] | str
    messageId: int | str | None = None  # noqa: N815
    meta: _Meta | None = None
    usage: _Usage | None = None


class _Output(msgspec.Struct):
    output: str | None = None
    exitCode: int | None = None  # noqa: N815


class _Ending(NamedTuple):
    text: str
    status: Status
    exit_code: int | None
    flags: tuple[str, ...]


_THREAD = msgspec.json.Decoder(_Thread)
_MESSAGE = msgspec.json.Decoder(_Message)
_INPUT = msgspec.json.Decoder(_Input)
_OUTPUT = msgspec.json.Decoder(_Output | str)
_UNREADABLE = (msgspec.DecodeError, RecursionError)


class AmpReader(DocumentReader):
    """Reads one thread; see ``Reader``. ``records`` are messages."""

    harness = "amp"

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._ids: set[str] = set()

    def messages(self, data: bytes) -> list[msgspec.Raw]:
        """The messages, and the facts of the thread."""
        thread = _THREAD.decode(data)
        initial = (thread.env or _Env()).initial or _Initial()
        tree = (initial.trees or [_Tree()])[0]
        repository = tree.repository or _Repository()
        parents = [each.threadID for each in thread.relationships or () if each.role == "parent"]
        self.facts = SessionFacts(
            self.harness,
            thread.id,
            cwd=path_of_uri(tree.uri or ""),
            repository=repository.url or "",
            branch=(repository.ref or "").removeprefix("refs/heads/"),
            version=(initial.platform or _Platform()).clientVersion or "",
            title=thread.title or "",
            parent=thread.mainThreadID or (parents[0] if parents else ""),
        )
        return thread.messages

    def message(self, message: Message) -> Read:
        """The blocks of a message, in order."""
        decoded = _MESSAGE.decode(message.data)
        if decoded.role not in ("user", "assistant", "info"):
            return Read(decoded.role, ())
        number = message.index if decoded.messageId is None else decoded.messageId
        uid = f"M{number}" if f"M{number}" not in self._ids else f"M{number}@{message.index}"
        self._ids.add(uid)
        message.at = _instant(decoded)
        blocks = [_Block("text", decoded.content)] if isinstance(decoded.content, str) else decoded.content
        events: list[Event] = []
        for position, block in enumerate(blocks):
            events += self._block(message, f"{uid}:{position}", decoded, block)
        return Read(decoded.role, events)

    def _block(self, message: Message, uid: str, decoded: _Message, block: _Block) -> list[Event]:
        if block.type == "text":
            return self.texts(message, uid, block.text or "", EventKind.MESSAGE, _origin(decoded, block))
        if block.type == "thinking":
            return self.texts(message, uid, block.thinking or "", EventKind.THINKING, Origin.ASSISTANT)
        if block.type == "summary":
            text = block.summary.summary if isinstance(block.summary, _Summary) else block.summary or ""
            return self.texts(message, uid, text, EventKind.SUMMARY, Origin.HARNESS)
        if block.type == "tool_use":
            pending = _pending(block.name, block.input)
            self.calls[block.id] = pending
            arguments = msgspec.json.format(bytes(block.input), indent=-1).decode("utf-8", "replace")
            return [self.call(message, f"call:{block.id}", arguments, block.id, pending)]
        if block.type == "tool_result":
            pending = self.calls.pop(block.toolUseID, PendingCall("", "", (), ()))
            return self._result(message, f"out:{block.toolUseID}", block.toolUseID, pending, block.run or _Run())
        if block.type == "manual_bash_invocation":
            return self._typed_command(message, uid, block)
        self.counts["image" if block.type == "image" else f"block:{type_name(block.type)}"] += 1
        return []

    def _typed_command(self, message: Message, uid: str, block: _Block) -> list[Event]:
        """A command that the person ran: theirs, and a result that no call of the assistant asked for."""
        pending = _pending("Bash", block.args)
        typed = self.texts(message, uid, pending.command, EventKind.MESSAGE, Origin.USER)
        return typed + self._result(message, f"{uid}:out", uid, pending, block.toolRun or _Run())

    def _result(self, message: Message, uid: str, call_id: str, pending: PendingCall, run: _Run) -> list[Event]:
        ending = _ending(run, known=bool(pending.tool))
        result = Event(
            uid,
            EventKind.TOOL_RESULT,
            Origin.DELEGATED if pending.tool in _OF_AGENTS else Origin.TOOL,
            ending.text,
            _NOWHERE,
            tool=pending.tool,
            call_id=call_id,
            status=ending.status,
            exit_code=ending.exit_code,
            command=pending.command,
            paths=pending.paths,
            flags=(*pending.flags, *ending.flags),
        )
        return self.results(message, result)


def _origin(decoded: _Message, block: _Block) -> Origin:
    if decoded.role == "assistant":
        return Origin.ASSISTANT
    if decoded.role == "info" or block.hidden:
        return Origin.HARNESS
    meta = decoded.meta or _Meta()
    return Origin.DELEGATED if meta.fromAggman or meta.fromExecutorThreadID else Origin.USER


def _instant(decoded: _Message) -> Instant | None:
    """When a message was sent or finished; older threads have no times."""
    meta, usage = decoded.meta or _Meta(), decoded.usage or _Usage()
    ended = meta.traces[-1].endTime if meta.traces else None
    for stamp in (meta.sentAt, usage.timestamp, ended):
        found = instant(stamp) if isinstance(stamp, str) else milliseconds(stamp)
        if found is not None:
            return found
    return None


def _pending(name: str, arguments: msgspec.Raw) -> PendingCall:
    try:
        known = _INPUT.decode(arguments)
    except _UNREADABLE:
        known = _Input()
    argv = known.cmd or known.command or ""
    script = argv if isinstance(argv, str) else " ".join(argv)
    command = script if name in _SHELLS else ""
    paths = (known.path,) if name in _WRITERS and known.path else ()
    own = is_own_tool(name) or runs_own_command(command)
    return PendingCall(name, command, paths, ("own_tool",) if own else ())


def _ending(run: _Run, *, known: bool) -> _Ending:
    """How a run ended by its own status, and a shell by its exit code: an answer without a call is unknown (EVID.7)."""
    text, code = "", None
    if run.result:
        try:
            decoded = _OUTPUT.decode(run.result)
        except _UNREADABLE:
            decoded = _Output()
        if isinstance(decoded, _Output):
            code = decoded.exitCode
        found = decoded if isinstance(decoded, str) else decoded.output
        text = bytes(run.result).decode("utf-8", "replace") if found is None else found
    error = run.error.message if isinstance(run.error, _Error) else run.error or run.reason or ""
    text = "\n".join(filter(None, (text, error)))
    status = _STATUSES.get(run.status, Status.UNKNOWN)
    if not known:
        return _Ending(text, Status.UNKNOWN, None, ())
    if status is Status.OK and code:
        status = Status.FAILED
    return _Ending(text, status, code, ("interrupted",) if run.status == "cancelled" else ())


class Amp:
    """``~/.local/share/amp/threads/T-<uuid>.json``, and what ``amp threads export`` writes."""

    name = "amp"
    framing = "document"

    def recognises(self, head: bytes, name: str) -> bool:
        """True when the document begins with the id of a thread."""
        del name  # The content says all.
        start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
        if not _BEGINS.match(start) or not _NAMED.search(start[:_HEAD_BYTES]):
            return False
        return b'"messages"' in start

    def reader(self, name: str, calls: dict[str, PendingCall] | None = None) -> AmpReader:
        """A new reader; a document has no calls left open from before."""
        del calls
        return AmpReader(name)


AMP = Amp()
