"""Ingesting again: what did not change is not opened, what grew is read on, what was rewritten is read anew (EVID.4, 5, 11)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.surface import Tally
from tests.sessions import ClaudeCode, Codex

Steps = list[Callable[[Any], object]]

STEPS: Steps = [
    lambda s: s.says("Always run the linter before committing."),
    lambda s: s.runs("pytest -q", "2 failed, 3 passed in 0.2s", exit_code=1),
    lambda s: s.answers("All tests pass."),
    lambda s: s.runs("pytest -q", "5 passed in 0.2s"),
    lambda s: s.answers("All 5 tests pass now."),
    lambda s: s.says("Never push to main directly."),
    lambda s: s.runs("git push origin main", "To github.com:shop\n   1a2b3c4..5d6e7f8  main -> main"),
    lambda s: s.answers("Pushed to origin/main."),
]


def built(tally: Tally, harness: type[Any], steps: Steps) -> Any:
    session = harness("grows", cwd=str(tally.project))
    for step in steps:
        step(session)
    return session


def believed(tally: Tally) -> list[tuple[object, ...]]:
    """The believed set, ids aside."""
    keys = ("kind", "text", "derivation", "outcome", "origin", "said_at")
    return sorted(tuple(str(item[key]) for key in keys) for item in tally.believed())


@pytest.fixture
def path(tally: Tally) -> Path:
    written: Path = built(tally, ClaudeCode, STEPS[:5]).write(tally.folder / "sessions" / "grows.jsonl")
    return written


def test_unchanged_is_not_opened(tally: Tally, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """EVID.4: a file with the same size, time and inode is skipped without being opened."""
    first = tally.json("ingest", path)
    opened: list[str] = []
    real = Path.open

    def watched(self: Path, *arguments: Any, **options: Any) -> Any:
        opened.append(str(self))
        return real(self, *arguments, **options)

    monkeypatch.setattr(Path, "open", watched)
    again = tally.json("ingest", path)
    assert str(path) not in opened
    assert (again["skipped_unchanged"], again["files"], again["size"]) == (1, 0, first["size"])
    looked = [tally.json("ingest", path, "--thorough")["skipped_unchanged"] for _ in range(2)]
    assert looked == [1, 1], "all of it was looked at, and it is what was read"
    assert str(path) in opened


def test_again_adds_nothing(tally: Tally, path: Path) -> None:
    """EVID.4, 5, pitfall 12: the same file again, touched, copied elsewhere or moved: same size, same root, no second claim."""
    tally.json("ingest", path)
    before = tally.json("replay", "--holder", "*")
    os.utime(path, ns=(1, 1))
    tally.json("ingest", path)
    copy = path.with_name("copy.jsonl")
    copy.write_bytes(path.read_bytes())
    tally.json("ingest", copy)
    path.rename(path.with_name("moved.jsonl"))
    report = tally.json("ingest", path.parent)
    after = tally.json("replay", "--holder", "*")
    assert report["claims"] == 0
    assert (after["seq"], after["root"], after["items"]) == (before["seq"], before["root"], before["items"])


@pytest.mark.parametrize("harness", [ClaudeCode, Codex])
@pytest.mark.parametrize("thorough", [[], ["--thorough"]])
def test_grows_step_by_step(tally: Tally, harness: type[Any], thorough: list[str]) -> None:
    """EVID.4, TIME.13: read at every step or once at the end, the same is believed; only what was added is read."""
    steps = [step for step in STEPS if harness is ClaudeCode or STEPS.index(step) != 3]
    path = tally.folder / "grows.jsonl"
    read = 0
    for n in range(1, len(steps) + 1):
        built(tally, harness, steps[:n]).write(path)
        report = tally.json("ingest", path, *thorough)
        assert report["problems"] == []
        read += report["bytes"]
    assert read == path.stat().st_size
    stepwise = believed(tally)
    at_once = tally.folder / "at-once"
    tally.setenv({"TALLY_TRAIL": str(at_once)})
    tally.json("ingest", path)
    assert believed(tally) == stepwise
    assert len(stepwise) >= 2


@pytest.mark.parametrize("harness", [ClaudeCode, Codex])
def test_cut_at_any_byte(tally: Tally, harness: type[Any]) -> None:
    """EVID.2, pitfall 2: a file cut within a record, even within a character, is read up to it, and the rest when it arrives."""
    whole = built(tally, harness, [*STEPS, lambda s: s.says("Use “naïve” 日本 mode, always.")]).data
    path = tally.folder / "grows.jsonl"
    for cut in sorted(
        {*range(whole.index(b"\n") + 1, len(whole), 397), len(whole) - 120, len(whole) - 3, len(whole) - 1}
    ):
        path.write_bytes(whole[:cut])
        done = tally("ingest", path, "--json")
        assert done.code == 0, (cut, done.err)
        assert done.json["problems"] == [], cut
    path.write_bytes(whole)
    tally.json("ingest", path)
    stepwise = believed(tally)
    tally.setenv({"TALLY_TRAIL": str(tally.folder / "at-once")})
    tally.json("ingest", path)
    assert believed(tally) == stepwise


def test_what_the_session_takes_back(tally: Tally) -> None:
    """TIME.13: a claim witnessed so far is judged anew when the session goes on; as of before, it stands as it stood."""
    path = built(tally, ClaudeCode, [STEPS[0], STEPS[2]]).write(tally.folder / "grows.jsonl")
    tally.json("ingest", path)
    seq = tally.json("verify")["size"] - 1
    before = believed(tally)
    built(tally, ClaudeCode, STEPS).write(path)
    tally.json("ingest", path)
    keys = ("kind", "text", "derivation", "outcome", "origin", "said_at")
    past = tally.believed("--holder", "*", "--as-of", seq)
    assert sorted(tuple(str(item[key]) for key in keys) for item in past) == before != believed(tally)


@pytest.mark.parametrize("thorough", [[], ["--thorough"]])
def test_rewritten(tally: Tally, path: Path, thorough: list[str]) -> None:
    """EVID.4: a file whose beginning is another is read anew, and said to be."""
    tally.json("ingest", path, *thorough)
    other = ClaudeCode("other", cwd=str(tally.project)).says("Never deploy on a Friday. " + "x" * path.stat().st_size)
    path.write_bytes(other.data)
    report = tally.json("ingest", path, *thorough)
    assert report["counts"]["files_rewritten"] == 1
    assert "Always run the linter before committing." in tally.texts()
    assert any("Friday" in text for text in tally.texts())
    assert tally.sound()


def test_shortened(tally: Tally, path: Path) -> None:
    """EVID.4: a file that lost its end is read anew; what was archived stays."""
    tally.json("ingest", path)
    events = tally.json("verify")["size"]
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:2]))
    report = tally.json("ingest", path)
    assert report["counts"]["files_rewritten"] == 1
    assert tally.json("verify")["size"] == events
    assert tally.sound()


def test_rewritten_in_the_middle(tally: Tally) -> None:
    """EVID.4: a change far from start and end, under the same size, time and inode, is seen by --thorough alone."""
    session = built(tally, ClaudeCode, STEPS[:1])
    for n in range(60):
        session.answers(f"Step {n} of many. " + "x" * 200)
    path = session.write(tally.folder / "long.jsonl")
    tally.json("ingest", path, "--thorough")
    stat = path.stat()
    with path.open("r+b") as stream:
        stream.seek(stat.st_size // 2)
        stream.write(b"y" * 10)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert tally.json("ingest", path)["skipped_unchanged"] == 1
    report = tally.json("ingest", path, "--thorough")
    assert (report["skipped_unchanged"], report["counts"]["files_rewritten"]) == (0, 1)


def test_another_inode(tally: Tally, path: Path) -> None:
    """EVID.4: a file replaced by another of the same name is looked at; the same bytes add nothing, a longer one is read on."""
    first = tally.json("ingest", path)
    beside = path.with_name("beside")
    beside.write_bytes(path.read_bytes())
    beside.replace(path)
    again = tally.json("ingest", path)
    assert again["size"] == first["size"]
    built(tally, ClaudeCode, STEPS).write(beside)
    beside.replace(path)
    assert "Never push to main directly." not in tally.texts()
    tally.json("ingest", path)
    assert "Never push to main directly." in tally.texts()


def test_a_deleted_source(tally: Tally, path: Path) -> None:
    """EVID.11, pitfall 57: the words of a deleted file are still shown by ``why``, checked, and marked as gone."""
    tally.json("ingest", path)
    (rule,) = [item["id"] for item in tally.believed() if item["kind"] == "rule"]
    before = tally.json("why", rule)["evidence"]
    path.unlink()
    after = tally.json("why", rule)["evidence"]
    assert [line["text"] for line in after] == [line["text"] for line in before]
    assert {line["digest_ok"] for line in after} == {True}
    assert {line["source_state"] for line in after} == {"source gone"}
    assert "source gone" in tally("why", rule).out
    assert tally.json("quote", "run the linter", "--session", before[0]["span"]["session"])["verbatim"]
    assert tally.sound()


def test_a_changed_source(tally: Tally, path: Path) -> None:
    """EVID.11, pitfall 57: a file that is no longer the one that was read is said to be another."""
    tally.json("ingest", path)
    (rule,) = [item["id"] for item in tally.believed() if item["kind"] == "rule"]
    path.write_bytes(b"{}\n")
    assert {line["source_state"] for line in tally.json("why", rule)["evidence"]} == {"source changed"}


def test_a_fork_repeats_nothing(tally: Tally, path: Path) -> None:
    """EVID.5, pitfall 13: a session that begins with another's records archives them once, and they make no second claim."""
    tally.json("ingest", path)
    once = believed(tally)
    lines = path.read_bytes().replace(built(tally, ClaudeCode, []).id.encode(), b"11111111-2222-3333-4444-555555555555")
    fork = path.with_name("11111111-2222-3333-4444-555555555555.jsonl")
    fork.write_bytes(lines)
    report = tally.json("ingest", fork)
    assert report["claims"] == 0
    assert report["counts"]["events_shared"] == report["events"] > 0
    assert believed(tally) == once
    assert tally.sound()


def test_two_sessions_that_end_at_once(tally: Tally) -> None:
    """EVID.4, failure case 29: two sessions of one project, read in either order, are both kept."""
    one = ClaudeCode("one", cwd=str(tally.project)).says("Always run the linter before committing.").data
    two = ClaudeCode("two", cwd=str(tally.project)).says("Never deploy on a Friday.").data
    sets = []
    for order in ("ab", "ba"):
        tally.setenv({"TALLY_TRAIL": str(tally.folder / order)})
        for name in order:
            path = tally.folder / f"{name}.jsonl"
            path.write_bytes(one if name == "a" else two)
            tally.json("ingest", path)
        sets.append(believed(tally))
    assert sets[0] == sets[1]
    assert len(sets[0]) == 2
