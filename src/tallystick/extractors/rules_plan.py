"""What an approved plan decides: its goal, and the choices it states, not its steps."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tallystick.extractors.rules_statements import Statement, is_cut_short

MAX_OF_PLAN = 3

_GOAL = re.compile(
    r"\b(?:goals?|summary|objective|approach|solution|the fix|fix|decisions?|design|strategy|target behaviou?r|"
    r"overview|change|proposed|"
    r"objectif|approche|choix|décisions?|résumé)\b",
    re.IGNORECASE,
)
_LABELLED = re.compile(
    r"(?:the )?(?:fix|solution|approach|goal|decision|choice|objectif|décision)\s*[:—]", re.IGNORECASE
)
_STEPS = re.compile(
    r"\b(?:files?|steps?|verification|testing|test|tests|context|problem|current|background|tasks?|critical)\b",
    re.IGNORECASE,
)
_CHOICE = re.compile(
    r"\b(?:instead of|rather than|in favou?r of|no longer|must|only|never|always|keep|default(?:s)?|decided|chosen|"
    r"plutôt que|au lieu de)\b",
    re.IGNORECASE,
)


def decisions(spoken: Sequence[Statement]) -> tuple[Statement, ...]:
    """The statements of a plan that say what is to be and how, at most three: the first under each goal-like heading, then
    stated choices."""
    goals: list[Statement] = []
    headings: set[str] = set()
    for statement in spoken:
        if not _fit(statement) or statement.heading in headings:
            continue
        if _LABELLED.match(statement.plain):
            goals.append(statement)
        elif _GOAL.search(statement.heading) and not _STEPS.search(statement.heading):
            goals.append(statement)
            headings.add(statement.heading)
    choices = [
        each
        for each in spoken
        if _fit(each) and each not in goals and each.heading in headings and _CHOICE.search(each.plain)
    ]
    return tuple([*goals[:2], *choices][:MAX_OF_PLAN])


def _fit(statement: Statement) -> bool:
    return (
        statement.block != "heading"
        and 6 <= len(statement.plain.split()) <= 60
        and not statement.is_question
        and not is_cut_short(statement)
    )
