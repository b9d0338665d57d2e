"""Recall: search what was believed at a point, and log the question with its whole pool before anything is shown (ACCESS.1)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

from tallystick.briefing import shown as neutralised
from tallystick.model.entry import EntryKind, LogName
from tallystick.ranking import DEEPEST, EACH, METHOD, Scored, candidates, query_tokens, score
from tallystick.store.protocol import Belief, Reading, Selection
from tallystick.store.words import words
from tallystick.trail import Trail
from tallystick.trail.points import Point, point
from tallystick.workflows.contexts import exactly, surface
from tallystick.workflows.replay import ANYTHING, Asking
from tallystick.workflows.scoping import Scope, holders
from tallystick.workflows.typed import fit
from tallystick.workflows.valid_times import precisions

POOL = 200
"""Items of the first stage that a recall keeps on record."""
LOOKED_UP = 240
"""Matches that are looked up at once, to see which of them are held."""
DEEPER = 8
"""Times as many claims are looked at for a word where too few of them are held."""


class Pool(NamedTuple):
    """The first stage of a search."""

    scored: list[Scored]
    unread: int
    """Matches after these that were not looked up."""
    whole: bool
    """Whether all that match are counted in the two."""


class Recalled(NamedTuple):
    """The answer, with the seq in the access log under which the question is kept."""

    recall: int
    point: Point
    items: tuple[tuple[Belief, int], ...]
    """(belief, score in millionths), best first."""
    more: int
    """Beliefs that matched and are not among the items."""
    shown: str = ""
    """What was kept as shown; to be printed exactly so (ACCESS.3)."""
    precisions: Mapping[int, str | None] = {}
    """See ``replay.Replayed``."""
    whole: bool = True
    """Whether ``more`` is all of them; else there may be others among claims that are older than those looked at."""

    @property
    def left(self) -> str:
        """How many more there are, for a reader."""
        return f"{self.more} more" if self.whole else f"at least {self.more} more"


def as_lines(found: Recalled) -> str:
    """A line for each item, with its id and words."""
    lines = [f"c{belief.row.claim} {neutralised(belief.text or '')}" for belief, _ in found.items]
    return "".join(f"{line}\n" for line in [*lines, f"{found.left} (r{found.recall})"])


def recall(
    trail: Trail,
    query: str,
    scope: Scope,
    *,
    as_of: str | None,
    render: Callable[[Recalled], str] = as_lines,
    asking: Asking = ANYTHING,
    limit: int = 10,
) -> Recalled:
    """Search and log. If the log cannot be written, the recall fails.

    ``render`` is given the answer with its number, and gives the text in which it will be shown: that is what is kept, and
    given back as ``Recalled.shown``.

    Raises:
        UsageError, BadTime: see ``trail.points.point`` and ``scoping.holders``.
        MachineError: the access log cannot be written.
    """
    query = fit(query)
    with trail.reading() as rows:
        at = point(trail, rows, as_of)
        selection = asking.selection(at.seq, holders(rows, scope, at.seq))
        pool = _pool(rows, query, selection)
        shown = {scored.claim: scored.score for scored in pool.scored[:limit]}
        beliefs = {each.row.claim: each for each in rows.believed(selection._replace(claims=tuple(sorted(shown))))}
        exact = precisions(beliefs.values())
        newest = rows.head().size - 1
    record = {
        "as_of": at.seq,
        "method": METHOD,
        "more": max(0, len(pool.scored) - POOL) + pool.unread,
        "pool": pool.scored[:POOL],
        "surfaced": list(shown),
        "whole": pool.whole,
    }
    parts = {"query": query.encode(), "pool": json.dumps(record, separators=(",", ":")).encode()}
    items = tuple((beliefs[claim], points) for claim, points in shown.items() if claim in beliefs)
    more = len(pool.scored) - len(items) + pool.unread
    found = Recalled(-1, at, items, more, precisions=exact, whole=pool.whole)
    with trail.writing(LogName.ACCESS) as appender:
        found = found._replace(recall=appender.add(EntryKind.RECALLED, parts))
        found = found._replace(shown=exactly(render(found)))
        surface(appender, found.shown, at, newest, tuple(shown), [found.recall])
    trail.seal(LogName.ACCESS)
    return found


def _pool(rows: Reading, query: str, selection: Selection) -> Pool:
    """What is held at the point and matches, best first: ``POOL`` of it, or all where there is less."""
    tokens = query_tokens(query)
    trust: dict[int, tuple[str, str]] = {}
    looked_up: set[int] = set()
    each = EACH
    while True:
        found = candidates(
            tokens,
            selection.as_of,
            partial(rows.newest, selection=selection, limit=each),
            lambda claims: {claim: frozenset(words(text)) for claim, text in rows.texts(claims).items()},
            each,
        )
        waiting = [claim for claim in found.best if claim not in looked_up]
        while waiting and len(trust) < POOL:
            now, waiting = waiting[:LOOKED_UP], waiting[LOOKED_UP:]
            looked_up.update(now)
            held = rows.standings(selection._replace(claims=tuple(sorted(now))))
            trust.update({standing.claim: (standing.derivation, standing.outcome) for standing in held})
        if found.whole or len(trust) >= POOL or each >= DEEPEST:
            return Pool(score(found.coverage, trust), len(waiting), found.whole)
        each *= DEEPER
