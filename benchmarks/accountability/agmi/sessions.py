"""Sessions of one turn in which a sentence stands in somebody's words, in the form in which Claude Code leaves them."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

from tallystick.model.evidence import Origin


def write_session(path: Path, text: str, whose: Origin) -> None:
    """A session in which ``text`` is a person's prompt, what the agent says, or what a page says that the agent fetched.

    Raises:
        KeyError: nobody else speaks in these sessions.
    """
    session = str(uuid.uuid4())
    turns = {
        Origin.USER: [_turn("user", text)],
        Origin.ASSISTANT: [_turn("user", _PROMPT), _turn("assistant", [{"type": "text", "text": text}])],
        Origin.TOOL: [
            _turn("user", _PROMPT),
            _turn("assistant", [{"type": "tool_use", "id": _CALL, "name": "WebFetch", "input": {"url": _PAGE}}]),
            _turn("user", [{"type": "tool_result", "tool_use_id": _CALL, "content": text, "is_error": False}]),
        ],
    }
    with path.open("w") as stream:
        for number, turn in enumerate(turns[whose]):
            stream.write(json.dumps({**_envelope(session, number), **turn}) + "\n")


_PROMPT = "Please look into it."
_CALL = "toolu_01"
_PAGE = "https://pages.example/notes"


def _turn(role: str, content: Any) -> dict[str, Any]:
    return {"type": role, "message": {"role": role, "content": content}}


def _envelope(session: str, number: int) -> dict[str, Any]:
    return {
        "parentUuid": None,
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/victim/project",
        "sessionId": session,
        "version": "2.1.42",
        "uuid": str(uuid.uuid4()),
        "timestamp": f"2026-11-01T09:{number:02}:00.000Z",
    }
