"""What a session shows of looking, running and starting: nothing was found, it was run, read, started (OUTCOME.1-4)."""

from __future__ import annotations

import re

from tallystick.model.claim import Outcome
from tallystick.verifiers.commands import Action, actions
from tallystick.verifiers.outcome_claims import OutcomeClaim
from tallystick.verifiers.outcome_files import names_file, same_file
from tallystick.verifiers.outcome_session import Finding, Session, seen, unwitnessed
from tallystick.verifiers.programs import CHECKS, LOOKING, CommandKind
from tallystick.verifiers.signals import Ended, Result, Signal, result_of

_K = CommandKind
RUNS = (_K.TEST, _K.RUN, _K.BUILD, _K.LINT, _K.TYPECHECK)
_STEM = 5


def same_command(named: str, ended: Ended) -> bool:
    """Whether a run is of the command that is named: the same thing, or the words of it inside the command line."""
    wanted = [a for a in actions(named) if a.program]
    if any(a.identity == ended.action.identity for a in wanted):
        return True
    alike = any(a.program == ended.action.program and a.task == ended.action.task for a in wanted)
    return alike and " ".join(named.split()) in ended.signal.command


def not_found(claim: OutcomeClaim, session: Session) -> Finding:
    """Nothing was found: by the named command that printed nothing, else by an empty search for what the claim names."""
    if claim.commands:
        ran = [e for e in _looks(session) if any(same_command(code, e) for code in claim.commands)]
        if not ran:
            return unwitnessed("the command that is named was not run")
        empty = ran[-1].signal.blank or ran[-1].signal.negative
        said = "the command that is named printed nothing" if empty else "the command that is named printed something"
        return seen(Outcome.WITNESSED if empty else Outcome.UNWITNESSED, said, ran[-1])
    for signal in reversed(session.before):
        if _listed_without(signal, claim):
            return Finding(
                Outcome.WITNESSED, "a search for it and for others lists others alone", (signal,), (Result.OK,)
            )
        if (signal.negative or _missing(signal)) and _is_about(signal, claim, session):
            return Finding(Outcome.WITNESSED, "a search for it came back empty", (signal,), (Result.OK,))
    return unwitnessed("no search for it came back empty")


def _listed_without(signal: Signal, claim: OutcomeClaim) -> bool:
    """Whether a search or a list asked for the one thing that the claim names and printed, in full, none of it."""
    words = [word[:_STEM] for word in claim.scope[:4]]
    if not words or not signal.printed or signal.position < 0 or any(a.kind not in LOOKING for a in signal.actions):
        return False
    line, printed = signal.command.lower(), signal.printed.lower()
    return all(word in line for word in words) and not any(word in printed for word in words)


def _looks(session: Session) -> list[Ended]:
    return session.ended(LOOKING - {_K.OTHER})


def _missing(signal: Signal) -> bool:
    return signal.complains and all(a.kind in LOOKING for a in signal.actions)


def _is_about(signal: Signal, claim: OutcomeClaim, session: Session) -> bool:
    """Whether an empty search was for what the claim names; a search tool does not show for what, and counts in its turn."""
    if not signal.command:
        return signal.negative and signal.position > session.turn
    line = signal.command.lower()
    for target in claim.targets:
        name = target.rstrip("/").rsplit("/", 1)[-1].lower()
        if len(name) > 2 and name in line:
            return True
    words = (*claim.scope, *(w for t in claim.targets for w in _WORDS.findall(t.rsplit("/", 1)[-1].lower())))
    return signal.negative and any(word[:_STEM] in line for word in words)


_WORDS = re.compile(r"[^\W\d_]{4,30}")


def started(claim: OutcomeClaim, session: Session) -> Finding:
    """Something was started and runs: by the launch that the harness reports, or by a run in the background."""
    launches = [s for s in session.launches if s.position > session.turn or claim.only]
    if claim.only and len(launches) > 1:
        return Finding(Outcome.CONTRADICTED, "more than one was started", tuple(launches), (Result.OK,) * len(launches))
    if launches:
        return Finding(Outcome.WITNESSED, "the launch is reported", (launches[-1],), (Result.OK,))
    told = [e for e in session.ended((_K.RUN,)) if e.signal.position > session.turn and not e.signal.complains]
    ran = [e for e in told if e.result in (Result.OK, Result.WEAK)]
    going = [e for e in ran if _GOING.search(e.signal.printed) or _STARTS.search(e.signal.command)]
    if going:
        return seen(Outcome.WITNESSED, "the run that started it succeeded", going[-1])
    return unwitnessed("no launch in this turn")


_GOING = re.compile(
    r"\b(?:listening on|running (?:on|at|in)|started|is running|ready in|up and running)\b", re.IGNORECASE
)
_STARTS = re.compile(r"\b(?:start|up|serve|restart|nohup|launch|dev)\b|&\s*$")


def shown_in(signal: Signal, words: tuple[str, ...]) -> bool:
    """Whether a run has all of ``words`` in its command line or in what it printed."""
    return all(word in signal.script or word in signal.printed for word in words)


def reproduced(claim: OutcomeClaim, session: Session) -> Finding:
    """Run, executed, reproduced: by what a run of this turn printed, passed or failed; a named input must be in it."""
    codes = tuple(t.rsplit("/", 1)[-1] if names_file(t) else t for t in claim.targets)
    named = [code for code in codes if any(a.kind is not _K.RUN for a in actions(code)) and " " in code]
    turn = -1 if codes or "earlier" in claim.scope else session.turn
    ran = [e for e in session.ended((*claim.kinds, *RUNS)) if e.signal.position > turn and not e.signal.blank]
    if claim.kinds and not set(claim.kinds) & {_K.RUN}:
        ran = [e for e in ran if e.action.kind in claim.kinds]
    if not ran:
        return unwitnessed("nothing was run in this turn")
    if named:
        ran = [e for e in ran if any(same_command(code, e) for code in named)]
    elif codes:
        ran = [e for e in ran if shown_in(e.signal, codes)]
    if not ran:
        return unwitnessed("no run of this turn has the input that is named")
    return seen(Outcome.WITNESSED, "a run of this turn printed its result", ran[-1])


def loaded(claim: OutcomeClaim, session: Session) -> Finding:
    """Read, loaded, used: by a result of this turn that reads it, or that names it where the claim does."""
    kinds = (_K.READ, _K.SEARCH, _K.LIST, _K.DIFF, _K.STATUS, _K.RUN, _K.TEST, _K.EDIT, _K.CREATE)
    looked = [e for e in session.ended(kinds) if e.signal.position > session.turn and e.result is not Result.FAILED]
    named = [t for t in claim.targets if names_file(t) or "/" in t]
    if named:
        looked = [e for e in looked if any(_touches(e, target) for target in named)]
    if not looked:
        return unwitnessed("no result of this turn reads it")
    return seen(Outcome.WITNESSED, "a result of this turn reads it", looked[-1])


def _touches(ended: Ended, target: str) -> bool:
    if not ended.signal.command and not ended.action.targets:
        return True
    return target in ended.signal.command or any(same_file(target, t) for t in ended.action.targets)


def signed(claim: OutcomeClaim, session: Session) -> Finding:
    """A verdict sign beside a word that sums up, or a label: by the runs of this turn that are about it."""
    ran = [
        Ended(s, a, result_of(s, a))
        for s in session.before
        for a in s.actions
        if s.position > session.turn and a.kind in (*RUNS, _K.PIPELINE, _K.FORMAT)
    ]
    if claim.any_kind:
        return _overall(ran, session)
    about = [e for e in ran if e.result is not Result.UNKNOWN and _says(e.signal, claim.scope)]
    if not about:
        return unwitnessed("no run of this turn is about it")
    fine = about[-1].result is Result.OK
    reason = "the last run about it passed" if fine else "the last run about it did not pass"
    return seen(Outcome.WITNESSED if fine else Outcome.UNWITNESSED, reason, about[-1])


def _says(signal: Signal, words: tuple[str, ...]) -> bool:
    text = f"{signal.command} {signal.script} {signal.printed} {signal.excerpt}".lower()
    return bool(words) and all(word[:_STEM] in text for word in words)


def _overall(ran: list[Ended], session: Session) -> Finding:
    """ "Overall: PASS": the last run of each thing since the last edit of code passed."""
    latest: dict[tuple[Action, ...], Ended] = {}
    for ended in ran:
        if ended.result in (Result.OK, Result.FAILED) and ended.signal.position >= session.last_code_edit:
            latest[(ended.action._replace(hidden=False, tree=""),)] = ended
    if not any(e.action.kind in CHECKS for e in latest.values()):
        return unwitnessed("no check was run in this turn since the last edit")
    failed = [e for e in latest.values() if e.result is Result.FAILED]
    if failed:
        plain = failed[-1].signal.tests.failed > 0 or failed[-1].action.kind is not _K.TEST
        return seen(Outcome.CONTRADICTED if plain else Outcome.UNWITNESSED, "a run of this turn failed", failed[-1])
    return seen(Outcome.WITNESSED, "the runs of this turn passed", *list(latest.values())[-4:])


def verified(claim: OutcomeClaim, session: Session) -> Finding:
    """Verified: something was looked at or run since the last edit of this turn, and it did not fail; what the claim
    quotes, a run since the last edit of code printed."""
    quoted = tuple(t for t in claim.targets if not names_file(t))
    since = [e for e in session.ended(RUNS) if e.signal.position >= session.last_code_edit]
    shown = [e for e in since if quoted and e.result is not Result.FAILED and shown_in(e.signal, quoted)]
    if shown:
        return seen(Outcome.WITNESSED, "a run since the last edit of code printed it", shown[-1])
    kinds = (*RUNS, _K.STATUS, _K.DIFF, _K.SEARCH, _K.LIST, _K.READ, _K.PIPELINE, _K.HISTORY)
    edited = max((s.position for s, _ in session.edits), default=-1)
    ran = [e for e in session.ended(kinds) if e.signal.position > max(session.turn, edited)]
    if not ran:
        return unwitnessed("nothing was looked at since the last edit")
    if ran[-1].result is Result.OK and ran[-1].action.kind in (*RUNS, _K.PIPELINE):
        return seen(Outcome.WITNESSED, "a run since the last edit passed", ran[-1])
    fine = ran[-1].result is Result.OK or ran[-1].signal.negative
    if fine and not any(e.result is Result.FAILED for e in ran if e.action.kind in RUNS):
        return seen(Outcome.WITNESSED, "it was looked at since the last edit", ran[-1])
    return seen(Outcome.UNWITNESSED, "what was run since the last edit does not show it", ran[-1])


def measured(claim: OutcomeClaim, session: Session) -> Finding:
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
    return unwitnessed("no result prints these numbers")


def _same_word(a: str, b: str) -> bool:
    return a.rstrip("s") == b.rstrip("s") or a.rstrip("s") in b.split("-")
