"""Gathers the GenAI spans of an OTLP JSON trace file into sessions: a conversation each, its sub-agents apart.

The file is what the OpenTelemetry collector's file exporter writes, a document a line, or one document. One pass over it notes
where each GenAI span stands, about 300 bytes for each; no more of the file is held than one line or document (EVID.10).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import SEEK_END
from typing import BinaryIO, NamedTuple

import msgspec

from tallystick.transcripts.documents import UNREADABLE
from tallystick.transcripts.exports import Elements, unreadable
from tallystick.transcripts.lines import LineSource
from tallystick.transcripts.protocol import MAX_RECORD_BYTES, FileState, FileView, Member
from tallystick.transcripts.texts import mended

MARK = b"gen_ai."
AGENT = "invoke_agent"
TOOL = "execute_tool"
_MOST = 2**63 - 1
_MOST_BETWEEN = 8
"""Spans that may stand between a tool and the agent that runs inside of it."""
_FIRST_LINE_BYTES = 1 << 20


class Attribute(msgspec.Struct):
    """One attribute as OTLP writes it; ``value`` is one of its typed values."""

    key: str
    value: dict[str, msgspec.Raw] | None = None


class _Resource(msgspec.Struct):
    attributes: list[Attribute] | None = None


class _ScopeSpans(msgspec.Struct):
    spans: list[msgspec.Raw] | None = None


class _ResourceSpans(msgspec.Struct):
    scopeSpans: list[_ScopeSpans] | None = None  # noqa: N815
    resource: msgspec.Raw = msgspec.Raw(b"{}")


class _Traces(msgspec.Struct):
    resourceSpans: list[_ResourceSpans]  # noqa: N815


class _Head(msgspec.Struct):
    traceId: str | None = None  # noqa: N815
    spanId: str | None = None  # noqa: N815
    parentSpanId: str | None = None  # noqa: N815
    startTimeUnixNano: str | int | None = None  # noqa: N815
    endTimeUnixNano: str | int | None = None  # noqa: N815
    attributes: list[Attribute] | None = None


_TRACES = msgspec.json.Decoder(_Traces)
_HEAD = msgspec.json.Decoder(_Head)
_TEXT = msgspec.json.Decoder(str)


class _Spot(NamedTuple):
    """Where a GenAI span stands, and what puts it in order and in its session."""

    end: int
    start: int
    offset: int
    length: int
    resource: int
    """Which of the resources of the file."""
    span: tuple[str, str]
    """Its trace and its own id."""
    conversation: str
    mended: bytes = b""
    """The span with its spoilt characters replaced, where it had any: it does not stand like that in the file."""


class Index:
    """What was noted of a file's spans."""

    def __init__(self) -> None:
        self.spots: list[_Spot] = []
        self.unread: list[tuple[str, str]] = []
        """What could not be read: its place, and why."""
        self.resources: list[bytes] = []
        self._resource_numbers: dict[bytes, int] = {}
        self._parents: dict[tuple[str, str], tuple[str, str]] = {}
        """Of every span seen: its parent's id, and its operation where that is a tool's or an agent's."""
        self._seen: set[tuple[str, str]] = set()
        self._agents: dict[tuple[str, str], tuple[int, str]] = {}
        """Of a span: how many agents it is below, itself among them, and the innermost."""
        self._conversations: dict[str, set[str]] = {}
        """The conversation ids that a trace names."""

    def add(self, data: bytes, offset: int, place: str) -> None:
        """Note the spans of one document, which begins at ``offset`` of the file."""
        if MARK not in data:
            return
        repaired = False
        try:
            traces = _TRACES.decode(data)
        except UNREADABLE:
            data = mended(data) or b""
            repaired = True
            try:
                traces = _TRACES.decode(data)
            except UNREADABLE as error:
                self.unread.append((place, f"no OTLP JSON: {str(error)[:200]}"))
                return
        at = 0
        for resource_spans in traces.resourceSpans:
            number = self._resource(bytes(resource_spans.resource))
            for scope in resource_spans.scopeSpans or ():
                for raw in scope.spans or ():
                    span = bytes(raw)
                    start = data.find(span, at)
                    if start < 0:
                        self.unread.append((place, "two lists of spans of one name"))
                        return
                    at = start + len(span)
                    self._span(span, offset + start, number, repaired=repaired)

    def sessions(self) -> Iterator[tuple[str, str, list[_Spot]]]:
        """Each session's id, the agent whose part of it this is (empty for the main one), and its spans as they ended."""
        found: dict[tuple[str, str], list[_Spot]] = {}
        for spot in self.spots:
            named = self._conversations.get(spot.span[0], set())
            conversation = spot.conversation or (next(iter(named)) if len(named) == 1 else spot.span[0])
            count, agent = self._below(spot.span)
            found.setdefault((conversation, agent if count > 1 else ""), []).append(spot)
        for (conversation, agent), spots in found.items():
            yield conversation, agent, sorted(spots)

    def delegating(self) -> frozenset[str]:
        """Ids of the tool spans that an agent runs inside of: what they answer is its report."""
        found = set()
        for (trace, _), (parent, operation) in self._parents.items():
            above = parent if operation == AGENT else ""
            for _ in range(_MOST_BETWEEN):
                up, kind = self._parents.get((trace, above), ("", AGENT))
                if kind:
                    if kind == TOOL:
                        found.add(above)
                    break
                above = up
        return frozenset(found)

    def _resource(self, resource: bytes) -> int:
        if resource not in self._resource_numbers:
            self._resource_numbers[resource] = len(self.resources)
            self.resources.append(resource)
        return self._resource_numbers[resource]

    def _span(self, data: bytes, offset: int, resource: int, *, repaired: bool) -> None:
        try:
            head = _HEAD.decode(data)
        except UNREADABLE:
            # Kept where it may say something: its reader says what is wrong with it.
            head = _Head()
        told = {attribute.key: attribute for attribute in head.attributes or ()}
        trace = head.traceId or ""
        span = (trace, head.spanId or f"@{offset}")
        self._parents[span] = (head.parentSpanId or "", _operation(told))
        if MARK not in data or span in self._seen:
            return
        self._seen.add(span)
        conversation = text_of(told.get("gen_ai.conversation.id"))
        if conversation:
            self._conversations.setdefault(trace, set()).add(conversation)
        start, end = nanoseconds(head.startTimeUnixNano), nanoseconds(head.endTimeUnixNano)
        spot = _Spot(end or start, start, offset, len(data), resource, span, conversation, data if repaired else b"")
        self.spots.append(spot)

    def _below(self, span: tuple[str, str]) -> tuple[int, str]:
        """How many agents the span is below, itself among them, and the id of the innermost; each span is climbed past once."""
        chain: list[tuple[str, str]] = []
        on_chain: set[tuple[str, str]] = set()
        at = span
        while at in self._parents and at not in self._agents and at not in on_chain:
            chain.append(at)
            on_chain.add(at)
            at = (span[0], self._parents[at][0])
        count, agent = self._agents.get(at, (0, ""))
        for each in reversed(chain):
            if self._parents[each][1] == AGENT:
                count, agent = count + 1, each[1]
            self._agents[each] = (count, agent)
        return count, agent


def indexed(stream: BinaryIO) -> Index:
    """One pass over a file: a document a line where its first line is long or has spans, else one over several lines.

    A last line that is torn is still being written, and is read when it is whole (EVID.2)."""
    index = Index()
    head = stream.read(_FIRST_LINE_BYTES)
    first = head.partition(b"\n")[0]
    stream.seek(0)
    if b"\n" not in head or b'"spans"' in first:
        source = LineSource(stream)
        for record in source:
            index.add(record.data, record.offset, f"line-{record.line}")
        index.unread += [(f"line-{problem.line}", problem.reason) for problem in source.problems]
        if not index.spots and not index.unread and source.position.offset < stream.seek(0, SEEK_END):
            index.unread.append(("end", "the file ends in the middle of its first document"))
        return index
    elements = Elements(stream)
    for number, element in enumerate(elements, 1):
        if element.data is None:
            index.unread.append(
                (f"document-{number}", f"longer than the {MAX_RECORD_BYTES} bytes that are read at once")
            )
        else:
            index.add(element.data, element.offset, f"document-{number}")
    if not elements.whole:
        index.unread.append(("end", "the file ends in the middle of a document"))
    return index


def members(view: FileView, path: str) -> Iterator[Member]:
    """The sessions of a trace file, in the order in which they first appear; what cannot be read as a member that says so."""
    with view.opened(path) as stream:
        index = indexed(stream)
    taken: set[str] = set()
    delegating = index.delegating()
    for number, (conversation, agent, spots) in enumerate(index.sessions(), 1):
        plain = "".join(each if each.isalnum() or each in "-_.:" else "_" for each in conversation)[:120]
        name = f"{plain}/{agent}" if agent else plain
        name = name if plain and name not in taken else f"session-{number}"
        taken.add(name)
        state = FileState(sum(spot.length for spot in spots), min(spots[-1].end, _MOST), len(spots))
        reports = sorted(delegating & {spot.span[1] for spot in spots}) if delegating else []
        about = {
            "conversation": conversation,
            "agent": agent,
            "reports": reports,
            "mended": sum(bool(each.mended) for each in spots),
        }
        yield Member(name, state, _Document(view, path, about, spots, index.resources[spots[0].resource]))
    for place, reason in index.unread:
        yield unreadable(path, place, reason)
    if not taken and not index.unread:
        yield unreadable(path, "spans", "none of them has gen_ai attributes")


class _Document:
    """The spans of one session as a document, read from where they stand when it is asked for."""

    def __init__(
        self, view: FileView, path: str, about: dict[str, object], spots: list[_Spot], resource: bytes
    ) -> None:
        self._view = view
        self._path = path
        self._about = about
        self._spots = spots
        self._resource = resource

    def __call__(self) -> bytes:
        with self._view.opened(self._path) as stream:
            spans = b",\n".join(_read(stream, self._spots))
        return document(self._about, self._resource, spans)


def document(about: dict[str, object], resource: bytes, spans: bytes) -> bytes:
    """A session as its reader is given it; ``spans`` stand as they stood in the file, commas between."""
    return b'%s,\n"resource":%s,\n"spans":[\n%s\n]}\n' % (msgspec.json.encode(about)[:-1], resource, spans)


def _read(stream: BinaryIO, spots: Iterable[_Spot]) -> Iterator[bytes]:
    for spot in spots:
        stream.seek(spot.offset)
        yield spot.mended or stream.read(spot.length)


def _operation(told: dict[str, Attribute]) -> str:
    operation = text_of(told.get("gen_ai.operation.name"))
    return operation if operation in (AGENT, TOOL) else ""


def nanoseconds(stamp: str | int | None) -> int:
    """A time as OTLP writes it; 0 for what is none."""
    if stamp is None:
        return 0
    if isinstance(stamp, int):
        return max(stamp, 0)
    return int(stamp) if stamp.isascii() and stamp.isdecimal() and len(stamp) <= 20 else 0


def text_of(attribute: Attribute | None) -> str:
    """The text of an attribute; empty for one of another type."""
    try:
        return _TEXT.decode((attribute.value or {})["stringValue"]) if attribute else ""
    except (KeyError, *UNREADABLE):
        return ""
