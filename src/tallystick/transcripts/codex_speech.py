"""Whose words stand in a text of Codex's user role: a person's, or what the client wrote around them (EVID.6)."""

from __future__ import annotations

from typing import NamedTuple

HARNESS_STARTS = (
    "# AGENTS.md instructions for",
    "<environment_context>",
    "<user_instructions>",
    "<INSTRUCTIONS>",
    "<skill>",
    "<turn_aborted>",
    "<goal_context>",
    "<codex_internal_context>",
    "<user_shell_command>",
    "<subagent_notification>",
    "Warning: apply_patch was requested via",
    "Another language model started to solve this problem",
)
"""An item on the user role that begins so is the client's to its end."""
_IDE_CONTEXT = "# Context from my IDE setup:"
_REQUEST = "\n## My request for Codex:\n"


class TurnPart(NamedTuple):
    """A stretch of a turn."""

    text: str
    typed: bool
    """Whether a person typed it; else the client wrote it."""
    flags: tuple[str, ...] = ()


def turn_parts(text: str) -> list[TurnPart]:
    """A person's turn without what the client wrapped around it, and without a prompt file that it stands for."""
    if text.startswith("\n"):
        # The client trims what is typed; only the body of a prompt file begins with the line its header left.
        return [TurnPart(text, typed=False, flags=("expanded",))]
    if text.startswith(_IDE_CONTEXT) and (at := text.rfind(_REQUEST)) >= 0:
        # The last heading: a selection pasted into the context may hold one of its own.
        at += len(_REQUEST)
        return [TurnPart(text[:at], typed=False), TurnPart(text[at:], typed=True)]
    return [TurnPart(text, typed=True)]
