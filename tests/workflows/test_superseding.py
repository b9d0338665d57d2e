"""Attributes that have one value at a time: what gives way to what, in whatever order it arrives (TIME.5-7)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.model.claim import About, Candidate, ClaimKind, Verdict
from tallystick.model.evidence import Origin
from tallystick.model.temporal import DAY, END_OF_TIME, UNKNOWN_VALID_TIME, Interval, ValidTime
from tallystick.store.memory import MemoryStore
from tallystick.store.protocol import Selection
from tallystick.testing.trails import FIRST_MOMENT, trail_over
from tallystick.trail import Appender, Trail
from tallystick.workflows.amend import retract, revise
from tallystick.workflows.attributes import register
from tallystick.workflows.certifying import Certified
from tallystick.workflows.reconciling import Holders, Reconciler

DAYS = 20
SUBJECT, ATTRIBUTE = "mini", "state"


def day(n: int) -> int:
    """An instant of the past, ``n`` days after the first that is used here."""
    return FIRST_MOMENT - 100 * DAY + n * DAY


def trail_of_one_value() -> Trail:
    """A trail that knows that a host has one state at a time."""
    trail = trail_over(MemoryStore())
    register(trail, "*", ATTRIBUTE, "a host is in one state")
    return trail


def say(
    trail: Trail,
    value: str,
    said_at: int | None,
    *,
    valid: ValidTime = UNKNOWN_VALID_TIME,
    origin: Origin = Origin.ASSISTANT,
    event: str = "",
) -> int:
    """What an extractor would offer of ``value``; the claim that says it."""
    certified = offered(value, said_at, valid=valid, origin=origin, event=event)
    with trail.writing() as appender:
        return reconciler(trail, appender).one(certified, -1, "test")


def offered(
    value: str,
    said_at: int | None,
    *,
    valid: ValidTime = UNKNOWN_VALID_TIME,
    origin: Origin = Origin.ASSISTANT,
    event: str = "",
) -> Certified:
    """A statement of the value as an extractor offers it."""
    about = About(SUBJECT, ATTRIBUTE, value)
    candidate = Candidate(
        ClaimKind.FACT, f"{SUBJECT} is {value}", origin=origin, about=about, valid=valid, said_at=said_at
    )
    return Certified(candidate, event, -1, (Verdict("quotation/1", "inferred", "no quote"),), "")


def reconciler(trail: Trail, appender: Appender) -> Reconciler:
    """What appends to a trail with two holders."""
    holders = Holders(appender.holder("project:one", "project"), appender.holder("person:ada", "person"))
    return Reconciler(appender, holders, lambda data: trail.outside.digest(trail.id, data), len)


def values_at(trail: Trail, instant: int) -> set[str]:
    """What is believed now to be the value at an instant."""
    with trail.reading() as rows:
        return {belief.row.value for belief in rows.believed(Selection(2**40, valid_at=instant))}


def over_time(trail: Trail) -> list[set[str]]:
    """The values in the middle of every day."""
    return [values_at(trail, day(n) + DAY // 2) for n in range(-1, DAYS + 2)]


def as_said(said: Iterable[tuple[int, str]]) -> list[set[str]]:
    """The values by day as the rules have it: what was said last by then."""
    known = dict(said)
    return [{known[max(past)]} if (past := [m for m in known if m <= n]) else set() for n in range(-1, DAYS + 2)]


sayings = st.dictionaries(st.integers(0, DAYS), st.sampled_from("up down gone".split()), min_size=1, max_size=7)


@settings(max_examples=max(40, settings().max_examples // 2))
@given(sayings.flatmap(lambda said: st.permutations(sorted(said.items()))))
def test_the_order_of_arrival_does_not_matter(said: list[tuple[int, str]]) -> None:
    """TIME.6: the value at an instant is the one that was said last by then, in whatever order the sayings arrived."""
    trail = trail_of_one_value()
    for n, value in said:
        say(trail, value, day(n))
    assert over_time(trail) == as_said(said)


@pytest.mark.parametrize("order", [*permutations([(2, "up"), (5, "down"), (9, "up")])])
def test_there_and_back(order: list[tuple[int, str]]) -> None:
    """TIME.6: a value that comes back is believed again, and what lay between is where it was, in any order of arrival."""
    trail = trail_of_one_value()
    for n, value in order:
        say(trail, value, day(n))
    assert over_time(trail) == as_said(order)


periods = st.tuples(st.integers(0, DAYS), st.integers(1, 9), st.booleans()).map(
    lambda drawn: ValidTime(
        (Interval(day(drawn[0]), day(drawn[0] + drawn[1]) if drawn[2] else END_OF_TIME),),
        start_known=True,
        end_known=drawn[2],
        precision="day",
    )
)
stated = st.tuples(
    st.sampled_from("up down gone".split()), st.integers(-1, DAYS), st.one_of(st.just(UNKNOWN_VALID_TIME), periods)
)


@settings(max_examples=max(40, settings().max_examples // 2))
@given(st.lists(stated, max_size=8), st.integers(0, 3))
def test_at_most_one_value_at_a_time(said: list[tuple[str, int, ValidTime]], revised: int) -> None:
    """TIME.5-7: whatever is said or revised of a registered attribute, with or without valid times, one value holds at a time."""
    trail = trail_of_one_value()
    for value, n, valid in said:
        say(trail, value, None if n < 0 else day(n), valid=valid)
    with trail.reading() as rows:
        held = [belief.row.claim for belief in rows.believed(Selection(2**40))]
    for n, claim in enumerate(held[:revised]):
        revise(
            trail,
            claim,
            "mini is lost",
            "r",
            change=bool(n % 2),
            valid=UNKNOWN_VALID_TIME,
            count_tokens=len,
            value="lost",
        )
    assert all(len(values) <= 1 for values in over_time(trail))
    if said:
        assert any(over_time(trail)) or values_at(trail, FIRST_MOMENT)


@settings(max_examples=max(20, settings().max_examples // 4))
@given(st.lists(stated, max_size=6))
def test_without_registration_nothing_gives_way(said: list[tuple[str, int, ValidTime]]) -> None:
    """TIME.5-7: of an attribute that is not registered every value stands with all the time it was said with."""
    trail = trail_over(MemoryStore())
    for value, n, valid in said:
        say(trail, value, None if n < 0 else day(n), valid=valid)
    with trail.reading() as rows:
        versions = [version for (claim, *_) in rows.rows("claim") for version in rows.versions(int(str(claim)))]
    assert {version.valid for version in versions} <= {valid.intervals for _, _, valid in said}
    assert all(version.tx_to == END_OF_TIME and version.tx_from == version.claim for version in versions)
    assert len(versions) >= len({value for value, _, _ in said})


def read(trail: Trail, session: list[Certified]) -> int:
    """Read a session once more; how many entries the log has then."""
    with trail.writing() as appender:
        reconciler(trail, appender).session(0, session, "test")
    with trail.reading() as rows:
        return rows.head().size


def test_a_session_read_again_adds_nothing() -> None:
    """EVID.5, TIME.12: a session whose values came back is read again: nothing is said anew, withdrawn, or taken up again."""
    trail = trail_of_one_value()
    session = [offered(value, day(n), event=f"e{n}") for n, value in ((2, "up"), (5, "down"), (9, "up"))]
    size = read(trail, session)
    before = over_time(trail)
    assert before == as_said([(2, "up"), (5, "down"), (9, "up")])
    assert read(trail, session) == size
    with trail.reading() as rows:
        down = next(belief.row.claim for belief in rows.believed(Selection(size)) if belief.row.value == "down")
    retract(trail, down, "it was up all the time")
    assert read(trail, session) == size + 1
    read(trail, [*session, offered("gone", day(12), event="e12")])
    assert values_at(trail, day(6)) == set()
    assert values_at(trail, day(13)) == {"gone"}


def test_what_was_there_before_the_registration() -> None:
    """TIME.6: a claim without a time, from before the attribute was registered, begins when it was said or else appended."""
    trail = trail_over(MemoryStore())
    old = say(trail, "up", None)
    register(trail, "*", ATTRIBUTE, "a host is in one state")
    say(trail, "down", day(5))
    assert values_at(trail, day(6)) == {"down"}
    assert values_at(trail, FIRST_MOMENT) == {"up"}
    with trail.reading() as rows:
        assert rows.open_version(old)


def test_a_persons_words_stand_beside_ours() -> None:
    """ERASE.4: an assistant takes no place of what a person said; a person does, and of what an assistant said too."""
    trail = trail_of_one_value()
    say(trail, "up", day(1), origin=Origin.USER)
    say(trail, "down", day(2))
    assert values_at(trail, day(3)) == {"up", "down"}
    say(trail, "gone", day(4), origin=Origin.USER)
    assert values_at(trail, day(5)) == {"gone"}
