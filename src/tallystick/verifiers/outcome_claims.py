"""Which completed outcomes a sentence asserts: "Rebased 3 commits and pushed" asserts a rebase and a push (OUTCOME.1-2).

Words and grammar only. A verb of completion counts where it stands as a claim does: at the head of its clause
("Fixed …"), behind *have* or *be*, behind *I* or *we*, or behind a short noun ("PR created."). A relative clause, a
purpose, a condition or a hedge in front of it takes the claim away. What the sentence as a whole is (a plan, a question
…) is told by ``language.mood`` and not here. English and French.
"""

from __future__ import annotations

import re

from tallystick.verifiers.outcome_sentence import (
    MAX_SENTENCE_CHARS,
    OutcomeClaim,
    Text,
    clause_start,
    commits_of,
    guarded,
    opens_clause,
    read,
    targets_of,
    until,
    words_of,
)
from tallystick.verifiers.outcome_signs import not_found, signed
from tallystick.verifiers.outcome_states import done, fix, object_kind, state_claims, with_objects
from tallystick.verifiers.outcome_words import (
    ADJECTIVAL,
    ADVERB,
    AGENTIVE,
    ALSO_PRESENT,
    BE,
    BLOCKING,
    CHECK_NOUNS,
    DETERMINED,
    ENDS_NOUN,
    FINITE,
    FIX,
    HAPPEN,
    HAVE,
    JOINED,
    LAUNCHABLE,
    LOOSE_PREPOSITION,
    MODIFIES,
    OPENER,
    OTHER_VERBS,
    REMOVE,
    SPEAKER,
    SPEAKER_JOINED,
    TOLD_BY_SPEAKER,
    VERB,
    WAS,
    Achievement,
    base_form,
)
from tallystick.verifiers.programs import CommandKind

__all__ = ["MAX_CLAIMS", "MAX_SENTENCE_CHARS", "OutcomeClaim", "outcome_claims"]

MAX_CLAIMS = 8
_K = CommandKind


def outcome_claims(sentence: str) -> tuple[OutcomeClaim, ...]:
    """The completed outcomes that ``sentence`` asserts, in order; ``()`` when it asserts none."""
    text = read(sentence)
    found = _verb_claims(text)
    for claim in (*state_claims(text), *signed(text), *not_found(text)):
        if not _covered(claim, found):
            found.append(claim)
    if not found:
        found = _untouched(text) or _measured(text)
    if any(claim.achievement is Achievement.NOT_FOUND for claim in found):
        found = [claim for claim in found if claim.achievement is not Achievement.VERIFIED]
    specific = [claim for claim in found if claim.achievement is not Achievement.DONE or claim.kinds]
    if len(specific) < len(found) and specific:
        found = specific
    return tuple(sorted(found, key=lambda c: c.at)[:MAX_CLAIMS])


def _covered(claim: OutcomeClaim, found: list[OutcomeClaim]) -> bool:
    return any(abs(claim.at - other.at) < 3 for other in found)


def _verb_claims(text: Text) -> list[OutcomeClaim]:
    """Claims made by a verb of completion."""
    found: list[OutcomeClaim] = []
    matches = list(VERB.finditer(text.masked))
    for index, match in enumerate(matches):
        if not _is_claimed(text.masked, match, found):
            continue
        stop = matches[index + 1].start() if index + 1 < len(matches) else len(text.masked)
        claim = _claim_of_verb(text, match, stop)
        if claim is not None:
            start = clause_start(text.masked, match.start())
            closing = _CLAUSE_END.search(text.masked, match.end(), stop)
            claim = with_objects(claim, text, start, match.start(), match.end(), closing.start() if closing else stop)
            found.append(claim._replace(own=_own(text.masked, match)))
    return found


_CONTENTS = re.compile(
    r"\b(?:to|that|so|which|when|whenever|if|unless|where|until|once|for|because|pour|afin|que|qui|quand|si|lorsque|dès)\b|\bs'"
)
_CONDITION = re.compile(r"^\s*(?:if|unless|once|when|whenever|until|si|quand|dès|lorsque)\b")


def _own(masked: str, verb: re.Match[str]) -> tuple[int, int] | None:
    """The claim without what it is about: "Added a link | to open an issue if …". A condition right behind the verb
    is one of the claim itself."""
    if _CONDITION.match(masked, verb.end()):
        return None
    contents = _CONTENTS.search(masked, verb.end(), verb.end() + 200)
    start = clause_start(masked, verb.start())
    if not opens_clause(masked, start):
        return None
    left = masked[start : verb.start()]
    headed = not (HAVE.search(left) or BE.search(left) or SPEAKER.search(left))
    return (verb.start() if headed else start, contents.start() if contents else len(masked))


def _is_claimed(masked: str, verb: re.Match[str], before: list[OutcomeClaim]) -> bool:
    """Whether the verb stands as a claim does."""
    start = clause_start(masked, verb.start())
    left = masked[start : verb.start()]
    right = masked[verb.end() : verb.end() + 120]
    if AGENTIVE.match(right) or _NONE.match(right) or _YOU.search(left) or _is_cell(masked, verb):
        return False
    blocked = BLOCKING.search(guarded(left))
    bare = OPENER.sub("", left)
    bare = re.sub(rf"^(?:{ADVERB}\s+)+", "", bare)
    base = base_form(verb[1])
    if not bare.strip():
        if MODIFIES.match(right) or verb[1] in ALSO_PRESENT or base in TOLD_BY_SPEAKER:
            return False
        return base not in ADJECTIVAL or (start == 0 and bool(_CHANGING.match(right)))
    if blocked:
        return False
    told = base in TOLD_BY_SPEAKER or base in ADJECTIVAL or base in _DESCRIBING
    if HAVE.search(left):
        return not told or not left.rstrip().endswith("'s")
    if BE.search(left):
        if told and not (base in TOLD_BY_SPEAKER and WAS.search(left)):
            return False
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
    return base not in TOLD_BY_SPEAKER and base not in ADJECTIVAL and _headline(bare, right, verb[1])


_CHANGING = re.compile(r"^\s+(?:the|a|an|all|both|strict|support|`)(?![\w-])|^\s+`")
"""Behind an adjectival participle at the head of a sentence: it is the verb ("Enabled the cache")."""
_DESCRIBING = frozenset(
    verb for verb, sort in OTHER_VERBS.items() if sort in (Achievement.READ, Achievement.RAN, Achievement.STARTED)
)
"""Verbs that with *is* tell what a program does: "the file is loaded", "it is executed"."""
_CLOSES = re.compile(r"^\s*(?:$|[.,;!—–]|and\b|et\b|✓|✅)")

_OF_ALL = re.compile(r"^[^\w`]{0,10}(?:both|all)\b")


def _spoken_by_speaker(left: str) -> bool:
    """ "I added", "then we fixed"; not "the widget we fixed", where *we* opens a relative clause."""
    found = SPEAKER.search(left)
    if found is None:
        return False
    lead = left[: found.start()].rstrip()
    return not lead or lead.endswith(",") or lead.rsplit(" ", 1)[-1] in ("and", "then", "et", "now", "the", "also")


_NONE = re.compile(r"^\s*:\s*(?:0|none|aucune?)\b")
""" "Issues fixed: 0"."""
_YOU = re.compile(r"\b(?:you|tu|vous)(?:'ve| have| had| as| avez)?\s+(?:\w+\s+)?$")
"""What the person did is no claim of the agent."""


def _is_cell(masked: str, verb: re.Match[str]) -> bool:
    """Whether the participle is a whole cell of a table: a label ("| Changed | …"), unless it is said of a fix."""
    cell = masked[max(0, verb.start() - 3) : verb.start()].rstrip(" *").endswith("|")
    return cell and masked[verb.end() : verb.end() + 4].lstrip(" *").startswith("|") and not _is_last_word(masked, verb)


def _is_last_word(masked: str, verb: re.Match[str]) -> bool:
    """Whether a cell in front names what the participle is said of ("| 3 | no tests | Fixed |")."""
    return len([cell for cell in masked[: verb.start()].split("|") if cell.strip(" *")]) > 1


def _headline(left: str, right: str, verb: str) -> bool:
    """ "PR created.", "Merge conflict resolved", "Commit créé et poussé": a short noun phrase, then the verb."""
    words = left.split()
    if not 0 < len(words) <= 7 or FINITE.search(left) or LOOSE_PREPOSITION.search(left) or DETERMINED.search(left):
        return False
    return (bool(ENDS_NOUN.match(right)) or verb.endswith((" to", " à", " en"))) and not words[-1].endswith(("ly", ","))


def _claim_of_verb(text: Text, verb: re.Match[str], stop: int) -> OutcomeClaim | None:
    """The claim that a verb in claiming position makes, by the verb and by what stands around it."""
    word = base_form(verb[1])
    start = clause_start(text.masked, verb.start())
    closing = _CLAUSE_END.search(text.masked, verb.end(), stop)
    stop = closing.start() if closing else stop
    left = text.masked[start : verb.start()]
    around = left + " " + until(_STRONG, text.masked, verb.end(), stop)
    near = left[-60:] + " " + until(_WEAK, text.masked, verb.end(), stop)
    base = OutcomeClaim(
        Achievement.WRITTEN,
        (_K.CREATE, _K.EDIT, _K.RENAME),
        targets_of(text, _label_start(text.masked, start), stop),
        commits=commits_of(text, start, len(text.shown)),
        scope=words_of(around),
        phrase=verb.group(),
        at=verb.start(),
    )
    if word in HAPPEN:
        return base._replace(achievement=Achievement.HAPPENED, kinds=(HAPPEN[word],))
    if word in FIX:
        return fix(base, near)
    if word in REMOVE:
        return base._replace(achievement=Achievement.REMOVED, kinds=(_K.DELETE, _K.EDIT))
    if word in OTHER_VERBS:
        achievement = OTHER_VERBS[word]
        return done(base, near) if achievement is Achievement.DONE else _acted(base, achievement, around, left)
    if word == "made" and not _CHANGES.search(near):
        return None
    if word == "opened":
        pull = object_kind(around) is _K.PULL_REQUEST
        return base._replace(achievement=Achievement.HAPPENED, kinds=(_K.PULL_REQUEST,)) if pull else None
    if word in ("created", "added", "updated", "créé", "generated", "implemented", "applied", "appliqué"):
        if "commit" in near and word in ("applied", "appliqué"):
            return base._replace(achievement=Achievement.HAPPENED, kinds=(_K.COMMIT, _K.REBASE, _K.MERGE))
        kind = object_kind(near)
        if kind in (_K.PULL_REQUEST, _K.COMMIT, _K.MIGRATE, _K.PUBLISH) and not (word == "added" and kind is _K.COMMIT):
            if kind is _K.PULL_REQUEST and word == "updated":
                return base._replace(
                    achievement=Achievement.HAPPENED, kinds=(_K.PUSH, _K.EDIT, _K.PULL_REQUEST), any_kind=True
                )
            if kind is not _K.MIGRATE or word.startswith("appli"):
                return base._replace(achievement=Achievement.HAPPENED, kinds=(kind,))
    return base


_CHANGES = re.compile(r"\b(?:changes?|edits?|modifications?|fix(?:es)?|updates?|corrections?|adjustments?)\b")


_CARRIED_OUT = ("exécuté", "executed")
_RUNNABLE = re.compile(r"\b(?:repro\w*|scripts?|commandes?|commands?|quer(?:y|ies)|requêtes?)\b")


def _acted(base: OutcomeClaim, achievement: Achievement, around: str, left: str) -> OutcomeClaim | None:
    """Something was run, started, read or looked at; None where nothing says what."""
    claim = base._replace(achievement=achievement, kinds=(_K.RUN, _K.TEST))
    if achievement is Achievement.STARTED:
        if re.search(r"(?<![\w-])(?:sub-?)?agents?\s+$", left):
            return None
        only = re.search(r"\b(?:only|seulement)\b", left) is not None
        return claim._replace(only=only) if LAUNCHABLE.search(around) else None
    if achievement is Achievement.READ:
        return (
            claim if base.targets or re.search(r"\b(?:documents?|fichiers?|files?|docs?|config\w*)\b", around) else None
        )
    if achievement is Achievement.RAN:
        kinds = tuple(kind for pattern, kind in CHECK_NOUNS if pattern.search(around))
        if base_form(base.phrase) in _CARRIED_OUT and not (kinds or base.targets or _RUNNABLE.search(around)):
            return done(base, around)
        return claim._replace(kinds=kinds or claim.kinds)
    return claim


_CLAUSE_END = re.compile(r"[;—–]|\s-\s|\.\s")
_TICKED_LABEL = re.compile(r"[\s>*•✓✅-]*(?:\[x\]\s*)?`¤+`[\s:—–-]*")


def _label_start(masked: str, start: int) -> int:
    """Where a label of code in front of the clause begins ("`a/b.go` — replaced X"); ``start`` where there is none."""
    return 0 if start and _TICKED_LABEL.fullmatch(masked, 0, start) else start


_STRONG = re.compile(r"[;—–!?|]|\.\s|, (?:but|and)\b")
_WEAK = re.compile(
    r"[;—–!?|,:]|\.\s|\b(?:which|that|since|for|to|in|with|by|from|where|when|so|because|on|dans|pour|sur)\b"
)


_NUMBERED = re.compile(r"(?<![\w.,])(\d[\d,.]*|no|zero)\s+((?:[a-z-]+\s+){0,2}[a-z-]+)")


def _measured(text: Text) -> list[OutcomeClaim]:
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
    return [OutcomeClaim(Achievement.MEASURED, (), numbers=numbers, phrase=bare[:60], scope=words_of(bare))]


_UNTOUCHED = re.compile(
    r"\b(?:i|we)\s+(?:didn't|did not|haven't|have not|never)\s+(?:touch|modif|chang|edit)\w*|\b(?:untouched|unmodified)\b"
    r"|\bje n'ai pas (?:touché|modifié)"
)


def _untouched(text: Text) -> list[OutcomeClaim]:
    """ "files I didn't touch": refuted by a diff that shows them."""
    match = _UNTOUCHED.search(text.shown.lower())
    if match is None:
        return []
    targets = tuple(
        dict.fromkeys((*targets_of(text, 0, len(text.shown)), *(code for _, code in text.ticked if "/" in code)))
    )
    return [OutcomeClaim(Achievement.UNTOUCHED, (_K.DIFF,), targets, phrase=match.group(), at=match.start())]
