"""What a store is: entries that are only appended, parts, the archive, and views that could be dropped and rebuilt.

A store knows nothing of meaning. It keeps rows that ``beliefs.effects`` made and answers as-of questions about them. One
write at a time per log; readers see the log as it was when they began. A write is all or nothing: leaving
``Store.writing`` by an exception leaves no trace (TRAIL.5).

Order: everything that comes back is in ascending order of its key unless said otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from tallystick.beliefs import ClaimRow, Effects, Link, Name, Touch, VerdictRow, Version
from tallystick.log.merkle import Frontier
from tallystick.model.claim import Standing
from tallystick.model.entry import Head, LogName, Part
from tallystick.model.temporal import START_OF_TIME, Interval
from tallystick.store.packing import Packed
from tallystick.store.said import Place, Said, Sought
from tallystick.store.vectors import VectorReading, VectorWriting

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
PartsOfEntry = tuple[int, list[tuple[str, bytes, bytes]]]
"""(seq, (name, salt, body) of each part in order of name)."""
NodeTuple = tuple[int, int, bytes]
"""A ``NodeRow``, or a plain tuple in its order."""


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
    stated: bytes | None = None
    """The part ``valid`` of the entry that opened it; None where it has none, or it holds for all of time."""


class Selection(NamedTuple):
    """Which beliefs are asked for; everything is optional but the point."""

    as_of: int
    """Entries 0 … as_of count; -1 is the empty log."""
    holders: tuple[str, ...] | None = None
    """Holder ids; None is every holder of the trail."""
    kinds: tuple[str, ...] | None = None
    derivations: tuple[str, ...] | None = None
    claims: tuple[int, ...] | None = None
    """Only these, in ascending order."""
    valid_at: int | None = None
    """Only claims whose valid time covers this instant."""
    strict: bool = False
    """With ``valid_at``: only where it is known since when the claim holds (TIME.11)."""
    after: int = -1
    """Only claims with a larger id: the page before ended there."""
    limit: int | None = None


class NodeRow(NamedTuple):
    """Root of a complete subtree of 256**level leaves, the ``n``-th of its level: what proofs are made of."""

    level: int
    """From 1; the leaf hashes themselves stand with their entries."""
    n: int
    hash: bytes


class ArchivedEvent(NamedTuple):
    """Where one archived event stands; its bytes are ``block[offset:offset+length]`` after decompression.

    One that was erased has no bytes and no salt, and keeps its place, so that it is known when it comes again.
    """

    session: int
    n: int
    """Place in the session, from 0, in the order of archiving."""
    event: str
    """Event id, ``e`` and 16 hex digits."""
    block: int
    """-1 where it was erased."""
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


class Reading(VectorReading, Protocol):
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

    def facts(self) -> dict[str, str]:
        """Every fact about the log that ``meta`` gives."""
        ...

    def entries(self, start: int = 0, stop: int | None = None) -> Iterator[EntryRow]:
        """Entries with ``start <= seq < stop``."""
        ...

    def nodes(self, level: int, start: int, stop: int) -> list[bytes]:
        """Roots of the complete subtrees of 256**level leaves with ``start <= n < stop``; of level 0 the leaf hashes."""
        ...

    def count_nodes(self) -> int:
        """How many roots of subtrees are kept, of whatever level; leaf hashes are none of them."""
        ...

    def parts(self, seq: int) -> list[PartRow]:
        """What is left of the parts of entry ``seq``, in order of name."""
        ...

    def parts_between(self, start: int = 0, stop: int | None = None) -> Iterator[PartsOfEntry]:
        """The parts of the entries with ``start <= seq < stop`` that have any, in order of seq.

        Those of an entry that are damaged, so that they cannot be told apart, come as one that has no name.
        """
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

    def texts(self, claims: Collection[int]) -> dict[int, str]:
        """The words of many claims at once; those that have none are left out."""
        ...

    def count(self, selection: Selection) -> int:
        """How many ``believed`` would give, without reading them."""
        ...

    def newest(self, tokens: Sequence[Sequence[str]], selection: Selection, limit: int) -> list[int]:
        """The newest claims, at most ``limit``, newest first, whose text holds every one of the tokens.

        A token is given as its forms, any of which will do, each a word as ``words.words`` makes them. Of the selection
        the point, the holders and the kinds count; a claim is found whether or not it is still held at the point.
        """
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

    def made(self, seq: int) -> list[Link | Name]:
        """See ``beliefs.Held``."""
        ...

    def links(self, as_of: int, kind: str) -> list[Link]:
        """Links of a kind that stood at a point."""
        ...

    def links_of(self, claim: int) -> list[Link]:
        """Every link of a claim, to newer and to older ones, ended ones too, in order of seq."""
        ...

    def names(self, what: str) -> list[Name]:
        """Everything of a sort that was introduced, ended ones too."""
        ...

    def about(self, holder: str, subject: str, attribute: str) -> list[ClaimRow]:
        """The claims of a holder that are about one attribute of one subject."""
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

    def block_uses(self) -> Iterator[tuple[int, int, int]]:
        """(block, session, bytes) that the records of a session's events take in a block, in order of block, then session."""
        ...

    def said(self, sought: Sought) -> Iterator[Place]:
        """The archived events that hold what is looked for, newest first; read as they are asked for, where they can be.

        Ends with the reading.
        """
        ...

    def said_span(self, session: int, stop: int) -> tuple[int, int, int]:
        """(how many of the first ``stop`` events of a session are in the index, the time of the first, of the last);
        microseconds UTC, -1 where none has a time."""
        ...

    def said_places(self) -> Iterator[Place]:
        """Every event that is in the index of the archive, in any order."""
        ...

    def said_words(self) -> Iterator[tuple[str, int, int]]:
        """(word, session, n) of every word of every event in the index of the archive, in any order."""
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


class Writing(Reading, VectorWriting, Protocol):
    """One write to one log, which no other write to it overlaps. The clock is read after it has begun."""

    def append(
        self,
        entries: Iterable[EntryTuple],
        parts: Iterable[Packed],
        nodes: Iterable[NodeTuple],
        frontier: Frontier,
        at: int,
    ) -> None:
        """Add entries that follow the head, the parts of each, packed, and the subtrees that they completed; move the head."""
        ...

    def add_nodes(self, nodes: Iterable[NodeTuple]) -> None:
        """Add subtrees alone, to a log that has none yet."""
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

    def say(self, said: Iterable[Said]) -> None:
        """Add archived events of one session, none of which is there, to the index of the archive."""
        ...

    def unsay(self, said: Iterable[Said]) -> None:
        """Take events, with the words that they were added with, out of the index of the archive."""
        ...

    def next_block(self) -> int:
        """The first block number that is not in use."""
        ...

    def erase(self, parts: Mapping[int, Collection[str]], texts: Iterable[tuple[int, str]]) -> None:
        """Delete parts, by name, of entries by seq; and take ``(claim, text)`` out of the search index."""
        ...

    def refold(self, claims: Collection[int], effects: Effects) -> None:
        """Put the verdicts in ``effects`` in the place of all verdicts of ``claims``, and its other rows in the place of those
        of the same key: ``ClaimRow``, ``Version``, ``Name`` and ``Touch``. When a version, link or name ends stays as it was."""
        ...

    def erase_events(self, events: Iterable[tuple[int, int]]) -> None:
        """Forget bytes, salts and places of archived events, given as ``(session, n)``."""
        ...

    def rename_events(self, ids: Iterable[tuple[int, int, str]]) -> None:
        """Have archived events that were erased go by other ids, given as ``(session, n, id)``."""
        ...

    def repack(self, block: int, data: bytes | None, moved: Iterable[tuple[int, int]]) -> None:
        """Put other bytes in the place of a block, or none at all; ``moved`` are its old and new offsets."""
        ...

    def forget_sources(self, session: int) -> None:
        """Forget the notes of the files that fed a session."""
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

    def written_since(self, log: LogName, size: int) -> bool:
        """Whether a write of the log is open, or one was committed since the log had ``size`` entries.

        Asked of a size that a reading shows, after a look at the clock: where it is False, whatever that reading does not
        show was begun, and its clock read, after that look. True where it cannot be told. Waits for no writer, and no writer
        fails or waits noticeably because of it.
        """
        ...

    def opener(self) -> Callable[[], Store] | None:
        """What opens the same store in another process, and can be pickled; None where no other process could."""
        ...

    def check(self, log: LogName) -> list[str]:
        """What the storage engine itself finds wrong with its files; empty when nothing.

        May run in another thread while the log is read.
        """
        ...

    def scrub(self, log: LogName) -> None:
        """Leave nothing of what was erased in the engine's files: indexes merged, logs written back, free pages given up.

        Raises:
            TrailLocked: it is being read or written and cannot be had alone; what was erased may still lie in free pages.
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
        and (selection.claims is None or row.claim in selection.claims)
        and covers(version.valid, selection.valid_at, strict=selection.strict)
    )


def covers(valid: Iterable[Interval], instant: int | None, *, strict: bool = False) -> bool:
    """Whether valid time takes an instant in; every time does where none is asked for.

    With ``strict`` a time of which nobody knows since when takes nothing in.
    """
    return instant is None or any(
        interval.start <= instant < interval.end and not (strict and interval.start == START_OF_TIME)
        for interval in valid
    )


def _among(value: str, wanted: Collection[str] | None) -> bool:
    return wanted is None or value in wanted


def part_rows(seq: int, parts: Iterable[Part]) -> list[PartRow]:
    """Parts of an entry as rows."""
    return [PartRow(seq, part.name, part.salt, part.body) for part in parts]
