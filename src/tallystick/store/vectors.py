"""Questions about the vectors of claims' texts. A view and no evidence: a model makes them anew from the texts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Protocol

Vector = tuple[int, bytes]
"""(claim, one signed byte a dimension)."""


class VectorReading(Protocol):
    """Part of ``protocol.Reading``."""

    def vectors(self, model: str, as_of: int, holders: Collection[str] | None, limit: int) -> list[Vector]:
        """The newest ``limit`` claims that these holders (None: all of them) opened at or before a point, newest first, each
        with its vector of a model; with an empty one where it has none."""
        ...

    def vector_claims(self) -> Iterator[int]:
        """Every claim that has a vector of any model, in any order."""
        ...


class VectorWriting(Protocol):
    """Part of ``protocol.Writing``. What is erased of a claim's text takes its vectors with it."""

    def place(self, model: str, vectors: Iterable[Vector]) -> None:
        """Keep vectors of a model, in the place of those that are there."""
        ...
