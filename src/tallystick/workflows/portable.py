"""Export and import: a trail as JSON lines and back, byte for byte, every digest checked on the way in.

What is exported are entries, what is left of their parts, and the archive; views are folded anew, keys and keyed digests
stay behind. An import is all or nothing.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import groupby
from operator import itemgetter
from typing import Any, BinaryIO, NamedTuple

from tallystick.beliefs import places_of
from tallystick.errors import CanonicalError, TallyError, UsageError
from tallystick.log.canonical import entry_from_bytes, part_digest
from tallystick.log.merkle import leaf_hash
from tallystick.model.entry import FORMAT as ENTRY_FORMAT
from tallystick.model.entry import Entry, EntryKind, Head, LogName
from tallystick.store.folding import fold_into
from tallystick.store.packing import Packed, packed
from tallystick.store.protocol import ArchivedEvent, BlockRow, EntryRow, PartRow, Reading, Writing
from tallystick.store.said_words import index_anew
from tallystick.trail import Trail
from tallystick.trail.appending import seal_log
from tallystick.trail.archive import ArchiveReader, commits, digests_of, is_erased, manifests
from tallystick.trail.erased import note_tombstones
from tallystick.workflows.reconciling import refile

FORMAT = "tallystick-export/1"
BATCH = 2000
_TRAIL_ID = re.compile(r"[0-9a-f]{32}")


def export_lines(trail: Trail) -> Iterator[bytes]:
    """The lines of an export, each with its newline: a header for each log, then its entries, parts, blocks and events."""
    for log in LogName:
        with trail.reading(log) as rows:
            head = rows.head()
            if not head.size:
                continue
            yield _line({"export": FORMAT, "log": log, "root": head.root.hex(), "size": head.size, "trail": trail.id})
            yield from _log_lines(rows)


def _log_lines(rows: Reading) -> Iterator[bytes]:
    for entry in rows.entries():
        yield _line({"entry": entry.canon.decode("ascii")})
        for part in rows.parts(entry.seq):
            yield _line({"body": _b64(part.body), "part": part.name, "salt": part.salt.hex(), "seq": part.seq})
    for block in rows.blocks():
        yield _line({"block": block.block, "data": _b64(block.data), "session": block.session})
    for name in rows.names("session"):
        for event in rows.session_events(name.seq):
            yield _line({"event": [*event[:-1], event.salt.hex()]})


def import_lines(trail: Trail, stream: BinaryIO) -> dict[str, int]:
    """Read an export into a trail that is empty; returns the size of each log.

    The memory log is committed last, and a place without it holds no trail: what stops halfway can be done again.

    Raises:
        UsageError: the trail is not empty, or a line is damaged; the message names it and nothing at all is kept.
    """
    if trail.id:
        raise UsageError(f"{trail.store.location}: there is a trail already; import into an empty place with --trail")
    sizes: dict[str, int] = {}
    with ExitStack() as open_logs:
        trail_id, taken, header = "", None, Header("", LogName.MEMORY, 0, "")
        n = 0
        for n, line in enumerate(stream, 1):
            value = _parsed(n, line)
            if "export" in value:
                if taken is not None:
                    sizes[header.log] = taken.close(header, n)
                header = _header(n, value, trail_id, {*sizes, *([header.log] if taken else [])})
                trail_id = header.trail
                taken = _Import(open_logs.enter_context(_opened(trail, header)), header)
            elif taken is None:
                raise UsageError(f"line {n}: not an export; expected a header such as `tally export` writes")
            else:
                _take(taken, n, value)
        if taken is None:
            raise UsageError("an empty file is not an export; `tally export FILE` writes one")
        sizes[header.log] = taken.close(header, n + 1)
        if LogName.MEMORY not in sizes:
            raise UsageError("the export has no memory log; it is cut or damaged, nothing was kept")
    trail.outside.note_at(trail.store.location, trail_id)
    for log in sizes:
        trail.seal(LogName(log))
    return sizes


class Header(NamedTuple):
    """The line before a log."""

    trail: str
    log: LogName
    size: int
    root: str


def _header(n: int, value: dict[str, Any], trail_id: str, before: set[str]) -> Header:
    try:
        header = Header(str(value["trail"]), LogName(value["log"]), int(value["size"]), str(value["root"]))
    except (KeyError, ValueError, TypeError):
        raise UsageError(f"line {n}: a header that names no log, trail, size and root; nothing was kept") from None
    if value["export"] != FORMAT:
        raise UsageError(f"line {n}: an export of format {value['export']!r}, this version reads {FORMAT}")
    if not _TRAIL_ID.fullmatch(header.trail) or (trail_id and header.trail != trail_id):
        # The id names a folder outside the trail: it must be no path (SEC.2).
        raise UsageError(
            f"line {n}: a header of trail {header.trail[:64]!r}; expected 32 hex digits, the same throughout"
        )
    if header.log in before:
        raise UsageError(f"line {n}: a second {header.log} log; nothing was kept")
    return header


@contextmanager
def _opened(trail: Trail, header: Header) -> Iterator[_Target]:
    """One log of an empty trail, open for all that follows; views of keyed digests are made as it closes."""
    trail.outside.create(header.trail)

    def committed(head: Head) -> None:
        trail.outside.write_head(header.trail, header.log, head)

    with trail.store.writing(header.log, committed) as rows:
        if rows.head().size:
            raise UsageError(f"{trail.store.location}: has a {header.log} log already; import into an empty place")
        rows.set_meta("trail", header.trail)
        rows.set_meta("log", header.log)
        yield _Target(rows, lambda data: trail.outside.digest(header.trail, data))
        seal_log(trail.outside, header.trail, header.log, rows)


def _take(taken: _Import, n: int, line: dict[str, Any]) -> None:
    try:
        taken.take(line)
    except (TallyError, KeyError, ValueError, TypeError, AttributeError, OverflowError) as error:
        raise UsageError(f"line {n}: {_said(error)}; nothing was kept") from None


def _said(error: Exception) -> str:
    return f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)


class _Target(NamedTuple):
    """Where a log goes, and the digest of the place's own key."""

    rows: Writing
    digest: Callable[[bytes], bytes]


class _Import:
    """Lines of one log on their way in."""

    def __init__(self, target: _Target, header: Header) -> None:
        self._rows = target.rows
        self._digest = target.digest
        self._header = header
        self.frontier = self._rows.frontier()
        self._entries: list[EntryRow] = []
        self._parts: list[PartRow] = []
        self._digests: dict[tuple[int, str], str] = {}
        self._missing: set[tuple[int, str]] = set()
        """Parts that are not there, by seq and name: an entry further on may say that they were erased."""
        self._erased: set[tuple[int, str]] = set()
        self._erased_events: set[tuple[int, int]] = set()
        self._blocks: list[BlockRow] = []
        self._events: list[ArchivedEvent] = []
        self._at = 0

    def take(self, line: dict[str, Any]) -> None:
        """Check and hold one line; raises where it does not hold."""
        if "entry" in line:
            self._entry(line["entry"].encode("ascii"))
        elif "part" in line:
            part = PartRow(line["seq"], line["part"], bytes.fromhex(line["salt"]), base64.b64decode(line["body"]))
            if self._digests.pop((part.seq, part.name), "") != part_digest(part.salt, part.body):
                raise CanonicalError(f"part {part.name!r} of entry {part.seq} is not what the entry commits to")
            self._parts.append(part)
        elif "block" in line:
            self._blocks.append(BlockRow(line["block"], line["session"], base64.b64decode(line["data"])))
        elif "event" in line:
            session, n, event, block, offset, length, salt = line["event"]
            self._events.append(ArchivedEvent(session, n, event, block, offset, length, bytes.fromhex(salt)))
        else:
            raise CanonicalError("neither an entry, a part, a block nor an event")
        if len(self._entries) + len(self._events) >= BATCH:
            self.finish()

    def _entry(self, canon: bytes) -> None:
        if len(self._entries) >= BATCH:
            self.finish()
        entry = entry_from_bytes(canon)
        if entry.seq != self.frontier.size:
            raise CanonicalError(f"entry {entry.seq} where {self.frontier.size} was expected")
        if (entry.trail, entry.log) != (self._header.trail, self._header.log):
            raise CanonicalError(f"entry {entry.seq} is of another trail or log than its header says")
        self._miss_parts()
        self._digests.update({(entry.seq, name): digest for name, digest in entry.parts})
        self.frontier.append(leaf_hash(canon))
        self._entries.append(EntryRow(entry.seq, entry.at, canon))
        self._at = entry.at

    def _miss_parts(self) -> None:
        self._missing.update(self._digests)
        self._digests.clear()

    def _check_erased(self) -> None:
        """What is missing was erased, and what was erased is missing (ERASE.1)."""
        for seq, name in sorted(self._missing ^ self._erased):
            if (seq, name) in self._missing:
                raise CanonicalError(f"part {name!r} of entry {seq} is missing and no entry says that it was erased")
            raise CanonicalError(f"part {name!r} of entry {seq} was erased and is there again")

    def close(self, header: Header, n: int) -> int:
        """The end of the log, before line ``n``: everything there, and the archive as the entries commit to it."""
        try:
            self._miss_parts()
            self.finish()
            self._check_erased()
            if (self.frontier.size, self.frontier.root().hex()) != (header.size, header.root):
                raise CanonicalError(f"{self.frontier.size} entries with another root than its {header.size} entries")
            if header.log is LogName.MEMORY:
                check_archive(self._rows, self._erased_events)
                index_anew(self._rows)
                self._rows.file(refile(self._rows, self._digest))
            if self._erased or self._erased_events:
                note_tombstones(self._rows)
        except (TallyError, ValueError, KeyError, TypeError) as error:
            raise UsageError(
                f"line {n - 1}: here the {header.log} log ends: {_said(error)}; nothing was kept"
            ) from None
        return self.frontier.size

    def finish(self) -> None:
        """Write what is held: entries and parts, what they mean, and the archive."""
        if self._entries:
            nodes, self.frontier.completed = self.frontier.completed, []
            self._rows.append(self._entries, _packed(self._parts), nodes, self.frontier, self._at)
            self._fold()
        self._rows.archive(self._blocks, self._events)
        self._entries, self._parts, self._blocks, self._events = [], [], [], []

    def _fold(self) -> None:
        bodies: dict[int, dict[str, bytes]] = {}
        for part in self._parts:
            bodies.setdefault(part.seq, {})[part.name] = part.body
        batch = [(entry_from_bytes(row.canon), bodies.get(row.seq, {})) for row in self._entries]
        for entry, parts in batch:
            if entry.kind == EntryKind.ERASED and entry.v <= ENTRY_FORMAT:
                self._note_erased(entry, parts)
        fold_into(self._rows, batch)

    def _note_erased(self, entry: Entry, parts: dict[str, bytes]) -> None:
        places, about = places_of(parts), frozenset(entry.refs)
        self._erased |= {
            (seq, name) for seq, names in places.parts.items() if seq in about and seq < entry.seq for name in names
        }
        self._erased_events |= {(session, n) for session, numbers in places.events.items() for n in numbers}


def _packed(parts: Iterable[PartRow]) -> list[Packed]:
    return [(seq, packed(row[1:] for row in sorted(mine))) for seq, mine in groupby(parts, itemgetter(0))]


def check_archive(rows: Reading, erased: Collection[tuple[int, int]]) -> None:
    """Hold every archived event against the manifests of its session, but for the ``erased``, given as ``(session, n)``.

    Raises:
        CanonicalError, TrailUnreadable: an event is missing, or is not the one that was observed.
    """
    reader = ArchiveReader(rows)
    for name in rows.names("session"):
        digests = digests_of(manifests(rows, name.seq))
        for row in rows.session_events(name.seq):
            digest = digests.pop(row.n, b"")
            if is_erased(row) and (row.session, row.n) in erased:
                continue
            if not commits(row, reader.record(row), digest):
                raise CanonicalError(f"archived event {row.event} is not the one that was observed")
        if digests:
            raise CanonicalError(f"{len(digests)} archived events of session s{name.seq} are missing")


def _parsed(n: int, line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        raise UsageError(f"line {n} is not JSON; the export is cut or damaged, nothing was kept") from None
    if not isinstance(value, dict):
        raise UsageError(f"line {n} is not an object; this is no export")
    return value


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":")).encode() + b"\n"


def _b64(data: bytes) -> str:
    return base64.b64encode(data).decode()
