"""Where each harness keeps its sessions, on macOS, Linux and Windows: a table, and a look at which of it is there.

``session_places`` is pure: a system, variables of the environment, a home folder and a project's folder in, places out.
``discovered`` asks a ``FileView`` which of them are there. Nothing is opened by either (EVID.9). Only what lies under one
person's own home, or where that person's environment points, is ever named (SEC.3).
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from tallystick.errors import UsageError
from tallystick.transcripts.protocol import FileView

MACOS, LINUX, WINDOWS = "macos", "linux", "windows"
SYSTEMS = (MACOS, LINUX, WINDOWS)

_EDITORS = (
    "Code",
    "Code - Insiders",
    "Code - OSS",
    "VSCodium",
    "VSCodium - Insiders",
    "Cursor",
    "Windsurf",
    "Windsurf - Next",
)
"""Editors made of VS Code, by the name of their settings folder."""
_SERVERS = (".vscode-server", ".vscode-server-insiders", ".vscodium-server", ".cursor-server", ".windsurf-server")
"""Their remote halves, which keep what an extension writes on the machine that is worked on."""
_FLATPAKS = (("com.visualstudio.code", "Code"), ("com.vscodium.codium", "VSCodium"))


class Place(NamedTuple):
    """A file or folder in which sessions of one harness may lie."""

    harness: str
    folder: str
    """Absolute, ``/`` between its parts on every system."""
    below: str = ""
    """What lies below it, ``/`` between; ``*`` stands for any run of characters in one name. Empty: the folder itself."""

    @property
    def shown(self) -> str:
        """As a person reads it."""
        return f"{self.folder}/{self.below}" if self.below else self.folder


class Found(NamedTuple):
    """A place that is there."""

    harness: str
    path: str


class Machine(NamedTuple):
    """What places depend on."""

    system: str
    """One of ``SYSTEMS``."""
    environ: Mapping[str, str]
    home: str
    project: str = ""
    """Top of the project one stands in: some harnesses keep their sessions there. Empty: nowhere."""


def session_places(machine: Machine) -> list[Place]:
    """Every place of every harness, whether or not it is there, in order of harness, the likeliest first."""
    return [Place(harness, *each) for harness, where in _WHERE.items() for each in where(machine)]


def discovered(places: Sequence[Place], view: FileView, harnesses: Collection[str] | None = None) -> list[Found]:
    """The places that are there, of the named harnesses or of all, each path once, in order of ``places``.

    A folder that may not be looked into is given as it is, so that whoever reads it says why not.
    """
    wanted = (place for place in places if harnesses is None or place.harness in harnesses)
    return list({each.path: each for place in wanted for each in _there(place, view)}.values())


def _there(place: Place, view: FileView) -> Iterator[Found]:
    paths = [place.folder]
    for part in place.below.split("/") if place.below else ():
        if "*" not in part:
            paths = [f"{path}/{part}" for path in paths]
            continue
        matched: list[str] = []
        for path in paths:
            try:
                names = [name.rstrip("/") for name in view.names(path)]
            except UsageError:
                yield Found(place.harness, path)
                continue
            matched += [f"{path}/{name}" for name in names if fnmatchcase(name, part)]
        paths = matched
    for path in paths:
        if _is_there(view, path):
            yield Found(place.harness, path)


def _is_there(view: FileView, path: str) -> bool:
    if view.state(path) is not None:
        return True
    try:
        return bool(view.names(path))
    except UsageError:
        return True


# --- folders of a system

_Where = Callable[[Machine], list[tuple[str, str]]]
"""(folder, below) pairs of one harness."""


def _said(machine: Machine, variable: str) -> str:
    """A folder that a variable names; empty where it names none.

    A relative one is none: it was meant from wherever the harness was started.
    """
    value = machine.environ.get(variable, "")
    if machine.system == WINDOWS:
        value = value.replace("\\", "/")
    if value == "~" or value.startswith("~/"):
        value = _home(machine) + value[1:]
    is_absolute = value.startswith("/") or (machine.system == WINDOWS and value[1:3] == ":/")
    return posixpath.normpath(value) if is_absolute else ""


def _home(machine: Machine) -> str:
    home = machine.home.replace("\\", "/") if machine.system == WINDOWS else machine.home
    return home.rstrip("/")


def _config(machine: Machine) -> str:
    """Where programs of the desktop keep their settings."""
    if machine.system == MACOS:
        return f"{_home(machine)}/Library/Application Support"
    if machine.system == WINDOWS:
        return _said(machine, "APPDATA") or f"{_home(machine)}/AppData/Roaming"
    return _xdg_config(machine)


def _xdg_config(machine: Machine) -> str:
    return _said(machine, "XDG_CONFIG_HOME") or f"{_home(machine)}/.config"


def _xdg_data(machine: Machine) -> str:
    """Where programs that follow XDG on every system keep their data."""
    return _said(machine, "XDG_DATA_HOME") or f"{_home(machine)}/.local/share"


def _editors(machine: Machine) -> list[str]:
    """The ``User`` folders of editors made of VS Code."""
    home = _home(machine)
    found = [f"{_config(machine)}/{editor}/User" for editor in _EDITORS]
    if portable := _said(machine, "VSCODE_PORTABLE"):
        found.insert(0, f"{portable}/user-data/User")
    if machine.system == LINUX:
        found += [f"{home}/.var/app/{app}/config/{editor}/User" for app, editor in _FLATPAKS]
    if machine.system != WINDOWS:
        found += [f"{home}/{server}/data/User" for server in _SERVERS]
    return found


def _extension(*names: str) -> _Where:
    """Tasks of an extension of those editors."""

    def where(machine: Machine) -> list[tuple[str, str]]:
        return [(f"{user}/globalStorage/{name}/tasks", "") for user in _editors(machine) for name in names]

    return where


def _in_project(*names: str) -> _Where:
    """What lies in the project one stands in."""

    def where(machine: Machine) -> list[tuple[str, str]]:
        project = machine.project.replace("\\", "/") if machine.system == WINDOWS else machine.project
        return [(f"{project.rstrip('/')}/{name}", "") for name in names] if project else []

    return where


def _nowhere(_machine: Machine) -> list[tuple[str, str]]:
    """Files that a person exports or asks for, wherever they like: named to ``tally ingest``."""
    return []


# --- harnesses


def _claude_code(machine: Machine) -> list[tuple[str, str]]:
    home = _home(machine)
    if said := _said(machine, "CLAUDE_CONFIG_DIR"):
        found = [(f"{said}/projects", "")]
    else:
        found = [(f"{home}/.claude/projects", ""), (f"{_xdg_config(machine)}/claude/projects", "")]
    below = "local-agent-mode-sessions/*/*/local_*/.claude/projects"
    found.append((f"{_config(machine)}/Claude", below))
    if machine.system == WINDOWS:
        local = _said(machine, "LOCALAPPDATA") or f"{home}/AppData/Local"
        found.append((f"{local}/Packages", f"Claude_*/LocalCache/Roaming/Claude/{below}"))
    return found


def _codex(machine: Machine) -> list[tuple[str, str]]:
    root = _said(machine, "CODEX_HOME") or f"{_home(machine)}/.codex"
    return [(f"{root}/sessions", ""), (f"{root}/archived_sessions", "")]


def _gemini_cli(machine: Machine) -> list[tuple[str, str]]:
    root = _said(machine, "GEMINI_CLI_HOME") or _home(machine)
    return [(f"{root}/.gemini/tmp", "*/chats")]


def _opencode(machine: Machine) -> list[tuple[str, str]]:
    root = f"{_xdg_data(machine)}/opencode"
    return [(root, "opencode*.db"), (f"{root}/storage", "")]


def _cursor(machine: Machine) -> list[tuple[str, str]]:
    home = _home(machine)
    users = [user for user in _editors(machine) if "/Cursor/" in user or "/.cursor-server/" in user]
    return [
        (f"{home}/.cursor/projects", "*/agent-transcripts"),
        (f"{home}/.cursor/chats", "*/*/store.db"),
        *((f"{user}/globalStorage/state.vscdb", "") for user in users),
        *((f"{user}/workspaceStorage", "*/state.vscdb") for user in users),
    ]


def _aider(machine: Machine) -> list[tuple[str, str]]:
    said = _said(machine, "AIDER_CHAT_HISTORY_FILE")
    return [(said, "")] if said else _in_project(".aider.chat.history.md")(machine)


def _copilot_cli(machine: Machine) -> list[tuple[str, str]]:
    root = _said(machine, "COPILOT_HOME") or f"{_home(machine)}/.copilot"
    return [(f"{root}/session-state", ""), (f"{root}/history-session-state", "")]


def _vscode_chat(machine: Machine) -> list[tuple[str, str]]:
    return [
        place
        for user in _editors(machine)
        for place in (
            (f"{user}/workspaceStorage", "*/chatSessions"),
            (f"{user}/globalStorage/emptyWindowChatSessions", ""),
        )
    ]


def _goose(machine: Machine) -> list[tuple[str, str]]:
    if root := _said(machine, "GOOSE_PATH_ROOT"):
        return [(f"{root}/data/sessions", "")]
    if machine.system == WINDOWS:
        return [(f"{_config(machine)}/Block/goose/data/sessions", "")]
    return [(f"{_xdg_data(machine)}/goose/sessions", "")]


def _amp(machine: Machine) -> list[tuple[str, str]]:
    return [(f"{_xdg_data(machine)}/amp/threads", "")]


def _hermes(machine: Machine) -> list[tuple[str, str]]:
    root = _said(machine, "HERMES_HOME") or f"{_home(machine)}/.hermes"
    return [(f"{root}/state.db", ""), (f"{root}/sessions", "")]


def _openhands(machine: Machine) -> list[tuple[str, str]]:
    root = _said(machine, "OPENHANDS_PERSISTENCE_DIR") or f"{_home(machine)}/.openhands"
    return [(_said(machine, "OPENHANDS_CONVERSATIONS_DIR") or f"{root}/conversations", ""), (f"{root}/sessions", "")]


def _swe_agent(machine: Machine) -> list[tuple[str, str]]:
    said = _said(machine, "SWE_AGENT_TRAJECTORY_DIR")
    return [(said, "")] if said else _in_project("trajectories")(machine)


def _mini_swe_agent(machine: Machine) -> list[tuple[str, str]]:
    if said := _said(machine, "MSWEA_GLOBAL_CONFIG_DIR"):
        return [(said, "*.traj.json")]
    if machine.system == WINDOWS:
        local = _said(machine, "LOCALAPPDATA") or f"{_home(machine)}/AppData/Local"
        return [(f"{local}/mini-swe-agent/mini-swe-agent", "*.traj.json")]
    folders = dict.fromkeys((_config(machine), f"{_home(machine)}/.config"))
    return [(f"{folder}/mini-swe-agent", "*.traj.json") for folder in folders]


_WHERE: dict[str, _Where] = {
    "claude-code": _claude_code,
    "codex": _codex,
    "gemini-cli": _gemini_cli,
    "opencode": _opencode,
    "cursor": _cursor,
    "aider": _aider,
    "cline": _extension("saoudrizwan.claude-dev"),
    "roo-code": _extension("rooveterinaryinc.roo-cline"),
    "copilot-cli": _copilot_cli,
    "vscode-chat": _vscode_chat,
    "goose": _goose,
    "amp": _amp,
    "hermes": _hermes,
    "openhands": _openhands,
    "swe-agent": _swe_agent,
    "mini-swe-agent": _mini_swe_agent,
    "specstory": _in_project(".specstory/history"),
    "atif": _nowhere,
    "chatgpt": _nowhere,
    "claude-ai": _nowhere,
    "otel-genai": _nowhere,
    "generic": _nowhere,
}

HARNESSES = tuple(_WHERE)
"""By the names of their adapters; of some no place is known."""
