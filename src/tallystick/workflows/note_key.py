"""With which key a signed note is to hold: the one handed in, the one this machine keeps, or the one that came along."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from tallystick.errors import ProofError, UsageError
from tallystick.log.checkpoint import Note, key_id, parse_verifier_key, verify
from tallystick.store.outside import Outside, check_signature, key_name

_ORIGIN = re.compile(r"tallystick/([0-9a-f]{32})/[a-z]+")
_HEX = re.compile(r"[0-9a-f]{64}")


class Key(NamedTuple):
    """A public key, and why it is taken for the trail's."""

    trail: str
    public_key: bytes
    known_from: str
    """``given`` | ``state`` (the trail is this machine's own) | ``bundle`` (the bundle says so itself)"""

    @property
    def id(self) -> str:
        """Key id of the signed note, 8 hex digits."""
        return key_id(key_name(self.trail), self.public_key).hex()


KeyFor = Callable[[str, bytes | None], Key]
"""The key for a checkpoint's origin line, and the key that came along with it, if one did."""


def keys(outside: Outside, given: str | None) -> KeyFor:
    """Where keys are looked for: ``given`` (64 hex digits, or NAME+ID+BASE64), then what is kept of trails here.

    Raises:
        UsageError: ``given`` is neither form.
    """
    name, handed = _read(given) if given else ("", b"")

    def key_for(origin: str, carried: bytes | None) -> Key:
        found = _ORIGIN.fullmatch(origin)
        if found is None:
            raise ProofError(f"a checkpoint of {origin[:80]!r}, which is no log of a tallystick trail")
        trail = found[1]
        if name not in ("", key_name(trail)):
            raise ProofError(f"a checkpoint of {origin}, and the key given is of {name}: another trail")
        own = None if handed else outside.public_key(trail)
        public_key = handed or own or carried
        if not public_key:
            raise UsageError(
                f"no key to check {origin} with; give one with --key, as `tally checkpoint --key` prints it"
            )
        key = Key(trail, public_key, "given" if handed else "state" if own else "bundle")
        if carried not in (None, public_key):
            raise ProofError(f"it carries another key than the one it is held against ({key.id})")
        return key

    return key_for


def held_to(note: Note, key: Key) -> None:
    """Raise ``ProofError`` unless the note is signed with the key."""
    verify(note, key_name(key.trail), key.public_key, check_signature(key.public_key))


def _read(given: str) -> tuple[str, bytes]:
    if _HEX.fullmatch(given):
        return "", bytes.fromhex(given)
    try:
        return parse_verifier_key(given)
    except ProofError as error:
        raise UsageError(f"--key {given[:40]}: {error}; 64 hex digits are taken too") from None
