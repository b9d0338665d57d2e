"""One thing that happened to a trail, as its log commits to it: integers, enumerations, random ids and digests (TRAIL.2, 4)."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from tallystick.model.temporal import Instant

FORMAT = 1
"""Version of the entry format; ``v`` in every entry. A larger one is kept, verified and counted, and changes no belief."""


class LogName(StrEnum):
    """The three logs of a trail; each has its own lock, sequence, tree and checkpoint."""

    MEMORY = "memory"
    ACCESS = "access"
    LEDGER = "ledger"


class EntryKind(StrEnum):
    """Kinds that this version knows. An entry's ``kind`` stays a plain string, since newer versions write others (TRAIL.9)."""

    INTRODUCED = "introduced"
    OBSERVED = "observed"
    ASSERTED = "asserted"
    RECONFIRMED = "reconfirmed"
    JUDGED = "judged"
    REVISED = "revised"
    RETRACTED = "retracted"
    UNDONE = "undone"
    LINKED = "linked"
    PROPOSED = "proposed"
    APPROVED = "approved"
    REJECTED = "rejected"
    LAPSED = "lapsed"
    ERASED = "erased"
    KEY_ROTATED = "key_rotated"
    CLOCK_REPAIRED = "clock_repaired"
    RECALLED = "recalled"
    SURFACED = "surfaced"
    CITED = "cited"
    IGNORED = "ignored"
    CORRECTED = "corrected"


class Entry(NamedTuple):
    """One leaf's content. ``seq`` is its 0-based place in the log and its transaction time."""

    trail: str
    """32 hex digits."""
    log: str
    seq: int
    at: Instant
    """Microseconds UTC; never goes back within an epoch (TIME.2)."""
    clock: Instant
    """What the machine's clock read, whatever it was."""
    kind: str
    actor: str
    """32 hex digits; the name is content of the entry that introduced it."""
    holder: str = ""
    """32 hex digits, or empty where the entry stands in nobody's memory in particular."""
    refs: tuple[int, ...] = ()
    """Entries of the same log that this one is about, in the order its kind gives them (docs/spec/trail.md)."""
    parts: tuple[tuple[str, str], ...] = ()
    """(name, hex SHA-256(salt ‖ bytes)) in ascending order of name."""
    xrefs: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """(other log's name, seqs there) in ascending order of name."""
    v: int = FORMAT


class Part(NamedTuple):
    """The bytes behind one digest of an entry: what a person could want gone."""

    name: str
    salt: bytes
    """32 random bytes, used once."""
    body: bytes


class Head(NamedTuple):
    """Where a log stands."""

    size: int
    """Entries in the log."""
    root: bytes
    """RFC 6962 root of its leaves; of the empty tree when ``size`` is 0."""
    at: Instant
    """``at`` of the last entry; START_OF_TIME when there is none."""
    epoch: int
    """How many ``clock_repaired`` entries there are."""
