"""Reads ChatGPT's data export: ``conversations.json`` or ``conversations-000.json`` …, an array of conversations.

A conversation is a tree of messages. What the person saw and went on from is the path to ``current_node``; the other branches,
left by an edit or a second answer, are counted as alternates and say nothing of what the person accepted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

import msgspec

from tallystick.model.evidence import Event, EventKind, Locator, Origin, SessionFacts, Status
from tallystick.transcripts.documents import UNREADABLE, DocumentReader, Message, Read, placed
from tallystick.transcripts.exports import Named, conversations, first_keys
from tallystick.transcripts.protocol import FileView, Member, PendingCall, RawRecord
from tallystick.transcripts.texts import is_own_tool, unix_instant

_KEYS = frozenset({"mapping"})
_WITH_KEYS = frozenset({"title", "create_time", "update_time", "current_node", "conversation_id", "id"})
_ALL = ("all", "")
_SHOWN = frozenset({"text", "code", "multimodal_text"})
"""Content of a message that somebody said; other content on a person's or the assistant's role was put there."""
_NOT_SHOWN = frozenset({"reasoning_recap"})
"""Shown beside a message by the client alone: how long it took."""
_FAILED = "failed"
_NOWHERE = Locator(0, 0, 0, 0, 0)


class _Head(msgspec.Struct):
    conversation_id: str | None = None
    id: str | None = None
    update_time: Decimal | None = None


class _Stamp(msgspec.Struct):
    create_time: Decimal | None = None


class _Link(msgspec.Struct):
    parent: str | None = None
    message: _Stamp | None = None


class _Conversation(msgspec.Struct):
    mapping: dict[str, msgspec.Raw]
    current_node: str | None = None
    conversation_id: str | None = None
    id: str | None = None
    title: str | None = None


class _Author(msgspec.Struct):
    role: str
    name: str | None = None


class _Thought(msgspec.Struct):
    summary: str | None = None
    content: str | None = None


class _Part(msgspec.Struct):
    text: str | None = None


class _Content(msgspec.Struct):
    content_type: str = ""
    parts: list[str | _Part | None] | None = None
    text: str | None = None
    title: str | None = None
    url: str | None = None
    result: str | None = None
    name: str | None = None
    thoughts: list[_Thought] | None = None
    user_profile: str | None = None
    user_instructions: str | None = None
    model_set_context: str | None = None


class _Ran(msgspec.Struct):
    status: str | None = None


class _Metadata(msgspec.Struct):
    is_visually_hidden_from_conversation: bool | None = None
    is_user_system_message: bool | None = None
    aggregate_result: _Ran | None = None
    attachments: list[msgspec.Raw] | None = None


class _Message(msgspec.Struct):
    author: _Author
    id: str | None = None
    create_time: Decimal | None = None
    content: _Content | None = None
    metadata: _Metadata | None = None
    recipient: str | None = None


class _Node(msgspec.Struct):
    id: str | None = None
    message: _Message | None = None


_HEAD = msgspec.json.Decoder(_Head)
_LINK = msgspec.json.Decoder(_Link)
_CONVERSATION = msgspec.json.Decoder(_Conversation)
_NODE = msgspec.json.Decoder(_Node)


class ChatGptReader(DocumentReader):
    """Reads one conversation; see ``Reader``. ``records`` are the nodes of its tree, and ``index`` counts them as they stand."""

    harness = "chatgpt"

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._path: list[int] = []
        """Places in ``mapping`` of what the person saw, the first message first."""
        self._on_path: set[int] = set()
        self._ids: set[str] = set()
        self._called = ""
        """Id of the last call on the path, which the results that follow it belong to."""
        self._asked = PendingCall("", "", (), ())

    def messages(self, data: bytes) -> list[msgspec.Raw]:
        """The nodes as they stand in the document, the path through them, and the facts of the conversation."""
        conversation = _CONVERSATION.decode(data)
        self.facts = SessionFacts(
            self.harness, conversation.conversation_id or conversation.id or "", title=conversation.title or ""
        )
        self._path = _path(conversation)
        self._on_path = set(self._path)
        return list(conversation.mapping.values())

    def placed(self, found: Sequence[msgspec.Raw], record: RawRecord, *, exact: bool) -> Iterable[Message]:
        """The path in its order, then the alternates."""
        nodes = list(placed(found, record, exact=exact))
        yield from (nodes[place] for place in self._path)
        yield from (node for node in nodes if node.index not in self._on_path)

    def message(self, message: Message) -> Read:
        """By role; an assistant's message to a tool is a call, and what the tool says after it the call's result."""
        node = _NODE.decode(message.data)
        said = node.message
        if said is None:
            return Read("root", ())
        if message.index not in self._on_path:
            return Read("alternate", ())
        content = said.content or _Content()
        message.at = unix_instant(said.create_time)
        if attached := (said.metadata or _Metadata()).attachments:
            self.counts["attachment"] += len(attached)
        uid = self._uid(said.id or node.id or "", message.index)
        if said.author.role == "tool":
            events = self._result(message, uid, said, content)
        elif content.content_type in _NOT_SHOWN or said.author.role not in ("user", "assistant", "system"):
            return Read(content.content_type if content.content_type in _NOT_SHOWN else said.author.role, ())
        elif said.author.role == "assistant" and (said.recipient or "") not in _ALL:
            events = self._call(message, uid, said.recipient or "", self._text(content))
        elif content.thoughts is not None:
            events = self._thoughts(message, uid, content.thoughts)
        else:
            origin = _origin(said, content)
            events = self.texts(message, uid, self._text(content), EventKind.MESSAGE, origin)
        return Read(said.author.role if content.content_type in _SHOWN else content.content_type, events)

    def _uid(self, own: str, index: int) -> str:
        uid = own if own and own not in self._ids else f"{own}@{index}"
        self._ids.add(uid)
        return uid

    def _text(self, content: _Content) -> str:
        """All words of a message's content; pictures and sound are counted."""
        texts = [content.name, content.title, content.url, content.text, content.result]
        texts += (content.user_profile, content.user_instructions, content.model_set_context)
        for part in content.parts or ():
            if isinstance(part, _Part) and part.text is None:
                self.counts["image"] += 1
            else:
                texts.append(part.text if isinstance(part, _Part) else part)
        return "\n".join(text for text in texts if text)

    def _thoughts(self, message: Message, uid: str, thoughts: list[_Thought]) -> list[Event]:
        events = []
        for number, thought in enumerate(thoughts):
            text = "\n".join(filter(None, (thought.summary, thought.content)))
            events += self.texts(message, f"{uid}:thought:{number}", text, EventKind.THINKING, Origin.ASSISTANT)
        return events

    def _call(self, message: Message, uid: str, tool: str, text: str) -> list[Event]:
        pending = PendingCall(tool, "", (), ("own_tool",) if is_own_tool(tool) else ())
        self.calls[uid] = pending
        self._called, self._asked = uid, pending
        return [self.call(message, uid, text, uid, pending)]

    def _result(self, message: Message, uid: str, said: _Message, content: _Content) -> list[Event]:
        """What a tool said; it is the last call's result when it is that tool's, and may come in several messages."""
        tool = said.author.name or ""
        call_id = self._called if self._answers(tool) else ""
        self.calls.pop(call_id, None)
        own = is_own_tool(tool) or (call_id and is_own_tool(self._asked.tool))
        event = Event(uid, EventKind.TOOL_RESULT, Origin.TOOL, self._text(content), _NOWHERE)._replace(
            tool=tool, call_id=call_id, status=_status(said, content), flags=("own_tool",) if own else ()
        )
        return self.results(message, event)

    def _answers(self, tool: str) -> bool:
        """Whether ``tool`` is the one that was called last: ``browser`` answers what was sent to ``browser.search``."""
        called = self._asked.tool
        return bool(tool and called) and (
            called == tool or called.startswith(f"{tool}.") or tool.startswith(f"{called}.")
        )


def _path(conversation: _Conversation) -> list[int]:
    """Places of the nodes from the root to ``current_node``; without one, to the node that was written last."""
    names = list(conversation.mapping)
    places = {name: place for place, name in enumerate(names)}
    links = [_link(raw) for raw in conversation.mapping.values()]
    at = places.get(conversation.current_node or "")
    if at is None:
        parents = {link.parent for link in links}
        leaves = [place for place, name in enumerate(names) if name not in parents]
        at = max(leaves, key=lambda place: (_written(links[place]), place), default=None)
    path: dict[int, None] = {}
    while at is not None and at not in path:
        path[at] = None
        at = places.get(links[at].parent or "")
    return list(reversed(path))


def _link(raw: msgspec.Raw) -> _Link:
    try:
        return _LINK.decode(raw)
    except UNREADABLE:
        return _Link()


def _written(link: _Link) -> int:
    return (unix_instant(link.message.create_time) if link.message else None) or 0


def _origin(said: _Message, content: _Content) -> Origin:
    """Whose words a message's are: what is hidden on the person's role, or is no message of theirs, the client put there."""
    metadata = said.metadata or _Metadata()
    if said.author.role == "assistant":
        return Origin.ASSISTANT if content.content_type in _SHOWN else Origin.HARNESS
    hidden = metadata.is_visually_hidden_from_conversation or metadata.is_user_system_message
    typed = said.author.role == "user" and not hidden and content.content_type in _SHOWN
    return Origin.USER if typed else Origin.HARNESS


def _status(said: _Message, content: _Content) -> Status:
    """How a call ended, where it is stated: the interpreter's own field, and errors of the system (EVID.7)."""
    if content.content_type == "system_error":
        return Status.FAILED
    ran = ((said.metadata or _Metadata()).aggregate_result or _Ran()).status or ""
    if ran == "success":
        return Status.OK
    return Status.FAILED if ran.startswith(_FAILED) else Status.UNKNOWN


def _named(data: bytes) -> Named:
    try:
        head = _HEAD.decode(data)
    except UNREADABLE:
        return Named("", 0)
    return Named(head.conversation_id or head.id or "", 1000 * (unix_instant(head.update_time) or 0))


class ChatGpt:
    """A ``Gatherer``: each file of an export is a place of its own, with its conversations as members."""

    name = "chatgpt"
    framing = "gathered"

    def recognises(self, head: bytes, name: str) -> bool:
        """True when the first conversation has a tree of messages."""
        del name  # Both exports call their file conversations.json; the content says whose it is.
        keys = first_keys(head)
        return keys >= _KEYS and not keys.isdisjoint(_WITH_KEYS)

    def reader(self, name: str, calls: dict[str, PendingCall] | None = None) -> ChatGptReader:
        """A new reader; a document has no calls left open from before."""
        del calls
        return ChatGptReader(name)

    def anchor(self, path: str) -> str:
        """The file itself."""
        return path

    def gather(self, view: FileView, anchor: str) -> Iterator[Member]:
        """Its conversations, in the order of the file."""
        return conversations(view, anchor, _named)


CHATGPT = ChatGpt()
