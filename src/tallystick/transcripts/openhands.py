"""Reads the conversations of OpenHands: a folder with a file for each event (V1), or one list of events (V0).

A conversation is gathered into one document, whose records are its events and the state beside them. All times are local
ones without an offset, so none is kept (EVID.8).
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Sequence
from functools import partial

import msgspec

from tallystick.model.evidence import Event, EventKind, Locator, Origin, SessionFacts, Status
from tallystick.transcripts import openhands_v0 as v0
from tallystick.transcripts.documents import UNREADABLE, DocumentReader, Message, Read
from tallystick.transcripts.protocol import FileState, FileView, Member, PendingCall
from tallystick.transcripts.texts import is_own_tool, runs_own_command, type_name

_EVENTS, _CACHE, _BASE = "events", "event_cache", "base_state.json"
_FILE = re.compile(r"(?:event-(\d{1,12})-[^/]{1,80}|(\d{1,12}))\.json\Z")
_SHELLS = frozenset({"terminal", "execute_bash", "bash"})
_EDITORS = frozenset({"file_editor", "str_replace_editor", "planning_file_editor"})
_AGENTS = frozenset({"delegate", "task"})
_REFUSED = "User rejected the action"
_NOWHERE = Locator(0, 0, 0, 0, 0)
_NO_CALL = PendingCall("", "", (), ())
_SOURCE = rb'"source"\s{0,4}:\s{0,4}"(?:agent|user|environment|hook)"'
_BEGINS = re.compile(
    rb'\{\s{0,8}"id"\s{0,4}:\s{0,4}"[0-9a-zA-Z-]{1,64}"\s{0,4},\s{0,8}'
    rb'(?:"timestamp"\s{0,4}:\s{0,4}"[^"]{0,40}"\s{0,4},\s{0,8}'
    + _SOURCE
    + rb'|"agent"\s{0,4}:\s{0,4}\{\s{0,8}"(?:llm|kind)")'
)
_BEGINS_V0 = re.compile(
    rb'(?:\[\s{0,8})?\{\s{0,8}"id"\s{0,4}:\s{0,4}-?\d{1,12}\s{0,4},\s{0,8}"timestamp"\s{0,4}:\s{0,4}"[^"]{0,40}"\s{0,4},\s{0,8}'
    + _SOURCE
)


class _Document(msgspec.Struct):
    session: str
    events: list[msgspec.Raw]


class _Workspace(msgspec.Struct):
    working_dir: str | None = None


class _Base(msgspec.Struct):
    id: str | None = None
    workspace: _Workspace | None = None


class _Part(msgspec.Struct):
    text: str | None = None


class _Thinking(msgspec.Struct):
    thinking: str | None = None


class _LlmMessage(msgspec.Struct):
    content: list[_Part] | str | None = None
    reasoning_content: str | None = None
    thinking_blocks: list[_Thinking] | None = None


class _Action(msgspec.Struct):
    kind: str = ""
    command: str | None = None
    is_input: bool | None = None
    path: str | None = None
    message: str | None = None
    thought: str | None = None


class _ToolCall(msgspec.Struct):
    arguments: str = ""


class _Metadata(msgspec.Struct):
    exit_code: int | None = None


class _Observation(msgspec.Struct):
    kind: str = ""
    content: list[_Part] | str | None = None
    output: str | None = None
    is_error: bool | None = None
    error: bool | str | None = None
    exit_code: int | None = None
    timeout: bool | None = None
    metadata: _Metadata | None = None
    full_output_save_dir: str | None = None


class _Event(msgspec.Struct):
    kind: str = ""
    id: str = ""
    timestamp: str | None = None
    source: str = ""
    sender: str | None = None
    system_prompt: _Part | None = None
    dynamic_context: _Part | None = None
    llm_message: _LlmMessage | None = None
    extended_content: list[_Part] | None = None
    thought: list[_Part] | None = None
    reasoning_content: str | None = None
    thinking_blocks: list[_Thinking] | None = None
    action: _Action | None = None
    tool_name: str | None = None
    tool_call_id: str | None = None
    tool_call: _ToolCall | None = None
    observation: _Observation | None = None
    error: str | None = None
    rejection_reason: str | None = None
    rejection_source: str | None = None
    summary: str | None = None
    detail: str | None = None
    stdout: str | None = None
    stderr: str | None = None
    reason: str | None = None
    additional_context: str | None = None


class _Kind(msgspec.Struct):
    kind: str | None = None


class _Stamp(msgspec.Struct):
    timestamp: str | None = None


_DOCUMENT = msgspec.json.Decoder(_Document)
_LIST = msgspec.json.Decoder(list[msgspec.Raw])
_BASE_STATE = msgspec.json.Decoder(_Base)
_EVENT = msgspec.json.Decoder(_Event)
_KIND = msgspec.json.Decoder(_Kind)
_STAMP = msgspec.json.Decoder(_Stamp)


class OpenHandsReader(DocumentReader):
    """Reads one conversation as it was gathered; see ``Reader``. ``records`` are events, and the state beside them."""

    harness = "openhands"

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._ids: set[str] = set()

    def messages(self, data: bytes) -> list[msgspec.Raw]:
        """The state and the events; the conversation's id and folder are the state's, else those of where it lies."""
        document = _DOCUMENT.decode(data)
        base = _Base()
        for raw in document.events[:1]:
            if _kind(raw) is None:
                base = _base(raw)
        self.facts = SessionFacts(
            self.harness,
            _dashed(base.id or document.session),
            cwd=(base.workspace.working_dir or "") if base.workspace else "",
        )
        return document.events

    def message(self, message: Message) -> Read:
        """By kind; an event without one is an action or observation of V0, or the state of the conversation."""
        kind = _KIND.decode(message.data).kind
        if kind is None:
            return self._old(message, v0.EVENT.decode(message.data))
        event = _EVENT.decode(message.data)
        uid = event.id if event.id and event.id not in self._ids else f"{event.id}@{message.index}"
        self._ids.add(uid)
        return Read(kind, self._of_kind(message, uid, event))

    def _of_kind(self, message: Message, uid: str, event: _Event) -> list[Event]:
        if event.kind == "ActionEvent":
            return self._action(message, uid, event)
        if event.kind in ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation"):
            return self._result(message, uid, event)
        if event.kind == "MessageEvent":
            return self._message_event(message, uid, event)
        said = partial(self.texts, message, kind=EventKind.MESSAGE, origin=Origin.HARNESS)
        if event.kind in ("SystemPromptEvent", "SystemPromptUpdateEvent"):
            parts = [part for part in (event.system_prompt, event.dynamic_context) if part]
            return said(f"{uid}:text", self._text(parts))
        if event.kind in ("Condensation", "CondensationSummaryEvent"):
            return self.texts(message, f"{uid}:summary", event.summary or "", EventKind.SUMMARY, Origin.HARNESS)
        if event.kind == "ConversationErrorEvent":
            return said(f"{uid}:text", event.detail or "")
        if event.kind == "HookExecutionEvent":
            texts = (event.additional_context, event.reason, event.stdout, event.stderr)
            return said(f"{uid}:text", "\n".join(text for text in texts if text))
        return []

    def _message_event(self, message: Message, uid: str, event: _Event) -> list[Event]:
        spoken = event.llm_message or _LlmMessage()
        events = self._thoughts(message, uid, spoken.reasoning_content, spoken.thinking_blocks)
        if event.source == "agent":
            origin = Origin.ASSISTANT
        elif event.source != "user":
            origin = Origin.HARNESS
        else:
            origin = Origin.DELEGATED if event.sender else Origin.USER
        events += self.texts(message, f"{uid}:text", self._text(spoken.content), EventKind.MESSAGE, origin)
        more = self._text(event.extended_content)
        return events + self.texts(message, f"{uid}:more", more, EventKind.MESSAGE, Origin.HARNESS, ("expanded",))

    def _thoughts(
        self, message: Message, uid: str, reasoning: str | None, blocks: list[_Thinking] | None
    ) -> list[Event]:
        """The model's reasoning; the blocks of some models say it again."""
        texts = [reasoning or "", *(block.thinking or "" for block in blocks or ())]
        events: list[Event] = []
        for number, text in enumerate(dict.fromkeys(text for text in texts if text)):
            events += self.texts(message, f"{uid}:thought:{number}", text, EventKind.THINKING, Origin.ASSISTANT)
        return events

    def _text(self, content: Sequence[_Part] | str | None) -> str:
        if isinstance(content, str) or content is None:
            return content or ""
        if images := sum(part.text is None for part in content):
            self.counts["image"] += images
        return "\n".join(part.text for part in content if part.text is not None)

    def _action(self, message: Message, uid: str, event: _Event) -> list[Event]:
        """Reasoning, then what was said with the call, then the call; what `finish` and `think` are called with is said too."""
        action = event.action or _Action()
        events = self._thoughts(message, uid, event.reasoning_content, event.thinking_blocks)
        events += self.texts(message, f"{uid}:text", self._text(event.thought), EventKind.MESSAGE, Origin.ASSISTANT)
        if action.kind == "FinishAction":
            events += self.texts(message, f"{uid}:finish", action.message or "", EventKind.MESSAGE, Origin.ASSISTANT)
        elif action.kind == "ThinkAction":
            events += self.texts(message, f"{uid}:think", action.thought or "", EventKind.THINKING, Origin.ASSISTANT)
        tool = event.tool_name or ""
        command = (action.command or "") if tool in _SHELLS and not action.is_input else ""
        written = tool in _EDITORS and action.command != "view" and action.path
        own = is_own_tool(tool) or runs_own_command(command)
        paths = (action.path,) if written and action.path else ()
        pending = PendingCall(tool, command, paths, ("own_tool",) if own else ())
        call_id = event.tool_call_id or uid
        self.calls[call_id] = pending
        arguments = event.tool_call.arguments if event.tool_call else ""
        return [*events, self.call(message, f"{uid}:call", arguments, call_id, pending)]

    def _result(self, message: Message, uid: str, event: _Event) -> list[Event]:
        call_id = event.tool_call_id or ""
        pending = self.calls.pop(call_id, _NO_CALL._replace(tool=event.tool_name or ""))
        seen = event.observation or _Observation()
        feedback = ""
        if event.kind == "AgentErrorEvent":
            text, end = event.error or "", v0.Ending(Status.FAILED)
        elif event.kind == "UserRejectObservation":
            text, end = event.rejection_reason or "", v0.Ending(Status.REJECTED)
            if event.rejection_source in (None, "user") and text != _REFUSED:
                text, feedback = "", text
        else:
            text = self._text(seen.content) if seen.content is not None else seen.output or ""
            end = _ending(pending.tool, seen)
        result = Event(f"{uid}:out", EventKind.TOOL_RESULT, end.origin, text, _NOWHERE)._replace(
            tool=pending.tool,
            call_id=call_id,
            status=end.status,
            exit_code=end.exit_code,
            command=pending.command,
            paths=pending.paths,
            flags=(*pending.flags, *end.flags),
        )
        said = self.texts(message, f"{uid}:feedback", feedback, EventKind.MESSAGE, Origin.USER, ("feedback",))
        return [*self.results(message, result), *said]

    # --- V0

    def _old(self, message: Message, event: v0.Event) -> Read:
        uid = f"E{event.id}"
        if uid in self._ids or event.id < 0:
            uid = f"{uid}@{message.index}"
        self._ids.add(uid)
        if event.action is not None:
            return Read(f"action.{type_name(event.action)}", self._old_action(message, uid, event))
        if event.observation is not None:
            return Read(f"observation.{type_name(event.observation)}", self._old_observation(message, uid, event))
        return Read("base_state", ())

    def _old_action(self, message: Message, uid: str, event: v0.Event) -> list[Event]:
        action = v0.action(event)
        by = {"user": Origin.USER, "agent": Origin.ASSISTANT}.get(event.source or "", Origin.HARNESS)
        origin = Origin.HARNESS if event.action == "system" or action.is_summary else by
        kind = EventKind.SUMMARY if action.is_summary else EventKind.MESSAGE
        thought_kind = EventKind.THINKING if event.action == "think" else EventKind.MESSAGE
        events = self.texts(message, f"{uid}:thought", action.thought, thought_kind, by)
        events += self.texts(message, f"{uid}:text", action.said, kind, origin)
        if action.tool:
            own = is_own_tool(action.tool) or runs_own_command(action.command)
            pending = PendingCall(action.tool, action.command, action.paths, ("own_tool",) if own else ())
            self.calls[f"E{event.id}"] = pending
            arguments = msgspec.json.format(bytes(event.args), indent=-1).decode("utf-8", "replace")
            events.append(self.call(message, f"{uid}:call", arguments, f"E{event.id}", pending)._replace(origin=by))
        return events

    def _old_observation(self, message: Message, uid: str, event: v0.Event) -> list[Event]:
        if not self.facts.cwd and (folder := v0.working_dir(event)):
            self.facts = self.facts._replace(cwd=folder)
        pending = self.calls.pop(f"E{event.cause}", None)
        if not v0.is_result(event) or (pending is None and event.observation == "error"):
            return self.texts(message, f"{uid}:text", event.content or "", EventKind.MESSAGE, Origin.HARNESS)
        end = v0.ending(event) if pending else v0.Ending(Status.UNKNOWN)
        pending = pending or _NO_CALL
        result = Event(f"{uid}:out", EventKind.TOOL_RESULT, end.origin, event.content or "", _NOWHERE)._replace(
            tool=pending.tool,
            call_id=f"E{event.cause}" if event.cause is not None else "",
            status=end.status,
            exit_code=end.exit_code,
            command=pending.command,
            paths=pending.paths,
            flags=(*pending.flags, *end.flags),
        )
        return self.results(message, result)


def _ending(tool: str, seen: _Observation) -> v0.Ending:
    """How a call ended: a command by its exit code, of which -1 is none yet; anything else by the error flag (EVID.7)."""
    failed = bool(seen.is_error or seen.error)
    if seen.kind == "FinishObservation":
        return v0.Ending(Status.OK, origin=Origin.ASSISTANT)  # What the agent said last, once more.
    if tool not in _SHELLS:
        origin = Origin.DELEGATED if tool in _AGENTS else Origin.TOOL
        return v0.Ending(Status.FAILED if failed else Status.OK, origin=origin)
    code = seen.exit_code
    if code is None and seen.metadata:
        code = seen.metadata.exit_code
    end = v0.run_ending(code)
    if seen.full_output_save_dir:
        end = end._replace(flags=(*end.flags, "truncated", "persisted"))
    if seen.timeout and end.exit_code is None and "background" not in end.flags:
        end = end._replace(flags=(*end.flags, "background"))
    return end._replace(status=Status.FAILED) if failed and not end.exit_code and "background" not in end.flags else end


def _kind(raw: msgspec.Raw) -> str | None:
    try:
        return _KIND.decode(raw).kind
    except UNREADABLE:
        return None


class _Wrapped(msgspec.Struct):
    base: _Base | None = None


_WRAPPED = msgspec.json.Decoder(_Wrapped)


def _base(raw: msgspec.Raw) -> _Base:
    try:
        return _WRAPPED.decode(raw).base or _Base()
    except UNREADABLE:
        return _Base()


def _dashed(session: str) -> str:
    """An id in the form in which the state has it; folders are called after it without the dashes."""
    try:
        return str(uuid.UUID(session))
    except ValueError:
        return session


class OpenHands:
    """``~/.openhands/conversations/<id>/{base_state.json, events/}``; of V0 ``sessions/<id>/events/`` and ``trajectory.json``."""

    name = "openhands"
    framing = "gathered"

    def recognises(self, head: bytes, name: str) -> bool:
        """True for one event, the state of a conversation, and a list of events of V0."""
        del name  # The content says all.
        start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
        if _BEGINS.match(start):
            return True
        return bool(_BEGINS_V0.match(start)) and (b'"action"' in start or b'"observation"' in start)

    def reader(self, name: str, calls: dict[str, PendingCall] | None = None) -> OpenHandsReader:
        """A new reader of what was gathered; it has no calls left open from before."""
        del calls
        return OpenHandsReader(name)

    def anchor(self, path: str) -> str:
        """The conversation's folder; of a list of events the file itself."""
        folder, _, name = path.rpartition("/")
        above, _, last = folder.rpartition("/")
        if last in (_EVENTS, _CACHE) and above:
            return above
        return folder if name == _BASE and folder else path

    def gather(self, view: FileView, anchor: str) -> Iterator[Member]:
        """The one conversation there."""
        folder, _, name = anchor.rpartition("/")
        files = [each for each in view.names(f"{anchor}/{_EVENTS}") if _FILE.match(each)]
        if files or view.state(f"{anchor}/{_BASE}"):
            states = [view.state(f"{anchor}/{_EVENTS}/{each}") or FileState(0, 0, 0) for each in files]
            size, changed = sum(each.size for each in states), max((each.mtime_ns for each in states), default=0)
            yield Member(name, FileState(size, changed, len(files)), partial(_conversation, view, anchor, files))
        elif state := view.state(anchor):
            session = folder.rpartition("/")[2] if name == "trajectory.json" else name.removesuffix(".json")
            yield Member(session, state, partial(_trajectory, view, anchor, session))


def _conversation(view: FileView, anchor: str, files: Sequence[str]) -> bytes:
    """The state and the events of a folder as one document, in the order of their numbers and times."""
    records = [b'{"base":%b}' % _state_kept(view, anchor)] if view.state(f"{anchor}/{_BASE}") else []
    found = []
    for file in files:
        data = view.read(f"{anchor}/{_EVENTS}/{file}").strip()
        numbers = _FILE.match(file)
        number = int(numbers[1] or numbers[2]) if numbers else 0
        found.append((number, *_stamped(data), file, data))
    found.sort(key=lambda each: (each[0], each[2], each[3]))
    # The last event may still be being written: it is read when it is whole (EVID.2).
    if found and not found[-1][1]:
        found.pop()
    records += [data if whole else msgspec.json.encode(f"unreadable: {file}") for _, whole, _, file, data in found]
    session = anchor.rpartition("/")[2]
    return b'{"session":%b,"events":[%b]}' % (msgspec.json.encode(session), b",\n".join(records))


def _state_kept(view: FileView, anchor: str) -> bytes:
    """Of the state only id and folder: it holds the model's settings, keys among them, and changes with every step."""
    try:
        base = _BASE_STATE.decode(view.read(f"{anchor}/{_BASE}"))
    except UNREADABLE:
        base = _Base()
    return msgspec.json.encode(base)


def _stamped(data: bytes) -> tuple[bool, str]:
    """Whether an event is one whole JSON object, and its time as it is written."""
    try:
        return True, _STAMP.decode(data).timestamp or ""
    except UNREADABLE:
        pass
    try:
        return isinstance(msgspec.json.decode(data), dict), ""
    except UNREADABLE:
        return False, ""


def _trajectory(view: FileView, path: str, session: str) -> bytes:
    data = view.read(path)
    try:
        events = [bytes(each) for each in _LIST.decode(data)]
    except UNREADABLE:
        return data  # The reader says what is wrong with it.
    return b'{"session":%b,"events":[%b]}' % (msgspec.json.encode(session), b",\n".join(events))


OPENHANDS = OpenHands()
