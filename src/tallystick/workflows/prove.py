"""An inclusion proof of the entry that opened a claim, as a C2SP tlog-proof; and its check, offline (TRAIL.3)."""

from __future__ import annotations

from typing import NamedTuple

from tallystick.errors import CanonicalError, ProofError, UnknownId, UsageError
from tallystick.log.canonical import entry_from_bytes
from tallystick.log.checkpoint import Checkpoint, Note
from tallystick.log.merkle import leaf_hash
from tallystick.log.nodes import inclusion_proof
from tallystick.log.proof import Proof, parse_proof, verify_proof
from tallystick.model.entry import Entry
from tallystick.store.outside import key_name
from tallystick.trail import Trail
from tallystick.trail.proving import signed_checkpoint
from tallystick.workflows.note_key import Key, KeyFor, held_to

LONGEST_PROOF = 2**20
"""Bytes; a proof in a log of 2^53 entries has 53 hashes."""


class Proved(NamedTuple):
    """An inclusion proof, and what it shows."""

    proof: Proof
    checkpoint: Checkpoint
    """Under which the entry is shown to stand."""
    entry: Entry
    key: Key


def prove(trail: Trail, claim: int, as_of: str | None) -> tuple[Proof, Checkpoint]:
    """Proof that the entry that opened ``claim`` stands in the memory log under a signed checkpoint.

    Raises:
        UnknownId: no such claim. UsageError: it is newer than the checkpoint; see ``trail.proving.signed_checkpoint``.
    """
    with trail.reading() as rows:
        if rows.claim_row(claim) is None:
            raise UnknownId(f"c{claim}: no such claim; `tally replay` lists what is believed")
        under = signed_checkpoint(trail, rows, as_of)
        stated = under.checkpoint
        if claim >= stated.size:
            raise UsageError(
                f"c{claim} is newer than the checkpoint, which has {stated.size} entries; `tally checkpoint` signs a newer one"
            )
        canon = next(row.canon for row in rows.entries(claim, claim + 1))
        hashes = inclusion_proof(claim, stated.size, rows.nodes)
    proof = Proof(claim, tuple(hashes), under.note, canon)
    verify_proof(proof, leaf_hash(canon), lambda _: None)
    return proof, stated


def check_proof(data: bytes, key_for: KeyFor) -> Proved:
    """What a tlog-proof of a tallystick log shows.

    Raises:
        ProofError: it does not hold, or carries no entry that it could be about.
        UsageError: there is no key to check it with.
    """
    if len(data) > LONGEST_PROOF:
        raise ProofError(f"more than {LONGEST_PROOF} bytes")
    proof = parse_proof(data)
    if proof.extra is None:
        raise ProofError("it carries no entry in a line `extra`, so there is nothing that it could be held against")
    try:
        entry = entry_from_bytes(proof.extra)
    except CanonicalError as error:
        raise ProofError(f"its line `extra` holds no entry: {error}") from None
    found: list[Key] = []

    def check(note: Note) -> None:
        found.append(key_for(note.checkpoint.origin, None))
        held_to(note, found[0])

    stated = verify_proof(proof, leaf_hash(proof.extra), check)
    if entry.seq != proof.leaf_index or stated.origin != f"{key_name(entry.trail)}/{entry.log}":
        raise ProofError(f"its entry says that it is entry {entry.seq} of the {entry.log} log of trail {entry.trail}")
    return Proved(proof, stated, entry, found[0])
