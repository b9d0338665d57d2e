"""Where sessions lie on macOS, Linux and Windows (EVID.9, SEC.3), in tables that a person can read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import UsageError
from tallystick.plugins import adapters
from tallystick.transcripts.discovery import (
    HARNESSES,
    LINUX,
    MACOS,
    SYSTEMS,
    WINDOWS,
    Found,
    Machine,
    Place,
    discovered,
    session_places,
)
from tallystick.transcripts.protocol import FileState, FileView
from tallystick.transcripts.view import DiskView

GOLDEN = Path(__file__).parents[1] / "golden"
HOMES = {MACOS: "/Users/ada", LINUX: "/home/ada", WINDOWS: "C:\\Users\\ada"}
PROJECTS = {MACOS: "/Users/ada/shop", LINUX: "/home/ada/shop", WINDOWS: "D:\\shop"}


def shown(system: str, environ: Mapping[str, str], harness: str) -> list[str]:
    machine = Machine(system, environ, HOMES[system], PROJECTS[system])
    return [place.shown for place in session_places(machine) if place.harness == harness]


class Folders:
    """A ``FileView`` of made-up paths; the folders in ``locked`` may not be looked into."""

    def __init__(self, *paths: str, locked: Sequence[str] = ()) -> None:
        self._paths = paths
        self._locked = locked

    def names(self, folder: str) -> list[str]:
        if folder in self._locked:
            raise UsageError(f"{folder}: Permission denied")
        rest = [path.removeprefix(f"{folder}/") for path in self._paths if path.startswith(f"{folder}/")]
        return sorted({name.partition("/")[0] + ("/" if "/" in name else "") for name in rest})

    def state(self, path: str) -> FileState | None:
        return FileState(1, 1, 1) if path in self._paths else None

    def read(self, path: str) -> bytes:
        raise AssertionError(f"{path} was read")

    def opened(self, path: str) -> BinaryIO:
        raise AssertionError(f"{path} was read")

    def rows(self, path: str, sql: str, bound: Sequence[object] = ()) -> Iterator[tuple[object, ...]]:
        raise AssertionError(f"{path} was read")


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_table_of_a_system(system: str) -> None:
    """EVID.9: with nothing set, sessions are looked for where ``tests/golden/places-*.txt`` says, and nowhere else."""
    machine = Machine(system, {}, HOMES[system], PROJECTS[system])
    table = "".join(f"{place.harness:15} {place.shown}\n" for place in session_places(machine))
    assert table == (GOLDEN / f"places-{system}.txt").read_text("utf-8")


@pytest.mark.parametrize(
    ("system", "variable", "value", "harness", "expected"),
    [
        (LINUX, "CLAUDE_CONFIG_DIR", "/srv/claude", "claude-code", "/srv/claude/projects"),
        (MACOS, "CLAUDE_CONFIG_DIR", "~/cfg/", "claude-code", "/Users/ada/cfg/projects"),
        (WINDOWS, "CLAUDE_CONFIG_DIR", "D:\\cfg", "claude-code", "D:/cfg/projects"),
        (WINDOWS, "CLAUDE_CONFIG_DIR", "~\\cfg", "claude-code", "C:/Users/ada/cfg/projects"),
        (LINUX, "CODEX_HOME", "/srv/codex", "codex", "/srv/codex/sessions"),
        (WINDOWS, "CODEX_HOME", "D:\\codex", "codex", "D:/codex/sessions"),
        (LINUX, "GEMINI_CLI_HOME", "/srv/g", "gemini-cli", "/srv/g/.gemini/tmp/*/chats"),
        (LINUX, "XDG_DATA_HOME", "/srv/data", "opencode", "/srv/data/opencode/opencode*.db"),
        (MACOS, "XDG_DATA_HOME", "/srv/data", "opencode", "/srv/data/opencode/opencode*.db"),
        (LINUX, "XDG_DATA_HOME", "/srv/data", "amp", "/srv/data/amp/threads"),
        (LINUX, "XDG_DATA_HOME", "/srv/data", "goose", "/srv/data/goose/sessions"),
        (LINUX, "GOOSE_PATH_ROOT", "/srv/goose", "goose", "/srv/goose/data/sessions"),
        (WINDOWS, "GOOSE_PATH_ROOT", "E:\\goose", "goose", "E:/goose/data/sessions"),
        (WINDOWS, "APPDATA", "E:\\Roaming", "goose", "E:/Roaming/Block/goose/data/sessions"),
        (WINDOWS, "APPDATA", "E:\\Roaming", "cline", "E:/Roaming/Code/User/globalStorage/saoudrizwan.claude-dev/tasks"),
        (
            LINUX,
            "XDG_CONFIG_HOME",
            "/srv/etc",
            "roo-code",
            "/srv/etc/Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks",
        ),
        (
            LINUX,
            "VSCODE_PORTABLE",
            "/opt/code",
            "vscode-chat",
            "/opt/code/user-data/User/workspaceStorage/*/chatSessions",
        ),
        (LINUX, "HERMES_HOME", "/srv/h", "hermes", "/srv/h/state.db"),
        (LINUX, "COPILOT_HOME", "/srv/c", "copilot-cli", "/srv/c/session-state"),
        (LINUX, "OPENHANDS_PERSISTENCE_DIR", "/srv/o", "openhands", "/srv/o/conversations"),
        (LINUX, "OPENHANDS_CONVERSATIONS_DIR", "/srv/oc", "openhands", "/srv/oc"),
        (LINUX, "AIDER_CHAT_HISTORY_FILE", "/srv/aider.md", "aider", "/srv/aider.md"),
        (LINUX, "SWE_AGENT_TRAJECTORY_DIR", "/srv/t", "swe-agent", "/srv/t"),
        (LINUX, "MSWEA_GLOBAL_CONFIG_DIR", "/srv/m", "mini-swe-agent", "/srv/m/*.traj.json"),
    ],
)
def test_variables(system: str, variable: str, value: str, harness: str, expected: str) -> None:
    """EVID.9: where a variable moves a harness's files, they are looked for there first."""
    assert shown(system, {variable: value}, harness)[0] == expected


@pytest.mark.parametrize("value", ["", "   ", "here", "./here", "../here", "~ada/x"])
@pytest.mark.parametrize(
    "variable", ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME", "GOOSE_PATH_ROOT", "HERMES_HOME"]
)
def test_what_names_no_folder(variable: str, value: str) -> None:
    """EVID.9: a relative folder was meant from wherever the harness was started; it is no place."""
    machine = Machine(LINUX, {}, "/home/ada")
    assert session_places(machine._replace(environ={variable: value})) == session_places(machine)


@given(
    st.sampled_from(SYSTEMS),
    st.dictionaries(st.sampled_from(["CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME", "APPDATA"]), st.text()),
    st.sampled_from(["", "/home/ada/shop"]),
)
def test_places_are_absolute(system: str, environ: dict[str, str], project: str) -> None:
    """SEC.3: whatever the environment holds, a place is a whole path, in a form that does not depend on where one stands."""
    for place in session_places(Machine(system, environ, HOMES[system], project)):
        assert place.folder.startswith("/") or place.folder[1:3] == ":/"
        assert ".." not in place.folder.split("/")
        assert not place.folder.endswith("/") or place.folder == "/"


def test_nothing_of_another_person() -> None:
    """SEC.3: with nothing set, every place lies under one's own home or in the project one stands in."""
    for system in SYSTEMS:
        homes = HOMES[system].replace("\\", "/") + "/", PROJECTS[system].replace("\\", "/") + "/"
        places = session_places(Machine(system, {}, HOMES[system], PROJECTS[system]))
        assert all(place.folder.startswith(homes) for place in places)


def test_every_adapter_has_its_entry() -> None:
    """EVID.3: a harness that can be read is looked for, or it is said that it has no place of its own."""
    assert {adapter.name for adapter in adapters()} <= set(HARNESSES)


def test_what_is_there() -> None:
    """EVID.9: only places that are there, by names alone; a wildcard stands for one name."""
    view: FileView = Folders(
        "/home/ada/.claude/projects/-shop/a.jsonl",
        "/home/ada/.gemini/tmp/f00/chats/session-1.json",
        "/home/ada/.gemini/tmp/f00/logs.json",
        "/home/ada/.gemini/tmp/deeper/f00/chats/session-1.json",
        "/home/ada/.hermes/state.db",
        "/home/ada/.hermes/auth.json",
    )
    places = session_places(Machine(LINUX, {}, "/home/ada"))
    assert discovered(places, view) == [
        Found("claude-code", "/home/ada/.claude/projects"),
        Found("gemini-cli", "/home/ada/.gemini/tmp/f00/chats"),
        Found("hermes", "/home/ada/.hermes/state.db"),
    ]
    assert discovered(places, view, ["hermes"]) == [Found("hermes", "/home/ada/.hermes/state.db")]


def test_a_folder_that_may_not_be_looked_into() -> None:
    """EVID.3: it is no empty folder: it is given as it is, and reading it says why it cannot be."""
    view = Folders(locked=["/home/ada/.gemini/tmp", "/home/ada/.codex/sessions"])
    found = discovered(session_places(Machine(LINUX, {}, "/home/ada")), view)
    assert [each.path for each in found] == ["/home/ada/.codex/sessions", "/home/ada/.gemini/tmp"]


def test_a_path_is_given_once() -> None:
    """EVID.5: two variables may point at one folder."""
    view = Folders("/a/x/s.jsonl")
    assert discovered([Place("codex", "/a/x"), Place("amp", "/a", "x"), Place("amp", "/a", "*")], view) == [
        Found("amp", "/a/x")
    ]


def test_names_with_signs_of_patterns(tmp_path: Path) -> None:
    """EVID.9: a home folder may hold any character; only what stands below a place is a pattern."""
    home = tmp_path / "a[b]*c"
    (home / ".gemini/tmp/f00/chats").mkdir(parents=True)
    with DiskView() as view:
        found = discovered(session_places(Machine(LINUX, {}, str(home))), view)
    assert [each.path for each in found] == [f"{home}/.gemini/tmp/f00/chats"]
