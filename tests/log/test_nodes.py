"""Proofs made from roots of subtrees are those made from all leaves, and ask for few hashes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import ProofError
from tallystick.log import merkle, nodes


class Kept:
    """The hashes of a tree, level by level, and how many were asked for."""

    def __init__(self, leaves: Sequence[bytes]) -> None:
        self.levels = [list(leaves)]
        while len(below := self.levels[-1]) >= nodes.FANOUT:
            full = range(0, len(below) - nodes.FANOUT + 1, nodes.FANOUT)
            self.levels.append([merkle.root_hash(below[at : at + nodes.FANOUT]) for at in full])
        self.asked = 0

    def __call__(self, level: int, start: int, stop: int) -> Sequence[bytes]:
        found = self.levels[level][start:stop]
        self.asked += len(found)
        return found


def leaves(count: int) -> list[bytes]:
    return [merkle.leaf_hash(str(n).encode()) for n in range(count)]


MANY = leaves(70_000)
KEPT = Kept(MANY)


@given(st.integers(1, 1100) | st.sampled_from([255, 256, 257, 511, 512, 513]), st.data())
def test_the_same_proofs(size: int, data: st.DataObject) -> None:
    """TRAIL.3: root, inclusion and consistency are those of RFC 6962 over all leaves."""
    first = MANY[:size]
    kept = Kept(first)
    index, old = data.draw(st.integers(0, size - 1)), data.draw(st.integers(1, size))
    assert nodes.root(size, kept) == merkle.root_hash(first)
    assert nodes.inclusion_proof(index, size, kept) == merkle.inclusion_proof(index, first)
    assert nodes.consistency_proof(old, size, kept) == merkle.consistency_proof(old, first)


@pytest.mark.parametrize("size", [65_535, 65_536, 65_537, 70_000])
def test_few_hashes_are_asked_for(size: int) -> None:
    """TRAIL.3: a proof in a log of any size asks for 256 hashes of a level at most, and leads to the root."""
    root = nodes.root(size, KEPT)
    for index in (0, 255, 256, 40_000, size - 1):
        KEPT.asked = 0
        proof = nodes.inclusion_proof(index, size, KEPT)
        assert KEPT.asked <= 256 * len(KEPT.levels)
        merkle.verify_inclusion(index, size, MANY[index], root, proof)
    for old in (1, 256, 300, 65_535, size):
        KEPT.asked = 0
        proof = nodes.consistency_proof(old, size, KEPT)
        assert KEPT.asked <= 256 * len(KEPT.levels)
        merkle.verify_consistency(old, size, nodes.root(old, KEPT), root, proof)


def test_what_is_refused() -> None:
    """TRAIL.3: a leaf that there is not, consistency from nothing, and hashes that are not there."""
    assert nodes.root(0, KEPT) == merkle.EMPTY_ROOT
    for index, size in ((5, 5), (-1, 5), (0, 0)):
        with pytest.raises(ProofError, match="not in a tree"):
            nodes.inclusion_proof(index, size, KEPT)
    for old, size in ((0, 5), (6, 5)):
        with pytest.raises(ProofError, match="cannot be proved"):
            nodes.consistency_proof(old, size, KEPT)
    with pytest.raises(ProofError, match="hashes of level 0"):
        nodes.inclusion_proof(0, 9, Kept(MANY[:5]))
