"""Remember: one claim by hand or by an agent, verified like any other (QUOTE, OUTCOME)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tallystick.errors import UsageError
from tallystick.log.canonical import encode
from tallystick.model.claim import About, Candidate, ClaimKind, Derivation, Verdict
from tallystick.model.entry import EntryKind
from tallystick.model.evidence import Event, Origin
from tallystick.model.temporal import ValidTime
from tallystick.redaction import redact_strings
from tallystick.trail import Appender, Trail
from tallystick.verifiers import outcome, quotation
from tallystick.verifiers.quotation import Nearest
from tallystick.verifiers.settling import settle
from tallystick.verifiers.signals import Signals
from tallystick.workflows.archiving import SessionArchive
from tallystick.workflows.certifying import Certified, capped, certify_outcome, certify_quote
from tallystick.workflows.corrections import mark_corrected
from tallystick.workflows.ingest import sessions_by_name
from tallystick.workflows.known_sessions import file_all, file_session, known_session
from tallystick.workflows.observing import take_signal
from tallystick.workflows.reconciling import FORGOTTEN, Holders, Reconciler
from tallystick.workflows.sessions import Session
from tallystick.workflows.tombstones import Digest, Tombstones
from tallystick.workflows.typed import fit

BY = "remember"


class Remembered(NamedTuple):
    """What was kept and how it stands."""

    id: int
    derivation: str
    outcome: str
    reason: str
    nearest: Nearest | None
    closes: tuple[int, ...] = ()
    """Claims that it took the place of, in whole or in part: another value of a registered attribute."""


class Said(NamedTuple):
    """What the caller says."""

    text: str
    kind: ClaimKind
    quote: str
    valid: ValidTime
    about: About = About()


class Tools(NamedTuple):
    """What remembering is handed."""

    count_tokens: Callable[[str], int]
    project: str
    person: str


def remember(trail: Trail, said: Said, session: Session | None, tools: Tools) -> Remembered:
    """Keep one claim. A quote that is not found makes it ``inferred``; it is kept all the same (QUOTE.5).

    Raises:
        UsageError: empty text, a quote without a session, or words that were forgotten.
    """
    if not said.text.strip():
        raise UsageError("the text is empty; say what is to be remembered")
    if said.quote and session is None:
        raise UsageError("--quote needs --session: the session whose words are quoted")
    text, quote = fit(said.text), fit(said.quote)
    about = About(*(fit(each).strip() for each in said.about))
    if any(about) and not all(about):
        raise UsageError("--about takes a subject, an attribute and a value, none of them empty")
    candidate = Candidate(
        kind=said.kind, text=text, quote=quote, origin=Origin.ASSISTANT, about=about, valid=said.valid
    )
    certified = _certify(candidate, session)

    def digest(data: bytes) -> bytes:
        return trail.outside.digest(trail.id, data)

    with trail.writing() as appender:
        if Tombstones(appender.rows, digest).has_text(text):
            raise UsageError(FORGOTTEN)
        seq = -1 if session is None else _session_of(appender, session, tools, digest)
        holders = Holders(appender.holder(tools.project, "project"), appender.holder(tools.person, "person"))
        certified = _placed(certified, f"s{seq}")
        reconciler = Reconciler(appender, holders, digest, tools.count_tokens)
        claim = reconciler.one(certified, seq, BY)
        closes = tuple(link.older for link in appender.rows.links_of(claim) if link.newer == claim == link.seq)
    trail.seal()
    if closes:
        mark_corrected(trail)
    nearest = None
    if quote and session and certified.derivation != Derivation.VERBATIM:
        nearest = quotation.verify_quote(quote, session.events, surfaced=session.surfaced()).nearest
    reason = "; ".join(verdict.reason for verdict in certified.verdicts)
    return Remembered(claim, certified.derivation, certified.outcome, reason, nearest, closes)


def _certify(candidate: Candidate, session: Session | None) -> Certified:
    if session is None:
        verdict = Verdict(quotation.VERIFIER, Derivation.INFERRED, "no quote")
        return Certified(capped(candidate), "", -1, (verdict,), settle(candidate.text))
    quoted = certify_quote(candidate, session.events, session.surfaced(), session.label)
    events = {event.uid: (n, event) for n, event in enumerate(session.events)}
    position, event = events.get(quoted.spans[0].event, (-1, None)) if quoted.spans else (-1, None)
    if event is not None and quoted.value == Derivation.VERBATIM:
        candidate = candidate._replace(origin=event.origin, said_at=event.at)
    candidate = capped(candidate)
    found = certify_outcome(
        candidate,
        signals_of(session),
        position=position if position >= 0 else None,
        thread=event.thread if event else "",
        session=session.label,
        has_results=session.facts.has_results,
    )
    verdicts = (quoted,) if found.verdict is None else (quoted, found.verdict)
    return Certified(candidate, event.uid if event else "", position, verdicts, found.settle)


def signals_of(session: Session) -> Signals:
    """Everything in a session that can witness an outcome, or contradict one."""
    signals = Signals()
    for position, event in enumerate(session.events):
        take_signal(signals, event, position)
    return signals


def _session_of(appender: Appender, session: Session, tools: Tools, digest: Digest) -> int:
    """The session's seq; one read from a file is archived first, so that the evidence is kept."""
    if session.seq >= 0:
        return session.seq
    facts = session.facts
    names = facts.harness, facts.native_id or session.label, facts.thread
    file_all(appender.rows, digest, sessions_by_name)
    found = known_session(appender.rows, digest, names)
    if found < 0:
        found = Tombstones(appender.rows, digest).session(*names)
    if found < 0:
        about = {"cwd": facts.cwd, "harness": facts.harness, "name": session.label, "thread": facts.thread}
        project = appender.holder(tools.project, "project")
        part = encode(redact_strings({name: value for name, value in about.items() if value})[0])
        found = appender.add(EntryKind.INTRODUCED, {"session": part}, holder=project)
        file_session(appender.rows, digest, names, found)
    SessionArchive(facts.harness, "", digest).keep(appender, found, [(event.uid, event) for event in session.events])
    return found


def _placed(certified: Certified, session: str) -> Certified:
    verdicts = tuple(
        verdict._replace(spans=tuple(span._replace(session=session) for span in verdict.spans))
        for verdict in certified.verdicts
    )
    return certified._replace(verdicts=verdicts)


def judge_outcome(
    text: str, session: Session, positions: list[int] | None
) -> tuple[outcome.OutcomeVerdict, dict[str, Event]]:
    """The outcome verifier alone, over a whole session; and the session's events by id, to show the witnesses.

    ``positions`` are the ordinals at which the words were said. Where the caller does not say, they are looked for; words
    that stand nowhere are judged at the end of the session.
    """
    events = {event.uid: event for event in session.events}
    order = {event.uid: n for n, event in enumerate(session.events)}
    position = positions[-1] if positions else None
    if positions is None:
        own = [event for event in session.events if event.origin is Origin.ASSISTANT]
        spans = quotation.verify_quote(text, own, nearest=False).spans
        position = max((order[span.event] for span in spans), default=None)
    thread = session.events[position].thread if position is not None else ""
    verdict = outcome.verify_outcome(
        text, signals_of(session), position=position, thread=thread, has_results=session.facts.has_results
    )
    return verdict, events
