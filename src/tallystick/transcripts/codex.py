"""Reads the rollouts of OpenAI's Codex CLI, where every visible turn stands twice and only one of the two is a turn.

The person's words are taken from ``event_msg/user_message`` (or ``item_completed``), the assistant's from its
``response_item``; the other copy is counted. A user item that no event confirms is the harness speaking: in real files
it stands right before its event, so one item is held back and no more (EVID.2, 3, 6, 7).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from tallystick.model.evidence import Event, EventKind, Origin, Problem, SessionFacts
from tallystick.transcripts import codex_records as shapes
from tallystick.transcripts import codex_tools as tools
from tallystick.transcripts.codex_events import EventBuilder, Place
from tallystick.transcripts.codex_speech import HARNESS_STARTS
from tallystick.transcripts.protocol import PendingCall, RawRecord
from tallystick.transcripts.salvage import salvaged
from tallystick.transcripts.texts import instant, type_name

_STATE = "@codex"
"""Key in ``calls`` that tells a later read of the file what its head said: the session, and how it is to be read."""
_MOST_HELD = 16
_LINES_TRIED = 8
_BEGINS = re.compile(rb'\{ ?"timestamp" ?: ?"[^"]{1,40}" ?, ?"type" ?: ?"session_meta"')
_TOP_TYPES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})


class _Read(NamedTuple):
    """What came of one JSON object."""

    type: str
    """Under which type it is counted when it has no events."""
    events: Sequence[Event] = ()
    role: str = ""
    """``said`` by a person, a user ``item`` that is not yet known to be one, output of the ``model``, or nothing."""
    text: str = ""
    """Of ``said`` and ``item``: the whole text, by which the two are known to be one."""


class _Held(NamedTuple):
    """A user item that waits for its event, or events that wait behind such an item (then ``text`` is None)."""

    place: Place
    text: str | None
    events: Sequence[Event]


class CodexReader:
    """Reads one rollout; see ``Reader``. Of a turn that is there twice the copy is ``record:<its type>``.

    ``calls`` may hold one entry that is no call, under ``@codex``: what a later read of the file must know of its head.
    """

    def __init__(self, calls: dict[str, PendingCall] | None = None) -> None:
        self.facts = SessionFacts("codex", "")
        self.counts: Counter[str] = Counter()
        self.problems: list[Problem] = []
        self.records = 0
        self.records_with_events = 0
        self.calls: dict[str, PendingCall] = dict(calls or {})
        self._build = EventBuilder(self.counts)
        self._held: list[_Held] = []
        self._last_said = ""
        self._undecided = False
        self._items_only = False
        self._has_items = True
        self._delegated = False
        self._history_ends = 0
        """Ordinal of the first record that is the session's own."""
        self._born = 0
        """Of a fork or a sub-agent, when it began: what is older was said in another session."""
        self._read_item: dict[str, Callable[[Place, bytes], _Read]] = {
            "message": self._message,
            "agent_message": self._between_agents,
            "reasoning": self._reasoning,
            "function_call": self._call,
            "custom_tool_call": self._call,
            "local_shell_call": self._shell_call,
            "web_search_call": self._web_search,
            "function_call_output": self._output,
            "custom_tool_call_output": self._output,
        }
        self._read_event: dict[str, Callable[[Place, bytes], _Read]] = {
            "user_message": self._user_message,
            "agent_message": self._agent_message,
            "item_completed": self._item_completed,
        }

    def read(self, records: Iterable[RawRecord]) -> Iterator[Event]:
        """Yield the events of each record, in order; a user item waits for what comes after it."""
        first = True
        for record in records:
            if first:
                self._begin(record.line)
                first = False
            self.records += 1
            yield from self._record(record)
        if not first:
            yield from self._end()

    # --- what is remembered over a pause

    def _begin(self, line: int) -> None:
        """At the start of a file nothing is decided; a later read goes on as real files do, or as the state says."""
        state = self.calls.pop(_STATE, None)
        if state is not None:
            self._undecided = "undecided" in state.flags
            self._items_only = "items_only" in state.flags
            self._has_items = "no_items" not in state.flags
            self._delegated = "delegated" in state.flags
            ends, _, born = state.command.partition(" ")
            self._history_ends, self._born = int(ends or 0), int(born or 0)
            self._build.thread = state.tool
            self.facts = self.facts._replace(native_id="".join(state.paths), thread=state.tool)
        elif line == 1:
            self._undecided = True
            self._has_items = False

    def _end(self) -> Iterator[Event]:
        """A user item without its event at the very end is only counted: the event may not be written yet."""
        for held in self._held:
            if held.text is not None:
                held.place.count = "message"
            yield from self._let_go(held, held.events if held.text is None else [])
        self._held = []
        on = (
            ("undecided", self._undecided),
            ("items_only", self._items_only),
            ("no_items", not self._has_items),
            ("delegated", self._delegated),
        )
        flags = tuple(name for name, is_on in on if is_on)
        named = (self.facts.native_id,) if self.facts.native_id else ()
        if flags or named:
            self.calls[_STATE] = PendingCall(self.facts.thread, f"{self._history_ends} {self._born}", named, flags)

    # --- one physical record

    def _record(self, record: RawRecord) -> Iterator[Event]:
        place = Place(record)
        try:
            yield from self._paired(self._object(place, record.data), place)
        except shapes.UNREADABLE:
            yield from self._salvaged(place)
        else:
            self._settle(place)

    def _salvaged(self, place: Place) -> Iterator[Event]:
        """A line that is not one clean object of a known shape: read what can be read, count the rest."""
        found, lost, mended = salvaged(place.record.data)
        reason = "" if found else "no JSON object"
        for part in found:
            try:
                yield from self._paired(self._object(place, part), place)
            except shapes.UNREADABLE as error:
                reason = f"unexpected shape: {str(error)[:200]}"
                lost += 1
        self._tally({"glued": len(found) - 1, "mended": mended})
        if place.count:
            self._tally({"block:unreadable": lost})
            self._settle(place)
        else:
            self.problems.append(Problem(place.record.line, reason))

    def _tally(self, found: dict[str, int]) -> None:
        for key, count in found.items():
            if count > 0:
                self.counts[key] += count

    def _settle(self, place: Place) -> None:
        """One thing less that the record waits for; put it down as read once there is none."""
        place.waiting -= 1
        if place.waiting:
            return
        if place.had_events:
            self.records_with_events += 1
        else:
            self.counts[f"record:{place.count}"] += 1

    # --- the two copies of a turn

    def _paired(self, read: _Read, place: Place) -> Iterator[Event]:
        """The events of ``read``, after those that had been waiting for it."""
        place.count = place.count or read.type
        if read.role == "item":
            yield from self._user_item(read, place)
            return
        if read.role == "said":
            yield from self._release(Origin.HARNESS, confirmed=read.text)
            self._undecided = self._items_only = False
            self._last_said = read.text
        elif self._held and read.events:
            if self._undecided and not read.role and len(self._held) < _MOST_HELD:
                self._hold(place, None, read.events)
                return
            self._items_only = self._undecided and read.role == "model"
            self._undecided = self._undecided and not self._items_only
            yield from self._release(Origin.USER if self._items_only else Origin.HARNESS)
        place.had_events = place.had_events or bool(read.events)
        yield from read.events

    def _user_item(self, read: _Read, place: Place) -> Iterator[Event]:
        if self._items_only:
            place.had_events = True
            yield from self._build.person(place, read.text, Origin.DELEGATED if self._delegated else Origin.USER)
        elif read.text != self._last_said:
            if not self._undecided or len(self._held) >= _MOST_HELD:
                yield from self._release(Origin.HARNESS)
            self._hold(place, read.text, [])

    def _hold(self, place: Place, text: str | None, events: Sequence[Event]) -> None:
        place.waiting += 1
        self._held.append(_Held(place, text, events))

    def _release(self, origin: Origin, confirmed: str | None = None) -> Iterator[Event]:
        """What was held, now that it is known whose words it is; an item equal to ``confirmed`` is a copy."""
        held, self._held = self._held, []
        for one in held:
            events = one.events
            if one.text is not None and one.text != confirmed:
                events = self._unconfirmed(one.place, one.text, origin)
            yield from self._let_go(one, events)

    def _let_go(self, held: _Held, events: Sequence[Event]) -> Iterator[Event]:
        held.place.had_events = held.place.had_events or bool(events)
        self._settle(held.place)
        yield from events

    def _unconfirmed(self, place: Place, text: str, origin: Origin) -> list[Event]:
        if origin is Origin.HARNESS:
            return self._build.texts(place, text, EventKind.MESSAGE, origin)
        return self._build.person(place, text, Origin.DELEGATED if self._delegated else origin)

    # --- objects by type

    def _object(self, place: Place, data: bytes) -> _Read:
        line = shapes.LINE.decode(data)
        place.at = instant(line.timestamp) if line.timestamp else None
        if line.type != "session_meta" and self._is_copied(place, line):
            return _Read("copied_history")
        payload: bytes = line.payload
        if not payload:
            return self._bare(place, line, data)
        if line.type == "response_item":
            self._has_items = True
            return self._typed(place, payload, self._read_item)
        if line.type == "event_msg":
            return self._typed(place, payload, self._read_event)
        if line.type == "session_meta":
            return self._session_meta(payload)
        if line.type == "compacted":
            return self._compacted(place, payload)
        return _Read(type_name(line.type))

    def _is_copied(self, place: Place, line: shapes.Line) -> bool:
        """Whether a record of a fork or a sub-agent is history of the session it began from."""
        if line.ordinal is not None and self._history_ends:
            return line.ordinal < self._history_ends
        return place.at is not None and place.at < self._born

    def _typed(self, place: Place, payload: bytes, readers: dict[str, Callable[[Place, bytes], _Read]]) -> _Read:
        kind = shapes.TYPED.decode(payload).type
        reader = readers.get(kind)
        return _Read(type_name(kind)) if reader is None else reader(place, payload)

    def _bare(self, place: Place, line: shapes.Line, data: bytes) -> _Read:
        """Before 0.32 a line is the item itself, the first one names the session, and there are no events."""
        if line.type in self._read_item:
            self._has_items = self._items_only = True
            self._undecided = False
            return self._typed(place, data, self._read_item)
        if not line.type and line.id and line.timestamp:
            return self._session_meta(data)
        return _Read(type_name(line.type or line.record_type))

    def _session_meta(self, payload: bytes) -> _Read:
        meta = shapes.SESSION_META.decode(payload)
        if self.facts.native_id:
            return _Read("session_meta")
        spawn = meta.source.subagent if isinstance(meta.source, shapes.Source) else None
        parent = meta.parent_thread_id or meta.forked_from_id or ""
        if isinstance(spawn, shapes.Subagent) and spawn.thread_spawn is not None:
            parent = spawn.thread_spawn.parent_thread_id or parent
        self._delegated = spawn is not None
        base = meta.history_base or shapes.HistoryBase()
        self._history_ends = meta.subagent_history_start_ordinal or base.end_ordinal_exclusive or 0
        self._born = (instant(meta.timestamp or "") or 0) if parent or self._delegated else 0
        self._build.thread = meta.id if self._delegated else ""
        git = meta.git or shapes.Git()
        self.facts = SessionFacts(
            "codex",
            meta.id,
            thread=self._build.thread,
            cwd=meta.cwd or "",
            repository=git.repository_url or "",
            branch=git.branch or "",
            version=meta.cli_version or "",
            parent=parent,
        )
        return _Read("session_meta")

    def _compacted(self, place: Place, payload: bytes) -> _Read:
        compacted = shapes.COMPACTED.decode(payload)
        if bytes(compacted.replacement_history) != b"null":
            self.counts["block:replacement_history"] += 1
        return _Read("compacted", self._build.texts(place, compacted.message, EventKind.SUMMARY, Origin.HARNESS))

    # --- items

    def _message(self, place: Place, payload: bytes) -> _Read:
        message = shapes.MESSAGE.decode(payload)
        text = self._build.joined(message.content)
        if message.role == "assistant":
            return _Read("message", self._build.texts(place, text, EventKind.MESSAGE, Origin.ASSISTANT), "model")
        if message.role == "user" and not text.startswith(HARNESS_STARTS):
            return _Read("message", [], "item", text)
        return _Read("message", self._build.texts(place, text, EventKind.MESSAGE, Origin.HARNESS))

    def _between_agents(self, place: Place, payload: bytes) -> _Read:
        """What one agent wrote to another: a brief, or a report."""
        text = self._build.joined(shapes.BETWEEN_AGENTS.decode(payload).content)
        return _Read("agent_message", self._build.texts(place, text, EventKind.MESSAGE, Origin.DELEGATED))

    def _reasoning(self, place: Place, payload: bytes) -> _Read:
        reasoning = shapes.REASONING.decode(payload)
        if bytes(reasoning.encrypted_content) != b"null":
            self.counts["block:encrypted_content"] += 1
        events: list[Event] = []
        for part in [*reasoning.summary, *(reasoning.content or ())]:
            events += self._build.texts(place, part.text or "", EventKind.THINKING, Origin.ASSISTANT)
        return _Read("reasoning", events, "model")

    def _call(self, place: Place, payload: bytes) -> _Read:
        call = shapes.CALL.decode(payload)
        text = call.arguments or call.input
        pending = tools.call(call.name, text)
        self.calls[call.call_id] = pending
        return _Read("call", [self._build.call(place, call.call_id, text, pending)], "model")

    def _shell_call(self, place: Place, payload: bytes) -> _Read:
        call = shapes.SHELL_CALL.decode(payload)
        pending = tools.shell_call("local_shell", call.action.command)
        call_id = call.call_id or call.id or ""
        if call_id:
            self.calls[call_id] = pending
        return _Read("call", [self._build.call(place, call_id, pending.command, pending)], "model")

    def _web_search(self, place: Place, payload: bytes) -> _Read:
        action = bytes(shapes.WEB_SEARCH.decode(payload).action).decode()
        return _Read("call", [self._build.call(place, "", action, PendingCall("web_search", "", (), ()))], "model")

    def _output(self, place: Place, payload: bytes) -> _Read:
        output = shapes.OUTPUT.decode(payload)
        content = output.output
        text = content.content if isinstance(content, shapes.OutputObject) else self._build.joined(content)
        images = isinstance(content, list) and any(part.type == "input_image" for part in content)
        pending = self.calls.pop(output.call_id, PendingCall("", "", (), ()))
        ending = tools.ending(pending.tool, text)
        flags = (*pending.flags, *ending.flags, *(("image",) if images else ()))
        return _Read(
            "output", self._build.results(place, output.call_id, pending, ending._replace(flags=flags)), "result"
        )

    # --- events

    def _user_message(self, place: Place, payload: bytes) -> _Read:
        said = shapes.SAID.decode(payload)
        images = len(said.images or ()) + len(said.local_images or ())
        self._tally({"image": images})
        return self._said(place, said.message, ("image",) if images else ())

    def _said(self, place: Place, text: str, flags: tuple[str, ...] = ()) -> _Read:
        origin = Origin.DELEGATED if self._delegated else Origin.USER
        return _Read("user_message", self._build.person(place, text, origin, flags), "said", text)

    def _agent_message(self, place: Place, payload: bytes) -> _Read:
        if self._has_items:
            return _Read("agent_message")
        text = shapes.SAID.decode(payload).message
        return _Read("agent_message", self._build.texts(place, text, EventKind.MESSAGE, Origin.ASSISTANT), "model")

    def _item_completed(self, place: Place, payload: bytes) -> _Read:
        item = shapes.ITEM_COMPLETED.decode(payload).item
        text = self._build.joined(item.content)
        if item.type == "UserMessage" and text != self._last_said:
            return self._said(place, text)
        if item.type == "AgentMessage" and not self._has_items:
            return _Read("item_completed", self._build.texts(place, text, EventKind.MESSAGE, Origin.ASSISTANT), "model")
        return _Read("item_completed")


class Codex:
    """Rollouts under ``sessions/``, one JSON object a line; ``history.jsonl`` beside them is no session."""

    name = "codex"
    framing = "lines"

    def recognises(self, head: bytes, name: str) -> bool:
        """True when one of the first lines is a rollout's: an envelope of a known type, or an early build's session."""
        lines = head.lstrip(b"\xef\xbb\xbf").split(b"\n")
        for first in lines[:_LINES_TRIED]:
            try:
                line = shapes.LINE.decode(first)
            except shapes.UNREADABLE:
                continue
            if line.payload:
                return bool(line.timestamp) and line.type in _TOP_TYPES
            if line.timestamp and line.id and not line.type:
                return b'"instructions"' in first or name.startswith("rollout-")
        # The instructions in a session's first line may be longer than the head.
        return len(lines) == 1 and _BEGINS.match(lines[0]) is not None

    def reader(self, name: str, calls: dict[str, PendingCall] | None = None) -> CodexReader:
        """A new reader; the name of a rollout says nothing that its first line does not."""
        return CodexReader(calls)


CODEX = Codex()
