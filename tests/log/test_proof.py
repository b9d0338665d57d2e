"""The text of a tlog-proof, against the specification's own example and against every change of it."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import ProofError
from tallystick.log import merkle
from tallystick.log.checkpoint import Checkpoint, Note
from tallystick.log.proof import FIRST_LINE, Proof, parse_proof, proof_bytes, verify_proof

LEAVES = [merkle.leaf_hash(bytes([n])) for n in range(11)]
CHECKPOINT = Checkpoint("example.com/log", len(LEAVES), merkle.root_hash(LEAVES))
NOTE = CHECKPOINT.body() + "\n— example.com/log hI2DJwAAAAA=\n— witness1.example mJirIkk=\n".encode()


def a_proof(index: int, extra: bytes | None = b"\x07") -> Proof:
    return Proof(index, tuple(merkle.inclusion_proof(index, LEAVES)), NOTE, extra)


def signed_by_anyone(note: Note) -> None:
    assert note.checkpoint == CHECKPOINT


def test_the_form() -> None:
    """TRAIL.3: C2SP tlog-proof: the name, the extra data, the index, the hashes from the leaf's sibling up, the note as it is."""
    lines = proof_bytes(a_proof(7)).decode().split("\n")
    path = [base64.b64encode(each).decode() for each in merkle.inclusion_proof(7, LEAVES)]
    assert path[0] == base64.b64encode(LEAVES[6]).decode()
    assert lines == ["c2sp.org/tlog-proof@v1", "extra Bw==", "index 7", *path, "", *NOTE.decode().split("\n")]
    assert proof_bytes(a_proof(7, None)).decode().split("\n")[1] == "index 7"


@given(st.integers(0, 10), st.none() | st.binary(max_size=70))
def test_there_and_back(index: int, extra: bytes | None) -> None:
    """TRAIL.3: what is written is read again, and shows the leaf at its place and no other leaf, nor elsewhere."""
    proof = a_proof(index, extra)
    assert parse_proof(proof_bytes(proof)) == proof
    assert verify_proof(proof, LEAVES[index], signed_by_anyone) == CHECKPOINT
    for wrong, leaf in ((proof, LEAVES[index - 1]), (proof._replace(leaf_index=(index + 1) % 11), LEAVES[index])):
        with pytest.raises(ProofError):
            verify_proof(wrong, leaf, signed_by_anyone)


def test_of_one_leaf() -> None:
    """TRAIL.3: in a tree of one leaf the proof has no hashes, and the empty line follows the index."""
    one = Checkpoint("example.com/log", 1, LEAVES[0])
    proof = Proof(0, (), one.body() + "\n— example.com/log hI2DJwAAAAA=\n".encode())
    assert proof_bytes(proof).startswith(b"c2sp.org/tlog-proof@v1\nindex 0\n\nexample.com/log\n1\n")
    assert parse_proof(proof_bytes(proof)) == proof
    assert verify_proof(proof, LEAVES[0], lambda _: None) == one


GOOD = proof_bytes(a_proof(7)).decode()
BAD = {
    "another version": (GOOD.replace("@v1", "@v2"), "line 1"),
    "extra that is no base64": (GOOD.replace("extra Bw==", "extra Bw"), "line 2: not base64"),
    "extra with bits to spare": (GOOD.replace("extra Bw==", "extra Bx=="), "line 2: not base64"),
    "no index": (GOOD.replace("index 7\n", ""), "line 3: expected 'index N'"),
    "an index with a zero before it": (GOOD.replace("index 7", "index 07"), "line 3"),
    "a negative index": (GOOD.replace("index 7", "index -7"), "line 3"),
    "another digit": (GOOD.replace("index 7", "index ٧"), "ASCII"),
    "an index beyond the tree": (GOOD.replace("index 7", "index 11"), "not in a tree of 11 leaves"),
    "an index beyond everything": (GOOD.replace("index 7", "index " + "9" * 5000), "line 3"),
    "a short hash": (GOOD.replace("\nindex 7\n", "\nindex 7\nAAAA\n"), "line 4: a hash is 32 bytes"),
    "a hash too many": (GOOD.replace("\nindex 7\n", f"\nindex 7\n{'A' * 43}=\n"), "another root|too long"),
    "no hashes": ("\n".join([*GOOD.split("\n")[:3], "", *GOOD.split("\n")[-7:]]), "too short"),
    "no checkpoint": (GOOD.partition("\n\n")[0], "line 8: expected an empty line"),
    "no root": (GOOD.replace(f"\n{len(LEAVES)}\n", "\n"), "not a checkpoint"),
    "nothing": ("", "line 1"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_refused(name: str) -> None:
    """TRAIL.3: whatever is not as the specification has it is refused, and the line named."""
    text, why = BAD[name]
    with pytest.raises(ProofError, match=why):
        verify_proof(parse_proof(text.encode()), LEAVES[7], signed_by_anyone)


@given(st.binary(max_size=80) | st.text(max_size=80).map(lambda text: f"{FIRST_LINE}\nindex 1\n{text}".encode()))
def test_any_bytes_have_an_answer(data: bytes) -> None:
    """TRAIL.3: nothing else than a proof or a ``ProofError`` comes of any bytes."""
    try:
        assert proof_bytes(parse_proof(data)) == data
    except ProofError as error:
        assert str(error)  # noqa: PT017


@given(st.integers(0, len(GOOD.encode()) - len(NOTE) - 1), st.integers(0, 7))
def test_no_flipped_bit_goes_unnoticed(place: int, bit: int) -> None:
    """TRAIL.3: a bit flipped before the checkpoint is noticed, or is in the extra data, which nothing vouches for."""
    data = bytearray(GOOD.encode())
    data[place] ^= 1 << bit
    try:
        proof = parse_proof(bytes(data))
        verify_proof(proof, LEAVES[7], signed_by_anyone)
    except ProofError:
        return
    assert proof._replace(extra=b"\x07") == a_proof(7)
    assert proof.extra != b"\x07"
