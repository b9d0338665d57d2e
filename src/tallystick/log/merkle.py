"""The Merkle tree of RFC 6962: root, inclusion and consistency proofs, and the frontier that appends in O(log n) (TRAIL.3).

Leaves are given as leaf hashes, 32 bytes each. RFC 6962 section 2.1; verification follows RFC 9162 sections 2.1.3.2 and
2.1.4.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256

from tallystick.errors import ProofError

HASH_BYTES = 32
TILE_HEIGHT = 8
"""Levels of the tree between two at which the roots of complete subtrees are kept."""
TILE_MASK = 2**TILE_HEIGHT - 1
EMPTY_ROOT = sha256(b"").digest()


def leaf_hash(data: bytes) -> bytes:
    """``SHA-256(0x00 ‖ data)``."""
    return sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """``SHA-256(0x01 ‖ left ‖ right)``."""
    return sha256(b"\x01" + left + right).digest()


class Frontier:
    """The roots of the complete subtrees that make up a tree, largest first: all that appending needs."""

    def __init__(self, size: int = 0, nodes: Sequence[bytes] = ()) -> None:
        """Raises ``ProofError`` when the nodes cannot be those of a tree of ``size`` leaves."""
        if len(nodes) != size.bit_count() or any(len(node) != HASH_BYTES for node in nodes):
            raise ProofError(f"a frontier of {size} leaves has {size.bit_count()} hashes of 32 bytes, got {len(nodes)}")
        self.size = size
        self.nodes = list(nodes)
        self.completed: list[tuple[int, int, bytes]] = []
        """(level, n, root) of each subtree of 256**level leaves that was completed since this was made or emptied."""

    def append(self, leaf: bytes) -> None:
        """Add one leaf hash."""
        nodes, size = self.nodes, self.size
        if size & TILE_MASK == TILE_MASK:
            self.append_subtree(0, leaf)
            return
        while size & 1:
            leaf = sha256(b"\x01" + nodes.pop() + leaf).digest()
            size >>= 1
        nodes.append(leaf)
        self.size += 1

    def append_subtree(self, height: int, root: bytes) -> None:
        """Add 2**height leaves at once, by the root over them.

        Raises:
            ProofError: the tree does not end where such a subtree begins.
        """
        n, rest = divmod(self.size, 2**height)
        if rest:
            raise ProofError(f"no subtree of {2**height} leaves begins after {self.size}")
        size = self.size + 2**height
        while n & 1:
            root = sha256(b"\x01" + self.nodes.pop() + root).digest()
            n >>= 1
            height += 1
            if height % TILE_HEIGHT == 0:
                self.completed.append((height // TILE_HEIGHT, n, root))
        self.nodes.append(root)
        self.size = size

    def extend(self, leaves: Iterable[bytes]) -> None:
        """Add leaf hashes in order."""
        for leaf in leaves:
            self.append(leaf)

    def root(self) -> bytes:
        """Root of the tree of ``size`` leaves."""
        if not self.nodes:
            return EMPTY_ROOT
        root = self.nodes[-1]
        for node in self.nodes[-2::-1]:
            root = node_hash(node, root)
        return root

    def to_bytes(self) -> bytes:
        """The nodes one after the other."""
        return b"".join(self.nodes)

    @classmethod
    def from_bytes(cls, size: int, data: bytes) -> Frontier:
        """Inverse of ``to_bytes``. Raises ``ProofError`` when ``data`` does not fit ``size``."""
        return cls(size, [data[at : at + HASH_BYTES] for at in range(0, len(data), HASH_BYTES)])


Hashes = Callable[[int, int, int], Sequence[bytes]]
"""``(level, start, stop)`` → roots of the complete subtrees of 256**level leaves with ``start <= n < stop``."""


def frontier_at(size: int, hashes: Hashes) -> Frontier:
    """The frontier of a tree's first ``size`` leaves, from at most 255 kept hashes of each level.

    Raises:
        ProofError: a hash that should be kept is not.
    """
    frontier = Frontier()
    level = max(0, (size.bit_length() - 1) // TILE_HEIGHT)
    while level >= 0:
        width = TILE_HEIGHT * level
        start, stop = frontier.size >> width, size >> width
        found = hashes(level, start, stop)
        if len(found) != stop - start:
            raise ProofError(f"{stop - start - len(found)} hashes of level {level} are missing before leaf {size}")
        for each in found:
            frontier.append_subtree(width, each)
        level -= 1
    return frontier


def root_hash(leaves: Sequence[bytes]) -> bytes:
    """Root of the tree over ``leaves``."""
    frontier = Frontier()
    frontier.extend(leaves)
    return frontier.root()


def inclusion_proof(index: int, leaves: Sequence[bytes]) -> list[bytes]:
    """The audit path of leaf ``index`` in the tree over ``leaves``, from the leaf upwards.

    Raises:
        ProofError: there is no such leaf.
    """
    if not 0 <= index < len(leaves):
        raise ProofError(f"leaf {index} is not in a tree of {len(leaves)} leaves")
    if len(leaves) == 1:
        return []
    split = _split(len(leaves))
    if index < split:
        return [*inclusion_proof(index, leaves[:split]), root_hash(leaves[split:])]
    return [*inclusion_proof(index - split, leaves[split:]), root_hash(leaves[:split])]


def consistency_proof(old_size: int, leaves: Sequence[bytes]) -> list[bytes]:
    """Proof that the tree over the first ``old_size`` leaves is a prefix of the tree over all of them.

    Raises:
        ProofError: ``old_size`` is 0 (which proves nothing) or beyond the tree.
    """
    if not 0 < old_size <= len(leaves):
        raise ProofError(f"consistency from size {old_size} to {len(leaves)} cannot be proved")
    return _subproof(old_size, leaves, whole=True)


def verify_inclusion(index: int, size: int, leaf: bytes, root: bytes, proof: Sequence[bytes]) -> None:
    """Raise ``ProofError`` unless ``proof`` shows ``leaf`` at ``index`` of the tree of ``size`` leaves with ``root``."""
    _require_hashes([leaf, root, *proof])
    if not 0 <= index < size:
        raise ProofError(f"leaf {index} is not in a tree of {size} leaves")
    node, last, current = index, size - 1, leaf
    for sibling in proof:
        if last == 0:
            raise ProofError("the inclusion proof is too long")
        if node & 1 or node == last:
            current = node_hash(sibling, current)
            while not node & 1 and node:
                node >>= 1
                last >>= 1
        else:
            current = node_hash(current, sibling)
        node >>= 1
        last >>= 1
    if last:
        raise ProofError("the inclusion proof is too short")
    if current != root:
        raise ProofError("the inclusion proof leads to another root")


def verify_consistency(old_size: int, size: int, old_root: bytes, root: bytes, proof: Sequence[bytes]) -> None:
    """Raise ``ProofError`` unless ``proof`` shows the tree of ``old_size`` to be a prefix of the tree of ``size``."""
    _require_hashes([old_root, root, *proof])
    if not 0 < old_size <= size:
        raise ProofError(f"consistency from size {old_size} to {size} cannot be shown")
    if old_size == size:
        if proof:
            raise ProofError("the sizes are equal, so the consistency proof must be empty")
        if old_root != root:
            raise ProofError("one size, two roots")
        return
    path = list(proof)
    if old_size & (old_size - 1) == 0:
        path.insert(0, old_root)
    if not path:
        raise ProofError("the consistency proof is empty")
    _walk_consistency(old_size, size, old_root, root, path)


def _walk_consistency(old_size: int, size: int, old_root: bytes, root: bytes, path: list[bytes]) -> None:
    node, last = old_size - 1, size - 1
    while node & 1:
        node >>= 1
        last >>= 1
    old = new = path[0]
    for sibling in path[1:]:
        if last == 0:
            raise ProofError("the consistency proof is too long")
        if node & 1 or node == last:
            old, new = node_hash(sibling, old), node_hash(sibling, new)
            while not node & 1 and node:
                node >>= 1
                last >>= 1
        else:
            new = node_hash(new, sibling)
        node >>= 1
        last >>= 1
    if last:
        raise ProofError("the consistency proof is too short")
    if old != old_root:
        raise ProofError("the consistency proof leads to another old root")
    if new != root:
        raise ProofError("the consistency proof leads to another new root")


def _subproof(old_size: int, leaves: Sequence[bytes], *, whole: bool) -> list[bytes]:
    if old_size == len(leaves):
        return [] if whole else [root_hash(leaves)]
    split = _split(len(leaves))
    if old_size <= split:
        return [*_subproof(old_size, leaves[:split], whole=whole), root_hash(leaves[split:])]
    return [*_subproof(old_size - split, leaves[split:], whole=False), root_hash(leaves[:split])]


def _split(size: int) -> int:
    """The largest power of two below ``size``."""
    return 1 << (size - 1).bit_length() - 1


def _require_hashes(hashes: Iterable[bytes]) -> None:
    if any(len(each) != HASH_BYTES for each in hashes):
        raise ProofError("a hash is 32 bytes")
