"""The vectors of ``vectors/trail``: as they are made, as the product reads them, and as docs/spec/trail.md alone would have it.

``Stranger`` is a verifier of an export written from the page and nothing else: standard library, ``rfc8785``, ``zstandard``
and Ed25519.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import rfc8785
import zstandard
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from tallystick.errors import CanonicalError, ProofError, UsageError
from tallystick.log.canonical import entry_bytes, entry_from_bytes, part_digest
from tallystick.log.checkpoint import parse, verify
from tallystick.log.merkle import Frontier, leaf_hash
from tallystick.model.entry import LogName
from tallystick.store.memory import MemoryStore
from tallystick.store.outside import check_signature
from tallystick.testing.trails import trail_over
from tallystick.trail.archive import event_id
from tallystick.trail.verifying import verify_log
from tallystick.workflows.portable import import_lines
from tests import make_vectors

FOLDER = make_vectors.FOLDER
TRAILS = sorted(path.parent.name for path in FOLDER.glob("*/expected.json"))


def _read(name: str) -> Any:
    return json.loads((FOLDER / name).read_bytes())


def _comparable(name: str, data: bytes) -> Any:
    """Blocks are storage, and another release of the compressor may pack them otherwise."""
    if not name.endswith(".jsonl"):
        return data
    lines = [json.loads(line) for line in data.splitlines()]
    for line in lines:
        if "block" in line:
            line["data"] = zstandard.ZstdDecompressor().decompress(base64.b64decode(line["data"]))
    return lines


def test_the_vectors_are_what_is_made_today() -> None:
    """TRAIL.2, 4: bytes, digests, roots and signatures come out as they are committed; a change of format shows here."""
    made = make_vectors.files()
    kept = {str(path.relative_to(FOLDER)): path.read_bytes() for path in FOLDER.rglob("*") if path.is_file()}
    assert made.keys() == kept.keys()
    assert len(TRAILS) == 17
    differing = [name for name in made if _comparable(name, made[name]) != _comparable(name, kept[name])]
    assert differing == []


def test_entries() -> None:
    """TRAIL.2, 3: fields, canonical bytes, leaf hashes and roots agree, with the reference encoder and without."""
    frontier = Frontier()
    rows = _read("entries.json")
    for row in rows:
        canon = row["canonical"].encode("ascii")
        entry = entry_from_bytes(canon)
        assert entry_bytes(entry) == canon
        fields = {name: value for name, value in row["fields"].items() if value or name not in ("holder", "xrefs")}
        assert rfc8785.dumps(fields) == canon
        assert leaf_hash(canon).hex() == row["leaf"] == hashlib.sha256(b"\0" + canon).hexdigest()
        frontier.append(leaf_hash(canon))
        assert frontier.root().hex() == row["root_with_all_before"]
    assert len(rows) == 5


def test_refused_entries() -> None:
    """TRAIL.2: each is refused, and differs from a good one in one thing."""
    rows = _read("refused.json")
    for row in rows:
        with pytest.raises(CanonicalError):
            entry_from_bytes(row["entry"].encode())
    assert len(rows) == 26


def test_parts() -> None:
    """TRAIL.4: SHA-256 of the salt and the bytes."""
    for row in _read("parts.json"):
        salt, body = bytes.fromhex(row["salt"]), base64.b64decode(row["body"])
        assert part_digest(salt, body) == row["digest"] == hashlib.sha256(salt + body).hexdigest()
        with pytest.raises(CanonicalError):
            part_digest(salt[:31], body)


def test_archived_events() -> None:
    """EVID.1, 11: ids come from the record's own ids, and the commitment covers salt, id and record."""
    rows = _read("archive.json")
    for row in rows:
        assert event_id(row["harness"], row["session"], row["thread"], row["uid"]) == row["event"]
        content = bytes.fromhex(row["salt"]) + row["event"].encode() + b"\n" + base64.b64decode(row["record"])
        assert hashlib.sha256(content).hexdigest() == row["digest"]
    assert len(rows) == 2


def test_checkpoints() -> None:
    """TRAIL.8: the note is read and its signature holds; each changed one is refused or states something else."""
    row = _read("checkpoint.json")
    public = bytes.fromhex(row["public_key"])
    note = parse(row["note"].encode())
    verify(note, row["key_name"], public, check_signature(public))
    assert (note.checkpoint.origin, note.checkpoint.size, note.checkpoint.root.hex()) == (
        row["origin"], row["size"], row["root"],
    )  # fmt: skip
    for bad in row["bad"]:
        with pytest.raises(ProofError):
            verify(parse(bad["note"].encode()), row["key_name"], public, check_signature(public))
    assert len(row["bad"]) == 6


@pytest.mark.parametrize("name", TRAILS)
def test_a_stranger_finds_what_is_wrong(name: str) -> None:
    """TRAIL.7, 8: a verifier written from the page alone accepts the good trail and names what is wrong with each other."""
    expected = _read(f"{name}/expected.json")
    found = Stranger(FOLDER / name, bytes.fromhex(expected["public_key"])).verdict()
    assert found == (None if expected["sound"] else (expected["what"], expected.get("seq", -1)))


@pytest.mark.parametrize("name", TRAILS)
def test_the_product_takes_in_the_good_and_refuses_the_rest(name: str) -> None:
    """TRAIL.7, 8: an import refuses what is damaged, and ``verify`` what only a checkpoint can tell."""
    expected = _read(f"{name}/expected.json")
    trail = trail_over(MemoryStore())
    lines = io.BytesIO((FOLDER / name / "trail.jsonl").read_bytes())
    try:
        import_lines(trail, lines)
    except UsageError:
        assert not expected["sound"]
        return
    # The trail's key stays behind in an export, so the checkpoint is compared by what it states.
    head = parse((FOLDER / name / "memory.checkpoint").read_bytes()).checkpoint
    report = verify_log(trail, LogName.MEMORY)
    agrees = (report.size, report.root) == (head.size, head.root)
    assert (report.sound and agrees) == expected["sound"]


class Stranger:
    """A verifier of one exported memory log."""

    def __init__(self, folder: Path, public_key: bytes) -> None:
        lines = [json.loads(line) for line in (folder / "trail.jsonl").read_bytes().splitlines()]
        self.entries = [line["entry"].encode("ascii") for line in lines if "entry" in line]
        self.parts = [line for line in lines if "part" in line]
        self.blocks = {line["block"]: base64.b64decode(line["data"]) for line in lines if "block" in line}
        self.events = [line["event"] for line in lines if "event" in line]
        self.note = (folder / "memory.checkpoint").read_text()
        self.header = lines[0]
        self.public_key = public_key

    def verdict(self) -> tuple[str, int] | None:
        """(what is wrong, seq or -1) of the first thing that is; None where all holds."""
        return next(self._wrong(), None)

    def _erased(self) -> tuple[dict[int, set[str]], set[tuple[int, int]]]:
        """What entries say was erased: names of parts by seq, and (session, number) of archived events."""
        parts: dict[int, set[str]] = {}
        events: set[tuple[int, int]] = set()
        for entry in map(json.loads, self.entries):
            bodies = [p["body"] for p in self.parts if (p["seq"], p["part"]) == (entry["seq"], "places")]
            if entry["kind"] != "erased" or entry["v"] > 1 or not bodies:
                continue
            places = json.loads(base64.b64decode(bodies[0]))
            for seq, names in places.get("parts", {}).items():
                if int(seq) in entry["refs"] and int(seq) < entry["seq"]:
                    parts.setdefault(int(seq), set()).update(names)
            events |= {(int(session), n) for session, ns in places.get("events", {}).items() for n in ns}
        return parts, events

    def _wrong(self) -> Iterator[tuple[str, int]]:
        erased, erased_events = self._erased()
        manifests: dict[int, list[tuple[int, bytes]]] = {}
        at = 0
        for place, canon in enumerate(self.entries):
            entry = json.loads(canon)
            if rfc8785.dumps(entry) != canon:
                yield "canonical", place
            if entry["seq"] != place:
                yield "seq", place
            if entry["at"] < at and entry["kind"] != "clock_repaired":
                yield "time", place
            at = entry["at"]
            mine = {part["part"]: part for part in self.parts if part["seq"] == place}
            if mine.keys() != entry["parts"].keys() - erased.get(place, set()):
                yield "part", place
            for name, digest in entry["parts"].items():
                if name in erased.get(place, ()):
                    continue
                salt, body = bytes.fromhex(mine[name]["salt"]), base64.b64decode(mine[name]["body"])
                if len(salt) != 32 or hashlib.sha256(salt + body).hexdigest() != digest:
                    yield "part", place
                if entry["kind"] == "observed" and name == "manifest":
                    manifests.setdefault(entry["refs"][0], []).append((place, body))
        yield from self._tree()
        yield from self._archive(manifests, erased_events)

    def _tree(self) -> Iterator[tuple[str, int]]:
        if _root([hashlib.sha256(b"\0" + canon).digest() for canon in self.entries]).hex() != self.header["root"]:
            yield "root", -1
        body, _, signatures = self.note.partition("\n\n")
        origin, size, root = body.split("\n")
        name = f"tallystick/{self.header['trail']}"
        found = re.fullmatch(rf"— {name} (\S+)\n", signatures)
        stamp = base64.b64decode(found[1]) if found else b""
        key_id = hashlib.sha256(name.encode() + b"\n\x01" + self.public_key).digest()[:4]
        try:
            Ed25519PublicKey.from_public_bytes(self.public_key).verify(stamp[4:], f"{body}\n".encode())
        except InvalidSignature:
            yield "checkpoint", -1
        if origin != f"{name}/memory" or stamp[:4] != key_id:
            yield "checkpoint", -1
        first = [hashlib.sha256(b"\0" + canon).digest() for canon in self.entries[: int(size)]]
        if len(first) < int(size) or _root(first) != base64.b64decode(root):
            yield "checkpoint", -1

    def _archive(
        self, manifests: dict[int, list[tuple[int, bytes]]], erased: set[tuple[int, int]]
    ) -> Iterator[tuple[str, int]]:
        committed = {}
        for session, rows in manifests.items():
            for seq, manifest in rows:
                head, _, digests = manifest.partition(b"\n")
                first = json.loads(head)["first"]
                for n in range(json.loads(head)["events"]):
                    committed[session, first + n] = seq, digests[32 * n : 32 * n + 32]
        for session, n, event, block, offset, length, salt in self.events:
            seq, digest = committed.pop((session, n), (-1, b""))
            if block < 0 or (session, n) in erased:
                if block >= 0 or (session, n) not in erased:
                    yield "archive", seq
                continue
            record = zstandard.ZstdDecompressor().decompress(self.blocks[block])[offset : offset + length]
            if hashlib.sha256(bytes.fromhex(salt) + event.encode() + b"\n" + record).digest() != digest:
                yield "archive", seq
        for seq, _ in committed.values():
            yield "archive", seq


def _root(leaves: list[bytes]) -> bytes:
    """RFC 6962, as it is written there."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return hashlib.sha256(b"\x01" + _root(leaves[:split]) + _root(leaves[split:])).digest()
