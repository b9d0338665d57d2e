"""The index of the archive: what is asked of it, the words of ours that it has beside those of the texts, and its order.

Each event has a place, a whole number, and the newest is the one with the largest: the second in which it happened, or the
first free one after that. So a search for the newest reads the index backwards until it has enough. What has no time, and what
finds no free second near its own, comes below all of them, in the order of archiving.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from hashlib import blake2b
from operator import itemgetter
from typing import NamedTuple

EARLIEST = 2**29
"""Places from here on are seconds since 1970: January 1987 is before any session."""
NEAR = 4096
"""So many seconds after its own an event may stand."""
_LAST = 2**40
_SECOND = 1_000_000
LONGEST, BEGINNING = 64, 32
"""Characters of a word, and of one that is longer than that those that are kept of it."""
_ROLE, _TOOL, _STATUS, _CODE, _SESSION, _HOLDER = "\ue010", "\ue011", "\ue012", "\ue013", "\ue014", "\ue015"
"""Neither letters nor digits: in no word of a text."""


class Said(NamedTuple):
    """What an archived event is found by."""

    session: int
    n: int
    at: int
    """Microseconds UTC; -1 where its record has no time."""
    words: frozenset[str]


class Place(NamedTuple):
    """Where an event of the index stands."""

    place: int
    session: int
    n: int
    at: int


class Sought(NamedTuple):
    """What is looked for: events that hold one word of each set, and are within all bounds."""

    words: tuple[tuple[str, ...], ...]
    """At least one set. A word that ends with ``*`` stands for every word that begins with the rest of it."""
    sessions: frozenset[int] | None = None
    since: int | None = None
    """Microseconds UTC, the first that counts; what has no time is left out."""
    until: int | None = None
    """The first that does not count."""


def role_word(origin: str) -> str:
    """What everything of one origin is found by."""
    return _own(_ROLE, origin)


def tool_word(tool: str) -> str:
    """What calls and results of a tool are found by, whatever case its name is written in."""
    return _own(_TOOL, tool.lower())


def status_word(status: str) -> str:
    """What results that ended so are found by."""
    return _own(_STATUS, status)


def code_word(code: int) -> str:
    """What results with an exit code are found by."""
    return _own(_CODE, str(code))


def session_word(session: int) -> str:
    """What the events of a session are found by."""
    return _own(_SESSION, str(session))


def holder_word(holder: str) -> str:
    """What the events of a holder's sessions are found by; ``holder`` is its id."""
    return _own(_HOLDER, holder)


def _own(mark: str, value: str) -> str:
    return mark + shortened(value.encode("utf-8", "surrogatepass").hex())


def shortened(word: str) -> str:
    """An index has no room for a word of any length: of a longer one its beginning, and a digest of it."""
    if len(word) <= LONGEST:
        return word
    return word[:BEGINNING] + blake2b(word.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def may_stand_at(place: int, at: int) -> bool:
    """Whether an event of a time may have a place: what is not where a search looks for it would not be found."""
    return at < 0 or 0 < place < EARLIEST or 0 <= place - at // _SECOND <= NEAR


def ranges(sought: Sought) -> list[tuple[int, int]]:
    """The places, first and last, that can hold what is looked for: newest first. What is in them is held against the bounds."""
    first = EARLIEST if sought.since is None else max(EARLIEST, sought.since // _SECOND)
    last = _LAST if sought.until is None else min(_LAST, sought.until // _SECOND + NEAR)
    return [(first, last), (0, EARLIEST - 1)]


def is_within(place: Place, sought: Sought) -> bool:
    """Whether a place is within the bounds."""
    return (
        (sought.sessions is None or place.session in sought.sessions)
        and (sought.since is None or place.at >= sought.since)
        and (sought.until is None or 0 <= place.at < sought.until)
    )


class Places:
    """Gives places to events on their way into the index."""

    def __init__(self, is_taken: Callable[[int], bool], last_untimed: Callable[[], int]) -> None:
        """``last_untimed`` is the largest place below ``EARLIEST``, or 0."""
        self._is_taken = is_taken
        self._last_untimed = last_untimed
        self._untimed = -1
        self._after: dict[int, int] = {}
        """Place that is taken → one that may be free, so that none is asked about twice."""

    def given(self, said: Iterable[Said]) -> list[tuple[int, Said]]:
        """(place, event) of a run of events of one session, in order of place."""
        found: list[tuple[int, Said]] = []
        second = -1
        for each in said:
            if each.at >= 0:
                second = each.at // _SECOND
            found.append((self._place(second), each))
        found.sort(key=itemgetter(0))
        return found

    def _place(self, second: int) -> int:
        if EARLIEST <= second < _LAST - NEAR:
            place = self._free(second)
            if place <= second + NEAR:
                self._after[place] = place + 1
                return place
        if self._untimed < 0:
            self._untimed = self._last_untimed()
        self._untimed += 1
        return self._untimed

    def _free(self, place: int) -> int:
        """The first free place from here on, or one that is no longer near."""
        passed: list[int] = []
        last = place + NEAR
        while place <= last:
            if place in self._after:
                passed.append(place)
                place = self._after[place]
            elif self._is_taken(place):
                self._after[place] = place + 1
            else:
                break
        for each in passed:
            self._after[each] = place
        return place


def holds(found_by: Collection[str], wanted: Sequence[Sequence[str]]) -> bool:
    """Whether an event with these words is among what is looked for: the one definition that every store answers by."""
    return all(any(_stands(form, found_by) for form in forms) for forms in wanted)


def _stands(form: str, found_by: Collection[str]) -> bool:
    if form.endswith("*"):
        return any(word.startswith(form[:-1]) for word in found_by)
    return form in found_by
