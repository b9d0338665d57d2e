"""A command that would settle a claim now, from a template and typed anchors alone: nothing of a transcript is run (SEC.2)."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable

from tallystick.language.anchors import AnchorKind, anchors
from tallystick.verifiers.commands import CommandKind, actions

_BY_KIND = {
    CommandKind.COMMIT: "git log -1 --oneline",
    CommandKind.PUSH: "git status --short --branch",
    CommandKind.MERGE: "git log --merges -3 --oneline",
    CommandKind.REBASE: "git log -3 --oneline",
}
_BY_PROGRAM = {
    (CommandKind.TEST, "go"): "go test ./...",
    (CommandKind.TEST, "pytest"): "pytest",
    (CommandKind.TEST, "cargo"): "cargo test",
    (CommandKind.TEST, "npm"): "npm test",
    (CommandKind.TEST, "make"): "make test",
    (CommandKind.TEST, "mise"): "mise run test",
    (CommandKind.BUILD, "go"): "go build ./...",
    (CommandKind.BUILD, "cargo"): "cargo build",
    (CommandKind.BUILD, "npm"): "npm run build",
    (CommandKind.BUILD, "make"): "make",
    (CommandKind.LINT, "golangci-lint"): "golangci-lint run",
    (CommandKind.LINT, "ruff"): "ruff check",
    (CommandKind.LINT, "cargo"): "cargo clippy",
    (CommandKind.LINT, "npm"): "npm run lint",
    (CommandKind.LINT, "mise"): "mise run lint",
}
_SAFE = re.compile(r"[\w./@:+-]{1,200}")
"""Alphabet of an anchor that may stand in a command; anything else gets no command at all."""
_NUMBER = re.compile(r"\d{1,9}")


def settle(text: str, commands: Iterable[str] = ()) -> str:
    """The command for what ``text`` claims, or an empty string where no template fits.

    ``commands`` are those of its witnesses: which program they ran chooses among fixed templates, and nothing more.
    """
    found = {anchor.kind: anchor for anchor in reversed(anchors(text))}
    if AnchorKind.ISSUE in found and (number := _NUMBER.search(found[AnchorKind.ISSUE].value)):
        return f"gh pr view {number.group()}"
    safe = {kind: anchor.value for kind, anchor in found.items() if _SAFE.fullmatch(anchor.value)}
    if AnchorKind.COMMIT in safe:
        return f"git show --stat {safe[AnchorKind.COMMIT]}"
    ran = {(action.kind, action.program) for command in commands for action in actions(command)}
    for key, command in _BY_PROGRAM.items():
        if key in ran:
            return command
    for kind, command in _BY_KIND.items():
        if any(kind == each for each, _ in ran):
            return command
    return _of_anchor(safe)


def _of_anchor(safe: dict[AnchorKind, str]) -> str:
    templates = {
        AnchorKind.PATH: "ls -l -- {}",
        AnchorKind.PORT: "ss -ltn 'sport = :{}'",
        AnchorKind.HOST: "ping -c 1 {}",
    }
    for kind, template in templates.items():
        if kind in safe and not safe[kind].startswith("-"):
            return template.format(shlex.quote(safe[kind]))
    return ""
