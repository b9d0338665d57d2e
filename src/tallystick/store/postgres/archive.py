"""The archive of a log in PostgreSQL, and ingest's notes of files: what ``protocol.Reading`` answers of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from tallystick.errors import TrailUnreadable
from tallystick.store.postgres.migrating import HERE
from tallystick.store.postgres.rows import event_key, event_told, path_key, source_told
from tallystick.store.protocol import ArchivedEvent, BlockRow, SourceRow
from tallystick.store.statements import named

SQL = {name: statement.encode() for name, statement in named(HERE).items()}
LAST = 2**62
RUN = 2000
"""Rows that are asked for at once where there can be any number."""
_RUN_BLOCKS = 20


class Archive:
    """The questions of ``protocol.Reading`` that are of the archive, over a connection in a transaction."""

    def __init__(self, connection: Any, log: int) -> None:
        """``connection`` is a ``psycopg.Connection`` bound to the trail, or whatever answers like one."""
        self._db = connection
        self._log = log

    def _ask(self, name: str, **values: Any) -> Any:
        return self._run(SQL[name], values)

    def _run(self, sql: bytes, values: dict[str, Any]) -> Any:
        return self._db.execute(sql, {"log": self._log, **values}, binary=True)

    def _one(self, name: str, **values: Any) -> Any:
        return self._ask(name, **values).fetchone()

    def event(self, event: str) -> ArchivedEvent | None:
        """See ``protocol.Reading``."""
        return self.archived([event]).get(event)

    def archived(self, events: Collection[str]) -> dict[str, ArchivedEvent]:
        """See ``protocol.Reading``."""
        found: dict[str, ArchivedEvent] = {}
        for row in self._ask("event", events=[event_key(event) for event in events]):
            place = event_told(row)
            found.setdefault(place.event, place)
        return found

    def session_size(self, session: int) -> int:
        """See ``protocol.Reading``: events are numbered from 0 without gaps."""
        row = self._one("session_size", session=session)
        return row[0] if row else 0

    def session_events(self, session: int, first: int = 0, stop: int | None = None) -> Iterator[ArchivedEvent]:
        """See ``protocol.Reading``."""
        end = LAST if stop is None else stop
        while True:
            rows = self._ask("session_events", session=session, first=first, stop=end, run=RUN).fetchall()
            yield from map(event_told, rows)
            if len(rows) < RUN:
                return
            first = rows[-1][1] + 1

    def events(self) -> Iterator[ArchivedEvent]:
        """See ``protocol.Reading``."""
        session, n = -LAST, -1
        while True:
            rows = self._ask("events", session=session, n=n, run=RUN).fetchall()
            yield from map(event_told, rows)
            if len(rows) < RUN:
                return
            session, n = rows[-1][:2]

    def block(self, block: int) -> bytes:
        """See ``protocol.Reading``."""
        row = self._one("block", block=block)
        if row is None:
            raise TrailUnreadable(f"archive block {block} is missing; run `tally verify`")
        return bytes(row[0])

    def blocks(self) -> Iterator[BlockRow]:
        """See ``protocol.Reading``."""
        after = -LAST
        while True:
            rows = self._ask("blocks", after=after, run=_RUN_BLOCKS).fetchall()
            yield from map(BlockRow._make, rows)
            if len(rows) < _RUN_BLOCKS:
                return
            after = rows[-1][0]

    def source(self, path: str) -> SourceRow | None:
        """See ``protocol.Reading``."""
        row = self._one("source", key=path_key(path))
        return source_told(row) if row else None

    def sources(self, session: int) -> list[SourceRow]:
        """See ``protocol.Reading``."""
        return [source_told(row) for row in self._ask("sources", session=session)]
