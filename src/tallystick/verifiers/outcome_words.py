"""The words by which a completed outcome is told, in English and French, as data; how they are used is ``outcome_claims``."""

from __future__ import annotations

import re
from enum import StrEnum

from tallystick.verifiers.programs import CommandKind

_K = CommandKind


class Achievement(StrEnum):
    """What sort of completion is asserted; it decides what can witness it."""

    PASSED = "passed"
    """A check passed or is clean."""
    HAPPENED = "happened"
    """A commit, push, merge, deployment … took place."""
    WRITTEN = "written"
    """A file or something in one was created, changed, renamed."""
    REMOVED = "removed"
    FIXED = "fixed"
    WORKS = "works"
    """It runs, works, is correct."""
    REPRODUCED = "reproduced"
    VERIFIED = "verified"
    DONE = "done"
    """Done, complete, finished, with nothing said of what."""
    MEASURED = "measured"
    """Numbers that a result printed."""
    CLEAN_TREE = "clean_tree"
    ABSENT = "absent"
    """Nothing of a kind is left: conflict markers, uses of a name."""
    UNTOUCHED = "untouched"
    NOT_FOUND = "not_found"
    """A search, a list or a diff came back empty: "no config found", "staged: none"."""
    STARTED = "started"
    """Something runs now because the agent started it."""
    RAN = "ran"
    """A command was run, whatever came of it."""
    READ = "read"
    """Something was read, loaded, used."""
    SIGNED = "signed"
    """A verdict sign beside a label that names no known check: "Overall: ✅ PASS"."""


FIX = ("fixed", "resolved", "corrected", "repaired", "solved", "addressed", "corrigé", "résolu", "réparé", "rectified",
       "patched", "réglé", "eliminated")  # fmt: skip
WRITE = (
    "created", "added", "wrote", "written", "implemented", "generated", "updated", "edited", "modified", "changed",
    "replaced", "refactored", "rewrote", "rewritten", "appended", "bumped", "reverted", "restored", "extracted", "split",
    "converted", "simplified", "adjusted", "renamed", "moved", "inserted", "configured", "documented",
    "applied",   "registered", "wired", "switched",  "set up", "restructured",
    "créé", "ajouté", "écrit", "mis à jour", "modifié", "renommé", "déplacé", "généré", "implémenté", "appliqué",
    "aligned", "synced", "synchronized", "polished", "copied", "saved", "stored", "recorded", "linked", "enabled",
    "disabled", "marked", "reset", "tightened", "reworded", "deduplicated", "consolidated", "improved", "enhanced",
    "unified", "expanded", "extended", "trimmed", "rephrased", "reorganized", "made", "opened",
    "aligné", "réaligné", "rattaché", "synchronisé", "resynchronisé", "simplifié", "recentré", "reformulé", "normalisé",
    "nettoyé", "renforcé", "étendu", "harmonisé", "ajusté", "inséré", "copié", "sauvegardé", "activé", "désactivé",
    "marqué", "restructuré", "réécrit", "repositionné", "consigné", "actualisé", "coché", "basculé", "initialisé", "poli",
    "complété", "enregistré", "remplacé", "documenté", "rédigé", "intégré", "configuré",
)  # fmt: skip
REMOVE = ("removed", "cleaned up", "deleted", "dropped", "supprimé", "retiré", "effacé", "enlevé")
HAPPEN: dict[str, CommandKind] = {
    "committed": _K.COMMIT, "amended": _K.COMMIT, "cherry-picked": _K.COMMIT, "commité": _K.COMMIT,
    "committé": _K.COMMIT, "pushed": _K.PUSH, "force-pushed": _K.PUSH, "poussé": _K.PUSH, "pushé": _K.PUSH,
    "merged": _K.MERGE, "mergé": _K.MERGE, "fusionné": _K.MERGE, "squash-merged": _K.MERGE, "rebased": _K.REBASE,
    "rebasé": _K.REBASE, "deployed": _K.DEPLOY, "shipped": _K.DEPLOY, "rolled out": _K.DEPLOY, "déployé": _K.DEPLOY,
    "published": _K.PUBLISH, "released": _K.PUBLISH, "publié": _K.PUBLISH, "migrated": _K.MIGRATE, "migré": _K.MIGRATE,
    "installed": _K.INSTALL, "upgraded": _K.INSTALL, "installé": _K.INSTALL, "built": _K.BUILD, "compiled": _K.BUILD,
    "compilé": _K.BUILD, "staged": _K.STAGE, "formatted": _K.FORMAT,
}  # fmt: skip
OTHER_VERBS: dict[str, Achievement] = {
    "reproduced": Achievement.REPRODUCED, "reproduit": Achievement.REPRODUCED, "verified": Achievement.VERIFIED,
    "confirmed": Achievement.VERIFIED, "vérifié": Achievement.VERIFIED, "validated": Achievement.VERIFIED,
    "completed": Achievement.DONE, "finished": Achievement.DONE, "terminé": Achievement.DONE,
    "finalisé": Achievement.DONE, "effectué": Achievement.DONE, "réalisé": Achievement.DONE, "faite": Achievement.DONE,
    "faites": Achievement.DONE, "exécuté": Achievement.RAN, "réexécuté": Achievement.RAN, "relancé": Achievement.RAN,
    "executed": Achievement.RAN, "ran": Achievement.RAN, "re-ran": Achievement.RAN, "reran": Achievement.RAN,
    "recovered": Achievement.RAN, "retrieved": Achievement.RAN, "downloaded": Achievement.RAN,
    "fetched": Achievement.RAN, "decrypted": Achievement.RAN, "decoded": Achievement.RAN, "téléchargé": Achievement.RAN,
    "started": Achievement.STARTED, "launched": Achievement.STARTED, "spawned": Achievement.STARTED,
    "restarted": Achievement.STARTED, "démarré": Achievement.STARTED, "lancé": Achievement.STARTED,
    "loaded": Achievement.READ, "reloaded": Achievement.READ, "chargé": Achievement.READ, "rechargé": Achievement.READ,
    "used": Achievement.READ, "utilisé": Achievement.READ, "relu": Achievement.READ,
    "revérifié": Achievement.VERIFIED, "checked": Achievement.VERIFIED, "tested": Achievement.VERIFIED,
    "testé": Achievement.VERIFIED,
}  # fmt: skip
ALSO_PRESENT = frozenset(("set up", "split", "reset", "set to"))
"""Past forms that are also the imperative: no claim at the head of a clause."""
TOLD_BY_SPEAKER = frozenset(("used", "utilisé", "checked", "tested", "testé", "made", "relu", "ran", "re-ran", "reran"))
"""Verbs that claim nothing unless someone is said to have done it: "I've used", "has been made"."""
ADJECTIVAL = frozenset(
    "simplifié renforcé étendu activé désactivé aligné normalisé poli enabled disabled improved enhanced extended "
    "expanded unified linked stored consolidated recorded marked marqué coché".split()
)
"""Participles that describe as often as they report: they claim nothing unless someone is said to have
done it, or they open a sentence."""


def _inflected(verb: str) -> str:
    """A participle with its endings; only French ones agree."""
    agrees = verb.endswith("é") or verb in ("écrit", "réécrit", "résolu", "reproduit", "étendu", "poli", "relu")
    return re.escape(verb) + ("(?:e?s?)" if agrees else "")


_VERBS = sorted(
    (*FIX, *WRITE, *REMOVE, *HAPPEN, *OTHER_VERBS, "mis à jour", "mise à jour", "mises à jour"), key=len, reverse=True
)
_SET_TO = r"set to(?= `)|(?:re)?mise?s? à(?= `)|(?:re)?passée?s? (?:à|en)(?= `)"
VERB = re.compile(
    r"(?<![\w-])(?:re-|ré-)?(" + "|".join((*map(_inflected, dict.fromkeys(_VERBS)), _SET_TO)) + r")(?![\w-])"
)


def base_form(verb: str) -> str:
    """The verb as the tables have it: endings of French participles taken off."""
    if verb.endswith(("à jour", " à", " en")):
        return "mis à jour"
    return next((stem for stem in (verb, verb[:-1], verb[:-2]) if stem in _BASES), verb)


_BASES = frozenset(_VERBS)
BOUNDARY = re.compile(
    r"[;:—–!?|]|\.\s| - |\b(?:but|while|although|though|whereas|however|because|since|so|mais|car|donc)\b"
)
ADVERB = (
    r"(?:also|just|now|already|successfully|then|finally|subsequently|again|both|all|correctly|properly|fully|only|each|"
    r"previously|recently|since|cleanly|bien|aussi|également|déjà|maintenant|ensuite|ainsi|tous|toutes|tout|enfin|donc|"
    r"automatically|explicitly|simply|still|thus|temporairement|correctement)"
)
OPENER = re.compile(
    r"^(?:[^\w`¤']|(?:done|great|perfect|good|excellent|ok|okay|now|yes|and|then|also|so|right|parfait|voilà|super|"
    r"finally|first|second|next|just|successfully|et|puis|oui|well|nice|alright|bien|both|all)\b)+"
)
"""What may stand in front of a verb at the head of its clause."""
HAVE = re.compile(
    r"(?:\b(?:have|has|had|l'ai|les ai|avons|ont|avait|(?:il|elle|on|cela|qui|agent) a|tu as|a(?= été))|'ve|j'ai|'s)\s+"
    rf"(?:{ADVERB}\s+)*(?:been\s+|été\s+)?(?:{ADVERB}\s+)*$"
)
BE = re.compile(rf"(?:\b(?:is|are|was|were|been|got|est|sont|été|étaient|était)|'re|it's|that's)\s+(?:{ADVERB}\s+)*$")
WAS = re.compile(
    rf"\b(?:was|were|been|été|got)\s+(?:{ADVERB}\s+)*$|\b(?:now|already|all|both|successfully|déjà|bien)\s+$"
)
SPEAKER = re.compile(rf"\b(?:i|we|(?:sub-?)?agents?|nous|on)\s+(?:{ADVERB}\s+)*$")
SPEAKER_JOINED = re.compile(rf"\b(?:i|we)(?:'ve| have)?\s+(?:[\w-]+\s+){{1,4}}and\s+(?:{ADVERB}\s+)*$")
JOINED = re.compile(rf"(?:,|\band|\bet|&|\+|,\s*then|\bthen|,\s*and|/)\s*(?:{ADVERB}\s+)*$")
BLOCKING = re.compile(
    r"\b(?:should|would|could|might|may|will|shall|can|cannot|must|not|never|if|once|when|whenever|until|unless|before|"
    r"after|need|needs|want|wants|let|going to|about to|yet to|trying|tried|almost|nearly|partially|hopefully|presumably|"
    r"probably|likely|apparently|supposedly|where|which|who|whose|that|to be|nothing|none|no|neither|how|what|why|whether|"
    r"get|gets|getting|being|be|as|like|by|verifies|ensures|asserts|expected|supposed|ready|waiting|everything|anything)\b"
    r"|\b(?:devrait|pourrait|sera|seront|va|vais|allons|si|quand|une fois|dès que|ne|pas|jamais|pour|qui|que|dont|rien|"
    r"non|sans|without|aucun|aucune|lorsque|afin)\b|→|->| = |n't\b|'ll\b|n'\w"
)
"""What in front of a verb, in its clause, takes the claim away: hedges, denials, conditions, relatives, purposes."""
CONCESSION = re.compile(r"^(?:while|although|though|even though|bien que)\b")
REPORTING = re.compile(
    r"\b(?:verified|confirmed|confirms?|shows?|see|means?|checked|vérifié|confirmé|thing is|point is)\s+(?:that|que)\b"
)
AGENTIVE = re.compile(r"^\s+(?:by|per|during|for each|each time|every|when|if|par|lors|upon|whenever)\b")
MODIFIES = re.compile(
    r"^\s+(?:`[^`]{0,80}`\s+(?!which|that|and|to|so)\w+\s+(?:won't|will|are|is|don't|doesn't)\b"
    r"|(?!the\b|a\b|an\b|all\b|both\b|this\b|that\b|these\b|two\b|it\b|them\b|`|\d|les?\b|la\b|l'|un|des\b)"
    r"(?:[\w'-]+\s+){1,3}(?:is|are|was|were|will|can|must|should|get|gets|has|have|may|might|would|sont|est)\b)"
)
"""Behind a participle at the head of a clause: it only modifies a subject ("Deleted files are restored")."""
FINITE = re.compile(
    r"\b(?:is|are|was|were|has|have|had|do|does|did|am|est|sont|a|ont|ai|contains?|shows?|uses?|needs?|means?|makes?|"
    r"returns?|creates?|adds?|says?|gives?)\b"
)
ENDS_NOUN = re.compile(
    r"^(?:\s*(?:$|[.:;,()!—–|✓✅¤]|-\s)|\s+(?:successfully|cleanly|to|in|on|at|via|from|into|with|and|et|sur|dans|depuis|avec|"
    r"as|en|vers|à|without|locally|localement|sous|under|correctly|ok|✓|✅|via)\b)"
)
DETERMINED = re.compile(
    r"\b(?:the|a|an|this|my|our|your|their|un|une|le|la|les|des|du|ce|cette|ces|given|when|then)\b|\bl'"
)
"""Behind a determiner a participle is an adjective: "un rapport généré", "the files created"."""
LOOSE_PREPOSITION = re.compile(r"\b(?:of|for|with|in|to|from|as|the|a|an|by|on|at|de|du|des|pour|avec|dans)\s*$")
OBJECT_KINDS: tuple[tuple[re.Pattern[str], CommandKind], ...] = (
    (
        re.compile(r"\b(?:prs?|pull requests?|merge requests?|mrs?)\b(?! comment| review| feedback| description)"),
        _K.PULL_REQUEST,
    ),
    (re.compile(r"\bcommits?\b"), _K.COMMIT),
    (re.compile(r"\b(?:migrations?)\b"), _K.MIGRATE),
    (re.compile(r"\b(?:deploy(?:ment)?s?|rollout)\b"), _K.DEPLOY),
    (re.compile(r"\b(?:releases?)\b"), _K.PUBLISH),
    (re.compile(r"\b(?:merge)\b(?! conflict)"), _K.MERGE),
    (re.compile(r"\b(?:rebase)\b"), _K.REBASE),
    (re.compile(r"\b(?:push)\b"), _K.PUSH),
    (re.compile(r"\b(?:install(?:ation)?)\b"), _K.INSTALL),
)
CHECK_NOUNS: tuple[tuple[re.Pattern[str], CommandKind], ...] = (
    (re.compile(r"\b(?:tests?|specs?|test suite|suite|pytest|jest|unittests?)\b"), _K.TEST),
    (re.compile(r"\b(?:lint(?:s|ing|er|ers)?|eslint|ruff|clippy|golangci-lint|flake8|pylint|rubocop)\b"), _K.LINT),
    (re.compile(r"\b(?:builds?|compilation|compile|compil\w+)\b"), _K.BUILD),
    (re.compile(r"\b(?:type[- ]?check(?:s|ing|er)?|types|mypy|tsc|pyright|type errors?)\b"), _K.TYPECHECK),
    (re.compile(r"\b(?:fmt|format(?:ting|ter)?|gofmt|prettier|formatage)\b"), _K.FORMAT),
)
CONFLICT = re.compile(r"\bconflicts?\b|\bconflict markers?\b|\bconflits?\b")
WELL = (
    r"(?:now|correctly|fine|as (?:expected|intended|described|designed)|exactly|perfectly|properly|successfully|again|"
    r"cleanly|well|without|end-to-end|bien|maintenant|correctement|parfaitement)"
)
STATE = re.compile(
    r"(?<![\w-])(?:(?P<passing>pass(?:es|ed|ing)?|passent|passe|succeed(?:s|ed)?|green|au vert|verts?|vertes?)"
    r"|(?P<clean>clean)"
    r"|(?P<builds>builds|compiles?|compilent)(?=\s+(?:clean|success|fine|without|ok|correct|now|again|and|sans)|\s*(?:[.,!—–]|$))"
    rf"|(?P<works>(?:works?|runs?|ran|working|executes|fonctionne|marche)(?=\s+{WELL}|\s*(?:[.!]|$))"
    r"|(?:was|were|is|are)\s+(?:now\s+)?successful|is (?:now )?in place|(?:patch|fix|implementation|solution|change) is (?:now )?"
    r"(?:correct|working|ready)|succeeded|réussi"
    r"|works?(?=\s+(?:for|with|on|in|when|even|both|pour|avec|dans)\b))"
    rf"|(?:is|are|it's|they're)\s+(?:now\s+)?(?P<doing>\w{{3,20}}ing)(?=\s[^.;:,()—–]{{0,60}}\b(?:correctly|properly|as expected|"
    r"successfully|perfectly)\b)"
    r"|(?:is|are|it's|they're)\s+(?:now\s+|already\s+)?(?P<running>running|up and running)"
    r"(?=\s+(?:in the background|on port|on http|at http|on localhost|at localhost|on `))"
    r"|(?P<done>done|complete|fait|finished)(?=\s*(?:[.!,:;✓✅—–-]|$|\s✅)|\s+and\s+\w+ed\b))"
    r"(?![\w-])"
)
TRANSITIVE = re.compile(
    r"^\s+(?:the|a|an|it|them|its|this|these|to|through|along|down|over|into|as(?! expected| intended| before| well)|`"
    r"|null|none|arguments?|par|le|la|les)(?![\w-])"
)
ALL = re.compile(r"\b(?:all|everything|every|tout|tous|toutes|both|les deux)\b")
SCOPES = re.compile(r"\b(unit|integration|e2e|end-to-end|smoke|regression|unitaires?|intégration)\b")
COUNT = re.compile(r"(?<![\w.#-])(\d{1,6})(?![\w.%-])")
LAUNCHABLE = re.compile(
    r"\b(?:servers?|serveurs?|(?:sub-?)?agents?|process(?:es)?|services?|containers?|conteneurs?|apps?|application|jobs?|"
    r"daemon|watchers?|database|background|tasks?|vm|cluster|poem|stack|one|ones)\b"
)
"""What can be started and then runs."""
