"""Whether a value that was said was replaced later in the same session: the words were said, and are no longer the last word.

Only the plain case is claimed: the same telling words around one value of the same sort, asserted later with another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tallystick.language.anchors import AnchorKind, anchors
from tallystick.language.modality import Mood, mood
from tallystick.language.sentences import sentences
from tallystick.language.telling import telling_words
from tallystick.model.evidence import Event, EventKind, Origin

_VALUES = frozenset((AnchorKind.NUMBER, AnchorKind.PORT, AnchorKind.VERSION))
_SAID_BY = frozenset((Origin.USER, Origin.ASSISTANT))
MOST_MORE_WORDS = 3
"""Telling words that the later sentence may have besides; with more it speaks of something else as well."""
MOST_SENTENCE_CHARS = 400


class Frame(NamedTuple):
    """What a sentence says around its one value."""

    words: frozenset[str]
    value: str
    kind: AnchorKind


class Superseded(NamedTuple):
    """The later words that replace the value."""

    event: str
    text: str
    value: str


def frame(text: str) -> Frame | None:
    """The frame of a text that holds exactly one value and something to say of it; None otherwise."""
    if len(text) > MOST_SENTENCE_CHARS:
        return None
    found = [anchor for anchor in anchors(text) if anchor.kind in _VALUES]
    if len(found) != 1:
        return None
    value = found[0]
    words = frozenset(telling_words(text[: value.start] + " " + text[value.end :]))
    return Frame(words, value.value, value.kind) if words else None


def superseded(quote: str, event: str, events: Sequence[Event]) -> Superseded | None:
    """The last sentence after ``event`` that asserts another value in the same frame; None where there is none."""
    ours = frame(quote)
    if ours is None:
        return None
    later = False
    last: Superseded | None = None
    for each in events:
        if later and each.kind is EventKind.MESSAGE and each.origin in _SAID_BY:
            last = _replacing(ours, each) or last
        later = later or each.uid == event
    return None if last is None or last.value == ours.value else last


def _replacing(ours: Frame, event: Event) -> Superseded | None:
    probe = max(ours.words, key=len)
    if probe not in event.text.lower():
        return None
    found: Superseded | None = None
    for sentence in sentences(event.text):
        theirs = frame(sentence.text)
        if theirs is None or not ours.words <= theirs.words or len(theirs.words - ours.words) > MOST_MORE_WORDS:
            continue
        if mood(sentence.text) is Mood.ASSERTION:
            found = Superseded(event.uid, sentence.text, theirs.value)
    return found
