"""The trail that is flipped, and everything that can be read of it: what must not change unless ``verify`` says so."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

import zstandard

from tallystick.briefing import brief
from tallystick.model.entry import EntryKind, LogName
from tallystick.model.temporal import DAY, Interval, ValidTime
from tallystick.ranking import query_tokens
from tallystick.store.memory import MemoryStore
from tallystick.store.outside import OutsideFolder
from tallystick.store.protocol import Reading, Selection, Store
from tallystick.store.sqlite import SqliteStore
from tallystick.testing.trails import RepeatingEntropy, SetClock
from tallystick.trail import Trail
from tallystick.workflows.amend import retract, revise, undo
from tallystick.workflows.ingest import ingest
from tallystick.workflows.recall import recall
from tallystick.workflows.scoping import Scope
from tallystick.workflows.why import why

EVERYONE = Scope(("*",))
ENTRIES = 50


class Place(NamedTuple):
    """A run of bytes of a file that is the content of an entry or a part."""

    start: int
    end: int
    seq: int


def open_at(folder: Path) -> Trail:
    """The trail in ``folder/trail`` with its keys and heads in ``folder/state``."""
    entropy = RepeatingEntropy(50)
    return Trail(
        SqliteStore(folder / "trail"), OutsideFolder(folder / "state", entropy), clock=SetClock(), entropy=entropy
    )


def build(folder: Path, session: Path) -> Trail:
    """Fifty entries of every kind that this version writes, and three recalls; returns the open trail."""
    from tallystick.plugins import ingest_tools

    trail = open_at(folder)
    ingest(trail, [session], ingest_tools({"TALLY_PERSON": "ada"}))
    with trail.writing() as appender:
        holder = appender.holder("project:flips", "project")
        made = []
        for _ in range(6):
            parts = {
                "text": f"fact {appender.size} of the cache is kept".encode(),
                "facets": json.dumps({"kind": "fact", "origin": "assistant", "said_at": 5, "tokens": 9}).encode(),
            }
            made.append(appender.add(EntryKind.ASSERTED, parts, holder=holder))
            verdict = {"verdicts": [{"verifier": "quotation/1", "value": "verbatim", "reason": "", "spans": []}]}
            appender.add(EntryKind.JUDGED, {f"verdict/{made[-1]}": json.dumps(verdict).encode()}, refs=[made[-1]])
        appender.add(EntryKind.LINKED, {"contradicts": b"{}"}, refs=made[-2:])
        appender.add(EntryKind.RECONFIRMED, {"facets": b'{"said_at":9}'}, refs=[made[0]])
        appender.add("dreamt", {"text": b"a kind of next year"}, refs=[made[0]])
    dated = ValidTime((Interval(0, DAY), Interval(2 * DAY, 3 * DAY)), start_known=True, precision="day")
    revise(trail, made[0], "the cache is kept in Lisbon", "moved", change=False, valid=dated, count_tokens=len)
    revise(trail, made[1], "the cache is kept in Oslo", "moved", change=True, valid=ValidTime(), count_tokens=len)
    retract(trail, made[2], "it was wrong")
    undone = retract(trail, made[3], "it was wrong").seq
    undo(trail, undone, "it was right")
    while (size := _size(trail)) < ENTRIES:
        with trail.writing() as appender:
            appender.add(EntryKind.RECONFIRMED, {"facets": json.dumps({"said_at": size}).encode()}, refs=[made[0]])
    for query in ("the cache in Oslo", "tests", "nothing at all"):
        recall(trail, query, EVERYONE, as_of=None, limit=3)
    for log in (LogName.MEMORY, LogName.ACCESS):
        trail.seal(log)
    return trail


def _size(trail: Trail) -> int:
    with trail.reading() as rows:
        return rows.head().size


def read_memory(trail: Trail, claims: list[int]) -> str:
    """Every answer that stands on the memory log: replays, searches, a briefing, the provenance of each claim, an export."""
    told: list[object] = []
    with trail.reading() as rows:
        told.append(_exported(rows))
        told.extend(rows.names(what) for what in ("actor", "holder", "session"))
        holders = tuple(name.id for name in rows.names("holder"))
        for seq in (-1, 9, 20, 33, ENTRIES - 1):
            told += [rows.believed(Selection(seq)), rows.count(Selection(seq))]
        told.append(rows.believed(Selection(ENTRIES - 1, holders[-1:], ("fact",), valid_at=2 * DAY)))
        for query in ("cache Oslo", "tests pass", "port"):
            told += [rows.newest([token], Selection(ENTRIES - 1), ENTRIES) for token in query_tokens(query)]
        told.extend(rows.links(ENTRIES, kind) for kind in ("contradicts", "revises"))
        told.extend(rows.seq_at(instant) for instant in (0, SetClock().now))
        told.append(_briefed(rows))
    nothing_known = OutsideFolder(Path(trail.outside.location) / "nothing")
    trail = Trail(_MemoryAlone(trail.store), nothing_known, clock=trail.clock, entropy=RepeatingEntropy())
    for claim in claims:
        found = why(trail, claim, None)
        # Where the source file stands today is not the trail's to say.
        told.append(
            found._replace(evidence=tuple(line._replace(source="", source_state="") for line in found.evidence))
        )
    return repr(told)


class _MemoryAlone:
    """A store whose other logs are empty: they have readings of their own."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._empty = MemoryStore()
        self.location = store.location
        self.writing = store.writing
        self.check = store.check
        self.scrub = store.scrub
        self.written_since = store.written_since
        self.opener = store.opener
        self.close = store.close

    def reading(self, log: LogName) -> AbstractContextManager[Reading]:
        return (self._store if log is LogName.MEMORY else self._empty).reading(log)


def read_access(trail: Trail) -> str:
    """Every answer that stands on the access log: its export, and the answers that surfaced a claim."""
    with trail.reading(LogName.ACCESS) as rows:
        return repr(_exported(rows))


def _exported(rows: Reading) -> list[object]:
    entries = [row[:3] for row in rows.entries()]
    parts = [rows.parts(seq) for seq, _, _ in entries]
    events = [event for name in rows.names("session") for event in rows.session_events(name.seq)]
    return [entries, parts, events, [(row.block, _content(row.data)) for row in rows.blocks()]]


def _content(data: bytes) -> bytes:
    """What a block holds: how it is packed is storage, and a few bits of a packing mean nothing (docs/spec/trail.md)."""
    try:
        return zstandard.ZstdDecompressor().decompress(data)
    except zstandard.ZstdError:
        return data


def _briefed(rows: Reading) -> str:
    return brief(rows.standings(Selection(ENTRIES - 1)), now=SetClock().now, budget=400, text=rows.text).text


def places_of(folder: Path, log: LogName, data: bytes) -> list[Place]:
    """Where in the bytes of a log's file the entries, their leaf hashes, and the parts stand; spilled ones are left out."""
    trail = open_at(folder)
    found = []
    with trail.reading(log) as rows:
        pieces = [(row.seq, piece) for row in rows.entries() for piece in (row.canon, row.leaf)]
        pieces += [(seq, piece) for seq, parts in rows.parts_between() for _, *pair in parts for piece in pair]
    trail.store.close()
    for seq, piece in pieces:
        start = data.find(piece)
        if len(piece) >= 16 and start >= 0 and data.find(piece, start + 1) < 0:
            found.append(Place(start, start + len(piece), seq))
    return found
