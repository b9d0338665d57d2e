"""The last look at a candidate: what only the moment explains is not kept."""

from __future__ import annotations

import pytest

from tallystick.extractors.rules_worth import worth_noting
from tallystick.model.claim import Candidate, ClaimKind
from tallystick.model.evidence import Origin

KEPT = [
    (ClaimKind.DECISION, Origin.USER, "We decided to use Postgres advisory locks for the scheduler."),
    (ClaimKind.DECISION, Origin.USER, "Do not use Postgres advisory locks for the scheduler."),
    (ClaimKind.DECISION, Origin.ASSISTANT, "I'll use `t.Chdir()` because it handles cleanup automatically."),
    (ClaimKind.DECISION, Origin.ASSISTANT, "I switched to the install script since the retry action wraps a command."),
    (ClaimKind.OUTCOME, Origin.ASSISTANT, "All tests pass."),
    (ClaimKind.OUTCOME, Origin.ASSISTANT, "Created `docs/color.md`."),
    (ClaimKind.FACT, Origin.USER, "The port is 5433."),
    (ClaimKind.RULE, Origin.USER, "Never push to main."),
    (ClaimKind.OPEN_LOOP, Origin.ASSISTANT, "The cron jobs are not migrated yet."),
]
LEFT_OUT = [
    (ClaimKind.OUTCOME, Origin.ASSISTANT, "Fixed in `64274e0f`, pushed, and replied to the thread."),
    (ClaimKind.OUTCOME, Origin.ASSISTANT, "Removed unused variables in `hooks.py` and `state.py`"),
    (ClaimKind.OUTCOME, Origin.ASSISTANT, "Created a repository for the check at `/tmp/hook-test`."),
    (ClaimKind.OUTCOME, Origin.ASSISTANT, "Action items created: `4` (2 high)"),
    (ClaimKind.DECISION, Origin.ASSISTANT, "Now let me update the transcript creation to include proper timestamps."),
    (ClaimKind.DECISION, Origin.ASSISTANT, "I'll fix the test expectations to match the actual error messages."),
    (ClaimKind.DECISION, Origin.USER, "put it in the handler"),
    (ClaimKind.DECISION, Origin.USER, "Implement 1,2 and 3."),
    (ClaimKind.DECISION, Origin.USER, "is there no library to do that validation??"),
    (ClaimKind.FACT, Origin.ASSISTANT, "The issue is that the test creates a checkpoint without setting the type."),
    (ClaimKind.OUTCOME, Origin.ASSISTANT, "Sections ajoutées : Open Questions + Next Steps"),
    (ClaimKind.CORRECTION, Origin.USER, "you've attached it to the project..."),
]


@pytest.mark.parametrize(("kind", "origin", "text"), KEPT)
def test_what_a_stranger_can_use_is_kept(kind: ClaimKind, origin: Origin, text: str) -> None:
    """CARRY.1: a line that can be understood and used by somebody who was not there is kept."""
    assert worth_noting(Candidate(kind, text, text, origin))


@pytest.mark.parametrize(("kind", "origin", "text"), LEFT_OUT)
def test_what_only_the_moment_explains_is_left_out(kind: ClaimKind, origin: Origin, text: str) -> None:
    """CARRY.1: announcements, references to what is not there, mended failures and empty notices are left out."""
    assert not worth_noting(Candidate(kind, text, text, origin))
