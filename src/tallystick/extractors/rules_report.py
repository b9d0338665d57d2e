"""What the agent's messages report: outcomes, facts that cost effort to find, and choices it made.

The message that stands last before a person speaks (or the session ends) is read for everything. What is said on the way
there is narration, and is read for two things only: a finding about a named thing, and a commitment that says how.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from tallystick.extractors import rules_approach, rules_explicit, rules_facts, rules_loops, rules_outcomes
from tallystick.extractors.rules_statements import (
    Statement,
    is_cut_short,
    is_hedged,
    names_something,
)
from tallystick.model.claim import ClaimKind

LONG_ITEM = 10
"""A list item of as many words says how something works without naming anything."""


class Report(NamedTuple):
    """One sentence of a message and what it reports."""

    kind: ClaimKind
    statement: Statement
    topic: str = ""
    """For outcomes of which only the last of the session counts: ``tests``, ``lint``, ``push`` …; else empty."""


def _rx(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_NARRATION = _rx(
    r"(?:let me|let['’]?s|now let|now,? i|i['’]ll|i will|i['’]m going|i am going|i need|i['’]d|next,|first,|"
    r"ready (?:for|to)|looking (?:at|back)|i (?:can )?see|i understand|i found \d|"
    r"next time|given\b|rebuild|here['’]?s|here is|here are|as you can|for example|e\.g|note that i|feel free|"
    r"try |run |you (?:can|could|may)|je vais|voici|tu peux|dis[- ‑]moi|souhaites|veux|analyse\b|if you|si tu|"
    r"to (?:test|verify|use|run)\b|puis |then |when |before|after )"
)
_FINDINGS_HEADING = _rx(
    r"\b(?:issues?|findings?|comments?|problems?|bugs?|recommend\w*|required|must|suggest\w*|next|constats?|feedback|"
    r"gaps?|concerns?)\b"
)
_INSTEAD = _rx(r"\b(?:instead of|rather than|in favou?r of|plutôt que|au lieu de)\b| instead\b")
_OVER_ANOTHER = frozenset("instead rather favor favour plutôt lieu".split())
_CHOSE_FIRST_PERSON = _rx(
    r"\b(?:i|we|i['’]ve|we['’]ve) (?:\w+ )?(?:went with|chose|decided|opted|kept|settled on|deliberately|"
    r"intentionally|left)\b|(?:^|[:,;] |\band )(?:kept|keeping|retained|chose|left)\b|"
    r"^(?:decision|choice|chosen|décision|choix)\b[^:]{0,30}:|\bj['’]ai (?:choisi|retenu|gardé|opté|conservé)\b|"
    r"\b(?:deliberately|intentionally|by design|on purpose)\b|"
    r"\b(?:is|are) intentional\b"
)
_WITH_REASON = _rx(
    r"\b(?:since|because|so (?:that|the|it|we)|to (?:avoid|keep|prevent|eliminate|ensure|match|make|allow|preserve)|"
    r"for consistency|afin de|pour éviter|car)\b"
)
_FOUND = _rx(
    r"(?:(?:excellent|great|aha|ah|yes|interesting)[!,.] )?(?:i )?found (?:it|the (?:\w+ ){0,2}(?:issue|problem|bug|"
    r"cause|culprit))\b[^.!]{0,20}[.!]*$|"
    r"there (?:it is|we go)[.!]*$|(?:that['’]s|this is) (?:it|the (?:bug|issue|problem|cause))[.!]*$|"
    r"trouvé\b[^.!]{0,20}[.!]*$"
)
_MAY_LABEL = re.compile(r"[:—–]| - ")
_LABEL = re.compile(
    r"^(?:`[^`]{1,80}`|[^—–:`]{1,60}?)(?:\s*\([^)]{0,80}\))?(?:\s+(?:and|in|et|"
    r"dans)\s+`[^`]{1,80}`)?(?:\s*\([^)]{0,80}\))?\s*(?:—|–|:| - )\s*(?=\S)"
)
_FIX_LABEL = _rx(r"(?:the )?(?:fix|solution|changes?|result|correction)(?: \([^)]{0,30}\))?\s*[:—]\s*(?=\S)")
_RECOMMENDS = _rx(
    r"\b(?:i(?:['’]d| would)? (?:strongly )?(?:recommend|go with)|my recommendation|i['’]d only|je (?:te |"
    r"vous )?(?:recommande|conseille)|ma recommandation|recommandation\s?:)"
)
_CHOOSING = frozenset(
    "went chose decided opted kept settled deliberately intentionally left keeping retained decision choice chosen décision "
    "choix choisi retenu gardé opté conservé design purpose intentional".split()
)
_RECOMMENDING = frozenset("recommend recommendation go only recommande conseille recommandation".split())
_IMPERATIVE = _rx(r"(?:fix|add|remove|update|change|replace|use|return|move|make|consider|avoid|run|set|create)\b")
_PLANS = _rx(
    r"\b(?:moved|split|deferred|postponed|limited|narrowed|déplacée?s?|découpée?s?|scindée?s?|reportée?s?|"
    r"rattachée?s?|limitée?s?|"
    r"recentrée?s?)\b[^.;]{0,80}\b(?:epics?|story|stories|fr ?\d+|mvp|phases?|milestones?|collecte)\b"
)
_CHANGES_HEADING = _rx(
    r"^(?:the |my )?(?:fix|solution|approach|design)(?: \([^)]{0,30}\))?$|\b(?:now (?:uses?|creates?|does|works?|"
    r"handles?)|"
    r"changes? made|what(?:['’]s| i)? changed|key (?:changes|improvements|decisions)|how it works|modifs? clés|"
    r"ce que j['’]ai changé|changements)\b"
)
_CHOICE_INSIDE = _rx(
    r"\b(?:instead of|rather than|kept|keeps|only|so (?:that|it|the|we)|since|because|without|even if|"
    r"falls? (?:through|back)|"
    r"per \w+|explicitly|once|matching|must|désormais|même si|pour \w+er|ou|sans)\b"
)
_ABOUT_TESTS = _rx(r"\W*(?:[\w./-]*_?tests?\b|(?:added|new|updated) (?:\w+ ){0,3}tests?\b|testing\b)")
_NEGATED_CHOICE = _rx(r"\b(?:still|but|not|missing|should|expects?|fetched|called)\b|n['’]t\b")


_SETTLES = _rx(
    r"\b(?:this|that|it|which|these|both|they)(?:['’]s|['’]re| is| are| was| were) (?:all |actually |therefore |"
    r"really )?(?:a |an )?(?:false positives?|intentional\b|by design|deliberate|expected behaviou?r|not (?:a|an) (?:real )?"
    r"(?:bug|issue|problem|duplicate|regression)|no longer (?:applicable|relevant)|out of scope|fine as[ -]is)|"
    r"^no (?:duplication|changes?|action|fix|migration|follow-?up)\b(?: (?:is|are))?(?: (?:needed|required|"
    r"necessary))?(?=[.,:;—]|$| since| because|:)|^(?:these|those) are(?:n['’]t| not) (?:duplicates|the same)|"
    r"^not (?:a bug|needed|necessary|applicable)\b|"
    r"^the (?:real |actual )?value (?:is|lies) in\b|"
    r" [-—–] (?:a )?(?:false positive|intentional|by design|won['’]?t fix)\b"
)
_UNSURE = frozenset("would could might may probably likely perhaps maybe possibly should".split())
_SETTLING = frozenset("false intentional design deliberate expected not longer scope no t value fine".split())
_BY_DOING = _rx(r"\bby (?!default|design|the|any|a)\w+ing\b")
_DETAILED = _rx(r"\b(?:by|with|via) (?:setting|using|adding|making|passing|configuring|moving|splitting|replacing)$")
_DEALT_WITH = _rx(r"\b(?:fixed|resolved|addressed|changes?|corrig\w+|implemented|summary)\b")
_BEHAVES = _rx(
    r"(?:now |also |only |always |never |still )*(?:uses?|rejects?|returns?|falls? back|skips?|keeps?|validates?|requires?|"
    r"defaults?|ignores?|stores?|reads?|writes?|limits?|wraps?|caps?|prints?|shows?|includes?|handles?|checks?|creates?|"
    r"fetches|sends?|runs?|sets?|preserves?|prefers?|trims?|strips?|excludes?|allows?|prevents?|resolves?|delegates?|"
    r"deletes?|removes?|adds?|calls?|custom|single|separate|shared)\b(?! (?:is|are|was|were|has|should)\b)"
)
_BEHAVES_SO = _rx(
    r"\b(?:instead|rather than|to (?:prevent|avoid|ensure|keep|allow|suppress|preserve|make|match|support|let|stop|"
    r"protect|reduce|handle)|only|without|so (?:that|the|it|we)|because|since|by default|automatically|explicitly|unless|"
    r"before|falls? back|with `?\d|not)\b"
)
_FIX_DOES = _rx(
    r"(?:the|this|my|your|our) (?:fix|change|new [\w-]+|implementation|solution|updated [\w-]+|refactor\w*) (?:now |also |only |"
    r"simply )*(?!is\b|was\b|has\b|looks\b|works\b|includes?\b|passes\b|needs?\b)\w+s\b \S+ \S"
)
_FOLLOWS_OTHERS = _rx(
    r"(?:this|it|which)? ?(?:follows?|mirrors?|matches|reuses?) the (?:same|existing|established|usual)\b|"
    r"(?:now )?(?:we(?:['’]re| are)|it(?:['’]s| is)) (?:now )?(?:using|following|reusing|not (?:disabling|changing|touching|"
    r"removing|adding|using|storing|sending))\b"
)
_I_DID = _rx(
    r"(?:i(?:['’]ve)? (?:also |just )?)(?:changed|switched|replaced|moved|made|kept|used|set|added|removed|restructured|wrote)\b"
)
_BEHAVING = frozenset(
    "instead rather to only without so because since default automatically explicitly unless before fall falls with not".split()
)
_IF_SO = _rx(
    r"if (?=[^,.]{0,90}\b(?:fail\w*|missing|un\w+able|invalid|empty|unset|no|not|"
    r"absent|errors?)\b)[^,.]{3,90}, (?:then )?(?:it|we|the [\w-]+|this|`[^`]{1,40}`)(?:['’]s)? "
    r"(?:now |just |simply |will )*(?:falls?|"
    r"returns?|uses?|skips?|shows?|prints?|creates?|keeps?|ignores?|fails?|exits?|continues?|defaults?|logs?|warns?|fall)\b"
)


def reports(spoken: Sequence[Statement], *, answering: bool) -> list[Report]:
    """What a closing message reports. ``answering``: the person had asked a question. Listed details of the work are left
    out where a sentence tells it already."""
    found: list[Report] = []
    before: Statement | None = None
    for statement in spoken:
        report = None if statement.block == "heading" else _report(statement, before, answering)
        before = statement
        if report is not None:
            found.append(report)
    told = any(each.kind is ClaimKind.OUTCOME and each.statement.block == "prose" for each in found)
    return [each for each in found if not (told and _is_detail(each))]


def on_the_way(spoken: Sequence[Statement]) -> list[Report]:
    """What a message between two tool calls says that outlives the turn: findings, and commitments that say how."""
    found: list[Report] = []
    before: Statement | None = None
    for statement in spoken:
        after_found = (
            before is not None and before.paragraph == statement.paragraph and bool(_FOUND.match(before.plain))
        )
        before = statement
        if statement.block == "prose" and not statement.is_question and len(statement.core.split()) <= 45:
            kind = _on_the_way(statement, after_found=after_found)
            if kind is not None:
                found.append(Report(kind, statement))
    return found


def _on_the_way(statement: Statement, *, after_found: bool) -> ClaimKind | None:
    length = len(statement.core.split())
    if settles(statement):
        return ClaimKind.DECISION
    if length > 3 and rules_approach.commits_to_a_way(statement):
        return ClaimKind.DECISION
    if length < 6:
        return None
    if _I_DID.match(statement.core) and (_is_over_another(statement) or _WITH_REASON.search(statement.core)):
        return ClaimKind.DECISION if names_something(statement.core) else None
    if _recommends(statement):
        return None if is_cut_short(statement) else ClaimKind.DECISION
    if _NARRATION.match(statement.core):
        return None
    caused = rules_facts.is_found(statement) and (after_found or rules_facts.names_a_cause(statement))
    return ClaimKind.FACT if caused or rules_facts.is_finding(statement) else None


def is_narration(statement: Statement) -> bool:
    """Whether the sentence tells what comes next, or how to go on, and reports nothing."""
    return bool(_NARRATION.match(statement.core))


def _report(statement: Statement, before: Statement | None, answering: bool) -> Report | None:
    length = len(statement.core.split())
    if not statement.is_question and (settles(statement) or rules_explicit.chosen_outright(statement)):
        return Report(ClaimKind.DECISION, statement)
    if statement.is_question or not 2 <= length <= 60 or is_cut_short(statement):
        return None
    if length > 7 and (_recommends(statement) or _ought(statement)):
        return Report(ClaimKind.DECISION, statement)
    if _NARRATION.match(statement.core):
        return None
    found = _finished(statement, before, length) or (_stated(statement, answering) if length > 4 else None)
    return None if found is not None and rules_loops.left_open(statement) else found


def _finished(statement: Statement, before: Statement | None, length: int) -> Report | None:
    """A finished piece of work; one that says what it was chosen over, or why, is a decision."""
    if rules_facts.names_a_cause(statement):
        return Report(ClaimKind.FACT, statement)
    labelled = _without_label(statement)
    topic = rules_outcomes.topic_of(statement)
    after_done = rules_outcomes.follows_done(before, statement)
    forms = (statement,) if labelled is statement else (statement, labelled)
    if not any(rules_outcomes.is_outcome(form, topic, after_done=after_done) for form in forms):
        return None
    core = statement.core
    if topic:
        return Report(ClaimKind.OUTCOME, statement, topic)
    if _PLANS.search(core):
        return Report(ClaimKind.DECISION, statement)
    if length < 25 and rules_outcomes.is_progress(core):
        return Report(ClaimKind.OUTCOME, statement, "progress")
    explained = length > 5 and (any(rx.search(core) for rx in (_INSTEAD, _WITH_REASON, _BY_DOING)) or _chose(statement))
    return Report(ClaimKind.DECISION if explained else ClaimKind.OUTCOME, statement)


def _without_label(statement: Statement) -> Statement:
    """How a list item reads after its label ("`a.py` — Changed …"), a sentence after "Fix:"; else the statement itself."""
    if _MAY_LABEL.search(statement.core) is None:
        return statement
    label = (_LABEL if statement.block == "list" else _FIX_LABEL).match(statement.core)
    if label is None or label.end() >= len(statement.core):
        return statement
    return statement._replace(core=statement.core[label.end() :])


def _stated(statement: Statement, answering: bool) -> Report | None:
    if _is_choice(statement) or _details_a_way(statement) or _behaves(statement):
        return Report(ClaimKind.DECISION, statement)
    if rules_facts.is_fact(statement, answering=answering):
        return Report(ClaimKind.FACT, statement)
    return None


def _recommends(statement: Statement) -> bool:
    if not _RECOMMENDING & statement.words or not _RECOMMENDS.search(statement.core):
        return False
    return names_something(statement.core)


def _chose(statement: Statement) -> bool:
    return not _CHOOSING.isdisjoint(statement.words) and bool(_CHOSE_FIRST_PERSON.search(statement.core))


def _is_choice(statement: Statement) -> bool:
    core = statement.core
    first_person = _chose(statement)
    if not first_person and (
        statement.block != "list" or not _is_over_another(statement) or _NEGATED_CHOICE.search(core)
    ):
        return False
    if is_hedged(statement) or _FINDINGS_HEADING.search(statement.heading) or _IMPERATIVE.match(core):
        return False
    return names_something(core)


def _is_over_another(statement: Statement) -> bool:
    """Whether it names what something was preferred to."""
    return not _OVER_ANOTHER.isdisjoint(statement.words) and bool(_INSTEAD.search(statement.core))


def _ought(statement: Statement) -> bool:
    """Whether it says what should be done instead of what is."""
    return bool(_is_over_another(statement)) and rules_approach.says_what_ought(statement)


def settles(statement: Statement) -> bool:
    """Whether it settles a review or a doubt: "This is a false positive", "No duplication"."""
    if statement.is_question or is_hedged(statement):
        return False
    if _SETTLING.isdisjoint(statement.words) and not statement.plain.startswith(("No ", "no ")):
        return False
    return bool(_SETTLES.search(statement.core) or _SETTLES.match(statement.plain))


def _behaves(statement: Statement) -> bool:
    """Whether it says how the finished work behaves, where that was a choice: "Rejects refs starting with `-` to prevent …"."""
    core = statement.core
    if statement.block != "list" or _IF_SO.match(core):
        return _UNSURE.isdisjoint(statement.words) and _tells_the_way(core)
    if is_hedged(statement):
        return False
    if _FINDINGS_HEADING.search(statement.heading) and not _DEALT_WITH.search(statement.heading):
        return False
    if _DETAILED.search(statement.heading):
        return names_something(core)
    if _BEHAVING.isdisjoint(statement.words):
        return False
    form = _without_label(statement).core
    if _ABOUT_TESTS.match(core) or _IMPERATIVE.match(form):
        return False
    return bool(_BEHAVES.match(form) and _BEHAVES_SO.search(form)) and names_something(core)


def _tells_the_way(core: str) -> bool:
    """Whether a plain sentence of a closing message says how the work was done or what it falls back to."""
    if _IF_SO.match(core):
        return True
    return bool(_FIX_DOES.match(core) or _FOLLOWS_OTHERS.match(core)) and names_something(core)


def _details_a_way(statement: Statement) -> bool:
    """Whether a list item under "The fix", "What I changed" or "It now uses" says how, with a choice in it."""
    if statement.block != "list" or not _CHANGES_HEADING.search(statement.heading) or is_hedged(statement):
        return False
    core = statement.core
    if _IMPERATIVE.match(core) or _ABOUT_TESTS.match(core) or not _CHOICE_INSIDE.search(core):
        return False
    return names_something(core) or len(core.split()) >= LONG_ITEM


def _is_detail(report: Report) -> bool:
    listed = report.kind is ClaimKind.OUTCOME and report.statement.block == "list"
    return listed and not rules_outcomes.is_bug_fix(report.statement.plain)
