"""Takes secrets out of every field of an event that holds words, and out of facts about a session (EVID.9).

Nearly all of an event's cost is its text: a command that is the text is read once, one that a result repeats is
remembered from its call, and the short fields are looked at together and one by one only where something is found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache

from tallystick.model.evidence import Event, EventKind
from tallystick.redaction.texts import Redaction, may_hold_secrets, redact


def redact_event(event: Event, *, emails: bool = False) -> tuple[Event, dict[str, int]]:
    """``event`` without its secrets, and how many of each kind were taken out; pure, idempotent, raises nothing.

    The event itself comes back when there are none. A secret that several fields repeat is counted once (of each kind,
    as many as the field that has most), and what a result repeats from its call is not counted again. ``flags`` are
    ours and stay. A ``uid`` that held a secret is told from others by its place in the source, so no two become one.
    """
    text = redact(event.text, emails=emails)
    counts = Counter(text.counts)
    command = _command(event, text, emails)
    if event.kind is not EventKind.TOOL_RESULT:
        counts |= command.counts
    if text.counts or command.counts:
        event = event._replace(text=text.text, command=command.text)
    named = "\n".join((event.uid, event.thread, event.tool, event.call_id, *event.paths))
    if may_hold_secrets(named, emails=emails):
        event = _names(event, counts, emails)
    return event, dict(counts)


def redact_strings(values: Mapping[str, str], *, emails: bool = False) -> tuple[dict[str, str], dict[str, int]]:
    """Facts by name, each value without its secrets, in the same order; and how many of each kind were taken out."""
    counts: Counter[str] = Counter()
    clean: dict[str, str] = {}
    for name, value in values.items():
        result = redact(value, emails=emails)
        clean[name] = result.text
        counts.update(result.counts)
    return clean, dict(counts)


_remembered = lru_cache(maxsize=8)(redact)
"""Calls made at one time have their results after all of them; the cache keeps that many commands and no more."""


def _command(event: Event, text: Redaction, emails: bool) -> Redaction:
    if not event.command:
        return Redaction("", {})
    if event.command == event.text:
        return text
    return _remembered(event.command, emails=emails)


def _names(event: Event, counts: Counter[str], emails: bool) -> Event:
    fields = {"thread": event.thread, "tool": event.tool, "call_id": event.call_id, "uid": event.uid}
    clean, found = redact_strings(fields, emails=emails)
    paths, in_paths = redact_strings({str(n): path for n, path in enumerate(event.paths)}, emails=emails)
    if not found and not in_paths:
        return event
    if clean["uid"] != event.uid:
        clean["uid"] += f"@{event.locator.offset}:{event.locator.block}"
    for kind, n in {**found, **in_paths}.items():
        counts[kind] = max(counts[kind], n)
    return event._replace(
        uid=clean["uid"],
        thread=clean["thread"],
        tool=clean["tool"],
        call_id=clean["call_id"],
        paths=tuple(paths.values()),
    )
