"""What is kept of a trail outside its folder: keys, heads and signed checkpoints (TRAIL.8).

One folder per trail id, readable by its owner alone: ``signing.key`` (Ed25519, 32 raw bytes), ``digest.key`` (32 bytes,
never exported), and per log ``<log>.head`` (rewritten in place after each commit) and ``<log>.checkpoint`` (a signed note,
replaced at the end of each command), and ``exports.json``, the files that the trail was exported to. Nothing here holds content.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from hashlib import blake2b, sha256
from typing import NamedTuple, Protocol

from tallystick.errors import ProofError, TrailUnwritable
from tallystick.log.merkle import Frontier
from tallystick.model.entry import Head, LogName
from tallystick.store.presence import is_there

KEY_BYTES = 32
_EXPORTS = "exports.json"
_LONGEST, _LONGEST_LIST = 64 * 1024, 16 * 1024 * 1024
_READ_AGAIN = 100
"""How often a head is read again that another process may be writing at this moment."""


class KnownHead(NamedTuple):
    """A head as it was last written down outside the trail."""

    size: int
    root: bytes


class Verified(NamedTuple):
    """Where a log stood when all of it was last found sound."""

    size: int
    nodes: tuple[bytes, ...]
    """Frontier of its tree."""


class Outside(Protocol):
    """The part of a trail's state that an attacker on the trail's folder does not have."""

    location: str

    def create(self, trail: str) -> None:
        """Make keys for a new trail. Existing ones are kept."""
        ...

    def require_keys(self, trail: str) -> None:
        """Raise ``TrailUnwritable`` where a key of the trail is not there: nothing may be appended that cannot be signed."""
        ...

    def digest(self, trail: str, data: bytes) -> bytes:
        """Keyed 16-byte digest: recognises content again and lets nobody without the key confirm a guess."""
        ...

    def seal(self, trail: str, log: LogName, size: int, root: bytes) -> str | None:
        """Hex of a keyed digest of where a log stands, which nobody makes without the key; None where the key is not there."""
        ...

    def write_head(self, trail: str, log: LogName, head: Head) -> None:
        """Write down where a log stands."""
        ...

    def read_head(self, trail: str, log: LogName) -> KnownHead | None:
        """What was written down last; None where nothing was."""
        ...

    def known_at(self, location: str) -> str:
        """Id of the trail that lies at a location, as it was noted; empty where none was."""
        ...

    def note_at(self, location: str, trail: str) -> None:
        """Note which trail lies at a location; empty for none."""
        ...

    def write_verified(self, trail: str, log: LogName, verified: Verified) -> None:
        """Write down that all of a log was found sound."""
        ...

    def read_verified(self, trail: str, log: LogName) -> Verified | None:
        """Where it was last found sound; None where it never was, or what was written down cannot be read."""
        ...

    def write_checkpoint(self, trail: str, log: LogName, head: Head) -> bytes:
        """Sign and keep a checkpoint, and return the note."""
        ...

    def read_checkpoint(self, trail: str, log: LogName) -> bytes | None:
        """The last signed checkpoint; None where there is none."""
        ...

    def public_key(self, trail: str) -> bytes | None:
        """The trail's public key, 32 bytes; None where the key is lost."""
        ...

    def note_export(self, trail: str, path: str) -> None:
        """Remember that the trail was exported to a file, so that what is forgotten can be looked for there."""
        ...

    def exports(self, trail: str) -> list[str]:
        """The files that the trail was exported to, in the order in which they were first noted."""
        ...

    def drop_export(self, trail: str, path: str) -> None:
        """Forget that the trail was exported to a file."""
        ...


def origin(trail: str, log: LogName) -> str:
    """The origin line of a log's checkpoints."""
    return f"tallystick/{trail}/{log}"


def key_name(trail: str) -> str:
    """The name under which the trail's key signs."""
    return f"tallystick/{trail}"


class OutsideFolder:
    """Implements ``Outside`` in a folder, normally the user's state folder."""

    def __init__(self, folder: str | os.PathLike[str], entropy: Callable[[int], bytes] = os.urandom) -> None:
        self._entropy = entropy
        self._digest_keys: dict[str, bytes] = {}
        self.location = os.fspath(folder)

    def create(self, trail: str) -> None:
        """See ``Outside``."""
        for name in ("signing.key", "digest.key"):
            path = self._path(trail, name)
            if not is_there(path):
                self._replace(path, self._entropy(KEY_BYTES), durable=True)

    def require_keys(self, trail: str) -> None:
        """See ``Outside``."""
        for name in ("signing.key", "digest.key"):
            self._key(trail, name)

    def digest(self, trail: str, data: bytes) -> bytes:
        """See ``Outside``: keyed BLAKE2b."""
        key = self._digest_keys.get(trail)
        if key is None:
            key = self._digest_keys[trail] = self._key(trail, "digest.key")
        return blake2b(data, key=key, digest_size=16).digest()

    def seal(self, trail: str, log: LogName, size: int, root: bytes) -> str | None:
        """See ``Outside``: keyed BLAKE2b of its own sort, so that no digest of content is a seal."""
        key = self._digest_keys.get(trail) or self._read(self._path(trail, "digest.key"))
        return None if key is None or len(key) != KEY_BYTES else seal(key, log, size, root)

    def write_head(self, trail: str, log: LogName, head: Head) -> None:
        """See ``Outside``."""
        # In place: a rename over a file has the file system write it out at once, a fifth of the time of an append.
        path, line = self._path(trail, f"{log}.head"), _head_line(head)
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        except OSError:
            self._replace(path, line, durable=False)
            return
        try:
            os.pwrite(handle, line, 0)
        except OSError as error:
            raise self._unwritable(path, error) from None
        finally:
            os.close(handle)

    def read_head(self, trail: str, log: LogName) -> KnownHead | None:
        """See ``Outside``. A head that cannot be read counts as none."""
        path = self._path(trail, f"{log}.head")
        for _ in range(_READ_AGAIN):
            data = self._read(path)
            if data is None:
                return None
            if (head := _head_in(data)) is not None:
                return head
        return None

    def known_at(self, location: str) -> str:
        """See ``Outside``: where the folder cannot be read nothing is known, as in a new one."""
        data = b""
        with contextlib.suppress(TrailUnwritable):
            data = self._read(self._place(location)) or b""
        return data.decode("ascii", "replace").strip()

    def note_at(self, location: str, trail: str) -> None:
        """See ``Outside``."""
        if self.known_at(location) != trail:
            self._replace(self._place(location), f"{trail}\n".encode("ascii"), durable=False)

    def _place(self, location: str) -> str:
        """One small file for each location: its name tells nobody the location."""
        whole = location if "://" in location else os.path.abspath(location)
        return os.path.join(self.location, "places", blake2b(os.fsencode(whole), digest_size=16).hexdigest())

    def write_verified(self, trail: str, log: LogName, verified: Verified) -> None:
        """See ``Outside``."""
        said = f"{verified.size} {b''.join(verified.nodes).hex()}"
        self._replace(self._path(trail, f"{log}.verified"), f"{said} {_check(said)}\n".encode("ascii"), durable=False)

    def read_verified(self, trail: str, log: LogName) -> Verified | None:
        """See ``Outside``."""
        data = self._read(self._path(trail, f"{log}.verified")) or b""
        with contextlib.suppress(ValueError):
            said, _, check = data.decode("ascii").rstrip("\n").rpartition(" ")
            size, _, nodes = said.partition(" ")
            frontier = Frontier.from_bytes(int(size), bytes.fromhex(nodes))
            if check == _check(said):
                return Verified(frontier.size, tuple(frontier.nodes))
        return None

    def write_checkpoint(self, trail: str, log: LogName, head: Head) -> bytes:
        """See ``Outside``."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # 20 ms

        from tallystick.log.checkpoint import Checkpoint, signed

        key = Ed25519PrivateKey.from_private_bytes(self._key(trail, "signing.key"))
        checkpoint = Checkpoint(origin(trail, log), head.size, head.root)
        note = signed(checkpoint, key_name(trail), key.public_key().public_bytes_raw(), key.sign)
        self._replace(self._path(trail, f"{log}.checkpoint"), note, durable=False)
        return note

    def read_checkpoint(self, trail: str, log: LogName) -> bytes | None:
        """See ``Outside``."""
        return self._read(self._path(trail, f"{log}.checkpoint"))

    def public_key(self, trail: str) -> bytes | None:
        """See ``Outside``."""
        raw = self._read(self._path(trail, "signing.key"))
        if raw is None or len(raw) != KEY_BYTES:
            return None
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Ed25519PrivateKey.from_private_bytes(raw).public_key().public_bytes_raw()

    def note_export(self, trail: str, path: str) -> None:
        """See ``Outside``."""
        known = self.exports(trail)
        if path not in known:
            self._write_exports(trail, [*known, path])

    def exports(self, trail: str) -> list[str]:
        """See ``Outside``. A list that cannot be read is refused, since a file would be missed."""
        path = self._path(trail, _EXPORTS)
        data = self._read(path, _LONGEST_LIST) or b"[]"
        try:
            said = json.loads(data)
        except ValueError:
            said = None
        if not isinstance(said, list) or not all(isinstance(each, str) for each in said):
            raise TrailUnwritable(f"{path}: is damaged; write the exported files you know of into it, as a JSON array")
        return said

    def drop_export(self, trail: str, path: str) -> None:
        """See ``Outside``."""
        self._write_exports(trail, [each for each in self.exports(trail) if each != path])

    def _write_exports(self, trail: str, paths: list[str]) -> None:
        self._replace(self._path(trail, _EXPORTS), json.dumps(paths).encode(), durable=False)

    def _path(self, trail: str, name: str) -> str:
        return os.path.join(self.location, trail, name)

    def _key(self, trail: str, name: str) -> bytes:
        path = self._path(trail, name)
        raw = self._read(path)
        if raw is None or len(raw) != KEY_BYTES:
            raise TrailUnwritable(
                f"{path}: the trail's key is not there; restore it from a backup to write to this trail"
            )
        return raw

    def _read(self, path: str, most: int = _LONGEST) -> bytes | None:
        try:
            handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise TrailUnwritable(f"{path}: {error.strerror}; check who owns it") from None
        try:
            return os.read(handle, most)
        except OSError as error:
            raise TrailUnwritable(f"{path}: {error.strerror}; check who owns it") from None
        finally:
            os.close(handle)

    def _replace(self, path: str, data: bytes, *, durable: bool) -> None:
        """Write beside and rename, so that a reader sees the old or the new bytes and never a part."""
        beside = f"{path}.{os.getpid()}"
        try:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            try:
                os.write(handle, data)
                if durable:
                    os.fsync(handle)
            finally:
                os.close(handle)
            os.replace(beside, path)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(beside)
            raise self._unwritable(path, error) from None

    def _unwritable(self, path: str, error: OSError) -> TrailUnwritable:
        return TrailUnwritable(f"{path}: {error.strerror}; set TALLY_STATE to a folder that can be written")


def _head_line(head: Head) -> bytes:
    """As long whatever the size, so that nothing of the line before shows behind it; the check tells a line half written."""
    said = f"{head.size:016} {head.root.hex()}"
    return f"{said} {_check(said)}\n".encode("ascii")


def _head_in(data: bytes) -> KnownHead | None:
    with contextlib.suppress(ValueError):
        said, _, check = data.decode("ascii").rstrip("\n").rpartition(" ")
        size, root = said.split()
        if check == _check(said):
            return KnownHead(int(size), bytes.fromhex(root))
    return None


def _check(said: str) -> str:
    return sha256(said.encode("ascii")).hexdigest()[:16]


def seal(key: bytes, log: LogName, size: int, root: bytes) -> str:
    """What ``Outside.seal`` answers under a key."""
    return blake2b(
        f"{log} {size} {root.hex()}".encode(), key=key, digest_size=16, person=b"tallystick head"
    ).hexdigest()


def check_signature(public_key: bytes) -> Callable[[bytes, bytes], bool]:
    """A function that answers whether an Ed25519 signature holds, for ``log.checkpoint.verify``."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    key = Ed25519PublicKey.from_public_bytes(public_key)

    def check(signature: bytes, message: bytes) -> bool:
        try:
            key.verify(signature, message)
        except InvalidSignature:
            return False
        return True

    return check


def checkpoint_of(note: bytes) -> KnownHead | None:
    """The head that a kept note states; None where it cannot be read."""
    from tallystick.log.checkpoint import parse

    try:
        checkpoint = parse(note).checkpoint
    except ProofError:
        return None
    return KnownHead(checkpoint.size, checkpoint.root)
