"""Export of a log as a folder of C2SP tlog-tiles, which any web server can serve as it is."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tallystick.errors import ProofError, UsageError
from tallystick.log.checkpoint import Checkpoint, parse
from tallystick.log.nodes import FANOUT
from tallystick.log.tiles import TileFile, Tiling
from tallystick.model.entry import LogName
from tallystick.store.protocol import Reading
from tallystick.trail import Trail
from tallystick.trail.points import root_at
from tallystick.trail.proving import signed_checkpoint

CHECKPOINT = "checkpoint"


class Tiled(NamedTuple):
    """What was written."""

    checkpoint: Checkpoint
    written: int
    """Files that were not there before."""
    kept: int
    """Files that were, and are as they should be."""
    left_out: tuple[int, ...]
    """Entries that are too long for an entry bundle; the bundles that they would be in are not there."""


def export_tiles(trail: Trail, folder: Path, log: LogName) -> Tiled:
    """Write the log under its newest signed checkpoint; a folder that was written before is brought up to date.

    The checkpoint is replaced last, so that whoever reads meanwhile finds every file that it speaks of. A partial tile goes
    when it has become full, and not before: an older checkpoint may need it.

    Raises:
        UsageError: no checkpoint was signed yet, the folder holds another log or another history of this one, a file in it
            is not what the log has at that place, or it cannot be written.
    """
    with trail.reading(log) as rows:
        under = signed_checkpoint(trail, rows, None, log)
        stated = under.checkpoint
        try:
            _refuse_another(rows, folder / CHECKPOINT, stated)
            tiling, written, kept = Tiling(), 0, 0
            for file in _files(tiling, rows, stated.size):
                if _is_kept(folder, file):
                    kept += 1
                else:
                    _replace(folder / file.path, file.data)
                    written += 1
                _drop_partial(folder / file.path)
            _replace(folder / CHECKPOINT, under.note)
        except OSError as error:
            raise UsageError(f"{error.filename or folder}: {error.strerror}") from None
    return Tiled(stated, written, kept, tuple(tiling.too_long))


def _refuse_another(rows: Reading, path: Path, stated: Checkpoint) -> None:
    """Only the same log, at an earlier size, may be built upon."""
    try:
        note = path.read_bytes()
    except FileNotFoundError:
        return
    try:
        there = parse(note).checkpoint
    except ProofError as error:
        raise UsageError(f"{path}: {error}; give a folder of its own for the tiles") from None
    if there.origin != stated.origin:
        raise UsageError(f"{path}: the folder holds {there.origin}, and this log is {stated.origin}")
    if there.size > stated.size or root_at(rows, there.size) != there.root:
        raise UsageError(
            f"{path}: the folder's {there.size} entries are not the first ones of this log's {stated.size}"
        )


def _files(tiling: Tiling, rows: Reading, size: int) -> Iterator[TileFile]:
    for row in rows.entries(0, size):
        yield from tiling.add(row.canon)
    yield from tiling.rest()


def _is_kept(folder: Path, file: TileFile) -> bool:
    """Whether the file is there already. Raises ``UsageError`` where something else is there."""
    path = folder / file.path
    if not path.exists():
        return False
    if path.read_bytes() != file.data:
        raise UsageError(f"{path}: there already, and not what the log has at this place; move it away")
    return True


def _drop_partial(path: Path) -> None:
    """Take away the partial ones of a tile or bundle, where ``path`` is that of a full one."""
    folder = path.with_name(f"{path.name}.p")
    if folder.is_dir():
        for width in range(1, FANOUT):
            (folder / str(width)).unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            folder.rmdir()


def _replace(path: Path, data: bytes) -> None:
    """Write beside and rename, so that a reader finds the old or the new bytes and never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.part")
    try:
        beside.write_bytes(data)
        beside.replace(path)
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
