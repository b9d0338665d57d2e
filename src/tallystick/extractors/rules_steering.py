"""How a person steers without an order: a rhetorical question, a statement of how things are to be, a doubt about a word.

"Is there no library for that??" and "do we need that at all then?" change what is done next as surely as "use a library".
A statement settles by its form: what something must be, what is the one to use, what only happens where.
"""

from __future__ import annotations

import re

from tallystick.extractors.rules_statements import Statement, names_something


def _rx(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


TELLING_WORDS = 7
"""A steering question that names nothing needs as many words."""

_STEERS = _rx(
    r"(?:(?:is|are) there (?:no|not (?:a|an|any)|really no)\b|(?:isn|aren)['’]?t there (?:a|an|any|some|already)\b|"
    r"(?:shouldn|wouldn|couldn|can)['’]?t (?:we|it|this|that|they|the|these)\b (?!work\b)|"
    r"why (?:not\b|don['’]?t we\b|do we (?:need|have|even|still|want)\b|not just\b)|"
    r"do(?:n['’]t)? (?:we|i|you) (?:really |even |still |actually )*(?:need|want|have to)\b.{3,160}\b(?:at all|anymore|"
    r"any more|then|still)\b|do we (?:really|even|still) (?:need|want|have to)\b|"
    r"(?:it|that|this)(?:['’]s| is) (?:simple|easy|cheap|trivial|straightforward) enough to\b|"
    r"(?:what if|how about|what about (?:if )?) ?(?:we|you|using|just|instead|having|adding|making)\b|"
    r"(?:maybe|perhaps) (?:we|you|it) (?:can|could|should)\b|(?:should|could) (?:we|it|this|that) (?:not |rather |just |"
    r"instead )|(?:ne )?(?:vaudrait|vaut|faudrait)[- ]il (?:pas|mieux)\b|pourquoi (?:ne )?pas\b|"
    r"on (?:pourrait|devrait|ne devrait)\b)"
)
_IS_ENOUGH = _rx(
    r"(?:i (?:guess|think|suppose|assume) |just |so )*(?:\w+ing|a|an|the) .{3,100}\b(?:is|would be|"
    r"should be|['’]s) (?:just |"
    r"totally |probably )?(?:fine|ok|okay|enough|good enough|sufficient|better)\b"
)
_WILL_DO = _rx(
    r"so (?:that )?(?:the|our|a) [\w./`-]+(?: [\w./`-]+)? (?:will|would|should) (?!be (?:able|ok|fine)\b)\w+ \S"
)
_IS_INFORMATION = _rx(
    r"why (?:do|does|did|is|are) (?!we\b)|\b(?:or not|what happens|what does|how does|do you know|have you)\b"
)
_IS_THE_ONE = _rx(
    r"(?:the|le|la|l['’]) ?[^.?!,;]{2,60} (?:to use|to follow|to keep|à utiliser|à suivre|à garder|qui fait foi) (?:is|"
    r"will be|est|sera)\b \S"
)
_LEANS = _rx(
    r"(?:[\w/'’-]+ ){0,3}(?:je pense (?:à|que|partir sur|utiliser)|je dirais|je partirais|i['’]?d (?:say|go (?:for|with))|"
    r"i(?:['’]m| am) thinking (?:of|about)|i think (?:of )?(?:we (?:can|could|should|use|go)|it should|"
    r"the \w+ should))\b ?\S"
)
_MUST_BE = _rx(
    r"(?:[\w/'’-]+ ){0,3}(?:ça|cela|ce|il|elle|on|it|this|they|everything|that|we) (?:doit|devra|doivent|"
    r"must|has to|have to|"
    r"needs? to|should(?: still| always| only| just| also)?) (?:être|rester|be|stay|remain|support|run (?:on|in|with)|"
    r"have|use|keep|go|live|fail|return|include|avoid)\b \S"
)
_WANTS_IT = _rx(
    r"\bi (?:do |really |just )?(?:want|need|['’]d like) (?:it|this|that|them|the [\w`./-]+(?: [\w`./-]+)?|this [\w-]+) to "
    r"(?!know\b|see\b|understand\b|check\b|do (?:it|this|that)\b)\w+ \S"
)
_ONLY_THERE = _rx(
    r"(?:which|it|this|that|these|they|the [\w`./-]+(?: (?!was\b|is\b|has\b|had\b|were\b)[\w`./-]+)?) (?:should |"
    r"must |will |can )?(?:only|never) (?!been\b|had\b|a\b|the\b|\w+ed\b)\w+ \S+ \S"
)
_DOUBTS_A_WORD = _rx(
    r"(?:i['’]?m )?not (?:sure|convinced|sold)(?: (?:if|that|whether|about))? .{2,80}\b(?:word|name|term|"
    r"naming|wording|place|"
    r"way|idea|approach|abstraction)\b|"
    r"i (?:don['’]?t|do not) (?:think|like) .{2,60}\b(?:word|name|term|naming|wording|idea|approach|should|belongs?|need)\b"
)
_EXPLAINED = _rx(
    r"\b(?:explicitly|to not|not to|in order to|to avoid|to keep|to be|because|since|so that|in (?:other|some|all) places|"
    r"pour (?:ne pas|éviter)|parce que)\b"
)
_HABIT = _rx(r"we (?:\w+ly )?(?:use|keep|avoid|store|ship|name|write|follow|deploy)\b")
_NO_DETAIL = _rx(
    r"\b(?:keep|bear|have) in mind\b|"
    r"\b(?:it|this|that|they) (?:should|must|has to|needs to) (?:be (?:fine|ok|okay|good|easy|possible|"
    r"working|there|enough|done|simple)|work)\b"
)


def steers(statement: Statement) -> bool:
    """Whether a person's question tells what to do rather than asks for information."""
    if statement.plain.lower().startswith("so ") and _WILL_DO.match(statement.plain):
        return True
    core = statement.core
    if _IS_ENOUGH.match(core):
        return len(core.split()) >= TELLING_WORDS
    if not _STEERS.match(core) or _IS_INFORMATION.search(core):
        return False
    return names_something(core) or len(core.split()) >= TELLING_WORDS


def explains_a_way(statement: Statement) -> bool:
    """Whether a person says how things are done and why: "we use go-git explicitly in other places to not depend on …"."""
    core = statement.core.lstrip("(")
    return bool(_HABIT.match(core)) and bool(_EXPLAINED.search(core)) and not statement.is_question


def states_how(statement: Statement, *, asked: bool) -> bool:
    """Whether a person's statement says how something is to be; ``asked``: the agent had asked for it."""
    if statement.is_question or _NO_DETAIL.search(statement.core):
        return False
    core = statement.core.lstrip("(")
    if _IS_THE_ONE.match(core) or _DOUBTS_A_WORD.match(core) or explains_a_way(statement):
        return True
    telling = names_something(core) or len(core.split()) >= TELLING_WORDS
    if telling and (_MUST_BE.match(core) or _WANTS_IT.search(core) or _ONLY_THERE.match(core)):
        return True
    return asked and bool(_LEANS.match(core))
