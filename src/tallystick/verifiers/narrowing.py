"""What makes a run less than it looks: options that narrow it to some tests or one package, that move it to another
folder, or that let it only pretend (OUTCOME.1, OUTCOME.4).

Tables and readers over the words of one simple command; each reader moves over the words once.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tallystick.verifiers.programs import PROGRAMS, SUBCOMMANDS, CommandKind

_K = CommandKind
_MAX_WORDS = 60
"""Options are read in this many words."""

_SELECTING = frozenset((
    "-k", "-run", "--run", "-t", "--testNamePattern", "--test-name-pattern", "-g", "--grep", "--filter", "-e",
    "--example", "-m", "--tests", "--testPathPattern", "--testPathPatterns", "--test-path-pattern", "--fgrep", "--tag",
    "--group", "--testsuite", "--deselect", "--ignore", "--ignore-glob", "--exclude", "--skip", "-skip", "--shard",
    "--changed", "--changedSince", "--project", "--match", "--bin", "--test", "--only", "--last", "-Dtest", "-Dit.test",
))  # fmt: skip
"""Options with a value that narrow a run of tests."""
_SELECTING_OF: dict[str, frozenset[str]] = {
    "ctest": frozenset(("-R", "-E", "-L", "-LE", "-I")), "cargo": frozenset(("-E",)), "nextest": frozenset(("-E",)),
    "mvn": frozenset(("-pl",)), "mvnw": frozenset(("-pl",)), "mocha": frozenset(("-f",)),
    "ginkgo": frozenset(("--focus", "-focus")),
}  # fmt: skip
_SELECTING_ALONE = frozenset((
    "--lf", "--last-failed", "--sw", "--stepwise", "--picked", "--testmon", "--onlyChanged", "--only-changed",
    "--onlyFailures", "--findRelatedTests", "--related", "-short", "--lib", "--bins", "--doc", "--examples", "--ignored",
    "--only-failures", "--affected", "--changed-only",
))  # fmt: skip
"""Options without one that narrow it."""
_VALUED = frozenset((
    "--config", "--config-file", "--rootdir", "--tb", "--maxfail", "--durations", "--cov", "--cov-report", "--timeout",
    "-timeout", "--junitxml", "--junit-xml", "--basetemp", "-count", "-tags", "-coverprofile", "-covermode", "-coverpkg",
    "-cpu", "-parallel", "-benchtime", "--features", "--manifest-path", "-j", "--jobs", "--target", "--target-dir",
    "--profile", "--color", "--reporter", "--reporters", "--require", "--logger", "--verbosity", "--framework",
    "--maxWorkers", "--max-workers", "--testTimeout", "--test-timeout", "--outputFile", "--environment", "--pool",
    "--seed", "--rcfile", "--format", "--message-format", "--log-level", "--settings", "--retries", "--workers",
    "--test-threads", "--logfile", "--numprocesses", "--dist", "--rootDir", "--dir", "--root",
))  # fmt: skip
"""Options with a value that narrow nothing."""
_VALUED_OF: dict[str, frozenset[str]] = {
    "pytest": frozenset(("-n", "-c", "-o", "-p", "-W")), "py.test": frozenset(("-n", "-c", "-o", "-p", "-W")),
    "go": frozenset(("-p", "-o", "-exec", "-ldflags", "-gcflags", "-bench")), "cargo": frozenset(("-F", "-Z")),
    "jest": frozenset(("-c", "-w")), "vitest": frozenset(("-c", "-r")), "mocha": frozenset(("-r", "-R", "-t", "-u", "-s")),
    "dotnet": frozenset(("-c", "-f", "-v", "-l", "-s", "-r", "-o")), "ctest": frozenset(("-C", "--test-dir")),
    "rspec": frozenset(("-f", "-r", "-o", "-I")), "tox": frozenset(("-e", "-c")), "nox": frozenset(("-s", "-e")),
    "gradle": frozenset(("-x", "-p")), "gradlew": frozenset(("-x", "-p")), "make": frozenset(("-C", "-f", "-o")),
    "mvn": frozenset(("-f", "-P")), "mvnw": frozenset(("-f", "-P")),
}  # fmt: skip
MEMBERED = frozenset(("npm", "pnpm", "yarn", "bun", "turbo", "nx", "lerna"))
"""Programs whose options choose one package of a workspace."""
_MEMBERS = frozenset(("--filter", "-F", "--workspace", "-w", "--scope", "--package"))
"""Options that limit a run to one package of a workspace."""


class Narrowed(NamedTuple):
    """The words of a run of tests, told apart."""

    targets: list[str]
    selection: str
    """Values of the options that narrow it, or those options themselves; empty where none is."""
    package: str
    """The one package of a workspace that it is limited to; among the targets too."""


def narrowed(program: str, words: tuple[str, ...], start: int) -> Narrowed:
    """What a run of tests is limited to, by its words from ``start`` on."""
    targets: list[str] = []
    selected: list[str] = []
    package = ""
    selecting = _SELECTING | _SELECTING_OF.get(program, frozenset())
    valued = _VALUED | _VALUED_OF.get(program, frozenset())
    members = _MEMBERS if program in MEMBERED else frozenset(("-p", "--package")) if program == "cargo" else frozenset()
    at = start
    while at < len(words):
        word = words[at]
        option, _, value = word.partition("=")
        follows = not value and at + 1 < len(words)
        if option in members and word.startswith("-"):
            package = value or (words[at + 1] if follows else "")
            targets.append(package)
            at += follows
        elif word in valued:
            at += 1
        elif option in selecting and (value or follows):
            selected.append(value or words[at + 1])
            at += follows
        elif word in _SELECTING_ALONE:
            selected.append(word)
        elif word and not word.startswith(("-", "+")) and word not in ("{}", "\\;"):
            targets.append(word)
        at += 1
    return Narrowed([t for t in targets if t], " ".join(selected), package)


_TREES = frozenset(("-C", "--directory", "--prefix", "--cwd", "--manifest-path"))
_CONTAINERS = frozenset(("docker", "podman", "docker-compose", "xargs", "sudo"))
_NARROWING_VARIABLE = re.compile(
    r"(?:TESTS?|SPECS?|PKGS?|PACKAGES?|RUN|FILTER|ONLY|T|K|TEST_?FILTER|TEST_?NAME|TEST_?PATH|TEST_?FILE|FILES?)=[^\d\W]"
    r"|\w{0,40}(?:ADDOPTS|ARGS|OPTS|FLAGS)=.{0,200}?(?:-k|-m|-run|--grep|--filter|-t|::)\b"
)


def surroundings(words: tuple[str, ...]) -> tuple[str, str, str]:
    """Package, folder and narrowing variable that stand in words around a run (``pnpm --filter x exec``, ``make -C d``,
    ``TESTS=x make test``); empty strings where there is none."""
    package = tree = variable = ""
    words = words[:_MAX_WORDS]
    if not any(word in _CONTAINERS for word in words[:4]):
        for at, word in enumerate(words):
            option, _, value = word.partition("=")
            value = value or (words[at + 1] if at + 1 < len(words) else "")
            if (option in _MEMBERS and word.startswith("-")) or (word == "workspace" and at == 1):
                package = value
            elif option in _TREES:
                tree = value.removesuffix("Cargo.toml").rstrip("/") or "."
    for word in words:
        if _NARROWING_VARIABLE.match(word):
            variable = word
    return package, tree, variable


_PRETENDABLE = frozenset((_K.TEST, _K.BUILD, _K.COMMIT, _K.PUSH, _K.MERGE, _K.REBASE, _K.PULL_REQUEST, _K.DEPLOY,
                          _K.PUBLISH, _K.MIGRATE, _K.INSTALL))  # fmt: skip
_VACUOUS = frozenset(("--dry-run", "--help", "-h", "--version", "--collect-only", "--co", "--listTests", "--list",
                      "-n=1", "--no-run", "-V"))  # fmt: skip
_PRETENDING = frozenset(("--dry-run", "--dryrun", "--dry", "--noop", "--no-op", "--simulate", "--what-if", "--whatif",
                         "-whatif", "--just-print", "--recon", "--help"))  # fmt: skip
_PRETENDING_OF: dict[CommandKind, frozenset[str]] = {
    _K.MIGRATE: frozenset(("--sql", "--plan", "--check", "--list", "--show-plan", "--fake", "--print", "--preview",
                           "--pretend", "--status", "--create-only", "--check-only", "--offline-sql", "--show-sql")),
    _K.DEPLOY: frozenset(("--plan", "--check", "--syntax-check", "--list-tasks", "--list-hosts", "--build-only", "--diff-only",
                          "--no-execute-changeset", "--no-execute", "--print", "--plan-only", "--validate-only")),
    _K.PUBLISH: frozenset(("--snapshot", "--draft", "--skip=publish", "--check", "--skip-publish", "--no-publish")),
    _K.INSTALL: frozenset(("--download-only", "--check", "--lockfile-only", "--package-lock-only", "--print-uris")),
    _K.TEST: frozenset(("--setup-plan", "--setup-only", "--show-only", "-N", "-DskipTests", "-DskipTests=true", "-list",
                        "-Dmaven.test.skip=true", "--list-tests", "-t=list")),
    _K.PUSH: frozenset(("-n",)),
}  # fmt: skip
_ON_PAPER = frozenset(("make", "gmake", "just", "rake", "ninja"))
_DRY_VARIABLE = re.compile(r"(?:\w{0,30}_)?DRY_?RUN=(?!(?:0|false|no|off)?$)", re.IGNORECASE)


def pretends(kind: CommandKind, program: str, words: tuple[str, ...]) -> bool:
    """Whether a command only shows what it would do: a dry run, a plan, a check, a help text, a list of tests."""
    read = words[1 : 1 + _MAX_WORDS]
    if (program in PROGRAMS or program in SUBCOMMANDS) and any(word in _VACUOUS for word in read[:39]):
        return True
    if kind not in _PRETENDABLE:
        return False
    options = _PRETENDING | _PRETENDING_OF.get(kind, frozenset())
    if any(_option(word) in options or word in options for word in read):
        return True
    if kind is _K.TEST and program == "go" and "-c" in read:
        return True
    if program in ("apt", "apt-get") and "-s" in read:
        return True
    return program in _ON_PAPER and "-n" in read


def _option(word: str) -> str:
    """A long option without its value; kept whole where the value switches it off."""
    name, _, value = word.lower().partition("=")
    return word if value in ("none", "false", "no", "0", "off") else name


def pretends_by_variable(words: tuple[str, ...]) -> bool:
    """Whether a variable in front of a command makes it a dry run (``DRY_RUN=1 ./deploy.sh``)."""
    return any(_DRY_VARIABLE.match(word[:80]) for word in words[:_MAX_WORDS])


_DRY_OUTPUT = re.compile(
    r"(?<![\w-])(?<!not a )(?<!no )dry[- ]run\b(?![ :=]{1,2}(?:false|no|off|disabled))|\bgenerating static sql\b",
    re.IGNORECASE,
)


def says_it_pretends(text: str) -> bool:
    """Whether an output says of itself that it is of a dry run."""
    return _DRY_OUTPUT.search(text[:2_000]) is not None or _DRY_OUTPUT.search(text[2_000:][-2_000:]) is not None


_SHOWS = frozenset(("status", "info", "list", "ls", "check", "show", "plan", "diff", "synth", "validate", "history",
                    "current", "heads", "branches", "pending", "version", "help", "logs", "lint", "doctor", "dry", "dryrun",
                    "noop", "updatesql", "preflight", "verify"))  # fmt: skip
_DOES_OTHERWISE = frozenset(("generate", "create", "new", "make", "revision", "stamp", "init", "build", "package", "test",
                             "destroy", "delete", "remove", "rollback", "down", "downgrade", "undo", "revert", "dump", "add",
                             "bootstrap", "seed", "pull", "resolve", "config", "edit", "merge"))  # fmt: skip
_SEPARATOR = re.compile(r"[:._\-/]+")


def act(kind: CommandKind, program: str, task: str, targets: tuple[str, ...]) -> CommandKind:
    """The kind of a deployment, publication or migration by the verb it is given: ``alembic history`` only looks."""
    if kind not in (_K.DEPLOY, _K.PUBLISH, _K.MIGRATE) or program in ("gh", "git", "kubectl"):
        return kind
    words = set(_SEPARATOR.split((task or program).lower()[:200]))
    if program in PROGRAMS or (kind is _K.MIGRATE and program in SUBCOMMANDS):
        for target in targets[:3]:
            words.update((target.lower(), *target.lower()[:60].split(":")))
    if words & _SHOWS:
        return _K.STATUS
    return _K.RUN if words & _DOES_OTHERWISE else kind
