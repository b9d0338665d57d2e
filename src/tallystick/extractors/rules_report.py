"""What the agent's messages report: outcomes, facts that cost effort to find, choices made, loops left open.

The message that stands last before a person speaks (or the session ends) is read for everything. What is said on the way
there is narration, and is read for two things only: a finding about a named thing, and a commitment that says how.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tallystick.extractors.rules_statements import Statement, without_lead
from tallystick.language.anchors import anchors
from tallystick.model.claim import About, ClaimKind


class Report(NamedTuple):
    """One sentence of a message and what it reports."""

    kind: ClaimKind
    statement: Statement
    topic: str = ""
    """For outcomes of which only the last of the session counts: ``tests``, ``lint``, ``push`` …; else empty."""


def _rx(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_DONE_VERB = (
    "added|fixed|updated|removed|replaced|created|committed|pushed|merged|rebased|moved|renamed|implemented|changed|increased|"
    "decreased|reduced|logged|closed|filed|opened|released|published|deployed|migrated|installed|reverted|enabled|disabled|"
    "configured|refactored|extracted|split|simplified|cleaned(?: up)?|resolved|addressed|switched|bumped|upgraded|downgraded|dropped|"
    "documented|wrote|attached|uploaded|restored|deleted|consolidated|converted|introduced|wired|rewrote|rewritten|amended|"
    "cherry-picked|squashed|tagged|archived|cancelled|canceled|corrected|unified|hardened|set up|marked|linked|replied"
)
_DONE_VERB_FR = (
    "ajouté|corrigé|créé|supprimé|poussé|fusionné|implémenté|enregistré|appliqué|activé|désactivé|configuré|déployé|terminé|"
    "complété|finalisé|mis(?:es?)? à jour|remplacé|renommé|déplacé|généré|clôturé|commité|publié|mis en place"
)
_OUTCOME_HEAD = _rx(
    rf"(?:(?:i['’]ve|i have|we['’]ve|we have|i|we|all|both|successfully|now) (?:also |now |successfully |just )?)?(?:{_DONE_VERB})\b(?! (?:by|in|at)\b)|"
    rf"(?:j['’]ai |tout est |c['’]est )?(?:{_DONE_VERB_FR})(?:e?s?)\b|(?:[^\s.,;:]+ ){{1,4}}(?:{_DONE_VERB_FR})e?s?\b"
)
_OUTCOME_STATE = _rx(
    rf"\b(?:has|have) (?:now |all |also )?been (?:now |all |also |successfully |fully )?(?:{_DONE_VERB})\b|"
    rf"\b(?:is|are) (?:now (?:all |fully )?(?:{_DONE_VERB})|(?:now |all |fully )?(?:complete|completed|done|ready|in place|live|fixed|merged|resolved|pushed|addressed|deployed))\b|"
    rf"\b(?:a été|ont été) (?:bien )?(?:{_DONE_VERB_FR})(?:e?s?)\b|"
    r"\bthe fix works\b|\bnow (?:works?|passes|creates?|uses?|sends?|returns?|includes?|shows?|handles?|sets?|defaults?|fires?|lives?|compiles|runs?)\b"
)
_AFTER_DONE = _rx(r"(?:all )?(?:done|fixed|fait|c['’]est fait|complete)\s*[!.✅]*$")
_PROGRESS = _rx(
    r"\b(?:étape|step|phase|task|tâche|batch|part|section|epic|story|group)s? ?#?[\d.]+|\b(?:setup|discovery|scan|audit|analyse|analysis|review|workflow|revue)\b"
)
_TOPICS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "tests",
        _rx(
            r"\b(?:tests?|suite|ci|specs?)\b[^.;]{0,60}\b(?:pass(?:es|ed|ing)?|green|succeed(?:ed)?|ok)\b|\ball (?:green|passing)\b|"
            r"\btests? (?:passent|ok)\b"
        ),
    ),
    ("lint", _rx(r"\b(?:lint(?:er|ing)?|fmt|gofmt|format(?:ting)?|typecheck|clippy|vet)\b[^.;]{0,50}\b(?:clean|pass(?:es|ed|ing)?|satisfied|fixed|resolved|0 issues|ok)\b")),
    ("build", _rx(r"\b(?:build|compilation|binary)\b[^.;]{0,40}\b(?:succeed\w*|success\w*|pass(?:es|ed)?|complete)\b|\beverything compiles\b")),
    ("pr", _rx(r"\b(?:pr|pull request) (?:#?\d+ )?(?:is |was |has been )?(?:created|opened|updated|merged)\b|\b(?:created|opened|updated|merged) (?:the |a )?(?:pr|pull request)\b|/pull/\d+")),
    ("push", _rx(r"\bpushed\b|\bpoussée?s?\b")),
    ("commit", _rx(r"\bcommitted\b|\bcommit(?: was)? created\b|\bcommit\b\W{0,4}[0-9a-f]{7,40}\b|\bcommité\b")),
    ("rebase", _rx(r"\brebased\b|\bmerged\b|\bmerge (?:is )?complete\b")),
)
_NOT_DONE = _rx(
    r"\b(?:not|\w+n['’]t|never|no longer able|failed|failing|fails|unable|cannot|except|would|should|could|might|may|will|\w+['’]ll|if|once|when|"
    r"until|before|want me|let me|need to|needs to|going to|ready to|probably|likely|already|where|whether|pas|sera|seront|devrait|déjà)\b"
)
_UNSURE = _rx(
    r"\b(?:would|could|might|may|probably|likely|perhaps|maybe|i (?:think|assume|assumed|guess|believe)|should|if|seems?|appears?|possibly|most likely|"
    r"peut-être|probablement|semble|pourrait|would be)\b"
)
_NARRATION = _rx(
    r"(?:let me|let['’]?s|now let|now i|i['’]ll|i will|i['’]m going|i am going|i need|i['’]d|next,|first,|looking (?:at|back)|i (?:can )?see|i understand|i found \d|"
    r"here['’]?s|here is|here are|as you can|for example|e\.g|note that i|feel free|"
    r"try |run |you (?:can|could|may)|je vais|voici|tu peux|dis[- ‑]moi|souhaites|veux|analyse\b|if you|si tu|to (?:test|verify|use|run)\b|puis |then |when |before|after )"
)
_DANGLING = _rx(
    r"(?:it|this|that|these|those|they|both|he|she|its|their|there|the (?:same|former|latter|other|first|second|third|above|following|only)\b|such|"
    r"neither|either|which|so|then|also|instead|otherwise|however|additionally|plus|cela|ça|il|elle|ils|elles|ceci|celui|ces?)\b"
)
_EMPTY_OBJECT = _rx(r"\b(?:updated|fixed|added|changed|removed|replaced|moved) (?:it|this|that|them|these|those|all|both|everything)\b")
_CAUSE = _rx(
    r"\b(?:root cause|the (?:real |actual |underlying |core |main )?(?:issue|problem|bug|cause|culprit|catch|error|failure)"
    r"(?: here| in \S+)?(?: is| was|:| —| -|['’]s)(?! not )|turns out|(?:fails?|failed|breaks?|broke|happens?|happened|crash(?:es|ed)?) because|"
    r"(?:is|was|are|were) caused by|la cause|le problème (?:est|vient|était)|vient de)\b"
)
_HOLDS = _rx(
    r"\b(?:does(?:n['’]?t| not)|do(?:n['’]?t| not)|never|only|always|cannot|can['’]?t|no longer|requires?|defaults? to|lives? (?:in|at|under)|"
    r"(?:is|are) (?:stored|located|kept|configured|limited|hard-?coded|ignored|gitignored|pinned|protected|required|mandatory|"
    r"not supported|unsupported) |(?:listens?|runs?) on|expects?|must (?:be|match|have)|has no|have no|"
    r"n['’]existe pas|ne \w+ pas|est absent|nécessite|exige|se trouve)\b"
)
_FINDING = _rx(
    r"\b(?:only (?:supports?|works?|accepts?|reads?|takes?|allows?)|does(?:n['’]?t| not) (?:support|expose|respect|read|allow|provide|have|handle|accept|exist|include|set|recogni[sz]e)|"
    r"do(?:n['’]?t| not) (?:support|expose|respect|read|allow|provide|have|exist)|requires?|is(?:n['’]?t| not) supported|has no|(?:sets?|baked|set) [^.]{0,40} at (?:compile|build|run) ?time|"
    r"files? use|uses? plain|must be|should be `[^`]+` instead of|the property should be|ne supporte pas|n['’]expose pas|nécessite)\b"
)
_NAMED_SUBJECT = re.compile(r"(?:The |A |An |In |For |On |Le |La |Les |L['’])?(?:\w+ ){0,2}?(?:`|[A-Z]\w*[A-Z-]\w*|[A-Z][a-z]+ [A-Z]?|go-|git\b|\w+[_/.]\w)")
_VALUE_FACT = _rx(
    r"(?P<subject>[\w`./@-]+(?: [\w`./@-]+){0,5}) (?:(?P<port>(?:listens?|runs?|is) on port)|(?P<default>defaults? to)|(?P<place>(?:lives?|(?:is|are) (?:stored|located|kept|defined)) (?:in|at|under))|"
    r"(?P<version>(?:is )?(?:at|on|pinned to) version)) (?P<value>`[^`]+`|[\w./:@~-]+)"
)
_INSTEAD = _rx(r"\b(?:instead of|rather than|in favou?r of|plutôt que|au lieu de)\b| instead\b")
_CHOSE_FIRST_PERSON = _rx(
    r"\b(?:i|we|i['’]ve|we['’]ve) (?:\w+ )?(?:went with|chose|decided|opted|kept|settled on|deliberately|intentionally|left)\b|^(?:kept|keeping|retained|chose|left)\b|"
    r"^(?:decision|choice|chosen|décision|choix)\b[^:]{0,30}:|\bj['’]ai (?:choisi|retenu|gardé|opté|conservé)\b|\b(?:deliberately|intentionally|by design|on purpose)\b|"
    r"\b(?:is|are) intentional\b"
)
_WITH_REASON = _rx(r"\b(?:since|because|so that|to (?:avoid|keep|prevent|eliminate|ensure|match|make|allow|preserve)|for consistency|afin de|pour éviter|car)\b")
_COMMITS = _rx(
    r"(?:i['’]ll|i will|i['’]m going to|let me|we['’]ll|je vais) (?:also |now |just |instead |then )?"
    r"(?:use|update|switch|add|make|change|move|keep|replace|remove|extract|split|rename|store|fix|create|write|introduce|refactor|implement|utiliser|ajouter|garder|remplacer|mettre)\b"
)
_HOW = _rx(
    r"\b(?:using|by (?:\w+ing)|via|instead|rather than|to (?:silence|match|make|avoid|keep|prevent|ensure|allow)|so (?:that|it|the)|in favou?r of|without|en utilisant|plutôt)\b"
)
_RECOMMENDS = _rx(
    r"\b(?:i(?:['’]d| would)? (?:strongly )?(?:recommend|go with)|my recommendation|i['’]d only|je (?:te |vous )?(?:recommande|conseille)|ma recommandation|recommandation\s?:)"
)
_OPEN_HEADING = _rx(
    r"\b(?:remaining|not (?:yet )?(?:done|implemented|addressed|fixed)|deferred|out of scope|still (?:open|to do|needs?|missing)|manual steps?|required (?:setup|manual|steps)|"
    r"known (?:issues?|limitations?)|left to do|todo|to[- ]do|follow[- ]?ups?(?! (?:commit|pr)\b)|open (?:questions?|items?|issues?)|future work|unresolved|pending|"
    r"reste à faire|points? (?:bloquants?|ouverts?)|à faire|blockers?|unaddressed|il reste)\b"
)
_OPEN = _rx(
    r"\b(?:still (?:fail(?:s|ing)?|broken|needs?|missing|open|pending|to do|unresolved|has to|have to)|not yet|yet to be|remains? (?:to|open|unresolved|unfixed)|remaining (?:work|gap|concern|issue|item|task|failure)s?|"
    r"follow-?up (?:task|pr|issue|work)|as a follow-?up|left (?:undone|for later)|"
    r"(?:wasn['’]?t|weren['’]?t|was not|were not|haven['’]?t|hasn['’]?t|have not|has not|couldn['’]?t|could not) (?:been |be |yet )?(?:able|done|implemented|addressed|fixed|tested|verified|pushed|committed|run|updated|merged|deployed|find)|"
    r"you['’]ll (?:still )?(?:need|have) to|you (?:still )?(?:need|have) to|you (?:may|might) want to|pre-?existing (?:issue|failure|bug|lint|test)|needs? (?:a )?follow|"
    r"worth (?:filing|adding|fixing|following|opening|noting as)|before (?:committing|merging|releasing)|(?:so )?i can['’]?t \w+|manually|"
    r"blocked (?:by|on)|bloqué|reste à|il reste|non (?:poussé|résolu|traité)e?s?|pas encore|n['’]ai (?:donc )?pas pu|introuvable|à corriger avant)\b"
)
_NOTHING_OPEN = _rx(
    r"\b(?:no longer|won['’]?t|nothing|no (?:remaining|follow|further|open)|if you|menu|commande|already|your terminal|/help|mis à jour|effectué|ta réponse|tu peux taper)\b"
)
_OFFER_ONLY = _rx(
    r"\b(?:anything else|what would you like|what do you (?:want|think)|how can i help|does (?:this|that) (?:look|make|match)|clarify|autre chose|"
    r"menu|select an option|commande|help with|explore|elaborate|explain|look (?:at|into)|read the|walk you|see )"
)
_UNDONE_OFFER = _rx(
    r"(?:want|would you like|do you want|shall|should) (?:me|i|we) (?:to )?|souhait(?:es|ez)[- ‑](?:tu|vous) que je|v(?:eux|oulez)[- ‑](?:tu|vous) que je|tu veux que je|ready to (?:commit|push|merge|create)"
)
_TASTE = 12
"""Words after which an offer's question says enough to stand alone."""


def reports(spoken: list[Statement], answering: bool) -> list[Report]:
    """What a closing message reports, prose before list items. ``answering``: the person had asked a question."""
    found: list[Report] = []
    before: Statement | None = None
    for statement in spoken:
        follows_done = before is not None and before.paragraph == statement.paragraph and bool(_AFTER_DONE.match(before.plain))
        report = _report(statement, answering, follows_done)
        before = statement
        if report is not None:
            found.append(report)
    return sorted(found, key=lambda report: report.statement.block == "list" and report.kind is ClaimKind.OUTCOME)


def on_the_way(spoken: list[Statement]) -> list[Report]:
    """What a message between two tool calls says that outlives the turn: findings, and commitments that say how."""
    found: list[Report] = []
    for statement in spoken:
        plain = statement.plain
        if statement.block != "prose" or statement.is_question or not 6 <= len(plain.split()) <= 45:
            continue
        core = without_lead(plain)
        if _COMMITS.match(core):
            if _HOW.search(core) and anchors(core) and not _UNSURE.search(core):
                found.append(Report(ClaimKind.DECISION, statement))
        elif _FINDING.search(core) and _NAMED_SUBJECT.match(core) and not _UNSURE.search(core) and not is_dangling(plain):
            found.append(Report(ClaimKind.FACT, statement))
    return found


def open_ends(spoken: list[Statement]) -> list[Statement]:
    """The statements that say what was left undone, and the last offer that nobody answered."""
    found = [each for each in spoken if left_open(each)]
    last = next((each for each in reversed(spoken[-3:]) if each.is_question), None)
    if last is not None and is_undone_offer(last) and last not in found:
        found.append(last)
    return found


def is_undone_offer(statement: Statement) -> bool:
    """Whether the agent asks leave to do a named thing."""
    return bool(_UNDONE_OFFER.search(statement.plain)) and not _OFFER_ONLY.search(statement.plain)


def about(plain: str) -> About:
    """Subject, attribute and value of a plain statement of port, default, place or version; empty otherwise."""
    match = _VALUE_FACT.search(plain)
    if match is None:
        return About()
    attribute = next(name for name in ("port", "default", "place", "version") if match.group(name))
    subject = re.sub(r"^(?:the|a|an|that|so|and) ", "", match.group("subject").strip(), flags=re.IGNORECASE)
    return About(subject.strip("` "), "location" if attribute == "place" else attribute, match.group("value").strip("`").rstrip(".,:"))


def is_dangling(plain: str) -> bool:
    """Whether the sentence begins with a word that only the sentence before it explains."""
    return bool(_DANGLING.match(without_lead(plain)))


def topic_of(plain: str) -> str:
    """The kind of outcome of which only the last in a session counts, or empty."""
    return next((name for name, pattern in _TOPICS if pattern.search(plain)), "")


def left_open(statement: Statement) -> bool:
    """Whether the sentence says that something is undone, or stands in a list of such things."""
    if statement.marker == "[ ]":
        return True
    if statement.is_question or statement.marker == "[x]" or _NOTHING_OPEN.search(statement.plain):
        return False
    if _OPEN.search(statement.plain) and len(statement.plain.split()) > 4:
        return True
    return bool(statement.block == "list" and _OPEN_HEADING.search(statement.heading) and len(statement.plain.split()) > 3)


def _report(statement: Statement, answering: bool, follows_done: bool) -> Report | None:
    core = without_lead(statement.plain)
    words = len(core.split())
    if statement.is_question or not 2 <= words <= 60 or left_open(statement):
        return None
    if _RECOMMENDS.search(core) and words > 7 and anchors(core):
        return Report(ClaimKind.DECISION, statement)
    if _NARRATION.match(core):
        return None
    topic = topic_of(core)
    if _is_outcome(core, statement, topic, follows_done):
        if _PROGRESS.search(core) and not topic and words < 25:
            return Report(ClaimKind.OUTCOME, statement, "progress")
        chosen = not topic and words > 6 and (_INSTEAD.search(core) or _WITH_REASON.search(core) or _CHOSE_FIRST_PERSON.search(core))
        return Report(ClaimKind.DECISION if chosen else ClaimKind.OUTCOME, statement, topic)
    if words < 6:
        return None
    if _is_choice(core, statement):
        return Report(ClaimKind.DECISION, statement)
    if _is_fact(core, statement, answering):
        return Report(ClaimKind.FACT, statement)
    return None


def _is_outcome(core: str, statement: Statement, topic: str, follows_done: bool) -> bool:
    if follows_done and not _UNSURE.search(core) and len(core.split()) > 4 and not statement.marker:
        return True
    if _NOT_DONE.search(core) or _EMPTY_OBJECT.search(core):
        return False
    if topic and statement.block == "prose":
        return len(core.split()) < 35
    if _OUTCOME_HEAD.match(core) and (len(core.split()) > 3 or anchors(core)):
        return True
    if statement.block == "list":
        return bool(re.match(r"bug ?fix\b", core, re.IGNORECASE))
    return bool(_OUTCOME_STATE.search(core)) and bool(anchors(core) or len(core.split()) > 4)


def _is_choice(core: str, statement: Statement) -> bool:
    if not anchors(core) or _UNSURE.search(core):
        return False
    if _CHOSE_FIRST_PERSON.search(core):
        return True
    return bool(_INSTEAD.search(core)) and not re.search(r"\bstill\b|\bbut\b|\bnot\b|n['’]t\b", core) and statement.block == "list"


def _is_fact(core: str, statement: Statement, answering: bool) -> bool:
    if _UNSURE.search(core) or not anchors(core):
        return False
    if about(core) != About():
        return True
    if statement.block == "list":
        return False
    if _CAUSE.search(core):
        return True
    return bool((_HOLDS if answering else _FINDING).search(core) and _NAMED_SUBJECT.match(core))
