"""The moods that a sentence can be said in: one list, for the grammar of each language and its readers (CHECK.2)."""

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
