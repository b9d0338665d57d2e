"""The entries of a log told as steps of ``pure_fold``, as docs/spec/trail.md reads them; shares no code with the fold.

A test drives the product, hands what was appended to the oracle, and compares what the two believe at every point.
"""

from __future__ import annotations

import json
from typing import Any

from tallystick.store.protocol import Belief, Reading, Selection
from tallystick.testing import pure_fold
from tallystick.testing.pure_fold import ALWAYS, Held, Periods, Step, joined

_PLAIN = {"retracted": "retract", "reconfirmed": "again", "clock_repaired": "repair", "undone": "undo"}


def steps_of(rows: Reading) -> list[Step]:
    """Every entry of the memory log as a step, in order; a judgement as one for those of which it says the same."""
    names: dict[str, str] = {}
    introduced: dict[int, str] = {}
    steps: list[Step] = []
    for row in rows.entries():
        entry = json.loads(row.canon)
        parts = {part.name: part.body for part in rows.parts(row.seq)}
        if "holder" in entry["parts"]:
            names[entry["holder"]] = introduced[row.seq] = _read(parts, "holder").get("name", "")
        steps.extend(_steps(entry, parts, names.get(entry.get("holder", ""), ""), introduced))
    return steps


def as_held(belief: Belief, names: dict[str, str]) -> Held:
    """A belief of a store as the oracle gives it; ``names`` are those of holders by id."""
    row = belief.row
    return Held(
        row.claim, names[row.holder], row.kind, belief.text, joined(belief.version.valid),
        belief.derivation, belief.outcome, belief.reason, belief.said_at, row.lineage,
    )  # fmt: skip


def assert_as_the_fold_says(rows: Reading) -> None:
    """At every point of a log, from before its first entry to its last, the store believes what the oracle makes of its steps."""
    steps = steps_of(rows)
    names = {name.id: name.name for name in rows.names("holder")}
    for seq in range(-1, rows.head().size):
        seen = [as_held(belief, names) for belief in rows.believed(Selection(seq))]
        assert seen == pure_fold.believed(steps, seq), f"as of {seq}"


def _steps(entry: dict[str, Any], parts: dict[str, bytes], holder: str, introduced: dict[int, str]) -> list[Step]:
    kind, refs, named = entry["kind"], tuple(entry["refs"]), entry["parts"].keys()
    first = refs[0] if refs else -1
    step = Step(entry["seq"], entry["at"], _PLAIN.get(kind, kind), first, holder)
    if kind == "reconfirmed":
        return [step._replace(said_at=_read(parts, "facets").get("said_at", -1))]
    if kind in ("revised", "undone") and (len(refs) != 2 if "into" in named else not refs):
        return [step._replace(does="nothing")]
    if kind == "asserted" or (kind == "revised" and "into" not in named):
        does = "assert" if kind == "asserted" else "change" if "change" in named else "correct"
        return [_opening(step._replace(does=does, others=refs[1:]), parts)]
    if kind == "revised":
        return [step._replace(does="merge", others=refs[1:])]
    if kind == "judged":
        named = {claim: f"verdict/{claim}" for claim in refs}
        return _judgements(step, {claim: parts[name] for claim, name in named.items() if name in parts})
    if kind == "linked" and "same_as" in named and introduced.keys() >= set(refs):
        return [step._replace(does="join", names=tuple(introduced[each] for each in refs))]
    if kind == "erased":
        places = _read(parts, "places")["parts"]
        erased = [int(seq) for seq, gone in places.items() if "text" in gone and int(seq) in refs]
        return [step._replace(does="forget", about=erased[0], others=tuple(erased[1:]))] if erased else [step]
    return [step]


def _opening(step: Step, parts: dict[str, bytes]) -> Step:
    said = _read(parts, "facets")
    valid: Periods = ALWAYS
    if "valid" in parts:
        valid = tuple((start, end) for start, end in _read(parts, "valid")["intervals"])
    text = parts.get("text", b"").decode()
    return step._replace(kind=said.get("kind", ""), said_at=said.get("said_at", -1), text=text, valid=valid)


def _judgements(step: Step, bodies: dict[int, bytes]) -> list[Step]:
    """One step for the claims of which the same is said."""
    by_body: dict[bytes, list[int]] = {}
    for claim, body in bodies.items():
        by_body.setdefault(body, []).append(claim)
    return [
        _judgement(step._replace(about=first, others=tuple(rest)), json.loads(body))
        for body, (first, *rest) in by_body.items()
    ]


def _judgement(step: Step, said: dict[str, Any]) -> Step:
    axes = [("outcome" if each["verifier"].startswith("outcome/") else "derivation", each) for each in said["verdicts"]]
    return step._replace(does="judge", verdicts=tuple((axis, each["value"], each["reason"]) for axis, each in axes))


def _read(parts: dict[str, bytes], name: str) -> dict[str, Any]:
    """The object in a part; an empty one where it was left out or forgotten."""
    value: dict[str, Any] = json.loads(parts.get(name, b"{}"))
    return value
