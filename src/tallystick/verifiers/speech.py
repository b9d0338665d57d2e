"""What is said after a claim that can take it back: a person's "still not working", an assistant's "I was wrong"."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

from tallystick.model.evidence import Event, Origin
from tallystick.verifiers.programs import CommandKind

MAX_CHARS = 4_000
"""Only so much of a message is read; what takes something back stands near its beginning."""


class SpeechKind(StrEnum):
    """How a message can bear on what was said before it."""

    COMPLAINT = "complaint"
    RETRACTION = "retraction"
    POINTER = "pointer"
    """A person names a file or a place."""


class Speech(NamedTuple):
    """A message that may contradict an earlier claim."""

    position: int
    event: str
    kind: SpeechKind
    text: str
    """Its words, folded to one line, cut."""
    kinds: frozenset[CommandKind] = frozenset()
    """For a complaint that names what fails ("lint fails"): the kinds named; empty for "it is still broken"."""


_COMPLAINT = re.compile(
    r"\bstill (?:not|isn['’]?t|doesn['’]?t|does not|fail|broken|shows?|seeing|see |getting|happen|wrong|the same)"
    r"|\bstill (?:an? )?(?:issue|problem|error)"
    r"|\b(?:doesn['’]?t|does not|didn['’]?t|did not|not|isn['’]?t|never|no longer) (?:\w{1,12} )?"
    r"(?:work|fix|resolv|compil|build|pass)"
    r"|\b(?:same|another) (?:error|issue|problem)|\b(?:is|are|it['’]?s|was) (?:still )?(?:broken|wrong|failing)\b"
    r"|\b(?:tests?|lint(?:ing|er)?|build|ci|compilation|compile) (?:is |are |still )?(?:now )?(?:fail|broke|red\b)"
    r"|\b(?:that|this|it)(?:['’]s| is) (?:still )?(?:not (?:correct|right|true|what i)|incorrect|false)\b"
    r"|\byou (?:forgot|missed|broke|haven['’]?t|didn['’]?t|did not|have not)\b|\bnot what i (?:asked|meant|wanted)\b"
    r"|\bc['’]est (?:faux|incorrect|toujours cassé)|\bce n['’]est pas (?:correct|bon|ça|juste)\b|\btu as oublié\b"
    r"|\bmarche (?:toujours |encore )?pas\b|\bfonctionne (?:toujours |encore )?pas\b"
    r"|\btoujours (?:pas|cassé|la même|le même)|\bmême erreur\b|\bne compile pas\b",
    re.IGNORECASE,
)
_RETRACTION = re.compile(
    r"\bI was (?:wrong|mistaken|incorrect)\b|\bmy mistake\b|\b(?:my )?apolog(?:ies|i[sz]e)\b"
    r"|\bI (?:misread|misunderstood|mistakenly|incorrectly|wrongly|made that up)\b"
    r"|\bthat was (?:wrong|incorrect|not (?:right|correct|true))\b|\bI made (?:a|an) (?:mistake|error)\b"
    r"|\bI (?:stated|said|claimed|cited) the wrong\b"
    r"|\bje me suis trompé|\bmon erreur\b|\bau(?: temps|tant) pour moi\b",
    re.IGNORECASE,
)
_PLACE = re.compile(r"(?<![\w:/])(?:[\w.@~-]{1,80}/){1,12}[\w.@:+-]{1,120}")
_HARNESS_TAIL = re.compile(r"<system-reminder>")


def speech_of(event: Event, position: int) -> Speech | None:
    """The message as something that may contradict, or None when it says nothing of the kind."""
    text = " ".join(event.text[:MAX_CHARS].split())
    tail = _HARNESS_TAIL.search(text)
    if tail:
        text = text[: tail.start()]
    if event.origin is Origin.USER:
        found = _COMPLAINT.search(text[:600])
        if found is None or (text[:600].rstrip().endswith("?") and found.start() > 200):
            pointed = _PLACE.findall(text[:600])
            return Speech(position, event.uid, SpeechKind.POINTER, " ".join(pointed)[:300]) if pointed else None
        return Speech(position, event.uid, SpeechKind.COMPLAINT, text[:300], _named_kinds(text[:300]))
    if event.origin is Origin.ASSISTANT:
        found = _RETRACTION.search(text)
        if found is None:
            return None
        start = max(0, found.start() - 300)
        return Speech(position, event.uid, SpeechKind.RETRACTION, text[start : found.end() + 600])
    return None


_NAMED = re.compile(
    r"\b(tests?|lint(?:ing|er)?|build|compilation|compile|format(?:ting)?|fmt)\b[^.?!\n]{0,24}?"
    r"\b(?:fail|broke|red\b|not pass|doesn['’]?t pass|error)"
)
_KINDS = {"t": CommandKind.TEST, "l": CommandKind.LINT, "b": CommandKind.BUILD, "c": CommandKind.BUILD,
          "f": CommandKind.FORMAT}  # fmt: skip


def _named_kinds(text: str) -> frozenset[CommandKind]:
    """The checks that a complaint says fail ("lint fails")."""
    return frozenset(_KINDS[name[0]] for name in _NAMED.findall(text.lower()))
