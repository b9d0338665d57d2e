"""Parts that hold something else than this version writes: every read has an answer, and none ends in a traceback (TRAIL.9)."""

from __future__ import annotations

import pytest

from tallystick.model.entry import EntryKind
from tallystick.store.memory import MemoryStore
from tallystick.testing.store_contract import HOLDER, said
from tallystick.testing.trails import trail_over
from tallystick.workflows.attributes import one_valued, register
from tallystick.workflows.brief import make_briefing
from tallystick.workflows.recall import recall
from tallystick.workflows.replay import replay
from tallystick.workflows.scoping import Scope
from tallystick.workflows.why import why

EVERYONE = Scope(asked=("*",))
ODD = [
    b"",
    b"\xff",
    b"[]",
    b"7",
    b"null",
    b"{",
    b'{"a":' * 50_000,
    b"[" * 100_000,
    b'{"verdicts":7,"settle":[],"intervals":{}}',
]


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
@pytest.mark.parametrize("part", ["facets", "valid", "quote", "verdict", "attribute"])
def test_every_read_has_an_answer(part: str, odd: bytes) -> None:
    """TRAIL.9: facets, valid time, verdicts and registrations that cannot be read count as empty, deep nesting included."""
    trail = trail_over(MemoryStore())
    with trail.writing() as appender:
        said(appender, "plain")
        parts = {"text": b"an odd claim", "facets": b'{"kind":"fact","origin":"assistant"}'}
        claim = appender.add(
            EntryKind.ASSERTED, parts | ({part: odd} if part in ("facets", "valid", "quote") else {}), holder=HOLDER
        )
        if part == "verdict":
            appender.add(EntryKind.JUDGED, {f"verdict/{claim}": odd}, refs=[claim])
        if part == "attribute":
            appender.add(EntryKind.INTRODUCED, {"attribute": odd})
    assert why(trail, claim, None).text == "an odd claim"
    assert claim in [belief.row.claim for belief in replay(trail, EVERYONE, as_of=None).items]
    assert claim in [belief.row.claim for belief, _ in recall(trail, "odd", EVERYONE, as_of=None).items]
    assert make_briefing(trail, EVERYONE, as_of=None, budget=900).briefing.text
    register(trail, "mini", "port", "one at a time")
    with trail.reading() as rows:
        assert ("mini", "port") in one_valued(rows)
