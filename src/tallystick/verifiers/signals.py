"""A tool result becomes a compact signal, and a session a bounded memory of them: what outcome claims are held against.

A signal is small, since every one of a session is kept (the last ``MAX_SIGNALS``; dropped ones are counted). Reading a
result looks at a bounded window of its output (``verifiers.outputs``), so a session of any size costs linear time
(EVID.10, OUTCOME.3-5, OUTCOME.7).
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable

from tallystick.model.evidence import Event, EventKind, Origin, Status
from tallystick.verifiers import outputs
from tallystick.verifiers.commands import Action, actions
from tallystick.verifiers.narrowing import says_it_pretends
from tallystick.verifiers.outputs import GitFacts, TestCounts
from tallystick.verifiers.programs import CHECKS, LOOKING, CommandKind
from tallystick.verifiers.results import CLEANABLE, Ended, Result, Signal, edits_of, is_code, moves, result_of
from tallystick.verifiers.speech import Speech, speech_of

__all__ = ["MAX_SIGNALS", "Ended", "Result", "Signal", "Signals", "edits_of", "is_code", "result_of", "signal_of"]

MAX_SIGNALS = 20_000
MAX_SPEECHES = 4_000
EXCERPT_CHARS = 200
COMMAND_CHARS = 200
SCRIPT_CHARS = 3_000
PRINTED_CHARS = 1_200
_MAX_ACTIONS = 24
_MAX_PATHS = 24


_EDIT_TOOL = re.compile(
    r"(?:^|_|-)(create|add|write|update|edit|replace|delete|remove|rename|move|push|merge|commit|publish|deploy|patch)(?:_|-|$)"
)
_NOT_EDITING = re.compile(r"todo|plan|task|memory_search|thought|think", re.IGNORECASE)
_SEARCH_TOOLS = frozenset(
    ("grep", "glob", "search", "search_file_content", "find_by_name", "grep_search", "codebase_search")
)
_READ_TOOLS = frozenset(("read", "read_file", "ls", "list_directory", "webfetch", "websearch", "web_fetch", "view"))
_VERB_KINDS = {
    "create": CommandKind.CREATE, "add": CommandKind.CREATE, "write": CommandKind.CREATE, "update": CommandKind.EDIT,
    "edit": CommandKind.EDIT, "replace": CommandKind.EDIT, "patch": CommandKind.EDIT, "delete": CommandKind.DELETE,
    "remove": CommandKind.DELETE, "rename": CommandKind.RENAME, "move": CommandKind.RENAME, "push": CommandKind.PUSH,
    "merge": CommandKind.MERGE, "commit": CommandKind.COMMIT, "publish": CommandKind.PUBLISH,
    "deploy": CommandKind.DEPLOY,
}  # fmt: skip


def signal_of(event: Event, position: int) -> Signal | None:
    """The signal of a tool result; None for other events and for results that say nothing of what was done."""
    if event.kind is not EventKind.TOOL_RESULT:
        return None
    if event.origin is Origin.DELEGATED:
        return _report(event, position)
    if event.origin is not Origin.TOOL or event.status is Status.REJECTED or "own_tool" in event.flags:
        return None
    if event.command:
        return _of_command(event, position)
    found = _tool_actions(event)
    if not found:
        return None
    return Signal(
        position,
        event.uid,
        event.thread,
        event.tool,
        "",
        found,
        event.status,
        event.exit_code,
        complains=event.status is Status.FAILED or any(word in event.text[:400] for word in _COMPLAINTS),
        negative="negative_result" in event.flags or event.text[:40].startswith(("No matches found", "No files found")),
        paths=event.paths[:_MAX_PATHS],
        git=outputs.git_facts(event.text[:2_000])
        if found[0].kind in (CommandKind.PULL_REQUEST, CommandKind.MERGE)
        else GitFacts(),
        excerpt="" if found[0].kind is CommandKind.READ else _one_line(event.text[:EXCERPT_CHARS]),
        flags=event.flags,
    )


def _report(event: Event, position: int) -> Signal:
    """A delegated report: kept to say ``reported``, and never read for outcomes."""
    return Signal(
        position,
        event.uid,
        event.thread,
        event.tool,
        "",
        (),
        event.status,
        launch=_launches(event),
        excerpt=_one_line(event.text[:EXCERPT_CHARS]),
        flags=(*event.flags, "delegated"),
    )


_LAUNCHED = re.compile(r"\b(?:launched successfully|running in (?:the )?background|started in (?:the )?background)\b")


def _launches(event: Event) -> bool:
    """Whether a result only says that an agent or a command was started."""
    return "background" in event.flags or _LAUNCHED.search(event.text[:300]) is not None


def _tool_actions(event: Event) -> tuple[Action, ...]:
    """What a tool that runs no command does, by the paths it writes or by its name."""
    name = event.tool.rsplit("__", 1)[-1].lower()
    if event.paths:
        kind = CommandKind.CREATE if "write" in name or "create" in name else CommandKind.EDIT
        return (Action(kind, name, event.paths[:_MAX_PATHS]),)
    if name in _SEARCH_TOOLS:
        return (Action(CommandKind.SEARCH, name, ()),)
    if _NOT_EDITING.search(name) or not name:
        return ()
    verb = None if name in _READ_TOOLS else _EDIT_TOOL.search(name)
    if verb is None:
        return (Action(CommandKind.READ, name, ()),)
    kind = CommandKind.PULL_REQUEST if "pull_request" in name and verb[1] == "create" else _VERB_KINDS[verb[1]]
    return (Action(kind, name, ()),)


_SAYING = frozenset(
    (CommandKind.DEPLOY, CommandKind.PUBLISH, CommandKind.MIGRATE, CommandKind.INSTALL, CommandKind.PUSH)
)
"""Kinds whose output says when nothing was really done."""
_UNSTARTED = ("No module named", "command not found", "not recognized as", "No such file or directory", "ENOENT",
              "Could not find", "missing script", "Missing script", "no such command")  # fmt: skip
_TEST_SUMMARY = ("Ran ", " passed", "test result:", "ll tests pass", "--- PASS", "--- FAIL", "sts passed", "sts failed")
_COMPLAINTS = ("Traceback (most recent call last)", "No such file", "Permission denied", "cannot ",
               "fatal: ", "command not found", "not recognized",
               "error: ", "Error: ", "did not match any", "ERR!")  # fmt: skip
_GIT_KINDS = (CommandKind.COMMIT, CommandKind.PUSH, CommandKind.MERGE, CommandKind.REBASE, CommandKind.PULL_REQUEST,
              CommandKind.STATUS, CommandKind.DIFF, CommandKind.HISTORY, CommandKind.UNDO)  # fmt: skip


def _of_command(event: Event, position: int) -> Signal | None:
    """The signal of a command's result."""
    found = tuple(a for a in actions(event.command) if a.kind is not CommandKind.OTHER)[:_MAX_ACTIONS]
    if event.paths and not any(a.targets for a in found if a.kind in (CommandKind.EDIT, CommandKind.CREATE)):
        found = (*found, Action(CommandKind.EDIT, "patch", event.paths[:_MAX_PATHS]))
    if not found:
        return None
    if any(a.kind in _SAYING for a in found) and says_it_pretends(event.text):
        found = tuple(a._replace(vacuous=True) if a.kind in _SAYING else a for a in found)
    kinds = {a.kind for a in found}
    tested = CommandKind.TEST in kinds
    text = outputs.window(event.text, tested)
    tests = outputs.test_counts(text) if tested else TestCounts()
    if not tested and CommandKind.RUN in kinds and any(word in text for word in _TEST_SUMMARY):
        tests = outputs.test_counts(text)
        tested = tests.said_passed or tests.passed > 0 or tests.failed > 0
        if tested:
            found = _as_tests(found)
            kinds = {a.kind for a in found}
    git = outputs.git_facts(text) if kinds.intersection(_GIT_KINDS) else GitFacts()
    failed_check = kinds.intersection(CHECKS) and event.status is not Status.OK
    listed: tuple[str, ...] = ()
    if kinds & {CommandKind.DIFF, CommandKind.STATUS}:
        listed = outputs.listed_paths(text)
    elif failed_check:
        listed = outputs.error_paths(text[: outputs.HEAD_CHARS])
    shows = any(a.task == "show" for a in found)
    body = _without_prefix(text)
    ran = not kinds.isdisjoint(_RUNNING)
    return Signal(
        position,
        event.uid,
        event.thread,
        event.tool,
        _one_line(event.command[: COMMAND_CHARS * 2])[:COMMAND_CHARS],
        found,
        event.status,
        event.exit_code,
        tests,
        git,
        outputs.cleanliness(text) if kinds.intersection(CLEANABLE) else 0,
        any(word in text for word in _COMPLAINTS),
        event.status is not Status.OK and any(word in text for word in _UNSTARTED),
        not body,
        "negative_result" in event.flags or _nothing_found(found, event, body),
        event.paths[:_MAX_PATHS],
        listed,
        outputs.added_lines(text) if shows else "",
        outputs.figures(body) if len(body) <= 2_000 and not tested and _measures(found, event) else "",
        event.command[:SCRIPT_CHARS] if ran else "",
        _printed(body, ran, kinds),
        outputs.bad_end(body) if ran else "",
        _launches(event),
        _one_line(body[-EXCERPT_CHARS:]) if kinds <= LOOKING else _excerpt(body, tests, git),
        event.flags,
    )


_RUNNING = frozenset((CommandKind.RUN, CommandKind.TEST, CommandKind.BUILD, CommandKind.EDIT))
_FINDING = frozenset((CommandKind.SEARCH, CommandKind.LIST))


def _printed(body: str, ran: bool, kinds: set[CommandKind]) -> str:
    """Head and tail of what a run printed; of a search the whole, or nothing."""
    if ran:
        return outputs.head_and_tail(body, PRINTED_CHARS)
    return body if len(body) <= PRINTED_CHARS and kinds <= LOOKING and not kinds.isdisjoint(_FINDING) else ""


_MEASURING = frozenset(("wc", "du", "df", "jq", "stat", "find", "uniq"))


def _measures(found: tuple[Action, ...], event: Event) -> bool:
    """Whether a command's numbers are worth keeping: it measured something, and did not only show text."""
    if event.status is not Status.OK:
        return False
    return any(a.kind in (CommandKind.RUN, CommandKind.STATUS) or a.program in _MEASURING for a in found)


def _as_tests(found: tuple[Action, ...]) -> tuple[Action, ...]:
    """A script that prints a test summary is a test run, whatever it is called."""
    last = max(i for i, action in enumerate(found) if action.kind is CommandKind.RUN)
    return (*found[:last], found[last]._replace(kind=CommandKind.TEST), *found[last + 1 :])


_PREFIX = re.compile(
    r"(?:(?:Exit code: -?\d{1,5}|<returncode>\n?-?\d{1,5}\n?</returncode>|<output>|Wall time: [\d.]{1,12} seconds"
    r"|Total output lines: \d{1,9}|Output:)\s*\n?)+"
)


def _without_prefix(text: str) -> str:
    """The output itself, without the lines a harness writes in front of it."""
    prefix = _PREFIX.match(text)
    return (text[prefix.end() :] if prefix else text).strip().removesuffix("</output>").rstrip()


def _nothing_found(found: tuple[Action, ...], event: Event, body: str) -> bool:
    """Whether the command is a search, and only that, that found nothing."""
    if any(a.kind not in LOOKING for a in found) or found[0].kind is not CommandKind.SEARCH:
        return False
    return not body and (event.status is Status.OK or event.exit_code == 1)


def _excerpt(text: str, tests: TestCounts, git: GitFacts) -> str:
    """The line that tells most, on one line, at most ``EXCERPT_CHARS``."""
    lines = [line for line in text[-6_000:].split("\n") if line.strip()]
    if git.made or git.pushed:
        told = [line for line in lines if "->" in line or line.startswith("[")]
    elif tests != TestCounts():
        told = [line for line in lines if "pass" in line.lower() or "fail" in line.lower() or line.startswith("ok")]
    else:
        told = []
    return _one_line((told or lines or [""])[-1][:EXCERPT_CHARS])


def _one_line(text: str) -> str:
    return " ".join(text.split())[:EXCERPT_CHARS]


class Signals:
    """The bounded memory of one session: its signals, the last edit of each file, and what was said afterwards."""

    def __init__(self) -> None:
        self.dropped = 0
        """Signals let go because there were more than ``MAX_SIGNALS``."""
        self.readable = 0
        """Signals seen, dropped ones too."""
        self._signals: deque[Signal] = deque()
        self._ended: dict[CommandKind, deque[Ended]] = {kind: deque() for kind in CommandKind}
        self._edits: deque[tuple[Signal, str]] = deque()
        self._moves: deque[Signal] = deque()
        self._reports: deque[Signal] = deque()
        self._made: set[str] = set()
        self._created: set[str] = set()
        self._speeches: deque[Speech] = deque(maxlen=MAX_SPEECHES)
        self._turns: deque[int] = deque(maxlen=MAX_SPEECHES)

    def add(self, signal: Signal) -> None:
        """Take in the next signal, in the order of the session."""
        self.readable += 1
        self._signals.append(signal)
        if signal.delegated:
            self._reports.append(signal)
        for action in signal.actions:
            if not action.vacuous:
                self._ended[action.kind].append(Ended(signal, action, result_of(signal, action)))
        if moves(signal):
            self._moves.append(signal)
        self._edits.extend((signal, path) for path in self._lasting_edits(signal))
        if len(self._signals) > MAX_SIGNALS:
            self._drop(self._signals.popleft())

    def _lasting_edits(self, signal: Signal) -> tuple[str, ...]:
        """The files a signal changes; a file made in this session and removed again (a probe, a log) is none."""
        changed = edits_of(signal)
        if any(a.kind is CommandKind.DELETE for a in signal.actions):
            changed = tuple(path for path in changed if path.rsplit("/", 1)[-1] not in self._made)
        if len(self._made) < MAX_SIGNALS:
            self._made.update(path.rsplit("/", 1)[-1] for path in changed)
            created = (a for a in signal.actions if a.kind is CommandKind.CREATE)
            self._created.update(path.rsplit("/", 1)[-1] for a in created for path in a.targets)
        return changed

    def _drop(self, oldest: Signal) -> None:
        self.dropped += 1
        for action in oldest.actions:
            ended = self._ended[action.kind]
            while ended and ended[0].signal is oldest:
                ended.popleft()
        while self._edits and self._edits[0][0] is oldest:
            self._edits.popleft()
        if self._moves and self._moves[0] is oldest:
            self._moves.popleft()
        if self._reports and self._reports[0] is oldest:
            self._reports.popleft()

    def add_message(self, event: Event, position: int) -> None:
        """Take in a message: a person's complaint or an assistant's retraction can contradict what was said before."""
        if event.kind is not EventKind.MESSAGE:
            return
        if event.origin is Origin.USER:
            self._turns.append(position)
        speech = speech_of(event, position)
        if speech is not None:
            self._speeches.append(speech)

    def before(self, position: int | None, thread: str = "") -> list[Signal]:
        """Signals not after ``position`` (all for None), oldest first. A sub-agent's thread sees its own alone."""
        return [s for s in self._signals if _is_seen(s, position, thread)]

    def after(self, position: int | None, thread: str = "") -> list[Signal]:
        """Signals after ``position``, oldest first; none for None."""
        if position is None:
            return []
        return [s for s in self._signals if s.position > position and (not thread or s.thread == thread)]

    def ended(self, kinds: Iterable[CommandKind], position: int | None, thread: str = "") -> list[Ended]:
        """Actions of these kinds not after ``position`` with how they ended, oldest first; pretended ones left out."""
        found = [e for kind in frozenset(kinds) for e in self._ended[kind] if _is_seen(e.signal, position, thread)]
        return sorted(found, key=lambda e: e.signal.position)

    def edits(self, position: int | None, thread: str = "") -> list[tuple[Signal, str]]:
        """Successful edits not after ``position``, oldest first: the signal, and the file (``*`` for the whole tree)."""
        return [(s, path) for s, path in self._edits if _is_seen(s, position, thread)]

    def last_move(self, position: int | None, thread: str = "") -> int:
        """Position of the last signal not after ``position`` that put other commits into the working tree; else -1."""
        return max((s.position for s in self._moves if _is_seen(s, position, thread)), default=-1)

    def reports(self, position: int | None, thread: str = "") -> list[Signal]:
        """Delegated reports not after ``position``, oldest first."""
        return [s for s in self._reports if _is_seen(s, position, thread)]

    def speeches_after(self, position: int | None) -> list[Speech]:
        """What was said after ``position`` that may contradict; for None what was said after the last signal."""
        if position is None:
            position = self._signals[-1].position if self._signals else -1
        return [s for s in self._speeches if s.position > position]

    def made(self, path: str) -> bool:
        """Whether a file of that name was created in the session."""
        return path.rsplit("/", 1)[-1] in self._created

    def turn_start(self, position: int | None) -> int:
        """Position of the last word of a person not after ``position``; -1 when there is none."""
        starts = [turn for turn in self._turns if position is None or turn < position]
        return starts[-1] if starts else -1

    def turn_before(self, position: int | None) -> int:
        """Position of the word of a person before the last one; -1 when there is none."""
        starts = [turn for turn in self._turns if position is None or turn < position]
        return starts[-2] if len(starts) > 1 else -1

    def turns_between(self, position: int | None, stop: int) -> int:
        """How many messages of a person stand after ``position`` and not after ``stop``."""
        return sum(position is not None and position < turn <= stop for turn in self._turns)

    def next_turn(self, position: int | None) -> int | None:
        """Position of a person's next message after ``position``."""
        if position is None:
            return None
        return next((turn for turn in self._turns if turn > position), None)


def _is_seen(signal: Signal, position: int | None, thread: str) -> bool:
    return (position is None or signal.position <= position) and (not thread or signal.thread == thread)
