"""What was left undone: said to be so, listed under such a heading, or offered and never answered."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tallystick.extractors.rules_statements import Statement


def _rx(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_OPEN_HEADING = _rx(
    r"\b(?:remaining|not (?:yet )?(?:done|implemented|addressed|fixed)|deferred|out of scope|still (?:open|to do|"
    r"needs?|missing)|manual steps?|required (?:setup|manual|steps)|"
    r"known (?:issues?|limitations?)|left to do|todo|to[- ]do|follow[- ]?ups?(?! (?:commit|pr)\b)|open (?:questions?|"
    r"items?|issues?)|future work|unresolved|pending|"
    r"next steps?|prochaines étapes|suites? possibles?|je peux aussi|"
    r"reste à faire|points? (?:bloquants?|ouverts?)|à faire|blockers?|unaddressed|il reste)\b"
)
_OPEN = _rx(
    r"\b(?:still (?:fail(?:s|ing)?|broken|needs?|missing|open|pending|to do|unresolved|has to|have to)|not yet|"
    r"yet to be|remains? (?:to|open|unresolved|unfixed)|remaining (?:work|gap|concern|issue|item|task|failure)s?|"
    r"follow-?up (?:task|pr|issue|work)|as a follow-?up|left (?:undone|for later)|"
    r"(?:wasn['’]?t|weren['’]?t|was not|were not|haven['’]?t|hasn['’]?t|have not|has not|couldn['’]?t|"
    r"could not) (?:been |be |yet )?(?:able|done|implemented|addressed|fixed|tested|verified|pushed|committed|run|"
    r"updated|merged|deployed|find)|"
    r"you['’]ll (?:still )?(?:need|have) to|you (?:still )?(?:need|have) to|you (?:may|might) want to|"
    r"pre-?existing (?:issue|failure|bug|lint|test)|needs? (?:a )?follow|"
    r"worth (?:filing|adding|fixing|following|opening|noting as)|before (?:committing|merging|releasing)|"
    r"so i can['’]?t \w+|(?:need|have|must|want|has)\b[^.]{0,60}\bmanually|"
    r"blocked (?:by|on)|bloqué|reste à|il reste|non (?:poussé|résolu|traité)e?s?|pas encore|n['’]ai (?:donc )?pas pu|"
    r"introuvable|à corriger avant)\b"
)
_NOTHING_OPEN = _rx(
    r"\b(?:no longer|won['’]?t|nothing|no (?:remaining|follow|further|open)|if you|menu|commande|already|"
    r"your terminal|/help|mis à jour|effectué|ta réponse|tu peux taper)\b"
)
_OFFER_ONLY = _rx(
    r"\b(?:anything else|what would you like|what do you (?:want|think)|how can i help|does (?:this|that) (?:look|"
    r"make|match)|clarify|autre chose|"
    r"menu|select an option|commande|help with|explore|elaborate|explain|look (?:at|into)|read the|walk you|see )"
)
_MENU_ENTRY = _rx(
    r"(?:\[\w+\]|/\w|`[/\[]|if you|si tu|continue[rz]?\b|start\b|begin\b|commit\b|push\b|review\b|relance[rz]?\b|relire\b|"
    r"lancer\b|passer\b|on (?:passe|continue|lance)|je (?:passe|lance|continue)|quitter|revenir|valider\b)"
)
_UNDONE_OFFER = _rx(
    r"(?:want|would you like|do you want|shall|should) (?:me|i|we) (?:to )?|souhait(?:es|ez)[- ‑](?:tu|vous) que je|"
    r"v(?:eux|oulez)[- ‑](?:tu|vous) que je|tu veux que je|ready to (?:commit|push|merge|create)"
)


def open_ends(spoken: Sequence[Statement], *, unanswered: bool) -> list[Statement]:
    """The statements that say what was left undone and, where nobody answered the message, its last offer."""
    found = [each for each in spoken if left_open(each)]
    last = next((each for each in reversed(spoken[-3:]) if each.is_question), None)
    if unanswered and last is not None and is_undone_offer(last) and last not in found:
        found.append(last)
    return found


def is_undone_offer(statement: Statement) -> bool:
    """Whether the agent asks leave to do a named thing."""
    return bool(_UNDONE_OFFER.search(statement.plain)) and not _OFFER_ONLY.search(statement.plain)


def left_open(statement: Statement) -> bool:
    """Whether the sentence says that something is undone, or stands in a list of such things."""
    if statement.block == "heading":
        return False
    if statement.marker == "[ ]":
        return True
    if statement.is_question or statement.marker == "[x]" or _NOTHING_OPEN.search(statement.plain):
        return False
    if _OPEN.search(statement.plain) and len(statement.plain.split()) > 4:
        return True
    return bool(
        statement.block == "list"
        and _OPEN_HEADING.search(statement.heading)
        and len(statement.plain.split()) > 3
        and not _MENU_ENTRY.match(statement.core)
    )
