"""Reads ATIF trajectories, the exchange format into which Harbor converts the sessions of many harnesses (v1.0 to v1.8).

The format has no field for how a call ended and none for whose words a user step holds; what the converter of a known
harness kept of both is read with that harness's own words, and where it kept nothing, nothing is said (EVID.6, 7).
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from tallystick.model.evidence import Event, EventKind, Locator, Origin, SessionFacts, Status
from tallystick.transcripts import claude_code_results, codex_tools
from tallystick.transcripts.claude_code_speech import Part, reminders_apart, speech
from tallystick.transcripts.codex_speech import HARNESS_STARTS, turn_parts
from tallystick.transcripts.documents import UNREADABLE, DocumentReader, Message, Read
from tallystick.transcripts.protocol import PendingCall
from tallystick.transcripts.task_prompts import task_parts
from tallystick.transcripts.texts import instant, is_own_tool, runs_own_command

_CLAUDE, _CODEX, _GEMINI, _MINI, _SWE = "claude-code", "codex", "gemini-cli", "mini-swe-agent", "swe-agent"
_STATE_ENDINGS = frozenset({_CLAUDE, _CODEX, _MINI})
"""Agents whose converters keep something that says how a call ended."""
_NO_TIMES = frozenset({_SWE})
"""Agents whose steps are stamped with the time of the conversion."""
_GEMINI_STARTS = ("<session_context>", "<hook_context>", "System: Please continue.")
_SHELL = re.compile(r"(?:\w*_)?(?:bash|shell|powershell|terminal|exec)(?:_\w*)?(?:\.exec)?\Z", re.IGNORECASE)
_EDITOR = re.compile(
    r"(?:edit|multiedit|notebookedit|smart_edit|write|write_file|create_file|replace)\Z", re.IGNORECASE
)
_COMMANDED_EDITORS = frozenset({"str_replace_editor", "str_replace_based_edit_tool", "file_editor"})
_RETURNCODE = re.compile(r"<returncode>\n?(-?\d{1,10})\n?</returncode>")
_SYNTHETIC = "<synthetic>"
_COMMAND, _SKILL = "<command-", "Base directory for this skill: "
_BEGINS = re.compile(rb'\{\s{0,16}"[a-z_]{1,40}"\s{0,4}:')
_VERSION = re.compile(rb'"schema_version"\s{0,4}:\s{0,4}"ATIF-v\d')
_MOST_DEEP = 32
"""Trajectories of sub-agents inside each other that are followed; each one further in is a problem."""
_NOWHERE = Locator(0, 0, 0, 0, 0)
_NULL = msgspec.Raw(b"null")
_NO_CALL = PendingCall("", "", (), ())


class _Git(msgspec.Struct):
    branch: str | None = None
    repository_url: str | None = None


class _AgentExtra(msgspec.Struct):
    cwds: list[str] | None = None
    cwd: str | None = None
    git_branches: list[str] | None = None
    git: _Git | None = None


class _Agent(msgspec.Struct):
    name: str = ""
    version: str | None = None
    extra: msgspec.Raw = _NULL


class _Document(msgspec.Struct):
    schema_version: str
    steps: list[msgspec.Raw]
    agent: _Agent = msgspec.field(default_factory=_Agent)
    session_id: str | None = None
    trajectory_id: str | None = None
    subagent_trajectories: list[msgspec.Raw] | None = None


class _Content(msgspec.Struct):
    text: str | None = None


class _ToolCall(msgspec.Struct):
    tool_call_id: str | None = None
    function_name: str = ""
    arguments: msgspec.Raw = msgspec.Raw(b"{}")


class _RawResult(msgspec.Struct):
    content: str | list[_Content] | None = None


class _ResultNotes(msgspec.Struct):
    is_error: bool | None = None
    tool_use_result: msgspec.Raw = _NULL
    raw_tool_result: _RawResult | None = None


class _ResultExtra(msgspec.Struct):
    tool_result_is_error: bool | None = None
    tool_result_metadata: _ResultNotes | None = None
    is_error: bool | None = None
    exit_code: int | None = None
    returncode: int | None = None


class _Result(msgspec.Struct):
    source_call_id: str | None = None
    content: str | list[_Content] | None = None
    subagent_trajectory_ref: msgspec.Raw = _NULL
    extra: msgspec.Raw = _NULL


class _Observation(msgspec.Struct):
    results: list[_Result] | None = None


class _StepExtra(msgspec.Struct):
    is_sidechain: bool | None = None
    agent_id: str | None = None


class _Step(msgspec.Struct):
    source: str
    timestamp: str | None = None
    model_name: str | None = None
    message: str | list[_Content] | None = None
    reasoning_content: str | None = None
    tool_calls: list[_ToolCall] | None = None
    observation: _Observation | None = None
    is_copied_context: bool | None = None
    extra: msgspec.Raw = _NULL


class _Arguments(msgspec.Struct):
    command: str | list[str] | None = None
    cmd: str | list[str] | None = None
    raw_action: str | None = None
    input: str | None = None
    file_path: str | None = None
    notebook_path: str | None = None
    path: str | None = None


class _Ending(NamedTuple):
    status: Status
    exit_code: int | None = None
    flags: tuple[str, ...] = ()
    origin: Origin = Origin.TOOL
    feedback: tuple[str, ...] = ()


_DOCUMENT = msgspec.json.Decoder(_Document)
_STEP = msgspec.json.Decoder(_Step)
_AGENT_EXTRA = msgspec.json.Decoder(_AgentExtra | None)
_STEP_EXTRA = msgspec.json.Decoder(_StepExtra | None)
_RESULT_EXTRA = msgspec.json.Decoder(_ResultExtra | None)
_ARGUMENTS = msgspec.json.Decoder(_Arguments)
_UNKNOWN = _Ending(Status.UNKNOWN)


class AtifReader(DocumentReader):
    """Reads one trajectory; see ``Reader``. ``records`` are steps, those of embedded sub-agents included."""

    harness = "atif"

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._agent = ""
        self._threads: list[tuple[int, str]] = []
        """(index of the first step, thread) of the trajectory and of those embedded in it, in order."""
        self._asked = False
        self._command_at = ""
        """When the slash command was given that was met last; its body has the same time."""

    def messages(self, data: bytes) -> list[msgspec.Raw]:
        """The steps, and the facts of the session."""
        document = _DOCUMENT.decode(data)
        agent = document.agent
        self._agent = agent.name
        stated = document.session_id or document.trajectory_id or ""
        extra = _agent_extra(agent.extra)
        self.facts = SessionFacts(
            self.harness,
            _native_id(agent.name, stated, document.steps),
            cwd=(extra.cwds or [""])[0] or extra.cwd or "",
            repository=(extra.git.repository_url or "") if extra.git else "",
            branch=(extra.git_branches or [""])[0] or ((extra.git.branch or "") if extra.git else ""),
            version=agent.version if agent.version and agent.version != "unknown" else "",
            parent=stated.removesuffix(".traj"),
            has_results=agent.name in _STATE_ENDINGS,
        )
        steps = list(document.steps)
        self._threads = [(0, "")]
        for thread, found in _embedded(document, _MOST_DEEP):
            self._threads.append((len(steps), thread))
            steps += found
        return steps

    def message(self, message: Message) -> Read:
        """By source: what was said, then the calls, then what was observed of them."""
        step = _STEP.decode(message.data)
        if step.is_copied_context:
            return Read("copied_context", ())
        while len(self._threads) > 1 and self._threads[1][0] <= message.index:
            self._threads.pop(0)
        extra = _step_extra(step.extra)
        thread = self._threads[0][1] or ((extra.agent_id or "sidechain") if extra.is_sidechain else "")
        message.at = None if self._agent in _NO_TIMES else instant(step.timestamp or "")
        uid = f"S{message.index}"
        text, thought = self._text(step.message), step.reasoning_content or ""
        if thought.strip() and text.startswith(thought.strip()):
            self.counts["block:thought_in_message"] += 1
            thought = ""
        events = self.texts(message, f"{uid}:thought", thought, EventKind.THINKING, Origin.ASSISTANT)
        for number, part in enumerate(self._parts(step, text, delegated=bool(thread))):
            events += self._part(message, f"{uid}:text" + (f".{number}" if number else ""), part)
        if step.source in ("system", "user", "agent"):
            events += self._tools(message, uid, step)
        events = [event._replace(thread=thread) for event in events] if thread else events
        return Read(step.source, events)

    def _text(self, content: str | list[_Content] | None) -> str:
        if isinstance(content, str) or content is None:
            text = content or ""
            return self._unblocked(text) if self._agent == _CLAUDE and text.startswith('{"type": "') else text
        self._count_images(sum(part.text is None for part in content))
        return "\n".join(part.text for part in content if part.text is not None)

    def _unblocked(self, text: str) -> str:
        """The words of content blocks that the converter wrote as JSON one after the other; else ``text`` as it is."""
        texts, images = [], 0
        for block in _objects(text):
            if block is None or block.get("type") not in ("text", "image"):
                return text
            said = block.get("text")
            texts += [said] if isinstance(said, str) else []
            images += not isinstance(said, str)
        self._count_images(images)
        return "\n".join(texts)

    def _count_images(self, images: int) -> None:
        if images:
            self.counts["image"] += images

    def _parts(self, step: _Step, text: str, *, delegated: bool) -> Sequence[Part]:
        """Whose words the text of a step is made of."""
        if step.source == "agent":
            return [Part(Origin.HARNESS if step.model_name == _SYNTHETIC else Origin.ASSISTANT, text)]
        if step.source == "system":
            return [Part(Origin.HARNESS, text)]
        if step.source != "user":
            return []
        parts = self._typed(text, step.timestamp or "")
        self._asked = True
        if not delegated:
            return parts
        # Where a person would speak in a sub-agent's thread, its parent does.
        return [part._replace(origin=Origin.DELEGATED) if part.origin is Origin.USER else part for part in parts]

    def _typed(self, text: str, stamp: str) -> list[Part]:
        if self._agent == _CLAUDE:
            if text.startswith(_COMMAND):
                self._command_at = stamp
            elif text.startswith(_SKILL) or (stamp and stamp == self._command_at):
                return [Part(Origin.HARNESS, text, flags=("expanded",))]
            return speech(text)
        if self._agent == _CODEX:
            if text.startswith(HARNESS_STARTS):
                return [Part(Origin.HARNESS, text)]
            return [
                Part(Origin.USER if part.typed else Origin.HARNESS, part.text, flags=part.flags)
                for part in turn_parts(text)
            ]
        if self._agent == _GEMINI and text.startswith(_GEMINI_STARTS):
            return [Part(Origin.HARNESS, text)]
        if self._agent in (_MINI, _SWE):
            if self._asked:
                return [Part(Origin.HARNESS, text)]
            return [Part(part.origin, part.text) for part in task_parts(text)]
        return [Part(Origin.USER, text)]

    def _part(self, message: Message, uid: str, part: Part) -> list[Event]:
        if part.kind not in (EventKind.TOOL_CALL, EventKind.TOOL_RESULT):
            return self.texts(message, uid, part.text, part.kind, part.origin, part.flags)
        # A command that the person ran in the client's shell, and what it printed; the step says not how it ended.
        is_call = part.kind is EventKind.TOOL_CALL
        own = ("own_tool",) if is_call and runs_own_command(part.text) else ()
        event = Event(uid, part.kind, part.origin, part.text, _NOWHERE, tool="bash-input", flags=own)
        command, status = (part.text, Status.NONE) if is_call else ("", Status.UNKNOWN)
        return self.results(message, event._replace(command=command, status=status))

    def _tools(self, message: Message, uid: str, step: _Step) -> list[Event]:
        """The calls of a step, then its results: by the id of their call, or by order where there is none."""
        events: list[Event] = []
        waiting: dict[str, PendingCall] = {}
        for number, call in enumerate(step.tool_calls or ()):
            call_id = call.tool_call_id or f"{uid}:{number}"
            pending = _pending(self._agent, call)
            waiting[call_id] = pending
            arguments = msgspec.json.format(bytes(call.arguments), indent=-1).decode("utf-8", "replace")
            events.append(self.call(message, f"{uid}:call:{number}", arguments, call_id, pending))
        results = (step.observation.results if step.observation else None) or []
        named = {result.source_call_id for result in results}
        unnamed = iter([call_id for call_id in waiting if call_id not in named])
        for number, result in enumerate(results):
            call_id = result.source_call_id or next(unnamed, "")
            events += self._result(
                message, f"{uid}:out:{number}", call_id, waiting.pop(call_id, self.calls.get(call_id, _NO_CALL)), result
            )
        self.calls.update(waiting)
        for result in results:
            self.calls.pop(result.source_call_id or "", None)
        return events

    def _result(self, message: Message, uid: str, call_id: str, pending: PendingCall, result: _Result) -> list[Event]:
        extra = _result_extra(result.extra)
        notes = extra.tool_result_metadata or _ResultNotes()
        raw = notes.raw_tool_result.content if notes.raw_tool_result else None
        # The converter puts streams and errors behind what the model was shown, which is kept beside it.
        text = self._text(result.content if raw is None else raw)
        ending = self._ending(text, pending, extra, notes)
        if ending.status is not Status.UNKNOWN and not self.facts.has_results:
            self.facts = self.facts._replace(has_results=True)
        origin = ending.origin if bytes(result.subagent_trajectory_ref) in (b"null", b"[]") else Origin.DELEGATED
        events: list[Event] = []
        for number, part in enumerate(
            reminders_apart(text, origin) if self._agent == _CLAUDE else [Part(origin, text)]
        ):
            if number:
                events += self.texts(message, f"{uid}.{number}", part.text, EventKind.MESSAGE, part.origin)
                continue
            event = Event(uid, EventKind.TOOL_RESULT, part.origin, part.text, _NOWHERE)._replace(
                tool=pending.tool,
                call_id=call_id,
                status=ending.status,
                exit_code=ending.exit_code,
                command=pending.command,
                paths=pending.paths,
                flags=(*pending.flags, *ending.flags),
            )
            events += self.results(message, event)
        for number, words in enumerate(ending.feedback):
            events += self.texts(
                message, f"{uid}:feedback:{number}", words, EventKind.MESSAGE, Origin.USER, ("feedback",)
            )
        return events

    def _ending(self, text: str, pending: PendingCall, extra: _ResultExtra, notes: _ResultNotes) -> _Ending:
        """How a call ended, as far as its converter kept it; nothing where the call is not known."""
        stated = next(
            (each for each in (extra.tool_result_is_error, extra.is_error, notes.is_error) if each is not None), None
        )
        if not pending.tool:
            return _UNKNOWN
        if self._agent == _CLAUDE:
            version = self.facts.version
            found = claude_code_results.ending(text, pending.tool, version, bool(stated), notes.tool_use_result)
            return _Ending(found.status, found.exit_code, found.flags, found.origin, found.feedback)
        if self._agent == _CODEX:
            of_codex = codex_tools.ending(pending.tool, text)
            return _Ending(of_codex.status, of_codex.exit_code, of_codex.flags)
        code = extra.exit_code if extra.exit_code is not None else extra.returncode
        if code is None and self._agent == _MINI and (prefix := _RETURNCODE.match(text)):
            code = int(prefix[1])
        if code is not None:
            return _Ending(Status.FAILED if code or stated else Status.OK, code)
        return _UNKNOWN if stated is None else _Ending(Status.FAILED if stated else Status.OK)


def _native_id(agent: str, stated: str, steps: Sequence[msgspec.Raw]) -> str:
    """The agent and the id that is stated; where that is the name of a task, which many runs try, and its first time."""
    native = f"{agent or 'unknown'}/{stated}" if stated else ""
    if not stated or _is_uuid(stated):
        return native
    for step in steps:
        try:
            stamp = _STEP.decode(step).timestamp
        except UNREADABLE:
            continue
        if stamp:
            return f"{native}@{stamp}"
    return native


def _is_uuid(stated: str) -> bool:
    try:
        uuid.UUID(stated)
    except ValueError:
        return False
    return True


def _embedded(document: _Document, deep: int) -> Iterator[tuple[str, list[msgspec.Raw]]]:
    """(thread, steps) of the trajectories that are embedded in a document, each before those embedded in it."""
    for number, raw in enumerate(document.subagent_trajectories or ()):
        try:
            inner = _DOCUMENT.decode(raw)
        except UNREADABLE:
            yield f"subagent-{number}", [raw]  # One record, which is no step and will be said to be none.
            continue
        yield inner.trajectory_id or inner.session_id or f"subagent-{number}", inner.steps
        if deep:
            yield from _embedded(inner, deep - 1)
        else:
            yield "", inner.subagent_trajectories or []


def _agent_extra(raw: msgspec.Raw) -> _AgentExtra:
    try:
        return _AGENT_EXTRA.decode(raw) or _AgentExtra()
    except UNREADABLE:
        return _AgentExtra()


def _step_extra(raw: msgspec.Raw) -> _StepExtra:
    try:
        return _STEP_EXTRA.decode(raw) or _StepExtra()
    except UNREADABLE:
        return _StepExtra()


def _result_extra(raw: msgspec.Raw) -> _ResultExtra:
    try:
        return _RESULT_EXTRA.decode(raw) or _ResultExtra()
    except UNREADABLE:
        return _ResultExtra()


def _objects(text: str) -> Iterator[dict[str, object] | None]:
    """The JSON objects that follow each other in ``text``; None where something else stands."""
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        try:
            found, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            yield None
            return
        yield found


def _pending(agent: str, call: _ToolCall) -> PendingCall:
    """What is remembered of a call: its command where it runs one, the files it writes, whether it is one of ours."""
    try:
        known = _ARGUMENTS.decode(call.arguments)
    except UNREADABLE:
        known = _Arguments()
    tool = call.function_name
    if agent == _CODEX:
        argv = known.command or known.cmd
        if tool in codex_tools.SHELL_TOOLS and argv:
            return codex_tools.shell_call(tool, argv)
        return codex_tools.call(tool, known.input or "")
    command = known.raw_action or (known.command or known.cmd if _SHELL.match(tool) else "") or ""
    command = codex_tools.joined(command).strip() if agent == _SWE else codex_tools.joined(command)
    path = known.file_path or known.notebook_path or known.path
    writes = _EDITOR.match(tool) or (tool in _COMMANDED_EDITORS and known.command != "view")
    own = is_own_tool(tool) or runs_own_command(command)
    return PendingCall(tool, command, (path,) if path and writes else (), ("own_tool",) if own else ())


class Atif:
    """``<job>/<trial>/agent/trajectory.json`` and ``<agent>.trajectory.json`` of Harbor, and what others write as ATIF."""

    name = "atif"
    framing = "document"

    def recognises(self, head: bytes, name: str) -> bool:
        """True for an object that names a version of the format."""
        del name  # The content says all.
        start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
        return bool(_BEGINS.match(start) and _VERSION.search(start))

    def reader(self, name: str, calls: dict[str, PendingCall] | None = None) -> AtifReader:
        """A new reader; a document has no calls left open from before."""
        del calls
        return AtifReader(name)


ATIF = Atif()
