"""Recall: search what was believed at a point, and log the question with its whole pool before anything is shown (ACCESS.1)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

from tallystick.briefing import shown as neutralised
from tallystick.embedders.protocol import Embedder
from tallystick.errors import UsageError
from tallystick.model.entry import EntryKind, LogName
from tallystick.nearness import nearest
from tallystick.ranking import DEEPEST, EACH, HYBRID, METHOD, Scored, candidates, fused, query_tokens, score
from tallystick.store.protocol import Belief, Reading, Selection
from tallystick.store.words import words
from tallystick.trail import Trail
from tallystick.trail.points import Point, point
from tallystick.workflows.contexts import exactly, surface
from tallystick.workflows.placing import AT_ONCE, place_some, placed_or_missing
from tallystick.workflows.replay import ANYTHING, Asking
from tallystick.workflows.scoping import Scope, holders
from tallystick.workflows.typed import fit
from tallystick.workflows.valid_times import precisions

POOL = 200
"""Items of the first stage that a recall keeps on record."""
LOOKED_UP = 240
"""Matches that are looked up at once, to see which of them are held."""
PLACED_FIRST = 2_000
"""Claims without a vector that a search gives one before it looks."""
DEEPER = 8
"""Times as many claims are looked at for a word where too few of them are held."""


class Pool(NamedTuple):
    """The first stage of a search."""

    scored: list[Scored]
    unread: int
    """Matches after these that were not looked up."""
    whole: bool
    """Whether all that match are counted in the two."""
    method: str = METHOD
    ranks: Mapping[int, tuple[int, int]] = {}
    """Claim → its ranks by words and by meaning, from 1; 0 where it is in one of the two orders alone."""


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

    method: str = METHOD
    """How it was ordered: ``ranking.METHOD``, or with meaning ``ranking.HYBRID``."""

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
    embedder: Embedder | None = None,
) -> Recalled:
    """Search and log. If the log cannot be written, the recall fails.

    With an ``embedder`` by words and by meaning, both orders fused; claims that have no vector yet are given one first, up to
    ``PLACED_FIRST`` of them.

    ``render`` is given the answer with its number, and gives the text in which it will be shown: that is what is kept, and
    given back as ``Recalled.shown``.

    Raises:
        UsageError, BadTime: see ``trail.points.point`` and ``scoping.holders``; or more claims have no vector than that.
        MachineError: the access log cannot be written, or the model cannot be run.
    """
    query = fit(query)
    asked = None if embedder is None else _placed(trail, query, scope, as_of, embedder)
    with trail.reading() as rows:
        at = point(trail, rows, as_of)
        selection = asking.selection(at.seq, holders(rows, scope, at.seq))
        pool = _pool(rows, query, selection)
        if embedder is not None and asked is not None:
            pool = _fused(rows, pool, selection, embedder.name, asked)
        shown = {scored.claim: scored.score for scored in pool.scored[:limit]}
        beliefs = {each.row.claim: each for each in rows.believed(selection._replace(claims=tuple(sorted(shown))))}
        exact = precisions(beliefs.values())
        newest = rows.head().size - 1
    record = {
        "as_of": at.seq,
        "method": pool.method,
        "more": max(0, len(pool.scored) - POOL) + pool.unread,
        "pool": [(*each, *pool.ranks.get(each.claim, ())) for each in pool.scored[:POOL]],
        "surfaced": list(shown),
        "whole": pool.whole,
    }
    parts = {"query": query.encode(), "pool": json.dumps(record, separators=(",", ":")).encode()}
    items = tuple((beliefs[claim], points) for claim, points in shown.items() if claim in beliefs)
    more = len(pool.scored) - len(items) + pool.unread
    found = Recalled(-1, at, items, more, precisions=exact, whole=pool.whole, method=pool.method)
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


def _placed(trail: Trail, query: str, scope: Scope, as_of: str | None, embedder: Embedder) -> bytes:
    """The query's vector, once every claim that may be near it has one: else what is found would depend on who asked before."""
    with trail.reading() as rows:
        at = point(trail, rows, as_of)
        _, missing = placed_or_missing(rows, embedder.name, at.seq, holders(rows, scope, at.seq))
    if len(missing) > PLACED_FIRST:
        raise UsageError(
            f"{len(missing):,} claims have no vector of {embedder.name} yet; run `tally embed` once, or search with --words"
        )
    for start in range(0, len(missing), AT_ONCE):
        place_some(trail, embedder, missing[start : start + AT_ONCE])
    return embedder.embed([query])[0]


def _fused(rows: Reading, pool: Pool, selection: Selection, model: str, asked: bytes) -> Pool:
    """The pool with what is near the query in meaning: of both orders the same trust decides between equals."""
    vectors, _ = placed_or_missing(rows, model, selection.as_of, selection.holders)
    near = dict(nearest(asked, vectors, POOL))
    held = rows.standings(selection._replace(claims=tuple(sorted(near))))
    trust = {standing.claim: (standing.derivation, standing.outcome) for standing in held}
    by_words = [each.claim for each in pool.scored[:POOL]]
    by_meaning = [each.claim for each in score(near.__getitem__, trust)]
    words_rank, meaning_rank = ({claim: n for n, claim in enumerate(order, 1)} for order in (by_words, by_meaning))
    fusion = fused(by_words, by_meaning)
    ranks = {each.claim: (words_rank.get(each.claim, 0), meaning_rank.get(each.claim, 0)) for each in fusion}
    rest = pool.scored[POOL:]
    return Pool([*fusion, *(each for each in rest if each.claim not in ranks)], pool.unread, pool.whole, HYBRID, ranks)
