"""The oracle: a list of steps in, what is believed out, written from the rules and sharing no code with the product.

It keeps no rows and no versions. Every step makes a new world, worlds are kept, and an undo looks at two of them; a set of
valid time is decided segment by segment. Slow, and short enough to be read against the rules (TIME.1-13, TRAIL.9).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

ALWAYS = ((-(2**53 - 1), 2**53 - 1),)
"""Valid time of what was said without one."""

Periods = tuple[tuple[int, int], ...]
_Keep = Callable[[int], bool]
World = Mapping[int, Periods]
"""Held claim -> when it is valid."""


class Step(NamedTuple):
    """One entry as the one who appended it meant it."""

    seq: int
    at: int
    does: str
    """``assert`` | ``again`` | ``judge`` | ``retract`` | ``correct`` | ``change`` | ``undo`` | ``repair``; else nothing."""
    about: int = -1
    """The claim or, of an undo, the entry that it is about; of an assertion the claim it takes up, if any."""
    holder: str = ""
    kind: str = ""
    text: str = ""
    valid: Periods = ALWAYS
    said_at: int = -1
    verdicts: tuple[tuple[str, str, str], ...] = ()
    """(axis, value, reason) of a judgement."""


class Held(NamedTuple):
    """A belief, with everything that a reader is shown of it."""

    claim: int
    holder: str
    kind: str
    text: str
    valid: Periods
    derivation: str
    outcome: str
    reason: str
    said_at: int
    lineage: int


def believed(steps: Sequence[Step], as_of: int) -> list[Held]:
    """What is believed once steps 0 … ``as_of`` have happened, in order of claim."""
    done = [step for step in steps if step.seq <= as_of]
    opened = {step.seq: step for step in done if step.does in ("assert", "correct", "change")}
    return [_held(done, opened, claim, valid) for claim, valid in sorted(_worlds(done)[-1].items())]


def refusal(steps: Sequence[Step], undone: int) -> set[int]:
    """Seqs of the steps that stand in the way of undoing step ``undone`` (TIME.9); empty when nothing does."""
    worlds = _worlds(steps)
    changed = _changed(worlds, steps, undone)
    return {
        step.seq for place, step in enumerate(steps) if step.seq > undone and _touched(worlds, steps, place) & changed
    }


def seq_at(steps: Sequence[Step], instant: int) -> int:
    """Seq of the last step at or before an instant, in the newest epoch that had begun by then; -1 for none (TIME.2)."""
    epochs: list[list[Step]] = [[]]
    for step in steps:
        if step.does == "repair":
            epochs.append([])
        epochs[-1].append(step)
    for epoch in reversed(epochs):
        before = [step.seq for step in epoch if step.at <= instant]
        if before:
            return before[-1]
    return -1


def joined(periods: Sequence[tuple[int, int]]) -> Periods:
    """The same time in as few periods as will do, in order."""
    made: list[tuple[int, int]] = []
    for start, end in sorted(periods):
        if made and start <= made[-1][1]:
            made[-1] = made[-1][0], max(end, made[-1][1])
        else:
            made.append((start, end))
    return tuple(made)


def _worlds(steps: Sequence[Step]) -> list[World]:
    """The world before anything, and after each step."""
    worlds: list[World] = [{}]
    for place, step in enumerate(steps):
        worlds.append(_after(worlds, steps, place, step))
    return worlds


def _after(worlds: list[World], steps: Sequence[Step], place: int, step: Step) -> World:
    world = dict(worlds[place])
    if step.does == "assert":
        world[step.seq] = joined(step.valid)
    elif step.does == "retract":
        world.pop(step.about, None)
    elif step.does in ("correct", "change"):
        old = world.pop(step.about, ())
        new, left = _corrected(old, step) if step.does == "correct" else _moved(old, step)
        world |= {claim: valid for claim, valid in ((step.seq, new), (step.about, left)) if valid}
    elif step.does == "undo":
        for claim in _changed(worlds[: place + 1], steps, step.about):
            before = worlds[_place(steps, step.about)].get(claim)
            world.pop(claim, None)
            if before is not None:
                world[claim] = before
    return world


def _corrected(old: Periods, step: Step) -> tuple[Periods, Periods]:
    """It was never so: where the new is valid, the old is not (TIME.5, 7)."""
    return joined(step.valid), _only(old, lambda moment: not _covers(step.valid, moment), step.valid)


def _moved(old: Periods, step: Step) -> tuple[Periods, Periods]:
    """It is different since: the old ends where the new begins, and never gives way to what is older (TIME.5, 6)."""
    stated = step.valid[0][0]
    since = step.at if stated == ALWAYS[0][0] else stated
    edge = ((since, since + 1),)
    new = _only(step.valid, lambda moment: moment >= since, edge) or joined(step.valid)
    if old and since < old[0][0]:
        begins = old[0][0]
        return _only(new, lambda moment: moment < begins, old), old
    return new, _only(old, lambda moment: moment < since, edge)


def _only(periods: Periods, keep: _Keep, edges: Periods) -> Periods:
    """Those segments of ``periods`` that are kept, when cut at every edge."""
    cuts = sorted({moment for period in (*periods, *edges) for moment in period})
    segments = [pair for pair in pairwise(cuts) if _covers(periods, pair[0]) and keep(pair[0])]
    return joined(segments)


def _covers(periods: Periods, moment: int) -> bool:
    return any(start <= moment < end for start, end in periods)


def _place(steps: Sequence[Step], seq: int) -> int:
    return next(place for place, step in enumerate(steps) if step.seq == seq)


def _changed(worlds: Sequence[World], steps: Sequence[Step], seq: int) -> set[int]:
    """The claims that a step opened, closed or narrowed."""
    place = _place(steps, seq)
    before, after = worlds[place], worlds[place + 1]
    return {claim for claim in before.keys() | after.keys() if before.get(claim) != after.get(claim)}


def _touched(worlds: Sequence[World], steps: Sequence[Step], place: int) -> set[int]:
    step = steps[place]
    if step.does == "undo":
        return _changed(worlds, steps, step.about) | _changed(worlds, steps, step.seq)
    return {step.about} if step.does in ("assert", "again", "retract", "correct", "change") else set()


def _held(done: Sequence[Step], opened: Mapping[int, Step], claim: int, valid: Periods) -> Held:
    said = opened[claim]
    newest = {axis: (value, why) for step in done if step.about == claim for axis, value, why in step.verdicts}
    derivation = newest.get("derivation", ("inferred", ""))
    outcome = newest.get("outcome", ("none", ""))
    reason = "; ".join(why for _, why in (derivation, outcome) if why)
    again = [step.said_at for step in done if step.does == "again" and step.about == claim]
    return Held(
        claim,
        said.holder,
        said.kind,
        said.text,
        valid,
        derivation[0],
        outcome[0],
        reason,
        max(said.said_at, *again, -1),
        _lineage(opened, claim),
    )


def _lineage(opened: Mapping[int, Step], claim: int) -> int:
    """The first claim of the chain of revisions and re-assertions (TIME.8)."""
    older = opened[claim].about
    return _lineage(opened, older) if older in opened else claim
