"""Which completed outcomes a sentence asserts: "Rebased 3 commits and pushed" asserts a rebase and a push (OUTCOME.1-2).

Words and grammar only. A verb of completion counts where it stands as a claim does: at the head of its clause
("Fixed …"), behind *have* or *be*, behind *I* or *we*, or behind a short noun ("PR created."). A relative clause, a
purpose, a condition or a hedge in front of it takes the claim away. What the sentence as a whole is (a plan, a question
…) is told by ``language.mood`` and not here. English and French.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tallystick.language.anchors import Anchor, AnchorKind, anchors
from tallystick.verifiers.commands import actions
from tallystick.verifiers.outcome_words import (
    ADVERB,
    AGENTIVE,
    ALL,
    ALSO_PRESENT,
    BE,
    BLOCKING,
    BOUNDARY,
    CHECK_NOUNS,
    CONCESSION,
    CONFLICT,
    COUNT,
    DETERMINED,
    ENDS_NOUN,
    FINITE,
    FIX,
    HAPPEN,
    HAVE,
    JOINED,
    LOOSE_PREPOSITION,
    MODIFIES,
    OBJECT_KINDS,
    OPENER,
    OTHER_VERBS,
    REMOVE,
    REPORTING,
    SCOPES,
    SPEAKER,
    SPEAKER_JOINED,
    STATE,
    TRANSITIVE,
    VERB,
    WAS,
    Achievement,
    base_form,
)
from tallystick.verifiers.programs import CHECKS, CommandKind

MAX_SENTENCE_CHARS = 1_200
"""A longer sentence is read up to here."""
MAX_CLAIMS = 8
_K = CommandKind


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
    matches = list(VERB.finditer(text.masked))
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
    for boundary in BOUNDARY.finditer(masked, max(0, at - 400), at):
        if boundary.start() > 3 or not CONCESSION.match(boundary.group()):
            start = boundary.end()
    return start


def _is_claimed(masked: str, verb: re.Match[str], before: list[OutcomeClaim]) -> bool:
    """Whether the verb stands as a claim does."""
    start = _clause_start(masked, verb.start())
    left = masked[start : verb.start()]
    right = masked[verb.end() : verb.end() + 120]
    if AGENTIVE.match(right):
        return False
    blocked = BLOCKING.search(_guarded(left))
    bare = OPENER.sub("", left)
    bare = re.sub(rf"^(?:{ADVERB}\s+)+", "", bare)
    if not bare.strip():
        return not MODIFIES.match(right) and verb[1] not in ALSO_PRESENT
    if blocked:
        return False
    if HAVE.search(left):
        return True
    if BE.search(left):
        base = base_form(verb[1])
        lasting = base in FIX or base in HAPPEN or base in OTHER_VERBS
        return (
            lasting
            or bool(WAS.search(left))
            or bool(_OF_ALL.match(left))
            or ("`" in left and bool(_CLOSES.match(right)))
        )
    if _spoken_by_speaker(bare) or SPEAKER_JOINED.search(left):
        return True
    if before and JOINED.search(left):
        return True
    return _headline(bare, right)


_CLOSES = re.compile(r"^\s*(?:$|[.,;!—–]|and\b|et\b|✓|✅)")


_WORKING = re.compile(
    r"^[^\w`]*(?:\w+\s+){0,3}(?:it|this|that|everything|both|all|fix|script|code|patch|solution|feature|command|cases?)\s+$"
)
"""Subjects of which "… works." with nothing behind it tells how it came out."""
_OF_ALL = re.compile(r"^[^\w`]{0,10}(?:both|all)\b")


def _spoken_by_speaker(left: str) -> bool:
    """ "I added", "then we fixed"; not "the widget we fixed", where *we* opens a relative clause."""
    found = SPEAKER.search(left)
    if found is None:
        return False
    lead = left[: found.start()].rstrip()
    return not lead or lead.endswith((",", "and", "then", "et", "now", "the", "also"))


def _headline(left: str, right: str) -> bool:
    """ "PR created.", "Merge conflict resolved", "Commit créé et poussé": a short noun phrase, then the verb."""
    words = left.split()
    if not 0 < len(words) <= 7 or FINITE.search(left) or LOOSE_PREPOSITION.search(left) or DETERMINED.search(left):
        return False
    return bool(ENDS_NOUN.match(right)) and not words[-1].endswith(("ly", ","))


def _guarded(left: str) -> str:
    """What stands in front of a verb, without the words that look like a subordinate clause and are none."""
    return _DEMONSTRATIVE.sub("", REPORTING.sub(" ", CONCESSION.sub("", left.lstrip())))


_DEMONSTRATIVE = re.compile(r"^[^\w`]{0,10}that\b")


def _claim_of_verb(text: _Text, verb: re.Match[str], stop: int) -> OutcomeClaim | None:
    """The claim that a verb in claiming position makes, by the verb and by what stands around it."""
    word = base_form(verb[1])
    start = _clause_start(text.masked, verb.start())
    closing = _CLAUSE_END.search(text.masked, verb.end(), stop)
    stop = closing.start() if closing else stop
    left = text.masked[start : verb.start()]
    around = left + " " + _until(_STRONG, text.masked, verb.end(), stop)
    near = left[-60:] + " " + _until(_WEAK, text.masked, verb.end(), stop)
    base = OutcomeClaim(
        Achievement.WRITTEN,
        (_K.CREATE, _K.EDIT, _K.RENAME),
        _targets(text, _label_start(text.masked, start), stop),
        commits=_commits(text, start, len(text.shown)),
        scope=_words(around),
        phrase=verb.group(),
        at=verb.start(),
    )
    if word in HAPPEN:
        return base._replace(achievement=Achievement.HAPPENED, kinds=(HAPPEN[word],))
    if word in FIX:
        return _fix(base, near)
    if word in REMOVE:
        return base._replace(achievement=Achievement.REMOVED, kinds=(_K.DELETE, _K.EDIT))
    if word in OTHER_VERBS:
        achievement = OTHER_VERBS[word]
        if achievement is Achievement.DONE:
            return _done(base, near)
        return base._replace(achievement=achievement, kinds=(_K.RUN, _K.TEST))
    if word in ("created", "added", "updated", "créé", "generated", "implemented", "applied", "appliqué"):
        if "commit" in near and word in ("applied", "appliqué"):
            return base._replace(achievement=Achievement.HAPPENED, kinds=(_K.COMMIT, _K.REBASE, _K.MERGE))
        kind = _object_kind(near)
        if kind in (_K.PULL_REQUEST, _K.COMMIT, _K.MIGRATE, _K.PUBLISH) and not (word == "added" and kind is _K.COMMIT):
            if kind is _K.PULL_REQUEST and word == "updated":
                return base._replace(
                    achievement=Achievement.HAPPENED, kinds=(_K.PUSH, _K.EDIT, _K.PULL_REQUEST), any_kind=True
                )
            if kind is not _K.MIGRATE or word.startswith("appli"):
                return base._replace(achievement=Achievement.HAPPENED, kinds=(kind,))
    return base


_CLAUSE_END = re.compile(r"[;—–]|\s-\s|\.\s")
_TICKED_LABEL = re.compile(r"[\s>*•✓✅-]*(?:\[x\]\s*)?`¤+`[\s:—–-]*")


def _label_start(masked: str, start: int) -> int:
    """Where a label of code in front of the clause begins ("`a/b.go` — replaced X"); ``start`` where there is none."""
    return 0 if start and _TICKED_LABEL.fullmatch(masked, 0, start) else start


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
    for pattern, kind in OBJECT_KINDS:
        if pattern.search(around):
            return kind
    return None


def _fix(base: OutcomeClaim, around: str) -> OutcomeClaim:
    """A fix: of conflicts, of a check, or of something else."""
    if CONFLICT.search(around):
        return base._replace(
            achievement=Achievement.ABSENT, kinds=(_K.SEARCH, _K.MERGE, _K.REBASE, _K.COMMIT), targets=()
        )
    for pattern, kind in CHECK_NOUNS:
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


def _state_claims(text: _Text) -> list[OutcomeClaim]:
    """Claims that something is in a good state: passes, is clean, builds, works, is done."""
    found: list[OutcomeClaim] = []
    last = 0
    for match in STATE.finditer(text.masked):
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
    blocked = BLOCKING.search(guarded) or article
    base = OutcomeClaim(Achievement.PASSED, (), phrase=match.group().strip(), at=match.start(), scope=_words(left))
    if match["passing"] or match["clean"]:
        return None if blocked or TRANSITIVE.match(right) else _passed(text, match, start, left, base)
    if blocked:
        return None
    if match["builds"]:
        return base._replace(kinds=(_K.BUILD,), targets=_targets(text, start, match.start()))
    if match["works"]:
        if (
            _CLOSES.match(right)
            and match.group() in ("work", "works", "run", "runs", "ran")
            and not _WORKING.search(left)
        ):
            return None
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
    bare = OPENER.sub("", left).strip()
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
    kinds = tuple(kind for pattern, kind in CHECK_NOUNS if pattern.search(subject))
    ran = [action for at, code in text.ticked if listed <= at < match.start() for action in actions(code)]
    kinds += tuple(a.kind for a in ran if a.kind in (*CHECKS, _K.FORMAT) and a.kind not in kinds)
    following = re.match(r"\s*[—–:-]\s*([^.;—–]{1,120})$", text.masked[match.end() : match.end() + 130])
    if not kinds and re.search(r"\b(?:ci|pipelines?|workflows?|github actions)\b", subject):
        return base._replace(kinds=(_K.PIPELINE,))
    if not kinds and following:
        kinds = tuple(kind for pattern, kind in CHECK_NOUNS if pattern.search(following[1]))
    if kinds:
        if match["clean"] and not re.search(r"\b(?:is|are|all|now|est|sont|looks?)\s+$|^\s*$", left):
            return None
        return base._replace(
            kinds=kinds,
            targets=tuple(t for t in _targets(text, listed, match.start()) if not actions_name(t)),
            numbers=tuple(COUNT.findall(subject)),
            scope=tuple(SCOPES.findall(text.shown.lower())),
            everything=bool(ALL.search(subject)) and not _targets(text, listed, match.start()),
        )
    whole = OPENER.sub("", left).strip() in ("", "is", "are", "is now", "are now") and ALL.search(left)
    if whole or re.search(
        r"\b(?:everything|checks|verifications?|validations?|all|tout)\s+(?:is|are|now|est)?\s*(?:now\s+)?$", left
    ):
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
    if len(pairs) < 2 or not all(pairs):
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
    named = [code.strip().replace("\\_", "_") for at, code in text.ticked if start <= at < stop]
    named = [code for code in named if not _HASH.fullmatch(code)]
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
