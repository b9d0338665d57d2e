"""The public suite agmi against our trail; ``python -m benchmarks.accountability.agmi`` runs all of it and keeps the result."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from agmi.attacks.at_rest import SnapshotRollbackAttack, TruncateAttack
from agmi.attacks.memory_specific import ALL_MEMORY_ATTACKS
from benchmarks.accountability.agmi import asking, at_rest, told
from benchmarks.accountability.agmi.adapter import TrailAdapter
from benchmarks.accountability.agmi.attackers import Attacker, Rewriting, RowEdits
from benchmarks.accountability.agmi.outcomes import MISSED, REJECTED, REPORTED, Outcome
from benchmarks.accountability.agmi.places import Place

ROOT = Path(__file__).resolve().parents[2]
RESULT = max((ROOT / "benchmarks/accountability/results").glob("agmi-*.json"))

OPEN: set[tuple[str, str]] = set()
"""Edits of the suite that nothing notices."""
OPEN_BEYOND: set[str] = set()
"""And what goes beyond the suite."""


@pytest.fixture(scope="module")
def committed() -> dict[str, Any]:
    """The newest result."""
    result: dict[str, Any] = json.loads(RESULT.read_text("utf-8"))
    return result


def by_attack(outcomes: Iterable[Outcome]) -> dict[tuple[str, str], str]:
    """(attack, how it was done) → what it came to."""
    return {(each.attack, each.by): each.outcome for each in outcomes}


def kept(rows: Iterable[dict[str, str]], *by: str) -> dict[tuple[str, str], str]:
    """The same of the committed result, of what was done in these ways."""
    return {key: word for key, word in by_attack(Outcome(**row) for row in rows).items() if not by or key[1] in by}


@pytest.mark.parametrize("attack", at_rest.attackers(), ids=["guards standing", "guards off", "all recomputed"])
@pytest.mark.parametrize("store", at_rest.STORES)
def test_every_edit_at_rest_is_rejected_or_reported(
    store: str, attack: Callable[[Place], Attacker], committed: dict[str, Any]
) -> None:
    """TRAIL.1, 7, 8, 10: T1 to T9 by those who know more and more; the last has tallystick itself."""
    found = by_attack(at_rest.run(attack, at_rest.STORES[store]))
    assert len(found) == 12
    assert {key for key, outcome in found.items() if outcome == MISSED} == {key for key in found if key in OPEN}
    assert found == kept(committed["at rest"][store], next(iter(found))[1])


def test_the_head_kept_elsewhere_catches_what_a_chain_misses() -> None:
    """TRAIL.8, 10: the suite's naive chain misses T2 and T9; so would we, however skilled the edit, without what is outside."""
    chain = {each.attack: each.outcome for each in at_rest.naive_chain()}
    assert [attack for attack, outcome in chain.items() if outcome == MISSED] == [
        "T2 tail truncation",
        "T9 snapshot rollback",
    ]
    assert len(chain) == 6
    for edit in (TruncateAttack, SnapshotRollbackAttack):
        caught = at_rest.judged(edit(), TrailAdapter(Rewriting))
        assert caught.outcome == REJECTED
        assert "its end was cut off or an older copy was put back" in caught.said
        assert re.search("checkpoint (older_copy|truncated)", caught.said)
        assert at_rest.judged(edit(), TrailAdapter(Rewriting, outside=False)).outcome == MISSED


@pytest.mark.parametrize("store", at_rest.STORES)
def test_what_is_beyond_the_suite_is_told(store: str, committed: dict[str, Any]) -> None:
    """TRAIL.8, 10: built anew under another id nothing is handed out; what is not noticed yet is in the committed result."""
    found = at_rest.beyond(at_rest.STORES[store])
    assert {each.attack for each in found if each.outcome == MISSED} == OPEN_BEYOND
    assert by_attack(found) == kept(committed["beyond the suite"][store])


@pytest.mark.parametrize("attack", ALL_MEMORY_ATTACKS, ids=lambda attack: attack.name)
def test_every_attack_through_the_api_is_rejected_or_reported(
    attack: Callable[..., Any], committed: dict[str, Any]
) -> None:
    """TRAIL.10, QUOTE.5, SEC.3: what recall hands over is marked as it came, and none of it as the person's own words."""
    read = [asking.judged(attack), asking.judged(attack, trusted=True)]
    assert read[0].outcome in (REJECTED, REPORTED)
    assert read[1].outcome == REJECTED
    rows = [row for row in committed["api"] if row["attack"] == read[0].attack]
    assert by_attack(read) == kept(rows, asking.EVERYTHING, asking.TRUSTED)


def test_a_persons_words_are_not_overwritten_through_the_api(committed: dict[str, Any]) -> None:
    """TRAIL.10, ERASE.4: ``revise``, ``retract`` and ``undo`` of what the person said are refused."""
    found = asking.overwriting()
    assert [each.outcome for each in found] == [REJECTED] * 3
    assert by_attack(found) == kept(committed["api"], "revise", "retract", "undo")


def test_an_edit_that_changes_nothing_is_no_verdict() -> None:
    """TRAIL.10: an edit that does not land is the program's own mistake, and is said to be, instead of counting as noticed."""

    class Idle(RowEdits):
        def put(self, row: object) -> None: ...

    with pytest.raises(AssertionError, match="edit did not land"):
        at_rest.run(Idle)


def test_the_readme_tells_the_committed_result(committed: dict[str, Any]) -> None:
    """The tables of the README are those of the newest result, and so are the figures around them; every miss is told."""
    page = (ROOT / "README.md").read_text("utf-8")
    assert told.tables(committed) in page
    assert committed["suite"]["agent-memory-integrity"] in page
    assert (
        len(committed["missed"]) == page.count("**missed**", page.index("| edit at rest")) - 2
    )  # T2 and T9 of the chain
    assert len([row for row in committed["pasted by the person"] if row["outcome"] == MISSED]) == 5
    assert {row["attack"][:2] for row in committed["nothing kept outside"] if row["outcome"] == MISSED} == {
        f"T{number}" for number in range(1, 10)
    }
    assert not any(committed["pairs of moves that land where neither does alone"]["SQLite"].values())
