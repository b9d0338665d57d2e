"""The index of the archive in SQLite: a contentless FTS5 table of words, and a table of which event stands at a place."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import partial

import apsw

from tallystick.store.said import EARLIEST, Place, Places, Said, Sought, is_within, ranges, session_word
from tallystick.store.sqlite.statements import statements

_SQL = statements()
_FEW = 64
"""Sessions up to which they are looked for as words; of more it is looked at each event that was found."""
_place = partial(tuple.__new__, Place)


class SaidReading:
    """What ``protocol.Reading`` answers of the index of the archive."""

    _db: apsw.Connection

    def said(self, sought: Sought) -> Iterator[Place]:
        """See ``protocol.Reading``."""
        wanted, sessions = [list(forms) for forms in sought.words], None
        if sought.sessions is not None and len(sought.sessions) <= _FEW:
            wanted.append([session_word(session) for session in sought.sessions])
        elif sought.sessions is not None:
            sessions = json.dumps(sorted(sought.sessions))
        if not wanted or not all(wanted):
            return
        query = " AND ".join(f"({' OR '.join(map(_quoted, forms))})" for forms in wanted)
        for first, last in ranges(sought):
            for row in self._db.execute(_SQL["said"], (query, first, last, sessions, sessions)):
                place = _place(row)
                if is_within(place, sought):
                    yield place

    def said_span(self, session: int, stop: int) -> tuple[int, int, int]:
        """See ``protocol.Reading``."""
        count, began, ended = self._db.execute(_SQL["said_span"], (session, stop)).fetchone() or (0, -1, -1)
        return count, began, ended

    def said_places(self) -> Iterator[Place]:
        """See ``protocol.Reading``."""
        return map(_place, self._db.execute(_SQL["said_places"]))

    def said_words(self) -> Iterator[tuple[str, int, int]]:
        """See ``protocol.Reading``. A word of an event that has no place comes with None for its session."""
        before = self._db.execute("PRAGMA query_only").get
        self._db.execute("PRAGMA query_only = 0")  # What is made is the connection's own, and nothing of the trail.
        try:
            self._db.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.said_kept USING fts5vocab (main, said, instance)")
        finally:
            self._db.execute(f"PRAGMA query_only = {before}")
        return iter(self._db.execute(_SQL["said_words"]))


class SaidWriting(SaidReading):
    """What ``protocol.Writing`` does to it."""

    _places: Places | None = None

    def say(self, said: Iterable[Said]) -> None:
        """See ``protocol.Writing``."""
        if self._places is None:
            self._places = Places(self._is_taken, self._last_untimed)
        given = self._places.given(said)
        self._db.executemany(_SQL["add_said_place"], [(place, *each[:3]) for place, each in given])
        self._db.executemany(_SQL["add_said"], ((place, " ".join(each.words)) for place, each in given))

    def unsay(self, said: Iterable[Said]) -> None:
        """See ``protocol.Writing``."""
        for each in said:
            row = self._db.execute(_SQL["said_place_of"], each[:2]).fetchone()
            if row is not None:
                self._db.execute(_SQL["erase_said"], (row[0], " ".join(each.words)))
                self._db.execute(_SQL["erase_said_place"], row)
        self._places = None

    def _is_taken(self, place: int) -> bool:
        return bool(self._db.execute(_SQL["is_said_place"], (place,)).get)

    def _last_untimed(self) -> int:
        return int(self._db.execute(_SQL["last_said_place"], (EARLIEST,)).get)


def _quoted(form: str) -> str:
    return f'"{form[:-1]}" *' if form.endswith("*") else f'"{form}"'
