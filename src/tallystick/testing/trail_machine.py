"""One random history, driven through several stores at once and held against ``pure_fold`` at every point of the past."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, precondition, rule

from tallystick.beliefs import ALWAYS, Link, effects
from tallystick.errors import UndoRefused, UsageError
from tallystick.log.canonical import entry_bytes, part_digest
from tallystick.log.merkle import leaf_hash
from tallystick.model.claim import About, ClaimKind, Standing
from tallystick.model.entry import FORMAT, Entry, EntryKind, LogName
from tallystick.model.temporal import DAY, SECOND, UNKNOWN_VALID_TIME, ValidTime
from tallystick.store.memory import MemoryStore
from tallystick.store.packing import packed
from tallystick.store.protocol import Belief, EntryRow, Reading, Selection, Store
from tallystick.store.words import words
from tallystick.testing import pure_fold, strategies
from tallystick.testing.pure_fold import Held, Step
from tallystick.testing.retold import as_held, steps_of
from tallystick.testing.trails import SetClock, trail_over
from tallystick.trail import Trail
from tallystick.trail.appending import EARLIEST_CLOCK
from tallystick.trail.verifying import verify_log
from tallystick.workflows.amend import Amended, merge, retract, revise, undo
from tallystick.workflows.attributes import register
from tallystick.workflows.diff import diff
from tallystick.workflows.forget import Selector, forget
from tallystick.workflows.identities import join
from tallystick.workflows.reconciling import FORGOTTEN
from tallystick.workflows.remember import Said, Tools, remember
from tallystick.workflows.scoping import Scope, holders
from tallystick.workflows.valid_times import valid_part

T = TypeVar("T")
FAR = 15 * 365 * DAY
"""How far a wrong clock jumps."""
_UNDOABLE = ("assert", "retract", "correct", "change", "merge", "undo", "judge", "join")


def trail_machine(make: Callable[[Path], Store]) -> type[RuleBasedStateMachine]:
    """A state machine over the reference store and the store that ``make(folder)`` gives; its ``TestCase`` is the test."""
    return type("TrailStory", (TrailMachine,), {"make": staticmethod(make)})


class TrailMachine(RuleBasedStateMachine):
    """The rules are the things that can happen to a trail; ``self.steps`` is what the oracle is told of them."""

    make: Callable[[Path], Store]
    claims: Bundle[int] = Bundle("claims")

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="trail-story-"))
        self.clock = SetClock()
        stores = (MemoryStore(), type(self).make(self.folder / "trail"))
        self.trails = [trail_over(store, clock=self.clock) for store in stores]
        self.steps: list[Step] = []
        self.told: dict[int, list[Held]] = {}
        self.holder_ids: dict[str, str] = {}
        self.about: set[int] = set()
        self.registered = -1

    def teardown(self) -> None:
        """Every past point and instant asked again, and both trails verified."""
        try:
            self.every_point_reads_as_it_did()
            self.what_stands_is_what_is_believed()
            self.what_changed_is_told()
            self.instants_resolve_alike()
            self.both_are_sound()
        finally:
            for trail in self.trails:
                trail.store.close()
            shutil.rmtree(self.folder)

    @initialize()
    def introduce(self) -> None:
        """The first write: an actor and three holders."""
        for trail in self.trails:
            with trail.writing() as appender:
                self.holder_ids = {name: appender.holder(name, "project") for name in strategies.HOLDERS}
                size, at = appender.size, appender.at
        self.steps = [Step(seq, at, "introduce") for seq in range(size)]

    @rule(target=claims, text=strategies.texts, kind=strategies.claim_kinds, holder=strategies.holders,
          valid=strategies.valid_times(), said=st.integers(-1, 9))  # fmt: skip
    def assert_claim(self, text: str, kind: str, holder: str, valid: ValidTime, said: int) -> int:
        """Somebody says something."""
        return self._assert(text, kind, holder, valid, said, -1)

    @rule(target=claims, claim=claims, said=st.integers(-1, 9))
    def assert_again(self, claim: int, said: int) -> int:
        """The same claim again: a reconfirmation while it is held, and else a new claim of the same lineage (TIME.8, 12)."""
        opened = self._opened(claim)
        if claim in self._held_now():
            facets = json.dumps({"said_at": said}).encode()
            self._append(EntryKind.RECONFIRMED, {"facets": facets}, _step("again", claim, said_at=said), [claim])
            return claim
        return self._assert(opened.text, opened.kind, opened.holder, ValidTime(), said, claim)

    @rule(target=claims, holder=strategies.holders, count=st.integers(2, 6))
    def assert_many(self, holder: str, count: int) -> int:
        """A batch in one transaction, the first of which is retracted in the same batch."""
        made: list[Step] = []
        for trail in self.trails:
            with trail.writing() as appender:
                made = [Step(seq, appender.at, "repair") for seq in range(len(self.steps), appender.size)]
                for n in range(count):
                    parts = _opening(f"batch {n}", "fact", -1)
                    seq = appender.add(EntryKind.ASSERTED, parts, holder=self.holder_ids[holder])
                    made.append(Step(seq, appender.at, "assert", -1, holder, "fact", f"batch {n}"))
                first = made[-count].seq
                seq = appender.add(EntryKind.RETRACTED, refs=[first])
                made.append(Step(seq, appender.at, "retract", first))
        self.steps.extend(made)
        return made[-2].seq

    @rule(claim=claims, other=claims, verdict=strategies.verdicts)
    def judge(self, claim: int, other: int, verdict: tuple[str, str, str]) -> None:
        """A verifier speaks of one claim or two; of one axis the newest verdict counts (TIME.13)."""
        verifier, value, reason = verdict
        body = json.dumps({"verdicts": [{"verifier": verifier, "value": value, "reason": reason}]}).encode()
        axis = "outcome" if verifier.startswith("outcome") else "derivation"
        judged = sorted({claim, other})
        step = _step("judge", judged[0])._replace(verdicts=((axis, value, reason),), others=tuple(judged[1:]))
        self._append(EntryKind.JUDGED, {f"verdict/{each}": body for each in judged}, step, judged)

    @rule(claim=claims)
    def retract(self, claim: int) -> None:
        """Once it takes effect; twice says so and adds nothing (TIME.8)."""
        held = claim in self._held_now()
        done = [retract(trail, claim, "it is over") for trail in self.trails]
        assert done[0] == done[1]
        if held:
            self._note(done[0].seq, _step("retract", claim))
        else:
            assert "nothing was added" in done[0].note
            with self.trails[0].reading() as rows:
                self._repairs(rows.head().size, rows.head().at)

    @rule(target=claims, claim=claims, text=strategies.texts, change=st.booleans(), valid=strategies.valid_times())
    def revise(self, claim: int, text: str, change: bool, valid: ValidTime) -> int:
        """It was never so, or it is different since (TIME.5); refused where the claim is not held."""
        held = claim in self._held_now()
        done = self._tried(lambda trail: revise(trail, claim, text, "so", change=change, valid=valid, count_tokens=len))
        if isinstance(done, str):
            assert self._was_forgotten(_kept(text)) if FORGOTTEN in done else not held and "not held any more" in done
            return claim
        assert held
        if claim in self.about:
            self._retell()
            self.about.add(done.seq)
            return done.seq
        opened = self._opened(claim)
        does = "change" if change else "correct"
        self._note(done.seq, _step(does, claim, opened.holder, opened.kind, _kept(text), valid))
        return done.seq

    @precondition(lambda self: len(self.steps) > 6)
    @rule(data=st.data())
    def undo(self, data: st.DataObject) -> None:
        """Refused, with names, exactly where later entries touched the same claims (TIME.9)."""
        able = [step for step in self.steps if step.does in _UNDOABLE]
        if not able:
            return
        step = data.draw(st.sampled_from(able[-6:]), label="step")
        if step.does == "join" and step.seq in self._undone():
            return
        empty = step.does not in ("judge", "join") and pure_fold.changes_nothing(self.steps, step.seq)
        in_the_way = pure_fold.refusal(self.steps, step.seq)
        named = "nothing to take back" if empty else rf"\b{min(in_the_way, default=0)}\b"
        refused = UsageError if empty else UndoRefused if in_the_way else None
        done: list[Amended] = []
        for trail in self.trails:
            with pytest.raises(refused, match=named) if refused else nullcontext():
                done.append(undo(trail, step.seq, "mistaken"))
        if not refused:
            assert done[0] == done[1]
            self._note(done[0].seq, _step("undo", step.seq))
            self._retell()  # And what does no longer.

    @rule(claim=claims, into=claims)
    def merge(self, claim: int, into: int) -> None:
        """Corrected into one that is held; refused where one of them is not, or they are one, or of two memories."""
        holds = {claim, into} <= self._held_now() and claim != into
        takes = holds and self._opened(claim).holder == self._opened(into).holder
        done: list[Amended] = []
        for trail in self.trails:
            with nullcontext() if takes else pytest.raises(UsageError):
                done.append(merge(trail, claim, into, "a slip"))
        if takes:
            assert done[0] == done[1]
            self._note(done[0].seq, _step("merge", claim)._replace(others=(into,)))

    @rule(target=claims, value=st.sampled_from(["up", "down", "gone"]), holder=strategies.holders,
          valid=strategies.valid_times())  # fmt: skip
    def say_of_one_thing(self, value: str, holder: str, valid: ValidTime) -> Any:
        """What a host's state is; where that is registered, other states give way, several at once now and then."""
        said = Said(f"mini is {value}", ClaimKind.FACT, "", valid, About("mini", "state", value))
        done = self._tried(lambda trail: remember(trail, said, None, Tools(len, holder, "person:ada")).id)
        if isinstance(done, str):
            assert FORGOTTEN in done
            assert self._was_forgotten(said.text)
            return multiple()
        self._retell()
        self.about.add(done)
        return done

    @rule()
    def one_state_at_a_time(self) -> None:
        """The attribute is registered, or is no longer; what is held stays as it is."""
        done = [
            undo(trail, self.registered, "many after all").seq
            if self.registered >= 0
            else register(trail, "mini", "state", "one at a time").seq
            for trail in self.trails
        ]
        assert done[0] == done[1]
        self.registered = -1 if self.registered >= 0 else done[0]
        self._retell()

    @rule(one=strategies.holders, other=strategies.holders)
    def join(self, one: str, other: str) -> None:
        """Two holders turn out to be one; refused where they are already (SEC.3)."""
        together = other in pure_fold.one_with(self.steps, len(self.steps), {one})
        seqs = []
        for trail in self.trails:
            with pytest.raises(UsageError, match="already") if together else nullcontext():
                seqs.append(join(trail, one, other, "the same").seq)
        if not together:
            self._note(seqs[0], _step("join")._replace(names=(one, other)))
            self._retell()  # What contradicts each other since, where it may have one value at a time.

    @rule(claim=claims)
    def forget(self, claim: int) -> None:
        """Of every past too: it is held no more, and what was believed of it is a tombstone (ERASE.2)."""
        done = [forget(trail, Selector(claim=claim), "¤", persons_key=True) for trail in self.trails]
        assert done[0].seq == done[1].seq
        if done[0].seq < 0:
            with self.trails[0].reading() as rows:
                self._repairs(rows.head().size, rows.head().at)
            return
        self._note(done[0].seq, _step("forget", claim))
        for seq, held in self.told.items():
            self.told[seq] = [pure_fold.forgotten(self.steps, one) if one.claim == claim else one for one in held]

    @rule(newer=claims, older=claims, sort=st.sampled_from(["contradicts", "same_as", "derived_from"]))
    def link(self, newer: int, older: int, sort: str) -> None:
        """A link changes no belief."""
        seq = self._append(EntryKind.LINKED, {sort: b"{}"}, _step("link"), [newer, older])
        for trail in self.trails:
            with trail.reading() as rows:
                assert Link(seq, newer, older, sort) in rows.links(seq, sort)
                assert Link(seq, newer, older, sort) not in rows.links(seq - 1, sort)

    @rule(kind=st.sampled_from(["dreamt", "asserted", "retracted", "undone"]), claim=claims, newer=st.booleans())
    def a_newer_version_writes(self, kind: str, claim: int, newer: bool) -> None:
        """A kind or a format of next year is kept and changes no belief (TRAIL.9)."""
        version = FORMAT + 1 if newer or kind != "dreamt" else FORMAT
        for trail in self.trails:
            with trail.writing() as appender:
                at, size = appender.at, appender.size
                self._repairs(size, at)
                _append_raw(trail, appender.rows, kind, (claim,), at, version)
                appender.size += 1
        self._note(size, _step("nothing"))

    @rule(seconds=st.sampled_from([-40 * 86_400, -5, 0, 1, 3600]))
    def time_passes(self, seconds: int) -> None:
        """The clock moves on, stands still, or is set back (TIME.2)."""
        self.clock.now = max(self.clock.now + seconds * SECOND, EARLIEST_CLOCK)

    @rule(claim=claims)
    def the_clock_was_wrong(self, claim: int) -> None:
        """One reading far ahead, then back: a new epoch begins and nothing is pinned (TIME.2)."""
        self.clock.now += FAR
        self.link(claim, claim, "same_as")
        self.clock.now -= FAR
        before = len(self.steps)
        self.link(claim, claim, "same_as")
        assert [step.does for step in self.steps[before:]] == ["repair", "link"]
        assert self.steps[-1].at == self.clock.now

    @invariant()
    def the_newest_reads_as_the_oracle_says(self) -> None:
        """TIME.1-13: what is believed now, in every store, is what the rules make of the steps."""
        if not self.steps:
            return
        newest = len(self.steps) - 1
        self.told[newest] = expected = pure_fold.believed(self.steps, newest)
        for trail in self.trails:
            with trail.reading() as rows:
                assert rows.head().size == len(self.steps)
                assert rows.head().at == self.steps[-1].at
                assert self._seen(rows, newest) == expected

    def every_point_reads_as_it_did(self) -> None:
        """TIME.3: asked again after everything that came later, every point gives the same answer in every store."""
        tokens = [[word] for step in self.steps for word in words(step.text)[:2]][:12]
        for seq in range(-1, len(self.steps)):
            expected = self.told.get(seq) or pure_fold.believed(self.steps, seq)
            assert expected == pure_fold.believed(self.steps, seq)
            answers: list[Any] = []
            for trail in self.trails:
                with trail.reading() as rows:
                    assert self._seen(rows, seq) == expected
                    answers.append(self._wider(rows, seq, tokens))
            assert answers[0] == answers[1]

    def _wider(self, rows: Reading, seq: int, tokens: list[list[str]]) -> list[Any]:
        """Filtered, paged and free-text answers at a point."""
        holder = self.holder_ids.get(strategies.HOLDERS[0], "")
        some = Selection(seq, (holder,), ("fact", "rule"), valid_at=self.steps[-1].at if self.steps else 0)
        page = Selection(seq, after=6, limit=2)
        whose = self._asked(rows, seq)
        return [
            whose, _as_stated(rows.believed(some)), rows.count(some), _as_stated(rows.believed(page)),
            rows.count(Selection(seq)),
            [rows.newest([token], Selection(seq), 9) for token in tokens], rows.newest(tokens[:1], some, 3),
            rows.newest(tokens[:2], page, 5),
        ]  # fmt: skip

    def _asked(self, rows: Reading, seq: int) -> list[Held]:
        """What one holder, and whoever was one with it at the point, held then."""
        name = strategies.HOLDERS[0]
        if name not in self.holder_ids:
            return []
        asked = holders(rows, Scope(asked=(name,)), seq)
        found = self._held(rows, Selection(seq, asked))
        assert found == pure_fold.believed(self.steps, seq, {name})
        return found

    def what_stands_is_what_is_believed(self) -> None:
        """TIME.1, 3, 13: without its words a belief is chosen, ordered and dated as with them, at every point of every store."""
        instants = [None, -(2**62), *{step.at for step in self.steps[-3:]}, 0, 2**62]
        holder = self.holder_ids.get(strategies.HOLDERS[0], "")
        for trail, seq in product(self.trails, range(-1, len(self.steps) + 1)):
            with trail.reading() as rows:
                selections = [Selection(seq, valid_at=instant) for instant in instants]
                selections += [Selection(seq, (holder,), ("fact", "rule")), Selection(seq, after=6, limit=2)]
                for selection in selections:
                    believed = rows.believed(selection)
                    assert rows.standings(selection) == [_standing(belief) for belief in believed]
                    claims = [belief.row.claim for belief in believed]
                    assert [rows.text(claim) for claim in claims] == [each.text for each in believed]
                    assert rows.texts([*claims, -1]) == {
                        each.row.claim: each.text for each in believed if each.text is not None
                    }

    def what_changed_is_told(self) -> None:
        """TIME.5: no entry changes what is answered about a holder without a step of ``diff`` about that holder."""
        scope = Scope(asked=strategies.HOLDERS[:1])
        for trail in self.trails:
            with trail.reading() as rows:
                answers = [self._asked(rows, seq) for seq in range(-1, len(self.steps))]
            for seq in range(1, len(self.steps)):
                assert answers[seq + 1] == answers[seq] or diff(trail, scope, str(seq - 1), str(seq)).counts, seq

    def instants_resolve_alike(self) -> None:
        """TIME.2: an instant names the last entry at or before it, in the newest epoch that had begun."""
        instants = {step.at + off for step in self.steps for off in (-1, 0, 1)}
        for trail in self.trails:
            with trail.reading() as rows:
                for instant in sorted(instants):
                    assert rows.seq_at(instant) == pure_fold.seq_at(self.steps, instant)

    def both_are_sound(self) -> None:
        """TRAIL.7, 9: whatever happened, ``verify`` finds nothing wrong, and the stores agree on size, root and count."""
        reports = [verify_log(trail, LogName.MEMORY) for trail in self.trails]
        assert reports[0].bad == reports[1].bad == ()
        assert reports[0] == reports[1]
        assert reports[0].unknown_kinds == sum(step.does == "nothing" for step in self.steps)

    def _assert(self, text: str, kind: str, holder: str, valid: ValidTime, said: int, takes_up: int) -> int:
        parts = _opening(text, kind, said)
        if valid != ValidTime():
            parts["valid"] = valid_part(valid)
        step = _step("assert", takes_up, holder, kind, _kept(text), valid, said)
        return self._append(EntryKind.ASSERTED, parts, step, refs=[takes_up] if takes_up >= 0 else [])

    def _append(self, kind: str, parts: dict[str, bytes], step: Step, refs: list[int]) -> int:
        holder = self.holder_ids.get(step.holder, "")
        seqs = []
        for trail in self.trails:
            with trail.writing() as appender:
                seqs.append(appender.add(kind, parts, refs=refs, holder=holder))
        assert seqs[0] == seqs[1]
        self._note(seqs[0], step)
        return seqs[0]

    def _note(self, seq: int, step: Step) -> None:
        """Tell the oracle, with the entries that the trail put in by itself before it."""
        with self.trails[0].reading() as rows:
            at = next(rows.entries(seq, seq + 1)).at
        self._repairs(seq, at)
        said_at = at if step.does in ("correct", "change") else step.said_at
        self.steps.append(step._replace(seq=seq, at=at, said_at=said_at))

    def _repairs(self, size: int, at: int) -> None:
        self.steps.extend(Step(seq, at, "repair") for seq in range(len(self.steps), size))

    def _opened(self, claim: int) -> Step:
        return next(step for step in self.steps if step.seq == claim)

    def _held_now(self) -> set[int]:
        return {held.claim for held in pure_fold.believed(self.steps, len(self.steps))}

    def _tried(self, act: Callable[[Trail], T]) -> T | str:
        """What came of an act in both trails, or why both refused it."""
        outcomes: list[T | str] = []
        for trail in self.trails:
            try:
                outcomes.append(act(trail))
            except UsageError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]
        return outcomes[0]

    def _was_forgotten(self, text: str) -> bool:
        return any(step.does == "forget" and self._opened(step.about).text == text for step in self.steps)

    def _undone(self) -> set[int]:
        return {step.about for step in self.steps if step.does == "undo"}

    def _retell(self) -> None:
        """Tell the oracle what was appended since, as the entries have it."""
        with self.trails[0].reading() as rows:
            self.steps.extend(step for step in steps_of(rows) if step.seq >= len(self.steps))
            assert len(self.steps) == rows.head().size

    def _seen(self, rows: Reading, seq: int) -> list[Held]:
        return self._held(rows, Selection(seq))

    def _held(self, rows: Reading, selection: Selection) -> list[Held]:
        names = {made: name for name, made in self.holder_ids.items()}
        return [as_held(belief, names) for belief in rows.believed(selection)]


def _as_stated(beliefs: Iterable[Belief]) -> list[Belief]:
    """Without the part of those that hold for all of time, which a store need not read."""
    return [each._replace(stated=None) if each.version.valid == ALWAYS else each for each in beliefs]


def _standing(belief: Belief) -> Standing:
    row = belief.row
    return Standing(row.claim, row.kind, row.origin, belief.said_at, row.tokens, belief.derivation, belief.outcome)


def _step(
    does: str,
    about: int = -1,
    holder: str = "",
    kind: str = "",
    text: str = "",
    valid: ValidTime = UNKNOWN_VALID_TIME,
    said_at: int = -1,
) -> Step:
    periods = tuple((interval.start, interval.end) for interval in valid.intervals)
    return Step(-1, -1, does, about, holder, kind, text, periods, said_at)


def _opening(text: str, kind: str, said: int) -> dict[str, bytes]:
    facets = json.dumps({"kind": kind, "origin": "assistant", "said_at": said}).encode()
    return {"text": text.encode("utf-8", "replace"), "facets": facets}


def _kept(text: str) -> str:
    """``text`` as UTF-8 can hold it."""
    return text.encode("utf-8", "replace").decode()


def _append_raw(trail: Trail, rows: Any, kind: str, refs: tuple[int, ...], at: int, version: int) -> None:
    """An entry as a newer version of tallystick could write it, through the store and past ``Appender``."""
    body, salt = b'{"of":"next year"}', b"n" * 32
    head, frontier = rows.head(), rows.frontier()
    parts = (("text", part_digest(salt, body)),)
    entry = Entry(trail.id, LogName.MEMORY, head.size, at, at, kind, "0" * 32, "", refs, parts, v=version)
    canon = entry_bytes(entry)
    frontier.append(leaf_hash(canon))
    rows.append(
        [EntryRow(entry.seq, at, canon)],
        [(entry.seq, packed([("text", salt, body)]))],
        frontier.completed,
        frontier,
        at,
    )
    rows.apply(effects(entry, {"text": body}, rows), [])
