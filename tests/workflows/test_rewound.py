"""What a person took back in a chat leaves the memory and stays in the archive; a chat in two forms is one (EVID.4, 5)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tallystick.plugins import ingest_tools
from tallystick.store.memory import MemoryStore
from tallystick.testing.trails import trail_over
from tallystick.trail import Trail
from tallystick.workflows.ingest import IngestReport, ingest
from tallystick.workflows.sessions import find_session

HEAD = {"sessionId": "chat-1", "projectHash": "7e", "startTime": "2026-01-10T02:08:26.108Z"}


def message(uid: str, text: str) -> dict[str, Any]:
    return {"id": uid, "timestamp": "2026-01-10T02:08:26.108Z", "type": "user", "content": text}


SAID = [
    message("u1", "Always run the linter before every commit."),
    message("u2", "Never push to main without asking me."),
]


def write(path: Path, *entries: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return path


def read(trail: Trail, path: Path) -> IngestReport:
    return ingest(trail, [path], ingest_tools({"TALLY_PERSON": "ada"}))


def test_a_rewound_message_leaves_the_memory_and_stays_in_the_archive(tmp_path: Path) -> None:
    """EVID.4: its claims are withdrawn, its words are still there to be shown (pitfall 22)."""
    trail = trail_over(MemoryStore())
    path = write(tmp_path / "session-a.jsonl", HEAD, *SAID)
    assert read(trail, path).counts["claims:asserted"] == 2
    write(path, HEAD, *SAID, {"$rewindTo": "u2"})
    report = read(trail, path)
    assert report.counts["claims:withdrawn"] == 1
    assert report.counts["rewound"] == 1
    assert report.problems == []
    assert [event.text for event in find_session(trail, "chat-1", []).events] == [each["content"] for each in SAID]


def test_a_chat_in_two_forms_is_one_session(tmp_path: Path) -> None:
    """EVID.5: the file of the first form and the log that it was moved to add up to one session, each event once
    (pitfall 23)."""
    trail = trail_over(MemoryStore())
    first = tmp_path / "session-a.json"
    first.write_text(json.dumps({**HEAD, "messages": SAID}, indent=2))
    write(tmp_path / "session-a.jsonl", HEAD, *SAID, message("u3", "Thanks."))
    report = read(trail, tmp_path)
    assert (report.files, len(report.sessions), report.counts["events_archived"]) == (2, 1, 3)
    assert report.counts["claims:withdrawn"] == 0
