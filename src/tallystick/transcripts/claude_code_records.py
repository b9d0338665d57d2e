"""The fields of a Claude Code record that matter here, and how a physical line becomes such records whatever its state.

A line is tried as it is (about 1 GB/s); only one that does not fit costs more: odd shapes are cleaned, broken characters
replaced, glued objects taken apart. Every step is linear in the line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw, Struct

from tallystick.transcripts.lines import BLANK, objects

_MOST_GLUED = 4096
"""Objects read from one line; a line of more is no accident of two writers, and its rest is one lost piece."""
NO_JSON = Raw()
"""A field that is not there; ``Raw | None`` would not decode."""


class Inner(Struct, gc=False):
    """A block inside a tool result."""

    type: str = ""
    text: str | None = None


class Block(Struct, gc=False):
    """One content block of a message."""

    type: str = ""
    text: str | None = None
    thinking: str | None = None
    signature: Raw = NO_JSON
    id: str | None = None
    name: str | None = None
    input: Raw = NO_JSON
    tool_use_id: str | None = None
    content: str | list[Inner] | None = None
    is_error: bool | None = None


class Message(Struct, gc=False):
    """A model's or a person's message: a string, or a list of blocks."""

    model: str | None = None
    content: str | list[Block] | None = None


class Record(Struct, rename="camel"):
    """One JSON object of a transcript; what is not named here is skipped."""

    type: str = ""
    subtype: str | None = None
    operation: str | None = None
    uuid: str | None = None
    parent_uuid: str | None = None
    timestamp: str | None = None
    session_id: str | None = None
    agent_id: str | None = None
    cwd: str | None = None
    git_branch: str | None = None
    version: str | None = None
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    is_api_error_message: bool | None = None
    plan_content: str | None = None
    summary: str | None = None
    leaf_uuid: str | None = None
    custom_title: str | None = None
    ai_title: str | None = None
    message: Message | None = None
    content: Raw = NO_JSON
    attachment: Raw = NO_JSON
    tool_use_result: Raw = NO_JSON


class Piece(NamedTuple):
    """One record and where it stands in its line."""

    record: Record
    start: int
    end: int


class Decoded(NamedTuple):
    """The records of one physical line, in order; ``problem`` says why there are none."""

    pieces: list[Piece]
    repaired: int = 0
    """Records in which characters that cannot be stored were replaced by U+FFFD."""
    lost: int = 0
    """Pieces of the line beside them that could not be read."""
    problem: str = ""


_typed = msgspec.json.Decoder(Record)
_untyped = msgspec.json.Decoder()


def decode_line(data: bytes) -> Decoded:
    """The records that stand on one line."""
    try:
        return Decoded([Piece(_typed.decode(data), 0, len(data))])
    except (msgspec.DecodeError, RecursionError):
        return _decode_with_care(data)


def _decode_with_care(data: bytes) -> Decoded:
    pieces: list[Piece] = []
    repaired = lost = at = 0
    problem = ""
    for start, end in objects(data):
        if len(pieces) == _MOST_GLUED:
            break
        lost += bool(data[at:start].strip(BLANK))
        at = end
        try:
            record, mended = _one(data[start:end])
        except (msgspec.DecodeError, RecursionError, NotAnObjectError) as error:
            problem = problem or _reason(error)
            lost += 1
            continue
        repaired += mended
        pieces.append(Piece(record, start, end))
    lost += bool(data[at:].strip(BLANK))
    if pieces:
        return Decoded(pieces, repaired, lost)
    return Decoded([], problem=problem or _why_nothing(data))


def _one(part: bytes) -> tuple[Record, bool]:
    """The record of one object, and whether characters had to be replaced. Raises what msgspec raises."""
    try:
        return _typed.decode(part), False
    except msgspec.ValidationError:
        return _fitted(_untyped.decode(part)), False
    except msgspec.DecodeError:
        mended = mend(part)
        if mended == part:
            raise
        try:
            return _typed.decode(mended), True
        except msgspec.ValidationError:
            return _fitted(_untyped.decode(mended)), True


def _why_nothing(data: bytes) -> str:
    if data.lstrip()[:1] in (b"{", b"["):
        return "not JSON: not closed"
    try:
        _untyped.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        return _reason(error)
    return "not an object"


def _reason(error: Exception) -> str:
    """msgspec's messages name places and types, and never quote the data."""
    if isinstance(error, RecursionError):
        return "not JSON: nested too deep"
    return str(error) if isinstance(error, NotAnObjectError) else f"not JSON: {str(error)[:100]}"


class NotAnObjectError(ValueError):
    """The JSON is sound and is not an object."""


# Inside JSON text: an escaped back-slash and a whole pair are kept, half a pair is not a character.
_ESCAPE = re.compile(
    r"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|([\x00-\x1f])"
)


def mend(data: bytes) -> bytes:
    """``data`` with invalid UTF-8, half surrogate pairs and bare control characters replaced by U+FFFD or a space."""
    text = data.decode("utf-8", "replace")
    return _ESCAPE.sub(_mended_escape, text).encode()


def _mended_escape(found: re.Match[str]) -> str:
    if found[1]:
        return "\ufffd"
    return " " if found[2] else found[0]


def decode_json(raw: bytes | Raw) -> Any:
    """The value of a field kept as ``Raw``, mended where it must be; None where it is absent or cannot be read."""
    if not raw:
        return None
    try:
        return _untyped.decode(raw)
    except msgspec.DecodeError:
        try:
            return _untyped.decode(mend(bytes(raw)))
        except msgspec.DecodeError:
            return None


_BOOLS = frozenset({"isSidechain", "isMeta", "isCompactSummary", "isApiErrorMessage", "is_error"})
_RAWS = frozenset({"content", "attachment", "toolUseResult", "input", "signature"})


def _fitted(value: Any) -> Record:
    """The record of an object some of whose fields have a shape of their own; those are left out or read as text."""
    if not isinstance(value, dict):
        raise NotAnObjectError("not an object")
    fields = _simple(value, Record.__struct_encode_fields__, raws=_RAWS)
    message = value.get("message")
    if isinstance(message, dict):
        fields["message"] = _simple(message, ("model",)) | {"content": _content(message.get("content"), Block)}
    return msgspec.json.decode(msgspec.json.encode(fields), type=Record)


def _simple(value: dict[Any, Any], names: Iterable[str], raws: frozenset[str] = frozenset()) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name in names:
        field = value.get(name)
        if name in raws:
            if field is not None:
                fields[name] = field
        elif isinstance(field, bool if name in _BOOLS else str):
            fields[name] = field
    return fields


def _content(content: Any, kind: type[Block | Inner]) -> Any:
    if isinstance(content, str) or content is None:
        return content
    blocks = content if isinstance(content, list) else [content]
    return [_block(block, kind) for block in blocks]


def _block(block: Any, kind: type[Block | Inner]) -> dict[str, Any]:
    if isinstance(block, str):
        return {"type": "text", "text": block}
    if not isinstance(block, dict):
        return {"type": "not-a-block"}
    fields = _simple(block, kind.__struct_encode_fields__, raws=frozenset({"input", "signature"}))
    if kind is Block and "content" in block:
        fields["content"] = _content(block["content"], Inner)
    return fields
