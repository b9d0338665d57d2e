"""The last look at a candidate: whether somebody who was not there can use it. What only the moment explains is left out.

The faults are those that a reader of 200 candidates named: words that refer to what is not there, work that is merely
announced, causes of failures that were mended at once, questions whose object is missing, notices without an object.
"""

from __future__ import annotations

import re

from tallystick.extractors.rules_statements import names_something, without_lead
from tallystick.model.claim import Candidate, ClaimKind
from tallystick.model.evidence import Origin


def _rx(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_ANNOUNCES = _rx(
    r"(?:now |ok,? |so |then |first,? |next,? |actually,? |but )*(?:let me|let['’]s|i (?:need|have|"
    r"want) to|i['’]?(?:ll| will)|i am "
    r"going to|i['’]m going to|we need to|then (?:remove|add|update)|je vais)\b"
)
_CHOSEN = _rx(
    r"\b(?:because|since|instead of|rather than|so that|so it|to avoid|which (?:is|handles|keeps|avoids|"
    r"means)|without|parce que|"
    r"plutôt que|afin|pour éviter)\b"
)
_REFERS = _rx(
    r"[(#]|(?:implement|do|fix|take|use) (?:#?\d[\d, and]*)\b|(?:put|move|keep|make|do|use|add|call|"
    r"rename|name) (?:it|this|that|them)\b|"
    r"(?:it|this|that|these|they) (?:should|must|is|was|has|needs?)\b|like it\b|you['’]?ve\b"
)
_ASKS = _rx(r"(?:why not|is there no|isn['’]t there|wouldn['’]t it|can we use our|can we also add which)\b")
_MENDED = _rx(
    r"(?:the|this) (?:issue|problem|bug|cause|reason|error|failure|\S+ test(?: failed)?) (?:is|was|"
    r"failed)\b|missing\b|.*\btest failed"
    r" because\b|.*\blinter requires\b|.*\bi was editing\b"
)
_NOTICE = _rx(
    r"(?:done|fixed in `?[0-9a-f]{7,40}\b|enregistré|rapport mis à jour|sections? ajoutées?|review notes|saved|no diff|"
    r"updated\b(?! .*\b(?:to|from|with|in)\b)|"
    r"fichiers? mis à jour|mis à jour)\b"
)
_TEST_OR_GIT = _rx(r".*\b(?:tests?|lint\w*|push\w*|merg\w*|commit\w*|releas\w*|deploy\w*|build\w*|publi\w+|rebas\w+)\b")
_JUDGES_LINT = _rx(r".*\b(?:linter|false positive|duplication)\b")
_TRIVIAL = _rx(
    r"\b(?:unused (?:\w+ )?(?:variables?|imports?|functions?|parameters?|code)|stale comments?|typos?|now unused)\b|"
    r"(?:^|[\s`'\"(])/tmp/|[^:]{3,40}: ?`?\d+`?(?: \([^)]*\))?\W*$"
)
_MAY_BE_TRIVIAL = frozenset({ClaimKind.DECISION, ClaimKind.OUTCOME})
LEAST_WORDS = 6


_TASK = _rx(
    r"(?:please |can you |could you |can we |could we |also |just |let['’]s |i want you to |we need to )*(?:print|reduce|"
    r"simplify|implement|implémente[rz]?|update|improve|fix|write|document|test|clean|check|ensure|break|import|add|review|refactor)\b"
)
_CONSTRAINS = _rx(
    r".*\b(?:instead|only|not|without|never|always|for now|rather|default|because|since|if|when|unless|so that|automatically|"
    r"explicitly|should|must|plutôt|sans|seulement|jamais)\b"
)
_MENU = _rx(
    r"(?:créer|create|ajouter|add) (?:des |some )?(?:action )?items\b|valider le\b|lancer le\b|passer à\b|continuer\b"
)
_MUSES = _rx(
    r"(?:not sure|the assumption|but the tricky|do we need|i guess|\(just)\b|if only\b|the file system matches\b"
)


def gives_a_reason(text: str) -> bool:
    """Whether a text says why, or over what, or to what end."""
    return _CHOSEN.search(text) is not None


def worth_noting(candidate: Candidate) -> bool:
    """Whether the candidate can be understood and used by somebody who was not there."""
    if candidate.kind in _MAY_BE_TRIVIAL and _TRIVIAL.search(candidate.text):
        return False
    text = candidate.text if _NOTICE.match(candidate.text) else without_lead(candidate.text)
    words = len(text.split())
    match candidate.kind:
        case ClaimKind.DECISION:
            return _worth_deciding(candidate, text, words)
        case ClaimKind.FACT:
            return not _MENDED.match(text)
        case ClaimKind.OUTCOME:
            telling = names_something(text) or _TEST_OR_GIT.match(text) is not None
            return not _NOTICE.match(text) and (telling or words >= LEAST_WORDS)
        case ClaimKind.CORRECTION:
            return words >= LEAST_WORDS and not _REFERS.match(text)
        case _:
            return True


def _worth_deciding(candidate: Candidate, text: str, words: int) -> bool:
    if candidate.origin is Origin.USER:
        if _ASKS.match(text) or _MUSES.match(text) or (_REFERS.match(text) and words < 2 * LEAST_WORDS):
            return False
        if _TASK.match(text) and not _CONSTRAINS.match(text):
            return False
        if text.rstrip().endswith("?") and not names_something(text):
            return False
        return words >= LEAST_WORDS or names_something(text)
    if _MENU.match(text):
        return False
    if _ANNOUNCES.match(text):
        return bool(_CHOSEN.search(text)) and names_something(text)
    return not (_REFERS.match(text) or _JUDGES_LINT.match(text))
