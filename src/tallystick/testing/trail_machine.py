"""One random history, driven through several stores at once and held against ``pure_fold`` at every point of the past."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, precondition, rule

from tallystick.beliefs import effects
from tallystick.errors import UndoRefused, UsageError
from tallystick.log.canonical import entry_bytes, part_digest
from tallystick.log.merkle import leaf_hash
from tallystick.model.claim import Standing
from tallystick.model.entry import FORMAT, Entry, EntryKind, LogName
from tallystick.model.temporal import DAY, SECOND, UNKNOWN_VALID_TIME, ValidTime
from tallystick.store.memory import MemoryStore
from tallystick.store.protocol import Belief, EntryRow, PartRow, Reading, Selection, Store
from tallystick.store.words import words
from tallystick.testing import pure_fold, strategies
from tallystick.testing.pure_fold import Held, Step, joined
from tallystick.testing.trails import SetClock, trail_over
from tallystick.trail import Trail
from tallystick.trail.verifying import verify_log
from tallystick.workflows.amend import Amended, retract, revise, undo
from tallystick.workflows.reconciling import valid_part

FAR = 15 * 365 * DAY
"""How far a wrong clock jumps."""


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

    def teardown(self) -> None:
        """Every past point and instant asked again, and both trails verified."""
        try:
            self.every_point_reads_as_it_did()
            self.what_stands_is_what_is_believed()
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

    @rule(claim=claims, verdict=strategies.verdicts)
    def judge(self, claim: int, verdict: tuple[str, str, str]) -> None:
        """A verifier speaks; of one axis the newest verdict counts (TIME.13)."""
        verifier, value, reason = verdict
        body = json.dumps({"verdicts": [{"verifier": verifier, "value": value, "reason": reason}]}).encode()
        axis = "outcome" if verifier.startswith("outcome") else "derivation"
        step = _step("judge", claim)._replace(verdicts=((axis, value, reason),))
        self._append(EntryKind.JUDGED, {f"verdict/{claim}": body}, step, [claim])

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
        done: list[Amended] = []
        for trail in self.trails:
            with nullcontext() if held else pytest.raises(UsageError, match="is not held any more"):
                done.append(revise(trail, claim, text, "so", change=change, valid=valid, count_tokens=len))
        if not held:
            return claim
        assert done[0] == done[1]
        opened = self._opened(claim)
        does = "change" if change else "correct"
        self._note(done[0].seq, _step(does, claim, opened.holder, opened.kind, _kept(text), valid))
        return done[0].seq

    @precondition(lambda self: len(self.steps) > 6)
    @rule(data=st.data())
    def undo(self, data: st.DataObject) -> None:
        """Refused, with names, exactly where later entries touched the same claims (TIME.9)."""
        able = [step.seq for step in self.steps if step.does in ("assert", "retract", "correct", "change", "undo")]
        if not able:
            return
        seq = data.draw(st.sampled_from(able[-6:]), label="seq")
        in_the_way = pure_fold.refusal(self.steps, seq)
        done: list[Amended] = []
        for trail in self.trails:
            named = rf"\b{min(in_the_way, default=0)}\b"
            with pytest.raises(UndoRefused, match=named) if in_the_way else nullcontext():
                done.append(undo(trail, seq, "mistaken"))
        if not in_the_way:
            assert done[0] == done[1]
            self._note(done[0].seq, _step("undo", seq))

    @rule(newer=claims, older=claims, sort=st.sampled_from(["contradicts", "same_as", "derived_from"]))
    def link(self, newer: int, older: int, sort: str) -> None:
        """A link changes no belief."""
        seq = self._append(EntryKind.LINKED, {sort: b"{}"}, _step("link"), [newer, older])
        for trail in self.trails:
            with trail.reading() as rows:
                assert (seq, newer, older, sort) in rows.links(seq, sort)
                assert (seq, newer, older, sort) not in rows.links(seq - 1, sort)

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
        self.clock.now += seconds * SECOND

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
        return [
            [*rows.believed(some)], rows.count(some), [*rows.believed(page)], rows.count(Selection(seq)),
            rows.matching(tokens, seq),
        ]  # fmt: skip

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
                    assert [rows.text(belief.row.claim) for belief in believed] == [each.text for each in believed]

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

    def _seen(self, rows: Reading, seq: int) -> list[Held]:
        names = {made: name for name, made in self.holder_ids.items()}
        return [_as_held(belief, names) for belief in rows.believed(Selection(seq))]


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


def _as_held(belief: Belief, names: dict[str, str]) -> Held:
    row = belief.row
    return Held(
        row.claim, names[row.holder], row.kind, belief.text or "", joined(belief.version.valid),
        belief.derivation, belief.outcome, belief.reason, belief.said_at, row.lineage,
    )  # fmt: skip


def _append_raw(trail: Trail, rows: Any, kind: str, refs: tuple[int, ...], at: int, version: int) -> None:
    """An entry as a newer version of tallystick could write it, through the store and past ``Appender``."""
    body, salt = b'{"of":"next year"}', b"n" * 32
    head, frontier = rows.head(), rows.frontier()
    parts = (("text", part_digest(salt, body)),)
    entry = Entry(trail.id, LogName.MEMORY, head.size, at, at, kind, "0" * 32, "", refs, parts, v=version)
    canon = entry_bytes(entry)
    frontier.append(leaf_hash(canon))
    rows.append([EntryRow(entry.seq, at, canon)], [PartRow(entry.seq, "text", salt, body)], frontier, at)
    rows.apply(effects(entry, {"text": body}, rows), [(entry.seq, body.decode())])
