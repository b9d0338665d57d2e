"""The suite's adapter for edits at rest: a trail that is written by ``remember``, and read by ``recall`` and ``verify``.

A record of the suite is a claim: the entry that asserts it, its parts, and the entries that refer to it. The suite's two
contexts are two projects. What detects is asked in the order in which a user would come to it: ``recall`` first, which is
what an agent reads, and then ``verify``. The suite's own command takes it too, from the top of the repository:
``python -m agmi.check --adapter benchmarks.accountability.agmi.adapter:TrailAdapter``.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agmi.adapters.base import MemoryAdapter, Record

from benchmarks.accountability.agmi.attackers import Attacker, Parts, RowEdits
from benchmarks.accountability.agmi.places import MakePlace, Place, Refused, Row, fresh_folder
from benchmarks.accountability.agmi.sqlite_place import SqlitePlace
from tallystick.errors import TallyError
from tallystick.log.canonical import entry_bytes, entry_from_bytes, part_digest
from tallystick.log.merkle import leaf_hash
from tallystick.model.claim import ClaimKind
from tallystick.model.entry import Entry, EntryKind
from tallystick.model.temporal import UNKNOWN_VALID_TIME
from tallystick.store.outside import OutsideFolder
from tallystick.testing.trails import SetClock
from tallystick.tokenizer import count_tokens
from tallystick.trail import Trail
from tallystick.workflows.recall import recall
from tallystick.workflows.remember import Said, Tools, remember
from tallystick.workflows.scoping import Scope
from tallystick.workflows.verify import verify_trail

FIRST, OTHER = "project:first", "project:other"
PERSON = "person:ada"
MINUTE = 60_000_000
LABELLED = ("origin", "owner", "time", "origin in the view")
"""What of a claim T8 is tried on: whose words they are, whose memory it stands in, when it was appended; and the first of
these where only recall reads it."""


class Claim(Record):
    """A record of the suite with the row it was read from. ``fields`` are those that say something, wherever it lies."""

    def __init__(self, row: Row, seq: int, entry: Entry) -> None:
        told = {name: body.decode("utf-8", "replace") for name, _, body in row.parts}
        salts = {name: salt.hex() for name, salt, _ in row.parts}
        super().__init__(seq, {"at": entry.at, "holder": entry.holder, "kind": entry.kind, "salts": salts, **told})
        self.row = row
        self.entry = entry


class TrailAdapter(MemoryAdapter):
    """A trail under attack. Every operation opens it afresh, as another process would."""

    name = "tallystick"
    supports_replay = True
    supports_metadata = True
    supports_snapshot = True
    detection_point = "audit"
    """Set anew by each ``verify``: ``read`` where the trail was not even read."""

    def __init__(
        self,
        attack: Callable[[Place], Attacker] = RowEdits,
        make_place: MakePlace = SqlitePlace,
        *,
        label: str = LABELLED[0],
        outside: bool = True,
    ) -> None:
        self._attack = attack
        self._make_place = make_place
        self.label = label
        self._outside = outside
        self.refused = ""
        """What the engine said when it refused the edit."""

    def setup(self) -> None:
        """See ``MemoryAdapter``."""
        self._folder = fresh_folder()
        self._clock = SetClock()
        self._copies = 0
        self.refused = ""
        self.place = self._make_place(self._folder / "trail")
        self.attacker = self._attack(self.place)

    def teardown(self) -> None:
        """See ``MemoryAdapter``."""
        shutil.rmtree(self._folder)

    def seed(self, n: int) -> None:
        """See ``MemoryAdapter``."""
        self._remember(FIRST, *(f"The limit of queue {number} is {40 + number} messages." for number in range(n)))

    def seed_other(self, n: int) -> None:
        """See ``MemoryAdapter``."""
        self._remember(OTHER, *(f"The limit of stack {number} is {90 + number} frames." for number in range(n)))

    def append_genuine(self) -> None:
        """See ``MemoryAdapter``."""
        self._remember(FIRST, "The limit of the last queue is 99 messages.")

    def read_all_raw(self) -> list[Record]:
        """See ``MemoryAdapter``."""
        return self._claims(FIRST)

    def read_other_raw(self) -> list[Record]:
        """See ``MemoryAdapter``."""
        return self._claims(OTHER)

    def write_raw(self, record: Record) -> None:
        """See ``MemoryAdapter``."""
        self._edit(lambda: self.attacker.put(_claim(record).row._replace(seq=record.seq)))

    def delete_raw(self, seq: int) -> None:
        """See ``MemoryAdapter``: a claim goes with what refers to it."""
        about = [row.seq for row in self.place.rows() if seq in entry_from_bytes(row.canon).refs]
        self._edit(lambda: self.attacker.drop({seq, *about}))

    def replay_onto(self, victim_seq: int, donor: Record) -> None:
        """See ``MemoryAdapter``: salts and bodies of the donor under the victim's entry."""
        victim = self._row(victim_seq)
        self._edit(lambda: self.attacker.put(victim._replace(parts=_claim(donor).row.parts)))

    def mutate_payload(self, record: Record) -> Record:
        """See ``MemoryAdapter``: another limit."""
        claim = _claim(record)
        parts = _with(claim.row.parts, "text", lambda text: text.replace(b"is 4", b"is 7").replace(b"is 9", b"is 8"))
        return Claim(claim.row._replace(parts=parts), claim.seq, claim.entry)

    def forge_record(self, template: Record) -> Record:
        """See ``MemoryAdapter``: the next entry of the log, canonical, with digests and a leaf hash that are right."""
        claim = _claim(self.mutate_payload(template))
        seq = self.place.rows()[-1].seq + 1
        entry = claim.entry._replace(seq=seq, parts=_digests(claim.row.parts))
        canon = entry_bytes(entry)
        return Claim(Row(seq, entry.at, canon, leaf_hash(canon), claim.row.parts), seq, entry)

    def read_meta(self, seq: int) -> dict[str, Any]:
        """See ``MemoryAdapter``."""
        row = self._row(seq)
        entry = entry_from_bytes(row.canon)
        facets = json.loads({name: body for name, _, body in row.parts}["facets"])
        view = self.place.label(seq)
        return {"origin": facets["origin"], "owner": entry.holder, "time": entry.at, "origin in the view": view}

    def write_meta(self, seq: int, meta: dict[str, Any]) -> None:
        """See ``MemoryAdapter``: writes the one label that this adapter was made for, whatever else ``meta`` says."""
        row = self._row(seq)
        entry = entry_from_bytes(row.canon)
        if self.label == "origin in the view":
            self._edit(lambda: self.attacker.relabel(seq, "user"))
            return
        if self.label == "origin":
            row = row._replace(parts=_with(row.parts, "facets", lambda body: body.replace(b'"assistant"', b'"user"')))
        else:
            told = {"holder": "f" * 32} if self.label == "owner" else {"at": entry.at - 1}
            canon = entry_bytes(entry._replace(**told))
            row = row._replace(canon=canon, leaf=leaf_hash(canon), at=entry.at - (self.label == "time"))
        self._edit(lambda: self.attacker.put(row))

    def snapshot_store(self) -> object:
        """See ``MemoryAdapter``."""
        self._copies += 1
        copy = self._folder / f"copy-{self._copies}"
        self.place.copy(copy)
        return copy

    def restore_store(self, token: object) -> None:
        """See ``MemoryAdapter``."""
        assert isinstance(token, Path)
        self._edit(lambda: self.attacker.put_back(token))

    def identity_of(self, record: Record) -> str:
        """See ``MemoryAdapter``."""
        return str(record.seq)

    def payload_of(self, record: Record) -> str:
        """See ``MemoryAdapter``."""
        return str(record.fields["text"])

    def owner_of(self, record: Record) -> str:
        """See ``MemoryAdapter``."""
        return str(record.fields["holder"])

    def reload(self) -> None:
        """See ``MemoryAdapter``."""

    def verify(self) -> bool:
        """Recall as an agent would, then ``verify``; False where either would not have it, with what both said."""
        refused = self._recalled()
        sound, told = self._verified()
        self.detection_point = "read" if refused else "audit"
        self.verify_detail = f"recall: {refused}; verify: {told}" if refused else f"verify: {told}"
        return sound and not refused

    def _recalled(self) -> str:
        """Why recall would not answer; empty where it did. It takes the keys, and is not asked where there are none."""
        if not self._outside:
            return ""
        with self._trail() as trail:
            try:
                recall(trail, "limit", Scope(project=FIRST, person=PERSON), as_of=None, limit=50)
            except TallyError as error:
                return self.shown(error)
        return ""

    def _verified(self) -> tuple[bool, str]:
        """(whether ``verify`` finds the trail sound, its first problem and how the memory log stands to its known head)."""
        with self._trail("state" if self._outside else "empty") as trail:
            try:
                found = verify_trail(trail)
            except TallyError as error:
                return False, self.shown(error)
        state = f"checkpoint {found.memory.checkpoint}"
        if found.first_bad is None:
            return True, f"sound, {state}"
        log, bad = found.first_bad
        return False, f"{log} entry {bad.seq}: {bad.what}, {state}" if bad.seq >= 0 else f"{log}: {bad.what}, {state}"

    def shown(self, error: TallyError) -> str:
        """A message without the folder or the database that the trail is in for now."""
        return re.sub(r"postgresql://\S+?&trail=\w+", "…/trail", str(error).replace(str(self._folder), "…"))

    def swap(self) -> None:
        """Have another trail lie in the place of this one, of the same person and with its own keys and heads outside."""
        mine, other = self.place, self._make_place(self._folder / "another")
        self.place = other
        self._remember(FIRST, "The limit of queue 0 is 0 messages.")
        other.copy(self._folder / "swapped")
        self.place = mine
        mine.put_back(self._folder / "swapped")

    def _remember(self, project: str, *texts: str) -> None:
        """One command after the other, a minute apart."""
        with self._trail() as trail:
            for text in texts:
                self._clock.now += MINUTE
                said = Said(text, ClaimKind.FACT, "", UNKNOWN_VALID_TIME)
                remember(trail, said, None, Tools(count_tokens, project, PERSON))

    @contextmanager
    def _trail(self, state: str = "state") -> Iterator[Trail]:
        trail = Trail(
            self.place.store(), OutsideFolder(self._folder / state), clock=self._clock, entropy=os.urandom, actor="ada"
        )
        try:
            yield trail
        finally:
            trail.store.close()

    def _claims(self, project: str) -> list[Record]:
        """The claims that lie in the rows of one project's memory, in the order of their places."""
        holder, found = "", list[Record]()
        for row in self.place.rows():
            entry = entry_from_bytes(row.canon)
            if entry.kind == EntryKind.INTRODUCED and any(f'"{project}"'.encode() in body for _, _, body in row.parts):
                holder = entry.holder
            if entry.kind == EntryKind.ASSERTED and entry.holder == holder:
                found.append(Claim(row, row.seq, entry))
        return found

    def _row(self, seq: int) -> Row:
        return next(row for row in self.place.rows() if row.seq == seq)

    def _edit(self, edit: Callable[[], None]) -> None:
        try:
            edit()
        except Refused as refused:
            self.refused = str(refused)
            raise


def _claim(record: Record) -> Claim:
    assert isinstance(record, Claim)
    return record


def _with(parts: Parts, wanted: str, change: Callable[[bytes], bytes]) -> Parts:
    return tuple((name, salt, change(body) if name == wanted else body) for name, salt, body in parts)


def _digests(parts: Parts) -> tuple[tuple[str, str], ...]:
    return tuple((name, part_digest(salt, body)) for name, salt, body in parts)
