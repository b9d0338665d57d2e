"""SQLite databases that harnesses keep their sessions in: known by their tables, and read by the columns that are there.

A schema grows from version to version: a column that is missing is None, and one that nobody knows is not asked for (EVID.3).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tallystick.errors import UsageError
from tallystick.model.temporal import END_OF_TIME, Instant
from tallystick.transcripts.protocol import FileView

MAGIC = b"SQLite format 3\0"
_TABLE = b"CREATE TABLE "
_NAME = re.compile(rb"(?:IF NOT EXISTS )?[\"'`\[]?(\w{1,80})")
_MOST_OF_A_TABLE = 8_000
# A text that is no UTF-8 cannot be handed over as text.
_AS_BYTES = """CASE typeof("{0}") WHEN 'text' THEN CAST("{0}" AS BLOB) ELSE "{0}" END"""


def tables_in(head: bytes) -> dict[str, bytes]:
    """The tables whose definitions stand in the first bytes of a database, and what follows their names there.

    Empty where it is no database, and where its schema lies further behind or in its log.
    """
    found: dict[str, bytes] = {}
    if not head.startswith(MAGIC):
        return found
    for text in head.split(_TABLE)[1:]:
        if name := _NAME.match(text):
            found.setdefault(name[1].decode("ascii", "replace"), text[name.end() : _MOST_OF_A_TABLE])
    return found


def has_columns(tables: dict[str, bytes], table: str, *columns: bytes) -> bool:
    """Whether a table of that name is there with all of these columns."""
    text = tables.get(table)
    return text is not None and all(re.search(rb"\b" + column + rb"\b", text) for column in columns)


def columns_of(view: FileView, path: str, table: str) -> frozenset[str]:
    """The columns of a table.

    Raises:
        UsageError: there is no such table; the message names the file.
    """
    names = frozenset(str(name) for (name,) in view.rows(path, "SELECT name FROM pragma_table_info(?)", (table,)))
    if not names:
        raise UsageError(f"{path}: has no table {table}: not a database of this harness, or of a later version of it")
    return names


def rows_of(
    view: FileView, path: str, table: str, wanted: Sequence[str], rest: str = "", bound: Sequence[object] = ()
) -> Iterator[dict[str, object]]:
    """The rows of a table, with None for columns that this version of it has not; ``rest`` is SQL behind the table's name.

    Raises:
        UsageError: there is no such table, or it cannot be read.
    """
    there = columns_of(view, path, table)
    asked = ", ".join(_AS_BYTES.format(each) if each in there else "NULL" for each in wanted)
    for row in view.rows(path, f'SELECT {asked} FROM "{table}" {rest}', bound):  # noqa: S608  # Names of ours.
        values = (each.decode("utf-8", "replace") if isinstance(each, bytes) else each for each in row)
        yield dict(zip(wanted, values, strict=True))


def row_of(view: FileView, path: str, table: str, wanted: Sequence[str], id_: str) -> dict[str, object]:
    """The row of a table whose ``id`` is this text.

    Raises:
        UsageError: there is none, such as where its id is no text; the message names file and id.
    """
    for row in rows_of(view, path, table, wanted, "WHERE id = ?", (id_,)):
        return row
    raise UsageError(f"{path}: {table} {id_[:80]!r} cannot be read: no row has that text as its id")


def text_of(value: object) -> str:
    """A column that holds a text; empty where it holds none."""
    return value if isinstance(value, str) else ""


def instant_of(value: object, microseconds: int) -> Instant | None:
    """Microseconds UTC of a number of units of so many microseconds; None where it is none, or no time that a clock shows."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # Compared before it is multiplied: NaN and infinity are no whole numbers.
    return round(value * microseconds) if 0 <= value < END_OF_TIME / microseconds else None
