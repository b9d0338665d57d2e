"""The stand-alone verifier folds as the product does: any history, any point, hostile parts, and each rule by itself."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.model.entry import EntryKind
from tallystick.model.temporal import END_OF_TIME, START_OF_TIME
from tallystick.store.memory import MemoryStore
from tallystick.testing import pure_fold, strategies
from tallystick.testing.pure_fold import Held
from tallystick.testing.trail_machine import TrailMachine
from tallystick.testing.trails import trail_over
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


KINDS = [*(kind.value for kind in EntryKind if kind is not EntryKind.ERASED), "dreamt"]
PARTS = ("change", "facets", "text", "valid", "verdict/1", "verdict/2", "verdict/5")


def _about_is_text(parts: dict[str, bytes]) -> bool:
    """Whether ``subject``, ``attribute`` and ``value`` are text where they are there: the page says that they are."""
    try:
        said = json.loads(parts.get("facets", b"{}"))
    except (ValueError, RecursionError):
        return True
    return not isinstance(said, dict) or all(type(said.get(n, "")) is str for n in ("subject", "attribute", "value"))


@settings(max_examples=max(12, settings().max_examples // 5))
@given(
    st.lists(
        st.tuples(
            st.sampled_from(KINDS),
            st.dictionaries(st.sampled_from(PARTS), strategies.hostile_bodies, max_size=3).filter(_about_is_text),
            st.lists(st.integers(0, 9), max_size=1) | st.lists(st.integers(0, 9), max_size=2, min_size=2),
        ),
        min_size=1,
        max_size=12,
    )
)
def test_hostile_parts(history: list[tuple[str, dict[str, bytes], list[int]]]) -> None:
    """TRAIL.9: parts that no writer of ours makes are folded alike by the product and by a stranger."""
    trail = trail_over(MemoryStore())
    with trail.writing() as appender:
        for kind, parts, refs in history:
            several = refs if kind in (EntryKind.JUDGED, EntryKind.LINKED) else refs[:1]
            appender.add(kind, parts, refs=several, holder="7" * 32)
    trail.seal()
    data = bundle(trail)
    assert checked(trail, data).flaw is None
    assert STRANGER.check(data.splitlines(keepends=True), b"")


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
    log.add("erased", [one, two, 99], places=places)
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
