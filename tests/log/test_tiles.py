"""Tiles: the files of a log, and that they alone give every root, proof and entry."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tallystick.log import merkle, nodes
from tallystick.log.tiles import LONGEST_ENTRY, Tiling, tile_path, tiles

SIZES = [0, 1, 2, 255, 256, 257, 511, 512, 70_000]
ENTRIES = [str(n).encode() for n in range(max(SIZES))]
LEAVES = [merkle.leaf_hash(entry) for entry in ENTRIES]


def written(entries: Sequence[bytes]) -> dict[str, bytes]:
    """Every file of a log, by path."""
    tiling = Tiling()
    made = [file for entry in entries for file in tiling.add(entry)] + tiling.rest()
    files = {file.path: file.data for file in made}
    assert len(files) == len(made)
    return files


ALL = {size: written(ENTRIES[:size]) for size in SIZES}


class Served:
    """A reader of tiles that knows the specification and the size alone."""

    def __init__(self, files: dict[str, bytes], size: int) -> None:
        self.files = files
        self.size = size

    def __call__(self, level: int, start: int, stop: int) -> list[bytes]:
        found = []
        for place in range(start, stop):
            tile, offset = divmod(place, 256)
            data = self.files[self._path(str(level), tile, self.size // 256**level)]
            found.append(data[32 * offset : 32 * offset + 32])
        return found

    def entries(self) -> list[bytes]:
        found = []
        for tile in range((self.size + 255) // 256):
            data = self.files[self._path("entries", tile, self.size)]
            while data:
                length = data[0] * 256 + data[1]
                found.append(data[2 : 2 + length])
                data = data[2 + length :]
        return found

    def _path(self, level: str, tile: int, count: int) -> str:
        digits = f"{tile:09}"
        groups = [digits[at : at + 3] for at in (0, 3, 6)]
        while len(groups) > 1 and groups[0] == "000":
            groups.pop(0)
        path = "/".join([*(f"x{each}" for each in groups[:-1]), groups[-1]])
        return f"tile/{level}/{path}" + ("" if tile < count // 256 else f".p/{count % 256}")


@pytest.mark.parametrize("size", SIZES)
def test_tiles_alone_give_roots_proofs_and_entries(size: int) -> None:
    """TRAIL.3: C2SP tlog-tiles: the root, any inclusion and consistency proof, and the entries come of the files alone."""
    served = Served(ALL[size], size)
    root = nodes.root(size, served)
    assert root == merkle.root_hash(LEAVES[:size])
    assert served.entries() == ENTRIES[:size]
    for index in {0, 1, 255, 256, size // 2, size - 1} & set(range(size)):
        merkle.verify_inclusion(index, size, LEAVES[index], root, nodes.inclusion_proof(index, size, served))
    for old in {1, 255, 256, 257, size} & set(range(1, size + 1)):
        proof = nodes.consistency_proof(old, size, served)
        merkle.verify_consistency(old, size, merkle.root_hash(LEAVES[:old]), root, proof)


@pytest.mark.parametrize("size", SIZES)
def test_which_files_there_are(size: int) -> None:
    """TRAIL.3: full tiles of 256 hashes, one partial tile of a level at most, and never an empty one."""
    expected = {tile.path for tile in tiles(size)}
    assert {path for path in ALL[size] if "entries" not in path} == expected
    assert len({path for path in ALL[size] if "entries" in path}) == (size + 255) // 256
    for tile in tiles(size):
        assert len(ALL[size][tile.path]) == 32 * tile.width
        assert 1 <= tile.width <= 256


def test_the_specifications_own_examples() -> None:
    """TRAIL.3: index 1234067 is ``x001/x234/067``; 70,000 leaves make 273 tiles and three partial ones; 256 make two."""
    assert tile_path("3", 1_234_067, 256) == "tile/3/x001/x234/067"
    assert tile_path("entries", 5, 12) == "tile/entries/005.p/12"
    assert tile_path("0", 1000, 256) == "tile/0/x001/000"
    seventy = [(tile.level, tile.n, tile.width) for tile in tiles(70_000)]
    assert seventy == [*((0, n, 256) for n in range(273)), (0, 273, 112), (1, 0, 256), (1, 1, 17), (2, 0, 1)]
    assert [(tile.level, tile.n, tile.width) for tile in tiles(256)] == [(0, 0, 256), (1, 0, 1)]
    assert tiles(0) == []


def test_a_larger_log_leaves_full_tiles_alone() -> None:
    """TRAIL.3: what was full in a smaller log is the same bytes in a larger one."""
    full = {path: data for path, data in ALL[511].items() if ".p/" not in path}
    assert full.items() <= ALL[70_000].items()


def test_an_entry_that_no_bundle_can_hold() -> None:
    """TRAIL.3: two bytes count 65,535; the bundle of a longer entry is left out and its hash is in the tile."""
    longest, longer = b"a" * LONGEST_ENTRY, b"a" * (LONGEST_ENTRY + 1)
    files = written([longest])
    assert files["tile/entries/000.p/1"] == b"\xff\xff" + longest
    tiling = Tiling()
    made = [file for entry in [*ENTRIES[:300], longer] for file in tiling.add(entry)] + tiling.rest()
    assert tiling.too_long == [300]
    paths = [file.path for file in made]
    assert paths == ["tile/entries/000", "tile/0/000", "tile/0/001.p/45", "tile/1/000.p/1"]
    assert made[2].data.endswith(merkle.leaf_hash(longer))
