"""Small sessions in the formats of Claude Code and Codex, written to disk the way those harnesses write them.

A session is built step by step (``says``, ``answers``, ``runs`` …); each step is one or two records a minute apart. Ids
depend on the session's name and the step's number alone, so that building the same session again gives the same bytes,
and building a longer one gives a file that grew.
"""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
"""When a session begins unless it is told otherwise."""
CLOCK = "1775001600000000"
"""2026-04-01T00:00:00Z for ``$TALLY_CLOCK``: after every session that begins at ``START``."""


def session_id(name: str) -> str:
    """The native id of the session called ``name``."""
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, name))


class _Session:
    def __init__(self, name: str = "one", *, cwd: str = "/work/shop", start: datetime = START) -> None:
        self.id = session_id(name)
        self.cwd = cwd
        self.records: list[bytes] = []
        self._at = start
        self._calls = 0

    def _tick(self) -> str:
        self._at += timedelta(minutes=1)
        return self._at.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def _append(self, record: dict[str, Any]) -> None:
        self.records.append(json.dumps(record, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")

    def raw(self, data: bytes) -> Any:
        """Any bytes as the next record; a line end is added."""
        self.records.append(data + b"\n")
        return self

    def pause(self, **span: int) -> Any:
        """Let time pass before the next step."""
        self._at += timedelta(**span)
        return self

    @property
    def data(self) -> bytes:
        """The file's bytes so far."""
        return b"".join(self.records)

    def write(self, path: Path) -> Path:
        """Write the file; a folder is given the harness's own file name."""
        if path.is_dir():
            path = path / self.file_name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.data)
        return path

    @property
    def file_name(self) -> str:
        """What the harness would call the file."""
        return f"{self.id}.jsonl"


class ClaudeCode(_Session):
    """A session of Claude Code."""

    def record(self, kind: str, **fields: Any) -> ClaudeCode:
        """One record with the envelope that the harness puts around each."""
        number = len(self.records)
        self._append(
            {
                "parentUuid": str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{self.id}/{number - 1}")) if number else None,
                "isSidechain": False,
                "userType": "external",
                "cwd": self.cwd,
                "sessionId": self.id,
                "version": "2.1.42",
                "gitBranch": "main",
                "type": kind,
                "uuid": str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{self.id}/{number}")),
                "timestamp": self._tick(),
                **fields,
            }
        )
        return self

    def says(self, text: str) -> ClaudeCode:
        """The person speaks."""
        return self.record("user", message={"role": "user", "content": text})

    def answers(self, text: str) -> ClaudeCode:
        """The assistant speaks."""
        return self._assistant({"type": "text", "text": text})

    def runs(self, command: str, output: str, *, exit_code: int = 0) -> ClaudeCode:
        """The assistant runs a shell command, and its result comes back."""
        shown = output if not exit_code else f"Exit code {exit_code}\n{output}"
        extra: Any = {"stdout": output, "stderr": "", "interrupted": False} if not exit_code else f"Error: {shown}"
        return self.calls("Bash", {"command": command}, shown, failed=bool(exit_code), extra=extra)

    def edits(self, path: str, old: str, new: str) -> ClaudeCode:
        """The assistant edits a file."""
        given = {"file_path": path, "old_string": old, "new_string": new}
        return self.calls("Edit", given, f"The file {path} has been updated successfully.", extra={"filePath": path})

    def calls(
        self, tool: str, given: dict[str, Any], output: str, *, failed: bool = False, extra: Any = None
    ) -> ClaudeCode:
        """Any tool call with its result."""
        self._calls += 1
        call = f"toolu_{self.id[:8]}_{self._calls}"
        self._assistant({"type": "tool_use", "id": call, "name": tool, "input": given})
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": call, "content": output, "is_error": failed}
        more = {} if extra is None else {"toolUseResult": extra}
        return self.record("user", message={"role": "user", "content": [block]}, **more)

    def _assistant(self, block: dict[str, Any]) -> ClaudeCode:
        message = {"model": "claude-opus-4-6", "role": "assistant", "type": "message", "content": [block]}
        return self.record("assistant", message=message)


class Codex(_Session):
    """A session of Codex."""

    def __init__(self, name: str = "one", *, cwd: str = "/work/shop", start: datetime = START) -> None:
        super().__init__(name, cwd=cwd, start=start)
        meta = {
            "id": self.id,
            "timestamp": self._tick(),
            "cwd": cwd,
            "originator": "codex_cli_rs",
            "cli_version": "0.98.0",
        }
        self._append({"timestamp": self._tick(), "type": "session_meta", "payload": meta})

    @property
    def file_name(self) -> str:
        """``rollout-<time>-<id>.jsonl``."""
        return f"rollout-2026-03-02T09-00-00-{self.id}.jsonl"

    def item(self, **payload: Any) -> Codex:
        """One response item."""
        self._append({"timestamp": self._tick(), "type": "response_item", "payload": payload})
        return self

    def says(self, text: str) -> Codex:
        """The person speaks: an item for the model, and the event that says a person sent it."""
        self.item(type="message", role="user", content=[{"type": "input_text", "text": text}])
        self._append(
            {"timestamp": self._tick(), "type": "event_msg", "payload": {"type": "user_message", "message": text}}
        )
        return self

    def answers(self, text: str) -> Codex:
        """The assistant speaks."""
        return self.item(type="message", role="assistant", content=[{"type": "output_text", "text": text}])

    def runs(self, command: str, output: str, *, exit_code: int = 0) -> Codex:
        """The assistant runs a shell command, and its result comes back."""
        self._calls += 1
        call = f"call_{self.id[:8]}_{self._calls}"
        given = json.dumps({"command": command, "workdir": self.cwd})
        self.item(type="function_call", name="shell_command", arguments=given, call_id=call)
        said = f"Exit code: {exit_code}\nWall time: 0.4 seconds\nOutput:\n{output}"
        return self.item(type="function_call_output", call_id=call, output=said)
