"""What a closing message settles when nobody objects: "Secrets: OS keyring", "Selected Starter: rust-starter", "So: no frontend".

Two signs make a listed value a decision. The agent says that it locks these values in, and the person does not object; or
the message puts choices, defaults or conventions to the person, who answers "C", "ok", "oui". A draft of a document in a
Markdown fence counts as part of the message, because it is what the person says yes to. Of each label the first value counts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tallystick.extractors.rules_statements import Statement, names_something

MAX_OF_MESSAGE = 8
"""Values of one message; labels that an earlier message settled do not count."""
MAX_LABEL_WORDS = 5
MAX_VALUE_WORDS = 24
FEWEST_WORDS = 4
"""Of what an accepted item says, its label apart."""
MAX_PROPOSAL = 600
"""Characters of a proposal that a note repeats."""
FEWEST_ITEMS = 2
LONG_WORD = 6
_WORD = re.compile(r"\w+")


def _rx(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_SETTLED = _rx(
    r"\b(?:verrouill\w+|lock(?:ed|ing)? (?:it |this |that |them )?in|decided|agreed|(?:decisions?|choices?|choix|"
    r"décisions?) (?:made|taken|locked|confirmed|retenue?s|validée?s|prises?)|selected|chosen|retenue?s|"
    r"(?:design|key|final|technical|architecture) (?:decisions?|choices?))\b"
)
_PUTS_CHOICES = _rx(
    r"\b(?:decisions?|décisions?|choices?|choix|defaults?|conventions?|recommandations?|recommendations?|recommande|"
    r"patterns?|constraints?|contraintes?|selected|naming|proposed (?:design|structure|approach))\b"
)
_SETS_NOTHING = _rx(
    r"\b(?:rationale|reasons?|raisons?|why|options?|alternatives?|considered|deferred|différée?s|"
    r"trade[-‑ ]?offs?|questions?|context|contexte|menu|analysis|"
    r"analyse|findings?|issues?|problems?|risks?|risques?|next steps?|étapes?|sequence|dependencies|dépendances|summary|"
    r"résumé|overview|files?|fichiers?|examples?|exemples?|tests?|current|actuel\w*|checklist|que veux|suggest\w*|areas?|"
    r"requirements?|exigences|"
    r"challenges?|défis|"
    r"opportunit\w+|insights?|implications?|besoins?|needs|personas?|journeys?|parcours|émotion\w*|emotion\w*|"
    r"visibl\w*|vision|success|succès|metrics?|métriques?|criteria|critères|changelog|scope|périmètre|recap\w*|"
    r"inspiration|références?|references?|anti-?patterns?|measur\w*|starter options)\b"
)
_SETS_NOTHING_ACCEPTED = _rx(
    r"\b(?:rationale|reasons?|raisons?|why|pourquoi|options?|alternatives?|considered|trade[-‑ ]?offs?|questions?|context|"
    r"contexte|menu|findings?|issues?|problems?|problèmes?|risks?|risques?|next steps?|prochaines? étapes?|que veux|"
    r"inspiration|références?|references?|changelog|current|actuel\w*|examples?|exemples?)\b"
)
_NO_LABEL_ACCEPTED = _rx(
    r"(?:user|user type|utilisateur|valeur(?: \w+)?|value|why|pourquoi|rationale|raison|reason|pros?|cons?|risks?|risques?|"
    r"example|exemple|ex|note|question|impact|story|epic|title|titre|status|statut|file|fichier)\b"
)
_LABELLED = re.compile(r"(?P<label>[^\s:`(][^:`(\n]{1,60}?)(?: ?\([^)\n]{1,40}\))? ?(?::|=|→) ?(?P<value>\S.*)")
_NO_LABEL = _rx(
    r"(?:options?|criteria|critères?|choix|note|files?|fichiers?|status|statut|tests?|steps?|étape|phase|priority|priorité|complexity|"
    r"project|projet|date|author|auteur|goal|question|example|exemple|ex|e\.g|impact|risks?|risque|trade[-‑ ]?offs?|pros?|"
    r"cons|why|pourquoi|rationale|problem|context|where|location|lines?|commit|branch|pr|action|issue|fix|primary|"
    r"estimated|http|https|menu|source|result|résultat|owner|severity|effort|before|after|avant|après|input|output|given|"
    r"when|then|version|sinon|puis|si|if|title|description|story|stories|epic|module|utilisateur|user|pm|dev|"
    r"ingénieur|reads?|writes?|total)\b"
)
_NO_VALUE = _rx(r"(?:n/?a\b|none\b|aucune?\b|tbd\b|à définir|à trancher|options?\b|yes\b|no\b|ok\b|\d+\s*$|\?|✅|❌)")
_UNDECIDED = _rx(
    r"\b(?:sinon|à confirmer|à valider|to be (?:confirmed|decided)|vs\.?|ou bien|depends|either|if we|si on)\b"
)
_BINDS = _rx(
    r"\b(?:only|must|never|always|required|mandatory|not allowed|requise?s?|obligatoires?|uniquement|interdite?s?|"
    r"jamais|toujours|exclusivement)\b"
)
_CONSTRAINTS = _rx(r"\b(?:constraints?|contraintes?|requirements?|exigences?|rules?|règles?|must)\b")
_SELECTED = _rx(
    r"(?:selected|chosen|final|retained) (?:[\w-]+ ){0,2}[\w-]+ ?: ?\S|(?:decision|décision|choix (?:retenu|final)|"
    r"option retenue) ?: ?\S"
)
_CONCLUDES = _rx(r"(?:donc|so|in short|bottom line|conclusion|en résumé|en bref|verdict) ?[:,] ?(?=\S)")
_PROPOSED_STEP = _rx(
    r"(?:then|also|and|instead),? (?:remove|drop|replace|add|use|move|keep|rename|store|skip|split|make|"
    r"return|delete|set|put)\b"
)
_ACCEPTS = _rx(
    r"(?:c|y|yes|yep|yeah|ok|okay|oui|o|go|continue|continuer|next|suivant|lgtm|perfect|parfait|good|great|agreed?|"
    r"approved?|validé|valide|d['’]accord|vas-?y|proceed|sounds good|looks good|c['’]est (?:ok|bon|parfait|validé)|"
    r"ça me va|je (?:valide|confirme)|all good|implement|do|ship it|(?:c['’]est )?(?:très|tres|super) bien|nickel|top|"
    r"excellent|fine|sure|yup|yea|ça marche|exact(?:ement)?|correct)(?![\w'’])"
)
_BUT = _rx(r"\b(?:but|mais|except|sauf|however|not|don['’]?t|pas|plutôt|rather|first|wait)\b")
_REST_IS_FINE = _rx(
    r"\b(?:ok|okay|good|fine|d['’]accord|oui|yes) (?:pour|for|with|sur|on) (?:le|tout le|the|all the) (?:reste|rest|others?)\b|"
    r"\b(?:le reste|the rest|everything else|otherwise)\b.{0,20}\b(?:ok|okay|fine|good|bon|parfait)\b"
)


_PROPOSES = _rx(
    r"\b(?:propos(?:als?|ed|ing|itions?|e|ée?s?)|suggestions?|i(?:['’]d)? suggest|(?:te|vous) suggère|"
    r"here(?:['’]s| is) (?:the|my|a) (?:plan|design|approach|structure|layout))\b"
)
_ASKS_FOR_A_YES = _rx(
    r"\b(?:valide[sz]?|confirme[sz]?|confirm|approve|agree|(?:tu|vous) (?:gardes|gardez|modifies|modifiez)|garder|ajuste\w*|"
    r"adjust(?:ments?)?|(?:looks?|sounds?) (?:good|right|ok|okay)|ok (?:with|pour|avec)|happy with|should i proceed|"
    r"shall i|want me to|(?:make )?(?:any )?changes|feedback|ça te (?:va|convient)|on part (?:là-dessus|sur))\b"
)
_FEW_OF_THE_END = 3
_QUOTED = frozenset("\"“”«'‘")
_OF_A_STORY = _rx(r"(?:given|when|as an? |i want|so that|étant donné|quand|en tant que)\b")


def accepts(reply: str) -> bool:
    """Whether the first words of an answer say yes to the whole of a message, or only go on from it."""
    return len(reply.split()) <= 12 and bool(_ACCEPTS.match(reply)) and not _BUT.search(reply)


def accepts_the_rest(reply: str) -> bool:
    """Whether a short answer changes one thing and accepts the others ("chiffrement applicatif. OK pour le reste")."""
    return len(reply.split()) <= 25 and bool(_REST_IS_FINE.search(reply))


def without_changed(values: Sequence[Statement], reply: str) -> list[Statement]:
    """The values that a short answer does not speak of: what it names it changes."""
    named = {word for word in _WORD.findall(reply.lower()) if len(word) >= LONG_WORD}
    return [each for each in values if named.isdisjoint(_WORD.findall(each.plain.lower()))]


def settled(spoken: Sequence[Statement], drafts: Sequence[Statement], *, accepted: bool) -> list[Statement]:
    """The values that a closing message settles, in its order; ``drafts`` are of its Markdown fences.

    ``accepted``: the person answered it with a plain yes. Without one only what the agent says it locks in counts.
    """
    everything = [*spoken, *drafts]
    puts = accepted and any(
        (each.introduces or each.block == "heading") and _PUTS_CHOICES.search(each.plain) for each in everything
    )
    return [each for each in everything if _is_settled(each, accepted=accepted, puts=puts)]


def proposed(spoken: Sequence[Statement]) -> tuple[Statement, Statement] | None:
    """The sentence that opens a proposal and the last of its items that a note has room for; None where there is no
    proposal that waits for a yes, or fewer than two items fit.

    A proposal calls itself one and asks for an answer. A menu is none, since a yes does not choose from it. What stands
    between the two is quoted whole: an item alone ("versioned for each project") does not say of what.
    """
    ending = spoken[-_FEW_OF_THE_END:]
    waits = any(each.is_question or _ASKS_FOR_A_YES.search(each.plain) for each in (*ending, *spoken[:2]))
    opening = next((each for each in spoken[:2] if _PROPOSES.search(each.plain)), None)
    if not waits or opening is None or any(each.marker.lower() in ("a", "b") for each in spoken):
        return None
    items = [each for each in spoken if each.start > opening.start and _is_proposed(each)]
    fitting = [each for each in items if each.end - opening.start <= MAX_PROPOSAL]
    return (opening, fitting[-1]) if len(fitting) >= FEWEST_ITEMS else None


def _is_proposed(statement: Statement) -> bool:
    if not statement.marker or statement.block == "heading" or statement.is_question or statement.introduces:
        return False
    if _SETS_NOTHING_ACCEPTED.search(statement.heading) or _UNDECIDED.search(statement.plain):
        return False
    labelled = _LABELLED.match(statement.plain)
    said = labelled.group("value") if labelled is not None else statement.plain
    if labelled is not None and (_NO_LABEL_ACCEPTED.match(labelled.group("label")) or _NO_VALUE.match(said)):
        return False
    if said[:1] in _QUOTED or "](http" in statement.text or _OF_A_STORY.match(statement.plain):
        return False
    return FEWEST_WORDS <= len(said.split()) <= MAX_VALUE_WORDS


def label_of(statement: Statement) -> str:
    """The lower-cased words before the colon of a labelled value; empty where it has no label."""
    labelled = _LABELLED.match(statement.plain)
    return labelled.group("label").strip().lower() if labelled is not None else ""


def _is_settled(statement: Statement, *, accepted: bool, puts: bool) -> bool:
    if statement.is_question:
        return False
    if statement.block == "heading" or not statement.marker:
        return accepted and _is_settled_prose(statement)
    if not puts and not statement.heading:
        return False
    if puts and _CONSTRAINTS.search(statement.heading) and _BINDS.search(statement.plain):
        return 4 <= len(statement.plain.split()) <= 40
    locked = bool(_SETTLED.search(statement.heading))
    if not locked and (not puts or _SETS_NOTHING.search(statement.heading)):
        return False
    return _is_value(statement)


def _is_settled_prose(statement: Statement) -> bool:
    length = len(statement.plain.split())
    if _SELECTED.match(statement.plain):
        return 3 <= length <= 20
    if statement.block == "heading" or statement.introduces:
        return False
    if _CONCLUDES.match(statement.plain):
        return 6 <= length <= 40
    return bool(_PROPOSED_STEP.match(statement.plain)) and names_something(statement.plain)


def _is_value(statement: Statement) -> bool:
    labelled = _LABELLED.match(statement.plain)
    if labelled is None or statement.introduces:
        return False
    label, value = labelled.group("label"), labelled.group("value")
    if len(label.split()) > MAX_LABEL_WORDS or _NO_LABEL.match(label) or _NO_VALUE.match(value):
        return False
    if _UNDECIDED.search(value):
        return False
    return len(value.split()) <= MAX_VALUE_WORDS
