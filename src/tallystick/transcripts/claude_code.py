"""Reads what Claude Code (1.0.x to 2.1.x and on) leaves in ``projects/``: sessions, sub-agents, all layouts.

One line is one record, one record one block of a message (or a few). Who speaks is decided in ``claude_code_speech``,
how a call ended in ``claude_code_results``; ``docs/formats/claude-code.md`` describes the format (EVID.1-12).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import Any

import msgspec

from tallystick.model.evidence import Event, EventKind, Locator, Origin, Problem, SessionFacts, Status
from tallystick.transcripts.claude_code_queue import LastPrompt, PromptQueue
from tallystick.transcripts.claude_code_records import Block, Message, Record, decode_json, decode_line
from tallystick.transcripts.claude_code_results import SHELL_TOOLS, Ending, ending
from tallystick.transcripts.claude_code_speech import HOOK_STOP, Part, queued, reminders_apart, speech
from tallystick.transcripts.lines import LineSource
from tallystick.transcripts.protocol import MAX_TEXT_BYTES, Adapter, PendingCall, RawRecord, Reader
from tallystick.transcripts.texts import cut, instant, runs_own_command, type_name

_MOST_TYPES = 500
"""Distinct count keys of one source; a file that makes up more has the rest counted together."""
_MOST_UUIDS = 4096
"""Record ids remembered to see whether a title is this session's."""

_SILENT = frozenset(
    {
        "agent-color",
        "agent-name",
        "agent-setting",
        "ai-title",
        "continued-in",
        "custom-title",
        "file-history-snapshot",
        "last-prompt",
        "mode",
        "permission-mode",
        "pr-link",
        "progress",
        "summary",
        "tag",
        "worktree-state",
    }
)
"""Types that carry nothing for the memory; titles are taken from some."""
_EDITING_TOOLS = {"Edit": "file_path", "MultiEdit": "file_path", "Write": "file_path", "NotebookEdit": "notebook_path"}
_PLAN_TOOLS = frozenset({"ExitPlanMode", "exit_plan_mode"})
_WORDLESS = (EventKind.TOOL_CALL, EventKind.TOOL_RESULT)
_NO_CALL = PendingCall("", "", (), ())
_PERSON = PendingCall("bash-input", "", (), ())


class ClaudeCodeReader:
    """See ``transcripts.protocol.Reader``."""

    def __init__(self, name: str, calls: dict[str, PendingCall] | None = None) -> None:
        base = name.rsplit("/", 1)[-1]
        self._file_thread = base[6:].removesuffix(".jsonl") if base.startswith("agent-") else ""
        self.facts = SessionFacts("claude-code", "", thread=self._file_thread)
        self.counts: Counter[str] = Counter()
        self.problems: list[Problem] = []
        self.records = 0
        self.records_with_events = 0
        self.calls: dict[str, PendingCall] = dict(calls or {})
        self._queue = PromptQueue(self.calls)
        self._prompts = LastPrompt(self.calls)
        self._uuids: dict[str, None] = {}
        self._titles: dict[str, str] = {}
        self._titled = False
        self._events: list[Event] = []
        self._dropped: list[str] = []

    def read(self, records: Iterable[RawRecord]) -> Iterator[Event]:
        """Yield the events of each record, in order."""
        for record in records:
            if not record.data.strip():
                continue
            self.records += 1
            self._events = []
            self._dropped = []
            silent = self._line(record)
            if self._events:
                self.records_with_events += 1
                for dropped in self._dropped:
                    self._count("block:" + dropped)
                yield from self._events
            elif silent:
                self._count("record:" + silent)

    def _line(self, line: RawRecord) -> str:
        """Take in one physical line; what to count it as where it has no events, or nothing where it is a problem."""
        decoded = decode_line(line.data)
        if decoded.problem:
            self.problems.append(Problem(line.line, decoded.problem))
            return ""
        if len(decoded.pieces) > 1 or decoded.repaired or decoded.lost:
            losses = {"glued": len(decoded.pieces) - 1, "invalid_utf8": decoded.repaired, "unread_piece": decoded.lost}
            self.counts.update({key: count for key, count in losses.items() if count})
        silent: list[str] = []
        for piece in decoded.pieces:
            place = Locator(line.line, line.line - 1, 0, line.offset + piece.start, piece.end - piece.start)
            before = len(self._events)
            kind = self._record(piece.record, place)
            if len(self._events) == before:
                silent.append(kind)
        if self._events:
            self._dropped += silent
        return silent[0] if silent else ""

    def _record(self, record: Record, place: Locator) -> str:
        """Add the events of one record; the answer says what it is counted as when it has none."""
        kind = record.type
        if kind == "progress":
            return kind
        self._learn(record)
        if kind == "assistant":
            return self._assistant(record, place)
        if kind == "user":
            return self._user(record, place)
        if kind == "queue-operation":
            return self._queued(record, place)
        if kind == "attachment":
            return self._attachment(record, place)
        if kind == "system":
            return self._system(record, place)
        return kind if kind in _SILENT else "unknown/" + type_name(kind)

    # --- the session as a whole

    def _learn(self, record: Record) -> None:
        if record.uuid:
            self._uuids[record.uuid] = None
            if len(self._uuids) > _MOST_UUIDS:
                del self._uuids[next(iter(self._uuids))]
            if record.uuid in self._titles:
                self._title(self._titles.pop(record.uuid))
        elif record.type in ("summary", "ai-title", "custom-title"):
            self._learn_title(record)
        facts = self.facts
        if not record.session_id or (record.version == facts.version and record.git_branch == facts.branch):
            return
        thread = self._file_thread and (record.agent_id or facts.thread)
        self.facts = facts._replace(
            native_id=facts.native_id or record.session_id,
            thread=thread,
            cwd=facts.cwd or record.cwd or "",
            branch=record.git_branch or facts.branch,
            version=record.version or facts.version,
            parent=facts.parent or (record.session_id if thread else ""),
        )

    def _learn_title(self, record: Record) -> None:
        if record.custom_title:
            self._titled = True
            self.facts = self.facts._replace(title=record.custom_title[:500])
        elif record.ai_title:
            self._title(record.ai_title)
        elif record.summary and record.leaf_uuid:
            # A summary may be about another session; it is ours when the record that it ends at is.
            if record.leaf_uuid in self._uuids:
                self._title(record.summary)
            elif len(self._titles) < _MOST_UUIDS:
                self._titles[record.leaf_uuid] = record.summary

    def _title(self, title: str) -> None:
        if not self._titled:
            self.facts = self.facts._replace(title=title[:500])

    # --- records by type

    def _assistant(self, record: Record, place: Locator) -> str:
        message = record.message or Message()
        thread = _thread(record)
        synthetic = message.model == "<synthetic>" or record.is_api_error_message
        origin = Origin.HARNESS if synthetic else Origin.ASSISTANT
        if not synthetic:
            self._prompts.answered(thread)
        emit = _Emitter(self, record, place, thread)
        for number, block in enumerate(_blocks(message)):
            emit.at_block(number)
            if block.type == "text":
                emit.parts(reminders_apart(block.text or "", origin))
            elif block.type == "thinking":
                emit.add(EventKind.THINKING, origin, block.thinking or "")
                if block.signature:
                    self._dropped.append("signature")
            elif block.type == "tool_use":
                self._call(block, emit, origin)
            else:
                self._dropped.append(type_name(block.type))
        return "assistant/" + (self._dropped[-1] if self._dropped else "empty")

    def _call(self, block: Block, emit: _Emitter, origin: Origin) -> None:
        tool, call_id = block.name or "", block.id or ""
        given = decode_json(block.input)
        fields = given if isinstance(given, dict) else {}
        command = _string(fields.get("command")) if tool in SHELL_TOOLS else ""
        path = _string(fields.get(_EDITING_TOOLS[tool])) if tool in _EDITING_TOOLS else ""
        flags: tuple[str, ...] = ()
        if "tallystick" in tool or (command and runs_own_command(command)):
            flags = ("own_tool",)
        elif tool in _PLAN_TOOLS:
            flags = ("plan",)
        call = PendingCall(tool, command, (path,) if path else (), flags)
        if call_id:
            self.calls[call_id] = call
        text = command or ("" if given is None else msgspec.json.encode(given).decode())
        emit.add(EventKind.TOOL_CALL, origin, text, call_id=call_id, call=call)

    def _user(self, record: Record, place: Locator) -> str:
        message = record.message or Message()
        thread = _thread(record)
        blocks = _blocks(message)
        only_text = all(block.type in ("text", "image") for block in blocks)
        if only_text:
            text = "\n".join(block.text for block in blocks if block.text)
            self._queue.delivered(text)
            if text.startswith(HOOK_STOP):
                self._prompts.stopped(thread)
            elif not record.is_meta and text and self._prompts.is_repeated(thread, text):
                return "user/repeated"
        emit = _Emitter(self, record, place, thread)
        emit.flags = ("image",) if any(block.type == "image" for block in blocks) else ()
        for number, block in enumerate(blocks):
            emit.at_block(number)
            if block.type == "tool_result":
                self._result(block, record, emit)
            elif block.type == "text":
                emit.parts(self._spoken(block.text or "", record))
            elif block.type == "image":
                self.counts["image"] += 1
            else:
                self._dropped.append(type_name(block.type))
        return "user/" + (self._dropped[-1] if self._dropped else "image" if emit.flags else "empty")

    def _spoken(self, text: str, record: Record) -> list[Part]:
        if record.is_compact_summary:
            return [Part(Origin.HARNESS, text, EventKind.SUMMARY)]
        if record.plan_content and text.startswith("Implement the following plan:"):
            return [Part(Origin.DELEGATED, text, flags=("plan",))]
        parts = speech(text)
        if record.is_meta:
            expanded = () if text.lstrip().startswith(("<", "Caveat:", "Stop hook", "[Request")) else ("expanded",)
            return [_of_harness(part, expanded) for part in parts]
        return _in_thread(parts, record)

    def _result(self, block: Block, record: Record, emit: _Emitter) -> None:
        call_id = block.tool_use_id or ""
        call = self.calls.pop(call_id, _NO_CALL)
        text, images = self._result_text(block)
        parts = reminders_apart(text, Origin.TOOL)
        end = ending(parts[0].text, call.tool, record.version or "", bool(block.is_error), record.tool_use_result)
        if images:
            end = end._replace(flags=(*end.flags, "image"))
        emit.result(parts[0].text, call_id, call, end)
        emit.parts(parts[1:])
        for words in end.feedback:
            emit.add(EventKind.MESSAGE, Origin.USER, words, ("feedback",), call_id=call_id)

    def _result_text(self, block: Block) -> tuple[str, bool]:
        content = block.content
        if content is None or isinstance(content, str):
            return content or "", False
        images = False
        for inner in content:
            if inner.type == "image":
                images = True
                self.counts["image"] += 1
            elif inner.type != "text":
                self._dropped.append(type_name(inner.type))
        return "\n".join(inner.text for inner in content if inner.text), images

    def _queued(self, record: Record, place: Locator) -> str:
        text = _prompt_text(decode_json(record.content))
        operation = record.operation or ""
        if operation == "enqueue" and text.strip():
            self._queue.enqueue(record.timestamp or "", text, place)
        elif operation == "dequeue":
            self._queue.dequeued()
        elif operation == "popAll":
            self._queue.taken_back(text)
        elif operation == "remove" and (found := self._queue.removed(text)):
            emit = _Emitter(self, record, found.place, "", uid=found.uid)
            emit.at = instant(found.timestamp)
            emit.parts(queued(found.text))
        return "queue-operation/" + type_name(operation)

    def _attachment(self, record: Record, place: Locator) -> str:
        attachment = decode_json(record.attachment)
        if not isinstance(attachment, dict):
            return "attachment"
        kind = type_name(_string(attachment.get("type")))
        emit = _Emitter(self, record, place, _thread(record))
        if kind == "queued_command":
            text = _prompt_text(attachment.get("prompt"))
            if self._queue.attached(text):
                emit.uid = "" if record.uuid else f"queue:{record.timestamp or place.offset}"
                emit.parts(_in_thread(queued(text), record))
        elif kind.startswith("hook_"):
            text = _prompt_text(attachment.get("content"))
            emit.parts([_of_harness(part) for part in reminders_apart(text, Origin.HARNESS)])
        return "attachment/" + kind

    def _system(self, record: Record, place: Locator) -> str:
        if record.subtype == "local_command":
            text = _prompt_text(decode_json(record.content))
            _Emitter(self, record, place, _thread(record)).parts(speech(text))
        return "system/" + type_name(record.subtype) if record.subtype else "system"

    # --- counts

    def _count(self, key: str) -> None:
        if key not in self.counts and len(self.counts) >= _MOST_TYPES:
            key = key.partition(":")[0] + ":more"
        self.counts[key] += 1


class _Emitter:
    """Makes the events of one record, numbering the parts of each block."""

    def __init__(self, reader: ClaudeCodeReader, record: Record, place: Locator, thread: str, uid: str = "") -> None:
        self.uid = uid
        self.at = instant(record.timestamp or "")
        self.flags: tuple[str, ...] = ()
        """Of the whole record; the harness's parts in it go without."""
        self._reader = reader
        self._record = record
        self._place = place
        self._thread = thread
        self._part = 0

    def at_block(self, number: int) -> None:
        if number:
            self._place = self._place._replace(block=number)
        self._part = 0

    def add(
        self,
        kind: EventKind,
        origin: Origin,
        text: str,
        flags: tuple[str, ...] = (),
        *,
        call_id: str = "",
        call: PendingCall = _NO_CALL,
        status: Status = Status.NONE,
        exit_code: int | None = None,
    ) -> None:
        """An event; a message or thought without words is none."""
        if (not text or text.isspace()) and kind not in _WORDLESS:
            self._reader._dropped.append(f"empty-{kind.value}")
            return
        shown = () if origin is Origin.HARNESS else self.flags
        flags = (*shown, *call.flags, *flags)
        if len(text) * 4 > MAX_TEXT_BYTES and (shorter := cut(text)) != text:
            text, flags = shorter, (*flags, "truncated")
            self._reader.counts["oversized_text"] += 1
        self._reader._events.append(
            Event(
                self._next_uid(),
                kind,
                origin,
                text,
                self._place,
                self.at,
                self._thread,
                call.tool,
                call_id,
                status,
                exit_code,
                call.command,
                call.paths,
                flags if len(flags) < 2 else tuple(dict.fromkeys(flags)),
            )
        )

    def result(self, text: str, call_id: str, call: PendingCall, end: Ending) -> None:
        self.add(
            EventKind.TOOL_RESULT,
            end.origin,
            text,
            end.flags,
            call_id=call_id,
            call=call,
            status=end.status,
            exit_code=end.exit_code,
        )

    def parts(self, parts: Iterable[Part]) -> None:
        for part in parts:
            if part.kind is EventKind.TOOL_CALL:
                self._persons_command(part)
            elif part.kind is EventKind.TOOL_RESULT:
                self._persons_output(part)
            else:
                self.add(part.kind, part.origin, part.text, part.flags)

    def _persons_command(self, part: Part) -> None:
        call_id = f"bash:{self._record.uuid or self._record.timestamp or self._place.offset}"
        own = ("own_tool",) if runs_own_command(part.text) else ()
        call = _PERSON._replace(command=part.text, flags=own)
        self._reader.calls[call_id] = call
        self.add(EventKind.TOOL_CALL, part.origin, part.text, call_id=call_id, call=call)

    def _persons_output(self, part: Part) -> None:
        """The harness says nothing of how a person's command ended."""
        call_id = f"bash:{self._record.parent_uuid or ''}"
        if call_id not in self._reader.calls:
            call_id = next((key for key in reversed(self._reader.calls) if key.startswith("bash:")), "")
        call = self._reader.calls.pop(call_id, _PERSON)
        self.result(part.text, call_id, call, Ending(Status.UNKNOWN))

    def _next_uid(self) -> str:
        record = self._record
        owner = self.uid or f"{record.uuid or self._place_id()}:{self._place.block}"
        part, self._part = self._part, self._part + 1
        return f"{owner}.{part}" if part else owner

    def _place_id(self) -> str:
        """A record without an id of its own is named by its kind and time, or by where it stands."""
        return f"{type_name(self._record.type)}:{self._record.timestamp or self._place.offset}"


def _thread(record: Record) -> str:
    """Early versions wrote a sub-agent's records among the parent's and gave them no agent id."""
    return (record.agent_id or "sidechain") if record.is_sidechain else ""


def _blocks(message: Message) -> list[Block]:
    content = message.content
    if content is None:
        return []
    return [Block("text", content)] if isinstance(content, str) else content


def _of_harness(part: Part, flags: tuple[str, ...] = ()) -> Part:
    if part.origin is Origin.BRIEFING:
        return part
    return part._replace(origin=Origin.HARNESS, flags=(*part.flags, *flags))


def _in_thread(parts: list[Part], record: Record) -> list[Part]:
    """In a sub-agent's thread it is another agent that speaks where a person would."""
    if not record.is_sidechain:
        return parts
    return [part._replace(origin=Origin.DELEGATED) if part.origin is Origin.USER else part for part in parts]


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _prompt_text(content: Any) -> str:
    """The words of a prompt that is a string or a list of strings and text blocks."""
    if isinstance(content, list):
        texts = (_string(item.get("text")) if isinstance(item, dict) else _string(item) for item in content)
        return "\n".join(text for text in texts if text)
    return _string(content)


class ClaudeCodeAdapter:
    """See ``transcripts.protocol.Adapter``."""

    name = "claude-code"
    framing = "lines"

    def recognises(self, head: bytes, name: str) -> bool:
        """True when one of the first records is one that Claude Code writes, and the text around it does not quote it."""
        source = LineSource(BytesIO(head))
        lines = [line.data for line in source]
        logged = 4 + 4 * sum(line.startswith(b"{") for line in lines) >= len(lines)  # A note may stand above the log.
        if logged and any(_is_ours(piece.record) for line in lines for piece in decode_line(line).pieces):
            return True
        torn = head[source.position.offset :]
        return logged and b'"sessionId":' in torn and _TORN_RECORD.search(torn) is not None

    def reader(self, name: str, calls: dict[str, PendingCall] | None = None) -> Reader:
        """A new reader; a file called ``agent-<id>.jsonl`` is a sub-agent's."""
        return ClaudeCodeReader(name, calls)


# The first line may be longer than the head: an image pasted into the first prompt.
_TORN_RECORD = re.compile(rb'"parentUuid": ?(?:null|"[0-9a-f-]{36}")')


def _is_ours(record: Record) -> bool:
    if record.type in ("user", "assistant", "system", "progress", "attachment"):
        return bool(record.session_id and record.uuid)
    if record.type == "summary":
        return bool(record.leaf_uuid)
    known = record.type in _SILENT or record.type == "queue-operation"
    return record.type == "file-history-snapshot" or (known and bool(record.session_id))


CLAUDE_CODE: Adapter = ClaudeCodeAdapter()
