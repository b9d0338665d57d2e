"""C2SP checkpoints: a log's origin, size and root as a signed note that a stranger's tools can check.

https://c2sp.org/tlog-checkpoint and https://c2sp.org/signed-note. Signing and verifying are given as functions, so that
this module loads no cryptography and needs no key.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from hashlib import sha256
from typing import NamedTuple

from tallystick.errors import ProofError

ED25519 = b"\x01"
"""Signature type of the signed-note specification."""

_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f]")
_KEY = re.compile(r"([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})\Z")


class Checkpoint(NamedTuple):
    """The unsigned statement: this log had this root at this size."""

    origin: str
    size: int
    root: bytes

    def body(self) -> bytes:
        """The note's text, each line ending in a newline."""
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n".encode()


class Note(NamedTuple):
    """A checkpoint with its signatures, as (key name, key id, signature)."""

    checkpoint: Checkpoint
    signatures: tuple[tuple[str, bytes, bytes], ...]


def key_id(name: str, public_key: bytes) -> bytes:
    """The 4 bytes that name an Ed25519 key in a signed note."""
    return sha256(name.encode() + b"\n" + ED25519 + public_key).digest()[:4]


def verifier_key(name: str, public_key: bytes) -> str:
    """A public key as C2SP tools are handed one: ``<name>+<key id in hex>+<base64 of type ‖ key>``."""
    return f"{name}+{key_id(name, public_key).hex()}+{base64.b64encode(ED25519 + public_key).decode()}"


def parse_verifier_key(text: str) -> tuple[str, bytes]:
    """(name, public key) of a key in the form of ``verifier_key``.

    Raises:
        ProofError: it has another form, is no Ed25519 key, or its id is another key's.
    """
    found = _KEY.match(text)
    if found is None:
        raise ProofError("not a key: expected NAME+ID+BASE64, as `tally checkpoint --key` prints it")
    name, public_key = found[1], base64.b64decode(found[3])[1:]
    if verifier_key(name, public_key) != text:
        raise ProofError("a key that was changed or cut: its id is another key's")
    return name, public_key


def signed(checkpoint: Checkpoint, name: str, public_key: bytes, sign: Callable[[bytes], bytes]) -> bytes:
    """The signed note's bytes. ``sign`` gives the 64-byte Ed25519 signature of what it is handed."""
    body = checkpoint.body()
    stamp = base64.b64encode(key_id(name, public_key) + sign(body)).decode()
    return body + f"\n— {name} {stamp}\n".encode()


def parse(data: bytes) -> Note:
    """Read a signed note that is a checkpoint; its signatures are not verified here.

    Raises:
        ProofError: it is not one; the message says which line is wrong.
    """
    try:
        text = data.decode("utf-8")
        body, _, tail = text.partition("\n\n")
        lines = body.split("\n")
        origin, size, root = lines[0], int(lines[1]), _decoded(lines[2])
    except (UnicodeDecodeError, ValueError, IndexError, binascii.Error):
        raise ProofError("not a checkpoint: expected an origin, a size and a base64 root, a line each") from None
    if _CONTROL.search(text):
        raise ProofError("not a checkpoint: a control character other than the line feed in it")
    if not origin or size < 0 or str(size) != lines[1] or len(root) != 32 or len(lines) != 3:
        raise ProofError("not a checkpoint: the origin is empty, the size not a plain number, or the root not 32 bytes")
    return Note(Checkpoint(origin, size, root), tuple(_signature(line) for line in tail.split("\n") if line))


def verify(note: Note, name: str, public_key: bytes, check: Callable[[bytes, bytes], bool]) -> None:
    """Raise ``ProofError`` unless the note carries a good signature of that key.

    ``check(signature, message)`` answers whether the signature holds.
    """
    wanted = key_id(name, public_key)
    for signer, keyid, signature in note.signatures:
        if signer == name and keyid == wanted:
            if check(signature, note.checkpoint.body()):
                return
            raise ProofError(f"the signature of {name} does not hold")
    raise ProofError(f"no signature of {name} on the checkpoint")


def _signature(line: str) -> tuple[str, bytes, bytes]:
    mark, _, rest = line.partition(" ")
    name, _, stamp = rest.partition(" ")
    try:
        raw = _decoded(stamp)
    except ValueError:
        raw = b""
    if mark != "—" or not name or len(raw) < 5:
        raise ProofError("not a signature line: expected '— NAME BASE64'")
    return name, raw[:4], raw[4:]


def _decoded(text: str) -> bytes:
    """Bytes of base64 in its one form, so that no changed letter goes unnoticed. Raises ``binascii.Error``."""
    data = base64.b64decode(text, validate=True)
    if base64.b64encode(data).decode() != text:
        raise binascii.Error("bits to spare")
    return data
