"""How a tool call of Claude Code ended, and the person's words that can stand inside its result (EVID.7).

The harness states a failure (``is_error``, a leading ``Exit code N``) and never a success; a refusal, an interruption and
a call sent to the background are neither. What a passing command printed is not read for a code.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import msgspec
from msgspec import Raw, Struct

from tallystick.model.evidence import Origin, Status
from tallystick.transcripts.claude_code_records import NO_JSON, decode_json

SHELL_TOOLS = frozenset({"Bash", "PowerShell"})
AGENT_TOOLS = frozenset({"Task", "Agent", "AgentOutputTool", "SendMessage"})
_SEARCH_TOOLS = frozenset({"Grep", "Glob", "LS", "Search"})
_FILE_TOOLS = frozenset({"Read", "Edit", "Write", "MultiEdit", "NotebookEdit", "TodoWrite"})
"""Their ``toolUseResult`` is a second copy of file content and says nothing of the ending."""


class Ending(NamedTuple):
    """How a call ended, what is missing from its result, and what a person said in it."""

    status: Status
    exit_code: int | None = None
    flags: tuple[str, ...] = ()
    origin: Origin = Origin.TOOL
    feedback: tuple[str, ...] = ()


class _Task(Struct, rename={"exit_code": "exitCode"}):
    task_type: str | None = None
    status: str | None = None
    exit_code: int | None = None


class _Extra(Struct, rename="camel"):
    """``toolUseResult``: the harness's own notes on a result, which the model did not see."""

    interrupted: bool | None = None
    background_task_id: str | None = None
    return_code_interpretation: str | None = None
    persisted_output_path: str | None = None
    truncated: bool | None = None
    is_async: bool | None = None
    status: str | None = None
    exit_code: int | None = None
    task: _Task | None = None
    answers: Raw = NO_JSON


_extra = msgspec.json.Decoder(_Extra)
_NO_EXTRA = _Extra()

_EXIT_CODE = re.compile(r"Exit code (\d{1,10})(?=\s|\Z)")
_REJECTED = (
    "The user doesn't want to proceed with this tool use.",
    "The user doesn't want to take this action right now.",
    "User rejected tool use",
    "Permission to use ",
    "Permission for this ",
    "Claude requested permissions to ",
    "This command requires approval",
    "Hook PreToolUse:",
    "PreToolUse:",
)
_HOOK_BLOCK = re.compile(r"\w{1,40} operation blocked by hook")
_CANCELLED = (
    "[Request interrupted by user",
    "<tool_use_error>Sibling tool call errored",
    "<tool_use_error>Cancelled:",
    "Cancelled:",
)
_ABORTED = "<error>Command was aborted before completion</error>"
_IN_BACKGROUND = ("Command running in background with ID:", "Async agent launched successfully")
_SAID = ("the user said:\n", "The user provided the following reason for the rejection:")
_HARNESS_SAID = "The user wants to clarify these questions."
_AFTER_FEEDBACK = "\n\nNote: The user's next message may contain"
_ANSWER = re.compile(r'"="([^"]*)"')
_NOTHING_FOUND = ("No matches found", "No files found", "Found 0 ", "0 matches")
_CUT_MARKS = ("characters truncated] ...", "lines truncated] ...", "\n(Results are truncated.")
_BARE_FEEDBACK_VERSION = re.compile(r"2\.0\.\d\Z")
_LOOKS_LIKE_AN_ERROR = re.compile(r"<|Error|E[A-Z]{3,}\b|[Cc]ommand |Exit |Shell |No |/|\S+: ")


def ending(text: str, tool: str, version: str, is_error: bool, extra: bytes | Raw) -> Ending:
    """What the result whose text is ``text`` says of its call. ``tool`` is empty where the call is not known."""
    notes = _NO_EXTRA if tool in _FILE_TOOLS else _notes(extra)
    origin = _origin(text, tool, notes)
    if is_error:
        return _not_ok(text, tool, version, origin)
    flags = _missing(text, tool, notes)
    if text.startswith(_CANCELLED[0]) or notes.interrupted or _ABORTED in text[-200:]:
        return Ending(Status.UNKNOWN, None, (*flags, "interrupted"), origin)
    if notes.background_task_id or notes.is_async or text.startswith(_IN_BACKGROUND):
        return Ending(Status.UNKNOWN, None, (*flags, "background"), origin)
    if tool in ("TaskOutput", "BashOutput"):
        return _of_background(notes, flags, origin)
    if _nothing_found(text, tool, notes):
        flags = (*flags, "negative_result")
    feedback = _answers(text, notes) if tool == "AskUserQuestion" else ()
    return Ending(Status.OK, None, flags, origin, feedback)


def _notes(extra: bytes | Raw) -> _Extra:
    if not extra or bytes(extra[:1] if isinstance(extra, bytes) else memoryview(extra)[:1]) != b"{":
        return _NO_EXTRA
    try:
        return _extra.decode(extra)
    except msgspec.DecodeError:
        return _NO_EXTRA


def _origin(text: str, tool: str, notes: _Extra) -> Origin:
    if tool in AGENT_TOOLS:
        return Origin.DELEGATED
    if tool == "TaskOutput":
        of_agent = notes.task is not None and notes.task.task_type == "local_agent"
        return Origin.DELEGATED if of_agent or "<task_type>local_agent<" in text[:400] else Origin.TOOL
    return Origin.TOOL


def _not_ok(text: str, tool: str, version: str, origin: Origin) -> Ending:
    if text.startswith(_CANCELLED):
        return Ending(Status.UNKNOWN, None, ("interrupted",), origin)
    if text.startswith(_REJECTED) or _HOOK_BLOCK.match(text):
        # The text of a failing MCP server is its own: it could put any words into a person's mouth.
        feedback = _said(text) if tool and not tool.startswith("mcp__") else ()
        return Ending(Status.REJECTED, None, (), origin, feedback)
    stated = _EXIT_CODE.match(text) if tool in SHELL_TOOLS or not tool else None
    if stated:
        return Ending(Status.FAILED, int(stated[1]), _missing(text, tool, _NO_EXTRA), origin)
    if _is_bare_feedback(text, tool, version):
        return Ending(Status.REJECTED, None, (), origin, (text,))
    return Ending(Status.FAILED, None, _missing(text, tool, _NO_EXTRA), origin)


def _of_background(notes: _Extra, flags: tuple[str, ...], origin: Origin) -> Ending:
    """A look at a background command: its code is a field of the harness's notes."""
    state = notes.task or notes
    if state.exit_code is not None:
        return Ending(Status.FAILED if state.exit_code else Status.OK, state.exit_code, flags, origin)
    if state.status == "failed":
        return Ending(Status.FAILED, None, flags, origin)
    if state.status == "completed":
        return Ending(Status.OK, None, flags, origin)
    return Ending(Status.UNKNOWN, None, (*flags, "background"), origin)


def _missing(text: str, tool: str, notes: _Extra) -> tuple[str, ...]:
    if notes.persisted_output_path or text.startswith("<persisted-output>"):
        return ("truncated", "persisted")
    if notes.truncated or (tool not in _FILE_TOOLS and any(mark in text for mark in _CUT_MARKS)):
        return ("truncated",)
    return ()


def _nothing_found(text: str, tool: str, notes: _Extra) -> bool:
    if notes.return_code_interpretation == "No matches found":
        return True
    return tool in _SEARCH_TOOLS and text.startswith(_NOTHING_FOUND)


def _said(text: str) -> tuple[str, ...]:
    """A person's words in the boilerplate of a refusal."""
    for opening in _SAID:
        at = text.find(opening)
        if at >= 0:
            words = text[at + len(opening) :]
            end = words.rfind(_AFTER_FEEDBACK)
            words = (words if end < 0 else words[:end]).strip()
            return (words,) if words and not words.startswith(_HARNESS_SAID) else ()
    return ()


def _is_bare_feedback(text: str, tool: str, version: str) -> bool:
    """Early 2.0 gave the person's words alone as the result of a refused command, whose failures begin ``Exit code``."""
    if tool not in SHELL_TOOLS or not _BARE_FEEDBACK_VERSION.match(version):
        return False
    return bool(text.strip()) and len(text) <= 2000 and not _LOOKS_LIKE_AN_ERROR.match(text)


def _answers(text: str, notes: _Extra) -> tuple[str, ...]:
    answers = decode_json(notes.answers)
    if not isinstance(answers, dict):
        return tuple(answer for answer in _ANSWER.findall(text) if answer.strip())
    found = (part for answer in answers.values() for part in (answer if isinstance(answer, list) else [answer]))
    return tuple(answer for answer in found if isinstance(answer, str) and answer.strip())
