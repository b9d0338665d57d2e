"""Replay: the believed set at a point, paged, with the root that fixes it (TIME.1–4)."""

from __future__ import annotations

from typing import NamedTuple

from tallystick.model.entry import LogName
from tallystick.store.protocol import Belief, Selection
from tallystick.trail import Trail
from tallystick.trail.points import Point, point, root_at
from tallystick.workflows.scoping import Scope, holders


class Replayed(NamedTuple):
    """A page of what was believed."""

    point: Point
    root: bytes
    """Root of the memory log at the point."""
    total: int
    """Of all that was believed, not of the page."""
    items: tuple[Belief, ...]
    more: bool


def replay(
    trail: Trail, scope: Scope, *, as_of: str | None, valid_at: int | None = None, after: int = -1, limit: int = 100
) -> Replayed:
    """What the holders in scope believed at a point; ``limit`` 0 gives the count alone.

    Raises:
        UsageError, BadTime: see ``trail.points.point`` and ``scoping.holders``.
    """
    with trail.reading(LogName.MEMORY) as rows:
        at = point(trail, rows, as_of)
        whole = Selection(at.seq, holders(rows, scope), valid_at=valid_at)
        count = rows.count(whole)
        items = rows.believed(whole._replace(after=after, limit=limit + 1)) if limit else []
        head = rows.head()
        root = head.root if at.seq == head.size - 1 else root_at(rows, at.seq + 1)
    return Replayed(at, root, count, tuple(items[:limit]), len(items) > limit > 0)
