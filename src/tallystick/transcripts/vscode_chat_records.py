"""The shapes of VS Code's chats, and what a log of changes to one comes to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

_UNREADABLE = (msgspec.DecodeError, RecursionError)
BEGINS_LOG = re.compile(rb'\{\s{0,4}"kind"\s{0,4}:\s{0,4}0\s{0,4},\s{0,4}"v"\s{0,4}:\s{0,4}\{')
_LOG_LINE = re.compile(rb'\{\s{0,4}"kind"\s{0,4}:\s{0,4}[0-3]\s{0,4},\s{0,4}"(?:v|k)"')
_LINES_TRIED = 8
_CHANGES = ("initial", "set", "push", "delete")
_SUFFIX = "__vscode"
"""Parts the id of a call from what the editor adds to it."""


class Window(msgspec.Struct):
    """``workspace.json`` of a window."""

    folder: str | None = None


class Session(msgspec.Struct):
    """A session."""

    requests: list[msgspec.Raw]
    sessionId: str | None = None  # noqa: N815
    customTitle: str | None = None  # noqa: N815
    workingDirectory: str | None = None  # noqa: N815


class Asked(msgspec.Struct):
    """What was typed."""

    text: str = ""


class Variables(msgspec.Struct):
    """What was attached."""

    variables: list[msgspec.Raw] | None = None


class Markdown(msgspec.Struct):
    """A text with its marks."""

    value: str | None = None


class Reference(msgspec.Struct):
    """A file or symbol that a text names."""

    name: str | None = None
    fsPath: str | None = None  # noqa: N815
    path: str | None = None


class CommandLine(msgspec.Struct):
    """What a terminal ran, and as what it was offered."""

    original: str | None = None
    toolEdited: str | None = None  # noqa: N815
    userEdited: str | None = None  # noqa: N815


class State(msgspec.Struct):
    """How a terminal's command ended."""

    exitCode: int | None = None  # noqa: N815


class Printed(msgspec.Struct):
    """What a terminal printed."""

    text: str = ""


class Specific(msgspec.Struct):
    """What is kept of a tool of the editor's own."""

    kind: str = ""
    commandLine: CommandLine | None = None  # noqa: N815
    command: str | None = None
    terminalCommandState: State | None = None  # noqa: N815
    terminalCommandOutput: Printed | None = None  # noqa: N815


class Output(msgspec.Struct):
    """A piece of what a tool answered."""

    value: str | None = None


class Details(msgspec.Struct):
    """What a tool was given and answered."""

    input: str | None = None
    output: list[Output] | None = None
    isError: bool | None = None  # noqa: N815


class Confirmed(msgspec.Struct):
    """Why a tool was run, or not."""

    type: int | None = None


_Text = str | Markdown | None


class Part(msgspec.Struct):
    """A part of an answer; one without a kind is its text."""

    kind: str = ""
    value: str | list[str] | None = None
    content: _Text = None
    inlineReference: msgspec.Raw = msgspec.Raw(b"null")  # noqa: N815
    toolId: str | None = None  # noqa: N815
    toolCallId: str | None = None  # noqa: N815
    invocationMessage: _Text = None  # noqa: N815
    pastTenseMessage: _Text = None  # noqa: N815
    isComplete: bool | None = None  # noqa: N815
    isConfirmed: bool | Confirmed | None = None  # noqa: N815
    toolSpecificData: Specific | None = None  # noqa: N815
    resultDetails: Details | list[msgspec.Raw] | None = None  # noqa: N815
    subAgentInvocationId: str | None = None  # noqa: N815


class RoundCall(msgspec.Struct):
    """A call as the model made it."""

    id: str = ""
    arguments: str = ""


class Round(msgspec.Struct):
    """The calls of one answer of the model."""

    toolCalls: list[RoundCall] | None = None  # noqa: N815


class RoundResult(msgspec.Struct):
    """What the model was given for a call."""

    content: list[msgspec.Raw] | None = None


class Metadata(msgspec.Struct):
    """What Copilot keeps of a request."""

    toolCallRounds: list[Round] | None = None  # noqa: N815
    toolCallResults: dict[str, RoundResult] | None = None  # noqa: N815


class Failure(msgspec.Struct):
    """Why a request failed."""

    message: str = ""


class Result(msgspec.Struct):
    """What came of a request, beside the answer."""

    errorDetails: Failure | None = None  # noqa: N815
    metadata: msgspec.Raw = msgspec.Raw(b"null")


class ModelState(msgspec.Struct):
    """When an answer was complete."""

    completedAt: float | None = None  # noqa: N815


class Request(msgspec.Struct):
    """A request with its answer."""

    message: str | Asked
    requestId: str | None = None  # noqa: N815
    timestamp: float | None = None
    variableData: Variables | None = None  # noqa: N815
    response: list[Part] | None = None
    responseTimestamp: float | None = None  # noqa: N815
    modelState: ModelState | None = None  # noqa: N815
    result: Result | None = None
    isSystemInitiated: bool | None = None  # noqa: N815
    confirmation: str | None = None
    shouldBeRemovedOnSend: Any = None  # noqa: N815


class Rounds(NamedTuple):
    """By the id of a call, what the model asked and was answered."""

    arguments: dict[str, str]
    results: dict[str, str]


class _Change(msgspec.Struct):
    kind: int
    k: list[str | int] = []
    v: Any = msgspec.UNSET
    i: int | None = None


SESSION = msgspec.json.Decoder(Session)
REQUEST = msgspec.json.Decoder(Request)
_CHANGE = msgspec.json.Decoder(_Change)
_METADATA = msgspec.json.Decoder(Metadata | None)
_REFERENCE = msgspec.json.Decoder(Reference)
_OUTPUT = msgspec.json.Decoder(Output)


def is_log(data: bytes) -> bool:
    """Whether a session is kept as a log: one of its first lines is a change."""
    lines = data.lstrip(b"\xef\xbb\xbf \t\r\n").split(b"\n", _LINES_TRIED)[:_LINES_TRIED]
    return any(_LOG_LINE.match(line) for line in lines)


class Log:
    """What a log of changes comes to, in the order in which they were made."""

    def __init__(self) -> None:
        self.state: Any = None

    def take(self, data: bytes) -> str:
        """Make one change; the answer is its kind.

        Raises:
            msgspec.DecodeError: it is no change, or its place is not there.
        """
        change = _CHANGE.decode(data)
        if not 0 <= change.kind < len(_CHANGES):
            raise msgspec.ValidationError("unknown kind")
        if change.kind == 0:
            self.state = None if change.v is msgspec.UNSET else change.v
        elif change.k:
            self._change(change, self._at(change.k[:-1]), change.k[-1])
        else:
            raise msgspec.ValidationError("no place")
        return _CHANGES[change.kind]

    def _at(self, path: Sequence[str | int]) -> Any:
        found = self.state
        for key in path:
            found = _inside(found, key)
        return found

    @staticmethod
    def _change(change: _Change, holder: Any, key: str | int) -> None:
        if change.kind == 2:
            _push(holder, key, change)
        elif isinstance(holder, dict) and isinstance(key, str):
            if change.kind == 3 or change.v is msgspec.UNSET:
                holder.pop(key, None)
            else:
                holder[key] = change.v
        elif isinstance(holder, list) and isinstance(key, int) and 0 <= key <= len(holder):
            value = None if change.kind == 3 or change.v is msgspec.UNSET else change.v
            holder[key : key + 1] = [value]
        else:
            raise msgspec.ValidationError("no such place")


def _push(holder: Any, key: str | int, change: _Change) -> None:
    """Add to a list, after cutting it off where the change says so; one that is not there yet begins empty."""
    if isinstance(holder, dict) and isinstance(key, str):
        holder.setdefault(key, [])
    found = _inside(holder, key)
    added = [] if change.v is msgspec.UNSET else change.v
    if not isinstance(found, list) or not isinstance(added, list):
        raise msgspec.ValidationError("no list")
    if change.i is not None:
        if not 0 <= change.i <= len(found):
            raise msgspec.ValidationError("cut off beyond its end")
        del found[change.i :]
    found += added


def _inside(holder: Any, key: str | int) -> Any:
    if isinstance(holder, dict) and isinstance(key, str) and key in holder:
        return holder[key]
    if isinstance(holder, list) and isinstance(key, int) and 0 <= key < len(holder):
        return holder[key]
    raise msgspec.ValidationError("no such place")


def text(value: _Text) -> str:
    """A text with or without its marks."""
    return (value.value or "" if isinstance(value, Markdown) else value) or ""


def words(part: Part) -> str | None:
    """What a part adds to the answer's text; None where it is none."""
    if part.kind == "" and isinstance(part.value, str):
        return part.value
    if part.kind == "markdownContent":
        return text(part.content) or (part.value if isinstance(part.value, str) else "")
    if part.kind == "inlineReference":
        try:
            found = _REFERENCE.decode(part.inlineReference)
        except _UNREADABLE:
            return ""
        return found.name or (found.fsPath or found.path or "").replace("\\", "/").rpartition("/")[2]
    return None


def undone(request: Request) -> bool:
    """Whether the person took the request back, all of it: with a mark in it, they kept what stands before."""
    mark = request.shouldBeRemovedOnSend
    return mark not in (None, False) and not (isinstance(mark, dict) and "afterUndoStop" in mark)


def command(specific: Specific) -> str:
    """The command that a terminal ran."""
    if specific.kind != "terminal":
        return ""
    line = specific.commandLine or CommandLine()
    return line.userEdited or line.toolEdited or line.original or specific.command or ""


def outputs(details: Details) -> str:
    """What a tool answered, as the editor keeps it."""
    return "\n".join(each.value for each in details.output or () if each.value is not None)


def rounds(request: Request) -> Rounds:
    """What Copilot keeps of the calls of a request; nothing where it has another shape."""
    found = Rounds({}, {})
    try:
        metadata = (_METADATA.decode(request.result.metadata) if request.result else None) or Metadata()
    except _UNREADABLE:
        return found
    for each in metadata.toolCallRounds or ():
        for call in each.toolCalls or ():
            found.arguments[call.id.partition(_SUFFIX)[0]] = call.arguments
    for call_id, result in (metadata.toolCallResults or {}).items():
        pieces = []
        for raw in result.content or ():
            try:
                pieces.append(_OUTPUT.decode(raw).value or "")
            except _UNREADABLE:
                continue
        found.results[call_id.partition(_SUFFIX)[0]] = "\n".join(filter(None, pieces))
    return found
