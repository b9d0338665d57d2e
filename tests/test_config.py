"""Where things are on a machine: the folders that are said here again are those of platformdirs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import platformdirs
import pytest

from tallystick.config import user_folder

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
    assert user_folder("data", os.environ) == Path(platformdirs.user_data_dir("tallystick"))
    assert user_folder("state", os.environ) == Path(platformdirs.user_state_dir("tallystick"))


@pytest.mark.parametrize("system", ["darwin", "win32", "freebsd14"])
def test_other_systems_are_left_to_platformdirs(system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """TRAIL.8: only Linux is said here again."""
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platformdirs, "user_data_dir", lambda name: f"/elsewhere/{name}")
    assert user_folder("data", {"HOME": "/home/ada"}) == Path("/elsewhere/tallystick")
