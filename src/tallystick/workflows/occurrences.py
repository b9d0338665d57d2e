"""Where texts stand: in the free words of parts and of archived records, and never in what the format itself says (ERASE.1).

A part is searched by what it means: the words of a claim as they are, the strings of a JSON part without its keys and without
our own vocabulary, so that forgetting the word ``session`` does not take every part that has a field of that name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ahocorasick_rs import BytesAhoCorasick

from tallystick.errors import TrailUnreadable
from tallystick.log.strict_json import json_value
from tallystick.redaction.found import MARK
from tallystick.trail.archive import event_from_record
from tallystick.workflows.typed import fit

_MARKS = re.compile(re.escape(MARK) + r"[^\]]*\]")
_TELLING = 8
"""Characters beside its marks from which a redacted form is looked for."""
_IN_WORDS = frozenset(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")
_FEW = 8
"""So many are looked for one by one, which is faster than all at once."""
WITHOUT_WORDS = frozenset({"places", "pool", "point", "by", "manifest", "change", "withdrawn", "into"})
"""Parts of numbers, digests and our own vocabulary alone."""
_OURS = frozenset({"harness", "sort", "does"})
_ALL = frozenset({"session", "holder", "actor", "attribute", "source", "proposal", "context"})
"""Parts that are JSON, of contexts some, and hold free words under every key."""


class Needles:
    """Texts to look for, byte for byte; and ``words``, that count only where no letter or digit goes on at either end."""

    def __init__(self, texts: Iterable[str], words: Iterable[str] = ()) -> None:
        self.texts = tuple(dict.fromkeys(text for text in texts if text))
        self.words = tuple(dict.fromkeys(word for word in words if word))
        both = (*self.texts, *self.words)
        written = [_utf8(form) for text in both for form in _as_json_has_it(text)]
        self._stand_in = _any_of(map(_utf8, self.texts))
        self._stand_alone_in = _any_alone(map(_utf8, self.words))
        self._may_stand_in = _any_of([*map(_utf8, both), *written])

    def __bool__(self) -> bool:
        """Whether there is anything to look for."""
        return bool(self.texts or self.words)

    def stand_in(self, text: str) -> bool:
        """Whether any stands in a text."""
        data = _utf8(text)
        return self._stand_in(data) or self._stand_alone_in(data)

    def may_stand_in(self, data: bytes) -> bool:
        """Whether bytes are worth a closer look: one stands in them, as it is or as JSON writes it."""
        return self._may_stand_in(data)

    def stand_in_part(self, name: str, body: bytes) -> bool:
        """Whether any stands among the free words of a part."""
        return self._may_stand_in(body) and any(map(self.stand_in, words_of_part(name, body)))

    def stand_in_record(self, record: bytes) -> bool:
        """Whether any stands among the free words of an archived record."""
        return self._may_stand_in(record) and any(map(self.stand_in, words_of_record(record)))


def forms_of(text: str) -> tuple[str, ...]:
    """A text that a caller gave, as it may stand in a trail: as given, and without the secrets that were redacted in it.

    Where little more than marks of redaction would be left it is the first alone: those stand everywhere.
    """
    given = text.encode("utf-8", "replace").decode()
    kept = fit(text)
    return (given, kept) if kept != given and len(_MARKS.sub("", kept).strip()) >= _TELLING else (given,)


def words_of_part(name: str, body: bytes) -> Iterator[str]:
    """The free words of a part, piece by piece."""
    if name in WITHOUT_WORDS:
        return
    kind = name.partition("/")[0]
    chosen = _CHOSEN.get(kind)
    if chosen is None and kind not in _ALL:
        yield body.decode("utf-8", "replace")
        return
    try:
        said = json_value(body)
    except ValueError:
        yield body.decode("utf-8", "replace")
        return
    yield from chosen(said) if chosen is not None and isinstance(said, dict) else _strings(said, _OURS)


def words_of_record(record: bytes) -> Iterator[str]:
    """The free words of an archived record: text, command, paths, and every name that its harness gave it."""
    try:
        event = event_from_record(record)
    except TrailUnreadable:
        yield record.decode("utf-8", "replace")
        return
    yield from (event.text, event.command, *event.paths, event.uid, event.thread, event.tool, event.call_id)


def _verdict_words(said: dict[str, Any]) -> Iterator[str]:
    verdicts = said.get("verdicts", ())
    for each in verdicts if isinstance(verdicts, list) else ():
        if isinstance(each, dict):
            yield str(each.get("reason", ""))
    yield str(said.get("settle", ""))


def _facet_words(said: dict[str, Any]) -> Iterator[str]:
    for name in ("subject", "attribute", "value"):
        yield str(said.get(name, ""))


def _valid_words(said: dict[str, Any]) -> Iterator[str]:
    yield str(said.get("words", ""))


_CHOSEN: dict[str, Callable[[dict[str, Any]], Iterator[str]]] = {
    "verdict": _verdict_words,
    "facets": _facet_words,
    "valid": _valid_words,
}
"""Parts that are JSON of which a few fields alone are free words."""


def _strings(value: object, skipped: frozenset[str] = frozenset()) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)
    elif isinstance(value, dict):
        for key, each in value.items():
            if key not in skipped:
                yield from _strings(each)


def _as_json_has_it(text: str) -> tuple[str, str]:
    return json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]


def _any_of(needles: Iterable[bytes]) -> Callable[[bytes], bool]:
    wanted = list(dict.fromkeys(needles))
    if len(wanted) <= _FEW:
        return lambda data: any(needle in data for needle in wanted)
    automaton = BytesAhoCorasick(wanted)
    return lambda data: bool(automaton.find_matches_as_indexes(data))


def _any_alone(words: Iterable[bytes]) -> Callable[[bytes], bool]:
    wanted = list(dict.fromkeys(words))
    if not wanted:
        return lambda _data: False
    automaton = BytesAhoCorasick(wanted)

    def any_alone(data: bytes) -> bool:
        matches = automaton.find_matches_as_indexes(data, overlapping=True)
        return any(not (_goes_on(data, start) or _goes_on(data, end)) for _, start, end in matches)

    return any_alone


def _goes_on(data: bytes, at: int) -> bool:
    """Whether a word of ASCII goes on from one byte to the next; other scripts need no space between words."""
    return 0 < at < len(data) and data[at - 1] in _IN_WORDS and data[at] in _IN_WORDS


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")
