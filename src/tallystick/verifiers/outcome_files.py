"""Something was written, changed, removed or left alone: by the result of the edit, or by a diff (OUTCOME.1)."""

from __future__ import annotations

import re

from tallystick.model.claim import Outcome
from tallystick.verifiers.commands import Action
from tallystick.verifiers.outcome_claims import OutcomeClaim
from tallystick.verifiers.outcome_session import Finding, Session, same_hash, seen, unwitnessed
from tallystick.verifiers.outcome_words import Achievement
from tallystick.verifiers.programs import CommandKind
from tallystick.verifiers.signals import Ended, Result, edits_of, result_of

_K = CommandKind


def written(claim: OutcomeClaim, session: Session) -> Finding:
    """Something was created, changed or removed: by the result of the edit, or of the command that did it."""
    if claim.commits:
        return in_commit(claim, session)
    kinds = (_K.CREATE, _K.EDIT, _K.RENAME, _K.DELETE) if claim.achievement is Achievement.REMOVED else claim.kinds
    ran = [e for e in session.ended(kinds) if e.action.program != "git" or e.action.task not in ("stash", "init")]
    named = [
        t for t in claim.targets if names_file(t) or any(same_file(t, p) for _, p in session.edits if _file_like(t))
    ]
    if named:
        return _of_paths(named, ran, session)
    done = [e for e in ran if e.result is Result.OK]
    in_turn = [e for e in done if e.signal.position > session.turn]
    if in_turn:
        return _unless_undone(in_turn[-1], session, "an edit of this turn succeeded")
    lately = [e for e in done if e.signal.position > session.memory.turn_before(session.position)]
    if lately:
        return _unless_undone(lately[-1], session, "an edit of the turn before succeeded")
    related = [e for e in done if _related(e, claim)]
    if related:
        return _unless_undone(related[-1], session, "an edit of a file of that name succeeded")
    if ran and ran[-1].signal.position > session.turn and ran[-1].result is Result.FAILED:
        return seen(Outcome.UNWITNESSED, "the edits of this turn failed", ran[-1])
    return unwitnessed("no edit in this turn")


_FILE = re.compile(r"(?:[\w.@$~{}+-]*/)*[\w@$~{}+-][\w.@$~{}+-]*\.[A-Za-z]\w{0,7}(?::\d[\d:-]*)?")
_BARE_FILES = frozenset(("LICENSE", "LICENCE", "CODEOWNERS", "README", "CHANGELOG", "NOTICE", "Makefile", "Dockerfile",
                         "Gemfile", "Procfile", "Jenkinsfile", "Rakefile"))  # fmt: skip
_HOSTS = frozenset(("io", "com", "org", "net", "dev", "app", "ai", "co"))


def names_file(target: str) -> bool:
    """Whether a target can only be a file: a name with an ending, no host, no call, no bare ending."""
    name = target.rsplit("/", 1)[-1]
    if name in _BARE_FILES or ("/" in target and name.isalpha() and name.isupper() and len(name) > 3):
        return True
    if not _FILE.fullmatch(target) or len(target) > 300:
        return False
    ending = target.rsplit(".", 1)[-1].split(":", 1)[0]
    return "/" in target or (ending not in _HOSTS and ending.islower())


def _file_like(target: str) -> bool:
    """Whether a target may be a file or folder (``LICENSE``, ``docs/``)."""
    return " " not in target and not target.startswith(("-", "http", ".", "#")) and not target.endswith(")")


def _of_paths(paths: list[str], ran: list[Ended], session: Session) -> Finding:
    """Every named file needs the result of an edit of it; an attempt that failed and was not made again refutes it."""
    witnesses: list[Ended] = []
    for path in paths:
        of_path = [e for e in ran if any(same_file(path, t) for t in (*e.action.targets, *e.signal.paths))]
        told = [e for e in of_path if e.result in (Result.OK, Result.FAILED)]
        if not told:
            weak = [e for e in of_path if e.result is Result.WEAK]
            if weak:
                return seen(Outcome.UNWITNESSED, f"weak witness for {path}", weak[-1])
            continue
        succeeded = [e for e in told if e.result is Result.OK]
        if not succeeded:
            outcome = Outcome.UNWITNESSED if _other_writers(told[-1], session) else Outcome.CONTRADICTED
            return seen(outcome, f"the change of {path} failed", told[-1])
        witnesses.append(succeeded[-1])
    if not witnesses:
        return unwitnessed("no result of an edit of " + ", ".join(paths[:3]))
    return _unless_undone(witnesses[-1], session, "its edit succeeded")


def _other_writers(failed: Ended, session: Session) -> bool:
    """Whether something ran after a failed edit that may have made the change without naming its file."""
    return any(
        e.result is not Result.FAILED
        and e.signal.position > failed.signal.position
        and (e.signal.command or not e.action.targets)
        for e in session.ended((_K.RUN, _K.EDIT, _K.CREATE, _K.RENAME))
    )


def same_file(named: str, target: str) -> bool:
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
        for action in signal.actions if signal.position > ended.signal.position else ():
            if _takes_back(action, ended.action) and result_of(signal, action) is Result.OK:
                undone = Ended(signal, action, Result.OK)
                return seen(Outcome.UNWITNESSED, "the edit was taken back afterwards", undone)
    return seen(Outcome.WITNESSED, reason, ended)


def _takes_back(undo: Action, edit: Action) -> bool:
    """Whether an action undoes an edit: of the whole tree, or of one of its files."""
    if undo.kind is not _K.UNDO or undo.task not in ("checkout", "restore", "reset"):
        return False
    return not undo.targets or any(same_file(t, p) for t in undo.targets for p in edit.targets)


def _related(ended: Ended, claim: OutcomeClaim) -> bool:
    """Whether the words of the claim name the edited file."""
    names = " ".join((*ended.action.targets, *ended.signal.paths)).lower()
    tails = [t.rsplit("/", 1)[-1] for t in names.split()]
    return any(word in tail for tail in tails for word in claim.scope if len(word) >= 4)


def in_commit(claim: OutcomeClaim, session: Session) -> Finding:
    """ "X was added in commit H": refuted when another commit's diff adds it and H's does not."""
    wanted = [t for t in claim.targets if len(t) > 3]
    for ended in reversed(session.ended((_K.COMMIT,))):
        if any(same_hash(c, h) for c in claim.commits for h in ended.signal.git.made):
            return seen(Outcome.WITNESSED, "the commit was made in this session", ended)
    shows = [
        s
        for s in (*session.before, *session.after)
        if s.git.shown and (s.added or any(a.kind is _K.DIFF for a in s.actions))
    ]
    here = [s for s in shows if any(same_hash(c, s.git.shown[0]) for c in claim.commits)]
    other = [s for s in shows if s not in here and len(s.git.shown) == 1 and s.added]
    for signal in other:
        if wanted and all(w in signal.added for w in wanted) and not any(w in s.added for s in here for w in wanted):
            return Finding(Outcome.CONTRADICTED, "the diff of another commit shows it", (signal,), (Result.OK,))
    if wanted and any(all(w in s.added for w in wanted) for s in here):
        shown = next(s for s in here if all(w in s.added for w in wanted))
        return Finding(Outcome.WITNESSED, "the diff of that commit shows it", (shown,), (Result.OK,))
    if not here and len(other) == 1 and not wanted:
        return Finding(Outcome.CONTRADICTED, "another commit is the one on display", (other[0],), (Result.OK,))
    return unwitnessed("no result shows what that commit holds")


def untouched(claim: OutcomeClaim, session: Session) -> Finding:
    """Files said to be untouched: refuted by an edit of them, or by a diff that lists them."""
    named = [t.strip("`") for t in claim.targets if "/" in t or "." in t]
    if not named:
        failed = [s for s in session.before if s.listed and not any(a.kind in (_K.DIFF, _K.STATUS) for a in s.actions)]
        named = list(failed[-1].listed) if failed else []
    for signal in (*session.before, *session.after):
        shown = (*edits_of(signal), *(signal.listed if any(a.kind is _K.DIFF for a in signal.actions) else ()))
        if any(same_file(name, path) for name in named for path in shown):
            return Finding(Outcome.CONTRADICTED, "a diff of the session shows them", (signal,), (Result.OK,))
    return unwitnessed("no diff shows what was touched")
