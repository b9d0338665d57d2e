"""A command that would settle a claim now, from a template and typed anchors alone: nothing of a transcript is run (SEC.2)."""

from __future__ import annotations

import re
import shlex

from tallystick.language.anchors import Anchor, AnchorKind, anchors
from tallystick.verifiers.commands import CommandKind
from tallystick.verifiers.outcome import outcome_claims

_BY_KIND = {
    CommandKind.COMMIT: "git log -1 --oneline",
    CommandKind.PUSH: "git status --short --branch",
    CommandKind.MERGE: "git log --merges -3 --oneline",
    CommandKind.REBASE: "git log -3 --oneline",
    CommandKind.BUILD: "make",
    CommandKind.TEST: "make test",
    CommandKind.LINT: "make lint",
}
_SAFE = re.compile(r"[\w./@:+-]{1,200}")
"""Alphabet of an anchor that may stand in a command; anything else gets no command at all."""


def settle(text: str) -> str:
    """The command for what ``text`` claims, or an empty string where no template fits."""
    found = {anchor.kind: anchor for anchor in reversed(anchors(text)) if _SAFE.fullmatch(anchor.value)}
    if not text or "\n" in text:
        text = " ".join(text.split())
    kinds = [kind for claim in outcome_claims(text) for kind in claim.kinds]
    if AnchorKind.ISSUE in found and (number := re.search(r"\d+", found[AnchorKind.ISSUE].value)):
        return f"gh pr view {number.group()}"
    for kind in kinds:
        if kind in _BY_KIND:
            return _BY_KIND[kind]
    return _of_anchor(found)


def _of_anchor(found: dict[AnchorKind, Anchor]) -> str:
    templates = {
        AnchorKind.COMMIT: "git show --stat {}",
        AnchorKind.PATH: "ls -l -- {}",
        AnchorKind.PORT: "ss -ltn 'sport = :{}'",
        AnchorKind.HOST: "ping -c 1 {}",
    }
    for kind, template in templates.items():
        if kind in found and not found[kind].value.startswith("-"):
            return template.format(shlex.quote(found[kind].value))
    return ""
