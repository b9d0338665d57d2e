"""The nine edits at rest, T1 to T9, by attackers who know more and more, and what they come to.

Beyond the suite's edits stand three of our own, which need the whole format, and pairs of moves by the suite's engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from agmi.adapters.openfang import OpenFangAdapter
from agmi.agent.compose import compose
from agmi.attacks.at_rest import AT_REST_ATTACKS_WITH_SNAPSHOT, MetadataTamperAttack, TamperAttack
from agmi.attacks.base import Attack, AttackResult
from agmi.check import LABELS

from benchmarks.accountability.agmi.adapter import LABELLED, TrailAdapter
from benchmarks.accountability.agmi.attackers import Attacker, Rewriting, RowEdits
from benchmarks.accountability.agmi.outcomes import MISSED, REJECTED, REPORTED, Outcome
from benchmarks.accountability.agmi.places import MakePlace, Place
from benchmarks.accountability.agmi.postgres_place import PostgresPlace
from benchmarks.accountability.agmi.sqlite_place import SqlitePlace
from tallystick.errors import TallyError

STORES: dict[str, MakePlace] = {SqlitePlace.name: SqlitePlace, PostgresPlace.name: PostgresPlace}
"""Every store that is attacked, by its name."""
ANOTHER_ID = "ab" * 16


def judged(attack: Attack, adapter: TrailAdapter) -> Outcome:
    """Run one edit of the suite and say what it came to.

    Raises:
        AssertionError: the suite could not run it, or says that it did not land: no verdict can be taken.
    """
    result: AttackResult = attack.run(adapter)
    attack_name = LABELS[attack.name]
    if isinstance(attack, MetadataTamperAttack):
        attack_name = f"{attack_name}: {adapter.label}"
    if adapter.refused:
        return Outcome(attack_name, adapter.attacker.name, REJECTED, f"the engine: {adapter.refused}")
    assert not result.guard, f"{attack_name} by {adapter.attacker.name}: {result.guard}"
    assert not result.error, f"{attack_name} by {adapter.attacker.name}: {result.error}"
    return _told(attack_name, adapter, sound=not result.detected)


def attackers() -> tuple[Callable[[Place], Attacker], ...]:
    """Everyone who edits, the one who knows least first."""
    return partial(RowEdits, guards=True), RowEdits, Rewriting


def run(attack: Callable[[Place], Attacker], make_place: MakePlace = SqlitePlace, **how: bool) -> list[Outcome]:
    """Each edit by one attacker, T8 on each label. ``outside=False`` takes away what is kept outside."""
    return [
        judged(edit(), TrailAdapter(attack, make_place, label=label, **how))
        for edit in AT_REST_ATTACKS_WITH_SNAPSHOT
        for label in (LABELLED if edit is MetadataTamperAttack else LABELLED[:1])
    ]


def beyond(make_place: MakePlace = SqlitePlace) -> list[Outcome]:
    """What the suite has no edit for."""
    return [under_another_id(make_place), *rewritten_and_outgrown(make_place), removed(make_place), swapped(make_place)]


def under_another_id(make_place: MakePlace = SqlitePlace) -> Outcome:
    """T1 by one who builds the trail anew under an id of which nothing is known outside."""
    attack = partial(Rewriting, trail_id=ANOTHER_ID)
    return judged(TamperAttack(), TrailAdapter(attack, make_place))


def rewritten_and_outgrown(make_place: MakePlace = SqlitePlace) -> list[Outcome]:
    """T1 and then T5, everything recomputed: what is said of it at once, and after one more genuine write."""
    with _seeded(Rewriting, make_place) as adapter:
        claims = adapter.read_all_raw()
        adapter.write_raw(adapter.mutate_payload(claims[2]))
        adapter.write_raw(adapter.forge_record(claims[-1]))
        at_once = _told("T1, then T5", adapter, sound=adapter.verify())
        later = "T1, then T5, then a genuine write"
        try:
            adapter.append_genuine()
        except TallyError as error:
            return [at_once, Outcome(later, adapter.attacker.name, REJECTED, f"remember: {adapter.shown(error)}")]
        return [at_once, _told(later, adapter, sound=adapter.verify())]


def removed(make_place: MakePlace = SqlitePlace) -> Outcome:
    """The whole trail taken away."""
    with _seeded(RowEdits, make_place) as adapter:
        adapter.place.clear()
        return _told("everything removed", adapter, sound=adapter.verify())


def swapped(make_place: MakePlace = SqlitePlace) -> Outcome:
    """Another trail of the same person put in the place of this one."""
    with _seeded(RowEdits, make_place) as adapter:
        adapter.swap()
        return _told("another trail of the person's put in its place", adapter, sound=adapter.verify())


def composed(attack: Callable[[Place], Attacker], make_place: MakePlace = SqlitePlace) -> list[list[str]]:
    """Every pair of moves (an edit, a genuine write, a restart, a rollback) that lands where neither of the two does alone."""
    _, landed = compose(lambda: TrailAdapter(attack, make_place), target="tallystick", max_len=2)
    return [list(each.sequence) for each in landed]


def naive_chain() -> list[Outcome]:
    """The suite's own model of a chain without a head that is kept elsewhere, as far as the suite can attack it."""
    found = []
    for edit in AT_REST_ATTACKS_WITH_SNAPSHOT:
        adapter = OpenFangAdapter(strict_tip=False)
        result = edit().run(adapter)
        if not result.error:
            said = f"verify: {adapter.verify_detail or 'sound'}"
            found.append(Outcome(LABELS[edit.name], "rows", REPORTED if result.detected else MISSED, said))
    return found


@contextmanager
def _seeded(attack: Callable[[Place], Attacker], make_place: MakePlace) -> Iterator[TrailAdapter]:
    adapter = TrailAdapter(attack, make_place)
    adapter.setup()
    try:
        adapter.seed(5)
        yield adapter
    finally:
        adapter.teardown()


def _told(attack: str, adapter: TrailAdapter, *, sound: bool) -> Outcome:
    noticed = REJECTED if adapter.detection_point == "read" else REPORTED
    return Outcome(attack, adapter.attacker.name, MISSED if sound else noticed, adapter.verify_detail or "")
