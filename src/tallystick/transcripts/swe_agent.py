"""Reads the trajectories of SWE-agent: one shell command a step with what was seen of it, and no exit code anywhere.

A ``.traj`` tells its run twice: ``trajectory`` has the steps, ``history`` the messages to and from the model. The steps are
read, and of the history what stands before the first answer; all of it where there are no steps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec

from tallystick.model.evidence import Event, EventKind, Locator, Origin, SessionFacts, Status
from tallystick.transcripts.documents import UNREADABLE, DocumentReader, Message, Read
from tallystick.transcripts.protocol import PendingCall, RawRecord
from tallystick.transcripts.task_prompts import task_parts
from tallystick.transcripts.texts import runs_own_command

_TOOL = "bash"
_NOWHERE = Locator(0, 0, 0, 0, 0)
_EDITS = frozenset({"edit", "insert", "append"})
"""Commands that write to the file that is open."""
_EDITOR, _EDITOR_WRITES = "str_replace_editor", frozenset({"create", "str_replace", "insert", "undo_edit"})
_NO_FILE = ("", "n/a")
_BEGINS = re.compile(rb'\{\s{0,16}"(?:environment|trajectory|history|info|replay_config)"\s{0,4}:')
_STEPS = re.compile(
    rb'"trajectory"\s{0,4}:\s{0,4}\[\s{0,32}'
    rb'(?:\]|\{\s{0,32}"(?:action|observation|response|thought|state|query|messages|execution_time|extra_info)")'
)
_HISTORY = re.compile(rb'\{\s{0,16}"history"\s{0,4}:\s{0,4}\[\s{0,32}\{\s{0,32}"(?:role|agent|message_type|content)"')


class _Step(msgspec.Struct):
    action: str | None = None
    observation: str | None = None
    response: str | None = None
    thought: str | None = None
    state: msgspec.Raw = msgspec.Raw(b"null")


class _State(msgspec.Struct):
    working_dir: str | None = None
    open_file: str | None = None


class _Part(msgspec.Struct):
    text: str | None = None


class _Message(msgspec.Struct):
    role: str
    content: str | list[_Part] | None = None
    action: str | None = None
    is_demo: bool | None = None
    tool_call_ids: list[str] | None = None


class _Info(msgspec.Struct):
    swe_agent_version: str | None = None


class _Repo(msgspec.Struct):
    github_url: str | None = None


class _Env(msgspec.Struct):
    repo: _Repo | None = None


class _Replay(msgspec.Struct):
    env: _Env | None = None


_DOCUMENT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_LIST = msgspec.json.Decoder(list[msgspec.Raw] | None)
_STEP = msgspec.json.Decoder(_Step)
_MESSAGE = msgspec.json.Decoder(_Message)
_STATE = msgspec.json.Decoder(_State | str | None)
_STATE_TEXT = msgspec.json.Decoder(_State)
_INFO = msgspec.json.Decoder(_Info)
_REPLAY = msgspec.json.Decoder(_Replay | str | None)
_REPLAY_TEXT = msgspec.json.Decoder(_Replay)
_NULL = msgspec.Raw(b"null")


class SweAgentReader(DocumentReader):
    """Reads one run; see ``Reader``. ``records`` are steps and messages of the history, both."""

    harness = "swe-agent"

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._steps = range(0)
        """Where the steps stand among the records; the others are the history, in its order."""
        self._answered = self._asked = False
        self._awaited: tuple[str, PendingCall] | None = None
        """The call, in a history without steps, whose result is the next message."""

    def messages(self, data: bytes) -> list[msgspec.Raw]:
        """Steps and history in the order in which the file has them, and the facts of the session."""
        document = _DOCUMENT.decode(data)
        steps = _LIST.decode(document.get("trajectory", _NULL)) or []
        history = _LIST.decode(document.get("history", _NULL)) or []
        if not {"trajectory", "history"} & document.keys():
            raise msgspec.ValidationError("neither `trajectory` nor `history`")
        names = list(document)
        first = "trajectory" in names and ("history" not in names or names.index("trajectory") < names.index("history"))
        self._steps = range(len(steps)) if first else range(len(history), len(history) + len(steps))
        self.facts = SessionFacts(
            self.harness,
            _native_id(self.name),
            cwd=_state(steps[0]).working_dir or "" if steps else "",
            repository=_repository(document.get("replay_config", _NULL)),
            version=_version(document.get("info", _NULL)),
            has_results=False,
        )
        return [*steps, *history] if first else [*history, *steps]

    def read(self, records: Iterable[RawRecord]) -> Iterator[Event]:
        """What stands in the history before the first answer goes before the steps, wherever the file has it."""
        events = list(super().read(records))
        yield from sorted(events, key=lambda event: event.uid.startswith("T"))

    def message(self, message: Message) -> Read:
        """One step or one message of the history; its index is its place in its own list."""
        if message.index in self._steps:
            message.index -= self._steps.start
            return Read("step", self._step(message))
        message.index -= 0 if self._steps.start else self._steps.stop
        decoded = _MESSAGE.decode(message.data)
        if decoded.is_demo:
            return Read("demonstration", ())
        self._answered |= decoded.role == "assistant"
        if self._answered and self._steps:
            return Read("history_of_a_step", ())
        text = self._text(decoded.content)
        uid = f"H{message.index}"
        if decoded.role == "system":
            return Read(decoded.role, self.texts(message, uid, text, EventKind.MESSAGE, Origin.HARNESS))
        if decoded.role == "assistant":
            return Read(decoded.role, self._answer(message, uid, text, decoded.action or "", _NO_STATE))
        if decoded.role not in ("user", "tool"):
            return Read(decoded.role, ())
        if self._awaited is not None:
            return Read(decoded.role, self._result(message, uid, text))
        if self._asked:
            # After the task, the user role is the harness asking for another form of answer.
            return Read(decoded.role, self.texts(message, uid, text, EventKind.MESSAGE, Origin.HARNESS))
        self._asked = True
        return Read(decoded.role, self._task(message, uid, text))

    def _text(self, content: str | list[_Part] | None) -> str:
        if isinstance(content, str) or content is None:
            return content or ""
        self.counts["image"] += sum(part.text is None for part in content)
        return "\n".join(part.text for part in content if part.text is not None)

    def _step(self, message: Message) -> list[Event]:
        step = _STEP.decode(message.data)
        uid = f"T{message.index}"
        state = _state(message.data)
        events = self._answer(message, uid, step.response or step.thought or "", step.action or "", state)
        if step.observation is None:
            self._awaited = None
        elif self._awaited is not None:
            events += self._result(message, uid, step.observation)
        else:
            # What is seen where nothing was run is the harness's own, such as that it gave up.
            events += self.texts(message, f"{uid}:seen", step.observation, EventKind.MESSAGE, Origin.HARNESS)
        return events

    def _answer(self, message: Message, uid: str, text: str, action: str, state: _State) -> list[Event]:
        events = self.texts(message, f"{uid}:text", text, EventKind.MESSAGE, Origin.ASSISTANT)
        self._awaited = None
        command = action.strip()
        if command:
            own = ("own_tool",) if runs_own_command(command) else ()
            pending = PendingCall(_TOOL, command, _written(command, state), own)
            self._awaited = uid, pending
            events.append(self.call(message, f"{uid}:call", command, uid, pending))
        return events

    def _result(self, message: Message, uid: str, text: str) -> list[Event]:
        call_id, pending = self._awaited or ("", PendingCall("", "", (), ()))
        self._awaited = None
        result = Event(f"{uid}:out", EventKind.TOOL_RESULT, Origin.TOOL, text, _NOWHERE)._replace(
            tool=pending.tool,
            call_id=call_id,
            status=Status.UNKNOWN,
            command=pending.command,
            paths=pending.paths,
            flags=pending.flags,
        )
        return self.results(message, result)

    def _task(self, message: Message, uid: str, text: str) -> list[Event]:
        """The first prompt: a template of the harness around the words of whose problem it is."""
        parts = task_parts(text)
        events: list[Event] = []
        for number, (part, origin) in enumerate(parts):
            own_uid = f"{uid}:{number}" if len(parts) > 1 else uid
            events += self.texts(message, own_uid, part, EventKind.MESSAGE, origin)
        return events


_NO_STATE = _State()


def _native_id(name: str) -> str:
    """The folder of the run and the instance: a file names neither itself, and many runs try one instance."""
    *folders, file = name.split("/")
    stem = file.removesuffix(".traj")
    if len(folders) > 1 and folders[-1] == stem:
        folders.pop()
    return "/".join([*folders[-1:], stem])


def _state(step: msgspec.Raw | bytes) -> _State:
    """The state after a step, which is an object, or JSON in a string; nothing where it is neither."""
    try:
        found = _STATE.decode(_STEP.decode(step).state)
        if isinstance(found, str):
            found = _STATE_TEXT.decode(found)
    except UNREADABLE:
        return _NO_STATE
    return found or _NO_STATE


def _version(info: msgspec.Raw) -> str:
    try:
        return _INFO.decode(info).swe_agent_version or ""
    except UNREADABLE:
        return ""


def _repository(replay: msgspec.Raw) -> str:
    try:
        found = _REPLAY.decode(replay)
        if isinstance(found, str):
            found = _REPLAY_TEXT.decode(found)
    except UNREADABLE:
        return ""
    repo = found.env.repo if found and found.env else None
    return repo.github_url or "" if repo else ""


def _written(command: str, state: _State) -> tuple[str, ...]:
    """The file that a command of the harness's own editors writes to.

    The state is that before the command in older files and that after it in newer ones, so of a new file its name is taken.
    """
    words = command.split(None, 3)[:3]
    if words[0] == "create" and len(words) > 1:
        path = words[1].strip("\"'")
        return (path if path.startswith("/") or not state.working_dir else f"{state.working_dir.rstrip('/')}/{path}",)
    if words[0] in _EDITS and state.open_file and state.open_file not in _NO_FILE:
        return (state.open_file,)
    if words[0] == _EDITOR and len(words) == 3 and words[1] in _EDITOR_WRITES:
        return (words[2],)
    return ()


class SweAgent:
    """``<run>/<instance>/<instance>.traj``; mini-SWE-agent's ``.traj.json`` is another format."""

    name = "swe-agent"
    framing = "document"

    def recognises(self, head: bytes, name: str) -> bool:
        """True for a document with the steps of a run, or with nothing but a history of messages."""
        del name  # The content says all.
        start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
        if not _BEGINS.match(start) or b'"mini_version"' in start:
            return False
        return bool(_STEPS.search(start) or (_HISTORY.match(start) and b'"agent"' in start))

    def reader(self, name: str, calls: dict[str, PendingCall] | None = None) -> SweAgentReader:
        """A new reader; a document has no calls left open from before."""
        del calls
        return SweAgentReader(name)


SWE_AGENT = SweAgent()
