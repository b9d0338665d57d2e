"""Propositions and what may be said of their standing: four separate trust axes, never one number."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from tallystick.model.origin import Origin
from tallystick.model.temporal import UNKNOWN_VALID_TIME, Instant, ValidTime

if TYPE_CHECKING:
    from tallystick.model.evidence import Span


class ClaimKind(StrEnum):
    """What sort of thing a claim records."""

    DECISION = "decision"
    OUTCOME = "outcome"
    FACT = "fact"
    PREFERENCE = "preference"
    """A person's standing way of wanting things, wherever they work."""
    RULE = "rule"
    """A person's standing constraint on this project."""
    CORRECTION = "correction"
    OPEN_LOOP = "open_loop"


class Derivation(StrEnum):
    """Set by the quotation verifier; a model never sets it."""

    VERBATIM = "verbatim"
    INFERRED = "inferred"


class Outcome(StrEnum):
    """Set by the outcome verifier."""

    NONE = "none"
    WITNESSED = "witnessed"
    UNWITNESSED = "unwitnessed"
    CONTRADICTED = "contradicted"
    STALE_WITNESS = "stale_witness"
    NO_SIGNALS = "no_signals"


class Approval(StrEnum):
    """Set by a person."""

    NONE = "none"
    PROPOSED = "proposed"
    APPROVED = "approved"
    REJECTED = "rejected"


class Standing(NamedTuple):
    """How a claim stood at a point, without its words: what decides which claims are shown, before any is read."""

    claim: int
    kind: str
    origin: str
    said_at: int
    """When it was last said by the point, microseconds UTC; -1 where no record says."""
    tokens: int
    """Of the claim as a briefing shows it; 0 where they were not counted."""
    derivation: str
    outcome: str


class About(NamedTuple):
    """What a claim says of one thing: subject, attribute, value. All empty when it is free text only."""

    subject: str = ""
    attribute: str = ""
    value: str = ""


class Candidate(NamedTuple):
    """What an extractor offers. It has no trust field: trust is the verifiers' to set."""

    kind: ClaimKind
    text: str
    quote: str = ""
    origin: Origin = Origin.ASSISTANT
    """Origin of the event the quote is said to stand in."""
    event: str = ""
    """``uid`` of that event."""
    about: About = About()
    valid: ValidTime = UNKNOWN_VALID_TIME
    said_at: Instant | None = None


class Verdict(NamedTuple):
    """What a verifier of a named version said of a claim, with the spans that say so."""

    verifier: str
    """Name and version, such as ``quotation/1``."""
    value: str
    """A ``Derivation`` or an ``Outcome``."""
    reason: str
    spans: tuple[Span, ...] = ()
