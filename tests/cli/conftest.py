"""The fixture ``tally``: the command line over a trail of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.surface import Tally


@pytest.fixture
def tally(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Tally:
    """A fresh one."""
    return Tally(tmp_path, monkeypatch, capsys)
