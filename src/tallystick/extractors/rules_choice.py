"""An option that a person picked, or a proposal they said yes to, is a decision whose words are the agent's.

The quote is the sentence that says what was agreed: the option picked, else the recommendation, else the question that
was answered. Assents to chores ("Shall I commit?", "Continue?") decide nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from tallystick.extractors.rules_statements import Statement, is_cut_short, names_something, without_lead

MAX_PICKED = 3
MAX_OPTIONS = 20
MAX_ANSWERS = 6
LONG_SENTENCE = 15
"""A recommendation of more words needs to name nothing."""


class Offer(NamedTuple):
    """What the agent's last message put to the person; empty where it put nothing."""

    options: tuple[Statement, ...] = ()
    recommendation: Statement | None = None
    question: Statement | None = None
    points: tuple[Statement, ...] = ()
    """The listed points of a proposal that the person was asked to confirm as a whole."""


def _rx(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_RECOMMENDS = _rx(
    r"\b(?:i(?:['’]d| would)? (?:strongly )?(?:recommend|suggest|propose|go with|lean towards?|vote for)|"
    r"my (?:recommendation|suggestion|vote)|"
    r"(?:the )?(?:best|simplest|cleanest|safest|better|right) (?:fix|approach|option|solution|way|"
    r"choice)(?: here)? (?:is|would be)|"
    r"the fix(?: is|:)|we could\b(?! also)|"
    r"je (?:te |vous )?(?:recommande|suggère|conseille)|ma recommandation|recommandation\s?:)"
)
_REASON = frozenset("because since so as instead over rather car puisque".split())
_RECOMMENDING = frozenset(
    "recommend suggest propose go lean leans vote recommendation suggestion best simplest cleanest safest better right "
    "recommande suggère conseille recommandation fix could".split()
)
_ASKS_LEAVE = _rx(
    r"(?:want|would you like|do you want|shall|should|ok(?:ay)? for|happy for) (?:me|i|us|we)\b(?: to)? |(?:does|is|"
    r"are) (?:this|that|it|option)\b|"
    r"(?:souhaites|veux|voulez|souhaitez)[- ‑]?(?:tu|vous) que je |tu veux que je |je (?:peux|lance|continue)|"
    r"(?:tu |vous )?(?:confirmes?|confirmez|valides?|validez)\b|sound good|agree"
)
_ASKS_ASSENT = _rx(
    r"(?:tu |vous )?(?:confirmes?|confirmez|valides?|validez)\b|\b(?:does|do) (?:this|that|these|it) (?:look|match|"
    r"sound|work|reflect|make)\b|"
    r"\b(?:is|are) (?:this|that|these) (?:right|ok|okay|correct|good)\b|\bok pour toi\b|\bça te (?:va|convient)\b"
)
_CHORE = _rx(
    r"(?:me|i|us|we)(?: to)? (?:also |now |then |just |go ahead and |help |quickly )?(?:commit|push|run|proceed|"
    r"continue|start|open|show|explain|elaborate|"
    r"look|check|investigate|dig|verify|test|try|see|read|review|draft|write|file|go|walk|summari[sz]e|explore|help|"
    r"re-?run|rebuild|restart|do|"
    r"apply|make|implement|create (?:a|the|an) (?:pr|pull|commit|branch|issue|test)|address|fix (?:it|this|that|"
    r"these|them|those|all)|close|"
    r"update (?:it|this|that)|amend|rebase|merge|reply|respond|trace|debug|find|search|examine|tackle|get)\b|"
    r"que je (?:continue|lance|relance|passe|commence|corrige|traite|poursuive|génère|charge|fasse|pousse|commite|"
    r"crée|montre|prépare|détaille|t)"
)
_MENU = _rx(
    r"\b(?:next|what would you like|what do you want (?:me )?to (?:do|work)|what should (?:i|we) (?:focus|work|"
    r"tackle|do)|how would you like to proceed|"
    r"continuer|continue with|que veux[- ‑]tu (?:faire|que)|tu veux que je (?:continue|fasse)|suite|ensuite|"
    r"prochaine?s?|menu|select an option|"
    r"commande|options? ?:? ?$|étape|souhaites-tu que je|je peux (?:aussi|maintenant|le faire)|issues?|constats)\b"
)
_HOW_TO_GO_ON = _rx(
    r"\b(?:what (?:should|would you like|do you want) (?:me|i) (?:to )?do\b(?! next)|how (?:should|shall|would you like|"
    r"do you want) (?:me|i|us|we) (?:to )?(?:handle|proceed with|treat|deal with|address)|"
    r"que (?:veux|souhaites)[- ‑]?tu que je fasse|que dois[- ]je faire|comment (?:veux|souhaites)[- ‑]?tu (?:que je )?"
    r"(?:traiter?|gérer?))\b"
)
"""Asks in which way to deal with what was found: unlike a menu of next steps, its items exclude each other."""
_BARE_WORK = _rx(
    r"^(?:\(?[A-Ha-h\d][.)] )?(?:fix|corriger|continue[rz]?|show|détails?|details?|explain|expliquer|run|lancer|commit|push|"
    r"proceed|next|stop|exit|skip|deep|voir|afficher|relancer|other|autre)\b"
)
_OPTION_TALK = _rx(r"\b(?:options?|approach(?:es)?|alternatives?|prefer|préfères?|choices?|choix|either|which)\b")
_ASSENT = _rx(
    r"(?:yes|yep|yeah|yea|yup|ok|okay|sure|go ahead|do (?:it|that|this|so)|sounds good|agreed?|let['’]?s (?:do|go|"
    r"give)|please do|approved?|lgtm|perfect|"
    r"great|go for it|good|makes sense|i agree|i think (?:that['’]s|that is) (?:the )?right|oui|d['’]accord|"
    r"c['’]est (?:ok|bon|parfait)|parfait|vas-?y|"
    r"je (?:valide|confirme)|ça me va|tes (?:suggestions|propositions)|ces (?:propositions?|propostions?)|validé?|go|"
    r"👍|c|y)(?![\w'’])"
)
_RESERVATION = _rx(r"\b(?:but|mais|except|however|instead|although|first|wait|not|don['’]?t|pas|plutôt)\b")
_CHOICE_HEADING = _rx(r"\b(?:choices?|choix|decisions?|décisions?|recommend\w*|recommand\w*|selected|retenue?s?)\b")
_ANSWER_ME = _rx(r"(?:let me know|tell me|please (?:confirm|choose|pick)|dis[- ‑]moi|réponds|choisis|confirme)\b")
_PICK = _rx(
    r"(?:i (?:like|prefer|choose|want|pick)|let['’]?s (?:go with|do|use|take)|go with|use|je (?:prends|choisis|"
    r"préfère)|implement|do)?\s*(?:the )?"
    r"(?:options?|choix|#)?\s*(?P<labels>(?:[A-Ha-h]|\d{1,2})(?:\)|\.|\b)(?:\s*(?:,|\+|and|et|&)\s*(?:[A-Ha-h]|"
    r"\d{1,2})\b)*)\)?(?=$|[\s.,!:;])"
)
_NO_OPTION = _rx(r"(?:ou|or|continue[r]?|suggè?re|propose|show|explain|skip|exit|cancel|stop|autre|other|none)\b")
_LABEL = re.compile(r"[A-Ha-h]|\d{1,2}")
_OPTION_START = _rx(r"(?:option|choix|choice|alternative)\s+([A-Ha-h]|\d{1,2})\b")
_ANSWERS = re.compile(r"\b([1-9])\s?[).:=-]?\s?([A-Da-d])(?![\w'’])")
"""Answers to several questions at once ("1) B 2) A")."""
_EITHER = _rx(r"\b(?:or|ou)\b")
_OPTION_MARKER = re.compile(r"^\(?[A-Ha-h\d][.)]\s+(?=\S)")
_FRAME = _rx(
    r"^.{0,60}?(?:want me to|would you like me to|do you want me to|shall i|should i|should we|shall we|"
    r"souhaites[- ‑]tu que je|"
    r"veux[- ‑]tu que je|tu veux que je)\s+(?:also |go ahead and |just )?"
)


def asks_for_answer(statement: Statement) -> bool:
    """Whether the sentence asks for an answer without a question mark ("Let me know which …")."""
    return bool(_ANSWER_ME.match(statement.core))


def offer_of(spoken: Sequence[Statement]) -> Offer:
    """What a message of the agent, given as its statements, asks the person to agree to or choose from."""
    questions = [each for each in spoken[-12:] if each.is_question and each.block != "heading"]
    question = questions[-1] if questions else None
    recommendation = next((each for each in reversed(spoken) if _recommends(each)), None)
    points: tuple[Statement, ...] = ()
    if any(_ASKS_ASSENT.search(each.plain) for each in questions):
        points = tuple(each for each in spoken if _says_a_choice(each))[:MAX_PICKED]
    return Offer(_alternatives(spoken), recommendation, question, points)


def agreed(offer: Offer, reply: str) -> tuple[Statement, ...]:
    """The statements of ``offer`` that ``reply``, the first sentence of the person's answer, makes decisions."""
    core = reply.strip().rstrip("!. ")
    picked = _picked(offer, core)
    if picked:
        return picked
    if len(core.split()) > 25 or not _ASSENT.match(core) or _RESERVATION.search(core):
        return ()
    if offer.question is not None and _ASKS_LEAVE.search(offer.question.plain) and _has_substance(offer.question.plain):
        return (offer.question,)
    if offer.recommendation is not None and _is_telling(offer.recommendation):
        return (offer.recommendation,)
    return offer.points


def answered(offer: Offer, reply: Sequence[Statement]) -> tuple[Statement, ...]:
    """The options that a person's numbered answers pick, each under the question of its number ("1) B 2) A")."""
    if not offer.options:
        return ()
    whole = " ".join(
        f"{each.marker}) {each.plain}" if each.marker.isdigit() else each.plain for each in reply[:MAX_ANSWERS]
    )
    answers = _ANSWERS.findall(whole)[:MAX_ANSWERS]
    if len(answers) < 2:
        return ()
    picked = [_answer(offer.options, number, label.lower()) for number, label in answers]
    return tuple(each for each in picked if each is not None and _is_option(each.plain))


def as_statement(plain: str) -> str:
    """An offer's words without the frame that made a question of them: "Want me to drop X?" becomes "Drop X"."""
    plain = _OPTION_MARKER.sub("", plain, count=1)
    bare = _FRAME.sub("", plain, count=1)
    if bare == plain or not bare:
        return plain
    return bare[0].upper() + bare[1:].rstrip(" ?")


def _alternatives(spoken: Sequence[Statement]) -> tuple[Statement, ...]:
    """The labelled items of a message that speaks of options; a menu of next steps has none."""
    listed = tuple(each for each in spoken if _label(each))
    if not listed:
        return ()
    asks = " ".join([listed[0].heading, *(each.plain for each in spoken[-6:] if each.is_question)])
    if _HOW_TO_GO_ON.search(asks):
        return tuple(each for each in listed if not _BARE_WORK.search(each.plain))[:MAX_OPTIONS]
    if _MENU.search(asks) or not any(_OPTION_TALK.search(each.plain) for each in spoken):
        return ()
    return listed[:MAX_OPTIONS]


def _is_telling(statement: Statement) -> bool:
    length = len(statement.core.split())
    tells = length > LONG_SENTENCE or names_something(statement.core) or not _REASON.isdisjoint(statement.words)
    return length > 7 and tells and not is_cut_short(statement)


def _recommends(statement: Statement) -> bool:
    return not _RECOMMENDING.isdisjoint(statement.words) and bool(_RECOMMENDS.search(statement.plain))


def _picked(offer: Offer, core: str) -> tuple[Statement, ...]:
    if not offer.options:
        return ()
    pick = _PICK.match(without_lead(core)) or _PICK.match(core)
    if pick is None:
        return ()
    labels = [label.lower() for label in _LABEL.findall(pick.group("labels"))]
    by_label = {_label(each): each for each in sorted(offer.options, key=lambda each: each.block != "heading")}
    chosen = tuple(by_label[label] for label in dict.fromkeys(labels) if label in by_label)
    return chosen if 0 < len(chosen) <= MAX_PICKED and all(_is_option(each.plain) for each in chosen) else ()


def _answer(options: Sequence[Statement], number: str, label: str) -> Statement | None:
    """The option of that letter under the question of that number."""
    return next((each for each in options if _label(each) == label and re.match(rf"{number}[).:]", each.heading)), None)


def _label(statement: Statement) -> str:
    named = _OPTION_START.match(statement.plain)
    if named is not None:
        return named.group(1).lower()
    return statement.marker if _LABEL.fullmatch(statement.marker) else ""


def _is_option(plain: str) -> bool:
    plain = _OPTION_START.sub("", plain)
    return (len(plain.split()) > 4 or names_something(plain)) and not _NO_OPTION.match(plain)


def _says_a_choice(statement: Statement) -> bool:
    if statement.block != "list" or not _CHOICE_HEADING.search(statement.heading):
        return False
    return ":" in statement.plain[:60] and 5 <= len(statement.plain.split()) <= 50 and not statement.is_question


def _has_substance(plain: str) -> bool:
    return not _CHORE.search(plain) and not _EITHER.search(plain) and len(plain.split()) > 6 and names_something(plain)
