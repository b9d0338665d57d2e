"""C2SP tlog-tiles: a log as files that any web server can serve, and from which any proof can be made (TRAIL.3).

https://c2sp.org/tlog-tiles. Hashes are in tiles of 256: those of level 0 are leaf hashes, each of the next level the root of
a full tile. Entries are in bundles of 256, each after its length in two bytes; an entry that is longer than two bytes can
say has no place in a bundle, so the bundle it would be in is left out, and the tiles hold its hash all the same.
"""

from __future__ import annotations

from typing import NamedTuple

from tallystick.log.merkle import leaf_hash, root_hash
from tallystick.log.nodes import FANOUT

ENTRIES = "entries"
LONGEST_ENTRY = 2**16 - 1
"""Bytes that the two bytes before an entry can count."""


class TileFile(NamedTuple):
    """One file of the log."""

    path: str
    """Below the log's prefix, ``/`` between folders."""
    data: bytes


class Tile(NamedTuple):
    """Which hashes a tile holds: ``width`` of them, from place 256 · n of its level on."""

    level: int
    n: int
    width: int
    """1 … 256; less than 256 in a partial tile."""

    @property
    def path(self) -> str:
        """Where it is served."""
        return tile_path(str(self.level), self.n, self.width)


def tile_path(level: str, n: int, width: int) -> str:
    """Path of tile or bundle ``n`` of a level, or of ``entries``: ``tile/0/x001/x234/067.p/112``."""
    groups = [f"{n % 1000:03}"]
    while n := n // 1000:
        groups.append(f"x{n % 1000:03}")
    partial = "" if width == FANOUT else f".p/{width}"
    return f"tile/{level}/{'/'.join(reversed(groups))}{partial}"


def tiles(size: int) -> list[Tile]:
    """Every tile of a tree of ``size`` leaves, level by level; full ones, then the partial one of the level if there is one."""
    found, level = [], 0
    while count := size // FANOUT**level:
        full, rest = divmod(count, FANOUT)
        found += [Tile(level, n, FANOUT) for n in range(full)]
        found += [Tile(level, full, rest)] if rest else []
        level += 1
    return found


class Tiling:
    """Makes the files of a log from its entries, one after the other, holding 256 of each level."""

    def __init__(self) -> None:
        self.size = 0
        self.too_long: list[int] = []
        """Places of the entries that no bundle can hold."""
        self._levels: list[list[bytes]] = [[]]
        self._done = [0]
        """Full tiles of each level so far."""
        self._bundle: list[bytes] = []

    def add(self, entry: bytes) -> list[TileFile]:
        """The files that this entry, as its canonical bytes, makes full."""
        if len(entry) > LONGEST_ENTRY:
            self.too_long.append(self.size)
        self.size += 1
        self._bundle.append(entry)
        made = []
        if self.size % FANOUT == 0:
            made += self._bundled()
        level, node = 0, leaf_hash(entry)
        while True:
            hashes = self._level(level)
            hashes.append(node)
            if len(hashes) < FANOUT:
                return made
            made.append(TileFile(Tile(level, self._done[level], FANOUT).path, b"".join(hashes)))
            node = root_hash(hashes)
            hashes.clear()
            self._done[level] += 1
            level += 1

    def rest(self) -> list[TileFile]:
        """The partial files at the end of the log."""
        partial = [
            TileFile(Tile(level, self._done[level], len(hashes)).path, b"".join(hashes))
            for level, hashes in enumerate(self._levels)
            if hashes
        ]
        return (self._bundled() if self._bundle else []) + partial

    def _level(self, level: int) -> list[bytes]:
        if level == len(self._levels):
            self._levels.append([])
            self._done.append(0)
        return self._levels[level]

    def _bundled(self) -> list[TileFile]:
        entries, self._bundle = self._bundle, []
        if any(len(entry) > LONGEST_ENTRY for entry in entries):
            return []
        path = tile_path(ENTRIES, (self.size - 1) // FANOUT, len(entries))
        return [TileFile(path, b"".join(len(entry).to_bytes(2, "big") + entry for entry in entries))]
