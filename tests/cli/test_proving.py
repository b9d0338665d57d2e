"""The commands that prove and check: bundles, tlog-proofs, the key, tiles."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from tallystick.config import Places
from tallystick.log.tiles import tiles
from tallystick.plugins import open_trail
from tests.bundles import joined, parsed, rewritten
from tests.cli.surface import Tally


@pytest.fixture
def port(tally: Tally) -> str:
    """A claim, among others."""
    tally.remember("the moon is near")
    made = tally.remember("the port is 5433")
    tally.remember("the cache lives in Rome", "--kind", "decision")
    return made


def kept(tally: Tally, name: str = "checkpoint.txt") -> Path:
    """The checkpoint, put elsewhere."""
    file = tally.folder / name
    file.write_text(tally("checkpoint").out, "utf-8")
    return file


def elsewhere(tally: Tally, name: str = "elsewhere") -> None:
    """From now on, a machine that knows nothing of the trail."""
    tally.setenv({"TALLY_TRAIL": str(tally.folder / name / "t"), "TALLY_STATE": str(tally.folder / name / "s")})


def test_prove_a_replay_and_check_it_elsewhere(tally: Tally, port: str) -> None:
    """TIME.3, TRAIL.8: what was believed under a kept checkpoint is written, and checked offline with the key alone."""
    checkpoint, key = kept(tally), tally("checkpoint", "--key").out.strip()
    before = tally.json("replay")
    tally.json("retract", port, "--because", "measured")
    file = tally.folder / "a.tally-bundle"
    document = tally.json("replay", "--as-of", checkpoint, "--prove", file, "--limit", 1)
    assert document["proof"] == {"file": str(file), "believed": 3, "leaves": before["seq"] + 1, "newer": 1}
    assert (document["seq"], document["root"], len(document["items"])) == (before["seq"], before["root"], 1)
    assert tally.json("verify-bundle", file)["key"]["known_from"] == "state"
    elsewhere(tally)
    (tally.folder / "key").write_text(key + "\n", "utf-8")
    for said in (key, tally.folder / "key"):
        found = tally.json("verify-bundle", file, "--key", said)
        assert (found["holds"], found["count"], found["first_bad"]) == (True, 3, None)
        assert (found["seq"], found["checkpoint"]["root"]) == (before["seq"], before["root"])
        assert {each["name"] for each in found["holders"]} == {f"project:{tally.project}", "person:ada"}
        assert (found["key"]["id"], found["key"]["known_from"]) == (key.split("+")[1], "given")
    told = tally("verify-bundle", file)
    assert (told.code, told.err) == (0, "")
    assert "holds: 3 claims are exactly" in told.out
    assert "known from the bundle alone" in told.out
    claimed = [line["believed"] for line in parsed(file.read_bytes()) if "believed" in line]
    for mine, theirs in zip(claimed, before["items"], strict=True):
        assert f"c{mine['claim']}" == theirs["id"]
        assert all(mine[name] == theirs[name] for name in ("kind", "text", "derivation", "outcome", "origin", "since"))


def test_prove_under_the_newest(tally: Tally, port: str) -> None:
    """TIME.3: without --as-of it is the newest checkpoint that was signed, and what is newer is said."""
    file = tally.folder / "a.tally-bundle"
    told = tally("replay", "--prove", file)
    assert f"all 3 proved in {file}" in told.out
    assert "newer" not in told.out
    kept_state = {path.name: path.read_bytes() for path in tally.state.rglob("memory.checkpoint")}
    tally.remember("the sun is far")
    for path in tally.state.rglob("memory.checkpoint"):
        path.write_bytes(kept_state[path.name])
    told = tally("replay", "--prove", file)
    assert "all 3 proved" in told.out
    assert "entries newer than its checkpoint: 2\n" in told.out
    assert (
        tally.json("replay", "--prove", file, "--valid-at", "2026-01-01T00:00:00Z", "--count")["proof"]["believed"] == 3
    )
    assert tally.json("verify-bundle", file)["valid_at"] == "2026-01-01T00:00:00Z"


def test_what_cannot_be_proved(tally: Tally, port: str) -> None:
    """TIME.4: a point that nobody signed, a checkpoint of another trail, log or future: one line, and no file is made."""
    file = tally.folder / "a.tally-bundle"
    size = tally.json("verify")["size"]
    mine, access = kept(tally), tally.folder / "access.txt"
    tally.json("recall", "port")
    access.write_text(tally("checkpoint", "--log", "access").out, "utf-8")
    refused = {
        str(size): f"the trail has {size} entries",
        "2": "nobody signed",
        "2026-03-01T00:00:00Z": "before the trail",
        "2999-01-01T00:00:00Z": "later than now",
        str(access): "a checkpoint of tallystick/",
    }
    for as_of, why in refused.items():
        assert why in tally.refused("replay", "--as-of", as_of, "--prove", file)
        assert why in tally.refused("prove", port, "--as-of", as_of)
    text = mine.read_text("utf-8")
    mine.write_text(text.replace("/memory\n", "/memory\n9"), "utf-8")
    assert "does not hold" in tally.refused("replay", "--as-of", mine, "--prove", file)
    mine.write_text(text, "utf-8")
    elsewhere(tally)
    tally.remember("another trail")
    assert "a checkpoint of tallystick/" in tally.refused("replay", "--as-of", mine, "--prove", file)
    assert "no such claim" in tally.refused("prove", "c99")
    assert not file.exists()
    for wrong in (tally.folder, tally.folder / "no" / "folder"):
        assert str(wrong) in tally.refused("replay", "--prove", wrong)


def test_where_nothing_was_signed(tally: Tally, port: str) -> None:
    """TRAIL.8: without a checkpoint, or without the key, nothing can be proved, and that is said; so it is of no trail."""
    file = tally.folder / "a.tally-bundle"
    (folder,) = [path.parent for path in tally.state.rglob("signing.key")]
    note = (folder / "memory.checkpoint").read_bytes()
    (folder / "memory.checkpoint").unlink()
    assert "`tally checkpoint` signs one" in tally.refused("replay", "--prove", file)
    (folder / "memory.checkpoint").write_bytes(note)
    (folder / "signing.key").rename(folder / "away")
    assert "key is not in" in tally.refused("replay", "--prove", file)
    assert "key is not in" in tally.refused("prove", port)
    elsewhere(tally)
    assert "signed" in tally.refused("replay", "--prove", file)
    assert "no such claim" in tally.refused("prove", port)


def test_a_trail_whose_views_lie(tally: Tally, port: str) -> None:
    """TRAIL.7: what would not hold elsewhere is not written: the trail itself is said to be broken, exit 3."""
    import apsw

    database = apsw.Connection(str(tally.trail / "memory.db"))
    database.execute("UPDATE version SET origin = 'user' WHERE claim = ?", (int(port[1:]),))
    database.close()
    file = tally.folder / "a.tally-bundle"
    assert "run `tally verify`" in tally.refused("replay", "--prove", file, code=3)
    assert list(tally.folder.glob("a.tally-bundle*")) == []


def test_a_changed_bundle(tally: Tally, port: str) -> None:
    """TRAIL.8: what does not hold exits 1, names line and leaf in both views; what is no bundle is bad input, exit 2."""
    file = tally.folder / "a.tally-bundle"
    tally("replay", "--prove", file)
    lines = parsed(file.read_bytes())
    seq = int(port[1:])
    file.write_bytes(joined(lines[: seq + 1] + lines[seq + 2 :]))
    found = tally.json("verify-bundle", file, code=1)
    assert (found["holds"], found["first_bad"]["line"], found["first_bad"]["seq"]) == (False, seq + 2, seq)
    told = tally("verify-bundle", file)
    assert (told.code, told.err) == (1, "")
    assert f"DOES NOT HOLD: line {seq + 2}: leaf {seq} is missing" in told.out
    file.write_bytes(joined(rewritten(lines, seq, '"v":1', '"v":2')))
    assert "root that was signed" in tally("verify-bundle", file).out
    file.write_bytes(b"nothing of the sort\n")
    assert "line 1" in tally("verify-bundle", file).out
    file.write_bytes(b'{"export":1}\n')
    assert "not a bundle" in tally.refused("verify-bundle", file)
    file.write_bytes(b'{"bundle":"tallystick-bundle/2"}\n')
    assert "reads tallystick-bundle/1" in tally.refused("verify-bundle", file)
    assert "no/such" in tally.refused("verify-bundle", "no/such")
    assert str(tally.folder) in tally.refused("verify-bundle", tally.folder)
    assert "--key" in tally.refused("verify-bundle", file, "--key", "nonsense")
    assert "--key" in tally.refused("verify-bundle", file, "--key", tally.folder)


def test_prove_a_claim(tally: Tally, port: str) -> None:
    """TRAIL.3: the entry that opened a claim is proved to stand in the log, as a tlog-proof that others' tools read too."""
    key = tally("checkpoint", "--key").out.strip()
    document = tally.json("prove", port)
    text = tally("prove", port).out
    file = tally.folder / "port.tlog-proof"
    assert str(file) in tally("prove", port, "--out", file).out
    assert file.read_text("utf-8") == text
    lines = text.split("\n")
    assert lines[0] == "c2sp.org/tlog-proof@v1"
    entry = json.loads(base64.b64decode(lines[1].removeprefix("extra ")))
    assert f"c{entry['seq']}" == port
    assert lines[2 : 3 + len(document["hashes"])] == [f"index {document['index']}", *document["hashes"]]
    assert text.endswith(f"\n\n{document['checkpoint']}")
    assert (document["size"], document["root"]) == tuple(tally.json("verify")[name] for name in ("size", "root"))
    assert "port" not in text
    elsewhere(tally)
    found = tally.json("verify-bundle", file, "--key", key)
    assert (found["holds"], found["index"], found["entry"]["kind"]) == (True, document["index"], "asserted")
    assert f"entry {document['index']}, asserted" in tally("verify-bundle", file, "--key", key).out
    assert "no key" in tally.refused("verify-bundle", file)


def test_prove_under_an_older_checkpoint(tally: Tally, port: str) -> None:
    """TIME.3: under a kept checkpoint the proof stays the same whatever was appended since; a newer claim is refused."""
    checkpoint, before = kept(tally), tally("prove", port).out
    newer = tally.remember("the sun is far")
    assert tally("prove", port, "--as-of", checkpoint).out == before != tally("prove", port).out
    assert "newer than the checkpoint" in tally.refused("prove", newer, "--as-of", checkpoint)


def test_a_changed_proof(tally: Tally, port: str) -> None:
    """TRAIL.3, 8: a proof of another entry, of another trail, of nothing, or changed anywhere does not hold, exit 1."""
    file = tally.folder / "port.tlog-proof"
    good = tally("prove", port).out
    moon, *_ = tally.believed()
    extra = tally("prove", moon["id"]).out.split("\n")[1]
    wrong = {
        "leads to another root": good.replace(good.split("\n")[1], extra),
        "carries no entry": good.replace(good.split("\n")[1] + "\n", ""),
        "holds no entry": good.replace(good.split("\n")[1], "extra e30="),
        "not in a tree": good.replace(f"index {port[1:]}", "index 77"),
        "does not hold": good[:-12] + ("A" if good[-12] != "A" else "B") + good[-11:],
        "index": good.replace("index", "Index"),
    }
    for why, text in wrong.items():
        file.write_text(text, "utf-8")
        found = tally.json("verify-bundle", file, code=1)
        assert why in found["first_bad"]["what"]
        assert "DOES NOT HOLD" in tally("verify-bundle", file).out
    key = tally("checkpoint", "--key").out.strip()
    file.write_text(good, "utf-8")
    elsewhere(tally)
    tally.remember("another trail")
    assert (
        "another trail"
        in tally.json("verify-bundle", file, "--key", tally("checkpoint", "--key").out.strip(), code=1)["first_bad"][
            "what"
        ]
    )
    assert tally.json("verify-bundle", file, "--key", key)["holds"]


def test_the_key(tally: Tally, port: str) -> None:
    """TRAIL.8: the public key is printed as C2SP tools take it, and stands beside the note in JSON."""
    document = tally.json("checkpoint")
    key = tally("checkpoint", "--key").out.strip()
    assert document["key"] == key
    name, key_id, data = key.split("+", 2)
    signature = document["note"].strip().split("\n")[-1]
    assert signature.startswith(f"— {name} ")
    assert base64.b64decode(signature.rpartition(" ")[2])[:4].hex() == key_id
    assert len(base64.b64decode(data)) == 33


def files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_tiles(tally: Tally, port: str) -> None:
    """TRAIL.3: a log is written as tlog-tiles under its newest checkpoint, and brought up to date by writing it again."""
    folder = tally.folder / "tiles"
    document = tally.json("export", "--tiles", folder)
    first = files(folder)
    size = document["size"]
    assert set(first) == {"checkpoint", f"tile/entries/000.p/{size}", *(tile.path for tile in tiles(size))}
    assert first["checkpoint"].decode() == tally.json("checkpoint")["note"]
    assert (document["written"], document["kept"], document["left_out"]) == (2, 0, [])
    assert tally.json("export", "--tiles", folder)["written"] == 0
    assert files(folder) == first
    for n in range(3):
        tally.remember(f"fact {n}")
    assert "3 files" not in tally("export", "--tiles", folder).out
    second = files(folder)
    assert second.items() > {name: data for name, data in first.items() if name != "checkpoint"}.items()
    assert second["checkpoint"] != first["checkpoint"]
    tally.json("recall", "port")
    access = tally.json("export", "--tiles", tally.folder / "access", "--log", "access")
    assert (access["log"], access["size"]) == ("access", tally.json("verify")["logs"]["access"]["size"])


def test_tiles_that_become_full(tally: Tally) -> None:
    """TRAIL.3: partial tiles stay while an older checkpoint may need them, and go once the full one is there."""
    folder = tally.folder / "tiles"
    tally.remember("a fact")
    tally.json("export", "--tiles", folder)
    old = files(folder)
    _grow(tally, 600)
    document = tally.json("export", "--tiles", folder)
    size = document["size"]
    assert size > 512
    file = tally.folder / "first.tlog-proof"
    assert tally.json("prove", tally.believed()[0]["id"], "--out", file)["size"] == size
    assert tally.json("verify-bundle", file)["holds"]
    new = files(folder)
    assert not [name for name in new if name in old and name != "checkpoint"]
    assert {"tile/0/000", "tile/0/001", "tile/1/000.p/2", "tile/entries/000"} <= set(new)
    full = {name: (folder / name).stat().st_mtime_ns for name in new if ".p/" not in name and name != "checkpoint"}
    tally.remember("one more")
    tally.json("export", "--tiles", folder)
    assert {name: (folder / name).stat().st_mtime_ns for name in full} == full


def _grow(tally: Tally, count: int) -> None:
    """Many entries, past the commands."""
    trail = open_trail(Places(tally.trail, tally.state))
    with trail.writing() as appender:
        for _ in range(count):
            appender.add("linked", {"same_as": b"{}"}, refs=[3, 4])
    trail.seal()
    trail.store.close()


def test_tiles_of_something_else(tally: Tally, port: str) -> None:
    """TRAIL.8: a folder that holds another log, another history, or a changed file is left as it is, and named."""
    folder = tally.folder / "tiles"
    tally.json("export", "--tiles", folder)
    tally.json("recall", "port")
    before = files(folder)
    assert "holds tallystick/" in tally.refused("export", "--tiles", folder, "--log", "access")
    assert "no file" in tally.refused("export", tally.folder / "x", "--tiles", folder)
    assert "goes with --tiles" in tally.refused("export", "--log", "access")
    name = next(name for name in before if name.startswith("tile/0"))
    (folder / name).write_bytes(b"other")
    assert str(folder / name) in tally.refused("export", "--tiles", folder)
    (folder / name).write_bytes(before[name])
    for damaged in (b"", b"hello\n", before["checkpoint"].replace(b"/memory\n", b"/memory\n9")):
        (folder / "checkpoint").write_bytes(damaged)
        assert str(folder / "checkpoint") in tally.refused("export", "--tiles", folder)
    lines = before["checkpoint"].split(b"\n")
    (folder / "checkpoint").write_bytes(before["checkpoint"].replace(lines[2], base64.b64encode(bytes(32))))
    assert "are not the first ones" in tally.refused("export", "--tiles", folder)
    (folder / "checkpoint").unlink()
    tally.json("export", "--tiles", folder)
    assert files(folder) == before
    (tally.folder / "file").write_text("x", "utf-8")
    assert "file" in tally.refused("export", "--tiles", tally.folder / "file")
    assert "file" in tally.refused("export", "--tiles", tally.folder / "file" / "below")
    elsewhere(tally)
    assert "nothing was ever written" in tally.refused("export", "--tiles", folder)
