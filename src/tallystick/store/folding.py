"""Entries into views: a batch as it is appended, or a whole log again, since the views are only what the entries come to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tallystick.beliefs import ClaimRow, Effects, asks, effects
from tallystick.log.canonical import entry_from_bytes
from tallystick.log.merkle import Frontier, leaf_hash
from tallystick.model.entry import Entry
from tallystick.store.protocol import Writing

_AT_ONCE = 512

Batch = Iterable[tuple[Entry, Mapping[str, bytes]]]
"""Entries in order, each with the bodies of its parts by name."""


def fold_into(rows: Writing, batch: Batch) -> None:
    """Add to the views and to the search index what each entry means, given what stood before it."""
    made: Effects = []
    texts: list[tuple[int, str]] = []
    for entry, bodies in batch:
        if made and asks(entry):
            rows.apply(made, texts)
            made, texts = [], []
        more = effects(entry, bodies, rows)
        made.extend(more)
        if more and type(more[0]) is ClaimRow and "text" in bodies:
            texts.append((entry.seq, bodies["text"].decode("utf-8", "replace")))
    rows.apply(made, texts)


def fold_anew(rows: Writing) -> None:
    """Fill empty views, and the subtrees that proofs are made of, from the entries and parts that are there.

    Raises:
        CanonicalError: an entry is damaged.
    """
    frontier = Frontier()
    size = rows.head().size
    for start in range(0, size, _AT_ONCE):
        stop = start + _AT_ONCE
        bodies = {seq: {name: body for name, _, body in parts} for seq, parts in rows.parts_between(start, stop)}
        entries = list(rows.entries(start, stop))
        frontier.extend(leaf_hash(row.canon) for row in entries)
        fold_into(rows, [(entry_from_bytes(row.canon), bodies.get(row.seq, {})) for row in entries])
    rows.add_nodes(frontier.completed)
