"""What a transcript reader is: a stream of bytes of one source in, a stream of events and counted leftovers out (EVID.1-12).

A reader opens nothing, knows no paths but names, has no clock and no randomness: the same bytes give the same events on
every run and machine. It is fed whole records, keeps only what it needs to join a result to its call, and may be paused
at any record boundary and resumed later from ``position`` with ``calls`` handed back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import BinaryIO, NamedTuple, Protocol, runtime_checkable

from tallystick.model.evidence import Event, Problem, SessionFacts

MAX_RECORD_BYTES = 256 * 1024 * 1024
"""A physical line longer than this is counted as a problem and skipped, never held in memory."""
MAX_TEXT_BYTES = 8 * 1024 * 1024
"""Longer event texts are cut (at a character boundary), flagged ``truncated`` and counted as ``oversized_text``."""


class RawRecord(NamedTuple):
    """One physical line of a source, without its ``\\n`` (and ``\\r``)."""

    line: int
    """1-based."""
    offset: int
    data: bytes


class FileState(NamedTuple):
    """What tells whether something changed without reading it."""

    size: int
    mtime_ns: int
    inode: int


class PendingCall(NamedTuple):
    """What is remembered of a tool call until its result arrives."""

    tool: str
    command: str
    paths: tuple[str, ...]
    flags: tuple[str, ...]


class Reader(Protocol):
    """Reads one source of one harness. Made anew for each source; not shared between threads.

    Every physical record ends in exactly one of: at least one event; ``counts["record:<type>"]`` (a record that by its
    kind carries nothing for the memory: UI progress, snapshots, a second copy of a turn); a ``Problem``. So
    ``records == records_with_events + sum(counts that begin "record:") + len(problems)`` always holds (EVID.3).
    """

    facts: SessionFacts
    """What has been learned of the session so far; complete enough to name it after the first record that names it."""
    counts: Counter[str]
    """``record:<type>``: records without events, by type. ``block:<type>``: unknown or dropped content blocks inside
    records that did have events. ``image``, ``oversized_text``, ``glued``: other losses and oddities, counted."""
    problems: list[Problem]
    records: int
    """Non-empty physical lines taken in so far."""
    records_with_events: int
    calls: dict[str, PendingCall]
    """Calls whose result has not been seen, by call id; given back to ``resume`` a later read of a grown file."""

    def read(self, records: Iterable[RawRecord]) -> Iterator[Event]:
        """Yield the events of each record, in order, as the records arrive. Raises nothing for bad data."""
        ...


class Adapter(Protocol):
    """The entry for one harness: how its files are recognised and read."""

    name: str
    """``claude-code``, ``codex`` …"""
    framing: str
    """``lines`` (a record a physical line), ``document`` (the file is one record; its messages are counted) or ``gathered``
    (see ``Gatherer``)."""

    def recognises(self, head: bytes, name: str) -> bool:
        """True when ``head`` (the first 64 KiB at most) is this harness's format. Content decides; ``name`` (the file
        name, no folders) only breaks ties. One that was told what the file holds may raise ``NotATranscript`` to say what
        it lacks."""
        ...

    def reader(self, name: str, calls: dict[str, PendingCall] | None = None) -> Reader:
        """A new reader for the file called ``name`` (its last three path parts, ``/`` between), with the calls still
        open from an earlier read of it."""
        ...


class FileView(Protocol):
    """What lies in folders, for a function that gathers sessions from there. Paths are absolute, as text, ``/`` between."""

    def names(self, folder: str) -> list[str]:
        """Names in a folder, in order; of folders with a ``/`` behind. Empty where there is no such folder."""
        ...

    def state(self, path: str) -> FileState | None:
        """None where there is no such file. Of a database with its log beside it: of both together."""
        ...

    def read(self, path: str) -> bytes:
        """All of a file.

        Raises:
            UsageError: it cannot be read; the message names it.
        """
        ...

    def opened(self, path: str) -> BinaryIO:
        """A file's bytes, for what is too large to be held whole (EVID.10); closed by the caller.

        Raises:
            UsageError: it cannot be opened; the message names it.
        """
        ...

    def rows(self, path: str, sql: str, bound: Sequence[object] = ()) -> Iterator[tuple[object, ...]]:
        """The rows that a SELECT finds in an SQLite database, which is never written to. All questions to one database see it
        as it was at the first.

        Raises:
            UsageError: it is locked, damaged, or has no such table or column; the message names it.
        """
        ...


class Member(NamedTuple):
    """One session of a file that holds several, or that lies in several files."""

    name: str
    """What the session is called in its place: ``place#name`` names it. No ``/`` in it but between what are folders."""
    state: FileState
    """Whatever tells whether it changed: of a row of a database, when it was changed and how many messages it has."""
    load: Callable[[], bytes]
    """The session as one document, which the adapter's reader reads: the same session, the same bytes."""


@runtime_checkable
class Gatherer(Adapter, Protocol):
    """An ``Adapter`` of framing ``gathered``: its sessions are no files of their own.

    Either one file holds several (a database, an export, a history of all runs), or one session lies in several files.
    """

    def anchor(self, path: str) -> str:
        """The file or folder that the sessions of a recognised file are gathered from: the same for all files of it."""
        ...

    def gather(self, view: FileView, anchor: str) -> Iterator[Member]:
        """The sessions in that place, in an order that does not change while nothing is added."""
        ...
