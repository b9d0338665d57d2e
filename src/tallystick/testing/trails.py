"""Trails for tests: a clock that is set by hand, randomness that repeats, and an outside that is kept in memory.

Only the outermost boundary is faked. Two trails made with one seed and driven alike hold the same bytes, whatever store
they are over, so stores can be compared entry by entry.
"""

from __future__ import annotations

from hashlib import blake2b, sha256

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tallystick.errors import TrailUnwritable
from tallystick.log.checkpoint import Checkpoint, signed
from tallystick.model.entry import Head, LogName
from tallystick.model.temporal import Instant
from tallystick.store.outside import KnownHead, Verified, key_name, origin, seal
from tallystick.store.protocol import Store
from tallystick.trail import Trail

FIRST_MOMENT: Instant = 1_780_000_000_000_000
"""Where a hand-set clock begins: in May 2026."""


class SetClock:
    """A clock that stands still until it is moved."""

    def __init__(self, now: Instant = FIRST_MOMENT) -> None:
        self.now = now

    def __call__(self) -> Instant:
        """What it was set to."""
        return self.now


class RepeatingEntropy:
    """Bytes that look random and are the same for the same seed; never for anything but tests and vectors."""

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self._given = 0

    def __call__(self, size: int) -> bytes:
        """The next ``size`` bytes."""
        given = b""
        while len(given) < size:
            given += sha256(b"%d/%d" % (self._seed, self._given)).digest()
            self._given += 1
        return given[:size]


class MemoryOutside:
    """Implements ``store.outside.Outside`` in dictionaries. ``heads`` and ``notes`` are open to tests."""

    location = "memory"

    def __init__(self, seed: int = 0) -> None:
        self._entropy = RepeatingEntropy(~seed)
        self._keys: dict[str, tuple[bytes, bytes]] = {}
        self.heads: dict[tuple[str, LogName], KnownHead] = {}
        self.places: dict[str, str] = {}
        self.verified: dict[tuple[str, LogName], Verified] = {}
        self.notes: dict[tuple[str, LogName], bytes] = {}
        self.exported: dict[str, list[str]] = {}

    def create(self, trail: str) -> None:
        """See ``Outside``."""
        self._keys.setdefault(trail, (self._entropy(32), self._entropy(32)))

    def require_keys(self, trail: str) -> None:
        """See ``Outside``."""
        if trail not in self._keys:
            raise TrailUnwritable(f"memory: no key of trail {trail}")

    def digest(self, trail: str, data: bytes) -> bytes:
        """See ``Outside``."""
        return blake2b(data, key=self._keys[trail][1], digest_size=16).digest()

    def seal(self, trail: str, log: LogName, size: int, root: bytes) -> str | None:
        """See ``Outside``."""
        return seal(self._keys[trail][1], log, size, root) if trail in self._keys else None

    def write_head(self, trail: str, log: LogName, head: Head) -> None:
        """See ``Outside``."""
        self.heads[trail, log] = KnownHead(head.size, head.root)

    def read_head(self, trail: str, log: LogName) -> KnownHead | None:
        """See ``Outside``."""
        return self.heads.get((trail, log))

    def known_at(self, location: str) -> str:
        """See ``Outside``."""
        return self.places.get(location, "")

    def note_at(self, location: str, trail: str) -> None:
        """See ``Outside``."""
        self.places[location] = trail

    def write_verified(self, trail: str, log: LogName, verified: Verified) -> None:
        """See ``Outside``."""
        self.verified[trail, log] = verified

    def read_verified(self, trail: str, log: LogName) -> Verified | None:
        """See ``Outside``."""
        return self.verified.get((trail, log))

    def write_checkpoint(self, trail: str, log: LogName, head: Head) -> bytes:
        """See ``Outside``."""
        key = Ed25519PrivateKey.from_private_bytes(self._keys[trail][0])
        checkpoint = Checkpoint(origin(trail, log), head.size, head.root)
        note = signed(checkpoint, key_name(trail), key.public_key().public_bytes_raw(), key.sign)
        self.notes[trail, log] = note
        return note

    def read_checkpoint(self, trail: str, log: LogName) -> bytes | None:
        """See ``Outside``."""
        return self.notes.get((trail, log))

    def public_key(self, trail: str) -> bytes | None:
        """See ``Outside``."""
        if trail not in self._keys:
            return None
        return Ed25519PrivateKey.from_private_bytes(self._keys[trail][0]).public_key().public_bytes_raw()

    def note_export(self, trail: str, path: str) -> None:
        """See ``Outside``."""
        if path not in self.exports(trail):
            self.exported.setdefault(trail, []).append(path)

    def exports(self, trail: str) -> list[str]:
        """See ``Outside``."""
        return list(self.exported.get(trail, ()))

    def drop_export(self, trail: str, path: str) -> None:
        """See ``Outside``."""
        self.exported[trail] = [each for each in self.exports(trail) if each != path]


def trail_over(store: Store, *, seed: int = 0, clock: SetClock | None = None) -> Trail:
    """A trail over ``store`` that gives the same bytes for the same seed and the same use."""
    return Trail(store, MemoryOutside(seed), clock=clock or SetClock(), entropy=RepeatingEntropy(seed), actor="tester")
