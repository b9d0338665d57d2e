"""Candidates without any model: what a good colleague would put into the hand-over note after reading the session.

A turn is read when it is over, that is when the next person's message or the end of the session shows which message of
the agent closed it. Then the closing message is read for outcomes, facts, choices and loose ends (``rules_report``), the
person's answer for rules, preferences, corrections and decisions (``rules_person``), and both together for what was
proposed and accepted (``rules_choice``). Everything is offered at the end of the session: only then is it known which
state ("tests pass", "pushed") was the last, and what a later message took back (``rules_withdrawn``). State is bounded:
one message, one offer, lists of fixed length.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from tallystick.extractors import (
    rules_accepted,
    rules_approach,
    rules_choice,
    rules_facts,
    rules_loops,
    rules_passages,
    rules_person,
    rules_plan,
    rules_report,
    rules_withdrawn,
    rules_wording,
)
from tallystick.extractors.rules_statements import (
    Statement,
    drafted,
    is_cut_short,
    is_dangling,
    is_pasted,
    names_something,
    statements,
)
from tallystick.extractors.rules_worth import gives_a_reason, worth_noting
from tallystick.model.claim import About, Candidate, ClaimKind
from tallystick.model.evidence import Event, EventKind, Origin, SessionFacts, Status

MAX_PER_MESSAGE = {ClaimKind.OUTCOME: 2, ClaimKind.FACT: 2, ClaimKind.DECISION: 6}
"""Of one closing message."""
MAX_OF_A_TURN = 6
"""Of what was said between tool calls, the last."""
MAX_OF_PERSON = 5
"""Of one message of a person."""
MAX_OUTCOMES = 8
"""Of a session, the last ones: the note says how things ended."""
MAX_SETTLED = 28
"""Values of a session that closing messages settled."""
MAX_LOOPS = 4
SHORT_REPORT = 4
"""A report of fewer words takes in the sentence beside it."""
SAME_BEGINNING = 40
MAX_KEPT = 80
"""Candidates of a session that wait for its end, because a later message may take them back; the oldest go first."""
MAX_ANSWERS_TEXT = 20_000
STATUS = frozenset({"tests", "lint", "build", "push", "commit", "rebase"})
"""Outcomes that say how things stood: noted only where they are told by the last message of the session."""


class _Noted(NamedTuple):
    """A candidate, whose words may be a whole passage, and the one sentence for which it is offered."""

    candidate: Candidate
    sentence: str


_ANSWERED = re.compile(r'"(?P<question>[^"\n]{8,300}\?)"="(?P<answer>[^"\n]{2,300})"')


class RulesExtractor:
    """Reads one session's events in order (``extractors/protocol.py``); made anew for each session."""

    name = "rules/1"

    def __init__(self, worth: Callable[[Candidate], bool] = worth_noting) -> None:
        """``worth`` has the last word on each candidate."""
        self._worth = worth
        self._strict = worth is worth_noting
        self._closing: Event | None = None
        self._person_asked = False
        self._answered_before = False
        self._result: Event | None = None
        self._turn: list[_Noted] = []
        self._outcomes: OrderedDict[str, _Noted] = OrderedDict()
        self._kept: list[_Noted] = []
        self._withdrawn = rules_withdrawn.Withdrawn()
        self._ending: tuple[list[Statement], Event] | None = None
        self._dictated: _Noted | None = None
        self._labels: set[str] = set()

    def offer(self, event: Event, facts: SessionFacts) -> Iterable[Candidate]:
        """Nothing yet: what a message says is offered at the end of the session, unless a later one takes it back."""
        if event.thread or facts.thread:
            return []
        if event.kind is EventKind.MESSAGE:
            self._withdrawn.arrives(event.uid)
            self._keep(self._message(event))
        elif event.kind is EventKind.TOOL_CALL:
            self._narrated()
        elif event.kind is EventKind.TOOL_RESULT:
            self._result = event
            if "plan" in event.flags and event.status is Status.OK:
                self._withdrawn.arrives(event.uid)
                self._keep(_planned(event))
        return []

    def close(self) -> Iterable[Candidate]:
        """What the session settled, found and left open, without what its later messages took back."""
        unanswered = self._closing is not None
        self._keep([*self._dictated_before(None), *self._turn_over(self._closing_statements(), objection=False)])
        ending = "" if self._ending is None else self._ending[1].uid
        found = [
            *self._kept,
            *(each for topic, each in self._outcomes.items() if topic not in STATUS or each.candidate.event == ending),
        ]
        found = [each for each in found if not self._withdrawn.covers(each.sentence, each.candidate.event)]
        found += self._open_loops(unanswered=unanswered)
        self._outcomes, self._ending, self._kept = OrderedDict(), None, []
        return list(self._fresh(found))

    def _keep(self, found: Iterable[_Noted]) -> None:
        self._kept += (each for each in found if self._worth(each.candidate._replace(text=each.sentence)))
        del self._kept[:-MAX_KEPT]

    def _message(self, event: Event) -> Iterator[_Noted]:
        if event.origin is Origin.ASSISTANT:
            if event.text.strip():
                yield from self._dictated_before(None)
                self._closing = event
                self._answered_before = True
        elif "plan" in event.flags and event.origin in (Origin.USER, Origin.DELEGATED):
            yield from self._turn_over(self._closing_statements(), objection=False)
            yield from _planned(event)
        elif event.origin is Origin.USER:
            yield from self._person_spoke(event)

    def _person_spoke(self, event: Event) -> Iterator[_Noted]:
        closing, closed = self._closing_statements(), self._closing
        offered = rules_choice.offer_of(closing)
        pasted = not {"expanded", "pasted"}.isdisjoint(event.flags) or is_pasted(event.text)
        spoken = [] if pasted else statements(event.text)
        if closed is not None and rules_wording.names(closing, spoken):
            yield _candidate(ClaimKind.DECISION, spoken[0], event)
        setting = rules_person.Setting(
            _asks(closing, offered), self._answered_before, "feedback" in event.flags, _words(event.text)
        )
        if spoken and rules_person.halts(spoken[0]):
            self._turn = [each for each in self._turn if each.candidate.kind is ClaimKind.FACT]
        objection = any(rules_person.objects(each, setting) for each in spoken[:3])
        yield from self._turn_over(closing, objection=objection)
        if spoken and closed is not None and not objection:
            agreed = rules_choice.answered(offered, spoken) or rules_choice.agreed(offered, spoken[0].plain)
            yield from (_agreed(each, closed) for each in agreed)
            whole = " ".join(each.plain for each in spoken[:3])
            rest = rules_accepted.accepts_the_rest(whole)
            accepted = rest or rules_accepted.accepts(spoken[0].plain)
            yield from self._settled(closing, closed, accepted=accepted, changed=whole if rest else "")
            if rest:
                yield _candidate(
                    ClaimKind.DECISION, rules_passages.joined(spoken[0], spoken[:3][-1], event.text), event
                )
                return
            spoken = spoken[1:] if agreed and len(spoken[0].plain.split()) < 12 else spoken
        yield from self._of_person(spoken, setting, event)
        self._person_asked = any(each.is_question for each in spoken)

    def _of_person(self, spoken: list[Statement], setting: rules_person.Setting, event: Event) -> Iterator[_Noted]:
        if self._result is not None and event.call_id and self._result.call_id == event.call_id:
            answers = _answered(self._result)
            if answers:
                yield from answers
                return
        given = 0
        dictated = rules_wording.dictated(event.text, spoken) if self._answered_before else None
        yield from self._dictated_before(dictated)
        if dictated is not None:
            self._dictated = _candidate(ClaimKind.DECISION, dictated, event)
            spoken = [each for each in spoken if each.end <= dictated.start or each.start >= dictated.end]
        everything = spoken
        for statement in spoken:
            kind = rules_person.person_kind(statement, setting)
            if kind is None:
                continue
            yield _candidate(kind, statement, event, everything)
            given += 1
            if given == MAX_OF_PERSON:
                return

    def _dictated_before(self, now: Statement | None) -> Iterator[_Noted]:
        """What the person dictated in an earlier message, unless ``now`` begins alike, and nobody answered between them:
        then the message was sent again."""
        before, self._dictated = self._dictated, None
        if before is not None and (now is None or now.plain[:SAME_BEGINNING] != before.sentence[:SAME_BEGINNING]):
            yield before

    def _settled(self, closing: list[Statement], closed: Event, *, accepted: bool, changed: str) -> Iterator[_Noted]:
        """The listed values that the closing message settles, the first of each label, at most ``MAX_SETTLED`` in a
        session."""
        drafts = [each for each in drafted(closed.text) if names_something(each.plain)] if accepted else []
        values = rules_accepted.settled(closing, drafts, accepted=accepted)
        proposal = rules_accepted.proposed(closing) if accepted and not changed else None
        if proposal is not None:
            yield _candidate(ClaimKind.DECISION, rules_passages.joined(*proposal, closed.text), closed)
            values = [each for each in values if not proposal[0].start <= each.start < proposal[1].end]
        given = 0
        for each in rules_accepted.without_changed(values, changed):
            label = rules_accepted.label_of(each)
            if len(self._labels) >= MAX_SETTLED or label in self._labels or given == rules_accepted.MAX_OF_MESSAGE:
                continue
            given += 1
            self._labels.add(label or each.plain.lower())
            yield _candidate(ClaimKind.DECISION, each, closed)

    def _closing_statements(self) -> list[Statement]:
        return [] if self._closing is None else statements(self._closing.text)

    def _narrated(self) -> None:
        """Read a message that a tool call follows; what it commits to waits for the end of the turn."""
        message, self._closing = self._closing, None
        if message is None:
            return
        spoken = statements(message.text)
        for report in rules_report.on_the_way(spoken):
            self._turn += [
                each
                for each in _understood(report, spoken, message)
                if each.candidate.kind is ClaimKind.FACT or gives_a_reason(each.sentence) or not self._strict
            ]
        kept = [
            [each for each in self._turn if (each.candidate.kind is ClaimKind.FACT) is is_fact][-MAX_OF_A_TURN:]
            for is_fact in (True, False)
        ]
        self._turn = [each for each in self._turn if each in kept[0] or each in kept[1]]

    def _turn_over(self, spoken: list[Statement], *, objection: bool) -> Iterator[_Noted]:
        """Read the closing message of the turn that just ended. An objection takes back what the turn claims."""
        closing, self._closing = self._closing, None
        turn, self._turn = self._turn, []
        if objection:
            return
        yield from turn
        if closing is None:
            return
        self._ending = (spoken, closing)
        self._withdrawn.add(spoken, closing.uid)
        counts: dict[ClaimKind, int] = {}
        told = rules_report.reports(spoken, answering=self._person_asked)
        for report in told:
            candidate = _in_context(report, spoken, [each.statement for each in told], closing)
            counts[report.kind] = counts.get(report.kind, 0) + 1
            if candidate is None or counts[report.kind] > MAX_PER_MESSAGE[report.kind]:
                continue
            if report.kind is ClaimKind.OUTCOME:
                self._keep_outcome(report.topic or _same_work(candidate.sentence), candidate)
            else:
                yield candidate

    def _open_loops(self, *, unanswered: bool) -> list[_Noted]:
        """What the last closing message of the session leaves undone."""
        if self._ending is None:
            return []
        spoken, event = self._ending
        loops = rules_loops.open_ends(spoken, unanswered=unanswered)[:MAX_LOOPS]
        return [_candidate(ClaimKind.OPEN_LOOP, each, event) for each in loops]

    def _keep_outcome(self, topic: str, candidate: _Noted) -> None:
        """The last outcome of a topic replaces the earlier ones; of too many, the oldest go."""
        self._outcomes.pop(topic, None)
        self._outcomes[topic] = candidate
        if len(self._outcomes) > MAX_OUTCOMES:
            self._outcomes.popitem(last=False)

    def _fresh(self, found: Iterable[_Noted]) -> Iterator[Candidate]:
        """Each once, and none that stands whole in another of its kind and message."""
        worth = [each.candidate for each in found if self._worth(each.candidate._replace(text=each.sentence))]
        told: dict[tuple[ClaimKind, str], list[str]] = {}
        for each in worth:
            told.setdefault((each.kind, each.event), []).append(each.quote)
        seen: set[str] = set()
        for each in worth:
            key = " ".join(each.text.lower().split())
            in_another = any(each.quote in quote != each.quote for quote in told[each.kind, each.event])
            if key not in seen and not in_another:
                seen.add(key)
                yield each


def _words(text: str) -> int:
    """Words of a message, counted as far as it is short."""
    return len(text[:2_000].split())


def _asks(closing: list[Statement], offered: rules_choice.Offer) -> bool:
    """Whether the agent's closing message asked for an answer, with or without a question mark."""
    return bool(offered.options) or any(each.is_question or rules_choice.asks_for_answer(each) for each in closing[-6:])


def _planned(event: Event) -> Iterator[_Noted]:
    return (_candidate(ClaimKind.DECISION, each, event) for each in rules_plan.decisions(statements(event.text)))


def _answered(result: Event) -> list[_Noted]:
    """The answers that a person picked in a question dialogue, each with its question."""
    return [
        _Noted(
            Candidate(
                ClaimKind.DECISION,
                f"{pair.group('question')} {pair.group('answer')}",
                pair.group(),
                result.origin,
                result.uid,
                said_at=result.at,
            ),
            f"{pair.group('question')} {pair.group('answer')}",
        )
        for pair in _ANSWERED.finditer(result.text[:MAX_ANSWERS_TEXT])
    ]


def _agreed(statement: Statement, event: Event) -> _Noted:
    return _candidate(ClaimKind.DECISION, statement._replace(plain=rules_choice.as_statement(statement.plain)), event)


def _candidate(kind: ClaimKind, statement: Statement, event: Event, spoken: Sequence[Statement] = ()) -> _Noted:
    """``spoken``: the statements of the message, where the words beside the statement may be needed to understand it."""
    about = rules_facts.about(statement) if kind is ClaimKind.FACT else About()
    whole = statement
    if event.origin is not Origin.USER:
        whole = rules_passages.listed(statement, spoken, event.text)
    elif kind in (ClaimKind.DECISION, ClaimKind.CORRECTION):
        whole = rules_passages.spoken_with(statement, spoken, event.text)
    candidate = Candidate(kind, whole.plain, whole.text, event.origin, event.uid, about, said_at=event.at)
    return _Noted(candidate, statement.plain)


def _same_work(text: str) -> str:
    """Outcomes that begin with the same three words report the same work again."""
    return " ".join(re.findall(r"\w+", text.lower())[:3])


def _in_context(
    report: rules_report.Report, spoken: list[Statement], told: list[Statement], event: Event
) -> _Noted | None:
    """The report with the sentence beside it where it says too little alone, or None where that does not help.

    A short report takes in no sentence that is reported itself (``told``).
    """
    statement = report.statement
    place = spoken.index(statement)
    before = spoken[place - 1] if place else None
    after = spoken[place + 1] if place + 1 < len(spoken) else None
    if is_dangling(statement):
        if before is None or not rules_passages.stand_together(before, statement) or is_dangling(before):
            return None
        statement = rules_passages.joined(before, statement, event.text)
    elif len(statement.plain.split()) < SHORT_REPORT:
        if after is not None and after not in told and _may_follow(statement, after):
            statement = rules_passages.joined(statement, after, event.text)
        elif before is not None and before not in told and rules_passages.stand_together(before, statement):
            statement = rules_passages.joined(before, statement, event.text)
        elif report.topic == "build":
            return None
    return _candidate(report.kind, statement, event, spoken)


def _understood(report: rules_report.Report, spoken: list[Statement], event: Event) -> list[_Noted]:
    """What is reported on the way; a commitment that names nothing takes in the sentence before it, or is left out."""
    statement = report.statement
    if report.kind is ClaimKind.DECISION and not rules_approach.stands_alone(statement):
        place = spoken.index(statement)
        before = spoken[place - 1] if place else None
        settles = rules_report.settles(statement)
        if (
            before is None
            or not rules_passages.stand_together(before, statement)
            or (is_dangling(before) and not settles)
        ):
            return []
        statement = rules_passages.joined(before, statement, event.text)
        if not names_something(statement.plain) and len(statement.plain.split()) < rules_approach.TELLING_WORDS:
            return []
    return [_candidate(report.kind, statement, event)]


def _may_follow(first: Statement, second: Statement) -> bool:
    return (
        rules_passages.stand_together(first, second)
        and not is_cut_short(second)
        and not rules_report.is_narration(second)
    )
