"""Whose words something is: of an event as of a claim, the trust axis that its reader sets."""

from __future__ import annotations

from enum import StrEnum


class Origin(StrEnum):
    """Whose words these are; set by the transcript adapter alone (EVID.6)."""

    USER = "user"
    """A person's own words, feedback inside a rejected tool call and answers to the agent's questions included."""
    ASSISTANT = "assistant"
    TOOL = "tool"
    """What a tool printed or returned."""
    DELEGATED = "delegated"
    """A prompt that one agent wrote to another, and the report that comes back."""
    HARNESS = "harness"
    """Reminders, hook output, command output, compaction summaries, skill bodies, synthetic messages."""
    BRIEFING = "briefing"
    """Our own injected block, coming back."""
