"""Floors: the least that a measured piece of work could take, each as simple as it can be, some as a process of their own.

    python -m benchmarks.speed.floors PARSER LIST TEXTS DATABASE

parses every line of the files named in LIST with PARSER (``orjson`` or ``msgspec``) and loads TEXTS (lengths and UTF-8, as
``write_texts`` makes them) into one FTS5 table.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import apsw


def write_texts(path: Path, texts: Iterable[str]) -> int:
    """Texts one after the other, each after its length in 4 bytes; returns the bytes of text."""
    total = 0
    with path.open("wb") as file:
        for text in texts:
            data = text.encode("utf-8", "replace")
            file.write(len(data).to_bytes(4, "big") + data)
            total += len(data)
    return total


def read_texts(path: Path) -> Iterator[tuple[str]]:
    """Inverse of ``write_texts``, as rows."""
    with path.open("rb") as file:
        while size := file.read(4):
            yield (file.read(int.from_bytes(size, "big")).decode(),)


def parse_lines(parser: str, files: Iterable[str]) -> int:
    """Parse every line of the files; returns how many could be."""
    decode: Callable[[bytes], Any]
    if parser == "orjson":
        import orjson

        decode = orjson.loads
    else:
        import msgspec

        decode = msgspec.json.Decoder().decode
    parsed = 0
    for path in files:
        with open(path, "rb") as file:
            for line in file:
                try:
                    decode(line)
                except ValueError:
                    continue
                parsed += 1
    return parsed


def load_search(texts: Iterable[tuple[str]], database: Path) -> None:
    """Load texts into one FTS5 table, in one transaction."""
    connection = apsw.Connection(str(database))
    connection.execute("CREATE VIRTUAL TABLE words USING fts5 (text, tokenize = 'unicode61')")
    with connection:
        connection.executemany("INSERT INTO words (text) VALUES (?)", texts)
    connection.close()


def insert_rows(texts: Sequence[str], database: Path) -> None:
    """The texts as rows of one plain table, in one transaction that is durable at its end."""
    connection = apsw.Connection(str(database))
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE claim (claim INTEGER PRIMARY KEY, text TEXT NOT NULL)")
    with connection:
        connection.executemany("INSERT INTO claim VALUES (?, ?)", enumerate(texts))
    connection.close()


def hash_all(pieces: Iterable[bytes]) -> None:
    """SHA-256 of every piece by itself."""
    for piece in pieces:
        sha256(piece).digest()


def syncs_per_second(folder: Path, seconds: float = 1.0) -> float:
    """How often 512 bytes can be appended to a file and made durable."""
    handle = os.open(folder / "synced", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    sync = getattr(os, "fdatasync", os.fsync)
    try:
        began, done = time.perf_counter(), 0
        while (now := time.perf_counter()) - began < seconds:
            os.write(handle, bytes(512))
            sync(handle)
            done += 1
    finally:
        os.close(handle)
    return done / (now - began)


if __name__ == "__main__":
    parse_lines(sys.argv[1], Path(sys.argv[2]).read_text("utf-8").splitlines())
    load_search(read_texts(Path(sys.argv[3])), Path(sys.argv[4]))
