"""What proofs of a log are made under and made of: a signed checkpoint that holds, and the hashes below its root."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from tallystick.errors import UsageError
from tallystick.log.checkpoint import Checkpoint
from tallystick.model.entry import LogName
from tallystick.store.protocol import Reading
from tallystick.trail.appending import Trail
from tallystick.trail.points import checkpoint_in, point


class Signed(NamedTuple):
    """A checkpoint of a log whose signature and root hold."""

    note: bytes
    """As it was signed, byte for byte."""
    checkpoint: Checkpoint
    public_key: bytes
    """Of the trail, 32 bytes."""


def signed_checkpoint(trail: Trail, rows: Reading, as_of: str | None, log: LogName = LogName.MEMORY) -> Signed:
    """The checkpoint in the file ``as_of``; the newest that was signed on this machine where it is None.

    Raises:
        UsageError: ``as_of`` is a point that nobody signed, there is no checkpoint yet, it does not hold, or the trail's key
            is not there to tell whether it does.
        BadTime: ``as_of`` is a time in the future, or none at all.
    """
    name = as_of or f"the newest checkpoint of the {log} log"
    if as_of is None:
        note = trail.outside.read_checkpoint(trail.id, log)
        if note is None:
            raise UsageError(f"no checkpoint of the {log} log has been signed yet; `tally checkpoint` signs one")
    else:
        note = _note_in(trail, rows, as_of, log)
    stated = checkpoint_in(trail, rows, note, name, log)
    public_key = trail.outside.public_key(trail.id)
    if public_key is None:
        raise UsageError(f"the trail's key is not in {trail.outside.location}, so no checkpoint can be held against it")
    return Signed(note, stated, public_key)


def _note_in(trail: Trail, rows: Reading, as_of: str, log: LogName) -> bytes:
    if as_of.isdecimal() or not os.path.isfile(as_of):
        seq = point(trail, rows, as_of, log).seq  # Says what is wrong with a point that there is not.
        raise UsageError(
            f"--as-of {as_of}: a point that nobody signed (seq {seq}); give a checkpoint file, as `tally checkpoint` prints it"
        )
    try:
        return Path(as_of).read_bytes()
    except OSError as error:
        raise UsageError(f"{as_of}: {error.strerror}") from None
