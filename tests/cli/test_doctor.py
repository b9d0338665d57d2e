"""Doctor: what state each thing is in, and what to do, from a fresh machine to a lost key and a trail behind its head."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.surface import Tally
from tests.sessions import ClaudeCode


def states(tally: Tally, code: int = 0) -> dict[str, str]:
    document = tally.json("doctor", code=code)
    assert all(set(check) >= {"name", "state", "advice"} and check["advice"] for check in document["checks"])
    return {check["name"]: check["state"] for check in document["checks"]}


def advice(tally: Tally, name: str) -> str:
    checks = tally.json("doctor", code=1)["checks"]
    return str(next(check["advice"] for check in checks if check["name"] == name))


def test_fresh(tally: Tally) -> None:
    """cli.md: on a fresh machine nothing is bad, and what to do first is said; nothing is made by looking."""
    found = states(tally)
    assert (found["trail"], found["harnesses"]) == ("note", "note")
    assert "bad" not in found.values()
    assert "tally ingest" in tally("doctor").out
    assert not tally.trail.exists()
    assert not tally.state.exists()


def test_ingested(tally: Tally) -> None:
    """cli.md: with sessions found and read, everything is in order."""
    session = ClaudeCode(cwd=str(tally.project)).says("Always run the linter before committing.")
    session.write(tally.folder / "home/.claude/projects/-shop" / session.file_name)
    tally.json("ingest")
    found = states(tally)
    assert found == dict.fromkeys(found, "ok")
    assert {"sqlite", "clock", "harnesses", "keys", "trail", "soundness"} <= set(found)


def test_looking_changes_nothing(tally: Tally) -> None:
    """cli.md: doctor only looks: the trail and what is kept outside it are the same bytes afterwards."""
    tally.remember("one")
    states(tally)
    places = [*tally.state.rglob("*"), *tally.trail.glob("*.db")]
    before = {path: path.read_bytes() for path in places if path.is_file()}
    states(tally)
    assert {path: path.read_bytes() for path in places if path.is_file()} == before


def test_a_lost_key(tally: Tally) -> None:
    """cli.md: a missing key is bad, and the advice names where it should be."""
    tally.remember("one")
    shutil.move(tally.state, tally.folder / "kept")
    assert states(tally, code=1)["keys"] == "bad"
    assert str(tally.state) in advice(tally, "keys")
    shutil.move(tally.folder / "kept", tally.state)
    assert states(tally)["keys"] == "ok"


@pytest.fixture
def behind(tally: Tally) -> Tally:
    """A trail whose files are an older copy than its head, which is kept elsewhere."""
    tally.remember("one")
    shutil.copytree(tally.trail, tally.folder / "backup")
    tally.remember("two")
    shutil.rmtree(tally.trail)
    shutil.copytree(tally.folder / "backup", tally.trail)
    return tally


def test_the_head_is_ahead(behind: Tally) -> None:
    """TRAIL.8: an older copy put back is bad; nothing is appended to it and nothing is read from it as if it were whole."""
    assert states(behind, code=1)["soundness"] == "bad"
    assert "older copy" in advice(behind, "soundness")
    assert "--accept-head" in behind.refused("remember", "three", code=3)
    assert "older copy" in behind.refused("replay", code=3)
    assert "older copy" in behind.refused("brief", code=3)


def test_accepting_the_head(behind: Tally) -> None:
    """TRAIL.8: a person who put a backup back on purpose says so once; then it is sound and goes on."""
    assert behind("doctor", "--accept-head").code == 0
    assert states(behind)["soundness"] == "ok"
    behind.remember("three")
    assert (behind.texts(), behind.sound()) == (["one", "three"], True)


def test_accepting_changes_nothing_where_all_is_well(tally: Tally) -> None:
    """TRAIL.8: accepting the head of a fresh or a whole trail changes nothing that matters."""
    assert tally("doctor", "--accept-head").code == 0
    assert not tally.trail.exists()
    tally.remember("one")
    root = tally.json("verify")["root"]
    assert tally("doctor", "--accept-head").code == 0
    assert tally.json("verify")["root"] == root


def test_accepting_does_not_hide_damage(tally: Tally) -> None:
    """TRAIL.7, 8: what is broken in itself stays broken, whatever head is accepted."""
    tally.remember("a text to be changed")
    path = tally.trail / "memory.db"
    path.write_bytes(path.read_bytes().replace(b"a text to be changed", b"a text that changed!"))
    assert states(tally, code=1)["soundness"] == "bad"
    tally("doctor", "--accept-head")
    assert states(tally, code=1)["soundness"] == "bad"


def test_folders_that_cannot_be_read(tally: Tally, monkeypatch: pytest.MonkeyPatch) -> None:
    """cli.md: a harness's folder that one may not read is bad and named."""
    import os

    folder = tally.folder / "home/.claude/projects"
    folder.mkdir(parents=True)
    real = os.access

    def denied(path: Path, mode: int) -> bool:
        return real(path, mode) and Path(path) != folder

    monkeypatch.setattr(os, "access", denied)
    assert states(tally, code=1)["harnesses"] == "bad"
    assert str(folder) in advice(tally, "harnesses")


@pytest.mark.parametrize("damage", [b"garbage" * 100, b"SQLite format 3\x00" + bytes(4000)])
def test_files_that_are_no_trail(tally: Tally, damage: bytes) -> None:
    """cli.md: where the trail's file is something else, doctor says so and does not fail."""
    tally.trail.mkdir()
    (tally.trail / "memory.db").write_bytes(damage)
    assert states(tally, code=1)["trail"] == "bad"


def test_how_sessions_hang_together(tally: Tally) -> None:
    """EVID.5: with ``--json``, each session with those it comes from and those that come from it."""
    assert tally.json("doctor")["lineage"] == []
    one = ClaudeCode("one").says("Always run the linter before committing.").answers("Yes.")
    two = ClaudeCode("two").pause(hours=1)
    two.records = [json.dumps(json.loads(line) | {"sessionId": two.id}).encode() + b"\n" for line in one.records]
    for session in (one, two.says("Go on.")):
        tally.json("ingest", session.write(tally.folder / session.file_name))
    first, second = tally.json("doctor")["lineage"]
    assert (first["native_id"], first["fork_of"], first["forks"]) == (one.id, None, [second["session"]])
    assert (second["native_id"], second["fork_of"], second["shared"]) == (two.id, first["session"], 2)
    assert (second["project"], second["events"], second["compactions"]) == ("project:/work/shop", 3, [])
