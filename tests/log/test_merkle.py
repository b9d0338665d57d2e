"""The Merkle tree against the official vectors, and against the definition written out."""

from __future__ import annotations

import base64
import json
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.errors import ProofError
from tallystick.log import merkle

VECTORS = Path(__file__).resolve().parents[2] / "vectors" / "rfc6962"
SHORT_ROOTS = "consistency/additional/sizes-are-equal-one-and-proof-is-empty.json"
"""Its roots are 12-byte placeholders and it wants no error; TRAIL.3 refuses hashes that are not 32 bytes."""


def _hashes(row: dict[str, object], name: str) -> bytes:
    return base64.b64decode(str(row[name] or ""))


def _proof(row: dict[str, object]) -> list[bytes]:
    proof = row["proof"]
    return [base64.b64decode(each) for each in proof] if isinstance(proof, list) else []


def _rows(kind: str) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = json.loads((VECTORS / f"{kind}.json").read_text())
    assert len(rows) == 98
    return rows


def test_every_inclusion_vector() -> None:
    """TRAIL.3: all 98 inclusion vectors come out as they say."""
    for row in _rows("inclusion"):
        index, size = int(str(row["leafIdx"])), int(str(row["treeSize"]))
        try:
            merkle.verify_inclusion(index, size, _hashes(row, "leafHash"), _hashes(row, "root"), _proof(row))
            failed = False
        except ProofError:
            failed = True
        assert failed == row["wantErr"], row["file"]


def test_every_consistency_vector() -> None:
    """TRAIL.3: all 98 consistency vectors come out as they say, but for one whose hashes are not hashes."""
    for row in _rows("consistency"):
        sizes = int(str(row["size1"])), int(str(row["size2"]))
        try:
            merkle.verify_consistency(*sizes, _hashes(row, "root1"), _hashes(row, "root2"), _proof(row))
            failed = False
        except ProofError:
            failed = True
        wanted = row["wantErr"] or row["file"] == SHORT_ROOTS or sizes[0] == 0
        assert failed == wanted, row["file"]


def _defined_root(leaves: list[bytes]) -> bytes:
    """RFC 6962 section 2.1, as written."""
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return sha256(b"\x01" + _defined_root(leaves[:split]) + _defined_root(leaves[split:])).digest()


leaf_lists = st.integers(0, 70).map(lambda n: [merkle.leaf_hash(str(i).encode()) for i in range(n)])


@given(leaf_lists)
def test_frontier_grows_to_the_defined_root(leaves: list[bytes]) -> None:
    """TRAIL.3: appending one by one, saved and restored on the way, gives the root of the definition."""
    frontier = merkle.Frontier()
    for leaf in leaves:
        frontier = merkle.Frontier.from_bytes(frontier.size, frontier.to_bytes())
        frontier.append(leaf)
    assert frontier.root() == _defined_root(leaves) == merkle.root_hash(leaves)


@given(leaf_lists.filter(bool), st.data())
def test_proofs_hold_and_a_changed_one_does_not(leaves: list[bytes], data: st.DataObject) -> None:
    """TRAIL.3: proofs verify, and no single changed bit of them does."""
    index = data.draw(st.integers(0, len(leaves) - 1))
    old = data.draw(st.integers(1, len(leaves)))
    root, old_root = merkle.root_hash(leaves), merkle.root_hash(leaves[:old])
    inclusion, consistency = merkle.inclusion_proof(index, leaves), merkle.consistency_proof(old, leaves)
    merkle.verify_inclusion(index, len(leaves), leaves[index], root, inclusion)
    merkle.verify_consistency(old, len(leaves), old_root, root, consistency)
    for proof in (inclusion, consistency):
        if not proof:
            continue
        place = data.draw(st.integers(0, len(proof) - 1))
        bit = data.draw(st.integers(0, 255))
        number = int.from_bytes(proof[place], "big") ^ (1 << bit)
        bad = [*proof[:place], number.to_bytes(32, "big"), *proof[place + 1 :]]
        if proof is inclusion:
            with pytest.raises(ProofError):
                merkle.verify_inclusion(index, len(leaves), leaves[index], root, bad)
        else:
            with pytest.raises(ProofError):
                merkle.verify_consistency(old, len(leaves), old_root, root, bad)


def test_what_is_refused() -> None:
    """TRAIL.3: consistency from size 0 and hashes of another length are refused."""
    leaf = merkle.leaf_hash(b"a")
    with pytest.raises(ProofError, match="from size 0"):
        merkle.verify_consistency(0, 1, merkle.EMPTY_ROOT, leaf, [])
    with pytest.raises(ProofError, match="32 bytes"):
        merkle.verify_inclusion(0, 1, leaf[:31], leaf, [])
    with pytest.raises(ProofError, match="not in a tree"):
        merkle.inclusion_proof(1, [leaf])
    with pytest.raises(ProofError, match="hashes of 32 bytes"):
        merkle.Frontier(3, [leaf])


LEAVES = [sha256(b"%d" % n).digest() for n in range(70_000)]
FRONTIER = merkle.Frontier()
FRONTIER.extend(LEAVES)


def _kept(level: int, start: int, stop: int) -> list[bytes]:
    """Hashes as a store keeps them: leaves, and the subtrees that were completed on the way."""
    if level == 0:
        return LEAVES[start:stop]
    return [digest for at, n, digest in FRONTIER.completed if at == level and start <= n < stop]


def test_what_is_completed_are_the_subtrees() -> None:
    """TRAIL.3: as leaves are appended, the root of each complete subtree of 256 and of 65,536 leaves is handed out once."""
    assert [(level, n) for level, n, _ in FRONTIER.completed if level == 1] == [(1, n) for n in range(70_000 // 256)]
    assert [(level, n) for level, n, _ in FRONTIER.completed if level > 1] == [(2, 0)]
    for level, n, digest in FRONTIER.completed[::20]:
        assert digest == merkle.root_hash(LEAVES[n * 256**level : (n + 1) * 256**level])


@given(st.one_of(st.integers(0, 70_000), st.sampled_from([0, 1, 255, 256, 257, 65_535, 65_536, 65_537, 66_048])))
@settings(max_examples=20)
def test_a_root_of_the_past_from_what_is_kept(size: int) -> None:
    """TRAIL.3, TIME.3: the root of any earlier size comes from the kept hashes alone, and the tree grows on from there."""
    frontier = merkle.frontier_at(size, _kept)
    assert frontier.size == size
    assert frontier.root() == merkle.root_hash(LEAVES[:size])
    frontier.extend(LEAVES[size : size + 3])
    assert frontier.root() == merkle.root_hash(LEAVES[: size + 3])


def test_a_kept_hash_that_is_missing() -> None:
    """TRAIL.8: a root is not made from fewer hashes than it takes."""
    with pytest.raises(ProofError, match="1 hashes of level 1 are missing"):
        merkle.frontier_at(1024, lambda level, start, stop: _kept(level, start, stop)[1:])
    with pytest.raises(ProofError, match="no subtree of 4 leaves begins after 2"):
        merkle.Frontier(2, [b"x" * 32]).append_subtree(2, b"y" * 32)
