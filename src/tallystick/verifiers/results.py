"""How one action of a tool result ended: by what was printed of it first, then by the exit status (OUTCOME.3, OUTCOME.4)."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

from tallystick.model.evidence import Status
from tallystick.verifiers.commands import Action, is_script, is_test_file
from tallystick.verifiers.outputs import GitFacts, TestCounts
from tallystick.verifiers.programs import CHECKS, LOOKING, CommandKind


class Result(StrEnum):
    """How one action of a command ended, as far as the result shows it."""

    OK = "ok"
    FAILED = "failed"
    WEAK = "weak"
    """Ok on its face, but it shows little: nothing was run, all was cached, or the exit status is hidden."""
    UNKNOWN = "unknown"


class Signal(NamedTuple):
    """What one tool result says of what was done."""

    position: int
    """Ordinal of its event in the session."""
    event: str
    thread: str
    tool: str
    command: str
    """Cut to ``COMMAND_CHARS``; empty for tools that run no command."""
    actions: tuple[Action, ...]
    status: Status
    exit_code: int | None = None
    tests: TestCounts = TestCounts()
    git: GitFacts = GitFacts()
    clean: int = 0
    """``outputs.cleanliness``"""
    complains: bool = False
    """The output says that something could not be done (``No such file``, ``fatal:`` …)."""
    unstarted: bool = False
    """What was to run is not there (``command not found``, ``No module named …``)."""
    blank: bool = False
    """It printed nothing."""
    negative: bool = False
    """A search that found nothing."""
    paths: tuple[str, ...] = ()
    """Files it wrote or edited, as the harness says."""
    listed: tuple[str, ...] = ()
    """Files that a diff or a status lists, or that error lines of a failed check name."""
    added: str = ""
    """The first lines that a shown diff adds."""
    figures: str = ""
    """Numbers printed with a name, one a line as ``name=number``."""
    script: str = ""
    """The command line of a run, cut to ``SCRIPT_CHARS``."""
    printed: str = ""
    """Head and tail of what a run printed."""
    ended_badly: str = ""
    """``outputs.bad_end``, whatever its own status."""
    launch: bool = False
    """It only says that something was started."""
    excerpt: str = ""
    flags: tuple[str, ...] = ()

    @property
    def delegated(self) -> bool:
        """A report of another agent, never a witness (OUTCOME.7)."""
        return "delegated" in self.flags


class Ended(NamedTuple):
    """One action of a signal, and how it ended."""

    signal: Signal
    action: Action
    result: Result


CLEANABLE = (CommandKind.LINT, CommandKind.BUILD, CommandKind.TYPECHECK, CommandKind.FORMAT)


def result_of(signal: Signal, action: Action) -> Result:
    """How ``action`` of ``signal`` ended."""
    if action.vacuous or signal.delegated:
        return Result.UNKNOWN
    if action.kind is CommandKind.TEST:
        return _test_result(signal, action)
    if action.kind in (CommandKind.COMMIT, CommandKind.PUSH, CommandKind.MERGE, CommandKind.REBASE):
        told = _git_result(signal.git, action.kind)
        if told is not Result.UNKNOWN:
            return told
    if action.kind in CLEANABLE and (action.hidden or signal.status is not Status.OK) and signal.clean:
        others = sum(a.kind in CHECKS for a in signal.actions if a is not action)
        if signal.clean < 0:
            return Result.UNKNOWN if others else Result.FAILED
        return Result.OK if not others or signal.status is Status.OK else Result.UNKNOWN
    return _by_status(signal, action)


STOPPED = frozenset((124, 130, 137, 143))
"""Exit codes of a run that was stopped from outside: a timeout, an interrupt, a kill."""


_BADLY = {"traceback": Result.FAILED, "exit": Result.WEAK}


def _test_result(signal: Signal, action: Action) -> Result:
    tests = signal.tests
    if tests.passed < 0 and tests.failed < 0 and signal.unstarted:
        return Result.UNKNOWN
    if tests.failed > 0:
        return Result.FAILED
    if tests.empty:
        return Result.WEAK
    by_status = _by_status(signal, action)
    if by_status is Result.FAILED:
        return Result.UNKNOWN if signal.exit_code in STOPPED else Result.FAILED
    told = tests.passed > 0 or tests.said_passed
    if told and tests.cached:
        return Result.WEAK
    if told and (signal.exit_code in (None, 0) or len(signal.actions) > 1):
        return Result.OK
    if signal.ended_badly and not told and by_status in (Result.OK, Result.WEAK):
        return _BADLY[signal.ended_badly]
    if by_status is Result.OK and not told and is_script(action) and not is_test_file(action):
        return Result.WEAK
    if by_status is Result.OK:
        return Result.WEAK if tests.passed == 0 or (tests.said_failed and tests.failed < 0) else Result.OK
    if by_status is Result.WEAK and tests.said_failed:
        return Result.FAILED
    return by_status


def _git_result(git: GitFacts, kind: CommandKind) -> Result:
    """What git printed of a commit, a push, a merge or a rebase."""
    words = git.words
    if kind is CommandKind.COMMIT:
        if git.made:
            return Result.OK
        return Result.FAILED if words & {"nothing", "conflict"} else Result.UNKNOWN
    if kind is CommandKind.PUSH:
        if "rejected" in words:
            return Result.FAILED
        return Result.OK if git.pushed or "up_to_date" in words else Result.UNKNOWN
    if "conflict" in words:
        return Result.FAILED
    done = {"rebased", "up_to_date"} if kind is CommandKind.REBASE else {"merged", "up_to_date"}
    return Result.OK if words & done else Result.UNKNOWN


_FILE_KINDS = frozenset(
    (CommandKind.CREATE, CommandKind.EDIT, CommandKind.DELETE, CommandKind.RENAME, CommandKind.STAGE, CommandKind.UNDO)
)


def _by_status(signal: Signal, action: Action) -> Result:
    """What the exit status shows of one action among the others of its line."""
    if signal.status is Status.OK:
        if signal.ended_badly and action.kind is CommandKind.RUN:
            return _BADLY[signal.ended_badly]
        if not action.hidden:
            return Result.OK
        if action.kind in _FILE_KINDS:
            return Result.WEAK if signal.complains else Result.OK
        if signal.blank and action.kind in (CommandKind.BUILD, CommandKind.TYPECHECK, CommandKind.LINT):
            return Result.OK
        return Result.WEAK
    if signal.status is not Status.FAILED:
        return _unstated(signal, action)
    doing = [a for a in signal.actions if a.kind not in LOOKING]
    if len(doing) <= 1 and not action.hidden:
        return Result.FAILED
    return Result.UNKNOWN


def _unstated(signal: Signal, action: Action) -> Result:
    """A harness that does not state how a call ended: a change that complains of nothing took place, a run is weak."""
    if (
        signal.complains
        or {"background", "interrupted"}.intersection(signal.flags)
        or signal.status is not Status.UNKNOWN
    ):
        return Result.UNKNOWN
    if signal.command and action.kind in _FILE_KINDS:
        return Result.OK
    if not signal.command and action.kind not in LOOKING:
        return Result.OK if _AFFIRMED.search(signal.excerpt) else Result.UNKNOWN
    return Result.WEAK


_AFFIRMED = re.compile(r"\b(?:success\w*|updated|created|written|edited|applied|replaced|deleted)\b", re.IGNORECASE)
_PROSE = frozenset(("md", "markdown", "rst", "txt", "adoc", "log", "csv", "svg", "png", "jpg", "jpeg", "gif", "pdf",
                    "mdx", "mmd", "license", "jsonl", "ipynb_checkpoints", "example", "gitignore", "lock"))  # fmt: skip


def is_code(path: str) -> bool:
    """Whether a test run or a build can depend on the file: anything but prose, pictures and logs."""
    folder, _, name = path.lower().rpartition("/")
    if folder == "/tmp":  # noqa: S108 - a scratch file of the session, beside the project
        return False
    return bool(name) and "." in name and name.rsplit(".", 1)[-1] not in _PROSE and "/.claude/" not in path


def edits_of(signal: Signal) -> tuple[str, ...]:
    """Files that ``signal`` changed, as far as it succeeded; ``*`` stands for files it does not name."""
    changed: list[str] = []
    for action in signal.actions:
        if action.kind not in (
            CommandKind.CREATE,
            CommandKind.EDIT,
            CommandKind.RENAME,
            CommandKind.UNDO,
            CommandKind.DELETE,
        ):
            continue
        if (
            action.program in ("gh", "git")
            and action.kind is not CommandKind.UNDO
            and action.task not in ("apply", "mv", "rm")
        ):
            continue
        if result_of(signal, action) is Result.OK:
            changed.extend(action.targets or (("*",) if action.kind is CommandKind.UNDO else ()))
    return tuple(changed)


_MOVING = frozenset((CommandKind.MERGE, CommandKind.REBASE, CommandKind.COMMIT, CommandKind.CHECKOUT, CommandKind.UNDO))
_MOVING_TASKS = frozenset(("pull", "merge", "rebase", "cherry-pick", "revert", "am", "checkout", "switch", "bisect", "reset",
                           "stash", "pr checkout"))  # fmt: skip
_STANDING = frozenset(("drop", "clear", "create", "store"))


def moves(signal: Signal) -> tuple[Action, ...]:
    """Actions of ``signal`` that put other commits into the working tree: a checkout, a pull, a merge, a hard reset."""
    return tuple(a for a in signal.actions if a.program in ("git", "gh") and _moves(signal, a))


def _moves(signal: Signal, action: Action) -> bool:
    if action.task not in _MOVING_TASKS or action.vacuous:
        return False
    if action.kind is CommandKind.CREATE:
        return len(action.targets) > 1 and result_of(signal, action) is Result.OK
    if action.kind not in _MOVING or (action.task == "stash" and _STANDING.intersection(action.targets[:1])):
        return False
    if action.kind is CommandKind.UNDO and action.task == "checkout":
        return False
    if action.kind is CommandKind.CHECKOUT:
        stays = "Already on" in signal.excerpt or signal.complains
        return not stays and result_of(signal, action) in (Result.OK, Result.WEAK)
    return "up_to_date" not in signal.git.words and result_of(signal, action) is Result.OK


def moved_behind(signal: Signal, action: Action) -> bool:
    """Whether the same command line moves the tree after ``action`` (``pytest && git checkout main``)."""
    found = moves(signal)
    if not found:
        return False
    order = signal.actions
    last = max(i for i, a in enumerate(order) if a == action)
    return any(a in found for a in order[last + 1 :])
