"""The rows that the fold makes of entries (``beliefs``) and that stores keep: what was believed, since when, and why."""

from __future__ import annotations

from typing import NamedTuple

from tallystick.model.temporal import END_OF_TIME, Interval


class ClaimRow(NamedTuple):
    """What never changes of a claim; ``claim`` is the seq of the entry that opened it."""

    claim: int
    holder: str
    kind: str
    origin: str
    lineage: int
    """The first claim of the chain of revisions and re-assertions that this one belongs to."""
    session: int
    """Seq that introduced the session it was said in; -1 where there is none."""
    said_at: int
    """Microseconds UTC when the words were said; -1 where no record says."""
    tokens: int
    """Tokens of the claim as a briefing would show it (CARRY.6)."""
    subject: str = ""
    attribute: str = ""
    value: str = ""
    """What it says of one thing; all empty where it is free text only."""


class Version(NamedTuple):
    """A claim held with one set of valid intervals over the half-open range of seqs ``[tx_from, tx_to)``."""

    claim: int
    tx_from: int
    tx_to: int
    valid: tuple[Interval, ...]


class VerdictRow(NamedTuple):
    """A verifier's verdict; of one claim and axis the newest at or before a point counts (TIME.13)."""

    claim: int
    axis: str
    """``derivation`` | ``outcome``"""
    seq: int
    value: str
    reason: str
    judged: int
    """The entry whose verdict this is: ``seq``, or an earlier one that an ``undone`` entry gave back."""


class Touch(NamedTuple):
    """That an entry was about a claim, or observed a session; a claim's history is its touches.

    In the access log it is an entry of that log that was about a claim of the memory log.
    """

    claim: int
    seq: int
    kind: str
    said_at: int = -1
    """Of a reconfirmation: microseconds UTC when it was said again; -1 where no record says."""


class Link(NamedTuple):
    """Two claims and how they stand to each other: ``contradicts`` | ``derived_from`` | ``same_as`` | ``revises``.

    ``same_as`` may also stand between the entries that introduced two holders: one identity, until it is undone.
    """

    seq: int
    newer: int
    older: int
    kind: str
    tx_to: int = END_OF_TIME
    """The entry that undid it."""


class Name(NamedTuple):
    """An actor, holder or session that an entry introduced, with the name or native id it goes by; or an attribute that was
    registered as having one value at a time."""

    seq: int
    what: str
    """``actor`` | ``holder`` | ``session`` | ``attribute``"""
    id: str
    name: str
    facts: str
    """JSON object of what else was said at introduction."""
    tx_to: int = END_OF_TIME
    """The entry that undid it."""


class Ending(NamedTuple):
    """That the links and names which entry ``seq`` made end at entry ``tx_to``."""

    seq: int
    tx_to: int


class Epoch(NamedTuple):
    """A stretch of the log whose ``at`` never goes back (TIME.2)."""

    epoch: int
    seq: int
    at: int


class Closing(NamedTuple):
    """That the open version of a claim ends at an entry."""

    claim: int
    seq: int
