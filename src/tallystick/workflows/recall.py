"""Recall: search what was believed at a point, and log the question with its whole pool before anything is shown (ACCESS.1)."""

from __future__ import annotations

import json
from typing import NamedTuple

from tallystick.model.entry import EntryKind, LogName
from tallystick.ranking import METHOD, query_tokens, score
from tallystick.store.protocol import Belief, Reading, Selection
from tallystick.trail import Trail
from tallystick.trail.points import Point, point
from tallystick.workflows.scoping import Scope, holders
from tallystick.workflows.typed import fit

POOL = 200
"""Items of the first stage that a recall keeps on record."""


class Recalled(NamedTuple):
    """The answer, with the seq in the access log under which the question is kept."""

    recall: int
    point: Point
    items: tuple[tuple[Belief, int], ...]
    """(belief, score in millionths), best first."""
    more: int
    """Beliefs that matched and are not among the items."""


def recall(
    trail: Trail, query: str, scope: Scope, *, as_of: str | None, kinds: tuple[str, ...] | None, limit: int
) -> Recalled:
    """Search and log. If the log cannot be written, the recall fails.

    Raises:
        UsageError, BadTime: see ``trail.points.point`` and ``scoping.holders``.
        MachineError: the access log cannot be written.
    """
    query = fit(query)
    with trail.reading() as rows:
        at = point(trail, rows, as_of)
        pool = _pool(rows, query, Selection(at.seq, holders(rows, scope), kinds))
    surfaced = pool[:limit]
    record = {
        "as_of": at.seq,
        "method": METHOD,
        "more": max(0, len(pool) - POOL),
        "pool": [[belief.row.claim, points] for belief, points in pool[:POOL]],
        "surfaced": [belief.row.claim for belief, _ in surfaced],
    }
    parts = {"query": query.encode(), "pool": json.dumps(record, separators=(",", ":")).encode()}
    claims = tuple(belief.row.claim for belief, _ in surfaced)
    with trail.writing(LogName.ACCESS) as appender:
        seq = appender.add(EntryKind.RECALLED, parts)
        if claims:
            appender.add(EntryKind.SURFACED, refs=[seq], xrefs=[(LogName.MEMORY, claims)])
    trail.seal(LogName.ACCESS)
    return Recalled(seq, at, tuple(surfaced), len(pool) - len(surfaced))


def _pool(rows: Reading, query: str, selection: Selection) -> list[tuple[Belief, int]]:
    """Everything held at the point that matches, best first."""
    found = rows.matching(query_tokens(query), selection.as_of)
    if not found:
        return []
    held = {belief.row.claim: belief for belief in rows.believed(selection) if belief.row.claim in found}
    trust = {claim: (belief.derivation, belief.outcome) for claim, belief in held.items()}
    return [(held[scored.claim], scored.score) for scored in score(found, selection.as_of + 1, trust)]
