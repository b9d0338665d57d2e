"""Certifying: a candidate and the evidence around it in, verdicts out. What an extractor thinks of trust is never asked."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from tallystick.briefing import shown
from tallystick.model.claim import Candidate, ClaimKind, Derivation, Outcome, Verdict
from tallystick.model.evidence import Event, Origin, Span
from tallystick.verifiers import departure, outcome, quotation
from tallystick.verifiers.settling import settle
from tallystick.verifiers.signals import Signals

CONTEXT_CHARS = 200
"""How much of the event before a quote is looked at for a negation that governs it."""
_PERSONAL = frozenset({ClaimKind.PREFERENCE, ClaimKind.RULE, ClaimKind.CORRECTION})


class Certified(NamedTuple):
    """A candidate with what the verifiers said of it."""

    candidate: Candidate
    event: str
    """Id of the event the words stand in; empty where they stand nowhere."""
    position: int
    """Ordinal of that event in its session; -1 where there is none."""
    verdicts: tuple[Verdict, ...]
    settle: str

    @property
    def derivation(self) -> str:
        """The quotation verifier's answer."""
        return next(each.value for each in self.verdicts if each.verifier == quotation.VERIFIER)

    @property
    def outcome(self) -> str:
        """The outcome verifier's answer; ``none`` where the text claims no outcome."""
        return next((each.value for each in self.verdicts if each.verifier == outcome.VERIFIER), Outcome.NONE)


class Witnessed(NamedTuple):
    """What the outcome verifier said; ``verdict`` is None where the text claims no outcome."""

    verdict: Verdict | None
    settle: str
    """A command that would settle it now, from a template; empty where none fits."""


def capped(candidate: Candidate) -> Candidate:
    """The candidate with its kind capped by its origin: only a person's words make a rule, a preference or a correction."""
    if candidate.kind in _PERSONAL and candidate.origin is not Origin.USER:
        return candidate._replace(kind=ClaimKind.FACT)
    return candidate


def certify_quote(candidate: Candidate, events: Iterable[Event], surfaced: Collection[str], session: str) -> Verdict:
    """Whether the candidate's quote stands in one event, and its text in the quote."""
    events = list(events)
    if not candidate.quote:
        return Verdict(quotation.VERIFIER, Derivation.INFERRED, "no quote")
    found = quotation.verify_quote(candidate.quote, events, surfaced=surfaced, nearest=False)
    spans = tuple(Span(session, span.event, span.start, span.end) for span in found.spans)
    if found.derivation is not Derivation.VERBATIM:
        return Verdict(quotation.VERIFIER, Derivation.INFERRED, found.reason, spans)
    departs = departure.departure(candidate.text, candidate.quote, _before(spans[0], events))
    if departs:
        return Verdict(quotation.VERIFIER, Derivation.INFERRED, f"departs: {departs}", spans)
    return Verdict(quotation.VERIFIER, Derivation.VERBATIM, found.reason, spans)


def _before(span: Span, events: list[Event]) -> str:
    event = next((each for each in events if each.uid == span.event), None)
    if event is None:
        return ""
    return event.text.encode("utf-8", "replace")[: span.start].decode("utf-8", "replace")[-CONTEXT_CHARS:]


def certify_outcome(
    candidate: Candidate, signals: Signals, *, position: int | None, thread: str, session: str, has_results: bool
) -> Witnessed:
    """Whether what the text says came about has a witness, and what would settle it now."""
    if candidate.kind in _PERSONAL or candidate.kind is ClaimKind.OPEN_LOOP:
        return Witnessed(None, settle(candidate.text))
    found = outcome.verify_outcome(candidate.text, signals, position=position, thread=thread, has_results=has_results)
    command = settle(candidate.text, [witness.command for witness in found.witness])
    if not found.is_outcome:
        return Witnessed(None, command)
    spans = tuple(Span(session, witness.event, 0, 0) for witness in found.witness)
    return Witnessed(Verdict(outcome.VERIFIER, found.outcome, found.reason, spans), command)


def renamed(certified: Certified, places: Mapping[str, str]) -> Certified:
    """The same with the ids under which its events were kept."""
    if not places:
        return certified
    verdicts = tuple(
        verdict._replace(spans=tuple(span._replace(event=places.get(span.event, span.event)) for span in verdict.spans))
        for verdict in certified.verdicts
    )
    return certified._replace(event=places.get(certified.event, certified.event), verdicts=verdicts)


def verdict_part(verdicts: Iterable[Verdict], settle: str) -> bytes:
    """The bytes of a ``verdict/<claim>`` part."""
    value: dict[str, Any] = {
        "verdicts": [
            {
                "reason": each.reason,
                "spans": [list(span) for span in each.spans],
                "value": str(each.value),
                "verifier": each.verifier,
            }
            for each in verdicts
        ]
    }
    if settle:
        value["settle"] = settle
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def words_shown(candidate: Candidate) -> tuple[str, ...]:
    """The words by which a briefing may show the candidate: its own, or those it was certified by."""
    return (shown(candidate.text), shown(candidate.quote)) if candidate.quote else (shown(candidate.text),)
