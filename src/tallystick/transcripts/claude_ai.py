"""Reads the data export of Claude.ai: ``conversations.json``, an array of conversations with their messages in order.

What a person pasted or attached stands beside their message, and is read as supplied by them, not as typed by them.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tallystick.model.evidence import Event, EventKind, Locator, Origin, SessionFacts, Status
from tallystick.transcripts.documents import UNREADABLE, DocumentReader, Message, Read
from tallystick.transcripts.exports import Named, conversations, first_keys
from tallystick.transcripts.protocol import FileView, Member, PendingCall
from tallystick.transcripts.texts import instant, is_own_tool, type_name

_KEYS = frozenset({"uuid", "chat_messages"})
_ORIGINS = {"human": Origin.USER, "assistant": Origin.ASSISTANT}
_SPOKEN = frozenset({"text", "voice_note"})
_PICTURES = frozenset({"image", "document", "file"})
_NOWHERE = Locator(0, 0, 0, 0, 0)


class _Head(msgspec.Struct):
    uuid: str = ""
    updated_at: str | None = None


class _Conversation(msgspec.Struct):
    uuid: str
    chat_messages: list[msgspec.Raw]
    name: str | None = None
    current_leaf_message_uuid: str | None = None


class _Link(msgspec.Struct):
    uuid: str = ""
    parent_message_uuid: str | None = None


class _Attachment(msgspec.Struct):
    extracted_content: str | None = None


class _Block(msgspec.Struct):
    type: str
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    tool_use_id: str | None = None
    name: str | None = None
    input: msgspec.Raw = msgspec.Raw(b"{}")
    content: str | list[msgspec.Raw] | None = None
    is_error: bool | None = None
    start_timestamp: str | None = None
    stop_timestamp: str | None = None


class _Text(msgspec.Struct):
    type: str = ""
    text: str | None = None


class _Message(msgspec.Struct):
    sender: str
    uuid: str = ""
    text: str | None = None
    content: list[_Block] | None = None
    created_at: str | None = None
    attachments: list[_Attachment] | None = None
    files: list[msgspec.Raw] | None = None


_HEAD = msgspec.json.Decoder(_Head)
_CONVERSATION = msgspec.json.Decoder(_Conversation)
_LINK = msgspec.json.Decoder(_Link)
_MESSAGE = msgspec.json.Decoder(_Message)
_TEXT = msgspec.json.Decoder(_Text)


class ClaudeAiReader(DocumentReader):
    """Reads one conversation; see ``Reader``. ``records`` are its messages."""

    harness = "claude-ai"

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._path: set[int] = set()
        self._ids: set[str] = set()
        self._called: list[str] = []
        """Calls of the message that is read whose result has not come, oldest first."""

    def messages(self, data: bytes) -> list[msgspec.Raw]:
        """The messages, which of them the person went on from, and the facts of the conversation."""
        conversation = _CONVERSATION.decode(data)
        self.facts = SessionFacts(self.harness, conversation.uuid, title=conversation.name or "")
        self._path = _path(conversation)
        return conversation.chat_messages

    def message(self, message: Message) -> Read:
        """Its blocks in order, then what was attached to it."""
        said = _MESSAGE.decode(message.data)
        origin = _ORIGINS.get(said.sender)
        if message.index not in self._path:
            return Read("alternate", ())
        if origin is None:
            return Read(said.sender, ())
        uid = said.uuid if said.uuid and said.uuid not in self._ids else f"{said.uuid}@{message.index}"
        self._ids.add(uid)
        self._called = []
        events: list[Event] = []
        for number, block in enumerate(said.content or ()):
            message.at = instant(block.start_timestamp or "") or instant(said.created_at or "")
            events += self._block(message, f"{uid}:{number}", block, origin)
        message.at = instant(said.created_at or "")
        if not any((block.text or "").strip() or block.type not in _SPOKEN for block in said.content or ()):
            # Older exports have the words of a message in ``text`` alone; else it says the same as the blocks.
            events += self.texts(message, f"{uid}:text", said.text or "", EventKind.MESSAGE, origin)
        for number, attachment in enumerate(said.attachments or ()):
            text = attachment.extracted_content or ""
            events += self.texts(message, f"{uid}:attached:{number}", text, EventKind.MESSAGE, origin, ("pasted",))
            if not text:
                self.counts["attachment"] += 1
        if said.files:
            self.counts["attachment"] += len(said.files)
        return Read(said.sender, events)

    def _block(self, message: Message, uid: str, block: _Block, origin: Origin) -> list[Event]:
        if block.type in _SPOKEN:
            return self.texts(message, uid, block.text or "", EventKind.MESSAGE, origin)
        if block.type == "thinking":
            return self.texts(message, uid, block.thinking or "", EventKind.THINKING, Origin.ASSISTANT)
        if block.type == "tool_use":
            return [self._call(message, uid, block)]
        if block.type == "tool_result":
            return self._result(message, uid, block)
        self.counts["image" if block.type in _PICTURES else f"block:{type_name(block.type)}"] += 1
        return []

    def _call(self, message: Message, uid: str, block: _Block) -> Event:
        call_id = block.id or uid
        tool = block.name or ""
        pending = PendingCall(tool, "", (), ("own_tool",) if is_own_tool(tool) else ())
        self.calls[call_id] = pending
        self._called.append(call_id)
        arguments = msgspec.json.format(bytes(block.input), indent=-1).decode("utf-8", "replace")
        return self.call(message, uid, arguments, call_id, pending)

    def _result(self, message: Message, uid: str, block: _Block) -> list[Event]:
        """Joined by the call's id; where the export has none, to the oldest call of that tool that still waits."""
        waiting = (each for each in self._called if not block.name or self.calls[each].tool == block.name)
        call_id = block.tool_use_id or next(waiting, "")
        pending = self.calls.pop(call_id, None)
        if call_id in self._called:
            self._called.remove(call_id)
        found = pending or PendingCall(block.name or "", "", (), ())
        status = Status.UNKNOWN
        if block.is_error is not None and pending is not None:
            status = Status.FAILED if block.is_error else Status.OK
        message.at = instant(block.stop_timestamp or "") or message.at
        event = Event(uid, EventKind.TOOL_RESULT, Origin.TOOL, self._output(block.content), _NOWHERE)._replace(
            tool=found.tool, call_id=call_id, status=status, flags=found.flags
        )
        return self.results(message, event)

    def _output(self, content: str | list[msgspec.Raw] | None) -> str:
        """What a tool answered: its texts, or as JSON what is of no known type."""
        if isinstance(content, str) or content is None:
            return content or ""
        texts = []
        for raw in content:
            try:
                part = _TEXT.decode(raw)
            except UNREADABLE:
                part = _Text()
            if part.type in _PICTURES:
                self.counts["image"] += 1
            else:
                texts.append(bytes(raw).decode("utf-8", "replace") if part.text is None else part.text)
        return "\n".join(texts)


def _path(conversation: _Conversation) -> set[int]:
    """Places of the messages that lead to the last one; all of them where none was edited or answered again.

    A message that does not say what it answers, or names one that is not there, goes on from the one before it. A first message
    that was edited has siblings with the same parent, which is the root and no message.
    """
    links = [_link(raw) for raw in conversation.chat_messages]
    places = {link.uuid: place for place, link in enumerate(links) if link.uuid}
    roots: set[str] = set()
    before: list[int] = []
    for place, link in enumerate(links):
        parent = link.parent_message_uuid or ""
        if parent in places and places[parent] < place:
            before.append(places[parent])
        elif parent in roots or not place:
            before.append(-1)
        else:
            before.append(place - 1)
        if not place and parent:
            roots.add(parent)
    at = places.get(conversation.current_leaf_message_uuid or "", len(links) - 1)
    path = set()
    while at >= 0:
        path.add(at)
        at = before[at]
    return path


def _link(raw: msgspec.Raw) -> _Link:
    try:
        return _LINK.decode(raw)
    except UNREADABLE:
        return _Link()


def _named(data: bytes) -> Named:
    try:
        head = _HEAD.decode(data)
    except UNREADABLE:
        return Named("", 0)
    return Named(head.uuid, 1000 * (instant(head.updated_at or "") or 0))


class ClaudeAi:
    """A ``Gatherer``: the export is a place, with its conversations as members."""

    name = "claude-ai"
    framing = "gathered"

    def recognises(self, head: bytes, name: str) -> bool:
        """True when the first conversation has a list of chat messages."""
        del name  # Both exports call their file conversations.json; the content says whose it is.
        return first_keys(head) >= _KEYS

    def reader(self, name: str, calls: dict[str, PendingCall] | None = None) -> ClaudeAiReader:
        """A new reader; a document has no calls left open from before."""
        del calls
        return ClaudeAiReader(name)

    def anchor(self, path: str) -> str:
        """The file itself."""
        return path

    def gather(self, view: FileView, anchor: str) -> Iterator[Member]:
        """Its conversations, in the order of the file."""
        return conversations(view, anchor, _named)


CLAUDE_AI = ClaudeAi()
