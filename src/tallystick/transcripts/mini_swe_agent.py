"""Reads the trajectories of mini-SWE-agent: one shell command an answer, one result a command, exit codes throughout.

1.0 is a bare list (or ``{info, messages}``) whose results are user messages; 1.1 is chat completions with tool messages.
"""

from __future__ import annotations

import re
from decimal import Decimal

import msgspec

from tallystick.model.evidence import Event, EventKind, Locator, Origin, SessionFacts, Status
from tallystick.model.temporal import END_OF_TIME, SECOND, Instant
from tallystick.transcripts.documents import DocumentReader, Message, Read
from tallystick.transcripts.protocol import PendingCall
from tallystick.transcripts.task_prompts import task_parts
from tallystick.transcripts.texts import runs_own_command

_TOOL = "bash"
_FENCE = re.compile(r"```(?:bash|mswea_bash_command)[ \t]{0,8}\n")
_FENCE_END = "\n```"
# The oldest form has the argument list first, as one line in which line ends are escaped.
_RETURNCODE = re.compile(r"(?:<args>\n[^\n]*\n</args>\n)?<returncode>\n?(-?\d{1,10})\n?</returncode>")
_NOT_RUN = "Command not executed. The user rejected your command with the following message:"
_TIMED_OUT = re.compile(r"The last command <command>")
_CUT = re.compile(r"<returncode>\n?-?\d{1,10}\n?</returncode>\n<warning>\nThe output of your last command was too long")
_LIST_MARKS = (b"<returncode>", b"SWE_AGENT_FINAL_OUTPUT", b"COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT")
_BEGINS = re.compile(rb'(?:\{\s{0,16}"(?:info|messages|trajectory_format|instance_id)"|\[\s{0,16}\{)')
_BEGINS_LIST = re.compile(rb'\[\s{0,16}\{\s{0,16}"(?:role"\s{0,4}:\s{0,4}"system"|content"\s{0,4}:)')
_MIN_TIME, _MAX_TIME = Decimal(0), Decimal(END_OF_TIME) / SECOND
_NOWHERE = Locator(0, 0, 0, 0, 0)


class _Info(msgspec.Struct):
    mini_version: str | None = None
    exit_status: str | None = None


class _Document(msgspec.Struct):
    messages: list[msgspec.Raw]
    info: _Info | None = None
    instance_id: str | None = None
    trajectory_format: str | None = None


class _Action(msgspec.Struct):
    command: str
    tool_call_id: str | None = None


class _Extra(msgspec.Struct):
    actions: list[_Action] | None = None
    returncode: int | None = None
    timestamp: Decimal | None = None
    exception_info: str | None = None


class _Part(msgspec.Struct):
    text: str | None = None


class _Message(msgspec.Struct):
    role: str
    content: str | list[_Part] | None = None
    reasoning_content: str | None = None
    tool_call_id: str | None = None
    extra: _Extra | None = None


_DOCUMENT = msgspec.json.Decoder(_Document)
_LIST = msgspec.json.Decoder(list[msgspec.Raw])
_MESSAGE = msgspec.json.Decoder(_Message)


class MiniSweAgentReader(DocumentReader):
    """Reads one trajectory; see ``Reader``. ``records`` are messages."""

    harness = "mini-swe-agent"

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._awaited = ""
        """The id of a 1.0 command whose result is the next user message."""
        self._asked = False

    def messages(self, data: bytes) -> list[msgspec.Raw]:
        """The messages, and the facts of the session; a bare list does not name itself, so the file name does."""
        stem = self.name.rpartition("/")[2].removesuffix(".json").removesuffix(".traj")
        if data.lstrip()[:1] == b"[":
            found = _LIST.decode(data)
            self.facts = SessionFacts(self.harness, stem)
            return found
        document = _DOCUMENT.decode(data)
        info = document.info or _Info()
        self.facts = SessionFacts(self.harness, document.instance_id or stem, version=info.mini_version or "")
        return document.messages

    def message(self, message: Message) -> Read:
        """By role; a user message after a 1.0 command is that command's result."""
        decoded = _MESSAGE.decode(message.data)
        extra = decoded.extra or _Extra()
        message.at = _instant(extra.timestamp)
        text = self._text(decoded.content)
        if decoded.role == "assistant":
            events = self._assistant(message, decoded, extra, text)
        elif decoded.role == "tool" or (decoded.role == "user" and self._awaited):
            events = self._result(message, decoded, extra, text)
        elif decoded.role == "user" and not self._asked:
            self._asked = True
            events = self._task(message, text)
        elif decoded.role in ("system", "user", "exit"):
            # After the task, the user role is the harness asking for another form of answer.
            events = self.texts(message, f"M{message.index}", text, EventKind.MESSAGE, Origin.HARNESS)
        else:
            events = []
        return Read(decoded.role, events)

    def _text(self, content: str | list[_Part] | None) -> str:
        if isinstance(content, str) or content is None:
            return content or ""
        self.counts["image"] += sum(part.text is None for part in content)
        return "\n".join(part.text for part in content if part.text is not None)

    def _assistant(self, message: Message, decoded: _Message, extra: _Extra, text: str) -> list[Event]:
        uid = f"M{message.index}"
        thought = decoded.reasoning_content or ""
        events = self.texts(message, f"{uid}:thought", thought, EventKind.THINKING, Origin.ASSISTANT)
        events += self.texts(message, f"{uid}:text", text, EventKind.MESSAGE, Origin.ASSISTANT)
        self._awaited = ""
        if extra.actions is not None:
            actions = extra.actions
        else:
            command = _only_command(text)
            actions = [] if command is None else [_Action(command)]
        for number, action in enumerate(actions):
            call_id = action.tool_call_id or f"{uid}:{number}"
            own = ("own_tool",) if runs_own_command(action.command) else ()
            pending = PendingCall(_TOOL, action.command, (), own)
            self.calls[call_id] = pending
            if not action.tool_call_id:
                self._awaited = call_id
            events.append(self.call(message, f"call:{call_id}", action.command, call_id, pending))
        return events

    def _result(self, message: Message, decoded: _Message, extra: _Extra, text: str) -> list[Event]:
        call_id = decoded.tool_call_id or self._awaited
        self._awaited = ""
        pending = self.calls.pop(call_id, PendingCall("", "", (), ()))
        code = extra.returncode
        if code is None and (stated := _RETURNCODE.match(text)):
            code = int(stated[1])
        status = Status.UNKNOWN if code is None else Status.FAILED if code else Status.OK
        flags = pending.flags
        if extra.exception_info or _TIMED_OUT.match(text):
            status, flags = Status.UNKNOWN, (*flags, "interrupted")
        if _CUT.match(text):
            flags = (*flags, "truncated")
        if not pending.tool:
            status, code = Status.UNKNOWN, None
        uid = f"out:{call_id}" if call_id else f"M{message.index}"
        result = Event(uid, EventKind.TOOL_RESULT, Origin.TOOL, text, _NOWHERE)._replace(
            tool=pending.tool, call_id=call_id, command=pending.command
        )
        if text.startswith(_NOT_RUN):
            result = result._replace(text=_NOT_RUN, status=Status.REJECTED, flags=flags)
            words = text[len(_NOT_RUN) :].strip()
            feedback = self.texts(message, f"{uid}:feedback", words, EventKind.MESSAGE, Origin.USER, ("feedback",))
            return [*self.results(message, result), *feedback]
        return self.results(message, result._replace(status=status, exit_code=code, flags=flags))

    def _task(self, message: Message, text: str) -> list[Event]:
        """The first prompt: a template of the harness around the words of the person who wrote the issue."""
        parts = task_parts(text)
        events: list[Event] = []
        for number, (part, origin) in enumerate(parts):
            uid = f"M{message.index}:{number}" if len(parts) > 1 else f"M{message.index}"
            events += self.texts(message, uid, part, EventKind.MESSAGE, origin)
        return events


def _only_command(text: str) -> str | None:
    """The command of a 1.0 answer, which runs when there is exactly one fenced block and not otherwise."""
    commands: list[str] = []
    at = 0
    while opened := _FENCE.search(text, at):
        end = text.find(_FENCE_END, opened.end() - 1)
        if end < 0:
            break
        commands.append(text[opened.end() : end].strip())
        at = end + len(_FENCE_END)
    return commands[0] if len(commands) == 1 else None


def _instant(stamp: Decimal | None) -> Instant | None:
    """Microseconds of a Unix time in seconds; None where there is none or none that a clock shows."""
    if stamp is None or stamp.is_nan() or not _MIN_TIME <= stamp < _MAX_TIME:
        return None
    return int(stamp * SECOND)


class MiniSweAgent:
    """``*.traj.json`` of 1.0 and 1.1; the larger SWE-agent's ``.traj`` is another format."""

    name = "mini-swe-agent"
    framing = "document"

    def recognises(self, head: bytes, name: str) -> bool:
        """True for a document that names itself, and for a list of messages with the harness's own marks in it."""
        start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
        if not _BEGINS.match(start):
            return False
        if start.startswith(b"{"):
            return b'"mini_version"' in start or b'"mini-swe-agent-1' in start
        if not _BEGINS_LIST.match(start):
            return False
        return any(mark in start for mark in _LIST_MARKS) or name.endswith(".traj.json")

    def reader(self, name: str, calls: dict[str, PendingCall] | None = None) -> MiniSweAgentReader:
        """A new reader; a document has no calls left open from before."""
        del calls
        return MiniSweAgentReader(name)


MINI_SWE_AGENT = MiniSweAgent()
