"""Which completed outcomes a sentence asserts: "Rebased 3 commits and pushed" asserts a rebase and a push (OUTCOME.1-2).

Words and grammar only. A verb of completion counts where it stands as a claim does: at the head of its clause
("Fixed …"), behind *have* or *be*, behind *I* or *we*, or behind a short noun ("PR created."). A relative clause, a
purpose, a condition or a hedge in front of it takes the claim away. What the sentence as a whole is (a plan, a question
…) is told by ``language.mood`` and not here. English and French.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

from tallystick.language.anchors import Anchor, AnchorKind, anchors
from tallystick.verifiers.commands import actions
from tallystick.verifiers.programs import CHECKS, TASK_WORDS, CommandKind

MAX_SENTENCE_CHARS = 1_200
"""A longer sentence is read up to here."""
MAX_CLAIMS = 8

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


class OutcomeClaim(NamedTuple):
    """One outcome that a sentence asserts."""

    achievement: Achievement
    kinds: tuple[CommandKind, ...]
    """Kinds of command that can witness it; all of them are claimed for ``PASSED`` unless ``any_kind``."""
    targets: tuple[str, ...] = ()
    """Files, packages, tests, pull requests that it names, as written."""
    numbers: tuple[str, ...] = ()
    """Figures, as ``name=number`` for ``MEASURED``, else bare numbers."""
    commits: tuple[str, ...] = ()
    scope: tuple[str, ...] = ()
    """Words that narrow it: ``integration``, ``unit``, a folder."""
    phrase: str = ""
    """The words that assert it."""
    any_kind: bool = False
    """"All green" with no check named."""
    everything: bool = False
    """It is said of all tests, not of some."""
    at: int = 0
    """Offset of the verb in the sentence."""


_TICKED = re.compile(r"(`{1,3})([^`\n]{1,400})\1")
_LINKED = re.compile(r"\[([^\]\n]{1,200})\]\([^)\s]{1,400}\)")
_EMPHASIS = re.compile(r"\*\*|~~")
_ASIDE = re.compile(r"\([^()\n]{0,400}\)")
_QUOTE_MARKS = str.maketrans("’‘“”", "''\"\"")


class _Text(NamedTuple):
    """A sentence in two forms: ``shown`` without Markdown, ``masked`` the same, lower-cased, with code and what stands
    in parentheses blotted out."""

    shown: str
    masked: str
    ticked: tuple[tuple[int, str], ...]
    found: tuple[Anchor, ...]


def _text(sentence: str) -> _Text:
    shown = _LINKED.sub(r"\1", sentence[:MAX_SENTENCE_CHARS]).translate(_QUOTE_MARKS)
    shown = _EMPHASIS.sub("", shown)
    ticked = tuple((m.start(), m[2]) for m in _TICKED.finditer(shown))
    masked = _TICKED.sub(lambda m: m[1] + "¤" * len(m[2]) + m[1], shown)
    masked = _ASIDE.sub(lambda m: "¤" * len(m.group()), masked)
    lowered = masked.lower()
    return _Text(shown, lowered if len(lowered) == len(shown) else masked, ticked, tuple(anchors(shown)))


_FIX = ("fixed", "resolved", "corrected", "repaired", "solved", "addressed", "corrigé", "résolu", "réparé", "rectified")
_WRITE = (
    "created", "added", "wrote", "written", "implemented", "generated", "updated", "edited", "modified", "changed",
    "replaced", "refactored", "rewrote", "rewritten", "appended", "bumped", "reverted", "restored", "extracted", "split",
    "converted", "simplified", "adjusted", "renamed", "moved", "inserted", "configured", "documented", "introduced",
    "applied", "enabled", "disabled", "registered", "wired", "switched", "cleaned up", "set up", "restructured",
    "créé", "ajouté", "écrit", "mis à jour", "modifié", "renommé", "déplacé", "généré", "implémenté", "appliqué",
    "complété", "enregistré", "remplacé", "documenté", "rédigé", "intégré", "configuré",
)  # fmt: skip
_REMOVE = ("removed", "deleted", "dropped", "supprimé", "retiré", "effacé", "enlevé")
_HAPPEN: dict[str, CommandKind] = {
    "committed": _K.COMMIT, "amended": _K.COMMIT, "cherry-picked": _K.COMMIT, "commité": _K.COMMIT,
    "committé": _K.COMMIT, "pushed": _K.PUSH, "force-pushed": _K.PUSH, "poussé": _K.PUSH, "pushé": _K.PUSH,
    "merged": _K.MERGE, "mergé": _K.MERGE, "fusionné": _K.MERGE, "squash-merged": _K.MERGE, "rebased": _K.REBASE,
    "rebasé": _K.REBASE, "deployed": _K.DEPLOY, "shipped": _K.DEPLOY, "rolled out": _K.DEPLOY, "déployé": _K.DEPLOY,
    "published": _K.PUBLISH, "released": _K.PUBLISH, "publié": _K.PUBLISH, "migrated": _K.MIGRATE, "migré": _K.MIGRATE,
    "installed": _K.INSTALL, "upgraded": _K.INSTALL, "installé": _K.INSTALL, "built": _K.BUILD, "compiled": _K.BUILD,
    "compilé": _K.BUILD, "staged": _K.STAGE, "formatted": _K.FORMAT,
}  # fmt: skip
_OTHER_VERBS: dict[str, Achievement] = {
    "reproduced": Achievement.REPRODUCED, "reproduit": Achievement.REPRODUCED, "verified": Achievement.VERIFIED,
    "confirmed": Achievement.VERIFIED, "vérifié": Achievement.VERIFIED, "validated": Achievement.VERIFIED,
    "completed": Achievement.DONE, "finished": Achievement.DONE, "terminé": Achievement.DONE,
    "finalisé": Achievement.DONE, "exécuté": Achievement.DONE, "executed": Achievement.DONE,
}  # fmt: skip
_ENDING = r"(?:e?s?)"
_VERB = re.compile(
    r"(?<![\w-])("
    + "|".join(sorted((*_FIX, *_WRITE, *_REMOVE, *_HAPPEN, *_OTHER_VERBS, "mise à jour"), key=len, reverse=True))
    + r")"
    + _ENDING
    + r"(?![\w-])"
)
_BOUNDARY = re.compile(
    r"[;:—–!?|]|\.\s| - | -> | → |\b(?:but|while|although|though|whereas|however|because|since|so|mais|car|donc)\b"
)
_ADVERB = (
    r"(?:also|just|now|already|successfully|then|finally|subsequently|again|both|all|correctly|properly|fully|only|each|"
    r"previously|recently|since|cleanly|bien|aussi|également|déjà|maintenant|ensuite|ainsi|tous|toutes|tout|enfin|donc|"
    r"automatically|explicitly|simply|still|thus|temporairement|correctement)"
)
_OPENER = re.compile(
    r"^(?:[^\w`¤']+|(?:done|great|perfect|good|excellent|ok|okay|now|yes|and|then|also|so|right|parfait|voilà|super|"
    r"finally|first|second|next|just|successfully|et|puis|oui|well|right|nice|alright|bien|both|all)\b[\s,.!:—–-]*)+"
)
_HAVE = re.compile(
    rf"(?:\b(?:have|has|had|ai|as|a|avons|ont|avait)|'ve|j'ai|'s)\s+(?:{_ADVERB}\s+)*(?:been\s+|été\s+)?(?:{_ADVERB}\s+)*$"
)
_BE = re.compile(rf"(?:\b(?:is|are|was|were|been|got|est|sont|été|étaient|était)|'re|it's|that's)\s+(?:{_ADVERB}\s+)*$")
_WAS = re.compile(
    rf"\b(?:was|were|been|été|got)\s+(?:{_ADVERB}\s+)*$|\b(?:now|already|all|both|successfully|déjà|bien)\s+$"
)
_SPEAKER = re.compile(rf"\b(?:i|we|(?:sub-?)?agents?|nous|on)\s+(?:{_ADVERB}\s+)*$")
_SPEAKER_JOINED = re.compile(rf"\b(?:i|we)(?:'ve| have)?\s+(?:[\w-]+\s+){{1,4}}and\s+(?:{_ADVERB}\s+)*$")
_JOINED = re.compile(rf"(?:,|\band|\bet|&|\+|,\s*then|\bthen|,\s*and|/)\s*(?:{_ADVERB}\s+)*$")
_BLOCKING = re.compile(
    r"\b(?:should|would|could|might|may|will|shall|can|cannot|must|not|never|if|once|when|whenever|until|unless|before|"
    r"after|need|needs|want|wants|let|going to|about to|yet to|trying|tried|almost|nearly|partially|hopefully|presumably|"
    r"probably|likely|apparently|supposedly|where|which|who|whose|that|to be|nothing|none|no|neither|how|what|why|whether|"
    r"get|gets|getting|being|be|devrait|pourrait|sera|seront|va|vais|allons|si|quand|une fois|dès que|ne|pas|jamais|pour|"
    r"qui|que|dont|rien|aucun|aucune|lorsque|afin|as|like|by|expected|supposed|ready|waiting|everything|anything)\b|n't\b|'ll\b|n'\w"
)
_CONCESSION = re.compile(r"^(?:while|although|though|even though|bien que)\b")
_REPORTING = re.compile(
    r"\b(?:verified|confirmed|confirms?|shows?|see|means?|checked|vérifié|confirmé|thing is|point is)\s+(?:that|que)\b"
)
_AGENTIVE = re.compile(r"^\s+(?:by|per|during|for each|each time|every|when|if|par|lors|upon|whenever)\b")
_MODIFIES = re.compile(
    r"^\s+(?:`[^`]{0,80}`\s+(?!which|that|and|to|so)\w+\s+(?:won't|will|are|is|don't|doesn't)\b|(?!the\b|a\b|an\b|all\b|both\b|this\b|that\b|these\b|two\b|it\b|them\b|`|\d|les?\b|la\b|l'|un|des\b)"
    r"(?:[\w'-]+\s+){1,3}(?:is|are|was|were|will|can|must|should|get|gets|has|have|may|might|would|sont|est)\b)"
)
_FINITE = re.compile(
    r"\b(?:is|are|was|were|has|have|had|do|does|did|am|est|sont|a|ont|ai|contains?|shows?|uses?|needs?|means?|makes?|"
    r"returns?|creates?|adds?|says?|gives?)\b"
)
_ENDS_NOUN = re.compile(
    r"^(?:\s*(?:$|[.:;,()!—–|✓✅]|-\s)|\s+(?:successfully|cleanly|to|in|on|at|via|from|into|with|and|et|sur|dans|depuis|avec|"
    r"as|en|vers|à|without|locally|localement|sous|under|correctly|ok|✓|✅|via)\b)"
)
_LOOSE_PREPOSITION = re.compile(r"\b(?:of|for|with|in|to|from|as|the|a|an|by|on|at|de|du|des|pour|avec|dans)\s*$")


def outcome_claims(sentence: str) -> tuple[OutcomeClaim, ...]:
    """The completed outcomes that ``sentence`` asserts, in order; ``()`` when it asserts none."""
    text = _text(sentence)
    found = _verb_claims(text)
    found += [claim for claim in _state_claims(text) if not _covered(claim, found)]
    if not found:
        found = _untouched(text) or _measured(text)
    specific = [claim for claim in found if claim.achievement is not Achievement.DONE or claim.kinds]
    if len(specific) < len(found) and specific:
        found = specific
    return tuple(sorted(found, key=lambda c: c.at)[:MAX_CLAIMS])


def _covered(claim: OutcomeClaim, found: list[OutcomeClaim]) -> bool:
    return any(abs(claim.at - other.at) < 3 for other in found)


def _verb_claims(text: _Text) -> list[OutcomeClaim]:
    """Claims made by a verb of completion."""
    found: list[OutcomeClaim] = []
    matches = list(_VERB.finditer(text.masked))
    for index, match in enumerate(matches):
        if not _is_claimed(text.masked, match, found):
            continue
        stop = matches[index + 1].start() if index + 1 < len(matches) else len(text.masked)
        claim = _claim_of_verb(text, match, stop)
        if claim is not None:
            found.append(claim)
    return found


def _clause_start(masked: str, at: int) -> int:
    """Offset of the clause that holds ``at``: behind the last boundary in front of it."""
    start = 0
    for boundary in _BOUNDARY.finditer(masked, max(0, at - 400), at):
        if boundary.start() > 3 or not _CONCESSION.match(boundary.group()):
            start = boundary.end()
    return start


def _is_claimed(masked: str, verb: re.Match[str], before: list[OutcomeClaim]) -> bool:
    """Whether the verb stands as a claim does."""
    start = _clause_start(masked, verb.start())
    left = masked[start : verb.start()]
    right = masked[verb.end() : verb.end() + 120]
    if _AGENTIVE.match(right):
        return False
    blocked = _BLOCKING.search(_guarded(left))
    bare = _OPENER.sub("", left)
    bare = re.sub(rf"^(?:{_ADVERB}\s+)+", "", bare)
    if not bare.strip():
        return not _MODIFIES.match(right)
    if blocked:
        return False
    if _HAVE.search(left):
        return True
    if _BE.search(left):
        return (
            bool(_WAS.search(left)) or verb[1] in _FIX or verb[1] in _HAPPEN or verb[1] in _OTHER_VERBS or "`" in left
        )
    if _SPEAKER.search(left) or _SPEAKER_JOINED.search(left):
        return True
    if before and _JOINED.search(left):
        return True
    return _headline(bare, right)


def _headline(left: str, right: str) -> bool:
    """ "PR created.", "Merge conflict resolved", "Commit créé et poussé": a short noun phrase, then the verb."""
    words = left.split()
    if not 0 < len(words) <= 7 or _FINITE.search(left) or _LOOSE_PREPOSITION.search(left):
        return False
    return bool(_ENDS_NOUN.match(right)) and not words[-1].endswith(("ly", ","))


def _guarded(left: str) -> str:
    """What stands in front of a verb, without the words that look like a subordinate clause and are none."""
    return _DEMONSTRATIVE.sub("", _REPORTING.sub(" ", _CONCESSION.sub("", left.lstrip())))


_DEMONSTRATIVE = re.compile(r"^[^\w`]{0,10}that\b")


_OBJECT_KINDS: tuple[tuple[re.Pattern[str], CommandKind], ...] = (
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
_CHECK_NOUNS: tuple[tuple[re.Pattern[str], CommandKind], ...] = (
    (re.compile(r"\b(?:tests?|specs?|test suite|suite|pytest|jest|unittests?)\b"), _K.TEST),
    (re.compile(r"\b(?:lint(?:s|ing|er|ers)?|eslint|ruff|clippy|golangci-lint|flake8|pylint|rubocop)\b"), _K.LINT),
    (re.compile(r"\b(?:builds?|compilation|compile|compil\w+)\b"), _K.BUILD),
    (re.compile(r"\b(?:type-?check(?:s|ing|er)?|types|mypy|tsc|pyright|type errors?)\b"), _K.TYPECHECK),
    (re.compile(r"\b(?:fmt|format(?:ting|ter)?|gofmt|prettier|formatage)\b"), _K.FORMAT),
)
_CONFLICT = re.compile(r"\bconflicts?\b|\bconflict markers?\b|\bconflits?\b")


def _claim_of_verb(text: _Text, verb: re.Match[str], stop: int) -> OutcomeClaim | None:
    """The claim that a verb in claiming position makes, by the verb and by what stands around it."""
    word = "mis à jour" if verb[1] == "mise à jour" else verb[1]
    start = _clause_start(text.masked, verb.start())
    left = text.masked[start : verb.start()]
    around = left + " " + _until(_STRONG, text.masked, verb.end(), stop)
    near = left[-60:] + " " + _until(_WEAK, text.masked, verb.end(), stop)
    base = OutcomeClaim(
        Achievement.WRITTEN,
        (_K.CREATE, _K.EDIT, _K.RENAME),
        _targets(text, start, stop),
        commits=_commits(text, start, len(text.shown)),
        scope=_words(around),
        phrase=verb.group(),
        at=verb.start(),
    )
    if word in _HAPPEN:
        return base._replace(achievement=Achievement.HAPPENED, kinds=(_HAPPEN[word],))
    if word in _FIX:
        return _fix(base, near)
    if word in _REMOVE:
        return base._replace(achievement=Achievement.REMOVED, kinds=(_K.DELETE, _K.EDIT))
    if word in _OTHER_VERBS:
        achievement = _OTHER_VERBS[word]
        if achievement is Achievement.DONE:
            return _done(base, near)
        return base._replace(achievement=achievement, kinds=(_K.RUN, _K.TEST))
    if word in ("created", "added", "updated", "créé", "generated", "implemented", "applied", "appliqué"):
        kind = _object_kind(near)
        if kind in (_K.PULL_REQUEST, _K.COMMIT, _K.MIGRATE, _K.PUBLISH) and not (word == "added" and kind is _K.COMMIT):
            if kind is _K.PULL_REQUEST and word == "updated":
                return base._replace(
                    achievement=Achievement.HAPPENED, kinds=(_K.PUSH, _K.EDIT, _K.PULL_REQUEST), any_kind=True
                )
            if kind is not _K.MIGRATE or word.startswith("appli"):
                return base._replace(achievement=Achievement.HAPPENED, kinds=(kind,))
    return base


_STRONG = re.compile(r"[;—–!?|]|\.\s|, (?:but|and)\b")
_WEAK = re.compile(
    r"[;—–!?|,:]|\.\s|\b(?:which|that|since|for|to|in|with|by|from|where|when|so|because|on|dans|pour|sur)\b"
)


def _until(boundary: re.Pattern[str], masked: str, start: int, stop: int) -> str:
    """The words from ``start`` up to the next ``boundary``, at most 200 characters."""
    stop = min(stop, start + 200)
    found = boundary.search(masked, start, stop)
    return masked[start : found.start() if found else stop]


def _object_kind(around: str) -> CommandKind | None:
    for pattern, kind in _OBJECT_KINDS:
        if pattern.search(around):
            return kind
    return None


def _fix(base: OutcomeClaim, around: str) -> OutcomeClaim:
    """A fix: of conflicts, of a check, or of something else."""
    if _CONFLICT.search(around):
        return base._replace(
            achievement=Achievement.ABSENT, kinds=(_K.SEARCH, _K.MERGE, _K.REBASE, _K.COMMIT), targets=()
        )
    for pattern, kind in _CHECK_NOUNS:
        if kind in (_K.LINT, _K.TYPECHECK, _K.BUILD, _K.FORMAT) and pattern.search(around):
            return base._replace(achievement=Achievement.FIXED, kinds=(kind,))
    return base._replace(achievement=Achievement.FIXED, kinds=(_K.TEST, _K.RUN, _K.BUILD, _K.LINT, _K.TYPECHECK))


def _done(base: OutcomeClaim, around: str) -> OutcomeClaim | None:
    """ "Migration completed", "the fix is complete", "Task complete"."""
    if re.search(
        r"\b(?:review|assessment|analysis|analyse|exploration|plan|planning|checklist|story|epic|step|research)\b",
        around,
    ):
        return None
    if re.search(r"\b(?:fix|bug ?fix|correction|correctif)\b", around):
        return _fix(base, around)
    kind = _object_kind(around)
    if kind is not None:
        return base._replace(achievement=Achievement.HAPPENED, kinds=(kind,))
    if re.search(r"\b(?:refactor\w*|implementation|changes?|edits?|updates?|cleanup|modifications?|feature)\b", around):
        return base._replace(achievement=Achievement.WRITTEN, kinds=(_K.CREATE, _K.EDIT, _K.RENAME), targets=())
    return base._replace(achievement=Achievement.DONE, kinds=())


_STATE = re.compile(
    r"(?<![\w-])(?:(?P<passing>pass(?:es|ed|ing)?|passent|passe|succeed(?:s|ed)?|green|au vert|verts?|vertes?)"
    r"|(?P<clean>clean)"
    r"|(?P<builds>builds|compiles?|compilent)(?=\s+(?:clean|success|fine|without|ok|correct|now|again|and|sans)|\s*(?:[.,!—–]|$))"
    r"|(?P<works>(?:works?|runs?|ran|is working|executes|fonctionne|marche)"
    r"(?=\s+(?:now|correctly|fine|as expected|perfectly|properly|"
    r"successfully|again|cleanly|well|without|end-to-end|bien|maintenant|correctement|parfaitement)|\s*(?:[.!]|$))"
    r"|(?:was|were|is|are)\s+(?:now\s+)?successful|is (?:now )?in place|(?:patch|fix|implementation|solution|change) is (?:now )?"
    r"(?:correct|working|ready)|succeeded|réussi)"
    r"|(?P<done>done|complete|fait|finished)(?=\s*(?:[.!,:;✓✅—–-]|$|\s✅)))"
    r"(?![\w-])"
)
_TRANSITIVE = re.compile(
    r"^\s+(?:the|a|an|it|them|its|this|these|to|through|along|down|over|into|as|`|null|none|arguments?|par|le|la|les)(?![\w-])"
)
_ALL = re.compile(r"\b(?:all|everything|every|tout|tous|toutes|both|les deux)\b")
_SCOPES = re.compile(r"\b(unit|integration|e2e|end-to-end|smoke|regression|unitaires?|intégration)\b")
_COUNT = re.compile(r"(?<![\w.#-])(\d{1,6})(?![\w.%-])")


def _state_claims(text: _Text) -> list[OutcomeClaim]:
    """Claims that something is in a good state: passes, is clean, builds, works, is done."""
    found: list[OutcomeClaim] = []
    last = 0
    for match in _STATE.finditer(text.masked):
        start = max(_clause_start(text.masked, match.start()), last)
        last = match.end()
        claim = _state(text, match, start)
        if claim is not None and not _covered(claim, found):
            found.append(claim)
    return found


def _state(text: _Text, match: re.Match[str], start: int) -> OutcomeClaim | None:
    masked = text.masked
    left, right = masked[start : match.start()], masked[match.end() : match.end() + 120]
    guarded = re.sub(r"\b(?:everything|all that)\b", " ", _guarded(left))
    article = re.search(r"\b(?:to|the|a|an|and not)\s+$", left) and not match["works"]
    blocked = _BLOCKING.search(guarded) or article
    base = OutcomeClaim(Achievement.PASSED, (), phrase=match.group().strip(), at=match.start(), scope=_words(left))
    if match["passing"] or match["clean"]:
        return None if blocked or _TRANSITIVE.match(right) else _passed(text, match, start, left, base)
    if blocked:
        return None
    if match["builds"]:
        return base._replace(kinds=(_K.BUILD,), targets=_targets(text, start, match.start()))
    if match["works"]:
        if re.search(r"\b(?:build|compilation)\s+$", left):
            return base._replace(kinds=(_K.BUILD,))
        if "in place" in match.group() and "fix" not in left:
            return None
        return base._replace(
            achievement=Achievement.WORKS,
            kinds=(_K.RUN, _K.TEST, _K.BUILD),
            targets=_targets(text, start, match.start()),
        )
    return _done_state(text, match, start, left, base)


def _done_state(text: _Text, match: re.Match[str], start: int, left: str, base: OutcomeClaim) -> OutcomeClaim | None:
    """ "Done.", "c'est fait", "Merge complete", "The fix for … is complete"."""
    bare = _OPENER.sub("", left).strip()
    if match["done"] == "fait" and not re.search(r"\bc'est\s+$", left):
        return None
    if len(bare.split()) > 12 or (
        bare and not re.search(r"\b(?:is|are|now|all|est|sont)\s+$|^(?:[\w-]+\s+){1,5}$", bare + " ")
    ):
        return None
    base = base._replace(targets=_targets(text, start, match.start()))
    return _done(base, left)


def _passed(text: _Text, match: re.Match[str], start: int, left: str, base: OutcomeClaim) -> OutcomeClaim | None:
    """ "All tests pass", "lint is clean", "fmt, lint and tests pass", "All green", "working tree is clean"."""
    right = text.masked[match.end() : match.end() + 60]
    if match["clean"] and re.search(r"\b(?:status|tree|branch|working directory|copy)\b", left + right[:30]):
        return base._replace(achievement=Achievement.CLEAN_TREE, kinds=(_K.STATUS,))
    listed = _list_start(text.masked, start, left)
    subject = text.masked[listed : match.start()]
    kinds = tuple(kind for pattern, kind in _CHECK_NOUNS if pattern.search(subject))
    ran = [action for at, code in text.ticked if listed <= at < match.start() for action in actions(code)]
    kinds += tuple(a.kind for a in ran if a.kind in (*CHECKS, _K.FORMAT) and a.kind not in kinds)
    following = re.match(r"\s*[—–:-]\s*([^.;—–]{1,120})$", text.masked[match.end() : match.end() + 130])
    if not kinds and re.search(r"\b(?:ci|pipelines?|workflows?|github actions)\b", subject):
        return base._replace(kinds=(_K.PIPELINE,))
    if not kinds and following:
        kinds = tuple(kind for pattern, kind in _CHECK_NOUNS if pattern.search(following[1]))
    if kinds:
        if match["clean"] and not re.search(r"\b(?:is|are|all|now|est|sont|looks?)\s+$|^\s*$", left):
            return None
        return base._replace(
            kinds=kinds,
            targets=tuple(t for t in _targets(text, listed, match.start()) if not actions_name(t)),
            numbers=tuple(_COUNT.findall(subject)),
            scope=tuple(_SCOPES.findall(text.shown.lower())),
            everything=bool(_ALL.search(subject)) and not _targets(text, listed, match.start()),
        )
    whole = _OPENER.sub("", left).strip() in ("", "is", "are", "is now", "are now") and _ALL.search(left)
    if whole or re.search(r"\b(?:everything|all checks|checks|all|tout)\s+(?:is|are|now|est)?\s*(?:now\s+)?$", left):
        return base._replace(kinds=CHECKS, any_kind=True, everything=True)
    return None


def actions_name(target: str) -> bool:
    """Whether a named thing is a command (``cargo test``), not something that a check is about."""
    return " " in target and any(a.kind is not _K.RUN for a in actions(target))


def _list_start(masked: str, start: int, left: str) -> int:
    """Where a list of checks begins ("All green — fmt, lint, and all tests pass" reads back over its commas)."""
    label = masked[:start].rstrip(" :*")
    if re.fullmatch(r"[\s*✓✅]*(?:all\s*)?", left) and label:
        return label.rfind(". ") + 1
    return start


_NUMBERED = re.compile(r"(?<![\w.,])(\d[\d,.]*|no|zero)\s+((?:[a-z-]+\s+){0,2}[a-z-]+)")


def _measured(text: _Text) -> list[OutcomeClaim]:
    """ "0 loose objects, 2 packs (down from 29), no garbage": nothing but numbers with their names."""
    bare = re.sub(r"¤+", "", text.masked).strip(" .*!-")
    bare = re.sub(r"^(?:clean|result|results|now)[.:,—–-]\s*", "", bare)
    parts = [part.strip() for part in re.split(r",|;|\band\b|\bet\b", bare) if part.strip()]
    pairs = [_NUMBERED.fullmatch(part) for part in parts]
    if not pairs or not all(pairs):
        return []
    numbers = tuple(
        f"{pair[2].split()[-1]}={'0' if pair[1] in ('no', 'zero') else pair[1].rstrip('.,')}" for pair in pairs if pair
    )
    if not any(pair and pair[1][0].isdigit() for pair in pairs):
        return []
    return [OutcomeClaim(Achievement.MEASURED, (), numbers=numbers, phrase=bare[:60], scope=_words(bare))]


_UNTOUCHED = re.compile(
    r"\b(?:i|we)\s+(?:didn't|did not|haven't|have not|never)\s+(?:touch|modif|chang|edit)\w*|\b(?:untouched|unmodified)\b"
    r"|\bje n'ai pas (?:touché|modifié)"
)


def _untouched(text: _Text) -> list[OutcomeClaim]:
    """ "files I didn't touch": refuted by a diff that shows them."""
    match = _UNTOUCHED.search(text.shown.lower())
    if match is None:
        return []
    targets = tuple(
        dict.fromkeys((*_targets(text, 0, len(text.shown)), *(code for _, code in text.ticked if "/" in code)))
    )
    return [OutcomeClaim(Achievement.UNTOUCHED, (_K.DIFF,), targets, phrase=match.group(), at=match.start())]


_NAMES = (AnchorKind.PATH, AnchorKind.ISSUE, AnchorKind.SYMBOL, AnchorKind.URL)


def _targets(text: _Text, start: int, stop: int) -> tuple[str, ...]:
    """What the claim names between two offsets: files, issues, symbols; code as it stands in ticks."""
    named = [code.strip() for at, code in text.ticked if start <= at < stop and not _HASH.fullmatch(code.strip())]
    named += [a.value for a in text.found if a.kind in _NAMES and start <= a.start < stop and a.value not in named]
    return tuple(dict.fromkeys(name for name in named if not any(name != other and name in other for other in named)))[
        :8
    ]


_HASH = re.compile(r"[0-9a-f]{7,40}")


def _commits(text: _Text, start: int, stop: int) -> tuple[str, ...]:
    named = [a.value for a in text.found if a.kind is AnchorKind.COMMIT and start <= a.start < stop]
    named += [code for at, code in text.ticked if start <= at < stop and _HASH.fullmatch(code)]
    return tuple(dict.fromkeys(named))


_WORD = re.compile(r"[^\W\d_]{4,30}")
_STOP = frozenset(
    "that this with from have been also into when then than they them were will your their there about after before "
    "dans pour avec cette sont plus aussi tous both each more some only just been being over under which while added "
    "created updated fixed removed changed deleted file files successfully test tests code".split()
)


def _words(text: str) -> tuple[str, ...]:
    """Content words of at least four letters, for telling which file a claim without a path is about."""
    return tuple(dict.fromkeys(w for w in _WORD.findall(text) if w not in _STOP))[:24]


__all__ = ["TASK_WORDS", "Achievement", "OutcomeClaim", "outcome_claims"]
