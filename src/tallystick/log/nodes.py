"""Proofs from the roots of complete subtrees, 256 wide: O(256 · log n) hashes are asked for, however long the log (TRAIL.3).

What is asked for is what a tlog-tiles log serves and what a store can keep; RFC 6962 sections 2.1.1 and 2.1.2 say what is
made of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tallystick.errors import ProofError
from tallystick.log.merkle import EMPTY_ROOT, node_hash, root_hash

FANOUT = 256
_BITS = FANOUT.bit_length() - 1


class Nodes(Protocol):
    """Where the hashes of a tree are kept."""

    def __call__(self, level: int, start: int, stop: int) -> Sequence[bytes]:
        """Roots of the complete subtrees of 256**level leaves with ``start <= n < stop``; of level 0 the leaf hashes."""
        ...


def root(size: int, nodes: Nodes) -> bytes:
    """Root of the tree of the first ``size`` leaves.

    Raises:
        ProofError: ``nodes`` has fewer hashes than were asked for.
    """
    return _root_between(0, size, nodes) if size else EMPTY_ROOT


def inclusion_proof(index: int, size: int, nodes: Nodes) -> list[bytes]:
    """The audit path of leaf ``index`` in the tree of the first ``size`` leaves, from the leaf upwards.

    Raises:
        ProofError: there is no such leaf, or ``nodes`` has fewer hashes than were asked for.
    """
    if not 0 <= index < size:
        raise ProofError(f"leaf {index} is not in a tree of {size} leaves")
    start, stop, path = 0, size, []
    while stop - start > 1:
        split = start + _split(stop - start)
        if index < split:
            path.append(_root_between(split, stop, nodes))
            stop = split
        else:
            path.append(_root_between(start, split, nodes))
            start = split
    return path[::-1]


def consistency_proof(old_size: int, size: int, nodes: Nodes) -> list[bytes]:
    """Proof that the tree of the first ``old_size`` leaves is the beginning of the tree of the first ``size``.

    Raises:
        ProofError: ``old_size`` is 0 (which proves nothing) or beyond the tree, or ``nodes`` has too few hashes.
    """
    if not 0 < old_size <= size:
        raise ProofError(f"consistency from size {old_size} to {size} cannot be proved")
    start, stop, path = 0, size, []
    while old_size != stop:
        split = start + _split(stop - start)
        if old_size <= split:
            path.append(_root_between(split, stop, nodes))
            stop = split
        else:
            path.append(_root_between(start, split, nodes))
            start = split
    # The whole of the old tree is what the verifier has already.
    return ([_root_between(start, stop, nodes)] if start else []) + path[::-1]


def _root_between(start: int, stop: int, nodes: Nodes) -> bytes:
    """Root over the leaves ``start`` … ``stop``, where ``start`` is a place at which RFC 6962 splits a tree."""
    size = stop - start
    if size & (size - 1) == 0:
        return _complete(start, stop, nodes)
    split = _split(size)
    return node_hash(_complete(start, start + split, nodes), _root_between(start + split, stop, nodes))


def _complete(start: int, stop: int, nodes: Nodes) -> bytes:
    """Root of a complete subtree, from the largest subtrees that are kept."""
    level = ((stop - start).bit_length() - 1) // _BITS
    width: int = FANOUT**level
    found = nodes(level, start // width, stop // width)
    if len(found) != (stop - start) // width:
        raise ProofError(
            f"{(stop - start) // width} hashes of level {level} from {start // width} on, found {len(found)}"
        )
    return root_hash(found)


def _split(size: int) -> int:
    """The largest power of two below ``size``."""
    return 1 << (size - 1).bit_length() - 1
