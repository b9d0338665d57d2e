"""Looks for a text in everything that lies in a folder, however it is kept; and tries to confirm a guess by stored digests."""

from __future__ import annotations

import base64
import binascii
import hashlib
import html
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import apsw
import zstandard

from tallystick.store.packing import unpacked
from tallystick.store.stems import stem

_ZSTD, _GZIP, _SQLITE = b"\x28\xb5\x2f\xfd", b"\x1f\x8b", b"SQLite format 3\0"
_ZLIB = re.compile(rb"\x78[\x01\x5e\x9c\xda]")
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{24,}={0,2}")
_HEX = re.compile(rb"(?:[0-9a-f]{2}){16,}|(?:[0-9A-F]{2}){16,}")
_HEX_DIGEST = re.compile(rb"[0-9a-f]{32,128}")
_DEEPEST = 4
_INDEXES = {"words": "term", "said": "term of the archive"}
"""Tables of search terms, which cannot be read row by row."""


class Hit(NamedTuple):
    """Where a text was found, and how it was written there."""

    file: str
    way: str
    """How it was got at: ``raw``, ``raw>zstd``, ``table part``, ``term`` …"""
    form: str


def forms(text: str) -> dict[str, bytes]:
    """A text as it may be written, by the name of the writing."""
    plain = text.encode()
    every = "".join(f"\\u{unit:04x}" for unit in _units(text))
    found = {
        "utf-8": plain,
        "utf-16-le": text.encode("utf-16-le"),
        "utf-16-be": text.encode("utf-16-be"),
        "utf-32-le": text.encode("utf-32-le"),
        "json": json.dumps(text)[1:-1].encode(),
        "json, unescaped": json.dumps(text, ensure_ascii=False)[1:-1].encode(),
        "json, twice": json.dumps(json.dumps(text))[3:-3].encode(),
        "json, every letter": every.encode(),
        "json, every letter, upper": every.upper().replace("\\U", "\\u").encode(),
        "percent": quote(text, safe="").encode(),
        "percent, plus": quote(text, safe="").replace("%20", "+").encode(),
        "html": html.escape(text).encode(),
        "hex": plain.hex().encode(),
        "hex, upper": plain.hex().upper().encode(),
        "reversed": plain[::-1],
        "lower": text.lower().encode(),
        "stem": stem(text.lower()).encode(),
        "upper": text.upper().encode(),
        "repr": repr(text)[1:-1].encode(),
    }
    for shift in range(3):
        # Whatever stands before it: the groups of four characters that the text alone decides.
        encoded = base64.b64encode(b"\0" * shift + plain)
        first = -(-shift * 4 // 3) if shift else 0
        last = len(encoded) - (4 if (shift + len(plain)) % 3 else 0)
        found[f"base64+{shift}"] = encoded[first + (first % 4 and 4 - first % 4) : last]
        found[f"base64url+{shift}"] = found[f"base64+{shift}"].replace(b"+", b"-").replace(b"/", b"_")
    return {name: form for name, form in found.items() if len(form) >= 4}


def _units(text: str) -> Iterator[int]:
    data = text.encode("utf-16-be")
    yield from (int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2))


def search(folder: Path, texts: Iterable[str]) -> list[Hit]:
    """Every way in which one of the texts can be read out of a folder's files."""
    wanted = {f"{name} of {text!r}": form for text in texts for name, form in forms(text).items()}
    hits: dict[Hit, None] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            name = str(path.relative_to(folder))
            for way, data in everything(path):
                for form, needle in wanted.items():
                    if needle in data:
                        hits[Hit(name, way, form)] = None
    return list(hits)


def everything(path: Path) -> Iterator[tuple[str, bytes]]:
    """(how it was got at, bytes) of everything that a file holds: itself, what is packed in it, rows and search terms."""
    data = path.read_bytes()
    yield from _unfolded("raw", data, 0)
    if data.startswith(_SQLITE):
        yield from _rows(path)


def _unfolded(way: str, data: bytes, depth: int) -> Iterator[tuple[str, bytes]]:
    yield way, data
    if depth < _DEEPEST:
        for kind, inner in _packed(data):
            if inner:
                yield from _unfolded(f"{way}>{kind}", inner, depth + 1)


def _packed(data: bytes) -> Iterator[tuple[str, bytes]]:
    at = data.find(_ZSTD)
    while at >= 0:
        with suppress(zstandard.ZstdError):
            yield "zstd", zstandard.ZstdDecompressor().decompressobj().decompress(data[at:])
        at = data.find(_ZSTD, at + 1)
    for found in _ZLIB.finditer(data):
        yield "zlib", _inflated(data[found.start() :], 15)
    at = data.find(_GZIP)
    while at >= 0:
        yield "gzip", _inflated(data[at:], 31)
        at = data.find(_GZIP, at + 1)
    if len(data) < 4_000_000:
        for run in _BASE64.findall(data):
            yield "base64", _decoded(run)
        for run in _HEX.findall(data):
            yield "hex", binascii.unhexlify(run[: len(run) // 2 * 2])


def _inflated(data: bytes, bits: int) -> bytes:
    try:
        return zlib.decompressobj(bits).decompress(data, 8_000_000)
    except zlib.error:
        return b""


def _decoded(run: bytes) -> bytes:
    run = run.rstrip(b"=").replace(b"-", b"+").replace(b"_", b"/")
    try:
        return base64.b64decode(run + b"=" * (-len(run) % 4))
    except binascii.Error:
        return b""


def _rows(path: Path) -> Iterator[tuple[str, bytes]]:
    """Every value of every table, those that the search index keeps for itself too, and its terms."""
    database = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        tables = [row[0] for row in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        for table in tables:
            if table in _INDEXES:
                continue
            for row in database.execute(f'SELECT * FROM "{table}"'):
                for value in row:
                    data = value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")
                    yield from _unfolded(f"table {table}", data, 0)
        for index, way in _INDEXES.items():
            if f"{index}_data" in tables:
                database.execute(f"CREATE VIRTUAL TABLE temp.{index}_terms USING fts5vocab (main, {index}, row)")
                for (term,) in database.execute(f"SELECT term FROM temp.{index}_terms"):
                    yield way, str(term).encode("utf-8", "replace")
    finally:
        database.close()


def stored_digests(folder: Path) -> set[bytes]:
    """What could be a digest: values of that size, runs of hex digits, and every 32 bytes in a row of parts."""
    found: set[bytes] = set()
    for path in (path for path in sorted(folder.rglob("*")) if path.is_file()):
        for way, data in everything(path):
            if len(data) in (16, 20, 28, 32, 48, 64):
                found.add(data)
            found.update(bytes.fromhex(run.decode()) for run in _HEX_DIGEST.findall(data) if len(run) % 2 == 0)
            if way == "table part":
                found.update(data[at : at + 32] for at in range(len(data) - 31))
    return found


def salts(folder: Path) -> set[bytes]:
    """What could be a salt: every value of 32 bytes, that of each part, and none."""
    found = {b""}
    for path in sorted(folder.rglob("*.db")):
        found.update(data for _, data in _rows(path) if len(data) == 32)
        database = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        for seq, packed in database.execute("SELECT seq, packed FROM part"):
            found.update(salt for _, salt, _ in unpacked(seq, packed))
        database.close()
    return found


def confirmed(folder: Path, guesses: Iterable[bytes], events: Iterable[str] = ()) -> list[str]:
    """The ways in which a guess is confirmed by a digest that is stored in a folder, with any salt that is there.

    ``events`` are ids that a record may have been committed to with.
    """
    stored, known_salts = stored_digests(folder), salts(folder)
    prefixes = [b"", *(event.encode() + b"\n" for event in events)]
    found = []
    for guess in guesses:
        for prefix in prefixes:
            body = prefix + guess
            for salt in known_salts:
                for name in ("sha256", "blake2b"):
                    digests = _digests(name, salt + body)
                    found += [
                        f"{name} of salt {salt[:4].hex()} and {body[:24]!r}" for each in digests if each in stored
                    ]
            for name in ("sha1", "md5", "sha512", "sha3_256", "blake2s"):
                found += [f"{name} of {body[:24]!r}" for each in _digests(name, body) if each in stored]
    return found


def _digests(name: str, data: bytes) -> list[bytes]:
    if name == "blake2b":
        return [hashlib.blake2b(data, digest_size=size).digest() for size in (16, 32)]
    whole = hashlib.new(name, data).digest()
    return [whole, hashlib.new(name, b"\0" + data).digest()] if name == "sha256" else [whole]
