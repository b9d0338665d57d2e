"""The events of OpenHands before its agent SDK: actions and observations, joined by the number of what caused them."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from tallystick.model.evidence import Origin, Status

_SILENT = frozenset(
    {"change_agent_state", "recall", "null", "condensation_request", "agent_state_changed", "start", "stop"}
)
_SPOKEN = frozenset({"message", "system", "condensation", "finish"})
_WRITES = frozenset({"write", "edit"})
_STATED = frozenset({"read", "write", "edit", "think", "task_tracking"})
"""Observations that come only where it went well; what went wrong is an ``error``."""


class Arguments(msgspec.Struct):
    """``args`` of an action, as far as they are read."""

    content: str | None = None
    thought: str | None = None
    final_thought: str | None = None
    summary: str | None = None
    command: str | None = None
    is_input: bool | None = None
    path: str | None = None
    name: str | None = None


class Metadata(msgspec.Struct):
    """What the shell said of itself after a command."""

    exit_code: int | None = None
    working_dir: str | None = None


class Extras(msgspec.Struct):
    """``extras`` of an observation, as far as they are read."""

    exit_code: int | None = None
    metadata: Metadata | None = None


class CallMetadata(msgspec.Struct):
    """Which tool call of the model an action or observation stands for."""

    function_name: str | None = None
    tool_call_id: str | None = None


class Event(msgspec.Struct):
    """An action or an observation."""

    id: int = -1
    timestamp: str | None = None
    source: str | None = None
    action: str | None = None
    observation: str | None = None
    args: msgspec.Raw = msgspec.Raw(b"{}")
    content: str | None = None
    extras: msgspec.Raw = msgspec.Raw(b"null")
    cause: int | None = None
    tool_call_metadata: CallMetadata | None = None


class Action(NamedTuple):
    """What an action is: words, a call, or both; or nothing."""

    thought: str
    said: str
    is_summary: bool
    tool: str
    """Empty where nothing is called."""
    command: str
    paths: tuple[str, ...]


class Ending(NamedTuple):
    """How the call of an observation ended."""

    status: Status
    exit_code: int | None = None
    flags: tuple[str, ...] = ()
    origin: Origin = Origin.TOOL


EVENT = msgspec.json.Decoder(Event)
_ARGUMENTS = msgspec.json.Decoder(Arguments)
_EXTRAS = msgspec.json.Decoder(Extras | None)
_UNREADABLE = (msgspec.DecodeError, RecursionError)


def action(event: Event) -> Action:
    """What an action says and calls."""
    kind = event.action or ""
    try:
        args = _ARGUMENTS.decode(event.args)
    except _UNREADABLE:
        args = Arguments()
    called = event.tool_call_metadata or CallMetadata()
    said = args.content or "" if kind in ("message", "system") else ""
    if kind == "finish":
        said = args.final_thought or ""
    if kind == "condensation":
        said = args.summary or ""
    tool = "" if kind in _SILENT | _SPOKEN else called.function_name or args.name or kind
    command = args.command or "" if kind == "run" and not args.is_input else ""
    paths = (args.path,) if args.path and kind in _WRITES else ()
    return Action(args.thought or "", said, kind == "condensation", tool, command, paths)


def is_result(event: Event) -> bool:
    """Whether an observation answers an action."""
    return event.observation not in _SILENT and (event.cause is not None or event.observation == "run")


def ending(event: Event) -> Ending:
    """How an observation says that its call ended; -1 is a command that is still running."""
    kind = event.observation or ""
    if kind == "user_rejected":
        return Ending(Status.REJECTED)
    if kind == "error":
        return Ending(Status.FAILED)
    if kind == "delegate":
        return Ending(Status.UNKNOWN, origin=Origin.DELEGATED)
    if kind != "run":
        return Ending(Status.OK if kind in _STATED else Status.UNKNOWN)
    extras = _extras(event.extras)
    code = extras.metadata.exit_code if extras.metadata else None
    return run_ending(extras.exit_code if code is None else code)


def run_ending(code: int | None) -> Ending:
    """How a command ended by the exit code of its observation."""
    if code is None:
        return Ending(Status.UNKNOWN)
    if code == -1:
        return Ending(Status.UNKNOWN, None, ("background",))
    return Ending(Status.FAILED if code else Status.OK, code)


def working_dir(event: Event) -> str:
    """The folder in which a command ran, where its observation says so."""
    extras = _extras(event.extras)
    return (extras.metadata.working_dir or "") if extras.metadata else ""


def _extras(raw: msgspec.Raw) -> Extras:
    try:
        return _EXTRAS.decode(raw) or Extras()
    except _UNREADABLE:
        return Extras()
