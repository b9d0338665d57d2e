"""Facts about named things that cost effort to find: causes, limits of tools, values; not what the code says of itself."""

from __future__ import annotations

import re

from tallystick.extractors.rules_statements import Statement, is_dangling, is_hedged, names_something
from tallystick.model.claim import About


def _rx(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


SHORT_FACT = 10

_CAUSE = _rx(
    r"\b(?:root cause|the (?:real |actual |underlying |core |main )?(?:issue|problem|bug|cause|culprit|catch|error|"
    r"failure)"
    r"(?: here| in \S+)?(?: is| was|:| —| -|['’]s)(?! not )|turns out|(?:fails?|failed|breaks?|broke|happens?|"
    r"happened|crash(?:es|ed)?) because|"
    r"(?:is|was|are|were) caused by|la cause|le problème (?:est|vient|était)|vient de)\b"
)
_PROBLEM_LABEL = _rx(r"(?:the )?(?:problem|cause|root cause|bug|issue|why|problème)\s*[:—]\s*(?=\S)")
_CAUSE_WORDS = frozenset(
    "cause issue problem bug culprit catch error failure turns because caused problème vient".split()
)
_HOLDS = _rx(
    r"\b(?:does(?:n['’]?t| not)|do(?:n['’]?t| not)|never|only|always|cannot|can['’]?t|no longer|requires?|"
    r"defaults? to|lives? (?:in|at|under)|"
    r"(?:is|are) (?:stored|located|kept|configured|limited|hard-?coded|ignored|gitignored|pinned|protected|required|"
    r"mandatory|"
    r"not supported|unsupported) |(?:listens?|runs?) on|expects?|must (?:be|match|have)|has no|have no|"
    r"n['’]existe pas|ne \w+ pas|est absent|nécessite|exige|se trouve)\b"
)
_FINDING = _rx(
    r"\b(?:only (?:supports?|works?|accepts?|reads?|takes?|allows?)|does(?:n['’]?t| not) (?:support|expose|respect|"
    r"read|allow|provide|have|handle|accept|exist|include|set|recogni[sz]e)|"
    r"do(?:n['’]?t| not) (?:support|expose|respect|read|allow|provide|have|exist)|requires?|is(?:n['’]?t|"
    r" not) supported|has no|(?:sets?|baked|set) [^.]{0,40} at (?:compile|build|run) ?time|"
    r"files? use|uses? plain|must be|should be `[^`]+` instead of|the property should be|ne supporte pas|"
    r"n['’]expose pas|nécessite)\b"
)
_NAMED_SUBJECT = re.compile(
    r"(?:The |A |An |In |For |On |Le |La |Les |L['’])?(?:\w+ ){0,2}?(?:`|[A-Z]\w*[A-Z-]\w*|[A-Z][a-z]+ [A-Z]|go-|"
    r"git\b|\w+[_/.]\w)"
)
_CODE_SUBJECT = re.compile(
    r"(?:The |A |An |So |That )?(?:current |new |old |existing )?(?:`[^`]{0,40}[a-z_(][A-Z_)][^`]{0,40}`|"
    r"[a-z]+[A-Z]\w*|\w+\(\))|"
    r"(?:We|You|I|Called|At this|For|Since|Unlike)\b"
)
_PRODUCT_SUBJECT = re.compile(
    r"(?:The |A |An |Unfortunately, |Confirmed - |So |However, )*(?:[A-Z]\w+ ){0,4}(?:[A-Z][a-z]+[A-Z]\w*|"
    r"[A-Z]\w+ [A-Z]\w+|[A-Z]{2,}\w*|go-git|git|npm|pip|GitHub|"
    r"(?:`?[\w-]+`? )?(?:linter|compiler|API|CLI|server|config|library|plugin|runner|action|harness|framework|SDK|"
    r"runtime))\b"
)
_PROBLEMS_HEADING = _rx(
    r"\b(?:issues?|findings?|problems?|bugs?|concerns?|problèmes?|constats?|critical|high|major|medium|haute?s?|critiques?)\b"
)
_SOLVED_HEADING = _rx(
    r"\b(?:fixed|resolved|addressed|fixes|pre-?existing|no |none|good|corrigée?s?|résolus?|traitée?s?|next|action items|"
    r"recommend\w*|suggest\w*)"
)
_DEFECT = _rx(
    r"\b(?:not|never|cannot|can['’]t|doesn['’]t|isn['’]t|missing|without|silently|panics?|ignores?|ignored|bypass(?:es)?|skips?|"
    r"lacks?|leaks?|unchecked|brittle|races?|wrong|invalid|incomplete|n['’]\w+ (?:ni|pas|que)|ne \w+ (?:pas|que)|sans|refuse|"
    r"invalides?|incomplète?s?|fuite|absente?s?|manquante?s?|tolère|accepte|acceptée?s?)\b"
)
_ENDS_OPEN = _rx(r"\b(?:it|this|that|them|there)[.!]?$")
_LINE_NUMBER = _rx(r"\blines? \d|:\d+")
_VALUE_WORDS = frozenset("port default defaults lives live stored located kept defined version".split())
_VALUE = _rx(
    r" (?:(?P<port>(?:listens?|runs?|is) on port)|(?P<default>defaults? to)|"
    r"(?P<location>(?:lives?|(?:is|are) (?:stored|located|kept|defined)) (?:in|at|under))|"
    r"(?P<version>(?:is )?(?:at|on|pinned to) version)) (?P<value>`[^`]+`|[\w./:@~-]+)"
)
_ARTICLES = frozenset({"the", "a", "an", "that", "so", "and", "le", "la"})


def about(statement: Statement) -> About:
    """Subject, attribute and value of a plain statement of port, default, location or version; empty otherwise.

    The subject is at most the four words before the verb.
    """
    match = _VALUE.search(statement.core) if _VALUE_WORDS & statement.words else None
    if match is None:
        return About()
    subject = re.split(r"[,;:(]", statement.core[: match.start()])[-1].split()[-4:]
    while subject and subject[0].lower() in _ARTICLES:
        subject = subject[1:]
    if not subject:
        return About()
    attribute = next(name for name in ("port", "default", "location", "version") if match.group(name))
    return About(" ".join(subject).strip("`"), attribute, match.group("value").strip("`").rstrip(".,:"))


def names_a_cause(statement: Statement) -> bool:
    """Whether it says why something went wrong, with something named in it."""
    if _PROBLEM_LABEL.match(statement.core) and len(statement.core.split()) > SHORT_FACT:
        return not is_hedged(statement) and names_something(statement.core)
    if not _CAUSE_WORDS & statement.words or not _CAUSE.search(statement.core):
        return False
    if _LINE_NUMBER.search(statement.core) and "`" not in statement.core:
        return False
    return not is_hedged(statement) and names_something(statement.core)


def _ends_open(core: str) -> bool:
    """Whether a short sentence is about an "it" that it does not name."""
    return len(core.split()) < SHORT_FACT and bool(_ENDS_OPEN.search(core))


def is_review_finding(statement: Statement) -> bool:
    """Whether it is an item of a review's list of problems that says what is wrong with a thing it names in code marks."""
    if statement.block != "list" or "`" not in statement.core or len(statement.core.split()) < SHORT_FACT:
        return False
    heading = statement.heading
    if not _PROBLEMS_HEADING.search(heading) or _SOLVED_HEADING.search(heading):
        return False
    return bool(_DEFECT.search(statement.core)) and not is_hedged(statement)


def is_finding(statement: Statement) -> bool:
    """Whether it states a limit or demand of a named tool: what a tool supports, requires, never does."""
    core = statement.core
    if is_hedged(statement) or is_dangling(statement) or _ends_open(core) or not _FINDING.search(core):
        return False
    return bool(_CAUSE.search(core) or _PRODUCT_SUBJECT.match(core))


def is_found(statement: Statement) -> bool:
    """Whether it can stand as what was found, right after the agent says that it found it."""
    if statement.introduces or is_hedged(statement) or is_dangling(statement) or _LINE_NUMBER.search(statement.core):
        return False
    return names_something(statement.core)


def is_fact(statement: Statement, *, answering: bool) -> bool:
    """Whether a sentence of a closing message is a fact worth keeping; ``answering``: a person had asked."""
    core = statement.core
    if about(statement).subject and '"' not in core:
        return not is_hedged(statement) and names_something(core)
    if is_review_finding(statement):
        return True
    if statement.block == "list" or _CODE_SUBJECT.match(core) or is_dangling(statement) or is_hedged(statement):
        return False
    if _ends_open(core):
        return False
    held = is_finding(statement) or (answering and _NAMED_SUBJECT.match(core) and _HOLDS.search(core))
    return bool(held) and names_something(core)
