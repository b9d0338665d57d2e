"""An outcome claim needs a witness, not a quote: the tool result of the same session that entails it (OUTCOME.1-7).

"All tests pass" is witnessed by the latest test run of the same scope that passed and is not older than the last edit of
code; over a failed run it is contradicted, over a run older than the edit its witness is stale, over anything else it is
unwitnessed. Contradiction needs a clear result of the same scope; whatever is short of that is ``unwitnessed``.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tallystick.language.modality import Mood, mood
from tallystick.language.sentences import sentences
from tallystick.model.claim import Outcome
from tallystick.verifiers.outcome_claims import MAX_SENTENCE_CHARS, OutcomeClaim, outcome_claims
from tallystick.verifiers.outcome_rules import judge
from tallystick.verifiers.outcome_sentence import read
from tallystick.verifiers.outcome_session import Finding, Session
from tallystick.verifiers.outcome_words import Achievement
from tallystick.verifiers.signals import Result, Signal, Signals, result_of

__all__ = ["VERIFIER", "OutcomeClaim", "OutcomeVerdict", "Witness", "outcome_claims", "verify_outcome"]

VERIFIER = "outcome/2"
MAX_SENTENCES = 60
"""A longer text is read up to here."""
MAX_WITNESSES = 6
_DENIABLE = frozenset((Achievement.MEASURED, Achievement.UNTOUCHED, Achievement.ABSENT, Achievement.NOT_FOUND))
_CONTENTS_CAN_BE = frozenset((Mood.CONDITIONAL, Mood.PLAN, Mood.INSTRUCTION))
"""Moods that a sentence can have from what its claim is about: "Added a link to open an issue if …"."""
_SERIOUSNESS = (
    Outcome.CONTRADICTED,
    Outcome.STALE_WITNESS,
    Outcome.UNWITNESSED,
    Outcome.NO_SIGNALS,
    Outcome.WITNESSED,
    Outcome.NONE,
)


class Witness(NamedTuple):
    """A result that bears on the claim."""

    event: str
    """``uid`` of the tool result, or of the message that takes the claim back."""
    command: str
    """The command, cut; the tool's name where it runs none."""
    status: str
    """``ok``, ``failed``, ``weak``, ``unknown``, ``said``."""
    excerpt: str
    weak: bool = False


class OutcomeVerdict(NamedTuple):
    """What the session shows of the outcomes that a text asserts; of several the worst supported."""

    is_outcome: bool
    mood: Mood
    outcome: Outcome
    witness: tuple[Witness, ...]
    reason: str


def verify_outcome(
    text: str,
    signals: Signals,
    *,
    position: int | None = None,
    thread: str = "",
    has_results: bool = True,
) -> OutcomeVerdict:
    """Hold the outcomes that ``text`` asserts against the results of its session.

    ``position`` is where the words were said: later results are no witnesses, though they and later words may contradict.
    None stands for the end of the session. ``has_results`` is False for harnesses whose transcripts carry none.
    """
    first: Mood | None = None
    worst: OutcomeVerdict | None = None
    for sentence in _spoken(text):
        said_as = mood(sentence)
        first = first or said_as
        for claim in _asserted(sentence, said_as):
            verdict = _verdict(claim, said_as, signals, position, thread, has_results)
            if worst is None or _SERIOUSNESS.index(verdict.outcome) < _SERIOUSNESS.index(worst.outcome):
                worst = verdict
    return worst or OutcomeVerdict(False, first or Mood.ASSERTION, Outcome.NONE, (), "no completed outcome is asserted")


def _spoken(text: str) -> list[str]:
    """The sentences of ``text`` that speak: code, quotations and headings over other text are none."""
    found = sentences(text[: MAX_SENTENCE_CHARS * MAX_SENTENCES])
    kept = [s.text for s in found if s.block not in ("code", "quote", "heading") and not _SPECIFIED.match(s.text)]
    return (kept or [s.text for s in found if s.block == "heading"])[:MAX_SENTENCES]


def _asserted(sentence: str, said_as: Mood) -> tuple[OutcomeClaim, ...]:
    """The claims of a sentence said in asserting mood; a denial asserts only that something is absent or untouched."""
    if said_as in _CONTENTS_CAN_BE and not _OPEN_BOX.match(sentence):
        return tuple(c for c in outcome_claims(sentence) if c.own and _is_asserted(sentence, c))
    if said_as not in (Mood.ASSERTION, Mood.NEGATED_ASSERTION):
        return ()
    claims = outcome_claims(sentence)
    if said_as is Mood.NEGATED_ASSERTION:
        affirmed = [c for c in claims if c.achievement not in _DENIABLE]
        return tuple(c for c in claims if c.achievement in _DENIABLE or len(affirmed) == len(claims))
    return claims


_SPECIFIED = re.compile(
    r"[\s>+-]*(?:\*\*(?:given|when|then|and|but|étant donné|quand|alors|et)\*\*\s"
    r"|[*_]{0,3}(?:préconditions?|preconditions?|succès|échecs?|erreurs?|acceptance criteria|critères? d.acceptation)"
    r"[*_]{0,3}\s?:)",
    re.IGNORECASE,
)
"""A step of a specification, which states what is to hold and not what came about."""
_OPEN_BOX = re.compile(r"[\s>*+-]*\[ \]")


def _is_asserted(sentence: str, claim: OutcomeClaim) -> bool:
    """Whether the claim by itself, without what it is about, is said in asserting mood."""
    start, stop = claim.own or (0, 0)
    said_as = mood(read(sentence).shown[start:stop])
    return said_as is Mood.ASSERTION or (said_as is Mood.NEGATED_ASSERTION and claim.achievement in _DENIABLE)


def _verdict(
    claim: OutcomeClaim, said_as: Mood, signals: Signals, position: int | None, thread: str, has_results: bool
) -> OutcomeVerdict:
    if not has_results or not signals.readable:
        return OutcomeVerdict(True, said_as, Outcome.NO_SIGNALS, (), f"{claim.phrase}: the session shows no results")
    found = judge(claim, Session(signals, position, thread))
    return OutcomeVerdict(
        True, said_as, found.outcome, _witnesses(found), f"{' '.join(claim.phrase.split())}: {found.reason}"
    )


def _witnesses(found: Finding) -> tuple[Witness, ...]:
    seen = [_witness(signal, kinds) for signal, kinds in zip(found.signals, found.results, strict=True)]
    said = [Witness(s.event, "", "said", s.text[:200]) for s in found.speeches]
    return tuple((*seen, *said)[:MAX_WITNESSES])


def _witness(signal: Signal, result: Result | None) -> Witness:
    if result is None:
        results = [result_of(signal, action) for action in signal.actions]
        result = results[0] if results else Result.UNKNOWN
    return Witness(
        signal.event,
        signal.command or signal.tool,
        result.value,
        signal.excerpt,
        result is not Result.OK and result is not Result.FAILED,
    )
