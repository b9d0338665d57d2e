"""Attributes that have one value at a time: what gives way to what, in whatever order it arrives (TIME.5-7)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.model.claim import About, Candidate, ClaimKind, Verdict
from tallystick.model.entry import EntryKind
from tallystick.model.evidence import Origin
from tallystick.model.temporal import DAY, END_OF_TIME, UNKNOWN_VALID_TIME, Interval, ValidTime
from tallystick.store.memory import MemoryStore
from tallystick.store.protocol import Belief, Selection
from tallystick.testing.trails import FIRST_MOMENT, trail_over
from tallystick.trail import Appender, Trail
from tallystick.workflows.amend import retract, revise, undo
from tallystick.workflows.attributes import register
from tallystick.workflows.certifying import Certified
from tallystick.workflows.identities import join
from tallystick.workflows.reconciling import Holders, Reconciler

DAYS = 20
SUBJECT, ATTRIBUTE = "mini", "state"
ONE, TWO, THREE = (f"project:{name}" for name in ("one", "two", "three"))


def day(n: int) -> int:
    """An instant of the past, ``n`` days after the first that is used here."""
    return FIRST_MOMENT - 100 * DAY + n * DAY


def trail_of_one_value() -> Trail:
    """A trail that knows that a host has one state at a time."""
    trail = trail_over(MemoryStore())
    register(trail, "*", ATTRIBUTE, "a host is in one state")
    return trail


def joined_trail(*, registered: bool = True) -> Trail:
    """One in which three holders are one, by way of the second."""
    trail = trail_of_one_value() if registered else trail_over(MemoryStore())
    with trail.writing() as appender:
        for name in (ONE, TWO, THREE):
            appender.holder(name, "project")
    join(trail, ONE, TWO, "one machine")
    join(trail, TWO, THREE, "one machine")
    return trail


def say(
    trail: Trail,
    value: str,
    said_at: int | None,
    *,
    valid: ValidTime = UNKNOWN_VALID_TIME,
    origin: Origin = Origin.ASSISTANT,
    event: str = "",
    holder: str = ONE,
) -> int:
    """What an extractor would offer of ``value``; the claim that says it."""
    certified = offered(value, said_at, valid=valid, origin=origin, event=event)
    with trail.writing() as appender:
        return reconciler(trail, appender, holder).one(certified, -1, "test")


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


def reconciler(trail: Trail, appender: Appender, holder: str = ONE) -> Reconciler:
    """What appends to a trail with two holders."""
    holders = Holders(appender.holder(holder, "project"), appender.holder("person:ada", "person"))
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


@settings(max_examples=max(40, settings().max_examples // 2))
@given(
    sayings.flatmap(lambda said: st.permutations(sorted(said.items()))),
    st.lists(st.sampled_from([ONE, TWO, THREE]), min_size=7, max_size=7),
)
def test_holders_that_are_one_say_one_thing(said: list[tuple[int, str]], by: list[str]) -> None:
    """TIME.6, SEC.3: it does not matter which of several names of one holder a saying was kept under, nor in what order."""
    trail = joined_trail()
    for (n, value), holder in zip(said, by, strict=False):
        say(trail, value, day(n), holder=holder)
    assert over_time(trail) == as_said(said)


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
@given(st.lists(st.tuples(stated, st.sampled_from([ONE, TWO, THREE])), max_size=8), st.integers(0, 3))
def test_at_most_one_value_at_a_time(said: list[tuple[tuple[str, int, ValidTime], str]], revised: int) -> None:
    """TIME.5-7: whatever is said or revised of a registered attribute, with or without valid times, and under whichever name of
    one holder, one value holds at a time."""
    trail = joined_trail()
    for (value, n, valid), holder in said:
        say(trail, value, None if n < 0 else day(n), valid=valid, holder=holder)
    with trail.reading() as rows:
        held = [belief.row.claim for belief in rows.believed(Selection(2**40))]
    for n, claim in enumerate(held[:revised]):
        with trail.reading() as rows:
            if rows.open_version(claim) is None:
                continue  # The same value under another name gave way with the one before.
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


@settings(max_examples=max(20, settings().max_examples // 4))
@given(st.lists(st.tuples(stated, st.sampled_from([ONE, TWO])), max_size=6))
def test_joined_with_what_they_hold(said: list[tuple[tuple[str, int, ValidTime], str]]) -> None:
    """TIME.5, 9, SEC.3: a join leaves what is held as it is, and names and links exactly the pairs of the two that give one
    attribute two values at one time; parting ends those links and no other."""
    trail = trail_of_one_value()
    with trail.writing() as appender:
        ids = [appender.holder(name, "project") for name in (ONE, TWO)]
    for (value, n, valid), holder in said:
        say(trail, value, None if n < 0 else day(n), valid=valid, holder=holder)
    with trail.writing() as appender:
        kept = [appender.add(EntryKind.ASSERTED, {"text": b"x"}, holder=each) for each in ids]
        appender.add(EntryKind.LINKED, {"contradicts": b"{}"}, refs=kept[:1] * 2)
    before = held_of(trail)
    done = join(trail, ONE, TWO, "one machine")
    assert held_of(trail) == before
    expected = {
        frozenset((one.row.claim, other.row.claim))
        for one in before
        for other in before
        if (one.row.holder, other.row.holder) == tuple(ids) and one.row.value != other.row.value
        and one.row.subject and other.row.subject
        and any(a.start < b.end and b.start < a.end for a in one.version.valid for b in other.version.valid)
    }  # fmt: skip
    assert {frozenset(pair) for pair in done.conflicts} == expected
    assert len(done.conflicts) == len(expected)
    assert contradicting(trail) == {*expected, frozenset(kept[:1])}
    undo(trail, done.seq, "two machines")
    assert contradicting(trail) == {frozenset(kept[:1])}
    assert held_of(trail) == before


def held_of(trail: Trail) -> list[Belief]:
    """Everything that is believed now."""
    with trail.reading() as rows:
        return rows.believed(Selection(rows.head().size - 1))


def contradicting(trail: Trail) -> set[frozenset[int]]:
    """The pairs of claims that are linked as contradicting each other now."""
    with trail.reading() as rows:
        return {frozenset((link.newer, link.older)) for link in rows.links(rows.head().size, "contradicts")}


def test_registered_over_holders_that_are_one() -> None:
    """TIME.5, SEC.3: what is held as it is registered and differs is named across the names of one holder, and not beyond."""
    trail = joined_trail(registered=False)
    one, two = say(trail, "up", None), say(trail, "down", None, holder=THREE)
    say(trail, "gone", None, holder="project:other")
    assert register(trail, SUBJECT, ATTRIBUTE, "r").conflicts == ((one, two),)


def test_parted_again_each_has_its_own() -> None:
    """TIME.5, SEC.3: once parted neither takes the place of what the other holds; what gave way before that stays so."""
    trail = trail_of_one_value()
    first = say(trail, "up", day(1))
    with trail.writing() as appender:
        appender.holder(TWO, "project")
    joined = join(trail, ONE, TWO, "one machine").seq
    said = say(trail, "down", day(2), holder=TWO)
    with trail.reading() as rows:
        assert [version.valid for version in rows.versions(first)][-1] == (Interval(day(1), day(2)),)
    undo(trail, joined, "two machines")
    say(trail, "gone", day(3))
    assert values_at(trail, day(4)) == {"down", "gone"}
    with trail.reading() as rows:
        assert [version.valid for version in rows.versions(said)] == [(Interval(day(2), END_OF_TIME),)]


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
