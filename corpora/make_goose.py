"""Writes ``corpora/goose/sessions.sql``: sessions as Goose keeps them, made up for tests, with every kind of content.

From the repository's root: ``python -m corpora.make_goose``. Tables and columns are those of the harness's own schema, cut to
what tells of sessions. Nobody said any of it.
"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

SQL = Path(__file__).parent / "goose" / "sessions.sql"
START = 1_780_000_000
"""2026-05-28T20:26:40Z, in seconds."""
SCHEMA = """
CREATE TABLE schema_version (version INTEGER PRIMARY KEY, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP);
CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT NOT NULL DEFAULT '', description TEXT NOT NULL DEFAULT '',
  user_set_name BOOLEAN DEFAULT FALSE, session_type TEXT NOT NULL DEFAULT 'user', working_dir TEXT NOT NULL,
  created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
  extension_data TEXT DEFAULT '{}', total_tokens INTEGER, recipe_json TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT, session_id TEXT NOT NULL REFERENCES sessions(id),
  role TEXT NOT NULL, content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL,
  timestamp TIMESTAMP DEFAULT CURRENT_TIMESTAMP, tokens INTEGER, metadata_json TEXT);
CREATE INDEX idx_messages_session ON messages(session_id);
INSERT INTO schema_version VALUES (15, '2026-05-28 20:26:40');
"""
DECLINED = (
    "The user has declined to run this tool. DO NOT attempt to call this tool again. "
    "If there are no alternative methods to proceed, clearly explain the situation and STOP."
)
CONTINUE = (
    "Your context was compacted. The previous message contains a summary of the conversation so far.\n"
    "Do not mention that you read a summary or that conversation summarization occurred.\n"
    "Just continue the conversation naturally based on the summarized context."
)
BRIEFING = '<tallystick-briefing as-of="c12">\n- Prices are integers of cents.\n</tallystick-briefing>'
SEEN, MODEL_ONLY, PERSON_ONLY, NEITHER = (True, True), (False, True), (True, False), (False, False)


class Writer:
    """Adds sessions and messages, each a second after the one before."""

    def __init__(self) -> None:
        self.database = sqlite3.connect(":memory:")
        self.database.executescript(SCHEMA)
        self.at = START
        self.session = ""
        self.count = 0

    def begin(self, session: str, name: str, kind: str = "user", recipe: dict[str, Any] | None = None) -> None:
        """A session."""
        self.session = session
        when = "2026-05-28 20:26:40"
        row = (
            session,
            name,
            "",
            False,
            kind,
            "/work/shop",
            when,
            when,
            "{}",
            1,
            json.dumps(recipe) if recipe else None,
        )
        self.database.execute("INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)

    def says(self, role: str, *content: dict[str, Any], visible: tuple[bool, bool] | None = SEEN) -> None:
        """A message; ``visible`` to the person and to the model."""
        self.at += 1
        shown = None if visible is None else _json({"userVisible": visible[0], "agentVisible": visible[1]})
        row = (None, f"msg_{self.at}", self.session, role, _json(content), self.at, "2026-05-28 20:26:40", None, shown)
        self.database.execute("INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)

    def uses(self, name: str, given: dict[str, Any], result: dict[str, Any], **more: Any) -> None:
        """A call and its result, in the message of the user role that the harness writes."""
        call = self.request(name, given)
        self.says("assistant", call)
        self.says("user", {"type": "toolResponse", "id": call["id"], "toolResult": result, **more})

    def request(self, name: str, given: dict[str, Any]) -> dict[str, Any]:
        """A call."""
        self.count += 1
        value = {"name": name, "arguments": given}
        return {"type": "toolRequest", "id": f"call_{self.count}", "toolCall": {"status": "success", "value": value}}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def text(words: str) -> dict[str, Any]:
    """A text."""
    return {"type": "text", "text": words}


def printed(words: str, *, failed: bool = False, **structured: Any) -> dict[str, Any]:
    """The result of a tool that ran."""
    more = {"structuredContent": structured} if structured else {}
    return {"status": "success", "value": {"content": [text(words)], **more, "isError": failed}}


def made() -> sqlite3.Connection:
    """The database."""
    w = Writer()
    w.begin("20260528_1", "Prices in cents")
    w.says(
        "user",
        text("Prices must be integers of cents, never floats."),
        {"type": "image", "data": "AAAA", "mimeType": "image/png"},
    )
    w.says(
        "assistant",
        {"type": "thinking", "thinking": "Floats lose cents.", "signature": ""},
        {"type": "redactedThinking", "data": "AAAA"},
        text("I will store prices as integers."),
        call := w.request("developer__shell", {"command": "pytest -q"}),
    )
    ran = printed("12 passed in 0.31s", stdout="12 passed in 0.31s", stderr="", exit_code=0)
    w.says("user", {"type": "toolResponse", "id": call["id"], "toolResult": ran})
    failed = printed("E501\n\nCommand exited with code 1", failed=True, stdout="E501", stderr="", exit_code=1)
    w.uses("shell", {"command": "ruff check"}, failed)
    w.uses("shell", {"command": "make"}, printed("no rule\n\nCommand exited with code 2", failed=True))
    w.uses(
        "shell",
        {"command": "sleep 900"},
        printed("x\n\nCommand timed out after 60 seconds", failed=True, stdout="x", stderr=""),
    )
    w.uses(
        "developer__text_editor",
        {"command": "write", "path": "/work/shop/price.py", "file_text": "x"},
        printed("Written."),
    )
    w.uses("edit", {"path": "/work/shop/tax.py", "before": "a", "after": "b"}, printed("No match", failed=True))
    w.uses(
        "shell",
        {"command": "rm -r data"},
        {"status": "success", "value": {"content": [text(DECLINED)], "isError": True}},
    )
    w.uses("delegate", {"instructions": "Find every float."}, printed("Two floats are left in src/tax.py."))
    w.uses("shell", {"command": "tally brief"}, printed(BRIEFING, stdout=BRIEFING, stderr="", exit_code=0))
    w.says(
        "assistant",
        {"type": "toolRequest", "id": "bad", "toolCall": {"status": "error", "error": "-32602: no such tool"}},
    )
    w.says(
        "user",
        {"type": "toolResponse", "id": "bad", "toolResult": {"status": "error", "error": "-32602: no such tool"}},
    )
    w.says(
        "user",
        {
            "type": "actionRequired",
            "data": {"actionType": "elicitationResponse", "id": "1", "userData": {"currency": "Euro"}},
        },
    )
    w.says(
        "assistant",
        {"type": "systemNotification", "notificationType": "inlineMessage", "msg": "Compacting the conversation"},
        visible=PERSON_ONLY,
    )
    w.says("assistant", text("The tests pass; the linter still complains."), visible=PERSON_ONLY)
    w.says("user", text("Now the tax table, please."), visible=NEITHER)
    w.says("user", text("Prices are integers of cents."), visible=MODEL_ONLY)
    w.says("assistant", text(CONTINUE), visible=MODEL_ONLY)
    w.says("user", text("Now the tax table, please."))
    w.says("assistant", text("The tax table is next."), w.request("shell", {"command": "pytest tests/test_tax.py"}))
    w.begin("20260528_2", "Find floats", "sub_agent")
    w.says("user", text("Find every float."))
    w.says("assistant", text("Two floats are left in src/tax.py."))
    w.begin("20260528_3", "Nightly", "scheduled", {"title": "Nightly", "prompt": "Run the tests and report."})
    w.says("user", text("Run the tests and report."))
    w.says("assistant", text("All pass."))
    w.begin("20260528_4", "From a recipe", "user", {"title": "Review", "prompt": "Review the last commit."})
    w.says("user", text("Review the last commit."))
    w.says("assistant", text("It is fine."))
    w.says("user", text("Then merge it."))
    w.begin("20250612_143022", "")
    w.says("user", text("Which files are there?"), visible=None)
    w.says("assistant", call := w.request("developer__shell", {"command": "ls"}), visible=None)
    twice = [text("a.py") | {"annotations": {"audience": [who]}} for who in ("assistant", "user")]
    old = {"type": "toolResponse", "id": call["id"], "toolResult": {"status": "success", "value": twice}}
    w.says("user", old, visible=None)
    w.database.commit()
    return w.database


if __name__ == "__main__":
    SQL.parent.mkdir(exist_ok=True)
    SQL.write_text("\n".join(made().iterdump()) + "\n", "utf-8")
