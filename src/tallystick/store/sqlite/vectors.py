"""The vectors of claims' texts in SQLite."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from heapq import merge
from itertools import islice
from operator import itemgetter
from typing import Any

import apsw

from tallystick.store.sqlite.statements import statements
from tallystick.store.vectors import Vector

_SQL = statements()
_CLAIM = itemgetter(0)


class SqliteVectors:
    """What ``protocol.Reading`` and ``protocol.Writing`` say of vectors."""

    _db: apsw.Connection

    @property
    def _settled(self) -> apsw.Connection:
        return self._db

    def _numbers_of(self, holders: Collection[str]) -> list[int]:
        """The numbers that stand for holders in the tables."""
        raise NotImplementedError

    def vectors(self, model: str, as_of: int, holders: Collection[str] | None, limit: int) -> list[Vector]:
        """See ``vectors.VectorReading``: read along each holder's index, as far as is asked for."""
        order = " ORDER BY v.claim DESC"
        if holders is None:
            rows: Iterable[Any] = self._settled.execute(_SQL["vectors"] + order, (model, as_of))
        else:
            sql = f"{_SQL['vectors']} AND holder = ?{order}"
            mine = [self._settled.execute(sql, (model, as_of, number)) for number in self._numbers_of(holders)]
            rows = merge(*mine, key=_CLAIM, reverse=True)
        return list(islice(rows, limit))

    def vector_claims(self) -> Iterator[int]:
        """See ``vectors.VectorReading``."""
        return (row[0] for row in self._db.execute(_SQL["vector_claims"]))

    def place(self, model: str, vectors: Iterable[Vector]) -> None:
        """See ``vectors.VectorWriting``."""
        self._db.executemany(_SQL["place_vector"], [(model, claim, vector) for claim, vector in vectors])
