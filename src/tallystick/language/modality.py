"""In what mood a sentence is said: only assertions assert (CHECK.2, OUTCOME.2)."""

from __future__ import annotations

from enum import StrEnum


class Mood(StrEnum):
    """Names as in ``tally parse``."""

    ASSERTION = "assertion"
    NEGATED_ASSERTION = "negated_assertion"
    CONDITIONAL = "conditional"
    QUESTION = "question"
    PLAN = "plan"
    """What the speaker means to do: "I'll remove…", "Next, run…", "Let me check…"."""
    INSTRUCTION = "instruction"
    HYPOTHETICAL = "hypothetical"
    """Hedged: should, would, might, may, could, probably, presumably, likely, seems, I think, ready to, expected to."""
    QUOTED = "quoted"
    REPORTED = "reported"
    """"The agent says …", "according to …", "CI reports …"."""


def mood(sentence: str) -> Mood:
    """The mood of one sentence, by its main clause."""
    raise NotImplementedError
