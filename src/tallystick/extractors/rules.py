"""Candidates without any model: what a good colleague would put into the hand-over note after reading the session.

A turn is read when it is over, that is when the next person's message or the end of the session shows which message of
the agent closed it. Then the closing message is read for outcomes, facts, choices and loose ends (``rules_report``), the
person's answer for rules, preferences, corrections and decisions (``rules_person``), and both together for what was
proposed and accepted (``rules_choice``). Of outcomes that supersede each other ("tests pass", "pushed") only the last of
the session is offered. State is bounded: one message, one offer, and lists of fixed length.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator

from tallystick.extractors import rules_choice, rules_person, rules_plan, rules_report
from tallystick.extractors.rules_statements import Statement, is_pasted, plain_words, statements
from tallystick.model.claim import About, Candidate, ClaimKind
from tallystick.model.evidence import Event, EventKind, Origin, SessionFacts, Status

MAX_PER_MESSAGE = {ClaimKind.OUTCOME: 2, ClaimKind.FACT: 2, ClaimKind.DECISION: 3}
"""Of one closing message; a person's message has no such limit but ``MAX_OF_PERSON``."""
MAX_OF_PERSON = 4
MAX_LOOPS = 4
MAX_OF_A_TURN = 2
"""Of what was said between tool calls."""
MAX_REMEMBERED = 512
MAX_CONTEXT = 420
"""A quote that needs the sentence before it to be understood takes it in up to this many characters."""


_ANSWERED = re.compile(r'"(?P<question>[^"\n]{8,300}\?)"="(?P<answer>[^"\n]{2,300})"')


class RulesExtractor:
    """Reads one session's events in order (``extractors/protocol.py``); made anew for each session."""

    name = "rules/1"

    def __init__(self) -> None:
        self._closing: Event | None = None
        self._offer = rules_choice.Offer()
        self._offer_event: Event | None = None
        self._asked = False
        self._person_asked = False
        self._answered_before = False
        self._plan: Event | None = None
        self._standing: dict[str, Candidate] = {}
        self._loops: list[Candidate] = []
        self._turn: list[Candidate] = []
        self._seen: OrderedDict[str, None] = OrderedDict()

    def offer(self, event: Event, facts: SessionFacts) -> Iterable[Candidate]:
        """The candidates that ``event`` completes; a closing message is offered when the next turn begins."""
        if event.thread or facts.thread:
            return []
        if event.kind is EventKind.MESSAGE and event.origin is Origin.ASSISTANT:
            if event.text.strip():
                self._closing = event
                self._answered_before = True
            return []
        if event.kind is EventKind.MESSAGE and event.origin is Origin.USER:
            return list(self._fresh(self._person_spoke(event)))
        if event.kind is EventKind.TOOL_CALL:
            self._narrated()
            self._plan = event if "plan" in event.flags else self._plan
        elif event.kind is EventKind.TOOL_RESULT and self._plan is not None and event.call_id == self._plan.call_id:
            return list(self._fresh(self._plan_returned(event)))
        return []

    def close(self) -> Iterable[Candidate]:
        """The last turn, the final outcome of each kind, and the loops that stayed open."""
        found = list(self._turn_over(objection=False, last=True))
        found += self._standing.values()
        found += self._loops[-MAX_LOOPS:]
        self._standing, self._loops = {}, []
        return list(self._fresh(found))

    def _person_spoke(self, event: Event) -> Iterator[Candidate]:
        if "plan" in event.flags:
            yield from self._turn_over(objection=False, last=False)
            yield from (_candidate(ClaimKind.DECISION, each, event) for each in rules_plan.decisions(statements(event.text)))
            return
        pasted = "expanded" in event.flags or is_pasted(event.text)
        spoken = [] if pasted else statements(event.text)
        setting = rules_person.Setting(self._asks(), self._answered_before, "feedback" in event.flags)
        objection = any(rules_person.objects(each.plain, setting) for each in spoken[:3])
        yield from self._turn_over(objection=objection, last=False)
        if spoken and not objection and self._offer_event is not None:
            for chosen in rules_choice.agreed(self._offer, spoken[0].plain):
                yield _candidate(ClaimKind.DECISION, chosen, self._offer_event, text=rules_choice.as_statement(chosen.plain))
        yield from self._of_person(spoken, setting, event)
        self._person_asked = any(each.is_question for each in spoken)
        self._offer, self._offer_event = rules_choice.Offer(), None

    def _narrated(self) -> None:
        """Read a message that a tool call follows; what it commits to waits for the end of the turn."""
        message, self._closing = self._closing, None
        if message is None:
            return
        spoken = statements(message.text)
        for report in rules_report.on_the_way(spoken):
            if len(self._turn) < MAX_OF_A_TURN:
                self._turn.append(_candidate(report.kind, report.statement, message))

    def _asks(self) -> bool:
        if self._closing is None:
            return False
        tail = self._closing.text.rstrip()[-700:]
        return "?" in tail

    def _of_person(self, spoken: list[Statement], setting: rules_person.Setting, event: Event) -> Iterator[Candidate]:
        given = 0
        for answer in _ANSWERED.finditer(event.text[:20_000]):
            yield _answered(answer, event)
        for statement in spoken:
            kind = rules_person.person_kind(statement, setting)
            if kind is None:
                continue
            yield _candidate(kind, statement, event)
            given += 1
            if given == MAX_OF_PERSON:
                return

    def _turn_over(self, *, objection: bool, last: bool) -> Iterator[Candidate]:
        """Read the closing message of the turn that just ended. An objection takes back what it claims."""
        closing, self._closing = self._closing, None
        turn, self._turn = self._turn, []
        if not objection:
            yield from turn
        if closing is None:
            return
        spoken = statements(closing.text)
        self._offer, self._offer_event = rules_choice.offer_of(spoken), closing
        if objection:
            return
        self._loops = [_candidate(ClaimKind.OPEN_LOOP, each, closing) for each in rules_report.open_ends(spoken)][:MAX_LOOPS]
        counts: dict[ClaimKind, int] = {}
        for report in rules_report.reports(spoken, self._person_asked):
            counts[report.kind] = counts.get(report.kind, 0) + 1
            if counts[report.kind] > MAX_PER_MESSAGE[report.kind]:
                continue
            candidate = _candidate_in_context(report, spoken, closing)
            if candidate is None:
                continue
            if report.topic:
                self._standing[report.topic] = candidate
            else:
                yield candidate

    def _plan_returned(self, result: Event) -> Iterator[Candidate]:
        plan, self._plan = self._plan, None
        if plan is not None and result.status is Status.OK:
            yield from (_candidate(ClaimKind.DECISION, each, plan) for each in rules_plan.decisions(statements(plan.text)))

    def _fresh(self, candidates: Iterable[Candidate]) -> Iterator[Candidate]:
        for candidate in candidates:
            key = f"{candidate.kind}:{' '.join(candidate.text.lower().split())}"
            if key in self._seen:
                continue
            self._seen[key] = None
            if len(self._seen) > MAX_REMEMBERED:
                self._seen.popitem(last=False)
            yield candidate


def _answered(answer: re.Match[str], event: Event) -> Candidate:
    """The answer that a person picked in a question dialogue, with the question."""
    text = f"{answer.group('question')} {answer.group('answer')}"
    return Candidate(ClaimKind.DECISION, text, answer.group(), event.origin, event.uid, said_at=event.at)


def _candidate(kind: ClaimKind, statement: Statement, event: Event, text: str = "") -> Candidate:
    plain = text or statement.plain
    facts = rules_report.about(plain) if kind is ClaimKind.FACT else About()
    return Candidate(kind, plain, statement.text, event.origin, event.uid, facts, said_at=event.at)


def _candidate_in_context(report: rules_report.Report, spoken: list[Statement], event: Event) -> Candidate | None:
    """The report with the sentence before it where it cannot be understood alone, or None where that does not help."""
    statement = report.statement
    if not rules_report.is_dangling(statement.plain):
        return _candidate(report.kind, statement, event)
    place = spoken.index(statement)
    before = spoken[place - 1] if place else None
    if before is None or before.paragraph != statement.paragraph or rules_report.is_dangling(before.plain):
        return None
    if statement.end - before.start > MAX_CONTEXT or before.is_question:
        return None
    quote = event.text[before.start : statement.end]
    return _candidate(report.kind, statement._replace(text=quote, start=before.start, plain=plain_words(quote)), event)
