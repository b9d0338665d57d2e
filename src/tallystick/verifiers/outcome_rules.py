"""One rule for each sort of achievement: which signals bear on the claim, and what they say of it (OUTCOME.1-7)."""

from __future__ import annotations

from collections.abc import Callable

from tallystick.model.claim import Outcome
from tallystick.verifiers.outcome_checks import check, nothing_of, passed
from tallystick.verifiers.outcome_claims import OutcomeClaim
from tallystick.verifiers.outcome_files import in_commit, names_file, untouched, written
from tallystick.verifiers.outcome_scope import differs, of_another
from tallystick.verifiers.outcome_session import Finding, Session, same_hash, seen, unwitnessed
from tallystick.verifiers.outcome_shown import loaded, measured, not_found, reproduced, signed, started, verified
from tallystick.verifiers.outcome_words import Achievement
from tallystick.verifiers.programs import LOOKING, CommandKind
from tallystick.verifiers.signals import Ended, Result, is_code, result_of
from tallystick.verifiers.speech import Speech, SpeechKind

_K = CommandKind


def judge(claim: OutcomeClaim, session: Session) -> Finding:
    """What the session says of ``claim``."""
    found = _RULES[claim.achievement](claim, session)
    taken_back = _taken_back(claim, session, found)
    if taken_back is not None:
        return taken_back
    if found.outcome is Outcome.UNWITNESSED and session.reported():
        return found._replace(reason="reported: only another agent's report says so")
    return found


_COMPLAINABLE = frozenset((Achievement.FIXED, Achievement.WORKS, Achievement.DONE, Achievement.ABSENT))


def _taken_back(claim: OutcomeClaim, session: Session, found: Finding) -> Finding | None:
    """The claim contradicted by a person's next turn or by the assistant's own retraction, or None."""
    next_turn = session.memory.next_turn(session.position)
    for speech in session.memory.speeches_after(session.position):
        if speech.kind is SpeechKind.RETRACTION:
            if _retracts(speech, claim):
                return Finding(Outcome.CONTRADICTED, "the assistant takes it back", speeches=(speech,))
        elif speech.kind is SpeechKind.POINTER:
            if session.memory.turns_between(session.position, speech.position) <= _SOON and _points(
                speech, claim, session
            ):
                return Finding(Outcome.CONTRADICTED, "a person names what was not found", speeches=(speech,))
        elif _is_answer(speech, claim, session, next_turn) and _complains(speech, claim, found):
            return Finding(Outcome.CONTRADICTED, "a person's next words say otherwise", speeches=(speech,))
    return None


_SOON = 3
"""Turns of a person within which what they say can still be about the claim."""


def _is_answer(speech: Speech, claim: OutcomeClaim, session: Session, next_turn: int | None) -> bool:
    """Whether a complaint is about the claim: it is the person's next turn, or comes soon and names what the claim names."""
    if next_turn is None or speech.position == next_turn:
        return True
    soon = session.memory.turns_between(session.position, speech.position) <= _SOON
    return soon and any(len(target) > 6 and target in speech.text for target in claim.targets)


def _points(speech: Speech, claim: OutcomeClaim, session: Session) -> bool:
    """Whether a person names the very thing that was not found, and the session then reads it."""
    if claim.achievement is not Achievement.NOT_FOUND or not claim.scope:
        return False
    places = [place for place in speech.text.split() if all(word[:5] in place.lower() for word in claim.scope)]
    read = [e for e in session.memory.ended((_K.READ,), None, session.thread) if e.signal.position > speech.position]
    return any(place in e.signal.command and e.result is Result.OK for place in places for e in read[:40])


def _retracts(speech: Speech, claim: OutcomeClaim) -> bool:
    """A retraction takes back what names the same commit or file; never that a commit or a push took place."""
    if claim.achievement is Achievement.HAPPENED:
        return False
    if any(f"not {commit}" in speech.text or f"not `{commit}" in speech.text for commit in claim.commits):
        return True
    named = [*claim.commits, *(t for t in claim.targets if "/" in t or "." in t)]
    return any(len(name) > 4 and name in speech.text for name in named)


def _complains(speech: Speech, claim: OutcomeClaim, found: Finding) -> bool:
    """A complaint that names a check speaks of that check alone, and yields to a witness; a bare one of fixes."""
    if speech.kinds:
        bears = speech.kinds.intersection(claim.kinds) and claim.achievement is Achievement.PASSED
        return bool(bears) and not claim.any_kind and found.outcome is not Outcome.WITNESSED
    return claim.achievement in _COMPLAINABLE


def _happened(claim: OutcomeClaim, session: Session) -> Finding:
    """A commit, push, merge, deployment …: by the latest result of that kind and scope."""
    kind = claim.kinds[0]
    if kind is _K.BUILD:
        return check(claim, kind, session)
    ran = [e for e in session.ended(_equivalents(claim.kinds)) if _counts(e, kind) or e.action.kind in claim.kinds]
    if claim.commits:
        made = _by_hash(claim, session, ran)
        if made is not None:
            return made
    ran = [e for e in ran if _names_it(e, claim)]
    told = [e for e in ran if e.result is not Result.UNKNOWN]
    if not told:
        return unwitnessed(nothing_of(kind, session))
    other = of_another(claim, kind, told)
    told = [e for e in told if not differs(claim, kind, e)] or told
    latest = told[-1]
    other = differs(claim, kind, latest) or (other if kind is _K.INSTALL else "")
    if other:
        return seen(Outcome.UNWITNESSED, other, latest)
    if latest.result is Result.FAILED:
        return _failed_once(kind, told, latest, session)
    if latest.result is Result.WEAK:
        return seen(Outcome.UNWITNESSED, f"weak witness: the {kind} result says nothing of how it went", latest)
    if kind is _K.PUSH:
        unpushed = [
            e
            for e in session.ended((_K.COMMIT,))
            if e.result is Result.OK and e.signal.position > latest.signal.position
        ]
        if unpushed:
            return seen(Outcome.UNWITNESSED, "the last push predates the last commit", latest)
    return seen(Outcome.WITNESSED, f"the last {kind} succeeded", latest)


def _failed_once(kind: CommandKind, told: list[Ended], latest: Ended, session: Session) -> Finding:
    """The latest attempt failed. "Nothing to commit" after a commit leaves that commit made."""
    if kind is _K.COMMIT and "nothing" in latest.signal.git.words:
        earlier = [e for e in told if e.result is Result.OK]
        if earlier:
            return seen(Outcome.WITNESSED, "committed, and nothing is left to commit", earlier[-1])
        if "clean_tree" in latest.signal.git.words:
            return seen(Outcome.UNWITNESSED, "there was nothing to commit", latest)
    concluding = [e for e in session.ended((_K.COMMIT, kind)) if e.result is Result.OK and _is_later(e, latest)]
    if kind in (_K.MERGE, _K.REBASE) and concluding:
        return seen(Outcome.WITNESSED, f"the {kind} stopped, and was concluded afterwards", concluding[-1])
    return seen(Outcome.CONTRADICTED, f"the last {kind} failed", latest)


def _is_later(ended: Ended, than: Ended) -> bool:
    return ended.signal.position > than.signal.position


def _equivalents(kinds: tuple[CommandKind, ...]) -> tuple[CommandKind, ...]:
    """Kinds whose results can show the same thing: a merge is also seen in its commit and on the pull request's page."""
    if kinds[0] is _K.MERGE:
        return (*kinds, _K.COMMIT, _K.STATUS)
    if kinds[0] is _K.COMMIT:
        return (*kinds, _K.STATUS)
    if kinds[0] is _K.PUBLISH:
        return (*kinds, _K.RUN)
    return kinds


def _counts(ended: Ended, kind: CommandKind) -> bool:
    """Whether a result of an equivalent kind speaks of ``kind`` at all."""
    own, git = ended.action.kind, ended.signal.git
    if own is kind:
        return True
    if kind is _K.MERGE:
        if own is _K.COMMIT:
            return ended.result is Result.OK and "Merge " in ended.signal.excerpt
        return own is _K.STATUS and "merged" in git.words
    if kind is _K.COMMIT:
        return own is _K.STATUS and ended.action.program == "git" and _is_clean(ended)
    return own not in (_K.STATUS, _K.RUN)


def _names_it(ended: Ended, claim: OutcomeClaim) -> bool:
    """Whether the result is about the pull request, branch or file that the claim names; True when it names none."""
    numbers = [t.lstrip("#").rsplit("#", 1)[-1] for t in claim.targets if t.lstrip("#").rsplit("#", 1)[-1].isdigit()]
    if not numbers:
        return True
    return any(
        n in ended.action.targets or n in ended.signal.git.pulls or f"#{n}" in ended.signal.excerpt for n in numbers
    )


def _by_hash(claim: OutcomeClaim, session: Session, ran: list[Ended]) -> Finding | None:
    """A claim that names a commit: made in the session, or pushed; refuted when another one was made or shown."""
    for ended in reversed(session.ended((_K.COMMIT, _K.PUSH, _K.MERGE, _K.REBASE))):
        hashes = (*ended.signal.git.made, *ended.signal.git.shown)
        if any(same_hash(c, h) for c in claim.commits for h in hashes):
            if claim.kinds[0] is _K.PUSH:
                pushed = [e for e in ran if e.result is Result.OK and e.signal.position >= ended.signal.position]
                return seen(Outcome.WITNESSED, "the commit was made and pushed", ended, pushed[-1]) if pushed else None
            return seen(Outcome.WITNESSED, "the commit was made in this session", ended)
    made = [e for e in ran if e.signal.git.made]
    if claim.kinds[0] is _K.COMMIT and made and not _shown(claim, session):
        return seen(Outcome.CONTRADICTED, "the commit that was made has another hash", made[-1])
    return None


def _shown(claim: OutcomeClaim, session: Session) -> bool:
    return any(same_hash(c, h) for s in session.before for h in (*s.git.shown, *s.git.made) for c in claim.commits)


def _fixed(claim: OutcomeClaim, session: Session) -> Finding:
    """A fix: an edit, and a check or run that passed after it; of prose the edit alone."""
    if claim.commits:
        return in_commit(claim, session)
    if claim.kinds in ((_K.LINT,), (_K.TYPECHECK,), (_K.BUILD,), (_K.FORMAT,)):
        return check(claim._replace(targets=(), scope=()), claim.kinds[0], session)
    edit = claim._replace(
        kinds=(_K.CREATE, _K.EDIT, _K.RENAME, _K.DELETE), targets=tuple(t for t in claim.targets if names_file(t))
    )
    landed = written(edit, session)
    if landed.outcome is not Outcome.WITNESSED:
        return _without_edit(session) or landed
    code = [path for s, path in session.edits if s.position > session.turn and (path == "*" or is_code(path))]
    if not code and not any(is_code(p) for s in landed.signals for a in s.actions for p in a.targets):
        return landed
    return _since_edit(landed, session, claim.kinds)


def _without_edit(session: Session) -> Finding | None:
    """A fix made by a command (``git read-tree``, an installation) and looked at afterwards."""
    ended = [e for e in session.ended(frozenset(CommandKind) - {_K.OTHER}) if e.signal.position > session.turn]
    made = [e for e in ended if e.result is Result.OK and e.action.kind not in LOOKING | _CHECKING | _SENDING]
    if not made:
        return None
    looked = [e for e in ended if e.signal.position > made[-1].signal.position and e.action.kind in _SHOWING]
    if not looked or looked[-1].result not in (Result.OK, Result.WEAK) or looked[-1].signal.complains:
        return None
    return seen(
        Outcome.WITNESSED,
        "a command of this turn succeeded, and what was looked at since is in order",
        made[-1],
        looked[-1],
    )


_SENDING = frozenset((_K.COMMIT, _K.PUSH, _K.PULL_REQUEST, _K.PUBLISH, _K.STAGE))
"""Kinds that pass on what is there, and so mend nothing."""
_CHECKING = frozenset((_K.TEST, _K.LINT, _K.BUILD, _K.TYPECHECK, _K.FORMAT))
_SHOWING = frozenset((*_CHECKING, _K.STATUS, _K.RUN))


def _since_edit(landed: Finding, session: Session, kinds: tuple[CommandKind, ...]) -> Finding:
    """The edit that landed, together with what was run after the last edit of code."""
    edited = session.last_code_edit
    ran = [
        e for e in session.ended(kinds) if e.signal.position >= edited and (_ran_fine(e) or e.result is Result.FAILED)
    ]
    fine = [e for e in ran if _ran_fine(e)]
    if not ran:
        return unwitnessed("edited, and nothing was run since")
    if not fine:
        return seen(Outcome.UNWITNESSED, "edited, and what was run since failed", ran[-1])
    last = ran[-1]
    if last.result is Result.FAILED:
        if last.action.kind is _K.TEST:
            return seen(Outcome.UNWITNESSED, "the last test run since the edit failed", last)
        if last.action.identity == fine[-1].action.identity:
            return seen(Outcome.UNWITNESSED, "what passed after the edit has failed since", last)
    return Finding(
        Outcome.WITNESSED,
        "edited, and a run since the edit passed",
        (*landed.signals, fine[-1].signal),
        (*landed.results, fine[-1].result),
    )


def _ran_fine(ended: Ended) -> bool:
    """Passed; or a run whose status a pipe hides, that printed something and complains of nothing."""
    if ended.result is not Result.WEAK:
        return ended.result is Result.OK
    signal = ended.signal
    tests = signal.tests
    quiet = not (signal.complains or signal.ended_badly or tests.said_failed or tests.empty or tests.cached)
    return quiet and not signal.blank and ended.action.kind in (_K.RUN, _K.TEST)


def _works(claim: OutcomeClaim, session: Session) -> Finding:
    """It works, runs, is correct: a run or a test that passed since the last edit of code."""
    edited = session.last_code_edit
    ran = [e for e in session.ended((*claim.kinds, _K.LINT, _K.TYPECHECK)) if _ran_fine(e) or e.result is Result.FAILED]
    since = [e for e in ran if e.signal.position >= edited]
    fine = [e for e in since if _ran_fine(e)]
    if fine:
        if since[-1].result is Result.FAILED and since[-1].action.identity == fine[-1].action.identity:
            return seen(Outcome.UNWITNESSED, "the same run failed afterwards", since[-1])
        return seen(Outcome.WITNESSED, "a run since the last edit passed", fine[-1])
    if since:
        return seen(Outcome.UNWITNESSED, "what was run since the last edit failed", since[-1])
    if any(_ran_fine(e) for e in ran):
        return seen(Outcome.STALE_WITNESS, "the last run predates the last edit", ran[-1])
    return unwitnessed("nothing was run")


def _done(claim: OutcomeClaim, session: Session) -> Finding:
    """ "Done.": the last thing done in this turn succeeded."""
    del claim
    doing = [
        Ended(s, a, result_of(s, a))
        for s in session.before
        for a in s.actions
        if a.kind not in LOOKING and s.position > session.turn
    ]
    told = [e for e in doing if e.result in (Result.OK, Result.FAILED)]
    if not told:
        return unwitnessed("nothing that was done in this turn shows a result")
    if told[-1].result is Result.FAILED:
        return seen(Outcome.UNWITNESSED, "the last thing done failed", told[-1])
    return seen(Outcome.WITNESSED, "the last thing done succeeded", told[-1])


def _is_clean(ended: Ended) -> bool:
    if "clean_tree" in ended.signal.git.words:
        return True
    return ended.signal.blank and ended.action.task == "status" and ended.result is Result.OK


def _clean_tree(claim: OutcomeClaim, session: Session) -> Finding:
    """The working tree is clean: the latest status says so, and nothing was edited since."""
    del claim
    asked = [e for e in session.ended((_K.STATUS,)) if e.action.task == "status"]
    if not asked:
        committed = [e for e in session.ended((_K.COMMIT,)) if "clean_tree" in e.signal.git.words]
        return (
            seen(Outcome.WITNESSED, "nothing was left to commit", committed[-1])
            if committed
            else unwitnessed("no status was asked")
        )
    latest = asked[-1]
    if not _is_clean(latest):
        return seen(Outcome.UNWITNESSED, "the last status lists changes", latest)
    if any(s.position > latest.signal.position for s, _ in session.edits):
        return seen(Outcome.STALE_WITNESS, "the last status predates the last edit", latest)
    return seen(Outcome.WITNESSED, "the last status is clean", latest)


def _absent(claim: OutcomeClaim, session: Session) -> Finding:
    """Conflicts resolved: a search that found none, or the merge, rebase or commit that concluded."""
    edited = max((s.position for s, _ in session.edits), default=-1)
    searched = [s for s in session.before if s.negative and s.position >= edited]
    concluded = [
        e
        for e in session.ended((_K.MERGE, _K.REBASE, _K.COMMIT))
        if e.result is Result.OK and e.signal.position >= edited and e.action.task != "pull"
    ]
    if searched:
        return Finding(Outcome.WITNESSED, "a search found none", (searched[-1],), (Result.OK,))
    if concluded:
        return seen(Outcome.WITNESSED, "the merge, rebase or commit that needed it concluded", concluded[-1])
    del claim
    return unwitnessed("no search, merge or commit since the last edit shows it")


_RULES: dict[Achievement, Callable[[OutcomeClaim, Session], Finding]] = {
    Achievement.PASSED: passed,
    Achievement.HAPPENED: _happened,
    Achievement.WRITTEN: written,
    Achievement.REMOVED: written,
    Achievement.FIXED: _fixed,
    Achievement.WORKS: _works,
    Achievement.REPRODUCED: reproduced,
    Achievement.VERIFIED: verified,
    Achievement.DONE: _done,
    Achievement.MEASURED: measured,
    Achievement.CLEAN_TREE: _clean_tree,
    Achievement.ABSENT: _absent,
    Achievement.UNTOUCHED: untouched,
    Achievement.NOT_FOUND: not_found,
    Achievement.STARTED: started,
    Achievement.RAN: reproduced,
    Achievement.READ: loaded,
    Achievement.SIGNED: signed,
}
