"""What Codex writes around its tools: which command a call runs, which files it writes, and how its output says it ended.

Exit codes come from the words Codex itself puts before an output, and only for the tools that have such words; the same
words further down are what some program printed (EVID.7).
"""

from __future__ import annotations

import re
import shlex
from typing import NamedTuple

import msgspec

from tallystick.model.evidence import Status
from tallystick.transcripts.protocol import PendingCall
from tallystick.transcripts.texts import is_own_tool, runs_own_command

SHELL_TOOLS = frozenset({"shell", "shell_command", "local_shell", "container.exec", "exec_command", "unified_exec"})
_WITH_PREFIX = SHELL_TOOLS | {"apply_patch", "write_stdin"}

_PATCHED = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): ([^\r\n]+)", re.MULTILINE)
_EXIT_CODE = re.compile(r"Exit code: (-?\d{1,10})\nWall time: [^\n]{1,60}\n")
_EXITED = re.compile(
    r"(?:Chunk ID: [^\n]{1,80}\n)?(?:Wall time: [^\n]{1,60}\n)?Process exited with code (-?\d{1,10})(?:\n|\Z)"
)
_RUNNING = re.compile(
    r"(?:Chunk ID: [^\n]{1,80}\n)?(?:Wall time: [^\n]{1,60}\n)?Process running with session ID [^\n]{1,40}(?:\n|\Z)"
)
_ABORTED = re.compile(r"(?:Wall time: [^\n]{1,60}\n)?aborted by user(?: after [\d.]{1,20}s)?\s{0,8}\Z")
_REJECTED = (
    "exec command rejected by user",
    "patch rejected by user",
    "rejected by user",
    "user rejected MCP tool call",
)
_NOT_RUN = (
    "failed to parse function arguments",
    "tool call error: ",
    "unsupported call: ",
    "unsupported custom tool call: ",
)
_FAILED = (
    *_NOT_RUN,
    "apply_patch verification failed",
    "execution error: ",
    "exec_command failed",
    "failed in sandbox: ",
    "failed to spawn",
)
_CUT = re.compile(
    r"…\d{1,12} (?:tokens|chars|characters|bytes|lines) truncated…|\[\.\.\. omitted \d{1,12} of \d{1,12} lines"
)


class _ShellArguments(msgspec.Struct):
    command: str | list[str] = ""
    cmd: str = ""


class _Metadata(msgspec.Struct):
    exit_code: int


class _JsonOutput(msgspec.Struct, forbid_unknown_fields=True):
    output: str
    metadata: _Metadata


_SHELL_ARGUMENTS = msgspec.json.Decoder(_ShellArguments)
_JSON_OUTPUT = msgspec.json.Decoder(_JsonOutput)


class Ending(NamedTuple):
    """How a call ended by its output: the text to keep, and what Codex itself says of it."""

    text: str
    status: Status
    exit_code: int | None = None
    flags: tuple[str, ...] = ()


def joined(argv: str | list[str]) -> str:
    """One command line for a script or an argument list."""
    return argv if isinstance(argv, str) else shlex.join(argv)


def call(tool: str, text: str) -> PendingCall:
    """What is remembered of a function or custom call of ``tool`` whose arguments or input are ``text``."""
    if tool in SHELL_TOOLS:
        return shell_call(tool, _command(text))
    paths = patched_paths(text) if tool == "apply_patch" else ()
    return PendingCall(tool, "", paths, ("own_tool",) if is_own_tool(tool) else ())


def shell_call(tool: str, argv: str | list[str]) -> PendingCall:
    """What is remembered of a call that runs ``argv``."""
    script = argv if isinstance(argv, str) else " ".join(argv)
    paths = patched_paths(script) if "*** Begin Patch" in script else ()
    return PendingCall(tool, joined(argv), paths, ("own_tool",) if runs_own_command(script) else ())


def _command(arguments: str) -> str | list[str]:
    try:
        decoded = _SHELL_ARGUMENTS.decode(arguments)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return ""
    return decoded.command or decoded.cmd


def patched_paths(patch: str) -> tuple[str, ...]:
    """The files that a patch in Codex's own form adds, updates, deletes or moves to: as written, each once, in order."""
    return tuple(dict.fromkeys(path.strip() for path in _PATCHED.findall(patch)))


def ending(tool: str, output: str) -> Ending:
    """How a call of ``tool`` ended by ``output``; nothing is read as Codex's word for a tool that is not its own.

    ``tool`` is empty for an output without a call, whose status nobody can vouch for.
    """
    if not tool:
        return Ending(output, Status.UNKNOWN)
    if output.rstrip() in _REJECTED:
        return Ending(output, Status.REJECTED)
    if _ABORTED.match(output):
        return Ending(output, Status.UNKNOWN, None, ("interrupted",))
    if tool in _WITH_PREFIX:
        return _own_ending(output)
    if output.startswith(_NOT_RUN):
        return Ending(output, Status.FAILED)
    planned = tool == "update_plan" and output == "Plan updated"
    return Ending(output, Status.OK if planned else Status.UNKNOWN, None, _cut(output))


def _own_ending(output: str) -> Ending:
    if output.startswith('{"output":'):
        try:
            inner = _JSON_OUTPUT.decode(output)
        except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
            return Ending(output, Status.UNKNOWN, None, _cut(output))
        return _exited(inner.output, inner.metadata.exit_code)
    if found := _EXIT_CODE.match(output) or _EXITED.match(output):
        return _exited(output, int(found[1]))
    if _RUNNING.match(output):
        return Ending(output, Status.UNKNOWN, None, ("background", *_cut(output)))
    return Ending(output, Status.FAILED if output.startswith(_FAILED) else Status.UNKNOWN, None, _cut(output))


def _exited(text: str, code: int) -> Ending:
    return Ending(text, Status.FAILED if code else Status.OK, code, _cut(text))


def _cut(text: str) -> tuple[str, ...]:
    """Codex leaves its mark in the middle of what it cut; a program that prints such a mark only costs itself trust."""
    if ("truncated…" in text or "[... omitted" in text) and _CUT.search(text):
        return ("truncated",)
    return ()
