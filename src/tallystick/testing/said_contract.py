"""What any store's index of the archive must hold to, as a test class that the store contract inherits (TRAIL.7, ERASE.2)."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from tallystick.model.entry import LogName
from tallystick.model.evidence import Event, EventKind, Locator, Origin, Status
from tallystick.store.protocol import Reading
from tallystick.store.said import (
    EARLIEST,
    NEAR,
    Place,
    Said,
    Sought,
    holds,
    is_within,
    may_stand_at,
    session_word,
    tool_word,
)
from tallystick.store.said_words import archived, said_of
from tallystick.trail import Trail
from tallystick.trail.verifying import verify_log

_WORDS = ("alpha", "beta", "gamma", "delta", "deadbeef1", "deadbeef2", "w" * 5000, "東京", "déjà", "the")
_BEGIN = 1_772_442_000_000_000
_SECOND = 1_000_000


def _event(chance: random.Random, at: int | None) -> Event:
    text = " ".join(chance.choices(_WORDS, k=chance.randrange(5)))
    tool = chance.choice(("", "Bash", "a b\x00ü"))
    status = chance.choice((Status.NONE, Status.OK, Status.FAILED))
    return Event(
        "u", EventKind.MESSAGE, chance.choice(list(Origin)), text, Locator(1, 0, 0, 0, 1), at, tool=tool, status=status
    )


def _sessions(chance: random.Random) -> Iterator[list[Said]]:
    """Sessions whose events come in any order, many in one second, some without a time, some long ago or far ahead."""
    for session in range(2, 9):
        times = [
            None,
            0,
            5 * _SECOND,
            EARLIEST * _SECOND - 1,
            _BEGIN,
            _BEGIN + 1,
            _BEGIN + chance.randrange(10**13),
            2**52,
        ]
        many = chance.choice((times, times[4:6], times[:1]))
        yield [said_of(session, n, f"{session % 3:032x}", _event(chance, chance.choice(many))) for n in range(40)]


def _questions(chance: random.Random) -> Iterator[Sought]:
    forms = [
        *sorted(said_of(1, 0, "", _event(chance, None)).words),
        "beta",
        "deadbeef*",
        "missing",
        tool_word("BASH"),
        "the",
    ]
    for _ in range(40):
        wanted = tuple(tuple(chance.sample(forms, chance.randint(1, 2))) for _ in range(chance.randint(1, 3)))
        sessions = chance.choice(
            (None, None, frozenset({3}), frozenset({2, 5, 99}), frozenset(range(80)), frozenset[int]())
        )
        since, until = (chance.choice((None, None, 0, _BEGIN, _BEGIN + 10**12)) for _ in range(2))
        yield Sought(wanted, sessions, since, until)


class SaidContract:
    """Inherited by ``StoreContract``."""

    def _holds_to(self, rows: Reading, there: dict[tuple[int, int], Said], chance: random.Random) -> None:
        places = sorted(rows.said_places(), reverse=True)
        assert {(place.session, place.n): place.at for place in places} == {key: said.at for key, said in there.items()}
        assert len({place.place for place in places}) == len(places) == len(there)
        assert all(may_stand_at(place.place, place.at) for place in places)
        due = sorted((word, *said[:2]) for said in there.values() for word in said.words)
        assert sorted(rows.said_words()) == due
        for sought in _questions(chance):
            wanted = [
                place
                for place in places
                if holds(there[place.session, place.n].words, sought.words) and is_within(place, sought)
            ]
            assert list(rows.said(sought)) == wanted, sought
        for session in range(10):
            mine = [said for said in there.values() if said.session == session and said.n < 30]
            times = [said.at for said in mine if said.at >= 0]
            assert rows.said_span(session, 30) == (len(mine), min(times, default=-1), max(times, default=-1))

    @pytest.mark.parametrize("seed", range(4))
    def test_what_was_said_is_found_as_it_is_defined(self, trail: Trail, seed: int) -> None:
        """TRAIL.7, ERASE.2: whatever was added, in whatever order, and taken out again: the answers are those of the definition,
        newest first, and nothing else is left."""
        chance = random.Random(seed)
        there: dict[tuple[int, int], Said] = {}
        for session in _sessions(chance):
            with trail.store.writing(LogName.MEMORY, lambda _: None) as rows:
                rows.say(session[:25])
                rows.say(session[25:])
            there.update({each[:2]: each for each in session})
        with trail.reading() as rows_:
            self._holds_to(rows_, there, chance)
        gone = chance.sample(sorted(there), 120)
        with trail.store.writing(LogName.MEMORY, lambda _: None) as rows:
            rows.unsay([there.pop(key) for key in gone])
            self._holds_to(rows, there, chance)
        trail.store.scrub(LogName.MEMORY)
        with trail.reading() as rows_:
            self._holds_to(rows_, there, chance)

    def test_a_crowded_second_costs_little(self, trail: Trail) -> None:
        """EVID.10: more events in one second than there are places near it: the rest comes below, and none is lost."""
        crowd = [Said(2, n, _BEGIN, frozenset({session_word(2)})) for n in range(NEAR + 500)]
        with trail.store.writing(LogName.MEMORY, lambda _: None) as rows:
            rows.say(crowd[:3000])
        with trail.store.writing(LogName.MEMORY, lambda _: None) as rows:
            rows.say(crowd[3000:])
        with trail.reading() as reading:
            found = list(reading.said(Sought(((session_word(2),),), None, _BEGIN, _BEGIN + 1)))
        assert [place.n for place in found[: NEAR + 1]] == list(range(NEAR, -1, -1))
        assert [place.place for place in found[NEAR + 1 :]] == list(range(499, 0, -1))

    def test_an_index_that_says_something_else_is_found(self, trail: Trail) -> None:
        """TRAIL.7: a word too many or too few, an event that is not found any more, or found where it is not."""
        from tallystick.testing.store_contract import observed

        with trail.writing() as appender:
            observed(appender, trail, "one", ["the port is 5433", "the host is mini"])
        assert verify_log(trail, LogName.MEMORY).bad == ()
        with trail.reading() as rows:
            first, second = archived(rows)
            places: list[Place] = list(rows.said_places())
        assert [place[1:3] for place in places] == [first[:2], second[:2]]
        for change in (
            first._replace(words=first.words | {"more"}),
            first._replace(words=first.words - {"5433"}),
            first._replace(at=first.at + _SECOND),
            first._replace(n=7),
            None,
        ):
            with trail.store.writing(LogName.MEMORY, lambda _: None) as rows:
                rows.unsay([first])
                rows.say([change] if change else [])
            assert any("index of the archive" in bad.what for bad in verify_log(trail, LogName.MEMORY).bad), change
            with trail.store.writing(LogName.MEMORY, lambda _: None) as rows:
                rows.unsay([change] if change else [])
                rows.say([first])
            assert verify_log(trail, LogName.MEMORY).bad == ()
