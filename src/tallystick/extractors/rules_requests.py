"""What a person asks for that fixes how the product will be: "can we import it as `id`", "if it fails, exit with 1".

A request counts by its grammar: a frame of asking ("can we …", "please …", "I'd like …", a bare imperative, an item under
"it should be like:"), a verb that shapes the product, and an object with some detail. Work to be done (run, check, commit,
review) and questions for information settle nothing. In the message that opens a session the task itself is no decision;
its constraints are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tallystick.extractors.rules_statements import Statement, names_something


def _rx(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


MAX_SENTENCE_WORDS = 70
LONG_OBJECT = 5
"""Words of an object that names nothing, from which it says enough."""

_SHAPING = (
    "add|remove|drop|delete|use|keep|retain|rename|name|call|move|switch|replace|list|import|export|mark|put|store|ignore|"
    "allow|reject|fail|exit|show|print|hide|default|make|change|update|split|separate|break|extract|inline|simplify|reduce|"
    "sort|group|order|set|send|include|exclude|support|handle|return|log|require|enable|disable|limit|wrap|convert|turn|"
    "have|create|document|attach|skip|implement|increase|decrease|lower|raise|bump|cap|pin|restrict|treat|reuse|introduce|"
    "expose|format|prefix|append|redirect|validate|always|only|never|save|cache|record|track"
)
_SHAPING_FR = (
    "ajoute[rz]?|utilise[rz]?|garde[rz]?|supprime[rz]?|renomme[rz]?|déplace[rz]?|remplace[rz]?|mets|mettre|mettez|affiche[rz]?|"
    "exclus?|exclure|inclus|inclure|n['’]inclus pas|implémente[rz]?|limite[rz]?|sépare[rz]?|crée[rz]?|retire[rz]?|"
    "conserve[rz]?|intègre[rz]?"
)
_ADVERBS = r"(?:(?:please|also|just|maybe|then|instead|already|perhaps|simply|only|always|now|at least) )*"
_ASKS = _rx(
    r"(?<!how )(?<!what )(?<!which )(?<!where )(?<!when )(?<!why )(?<!who )(?<!anything )\b(?:can|could) (?:you|we|i|"
    r"it) "
    rf"{_ADVERBS}(?P<verb>{_SHAPING}|do)\b(?P<object>.*)"
)
_ASKS_FR = _rx(
    r"\b(?:peux[- ]tu|tu peux|tu pourrais|pourrais[- ]tu|est-ce que tu peux|peut[- ]on|on peut|pouvez[- ]vous) "
    rf"(?P<verb>{_SHAPING_FR})\b(?P<object>.*)"
)
_WISHES = _rx(
    r"(?:^|[,;:—–] |- |\b(?:and|but|so) )(?:i|we)(?:['’]d| would| do|['’]ll)? (?:also |really |still |just )*"
    rf"(?:like|want|need|prefer|have) (?:you |us )?to {_ADVERBS}(?P<verb>{_SHAPING}|ensure|be able to|"
    rf"word)\b(?P<object>.*)"
)
_ORDERS = _rx(
    rf"(?:for now,? |also |instead,? )?{_ADVERBS}(?P<verb>{_SHAPING}|{_SHAPING_FR})\b(?!['’:.-]\w)(?P<object>.*)"
)
_ORDERS_WHEN = _rx(
    r"(?:if|when|whenever|unless|for|instead of|rather than|si|quand|pour|au lieu de) [^,]{3,160}[,.] ?(?:then )?"
    rf"(?:do not |don['’]?t |never )?{_ADVERBS}(?P<verb>{_SHAPING}|{_SHAPING_FR})\b(?P<object>.*)"
)
_PLEASE_INSIDE = _rx(rf"[,;—–-] ?(?:please )(?P<verb>{_SHAPING})\b(?P<object>.*)")
_GOAL = _rx(
    r"(?:what (?:i['’]?m|i am|we['’]?re|we are) trying to (?:achieve|do|get)|the (?:goal|idea|aim) is|"
    r"the (?:['\"]?\w+ )?"
    r"['\"]?(?:correct|right|proper|real) fix['\"]? is to|(?:perhaps|maybe),? the [^.?!]{0,30}fix['\"’]? is to|"
    r"j['’]aimerais? que|je (?:souhaite|voudrais) que|l['’]idéal serait)\b(?P<object>.*)"
)
_MODEL = _rx(r"\b(?:like|similar to|the same (?:way|as)|as in) (?:\S+ ){1,3}\S")
_OUGHT = _rx(
    rf"(?:i think )?we (?:should|need to|must|['’]ll need to|have to) {_ADVERBS}(?P<verb>{_SHAPING})\b(?P<object>.*)"
)
_DEMANDS_FR = _rx(r"\b(?:il faut|il faudrait|on garde|on utilise|on prend)\b(?: aussi)?(?! que je) (?P<object>.*)")

_PROCESS_OBJECT = _rx(
    r"\W*(?:(?:a|an|the|this|that|these|those|our|my|your|another|new|me|us|it|some|more|any|all|draft|patch|simple|"
    r"short|full|"
    r"temporary|linear|github|simple|specific|unit|integration|un|une|le|la|les|of|separate|same|list|version|working|"
    r"detailed|"
    r"quick|small) )*"
    r"@?(?:prs?|pull requests?|commits?|issues?|tickets?|comments?|repl(?:y|ies)|summar(?:y|ies)|descriptions?|plans?|"
    r"tests?|"
    r"branch|diff|improvements?|bugs?|stor(?:y|ies)|conflicts?|lists?|report|todo|review|reviewer|changelog|doc|"
    r"docs|document|section|logs|worktree|sense|sure|design|links?|memory|examples?|suggestions?|questions?|cases?)\b"
)
_TOOL_OBJECT = _rx(
    r"\b(?:plugins?|skills?|sub-?agents?|agents?|reviewers?|web ?search|terminal|powershell|ultrathink)\b"
)
_PRONOUN = _rx(r"\s*(?:it|this|that|them|these|those|le|la|les)\b")
_FOR_ME = _rx(r"\s*(?:me|us|moi)\b")
_NO_OBJECT = _rx(
    r"\s*(?:#?\d|in mind\b|why\b|how\b|what\b|that\b|from\b|again\b|sure\b|sense\b|up\b|it\s*(?:$|[.?!,])|a look\b|time\b)"
)
_SHOWING = frozenset("show print list make have log create".split())
_OR_ELSE = _rx(
    r"\bor (?:do|is|are|should|would|can|could|does|did|will|rather|not|what)\b|\bor ?\?|\bou (?:bien|est)\b"
)
_INFORMATION = _rx(
    r"(?:q:|question|why|what|how|which|who|where|is|are|does|do|did|was|were|has|have|pourquoi|quel(?:le)?s?|comment|"
    r"est[- ]ce)\b"
)
_CONSTRAINT = _rx(
    r"\b(?:instead|rather than|but not|for now|only|without|automatically|explicitly|by default|as (?:the )?default|"
    r"at the same|as lightweight|never|always|must|except|with inline|no longer|in the line of|plutôt|au lieu|"
    r"uniquement|sans)\b"
)
_MANNER = _rx(r"\b(?:instead|automatically|explicitly|by default|directly)\b")
_SPECIFIES = _rx(
    r"\b(?:like|lines? of|as follows|should(?: \w+){0,2}|requirements?|rules|behaviou?r|expected|(?:we|"
    r"i) want(?: \w+){0,3}|"
    r"must(?: \w+){0,2}|exigences|règles)\W*$"
)
_SPECIFIES_NOTHING = _rx(
    r"\b(?:look at|propose|suggest|scenario|check|showing|problems?|errors?|issues?|feedback|review|reviewing|"
    r"questions?|got|"
    r"happen(?:s|ed|ing)?|seeing|here['’]s|example|summary|explain)\b"
)
_ENDS_SHORT = _rx(r"\b(?:of|like|contents?|following|this|that|be|do|to|with|is|can you|avec|comme)$")
_PATH_ONLY = re.compile(r"\s*[`@\"']?[\w.~-]*[/.][\w./-]*\w[`\"']?\s*[.!]?\s*$")
_CONTENT = re.compile(r"[\w`./@-]{4,}")
_POINTERS = frozenset(
    "this that these those them they with into from then also just only please instead above below again there here some "
    "more something thing things other others same ones does have been will would should could first next before after "
    "changes change".split()
)
_ASKING_WORDS = frozenset(
    "can could please want like need should must if when instead for i'd achieve fix idéal aimerai aimerais faut faudrait peux "
    "pourrais garde on tu d".split()
)


def requests(statement: Statement, *, opening: bool) -> bool:
    """Whether a person's sentence asks for something that settles how the product will be; ``opening``: it is of the
    message that begins the session."""
    core = statement.core
    if len(core.split()) > MAX_SENTENCE_WORDS or (statement.introduces and _ENDS_SHORT.search(core)):
        return False
    if specifies(statement) or _sets_a_model(statement):
        return True
    if _INFORMATION.match(core) and not _CONSTRAINT.search(core):
        return False
    if statement.is_question and _OR_ELSE.search(core):
        return False
    if opening and not _CONSTRAINT.search(core) and (statement.start == 0 or not names_something(core)):
        return False
    return any(_tells(verb, words, core) for verb, words in _asked(statement))


def specifies(statement: Statement) -> bool:
    """Whether it is an item of a list that says how something should be."""
    if not statement.marker or statement.is_question or not 5 <= len(statement.core.split()) <= 40:
        return False
    return bool(_SPECIFIES.search(statement.heading)) and not _SPECIFIES_NOTHING.search(statement.heading)


def orders_a_file(core: str) -> bool:
    """Whether it is a two-word order about a named file ("Use prd.md"), too short to be anything else."""
    order = _ORDERS.match(core)
    return order is not None and bool(_PATH_ONLY.match(order.group("object")))


def _sets_a_model(statement: Statement) -> bool:
    """Whether it says what the work is to be like ("what I'm after is something like what git does")."""
    goal = _GOAL.search(statement.core) if "i" in statement.words or "goal" in statement.words else None
    return goal is not None and bool(_MODEL.search(goal.group("object"))) and not statement.is_question


def _asked(statement: Statement) -> Iterator[tuple[str, str]]:
    """The verb and the words after it of each frame of asking in the sentence; the verb is empty where none is named."""
    core = statement.core
    order = _ORDERS.match(core) if not statement.is_question else None
    if order is not None:
        yield order.group("verb").lower(), order.group("object")
        return
    if _ASKING_WORDS.isdisjoint(statement.words):
        return
    for frame in (_ASKS, _WISHES, _ASKS_FR, _PLEASE_INSIDE):
        found = frame.search(core)
        if found is not None:
            yield found.group("verb").lower(), found.group("object")
    if statement.is_question:
        return
    for frame in (_ORDERS_WHEN, _OUGHT):
        found = frame.match(core)
        if found is not None:
            yield found.group("verb").lower(), found.group("object")
    for frame in (_GOAL, _DEMANDS_FR):
        found = frame.search(core)
        if found is not None and len(found.group("object").split()) >= LONG_OBJECT:
            yield "", found.group("object")


def _tells(verb: str, words: str, core: str) -> bool:
    """Whether what is asked for concerns the product and is said in enough detail to be noted."""
    if verb == "do":
        return bool(_MANNER.search(words)) and names_something(core)
    if _PROCESS_OBJECT.match(words) or _NO_OBJECT.match(words):
        return False
    if verb == "use" and _TOOL_OBJECT.search(words):
        return False
    if verb in _SHOWING and _FOR_ME.match(words) and not names_something(words):
        return False
    telling = {word.lower() for word in _CONTENT.findall(words)} - _POINTERS
    return len(telling) >= (1 if names_something(words) and not _PRONOUN.match(words) else 2)
