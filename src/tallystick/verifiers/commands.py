"""How a shell command is read through its wrapping: ``cd x && git -C y commit`` is a commit, ``grep pytest`` no test
run (OUTCOME.4).

One command line becomes a tuple of actions in the order they stand. Linear time: the line is split once
(``verifiers.shell``), wrappers are peeled by moving forward over the words, and a nested ``bash -c`` is split again
at most a few times.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tallystick.verifiers.narrowing import MEMBERED, act, narrowed, pretends, pretends_by_variable, surroundings
from tallystick.verifiers.programs import GH, PROGRAMS, SUBCOMMANDS, CommandKind, is_test_name, script_kind, task_kind
from tallystick.verifiers.shell import SimpleCommand, simple_commands

__all__ = ["Action", "CommandKind", "actions"]

MAX_TARGETS = 16
MAX_TARGET_CHARS = 160
_MAX_NESTING = 3


class Action(NamedTuple):
    """What one simple command inside a command line does."""

    kind: CommandKind
    program: str
    """The program that does it, wrappers and folders taken off (``pytest``, ``git``, ``mise``)."""
    targets: tuple[str, ...]
    """What it is done to, as written: files, packages, references, pull requests; options left out."""
    task: str = ""
    """Subcommand or task (``commit``, ``test:ci``), empty where the program has none."""
    selection: str = ""
    """What narrows a test run: the value of ``-k``, ``-run``, ``-t``, ``--grep`` …, ``--last-failed`` itself."""
    hidden: bool = False
    """The line's exit status does not show this action's: it feeds a pipe, or its failure is caught."""
    vacuous: bool = False
    """It only pretends: ``--dry-run``, ``--help``, ``--collect-only``, ``--version``."""
    tree: str = ""
    """Folder it works in, as given by ``cd`` or ``-C``; empty where none is."""
    package: str = ""
    """The one package of a workspace that a test run is limited to (``cargo test -p x``); among the targets too."""

    @property
    def identity(self) -> tuple[str, str, tuple[str, ...], str]:
        """Equal for two runs of the same thing; pipes and folders do not count."""
        return (self.program, self.task, self.targets, self.selection)


def actions(command: str) -> tuple[Action, ...]:
    """The actions of ``command`` in order; empty for an empty one."""
    return tuple(action for action in _actions(command, 0, "") if action.program)


def _actions(command: str, depth: int, tree: str) -> list[Action]:
    found: list[Action] = []
    simple = simple_commands(command)
    for index, one in enumerate(simple):
        hidden = one.after in ("|", "||", "&") or (one.after == ";" and _follows(simple, index))
        inner = _nested(one.words)
        if inner is not None and depth < _MAX_NESTING:
            found.extend(a._replace(hidden=a.hidden or hidden) for a in _actions(inner, depth + 1, tree))
            continue
        for action in _read(one):
            if action.program in ("cd", "pushd", "set-location") and action.targets:
                tree = action.targets[0]
            found.append(action._replace(hidden=hidden, tree=action.tree or tree))
    return found


def _follows(simple: tuple[SimpleCommand, ...], index: int) -> bool:
    """Whether a command follows ``;`` whose own exit status would replace this one's."""
    return index + 1 < len(simple)


_SHELLS = frozenset(("bash", "sh", "zsh", "dash", "ksh", "fish"))
_POWERSHELLS = frozenset(("powershell", "powershell.exe", "pwsh", "pwsh.exe"))


def _nested(words: tuple[str, ...]) -> str | None:
    """The command line handed to a shell (``bash -lc '…'``, ``powershell -Command …``), or None."""
    words = words[_peeled(words) :]
    if not words:
        return None
    program = _program(words[0])
    if program in _SHELLS:
        for index, word in enumerate(words[1:8], 1):
            if word.startswith("-") and not word.startswith("--") and "c" in word[1:]:
                return words[index + 1] if index + 1 < len(words) else None
            if not word.startswith("-"):
                return None
    if program in _POWERSHELLS:
        for index, word in enumerate(words[1:12], 1):
            if word.lower() in ("-command", "-c"):
                return " ".join(words[index + 1 :])
    if program == "cmd" and len(words) > 2 and words[1].lower() == "/c":
        return " ".join(words[2:])
    if program == "eval" and len(words) > 1:
        return " ".join(words[1:])
    return None


def _program(word: str) -> str:
    """Name of a program: its last path part, lower-cased, ``.exe`` and ``.cmd`` off."""
    name = word.replace("\\", "/").rsplit("/", 1)[-1].lower()
    return name[:-4] if name.endswith((".exe", ".cmd")) else name


_KEYWORDS = frozenset(("then", "do", "else", "elif", "if", "while", "until", "!", "{", "}", "time", "nohup", "exec",
                       "command", "builtin", "noglob", "setsid", "unbuffer", "caffeinate", "run"))  # fmt: skip
_VALUE_OPTIONS: dict[str, frozenset[str]] = {
    "sudo": frozenset(("-u", "-g", "-h", "-p", "-C")),
    "timeout": frozenset(("-s", "-k", "--signal", "--kill-after")),
    "gtimeout": frozenset(("-s", "-k")),
    "nice": frozenset(("-n",)),
    "ionice": frozenset(("-c", "-n")),
    "stdbuf": frozenset(("-i", "-o", "-e")),
    "env": frozenset(("-u", "-C", "--chdir")),
    "xargs": frozenset(("-n", "-I", "-P", "-L", "-d", "-a", "-s")),
    "doas": frozenset(("-u",)),
    "watch": frozenset(("-n",)),
    "strace": frozenset(("-o", "-e")),
    "npx": frozenset(("-p", "--package")),
    "bunx": frozenset(),
    "pnpx": frozenset(),
    "uvx": frozenset(("--from", "--with", "-p")),
    "xvfb-run": frozenset(("-s", "-n")),
}
_RUNNERS: dict[str, frozenset[str]] = {
    "uv": frozenset(("--with", "--extra", "--group", "-p", "--python", "--project", "--package", "--env-file",
                     "--directory", "--only-group")),
    "poetry": frozenset(("-C", "--directory", "-P")),
    "pipenv": frozenset(), "pdm": frozenset(("-p",)), "rye": frozenset(), "hatch": frozenset(("-e",)),
    "bundle": frozenset(), "pnpm": frozenset(("-C", "--filter", "-F")), "yarn": frozenset(("--cwd",)),
    "npm": frozenset(("-w", "--workspace", "--prefix")), "mise": frozenset(("-C", "-E")), "rtx": frozenset(),
    "coverage": frozenset(("--source", "--rcfile", "--omit", "--include")), "dotenv": frozenset(("-e", "-f")),
    "doppler": frozenset(("-c", "-p")), "nix": frozenset(), "conda": frozenset(("-n", "-p")),
    "micromamba": frozenset(("-n", "-p")), "mamba": frozenset(("-n", "-p")),
}  # fmt: skip
"""Programs whose ``run`` or ``exec`` hands over to another, with their options that take a value."""
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w{0,80}\+?=")


def _peeled(words: tuple[str, ...]) -> int:
    """How many words in front only wrap what follows: keywords, assignments, ``sudo``, ``timeout 30``, ``uv run`` …"""
    at = 0
    while at < len(words):
        word = words[at]
        name = _program(word)
        if word in _KEYWORDS or _ASSIGNMENT.match(word):
            at += 1
        elif name in _VALUE_OPTIONS:
            following = _behind_options(words, at + 1, _VALUE_OPTIONS[name])
            following += name in ("timeout", "gtimeout") and following < len(words)
            if following >= len(words):
                break
            at = following
        elif handed := _handed_over(words, at, name):
            at = handed
        else:
            break
    return at


def _behind_options(words: tuple[str, ...], at: int, valued: frozenset[str]) -> int:
    """The first word from ``at`` on that is neither an option nor the value of one (``--`` is passed over too)."""
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in valued else 1
    while at < len(words) and _ASSIGNMENT.match(words[at]):
        at += 1
    return at


def _handed_over(words: tuple[str, ...], at: int, name: str) -> int:
    """Where the program begins that ``uv run``, ``bundle exec`` … starts; 0 when this is no such hand-over."""
    if name in ("docker", "podman", "docker-compose"):
        return _in_container(words, at)
    if name not in _RUNNERS:
        return 0
    verb = _behind_options(words, at + 1, _RUNNERS[name])
    if verb >= len(words) or words[verb] not in ("run", "exec", "x", "dlx"):
        return 0
    is_task = words[verb] == "run" and name in ("npm", "pnpm", "yarn", "mise", "rtx")
    following = _behind_options(words, verb + 1, _RUNNERS[name])
    return 0 if is_task or following >= len(words) else following


def _in_container(words: tuple[str, ...], at: int) -> int:
    """Where the program begins that ``docker exec``, ``docker compose run`` … starts; 0 when this is none."""
    valued = frozenset(("-e", "--env", "-w", "--workdir", "-u", "--user", "-v", "--volume", "-f", "--file", "--name",
                        "-p", "--entrypoint", "--network", "--project-name", "--env-file", "--profile"))  # fmt: skip
    verb = _behind_options(words, at + 1, valued)
    if verb < len(words) and words[verb] == "compose":
        verb = _behind_options(words, verb + 1, valued)
    if verb >= len(words) or words[verb] not in ("exec", "run"):
        return 0
    program = _behind_options(words, verb + 1, valued) + 1
    return program if program < len(words) else 0


def _read(one: SimpleCommand) -> list[Action]:
    """The actions of one simple command: what it runs, and the files it writes by redirection."""
    found = [Action(CommandKind.CREATE, "redirect", (_cut(path),)) for path in one.writes[:MAX_TARGETS]] + [
        Action(CommandKind.EDIT, "redirect", (_cut(path),)) for path in one.appends[:MAX_TARGETS]
    ]
    peeled = _peeled(one.words)
    words = one.words[peeled:]
    if words:
        action = _surrounded(_action(_program(words[0]), words), one.words[:peeled], words)
        if one.body:
            action = _with_body(action, one.body)
        found.insert(0, action)
    return found


def _surrounded(action: Action, front: tuple[str, ...], words: tuple[str, ...]) -> Action:
    """An action with what stands in front of its program, and the folder that its options give."""
    if pretends_by_variable(front) or pretends_by_variable(words[1:]):
        action = action._replace(vacuous=True)
    if action.kind is not CommandKind.TEST:
        return action
    package, tree, variable = surroundings(front)
    if action.program in _TASKED or action.program in SUBCOMMANDS:
        member, own, own_variable = surroundings(words)
        tree, variable = tree or own, variable or own_variable
        package = package or (member if not action.package and action.program in MEMBERED else "")
    targets = (*action.targets, package) if package else action.targets
    return action._replace(
        targets=targets,
        package=action.package or package,
        tree=action.tree or _cut(tree),
        selection=_cut(f"{action.selection} {variable}".strip()),
    )


_WRITING = ("write_text(", ".write(", "writeFileSync(", "write_bytes(", "File.write(")
_QUOTED_PATH = re.compile(r"['\"]([\w./~@+-]{1,150}\.\w{1,8})['\"]")
_PATCHED_PATH = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.{1,200})$", re.MULTILINE)
_SCRIPTED = frozenset(("python", "node", "ruby", "perl", "deno", "bun", "php"))


def _with_body(action: Action, body: str) -> Action:
    """A here-document read: a patch edits the files it names, a script that writes files edits them."""
    if action.kind is CommandKind.EDIT or "*** Begin Patch" in body[:200]:
        return action._replace(kind=CommandKind.EDIT, targets=_targets(_PATCHED_PATH.findall(body)))
    if action.program in _SCRIPTED and action.kind is CommandKind.RUN and any(mark in body for mark in _WRITING):
        return action._replace(kind=CommandKind.EDIT, targets=_targets(_QUOTED_PATH.findall(body)))
    return action


def _cut(target: str) -> str:
    return target[:MAX_TARGET_CHARS]


def _targets(words: list[str]) -> tuple[str, ...]:
    return tuple(_cut(word.strip()) for word in words[:MAX_TARGETS] if word.strip())


def is_script(action: Action) -> bool:
    """Whether a test run is told by the name of a script alone, and not by a program that is known to test."""
    return action.program not in PROGRAMS and action.program not in SUBCOMMANDS and action.program not in _TASK_NAMES


def is_test_file(action: Action) -> bool:
    """Whether a script is itself a test (``python test_a.py``), and no shell script that may run some."""
    script = action.targets[0] if action.program in _SCRIPTED and action.targets else action.program
    return not script.endswith((".sh", ".bash")) and is_test_name(script)


_PYTHON = re.compile(r"(?:python|pypy)\d{0,2}(?:\.\d{1,2})?$")
_TASKED = frozenset(("npm", "pnpm", "yarn", "bun", "mise", "rtx", "make", "gmake", "just", "task", "rake", "gradle",
                     "gradlew", "mvn", "mvnw", "nox", "invoke", "inv", "grunt", "gulp", "ant", "sbt", "turbo", "nx",
                     "rails", "artisan", "deno", "lein", "doit", "earthly", "moon", "pnpm-run"))  # fmt: skip
_TASK_NAMES = _TASKED | {"manage.py"}
_TASK_VALUE_OPTIONS = frozenset(("-C", "-f", "-j", "-s", "-p", "-w", "--prefix", "--filter", "-E", "--cwd", "-F",
                                 "--file", "--directory", "--workspace", "-P", "-pl", "--session"))  # fmt: skip


def _action(program: str, words: tuple[str, ...]) -> Action:
    """The action of a command whose wrappers are off."""
    program = "pip" if program == "pip3" else program
    action = _python(words) if _PYTHON.match(program) else _of_program(program, words)
    vacuous = pretends(action.kind, program, words) or action.vacuous
    return action._replace(vacuous=vacuous, kind=act(action.kind, program, action.task, action.targets))


def _of_program(program: str, words: tuple[str, ...]) -> Action:
    """The action of a program by the table that knows it."""
    if program == "git":
        return _git(words)
    if program == "gh":
        return _gh(words)
    if program in ("sed", "perl", "gsed"):
        return _in_place(program, words)
    if program in _INTERPRETERS:
        return _interpreted(program, words)
    if program in _TASKED:
        return _task(program, words)
    if program in SUBCOMMANDS:
        return _subcommand(program, words)
    if program in PROGRAMS:
        return _plain(PROGRAMS[program], program, words)
    return _plain(script_kind(words[0]), program, words)


def _plain(kind: CommandKind, program: str, words: tuple[str, ...], task: str = "", start: int = 1) -> Action:
    """An action whose targets are its words from ``start`` on that are no options; ``-k x`` narrows it."""
    if kind is CommandKind.TEST:
        run = narrowed(program, words, start)
        return Action(kind, program, _targets(run.targets), task, _cut(run.selection), package=_cut(run.package))
    named = [w for w in words[start:] if w and not w.startswith(("-", "+")) and w not in ("{}", "\\;")]
    return Action(kind, program, _targets(named), task)


def _python(words: tuple[str, ...]) -> Action:
    """``python -m pytest``, ``python manage.py test``, ``python tests/x.py``, ``python -c``, ``python - <<EOF``."""
    at = 1
    while at < len(words) and words[at].startswith("-") and words[at] not in ("-m", "-c", "-"):
        at += 2 if words[at] in ("-W", "-X") else 1
    if at >= len(words) or words[at] in ("-c", "-"):
        return Action(CommandKind.RUN, "python", ())
    if words[at] == "-m" and at + 1 < len(words):
        return _module(words[at + 1 :])
    script = words[at]
    if script.endswith("manage.py") and at + 1 < len(words):
        return _plain(task_kind(words[at + 1]), "manage.py", words, words[at + 1], at + 2)
    return _plain(script_kind(script), "python", words, "", at)


_INTERPRETERS = frozenset(("node", "ruby", "php", "bash", "sh", "zsh", "tsx", "ts-node", "rscript", "lua", "julia"))


def _interpreted(program: str, words: tuple[str, ...]) -> Action:
    """``node --test``, ``ruby test/a_test.rb``, ``bash scripts/test.sh``: by the script, or by the option to test."""
    if program == "node" and "--test" in words[1:8]:
        return _plain(CommandKind.TEST, program, words)
    script = next((word for word in words[1:12] if not word.startswith("-")), "")
    return _plain(script_kind(script) if script else CommandKind.RUN, program, words)


def _module(words: tuple[str, ...]) -> Action:
    """``python -m pytest``, and ``python -m coverage run -m pytest``; a module that starts Python again is not followed."""
    if words[0] == "coverage" and words[1:3] == ("run", "-m") and len(words) > 3:
        words = words[3:]
    if words[0] in ("py_compile", "compileall"):
        return _plain(CommandKind.BUILD, words[0], words)
    program = _program(words[0])
    if program == "django" and len(words) > 1:
        return _plain(task_kind(words[1]), "manage.py", words, words[1], 2)
    return Action(CommandKind.RUN, program, ()) if _PYTHON.match(program) else _action(program, words)


_SCRIPT = re.compile(r"(?:[0-9,$]{0,12}[sy][/|#,@!]|/[^/]{0,150}/[a-zI]{0,2}$|\d+[a-z,]|.{0,150}[ ^*\\])")
"""An editing script of ``sed``, not a file."""
_GIT_VALUE_OPTIONS = frozenset(("-C", "-c", "--git-dir", "--work-tree", "--namespace"))


def _git(words: tuple[str, ...]) -> Action:
    """``git -C y -c a=b commit -m …``; the message is no target."""
    tree = ""
    at = 1
    while at < len(words) and words[at].startswith("-"):
        if words[at] == "-C" and at + 1 < len(words):
            tree = words[at + 1]
        at += 2 if words[at] in _GIT_VALUE_OPTIONS else 1
    if at >= len(words):
        return Action(CommandKind.OTHER, "git", ())
    verb = words[at]
    rest = words[at + 1 :]
    kind = SUBCOMMANDS["git"].get(verb, CommandKind.OTHER)
    kind = _git_exception(verb, rest, kind)
    if kind is CommandKind.COMMIT:
        rest = _without_values(rest, ("-m", "--message", "-F", "--file", "--author", "--date", "-C", "-am"))
    action = _plain(kind, "git", rest, verb, 0)
    return action._replace(tree=_cut(tree))


def _git_exception(verb: str, rest: tuple[str, ...], kind: CommandKind) -> CommandKind:
    """Git verbs whose options change what they do."""
    if verb in ("merge", "rebase", "cherry-pick", "revert", "am") and any(
        word in ("--abort", "--quit", "--show-current-patch") for word in rest
    ):
        return CommandKind.UNDO
    if verb == "checkout" and ("--" in rest or "." in rest or any("." in w and "/" in w for w in rest[:3])):
        return CommandKind.UNDO
    if verb == "reset" and not any(word in ("--hard", "--keep", "--merge") for word in rest):
        return CommandKind.STAGE
    if verb == "stash" and rest[:1] in (("list",), ("show",)):
        return CommandKind.LIST
    if verb in ("checkout", "switch") and any(word in ("-b", "-B", "-c", "-C", "--create") for word in rest):
        return CommandKind.CREATE
    if verb in ("branch", "tag") and rest:
        if any(word in ("-d", "-D", "--delete") for word in rest):
            return CommandKind.DELETE
        if any(word in ("-m", "-M", "--move") for word in rest):
            return CommandKind.RENAME
        made = not rest[0].startswith("-") or rest[0] in ("-a", "-s", "-m", "-am", "-f")
        return CommandKind.CREATE if made else CommandKind.LIST
    if verb == "worktree" and rest[:1] != ("add",):
        return CommandKind.DELETE if rest[:1] == ("remove",) else CommandKind.LIST
    if verb == "clean" and any("n" in word for word in rest if word.startswith("-") and not word.startswith("--")):
        return CommandKind.LIST
    return kind


def _without_values(words: tuple[str, ...], valued: tuple[str, ...]) -> tuple[str, ...]:
    kept: list[str] = []
    at = 0
    while at < len(words):
        if words[at] in valued:
            at += 2
            continue
        kept.append(words[at])
        at += 1
    return tuple(kept)


def _gh(words: tuple[str, ...]) -> Action:
    """``gh pr create``, ``gh run view``, ``gh api -X PATCH`` …"""
    plain = [word for word in words[1:] if not word.startswith("-")]
    if plain[:1] == ["api"]:
        methods = {word.upper() for word in words} & {"POST", "PATCH", "PUT", "DELETE"}
        fields = any(word in ("-f", "-F", "--field", "--raw-field", "--input") for word in words)
        kind = CommandKind.READ
        if methods or fields:
            kind = CommandKind.DELETE if "DELETE" in methods else CommandKind.EDIT
        return Action(kind, "gh", _targets(plain[1:2]), "api")
    pair = (plain[0], plain[1]) if len(plain) > 1 else ("", "")
    kind = GH.get(pair, CommandKind.OTHER)
    if pair == ("repo", "create") and "--push" in words:
        return Action(CommandKind.PUSH, "gh", _targets(plain[2:4]), "repo create")
    return Action(kind, "gh", _targets(plain[2:4]), " ".join(pair).strip())


def _in_place(program: str, words: tuple[str, ...]) -> Action:
    """``sed -i`` and ``perl -pi`` edit files; otherwise they only read."""
    edits = any(word.startswith("-") and not word.startswith("--") and "i" in word[1:4] for word in words[1:5])
    edits = edits or any(word.startswith("--in-place") for word in words[1:6])
    if not edits:
        kind = CommandKind.READ if program != "perl" else CommandKind.RUN
        return Action(kind, program, ())
    files = [word for word in words[2:] if ("." in word or "/" in word) and not _SCRIPT.match(word)]
    return Action(CommandKind.EDIT, program, _targets(files[-MAX_TARGETS:]))


def _task(program: str, words: tuple[str, ...]) -> Action:
    """A task runner: ``npm test -- --x``, ``npm run test:ci``, ``make -C d check``, ``mise run lint``, ``./gradlew test``."""
    at = 1
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in _TASK_VALUE_OPTIONS else 1
    if at < len(words) and words[at] in ("run", "run-script", "r", "workspace") and program != "just":
        at += 1 + (words[at] == "workspace")
        while at < len(words) and words[at].startswith("-"):
            at += 2 if words[at] in _TASK_VALUE_OPTIONS else 1
    if at >= len(words):
        kind = CommandKind.BUILD if program in ("make", "gmake", "rake", "ant") else CommandKind.RUN
        return Action(CommandKind.INSTALL if program == "yarn" else kind, program, ())
    task = words[at]
    kind = SUBCOMMANDS.get("npm" if program in ("pnpm", "yarn") else program, {}).get(task) or task_kind(task)
    if program in ("npm", "pnpm", "yarn", "bun", "mise") and kind is CommandKind.RUN and task in PROGRAMS:
        kind = PROGRAMS[task]
    action = _plain(kind, program, words, _cut(task), at + 1)
    if program in ("gradlew", "gradle", "mvn", "mvnw", "make"):
        later = [task_kind(word) for word in action.targets]
        if CommandKind.TEST in later and kind is not CommandKind.TEST:
            action = action._replace(kind=CommandKind.TEST)
    return action


_LEADING_VALUES = frozenset(("-C", "--manifest-path", "--directory", "--app", "--context", "-n", "--namespace",
                             "--kubeconfig", "--stage", "--cwd", "--stack", "--project"))  # fmt: skip
"""Options in front of a subcommand whose value is no subcommand."""


def _subcommand(program: str, words: tuple[str, ...]) -> Action:
    """A program that says by its first argument what it does."""
    table = SUBCOMMANDS[program]
    for at, word in enumerate(words[1:10], 1):
        if word in table:
            kind = table[word]
            break
        if words[at - 1] in _LEADING_VALUES:
            continue
        if not word.startswith(("-", "+")):
            kind, at = CommandKind.RUN, at
            break
    else:
        return Action(CommandKind.RUN, program, ())
    start = at + 1
    if program == "uv" and word == "pip" and start < len(words):
        kind = CommandKind.INSTALL if words[start] == "install" else CommandKind.LIST
        start += 1
    return _plain(kind, program, words, word, start)
