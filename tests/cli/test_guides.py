"""The examples of the guides, run as they stand."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.surface import Tally

GUIDES = Path(__file__).resolve().parents[2] / "docs/guides"
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ROOT = re.compile(r"\b[0-9a-f]{16}…")


def examples(page: str) -> list[tuple[str, str]]:
    """(command, its output) of every example of a page, in order."""
    blocks = [re.split(r"^\$ ", block, flags=re.MULTILINE)[1:] for block in _BLOCK.findall(page)]
    return [(said.partition("\n")[0], said.partition("\n")[2]) for block in blocks for said in block]


@pytest.mark.parametrize("guide", ["two-times.md"])
def test_examples(tally: Tally, guide: str) -> None:
    """TIME.1-9: what a guide shows is what the commands print, roots aside, which no two trails share."""
    shown = examples((GUIDES / guide).read_text("utf-8"))
    assert len(shown) > 10
    for command, output in shown:
        name, *arguments = shlex.split(command)
        assert name == "tally"
        assert _ROOT.sub("…", tally(*arguments).out) == _ROOT.sub("…", output), command
