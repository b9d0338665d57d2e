"""What a file is, whose and when: by its records, never by where it lies or what it is called (EVID.1, 8, SEC.3)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.surface import Tally
from tests.sessions import ClaudeCode, Codex

RULE = "Always run the linter before committing."
PLACES = [
    "home/.gemini/tmp/f00/chats/session-2026-03-02T09-00-one.json",
    "home/.codex/sessions/2026/03/02/rollout-2026-03-02T09-00-00-one.jsonl",
    "home/.claude/projects/-work-shop/one.jsonl",
]


def sessions(tally: Tally) -> list[dict[str, Any]]:
    """What the trail knows of each."""
    found: list[dict[str, Any]] = tally.json("doctor")["lineage"]
    return found


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("told", [ClaudeCode, Codex])
def test_the_label_is_not_the_harness(tally: Tally, place: str, told: type[Any]) -> None:
    """EVID.1 (pitfall 11): a session under another harness's folder and name is read as what it is."""
    session = told("one").says(RULE)
    session.write(tally.folder / place)
    report = tally.json("ingest")
    assert (report["sessions"], report["problems"]) == (1, [])
    assert [each["harness"] for each in sessions(tally)] == ["claude-code" if told is ClaudeCode else "codex"]


def test_a_file_of_no_harness_is_refused_with_what_was_looked_for(tally: Tally) -> None:
    """EVID.12 (pitfall 11): and one of another harness than was asked for."""
    path = tally.folder / "other.jsonl"
    path.write_text('{"some": "tool"}\n', "utf-8")
    said = tally("ingest", path).err
    assert "not a transcript of" in said
    assert "codex" in said
    path = Codex("one").says(RULE).write(tally.folder / "session.jsonl")
    assert "not a transcript of claude-code;" in tally("ingest", "--harness", "claude-code", path).err


def test_the_folders_name_is_not_the_project(tally: Tally) -> None:
    """SEC.3 (pitfall 52): ``-a-b`` could be ``/a/b``, ``/a-b`` or ``/a_b``: the record says which."""
    for name, cwd in {"one": "/work/a_b", "two": "/work/a.b", "three": "C:\\work\\a b", "four": "/work/a/b"}.items():
        session = ClaudeCode(name, cwd=cwd).says(f"Always run the linter in {name}.")
        session.write(tally.folder / "home/.claude/projects/-work-a-b" / session.file_name)
    tally.json("ingest")
    expected = ["project:/work/a.b", "project:/work/a/b", "project:/work/a_b", "project:C:\\work\\a b"]
    assert sorted(each["project"] for each in sessions(tally)) == expected


def test_times_of_names_are_no_times(tally: Tally) -> None:
    """EVID.8 (pitfall 51): the time in a file's name is local, and that of the file is the machine's: neither is a record's."""
    session = Codex("one").says(RULE)
    session.records = [line.replace(b'Z", "type"', b'", "type"') for line in session.records]
    tally.json("ingest", session.write(tally.folder / "home/.codex/sessions" / session.file_name))
    assert sessions(tally)[0]["events"] == 1
    assert next(each for each in tally.json("doctor")["harnesses"] if each["name"] == "codex")["newest"] is None
    assert "none has a time" in tally("doctor").out


def test_events_keep_the_order_of_their_file(tally: Tally) -> None:
    """EVID.1 (pitfall 51): times may be missing, or go back and forth with a clock; the place in the file is the order."""
    session = ClaudeCode("one")
    stamps = ["2026-03-02T09:09:00Z", None, "2026-03-02T09:01:00", "2026-03-02T09:05:00+05:00", "2026-03-02T09:02:00Z"]
    for number, stamp in enumerate(stamps):
        session.record("user", message={"role": "user", "content": f"Number {number}."}, timestamp=stamp)
    path = session.write(tally.folder / "one.jsonl")
    tally.json("ingest", path)
    from tallystick.config import places
    from tallystick.plugins import adapters, open_trail
    from tallystick.workflows.sessions import find_session

    trail = open_trail(places(str(tally.trail), {"TALLY_STATE": str(tally.state)}))
    found = find_session(trail, session.id, adapters())
    assert [event.text for event in found.events] == [f"Number {number}." for number in range(5)]
    assert [event.at is None for event in found.events] == [False, True, True, False, False]


def test_a_linked_file_is_one_session(tally: Tally) -> None:
    """EVID.5 (pitfall 12): hard and soft links, and letters that a file system may not tell apart, make no second session."""
    session = ClaudeCode("one").says(RULE)
    folder = tally.folder / "sessions"
    path = session.write(folder / "Shop" / session.file_name)
    (folder / "shop").mkdir()
    Path(folder / "shop" / "hard.jsonl").hardlink_to(path)
    Path(folder / "shop" / "soft.jsonl").symlink_to(path)
    report = tally.json("ingest", folder)
    assert (report["files"], report["sessions"], report["claims"]) == (3, 1, 1)
    assert len(sessions(tally)) == 1
