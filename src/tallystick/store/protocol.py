"""What a store is: entries that are only appended, parts, the archive, and views that could be dropped and rebuilt.

A store knows nothing of meaning. It keeps rows that ``beliefs.effects`` made and answers as-of questions about them. One
write at a time per log; readers see the log as it was when they began. A write is all or nothing: leaving
``Store.writing`` by an exception leaves no trace (TRAIL.5).

Order: everything that comes back is in ascending order of its key unless said otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from tallystick.beliefs import ClaimRow, Effects, Link, Name, Touch, VerdictRow, Version
from tallystick.log.merkle import Frontier
from tallystick.model.claim import Standing
from tallystick.model.entry import Head, LogName, Part
from tallystick.model.temporal import Interval

VIEWS = ("claim", "version", "verdict", "touch", "link", "name", "epoch")
"""The views that ``rows`` dumps and ``verify`` compares."""


class EntryRow(NamedTuple):
    """An entry as it is kept: its canonical bytes, its instant for search by time, and the leaf hash it was appended with."""

    seq: int
    at: int
    canon: bytes
    leaf: bytes = b""
    """32 bytes: tells ``verify`` which entry was changed. A store makes it where it is handed none."""


class PartRow(NamedTuple):
    """A part as it is kept."""

    seq: int
    name: str
    salt: bytes
    body: bytes


EntryTuple = tuple[int, int, bytes, bytes]
"""An ``EntryRow``, or a plain tuple in its order: an ingest makes a million, and the garbage collector lets go of those."""
PartTuple = tuple[int, str, bytes, bytes]
"""A ``PartRow``, or a plain tuple in its order."""


class Belief(NamedTuple):
    """A claim as it stood at a point, with the text it was said in and the trust it had."""

    row: ClaimRow
    version: Version
    text: str | None
    """None where it was erased."""
    derivation: str
    outcome: str
    reason: str
    """Reasons of the two verdicts, derivation first, ``; `` between."""
    said_at: int
    """When it was last said by the point, microseconds UTC; -1 where no record says."""


class Selection(NamedTuple):
    """Which beliefs are asked for; everything is optional but the point."""

    as_of: int
    """Entries 0 … as_of count; -1 is the empty log."""
    holders: tuple[str, ...] | None = None
    """Holder ids; None is every holder of the trail."""
    kinds: tuple[str, ...] | None = None
    valid_at: int | None = None
    """Only claims whose valid time covers this instant."""
    after: int = -1
    """Only claims with a larger id: the page before ended there."""
    limit: int | None = None


class ArchivedEvent(NamedTuple):
    """Where one archived event stands; its bytes are ``block[offset:offset+length]`` after decompression."""

    session: int
    n: int
    """Place in the session, from 0, in the order of archiving."""
    event: str
    """Event id, ``e`` and 16 hex digits."""
    block: int
    offset: int
    length: int
    salt: bytes


class BlockRow(NamedTuple):
    """Compressed bytes of consecutive events of one session."""

    block: int
    session: int
    data: bytes


class SourceRow(NamedTuple):
    """Ingest's own note of a file: how far it was read. Not evidence; losing it costs time, never claims."""

    path: str
    session: int
    size: int
    mtime_ns: int
    inode: int
    offset: int
    line: int
    digest: bytes
    """Keyed digest of everything read: looked at before reading on."""
    calls: bytes
    """The reader's open calls, as JSON."""


class Reading(Protocol):
    """Questions to one log as of a moment."""

    def head(self) -> Head:
        """Where the log stands."""
        ...

    def frontier(self) -> Frontier:
        """A copy of the tree's frontier."""
        ...

    def meta(self, key: str) -> str:
        """A fact about the log (``trail``, ``log``, ``format`` …); empty where it is not set."""
        ...

    def entries(self, start: int = 0, stop: int | None = None) -> Iterator[EntryRow]:
        """Entries with ``start <= seq < stop``."""
        ...

    def parts(self, seq: int) -> list[PartRow]:
        """What is left of the parts of entry ``seq``."""
        ...

    def all_parts(self) -> Iterator[PartRow]:
        """Every part, in order of seq, then name."""
        ...

    def seq_at(self, instant: int) -> int:
        """Seq of the last entry with ``at <= instant`` in the newest epoch that covers it; -1 where there is none."""
        ...

    def open_version(self, claim: int) -> Version | None:
        """See ``beliefs.Held``."""
        ...

    def claim_row(self, claim: int) -> ClaimRow | None:
        """See ``beliefs.Held``."""
        ...

    def versions_changed(self, seq: int) -> list[Version]:
        """See ``beliefs.Held``."""
        ...

    def believed(self, selection: Selection) -> list[Belief]:
        """The beliefs that were held at the point, in order of claim id."""
        ...

    def standings(self, selection: Selection) -> list[Standing]:
        """What ``believed`` would give, in the same order, without reading any words or reasons."""
        ...

    def text(self, claim: int) -> str | None:
        """The words of a claim as ``Belief.text`` gives them; None where they were erased."""
        ...

    def count(self, selection: Selection) -> int:
        """How many ``believed`` would give, without reading them."""
        ...

    def matching(self, tokens: Sequence[Sequence[str]], as_of: int) -> dict[int, set[int]]:
        """Claims with ``claim <= as_of`` whose text holds at least one token: claim id → indexes of the tokens it holds.

        A token is given as its forms, any of which will do, each a word as ``words.words`` makes them."""
        ...

    def versions(self, claim: int) -> list[Version]:
        """All versions of the claim, in order of ``tx_from``."""
        ...

    def verdicts(self, claim: int) -> list[VerdictRow]:
        """All verdicts on the claim, in order of axis, then seq."""
        ...

    def touches(self, claim: int) -> list[Touch]:
        """The entries that were about the claim."""
        ...

    def links(self, as_of: int, kind: str) -> list[Link]:
        """Links of a kind made at or before a point."""
        ...

    def names(self, what: str) -> list[Name]:
        """Everything of a sort that was introduced."""
        ...

    def same(self, key: bytes) -> int | None:
        """The newest claim filed under a keyed digest (see ``Writing.file``)."""
        ...

    def event(self, event: str) -> ArchivedEvent | None:
        """Where an archived event stands, in the first session that has it; None where it is not in the archive."""
        ...

    def claims_of(self, session: int) -> list[ClaimRow]:
        """The claims that were said in a session."""
        ...

    def session_size(self, session: int) -> int:
        """How many archived events a session has."""
        ...

    def archived(self, events: Collection[str]) -> dict[str, ArchivedEvent]:
        """Where each of these events stands; those that are not in the archive are left out."""
        ...

    def session_events(self, session: int, first: int = 0, stop: int | None = None) -> Iterator[ArchivedEvent]:
        """The archived events of a session with ``first <= n < stop``, in order of ``n``."""
        ...

    def events(self) -> Iterator[ArchivedEvent]:
        """Every archived event, in order of session, then ``n``."""
        ...

    def block(self, block: int) -> bytes:
        """Compressed bytes of a block."""
        ...

    def blocks(self) -> Iterator[BlockRow]:
        """Every block."""
        ...

    def source(self, path: str) -> SourceRow | None:
        """What ingest noted of a file."""
        ...

    def sources(self, session: int) -> list[SourceRow]:
        """The files that fed a session."""
        ...

    def rows(self, view: str) -> Iterator[tuple[object, ...]]:
        """Every row of a view, in order of its key; intervals as tuples."""
        ...


class Writing(Reading, Protocol):
    """One write to one log, which no other write to it overlaps. The clock is read after it has begun."""

    def append(self, entries: Iterable[EntryTuple], parts: Iterable[PartTuple], frontier: Frontier, at: int) -> None:
        """Add entries that follow the head, and their parts, and move the head."""
        ...

    def apply(self, effects: Effects, texts: Iterable[tuple[int, str]]) -> None:
        """Add rows to the views, and ``(claim, text)`` to the search index."""
        ...

    def file(self, keys: Iterable[tuple[bytes, int]]) -> None:
        """File claims under keyed digests; a later claim takes the key over."""
        ...

    def archive(self, blocks: Iterable[BlockRow], events: Iterable[ArchivedEvent]) -> None:
        """Add events to the archive."""
        ...

    def next_block(self) -> int:
        """The first block number that is not in use."""
        ...

    def note_source(self, row: SourceRow) -> None:
        """Remember how far a file was read; replaces what was noted of that path."""
        ...

    def set_meta(self, key: str, value: str) -> None:
        """Set a fact about the log."""
        ...


class Store(Protocol):
    """All three logs of one trail."""

    location: str
    """What to call it in a message."""

    def reading(self, log: LogName) -> AbstractContextManager[Reading]:
        """A view of the log that does not move while it is open. Never waits for a writer.

        Raises:
            TrailUnreadable: the files are not a trail, or are damaged so that the engine cannot open them.
            NewerFormat: a newer tallystick wrote it.
        """
        ...

    def writing(self, log: LogName, committed: Callable[[Head], None]) -> AbstractContextManager[Writing]:
        """The right to append to the log; on leaving, everything is durable, or nothing happened.

        ``committed`` is told the new head after the commit and before anyone else may write.

        Raises:
            TrailLocked: another process kept the lock for too long.
            TrailUnwritable: full or read-only disk, or no permission.
        """
        ...

    def check(self, log: LogName) -> list[str]:
        """What the storage engine itself finds wrong with its files; empty when nothing.

        May run in another thread while the log is read.
        """
        ...

    def close(self) -> None:
        """Release files and connections."""
        ...


def selects(selection: Selection, row: ClaimRow, version: Version) -> bool:
    """Whether a version belongs to a selection: the one definition that every store answers by (TIME.1)."""
    return (
        version.tx_from <= selection.as_of < version.tx_to
        and row.claim > selection.after
        and _among(row.holder, selection.holders)
        and _among(row.kind, selection.kinds)
        and covers(version.valid, selection.valid_at)
    )


def covers(valid: Iterable[Interval], instant: int | None) -> bool:
    """Whether valid time takes an instant in; every time does where none is asked for."""
    return instant is None or any(interval.start <= instant < interval.end for interval in valid)


def _among(value: str, wanted: Collection[str] | None) -> bool:
    return wanted is None or value in wanted


def part_rows(seq: int, parts: Iterable[Part]) -> list[PartRow]:
    """Parts of an entry as rows."""
    return [PartRow(seq, part.name, part.salt, part.body) for part in parts]
