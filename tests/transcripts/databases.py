"""Databases of harnesses, made of the SQL that lies in ``corpora``, and what the sessions in them must hold to."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

from tallystick.model.evidence import Event
from tallystick.testing.reader_contract import Framed, ReaderContract
from tallystick.transcripts.lines import Position, complete
from tallystick.transcripts.protocol import Gatherer, RawRecord, Reader
from tallystick.transcripts.view import DiskView

CORPORA = Path(__file__).resolve().parents[2] / "corpora"


def database_of(sql: Path, folder: Path) -> Path:
    """The database that ``sql`` makes, in ``folder``, named after it."""
    path = folder / f"{sql.stem}.db"
    database = sqlite3.connect(path)
    database.executescript(sql.read_text("utf-8"))
    database.close()
    return path


def rows_in(database: sqlite3.Connection) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every table."""
    names = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    return {name: list(database.execute(f'SELECT * FROM "{name}"')) for name in names}


def changed(path: Path, *statements: str) -> Path:
    """The database after these statements."""
    database = sqlite3.connect(path)
    for statement in statements:
        database.execute(statement)
    database.commit()
    database.close()
    return path


def documents(adapter: Gatherer, file: Path) -> dict[str, bytes]:
    """Name → document of the sessions that are gathered from where a file lies."""
    with DiskView() as view:
        return {each.name: each.load() for each in adapter.gather(view, adapter.anchor(file.as_posix()))}


def read(adapter: Gatherer, data: bytes, name: str = "one") -> tuple[list[Event], Reader]:
    """The events of a document, after a look that its records add up (EVID.3)."""
    reader = adapter.reader(name)
    events = list(reader.read([RawRecord(1, 0, data)]))
    silent = sum(count for key, count in reader.counts.items() if key.startswith("record:"))
    assert reader.records == reader.records_with_events + silent + len(reader.problems)
    return events, reader


class GatheredReaderContract(ReaderContract):
    """The contract for the sessions of ``corpora/<harness>/<sql>``: each is one document, and a torn one is no record yet."""

    adapter: Gatherer
    sql: str
    messages: str
    """The key of the list of messages in a document."""
    unknown: ClassVar[dict[str, Any]]
    """A message of next year."""

    def sources(self) -> dict[str, bytes]:
        """Every session of the database."""
        with TemporaryDirectory() as folder:
            return documents(self.adapter, database_of(CORPORA / self.adapter.name / self.sql, Path(folder)))

    def frame(self, data: bytes, at: Position, *, final: bool) -> Framed:
        """The whole document as one record, or none when it is torn or already read."""
        if at.offset or not data or not (final or complete(data)):
            return Framed([], at)
        return Framed([RawRecord(1, 0, data)], Position(len(data), 1))

    def with_unknown(self, data: bytes) -> bytes:
        """A message of a role of next year at the end, since a place is part of an id where there is no other."""
        whole = json.loads(data)
        whole[self.messages].append(self.unknown)
        return json.dumps(whole, ensure_ascii=False).encode()
