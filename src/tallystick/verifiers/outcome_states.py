"""Claims that something is in a good state: tests pass, lint is clean, it builds, it works, it is done (OUTCOME.1-2)."""

from __future__ import annotations

import re

from tallystick.verifiers.commands import actions
from tallystick.verifiers.outcome_objects import claimed_count, named_objects, says_whole, versions, whole_suite
from tallystick.verifiers.outcome_sentence import (
    OutcomeClaim,
    Text,
    clause_start,
    guarded,
    is_command,
    opens_clause,
    targets_of,
    words_of,
)
from tallystick.verifiers.outcome_words import (
    ALL,
    BLOCKING,
    CHECK_NOUNS,
    CONFLICT,
    COUNT,
    LAUNCHABLE,
    OBJECT_KINDS,
    OPENER,
    SCOPES,
    STATE,
    TRANSITIVE,
    WELL,
    Achievement,
)
from tallystick.verifiers.programs import CHECKS, CommandKind

_K = CommandKind


def state_claims(text: Text) -> list[OutcomeClaim]:
    """Claims that something is in a good state: passes, is clean, builds, works, is done."""
    found: list[OutcomeClaim] = []
    last = 0
    for match in STATE.finditer(text.masked):
        start = max(clause_start(text.masked, match.start()), last)
        last = match.end()
        claim = _state(text, match, start)
        if claim is not None and all(abs(claim.at - c.at) >= 3 for c in found):
            found.append(claim)
    return found


def _state(text: Text, match: re.Match[str], start: int) -> OutcomeClaim | None:
    masked = text.masked
    left, right = masked[start : match.start()], masked[match.end() : match.end() + 120]
    unblocked = re.sub(r"\b(?:everything|all that)\b", " ", guarded(left))
    article = re.search(r"\b(?:to|the|a|an|and not)\s+$", left) and not match["works"]
    blocked = BLOCKING.search(unblocked) or article
    base = OutcomeClaim(Achievement.PASSED, (), phrase=match.group().strip(), at=match.start(), scope=words_of(left))
    if match["passing"] or match["clean"]:
        return None if blocked or TRANSITIVE.match(right) else _passed(text, match, start, left, base)
    if blocked:
        return None
    if match["builds"]:
        return base._replace(kinds=(_K.BUILD,), targets=targets_of(text, start, match.start()))
    if match["running"]:
        return base._replace(achievement=Achievement.STARTED, kinds=(_K.RUN,)) if LAUNCHABLE.search(left) else None
    if match["works"] or match["doing"]:
        return _works(text, match, start, base)
    return _done_state(text, match, start, left, base)


_WORKING = re.compile(
    r"^[^\w`]*(?:\w+,?\s+){0,3}(?:it|this|that|everything|both|all|fix|script|code|patch|solution|feature|command|cases?)"
    r"\s+$"
)
"""Subjects of which "… works." with nothing behind it tells how it came out."""
_REPAIR = re.compile(
    r"^[^\w`]*(?:\w+\s+){0,4}(?:fix|patch|solution|change|changes|correction|implementation|workaround)\s+$"
)
"""Subjects of which "… works for both cases" tells how it came out, and not what they are good for."""
_STANDING = re.compile(r"(?:\b(?:is|are|was|were|now)|'s|'re)\s+$")


def _works(text: Text, match: re.Match[str], start: int, base: OutcomeClaim) -> OutcomeClaim | None:
    """ "The fix works.", "It runs correctly", "Now it's detecting the files correctly"."""
    left, right = text.masked[start : match.start()], text.masked[match.end() : match.end() + 120]
    word = match.group()
    if word == "working" and not _STANDING.search(left):
        return None
    subjects = None if word not in _OFTEN or _WELL.match(right) else _WORKING if _CLOSES.match(right) else _REPAIR
    if subjects is not None and not subjects.search(left):
        return None
    if re.search(r"\b(?:build|compilation)\s+$", left):
        return base._replace(kinds=(_K.BUILD,))
    if "in place" in word and "fix" not in left:
        return None
    return base._replace(
        achievement=Achievement.WORKS,
        kinds=(_K.RUN, _K.TEST, _K.BUILD),
        targets=targets_of(text, start, match.start()),
        own=(start, match.end()) if opens_clause(text.masked, start) else None,
    )


_OFTEN = ("work", "works", "run", "runs", "ran")
_CLOSES = re.compile(r"^\s*(?:$|[.,;!—–]|and\b|et\b|✓|✅)")
_WELL = re.compile(rf"\s+{WELL}\b")


def _done_state(text: Text, match: re.Match[str], start: int, left: str, base: OutcomeClaim) -> OutcomeClaim | None:
    """ "Done.", "c'est fait", "Merge complete", "The fix for … is complete"."""
    bare = OPENER.sub("", left).strip()
    if match["done"] == "fait" and not re.search(r"\bc'est\s+$", left):
        return None
    if len(bare.split()) > 12 or (
        bare and not re.search(r"\b(?:is|are|now|all|est|sont)\s+$|^(?:[\w-]+\s+){1,5}$", bare + " ")
    ):
        return None
    base = base._replace(targets=targets_of(text, start, match.start()))
    claim = done(base, left)
    return claim and with_objects(claim, text, start, match.start(), match.end(), match.end() + 120)


def _passed(text: Text, match: re.Match[str], start: int, left: str, base: OutcomeClaim) -> OutcomeClaim | None:
    """ "All tests pass", "lint is clean", "fmt, lint and tests pass", "All green", "working tree is clean"."""
    right = text.masked[match.end() : match.end() + 60]
    if match["clean"] and re.search(r"\b(?:status|tree|branch|working directory|copy)\b", left + right[:30]):
        return base._replace(achievement=Achievement.CLEAN_TREE, kinds=(_K.STATUS,))
    listed = _list_start(text.masked, start, left)
    subject = text.masked[listed : match.start()]
    kinds = tuple(kind for pattern, kind in CHECK_NOUNS if pattern.search(subject))
    ran = [action for at, code in text.ticked if listed <= at < match.start() for action in actions(code)]
    codes = tuple(code for at, code in text.ticked if listed <= at < match.start() and is_command(code) and not kinds)
    kinds += tuple(a.kind for a in ran if a.kind in (*CHECKS, _K.FORMAT) and a.kind not in kinds)
    following = re.match(r"\s*[—–:-]\s*([^.;—–]{1,120})$", text.masked[match.end() : match.end() + 130])
    if not kinds and re.search(r"\b(?:ci|pipelines?|workflows?|github actions)\b", subject):
        return base._replace(kinds=(_K.PIPELINE,))
    if not kinds and following:
        kinds = tuple(kind for pattern, kind in CHECK_NOUNS if pattern.search(following[1]))
    if kinds:
        named_alone = re.fullmatch(r"[^\w`]*(?:\w+\s+){1,2}", left)
        if (
            match["clean"]
            and not named_alone
            and not re.search(r"\b(?:is|are|all|now|est|sont|looks?)\s+$|^\s*$", left)
        ):
            return None
        said = text.shown.lower() if len(text.shown.lower()) == len(text.shown) else text.masked
        named = bool(targets_of(text, listed, match.start()))
        count, counted_all = claimed_count(subject, said[match.end() : match.end() + 60])
        return base._replace(
            kinds=kinds,
            whole=whole_suite(subject) and not named,
            outright=says_whole(subject),
            tests=count,
            tests_are_all=counted_all and not named,
            commands=codes,
            targets=tuple(t for t in targets_of(text, listed, match.start()) if not actions_name(t)),
            numbers=tuple(COUNT.findall(subject)),
            scope=tuple(SCOPES.findall(text.shown.lower())),
            everything=bool(ALL.search(subject)) and not targets_of(text, listed, match.start()),
            existing=bool(_EXISTING.search(subject)),
        )
    if _EACH.fullmatch(left):
        return base._replace(kinds=CHECKS, any_kind=True, everything=True)
    whole = OPENER.sub("", left).strip() in ("", "is", "are", "is now", "are now") and ALL.search(left)
    if whole or re.search(
        r"\b(?:everything|checks|verifications?|validations?|all|tout)\s+(?:is|are|now|est)?\s*(?:now\s+)?$", left
    ):
        return base._replace(
            kinds=CHECKS, any_kind=True, everything=True, whole=bool(match["passing"] and _EVERYTHING.search(left))
        )
    return None


_EVERYTHING = re.compile(r"\b(?:everything|checks|tout)\b")
_EXISTING = re.compile(r"\b(?:existing|previous|existants?|original)\b")
_EACH = re.compile(r"[^\w`]*(?:now\s+)?(?:both|all|every|tous les|toutes les|les deux)\s+(?:[\w-]+\s+){1,3}(?:now\s+)?")
""" "Both strategies pass": what passes is not named as a check."""


def actions_name(target: str) -> bool:
    """Whether a named thing is a command (``cargo test``), not something that a check is about."""
    return " " in target and any(a.kind is not _K.RUN for a in actions(target))


def _list_start(masked: str, start: int, left: str) -> int:
    """Where a list of checks begins ("All green — fmt, lint, and all tests pass" reads back over its commas)."""
    label = masked[:start].rstrip(" :*")
    if re.fullmatch(r"[\s*✓✅]*(?:all\s*)?", left) and label:
        return label.rfind(". ") + 1
    return start


def with_objects(claim: OutcomeClaim, text: Text, start: int, verb: int, behind: int, stop: int) -> OutcomeClaim:
    """A claim of an act with what it names in its clause: in front of its verb, and behind it up to ``stop``."""
    if claim.achievement is not Achievement.HAPPENED:
        return claim
    shown = text.shown.lower() if len(text.shown.lower()) == len(text.shown) else text.masked
    left, right = shown[start:verb], shown[behind:stop]
    return claim._replace(objects=named_objects(claim.kinds[0], left, right), versions=versions(f"{left} {right}"))


def object_kind(around: str) -> CommandKind | None:
    """What kind of act the words name: a pull request, a commit, a migration …"""
    for pattern, kind in OBJECT_KINDS:
        if pattern.search(around):
            return kind
    return None


def fix(base: OutcomeClaim, around: str) -> OutcomeClaim:
    """A fix: of conflicts, of a check, or of something else."""
    if CONFLICT.search(around):
        return base._replace(
            achievement=Achievement.ABSENT, kinds=(_K.SEARCH, _K.MERGE, _K.REBASE, _K.COMMIT), targets=()
        )
    for pattern, kind in CHECK_NOUNS:
        if kind in (_K.LINT, _K.TYPECHECK, _K.BUILD, _K.FORMAT) and pattern.search(around):
            return base._replace(achievement=Achievement.FIXED, kinds=(kind,))
    return base._replace(achievement=Achievement.FIXED, kinds=(_K.TEST, _K.RUN, _K.BUILD, _K.LINT, _K.TYPECHECK))


def done(base: OutcomeClaim, around: str) -> OutcomeClaim | None:
    """ "Migration completed", "the fix is complete", "Task complete"."""
    around = re.sub(r"\b(?:from|in|of|per) (?:the|this|our) plan\b", " ", around)
    if re.search(
        r"\b(?:review|assessment|analysis|analyse|exploration|plan|planning|checklist|story|epic|steps?|étapes?|tentative|attempt|research)\b",
        around,
    ):
        return None
    if re.search(r"\b(?:re-?)?(?:validation|verification|vérification)s?\b", around):
        return base._replace(achievement=Achievement.VERIFIED, kinds=(_K.RUN, _K.TEST))
    if re.search(r"\b(?:fix|bug ?fix|correction|correctif)\b", around):
        return fix(base, around)
    kind = object_kind(around)
    if kind is not None:
        return base._replace(achievement=Achievement.HAPPENED, kinds=(kind,))
    if re.search(r"\b(?:refactor\w*|implementation|changes?|edits?|updates?|cleanup|modifications?|feature)\b", around):
        return base._replace(achievement=Achievement.WRITTEN, kinds=(_K.CREATE, _K.EDIT, _K.RENAME), targets=())
    return base._replace(achievement=Achievement.DONE, kinds=())
