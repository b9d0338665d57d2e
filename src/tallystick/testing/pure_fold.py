"""The oracle: a list of steps in, what is believed out, written from the rules and sharing no code with the product.

It keeps no rows and no versions. Every step makes a new world, worlds are kept, and an undo looks at two of them; a set of
valid time is decided segment by segment. Slow, and short enough to be read against the rules (TIME.1-13, TRAIL.9).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
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
    """``assert`` | ``again`` | ``judge`` | ``retract`` | ``correct`` | ``change`` | ``merge`` | ``undo`` | ``join`` |
    ``forget`` | ``repair``; else nothing."""
    about: int = -1
    """The claim or, of an undo, the entry that it is about; of an assertion the claim it takes up, if any; of a merge the
    claim that gives way."""
    holder: str = ""
    kind: str = ""
    text: str = ""
    valid: Periods = ALWAYS
    said_at: int = -1
    verdicts: tuple[tuple[str, str, str], ...] = ()
    """(axis, value, reason) of a judgement."""
    others: tuple[int, ...] = ()
    """Further claims: old ones of a revision, the one that a merge leaves, those that are forgotten or judged too."""
    names: tuple[str, ...] = ()
    """The two holders that are one from here on."""


class Held(NamedTuple):
    """A belief, with everything that a reader is shown of it."""

    claim: int
    holder: str
    kind: str
    text: str | None
    """None where it was forgotten, at whatever point it is asked for."""
    valid: Periods
    derivation: str
    outcome: str
    reason: str
    said_at: int
    lineage: int


def believed(steps: Sequence[Step], as_of: int, holders: Collection[str] | None = None) -> list[Held]:
    """What is believed once steps 0 … ``as_of`` have happened, in order of claim; without what any step forgot.

    ``steps`` is all that ever happened, since what is forgotten is gone from earlier answers too. With ``holders`` only what
    they hold, and whoever was one with one of them at the point.
    """
    done = [step for step in steps if step.seq <= as_of]
    opened = {step.seq: step for step in done if step.does in ("assert", "correct", "change")}
    gone = _forgotten_claims(steps)
    wanted = None if holders is None else one_with(steps, as_of, holders)
    found = [_held(done, opened, claim, valid) for claim, valid in sorted(_worlds(done)[-1].items())]
    found = [forgotten(steps, held) if held.claim in gone else held for held in found]
    return [each for each in found if wanted is None or each.holder in wanted]


def forgotten(steps: Sequence[Step], held: Held) -> Held:
    """What is left of a belief once its claim was forgotten: when it was held, and in whose memory (ERASE.2).

    When it was valid is left where that of another claim rests on it: where it revised one or was revised.
    """
    revised = [step for step in steps if step.does in ("correct", "change")]
    rests = any(held.claim in (step.seq, step.about, *step.others) for step in revised)
    valid = held.valid if rests else ALWAYS
    return Held(held.claim, held.holder, "", None, valid, "inferred", "none", "", -1, held.lineage)


def one_with(steps: Sequence[Step], as_of: int, holders: Collection[str]) -> set[str]:
    """The holders, and all that had been joined with one of them by a point and not been parted again."""
    done = [step for step in steps if step.seq <= as_of]
    taken_back = {step.about for step in done if step.does == "undo"}
    pairs = [set(step.names) for step in done if step.does == "join" and step.seq not in taken_back]
    found = set(holders)
    for _ in pairs:  # Each round that finds anything uses up a pair.
        found = found.union(*(pair for pair in pairs if pair & found))
    return found


def _forgotten_claims(steps: Sequence[Step]) -> set[int]:
    return {claim for step in steps if step.does == "forget" for claim in (step.about, *step.others)}


def refusal(steps: Sequence[Step], undone: int) -> set[int]:
    """Seqs of the steps that stand in the way of undoing step ``undone`` (TIME.9); empty when nothing does."""
    judged = [step for step in steps if step.seq == undone and step.does == "judge"]
    if judged:
        return _judged_since(steps, judged)
    worlds = _worlds(steps)
    changed = _changed(worlds, steps, undone)
    return {
        step.seq for place, step in enumerate(steps) if step.seq > undone and _touched(worlds, steps, place) & changed
    }


def changes_nothing(steps: Sequence[Step], undone: int) -> bool:
    """Whether there is nothing to take back of a step that opens or closes claims."""
    return not _changed(_worlds(steps), steps, undone)


def _judged_since(steps: Sequence[Step], judged: Sequence[Step]) -> set[int]:
    """Later verdicts on the same axis of the same claims, and what took such verdicts back."""
    gone = _forgotten_claims(steps)
    mine = _axes(judged, gone)
    later = set()
    for step in steps:
        said = [step, *(each for each in steps if step.does == "undo" and each.seq == step.about)]
        if step.seq > judged[0].seq and _axes(said, gone) & mine:
            later.add(step.seq)
    return later


def _axes(steps: Sequence[Step], gone: Collection[int]) -> set[tuple[int, str]]:
    """(claim, axis) of everything that was judged, but for what was forgotten since."""
    judged = {(claim, axis) for step in steps for claim in (step.about, *step.others) for axis, _, _ in step.verdicts}
    return {each for each in judged if each[0] not in gone}


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
    elif step.does in ("retract", "forget"):
        for claim in (step.about, *step.others):
            world.pop(claim, None)
    elif step.does in ("correct", "change"):
        olds = {claim: world.pop(claim, ()) for claim in (step.about, *step.others)}
        new, left = _corrected(olds, step) if step.does == "correct" else _moved(olds, step)
        world |= {claim: valid for claim, valid in ((step.seq, new), *left.items()) if valid}
    elif step.does == "merge":
        if step.others[0] in world and step.others[0] != step.about:
            world.pop(step.about, None)
    elif step.does == "undo":
        for claim in _changed(worlds[: place + 1], steps, step.about):
            before = worlds[_place(steps, step.about)].get(claim)
            world.pop(claim, None)
            if before is not None:
                world[claim] = before
    return world


def _corrected(olds: World, step: Step) -> tuple[Periods, World]:
    """They were never so: where the new is valid, the old are not (TIME.5, 7)."""
    left = {old: _only(had, lambda moment: not _covers(step.valid, moment), step.valid) for old, had in olds.items()}
    return joined(step.valid), left


def _moved(olds: World, step: Step) -> tuple[Periods, World]:
    """It is different since: the old end where the new begins, and those that begin later end it (TIME.5, 6)."""
    stated = step.valid[0][0]
    begin = step.at if stated == ALWAYS[0][0] else stated
    new = _only(step.valid, lambda moment: moment >= begin, ((begin, begin + 1),)) or joined(step.valid)
    since = max(begin, new[0][0])
    edge = ((since, since + 1),)
    later = {old for old, had in olds.items() if had and since < had[0][0]}
    for old in later:
        begins = olds[old][0][0]
        new = _only(new, lambda moment, begins=begins: moment < begins, olds[old])  # type: ignore[misc]
    left = {old: had if old in later else _only(had, lambda moment: moment < since, edge) for old, had in olds.items()}
    return new, left


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
        judgements = [each for each in steps if each.seq == step.about and each.does == "judge"]
        judged = {claim for each in judgements for claim in (each.about, *each.others)}
        return judged | _changed(worlds, steps, step.about) | _changed(worlds, steps, step.seq)
    if step.does == "merge" and step.others[0] not in worlds[place]:
        return set()
    does_touch = step.does in ("assert", "again", "retract", "correct", "change", "merge", "forget")
    return {step.about, *step.others} if does_touch else set()


def _held(done: Sequence[Step], opened: Mapping[int, Step], claim: int, valid: Periods) -> Held:
    said = opened[claim]
    taken_back = {step.about for step in done if step.does == "undo"}
    judged = [step for step in done if claim in (step.about, *step.others) and step.seq not in taken_back]
    newest = {axis: (value, why) for step in judged for axis, value, why in step.verdicts}
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
