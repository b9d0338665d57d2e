"""A proof of one entry, of logs that lie."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tallystick.errors import ProofError
from tallystick.log.canonical import entry_bytes
from tallystick.log.checkpoint import Checkpoint, signed
from tallystick.log.merkle import leaf_hash
from tallystick.log.proof import Proof, proof_bytes
from tallystick.model.entry import Entry
from tallystick.store.outside import key_name
from tallystick.testing.trails import MemoryOutside
from tallystick.workflows.note_key import keys
from tallystick.workflows.prove import LONGEST_PROOF, check_proof

KEY = Ed25519PrivateKey.from_private_bytes(b"k" * 32)
PUBLIC = KEY.public_key().public_bytes_raw()
TRAIL = "ab" * 16


def proof_of(entry: Entry, log: str = "memory") -> bytes:
    """A proof of the only entry of a log that is signed."""
    canon = entry_bytes(entry)
    stated = Checkpoint(f"tallystick/{TRAIL}/{log}", 1, leaf_hash(canon))
    return proof_bytes(Proof(0, (), signed(stated, key_name(TRAIL), PUBLIC, KEY.sign), canon))


def test_an_entry_that_says_it_is_another() -> None:
    """TRAIL.3: an entry that says another place, log or trail than it is proved to stand in is no proof of anything."""
    key_for = keys(MemoryOutside(), PUBLIC.hex())
    entry = Entry(TRAIL, "memory", 0, 1, 1, "asserted", "cd" * 16)
    assert check_proof(proof_of(entry), key_for).entry == entry
    for wrong in (entry._replace(seq=5), entry._replace(log="ledger"), entry._replace(trail="cd" * 16)):
        with pytest.raises(ProofError, match="says that it is entry"):
            check_proof(proof_of(wrong), key_for)
    with pytest.raises(ProofError, match="says that it is entry"):
        check_proof(proof_of(entry, "access"), key_for)


def test_a_proof_of_any_length() -> None:
    """SEC.2: a file that is longer than any proof is refused by its length."""
    with pytest.raises(ProofError, match=f"more than {LONGEST_PROOF} bytes"):
        check_proof(bytes(LONGEST_PROOF + 1), keys(MemoryOutside(), PUBLIC.hex()))
