"""Commands that a briefing offers come from templates and typed anchors alone."""

from __future__ import annotations

import re
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.verifiers.settling import settle


@pytest.mark.parametrize(
    ("text", "commands", "expected"),
    [
        ("All review threads on PR #323 are now addressed.", ["gh pr view 323 --json reviews"], "gh pr view 323"),
        ("Fixed in `64274e0f`, pushed.", ["git push"], "git show --stat 64274e0f"),
        ("All tests pass.", ["cd cli && go test ./cmd/..."], "go test ./..."),
        ("All tests pass.", ["uv run pytest -q tests/a.py"], "pytest"),
        ("All tests pass.", [], ""),
        ("Pushed.", ["git -C x push origin main"], "git status --short --branch"),
        ("Created `docs/color.md`.", [], "ls -l -- docs/color.md"),
        ("The API listens on port 5433.", [], "ss -ltn 'sport = :5433'"),
    ],
)
def test_templates(text: str, commands: list[str], expected: str) -> None:
    """CARRY.1: a line that can be stale carries the command that would settle it, where a template fits."""
    assert settle(text, commands) == expected


@given(st.text(max_size=80), st.lists(st.text(max_size=60), max_size=3))
def test_nothing_of_a_transcript_is_run(text: str, commands: list[str]) -> None:
    """CARRY.1: whatever the text and the witnesses say, the command has no shell syntax of theirs."""
    command = settle(text, commands)
    words = shlex.split(command)
    assert all(re.fullmatch(r"[\w./@:+-]+|sport = :[\w./@:+-]+", word) for word in words)


@pytest.mark.parametrize("hostile", ["`x; rm -rf ~`", "$(id)/a.py", "see `a b/c.txt`", "/tmp/$HOME/x.py", "-rf/x.py"])
def test_hostile_anchors(hostile: str) -> None:
    """CARRY.1: an anchor outside the plain alphabet, or one that looks like an option, gets no command of its own."""
    command = settle(f"Created {hostile} just now.")
    assert not any(sign in command for sign in ";$`|&<>")
    assert not command.startswith("ls -l -- -")
