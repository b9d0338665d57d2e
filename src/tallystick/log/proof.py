"""C2SP tlog-proof: a text that shows, offline, that an entry stands in a log under a signed checkpoint (TRAIL.3).

https://c2sp.org/tlog-proof. The ``extra`` line is not authenticated by itself; ours holds the entry's canonical bytes,
whose leaf hash the proof is about, so that a verifier needs nothing but the file and the log's key.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from typing import NamedTuple

from tallystick.errors import ProofError
from tallystick.log.checkpoint import Checkpoint, Note, parse
from tallystick.log.merkle import HASH_BYTES, verify_inclusion

FIRST_LINE = "c2sp.org/tlog-proof@v1"
EXTENSION = ".tlog-proof"
_INDEX = re.compile(r"index (0|[1-9][0-9]{0,18})\Z")
_EXTRA = "extra "


class Proof(NamedTuple):
    """What the text says; nothing of it is verified."""

    leaf_index: int
    """The leaf's place in the log, from 0."""
    hashes: tuple[bytes, ...]
    """The audit path, the leaf's sibling first."""
    checkpoint: bytes
    """The signed note, byte for byte."""
    extra: bytes | None = None


def proof_bytes(proof: Proof) -> bytes:
    """The text, in UTF-8."""
    extra = [] if proof.extra is None else [_EXTRA + _b64(proof.extra)]
    lines = [FIRST_LINE, *extra, f"index {proof.leaf_index}", *map(_b64, proof.hashes), "", ""]
    return "\n".join(lines).encode("ascii") + proof.checkpoint


def parse_proof(data: bytes) -> Proof:
    """Read a tlog-proof.

    Raises:
        ProofError: it is not one; the message names the line.
    """
    head, _, note = data.partition(b"\n\n")
    try:
        lines = head.decode("ascii").split("\n")
    except UnicodeDecodeError:
        raise ProofError("not a tlog-proof: something else than ASCII before the checkpoint") from None
    if lines[0] != FIRST_LINE:
        raise ProofError(f"line 1: expected {FIRST_LINE!r}")
    at, extra = 1, None
    if lines[1:] and lines[1].startswith(_EXTRA):
        at, extra = 2, _decoded(2, lines[1].removeprefix(_EXTRA))
    found = _INDEX.match(lines[at]) if len(lines) > at else None
    if found is None:
        raise ProofError(f"line {at + 1}: expected 'index N', N a decimal number without leading zeroes")
    hashes = tuple(_hash(n, line) for n, line in enumerate(lines[at + 1 :], at + 2))
    if not note:
        raise ProofError(f"line {len(lines) + 1}: expected an empty line and then a checkpoint")
    return Proof(int(found[1]), hashes, note, extra)


def verify_proof(proof: Proof, leaf: bytes, check: Callable[[Note], None]) -> Checkpoint:
    """The checkpoint under which leaf hash ``leaf`` is shown to stand at the proof's index.

    ``check`` raises ``ProofError`` unless the note is signed by whom the caller trusts.

    Raises:
        ProofError: the checkpoint cannot be read or is not signed, or the hashes do not lead from the leaf to its root.
    """
    note = parse(proof.checkpoint)
    check(note)
    stated = note.checkpoint
    verify_inclusion(proof.leaf_index, stated.size, leaf, stated.root, proof.hashes)
    return stated


def _hash(n: int, line: str) -> bytes:
    found = _decoded(n, line)
    if len(found) != HASH_BYTES:
        raise ProofError(f"line {n}: a hash is {HASH_BYTES} bytes in base64, found {len(found)}")
    return found


def _decoded(n: int, text: str) -> bytes:
    try:
        found = base64.b64decode(text, validate=True)
    except binascii.Error:
        found = b""
    if _b64(found) != text:  # One form for one value, so that no changed letter goes unnoticed.
        raise ProofError(f"line {n}: not base64")
    return found


def _b64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
