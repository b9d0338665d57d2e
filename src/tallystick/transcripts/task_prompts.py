"""The prompt templates in which harnesses that work through lists of tasks wrap the words of whose problem it is (EVID.6)."""

from __future__ import annotations

from typing import NamedTuple

from tallystick.model.evidence import Origin


class TaskPart(NamedTuple):
    """A stretch of a first prompt: the template's, or the words of who wrote the issue."""

    text: str
    origin: Origin


class _Template(NamedTuple):
    begins: str
    before: str
    after: str


_TEMPLATES = (
    # mini-SWE-agent
    _Template("<pr_description>\nConsider the following PR description:\n", "\n", "</pr_description>"),
    _Template("Please solve this issue: ", "", "\n\nYou can execute bash commands and edit files"),
    # SWE-agent
    _Template(
        "We're currently solving the following issue within our repository.", "\nISSUE:\n", "\n\nINSTRUCTIONS:\n"
    ),
    _Template("We're currently solving the following CTF challenge.", " The description is:\n", "\n\nINSTRUCTIONS:\n"),
    _Template("<uploaded_files>\n", "\n<pr_description>\n", "\n</pr_description>"),
)


def task_parts(text: str) -> list[TaskPart]:
    """The parts of a first prompt in order, white space alone being none; all of it is a person's in an unknown template."""
    for begins, before, after in _TEMPLATES:
        if not text.startswith(begins):
            continue
        at = text.find(before, max(0, len(begins) - len(before)))
        start = at + len(before)
        end = text.rfind(after, max(start, 0))
        if at >= 0 and end >= start:
            parts = ((text[:start], Origin.HARNESS), (text[start:end], Origin.USER), (text[end:], Origin.HARNESS))
            return [TaskPart(part, origin) for part, origin in parts if part.strip()]
    return [TaskPart(text, Origin.USER)]
