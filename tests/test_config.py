"""Where things are on a machine: the folders that are said here again are those of platformdirs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import platformdirs
import pytest

from tallystick.config import places, project_here, user_folder

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
