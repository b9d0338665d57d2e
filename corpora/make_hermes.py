"""Writes ``corpora/hermes/state.sql``: sessions as Hermes Agent keeps them, made up for tests, with all it puts into prompts.

From the repository's root: ``python -m corpora.make_hermes``. Tables and columns are those of the harness's own schema, cut to
what tells of sessions. Nobody said any of it.
"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

SQL = Path(__file__).parent / "hermes" / "state.sql"
START = 1_780_000_000.25
"""2026-05-28T20:26:40Z and a quarter of a second."""
SCHEMA = """
CREATE TABLE schema_version (version INTEGER NOT NULL);
CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT, model TEXT, model_config TEXT,
  system_prompt TEXT, parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT,
  message_count INTEGER DEFAULT 0, tool_call_count INTEGER DEFAULT 0, cwd TEXT, git_branch TEXT, git_repo_root TEXT, title TEXT,
  FOREIGN KEY (parent_session_id) REFERENCES sessions(id));
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id),
  role TEXT NOT NULL, content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL,
  token_count INTEGER, finish_reason TEXT, reasoning TEXT, reasoning_content TEXT, reasoning_details TEXT,
  codex_reasoning_items TEXT, observed INTEGER DEFAULT 0, _compressed_summary INTEGER NOT NULL DEFAULT 0,
  active INTEGER NOT NULL DEFAULT 1, compacted INTEGER NOT NULL DEFAULT 0);
CREATE INDEX idx_messages_session ON messages(session_id, timestamp);
INSERT INTO schema_version VALUES (30);
"""
SUMMARY = (
    "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted into the summary below. This is a handoff from a "
    "previous context window.\n## Historical Task Snapshot\nPrices are integers of cents.\n\n"
    "--- END OF CONTEXT SUMMARY — respond to the message below, not the summary above ---"
)
SKILL = (
    '[IMPORTANT: The user has invoked the "release" skill, indicating they want you to follow its instructions. The full skill '
    "content is loaded below.]\n\n# Release\nAlways tag before publishing.\n\nThe user has provided the following instruction "
    "alongside the skill invocation: release 2.1 today\n\n[Runtime note: the working folder is /work/shop]"
)
REVIEW = (
    "Review the conversation above and consider saving to memory if appropriate.\n\nFocus on:\n1. Has the user revealed things "
    "about themselves?"
)
MEMORY = "<memory-context>\n[System note: recalled, NOT new user input.]\nThe user likes Euro.\n</memory-context>"
NOTE = "[System note: Your previous turn was interrupted before it was done.]\n\n"
BRIEFING = '<tallystick-briefing as-of="c12">\n- Prices are integers of cents.\n</tallystick-briefing>'
Call = tuple[str, dict[str, Any], dict[str, Any] | str]


class Writer:
    """Adds sessions and messages, each a second after the one before."""

    def __init__(self) -> None:
        self.database = sqlite3.connect(":memory:")
        self.database.executescript(SCHEMA)
        self.at = START
        self.session = ""
        self.count = 0

    def begin(self, session: str, parent: str | None = None, source: str = "cli", **more: Any) -> str:
        """A session; its id."""
        self.session = session
        names = ("user_id", "model", "model_config", "cwd", "git_branch", "git_repo_root", "title", "end_reason")
        given = {"model": "hermes-4", "cwd": "/work/shop", "git_branch": "main", "git_repo_root": "/work/shop"} | more
        row = (session, source, parent, self.at, *(given.get(name) for name in names))
        columns = ", ".join(("id", "source", "parent_session_id", "started_at", *names))
        self.database.execute(f"INSERT INTO sessions ({columns}) VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608
        return session

    def says(self, role: str, content: str | None, **more: Any) -> None:
        """A message."""
        self.at += 1
        row = {"session_id": self.session, "role": role, "content": content, "timestamp": self.at, **more}
        marks = ", ".join("?" * len(row))
        self.database.execute(f"INSERT INTO messages ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))  # noqa: S608

    def uses(self, *calls: Call, content: str = "", **more: Any) -> None:
        """Calls in one answer, and their results."""
        ids = [f"call_{self.count + n}" for n in range(len(calls))]
        self.count += len(calls)
        told = [
            {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
            for call_id, (name, given, _) in zip(ids, calls, strict=True)
        ]
        self.says("assistant", content, tool_calls=json.dumps(told), finish_reason="tool_calls", **more)
        for call_id, (name, _, answer) in zip(ids, calls, strict=True):
            text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
            self.says("tool", text, tool_call_id=call_id, tool_name=name)

    def copy(self, session: str, *places: int) -> None:
        """Messages of a session once more in this one, as compressing and branching write them."""
        asked = (
            "SELECT role, content, tool_call_id, tool_calls, tool_name FROM messages WHERE session_id = ? ORDER BY id"
        )
        names = ("role", "content", "tool_call_id", "tool_calls", "tool_name")
        rows = self.database.execute(asked, (session,)).fetchall()
        for at in places:
            self.says(**dict(zip(names, rows[at], strict=True)))


def ran(output: str, code: int, error: str | None = None) -> dict[str, Any]:
    """What the terminal tool answers."""
    return {"output": output, "exit_code": code, "error": error}


def made() -> sqlite3.Connection:
    """The database."""
    w = Writer()
    first = w.begin("20260528_202640_aaaaaa", title="Prices in cents", end_reason="compression")
    w.says("user", "Prices must be integers of cents, never floats.\n\n" + MEMORY)
    w.uses(
        ("terminal", {"command": "pytest -q"}, ran("12 passed in 0.31s", 0)),
        ("terminal", {"command": "ruff check"}, ran("E501", 1)),
        content="I will store prices as integers.",
        reasoning="Floats lose cents.",
    )
    w.uses(
        ("terminal", {"command": "sleep 900"}, ran("x\n[Command timed out after 180s]", 124)),
        ("terminal", {"command": "make serve", "background": True}, ran("Background process started", 0) | {"pid": 7}),
        (
            "terminal",
            {"command": "rm -r data"},
            ran("", -1, "BLOCKED: User denied this command.") | {"status": "blocked"},
        ),
        ("write_file", {"path": "price.py", "content": "x"}, {"bytes_written": 1, "files_modified": ["price.py"]}),
        (
            "patch",
            {"mode": "patch", "patch": "*** Begin Patch\n*** Update File: tax.py\n*** End Patch"},
            {"success": True},
        ),
        ("patch", {"path": "vat.py", "old_string": "a"}, {"success": False, "error": "no match"}),
        ("memory", {"action": "add", "content": "Prices in cents"}, {"success": True, "entries": ["Prices in cents"]}),
        ("delegate_task", {"goal": "Find floats"}, {"results": [{"summary": "Two floats are left in src/tax.py."}]}),
        ("clarify", {"question": "Which currency?"}, {"question": "Which currency?", "user_response": "Euro only"}),
        ("terminal", {"command": "tally brief"}, ran(BRIEFING, 0)),
    )
    w.says("assistant", "The tests pass; the linter still complains.", finish_reason="stop")
    w.says("user", REVIEW)
    w.uses(("memory", {"action": "add", "content": "likes cents"}, {"success": True}))
    w.says("assistant", "Saved: the user likes cents.")
    w.says("user", SKILL)
    w.says("assistant", "Tagged 2.1.")
    w.says("user", NOTE + "Now the tax table, please.")
    w.begin("20260528_203000_bbbbbb", first, title="Prices in cents")
    w.copy(first, 0)
    w.says("user", SUMMARY, _compressed_summary=1)
    w.copy(first, -2, -1)
    w.says("assistant", "The tax table is next.")
    w.says("user", "Now the tax table, please.")
    w.begin("20260528_203100_cccccc", first, source="subagent", model_config=json.dumps({"_delegate_from": first}))
    w.says("user", "Find every float.")
    w.says("assistant", "Two floats are left in src/tax.py.")
    branched = json.dumps({"_branched_from": "20260528_203000_bbbbbb"})
    w.begin("20260528_203200_dddddd", "20260528_203000_bbbbbb", model_config=branched)
    w.copy("20260528_203000_bbbbbb", 0, 1, 2, 3, 4, 5)
    w.says("user", "Try decimals instead.")
    w.begin("20260528_203300_eeeeee", source="telegram", cwd=None, git_branch=None, git_repo_root=None)
    w.says("user", "See this.")
    w.says("user", "lunch at noon?", observed=1)
    w.says("assistant", "I see a price tag.")
    w.says("user", "Delete it all.", active=0)
    w.says("assistant", "Deleted.", active=0)
    w.begin("cron_nightly_20260528", source="cron")
    w.says("user", "Run the tests and report.")
    w.says("assistant", "All pass.")
    w.begin("20260528_203400_ffffff")
    w.says("user", "First.", active=0, compacted=1)
    w.says("assistant", "One.", active=0, compacted=1)
    w.says("user", "Second.", active=0, compacted=1)
    w.copy("20260528_203400_ffffff", 0)
    w.says("assistant", SUMMARY)
    w.copy("20260528_203400_ffffff", 2)
    w.says("assistant", "Two.")
    w.database.commit()
    return w.database


if __name__ == "__main__":
    SQL.parent.mkdir(exist_ok=True)
    SQL.write_text("\n".join(made().iterdump()) + "\n", "utf-8")
