"""Writes ``corpora/opencode/opencode.sql``: sessions as OpenCode keeps them, made up for tests, with every kind of part.

From the repository's root: ``python -m corpora.make_opencode``. Tables and columns are those of the harness's own schema, cut to
what tells of sessions. Nobody said any of it.
"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

SQL = Path(__file__).parent / "opencode" / "opencode.sql"
START = 1_780_000_000_000
"""2026-05-28T20:26:40Z, in milliseconds."""
SCHEMA = """
CREATE TABLE `project` (`id` text PRIMARY KEY, `worktree` text NOT NULL, `vcs` text, `name` text,
  `time_created` integer NOT NULL, `time_updated` integer NOT NULL, `sandboxes` text NOT NULL);
CREATE TABLE `session` (`id` text PRIMARY KEY, `project_id` text NOT NULL, `parent_id` text, `slug` text NOT NULL,
  `directory` text NOT NULL, `title` text NOT NULL, `version` text NOT NULL, `share_url` text, `revert` text,
  `time_created` integer NOT NULL, `time_updated` integer NOT NULL, `time_compacting` integer, `time_archived` integer,
  FOREIGN KEY (`project_id`) REFERENCES `project`(`id`) ON DELETE CASCADE);
CREATE TABLE `message` (`id` text PRIMARY KEY, `session_id` text NOT NULL, `time_created` integer NOT NULL,
  `time_updated` integer NOT NULL, `data` text NOT NULL,
  FOREIGN KEY (`session_id`) REFERENCES `session`(`id`) ON DELETE CASCADE);
CREATE TABLE `part` (`id` text PRIMARY KEY, `message_id` text NOT NULL, `session_id` text NOT NULL,
  `time_created` integer NOT NULL, `time_updated` integer NOT NULL, `data` text NOT NULL,
  FOREIGN KEY (`message_id`) REFERENCES `message`(`id`) ON DELETE CASCADE);
CREATE TABLE `todo` (`session_id` text NOT NULL, `content` text NOT NULL, `status` text NOT NULL, `priority` text NOT NULL,
  `position` integer NOT NULL, `time_created` integer NOT NULL, `time_updated` integer NOT NULL);
CREATE INDEX `message_session_idx` ON `message` (`session_id`);
CREATE INDEX `part_session_idx` ON `part` (`session_id`);
INSERT INTO project VALUES ('4b0ea68d7af9a6031a7ffda7ad66e0cb83315750', '/work/shop', 'git', NULL, 1780000000000,
  1780000000000, '[]');
"""
SHOP = "4b0ea68d7af9a6031a7ffda7ad66e0cb83315750"
TIMED_OUT = "bash tool terminated command after exceeding timeout 120000 ms"
REJECTED = "The user rejected permission to use this specific tool call"
PATCH = "*** Begin Patch\n*** Update File: src/tax.py\n*** Move to: src/vat.py\n*** End Patch"
BRIEFING = '<tallystick-briefing as-of="c12">\n- Prices are integers of cents.\n</tallystick-briefing>'


class Writer:
    """Adds sessions, messages and parts, each a second after the one before, with ids that sort by time."""

    def __init__(self) -> None:
        self.database = sqlite3.connect(":memory:")
        self.database.executescript(SCHEMA)
        self.at = START
        self.session = self.message = ""
        self.count = 0

    def _next(self, prefix: str) -> str:
        self.at += 1_000
        self.count += 1
        return f"{prefix}_{self.count:06x}made"

    def begin(self, session: str, title: str, parent: str | None = None) -> str:
        """A session; its id."""
        self.at += 1_000
        self.session = session
        slug = title.lower().replace(" ", "-")
        row = (session, SHOP, parent, slug, "/work/shop", title, "1.2.6", None, None, self.at, self.at, None, None)
        self.database.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        return session

    def says(self, role: str, *parts: dict[str, Any], **more: Any) -> str:
        """A message with its parts; its id."""
        self.message = self._next("msg")
        data: dict[str, Any] = {"role": role, "time": {"created": self.at}}
        if role == "user":
            data |= {"agent": "build", "model": {"providerID": "anthropic", "modelID": "claude-sonnet-4-5"}}
        else:
            data |= {"parentID": "msg_0", "modelID": "claude-sonnet-4-5", "providerID": "anthropic", "mode": "build",
                     "path": {"cwd": "/work/shop", "root": "/work/shop"}, "cost": 0,
                     "tokens": {"input": 1, "output": 1, "reasoning": 0, "cache": {"read": 0, "write": 0}}}  # fmt: skip
        data |= more
        self.database.execute(
            "INSERT INTO message VALUES (?, ?, ?, ?, ?)", (self.message, self.session, self.at, self.at, _json(data))
        )
        for part in parts:
            row = (self._next("prt"), self.message, self.session, self.at, self.at, _json(part))
            self.database.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", row)
        return self.message

    def tool(self, tool: str, given: dict[str, Any], status: str = "completed", **state: Any) -> dict[str, Any]:
        """A tool part that took half a second."""
        self.count += 1
        time = {"start": self.at + 1_000} | ({"end": self.at + 1_500} if status in ("completed", "error") else {})
        shown = {"title": tool, "output": "", "metadata": {}} if status == "completed" else {}
        state = {"status": status, "input": given, **shown, **state, "time": time}
        return {"type": "tool", "callID": f"toolu_{self.count:06x}", "tool": tool, "state": state}

    def bash(self, command: str, output: str, code: int | None, **metadata: Any) -> dict[str, Any]:
        """A command; a code of None is one that was stopped."""
        given = {"command": command, "description": "Runs it"}
        return self.tool("bash", given, output=output, metadata={"output": output, "exit": code, **metadata})


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def text(words: str, **more: Any) -> dict[str, Any]:
    """A text part."""
    return {"type": "text", "text": words, **more}


def made() -> sqlite3.Connection:
    """The database."""
    w = Writer()
    main = w.begin("ses_01prices", "Prices in cents")
    w.says(
        "user",
        text("Prices must be integers of cents, never floats. See @src/price.py"),
        text("Called the Read tool with the following input: src/price.py", synthetic=True),
        {"type": "file", "mime": "text/plain", "filename": "price.py", "url": "file:///work/shop/src/price.py"},
        {"type": "file", "mime": "image/png", "filename": "bug.png", "url": "data:image/png;base64,AAAA"},
    )
    w.says(
        "assistant",
        {"type": "step-start", "snapshot": "0" * 40},
        {"type": "reasoning", "text": "Floats lose cents.", "time": {"start": w.at + 1, "end": w.at + 2}},
        text("I will store prices as integers.", time={"start": w.at + 3, "end": w.at + 4}),
        w.tool(
            "edit",
            {"filePath": "/work/shop/src/price.py", "oldString": "float", "newString": "int"},
            output="Edit applied.",
        ),
        w.bash("pytest -q", "12 passed in 0.31s\n", 0),
        {"type": "step-finish", "reason": "tool-calls", "cost": 0, "tokens": {"input": 1, "output": 1}},
        {"type": "patch", "hash": "1" * 40, "files": ["/work/shop/src/price.py"]},
    )
    w.says(
        "assistant",
        w.bash("ruff check", "E501 line too long\n", 1),
        w.bash("sleep 900", f"started\n\n<bash_metadata>\n{TIMED_OUT}\n</bash_metadata>", None),
        w.tool(
            "invalid",
            {"tool": "find", "error": "Model tried to call unavailable tool 'find'."},
            output="The arguments provided to the tool are invalid: Model tried to call unavailable tool 'find'.",
        ),
        w.tool(
            "read", {"filePath": "/work/shop/absent.py"}, "error", error="Error: File not found: /work/shop/absent.py"
        ),
        w.tool(
            "bash",
            {"command": "git push --force"},
            "error",
            error=f"{REJECTED} with the following feedback: never force-push here",
        ),
        w.tool(
            "bash",
            {"command": "rm -r data"},
            "error",
            error=f"{REJECTED}.",
        ),
        w.tool("bash", {"command": "make slow"}, "error", error="Tool execution aborted"),
        text("The tests pass; the linter still complains."),
    )
    w.says("user", text("tab"), agent="plan")
    w.says(
        "assistant",
        w.bash("tally brief", BRIEFING, 0),
        w.tool(
            "question",
            {"questions": [{"question": "Which currency?", "header": "Currency", "options": []}]},
            output='User has answered your questions: "Which currency?"="Euro only". You can now continue.',
            metadata={"answers": [["Euro only"]]},
        ),
        w.tool(
            "task",
            {"description": "Find floats", "prompt": "Find every float in src.", "subagent_type": "explore"},
            output="<task_result>\nTwo floats are left in src/tax.py.\n</task_result>",
            metadata={"sessionId": "ses_child"},
        ),
        w.tool("apply_patch", {"patchText": PATCH}, output="Success."),
    )
    w.says("user", text("Now the tax table, please."))
    w.says("user", {"type": "compaction", "auto": True, "overflow": True})
    w.says("assistant", text("## Goal\nPrices are integers of cents."), summary=True, mode="compaction")
    w.says("user", text("Now the tax table, please."))
    w.says(
        "assistant", text("The tax table is next."), w.tool("bash", {"command": "pytest tests/test_tax.py"}, "running")
    )
    w.says(
        "assistant",
        {"type": "retry", "attempt": 1, "time": {"created": w.at}},
        error={"name": "APIError", "data": {"message": "Overloaded"}},
    )
    w.says(
        "assistant",
        text("All tests", time={"start": w.at + 1}),
        w.tool("bash", {}, "pending", raw="{"),
    )
    w.begin("ses_02find", "Find floats (@explore subagent)", parent=main)
    w.says("user", text("Find every float in src."))
    w.says(
        "assistant",
        text("Two floats are left in src/tax.py."),
        w.bash("grep -rn float src", "src/tax.py:3: float\n", 0),
    )
    w.begin("ses_03undone", "Undone")
    w.says("user", text("Rename the module to vat."))
    w.says("assistant", text("Renamed."))
    undone = w.says("user", text("Delete the tests."))
    w.says("assistant", text("Deleted."))
    w.database.execute("UPDATE session SET revert = ? WHERE id = ?", (_json({"messageID": undone}), w.session))
    w.database.commit()
    return w.database


if __name__ == "__main__":
    SQL.parent.mkdir(exist_ok=True)
    SQL.write_text("\n".join(made().iterdump()) + "\n", "utf-8")
