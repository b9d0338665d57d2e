"""The messages of GenAI spans in one form, however they were written: as attributes, as JSON in text, as events of old.

A text that the exporter cut off is read as far as it goes (``whole`` says whether it was cut).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from tallystick.transcripts.documents import UNREADABLE

_OPENS, _CLOSES = "{[", {"{": "}", "[": "]"}
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[{}\[\],]', re.DOTALL)
_CUT_ESCAPE = re.compile(r"\\(?:u[0-9A-Fa-f]{0,3})?\Z")
_ROLES = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
    "gen_ai.choice": "assistant",
}
_PROMPTS = {"gen_ai.content.prompt": "gen_ai.prompt", "gen_ai.content.completion": "gen_ai.completion"}
_BODIES = ("gen_ai.event.content", "body")
_PICTURES = frozenset({"blob", "file", "uri", "image", "image_url", "input_image", "input_audio"})


class Part(NamedTuple):
    """One thing that was said, called for or answered."""

    role: str
    kind: str
    """``text``, ``reasoning``, ``tool_call``, ``tool_call_response``, ``image`` or whatever else it calls itself."""
    text: str
    name: str = ""
    call_id: str = ""
    arguments: Any = None
    cut: bool = False
    """Whether the exporter cut it off."""


class Parsed(NamedTuple):
    """A value that may have been written as JSON in text."""

    value: Any
    whole: bool


def plain(value: Any) -> Any:
    """An OTLP value as Python has it; None for one of no known type. Raises ``RecursionError`` on one that is very deep."""
    if not isinstance(value, dict):
        return None
    if "arrayValue" in value:
        inner = value["arrayValue"]
        found = inner.get("values") if isinstance(inner, dict) else None
        return [plain(each) for each in found] if isinstance(found, list) else []
    if "kvlistValue" in value:
        inner = value["kvlistValue"]
        return attributes(inner.get("values") if isinstance(inner, dict) else None)
    if "intValue" in value:
        found = value["intValue"]
        return int(found) if isinstance(found, str) and re.fullmatch(r"-?\d{1,19}", found) else found
    return next((value[key] for key in ("stringValue", "boolValue", "doubleValue") if key in value), None)


def attributes(found: Any) -> dict[str, Any]:
    """Attributes by name, their values plain."""
    if not isinstance(found, list):
        return {}
    pairs = (each for each in found if isinstance(each, dict) and isinstance(each.get("key"), str))
    return {each["key"]: plain(each.get("value")) for each in pairs}


def parsed(value: Any) -> Parsed:
    """What a content attribute holds: itself, or where it is JSON in text, that; of a text cut off as much as is there.

    A text that is no JSON is itself.
    """
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{"):
        return Parsed(value, True)
    try:
        return Parsed(msgspec.json.decode(value.encode("utf-8", "replace")), True)
    except UNREADABLE:
        pass
    for closed in _closed(value):
        try:
            return Parsed(msgspec.json.decode(closed.encode("utf-8", "replace")), False)
        except UNREADABLE:
            continue
    return Parsed(value, True)


def _closed(text: str) -> Iterator[str]:
    """``text`` with what it leaves open closed: at its end, else after the last whole thing in it."""
    open_marks: list[str] = []
    last_whole = (0, "")
    in_string = False
    for token in _TOKEN.finditer(text):
        mark = text[token.start()]
        if mark == '"':
            in_string = token.end() == len(text) and (token.end() - token.start() < 2 or not _is_closed(token[0]))
        elif mark in _OPENS:
            open_marks.append(mark)
            last_whole = (token.end(), "".join(open_marks)) if len(open_marks) < 64 else last_whole
        elif mark == ",":
            last_whole = (token.start(), "".join(open_marks)) if len(open_marks) < 64 else last_whole
        elif open_marks:
            open_marks.pop()
            last_whole = (token.end(), "".join(open_marks)) if len(open_marks) < 64 else last_whole
    if len(open_marks) < 64:
        end = _CUT_ESCAPE.sub("", text) + '"' if in_string else text
        yield end + _closing("".join(open_marks))
    yield text[: last_whole[0]] + _closing(last_whole[1])


def _is_closed(string: str) -> bool:
    return string.endswith('"') and (len(string) - len(string[:-1].rstrip("\\")) - 1) % 2 == 0


def _closing(open_marks: str) -> str:
    return "".join(_CLOSES[mark] for mark in reversed(open_marks))


def parts(value: Any, role: str) -> Iterator[Part]:
    """The parts of a list of messages (or of one, or of parts alone) as attributes hold them; ``role`` where none is said."""
    found = parsed(value)
    listed = found.value if isinstance(found.value, list) else [found.value]
    for place, each in enumerate(listed, 1):
        said = list(_of_message(each, role))
        if not found.whole and place == len(listed):
            last = said.pop() if said else Part(role, "truncated", "")
            said.append(last._replace(cut=True))
        yield from said
    if not found.whole and not listed:
        yield Part(role, "truncated", "", cut=True)


def of_events(events: Iterable[tuple[str, Mapping[str, Any]]]) -> Iterator[Part]:
    """The parts of span events of the older forms, in order; ``events`` are names with attributes."""
    for name, told in events:
        if name in _PROMPTS:
            yield from parts(told.get(_PROMPTS[name]), "user" if name.endswith("prompt") else "assistant")
        elif name in _ROLES:
            body = next((told[key] for key in _BODIES if told.get(key) is not None), None)
            found = parsed(body)
            said = (
                {**told, **found.value}
                if isinstance(found.value, dict)
                else {**told, "content": found.value or told.get("content")}
            )
            for key in ("content", "message", "tool_calls"):
                said[key] = parsed(said.get(key)).value
            inner = said.get("message")
            said = {**said, **inner} if isinstance(inner, dict) else said
            if isinstance(inner, str) and not said.get("content"):
                said["content"] = inner
            last = list(_of_message({"role": _ROLES[name], **said}, _ROLES[name]))
            yield from (part._replace(cut=not found.whole and part is last[-1]) for part in last)


def _of_message(message: Any, role: str) -> Iterator[Part]:
    if isinstance(message, str):
        yield Part(role, "text", message)
    if not isinstance(message, dict):
        return
    role = message["role"] if isinstance(message.get("role"), str) else role
    listed = message.get("parts", message.get("content"))
    if listed is None and "type" in message:
        listed = [message]
    if role == "tool" and not isinstance(message.get("parts"), list):
        call_id = message.get("id") or message.get("tool_call_id")
        yield Part(
            role, "tool_call_response", json_text(listed), call_id=_word(call_id), name=_word(message.get("name"))
        )
        return
    for each in listed if isinstance(listed, list) else [listed]:
        if isinstance(each, str):
            yield Part(role, "text", each)
        elif isinstance(each, dict):
            yield _part(each, role)
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            inner = call.get("function")
            given = inner if isinstance(inner, dict) else call
            yield _call({**given, "id": call.get("id")}, role)


def _part(part: dict[str, Any], role: str) -> Part:
    kind = _word(part.get("type")) or "text"
    if kind == "tool_call":
        return _call(part, role)
    if kind == "tool_call_response":
        answer = part.get("response", part.get("result"))
        return Part(role, kind, json_text(answer), name=_word(part.get("name")), call_id=_word(part.get("id")))
    if kind in _PICTURES:
        return Part(role, "image", "")
    text = part.get("content", part.get("text"))
    return Part(role, kind, text if isinstance(text, str) else json_text(text) if text is not None else "")


def _call(part: dict[str, Any], role: str) -> Part:
    given = parsed(part.get("arguments")).value
    return Part(role, "tool_call", json_text(given), _word(part.get("name")), _word(part.get("id")), given)


def _word(value: Any) -> str:
    return value if isinstance(value, str) else ""


def json_text(value: Any) -> str:
    """A text as it is; anything else as JSON, and nothing as nothing."""
    if isinstance(value, str) or value is None:
        return value or ""
    return msgspec.json.encode(value).decode("utf-8", "replace")
