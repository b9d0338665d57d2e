"""The stand-alone verifier folds as the product does: any history, any point, hostile parts, and each rule by itself."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick import beliefs
from tallystick.model.entry import Entry, EntryKind
from tallystick.model.temporal import DAY, END_OF_TIME, START_OF_TIME
from tallystick.store.memory import MemoryStore
from tallystick.store.memory_views import Views
from tallystick.store.protocol import Selection
from tallystick.testing import pure_fold, retold, strategies
from tallystick.testing.pure_fold import Held, Step
from tallystick.testing.trail_machine import TrailMachine
from tallystick.testing.trails import FIRST_MOMENT, SetClock, trail_over
from tests.bundles import bundle, checked, parsed, sign_at, stand_alone

STRANGER = stand_alone()
ALWAYS = [[START_OF_TIME, END_OF_TIME]]


class Histories(TrailMachine):
    """Random histories; at the end, bundles of several points, held against the oracle by both verifiers."""

    make = staticmethod(lambda folder: MemoryStore())

    def teardown(self) -> None:
        """Each of a few points."""
        folder = Path(tempfile.mkdtemp())
        try:
            size = len(self.steps)
            for n in sorted({0, size // 3, size - 2, size - 1, size} & set(range(size + 1))):
                self.bundle_of(n, folder)
        finally:
            shutil.rmtree(folder)
            shutil.rmtree(self.folder)

    def bundle_of(self, size: int, folder: Path) -> None:
        """The first ``size`` entries."""
        trail = self.trails[0]
        data = bundle(trail, sign_at(trail, size, folder / "checkpoint"))
        assert checked(trail, data).flaw is None
        assert STRANGER.check(data.splitlines(keepends=True), b"")
        names = {made: name for name, made in self.holder_ids.items()}
        claimed = [_as_held(line["believed"], names) for line in parsed(data) if "believed" in line]
        assert claimed == [held._replace(reason="") for held in pure_fold.believed(self.steps, size - 1)]


def _as_held(said: dict[str, Any], names: dict[str, str]) -> Held:
    valid = tuple((start, end) for start, end in said["valid"])
    return Held(
        said["claim"], names[said["holder"]], said["kind"], said["text"], valid,
        said["derivation"], said["outcome"], "", said["said_at"], said["lineage"],
    )  # fmt: skip


class TestHistories(Histories.TestCase):  # type: ignore[misc, valid-type]
    """TIME.1-13, TRAIL.9: whatever happened to a trail, both verifiers find what the oracle makes of it."""

    settings = settings(max_examples=max(10, settings().max_examples // 6), stateful_step_count=25)


KINDS = [*(kind.value for kind in EntryKind), "dreamt"]
SEQS = st.integers(0, 9)
_word = st.sampled_from(["fact", "user", "\ud800", "é", ""]) | st.integers(-(2**60), 2**60)
_names = st.lists(st.sampled_from(["text", "facets", "valid", "\ud800"]), max_size=3) | st.just("text")
_verdict = st.fixed_dictionaries(
    {"verifier": st.sampled_from(["quotation/1", "outcome/1"]), "value": _word, "reason": _word}
)
NEARLY: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "facets": st.dictionaries(st.sampled_from(["kind", "origin", "said_at", "session", "subject"]), _word, max_size=3),
    "valid": strategies.periods().map(lambda valid: {"intervals": [list(each) for each in valid]}),
    "places": st.dictionaries(SEQS.map(str), _names, max_size=4).map(lambda parts: {"parts": parts}),
    **{f"verdict/{n}": st.lists(_verdict, max_size=2).map(lambda said: {"verdicts": said}) for n in (1, 2, 5)},
}
"""What a writer of ours would put into a part, and what is only nearly so."""
PARTS = st.fixed_dictionaries(
    {},
    optional={
        name: strategies.hostile_bodies | said.flatmap(strategies.with_odd_members) for name, said in NEARLY.items()
    }
    | {"change": st.just(b"{}"), "into": st.just(b"{}"), "text": strategies.hostile_bodies},
)


@settings(max_examples=max(40, settings().max_examples))
@given(st.lists(st.tuples(st.sampled_from(KINDS), PARTS, st.lists(SEQS, max_size=3)), min_size=1, max_size=12))
def test_hostile_parts(history: list[tuple[str, dict[str, bytes], list[int]]]) -> None:
    """TRAIL.9: parts that no writer of ours makes are folded alike by the product and by a stranger."""
    trail = trail_over(MemoryStore())
    with trail.writing() as appender:
        for kind, parts, refs in history:
            appender.add(kind, parts, refs=[ref for ref in refs if ref < appender.size], holder="7" * 32)
    trail.seal()
    data = bundle(trail)
    assert checked(trail, data).flaw is None
    assert STRANGER.check(data.splitlines(keepends=True), b"")


EMPTY_OR_KNOWN = {
    b"[" * 127 + b"]" * 127: True,
    b"[" * 128 + b"]" * 128: False,
    b'{"a":' * 127 + b"0" + b"}" * 127: True,
    b'{"a":' * 128 + b"0" + b"}" * 128: False,
    b"[" + b"[]," * 500 + b"[]]": True,
    b'"' + b"[{" * 500 + b'"': True,
    b'"\\"' + b"[" * 500 + b'"': True,
    b"1" * 256: True,
    b"1" * 257: False,
    b"-" + b"1" * 5000: False,
    b"0." + b"1" * 257: False,
    b"1e" + b"0" * 257: False,
    b'"' + b"1" * 5000 + b'"': True,
    b"1e999": True,
    b"NaN": False,
    b"-Infinity": False,
    b'"\\ud800"': True,
    b'"\xed\xa0\x80"': False,
    b'"\xff"': False,
    b'"': False,
    b"01": False,
    b'0,"kind":1,"kind":"fact"': True,
}
"""The value of a member that nobody knows, and whether what stands beside it counts."""


@pytest.mark.parametrize("odd", EMPTY_OR_KNOWN, ids=lambda odd: f"{odd[:12]!r} {len(odd)}")
@pytest.mark.parametrize("first", [b"e", b"\xc3\xa9"], ids=["ASCII", "beyond ASCII"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_what_is_json(odd: bytes, first: bytes, encoding: str) -> None:
    """TRAIL.9: UTF-8, 128 deep, 256 digits in a row: beyond that, or with what is no JSON, a part counts as empty for all."""
    body = b'{"%s":0,"kind":"fact","x":%s}' % (first, odd)
    body = body if encoding == "utf-8" else body.decode("utf-8", "replace").encode(encoding)
    kind = "fact" if EMPTY_OR_KNOWN[odd] and encoding == "utf-8" else ""
    entry = Entry("0" * 32, "memory", 5, 0, 0, EntryKind.ASSERTED, "0" * 32, "", (), (("facets", "0" * 64),))
    claim = beliefs.effects(entry, {"facets": body}, Views())[0]
    assert isinstance(claim, beliefs.ClaimRow)
    assert claim.kind == kind
    assert STRANGER.json_object(body).get("kind", "") == beliefs.object_of(body).get("kind", "") == kind


@pytest.mark.parametrize("frames", [0, 300, 600])
@pytest.mark.parametrize("nested", [127, 128, 900, 985, 990, 50_000])
def test_no_call_stack_is_part_of_the_fold(frames: int, nested: int) -> None:
    """TRAIL.9: what a deeply nested part means does not depend on how deep in calls whoever reads it is."""

    def deeper(left: int) -> list[dict[str, object]]:
        return deeper(left - 1) if left else [dict(beliefs.object_of(body)), STRANGER.json_object(body)]

    for letter in (b"e", b"\xc3\xa9"):
        body = b'{"%s":0,"kind":"fact","x":' % letter + b"[" * nested + b"]" * nested + b"}"
        one, other = deeper(frames)
        assert one == other
        assert one.get("kind") == ("fact" if nested <= 127 else None)
        entry = Entry("0" * 32, "memory", 5, 0, 0, EntryKind.ASSERTED, "0" * 32, "", (), (("facets", "0" * 64),))
        claim = beliefs.effects(entry, {"facets": body}, Views())[0]
        assert isinstance(claim, beliefs.ClaimRow)
        assert claim.kind == one.get("kind", "")


def _in_time(bound: int) -> int:
    """The same moment, as many days after the trail began as it was after 1970."""
    return bound if bound in (START_OF_TIME, END_OF_TIME) else FIRST_MOMENT + bound


STEPS = st.tuples(
    st.sampled_from(
        ["asserted", "correction", "change", "change", "into", "retracted", "undone", "undone", "erased", "erased"]
    ),
    st.lists(SEQS, min_size=1, max_size=3, unique=True),
    strategies.periods().map(lambda valid: [[_in_time(bound) for bound in each] for each in valid]),
    SEQS.map(lambda days: FIRST_MOMENT + days * 4 * DAY),
)


@settings(max_examples=max(60, settings().max_examples))
@given(st.lists(STEPS, min_size=2, max_size=12))
def test_hostile_entries(history: list[tuple[str, list[int], list[list[int]], int]]) -> None:
    """TIME.5, 6, 7, 9: entries that no writer of ours makes, folded alike by the product, by a stranger, and by the oracle."""
    trail = trail_over(MemoryStore())
    assert isinstance(trail.clock, SetClock)
    erased = set()
    for kind, given_refs, valid, at in history:
        trail.clock.now = max(trail.clock.now, at)
        with trail.writing() as appender:
            holder = appender.holder("project:one", "project")
            refs = [ref for ref in given_refs if ref < appender.size]
            parts: dict[str, bytes] = {"because": b""}
            if kind in ("asserted", "correction", "change"):
                parts = {"text": b"x", "facets": b"{}", "valid": json.dumps({"intervals": valid}).encode()}
            if kind == "erased":
                parts["places"] = json.dumps({"parts": {str(ref): ["text"] for ref in refs[1:]}}).encode()
                erased |= set(refs[1:])
            if kind in ("change", "into"):
                parts[kind] = b"{}"
            named = kind if kind in ("asserted", "retracted", "undone", "erased") else "revised"
            appender.add(named, parts, refs=refs[:2] if kind == "into" else refs, holder=holder)
    trail.seal()
    data = bundle(trail)
    assert checked(trail, data).flaw is None
    assert STRANGER.check(data.splitlines(keepends=True), b"")
    claimed = {
        each["claim"]: each["valid"] for each in (line["believed"] for line in parsed(data) if "believed" in line)
    }
    with trail.reading() as rows:
        steps = retold.steps_of(rows)
    oracle = {held.claim: [list(each) for each in held.valid] for held in pure_fold.believed(steps, len(steps) - 1)}
    assert claimed.keys() == oracle.keys()
    assert all(claimed[claim] == oracle[claim] for claim in claimed if claim not in erased)
    assert all(claimed.values())


class Entries:
    """Entries for the stand-alone fold alone, with parts that are all there."""

    def __init__(self, size: int = 1000) -> None:
        self.fold = STRANGER.Fold(size)
        self.size = 0

    def add(self, kind: str, refs: list[int], *, at: int = 0, **parts: object) -> int:
        """One entry; a part is given as text or as what is to be its JSON. Returns its seq."""
        bodies = {name: (part if isinstance(part, str) else json.dumps(part)).encode() for name, part in parts.items()}
        entry = {"at": at, "holder": "h", "kind": kind, "parts": dict.fromkeys(bodies, ""), "refs": refs, "v": 1}
        self.fold.add(entry | {"seq": self.size}, bodies)
        self.size += 1
        return self.size - 1

    def claim(self, text: str, *valid: tuple[int, int]) -> int:
        """A claim is asserted."""
        return self.add("asserted", [], text=text, valid={"intervals": valid or ALWAYS}, facets={"kind": "fact"})

    def judge(self, claims: list[int], *verdicts: tuple[str, str]) -> int:
        """Verifiers say the same of each of the claims: (verifier, value)."""
        said = [{"verifier": verifier, "value": value, "reason": ""} for verifier, value in verdicts]
        parts: dict[str, Any] = {f"verdict/{claim}": {"verdicts": said} for claim in claims}
        return self.add("judged", claims, **parts)

    def held(self) -> dict[int, list[list[int]]]:
        """Claim → when it is valid."""
        return {each["claim"]: each["valid"] for each in self.fold.believed(None, None, None)}

    def trust(self, claim: int) -> tuple[str, str]:
        """Derivation and outcome."""
        (found,) = [each for each in self.fold.believed(None, None, None) if each["claim"] == claim]
        return found["derivation"], found["outcome"]


def test_one_revision_of_several_claims() -> None:
    """TIME.5, 7: a correction of several claims takes its valid time from each; its undoing gives each its own back."""
    log = Entries()
    one, two, three = log.claim("a", (0, 9)), log.claim("b", (3, 5)), log.claim("c", (20, 30))
    new = log.add("revised", [one, two, three], text="d", valid={"intervals": [[2, 6]]})
    assert log.held() == {one: [[0, 2], [6, 9]], three: [[20, 30]], new: [[2, 6]]}
    log.add("undone", [new])
    assert log.held() == {one: [[0, 9]], two: [[3, 5]], three: [[20, 30]]}


def test_one_change_of_several_claims() -> None:
    """TIME.5, 6: a change cuts off each claim that began before it, and ends where the first that begins later does."""
    log = Entries()
    one, two, three, four = (log.claim("x", valid) for valid in ((0, 9), (5, 50), (12, 30), (40, 60)))
    new = log.add("revised", [one, two, three, four], text="d", change={}, valid={"intervals": [[7, 100]]})
    assert log.held() == {one: [[0, 7]], two: [[5, 7]], three: [[12, 30]], four: [[40, 60]], new: [[7, 12]]}
    other = log.add("revised", [three], at=15, text="e", change={})
    assert log.held()[three] == [[12, 15]]
    assert log.held()[other] == [[15, END_OF_TIME]]


def test_a_change_that_begins_after_a_gap() -> None:
    """TIME.5, 6: of a change that states no beginning and is not so at its ``at``, what comes next is where it begins."""
    stated, old = [[START_OF_TIME, 5], [20, 30]], (15, END_OF_TIME)
    log = Entries()
    one = log.claim("a", old)
    new = log.add("revised", [one], at=10, text="b", change={}, valid={"intervals": stated})
    assert log.held() == {one: [[15, 20]], new: [[20, 30]]}
    steps = [
        Step(0, 0, "assert", valid=(old,)),
        Step(1, 10, "change", 0, valid=tuple((start, end) for start, end in stated)),
    ]
    assert {held.claim: [list(each) for each in held.valid] for held in pure_fold.believed(steps, 1)} == log.held()
    trail = trail_over(MemoryStore())
    with trail.writing() as appender:
        moved = [
            [bound + appender.at - 10 if abs(bound) < 100 else bound for bound in each] for each in ([*old], *stated)
        ]
        parts = [{"valid": json.dumps({"intervals": each}).encode()} for each in (moved[:1], moved[1:])]
        product = appender.add("asserted", parts[0], holder="7" * 32)
        appender.add("revised", parts[1] | {"change": b"{}"}, refs=[product], holder="7" * 32)
    with trail.reading() as rows:
        found = [[each.start, each.end] for belief in rows.believed(Selection(9)) for each in belief.version.valid]
    assert [[bound - FIRST_MOMENT + 10 for bound in each] for each in found] == [[15, 20], [20, 30]]


def test_one_claim_into_another() -> None:
    """TIME.7: with ``into`` no claim is opened, and the old one gives way only to one that is held and another."""
    log = Entries()
    old, target = log.claim("a"), log.claim("b")
    log.add("revised", [old, old], into={})
    assert set(log.held()) == {old, target}
    merged = log.add("revised", [old, target], into={})
    assert set(log.held()) == {target}
    log.add("undone", [merged])
    log.add("retracted", [target])
    log.add("revised", [old, target], into={})
    assert set(log.held()) == {old}


def test_a_judgement_undone() -> None:
    """TIME.9, 13: each axis of each claim that is named has the verdict of before again, where the undone one stood."""
    log = Entries()
    one, two = log.claim("a"), log.claim("b")
    first = log.judge([one], ("quotation/1", "verbatim"))
    second = log.judge([one, two], ("quotation/2", "inferred"), ("outcome/1", "witnessed"))
    assert log.trust(one) == log.trust(two) == ("inferred", "witnessed")
    log.add("undone", [first, one])
    assert log.trust(one) == ("inferred", "witnessed")
    log.add("undone", [second, one])
    assert log.trust(one) == ("verbatim", "none")
    log.add("undone", [first, one])
    assert log.trust(one) == ("inferred", "none")
    assert log.trust(two) == ("inferred", "witnessed")
    third = log.judge([two], ("quotation/1", "verbatim"))
    fourth = log.judge([two], ("quotation/1", "inferred"))
    log.add("undone", [fourth, two])
    assert log.trust(two) == ("verbatim", "witnessed")
    log.add("undone", [third, two])
    assert log.trust(two) == ("inferred", "witnessed")


def test_what_was_erased() -> None:
    """TIME.1: a claim whose words were erased is held no more from there on; other parts, and entries not named, count not."""
    log = Entries()
    one, two, three = log.claim("a"), log.claim("b"), log.claim("c")
    places = {"parts": {str(one): ["quote", "text"], str(two): ["quote"], str(three): ["text"], "99": ["text"]}}
    log.add("erased", [one, two], places=places)
    assert set(log.held()) == {two, three}
    assert log.fold.gone == {(one, "quote"), (one, "text"), (two, "quote")}
    damaged: list[object] = [
        "no JSON",
        [],
        {"parts": []},
        {"parts": {str(two): "text"}},
        {"parts": {str(two): ["text", 5]}},
    ]
    for wrong in damaged:
        log.add("erased", [two], places=wrong)
    assert set(log.held()) == {two, three}


def test_what_is_erased_again() -> None:
    """TIME.1: an erasure closes what it names itself, not what an earlier one named that was undone."""
    log = Entries()
    one = log.claim("a")
    first = log.add("erased", [one], places={"parts": {str(one): ["text"]}})
    log.add("undone", [first])
    for places in ({}, {str(one): ["quote"]}, {str(one): ["text", "\ud800"]}):
        log.add("erased", [one], places={"parts": places})
        assert set(log.held()) == {one}
    log.add("erased", [one], places={"parts": {str(one): ["text"]}})
    assert log.held() == {}


def test_names_that_are_no_text_erase_nothing() -> None:
    """TRAIL.9: a list of names with half of a surrogate pair among them counts as none, for the product too."""
    trail = trail_over(MemoryStore())
    with trail.writing() as appender:
        claim = appender.add("asserted", {"text": b"a"}, holder="7" * 32)
        appender.add("erased", {"places": b'{"parts":{"%d":["text","\\ud800"]}}' % claim}, refs=[claim])
    with trail.reading() as rows:
        assert [belief.row.claim for belief in rows.believed(Selection(9))] == [claim]


def test_what_was_erased_later_closes_nothing() -> None:
    """TIME.3: what is erased after the point is a tombstone at it, and held all the same."""
    log = Entries(size=1)
    one = log.claim("a")
    log.claim("b")
    log.add("erased", [one], places={"parts": {str(one): ["text"]}})
    assert set(log.held()) == {one}
    assert log.fold.gone == {(one, "text")}


def test_a_newer_format_changes_nothing() -> None:
    """TRAIL.9: an entry of a newer format, or of a kind that is none, is folded into nothing."""
    log = Entries()
    one = log.claim("a")
    log.fold.add({"kind": "retracted", "v": 2, "seq": 1, "refs": [one], "parts": {}}, {})
    log.add("dreamt", [one])
    log.add("believed", [one])
    assert set(log.held()) == {one}
