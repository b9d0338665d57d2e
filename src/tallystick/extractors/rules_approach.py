"""How the agent says it will go about the work, and then does: "I'll use `t.Chdir()`, which cleans up after itself".

A commitment counts when its first person intends something (I'll, I need to, we can, let me), its verb designs rather than
looks around, and it either names what it chose with a verb of choosing, or says how, why or what for.
"""

from __future__ import annotations

import re

from tallystick.extractors.rules_statements import Statement, is_cut_short, names_something


def _rx(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


TELLING_WORDS = 11
"""A commitment that names nothing needs as many words to be understood alone."""

SHORT_OBJECT = 4
SHORT_SENTENCE = 8

_CHOOSING_VERB = (
    "use|switch|replace|keep|put|pass|drop|export|import|fall back|go with|store|reject|require|list|utiliser|garder|"
    "remplacer|try (?:setting|using|passing|with)"
)
_DESIGNING_VERB = (
    "add|update|make|change|move|remove|extract|split|rename|fix|create|introduce|refactor|implement|handle|set|wrap|strip|unset|"
    "convert|include|consolidate|restructure|suppress|skip|inline|resolve|modify|refine|simplify|separate|"
    "reset|revert|restore|cherry-pick|guard|validate|cap|limit|generate|try (?:adding|making|moving)|ajouter|mettre|créer"
)
_INTENDS = _rx(
    r"(?:(?:and|so|now|next|instead|but|also),? )*"
    r"(?P<who>i['’]ll|i will|i['’]m going to|i need to|i can|i should|we['’]ll|we need to|we can|we could|we should|"
    r"let me|let['’]?s|"
    r"je vais|nous allons|(?<=now )|(?<=next )|(?<=next, )) ?(?:(?:also|now|just|instead|then|actually|simply|"
    r"properly) )*"
    rf"(?:(?P<choose>{_CHOOSING_VERB})|(?P<design>{_DESIGNING_VERB}))\b(?P<object>.*)"
)
_CARRYING_ON = frozenset("update fix make change handle rename remove modify".split())
"""What "Now …" does with these is the next step of a way that was chosen before."""
_RESOLVES = _rx(r"(?!let)\w")
_HOW = _rx(
    r"\b(?:using|by (?:\w+ing)|via|instead|rather than|so (?:that|it|the|we|they|next)|in favou?r of|without|since|"
    r"because|only the|following (?:the|this)|similar to|consistent with|"
    r"explicitly|automatically|by default|which (?:is|handles?|only|gives?|does|will|means|makes?|avoids?)|"
    r"en utilisant|plutôt|pour "
    r"(?:éviter|permettre))\b"
)
_PURPOSE = _rx(
    r"\bto (?:also |only |always |properly |still |correctly |never |not )*(?!the\b|a\b|an\b|this\b|that\b|it\b|its\b|"
    r"both\b|all\b|each\b|"
    r"every\b|these\b|those\b|our\b|your\b|my\b|main\b|include the\b|reflect\b|find\b|see\b|verify\b|check\b|"
    r"understand\b|figure\b|"
    r"confirm\b|test\b|complete\b|cover\b|say\b|verifying\b|continue\b|work\b|do\b|get\b|"
    r"know\b)(?P<verb>[a-z]{3,})(?![\w./`-])(?= \S)"
)
_CHORE = _rx(
    r"\W*(?:(?!`)[\w'’/-]+ |`[^`]{1,60}` ){0,3}"
    r"(?:plan|tasks?|todos?|prs?|pull requests?|descriptions?|summary|doc|docs|issues?|comments?|repl(?:y|ies)|branch|"
    r"commits?|imports?|"
    r"(?:lint|linter|import|compile|build|formatting|errcheck) (?:issues?|errors?|warnings?)|worktree|"
    r"(?:sub-?)?agents?|skills?|plugins?|"
    r"test repo|timing|debug|memory|changelog)\b(?![.`/-])(?= ?(?:$|[,;:()—–]|(?:to|for|in|with|of|and|or|from|on|that|"
    r"which|by|so|as|using|about|against|via|before|after|now|back|instead|first|since|because|where|at|is|are|"
    r"\w+ing)\b))|"
    r"\W*(?:(?:also|the|this|linear|issue) )*[A-Z]{2,5}-\d+\b|.*\b(?:this new|(?:use|call) the new) (?!\w+ (?:action|api|"
    r"library|field)s?\b)"
)
_TESTS = _rx(r"\W*(?!`)(?:[\w-]+ ){0,3}(?:(?:tests?|specs?)\b(?! (?:harness|helper|runner))|[\w/-]*_?test\w*\.\w+)")
_FOLLOWS_THE_CODE = _rx(
    r"\bto match the (?:actual|real|current|existing|production)\b|\binstead of\b|\bby \w+ing\b|`t\.\w+"
)
_POINTS_BACK = _rx(
    r"\W*(?:this|that|it|them|these|those|both|all)(?: (?:in|for|as|with|all|too|now|first|by|to)\b|\s*$|[.,:;])"
)
_POINTS = _rx(r"\b(?:this|that existing|these|those) ")
_LINE_NUMBERS = _rx(r"\blines? \d")
_PLACES = _rx(r"\b(?:at the (?:end|bottom|top|start)|near the|to the (?:existing )?(?:test )?file)\b")
_APPROACH = _rx(
    r"(?:so )?(?:the|my) (?:[\w-]+ ){0,3}(?:fix|approach|solution|way forward|remedy)(?: here)?(?: is|:|"
    r" would be)(?: (?:to|"
    r"simple|straightforward|clear|:))* |"
    r"la (?:meilleure |bonne )?(?:solution|correction)(?: est|:) "
)
_WAY_IS_TO = _rx(
    r"(?:but |so )?(?:the|my|a|an?other) (?:[\w-]+ ){0,3}(?:fix|approach|solution|pattern|way|option|remedy|idea|trick|"
    r"workaround)(?: here| for [^.:;]{3,80}?| to [^.:;]{3,60}?)?,? (?:is|would be|will be) (?:simply |just |probably )?to "
    r"(?!be\b|see\b|check\b|look\b|understand\b)\w+"
)
_OUGHT = _rx(
    r"(?:so |instead,? |but )*(?:(?=should use\b)|it|this|that|the (?:[\w.-]+ |`[^`]{1,60}` ){1,4}|`[^`]{1,60}` )(?:['’]?s)? ?"
    r"should (?:instead |"
    rf"just |also |only |always |rather )*(?:{_CHOOSING_VERB}|{_DESIGNING_VERB}|return|show|call|read|write|default|fail|be)\b"
    r"(?P<object>.*)"
)
_SELECTS = _rx(
    r"(?:let me|i['’]ll|i will|let['’]s) (?:now |just |only )*(?:fix|address|handle|keep|apply|implement) (?:only )?the "
    r"(?:[\w-]+ ){0,2}(?:valid|real|legitimate|actual|applicable|actionable|relevant) (?:\w+ ){0,2}"
    r"(?:issues?|comments?|findings?|ones?|bugs?|problems?)\b"
)
_SIMPLEST = _rx(
    r"(?:the )?(?:simplest|cleanest|best|safest|easiest|lightest|minimal|better) (?:fix|approach|way|option|solution)(?: here)?"
    r" ?[-—–:] ?\w+ \w+"
)
_MAKES_SENSE = _rx(r".{3,100}\b(?:makes?|make) (?:more|the most|better) sense\b")
_DOUBTS = frozenset("might may probably perhaps maybe guess assume possibly peut".split())
_INTENDING_WORDS = frozenset(
    "i now next we let lets should "
    " fix approach solution way remedy je nous correction pattern option idea trick "
    "workaround simplest cleanest safest easiest sense".split()
)


def stands_alone(statement: Statement) -> bool:
    """Whether a commitment is understood without the sentence before it."""
    return names_something(statement.core) or (
        len(statement.core.split()) >= TELLING_WORDS and not _POINTS.search(statement.core)
    )


def says_what_ought(statement: Statement) -> bool:
    """Whether it says what a thing should do, in enough detail ("The fallback should generate a random UUID instead")."""
    ought = _OUGHT.match(statement.core) if "should" in statement.words else None
    if ought is None:
        return False
    words = ought.group("object")
    return names_something(words) or bool(_HOW.search(words) and len(words.split()) > SHORT_OBJECT)


def commits_to_a_way(statement: Statement) -> bool:
    """Whether a sentence of the agent says how it will do the work, in enough detail to be noted."""
    core = statement.core
    if _INTENDING_WORDS.isdisjoint(statement.words) or is_cut_short(statement):
        return False
    if _APPROACH.match(core) or _WAY_IS_TO.match(core):
        return names_something(core) or len(core.split()) >= TELLING_WORDS
    if _SIMPLEST.match(core) or _MAKES_SENSE.match(core):
        return names_something(core) or len(core.split()) >= SHORT_SENTENCE
    if says_what_ought(statement) or _SELECTS.match(core):
        return True
    intent = _INTENDS.match(core)
    if intent is None or not _DOUBTS.isdisjoint(statement.words):
        return False
    words = intent.group("object")
    if not intent.group("who") and (intent.group("design") or "").lower() in _CARRYING_ON:
        return False
    if _CHORE.match(words) or _LINE_NUMBERS.search(words) or _PLACES.search(words):
        return False
    named = names_something(words)
    if (_TESTS.match(words) and not _FOLLOWS_THE_CODE.search(words)) or (_POINTS_BACK.match(words) and not named):
        return False
    if _HOW.search(words) or _PURPOSE.search(words):
        return True
    return bool(intent.group("choose")) and named and bool(_RESOLVES.match(intent.group("who")))
