"""Every attack on every store in one run, as it is kept in a result."""

from __future__ import annotations

from collections import Counter
from importlib.metadata import version
from typing import Any

from agmi.attacks.at_rest import AT_REST_ATTACKS_WITH_SNAPSHOT
from agmi.attacks.memory_specific import ALL_MEMORY_ATTACKS

from benchmarks.accountability.agmi import asking, at_rest
from benchmarks.accountability.agmi.attackers import Rewriting, RowEdits
from benchmarks.accountability.agmi.outcomes import MISSED, Outcome


def run() -> dict[str, Any]:
    """Every outcome on every store. ``missed`` counts what stands open; the parts for comparison are not in it."""
    on_stores, beyond, pairs = {}, {}, {}
    attacks: list[Any] = [*AT_REST_ATTACKS_WITH_SNAPSHOT, *ALL_MEMORY_ATTACKS]
    for name, place in at_rest.STORES.items():
        on_stores[name] = [outcome for attack in at_rest.attackers() for outcome in at_rest.run(attack, place)]
        beyond[name] = at_rest.beyond(place)
        pairs[name] = {attack.__name__: at_rest.composed(attack, place) for attack in (RowEdits, Rewriting)}
    api = [*asking.run(), *asking.run(trusted=True), *asking.overwriting()]
    counted = [*api, *(each for found in (*on_stores.values(), *beyond.values()) for each in found)]
    return {
        "suite": {
            "agent-memory-integrity": version("agent-memory-integrity"),
            "attacks": {each.name: each.version for each in attacks},
        },
        "counts": dict(Counter(each.outcome for each in counted)),
        "missed": [f"{each.attack}, {each.by}" for each in counted if each.outcome == MISSED],
        "at rest": {name: _rows(found) for name, found in on_stores.items()},
        "beyond the suite": {name: _rows(found) for name, found in beyond.items()},
        "pairs of moves that land where neither does alone": pairs,
        "nothing kept outside": _rows(at_rest.run(Rewriting, outside=False)),
        "naive chain": _rows(at_rest.naive_chain()),
        "api": _rows(api),
        "pasted by the person": _rows(asking.run(trusted=True, pasted=True)),
    }


def _rows(outcomes: list[Outcome]) -> list[dict[str, str]]:
    return [each._asdict() for each in outcomes]
