"""Whether a run is of the scope that a claim speaks of: no fewer tests, no other package, branch or environment (OUTCOME.1).

Every reader here gives the reason why a run is of another scope, or an empty string. A scope that differs never
contradicts: the claim is ``unwitnessed``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tallystick.verifiers.commands import Action, is_script
from tallystick.verifiers.outcome_objects import environments, versions
from tallystick.verifiers.outcome_sentence import OutcomeClaim
from tallystick.verifiers.outcome_session import Session
from tallystick.verifiers.programs import TASK_WORDS, CommandKind
from tallystick.verifiers.signals import Ended, Result, Signal, is_code

_K = CommandKind
_ROOTS = frozenset(
    ("", ".", "...", "run", "tests", "test", "spec", "specs", "__tests__", "src", "all", "lib", ":::", "//")
)
"""Targets that stand for everything there is."""
_GLOB_TAIL = re.compile(r"(?:/?\.\.\.|/?\*[\w.*{},\[\]-]{0,60})$")
_PARTS = frozenset("unit integration e2e smoke fast quick regression acceptance functional only one single changed affected "
                   "related unitaires contract".split())  # fmt: skip
_SEPARATOR = re.compile(r"[:._\-/\s]+")
_RUNNER = re.compile(
    r"(?:run[_-]?)?(?:all[_-]?)?(?:py)?tests?(?:[_-]?all)?|(?:run[_-]?)?(?:checks?|ci|verify|selftest)|test[_-]?(?:all|suite)"
)
_ENDING = re.compile(r"\.\w{1,5}$")


def is_remark(claim: OutcomeClaim, latest: Ended, session: Session) -> bool:
    """Whether words said between two steps of one turn can only be of the run they follow: "All tests pass. Let me run the
    full suite." What names the suite outright, or follows a run of one test, is no such remark, nor is a closing message."""
    if claim.outright or not session.before or session.before[-1] is not latest.signal:
        return False
    if _is_one_test(latest):
        return False
    following = session.memory.next_turn(session.position)
    return any(following is None or s.position < following for s in session.after[:1])


def _is_one_test(ended: Ended) -> bool:
    """Whether a run is of a single test; a pipe may have cut what it printed."""
    tests, action = ended.signal.tests, ended.action
    if any("::" in target for target in action.targets):
        return len(action.targets) == 1
    return tests.passed == 1 and not tests.packages and not action.hidden


def narrowness(claim: OutcomeClaim, action: Action, session: Session) -> str:
    """Why a run of tests is not of the whole suite; empty when it is."""
    if action.selection and not set(_SEPARATOR.split(action.selection.lower())) <= set(claim.scope):
        return f"scope: only the tests of {action.selection[:60]!r} were run"
    if action.package and not _works_on(action.package, session):
        return f"scope: only the package {action.package[:60]!r} was tested"
    if is_script(action) and not _is_runner(action):
        return "scope: what the script runs is not shown to be the whole suite"
    parts = _PARTS.intersection(_SEPARATOR.split(action.task.lower()[:100])).difference(claim.scope)
    if parts:
        return f"scope: only the task {action.task[:60]!r} was run"
    for target in action.targets:
        if target == action.package or _is_everything(target, action, claim):
            continue
        return f"scope: only {target[:60]!r} was run"
    return ""


def _is_runner(action: Action) -> bool:
    """Whether a script is named as the one that runs the tests (``./run_tests.sh``), and not as one test."""
    script = action.program
    if "." not in script and action.targets:
        script = action.targets[0].rsplit("/", 1)[-1].lower()
    return _RUNNER.fullmatch(_ENDING.sub("", script)) is not None


def _is_everything(target: str, action: Action, claim: OutcomeClaim) -> bool:
    """Whether a target leaves nothing out: the root, the folder of tests, a setting, another task of a task runner."""
    place = _GLOB_TAIL.sub("", target).removeprefix("./").strip("/")
    name = place.rsplit("/", 1)[-1]
    if place in _ROOTS or place.isdigit() or (target.startswith("/") and name in _ROOTS):
        return True
    if action.task and "=" in target:
        return True
    if action.task and place.lower() in TASK_WORDS and "/" not in target and action.program != "manage.py":
        return True
    if is_script(action) and target == action.targets[0]:
        return True
    return bool(claim.scope) and "::" not in target and not _ENDING.search(name) and name in claim.scope


def _code_paths(session: Session) -> list[str]:
    """Files of code edited in the turn of the words, or in the session where none was in the turn."""
    edited = [(s, path) for s, path in session.edits if path != "*" and is_code(path)]
    edited = [(s, path) for s, path in edited if s.position > session.turn] or edited
    paths = dict.fromkeys(_rooted(s, path.replace("\\", "/")) for s, path in edited)
    return [path for path in paths if not _ELSEWHERE.search(path)]


def _rooted(signal: Signal, path: str) -> str:
    """An edited file under the folder that its command works in."""
    tree = next((a.tree for a in signal.actions if a.tree and path in a.targets), "")
    return path if path.startswith(("/", "~", "$")) or not tree else f"{tree.rstrip('/')}/{path.removeprefix('./')}"


_ELSEWHERE = re.compile(r"^/tmp/|^/var/tmp/|/\.(?!\.)[^/]+/|^\.[^./][^/]*/|^~")
"""Scratch and settings, on which no suite depends."""


def _works_on(package: str, session: Session) -> bool:
    """Whether all code that the session edited lies in the package that was tested."""
    name = package.strip("./").rsplit("/", 1)[-1].replace("_", "-")
    paths = [path.replace("\\", "/") for _, path in session.edits if path != "*" and is_code(path)]
    return bool(paths) and all(name in path.replace("_", "-").split("/")[:-1] for path in paths)


def elsewhere(runs: Iterable[Action], session: Session) -> str:
    """Why runs in other folders than the edits' show nothing of them; empty when one of them covers each edit."""
    folders = [_folder(action) for action in runs]
    if not folders or "" in folders:
        return ""
    for path in _code_paths(session):
        if not any(_inside(path, folder) for folder in folders):
            return f"scope: the tests ran in {folders[-1][:60]!r}, and {path[-60:]!r} was edited"
    return ""


def _folder(action: Action) -> str:
    """The folder that a run of the whole suite speaks of; empty where it cannot be told."""
    rooted = next((t for t in action.targets if t.startswith("/")), "")
    folder = rooted.rstrip("/").rpartition("/")[0] if rooted else action.tree.rstrip("/")
    return "" if folder.startswith(("$", "~", "..", "-")) or "$" in folder or folder in (".", "") else folder


def _inside(path: str, folder: str) -> bool:
    """Whether an edited file can lie in ``folder``; True where a relative path leaves it open."""
    if folder.startswith("/"):
        return not path.startswith("/") or path.startswith(folder + "/")
    folder = folder.removeprefix("./")
    return f"/{folder}/" in f"/{path}" or (not path.startswith("/") and "/" not in path)


def miscounted(claim: OutcomeClaim, told: list[Ended]) -> str:
    """Why the runs do not show as many passed tests as the claim says; empty when they do."""
    if claim.tests < 0:
        return ""
    counted = [e for e in told if not e.signal.tests.packages and e.signal.tests.passed >= 0]
    if not counted:
        return "" if not claim.tests_are_all else "scope: the run shows no number of tests"
    latest = {e.action.identity: e.signal.tests.passed for e in counted}
    shown = {sum(latest.values()), *(n for e in counted for n in (e.signal.tests.passed, *e.signal.tests.passes))}
    exact = claim.tests_are_all and all(e.signal.tests.passed in e.signal.tests.passes for e in counted)
    if claim.tests in shown or (not exact and claim.tests < max(shown)):
        return ""
    return f"scope: {claim.tests} tests are claimed, and the run shows {counted[-1].signal.tests.passed} passed"


def of_another(claim: OutcomeClaim, kind: CommandKind, ran: list[Ended]) -> str:
    """Why none of the results is about what the claim names; empty when one of them is, or the claim names nothing."""
    fine = [e for e in ran if e.result is Result.OK]
    if kind is _K.INSTALL:
        missing = [name for name in claim.objects if not any(_installs(name, e) for e in fine)]
        return f"scope: {missing[0][:60]!r} is not what was installed" if missing else ""
    return next((reason for e in fine[-1:] if (reason := differs(claim, kind, e))), "")


def differs(claim: OutcomeClaim, kind: CommandKind, ended: Ended) -> str:
    """Why one result is about another branch, environment, registry or version than the claim; else empty."""
    if claim.versions and kind in (_K.PUBLISH, _K.INSTALL):
        shown = versions(" ".join(ended.action.targets).replace("@", " ").replace("=", " "))
        if shown and not any(a.startswith(b) or b.startswith(a) for a in shown for b in claim.versions):
            return f"scope: the {kind} is of version {shown[0]}, not {claim.versions[0]}"
    reader = _READERS.get(kind)
    return reader(claim.objects, ended) if reader and claim.objects else ""


def _bare(name: str) -> str:
    """A branch without its remote or its place among the refs."""
    name = name.lower().removeprefix("+").removeprefix("refs/heads/").removeprefix("refs/remotes/")
    return name.removeprefix("origin/").removeprefix("upstream/")


def _other_branch(names: tuple[str, ...], ended: Ended) -> str:
    """A branch that is named is neither among the references of the command nor among those that git printed."""
    action, git = ended.action, ended.signal.git
    if action.program != "git":
        return ""
    refs = [part for t in action.targets for part in t.split(":")[-1:]]
    if action.kind is _K.PUSH:
        refs = [*git.pushed, *(refs[1:] or ())] if git.pushed or len(refs) > 1 else []
        if refs == ["HEAD"]:
            refs = []
    elif action.kind is _K.COMMIT:
        made = _COMMITTED_TO.match(ended.signal.excerpt)
        refs = [made[1]] if made else []
    elif action.kind is _K.MERGE and action.task != "merge":
        refs = []
    shown = {_bare(ref) for ref in refs} | {_bare(t) for t in action.targets[:1] if action.kind is _K.PUSH}
    missing = [name for name in names if _bare(name) not in shown]
    return (
        f"scope: the {action.kind} is of {_bare(refs[-1])[:60]!r}, not {missing[0][:60]!r}" if refs and missing else ""
    )


_COMMITTED_TO = re.compile(r"\[([^\s\]]{1,100})(?: \(root-commit\))? [0-9a-f]{7,40}\]")


def _other_environment(names: tuple[str, ...], ended: Ended) -> str:
    """The environment that is named is not the one that the command names, or that it printed where it names none."""
    asked = environments(ended.signal.command)
    shown = asked or environments(f"{ended.signal.excerpt} {ended.signal.printed}")
    if set(names) <= set(shown) or (not shown and ended.result is Result.FAILED):
        return ""
    return f"scope: the {ended.action.kind} is of {', '.join(shown) or 'no environment that is named'}, not {names[0]}"


_REGISTRY_OF = {
    "npm": "npm", "pnpm": "npm", "yarn": "npm", "bun": "npm", "lerna": "npm", "changeset": "npm", "twine": "pypi",
    "uv": "pypi", "poetry": "pypi", "hatch": "pypi", "pdm": "pypi", "cargo": "crates.io", "gem": "rubygems",
    "docker": "dockerhub", "gh": "github",
}  # fmt: skip


def _other_registry(names: tuple[str, ...], ended: Ended) -> str:
    """The registry that is named is not the one that the program publishes to."""
    known = _REGISTRY_OF.get(ended.action.program, names[0])
    known = (
        "testpypi"
        if "testpypi" in ended.signal.command.lower() or "test.pypi" in ended.signal.command.lower()
        else known
    )
    if names[0] == known or (known == "dockerhub" and names[0] == "ghcr"):
        return ""
    return f"scope: published to {known}, not to {names[0]}"


_READERS = {
    _K.PUSH: _other_branch, _K.MERGE: _other_branch, _K.REBASE: _other_branch, _K.COMMIT: _other_branch,
    _K.DEPLOY: _other_environment, _K.MIGRATE: _other_environment, _K.PUBLISH: _other_registry,
}  # fmt: skip
_SPEC = re.compile(r"(?<=.)[=<>!~@\[;^].*$")
_PLAIN = re.compile(r"[-_.\s]")
_TOKEN = re.compile(r"[@\w][\w./@+-]{0,100}")
_TRAILING_VERSION = re.compile(r"[-@]v?\d[\w.]*$")


def _installs(name: str, ended: Ended) -> bool:
    """Whether an installation names a package in its command, or printed that it installed it."""
    printed = (_TRAILING_VERSION.sub("", token) for token in _TOKEN.findall(ended.signal.excerpt[:400]))
    shown = {_package(word) for word in (ended.action.program, *ended.action.targets, *printed)}
    shown |= {word.rsplit("/", 1)[-1] for word in shown}
    if " " not in name:
        return _package(name) in shown
    command = set(re.split(r"[^\w]+", ended.signal.command.lower()))
    return _package(name) in shown or any(word in command for word in name.split() if len(word) > 2)


def _package(word: str) -> str:
    """A package's name without version, extras and the marks that registries take for one another."""
    return _PLAIN.sub("", _SPEC.sub("", word.strip("\"'`").lower()))
