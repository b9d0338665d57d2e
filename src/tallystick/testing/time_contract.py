"""The cases of the two axes of time, 1 to 25, that every store must answer as the oracle does (TIME.1-13)."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.errors import BadTime, TrailLocked, UndoRefused, UnknownId, UsageError
from tallystick.model.claim import About, ClaimKind, Derivation
from tallystick.model.entry import EntryKind, LogName
from tallystick.model.temporal import END_OF_TIME, MICROSECOND, SECOND, UNKNOWN_VALID_TIME
from tallystick.store.protocol import Selection, Store
from tallystick.testing.retold import assert_as_the_fold_says
from tallystick.testing.told import (
    EVERYONE,
    OTHER,
    PROJECT,
    beside,
    between,
    changed,
    corrected,
    day,
    entry_at,
    held,
    later,
    newest,
    session_of,
    set_to,
    tell,
    told,
    valid_days,
)
from tallystick.testing.trails import FIRST_MOMENT, SetClock, trail_over
from tallystick.trail import Trail
from tallystick.trail.instants import iso, parse_instant, parse_moment, parse_valid
from tallystick.trail.points import point
from tallystick.trail.verifying import verify_log
from tallystick.workflows.amend import Amended, merge, retract, undo
from tallystick.workflows.attributes import register
from tallystick.workflows.diff import diff
from tallystick.workflows.recall import recall
from tallystick.workflows.remember import Said
from tallystick.workflows.replay import Asking, replay
from tallystick.workflows.scoping import Scope
from tallystick.workflows.valid_times import stated
from tallystick.workflows.why import why


class TimeContract(ABC):
    """Inherit, and say how a store is made and how an entry is reached behind its back."""

    refusal: type[Exception] | None = None
    """What ``edit`` raises where the engine guards its entries; None where there is no engine."""

    @abstractmethod
    def make(self, folder: Path) -> Store:
        """A store over ``folder``, which may hold what an earlier one left there."""

    @abstractmethod
    def tamper(self, store: Store, seq: int) -> None:
        """Change an entry of the memory log behind the store's back, past every guard."""

    def edit(self, store: Store, seq: int) -> None:
        """Try to change an entry of the memory log with the guards in their place."""
        raise NotImplementedError

    def another(self, store: Store, folder: Path) -> Store:
        """A second store over the same folder, for another thread."""
        return self.make(folder)

    @pytest.fixture
    def trail(self, tmp_path: Path) -> Iterator[Trail]:
        """A trail over a fresh store, which must believe at every point what the oracle makes of its entries."""
        made = trail_over(self.make(tmp_path / "trail"), clock=SetClock())
        yield made
        if verify_log(made, LogName.MEMORY).sound:
            with made.reading() as rows:
                assert_as_the_fold_says(rows)
        made.store.close()

    def test_case_01_half_open_on_the_axis_of_transactions(self, trail: Trail) -> None:
        """TIME.1, case 1: as of the opening a claim is in, as of the closing it is out; never both, never none."""
        paris = tell(trail, "the city is Paris")
        later(trail)
        rome = corrected(trail, paris, "the city is Rome").seq
        assert [held(trail, n) for n in (paris - 1, paris, rome - 1, rome)] == [
            [],
            ["the city is Paris"],
            ["the city is Paris"],
            ["the city is Rome"],
        ]
        closing = entry_at(trail, rome).at
        assert held(trail, iso(closing - MICROSECOND)) == ["the city is Paris"]
        assert held(trail, iso(closing)) == ["the city is Rome"]

    def test_case_02_half_open_on_the_axis_of_the_world(self, trail: Trail) -> None:
        """TIME.1, case 2: where one interval ends the next begins; no instant has both and none has neither."""
        tell(trail, "X", valid=parse_valid("2026-01-01", "2026-02-01"))
        tell(trail, "Y", valid=parse_valid("2026-02-01", None))
        edge, _ = parse_instant("2026-02-01T00:00:00Z")
        assert [held(trail, valid_at=at) for at in (edge - MICROSECOND, edge)] == [["X"], ["Y"]]

    def test_case_03_revised_at_the_same_instant(self, trail: Trail) -> None:
        """TIME.1, case 3: with one reading of the clock, and in one transaction, the new stands; no interval has no length."""
        register(trail, "x", "value", "one at a time")
        first = tell(trail, "x is 1", about=About("x", "value", "1"))
        second = tell(trail, "x is 2", about=About("x", "value", "2"))
        third = corrected(trail, second, "x is 3", value="3").seq
        assert entry_at(trail, first).at == entry_at(trail, third).at
        assert held(trail) == ["x is 3"]
        with trail.writing() as appender:
            mine = appender.holder(PROJECT, "project")
            made = appender.add(EntryKind.ASSERTED, {"text": b"in one go"}, holder=mine)
            appender.add(EntryKind.REVISED, {"text": b"and revised", "change": b"{}"}, refs=[made], holder=mine)
        assert held(trail, valid_at=trail.clock()) == ["x is 3", "and revised"]
        with trail.reading() as rows:
            versions = [version for claim in (first, second, made) for version in rows.versions(claim)]
        assert all(version.tx_from < version.tx_to and version.valid for version in versions)
        assert all(each.start < each.end for version in versions for each in version.valid)
        chain = why(trail, third, None).chain
        assert [line.claim for line in chain] == [first, second, third]

    def test_case_04_the_clock_goes_back(self, trail: Trail) -> None:
        """TIME.2, case 4: a clock that jumped back does not take time back, and what it read is kept."""
        first = tell(trail, "before")
        later(trail, -5 * SECOND)
        second = tell(trail, "after")
        one, two = entry_at(trail, first), entry_at(trail, second)
        assert (two.at, two.clock) == (one.at, one.clock - 5 * SECOND)
        assert held(trail, second) == ["before", "after"]

    def test_case_05_the_past_repeats(self, trail: Trail) -> None:
        """TIME.3, case 5: an answer that was given while somebody wrote is the same once they have written."""
        tell(trail, "before")
        before = entry_at(trail, newest(trail)).at
        later(trail)
        with trail.writing() as appender:
            appender.add(EntryKind.ASSERTED, {"text": b"late"}, holder=appender.holder(PROJECT, "project"))
            appender.flush()
            first = replay(trail, EVERYONE, as_of=None)
            by_instant = replay(trail, EVERYONE, as_of=iso(before))
        assert held(trail) == ["before", "late"]
        assert replay(trail, EVERYONE, as_of=str(first.point.seq)) == first == by_instant
        assert replay(trail, EVERYONE, as_of=iso(before)) == first

    def test_case_05_an_instant_within_an_open_write(self, trail: Trail, tmp_path: Path) -> None:
        """TIME.3, case 5: by an instant since which somebody may be writing there is no answer that could change: it is refused
        until they are done, whoever asks, and a seq is answered all the same."""
        tell(trail, "before")
        seq, before = newest(trail), entry_at(trail, newest(trail)).at
        store = self.another(trail.store, tmp_path / "trail")
        reader = beside(trail, store, trail.clock)  # type: ignore[arg-type]
        later(trail)
        with trail.writing() as appender:
            said = appender.add(EntryKind.ASSERTED, {"text": b"late"}, holder=appender.holder(PROJECT, "project"))
            appender.flush()
            begun = trail.clock()
            later(trail)
            assert held(reader, iso(before)) == held(trail, iso(before)) == ["before"]
            for instant in (before + MICROSECOND, begun - MICROSECOND, begun, begun + MICROSECOND, trail.clock()):
                for each in (trail, reader):
                    with pytest.raises(TrailLocked, match=f"with --as-of {seq}, or again when it is done"):
                        held(each, iso(instant))
            assert held(reader, seq) == held(reader) == ["before"]
        assert held(reader, iso(before)) == held(reader, iso(begun - MICROSECOND)) == ["before"]
        assert held(reader, iso(begun)) == held(reader, said) == ["before", "late"]
        if store is not trail.store:
            store.close()

    def test_case_05_a_write_that_ends_while_it_is_asked(self, trail: Trail, tmp_path: Path) -> None:
        """TIME.3, case 5: what was committed since a reading began may count by an instant; that reading does not answer it."""
        tell(trail, "before")
        store = self.another(trail.store, tmp_path / "trail")
        reader = beside(trail, store, trail.clock)  # type: ignore[arg-type]
        with reader.reading() as rows:
            assert rows.head().size == newest(trail) + 1
            later(trail)
            tell(trail, "late")
            later(trail)
            with pytest.raises(TrailLocked, match="later than what is settled"):
                point(reader, rows, iso(trail.clock()))
            assert point(reader, rows, None).seq == newest(trail) - 2
        assert held(reader, iso(trail.clock())) == ["before", "late"]
        if store is not trail.store:
            store.close()

    def test_case_06_retracted_from_an_older_transaction(self, trail: Trail) -> None:
        """TIME.8, case 6: what another session made since, under a clock ahead of mine, I can retract."""
        with trail.reading() as rows:
            assert rows.head().size == 0
        other = beside(trail, trail.store, SetClock(FIRST_MOMENT + 3600 * SECOND))
        claim = tell(other, "made by somebody else since")
        done = retract(trail, claim, "it is not so")
        assert done.closes == (claim,)
        assert held(trail) == []
        assert entry_at(trail, done.seq).at >= entry_at(trail, claim).at

    def test_case_07_told_out_of_order(self, trail: Trail) -> None:
        """TIME.6, case 7: what is told later of an earlier time adds to it and touches nothing."""
        register(trail, "*", "city", "one at a time")
        rome = tell(trail, "lives in Rome", valid=between(5), about=About("me", "city", "Rome"))
        assert held(trail, valid_at=day(3)) == []
        told_of_rome = newest(trail)
        later(trail)
        paris = tell(trail, "lived in Paris", valid=between(1, 5), about=About("me", "city", "Paris"))
        assert held(trail, told_of_rome, day(3)) == []
        assert held(trail, paris, day(3)) == ["lived in Paris"]
        assert held(trail, paris, day(6)) == ["lives in Rome"]
        with trail.reading() as rows:
            assert [version.tx_from for version in rows.versions(rome)] == [rome]

    def test_case_08_older_news_that_comes_late(self, trail: Trail) -> None:
        """TIME.6, case 8: what was earlier gets the time until what is there begins, and never takes its place."""
        register(trail, "*", "city", "one at a time")
        rome = tell(trail, "moved to Rome", valid=between(5), about=About("me", "city", "Rome"))
        later(trail)
        oslo = tell(trail, "moved to Oslo", valid=between(3), about=About("me", "city", "Oslo"))
        assert (valid_days(trail, oslo), valid_days(trail, rome)) == ([(3, 5)], [(5, None)])
        kyiv = changed(trail, rome, "moved to Kyiv", between(1)).id
        assert (valid_days(trail, kyiv), valid_days(trail, oslo)) == ([(1, 3)], [(3, 5)])
        assert valid_days(trail, rome) == [(5, None)]
        unregistered = tell(trail, "she moved to Rome", valid=between(5))
        older = changed(trail, unregistered, "she moved to Oslo", between(3)).id
        assert (valid_days(trail, older), valid_days(trail, unregistered)) == ([(3, 5)], [(5, None)])

    def test_case_09_corrected_in_retrospect(self, trail: Trail) -> None:
        """TIME.5, case 9: a correction is listed with its seq, who made it, why, and that the world did not change."""
        born = tell(trail, "born in 1899")
        before = newest(trail)
        done = corrected(trail, born, "born in 1898")
        for moment in (None, day(0), parse_instant("1900-01-01T00:00:00Z")[0]):
            assert held(trail, before, moment) == ["born in 1899"]
            assert held(trail, done.seq, moment) == ["born in 1898"]
        (step,) = diff(trail, EVERYONE, str(before), None).steps
        assert (step.how, step.seq, step.text, step.olds) == ("corrected", done.seq, "born in 1898", (born,))
        assert (step.because, step.actor) == ("it never was", "tester")

    def test_case_10_the_world_changed_or_never_was_so(self, trail: Trail) -> None:
        """TIME.5, case 10: the same two values, and another answer about the time before."""
        moved = tell(trail, "A lives in Paris")
        changed(trail, moved, "A lives in Rome", between(5))
        never = tell(trail, "B lives in Paris")
        corrected(trail, never, "B lives in Rome")
        assert held(trail, valid_at=day(4)) == ["A lives in Paris", "B lives in Rome"]
        assert held(trail, valid_at=day(5)) == ["A lives in Rome", "B lives in Rome"]

    def test_case_11_told_of_the_future(self, trail: Trail) -> None:
        """TIME.5, case 11: what begins later leaves what holds until then; as of before it was told, that had no end."""
        register(trail, "*", "address", "one at a time")
        set_to(trail, "2026-08-12T12:00:00Z")
        tell(trail, "London Rd", about=About("me", "address", "London Rd"))
        set_to(trail, "2026-08-13T12:00:00Z")
        future = parse_valid("2026-09-01", None)
        tell(trail, "Bank St", valid=future, about=About("me", "address", "Bank St"))
        set_to(trail, "2026-12-24T12:00:00Z")
        august, december = (parse_instant(f"2026-{when}T00:00:00Z")[0] for when in ("08-20", "12-01"))
        assert held(trail, "2026-08-20T00:00:00Z", august) == ["London Rd"]
        assert held(trail, "2026-08-20T00:00:00Z", december) == ["Bank St"]
        assert held(trail, "2026-08-12T23:00:00Z", december) == ["London Rd"]

    def test_case_12_part_of_it_overwritten(self, trail: Trail) -> None:
        """TIME.7, case 12: a correction of some days leaves the others, with the claim's id and evidence."""
        session = session_of("X is on call all week.")
        x = tell(trail, "X is on call all week", valid=between(1, 10), quote="X is on call all week", session=session)
        before, evidence = newest(trail), why(trail, x, None).evidence
        y = corrected(trail, x, "Y is on call", between(4, 6)).id
        assert (valid_days(trail, x), valid_days(trail, y)) == ([(1, 4), (6, 10)], [(4, 6)])
        z = corrected(trail, x, "Z is on call", between(8, 9)).id
        undo(trail, z, "Z was ill")
        assert not any(line.forked for line in why(trail, x, None).chain)
        assert why(trail, x, None).evidence == evidence
        assert evidence[0].role == "quote"
        assert held(trail, before, day(5)) == ["X is on call all week"]
        assert [held(trail, valid_at=day(n)) for n in (3, 4, 5, 6)] == [
            ["X is on call all week"],
            ["Y is on call"],
            ["Y is on call"],
            ["X is on call all week"],
        ]

    def test_case_13_retracted_and_said_again(self, trail: Trail) -> None:
        """TIME.8, case 13: held in two stretches, one lineage, and the reason of the retraction is kept."""
        first = tell(trail, "the cache is Redis")
        gone = retract(trail, first, "nobody runs it").seq
        again = tell(trail, "the cache is Redis")
        assert [held(trail, n) for n in (gone - 1, gone, again)] == [["the cache is Redis"], [], ["the cache is Redis"]]
        with trail.reading() as rows:
            rows_of = [rows.claim_row(claim) for claim in (first, again)]
        assert [row and row.lineage for row in rows_of] == [first, first]
        assert any(line.seq == gone and line.what == "nobody runs it" for line in why(trail, first, None).history)

    def test_case_14_retracted_twice_and_unknown(self, trail: Trail) -> None:
        """TIME.8, case 14: a second retraction says that it is one and adds nothing; of what is not there it is refused."""
        claim = tell(trail, "once")
        done = retract(trail, claim, "r")
        size = newest(trail)
        again = retract(trail, claim, "r")
        assert "nothing was added" in again.note
        assert (again.seq, again.closes, newest(trail)) == (done.seq, (), size)
        with pytest.raises(UnknownId, match="c4711"):
            retract(trail, 4711, "r")
        assert newest(trail) == size

    def test_case_15_what_was_retracted_is_not_corrected(self, trail: Trail) -> None:
        """TIME.8, case 15: refused, with the entry that closed it and the reason."""
        claim = tell(trail, "once")
        gone = retract(trail, claim, "nobody said so").seq
        with pytest.raises(UsageError, match=f"retracted at {gone}: nobody said so"):
            corrected(trail, claim, "twice")

    def test_case_16_corrected_into_one_that_is_held(self, trail: Trail) -> None:
        """TIME.5, case 16: one stands, with the evidence of both and an edge that says so; the other is closed."""
        one = session_of("The city is Rome.", name="one")
        two = session_of("The city is Paris, I said.", name="other")
        rome = tell(trail, "The city is Rome", quote="The city is Rome", session=one)
        paris = tell(trail, "The city is Paris", quote="The city is Paris", session=two)
        done = merge(trail, paris, rome, "a slip")
        assert (done.id, done.closes, held(trail)) == (rome, (paris,), ["The city is Rome"])
        found = why(trail, rome, None)
        assert [line.text for line in found.evidence] == ["The city is Rome", "The city is Paris"]
        assert [line.text for line in why(trail, rome, str(done.seq - 1)).evidence] == ["The city is Rome"]
        assert {line.claim: line.followed_by for line in found.chain} == {rome: (), paris: (rome,)}
        (step,) = diff(trail, EVERYONE, str(done.seq - 1), None).steps
        assert (step.how, step.claim, step.olds, step.because) == ("merged", rome, (paris,), "a slip")
        undo(trail, done.seq, "two cities after all")
        assert held(trail) == ["The city is Rome", "The city is Paris"]
        assert [line.text for line in why(trail, rome, None).evidence] == ["The city is Rome"]

    def test_case_17_a_value_of_another_type(self, trail: Trail) -> None:
        """TIME.5, case 17: a thing can turn out to be a number."""
        claim = tell(trail, "the office is in Berlin", about=About("office", "place", "Berlin"))
        done = corrected(trail, claim, "the office is number 42", value="42")
        with trail.reading() as rows:
            row = rows.claim_row(done.id)
        assert row is not None
        assert (row.subject, row.attribute, row.value, row.lineage) == ("office", "place", "42", claim)

    def test_case_18_seen_again(self, trail: Trail) -> None:
        """TIME.12, case 18: a second source adds an observation and evidence and may raise trust; it opens nothing."""
        claim = tell(trail, "The port is 5432")
        before = newest(trail)
        session = session_of("The port is 5432.")
        again = told(
            trail, Said("The port is 5432", ClaimKind.FACT, "The port is 5432", UNKNOWN_VALID_TIME), PROJECT, session
        )
        assert (again.id, again.derivation) == (claim, Derivation.VERBATIM)
        after = newest(trail)
        with trail.reading() as rows:
            (now,) = rows.believed(Selection(after))
            (then,) = rows.believed(Selection(before))
        assert (then.derivation, now.derivation) == ("inferred", "verbatim")
        assert now.version == then.version
        assert why(trail, claim, None).evidence[0].text == "The port is 5432"
        assert [line.kind for line in why(trail, claim, None).history].count("reconfirmed") == 1

    def test_case_19_two_holders(self, trail: Trail) -> None:
        """TIME.12, case 19: the same words in two memories are two claims; each sees its own, and loses its own."""
        mine, theirs = tell(trail, "the port is 5432"), tell(trail, "the port is 5432", holder=OTHER)
        assert mine != theirs
        for name, claim in ((PROJECT, mine), (OTHER, theirs)):
            items = recall(trail, "port", Scope(asked=(name,)), as_of=None).items
            assert [belief.row.claim for belief, _ in items] == [claim]
        retract(trail, theirs, "r")
        assert held(trail, scope=Scope(asked=(OTHER,))) == []
        assert held(trail, scope=Scope(asked=(PROJECT,))) == ["the port is 5432"]

    def test_case_20_chains_cycles_and_forks(self, trail: Trail) -> None:
        """TIME.5, case 20: a chain reads in order from any of it; a cycle is refused, and a fork kept and shown."""
        v1 = tell(trail, "v1")
        v2 = corrected(trail, v1, "v2").id
        v3 = corrected(trail, v2, "v3").id
        for member in (v1, v2, v3):
            chain = why(trail, member, None).chain
            assert [(line.claim, line.held, line.followed_by) for line in chain] == [
                (v1, False, (v2,)),
                (v2, False, (v3,)),
                (v3, True, ()),
            ]
        with pytest.raises(UsageError, match=f"c{v1} is not held any more \\(revised at {v2}"):
            merge(trail, v3, v1, "back")
        with trail.writing() as appender:
            parts = {"text": b"v2 too", "because": b"b"}
            fork = appender.add(EntryKind.REVISED, parts, refs=[v1], holder=entry_at(trail, v1).holder)
        assert held(trail) == ["v3", "v2 too"]
        lines = {line.claim: line for line in why(trail, v3, None).chain}
        assert (lines[v1].followed_by, lines[v1].forked) == ((v2, fork), True)
        assert not any(line.forked for line in lines.values() if line.claim != v1)

    def test_case_21_a_revision_undone(self, trail: Trail) -> None:
        """TIME.9, case 21: undone, the old is held from then on; retracted, nothing is; what was built on is in the way."""
        v1 = tell(trail, "v1")
        v2 = corrected(trail, v1, "v2").id
        back = undo(trail, v2, "mistaken").seq
        assert [held(trail, n) for n in (v2 - 1, v2, back - 1, back)] == [["v1"], ["v2"], ["v2"], ["v1"]]
        with trail.reading() as rows:
            assert [(each.tx_from, each.tx_to) for each in rows.versions(v1)] == [(v1, v2), (back, END_OF_TIME)]
        other = tell(trail, "w1")
        replaced = corrected(trail, other, "w2").id
        retract(trail, replaced, "r")
        assert held(trail) == ["v1"]
        third = corrected(trail, v1, "v3").id
        fourth = corrected(trail, third, "v4").id
        with pytest.raises(UndoRefused, match=rf"{fourth} \(revised c{third}\)"):
            undo(trail, third, "r")

    def test_case_22_two_revise_one_claim_at_once(self, trail: Trail, tmp_path: Path) -> None:
        """TIME.5, TRAIL.6, case 22: exactly one wins, and the other is told which entry stands in the way."""
        for n in range(3):
            claim = tell(trail, f"before {n}")
            outcomes = self._at_once(trail, tmp_path / "trail", claim, n)
            (won,) = [each for each in outcomes if isinstance(each, Amended)]
            (lost,) = [str(each) for each in outcomes if not isinstance(each, Amended)]
            assert f"c{claim} is not held any more (revised at {won.seq}" in lost
        assert len(held(trail)) == 3

    def _at_once(self, trail: Trail, folder: Path, claim: int, n: int) -> list[object]:
        outcomes: list[object] = []
        start = threading.Barrier(2)

        def supersede(beside: Trail, text: str) -> None:
            start.wait()
            try:
                outcomes.append(corrected(beside, claim, text))
            except UsageError as error:
                outcomes.append(error)

        stores = [self.another(trail.store, folder) for _ in range(2)]
        threads = [
            threading.Thread(target=supersede, args=(beside(trail, store, seed=10 * n + k), f"{n} by thread {k}"))
            for k, store in enumerate(stores, 1)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for store in stores:
            if store is not trail.store:
                store.close()
        return outcomes

    def test_case_23_reversed_empty_and_unknown_ranges(self, trail: Trail) -> None:
        """TIME.11, case 23: a start that is not before its end is refused; an unknown start is not "since always"."""
        for start, end in (("2026-02-01", "2026-02-01"), ("2026-02-02", "2026-02-01")):
            with pytest.raises(BadTime, match="the start must come before the end"):
                parse_valid(start, end)
        tell(trail, "nobody says since when", valid=parse_valid(None, "2026-02-01"))
        tell(trail, "nor until when")
        tell(trail, "known", valid=parse_valid("1789", None))
        for then, known in (("1500", []), ("1788-12-31", []), ("1789", ["known"])):
            at = parse_moment(then)
            assert held(trail, valid_at=at) == ["nobody says since when", "nor until when", *known]
            assert held(trail, valid_at=at, strict=True) == known

    def test_case_24_zones_and_clocks_that_are_put_forward(self, trail: Trail) -> None:
        """TIME.10, case 24: times that never were or were twice are flagged, bare dates are days of a zone, naive is refused."""
        missing = parse_valid("2026-03-29 02:30 Europe/Berlin", None)
        twice = parse_valid("2026-10-25 02:30 Europe/Berlin", None)
        assert (missing.flags, twice.flags) == (("nonexistent_local_time",), ("ambiguous_local_time",))
        assert iso(twice.intervals[0].start) == "2026-10-25T00:30:00Z", "the first of the two"
        claims = [tell(trail, "missing", valid=missing), tell(trail, "twice", valid=twice)]
        claims.append(tell(trail, "a day in Berlin", valid=parse_valid("2026-03-29", "2026-03-30", "Europe/Berlin")))
        with trail.reading() as rows:
            how = [stated(rows, claim) for claim in claims]
        assert [each.flags for each in how] == [missing.flags, twice.flags, ()]
        assert (how[2].precision, how[2].zone, how[2].words) == ("day", "Europe/Berlin", "2026-03-29 … 2026-03-30")
        first, last = (parse_instant(f"2026-03-{when}Z")[0] for when in ("28T23:00:00", "29T22:00:00"))
        inside = [held(trail, valid_at=at)[-1:] == ["a day in Berlin"] for at in (first - 1, first, last - 1, last)]
        assert inside == [False, True, True, False]
        with pytest.raises(BadTime, match="no zone"):
            parse_valid("2026-03-29T02:30:00", None)

    def test_case_25_a_year_is_a_year(self, trail: Trail) -> None:
        """TIME.10, case 25: "in 2023" takes in its days and none after, and is marked as exact to the year."""
        claim = tell(trail, "worked at Initech", valid=parse_valid("2023", "2024"))
        inside, after = (parse_instant(f"{when}T00:00:00Z")[0] for when in ("2023-06-01", "2024-01-01"))
        found = replay(trail, EVERYONE, as_of=None, asking=Asking(valid_at=inside))
        assert ([belief.row.claim for belief in found.items], found.precisions) == ([claim], {claim: "year"})
        assert held(trail, valid_at=after) == []
        assert why(trail, claim, None).stated.words == "2023 … 2024"
