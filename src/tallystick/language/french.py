"""The moods of French, well enough that its questions, conditions, plans, orders and hedges are not taken for assertions.

Sentences of other languages never come here; ``modality`` decides by function words.
"""

from __future__ import annotations

import re

from tallystick.language.moods import Mood
from tallystick.language.polarity import denials

_OPENERS = frozenset(
    "oui non ok parfait super très bien merci alors donc et mais d'accord maintenant ensuite puis enfin aussi "
    "excellent voilà bon bonne question analyse rapide effectivement exactement compris entendu reçu".split()
)
_STRAY = frozenset((",", ".", "!", ":", ";", "—", "–", "-", "✓", "✅", "→", "…"))
_CONDITIONS = frozenset(("si", "s'", "quand", "lorsque", "lorsqu'", "tant", "pourvu", "sauf"))
_WH = frozenset("pourquoi comment combien quel quelle quels quelles où quand qui est-ce qu'est-ce".split())
_HEDGES = frozenset(
    "peut-être probablement sûrement vraisemblablement éventuellement apparemment normalement théoriquement "
    "possiblement semble semblent semblait paraît devrait devraient devrais pourrait pourraient pourrais faudrait "
    "serait seraient aurait auraient".split()
)
_OPINIONS = frozenset("pense crois suppose imagine espère doute".split())
_SAYING = frozenset(
    "dit disent affirme affirment signale signalent rapporte rapportent indique annonce prétend déclare".split()
)
_SPEAKERS = frozenset(
    "agent sous-agent utilisateur ci équipe collègue relecteur doc documentation rapport ticket il elle on ils".split()
)
_GOING = frozenset("vais va allons vas".split())
_FUTURE = re.compile(r"[a-zéèêîôûç]{1,20}[iedtoua]r(?:ai|as|a|ons|ez|ont)$")
_CONDITIONAL = re.compile(r"[a-zéèêîôûç]{1,20}[iedtoua]r(?:ais|ait|ions|iez|aient)$")
_NOT_FUTURE = frozenset("para sera-t-il camera opéra agora verras")
_PRESENT_AI = frozenset("vrai erai frais".split())
_BEFORE_FUTURE = frozenset("je j' tu il elle on nous vous ils elles ne n' ça cela se s' qui ce".split())
_IMPERATIVES = frozenset(
    "vérifie lance ajoute utilise corrige supprime crée modifie choisis dis donne réponds confirme indique envoie fais "
    "mets regarde lis écris teste exécute déploie pousse attends continue arrête garde remplace renomme prends ouvre "
    "explique montre propose relis valide précise assure n'oublie évite reprends commence termine passe laisse tape".split()
)
_CLITICS = frozenset(("te", "t'", "vous", "le", "la", "les", "l'", "en", "y"))
_PRESENT_PLANS = frozenset(
    "passe lance vérifie commence continue reprends prépare propose enchaîne applique attaque regarde corrige ajoute "
    "crée".split()
)
_IMPERFECT_PAST = frozenset("ai a as ont avons avez suis est sont était étaient avait".split())


def mood(texts: list[str]) -> Mood:
    """The mood of a French clause ; ``texts`` as ``clause_words`` gives them."""
    while len(texts) > 1 and (
        texts[0] in _STRAY
        or (
            texts[0] in _OPENERS
            and (texts[1] in _STRAY or texts[0] in ("et", "mais", "donc", "puis", "ensuite", "maintenant"))
        )
    ):
        texts = texts[1:]
    if ":" in texts[:5] and texts[-1] != ":":
        texts = texts[texts.index(":") + 1 :]
    first = texts[0] if texts else ""
    second = texts[1] if len(texts) > 1 else ""
    if first in _CONDITIONS or texts[:2] in (
        ["dès", "que"],
        ["une", "fois"],
        ["à", "condition"],
        ["au", "cas"],
        ["dès", "qu'"],
    ):
        return Mood.CONDITIONAL
    if first in _WH or (first.endswith(("-tu", "-vous", "-il", "-elle", "-nous", "-on")) and first.count("-") >= 1):
        return Mood.QUESTION
    if first.endswith(("-moi", "-le", "-la", "-les", "-toi", "-nous", "-en", "-y")) or first in ("merci", "veuillez"):
        return Mood.INSTRUCTION
    if (
        first in _IMPERATIVES
        or (first.endswith("ez") and len(first) > 4)
        or (first in ("ne", "n'") and second != "pas")
    ):
        return Mood.INSTRUCTION
    if first in ("selon", "d'") and (first == "selon" or second == "après"):
        return Mood.REPORTED
    if first in ("prêt", "prête", "prêts"):
        return Mood.HYPOTHETICAL
    if first.endswith("ons") and len(first) > 4 and second not in ("et", ":", "de"):
        return Mood.PLAN
    return _by_leftmost_cue(texts)


def _by_leftmost_cue(texts: list[str]) -> Mood:
    for i, word in enumerate(texts):
        before = texts[i - 1] if i else ""
        after = texts[i + 1] if i + 1 < len(texts) else ""
        if (i and word in (";", ".", "!", "—")) or (word == "mais" and i > 2):
            break
        if (
            word in ("si", "s'")
            and i
            and after
            in ("tu", "vous", "on", "il", "elle", "le", "la", "les", "un", "une", "l'", "ils", "je", "j'", "nous")
        ):
            return Mood.CONDITIONAL
        cue = _cue(texts, i, word, before, after)
        if cue:
            return cue
    return Mood.NEGATED_ASSERTION if denials(texts) % 2 else Mood.ASSERTION


def _cue(texts: list[str], i: int, word: str, before: str, after: str) -> Mood | None:
    if word in _HEDGES or _CONDITIONAL.match(word):
        return Mood.HYPOTHETICAL
    if word in _OPINIONS and before in ("je", "on", "nous"):
        return Mood.HYPOTHETICAL
    if word in ("prêt", "prête", "prêts", "prêtes") and after in ("à", "pour"):
        return Mood.HYPOTHETICAL
    if word in _GOING and (
        after.endswith(("er", "ir", "re", "oir"))
        or after in ("te", "t'", "le", "la", "les", "l'", "vous", "me", "m'", "y", "maintenant", "d'abord")
    ):
        return Mood.PLAN
    if _FUTURE.match(word) and before in _BEFORE_FUTURE:
        return Mood.PLAN
    if word in _PRESENT_PLANS and (
        before in ("je", "on") or (before in _CLITICS and i > 1 and texts[i - 2] in ("je", "on"))
    ):
        return Mood.PLAN
    if word in ("faut", "dois", "doit", "doivent", "devons", "devez") and not (
        word == "dois" and before in ("je", "j'")
    ):
        return Mood.INSTRUCTION
    if word == "dois":
        return Mood.PLAN
    if word in _SAYING and any(speaker in _SPEAKERS for speaker in texts[max(0, i - 4) : i]):
        return Mood.REPORTED
    return Mood.QUESTION if word == "est-ce" else None


def hedges(texts: list[str]) -> tuple[str, ...]:
    """The words that weaken a French sentence, in order."""
    found = []
    for i, word in enumerate(texts):
        if word in _HEDGES or _CONDITIONAL.match(word):
            found.append(word)
        elif word in _OPINIONS and i and texts[i - 1] in ("je", "on"):
            found.append(f"{texts[i - 1]} {word}")
    return tuple(found)
