"""The shapes of what Cline and Roo Code keep of a task, and the tags and headers they put around words and results."""

from __future__ import annotations

import re
from typing import NamedTuple

import msgspec

from tallystick.model.evidence import Status

_UNREADABLE = (msgspec.DecodeError, RecursionError, UnicodeEncodeError)
PERSONS = frozenset({"task", "feedback", "user_message", "answer"})
"""Tags that the harness puts around what a person typed."""
_OPENS = re.compile(r"<(environment_details|task|feedback|user_message|answer)>")
_HEADER = re.compile(r"\[([a-z_]{2,40})(?= for |\])")
_HEADER_END = "] Result:"
_TOOLS = re.compile(
    r"^<(execute_command|read_file|write_to_file|replace_in_file|apply_diff|insert_content|search_and_replace|search_files"
    r"|list_files|list_code_definition_names|browser_action|use_mcp_tool|access_mcp_resource|ask_followup_question"
    r"|attempt_completion|new_task|switch_mode|plan_mode_respond|load_mcp_documentation|fetch_instructions|update_todo_list"
    r"|codebase_search|web_fetch|edit_file)>",
    re.MULTILINE,
)
_EXIT = re.compile(
    r"Command executed in terminal [^\n]{0,2000}?(?:\. Command execution was not successful, inspect the cause and adjust as"
    r" needed\.\n|\. )Exit code: (-?\d{1,10})\n"
)
_RUNNING = ("Command is still running", "Command executed in background")
_DENIED = "The user denied this operation"
_ERROR = "The tool execution failed with the following error:"
_SAVED = "successfully saved to"


class Document(msgspec.Struct):
    """A task as it is gathered from its folder."""

    task: str
    broken: list[str] = []
    """Files that are no JSON."""
    sent: msgspec.Raw = msgspec.Raw(b"null")
    shown: msgspec.Raw = msgspec.Raw(b"null")
    item: msgspec.Raw = msgspec.Raw(b"null")


class Item(msgspec.Struct):
    """What the harness's list of tasks says of one."""

    id: str | None = None
    parentTaskId: str | None = None  # noqa: N815
    workspace: str | None = None
    cwdOnTaskInitialization: str | None = None  # noqa: N815


class Output(msgspec.Struct):
    """A result of the newest form."""

    value: msgspec.Raw = msgspec.Raw(b'""')


class Inner(msgspec.Struct):
    """A block inside a result."""

    type: str = ""
    text: str | None = None


class Block(msgspec.Struct):
    """A block of a message; ``tool-call`` and ``tool-result`` are those of the newest form."""

    type: str
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    input: msgspec.Raw = msgspec.Raw(b"{}")
    tool_use_id: str | None = None
    content: str | list[Inner] | None = None
    is_error: bool | None = None
    toolCallId: str | None = None  # noqa: N815
    toolName: str | None = None  # noqa: N815
    output: Output | None = None


class Sent(msgspec.Struct):
    """A message that the model was sent or answered."""

    role: str = ""
    content: str | list[Block] | None = None
    ts: float | None = None
    isSummary: bool | None = None  # noqa: N815
    type: str = ""
    text: str | None = None


class _Envelope(msgspec.Struct):
    messages: list[msgspec.Raw]


class Shown(msgspec.Struct):
    """A message that the person was shown."""

    ts: float
    type: str = ""
    say: str | None = None
    ask: str | None = None
    text: str | None = None
    partial: bool | None = None
    images: list[msgspec.Raw] | None = None

    @property
    def kind(self) -> str:
        """What it says or asks."""
        return self.say or self.ask or ""


class Fields(msgspec.Struct):
    """Of a call, what is read of its arguments."""

    command: str | None = None
    path: str | None = None
    file_path: str | None = None


class Call(NamedTuple):
    """A call that was written as text."""

    name: str
    text: str
    fields: Fields


class Piece(NamedTuple):
    """A stretch of a text: inside a pair of tags, or between them."""

    tag: str
    text: str
    whole: str
    """With the tags."""


class Ending(NamedTuple):
    """How a call ended by its result."""

    status: Status
    exit_code: int | None = None
    flags: tuple[str, ...] = ()
    feedback: str = ""


class _Said(msgspec.Struct):
    status: str = ""
    feedback: str | None = None


class _Diff(msgspec.Struct):
    diff: str | None = None
    path: str | None = None


DOCUMENT = msgspec.json.Decoder(Document)
SENT = msgspec.json.Decoder(Sent)
SHOWN = msgspec.json.Decoder(Shown)
_SHOWN_LIST = msgspec.json.Decoder(list[msgspec.Raw] | None)
_SENT_LIST = msgspec.json.Decoder(list[msgspec.Raw] | _Envelope | None)
_ITEM = msgspec.json.Decoder(Item | None)
_FIELDS = msgspec.json.Decoder(Fields)
_SAID = msgspec.json.Decoder(_Said)
_DIFF = msgspec.json.Decoder(_Diff)


def sent(data: msgspec.Raw) -> list[msgspec.Raw]:
    """The messages that the model was sent, in either envelope. Raises ``msgspec.DecodeError``."""
    found = _SENT_LIST.decode(data)
    return found.messages if isinstance(found, _Envelope) else found or []


def shown(data: msgspec.Raw) -> list[msgspec.Raw]:
    """The messages that the person was shown. Raises ``msgspec.DecodeError``."""
    return _SHOWN_LIST.decode(data) or []


def item(data: msgspec.Raw) -> Item:
    """What is said of the task; nothing where it has another shape."""
    try:
        return _ITEM.decode(data) or Item()
    except _UNREADABLE:
        return Item()


def blocks(message: Sent) -> list[Block]:
    """The blocks of a message, however its content is written."""
    if message.type == "reasoning":
        return [Block("reasoning", text=message.text)]
    if isinstance(message.content, str):
        return [Block("text", text=message.content)]
    return message.content or []


def arguments(data: msgspec.Raw) -> str:
    """A call's arguments as compact JSON."""
    return msgspec.json.format(bytes(data), indent=-1).decode("utf-8", "replace")


def fields(text: str) -> Fields:
    """What is read of a call's arguments; nothing where they are no such object."""
    try:
        return _FIELDS.decode(text)
    except _UNREADABLE:
        return Fields()


def result_text(block: Block) -> str:
    """The text of a result block."""
    if block.output is not None:
        try:
            return msgspec.json.decode(block.output.value, type=str)
        except _UNREADABLE:
            return bytes(block.output.value).decode("utf-8", "replace")
    if isinstance(block.content, str) or block.content is None:
        return block.content or ""
    return "\n".join(inner.text for inner in block.content if inner.text is not None)


def header(text: str) -> tuple[str, str] | None:
    """The tool whose result a text announces, and what comes after; None where it announces none."""
    found = _HEADER.match(text)
    end = text.find(_HEADER_END) if found else -1
    return (found[1], text[end + len(_HEADER_END) :].removeprefix("\n")) if found and end >= 0 else None


def pieces(text: str) -> list[Piece]:
    """``text`` at the tags of the harness, in order; a tag that is not closed is text."""
    found: list[Piece] = []
    at = 0
    last = {tag: text.rfind(f"</{tag}>") for tag in ("environment_details", *sorted(PERSONS))} if "</" in text else {}
    for opened in _OPENS.finditer(text):
        tag = opened[1]
        if opened.start() < at or last.get(tag, -1) < opened.end():
            continue
        close = text.index(f"</{tag}>", opened.end())
        end = close + len(tag) + 3
        if opened.start() > at:
            between = text[at : opened.start()]
            found.append(Piece("", between, between))
        found.append(Piece(tag, text[opened.end() : close], text[opened.start() : end]))
        at = end
    if at < len(text):
        found.append(Piece("", text[at:], text[at:]))
    return found


def spoken(text: str) -> tuple[str, str, Call | None, str]:
    """Of an assistant's text: the thought it opens with, what it says, the call it makes, and what it says after."""
    thought, opened = "", "<thinking>"
    body = text.lstrip()
    if body.startswith(opened) and (end := body.find("</thinking>")) >= 0:
        thought, text = body[len(opened) : end].strip(), body[end + len("</thinking>") :].lstrip("\n")
    found = _TOOLS.search(text)
    if found is None:
        return thought, text, None, ""
    name = found[1]
    close = text.rfind(f"</{name}>")
    end = close + len(name) + 3 if close >= found.end() else len(text)
    inside = text[found.end() : close if close >= found.end() else len(text)]
    known = Fields(command=_field(inside, "command"), path=_field(inside, "path"))
    return thought, text[: found.start()].rstrip(), Call(name, text[found.start() : end], known), text[end:].strip()


def _field(text: str, name: str) -> str | None:
    start = text.find(f"<{name}>")
    end = text.rfind(f"</{name}>") if start >= 0 else -1
    return text[start + len(name) + 2 : end].strip() if end > start else None


def ending(tool: str, text: str, *, failed: bool) -> Ending:
    """How a call of ``tool`` ended, by what the harness itself puts first; an answer that it says nothing of is unknown."""
    if text.startswith('{"status":'):
        try:
            said = _SAID.decode(text)
        except _UNREADABLE:
            said = _Said()
        if said.status == "denied":
            return Ending(Status.REJECTED, feedback=said.feedback or "")
        if said.status == "error":
            return Ending(Status.FAILED)
        return Ending(Status.UNKNOWN, feedback=said.feedback or "")
    if text.startswith(_DENIED):
        return Ending(Status.REJECTED)
    if failed or text.startswith(_ERROR):
        return Ending(Status.FAILED)
    if tool == "execute_command":
        if found := _EXIT.match(text):
            return Ending(Status.FAILED if int(found[1]) else Status.OK, int(found[1]))
        return Ending(Status.UNKNOWN, None, ("background",) if text.startswith(_RUNNING) else ())
    written = text.startswith("The ") and _SAVED in text[:300]
    return Ending(Status.OK if written else Status.UNKNOWN)


def diff(text: str) -> str:
    """What a person changed in a proposed edit, as the harness shows it."""
    try:
        found = _DIFF.decode(text)
    except _UNREADABLE:
        return text
    return "\n".join(filter(None, (found.path, found.diff))) or text
