"""A bundle: what was believed at a signed checkpoint, with every leaf under its root and the parts that the answer needs.

Lines of JSON, each in the one form that ``line`` gives: a header, the leaves, the beliefs, an end. What is in them is said in
docs/spec/trail.md. Nothing but beliefs and the ids of those that were answered about is held in memory.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from tallystick.beliefs import places_of
from tallystick.errors import ProofError
from tallystick.log.merkle import leaf_hash
from tallystick.model.entry import FORMAT, Entry, EntryKind
from tallystick.model.temporal import Interval
from tallystick.store.protocol import Belief, PartRow, Reading, Selection
from tallystick.trail import Trail
from tallystick.trail.proving import Signed, signed_checkpoint
from tallystick.trail.walking import read_entry
from tallystick.workflows.scoping import Scope, holders

BUNDLE = "tallystick-bundle/1"
EXTENSION = ".tally-bundle"
_PAGE = 1000
OPENING = frozenset({EntryKind.ASSERTED, EntryKind.REVISED})
"""Kinds of entries that may open a claim."""
_TOUCHING = frozenset({EntryKind.OBSERVED, EntryKind.RECONFIRMED, EntryKind.RETRACTED})


class Header(NamedTuple):
    """The first line: what was asked, and under which checkpoint."""

    checkpoint: str
    """The signed note whose leaves are folded."""
    holders: tuple[str, ...] | None
    """Ids of the holders asked for; None is everyone."""
    kinds: tuple[str, ...] | None
    valid_at: int | None
    key: str
    """The trail's public key in hex, for those who have it from nowhere else."""
    later: str | None
    """A newer note; there where something that the first one covers was erased after it."""

    def line(self) -> bytes:
        """As it stands in the bundle."""
        asked = {"holders": self.holders, "kinds": self.kinds, "valid_at": self.valid_at}
        later = {} if self.later is None else {"later": self.later}
        return line({"asked": asked, "bundle": BUNDLE, "checkpoint": self.checkpoint, "key": self.key, **later})

    def selection(self, size: int) -> Selection:
        """The beliefs that were asked for, after the first ``size`` entries."""
        return Selection(size - 1, holders=self.holders, kinds=self.kinds, valid_at=self.valid_at)


class Asked(NamedTuple):
    """What a bundle is made of."""

    under: Signed
    later: Signed | None
    selection: Selection
    """The whole answer, not a page of it."""
    size: int
    """Entries in the log, whether or not the checkpoint covers them."""

    def header(self) -> Header:
        """The first line."""
        later = None if self.later is None else self.later.note.decode()
        what, under = self.selection, self.under
        return Header(under.note.decode(), what.holders, what.kinds, what.valid_at, under.public_key.hex(), later)


def ask(trail: Trail, rows: Reading, scope: Scope, as_of: str | None, valid_at: int | None) -> Asked:
    """What a bundle is to prove: the beliefs of the holders in scope under a signed checkpoint.

    Raises:
        UsageError, BadTime: see ``trail.proving.signed_checkpoint`` and ``scoping.holders``.
    """
    under = signed_checkpoint(trail, rows, as_of)
    size = under.checkpoint.size
    selection = Selection(size - 1, holders=holders(rows, scope, size - 1), valid_at=valid_at)
    later = signed_checkpoint(trail, rows, None) if _erased_since(rows, size) else None
    if later is not None and later.checkpoint.size <= size:
        later = None
    return Asked(under, later, selection, rows.head().size)


def _erased_since(rows: Reading, size: int) -> bool:
    return any(b'"kind":"erased"' in row.canon for row in rows.entries(size))


def bundle_lines(rows: Reading, asked: Asked) -> Iterator[bytes]:
    """The bundle's lines, each with its line feed."""
    yield asked.header().line()
    size = asked.under.checkpoint.size
    # Of what kind a claim is stands in a part: without it, nobody could tell that one was rightly left out.
    shown = {standing.claim for standing in rows.standings(asked.selection._replace(kinds=None))}
    leaves = asked.later.checkpoint.size if asked.later else size
    for row in rows.entries(0, leaves):
        entry = read_entry(row.canon)
        wanted = needed(entry, shown) if entry.seq < size else erasing(entry)
        wanted = [*wanted, *naming(entry, asked.selection.holders)]
        parts = [part for part in rows.parts(entry.seq) if part.name in wanted] if wanted else []
        yield leaf_line(row.canon, parts)
    count = 0
    for belief in _beliefs(rows, asked.selection):
        yield line({"believed": item(belief)})
        count += 1
    yield line({"end": {"believed": count, "leaves": leaves}})


def _beliefs(rows: Reading, selection: Selection) -> Iterator[Belief]:
    after = selection.after
    while page := rows.believed(selection._replace(after=after, limit=_PAGE)):
        yield from page
        after = page[-1].row.claim


def leaf_line(canon: bytes, parts: Iterable[PartRow]) -> bytes:
    """A leaf with those of its parts that are disclosed. Its hash names the leaf that was changed; it proves nothing."""
    disclosed = {part.name: [b64(part.salt), b64(part.body)] for part in parts}
    return line({"hash": leaf_hash(canon).hex(), "leaf": canon.decode("ascii"), "parts": disclosed})


def item(belief: Belief) -> dict[str, Any]:
    """A belief as a bundle claims it."""
    return {
        "claim": belief.row.claim,
        "derivation": belief.derivation or "inferred",
        "holder": belief.row.holder,
        "kind": belief.row.kind,
        "lineage": belief.row.lineage,
        "origin": belief.row.origin,
        "outcome": belief.outcome or "none",
        "said_at": belief.said_at,
        "since": belief.version.tx_from,
        "text": belief.text,
        "valid": joined(belief.version.valid),
    }


def joined(valid: Iterable[Interval]) -> list[list[int]]:
    """The same time, given in order, in as few intervals as will do."""
    made: list[list[int]] = []
    for start, end in valid:
        if made and start <= made[-1][1]:
            made[-1][1] = end
        else:
            made.append([start, end])
    return made


def needed(entry: Entry, shown: Collection[int]) -> list[str]:
    """Names of the parts without which the standing of the claims in ``shown`` cannot be folded, in no order.

    Valid times are always among them: one claim's takes from another's. Words and verdicts are only those of the claims
    that are shown, so that a bundle about one holder tells nothing of what another one said.
    """
    names = {name for name, _ in entry.parts}
    if entry.v > FORMAT:
        return []
    if entry.kind in OPENING:
        wanted = {"valid", "facets", "text"} if entry.seq in shown else {"valid"}
    elif entry.kind in _TOUCHING:
        wanted = {"facets"} if any(claim in shown for claim in entry.refs[:1]) else set()
    elif entry.kind == EntryKind.JUDGED:
        wanted = {f"verdict/{claim}" for claim in entry.refs if claim in shown}
    else:
        return erasing(entry)
    return list(wanted & names)


def erasing(entry: Entry) -> list[str]:
    """The name of the part that says what an entry erased."""
    names = [name for name, _ in entry.parts]
    return ["places"] if entry.kind == EntryKind.ERASED and entry.v <= FORMAT and "places" in names else []


def naming(entry: Entry, whose: tuple[str, ...] | None) -> list[str]:
    """The name of the part that says what a holder who was asked for is called."""
    is_asked_for = whose is None or entry.holder in whose
    return ["holder"] if entry.kind == EntryKind.INTRODUCED and is_asked_for and entry.holder else []


def erased_parts(entry: Entry, bodies: Mapping[str, bytes]) -> set[tuple[int, str]]:
    """(seq, name) of the parts that an ``erased`` entry says it erased; none where it is another, or cannot be read."""
    if not erasing(entry):
        return set()
    listed, about = places_of(bodies).parts, frozenset(entry.refs)
    return {(seq, name) for seq, names in listed.items() if seq in about and seq < entry.seq for name in names}


def line(value: dict[str, Any]) -> bytes:
    """The one form that a value has as a line: ASCII, keys in order, no white space, a line feed."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii") + b"\n"


def b64(data: bytes) -> str:
    """Standard base64, padded."""
    return base64.b64encode(data).decode("ascii")


def unb64(text: object) -> bytes:
    """Inverse of ``b64``. Raises ``ProofError`` at anything that it does not make."""
    try:
        data = base64.b64decode(text, validate=True) if type(text) is str else None
    except ValueError:
        data = None
    if data is None or b64(data) != text:
        raise ProofError("something that is not base64")
    return data
