"""The vectors of claims' texts in PostgreSQL."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from tallystick.store.vectors import Vector


class PostgresVectors:
    """What ``protocol.Reading`` and ``protocol.Writing`` say of vectors."""

    _trail: Any

    def _ask(self, name: str, **values: Any) -> Any:
        """A statement by its name."""
        raise NotImplementedError

    def _add(self, name: str, rows: Iterable[Sequence[Any]], **values: Any) -> None:
        """Rows of a statement that takes a column of each in turn."""
        raise NotImplementedError

    def _numbers(self, holders: Collection[str] | None) -> list[int]:
        """The numbers that stand for holders in the tables; all of them for None."""
        raise NotImplementedError

    def vectors(self, model: str, as_of: int, holders: Collection[str] | None, limit: int) -> list[Vector]:
        """See ``vectors.VectorReading``."""
        rows = self._ask("vectors", model=model, as_of=as_of, holders=self._numbers(holders), limit=limit)
        return [(row[0], bytes(row[1])) for row in rows.fetchall()]

    def vector_claims(self) -> Iterator[int]:
        """See ``vectors.VectorReading``."""
        return (row[0] for row in self._ask("vector_claims").fetchall())

    def place(self, model: str, vectors: Iterable[Vector]) -> None:
        """See ``vectors.VectorWriting``."""
        self._add("place_vectors", vectors, model=model)
