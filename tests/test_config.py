"""Where things are on a machine: the folders that are said here again are those of platformdirs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import platformdirs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.config import in_main_checkout, places, project_here, project_of, user_folder
from tallystick.model.evidence import SessionFacts

HOMES = [None, "", "/home/ada", "/home/ada/", "/", "ada", "~", "/home/../x", "/a b"]
FOLDERS = [None, "", " ", "/data", "/data/", "//data", "/", "data", "~/data", "/data/~", "/a/./b/../c"]


@pytest.mark.parametrize("home", HOMES)
@pytest.mark.parametrize("said", FOLDERS)
def test_user_folders_are_those_of_platformdirs(
    home: str | None, said: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TRAIL.8: whatever the environment says, data and state are where every program that asks platformdirs looks for them."""
    for name, value in {"HOME": home, "XDG_DATA_HOME": said, "XDG_STATE_HOME": said}.items():
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)
    assert user_folder("data", os.environ) == str(Path(platformdirs.user_data_dir("tallystick")))
    assert user_folder("state", os.environ) == str(Path(platformdirs.user_state_dir("tallystick")))


@pytest.mark.parametrize("system", ["darwin", "win32", "freebsd14"])
def test_other_systems_are_left_to_platformdirs(system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """TRAIL.8: only Linux is said here again."""
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platformdirs, "user_data_dir", lambda name: f"/elsewhere/{name}")
    assert user_folder("data", {"HOME": "/home/ada"}) == "/elsewhere/tallystick"


@pytest.mark.parametrize(
    "said", ["/a/b", "/a//b/", "/a/./b", "/a/../b", "//a", "///a", "a/b", "./a", "~/a", "/~/a", "/", ".", "/a/.b"]
)
def test_folders_are_written_as_pathlib_writes_them(said: str) -> None:
    """cli.md: a trail and its state are called the same in every message, however they were typed."""
    found = places(said, {"TALLY_STATE": said})
    assert found == (str(Path(said).expanduser()), str(Path(said).expanduser()))


def test_a_project_is_the_top_of_its_work_tree(tmp_path: Path) -> None:
    """SEC.3: the nearest folder that has a ``.git``, file or folder, else the folder itself."""
    inner = tmp_path / "a" / "b" / "c"
    inner.mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    assert project_here(str(inner)) == f"project:{tmp_path}"
    (tmp_path / "a" / ".git").write_text("gitdir: elsewhere", "utf-8")
    assert project_here(str(inner)) == f"project:{tmp_path / 'a'}"
    assert project_here("/") == "project:/"


def git(folder: Path, *arguments: str) -> None:
    """The real git, by itself: without the settings of whoever runs the tests."""
    settings = {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "HOME": str(folder),
        "PATH": os.environ["PATH"],
    }
    who = {f"GIT_{role}_{what}": "ada@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, env=settings | who)


@pytest.fixture
def main(tmp_path: Path) -> Path:
    """The main checkout of a repository with one commit."""
    if shutil.which("git") is None:
        pytest.skip("git is not here")
    folder = tmp_path / "shop"
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder


def project_at(folder: Path) -> str:
    return project_of(SessionFacts("claude-code", "x", cwd=str(folder)))


@pytest.mark.parametrize("below", ["", "src/app"])
@pytest.mark.parametrize("place", ["../elsewhere/feature", ".worktrees/feature", "../shop-feature.x_y"])
def test_a_work_tree_is_its_repository(main: Path, place: str, below: str) -> None:
    """SEC.3 (pitfall 52): a linked work tree is one project with the main checkout, wherever it lies, by whatever name."""
    tree = Path(os.path.normpath(main / place))
    git(main, "worktree", "add", "-q", "-b", "feature", str(tree))
    folder = tree / below
    folder.mkdir(parents=True, exist_ok=True)
    assert project_here(str(folder)) == project_here(str(main)) == f"project:{main}"
    assert project_at(folder) == project_at(main / below) == f"project:{main / below}"


def test_relative_pointers(main: Path, tmp_path: Path) -> None:
    """SEC.3: git may write the pointers between the two relative to where they stand."""
    tree = tmp_path / "feature"
    git(main, "worktree", "add", "-q", "-b", "feature", str(tree))
    inside = main / ".git/worktrees/feature"
    (tree / ".git").write_text("gitdir: ../shop/.git/worktrees/feature\n", "utf-8")
    (inside / "gitdir").write_text("../../../../feature/.git\n", "utf-8")
    assert project_at(tree) == f"project:{main}"


def test_work_trees_of_a_bare_repository(main: Path, tmp_path: Path) -> None:
    """SEC.3: they are one project, called by the repository's folder, or by the folder that points at it."""
    git(tmp_path, "clone", "-q", "--bare", str(main), "shop.git")
    for name in ("one", "two"):
        git(tmp_path / "shop.git", "worktree", "add", "-q", "-b", name, str(tmp_path / name))
    assert project_at(tmp_path / "one") == project_at(tmp_path / "two") == f"project:{tmp_path / 'shop.git'}"
    (tmp_path / ".git").write_text("gitdir: ./shop.git\n", "utf-8")
    assert project_at(tmp_path / "one") == project_at(tmp_path) == f"project:{tmp_path}"


def test_work_trees_of_a_submodule(main: Path, tmp_path: Path) -> None:
    """SEC.3: a submodule is a project of its own, and its linked work trees are one with it."""
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "-q")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(main), "sub")
    assert project_at(outer / "sub") == f"project:{outer / 'sub'}"
    git(outer / "sub", "worktree", "add", "-q", "-b", "feature", str(tmp_path / "feature"))
    assert project_at(tmp_path / "feature") == f"project:{outer / 'sub'}"
    git(outer / ".git/modules/sub", "config", "--unset", "core.worktree")
    git(outer / ".git/modules/sub", "config", "extensions.worktreeConfig", "true")
    assert project_at(tmp_path / "feature") == f"project:{outer / '.git/modules/sub'}"


def test_a_folder_cannot_claim_another_repository(main: Path, tmp_path: Path) -> None:
    """SEC.3: what merely points at a repository stays a project of its own, whatever it brings along."""
    evil = tmp_path / "evil"
    evil.mkdir()
    pointers = [main / ".git", main / ".git/worktrees/feature", tmp_path / "brought/worktrees/w", tmp_path / "nothing"]
    git(main, "worktree", "add", "-q", "-b", "feature", str(tmp_path / "feature"))
    brought = tmp_path / "brought/worktrees/w"
    brought.mkdir(parents=True)
    (brought / "gitdir").write_text(f"{evil / '.git'}\n", "utf-8")
    (brought / "commondir").write_text(f"{main / '.git'}\n", "utf-8")
    for pointer in pointers:
        (evil / ".git").write_text(f"gitdir: {pointer}\n", "utf-8")
        assert project_at(evil) == f"project:{evil}"


@pytest.mark.parametrize(
    "data", [b"", b"gitdir:", b"gitdir: \xff\xfe\x00", b"\x00" * 9000, b"gitdir: " + b"a/" * 9000, b"gitdir: ."]
)
def test_a_git_file_of_any_content(tmp_path: Path, data: bytes) -> None:
    """SEC.3: a damaged ``.git`` file makes a folder no less a project."""
    (tmp_path / ".git").write_bytes(data)
    assert project_at(tmp_path) == f"project:{tmp_path}"


@given(
    st.binary(max_size=200) | st.text(max_size=200).map(lambda text: f"gitdir: {text}".encode("utf-8", "surrogatepass"))
)
def test_no_git_file_stops_anything(data: bytes) -> None:
    """SEC.3: whatever stands in one, there is an answer, and a folder that nobody else vouches for is its own project."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, ".git").write_bytes(data)
        assert project_at(Path(folder)) == project_here(folder) == f"project:{folder}"


def test_a_pipe_is_no_git_file(tmp_path: Path) -> None:
    """EVID.10: nothing is read that could keep us waiting."""
    os.mkfifo(tmp_path / ".git")
    assert project_at(tmp_path) == f"project:{tmp_path}"


@pytest.mark.parametrize(
    "cwd",
    [
        "/gone/shop",
        "C:\\work\\shop",
        "C:/work/shop",
        "\\\\wsl$\\Ubuntu\\home\\ada\\shop",
        "/mnt/c/work/shop",
        "-home-ada-shop",
        "shop",
        ".",
        "..",
        "/a_b",
        "/a.b",
    ],
)
def test_a_folder_that_is_not_on_this_machine(cwd: str, main: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SEC.3 (pitfall 52): the project is the record's folder, byte for byte; one that cannot be here is not taken for the
    folder one stands in."""
    git(main, "worktree", "add", "-q", "-b", "feature", str(main / "feature"))
    monkeypatch.chdir(main / "feature")
    assert in_main_checkout(cwd) == cwd
    assert (
        project_of(SessionFacts("codex", "x", cwd=cwd, repository="https://example.org/shop.git")) == f"project:{cwd}"
    )


@pytest.mark.parametrize("cwd", ["c:\\work\\shop", "C:\\work\\shop"])
def test_a_drive_has_one_letter(cwd: str) -> None:
    """SEC.3 (pitfall 52): one machine's records write the letter of a drive large and small; the rest stays as it is."""
    assert project_of(SessionFacts("codex", "x", cwd=cwd)) == "project:C:\\work\\shop"
    assert project_of(SessionFacts("codex", "x", cwd="é:/work")) == "project:é:/work"


def test_a_session_that_names_no_folder() -> None:
    """SEC.3: its repository, else nothing that could be another's."""
    assert project_of(SessionFacts("codex", "x", repository="https://example.org/shop.git")).endswith("shop.git")
    assert project_of(SessionFacts("codex", "x")) == "project:unknown"
