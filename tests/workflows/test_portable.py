"""Export and import: the same trail elsewhere, and no damaged export leaves anything behind."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.cli.surface import Tally
from tests.sessions import ClaudeCode, Codex
from tests.store.postgres_server import embedded, shared_server


@pytest.fixture
def exported(tally: Tally) -> Path:
    """An export of a trail with claims of every standing, a memory and an access log."""
    folder = tally.folder / "sessions"
    ClaudeCode("a").says("Always run the linter before committing.").runs("pytest -q", "5 passed").answers(
        "All 5 tests pass."
    ).write(folder / "a.jsonl")
    Codex("b").says("Never push to main directly.").answers("Done: I fixed the naïve 日本 test.").write(
        folder / "b.jsonl"
    )
    tally.json("ingest", folder)
    old = tally.remember("the port is 5432")
    tally.json("revise", old, "the port is 5433", "--because", "read the config")
    gone = tally.remember("the moon is near")
    tally.json("retract", gone, "--because", "measured")
    tally.json("recall", "port")
    tally.json("brief")
    file = tally.folder / "trail.jsonl"
    document = tally.json("export", file)
    assert document["lines"] == len(file.read_bytes().splitlines())
    return file


def elsewhere(tally: Tally, name: str = "there") -> None:
    """From now on, another trail on another machine."""
    tally.trail, tally.state = tally.folder / name / "trail", tally.folder / name / "state"
    tally.setenv({"TALLY_TRAIL": str(tally.trail), "TALLY_STATE": str(tally.state)})


def everything(tally: Tally) -> list[Any]:
    """Every answer that should be the same elsewhere."""
    verified = tally.json("verify")
    heads = {log: (each["size"], each["root"]) for log, each in verified["logs"].items()}
    replays = [tally.json("replay", "--holder", "*", "--as-of", seq) for seq in range(0, verified["size"], 3)]
    whys = [tally.json("why", item["id"]) for item in tally.believed()]
    for line in (line for why in whys for line in why["evidence"]):
        # Where a file is, and whether it is still there, is each machine's own.
        del line["source"], line["source_state"]
    return [verified["sound"], heads, replays, whys]


def test_there_and_back(tally: Tally, exported: Path) -> None:
    """cli.md: an import has the same roots, sizes, beliefs at every point and evidence, and exports the same bytes."""
    here = everything(tally)
    elsewhere(tally)
    document = tally.json("import", exported)
    assert document["size"] == here[1]["memory"][0]
    assert set(document["sizes"]) == {"memory", "access"}
    assert everything(tally) == here
    tally.json("export", tally.folder / "again.jsonl")
    assert (tally.folder / "again.jsonl").read_bytes() == exported.read_bytes()


def test_between_a_folder_and_a_database(tally: Tally, exported: Path) -> None:
    """cli.md: a trail moves from a folder to PostgreSQL and back, the same by every answer and every byte of its export."""
    here = everything(tally)
    server = shared_server(embedded())
    database = server.url(trail=tally.folder.name)
    elsewhere(tally, "database")
    tally.setenv({"TALLY_TRAIL": database})
    tally.json("import", exported)
    assert everything(tally) == here
    tally.json("export", tally.folder / "from-database.jsonl")
    elsewhere(tally, "back")
    tally.json("import", tally.folder / "from-database.jsonl")
    assert everything(tally) == here
    tally.json("export", tally.folder / "back.jsonl")
    for file in ("from-database.jsonl", "back.jsonl"):
        assert (tally.folder / file).read_bytes() == exported.read_bytes()


def test_an_import_goes_on(tally: Tally, exported: Path) -> None:
    """TIME.12, EVID.5: an imported trail recognises what it holds: claims are reconfirmed, sessions read again add nothing."""
    elsewhere(tally)
    tally.json("import", exported)
    size = tally.json("verify")["size"]
    report = tally.json("ingest", tally.folder / "sessions")
    assert (report["claims"], report["size"], report["sessions"]) == (0, size, 2)
    (port,) = [item for item in tally.believed() if item["text"] == "the port is 5433"]
    assert tally.remember("the port is 5433") == port["id"]
    assert tally.sound()


def test_to_stdout(tally: Tally, exported: Path) -> None:
    """cli.md: without FILE the export is stdout; --json and stdout cannot be had at once, and that is said."""
    assert "FILE" in tally.refused("export", "--json")
    assert tally("export").out.encode() == exported.read_bytes()


def test_where_nothing_can_be_written(tally: Tally, exported: Path) -> None:
    """cli.md: a file that cannot be written is named, and nothing half-written stays beside it."""
    before = sorted(tally.folder.iterdir())
    for wrong in (tally.folder, tally.folder / "no" / "such" / "folder.jsonl", exported / "x", Path(".")):
        assert str(wrong) in tally.refused("export", wrong)
    assert sorted(tally.folder.iterdir()) == before


def test_into_a_trail_that_is_there(tally: Tally, exported: Path) -> None:
    """cli.md: nothing is imported over a trail."""
    size = tally.json("verify")["size"]
    assert "there is a trail already" in tally.refused("import", exported)
    assert tally.json("verify")["size"] == size


def refused(tally: Tally, lines: list[bytes], name: str) -> str:
    """Import the lines in vain: refused in one line, and the place is as good as new."""
    elsewhere(tally, f"damaged-{name}")
    file = tally.folder / "damaged.jsonl"
    file.write_bytes(b"".join(lines))
    said = tally.refused("import", file)
    assert tally("verify").code == 3
    assert tally.believed() == []
    assert "memory" not in str(list(tally.state.rglob("*.head")))
    return said


def kinds(lines: list[bytes]) -> dict[str, list[int]]:
    """Indexes of lines by what they are."""
    found: dict[str, list[int]] = {}
    for n, line in enumerate(lines):
        value = json.loads(line)
        kind = next(key for key in ("export", "entry", "part", "block", "event") if key in value)
        found.setdefault(kind, []).append(n)
    return found


@pytest.mark.parametrize("kind", ["export", "entry", "part", "block", "event"])
def test_a_lost_line(tally: Tally, exported: Path, kind: str) -> None:
    """TRAIL.7: an export that lost any one line is refused."""
    lines = exported.read_bytes().splitlines(keepends=True)
    at = kinds(lines)[kind]
    for n in {at[0], at[len(at) // 2], at[-1]}:
        assert "line" in refused(tally, lines[:n] + lines[n + 1 :], f"{kind}-{n}")


@pytest.mark.parametrize("kind", ["export", "entry", "part", "block", "event"])
def test_a_line_twice_or_elsewhere(tally: Tally, exported: Path, kind: str) -> None:
    """TRAIL.7: a line that stands twice, or before the one it follows, is refused."""
    lines = exported.read_bytes().splitlines(keepends=True)
    n = kinds(lines)[kind][-1]
    elsewhere(tally, f"twice-{n}")
    file = tally.folder / "twice.jsonl"
    file.write_bytes(b"".join([*lines[: n + 1], *lines[n:]]))
    done = tally("import", file)
    assert done.code in (2, 3)
    assert done.err.count("\n") == 1
    assert tally("verify").code == 3


def test_a_changed_byte(tally: Tally, exported: Path) -> None:
    """TRAIL.7: wherever one letter or digit of an export is changed, the import is refused and names the line, or what was
    changed means nothing: then the import is the same trail."""
    data = exported.read_bytes()
    chance = random.Random(11)
    roots = {log: each["root"] for log, each in tally.json("verify")["logs"].items()}
    refusals = 0
    for turn in range(40):
        at = chance.choice([n for n in range(chance.randrange(400), len(data), 401) if chr(data[n]).isalnum()])
        changed = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
        elsewhere(tally, f"turn-{turn}")
        file = tally.folder / "changed.jsonl"
        file.write_bytes(changed)
        done = tally("import", file)
        if done.code:
            refusals += 1
            assert (done.code, done.err.count("\n")) in ((2, 1), (3, 1)), (at, done)
            assert tally("verify").code == 3
        else:
            verified = tally.json("verify")
            assert {log: each["root"] for log, each in verified["logs"].items()} == roots, at
            assert verified["sound"], (at, data[at - 40 : at + 40])
    assert refusals > 30


def test_cut_anywhere(tally: Tally, exported: Path) -> None:
    """TRAIL.5, 7: an export cut in a line, or between lines within a log, is refused and nothing is kept."""
    data = exported.read_bytes()
    lines = data.splitlines(keepends=True)
    second = kinds(lines)["export"][1]
    cuts = {1, 2, len(lines) // 3, len(lines) // 2, second - 1, second + 1, len(lines) - 1}
    for cut in sorted(cuts):
        assert "line" in refused(tally, lines[:cut], f"at-{cut}")
    assert "line" in refused(tally, [data[: len(data) * 2 // 3]], "within")


def header(**changed: object) -> bytes:
    made = {"export": "tallystick-export/1", "log": "memory", "root": "", "size": 1, "trail": "0" * 32}
    return json.dumps(made | changed).encode() + b"\n"


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{}\n",
        b"[]\n",
        b"null\n",
        b"\xff\xfe\n",
        b"[" * 100_000 + b"\n",
        b'{"export": "tallystick-export/1"}\n',
        header(export="tallystick-export/9"),
        header(trail="../../escaped"),
        header(trail="0" * 33),
        header(size="x"),
        header(log="diary"),
        header(),
        header(log="access"),
        b'{"entry": "x"}\n',
        b"Dear diary\n",
    ],
)
def test_what_is_no_export(tally: Tally, line: bytes) -> None:
    """SEC.2, TRAIL.7: whatever else a file holds, it is refused in one line and writes nothing outside the trail's places."""
    refused(tally, [line], "none")
    assert not list(tally.folder.parent.rglob("escaped"))


def test_no_file(tally: Tally) -> None:
    """cli.md: a file that is not there, or is a folder, is named."""
    assert "missing" in tally.refused("import", tally.folder / "missing")
    assert str(tally.folder) in tally.refused("import", tally.folder)
