"""The shapes of Gemini CLI's chats, and what its log of a chat comes to: the last writing of each message, at its first place.

What was rewound stands no longer; what a compressed history leaves out was said all the same (EVID.3, 5).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from tallystick.transcripts.documents import UNREADABLE
from tallystick.transcripts.protocol import RawRecord
from tallystick.transcripts.texts import type_name

_LINES_TRIED = 8


class Document(msgspec.Struct):
    """A session in its first form."""

    sessionId: str  # noqa: N815
    messages: list[msgspec.Raw]
    projectHash: str = ""  # noqa: N815
    summary: str | None = None
    directories: list[str] | None = None
    kind: str = ""


class Thought(msgspec.Struct):
    """A thought, as the client sums it up."""

    subject: str = ""
    description: str = ""


class FunctionCall(msgspec.Struct):
    """A call that stands in the content."""

    name: str
    id: str = ""
    args: msgspec.Raw = msgspec.Raw(b"{}")


class FunctionResponse(msgspec.Struct):
    """What a tool answered."""

    response: msgspec.Raw = msgspec.Raw(b"null")
    id: str = ""
    name: str = ""


class Part(msgspec.Struct):
    """A part of a content."""

    text: str | None = None
    thought: bool = False
    functionCall: FunctionCall | None = None  # noqa: N815
    functionResponse: FunctionResponse | None = None  # noqa: N815


class ToolCall(msgspec.Struct):
    """A call with its result."""

    name: str
    id: str = ""
    args: msgspec.Raw = msgspec.Raw(b"{}")
    result: msgspec.Raw = msgspec.Raw(b"null")
    status: str = ""
    timestamp: str = ""


Content = str | list[Part | str] | Part | None


class Message(msgspec.Struct):
    """A message, of either form."""

    type: str
    id: str = ""
    timestamp: str = ""
    content: Content = None
    displayContent: Content = None  # noqa: N815
    toolCalls: list[ToolCall] | None = None  # noqa: N815
    thoughts: list[Thought] | None = None


class Line(msgspec.Struct):
    """One object of a log: the session, a message, or what happens to those before it."""

    sessionId: str = ""  # noqa: N815
    id: str = ""
    type: str = ""
    set: msgspec.Raw = msgspec.field(default=msgspec.Raw(), name="$set")
    rewind_to: str | None = msgspec.field(default=None, name="$rewindTo")


class Session(msgspec.Struct):
    """What a log says of its session, at its beginning and in each ``$set``."""

    sessionId: str | None = None  # noqa: N815
    kind: str | None = None
    summary: str | None = None
    directories: list[str] | None = None
    messages: list[msgspec.Raw] | None = None


class Id(msgspec.Struct):
    """What tells messages apart."""

    id: str = ""


class Arguments(msgspec.Struct):
    """Of a call, what is read of its arguments."""

    command: str = ""
    file_path: str = ""


class ResultPart(msgspec.Struct):
    """A part of a call's result."""

    functionResponse: FunctionResponse | None = None  # noqa: N815
    text: str | None = None
    inlineData: msgspec.Raw = msgspec.Raw(b"null")  # noqa: N815


class Response(msgspec.Struct):
    """Where the answer of a tool stands."""

    output: str | None = None
    error: str | None = None


class Written(NamedTuple):
    """A message as a log has it last."""

    line: RawRecord
    data: bytes


DOCUMENT = msgspec.json.Decoder(Document)
LINE = msgspec.json.Decoder(Line)
SESSION = msgspec.json.Decoder(Session)
ID = msgspec.json.Decoder(Id)
MESSAGE = msgspec.json.Decoder(Message)
ARGUMENTS = msgspec.json.Decoder(Arguments)
RESULT = msgspec.json.Decoder(list[ResultPart] | ResultPart | str | None)
RESPONSE = msgspec.json.Decoder(Response)


class Log:
    """What a log comes to: the messages that stand at its end, and what became of each line."""

    def __init__(self) -> None:
        self.shown: dict[str, Written] = {}
        """By id, in the order in which they first came."""
        self.gone: list[Written] = []
        """Messages that were rewound, as they were last."""
        self.kinds: dict[int, str] = {}
        """Of each line, the type it is counted under where it has no events."""
        self.unread: dict[int, str] = {}
        self.counts: Counter[str] = Counter()
        self._copies: dict[str, str] = {}
        """Ids that a compressed history gives to messages that stand above: the new one to the first one."""
        self._texts: dict[tuple[str, str], str] = {}
        self._unnamed: list[str] = []
        """Ids of messages whose text is not among ``_texts`` yet."""

    def take(self, line: RawRecord, data: bytes) -> Session | None:
        """One object of the log, in order; what it says of the session.

        Raises:
            msgspec.DecodeError: it has another shape than this harness writes.
        """
        self.kinds.setdefault(line.line, "unnamed")
        told = LINE.decode(data)
        self.kinds[line.line] = type_name(told.type)
        if told.rewind_to is not None:
            self.kinds[line.line] = "rewind"
            self._rewind(told.rewind_to)
            return None
        if told.id:
            self.kinds[line.line] = type_name(told.type)
            self._write(self._copies.get(told.id, told.id), Written(line, data))
            return None
        change: bytes = told.set
        if change or told.sessionId:
            self.kinds[line.line] = "set" if change else "session"
            session = SESSION.decode(change or data)
            for raw in session.messages or ():
                self._context(line, bytes(raw))
            return session
        return None

    def _write(self, uid: str, written: Written) -> None:
        if uid in self.shown:
            self.kinds[self.shown[uid].line.line] = "superseded"
        self.shown[uid] = written
        self._unnamed.append(uid)

    def _rewind(self, uid: str) -> None:
        """Take back a message and all after it; all of them where there is none of that id, as the client does."""
        uid = self._copies.get(uid, uid)
        known = uid in self.shown
        gone: list[Written] = []
        while self.shown:
            last, written = self.shown.popitem()
            self.kinds[written.line.line] = "rewound"
            gone.append(written)
            if known and last == uid:
                break
        self.counts.update({"rewound": len(gone)} if gone else {})
        self.gone += reversed(gone)

    def _context(self, line: RawRecord, data: bytes) -> None:
        """A message of the history as the model has it from now on: new, or one that stands above, then a copy.

        What it leaves out was said all the same.
        """
        uid = ID.decode(data).id
        if not uid or uid in self.shown or uid in self._copies:
            self.counts["block:copied"] += 1
            return
        for each in self._unnamed:
            if each in self.shown:
                self._texts.setdefault(said(self.shown[each].data), each)
        self._unnamed = []
        key = said(data)
        first = self._texts.get(key)
        if key[1] and first in self.shown:
            self._copies[uid] = first
            self.counts["block:copied"] += 1
        else:
            self._write(uid, Written(line, data))


def said(data: bytes) -> tuple[str, str]:
    """Type and text of a message; both empty where it is none."""
    try:
        decoded = MESSAGE.decode(data)
    except UNREADABLE:
        return "", ""
    return decoded.type, "\n".join(texts(decoded.content))


def parts(content: Content) -> Sequence[Part]:
    """A content as parts, however it is written."""
    if content is None:
        return ()
    found = content if isinstance(content, list) else [content]
    return [Part(part) if isinstance(part, str) else part for part in found]


def texts(content: Content, *, thoughts: bool = False) -> list[str]:
    """The texts of the parts that are, or are not, thoughts."""
    return [part.text for part in parts(content) if part.text is not None and part.thought is thoughts]


def images(content: Content) -> int:
    """Parts that are neither text nor of a tool."""
    return sum(
        part.text is None and part.functionCall is None and part.functionResponse is None for part in parts(content)
    )


def is_log(data: bytes) -> bool:
    """Whether one of the first lines is an object by itself, and not the whole session."""
    lines = data.lstrip(b"\xef\xbb\xbf").split(b"\n", _LINES_TRIED)[:_LINES_TRIED]
    return any(is_entry(line) for line in lines)


def is_entry(line: bytes) -> bool:
    """Whether a line is an object by itself, and not a session in its first form."""
    try:
        LINE.decode(line)
    except UNREADABLE:
        return False
    try:
        return not DOCUMENT.decode(line).messages
    except UNREADABLE:
        return True
