"""Who speaks in a message of the user role of Hermes Agent: the person, or what the harness put before, behind and instead.

Linear in the text, whatever it is (EVID.6, 10).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tallystick.model.evidence import EventKind, Origin

_REVIEWS = (
    "Review the conversation above and consider saving to memory",
    "Review the conversation above and update the skill library",
    "[Earlier conversation digest",
)
_SUMMARIES = ("[CONTEXT COMPACTION", "[CONTEXT SUMMARY]:", "[PRIOR CONTEXT")
_SUMMARY_ENDS = re.compile(r"--- END OF CONTEXT SUMMARY[^\n]{0,200}")
_MERGED = "[END OF PRIOR CONTEXT"
_INVOKED = re.compile(r'\[(?:IMPORTANT|SYSTEM): The user has invoked the "')
_LOADED = re.compile(r'\[(?:IMPORTANT|SYSTEM): The "[^"\n]{1,200}" skill is auto-loaded')
_BUNDLE = " skill bundle,"
_BUNDLE_HEAD = 600
_BUNDLE_ASKS, _BUNDLE_SKILL = "\nUser instruction: ", "\n\n[Loaded as part of the "
_SKILL_ASKS = "The user has provided the following instruction alongside the skill invocation: "
_RUNTIME_NOTE = "\n\n[Runtime note:"
_SKILL_FOOT = "then run them with the terminal tool using the absolute path."
_WHOLE = (
    "[IMPORTANT:",
    "[SYSTEM:",
    "[Your active task list was preserved across context compression]",
    "Continue from the compressed conversation context above.",
    "[Session was just handed off",
)
"""What a message that begins so says, nobody typed."""
_NOTE = re.compile(r'\s*(?:\[(?:System note|Note: model was)[^\]]{0,4000}\]|\[Replying to: "[^\n]{0,4000}"\])\s*')
_MEMORY_OPENS, _MEMORY_ENDS = "<memory-context>", "</memory-context>"


class Said(NamedTuple):
    """A stretch of a message, and whose it is."""

    text: str
    origin: Origin
    kind: EventKind = EventKind.MESSAGE
    flags: tuple[str, ...] = ()


def is_self_review(text: str) -> bool:
    """Whether the harness asks its model to look back for what to remember: neither that nor what follows is evidence."""
    return text.lstrip().startswith(_REVIEWS)


def is_summary(text: str) -> bool:
    """Whether a message is, or has in it, what a compaction made of those before."""
    return text.lstrip().startswith(_SUMMARIES)


def said(text: str, typed: Origin) -> list[Said]:
    """The stretches of a message in order, those that were typed being of the origin ``typed``; none of white space only."""
    start = text.lstrip()
    if start.startswith(_SUMMARIES):
        return _summary(text, typed)
    if start.startswith(_REVIEWS):
        return [Said(text, Origin.HARNESS)]
    if _INVOKED.match(start):
        return _invoked(text, typed)
    if _LOADED.match(start):
        end = text.rfind(_SKILL_FOOT) + len(_SKILL_FOOT)
        return _spoken([(text[:end], False), (text[end:], True)] if end >= len(_SKILL_FOOT) else [(text, False)], typed)
    if start.startswith(_WHOLE):
        return [Said(text, Origin.HARNESS)]
    return _noted(text, typed)


def _summary(text: str, typed: Origin) -> list[Said]:
    """A summary, and what was put behind it of the message that it took the place of."""
    found = _SUMMARY_ENDS.search(text)
    end = found.end() if found else len(text)
    rest = text[end:]
    # Where the summary was put behind an older message, that message is a copy: it was there before.
    behind = [] if _MERGED in text[:end] or not rest.strip() else _noted(rest, typed)
    return [Said(text[:end], Origin.HARNESS, EventKind.SUMMARY), *behind]


def _invoked(text: str, typed: Origin) -> list[Said]:
    """A command of a skill: its body, with what was typed behind the command's name somewhere in it."""
    if _BUNDLE in text[:_BUNDLE_HEAD]:
        at, mark, stop = text.find(_BUNDLE_ASKS), _BUNDLE_ASKS, _BUNDLE_SKILL
    else:
        # The last one, since a skill may quote it.
        at, mark, stop = text.rfind(_SKILL_ASKS), _SKILL_ASKS, _RUNTIME_NOTE
    if at < 0:
        return _spoken([(text, False)], typed)
    begin = at + len(mark)
    end = text.find(stop, begin)
    end = len(text) if end < 0 else end
    return _spoken([(text[:begin], False), (text[begin:end], True), (text[end:], False)], typed)


def _noted(text: str, typed: Origin) -> list[Said]:
    """Words with notes of the harness before them, and memories that were fetched for them."""
    at = 0
    while note := _NOTE.match(text, at):
        at = note.end()
    found = [Said(text[:at], Origin.HARNESS)] if at else []
    last = text.rfind(_MEMORY_ENDS)
    while (opened := text.find(_MEMORY_OPENS, at)) >= 0 and opened < last:
        end = text.index(_MEMORY_ENDS, opened) + len(_MEMORY_ENDS)
        found += (Said(text[at:opened], typed), Said(text[opened:end], Origin.HARNESS))
        at = end
    found.append(Said(text[at:], typed))
    return [each for each in found if each.text.strip()]


def _spoken(stretches: list[tuple[str, bool]], typed: Origin) -> list[Said]:
    return [
        Said(text, typed) if spoken else Said(text, Origin.HARNESS, flags=("expanded",))
        for text, spoken in stretches
        if text.strip()
    ]
