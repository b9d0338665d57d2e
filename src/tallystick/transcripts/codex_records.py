"""The shapes of Codex's records as far as they are read: a field that is not named here is skipped, not decoded.

Versions 0.40 to 0.94 from real files; fields of earlier and later versions from the harness's source.
"""

from __future__ import annotations

import msgspec

UNREADABLE = (msgspec.DecodeError, RecursionError)
"""What decoding raises for a record that is not what it says it is."""


class Line(msgspec.Struct):
    """One object of a rollout. Before 0.32 there is no ``payload`` and the object is the item itself."""

    timestamp: str | None = None
    type: str = ""
    payload: msgspec.Raw = msgspec.Raw()
    ordinal: int | None = None
    id: str | None = None
    record_type: str = ""


class Typed(msgspec.Struct):
    """What tells payloads apart."""

    type: str = ""


class Part(msgspec.Struct):
    """A content block."""

    type: str = ""
    text: str | None = None


class Message(msgspec.Struct):
    """``response_item/message``."""

    role: str
    content: list[Part] | str


class BetweenAgents(msgspec.Struct):
    """``response_item/agent_message``: what one agent wrote to another."""

    content: list[Part] | str


class Reasoning(msgspec.Struct):
    """``response_item/reasoning``; what is encrypted is never decoded."""

    summary: list[Part] = []
    content: list[Part] | None = None
    encrypted_content: msgspec.Raw = msgspec.Raw(b"null")


class Call(msgspec.Struct):
    """``function_call`` (``arguments`` is JSON in a string) and ``custom_tool_call`` (``input`` is free text)."""

    call_id: str
    name: str
    arguments: str = ""
    input: str = ""


class ShellAction(msgspec.Struct):
    """What a ``local_shell_call`` runs."""

    command: list[str] = []


class ShellCall(msgspec.Struct):
    """``local_shell_call``."""

    action: ShellAction
    call_id: str | None = None
    id: str | None = None


class WebSearch(msgspec.Struct):
    """``web_search_call``; its result is in no record."""

    action: msgspec.Raw = msgspec.Raw(b"{}")


class OutputObject(msgspec.Struct):
    """An output of builds that write it as an object."""

    content: str = ""


class Output(msgspec.Struct):
    """``function_call_output`` and ``custom_tool_call_output``."""

    call_id: str
    output: str | list[Part] | OutputObject


class Said(msgspec.Struct):
    """``user_message`` and ``agent_message``."""

    message: str = ""
    images: list[msgspec.Raw] | None = None
    local_images: list[msgspec.Raw] | None = None


class Item(msgspec.Struct):
    """The item of ``item_completed``, 0.147 and later."""

    type: str = ""
    content: list[Part] | str = ""


class ItemCompleted(msgspec.Struct):
    """``event_msg/item_completed``."""

    item: Item


class Compacted(msgspec.Struct):
    """``compacted``: a summary and the history once more."""

    message: str = ""
    replacement_history: msgspec.Raw = msgspec.Raw(b"null")


class Git(msgspec.Struct):
    """State of the repository at the start."""

    branch: str | None = None
    repository_url: str | None = None


class Spawn(msgspec.Struct):
    """Which thread started this one."""

    parent_thread_id: str | None = None


class Subagent(msgspec.Struct):
    """Kinds of sub-agent that carry more than a name."""

    thread_spawn: Spawn | None = None


class Source(msgspec.Struct):
    """``session_meta.source`` where it is an object."""

    subagent: Subagent | str | None = None


class HistoryBase(msgspec.Struct):
    """How much of a rollout is another one's history."""

    end_ordinal_exclusive: int | None = None


class SessionMeta(msgspec.Struct):
    """``session_meta``, and the bare first object before 0.32."""

    id: str = ""
    cwd: str | None = None
    cli_version: str | None = None
    git: Git | None = None
    source: Source | str | None = None
    forked_from_id: str | None = None
    parent_thread_id: str | None = None
    subagent_history_start_ordinal: int | None = None
    history_base: HistoryBase | None = None
    timestamp: str | None = None


LINE = msgspec.json.Decoder(Line)
TYPED = msgspec.json.Decoder(Typed)
MESSAGE = msgspec.json.Decoder(Message)
BETWEEN_AGENTS = msgspec.json.Decoder(BetweenAgents)
REASONING = msgspec.json.Decoder(Reasoning)
CALL = msgspec.json.Decoder(Call)
SHELL_CALL = msgspec.json.Decoder(ShellCall)
WEB_SEARCH = msgspec.json.Decoder(WebSearch)
OUTPUT = msgspec.json.Decoder(Output)
SAID = msgspec.json.Decoder(Said)
ITEM_COMPLETED = msgspec.json.Decoder(ItemCompleted)
COMPACTED = msgspec.json.Decoder(Compacted)
SESSION_META = msgspec.json.Decoder(SessionMeta)
