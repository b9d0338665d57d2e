"""Reads the tasks of Cline and of Roo Code: a folder each, with what the model was sent and what the person was shown.

What the model was sent holds everything in order, but wraps the person's words in tags that a file may hold just as well.
So whose words they are is decided by what the person was shown: there they stand alone (EVID.6).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

import msgspec

from tallystick.errors import UsageError
from tallystick.model.evidence import Event, EventKind, Locator, Origin, SessionFacts, Status
from tallystick.model.temporal import Instant
from tallystick.transcripts import cline_records as shapes
from tallystick.transcripts.documents import UNREADABLE, DocumentReader, Message, Read
from tallystick.transcripts.protocol import FileState, FileView, Member, PendingCall
from tallystick.transcripts.texts import is_own_tool, mended, milliseconds, runs_own_command, type_name

_API = ("api_conversation_history.json", "claude_messages.json")
_SHOWN = ("ui_messages.json",)
_ITEM = ("history_item.json", "task_metadata.json")
_NAMES = frozenset({*_API, *_SHOWN, *_ITEM})
_SHELL = "execute_command"
_WRITERS = frozenset(
    {
        "write_to_file",
        "replace_in_file",
        "apply_diff",
        "insert_content",
        "search_and_replace",
        "edit_file",
        "apply_patch",
    }
)
_PERSON = frozenset({"task", "user_feedback", "user_feedback_diff"})
_FOLDER = re.compile(r"# Current (?:Working|Workspace) Directory \(([^\n]{1,1000})\) Files")
_BEGINS_SENT = re.compile(
    rb'(?:\[|\{\s{0,16}"version"\s{0,4}:\s{0,4}2\s{0,4},\s{0,16}"messages"\s{0,4}:\s{0,4}\[)\s{0,16}\{\s{0,16}"role"'
)
_BEGINS_SHOWN = re.compile(
    rb'\[\s{0,16}\{\s{0,16}"ts"\s{0,4}:\s{0,4}\d{9,16}\s{0,4},\s{0,16}"type"\s{0,4}:\s{0,4}"(?:say|ask)"'
)
_OF_EITHER = (b"<environment_details>", b"<task>", b"<user_message>")
_OF_ROO = (
    b"# VSCode Visible Files",
    b"# VSCode Open Tabs",
    b"# Current Cost",
    b"<slug>",
    b"condenseParent",
    b'"isProtected"',
)
_OF_CLINE = (b"# Visual Studio Code ", b"ACT MODE", b"PLAN MODE", b"conversationHistoryIndex")
_FIRST_SHOWN = re.compile(rb'"say"\s{0,4}:\s{0,4}"(task|text)"')
_NOWHERE = Locator(0, 0, 0, 0, 0)


class _Told(NamedTuple):
    """A stretch of a text: what it is, and whose."""

    kind: EventKind
    origin: Origin
    text: str
    flags: tuple[str, ...] = ()


class ClineReader(DocumentReader):
    """Reads one task; see ``Reader``. ``records`` are the messages of both files."""

    def __init__(self, name: str, harness: str) -> None:
        self.harness = harness
        super().__init__(name)
        self._sent = 0
        """How many messages the model was sent; those that the person was shown come after them."""
        self._typed: Counter[str] = Counter()
        """What the person typed, as they were shown it, as often as it was not met yet among what was sent."""
        self._times: dict[str, list[float]] = {}
        self._alone = False
        self._ids: set[str] = set()
        self._open = ""
        """The call whose result a header may announce, in builds that write calls as text."""
        self._newest: dict[float, int] = {}

    def messages(self, data: bytes) -> list[msgspec.Raw]:
        """The messages of both files, and the facts of the task."""
        document = shapes.DOCUMENT.decode(data)
        self.counts.update({"unreadable_file": len(document.broken)} if document.broken else {})
        sent, shown = self._list(shapes.sent, document.sent), self._list(shapes.shown, document.shown)
        if not sent and not shown and self.counts["unreadable_file"]:
            raise msgspec.DecodeError("neither what was sent nor what was shown can be read")
        item = shapes.item(document.item)
        self._sent, self._alone = len(sent), not shown
        self._shown(shown)
        parent = item.parentTaskId or ""
        self.facts = SessionFacts(
            self.harness,
            item.id or document.task,
            thread=(item.id or document.task) if parent else "",
            cwd=item.workspace or item.cwdOnTaskInitialization or self._folder(sent),
            parent=parent,
        )
        return [*sent, *shown]

    def _list(self, read: Callable[[msgspec.Raw], list[msgspec.Raw]], data: msgspec.Raw) -> list[msgspec.Raw]:
        try:
            return read(data)
        except UNREADABLE:
            self.counts["unreadable_file"] += 1
            return []

    def _shown(self, shown: list[msgspec.Raw]) -> None:
        """What is to be known of what the person was shown before the rest is read: their words, and when all was said."""
        for number, raw in enumerate(shown):
            try:
                said = shapes.SHOWN.decode(raw)
            except UNREADABLE:
                continue
            self._newest[said.ts] = number
            if said.kind in _PERSON or (not number and said.kind == "text"):
                self._typed[(said.text or "").strip()] += 1
            self._times.setdefault((said.text or "").strip(), []).append(said.ts)
        for times in self._times.values():
            times.reverse()

    def _folder(self, sent: list[msgspec.Raw]) -> str:
        """The folder that the first environment names, where the task's own record does not."""
        for raw in sent[:2]:
            try:
                blocks = shapes.blocks(shapes.SENT.decode(raw))
            except UNREADABLE:
                continue
            for block in blocks:
                if found := _FOLDER.search((block.text or "")[:200_000]):
                    return found[1]
        return ""

    def message(self, message: Message) -> Read:
        """A message that the model was sent, or one that the person was shown."""
        if message.index >= self._sent:
            return self._seen(message)
        sent = shapes.SENT.decode(message.data)
        blocks = shapes.blocks(sent)
        message.at = milliseconds(sent.ts) or self._said_at(blocks)
        events: list[Event] = []
        if sent.role == "user" and not sent.isSummary:
            events = self._from_user(message, blocks)
        elif sent.role in ("assistant", "user", "tool"):
            for number, block in enumerate(blocks):
                uid = f"A{message.index}:{number}"
                if sent.isSummary:
                    events += self.texts(message, uid, block.text or "", EventKind.SUMMARY, Origin.HARNESS)
                elif block.type in ("tool_result", "tool-result"):
                    events += self._result_block(message, uid, block)
                else:
                    events += self._from_assistant(message, uid, block)
        return Read(sent.role, events)

    def _said_at(self, blocks: list[shapes.Block]) -> Instant | None:
        """When a message was shown that says one of the same texts: the only time there is in older builds."""
        for block in blocks:
            text = block.text or ""
            said = next((piece.text for piece in shapes.pieces(text) if piece.tag in shapes.PERSONS), "")
            if times := self._times.get((said or shapes.spoken(text)[1]).strip() or "\0"):
                return milliseconds(times.pop())
        return None

    # --- what the model was sent

    def _from_assistant(self, message: Message, uid: str, block: shapes.Block) -> list[Event]:
        if block.type in ("tool_use", "tool-call"):
            call_id = block.id or block.toolCallId or uid
            return [
                self._began(message, uid, call_id, block.name or block.toolName or "", shapes.arguments(block.input))
            ]
        if block.type in ("thinking", "reasoning"):
            thought = block.thinking or block.text or ""
            return self.texts(message, uid, thought, EventKind.THINKING, Origin.ASSISTANT)
        if block.type != "text":
            self.counts["image" if block.type == "image" else f"block:{type_name(block.type)}"] += 1
            return []
        thought, before, call, after = shapes.spoken(block.text or "")
        events = self.texts(message, f"{uid}:thought", thought, EventKind.THINKING, Origin.ASSISTANT)
        events += self.texts(message, uid, before, EventKind.MESSAGE, Origin.ASSISTANT)
        if call is not None:
            self._open = f"A{message.index}"
            events.append(self._began(message, f"{uid}:call", self._open, call.name, call.text, call.fields))
        events += self.texts(message, f"{uid}:after", after, EventKind.MESSAGE, Origin.ASSISTANT)
        return events

    def _began(
        self, message: Message, uid: str, call_id: str, name: str, text: str, fields: shapes.Fields | None = None
    ) -> Event:
        known = fields or shapes.fields(text)
        command = (known.command or "") if name == _SHELL else ""
        path = known.path or known.file_path or ""
        own = is_own_tool(name) or runs_own_command(command)
        paths = (path,) if name in _WRITERS and path else ()
        pending = PendingCall(name, command, paths, ("own_tool",) if own else ())
        self.calls[call_id] = pending
        return self.call(message, uid, text, call_id, pending)

    def _from_user(self, message: Message, blocks: list[shapes.Block]) -> list[Event]:
        """The harness's turn: results, the person's words where they gave any, and what it says of the surroundings."""
        events: list[Event] = []
        announced = ""
        for number, block in enumerate(blocks):
            uid = f"A{message.index}:{number}"
            if block.type in ("tool_result", "tool-result"):
                events += self._result_block(message, uid, block)
                continue
            if block.type != "text":
                self.counts["image" if block.type == "image" else f"block:{type_name(block.type)}"] += 1
                continue
            text = block.text or ""
            header = shapes.header(text)
            if header is not None:
                announced, text = header
                if not text.strip():
                    events += self.texts(message, uid, block.text or "", EventKind.MESSAGE, Origin.HARNESS)
                    continue
            if announced and not text.startswith("<environment_details>"):
                call_id, pending = "", PendingCall("", "", (), ())
                if self._open in self.calls and self.calls[self._open].tool == announced:
                    call_id, self._open = self._open, ""
                    pending = self.calls.pop(call_id)
                events += self._ended(message, uid, call_id, pending, text)
                announced = ""
                continue
            events += self._told(message, uid, self._split(text, opening=not message.index))
        return events

    def _result_block(self, message: Message, uid: str, block: shapes.Block) -> list[Event]:
        call_id = block.tool_use_id or block.toolCallId or ""
        pending = self.calls.pop(call_id, PendingCall("", "", (), ()))
        return self._ended(message, uid, call_id, pending, shapes.result_text(block), failed=bool(block.is_error))

    def _ended(
        self, message: Message, uid: str, call_id: str, pending: PendingCall, text: str, *, failed: bool = False
    ) -> list[Event]:
        """A result, without the person's words that the harness put into it."""
        told = self._split(text, result=True)
        ending = shapes.ending(pending.tool, text, failed=failed)
        status = ending.status if pending.tool else Status.UNKNOWN
        feedback = self._feedback(ending.feedback)
        events: list[Event] = []
        for number, piece in enumerate(told):
            own = f"{uid}.{number}" if number else uid
            if piece.origin is not Origin.TOOL:
                events += self.texts(message, own, piece.text, piece.kind, piece.origin, piece.flags)
                continue
            result = Event(own, EventKind.TOOL_RESULT, Origin.TOOL, piece.text, _NOWHERE)._replace(
                tool=pending.tool,
                call_id=call_id,
                status=status,
                exit_code=ending.exit_code if pending.tool else None,
                command=pending.command,
                paths=pending.paths,
                flags=(*pending.flags, *ending.flags),
            )
            events += self.results(message, result)
        return [*events, *self._told(message, f"{uid}:feedback", feedback)]

    def _feedback(self, text: str) -> list[_Told]:
        """The person's words that a result has as a field."""
        if not text.strip():
            return []
        return [_Told(EventKind.MESSAGE, Origin.USER, text, ("feedback",))] if self._is_typed(text) else []

    def _told(self, message: Message, uid: str, told: list[_Told]) -> list[Event]:
        events: list[Event] = []
        for number, piece in enumerate(told):
            own = f"{uid}.{number}" if number else uid
            events += self.texts(message, own, piece.text, piece.kind, piece.origin, piece.flags)
        return events

    def _split(self, text: str, *, result: bool = False, opening: bool = False) -> list[_Told]:
        """The wrappers of a text taken apart; the rest is a tool's, or the harness's."""
        around = Origin.TOOL if result else Origin.HARNESS
        told: list[_Told] = []
        between: list[str] = []
        for piece in shapes.pieces(text):
            first = (opening or piece.tag == "task") and not result
            if piece.tag in shapes.PERSONS and self._is_typed(piece.text, first=first):
                whose = Origin.DELEGATED if first and self.facts.thread else Origin.USER
                own = _Told(EventKind.MESSAGE, whose, piece.text.strip(), () if first else ("feedback",))
            elif piece.tag == "environment_details":
                own = _Told(EventKind.MESSAGE, Origin.HARNESS, piece.whole)
            else:
                between.append(piece.whole)
                continue
            told += (_Told(EventKind.MESSAGE, around, "".join(between)), own)
            between = []
        told.append(_Told(EventKind.MESSAGE, around, "".join(between)))
        kept = [piece for piece in told if piece.text.strip()]
        return kept or ([_Told(EventKind.MESSAGE, around, text)] if result else [])

    def _is_typed(self, text: str, *, first: bool = False) -> bool:
        """Whether the person was shown these words as theirs, and each time once. Where it is not kept what they were
        shown, only the task is taken for theirs: tags can stand in any file."""
        text = text.strip()
        if self._alone:
            return first
        if self._typed[text] <= 0:
            return False
        self._typed[text] -= 1
        return True

    # --- what the person was shown

    def _seen(self, message: Message) -> Read:
        """What was not sent to the model, or not in these words; all of it where what was sent is not there."""
        said = shapes.SHOWN.decode(message.data)
        kind = f"{said.type}.{said.kind}"
        number = message.index - self._sent
        if said.partial and self._newest.get(said.ts) != number:
            return Read("partial", ())
        message.at = milliseconds(said.ts)
        uid = f"U{said.ts:.0f}:{said.kind}"
        uid = uid if uid not in self._ids else f"{uid}@{number}"
        self._ids.add(uid)
        text = said.text or ""
        self.counts.update({"image": len(said.images)} if said.images else {})
        if said.kind in _PERSON or (not number and said.kind == "text"):
            if self._typed[text.strip()] <= 0:
                return Read(kind, ())
            self._typed[text.strip()] -= 1
            whose = Origin.DELEGATED if not number and self.facts.thread else Origin.USER
            flags = ("feedback",) if number else ()
            words = shapes.diff(text) if said.kind == "user_feedback_diff" else text
            return Read(kind, self.texts(message, uid, words, EventKind.MESSAGE, whose, flags))
        return Read(kind, () if self._sent else self._alone_seen(message, uid, said, text))

    def _alone_seen(self, message: Message, uid: str, said: shapes.Shown, text: str) -> list[Event]:
        if said.kind == "reasoning":
            return self.texts(message, uid, text, EventKind.THINKING, Origin.ASSISTANT)
        if said.kind in ("text", "completion_result", "followup", "plan_mode_respond"):
            return self.texts(message, uid, text, EventKind.MESSAGE, Origin.ASSISTANT)
        if said.kind in ("error", "diff_error"):
            return self.texts(message, uid, text, EventKind.MESSAGE, Origin.HARNESS)
        if said.kind == "command" and text:
            self._open = uid
            return [self._began(message, uid, uid, _SHELL, text, shapes.Fields(command=text))]
        if said.kind == "command_output" and text:
            pending = self.calls.pop(self._open, PendingCall("", "", (), ()))
            call_id, self._open = self._open, ""
            result = Event(uid, EventKind.TOOL_RESULT, Origin.TOOL, text, _NOWHERE, tool=pending.tool)._replace(
                call_id=call_id, status=Status.UNKNOWN, command=pending.command, flags=pending.flags
            )
            return self.results(message, result)
        return []


class _Tasks:
    """``tasks/<id>/`` in the storage of the extension: one session in several files."""

    framing = "gathered"

    def __init__(self, name: str) -> None:
        self.name = name

    def recognises(self, head: bytes, name: str) -> bool:
        """True for what the model was sent and for what the person was shown, by whose surroundings they name."""
        start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
        if _BEGINS_SHOWN.match(start):
            first = _FIRST_SHOWN.search(start[:4096])
            roo = first is not None and first[1] == b"text"
        elif _BEGINS_SENT.match(start) and any(mark in start for mark in _OF_EITHER):
            roo = False
        else:
            return False
        del name  # The content says all.
        roo = any(mark in start for mark in _OF_ROO) or (roo and not any(mark in start for mark in _OF_CLINE))
        return roo == (self.name == "roo-code")

    def reader(self, name: str, calls: dict[str, PendingCall] | None = None) -> ClineReader:
        """A new reader; a document has no calls left open from before."""
        del calls
        return ClineReader(name, self.name)

    def anchor(self, path: str) -> str:
        """The folder of the task."""
        pure = PurePosixPath(path)
        return pure.parent.as_posix() if pure.name in _NAMES else path

    def gather(self, view: FileView, anchor: str) -> Iterator[Member]:
        """The task of the folder."""
        there = [name for name in view.names(anchor) if name in _NAMES]
        states = [state for name in there if (state := view.state(f"{anchor}/{name}")) is not None]
        if not states:
            raise UsageError(f"{anchor}: no task of {self.name} in it")
        state = FileState(sum(each.size for each in states), max(each.mtime_ns for each in states), states[0].inode)
        task = PurePosixPath(anchor).name

        def load() -> bytes:
            broken: list[str] = []

            def first(names: tuple[str, ...]) -> bytes:
                name = next((each for each in names if each in there), "")
                return _checked(view.read(f"{anchor}/{name}"), name, broken) if name else b"null"

            sent, shown, item = first(_API), first(_SHOWN), first(_ITEM)
            head = msgspec.json.encode({"task": task, "broken": broken})[:-1]
            return head + b',"sent":' + sent + b',"shown":' + shown + b',"item":' + item + b"}"

        yield Member(task, state, load)


def _checked(data: bytes, name: str, broken: list[str]) -> bytes:
    """A file as it may stand in the document: as it is, mended, or null where it is no JSON."""
    data = data.removeprefix(b"\xef\xbb\xbf").strip(b"\0 \t\r\n")
    try:
        msgspec.json.decode(data)
    except UNREADABLE:
        data = mended(data) or b""
    if not data:
        broken.append(name)
    return data or b"null"


CLINE = _Tasks("cline")
ROO_CODE = _Tasks("roo-code")
