"""Those who edit a trail at rest, by what they know: rows alone, or the whole format. None has what is kept outside.

``RowEdits`` writes single rows, with the engine's guards standing or taken off for the while. ``Rewriting`` knows the format
and has tallystick at hand: it takes the trail apart, makes the edit, and builds a trail from that with every digest, leaf,
tree, head, view and index as tallystick itself would have made them.
"""

from __future__ import annotations

import base64
import io
import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from benchmarks.accountability.agmi.places import Place, Row
from tallystick.log.canonical import entry_bytes, entry_from_bytes, part_digest
from tallystick.log.merkle import Frontier, leaf_hash
from tallystick.model.entry import Entry, EntryKind, LogName
from tallystick.testing.trails import MemoryOutside, SetClock
from tallystick.trail import Trail
from tallystick.workflows.portable import export_lines, import_lines

Parts = tuple[tuple[str, bytes, bytes], ...]
"""(name, salt, body), in order of name."""

VERBATIM = {"verdicts": [{"reason": "verbatim", "spans": [], "value": "verbatim", "verifier": "quotation/1"}]}


class Attacker(Protocol):
    """Makes the edits of the suite in one place."""

    name: str

    def put(self, row: Row) -> None:
        """Have ``row.seq`` hold what the row holds; a seq that is not there yet is the next one."""
        ...

    def drop(self, seqs: Collection[int]) -> None:
        """Have these entries gone."""
        ...

    def relabel(self, claim: int, origin: str) -> None:
        """Have the view say another origin of a claim, and no entry."""
        ...

    def put_back(self, folder: Path) -> None:
        """Have the store be what it was when a copy was made."""
        ...


class RowEdits:
    """Edits rows, and nothing that follows from them."""

    def __init__(self, place: Place, *, guards: bool = False) -> None:
        self._place = place
        self._guards = guards
        self.name = "rows, guards standing" if guards else "rows, guards off"

    def put(self, row: Row) -> None:
        """See ``Attacker``."""
        self._place.put(row, guards=self._guards)

    def drop(self, seqs: Collection[int]) -> None:
        """See ``Attacker``: the last one first."""
        for seq in sorted(seqs, reverse=True):
            self._place.drop(seq, guards=self._guards)

    def relabel(self, claim: int, origin: str) -> None:
        """See ``Attacker``."""
        self._place.relabel(claim, origin, guards=self._guards)

    def put_back(self, folder: Path) -> None:
        """See ``Attacker``."""
        self._place.put_back(folder)


class Rewriting:
    """Makes an edit and everything that follows from it, with tallystick's own code.

    With ``trail_id`` the trail is built under another id, of which nothing is known outside.
    """

    def __init__(self, place: Place, *, trail_id: str = "") -> None:
        self._place = place
        self._trail_id = trail_id
        self.name = "all recomputed, another trail id" if trail_id else "all recomputed"

    def put(self, row: Row) -> None:
        """See ``Attacker``. Content that comes from another seq takes the time of the one it is put at; a claim at the end is
        given a verdict that calls it verbatim."""
        logs = self._logs()
        entries = logs[LogName.MEMORY].entries
        entry = entry_from_bytes(row.canon)
        if row.seq == len(entries):
            entries.append((entry, row.parts))
            judged = entry._replace(kind=EntryKind.JUDGED, holder="", refs=(row.seq,))
            entries.append((judged, ((f"verdict/{row.seq}", os.urandom(32), json.dumps(VERBATIM).encode()),)))
        else:
            there, _ = entries[row.seq]
            if entry.seq != row.seq:
                entry = entry._replace(at=there.at, clock=there.clock)
            entries[row.seq] = entry, row.parts
        self._build(logs)

    def drop(self, seqs: Collection[int]) -> None:
        """See ``Attacker``. Those that are left close ranks, and what referred to them refers to them still."""
        logs = self._logs()
        entries = logs[LogName.MEMORY].entries
        left = [seq for seq in range(len(entries)) if seq not in seqs]
        now = {old: new for new, old in enumerate(left)}
        logs[LogName.MEMORY].entries[:] = [_moved(*entries[seq], now) for seq in left]
        for log in logs.values():
            log.entries[:] = [(_pointed(entry, now), parts) for entry, parts in log.entries]
        self._build(logs)

    def relabel(self, claim: int, origin: str) -> None:
        """See ``Attacker``. Nothing follows from a view."""
        self._place.relabel(claim, origin, guards=False)

    def put_back(self, folder: Path) -> None:
        """See ``Attacker``."""
        self._place.put_back(folder)
        if self._trail_id:
            self._build(self._logs())

    def _logs(self) -> dict[LogName, _Log]:
        with _opened(self._place) as trail:
            return _taken_apart(export_lines(trail))

    def _build(self, logs: Mapping[LogName, _Log]) -> None:
        self._place.clear()
        lines = (json.dumps(line).encode() for name, log in logs.items() for line in log.lines(name, self._trail_id))
        with _opened(self._place) as trail:
            import_lines(trail, io.BytesIO(b"\n".join(lines)))


@dataclass
class _Log:
    """One log taken apart."""

    header: dict[str, Any]
    entries: list[tuple[Entry, Parts]] = field(default_factory=list)
    archive: list[dict[str, Any]] = field(default_factory=list)

    def lines(self, name: LogName, trail_id: str) -> Iterator[dict[str, Any]]:
        """The log as an export has it, everything in it computed anew."""
        trail_id = trail_id or self.header["trail"]
        frontier = Frontier()
        below: list[dict[str, Any]] = []
        for seq, (entry, parts) in enumerate(self.entries):
            digests = tuple((part, part_digest(salt, body)) for part, salt, body in parts)
            canon = entry_bytes(entry._replace(trail=trail_id, log=name, seq=seq, parts=digests))
            frontier.append(leaf_hash(canon))
            below.append({"entry": canon.decode("ascii")})
            below += [
                {"body": base64.b64encode(body).decode(), "part": part, "salt": salt.hex(), "seq": seq}
                for part, salt, body in parts
            ]
        yield {**self.header, "root": frontier.root().hex(), "size": frontier.size, "trail": trail_id}
        yield from below
        yield from self.archive


def _taken_apart(lines: Iterable[bytes]) -> dict[LogName, _Log]:
    logs: dict[LogName, _Log] = {}
    log = _Log({})
    for line in map(json.loads, lines):
        if "export" in line:
            log = logs[LogName(line["log"])] = _Log(line)
        elif "entry" in line:
            log.entries.append((entry_from_bytes(line["entry"].encode("ascii")), ()))
        elif "part" in line:
            entry, parts = log.entries[-1]
            part = line["part"], bytes.fromhex(line["salt"]), base64.b64decode(line["body"])
            log.entries[-1] = entry, (*parts, part)
        else:
            log.archive.append(line)
    return logs


def _moved(entry: Entry, parts: Parts, now: Mapping[int, int]) -> tuple[Entry, Parts]:
    """An entry of the memory log among those that are left: its references, and the verdicts that name a claim."""
    refs = tuple(now[seq] for seq in entry.refs if seq in now)
    return entry._replace(refs=refs), tuple((_renamed(name, now), salt, body) for name, salt, body in parts)


def _renamed(name: str, now: Mapping[int, int]) -> str:
    what, _, claim = name.partition("/")
    return f"{what}/{now[int(claim)]}" if claim else name


def _pointed(entry: Entry, now: Mapping[int, int]) -> Entry:
    """An entry of any log, its references into the memory log led to where the entries are now."""
    xrefs = []
    for log, seqs in entry.xrefs:
        moved = tuple(now[seq] for seq in seqs if seq in now) if log == LogName.MEMORY else seqs
        if moved:
            xrefs.append((log, moved))
    return entry._replace(xrefs=tuple(xrefs))


@contextmanager
def _opened(place: Place) -> Iterator[Trail]:
    """The trail in a place, as someone opens it who has no keys of it and makes new ones."""
    trail = Trail(place.store(), MemoryOutside(), clock=SetClock(), entropy=os.urandom)
    try:
        yield trail
    finally:
        trail.store.close()
