"""What a transcript reader is: a stream of bytes of one source in, a stream of events and counted leftovers out (EVID.1-12).

A reader opens nothing, knows no paths but names, has no clock and no randomness: the same bytes give the same events on
every run and machine. It is fed whole records, keeps only what it needs to join a result to its call, and may be paused
at any record boundary and resumed later from ``position`` with ``calls`` handed back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

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
    """``lines`` (a record a physical line) or ``document`` (the file is one record; its messages are counted)."""

    def recognises(self, head: bytes, name: str) -> bool:
        """True when ``head`` (the first 64 KiB at most) is this harness's format. Content decides; ``name`` (the file
        name, no folders) only breaks ties."""
        ...

    def reader(self, name: str, calls: dict[str, PendingCall] | None = None) -> Reader:
        """A new reader for the file called ``name`` (its last three path parts, ``/`` between), with the calls still
        open from an earlier read of it."""
        ...
