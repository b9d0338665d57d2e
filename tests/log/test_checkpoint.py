"""Signed notes and keys in the form that C2SP tools are handed."""

from __future__ import annotations

import base64

import pytest

from tallystick.errors import ProofError
from tallystick.log.checkpoint import Checkpoint, key_id, parse, parse_verifier_key, signed, verifier_key

KEY = bytes(range(32))
NAME = "tallystick/" + "ab" * 16
NOTE = signed(Checkpoint(f"{NAME}/memory", 5, bytes(32)), NAME, KEY, lambda _: bytes(64)).decode()


def test_a_key_there_and_back() -> None:
    """TRAIL.8: a key is its name, its id and its type and bytes, as C2SP signed notes have it; nothing changed is taken."""
    text, typed = verifier_key(NAME, KEY), base64.b64encode(b"\x01" + KEY).decode()
    assert text == f"{NAME}+{key_id(NAME, KEY).hex()}+{typed}"
    assert parse_verifier_key(text) == (NAME, KEY)
    for place in range(len(text)):
        for other in {"A", "+", "0", " "} - {text[place]}:
            with pytest.raises(ProofError):
                parse_verifier_key(text[:place] + other + text[place + 1 :])
    for wrong in ("", text[:-1], f"{text}\n", text + "A"):
        with pytest.raises(ProofError):
            parse_verifier_key(wrong)


def test_a_note_has_one_form() -> None:
    """TRAIL.8: control characters, and base64 that stands for the same bytes in other letters, are refused."""
    assert parse(NOTE.encode()).checkpoint.size == 5
    stamp = NOTE.rstrip().rpartition(" ")[2]
    spare = stamp[:-2] + chr(ord(stamp[-2]) + 1) + "="
    assert base64.b64decode(spare) == base64.b64decode(stamp)
    for wrong in (
        NOTE + "\x0b",
        NOTE.replace("5\n", "5\r\n"),
        NOTE.replace(stamp, spare),
        NOTE.replace("AAA=\n\n", "AAB=\n\n"),
        f"{NOTE}— witness.example é\n",
    ):
        with pytest.raises(ProofError):
            parse(wrong.encode())


def test_other_signatures_are_let_be() -> None:
    """TRAIL.8: a witness may sign the same note."""
    both = parse(f"{NOTE}— witness.example mJirIkk=\n".encode())
    assert [name for name, _, _ in both.signatures] == [NAME, "witness.example"]
