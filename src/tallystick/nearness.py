"""How near vectors of one byte a dimension are to each other, in whole millionths: the same everywhere (TIME.3).

Sums of products of bytes are whole numbers, so nothing depends on the order of adding or on the machine; one division and one
root at the end are rounded to a millionth.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt
from typing import Any

MILLION = 1_000_000
_AT_ONCE = 2048
"""Vectors that are compared together: as many as a processor keeps near."""


def nearest(query: bytes, vectors: Sequence[tuple[int, bytes]], limit: int) -> list[tuple[int, int]]:
    """(claim, cosine in millionths) of the ``limit`` nearest to ``query``, nearest first, the newer one first where equal.

    Vectors of another length than the query's, and those that point nowhere, are not near anything.
    """
    import numpy as np  # Comes with what made the vectors.

    size = len(query)
    fitting = [(claim, vector) for claim, vector in vectors if len(vector) == size]
    if not fitting or not any(query):
        return []
    # Sums of products of bytes below 2^24 are exact in 32-bit floats, in whatever order they are added, and below 2^53 in 64.
    exact: Any = np.float32 if size * 127 * 127 < 2**24 else np.float64
    asked: Any = np.frombuffer(query, dtype=np.int8).astype(exact)
    dots, squares = (np.empty(len(fitting), dtype=exact) for _ in range(2))
    for start in range(0, len(fitting), _AT_ONCE):
        some = fitting[start : start + _AT_ONCE]
        rows: Any = np.frombuffer(b"".join(vector for _, vector in some), dtype=np.int8).astype(exact)
        rows = rows.reshape(len(some), size)
        dots[start : start + len(some)] = rows @ asked
        squares[start : start + len(some)] = np.einsum("ij,ij->i", rows, rows)
    near = dots.astype(np.float64) / np.sqrt(np.maximum(squares, 1).astype(np.float64) * float(asked @ asked))
    least = np.partition(near, -limit)[-limit] - 2 / MILLION if len(near) > limit else -2.0
    own = int(asked @ asked)
    found = [
        (fitting[n][0], cosine(int(dots[n]), own * int(squares[n])))
        for n in np.flatnonzero((near >= least) & (squares > 0)).tolist()
    ]
    return sorted(found, key=lambda each: (-each[1], -each[0]))[:limit]


def cosine(dot: int, squares: int) -> int:
    """``dot`` by the root of ``squares`` (the product of both vectors' squared lengths), in millionths, towards zero."""
    value = isqrt(dot * dot * MILLION * MILLION // squares)
    return value if dot >= 0 else -value
