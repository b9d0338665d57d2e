"""Whether a sentence of a closing message reports something as finished, and which earlier report it replaces.

The grammar is that of a report: a participle at its head ("Added …", "Corrigé …"), a perfect ("has been merged") or a new
state ("now uses"), with no negation, hedge, condition or plan in the sentence (OUTCOME.2).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tallystick.extractors.rules_statements import Statement, is_hedged, names_something


def _rx(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


TELLING_WORDS = 8
"""A report that names nothing needs as many words to tell something."""

_DONE_VERB = (
    "added|fixed|updated|removed|replaced|created|committed|pushed|merged|rebased|moved|renamed|implemented|changed|increased|"
    "decreased|reduced|logged|closed|filed|opened|released|published|deployed|migrated|installed|reverted|enabled|disabled|"
    "configured|refactored|extracted|simplified|cleaned(?: up)?|resolved|addressed|switched|bumped|upgraded|downgraded|dropped|"
    "documented|wrote|attached|uploaded|restored|deleted|consolidated|converted|introduced|wired|rewrote|rewritten|amended|"
    "cherry-picked|squashed|tagged|archived|cancelled|canceled|corrected|unified|hardened|set up|marked|linked"
)
_DONE_VERB_FR = (
    "ajouté|corrigé|créé|supprimé|poussé|fusionné|implémenté|enregistré|appliqué|activé|désactivé|configuré|déployé|terminé|"
    "complété|finalisé|mis(?:es?)? à jour|remplacé|renommé|déplacé|généré|clôturé|commité|publié|mis en place"
)
_OUTCOME_HEAD = _rx(
    rf"(?:(?:i['’]ve|i have|we['’]ve|we have|i|we|all|both|successfully|now) (?:also |now |successfully |"
    rf"just )?)?(?:{_DONE_VERB})\b(?! (?:by|in|at)\b)|"
    rf"(?:j['’]ai (?:aussi |bien )?|tout est )?(?:{_DONE_VERB_FR})(?:e?s?)\b|"
    r"split\b(?=.{1,80}\binto\b)"
)
_OUTCOME_LABEL = _rx(
    rf"(?!(?:un|une|des|les|aucune?|pas|mode|agent|option|given|then|when|si|"
    rf"quand)\b)(?:[^\s.,;:]+ ){{1,4}}(?:{_DONE_VERB_FR})e?s?"
    r"(?= ?(?:[:.(✅]|$|dans\b|sur\b|avec\b|et\b|en\b|comme\b|aux?\b|par\b))"
)
_OUTCOME_STATE = _rx(
    rf"\b(?:has|have) (?:now |all |also )?been (?:now |all |also |successfully |fully )?(?:{_DONE_VERB})\b|"
    rf"\b(?:is|are) (?:now (?:all |fully )?(?:{_DONE_VERB})|(?:now |all |fully )?(?:complete|completed|done|ready|"
    rf"in place|live|fixed|merged|resolved|pushed|addressed|deployed))\b|"
    rf"\b(?:a été|ont été) (?:bien )?(?:{_DONE_VERB_FR})(?:e?s?)\b|"
    rf"\bsuccessfully (?:{_DONE_VERB})\b|"
    r"\bthe fix works\b|\bnow (?:works?|passes|creates?|uses?|sends?|returns?|includes?|shows?|handles?|sets?|"
    r"defaults?|fires?|lives?|compiles|runs?)\b"
)
_AFTER_DONE = _rx(r"(?:all )?(?:done|fixed|fait|c['’]est fait|complete)\s*[!.✅]*$")
_SCENARIO = _rx(r"(?:given|when|then|étant donné|quand|alors|as an?|so that)\b(?!,)")


class _Topic(NamedTuple):
    """A kind of outcome of which only the last in a session counts."""

    name: str
    words: frozenset[str]
    """The pattern is tried only where one of these stands in the sentence."""
    pattern: re.Pattern[str]


def _topic(name: str, words: str, pattern: str) -> _Topic:
    return _Topic(name, frozenset(words.split()), _rx(pattern))


_TOPICS = (
    _topic(
        "tests",
        "test tests suite ci spec specs green passing",
        r"\b(?:tests?|suite|ci|specs?)\b[^.;]{0,60}\b(?:pass(?:es|ed|ing)?|green|succeed(?:ed)?|ok|passent)\b|"
        r"\ball (?:green|passing)\b",
    ),
    _topic(
        "lint",
        "lint linter linting fmt gofmt format formatting typecheck clippy vet",
        r"\b(?:lint(?:er|ing)?|fmt|gofmt|format(?:ting)?|typecheck|clippy|vet)\b[^.;]{0,50}"
        r"\b(?:clean|pass(?:es|ed|ing)?|satisfied|fixed|resolved|0 issues|ok)\b",
    ),
    _topic(
        "build",
        "build compilation binary compiles",
        r"\b(?:build|compilation|binary)\b[^.;]{0,40}\b(?:succeed\w*|success\w*|pass(?:es|ed)?|complete)\b|"
        r"\beverything compiles\b",
    ),
    _topic(
        "pr",
        "pr pull",
        r"\b(?:pr|pull request) (?:#?\d+ )?(?:is |was |has been )?(?:created|opened|updated|merged)\b|"
        r"\b(?:created|opened|updated|merged) (?:the |a )?(?:pr|pull request)\b|/pull/\d+",
    ),
    _topic("push", "pushed poussé poussée poussés poussées", r"\bpushed\b|\bpoussée?s?\b"),
    _topic(
        "commit",
        "committed commit commité",
        r"^(?:i |i['’]ve |all changes (?:are )?|changes )?committed\b|\bcommitted (?:as|in|and|to)\b|"
        r"\bcommit(?: was)? created\b|\bcommit\b\W{0,4}[0-9a-f]{7,40}\b|\bcommité\b",
    ),
    _topic("rebase", "rebased merged merge", r"\brebased\b|\bmerged\b|\bmerge (?:is )?complete\b"),
)
_ROUTINE = frozenset({"push", "commit"})
SHORT_ROUTINE = 4
"""A push or commit that is told in fewer words and names nothing tells nothing."""
_NOT_DONE = frozenset(
    "but mais not never failed failing fails unable cannot except would should could might may will ll if once when until "
    "before let need needs probably likely already where whether pas sera seront devrait déjà".split()
)
_CONTRACTED_NOT = _rx(r"n['’]t\b")
_NO_MORE_SAID = _rx(
    r"(?:i['’]ve |i have |i )?(?:made|created|added|updated|changed) "
    r"(?:two|three|four|five|\d+|some|several|the following|both|a few) \w+|"
    r"(?:the |all |everything |both |les |le )(?:plan|implementation|changes?|output|work|code|files?|tasks?|todos?|"
    r"items?|"
    r"updates?|edits?)\b[^`]*$|everything\b[^`]*$|"
    r"(?:fichiers?|mémoire|story|statut|status|sprint|modifs|sous-section|files?)\b|"
    r"(?:updated|changed|set|switched|moved|renamed) (?:to|from)\b|étapes?\b|steps?\b|phases?\b|yes\b|"
    r"(?:j['’]ai (?:aussi )?mis à jour |updated )?(?:la |les |the |my )?(?:mémoire|memory)\b"
)
_EMPTY_OBJECT = _rx(
    r"\b(?:updated|fixed|added|changed|removed|replaced|moved) (?:exactly )?(?:it|this|that|them|these|those|all|"
    r"both|everything)\b"
)
_TO_AVOID = _rx(r"\b(?:to (?:eliminate|avoid|prevent)|instead of|rather than)\b")
_BUG_FIX = _rx(r"(?:bug ?fix|fixed)\b")
_PROGRESS = _rx(
    r"\b(?:task|tâche|batch|part|section|epic|story|group)s? ?#?[\d.]+|\b(?:setup|discovery|scan|"
    r"audit|analyse|analysis|review|workflow|revue)\b"
)


def topic_of(statement: Statement) -> str:
    """The kind of outcome of which only the last in a session counts, or empty."""
    for topic in _TOPICS:
        if topic.words & statement.words and topic.pattern.search(statement.core):
            return topic.name
    return ""


def follows_done(before: Statement | None, statement: Statement) -> bool:
    """Whether the sentence comes right after a bare "Done." or "Fixed."."""
    return before is not None and before.paragraph == statement.paragraph and bool(_AFTER_DONE.match(before.plain))


def is_bug_fix(plain: str) -> bool:
    """Whether a list item names a bug that was fixed."""
    return bool(_BUG_FIX.match(plain))


def is_progress(core: str) -> bool:
    """Whether it is a step of a procedure that is over, not a piece of work."""
    return bool(_PROGRESS.search(core))


def is_outcome(statement: Statement, topic: str, *, after_done: bool) -> bool:
    """Whether the statement reports something as finished; ``topic`` as by ``topic_of``."""
    core = statement.core
    if _SCENARIO.match(statement.plain) or (not topic and _NO_MORE_SAID.match(core)):
        return False
    if after_done and not statement.introduces and not statement.marker and len(core.split()) > 4:
        return not is_hedged(statement)
    if not _NOT_DONE.isdisjoint(statement.words) or _CONTRACTED_NOT.search(core):
        return False
    if topic in _ROUTINE and len(core.split()) < SHORT_ROUTINE and not names_something(core):
        return False
    if topic and statement.block == "prose":
        return len(core.split()) < 35
    finished = _OUTCOME_HEAD.match(core) or (not core[0].islower() and _OUTCOME_LABEL.match(core))
    if not finished and statement.block == "prose":
        finished = _OUTCOME_STATE.search(core)
    if not finished and not is_bug_fix(core):
        return False
    if _EMPTY_OBJECT.search(core):
        return False
    return len(core.split()) >= TELLING_WORDS or names_something(core) or bool(_TO_AVOID.search(core))
