"""What an embedder is, and what is kept of what it gives: one byte a dimension, so that everyone compares the same numbers.

A model's floats differ in their last digits from machine to machine and from batch to batch; what was rounded once and kept is
the same for good, and so is the order of a search over it (TIME.3).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

LARGEST = 127


class Embedder(Protocol):
    """A model that gives texts places in space: near ones say like things."""

    name: str
    """The model and how it is used: ``minilm-l6-int8/1``. Vectors of different names are never compared."""

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """The vectors of texts, in their order, as ``packed`` makes them. Any text has one.

        Raises:
            MachineError: the model cannot be run or reached; the message says what to do.
        """
        ...


def packed(values: Iterable[float]) -> bytes:
    """A vector as one signed byte a dimension, the largest of them ±127; all zero where there is nothing to point to.

    Cosine similarity does not depend on length, so nothing is lost but digits (about three of them are left).
    """
    kept = list(values)
    largest = max((abs(value) for value in kept), default=0.0)
    if not largest or largest != largest or largest == float("inf"):
        return bytes(len(kept))
    return bytes(round(value / largest * LARGEST) & 0xFF for value in kept)
