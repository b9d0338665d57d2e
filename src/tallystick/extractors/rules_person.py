"""What a person's own words set or put right: standing rules, preferences, corrections, decisions (failure cases 27, 43-46).

Each judgement reads one sentence by its grammar (who is the subject, in what mood, with which standing word), and one
thing of the discourse: whether the agent had just asked something, because "no, don't" then answers and corrects nothing.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tallystick.extractors import rules_explicit, rules_requests, rules_steering, rules_wording
from tallystick.extractors.rules_statements import Statement, is_cut_short, names_something
from tallystick.model.claim import ClaimKind

SHORT_ANSWER = 16
TELLING_WORDS = 8
"""A correction without a marker that names nothing needs as many words to say what is corrected."""


class Setting(NamedTuple):
    """What stood before a person's message."""

    asked: bool
    """The agent's last message ended by asking something."""
    answered_before: bool
    """The agent has said something in the session; before that, a person's words are the task."""
    feedback: bool = False
    """The words came with the refusal of a tool call."""
    words: int = 0
    """Words of the whole message."""


def _rx(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_STANDING = _rx(
    r"(?:always|never|from now on|going forward|in (?:the )?future|every time|each time|whenever)\b|"
    r"(?:please )?(?:do not|don['’]?t|make sure to|be sure to|remember to) (?:ever|always|never)\b|"
    r"(?:please )?(?:always|never)\b|toujours\b|jamais\b|désormais\b|dorénavant\b|à partir de maintenant\b|"
    r"à l['’]avenir\b|"
    r"(?:ne|n['’])\s?\S+ jamais\b"
)
_STANDING_INSIDE = _rx(
    r"\b(?:we|you|i want you to|agents?|everyone|it|they|code|tests|commits|prs?) (?:should |must |need to |have to |"
    r"want to )?"
    r"(?:always |never )(?!been\b|had\b|was\b|were\b|did\b|got\b|\w+ed\b)\w+|"
    r"\b(?:must|should|shall|may|can) (?:always|never|only ever|not ever)\b|\bfrom now on\b|\bgoing forward\b|"
    r"\bevery time (?:you|we)\b|"
    r"\b(?:do not|don['’]?t) ever\b|\bil (?:ne )?faut (?:toujours|jamais)\b|\b(?:doit|doivent|dois) (?:toujours|"
    r"jamais)\b|"
    r"\bà partir de maintenant\b|\bdésormais\b"
)
_HABIT = _rx(
    r"(?:in (?:this|our) (?:repo|repository|project|codebase|team|org)\b,? )?we (?:only |always |never |do not |"
    r"don['’]?t )?"
    r"(?:use|prefer|keep|follow|require|avoid|target|support|ship|deploy|name|write|store)\b|"
    r"on (?:n['’])?(?:utilise|garde|préfère|évite|suit|nomme|écrit)\b"
)
_REMEMBER = _rx(
    r"(?:please )?(?:remember|keep in mind|don['’]?t forget|do not forget|bear in mind)\b,? (?:to|that|also|you)\b|"
    r"n['’]oublie(?:z)? pas (?:de|que)\b|garde(?:z)? en tête\b|souviens-toi\b|retiens que\b"
)
_PROHIBITION = _rx(r"(?:please )?(?:do not|don['’]?t|never|stop|avoid|no)\b")
_GENERAL = _rx(
    r"\b(?:any|anything|ever|again|anywhere|anymore|without (?:my|asking)|unless|until|at all|jamais|aucun|rien)\b"
)
_UNWANTED = _rx(r"i (?:really )?(?:don['’]?t|do not|never) want\b|je ne veux (?:pas|plus)\b")
_KEEP = _rx(
    r"keep (?:our|the|all|your|this|these|it|docs?|documentation)\b[^.?!]{2,80} (?:in|under|at|on|to|out of)\b|"
    r"keep (?:each|every|all)\b"
)
_PREFERENCE = _rx(
    r"(?:\bi(?:['’]d)? (?:strongly |really |generally |usually |would |much )?(?:prefer|rather)\b|"
    r"\bi (?:like|love|"
    r"want) (?:my|all|everything|things)\b|"
    r"\bi (?:hate|can['’]?t stand)\b|\bje (?:préfère|préférerais|n['’]aime pas)\b|"
    r"\bj['’]aime mieux\b|\bmy preference\b)"
)
_OWN_FAULT = _rx(
    r"\b(?:my bad|my mistake|my fault|i messed|i forgot|i misread|i mistyped|i meant to|i didn['’]?t specify|"
    r"i was wrong|"
    r"never ?mind|sorry,? (?:my|i)\b|oops|whoops|typo|au temps pour moi|je me suis trompé)"
)
_JUDGING = frozenset(
    "correct right true accurate case what how same issue problem wrong incorrect mistaken false backwards inaccurate "
    "outdated confusing mixing mean faux inexact vrai exact bon ce ça trompes".split()
)
_NOT_SO = _rx(
    r"(?:\bis|\bare|\bwas|\bwere|['’]s|['’]re)(?:n['’]?t| not) (?:quite |really |entirely |fully |actually |at all )?"
    r"(?:correct|right|true|accurate|the case|what i|how (?:it|this|that)|the (?:right|same|issue|problem))\b|"
    r"\b(?:is|['’]s|are|['’]re|was) (?:just |simply |completely |totally |plain )?(?:wrong|incorrect|mistaken|false|"
    r"backwards|inaccurate|outdated)\b|"
    r"\byou(?:['’]re| are) (?:wrong|mistaken|confusing|mixing)\b|\b(?:it|that|this) (?:doesn['’]?t|does not) mean\b|"
    r"\bc['’]est (?:faux|inexact|pas (?:vrai|correct|exact|bon|ce que|ça))|\bn['’]est pas (?:correct|vrai|exact|"
    r"ce que|bon)|\btu te trompes\b"
)
_ADDRESSING = frozenset({"you", "tu", "make"})
_FAILING = frozenset("still quite work toujours marche fonctionne".split())
_KNOWING = frozenset("i docs since already viens".split())
"""Words of which a sentence has one wherever ``_CONDUCT``, ``_STILL`` or ``_EVIDENCE`` can match: cheap first looks."""
_CONDUCT = _rx(
    r"(?:have )?you (?:make|made|making|just made) (?:it|this|that|them) up|\bmake it up\b|"
    r"\byou(?:['’]ve| have)? (?:just |also |still |only )?(?:forgot|forgotten|missed|ignored|skipped|misread|"
    r"misunderstood|broke|deleted|removed|"
    r"overwrote|attached|put|changed|left|introduced|used|duplicated|renamed|reverted)\b|(?<!if )\byou (?:didn['’]?t|"
    r"did not|shouldn['’]?t|should not)\b|"
    r"\btu (?:as|n['’]as pas) (?:oublié|mal|supprimé|cassé|raté|changé|inversé)"
)
_STILL = _rx(
    r"(?:\bstill (?:not|broken|failing|fails?|doesn['’]?t|isn['’]?t|wrong|shows|showing|has|returns|says|uses|"
    r"happening|happens|"
    r"the same|getting|get)\b|"
    r"\bnot quite (?:right|there|it)\b|\b(?:doesn['’]?t|does not|didn['’]?t|did not) (?:seem to )?work\b|"
    r"\btoujours pas\b|\bne (?:marche|fonctionne) (?:toujours )?pas\b|\bmarche pas\b)"
)
_MEANT = _rx(
    r"(?:i|what i) (?:meant|mean|said|asked for|wanted|was asking|was referring|was talking)\b|i(?:['’]m|"
    r" am) (?:talking|asking|referring)\b|"
    r"je (?:voulais|ne voulais|parle|parlais|n['’]ai pas (?:dit|demandé))\b|il s['’]agi[ts]?t? plut[oô]t\b|"
    r"pour être plus précis\b|ce n['’]est pas\b|"
    r"not (?:a|an|the|as|in|on|this|that|just|there|what)\b[^.?!]{1,80}[,;] ?(?:but|just|only|it['’]s)\b|"
    r"(?:this|that|it|these|those) (?:should not|shouldn['’]?t|was not supposed|wasn['’]?t supposed|"
    r"were not supposed)\b|"
    r"(?:it|this|that)['’]s (?:referring|talking|meant|supposed|about)\b|let['’]?s not (?:jump|leave|assume|guess|"
    r"rush|forget|overcomplicate|get ahead|conflate)\b"
)
_NOT_SO_FAST = _rx(r"\blet['’]?s not (?:jump|leave|assume|guess|rush|forget|overcomplicate|get ahead|conflate)\b")
_IS_FINE = _rx(
    r"\bthe (?:\w+ ){1,2}(?:is|was|are) (?:right|fine|correct|intended|intentional|deliberate|expected|ok)\b"
)
_EVIDENCE = _rx(
    r"\bi(?:['’]ve| have)? (?:just |already )?(?:checked|verified|confirmed|observed|was able to|tested)\b|"
    r"\bdocs (?:say|mention|state)\b|"
    r"\b(?:has|have|['’]s) (?:already |always )?been \w+(?: \w+)? since\b|\bwas already\b|\bje viens de (?:vérifier|"
    r"tester)\b"
)
_DENIAL = _rx(r"(?:no|nope|nah|non)\b\s*[,.!:;—-]")
_FIX_OF_FACT = _rx(r"\b(?:not the|it['’]s|that['’]s|its|the \w+ is|c['’]est)\b")
_OBJECTION = _rx(r"(?:but|mais|except|however)\b[, ]")

_DOUBT = _rx(
    r"\b(?:i['’]?m (?:just )?(?:wondering|thinking|not (?:sure|sold|convinced))|keep in mind|i (?:guess|wonder)|"
    r"need to accept|not sure)\b"
)

_TRIVIAL_LETS = (
    "see|look|check|have a|take a|start|begin|continue|commit|push|do (?:it|this|that)\\b|go\\b(?! with)|go ahead|"
    "summar|double|debug|pause|"
    "give|try|work|proceed|run|wait|think|discuss|talk|review|investigate|get|verify|recap|move on|say|deal|generate|test"
)
_DECIDED = _rx(
    rf"let['’]?s (?:just |also |not |instead |only )?(?!{_TRIVIAL_LETS})\w+|"
    r"(?:i|we)(?:['’]ve| have)? (?:decided|agreed|settled|chose|opted)\b|(?:we|i)(?:['’]ll| will) (?:go with|stick|"
    r"keep|use|drop|skip)\b|"
    r"(?:go|stick|stay) with\b|(?:the )?decision(?: is)?:|i (?:think )?we should(?:n['’]?t| not)?\b|"
    r"we should(?:n['’]?t| not)?\b|"
    r"(?:this|that|it|the [\w`./-]+|[\w`./-]+) (?:should|must) (?:only |just |always |stay |remain |be |not )|"
    r"(?:on|nous) (?:allons|part|partons|garde|gardons|prend|prenons|utilise|retient|choisit)\b|je (?:veux|voudrais|"
    r"choisis|retiens|souhaite)\b(?! (?:bien que|juste|savoir|voir|faire|que tu)\b)|"
    r"(?:il faut(?:drait)?|gardons|utilisons|prenons|plutôt)\b|(?:use|keep|drop|rename|replace|"
    r"remove) [^.?!]{2,100}\b(?:instead|rather than|not)\b|"
    r"(?:i )?(?:like|prefer|choose|pick) (?:the )?option\b"
)
_REQUIRES = _rx(
    r"(?:i|we) (?:do |also |just |really )*want (?:the|this|that|it|our|these|those|to (?:have|keep|use|send|show|"
    r"store|separate|be able|support|allow))\b|"
    r"(?:if [^,.]{3,60},? )?(?:this|that|it|they|these|the [\w`./-]+|[\w`./-]+|`[^`]+`) (?:should|must) (?:only |"
    r"just |also |always |stay |remain |be |not |send |show |use |return |have |print |fail |contain )|"
    r"(?:le|la|les|l['’]) ?\S+ (?:doit|doivent|devrait)\b"
)
_POINTS_BACK = _rx(
    r"\b(?:it(?!['’])|them|(?:this|that) (?:change|one)|these changes)\b|"
    r"\b(?:this|that)\b(?= (?:in|to|for|as|is|on|then|should|instead)\b|[.,!]|$)"
)
_FIRST_PERSON = _rx(r"(?:i|we|je|on|nous)\b")
_HALT = _rx(r"(?:let['’]?s not|stop|hold on|pause|don['’]?t|do not|never ?mind|forget|arrête|non)\b")
_DECIDED_AT_LAST = _rx(rf"\blet['’]?s (?:just |also |not )?(?!{_TRIVIAL_LETS})\w+")
_DIRECTS = _rx(
    r"(?:break|split|use|move|put|keep|make|rename|extract|replace|remove|separate|merge|add|call|name|store|handle|"
    r"utilise|garde|mets|sépare|renomme|remplace|supprime|ajoute)\b(?: \S+){4,}"
)
_ALTERNATIVE = _rx(
    r"(?:can|could) (?:we|you) (?:also |just |please )*(?:use|rename|move|remove|keep|make|switch|replace|drop|"
    r"create|do|have|list)\b"
    r".{3,200}\b(?:instead|rather than|explicitly|automatically)\b"
)
_CLAUSE = _rx(r"(?:we|it|yes|no|the|i|they|this|that|je|on|c['’]est|il|elle|le|la|les|un|une)\b")
_DEMANDS_INSIDE = _rx(
    r"(?:\b(?:mais|et)|,) (?:le|la|les|l['’]) ?\S+ (?:ne )?(?:doit|doivent)\b|(?:\b(?:but|and)|,) the \S+ (?:should|"
    r"must) (?!work\b)"
)
_STATES = _rx(
    r"(?:the|le|la|les|l['’]) ?[^.?!]{2,60}\b(?:is|are|est|sont|sera|should be|shall be) (?!not\b|there\b|"
    r"still\b)\S"
)
_ENSURE = _rx(r"(?:ensure|make sure) (?:that )?\S+ \S+ \S+")
_ANSWER = _rx(
    r"(?:put|use|keep|make|call|name|move|skip|drop|leave|remove|simplify|only|just|don['’]?t|do not|without|rather|"
    r"garde|utilise|mets|supprime|laisse|uniquement|seulement)\b|.{0,80}\b(?:utilise|use) \S+$"
)
_LATER = _rx(
    r"\b(?:as a (?:separate (?:feature|pr|issue|task|ticket|change|step|story)|follow-?up)|in a (?:separate|"
    r"follow-?up|later|different|new) (?:pr|branch|commit|issue|task|feature)|for (?:a )?later|"
    r"(?:do|handle|fix|tackle|address|revisit) (?:it|this|that|them|these)? ?later|next (?:week|sprint|release)|"
    r"out of scope|plus tard|dans un second temps|hors (?:scope|périmètre))\b"
)
_ABOUT_STATE = _rx(
    r"(?:my|our) (?:[\w'-]+ ){1,4}(?:is|are|was|lives?|runs?)\b|(?:the|le|la) (?:[\w'-]+ ){1,3}(?:lives? (?:in|on|at)|"
    r"runs? on|is (?:at|on|in|called|named))\b|"
    r"we (?:did|moved|migrated|switched|renamed|replaced|removed|upgraded|recently|already|made a)\b"
)
_FILLER = _rx(r"(?:it|this|that|them|those|these|all|so|yes|please|now|too|also|then|first|again|ok|okay)\b")


def person_kind(statement: Statement, setting: Setting) -> ClaimKind | None:
    """What a person does with this sentence, or None where they merely talk, ask or hand out a task."""
    core = statement.core
    words = core.split()
    if not 3 <= len(words) <= 70 or statement.marker == "[x]" or core.endswith(","):
        return ClaimKind.DECISION if len(words) == 2 and rules_requests.orders_a_file(core) else None
    if statement.block == "heading" or is_cut_short(statement):
        return None
    if setting.answered_before and _steered(statement):
        return ClaimKind.DECISION
    if _sets_a_rule(core, statement, setting):
        return ClaimKind.RULE
    if setting.answered_before and _corrects(core, statement, setting):
        return ClaimKind.CORRECTION
    outright = rules_explicit.said_outright(statement, opening=not setting.answered_before, message_words=setting.words)
    if outright is not None and outright is not ClaimKind.FACT:
        return outright
    if statement.is_question:
        proposes = setting.answered_before and _ALTERNATIVE.match(core)
        asks = proposes or rules_requests.requests(statement, opening=not setting.answered_before)
        return ClaimKind.DECISION if asks else None
    if _PREFERENCE.search(core) and not _OWN_FAULT.search(core):
        return ClaimKind.PREFERENCE if not setting.asked or _GENERAL.search(core) else ClaimKind.DECISION
    if _LATER.search(core) and setting.answered_before:
        return ClaimKind.OPEN_LOOP
    if _decides(statement, setting) or _says_how(statement, setting):
        return ClaimKind.DECISION
    return ClaimKind.FACT if outright is ClaimKind.FACT or _ABOUT_STATE.match(core) else None


def objects(statement: Statement, setting: Setting) -> bool:
    """Whether a person's sentence takes issue with what the agent just said or did."""
    core, plain = statement.core, statement.plain
    if _OWN_FAULT.search(plain):
        return False
    return bool(
        _says_not_so(statement)
        or _judges_conduct(statement)
        or _says_still(statement)
        or _MEANT.match(core)
        or _DENIAL.match(plain)
        or (not setting.asked and _OBJECTION.match(plain))
    )


def halts(statement: Statement) -> bool:
    """Whether a person's sentence stops what the agent set out to do, right or wrong."""
    return bool(_HALT.match(statement.core))


def _says_not_so(statement: Statement) -> bool:
    return not _JUDGING.isdisjoint(statement.words) and bool(_NOT_SO.search(statement.core))


def _judges_conduct(statement: Statement) -> bool:
    return not _ADDRESSING.isdisjoint(statement.words) and bool(_CONDUCT.search(statement.core))


def _says_still(statement: Statement) -> bool:
    return not _FAILING.isdisjoint(statement.words) and bool(_STILL.search(statement.core))


def _has_seen(statement: Statement) -> bool:
    return not _KNOWING.isdisjoint(statement.words) and bool(_EVIDENCE.search(statement.core))


def _sets_a_rule(core: str, statement: Statement, setting: Setting) -> bool:
    if statement.is_question:
        return False
    if _STANDING.match(core) or _STANDING_INSIDE.search(core) or _REMEMBER.match(core) or _KEEP.match(core):
        return True
    if _HABIT.match(core) or (_UNWANTED.match(core) and not setting.asked):
        return True
    return bool(_PROHIBITION.match(core) and _GENERAL.search(core) and not setting.asked and not _DENIAL.match(core))


def _corrects(core: str, statement: Statement, setting: Setting) -> bool:
    if _NOT_SO_FAST.search(core):
        return True
    if _OWN_FAULT.search(statement.plain):
        return False
    if _judges_conduct(statement) and (not statement.is_question or "up" in core):
        return True
    if _DENIAL.match(statement.plain):
        return (
            not statement.introduces
            and not statement.is_question
            and (not setting.asked or bool(_FIX_OF_FACT.search(core)))
        )
    if statement.is_question:
        return bool(_OBJECTION.match(statement.plain) and _has_seen(statement))
    if _DOUBT.search(core) or statement.marker:
        return False
    if _says_not_so(statement) or _says_still(statement) or _MEANT.match(core) or _IS_FINE.search(core):
        return True
    if len(core.split()) < TELLING_WORDS and not names_something(core):
        return False
    return bool(_has_seen(statement) or (not setting.asked and _OBJECTION.match(statement.plain)))


def _steered(statement: Statement) -> bool:
    """Whether a question or an explanation steers, in a session that has begun; a rule or correction is told otherwise."""
    if statement.is_question:
        return rules_steering.steers(statement)
    return rules_steering.explains_a_way(statement) or rules_wording.picks_several(statement)


def _says_how(statement: Statement, setting: Setting) -> bool:
    return setting.answered_before and rules_steering.states_how(statement, asked=setting.asked)


def _decides(statement: Statement, setting: Setting) -> bool:
    core = statement.core
    if statement.introduces and not names_something(core):
        return False
    if _is_empty(core) or _DOUBT.search(core) or _points_back(core):
        return False
    if _ENSURE.match(core) and names_something(core):
        return True
    if _REQUIRES.match(core) and (setting.answered_before or _names_a_demand(statement)):
        return True
    if rules_requests.requests(statement, opening=not setting.answered_before):
        return True
    if not setting.answered_before:
        return False
    if _DEMANDS_INSIDE.search(core):
        return True
    if _DECIDED.match(core) or _DECIDED_AT_LAST.search(core):
        return True
    if setting.asked and statement.start == 0 and _states(core):
        return True
    if setting.feedback and _DIRECTS.match(core):
        return True
    return setting.asked and (bool(_ANSWER.match(core)) or _answers_by_number(statement))


def _states(core: str) -> bool:
    """Whether it is a short plain statement about a named thing, which answers what the agent asked."""
    return len(core.split()) <= SHORT_ANSWER and bool(_STATES.match(core)) and names_something(core)


def _names_a_demand(statement: Statement) -> bool:
    """Whether the task itself demands something of a named thing; "I want to …" at its beginning is only the task."""
    if statement.start == 0 and _FIRST_PERSON.match(statement.core):
        return False
    return names_something(statement.core) or len(statement.core.split()) >= TELLING_WORDS


def _answers_by_number(statement: Statement) -> bool:
    """Whether it is an item of a person's numbered answers that says more than yes or no."""
    numbered = len(statement.marker) == 1 and statement.marker in "abcdefgh123456789"
    return numbered and len(statement.core.split()) >= TELLING_WORDS and bool(_CLAUSE.match(statement.core))


def _points_back(core: str) -> bool:
    """Whether the main clause speaks of "it" or "this" and names nothing."""
    return bool(_POINTS_BACK.search(core.split(",")[0])) and not names_something(core)


def _is_empty(core: str) -> bool:
    """Whether what is decided stands nowhere in the sentence: "let's do it", "use that"."""
    words = re.findall(r"[\w`./@-]+", core.lower())
    return sum(len(word) > 3 and not _FILLER.match(word) for word in words) < 2 and not names_something(core)
