"""The fold on content that no writer of ours would write, and the cases of change and correction."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.beliefs import Version, effects
from tallystick.model.entry import Entry, EntryKind, LogName
from tallystick.model.temporal import DAY, END_OF_TIME, START_OF_TIME, Interval, ValidTime
from tallystick.store.memory import MemoryStore
from tallystick.store.protocol import Selection
from tallystick.store.sqlite import SqliteStore
from tallystick.testing import strategies
from tallystick.testing.store_contract import said
from tallystick.testing.trails import FIRST_MOMENT, trail_over
from tallystick.trail import Trail
from tallystick.trail.verifying import verify_log
from tallystick.workflows.amend import revise, undo

KINDS = [*(kind.value for kind in EntryKind if kind is not EntryKind.OBSERVED), "dreamt"]
"""``observed`` commits to an archive, which ``verify`` then misses."""
PARTS = ("actor", "change", "contradicts", "facets", "holder", "session", "text", "valid", "verdict/1")


@settings(max_examples=max(25, settings().max_examples // 4))
@given(
    st.lists(
        st.tuples(
            st.sampled_from(KINDS),
            st.dictionaries(st.sampled_from(PARTS), strategies.hostile_bodies, max_size=3),
            st.lists(st.integers(0, 12), max_size=3),
        ),
        max_size=12,
    )
)
def test_any_content_gives_some_effect(history: list[tuple[str, dict[str, bytes], list[int]]]) -> None:
    """TRAIL.9: whatever the parts hold, both stores fold it alike and ``verify`` folds it again to the same views."""
    roots = set()
    for store in (MemoryStore(), _sqlite_in_memory()):
        trail = trail_over(store)
        with trail.writing() as appender:
            for kind, parts, refs in history:
                earlier = [ref for ref in refs if ref < appender.size]
                appender.add(kind, _as_written(parts), refs=earlier, holder="7" * 32)
        report = verify_log(trail, LogName.MEMORY)
        assert report.bad == ()
        with trail.reading() as rows:
            believed = rows.believed(Selection(report.size))
        roots.add((report.root, repr(believed)))
        store.close()
    assert len(roots) == 1


def _as_written(parts: dict[str, bytes]) -> dict[str, bytes]:
    """Every writer hands over text as UTF-8; anything else may be anything."""
    return {name: body.decode("utf-8", "replace").encode() if name == "text" else body for name, body in parts.items()}


def _sqlite_in_memory() -> SqliteStore:
    import tempfile
    from pathlib import Path

    return SqliteStore(Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None)))


def test_a_valid_time_that_makes_no_sense_counts_as_none() -> None:
    """TIME.11: a start that is not before its end, or periods out of order, were never said."""
    for body in (b'{"intervals":[[5,5]]}', b'{"intervals":[[9,3]]}', b'{"intervals":[[1,5],[3,9]]}', b'{"intervals":[]}',
                 b'{"intervals":[["a","b"]]}', b'{"intervals":[[0.5,2]]}', b'{"intervals":[[0,9007199254740992]]}'):  # fmt: skip
        entry = Entry("a" * 32, "memory", 3, 1, 1, EntryKind.ASSERTED, "a" * 32)
        made = effects(entry, {"valid": body}, MemoryStore().logs[LogName.MEMORY])
        assert Version(3, 3, END_OF_TIME, (Interval(START_OF_TIME, END_OF_TIME),)) in made


def _moved(valid: tuple[Interval, ...], first: tuple[Interval, ...] | None = None) -> tuple[Trail, int, int]:
    trail = trail_over(MemoryStore())
    with trail.writing() as appender:
        old = said(appender, "lives in Paris")
    if first:
        given = ValidTime(first, start_known=True)
        old = revise(trail, old, "lives in Paris", "dated", change=False, valid=given, count_tokens=len).id
    new = revise(
        trail, old, "lives in Rome", "moved", change=True,
        valid=ValidTime(valid, start_known=True) if valid else ValidTime(), count_tokens=len,
    ).id  # fmt: skip
    return trail, old, new


def _at(trail: Trail, instant: int) -> set[int]:
    with trail.reading() as rows:
        return {belief.row.claim for belief in rows.believed(Selection(99, valid_at=instant))}


def test_a_change_without_a_date_holds_from_when_it_was_told() -> None:
    """TIME.5: the old is valid until the change and the new from then on; never both, never neither."""
    trail, old, new = _moved(())
    assert _at(trail, FIRST_MOMENT - 1) == {old}
    assert _at(trail, FIRST_MOMENT) == {new}


def test_a_change_that_was_earlier_than_the_old_claim_replaces_nothing() -> None:
    """TIME.6: Rome since day 5 is held; Oslo since day 3 is valid on [3, 5), and Rome stays as it is."""
    trail, rome, oslo = _moved((Interval(3 * DAY, END_OF_TIME),), (Interval(5 * DAY, END_OF_TIME),))
    seen = {day: _at(trail, day * DAY) - {1} for day in (2, 3, 4, 5, 6)}
    assert seen == {2: set(), 3: {oslo}, 4: {oslo}, 5: {rome}, 6: {rome}}


def test_undoing_a_revision_reopens_the_claim_from_then_on() -> None:
    """TIME.9: between the revision and its undoing the past stays as it was."""
    trail, old, new = _moved(())
    undone = undo(trail, new, "mistaken").seq
    with trail.reading() as rows:
        held = {seq: [each.row.claim for each in rows.believed(Selection(seq))] for seq in range(old, undone + 1)}
    assert held == {old: [old], new: [old, new], undone: [old]}
