"""``tally ingest`` without paths: what is found on this machine is read, and nothing else is opened (EVID.9, SEC.3)."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tallystick.transcripts.sources import NEVER_READ
from tests.cli.surface import Tally
from tests.sessions import ClaudeCode, Codex


@pytest.fixture
def home(tally: Tally) -> Path:
    """The home of somebody who uses two harnesses."""
    home = tally.folder / "home"
    one = ClaudeCode("one", cwd=str(tally.project)).says("Always run the linter before committing.")
    one.write(home / ".claude/projects/-shop" / one.file_name)
    two = Codex("two", cwd=str(tally.project)).says("Never commit to main.")
    two.write(home / ".codex/sessions/2026/03/02" / two.file_name)
    return home


class Opened:
    """Every path that is opened while ``watched`` is on; hooks of this kind cannot be taken off again."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.on = False
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.on and event == "open":
            self.paths.append(str(arguments[0]))


_OPENED: list[Opened] = []


@pytest.fixture
def opened() -> Iterator[Opened]:
    """What is opened from when the test turns it on."""
    if not _OPENED:
        _OPENED.append(Opened())
    watch = _OPENED[0]
    watch.paths = []
    yield watch
    watch.on = False


def test_everything_that_is_found(tally: Tally, home: Path) -> None:
    """cli.md: without paths, the sessions of every harness on this machine are read; again, and none is opened."""
    first = tally.json("ingest")
    assert (first["files"], first["sessions"], first["problems"]) == (2, 2, [])
    again = tally.json("ingest")
    assert (again["files"], again["skipped_unchanged"], again["claims"]) == (0, 2, 0)


@pytest.mark.parametrize(("harness", "words"), [("codex", "Never commit"), ("claude-code", "Always run")])
def test_narrowed_to_one_harness(tally: Tally, home: Path, opened: Opened, harness: str, words: str) -> None:
    """cli.md: ``--harness`` looks only where that one keeps its sessions."""
    opened.on = True
    report = tally.json("ingest", "--harness", harness)
    assert (report["files"], report["problems"]) == (1, [])
    assert all(text.startswith(words) for text in tally.texts())
    other = ".claude" if harness == "codex" else ".codex"
    assert not [path for path in opened.paths if f"/{other}/" in path]


def test_a_harness_that_is_not_known_or_not_here(tally: Tally, home: Path) -> None:
    """cli.md: an unknown name is refused with those that are known; a known one without sessions says so."""
    said = tally.refused("ingest", "--harness", "copilot-9")
    assert "claude-code" in said
    assert "codex" in said
    assert "no sessions of gemini-cli" in tally.refused("ingest", "--harness", "gemini-cli")


def test_files_that_are_never_opened(tally: Tally, home: Path, opened: Opened) -> None:
    """EVID.9: credential, configuration and prompt-history files beside the sessions are not opened, neither by ingest nor by
    doctor, in whatever letters, and not through a link either."""
    secret = json.dumps({"token": "sk-ant-api03-" + "x" * 80})
    never = []
    for number, name in enumerate(sorted(NEVER_READ)):
        for folder in (home / ".claude/projects/-shop", home / ".codex/sessions", home / ".claude", home / ".codex"):
            path = folder / f"n{number}" / (name if number % 2 else name.upper().replace("JSON", "json"))
            path.parent.mkdir(exist_ok=True)
            path.write_text(secret, "utf-8")
            never.append(str(path))
    link = home / ".claude/projects/-shop/notes.jsonl"
    link.symlink_to(home / ".claude/.credentials.json")
    (home / ".claude/.credentials.json").write_text(secret, "utf-8")
    opened.on = True
    assert tally.json("ingest")["problems"] == []
    tally.json("doctor")
    opened.on = False
    assert str(home / ".claude/projects/-shop") in "\n".join(opened.paths)
    assert not {*never, str(link)} & set(opened.paths)
    assert not [
        path
        for path in opened.paths
        if path.startswith(str(home)) and "/sessions/" not in path and "/projects/" not in path
    ]
    assert "never read" in tally("ingest", link).err


def test_what_is_found_and_no_transcript(tally: Tally, home: Path) -> None:
    """EVID.3: a file that was merely found is a problem that is shown, and no reason to fail."""
    (home / ".codex/sessions/notes.json").write_text("{}", "utf-8")
    (home / ".config/mini-swe-agent").mkdir(parents=True)
    (home / ".config/mini-swe-agent/last.traj.json").write_text("{}", "utf-8")
    report = tally.json("ingest")
    assert [Path(problem["file"]).name for problem in report["problems"]] == ["notes.json", "last.traj.json"]
    assert tally("ingest", home / ".codex/sessions/notes.json").code == 2


def test_a_copied_or_linked_folder(tally: Tally, home: Path) -> None:
    """EVID.5 (pitfall 12): sessions that are reached by two paths are the same sessions, and nothing is said twice."""
    before = tally.json("ingest")
    (home / ".config/claude").mkdir(parents=True)
    (home / ".config/claude/projects").symlink_to(home / ".claude/projects")
    again = tally.json("ingest")
    assert (again["claims"], again["sessions"], again["problems"]) == (0, 1, [])
    assert (again["counts"].get("events_archived", 0), again["counts"].get("claims:reconfirmed", 0)) == (0, 0)
    (home / ".config/claude/projects").unlink()
    copy = home / ".config/claude/projects/-SHOP/copy.jsonl"
    copy.parent.mkdir(parents=True)
    copy.write_bytes(next((home / ".claude/projects/-shop").glob("*.jsonl")).read_bytes())
    assert tally.json("ingest")["claims"] == 0
    assert len(tally.texts()) == before["claims"]


def harness(tally: Tally, name: str) -> dict[str, Any]:
    """What doctor says of one harness."""
    return next(each for each in tally.json("doctor")["harnesses"] if each["name"] == name)


def counts(tally: Tally, name: str) -> list[int]:
    seen = harness(tally, name)
    return [seen["read"], seen["grown"], seen["waiting"], len(seen["refused"]), seen["sessions"]]


def test_doctor_says_of_each_harness(tally: Tally, home: Path) -> None:
    """cli.md: what was found, read, grown since, not read yet and refused, how many sessions are known and how new they are."""
    folder = home / ".claude/projects/-shop"
    assert counts(tally, "claude-code") == [0, 0, 1, 0, 0]
    assert harness(tally, "claude-code")["newest"] is None
    assert "run `tally ingest`" in tally("doctor").out
    tally.json("ingest")
    assert counts(tally, "claude-code") == [1, 0, 0, 0, 1]
    assert harness(tally, "claude-code")["places"] == [str(home / ".claude/projects")]
    assert harness(tally, "claude-code")["newest"] == "2026-03-02T09:01:00Z"
    assert "the newest 2026-03-02T09:01:00Z, 29 days ago" in tally("doctor").out
    grown = ClaudeCode("one", cwd=str(tally.project)).says("Always run the linter before committing.")
    grown.pause(days=2).says("And the type checker.").write(folder)
    ClaudeCode("three", cwd=str(tally.project)).says("Use tabs.").write(folder)
    (folder / "notes.json").write_text("{}", "utf-8")
    (folder / "README.md").write_text("nothing of any harness", "utf-8")
    assert counts(tally, "claude-code") == [0, 1, 1, 1, 1]
    assert harness(tally, "claude-code")["refused"][0]["file"] == str(folder / "notes.json")
    assert "notes.json: not a transcript" in tally("doctor").out
    tally.json("ingest")
    assert counts(tally, "claude-code") == [2, 0, 0, 1, 2]
    assert harness(tally, "claude-code")["newest"] == "2026-03-04T09:02:00Z"
    assert counts(tally, "codex") == [1, 0, 0, 0, 1]


def test_doctor_names_a_harness_that_is_not_read(tally: Tally, home: Path) -> None:
    """EVID.3: sessions of a harness that this version has no reader for are named, not passed over."""
    (home / ".local/share/amp/threads").mkdir(parents=True)
    (home / ".local/share/amp/threads/T-1.json").write_text("{}", "utf-8")
    from tallystick.plugins import adapters

    if "amp" not in [adapter.name for adapter in adapters()]:
        assert harness(tally, "amp")["is_read"] is False
        assert "this version does not read it" in tally("doctor").out


def test_doctor_of_a_harness_whose_files_are_gone(tally: Tally, home: Path) -> None:
    """EVID.11 (pitfall 57): what was deleted is still known, and said to have no files here any more."""
    tally.json("ingest")
    for path in (home / ".codex").rglob("*.jsonl"):
        path.unlink()
    assert counts(tally, "codex") == [0, 0, 0, 0, 1]
    assert "no files here; sessions known: 1" in tally("doctor").out


def test_work_trees_of_before(tally: Tally, home: Path) -> None:
    """SEC.3 (pitfall 52): a holder that was named after a linked work tree keeps what it holds: it is seen from that work
    tree, doctor names it, and joining makes both one."""
    main, tree = tally.project, tally.folder / "feature"
    tree.mkdir()
    session = ClaudeCode("four", cwd=str(tree)).says("Always write the changelog first.")
    tally.json("ingest", session.write(tally.folder / "four.jsonl"))
    assert tally.texts("--holder", f"project:{tree}") == ["Always write the changelog first."]
    inner = ClaudeCode("inner", cwd=str(tree / "src")).says("Always sort the imports.")
    tally.json("ingest", inner.write(tally.folder / "inner.jsonl"))
    inside = main / ".git/worktrees/feature"
    inside.mkdir(parents=True)
    (tree / ".git").write_text(f"gitdir: {inside}\n", "utf-8")
    (inside / "commondir").write_text("../..\n", "utf-8")
    (inside / "gitdir").write_text(f"{tree / '.git'}\n", "utf-8")
    session.says("Always sign the release.").write(tally.folder / "four.jsonl")
    tally.json("ingest", tally.folder / "four.jsonl")
    assert tally.texts("--holder", f"project:{tree}") == [
        "Always write the changelog first.",
        "Always sign the release.",
    ]
    newer = ClaudeCode("five", cwd=str(tree)).says("Never commit to main.")
    tally.json("ingest", newer.write(tally.folder / "five.jsonl"))
    assert tally.texts("--holder", f"project:{main}") == ["Never commit to main."]
    assert f"project:{tree} and project:{main} (the same repository)" in tally("doctor").out

    def seen() -> set[str]:
        return {item["text"] for item in tally.json("replay")["items"]}

    assert seen() == {"Never commit to main."}
    tally.stand(tree)
    assert len(seen()) == 4
    tally.stand(main)
    tally.json("join", f"project:{tree}", f"project:{main}", "--because", "a work tree")
    assert len(seen()) == 3
    assert "the same repository" not in tally("doctor").out


def test_two_clones_of_one_repository(tally: Tally) -> None:
    """SEC.3: a repository's address joins nothing by itself, since any folder could claim it; doctor says what could be one."""
    for name in ("one", "two"):
        meta = Codex(name, cwd=f"/gone/{name}").says(f"Never commit to {name}.")
        record = json.loads(meta.records[0])
        record["payload"]["git"] = {"repository_url": "https://example.org/shop.git"}
        meta.records[0] = json.dumps(record).encode() + b"\n"
        tally.json("ingest", meta.write(tally.folder / meta.file_name))
    assert len(tally.texts("--holder", "project:/gone/one")) == 1
    assert "project:/gone/two and project:/gone/one (both say https://example.org/shop.git)" in tally("doctor").out
