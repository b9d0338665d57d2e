"""What PostgreSQL can tell about a trail's tables: that they are as they were made, and that the indexes say what the rows do."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from tallystick.store.packing import body_of
from tallystick.store.postgres.archive import SQL
from tallystick.store.postgres.migrating import HERE
from tallystick.store.postgres.reading import PostgresReading
from tallystick.store.postgres.search import BLOCK, mark, marks, words_of
from tallystick.store.statements import text

CATALOG = "catalog.txt"
"""Every object of the schema and its definition, a line each; made by ``catalog`` from a database that was just migrated."""
QUESTION = "catalog.sql"
"""What ``catalog`` asks."""
_NAMED = 3


def catalog(connection: Any) -> dict[str, str]:
    """Object → definition of everything in the schema, in words that do not differ between versions of the server.

    Whoever may name things cannot have one pass for another: no name breaks a line, and of two that are called alike both
    definitions are given.
    """
    found: dict[str, list[str]] = defaultdict(list)
    for name, definition in connection.execute(text(HERE, QUESTION).encode()).fetchall():
        found[_one_line(name)].append(_one_line(definition or ""))
    return {name: " and ".join(sorted(definitions)) for name, definitions in sorted(found.items())}


def catalog_lines(found: dict[str, str]) -> str:
    """A catalog as it is kept in a file."""
    return "".join(f"{name}\t{definition}\n" for name, definition in sorted(found.items()))


def schema_apart(connection: Any) -> list[str]:
    """What was changed of the tables, of what guards the entries (TRAIL.1), and of who may read and write them."""
    kept = catalog(connection)
    wanted = _parsed(text(HERE, CATALOG))
    names = sorted(name for name in wanted.keys() | kept.keys() if wanted.get(name) != kept.get(name))
    return [f"{name} {_became(name, wanted, kept)}" for name in names]


def _became(name: str, wanted: dict[str, str], kept: dict[str, str]) -> str:
    if name not in wanted:
        return "was added since the schema was made"
    return "was changed since the schema was made" if name in kept else "is missing in the schema"


def _one_line(said: str) -> str:
    return " ".join(said.split())


def _parsed(lines: str) -> dict[str, str]:
    found = (line.partition("\t") for line in lines.splitlines())
    return {name: definition for name, _, definition in found}


def indexes_apart(rows: PostgresReading) -> list[str]:
    """What amcheck finds wrong with the indexes; nothing where the extension is not there, or may not be used."""
    db = rows.connection
    usable = db.execute(SQL["amcheck"]).fetchone()
    if not usable or not usable[0]:
        return []
    found = []
    for (name,) in db.execute(SQL["indexes"]).fetchall():
        try:
            with db.transaction():
                db.execute(f"SELECT {usable[0]}.bt_index_check(%s::regclass)".encode(), (name,))
        except Exception as error:  # Damage can make it fail in any way.
            found.append(f"index {name}: {error}")
    return found[:_NAMED]


def search_apart(rows: PostgresReading) -> list[str]:
    """The words made anew from the texts against those that are kept, block by block of claims."""
    kept = marks(rows.search_rows())
    due: dict[int, int] = defaultdict(int)
    for claim, holder, kind, data in rows.sought():
        body = body_of(claim, data, "text")
        if body is not None:
            for word in words_of(str(body, "utf-8", "replace"), kind):
                due[claim // BLOCK] += mark(holder, word, claim)
    apart = sorted(block for block in kept.keys() | due.keys() if kept.get(block, 0) != due.get(block, 0))
    return [
        f"search index: its words of claims {block * BLOCK} to {block * BLOCK + BLOCK - 1} are not those of the texts"
        for block in apart[:_NAMED]
    ]
