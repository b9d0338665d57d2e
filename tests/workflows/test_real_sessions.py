"""Every real session of Claude Code and Codex: all of it read, all of it accounted for, and the same in whatever order."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from tallystick.transcripts.sources import NEVER_READ
from tests.cli.surface import Tally

SHARED = Path(__file__).resolve().parents[2] / "../shared/data/transcripts"
CLAUDE_CODE, CODEX = SHARED / "claude-code", SHARED / "codex"
pytestmark = [
    pytest.mark.shared_data,
    pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data is not here"),
]
CHECKPOINT = "@earlier-checkpoint"


def sessions(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.jsonl") if path.name not in NEVER_READ)


def pairs() -> list[tuple[Path, Path]]:
    """(earlier checkpoint, the session as it ended) of every session that has both."""
    early = [path for path in sessions(CLAUDE_CODE) if CHECKPOINT in path.name]
    return [(path, path.with_name(path.name.replace(CHECKPOINT, ""))) for path in early]


def believed(tally: Tally) -> Counter[tuple[object, ...]]:
    """What everyone believes, as often as they do, ids aside."""
    names = {item["id"]: item for item in tally.believed()}
    keys = ("kind", "text", "derivation", "outcome", "origin", "said_at")
    return Counter(tuple(item[key] for key in keys) for item in names.values())


def fresh(tally: Tally, name: str) -> None:
    tally.setenv({"TALLY_TRAIL": str(tally.folder / name / "trail"), "TALLY_STATE": str(tally.folder / name / "state")})


def in_order(tally: Tally, name: str, orders: Iterable[Sequence[Path]]) -> Counter[tuple[object, ...]]:
    fresh(tally, name)
    for paths in orders:
        assert tally("ingest", *paths).code == 0
    return believed(tally)


@pytest.mark.parametrize("folder", [CLAUDE_CODE, CODEX], ids=["claude-code", "codex"])
def test_every_session(tally: Tally, folder: Path) -> None:
    """EVID.3, 4, TRAIL.7: every file is read and every record is in exactly one account; again adds nothing; all is sound."""
    files = sessions(folder)
    report = tally.json("ingest", folder)
    counts = Counter(report["counts"])
    assert report["files"] == len(files)
    assert counts["files_not_transcripts"] == sum(problem["line"] == 0 for problem in report["problems"])
    assert report["sessions"] >= len({path.name.replace(CHECKPOINT, "") for path in files}) - 4 > 40
    without = sum(n for kind, n in counts.items() if kind.startswith("record:"))
    unread = counts["records_unreadable"]
    assert counts["records"] == counts["records_with_events"] + without + unread
    assert unread + counts["lines_skipped"] == sum(problem["line"] > 0 for problem in report["problems"])
    assert report["events"] >= counts["events_archived"] > 0
    verified = tally.json("verify")
    assert verified["sound"]
    again = tally.json("ingest", folder)
    assert (again["files"], again["skipped_unchanged"]) == (0, len(files))
    assert tally.json("verify")["root"] == verified["root"]


def test_no_session_is_lost() -> None:
    """EVID.12: the real sessions are there to be read: this test is what tells that the others looked at something."""
    assert len(pairs()) == 4
    assert all(late.is_file() for _, late in pairs())
    assert len([path for path in CLAUDE_CODE.glob("*.jsonl") if CHECKPOINT not in path.name]) >= 50
    assert len(sessions(CODEX)) >= 45


def test_checkpoints_in_any_order(tally: Tally) -> None:
    """EVID.4, 5, TIME.6, pitfall 14: an earlier copy of a session read before the later one or after it: the same is believed."""
    early, late = ([pair[n] for pair in pairs()] for n in (0, 1))
    first = in_order(tally, "first", [early, late])
    assert first
    assert in_order(tally, "after", [late, early]) == first
    assert in_order(tally, "one-by-one", [[path] for pair in pairs() for path in pair]) == first
    assert in_order(tally, "one-by-one-after", [[path] for pair in pairs() for path in pair[::-1]]) == first
    assert in_order(tally, "at-once", [[*late, *early]]) == first


def test_sessions_in_any_order(tally: Tally) -> None:
    """EVID.4, TIME.6: whole folders, one file at a time, or in any order: the same is believed."""
    some = [path for path in sessions(CLAUDE_CODE) if path.stat().st_size < 400_000][::4]
    some += [path for path in sessions(CODEX) if path.stat().st_size < 400_000][::4]
    some += [path for pair in pairs()[:2] for path in pair]
    expected = in_order(tally, "together", [some])
    assert len(expected) > 20
    assert in_order(tally, "reversed", [some[::-1]]) == expected
    chance = random.Random(5)
    assert in_order(tally, "shuffled", [[path] for path in chance.sample(some, len(some))]) == expected


@pytest.mark.parametrize("folder", [CLAUDE_CODE, CODEX], ids=["claude-code", "codex"])
def test_growing_in_steps(tally: Tally, folder: Path) -> None:
    """EVID.2, 4, TIME.13: a file that is read while it grows, cut at any byte, comes to the same as read at its end."""
    chance = random.Random(7)
    some = [path for path in sessions(folder) if 20_000 < path.stat().st_size < 300_000 and CHECKPOINT not in path.name]
    some = chance.sample(some, 8)
    copies = {path: tally.folder / "live" / path.name for path in some}
    for copy in copies.values():
        copy.parent.mkdir(exist_ok=True)
    expected = in_order(tally, "at-once", [some])
    assert expected
    fresh(tally, "in-steps")
    for path, copy in copies.items():
        whole = path.read_bytes()
        first = whole.index(b"\n") + 1
        for cut in [*sorted(chance.sample(range(first, len(whole)), 5)), len(whole)]:
            copy.write_bytes(whole[:cut])
            assert tally("ingest", copy).code == 0
    assert believed(tally) == expected
    assert tally.sound()
