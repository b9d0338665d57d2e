"""A database as Cursor's editor keeps it, made by us: ``python -m tests.transcripts.cursor_places`` writes the samples.

Of Cursor we have no real files; what is written here follows descriptions and parsers of others.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "corpora/cursor"
CHAT, LATER = "3f1d2c4b-5a69-4788-9e0f-1a2b3c4d5e6f", "7c6b5a49-3827-4160-8f9e-0d1c2b3a4958"


def bubble(kind: int, text: str = "", **more: Any) -> dict[str, Any]:
    """A bubble: 1 is the person's, 2 the assistant's."""
    return {"_v": 3, "type": kind, "text": text, "createdAt": "2026-02-03T10:00:00.000Z", **more}


def tool(name: str, args: Mapping[str, Any], result: Any, status: str = "completed", **more: Any) -> dict[str, Any]:
    """An assistant's bubble that holds a call, arguments and result as JSON in strings."""
    used = {"name": name, "toolCallId": f"t-{name}", "rawArgs": json.dumps(args), "status": status, **more}
    return bubble(2, toolFormerData={**used, "result": json.dumps(result)})


def write_state(path: Path, chats: Mapping[str, Sequence[Mapping[str, Any]]], **about: Any) -> Path:
    """A database of chats: composer id → bubbles in order. Added to where it is there."""
    with sqlite3.connect(path) as database:
        for table in ("ItemTable", "cursorDiskKV"):
            database.execute(f"CREATE TABLE IF NOT EXISTS {table} (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
        for composer, bubbles in chats.items():
            ids = [f"b{number}" for number in range(len(bubbles))]
            said = {
                "_v": 10,
                "composerId": composer,
                "fullConversationHeadersOnly": [{"bubbleId": each} for each in ids],
            }
            rows = [(f"composerData:{composer}", json.dumps({**said, **about}))]
            rows += [(f"bubbleId:{composer}:{each}", json.dumps(body)) for each, body in zip(ids, bubbles, strict=True)]
            database.executemany("INSERT INTO cursorDiskKV VALUES (?, ?)", rows)
    database.close()
    return path


QUERY = "Why does the test of the till fail? Don't touch the fixtures."
THOUGHT = "The total is rounded twice."
ANSWER = "The total was rounded twice. I removed the second rounding in `till.py`, and the test passes."


def _samples() -> dict[str, bytes]:
    arguments = {"command": "pytest tests/test_till.py", "explanation": "Run the test"}
    text = f"""user:
<user_query>
{QUERY}
</user_query>

assistant:
[Thinking] {THOUGHT}
[Tool call] run_terminal_cmd
  command: pytest tests/test_till.py
  explanation: Run the test

[Tool result] run_terminal_cmd

assistant:
{ANSWER}
"""
    wrapped = f"<open_files>\ntill.py\n</open_files>\n<user_query>\n{QUERY}\n</user_query>"
    asked = {"role": "user", "message": {"content": [{"type": "text", "text": wrapped}]}}
    used = {"type": "tool_use", "name": "run_terminal_cmd", "input": arguments}
    blocks = [[used], [{"type": "text", "text": ANSWER}]]
    lines = [asked, *({"role": "assistant", "message": {"content": each}} for each in blocks), {"type": "turn_ended"}]
    log = "".join(json.dumps(each) + "\n" for each in lines)
    return {f"{CHAT}.txt": text.encode(), f"{CHAT}.jsonl": log.encode()}


def main() -> int:
    """Write the samples and what is said of them."""
    FOLDER.mkdir(exist_ok=True)
    state = FOLDER / "state.vscdb"
    state.unlink(missing_ok=True)
    run = {"command": "pytest tests/test_till.py", "explanation": "Run the test"}
    chats = {
        CHAT: [
            bubble(1, QUERY),
            bubble(2, thinking={"text": THOUGHT}),
            tool("run_terminal_cmd", run, {"output": "1 failed", "exitCodeV2": 1, "rejected": False}),
            tool("search_replace", {"file_path": "till.py"}, {"diff": "-round(total)"}),
            bubble(2, ANSWER),
        ],
        LATER: [
            bubble(1, "Push it."),
            tool("run_terminal_cmd", {"command": "git push"}, {"rejected": True}, "cancelled"),
        ],
    }
    folder = {"uri": {"fsPath": "/home/ada/shop"}}
    write_state(state, chats, name="The till", createdOnBranch="main", workspaceIdentifier=folder)
    for name, data in _samples().items():
        (FOLDER / name).write_bytes(data)
    note = "made by us after descriptions of the format, by tests/transcripts/cursor_places.py; no real session"
    listed = [
        {"file": path.name, "harness": "cursor", "licence": "Apache-2.0", "licence_note": note}
        | {"size": path.stat().st_size, "sha256": sha256(path.read_bytes()).hexdigest()}
        for path in (state, *(FOLDER / name for name in _samples()))
    ]
    (FOLDER / "SOURCES.json").write_text(json.dumps(listed, indent=1) + "\n", "utf-8")
    (FOLDER / "LICENSE").write_text("The samples of Cursor are ours: Apache-2.0, as the LICENSE of the repository.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
