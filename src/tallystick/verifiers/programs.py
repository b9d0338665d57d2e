"""Which program does what kind of thing: the tables by which a command is told to be a test run, a commit, a push …"""

from __future__ import annotations

import re
from enum import StrEnum


class CommandKind(StrEnum):
    """What sort of thing one simple command does."""

    TEST = "test"
    BUILD = "build"
    LINT = "lint"
    FORMAT = "format"
    TYPECHECK = "typecheck"
    COMMIT = "commit"
    PUSH = "push"
    MERGE = "merge"
    REBASE = "rebase"
    PULL_REQUEST = "pull_request"
    DEPLOY = "deploy"
    PUBLISH = "publish"
    MIGRATE = "migrate"
    INSTALL = "install"
    CREATE = "create"
    EDIT = "edit"
    DELETE = "delete"
    RENAME = "rename"
    STAGE = "stage"
    UNDO = "undo"
    """Takes back changes of the working tree: ``git checkout -- f``, ``git restore``, ``git reset --hard``."""
    CHECKOUT = "checkout"
    """Puts other commits into the working tree: ``git checkout b``, ``git switch b``, ``gh pr checkout 3``."""
    SEARCH = "search"
    LIST = "list"
    READ = "read"
    STATUS = "status"
    DIFF = "diff"
    """Shows a commit or a difference: ``git diff``, ``git show``."""
    HISTORY = "history"
    PIPELINE = "pipeline"
    """Asks how a remote pipeline went: ``gh pr checks``, ``gh run view``."""
    RUN = "run"
    OTHER = "other"


_K = CommandKind

CHECKS = (_K.TEST, _K.LINT, _K.BUILD, _K.TYPECHECK)
"""The kinds whose result depends on the code as it stands."""

LOOKING = frozenset((_K.SEARCH, _K.LIST, _K.READ, _K.STATUS, _K.DIFF, _K.HISTORY, _K.OTHER, _K.PIPELINE,
                     _K.CHECKOUT))  # fmt: skip
"""Kinds that make nothing: they look, or choose which commit is looked at."""

PROGRAMS: dict[str, CommandKind] = {
    **dict.fromkeys(
        (
            "pytest", "py.test", "nosetests", "nose2", "unittest", "tox", "jest", "vitest", "mocha", "ava", "jasmine",
            "karma", "rspec", "minitest", "phpunit", "pest", "ctest", "behave", "lettuce", "gotestsum", "runtests.py",
            "trial", "bats", "cucumber", "testem", "stestr", "ginkgo", "busted", "runghc-test", "nextest",
        ),
        _K.TEST,
    ),
    **dict.fromkeys(
        ("ninja", "gcc", "g++", "clang", "clang++", "rustc", "javac", "webpack", "rollup", "esbuild", "parcel", "tsup",
         "scons", "meson", "msbuild", "kotlinc", "ghc", "sphinx-build", "mkdocs", "hugo", "jekyll"),
        _K.BUILD,
    ),
    **dict.fromkeys(
        ("eslint", "pylint", "flake8", "golangci-lint", "golint", "shellcheck", "rubocop", "stylelint", "tslint",
         "clippy", "staticcheck", "hadolint", "yamllint", "markdownlint", "ktlint", "swiftlint", "phpcs", "phpstan",
         "bandit", "pycodestyle", "pydocstyle", "oxlint", "credo", "detekt", "actionlint", "pre-commit", "vulture",
         "import-linter", "lint-imports", "checkstyle", "luacheck", "semgrep"),
        _K.LINT,
    ),
    **dict.fromkeys(
        ("black", "isort", "gofmt", "goimports", "gofumpt", "prettier", "rustfmt", "clang-format", "autopep8", "yapf",
         "shfmt", "dprint", "terraform-fmt"),
        _K.FORMAT,
    ),
    **dict.fromkeys(("mypy", "pyright", "tsc", "vue-tsc", "pytype", "flow", "basedpyright", "sorbet"), _K.TYPECHECK),
    **dict.fromkeys(("twine", "goreleaser", "semantic-release", "changeset"), _K.PUBLISH),
    **dict.fromkeys(("ansible-playbook", "cap", "capistrano", "sam", "cdk", "kamal"), _K.DEPLOY),
    **dict.fromkeys(("alembic", "flyway", "dbmate", "liquibase", "goose", "knex"), _K.MIGRATE),
    **dict.fromkeys(("grep", "rg", "ag", "ack", "egrep", "fgrep", "zgrep", "ripgrep", "findstr"), _K.SEARCH),
    **dict.fromkeys(("ls", "tree", "find", "fd", "dir", "locate", "eza", "exa", "get-childitem"), _K.LIST),
    **dict.fromkeys(
        ("cat", "head", "tail", "sed", "awk", "nl", "less", "more", "bat", "cut", "sort", "uniq", "wc", "jq", "yq",
         "diff", "cmp", "stat", "file", "which", "type", "pwd", "date", "whoami", "env", "printenv", "xxd", "od",
         "get-content", "column", "tr", "hexdump", "strings", "du", "df", "ps", "id", "uname", "readlink", "realpath",
         "basename", "dirname", "sha256sum", "md5sum", "comm", "paste", "fold"),
        _K.READ,
    ),
    **dict.fromkeys(("touch", "mkdir", "cp", "ln", "tee", "install", "rsync", "scp", "new-item", "copy-item"), _K.CREATE),
    **dict.fromkeys(("rm", "rmdir", "unlink", "del", "rd", "trash", "remove-item", "shred"), _K.DELETE),
    **dict.fromkeys(("mv", "move", "ren", "rename", "move-item"), _K.RENAME),
    **dict.fromkeys(("patch", "apply_patch", "applypatch", "ed"), _K.EDIT),
    **dict.fromkeys(
        ("cd", "echo", "printf", "export", "set", "source", ".", "true", "false", "sleep", "pushd", "popd", "test", "[",
         "[[", "unset", "alias", "wait", "trap", "shift", "read", "local", "declare", "exit", "return", "umask", "chmod",
         "chown", "kill", "pkill", "fi", "done", "esac", "break", "continue", "clear", "ulimit", "set-location"),
        _K.OTHER,
    ),
}  # fmt: skip
"""Kind by program, where the program alone says it."""

SUBCOMMANDS: dict[str, dict[str, CommandKind]] = {
    "git": {
        "commit": _K.COMMIT, "push": _K.PUSH, "merge": _K.MERGE, "rebase": _K.REBASE, "cherry-pick": _K.COMMIT,
        "revert": _K.COMMIT, "am": _K.COMMIT, "pull": _K.MERGE, "status": _K.STATUS, "diff": _K.DIFF, "show": _K.DIFF,
        "log": _K.HISTORY, "reflog": _K.HISTORY, "rev-parse": _K.HISTORY, "rev-list": _K.HISTORY, "blame": _K.READ,
        "describe": _K.HISTORY, "grep": _K.SEARCH, "ls-files": _K.LIST, "add": _K.STAGE, "rm": _K.DELETE,
        "mv": _K.RENAME, "restore": _K.UNDO, "clean": _K.UNDO, "reset": _K.UNDO, "stash": _K.UNDO,
        "checkout": _K.CHECKOUT, "switch": _K.CHECKOUT, "bisect": _K.CHECKOUT,
        "apply": _K.EDIT, "init": _K.CREATE, "clone": _K.CREATE,
        "worktree": _K.CREATE, "count-objects": _K.STATUS, "gc": _K.RUN, "read-tree": _K.RUN,
        "update-index": _K.RUN, "update-ref": _K.RUN, "prune": _K.RUN, "repack": _K.RUN, "config": _K.RUN, "fsck": _K.STATUS,
    },
    "gh": {},
    "go": {"test": _K.TEST, "build": _K.BUILD, "vet": _K.LINT, "fmt": _K.FORMAT, "get": _K.INSTALL, "run": _K.RUN,
           "install": _K.INSTALL, "generate": _K.BUILD, "mod": _K.INSTALL, "version": _K.READ, "list": _K.LIST,
           "env": _K.READ, "doc": _K.READ},
    "cargo": {"test": _K.TEST, "t": _K.TEST, "nextest": _K.TEST, "build": _K.BUILD, "b": _K.BUILD, "check": _K.BUILD,
              "clippy": _K.LINT, "fmt": _K.FORMAT, "publish": _K.PUBLISH, "install": _K.INSTALL, "add": _K.INSTALL,
              "run": _K.RUN, "r": _K.RUN, "doc": _K.BUILD, "metadata": _K.READ, "tree": _K.READ, "bench": _K.RUN},
    "npm": {"test": _K.TEST, "t": _K.TEST, "tst": _K.TEST, "install": _K.INSTALL, "i": _K.INSTALL, "ci": _K.INSTALL,
            "add": _K.INSTALL, "publish": _K.PUBLISH, "start": _K.RUN, "ls": _K.LIST, "view": _K.READ},
    "bun": {"test": _K.TEST, "install": _K.INSTALL, "i": _K.INSTALL, "add": _K.INSTALL, "build": _K.BUILD,
            "publish": _K.PUBLISH},
    "deno": {"test": _K.TEST, "lint": _K.LINT, "fmt": _K.FORMAT, "check": _K.TYPECHECK, "run": _K.RUN,
             "compile": _K.BUILD, "install": _K.INSTALL},
    "pip": {"install": _K.INSTALL, "list": _K.LIST, "show": _K.READ, "freeze": _K.LIST},
    "uv": {"sync": _K.INSTALL, "add": _K.INSTALL, "build": _K.BUILD, "publish": _K.PUBLISH, "pip": _K.INSTALL,
           "lock": _K.INSTALL, "tool": _K.INSTALL, "venv": _K.CREATE},
    "poetry": {"install": _K.INSTALL, "add": _K.INSTALL, "build": _K.BUILD, "publish": _K.PUBLISH, "lock": _K.INSTALL},
    "apt": {"install": _K.INSTALL}, "apt-get": {"install": _K.INSTALL}, "apk": {"add": _K.INSTALL},
    "dnf": {"install": _K.INSTALL}, "yum": {"install": _K.INSTALL}, "brew": {"install": _K.INSTALL,
            "upgrade": _K.INSTALL},
    "gem": {"install": _K.INSTALL, "push": _K.PUBLISH, "build": _K.BUILD}, "bundle": {"install": _K.INSTALL},
    "conda": {"install": _K.INSTALL, "create": _K.CREATE}, "composer": {"install": _K.INSTALL, "require": _K.INSTALL},
    "dotnet": {"test": _K.TEST, "build": _K.BUILD, "publish": _K.BUILD, "format": _K.FORMAT, "run": _K.RUN},
    "swift": {"test": _K.TEST, "build": _K.BUILD, "run": _K.RUN},
    "mix": {"test": _K.TEST, "compile": _K.BUILD, "format": _K.FORMAT, "credo": _K.LINT, "deps.get": _K.INSTALL,
            "ecto.migrate": _K.MIGRATE},
    "zig": {"test": _K.TEST, "build": _K.BUILD}, "bazel": {"test": _K.TEST, "build": _K.BUILD, "run": _K.RUN},
    "ruff": {"check": _K.LINT, "format": _K.FORMAT}, "biome": {"lint": _K.LINT, "check": _K.LINT,
             "format": _K.FORMAT},
    "cmake": {"--build": _K.BUILD, "--install": _K.INSTALL}, "playwright": {"test": _K.TEST, "install": _K.INSTALL},
    "cypress": {"run": _K.TEST}, "next": {"build": _K.BUILD, "lint": _K.LINT}, "vite": {"build": _K.BUILD},
    "ng": {"test": _K.TEST, "build": _K.BUILD, "lint": _K.LINT, "deploy": _K.DEPLOY},
    "turbo": {}, "nx": {}, "lerna": {"publish": _K.PUBLISH},
    "docker": {"build": _K.BUILD, "push": _K.PUBLISH, "run": _K.RUN, "ps": _K.STATUS, "logs": _K.READ},
    "kubectl": {"apply": _K.DEPLOY, "rollout": _K.DEPLOY, "get": _K.STATUS, "describe": _K.READ, "logs": _K.READ,
                "delete": _K.DELETE},
    "helm": {"upgrade": _K.DEPLOY, "install": _K.DEPLOY}, "terraform": {"apply": _K.DEPLOY, "plan": _K.READ,
             "validate": _K.LINT, "fmt": _K.FORMAT, "destroy": _K.DELETE},
    "pulumi": {"up": _K.DEPLOY}, "vercel": {"deploy": _K.DEPLOY, "--prod": _K.DEPLOY}, "netlify": {"deploy": _K.DEPLOY},
    "fly": {"deploy": _K.DEPLOY}, "flyctl": {"deploy": _K.DEPLOY}, "firebase": {"deploy": _K.DEPLOY},
    "wrangler": {"deploy": _K.DEPLOY, "publish": _K.DEPLOY}, "serverless": {"deploy": _K.DEPLOY},
    "sls": {"deploy": _K.DEPLOY}, "eb": {"deploy": _K.DEPLOY}, "railway": {"up": _K.DEPLOY},
    "prisma": {"migrate": _K.MIGRATE, "generate": _K.BUILD, "db": _K.MIGRATE}, "diesel": {"migration": _K.MIGRATE},
    "sqlx": {"migrate": _K.MIGRATE}, "atlas": {"migrate": _K.MIGRATE}, "drizzle-kit": {"migrate": _K.MIGRATE,
            "push": _K.MIGRATE},
    "systemctl": {"status": _K.STATUS, "restart": _K.RUN, "start": _K.RUN},
    "docker-compose": {"up": _K.RUN, "build": _K.BUILD, "ps": _K.STATUS},
    "hatch": {"build": _K.BUILD, "publish": _K.PUBLISH, "test": _K.TEST, "fmt": _K.FORMAT},
    "pdm": {"install": _K.INSTALL, "add": _K.INSTALL, "build": _K.BUILD, "publish": _K.PUBLISH},
    "flutter": {"test": _K.TEST, "build": _K.BUILD, "analyze": _K.LINT, "pub": _K.INSTALL},
    "dart": {"test": _K.TEST, "analyze": _K.LINT, "format": _K.FORMAT, "compile": _K.BUILD},
}  # fmt: skip
"""Kind by program and first argument that is no option."""

GH: dict[tuple[str, str], CommandKind] = {
    ("pr", "create"): _K.PULL_REQUEST, ("pr", "merge"): _K.MERGE, ("pr", "edit"): _K.EDIT, ("pr", "close"): _K.EDIT,
    ("pr", "checks"): _K.PIPELINE, ("pr", "view"): _K.STATUS, ("pr", "diff"): _K.DIFF, ("pr", "list"): _K.LIST,
    ("pr", "comment"): _K.EDIT, ("pr", "review"): _K.EDIT, ("pr", "checkout"): _K.CHECKOUT,
    ("run", "view"): _K.PIPELINE, ("run", "watch"): _K.PIPELINE, ("run", "list"): _K.PIPELINE,
    ("release", "create"): _K.PUBLISH, ("repo", "create"): _K.CREATE, ("repo", "delete"): _K.DELETE,
    ("issue", "create"): _K.CREATE, ("issue", "close"): _K.EDIT, ("issue", "view"): _K.READ,
    ("repo", "clone"): _K.CREATE, ("repo", "edit"): _K.EDIT, ("secret", "set"): _K.CREATE,
    ("workflow", "run"): _K.RUN,
}  # fmt: skip

TASK_WORDS: dict[str, CommandKind] = {
    **dict.fromkeys(
        ("test", "tests", "spec", "specs", "unit", "integration", "e2e", "jest", "vitest", "pytest", "testall",
         "unittest", "unittests", "runtests", "selftest", "smoke"),
        _K.TEST,
    ),
    **dict.fromkeys(("lint", "eslint", "linter", "clippy", "vet", "rubocop", "stylelint", "flake8", "analyze"), _K.LINT),
    **dict.fromkeys(("fmt", "format", "prettier", "gofmt", "black"), _K.FORMAT),
    **dict.fromkeys(("typecheck", "types", "tsc", "mypy", "pyright", "typescript"), _K.TYPECHECK),
    **dict.fromkeys(("build", "compile", "bundle", "assemble", "dist", "package"), _K.BUILD),
    **dict.fromkeys(("deploy", "deployment"), _K.DEPLOY),
    **dict.fromkeys(("publish", "release"), _K.PUBLISH),
    **dict.fromkeys(("migrate", "migration", "migrations"), _K.MIGRATE),
    **dict.fromkeys(("install", "setup", "deps", "bootstrap"), _K.INSTALL),
    **dict.fromkeys(("clean", "clobber"), _K.DELETE),
    **dict.fromkeys(("check", "verify", "ci"), _K.TEST),
}  # fmt: skip
"""Kind by a word of a task's name (``test:ci``, ``lint-fix``, ``typecheck``); the first word that says one counts."""

_TASK_SEPARATOR = re.compile(r"[:._\-/]+")
_TEST_SCRIPT = re.compile(r"(?:^|/)(?:tests?/[^/]*|test_[^/]*|[^/]*_tests?|run_?tests?|[^/]*\.(?:test|spec))\.\w{1,4}$")


def task_kind(task: str) -> CommandKind:
    """The kind that the name of a task says (``npm run``, ``make``, ``mise run`` …), ``RUN`` when it says none."""
    for word in _TASK_SEPARATOR.split(task.lower()[:100]):
        kind = TASK_WORDS.get(word)
        if kind is not None:
            return kind
    return _K.RUN


def is_test_name(path: str) -> bool:
    """Whether a script is named or placed as a test."""
    return _TEST_SCRIPT.search(path[-200:]) is not None


def script_kind(path: str) -> CommandKind:
    """The kind that the name of a script says; a script named as a test is a test run."""
    if is_test_name(path):
        return _K.TEST
    name = path.rsplit("/", 1)[-1]
    stem = name.rsplit(".", 1)[0] if "." in name else name
    kind = task_kind(stem)
    return kind if kind in (_K.TEST, _K.LINT, _K.BUILD, _K.DEPLOY, _K.PUBLISH, _K.MIGRATE) else _K.RUN
