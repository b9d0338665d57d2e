"""Appending to a trail: entries get their seq, time, salts and digests here, and the views their rows, in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from hashlib import sha256
from typing import NamedTuple

from tallystick.beliefs import make_ready
from tallystick.errors import MachineError, TrailUnreadable, TrailUnwritable
from tallystick.log.canonical import check_fields, encode, entry_bytes
from tallystick.log.merkle import leaf_hash
from tallystick.model.entry import FORMAT, Entry, EntryKind, Head, LogName
from tallystick.model.temporal import DAY, Instant
from tallystick.store.folding import fold_into
from tallystick.store.outside import KnownHead, Outside
from tallystick.store.packing import Packed, packed
from tallystick.store.protocol import EntryTuple, Reading, Store, Writing
from tallystick.trail.facts import SEAL

EARLIEST_CLOCK: Instant = 1_735_689_600_000_000
"""2025-01-01T00:00:00Z: a clock before this was never set, since no trail is older."""
FAR_AHEAD: Instant = DAY
"""A head this far ahead of the clock came from a wrong reading; a new epoch begins rather than pin what follows (TIME.2)."""
FLUSH_ENTRIES = 512
"""What a processor keeps near: with eight times as many the fold has to fetch again what the hashing had just written."""

_SHAPES = 256
"""Of entries whose fields were looked at and are not again."""
_SALTS_AT_FIRST, _SALTS_AT_ONCE = 8, 256
"""A remembered line needs four; an ingest, a million."""

# Half the time of the call that checks the number of fields; an ingest makes a million.
_entry = partial(tuple.__new__, Entry)


class _Met(NamedTuple):
    """An actor, and the entry of a log that introduced it."""

    actor: str
    seq: int
    leaf: bytes

    def stands_in(self, rows: Reading) -> bool:
        """Whether that entry is still there: an older copy that was put back may have grown another way since."""
        return any(row.leaf == self.leaf for row in rows.entries(self.seq, self.seq + 1))


class Trail:
    """One trail: a store, what is kept of it outside, a clock and a source of randomness, all handed in."""

    def __init__(
        self,
        store: Store,
        outside: Outside,
        *,
        clock: Callable[[], Instant],
        entropy: Callable[[int], bytes],
        actor: str = "tally",
    ) -> None:
        self.store = store
        self.outside = outside
        self.clock = clock
        self._entropy = entropy
        self._actor = actor
        self._id = ""
        self._met: dict[LogName, _Met] = {}
        self._noted = False
        """Whether it is known outside that this trail lies where it does."""
        self.notices: list[str] = []
        """What was found at the start of a write that its owner should know (TRAIL.5)."""

    @property
    def id(self) -> str:
        """32 hex digits; empty while nothing has been written."""
        if not self._id:
            with self.store.reading(LogName.MEMORY) as log:
                self._id = log.meta("trail")
        return self._id

    @contextmanager
    def reading(self, log: LogName = LogName.MEMORY, *, checked: bool = True) -> Iterator[Reading]:
        """A view of one log that does not move while it is open.

        Raises:
            TrailUnreadable: the log is not the one it is known to have been (TRAIL.8); ``checked=False`` reads it all the
                same, for those who are to say what is wrong.
        """
        if checked:
            self._refuse_exchanged()
        # The head is read first: what is committed after it can only make the log longer than it says.
        known = self.outside.read_head(self.id, log) if checked and self.id else None
        with self.store.reading(log) as rows:
            if known is not None:
                head = rows.head()
                _refuse_rollback(known, head, self.store.location, log)
                if head.size > known.size:
                    self._refuse_unsealed(rows, log, head)
            yield rows

    def _refuse_exchanged(self) -> None:
        """Whatever lies here, it is the trail that did before, where it is known which that was (TRAIL.8)."""
        if self._noted:
            return
        if why := exchanged(self):
            raise TrailUnreadable(f"{self.store.location}: {why}; restore it, or `tally doctor --accept-head`")
        self._noted = bool(self._id) and self.outside.known_at(self.store.location) == self._id

    def _refuse_unsealed(self, rows: Reading, log: LogName, head: Head) -> None:
        """What was added since the known head is ours where it was sealed with the trail's key (TRAIL.8, 10)."""
        if self.outside.seal(rows.meta("trail"), log, head.size, head.root) not in (None, rows.meta(SEAL)):
            raise TrailUnreadable(
                f"{self.store.location}: the {log} log was added to without the trail's key; run `tally verify`, then restore"
            )

    @contextmanager
    def writing(self, log: LogName = LogName.MEMORY) -> Iterator[Appender]:
        """The right to append to one log. Leaving it commits everything; an exception leaves no trace.

        Raises:
            TrailLocked, TrailUnwritable, TrailUnreadable: see ``store.protocol.Store.writing``.
            MachineError: the clock was never set, or the log is shorter than it is known to have been.
        """
        if log is not LogName.MEMORY and not self.id:
            with self.writing(LogName.MEMORY):
                pass
        if log is LogName.MEMORY:
            make_ready()
        self._refuse_exchanged()
        known = self._id
        if known:
            self.outside.require_keys(known)
        try:
            with self.store.writing(log, lambda head: self.outside.write_head(self._id, log, head)) as rows:
                now = self._now()
                self._open(rows, log, keys_seen=bool(known))
                appender = Appender(rows, self._id, log, now, self._entropy)
                met = self._met.get(log)
                if met is not None and met.stands_in(rows):
                    appender.act_as_known(met.actor)
                else:
                    actor = appender.act_as(self._actor)
                    met = _met(appender.rows, actor)
                yield appender
                appender.flush()
                seal_log(self.outside, self._id, log, rows)
            if met is not None:
                self._met[log] = met
        except BaseException:
            self._id = known  # A new trail's id went with its first write, and another process may make the trail now.
            raise
        if not self._noted:
            with suppress(TrailUnwritable):  # What was written stands; the next write notes where.
                self.outside.note_at(self.store.location, self._id)
                self._noted = True

    def seal(self, log: LogName = LogName.MEMORY) -> bytes:
        """Sign a checkpoint of where the log stands, keep it outside, and return the note; empty when nothing was written."""
        if not self.id:
            return b""
        with self.reading(log, checked=False) as rows:
            head = rows.head()
        return self.outside.write_checkpoint(self._id, log, head)

    def _now(self) -> Instant:
        now = self.clock()
        if now < EARLIEST_CLOCK:
            from datetime import UTC, datetime

            when = datetime.fromtimestamp(now / 1e6, UTC).isoformat(timespec="seconds")
            raise MachineError(f"the clock reads {when}, before any trail could be; set it and run the command again")
        return now

    def _open(self, rows: Writing, log: LogName, *, keys_seen: bool) -> None:
        found = rows.meta("trail")
        if not found:
            found = self._id or self._entropy(16).hex()
            self.outside.create(found)
            rows.set_meta("trail", found)
            rows.set_meta("log", log)
        if self._id and found != self._id:
            raise TrailUnreadable(f"{self.store.location}: the {log} log belongs to another trail ({found})")
        self._id = found
        if not keys_seen:  # Else they were there before the lock was asked for, and nobody waits for them to be read.
            self.outside.require_keys(found)
        known = self.outside.read_head(found, log)
        if known is None:
            return
        head = rows.head()
        _refuse_rollback(known, head, self.store.location, log)
        if head.size > known.size:
            self._refuse_unsealed(rows, log, head)
            more = head.size - known.size
            self.notices.append(
                f"an earlier command stopped after committing {more} entries of the {log} log; none was lost"
            )


def exchanged(trail: Trail) -> str:
    """What is wrong where another trail, or none, lies where one was; empty where nothing is."""
    known = trail.outside.known_at(trail.store.location)
    if not known or known == trail.id:
        return ""
    return f"{f'trail {trail.id} lies' if trail.id else 'nothing is left'} where trail {known} was"


def seal_log(outside: Outside, trail: str, log: LogName, rows: Writing) -> None:
    """Keep with a log, in the write that brings it there, that it was brought to where it stands with the trail's key."""
    head = rows.head()
    rows.set_meta(SEAL, outside.seal(trail, log, head.size, head.root) or "")


def _met(rows: Reading, actor: str) -> _Met | None:
    for name in rows.names("actor"):
        if name.id == actor:
            return next((_Met(actor, row.seq, row.leaf) for row in rows.entries(name.seq, name.seq + 1)), None)
    return None


def _refuse_rollback(known: KnownHead, head: Head, location: str, log: LogName) -> None:
    """Appending to a log that lost its end would overwrite the only trace of the loss (TRAIL.8)."""
    if head.size < known.size:
        found = f"has {head.size} entries and had {known.size}: its end was cut off or an older copy was put back"
    elif head.size == known.size and head.root != known.root:
        found = f"has another root than was written down for its {head.size} entries"
    else:
        return
    raise TrailUnreadable(
        f"{location}: the {log} log {found}; run `tally verify`, then restore, or `tally doctor --accept-head`"
    )


class Appender:
    """Appends to one log inside one transaction. Entries are gathered and written in runs."""

    def __init__(self, rows: Writing, trail: str, log: LogName, now: Instant, entropy: Callable[[int], bytes]) -> None:
        self._rows = rows
        self._trail = trail
        self._log = log
        self._clock = now
        self._entropy = entropy
        self._salts: list[bytes] = []
        self._salts_next = _SALTS_AT_FIRST
        self._actor = ""
        self._entries: list[tuple[Entry, Mapping[str, bytes]]] = []
        self._entry_rows: list[EntryTuple] = []
        self._parts: list[Packed] = []
        self._checked: set[tuple[str, ...]] = set()
        head = rows.head()
        self._frontier = rows.frontier()
        self.size = head.size
        self.at = max(now, head.at)
        if head.size and head.at - now > FAR_AHEAD:
            self.at = now
            self._actor = "0" * 32
            self.add(EntryKind.CLOCK_REPAIRED)

    def act_as(self, name: str) -> str:
        """Append as the actor called ``name``, introducing it to this log if need be; returns its id."""
        known = {row.name: row.id for row in self.rows.names("actor")}
        if name in known:
            self._actor = known[name]
        else:
            self._actor = self._entropy(16).hex()
            self.add(EntryKind.INTRODUCED, {"actor": encode({"name": name})})
        return self._actor

    def act_as_known(self, actor: str) -> None:
        """Append as an actor whom this log has introduced; ``actor`` is the id."""
        self._actor = actor

    def holder(self, name: str, sort: str) -> str:
        """The id of the holder called ``name``, introduced to this log if need be. ``sort``: project | person | agent."""
        for row in self.rows.names("holder"):
            if row.name == name:
                return row.id
        made = self._entropy(16).hex()
        self.add(EntryKind.INTRODUCED, {"holder": encode({"name": name, "sort": sort})}, holder=made)
        return made

    @property
    def rows(self) -> Writing:
        """The log as it stands with everything appended so far."""
        if self._entries:
            self.flush()
        return self._rows

    def same(self, key: bytes) -> int | None:
        """The newest claim filed under a keyed digest. Nothing gathered has to be written for it, since filing never waits."""
        return self._rows.same(key)

    def add(
        self,
        kind: str,
        parts: Mapping[str, bytes] | None = None,
        *,
        refs: Sequence[int] = (),
        holder: str = "",
        xrefs: Sequence[tuple[str, tuple[int, ...]]] = (),
    ) -> int:
        """Append one entry with the given parts (name → bytes) and return its seq.

        Raises:
            CanonicalError: a name or number outside its alphabet or range.
        """
        seq, at = self.size, self.at
        bodies = parts or {}
        digests: list[tuple[str, str]] = []
        kept: list[tuple[str, bytes, bytes]] = []
        for name in sorted(bodies):
            salt, body = self._salts.pop() if self._salts else self.salt(), bodies[name]
            kept.append((name, salt, body))
            digests.append((name, sha256(salt + body).hexdigest()))
        entry = _entry(
            (
                self._trail,
                self._log,
                seq,
                at,
                self._clock,
                kind,
                self._actor,
                holder,
                tuple(refs),
                tuple(digests),
                tuple(xrefs),
                FORMAT,
            )
        )
        # What most entries repeat is looked at once: references, and names with a number in them, differ from entry to entry.
        shape = kind, holder, self._actor, *bodies
        if refs or xrefs or shape not in self._checked:
            check_fields(entry)
            if len(self._checked) < _SHAPES and not refs and not xrefs:
                self._checked.add(shape)
        canon = entry_bytes(entry)
        leaf = leaf_hash(canon)
        self._frontier.append(leaf)
        self._entry_rows.append((seq, at, canon, leaf))
        if kept:
            self._parts.append((seq, packed(kept)))
        self._entries.append((entry, bodies))
        self.size = seq + 1
        if len(self._entries) >= FLUSH_ENTRIES:
            self.flush()
        return seq

    def salt(self) -> bytes:
        """32 random bytes, never given twice."""
        if not self._salts:
            pool = self._entropy(32 * self._salts_next)
            self._salts = [pool[at : at + 32] for at in range(0, len(pool), 32)]
            self._salts_next = min(2 * self._salts_next, _SALTS_AT_ONCE)
        return self._salts.pop()

    def flush(self) -> None:
        """Write what was gathered: entries and parts, then what they mean."""
        if not self._entries:
            return
        entries, self._entries = self._entries, []
        rows, self._entry_rows = self._entry_rows, []
        parts, self._parts = self._parts, []
        nodes, self._frontier.completed = self._frontier.completed, []
        self._rows.append(rows, parts, nodes, self._frontier, self.at)
        fold_into(self._rows, entries)
