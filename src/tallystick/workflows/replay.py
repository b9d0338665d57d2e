"""Replay: the believed set at a point, paged, with the root that fixes it (TIME.1–4)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from tallystick.model.entry import LogName
from tallystick.store.protocol import Belief, Selection
from tallystick.trail import Trail
from tallystick.trail.erased import Tombstone, tombstone
from tallystick.trail.points import Point, point, root_at
from tallystick.workflows.scoping import Scope, holders
from tallystick.workflows.valid_times import precisions


class Replayed(NamedTuple):
    """A page of what was believed."""

    point: Point
    root: bytes
    """Root of the memory log at the point."""
    total: int | None
    """Of all that was believed, not of the page; None on the pages after the first, since it is the same."""
    items: tuple[Belief, ...]
    more: bool
    erased: Mapping[int, Tombstone] = MappingProxyType({})
    """Of items without words: what stands in their place."""
    precisions: Mapping[int, str | None] = MappingProxyType({})
    """How exactly the valid time of each item was stated: ``year`` … ``second``; None where it was not."""


class Asking(NamedTuple):
    """Which of what was believed is asked for."""

    kinds: tuple[str, ...] | None = None
    derivations: tuple[str, ...] | None = None
    valid_at: int | None = None
    strict: bool = False
    """With ``valid_at``: only where it is known since when a claim holds."""

    def selection(self, as_of: int, holders: tuple[str, ...] | None) -> Selection:
        """Of the beliefs of these holders at a point."""
        return Selection(as_of, holders, self.kinds, self.derivations, valid_at=self.valid_at, strict=self.strict)


ANYTHING = Asking()


def replay(
    trail: Trail, scope: Scope, *, as_of: str | None, asking: Asking = ANYTHING, after: int = -1, limit: int = 100
) -> Replayed:
    """What the holders in scope believed at a point; ``limit`` 0 gives the count alone.

    Raises:
        UsageError, BadTime: see ``trail.points.point`` and ``scoping.holders``.
    """
    with trail.reading(LogName.MEMORY) as rows:
        at = point(trail, rows, as_of)
        whole = asking.selection(at.seq, holders(rows, scope, at.seq))
        count = rows.count(whole) if after < 0 else None
        items = rows.believed(whole._replace(after=after, limit=limit + 1)) if limit else []
        found = {each.row.claim: tombstone(rows, each.row.claim) for each in items[:limit] if each.text is None}
        head = rows.head()
        root = head.root if at.seq == head.size - 1 else root_at(rows, at.seq + 1)
        exact = precisions(items[:limit])
    erased = {claim: gone for claim, gone in found.items() if gone is not None}
    return Replayed(at, root, count, tuple(items[:limit]), len(items) > limit > 0, erased, exact)
