"""How near vectors of one byte a dimension are to each other, in whole millionths: the same everywhere (TIME.3).

Sums of products of bytes are whole numbers, so nothing depends on the order of adding or on the machine; one division and one
root at the end are rounded to a millionth.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt

MILLION = 1_000_000


def nearest(query: bytes, vectors: Sequence[tuple[int, bytes]], limit: int) -> list[tuple[int, int]]:
    """(claim, cosine in millionths) of the ``limit`` nearest to ``query``, nearest first, the newer one first where equal.

    Vectors of another length than the query's, and those that point nowhere, are not near anything.
    """
    import numpy as np  # Comes with what made the vectors.

    size = len(query)
    fitting = [(claim, vector) for claim, vector in vectors if len(vector) == size]
    if not fitting or not any(query):
        return []
    asked = np.frombuffer(query, dtype=np.int8).astype(np.int32)
    rows = np.frombuffer(b"".join(vector for _, vector in fitting), dtype=np.int8).reshape(len(fitting), size)
    dots = (rows.astype(np.int32) @ asked).tolist()
    squares = np.einsum("ij,ij->i", rows, rows, dtype=np.int64).tolist()
    own = int(asked.astype(np.int64) @ asked.astype(np.int64))
    found = [
        (claim, cosine(dot, own * square))
        for (claim, _), dot, square in zip(fitting, dots, squares, strict=True)
        if square
    ]
    return sorted(found, key=lambda each: (-each[1], -each[0]))[:limit]


def cosine(dot: int, squares: int) -> int:
    """``dot`` by the root of ``squares`` (the product of both vectors' squared lengths), in millionths, towards zero."""
    value = isqrt(dot * dot * MILLION * MILLION // squares)
    return value if dot >= 0 else -value
