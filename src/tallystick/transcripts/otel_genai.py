"""Reads OpenTelemetry GenAI spans (OTLP JSON): model calls, tool calls and agents, as sessions by their conversation id.

Every model call repeats the history in its input, and an agent's span what the calls in it said. A thing said is therefore known
by what it is and which occurrence of that in the history it is, and told once.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from tallystick.model.evidence import Event, EventKind, Locator, Origin, SessionFacts, Status
from tallystick.model.temporal import END_OF_TIME, Instant
from tallystick.transcripts.documents import UNREADABLE, DocumentReader, Message, Read
from tallystick.transcripts.otel_genai_messages import Part, attributes, json_text, of_events, parsed, parts
from tallystick.transcripts.otel_genai_places import AGENT, members, nanoseconds
from tallystick.transcripts.protocol import FileView, Member, PendingCall
from tallystick.transcripts.texts import is_own_tool, runs_own_command, type_name

_TOOL = "execute_tool"
_KINDS = {"text": EventKind.MESSAGE, "reasoning": EventKind.THINKING, "thinking": EventKind.THINKING}
_SHELLS = frozenset(
    {
        "bash",
        "shell",
        "terminal",
        "shell_command",
        "run_shell_command",
        "run_command",
        "execute_command",
        "run_terminal_cmd",
    }
)
_BEGINS = b'{"resourceSpans":'
_FAILED = (2, "STATUS_CODE_ERROR", "2")
_OK = (1, "STATUS_CODE_OK", "1")
_STEMS = (8, 64)
"""Characters by which a text that was cut off is compared with those known; one that is shorter says nothing."""
_NOWHERE = Locator(0, 0, 0, 0, 0)
_NO_CALL = PendingCall("", "", (), ())


class _Document(msgspec.Struct):
    spans: list[msgspec.Raw]
    conversation: str = ""
    agent: str = ""
    resource: Any = None
    reports: list[str] = []
    """Ids of the tool spans whose answer is another agent's report."""
    mended: int = 0


class _State(msgspec.Struct):
    code: int | str | None = None


class _Span(msgspec.Struct):
    name: str | None = None
    spanId: str | None = None  # noqa: N815
    parentSpanId: str | None = None  # noqa: N815
    startTimeUnixNano: str | int | None = None  # noqa: N815
    endTimeUnixNano: str | int | None = None  # noqa: N815
    attributes: Any = None
    events: Any = None
    status: _State | None = None


class _Call(NamedTuple):
    """What a tool's own span says of how the call ended."""

    status: Status
    name: str
    at: Instant | None
    reports: bool


_DOCUMENT = msgspec.json.Decoder(_Document)
_SPAN = msgspec.json.Decoder(_Span)


class OtelGenAiReader(DocumentReader):
    """Reads one conversation, or one sub-agent's part of it; see ``Reader``. ``records`` are spans, in the order they ended."""

    harness = "otel-genai"

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._seen: set[str] = set()
        self._around: set[str] = set()
        """Spans that have a model call inside them, whose output is in that one too."""
        self._ended: dict[str, _Call] = {}
        """Of the tool spans, by call id."""
        self._known: Counter[bytes] = Counter()
        """How often each thing occurs in the history so far."""
        self._starts: dict[tuple[str, str], str] = {}
        """The longest text that begins in a way: what a text that was cut off is compared with."""
        self._reports: frozenset[str] = frozenset()
        self._called: dict[str, PendingCall] = {}
        self._answered: set[str] = set()
        self._at: tuple[Instant | None, Instant | None] = (None, None)

    def messages(self, data: bytes) -> list[msgspec.Raw]:
        """The spans; the facts of the session; and how the tool calls ended, which only their own spans say."""
        document = _DOCUMENT.decode(data)
        resource = attributes(document.resource.get("attributes")) if isinstance(document.resource, dict) else {}

        def told(name: str) -> str:
            return resource[name] if isinstance(resource.get(name), str) else ""

        self.facts = SessionFacts(
            self.harness,
            document.conversation,
            thread=document.agent,
            cwd=told("process.working_directory"),
            repository=told("vcs.repository.url.full"),
            branch=told("vcs.ref.head.name"),
            version=told("telemetry.sdk.version"),
            title=told("service.name"),
        )
        self._reports = frozenset(document.reports)
        if document.mended:
            self.counts["mended"] += document.mended
        for raw in document.spans:
            try:
                span = _SPAN.decode(raw)
                given = attributes(span.attributes)
            except UNREADABLE:
                continue
            operation = given.get("gen_ai.operation.name")
            if operation == _TOOL:
                call_id = given.get("gen_ai.tool.call.id")
                if isinstance(call_id, str):
                    self._ended.setdefault(call_id, self._end(span, given))
            elif operation != AGENT and span.parentSpanId:
                self._around.add(span.parentSpanId)
        return document.spans

    def message(self, message: Message) -> Read:
        """What a span adds to what the spans before it said."""
        span = _SPAN.decode(message.data)
        given = attributes(span.attributes)
        operation = given.get("gen_ai.operation.name")
        kind = operation if isinstance(operation, str) else "span"
        uid = span.spanId or f"@{message.index}"
        if uid in self._seen:
            return Read("copied", ())
        self._seen.add(uid)
        self._at = _instant(span.startTimeUnixNano), _instant(span.endTimeUnixNano)
        if kind == _TOOL:
            return Read(kind, self._tool(message, uid, span, given))
        events: list[Event] = []
        made: set[bytes] = set()
        is_outer = kind == AGENT or uid in self._around
        for said, answered in _said(span, given):
            occurrence: Counter[bytes] = Counter()
            for part in said:
                events += self._part(message, part, occurrence, fresh=False)
            for part in answered:
                # The same in another form of this span is no second answer, nor is what an inner call has answered.
                events += self._part(message, part, occurrence, fresh=not is_outer and _key(part) not in made)
                made.add(_key(part))
        return Read(kind, events)

    def _part(self, message: Message, part: Part, occurrence: Counter[bytes], *, fresh: bool) -> list[Event]:
        """The events of a part that the history has not; ``fresh`` where it was just made, whatever the history has."""
        if part.cut:
            self.counts["block:truncated"] += 1
            if not self._says_enough(part):
                return []
        if part.kind == "image" or (part.kind not in _KINDS and not part.kind.startswith("tool_call")):
            self.counts["image" if part.kind == "image" else f"block:{type_name(part.kind)}"] += 1
            return []
        if part.kind == "tool_call" and part.call_id:
            return self._call(message, part) if part.call_id not in self._called else self._repeated()
        if part.kind == "tool_call_response" and part.call_id:
            return self._result(message, part) if part.call_id not in self._answered else self._repeated()
        if not part.text and not part.name:
            return []
        key = _key(part)
        occurrence[key] += 1
        number = occurrence[key]
        if fresh:
            number = max(number, self._known[key] + 1)
        elif number <= self._known[key] or self._is_beginning(part):
            return self._repeated()
        self._known[key] = number
        self._remember(part)
        uid = f"{key.hex()}:{number}"
        if part.kind == "tool_call":
            return self._call(message, part._replace(call_id=uid))
        if part.kind == "tool_call_response":
            return self._result(message, part, uid)
        message.at = self._at[part.role == "assistant"]
        origin = Origin.ASSISTANT if part.kind != "text" else self._origin(part.role)
        return self.texts(message, uid, part.text, _KINDS[part.kind], origin, ("truncated",) if part.cut else ())

    def _repeated(self) -> list[Event]:
        self.counts["repeated"] += 1
        return []

    def _origin(self, role: str) -> Origin:
        if role == "assistant":
            return Origin.ASSISTANT
        if role != "user":
            return Origin.HARNESS
        return Origin.DELEGATED if self.facts.thread else Origin.USER

    def _says_enough(self, part: Part) -> bool:
        """Whether what is left of a part that was cut off can be used: its type and its call's id may be cut off too."""
        if part.kind.startswith("tool_call"):
            return bool(part.text) and (part.kind == "tool_call" or part.call_id in self._called)
        return part.kind in _KINDS and len(part.text) >= _STEMS[0]

    def _is_beginning(self, part: Part) -> bool:
        """Whether it was cut off, and what it was cut from is known."""
        stem = part.text[: _STEMS[len(part.text) >= _STEMS[1]]]
        return part.cut and self._starts.get((part.role, stem), "").startswith(part.text)

    def _remember(self, part: Part) -> None:
        for size in _STEMS:
            place = part.role, part.text[:size]
            if len(part.text) > len(self._starts.get(place, "")):
                self._starts[place] = part.text

    def _call(self, message: Message, part: Part) -> list[Event]:
        command = _command(part.name, part.arguments)
        own = is_own_tool(part.name) or runs_own_command(command)
        flags = (*(("own_tool",) if own else ()), *(("truncated",) if part.cut else ()))
        pending = PendingCall(part.name, command, (), flags)
        self.calls[part.call_id] = self._called[part.call_id] = pending
        message.at = self._at[1]
        return [self.call(message, f"call:{part.call_id}", part.text, part.call_id, pending)]

    def _result(self, message: Message, part: Part, uid: str = "") -> list[Event]:
        self._answered.add(part.call_id)
        pending = self._called.get(part.call_id, _NO_CALL)
        self.calls.pop(part.call_id, None)
        ended = self._ended.get(part.call_id)
        own = tuple(flag for flag in pending.flags if flag == "own_tool")
        message.at = (ended.at if ended else None) or self._at[0]
        origin = Origin.DELEGATED if ended and ended.reports else Origin.TOOL
        event = Event(uid or f"out:{part.call_id}", EventKind.TOOL_RESULT, origin, part.text, _NOWHERE)._replace(
            tool=pending.tool or part.name or (ended.name if ended else ""),
            call_id=part.call_id,
            status=ended.status if ended else Status.UNKNOWN,
            command=pending.command,
            flags=(*own, "truncated") if part.cut else own,
        )
        return self.results(message, event)

    def _end(self, span: _Span, given: dict[str, Any]) -> _Call:
        """A span that says nothing of its status may have ended in any way (EVID.7)."""
        code = span.status.code if span.status else None
        name = given.get("gen_ai.tool.name")
        failed = code in _FAILED or bool(given.get("error.type"))
        status = Status.FAILED if failed else Status.OK if code in _OK else Status.UNKNOWN
        tool = name if isinstance(name, str) else ""
        return _Call(status, tool, _instant(span.endTimeUnixNano), span.spanId in self._reports)

    def _tool(self, message: Message, uid: str, span: _Span, given: dict[str, Any]) -> list[Event]:
        """A tool's own span: the call where no message told of it, and the result where its content was kept."""
        name = given.get("gen_ai.tool.name")
        tool = name if isinstance(name, str) else ""
        said = given.get("gen_ai.tool.call.id")
        call_id = said if isinstance(said, str) and said else f"span:{uid}"
        self._ended.setdefault(call_id, self._end(span, given))
        events: list[Event] = []
        if call_id not in self._called:
            arguments = parsed(given.get("gen_ai.tool.call.arguments"))
            part = Part(
                "assistant",
                "tool_call",
                json_text(arguments.value),
                tool,
                call_id,
                arguments.value,
                not arguments.whole,
            )
            events += [event._replace(at=self._at[0]) for event in self._call(message, part)]
        result = given.get("gen_ai.tool.call.result")
        if result is not None and call_id not in self._answered:
            events += self._result(message, Part("tool", "tool_call_response", json_text(result), tool, call_id))
        return events


def _said(span: _Span, given: dict[str, Any]) -> Iterator[tuple[list[Part], list[Part]]]:
    """What went into a model call and what came out, once for each form in which the span has it."""
    events = [_event(each) for each in span.events] if isinstance(span.events, list) else []
    details = [told for name, told in events if name == "gen_ai.client.inference.operation.details"]
    for form in (given, *details):
        into = [
            *parts(form.get("gen_ai.system_instructions"), "system"),
            *parts(form.get("gen_ai.input.messages"), "user"),
        ]
        yield into, list(parts(form.get("gen_ai.output.messages"), "assistant"))
    older = list(of_events(each for each in events if "choice" not in each[0] and "completion" not in each[0]))
    yield older, list(of_events(each for each in events if "choice" in each[0] or "completion" in each[0]))


def _event(event: Any) -> tuple[str, dict[str, Any]]:
    if not isinstance(event, dict):
        return "", {}
    name = event.get("name")
    return name if isinstance(name, str) else "", attributes(event.get("attributes"))


def _command(tool: str, arguments: Any) -> str:
    if tool.lower() not in _SHELLS or not isinstance(arguments, dict):
        return ""
    command = arguments.get("command", arguments.get("cmd"))
    return command if isinstance(command, str) else ""


def _key(part: Part) -> bytes:
    """What a part is known by when it comes again."""
    said = "\0".join((part.role, part.kind, part.name, part.call_id, part.text))
    return hashlib.blake2b(said.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _instant(stamp: str | int | None) -> Instant | None:
    found = nanoseconds(stamp) // 1000
    return found if 0 < found < END_OF_TIME else None


class OtelGenAi:
    """A ``Gatherer``: a trace file is a place, with its conversations as members."""

    name = "otel-genai"
    framing = "gathered"

    def recognises(self, head: bytes, name: str) -> bool:
        """True for OTLP JSON traces, whatever spans come first."""
        del name  # The content says all.
        start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
        return b"".join(start[:80].split()).startswith(_BEGINS)

    def reader(self, name: str, calls: dict[str, PendingCall] | None = None) -> OtelGenAiReader:
        """A new reader; a document has no calls left open from before."""
        del calls
        return OtelGenAiReader(name)

    def anchor(self, path: str) -> str:
        """The file itself."""
        return path

    def gather(self, view: FileView, anchor: str) -> Iterator[Member]:
        """Its conversations, and the parts of their sub-agents, in the order of the file."""
        return members(view, anchor)


OTEL_GENAI = OtelGenAi()
