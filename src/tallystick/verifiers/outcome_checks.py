"""Tests pass, lint is clean, it builds: by the latest run of the same scope, not older than the last edit (OUTCOME.1, 3, 4)."""

from __future__ import annotations

from tallystick.model.claim import Outcome
from tallystick.verifiers.commands import Action, is_script
from tallystick.verifiers.outcome_claims import OutcomeClaim
from tallystick.verifiers.outcome_scope import elsewhere, is_remark, miscounted, narrowness
from tallystick.verifiers.outcome_session import Finding, Session, seen, unwitnessed
from tallystick.verifiers.outcome_shown import same_command
from tallystick.verifiers.programs import CHECKS, CommandKind
from tallystick.verifiers.signals import Ended, Result, edits_of, is_code, result_of

_K = CommandKind


def passed(claim: OutcomeClaim, session: Session) -> Finding:
    """Tests, lint, build or type check pass: each kind that is claimed needs its own witness."""
    if claim.any_kind:
        return _all_green(claim, session)
    if claim.commands:
        return _as_named(claim, session)
    found = [check(claim, kind, session) for kind in claim.kinds]
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


def _as_named(claim: OutcomeClaim, session: Session) -> Finding:
    """A command that is named went well: by its latest run, with as many tests as are said to have passed."""
    told: list[Ended] = []
    for code in claim.commands:
        ran = [e for e in session.ended(claim.kinds) if e.result is not Result.UNKNOWN and same_command(code, e)]
        if not ran:
            return unwitnessed("the command that is named was not run")
        latest = ran[-1]
        if latest.result is Result.FAILED:
            return seen(Outcome.CONTRADICTED, "the last run of the command that is named failed", latest)
        if latest.result is Result.WEAK:
            return seen(Outcome.UNWITNESSED, f"weak witness: {_weakness(latest)}", latest)
        if latest.action.kind in (*CHECKS, CommandKind.RUN) and session.is_stale(latest):
            return seen(Outcome.STALE_WITNESS, "its last run predates the last edit", latest)
        told.append(latest)
    return _counted(claim, told) or seen(Outcome.WITNESSED, "the last run of the command that is named passed", *told)


def _counted(claim: OutcomeClaim, told: list[Ended]) -> Finding | None:
    """A finding that the runs printed other numbers of passed tests than are claimed, or None."""
    passed = [e.signal.tests.passed for e in told if e.signal.tests.passed > 0]
    wanted = {int(number) for number in claim.numbers}
    if claim.commands and wanted and passed and not wanted.intersection((*passed, sum(passed))):
        return seen(Outcome.UNWITNESSED, f"the run printed {passed[-1]} passed tests", *told)
    return None


def check(claim: OutcomeClaim, kind: CommandKind, session: Session) -> Finding:
    """One kind of check, by the latest result of the claim's scope."""
    ran = [e for e in session.ended((kind,)) if e.result is not Result.UNKNOWN]
    if claim.existing:
        ran = [e for e in ran if not any(session.made(path) for path in e.action.targets)]
    if not ran:
        return _later_failure(claim, kind, session) or unwitnessed(nothing_of(kind, session))
    scoped = _in_scope(ran, claim)
    if not scoped:
        return unwitnessed(f"the {kind} results are of another scope")
    told = [e for e in scoped if e.result is not Result.WEAK]
    if not told:
        return seen(Outcome.UNWITNESSED, f"weak witness: {_weakness(scoped[-1])}", scoped[-1])
    latest = told[-1]
    edited = session.last_change if kind is not CommandKind.PIPELINE else -1
    stale = kind is not CommandKind.PIPELINE and session.is_stale(latest)
    if latest.result is Result.FAILED and not _named_pass(latest, claim):
        if stale:
            return seen(Outcome.UNWITNESSED, f"the last {kind} run failed, and predates the last edit", latest)
        return seen(Outcome.CONTRADICTED, f"the last {kind} run failed", latest)
    if stale:
        return seen(Outcome.STALE_WITNESS, f"last {kind} run predates the last edit", latest)
    wider = _wider_failure(told, latest, claim, edited)
    if wider is not None:
        return seen(Outcome.UNWITNESSED, f"a wider {kind} run failed, and only a part was run again", wider, latest)
    since = [e for e in told if e.signal.position >= edited and e.result is Result.OK and not session.is_stale(e)]
    return _of_scope(claim, kind, since or [latest], session)


def _of_scope(claim: OutcomeClaim, kind: CommandKind, since: list[Ended], session: Session) -> Finding:
    """Witnessed by the latest of the runs since the last change that is of the claim's scope; else a reason why none is."""
    latest = since[-1]
    witness = latest
    reason = miscounted(claim, since) if kind is CommandKind.TEST and not claim.targets else ""
    if reason:
        return seen(Outcome.UNWITNESSED, reason, latest)
    if claim.whole and kind is CommandKind.TEST and claim.tests < 0 and not is_remark(claim, latest, session):
        whole = [e for e in since if not narrowness(claim, e.action, session)]
        if not whole:
            return seen(Outcome.UNWITNESSED, narrowness(claim, latest.action, session), latest)
        reason = elsewhere((e.action for e in whole), session)
        if reason:
            return seen(Outcome.UNWITNESSED, reason, latest)
        witness = whole[-1]
    return seen(Outcome.WITNESSED, f"the last {kind} run passed", witness)


def nothing_of(kind: CommandKind, session: Session) -> str:
    """The reason that nothing of a kind was done; a dry run or a plan of it is named."""
    pretended = any(a.vacuous and a.kind is kind for s in session.before for a in s.actions)
    return (
        f"scope: only a dry run, a plan or a list of the {kind} was made"
        if pretended
        else f"no {kind} result in the session"
    )


def _weakness(ended: Ended) -> str:
    tests = ended.signal.tests
    if tests.cached:
        return "every result is cached"
    if tests.empty or tests.passed == 0:
        return "scope: no test was run"
    if is_script(ended.action) and not ended.action.hidden:
        return "scope: a script's name alone says that it tests, and it prints no summary"
    return "a pipe hides the exit status, and no summary is printed"


def _in_scope(ran: list[Ended], claim: OutcomeClaim) -> list[Ended]:
    """The results whose scope covers the claim's: what it names, or its words (``integration``), else all."""
    if claim.targets:
        covering = [e for e in ran if _covers(e, claim.targets)]
        same = {(e.action.program, e.action.task, e.action.targets) for e in covering}
        return [e for e in ran if e in covering or (_thing(e.action) in same and not e.action.selection)]
    for word in claim.scope:
        narrowed = [e for e in ran if word in e.signal.command.lower() or word in e.action.task]
        if narrowed and len(claim.scope) == 1:
            return narrowed
    return ran


def _thing(action: Action) -> tuple[str, str, tuple[str, ...]]:
    return (action.program, action.task, action.targets)


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
    return next((e for e in told[-8:] if _is_wider(e, latest, edited)), None)


def _is_wider(ended: Ended, latest: Ended, edited: int) -> bool:
    """Whether ``ended`` failed between the last edit and ``latest``, which runs a part of what it ran."""
    if ended.result is not Result.FAILED or not edited < ended.signal.position < latest.signal.position:
        return False
    return ended.action.program == latest.action.program and not (ended.action.selection or ended.action.targets)


def _later_failure(claim: OutcomeClaim, kind: CommandKind, session: Session) -> Finding | None:
    """Nothing was run before the words; the same check run right after them, with no edit between, failed."""
    if claim.targets:
        return None
    for signal in session.after:
        if any(is_code(path) for path in edits_of(signal)):
            return None
        for ended in (
            Ended(signal, a, result_of(signal, a)) for a in signal.actions if a.kind is kind and not a.vacuous
        ):
            if ended.result is Result.FAILED and not ended.action.selection:
                return seen(Outcome.CONTRADICTED, f"no {kind} run before it, and the next one failed", ended)
            if ended.result is Result.OK:
                return None
    return None


def _all_green(claim: OutcomeClaim, session: Session) -> Finding:
    """ "All green", "everything passes": every kind of check that was run must stand as passed."""
    edited = session.last_change
    latest: dict[CommandKind, Ended] = {}
    for ended in session.ended((*CHECKS, _K.FORMAT)):
        if ended.result in (Result.OK, Result.FAILED):
            latest[ended.action.kind] = ended
    if not latest:
        return unwitnessed("no check was run, or none says how it went")
    last = max(latest.values(), key=lambda e: e.signal.position)
    current = [e for e in latest.values() if e.signal.position >= edited and not session.is_stale(e)]
    failed = [e for e in current if e.result is Result.FAILED]
    if failed:
        worst = max(failed, key=lambda e: e.signal.position)
        outcome = Outcome.CONTRADICTED if worst.signal is last.signal else Outcome.UNWITNESSED
        return seen(outcome, f"the last {worst.action.kind} run failed", worst)
    if not current:
        stale = last.result is Result.OK
        return seen(
            Outcome.STALE_WITNESS if stale else Outcome.UNWITNESSED, "the last check predates the last edit", last
        )
    tested = latest.get(CommandKind.TEST)
    if claim.whole and tested in current and tested is not None:
        ran = session.ended((CommandKind.TEST,))
        since = [e for e in ran if e.signal.position >= edited and e.result is Result.OK and not session.is_stale(e)]
        narrow = _of_scope(claim, CommandKind.TEST, since or [tested], session)
        if narrow.outcome is not Outcome.WITNESSED:
            return narrow
    return seen(Outcome.WITNESSED, "the checks that were run passed", *current)
