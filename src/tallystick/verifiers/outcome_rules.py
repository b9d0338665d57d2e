"""One rule for each sort of achievement: which signals bear on the claim, and what they say of it (OUTCOME.1-7)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from tallystick.model.claim import Outcome
from tallystick.verifiers.commands import Action
from tallystick.verifiers.outcome_claims import Achievement, OutcomeClaim
from tallystick.verifiers.programs import CHECKS, LOOKING, CommandKind
from tallystick.verifiers.signals import Result, Signal, Signals, edits_of, is_code, result_of
from tallystick.verifiers.speech import Speech, SpeechKind

_K = CommandKind
_RUNS = (_K.TEST, _K.RUN, _K.BUILD, _K.LINT, _K.TYPECHECK)


class Finding(NamedTuple):
    """What the session says of one claim."""

    outcome: Outcome
    reason: str
    signals: tuple[Signal, ...] = ()
    results: tuple[Result | None, ...] = ()
    """How the action that matters ended, for each signal."""
    speeches: tuple[Speech, ...] = ()


class Ended(NamedTuple):
    """One action of a signal, and how it ended."""

    signal: Signal
    action: Action
    result: Result


class Session:
    """The signals of a session as seen from where the words were said."""

    def __init__(self, signals: Signals, position: int | None, thread: str) -> None:
        self.memory = signals
        self.position = position
        self.thread = thread
        seen = signals.before(position, thread)
        self.reports = [s for s in seen if s.delegated]
        self.before = [s for s in seen if not s.delegated]
        self.after = [s for s in signals.after(position, thread) if not s.delegated]
        self.turn = signals.turn_start(position)
        self.edits = [(s, path) for s in self.before for path in edits_of(s)]

    def last_code_edit(self) -> int:
        """Position of the last edit of code; -1 when there was none."""
        return max((s.position for s, path in self.edits if path == "*" or is_code(path)), default=-1)

    def ended(self, kinds: Iterable[CommandKind], signals: list[Signal] | None = None) -> list[Ended]:
        """Actions of these kinds with how they ended, oldest first; those that only pretend left out."""
        wanted = frozenset(kinds)
        return [
            Ended(s, a, result_of(s, a))
            for s in (self.before if signals is None else signals)
            for a in s.actions
            if a.kind in wanted and not a.vacuous
        ]


def judge(claim: OutcomeClaim, session: Session) -> Finding:
    """What the session says of ``claim``."""
    found = _RULES[claim.achievement](claim, session)
    taken_back = _taken_back(claim, session, found)
    if taken_back is not None:
        return taken_back
    if found.outcome is Outcome.UNWITNESSED and _reported(session):
        return found._replace(reason="reported: only another agent's report says so")
    return found


def _reported(session: Session) -> bool:
    """Whether the turn's work is another agent's, told in a report."""
    return any(report.position > session.turn for report in session.reports)


def _seen(outcome: Outcome, reason: str, *ended: Ended) -> Finding:
    return Finding(outcome, reason, tuple(e.signal for e in ended), tuple(e.result for e in ended))


def _none(reason: str) -> Finding:
    return Finding(Outcome.UNWITNESSED, reason)


# --- what is said afterwards -------------------------------------------------------------------------------------

_COMPLAINABLE = frozenset((Achievement.FIXED, Achievement.WORKS, Achievement.DONE, Achievement.ABSENT))


def _taken_back(claim: OutcomeClaim, session: Session, found: Finding) -> Finding | None:
    """The claim contradicted by a person's next turn or by the assistant's own retraction, or None."""
    next_turn = session.memory.next_turn(session.position)
    for speech in session.memory.speeches_after(session.position):
        if speech.kind is SpeechKind.RETRACTION:
            if _retracts(speech, claim):
                return Finding(Outcome.CONTRADICTED, "the assistant takes it back", speeches=(speech,))
        elif next_turn is None or speech.position == next_turn:
            if _complains(speech, claim, found):
                return Finding(Outcome.CONTRADICTED, "a person's next words say otherwise", speeches=(speech,))
    return None


def _retracts(speech: Speech, claim: OutcomeClaim) -> bool:
    """A retraction takes back what names the same commit or file."""
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


# --- checks ------------------------------------------------------------------------------------------------------


def _passed(claim: OutcomeClaim, session: Session) -> Finding:
    """Tests, lint, build or type check pass: each kind that is claimed needs its own witness."""
    if claim.any_kind:
        return _all_green(session)
    found = [_check(claim, kind, session) for kind in claim.kinds]
    worst = min(found, key=lambda f: _ORDER.index(f.outcome))
    if worst.outcome is not Outcome.WITNESSED:
        return worst
    return Finding(
        Outcome.WITNESSED,
        worst.reason,
        tuple(s for f in found for s in f.signals),
        tuple(r for f in found for r in f.results),
    )


_ORDER = (Outcome.CONTRADICTED, Outcome.STALE_WITNESS, Outcome.UNWITNESSED, Outcome.WITNESSED)


def _check(claim: OutcomeClaim, kind: CommandKind, session: Session) -> Finding:
    """One kind of check, by the latest result of the claim's scope."""
    ran = [e for e in session.ended((kind,)) if e.result is not Result.UNKNOWN]
    if not ran:
        return _later_failure(claim, kind, session) or _none(f"no {kind} result in the session")
    scoped = _in_scope(ran, claim)
    if not scoped:
        return _none(f"the {kind} results are of another scope")
    told = [e for e in scoped if e.result is not Result.WEAK]
    if not told:
        return _seen(Outcome.UNWITNESSED, f"weak witness: {_weakness(scoped[-1])}", scoped[-1])
    latest = told[-1]
    edited = session.last_code_edit() if kind is not CommandKind.PIPELINE else -1
    if latest.result is Result.FAILED and not _named_pass(latest, claim):
        if edited > latest.signal.position:
            return _seen(Outcome.UNWITNESSED, f"the last {kind} run failed, and predates the last edit", latest)
        return _seen(Outcome.CONTRADICTED, f"the last {kind} run failed", latest)
    if edited > latest.signal.position:
        return _seen(Outcome.STALE_WITNESS, f"last {kind} run predates the last edit", latest)
    wider = _wider_failure(told, latest, claim, edited)
    if wider is not None:
        return _seen(Outcome.UNWITNESSED, f"a wider {kind} run failed, and only a part was run again", wider, latest)
    return _seen(Outcome.WITNESSED, f"the last {kind} run passed", latest)


def _weakness(ended: Ended) -> str:
    tests = ended.signal.tests
    if tests.cached:
        return "every result is cached"
    if tests.empty or tests.passed == 0:
        return "no test was run"
    return "a pipe hides the exit status, and no summary is printed"


def _in_scope(ran: list[Ended], claim: OutcomeClaim) -> list[Ended]:
    """The results whose scope covers the claim's: what it names, or its words (``integration``), else all."""
    if claim.targets:
        return [e for e in ran if _covers(e, claim.targets)]
    for word in claim.scope:
        narrowed = [e for e in ran if word in e.signal.command.lower() or word in e.action.task]
        if narrowed and len(claim.scope) == 1:
            return narrowed
    return ran


def _covers(ended: Ended, targets: tuple[str, ...]) -> bool:
    """Whether a run is about one of ``targets``: named in it, in its test names, or not narrowed at all."""
    action, tests = ended.action, ended.signal.tests
    for target in targets:
        name = target.strip("`() ").removeprefix("./")
        if not name:
            continue
        if (
            name in action.selection
            or name in ended.signal.command
            or any(_same_place(name, t) for t in action.targets)
        ):
            return True
        if name in tests.passed_names or name in tests.failed_names:
            return True
    return not action.selection and all(t in (".", "./...", "...", "./") for t in action.targets)


def _same_place(name: str, target: str) -> bool:
    """Whether two paths or packages name the same place, or one lies in the other."""
    a, b = name.strip("./").removesuffix("/..."), target.strip("./").removesuffix("/...").removesuffix("/")
    return bool(a and b) and (
        a == b or a.endswith("/" + b) or b.endswith("/" + a) or a.startswith(b + "/") or b.startswith(a + "/")
    )


def _named_pass(latest: Ended, claim: OutcomeClaim) -> bool:
    """A failed run that lists the claimed tests as passed, and none of them as failed (case 14)."""
    tests = latest.signal.tests
    names = [t.strip("`() ") for t in claim.targets]
    return bool(names) and all(n in tests.passed_names and n not in tests.failed_names for n in names)


def _wider_failure(told: list[Ended], latest: Ended, claim: OutcomeClaim, edited: int) -> Ended | None:
    """A run that failed since the last edit while only a narrower one passed after it, for a claim about all."""
    if not claim.everything or not (latest.action.selection or latest.action.targets):
        return None
    for ended in told[-8:]:
        if (
            ended.result is Result.FAILED
            and ended.signal.position > edited
            and ended.signal.position < latest.signal.position
        ):
            if (
                ended.action.program == latest.action.program
                and not ended.action.selection
                and not ended.action.targets
            ):
                return ended
    return None


def _later_failure(claim: OutcomeClaim, kind: CommandKind, session: Session) -> Finding | None:
    """Nothing was run before the words; the same check run right after them, with no edit between, failed."""
    if claim.targets:
        return None
    for signal in session.after:
        if any(is_code(path) for path in edits_of(signal)):
            return None
        for ended in session.ended((kind,), [signal]):
            if ended.result is Result.FAILED and not ended.action.selection:
                return _seen(Outcome.CONTRADICTED, f"no {kind} run before it, and the next one failed", ended)
            if ended.result is Result.OK:
                return None
    return None


def _all_green(session: Session) -> Finding:
    """ "All green", "everything passes": every kind of check that was run must stand as passed."""
    edited = session.last_code_edit()
    latest: dict[CommandKind, Ended] = {}
    for ended in session.ended((*CHECKS, _K.FORMAT)):
        if ended.result in (Result.OK, Result.FAILED):
            latest[ended.action.kind] = ended
    if not latest:
        return _none("no check was run, or none says how it went")
    last = max(latest.values(), key=lambda e: e.signal.position)
    current = [e for e in latest.values() if e.signal.position >= edited]
    failed = [e for e in current if e.result is Result.FAILED]
    if failed:
        worst = max(failed, key=lambda e: e.signal.position)
        outcome = Outcome.CONTRADICTED if worst.signal is last.signal else Outcome.UNWITNESSED
        return _seen(outcome, f"the last {worst.action.kind} run failed", worst)
    if not current:
        stale = last.result is Result.OK
        return _seen(
            Outcome.STALE_WITNESS if stale else Outcome.UNWITNESSED, "the last check predates the last edit", last
        )
    return _seen(Outcome.WITNESSED, "the checks that were run passed", *current)


# --- what happened once ------------------------------------------------------------------------------------------


def _happened(claim: OutcomeClaim, session: Session) -> Finding:
    """A commit, push, merge, deployment …: by the latest result of that kind and scope."""
    kind = claim.kinds[0]
    if kind is _K.BUILD:
        return _check(claim, kind, session)
    ran = [e for e in session.ended(_equivalents(claim.kinds)) if _counts(e, kind)]
    if claim.commits:
        made = _by_hash(claim, session, ran)
        if made is not None:
            return made
    ran = [e for e in ran if _names_it(e, claim)]
    told = [e for e in ran if e.result is not Result.UNKNOWN]
    if not told:
        return _none(f"no {kind} result in the session")
    latest = told[-1]
    if latest.result is Result.FAILED:
        return _failed_once(kind, told, latest)
    if latest.result is Result.WEAK:
        return _seen(Outcome.UNWITNESSED, f"weak witness: the {kind} result says nothing of how it went", latest)
    if kind is _K.PUSH:
        unpushed = [
            e
            for e in session.ended((_K.COMMIT,))
            if e.result is Result.OK and e.signal.position > latest.signal.position
        ]
        if unpushed:
            return _seen(Outcome.UNWITNESSED, "the last push predates the last commit", latest)
    return _seen(Outcome.WITNESSED, f"the last {kind} succeeded", latest)


def _failed_once(kind: CommandKind, told: list[Ended], latest: Ended) -> Finding:
    """The latest attempt failed. "Nothing to commit" after a commit leaves that commit made."""
    if kind is _K.COMMIT and "nothing" in latest.signal.git.words:
        earlier = [e for e in told if e.result is Result.OK]
        if earlier:
            return _seen(Outcome.WITNESSED, "committed, and nothing is left to commit", earlier[-1])
        if "clean_tree" in latest.signal.git.words:
            return _seen(Outcome.UNWITNESSED, "there was nothing to commit", latest)
    return _seen(Outcome.CONTRADICTED, f"the last {kind} failed", latest)


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
        if any(_same_hash(c, h) for c in claim.commits for h in hashes):
            if claim.kinds[0] is _K.PUSH:
                pushed = [e for e in ran if e.result is Result.OK and e.signal.position >= ended.signal.position]
                return _seen(Outcome.WITNESSED, "the commit was made and pushed", ended, pushed[-1]) if pushed else None
            return _seen(Outcome.WITNESSED, "the commit was made in this session", ended)
    made = [e for e in ran if e.signal.git.made]
    if claim.kinds[0] is _K.COMMIT and made and not _shown(claim, session):
        return _seen(Outcome.CONTRADICTED, "the commit that was made has another hash", made[-1])
    return None


def _same_hash(a: str, b: str) -> bool:
    return a.startswith(b[:7]) and (a.startswith(b) or b.startswith(a))


def _shown(claim: OutcomeClaim, session: Session) -> bool:
    return any(_same_hash(c, h) for s in session.before for h in (*s.git.shown, *s.git.made) for c in claim.commits)


# --- files -------------------------------------------------------------------------------------------------------


def _written(claim: OutcomeClaim, session: Session) -> Finding:
    """Something was created, changed or removed: by the result of the edit, or of the command that did it."""
    if claim.commits:
        return _in_commit(claim, session)
    paths = [t for t in claim.targets if _looks_like_path(t)]
    kinds = (_K.CREATE, _K.EDIT, _K.RENAME, _K.DELETE) if claim.achievement is Achievement.REMOVED else claim.kinds
    ran = [e for e in session.ended(kinds) if e.action.program != "git" or e.action.task not in ("stash", "init")]
    if paths:
        return _of_paths(paths, ran, session)
    done = [e for e in ran if e.result is Result.OK]
    in_turn = [e for e in done if e.signal.position > session.turn]
    if in_turn:
        return _unless_undone(in_turn[-1], session, "an edit of this turn succeeded")
    related = [e for e in done if _related(e, claim)]
    if related:
        return _unless_undone(related[-1], session, "an edit of a file of that name succeeded")
    if ran and ran[-1].signal.position > session.turn and ran[-1].result is Result.FAILED:
        return _seen(Outcome.UNWITNESSED, "the edits of this turn failed", ran[-1])
    return _none("no edit in this turn")


def _looks_like_path(target: str) -> bool:
    """A file or folder, as against a symbol, an option or a phrase in code."""
    if " " in target.strip() or target.startswith(("-", "http", "#", "//")) or target.endswith(")"):
        return False
    name = target.rstrip("/").rsplit("/", 1)[-1]
    stem, dot, ending = name.rpartition(".")
    known = bool(dot) and ending.isalnum() and len(ending) <= 8 and (not ending[0].isupper() or "/" in target)
    return ("/" in target or known or (name.isupper() and len(name) > 4)) and (
        bool(stem) or "/" in target or name.isupper() or bool(dot)
    )


def _of_paths(paths: list[str], ran: list[Ended], session: Session) -> Finding:
    """Every named file needs the result of an edit of it; an attempt that failed and was not made again refutes it."""
    witnesses: list[Ended] = []
    for path in paths:
        of_path = [e for e in ran if any(_same_file(path, t) for t in (*e.action.targets, *e.signal.paths))]
        told = [e for e in of_path if e.result in (Result.OK, Result.FAILED)]
        if not told:
            seen = [e for e in of_path if e.result is Result.WEAK]
            if seen:
                return _seen(Outcome.UNWITNESSED, f"weak witness for {path}", seen[-1])
            continue
        succeeded = [e for e in told if e.result is Result.OK]
        if not succeeded:
            return _seen(Outcome.CONTRADICTED, f"the change of {path} failed", told[-1])
        witnesses.append(succeeded[-1])
    if not witnesses:
        return _none("no result of an edit of " + ", ".join(paths[:3]))
    return _unless_undone(witnesses[-1], session, "its edit succeeded")


def _same_file(named: str, target: str) -> bool:
    """Whether a named file is the edited one: equal, or one is the tail of the other at a path boundary."""
    a = named.strip("`").split(":", 1)[0].removeprefix("./").removeprefix("~").strip("/")
    b = target.replace("\\", "/").removeprefix("./").removeprefix("~").strip("/")
    if "$" in b:
        return _fits(a, b)
    return bool(a and b) and (a == b or b.endswith("/" + a) or a.endswith("/" + b) or ("/" + a + "/") in ("/" + b))


def _fits(path: str, pattern: str) -> bool:
    """Whether a path is one that a word with shell variables (``$D/${ID}.json``) can stand for."""
    at = 0
    pieces = [piece for piece in _VARIABLE.split(pattern) if piece]
    for piece in pieces:
        found = path.find(piece.removeprefix("/"), at)
        if found < 0:
            return False
        at = found + len(piece)
    return bool(pieces) and len("".join(pieces)) > 6 and path.endswith(pieces[-1])


_VARIABLE = re.compile(r"\$\{?\w{1,60}\}?")


def _unless_undone(ended: Ended, session: Session, reason: str) -> Finding:
    """The edit as a witness, unless the session took it back afterwards."""
    for signal in session.before:
        if signal.position <= ended.signal.position:
            continue
        for action in signal.actions:
            if (
                action.kind is _K.UNDO
                and action.task in ("checkout", "restore", "reset")
                and result_of(signal, action) is Result.OK
            ):
                if not action.targets or any(_same_file(t, p) for t in action.targets for p in ended.action.targets):
                    return _seen(
                        Outcome.UNWITNESSED, "the edit was taken back afterwards", Ended(signal, action, Result.OK)
                    )
    return _seen(Outcome.WITNESSED, reason, ended)


def _related(ended: Ended, claim: OutcomeClaim) -> bool:
    """Whether the words of the claim name the edited file."""
    names = " ".join((*ended.action.targets, *ended.signal.paths)).lower()
    tails = [t.rsplit("/", 1)[-1] for t in names.split()]
    return any(word in tail for tail in tails for word in claim.scope if len(word) >= 4)


def _in_commit(claim: OutcomeClaim, session: Session) -> Finding:
    """ "X was added in commit H": refuted when another commit's diff adds it and H's does not."""
    wanted = [t for t in claim.targets if len(t) > 3]
    for ended in reversed(session.ended((_K.COMMIT,))):
        if any(_same_hash(c, h) for c in claim.commits for h in ended.signal.git.made):
            return _seen(Outcome.WITNESSED, "the commit was made in this session", ended)
    shows = [
        s
        for s in (*session.before, *session.after)
        if s.git.shown and (s.added or any(a.kind is _K.DIFF for a in s.actions))
    ]
    here = [s for s in shows if any(_same_hash(c, s.git.shown[0]) for c in claim.commits)]
    other = [s for s in shows if s not in here and len(s.git.shown) == 1 and s.added]
    for signal in other:
        if wanted and all(w in signal.added for w in wanted) and not any(w in s.added for s in here for w in wanted):
            return Finding(Outcome.CONTRADICTED, "the diff of another commit shows it", (signal,), (Result.OK,))
    if wanted and any(all(w in s.added for w in wanted) for s in here):
        shown = next(s for s in here if all(w in s.added for w in wanted))
        return Finding(Outcome.WITNESSED, "the diff of that commit shows it", (shown,), (Result.OK,))
    if not here and len(other) == 1 and not wanted:
        return Finding(Outcome.CONTRADICTED, "another commit is the one on display", (other[0],), (Result.OK,))
    return _none("no result shows what that commit holds")


# --- fixes, runs, states -----------------------------------------------------------------------------------------


def _fixed(claim: OutcomeClaim, session: Session) -> Finding:
    """A fix: an edit, and a check or run that passed after it; of prose the edit alone."""
    if claim.commits:
        return _in_commit(claim, session)
    if claim.kinds in ((_K.LINT,), (_K.TYPECHECK,), (_K.BUILD,), (_K.FORMAT,)):
        return _check(claim._replace(targets=(), scope=()), claim.kinds[0], session)
    written = _written(
        claim._replace(
            kinds=(_K.CREATE, _K.EDIT, _K.RENAME, _K.DELETE),
            targets=tuple(t for t in claim.targets if _looks_like_path(t) and not t.startswith(".")),
        ),
        session,
    )
    if written.outcome is not Outcome.WITNESSED:
        return written
    edited = session.last_code_edit()
    code = [path for s, path in session.edits if s.position > session.turn and (path == "*" or is_code(path))]
    if not code and not any(is_code(p) for s in written.signals for a in s.actions for p in a.targets):
        return written
    ran = [
        e for e in session.ended(claim.kinds) if e.signal.position >= edited and e.result in (Result.OK, Result.FAILED)
    ]
    passed = [e for e in ran if e.result is Result.OK]
    if not ran:
        return _none("edited, and nothing was run since")
    if not passed:
        return _seen(Outcome.UNWITNESSED, "edited, and what was run since failed", ran[-1])
    again = [
        e
        for e in ran
        if e.result is Result.FAILED
        and e.action.identity == passed[-1].action.identity
        and e.signal.position > passed[-1].signal.position
    ]
    if again:
        return _seen(Outcome.UNWITNESSED, "what passed after the edit has failed since", again[-1])
    failing_test = ran[-1].result is Result.FAILED and ran[-1].action.kind is _K.TEST
    if failing_test:
        return _seen(Outcome.UNWITNESSED, "the last test run since the edit failed", ran[-1])
    return Finding(
        Outcome.WITNESSED,
        "edited, and a run since the edit passed",
        (*written.signals, passed[-1].signal),
        (*written.results, Result.OK),
    )


def _works(claim: OutcomeClaim, session: Session) -> Finding:
    """It works, runs, is correct: a run or a test that passed since the last edit of code."""
    edited = session.last_code_edit()
    ran = [e for e in session.ended((*claim.kinds, _K.LINT, _K.TYPECHECK)) if e.result in (Result.OK, Result.FAILED)]
    since = [e for e in ran if e.signal.position >= edited]
    passed = [e for e in since if e.result is Result.OK]
    if passed:
        if since[-1].result is Result.FAILED and since[-1].action.identity == passed[-1].action.identity:
            return _seen(Outcome.UNWITNESSED, "the same run failed afterwards", since[-1])
        return _seen(Outcome.WITNESSED, "a run since the last edit passed", passed[-1])
    if since:
        return _seen(Outcome.UNWITNESSED, "what was run since the last edit failed", since[-1])
    if any(e.result is Result.OK for e in ran):
        return _seen(Outcome.STALE_WITNESS, "the last run predates the last edit", ran[-1])
    return _none("nothing was run")


def _reproduced(claim: OutcomeClaim, session: Session) -> Finding:
    """Reproducing is shown by what a run printed, whether it passed or failed."""
    ran = [e for e in session.ended(claim.kinds) if e.signal.position > session.turn and not e.signal.blank]
    if not ran:
        return _none("nothing was run in this turn")
    return _seen(Outcome.WITNESSED, "a run of this turn printed its result", ran[-1])


def _verified(claim: OutcomeClaim, session: Session) -> Finding:
    """Verified: something was looked at or run since the last edit of this turn, and it did not fail."""
    kinds = (*_RUNS, _K.STATUS, _K.DIFF, _K.SEARCH, _K.LIST, _K.READ, _K.PIPELINE, _K.HISTORY)
    edited = max((s.position for s, _ in session.edits), default=-1)
    ran = [e for e in session.ended(kinds) if e.signal.position > max(session.turn, edited)]
    if not ran:
        return _none("nothing was looked at since the last edit")
    if ran[-1].result is Result.OK and ran[-1].action.kind in (*_RUNS, _K.PIPELINE):
        return _seen(Outcome.WITNESSED, "a run since the last edit passed", ran[-1])
    if ran[-1].result is Result.OK and not any(e.result is Result.FAILED for e in ran if e.action.kind in _RUNS):
        return _seen(Outcome.WITNESSED, "it was looked at since the last edit", ran[-1])
    return _seen(Outcome.UNWITNESSED, "what was run since the last edit does not show it", ran[-1])


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
        return _none("nothing that was done in this turn shows a result")
    if told[-1].result is Result.FAILED:
        return _seen(Outcome.UNWITNESSED, "the last thing done failed", told[-1])
    return _seen(Outcome.WITNESSED, "the last thing done succeeded", told[-1])


def _measured(claim: OutcomeClaim, session: Session) -> Finding:
    """Numbers: the latest result that prints them under a name the claim uses."""
    wanted = [pair.split("=", 1) for pair in claim.numbers]
    for signal in reversed(session.before[-60:]):
        printed = [line.split("=", 1) for line in signal.figures.split("\n") if line]
        shared = [name for name, _ in wanted if any(_same_word(name, label) for label, _ in printed)]
        if not shared:
            continue
        values = {value for _, value in printed}
        if all(value in values for name, value in wanted):
            return Finding(Outcome.WITNESSED, "the numbers stand in a result", (signal,), (Result.OK,))
        return Finding(
            Outcome.UNWITNESSED, "the latest result with these names prints other numbers", (signal,), (Result.OK,)
        )
    return _none("no result prints these numbers")


def _same_word(a: str, b: str) -> bool:
    return a.rstrip("s") == b.rstrip("s") or a.rstrip("s") in b.split("-")


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
            _seen(Outcome.WITNESSED, "nothing was left to commit", committed[-1])
            if committed
            else _none("no status was asked")
        )
    latest = asked[-1]
    if not _is_clean(latest):
        return _seen(Outcome.UNWITNESSED, "the last status lists changes", latest)
    if any(s.position > latest.signal.position for s, _ in session.edits):
        return _seen(Outcome.STALE_WITNESS, "the last status predates the last edit", latest)
    return _seen(Outcome.WITNESSED, "the last status is clean", latest)


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
        return _seen(Outcome.WITNESSED, "the merge, rebase or commit that needed it concluded", concluded[-1])
    del claim
    return _none("no search, merge or commit since the last edit shows it")


def _untouched(claim: OutcomeClaim, session: Session) -> Finding:
    """Files said to be untouched: refuted by an edit of them, or by a diff that lists them."""
    named = [t.strip("`") for t in claim.targets if "/" in t or "." in t]
    if not named:
        failed = [s for s in session.before if s.listed and not any(a.kind in (_K.DIFF, _K.STATUS) for a in s.actions)]
        named = list(failed[-1].listed) if failed else []
    for signal in (*session.before, *session.after):
        shown = (*edits_of(signal), *(signal.listed if any(a.kind is _K.DIFF for a in signal.actions) else ()))
        if any(_same_file(name, path) for name in named for path in shown):
            return Finding(Outcome.CONTRADICTED, "a diff of the session shows them", (signal,), (Result.OK,))
    return _none("no diff shows what was touched")


_RULES: dict[Achievement, Callable[[OutcomeClaim, Session], Finding]] = {
    Achievement.PASSED: _passed,
    Achievement.HAPPENED: _happened,
    Achievement.WRITTEN: _written,
    Achievement.REMOVED: _written,
    Achievement.FIXED: _fixed,
    Achievement.WORKS: _works,
    Achievement.REPRODUCED: _reproduced,
    Achievement.VERIFIED: _verified,
    Achievement.DONE: _done,
    Achievement.MEASURED: _measured,
    Achievement.CLEAN_TREE: _clean_tree,
    Achievement.ABSENT: _absent,
    Achievement.UNTOUCHED: _untouched,
}
