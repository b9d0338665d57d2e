"""Export and import: a trail as JSON lines and back, byte for byte, every digest checked on the way in.

What is exported are entries, what is left of their parts, and the archive; views are folded anew, keys and keyed digests
stay behind. An import is all or nothing for each log.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any, BinaryIO

from tallystick.beliefs import Effects, asks, effects
from tallystick.errors import CanonicalError, UsageError
from tallystick.log.canonical import entry_from_bytes, part_digest
from tallystick.log.merkle import leaf_hash
from tallystick.model.entry import EntryKind, Head, LogName
from tallystick.store.protocol import ArchivedEvent, BlockRow, EntryRow, PartRow, Reading, Writing
from tallystick.trail import Trail
from tallystick.workflows.reconciling import refile

FORMAT = "tallystick-export/1"
BATCH = 2000


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

    Raises:
        UsageError: the trail is not empty, or a line is damaged; the message names it and nothing of its log is kept.
    """
    if trail.id:
        raise UsageError(f"{trail.store.location}: there is a trail already; import into an empty place with --trail")
    done: dict[str, int] = {}
    numbered = ((n, _parsed(n, line)) for n, line in enumerate(stream, 1))
    header: dict[str, Any] | None = None
    for is_header, lines in groupby(numbered, key=lambda pair: "export" in pair[1]):
        if is_header:
            n, header = list(lines)[-1]
            if header["export"] != FORMAT:
                raise UsageError(f"line {n}: an export of format {header['export']!r}, this version reads {FORMAT}")
        elif header is None:
            raise UsageError("line 1: not an export; expected a header such as `tally export` writes")
        else:
            done[header["log"]] = _import_log(trail, header, lines)
    if not done:
        raise UsageError("an empty file is not an export; `tally export FILE` writes one")
    return done


def _import_log(trail: Trail, header: dict[str, Any], lines: Iterator[tuple[int, dict[str, Any]]]) -> int:
    try:
        log, trail_id = LogName(header["log"]), str(header["trail"])
    except (KeyError, ValueError):
        raise UsageError("the export's header names no log or no trail") from None
    trail.outside.create(trail_id)

    def committed(head: Head) -> None:
        trail.outside.write_head(trail_id, log, head)

    with trail.store.writing(log, committed) as rows:
        rows.set_meta("trail", trail_id)
        rows.set_meta("log", log)
        taken = _Import(rows)
        for n, line in lines:
            try:
                taken.take(line)
            except (CanonicalError, KeyError, ValueError, TypeError) as error:
                raise UsageError(f"line {n}: {error}; nothing of the {log} log was kept") from None
        taken.finish()
        if (taken.frontier.size, taken.frontier.root().hex()) != (header["size"], header["root"]):
            raise UsageError(
                f"the {log} log has {taken.frontier.size} entries and another root than the {header['size']} its header "
                "names; nothing of it was kept"
            )
        if log is LogName.MEMORY:
            rows.file(refile(rows, lambda data: trail.outside.digest(trail_id, data)))
    trail.seal(log)
    return taken.frontier.size


class _Import:
    """Lines of one log on their way in."""

    def __init__(self, rows: Writing) -> None:
        self._rows = rows
        self.frontier = rows.frontier()
        self._entries: list[EntryRow] = []
        self._parts: list[PartRow] = []
        self._digests: dict[tuple[int, str], str] = {}
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
        self._digests.update({(entry.seq, name): digest for name, digest in entry.parts})
        self.frontier.append(leaf_hash(canon))
        self._entries.append(EntryRow(entry.seq, entry.at, canon))
        self._at = entry.at

    def finish(self) -> None:
        """Write what is held: entries and parts, what they mean, and the archive."""
        if self._entries:
            self._rows.append(self._entries, self._parts, self.frontier, self._at)
            self._fold()
        self._rows.archive(self._blocks, self._events)
        self._entries, self._parts, self._blocks, self._events = [], [], [], []

    def _fold(self) -> None:
        bodies: dict[int, dict[str, bytes]] = {}
        for part in self._parts:
            bodies.setdefault(part.seq, {})[part.name] = part.body
        made: Effects = []
        texts: list[tuple[int, str]] = []
        for row in self._entries:
            entry, parts = entry_from_bytes(row.canon), bodies.get(row.seq, {})
            if made and asks(entry):
                self._rows.apply(made, texts)
                made, texts = [], []
            made.extend(effects(entry, parts, self._rows))
            if "text" in parts and entry.kind in (EntryKind.ASSERTED, EntryKind.REVISED):
                texts.append((entry.seq, parts["text"].decode("utf-8", "replace")))
        self._rows.apply(made, texts)


def _parsed(n: int, line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError:
        raise UsageError(f"line {n} is not JSON; the export is cut or damaged, nothing of its log was kept") from None
    if not isinstance(value, dict):
        raise UsageError(f"line {n} is not an object; this is no export")
    return value


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":")).encode() + b"\n"


def _b64(data: bytes) -> str:
    return base64.b64encode(data).decode()
