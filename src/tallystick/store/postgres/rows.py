"""Values of a log as PostgreSQL keeps them, and back."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from tallystick.beliefs import ALWAYS, ClaimRow
from tallystick.model.entry import LogName
from tallystick.model.temporal import Interval
from tallystick.store.protocol import ArchivedEvent, SourceRow

NUMBERS = {LogName.MEMORY: 0, LogName.ACCESS: 1, LogName.LEDGER: 2}
"""Of the logs, in column ``log``."""
_UNFIT = re.compile("[\x00\x01\ud800-\udfff]")
_ESCAPED = re.compile("\x01([0-9a-f]{4})")
_TOPIC = 64


def kept(text: str) -> str:
    """``text`` as PostgreSQL can keep it: without the character 0 and without halves of surrogate pairs."""
    return _UNFIT.sub(lambda found: f"\x01{ord(found[0]):04x}", text) if _UNFIT.search(text) else text


def told(text: str) -> str:
    """What ``kept`` was given."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "\x01" in text else text


def valid_kept(valid: tuple[Interval, ...]) -> str | None:
    """Valid time as JSON; None for all of time, which nearly every claim has."""
    return None if valid is ALWAYS or valid == ALWAYS else json.dumps(valid, separators=(",", ":"))


def valid_told(text: str | None) -> tuple[Interval, ...]:
    """What ``valid_kept`` was given."""
    return ALWAYS if text is None else tuple(Interval(start, end) for start, end in json.loads(text))


def topic(subject: str, attribute: str) -> str | None:
    """What claims about one attribute of one subject are looked for by, short enough for an index; None where a claim is
    about nothing."""
    return kept(f"{subject[:_TOPIC]}\n{attribute[:_TOPIC]}") if subject or attribute else None


def claim_kept(row: ClaimRow) -> tuple[Any, ...]:
    """(kind, origin, lineage, session, said_at, tokens, subject, attribute, value, topic)."""
    _, _, kind, origin, lineage, session, said_at, tokens, subject, attribute, value = row
    about = kept(subject), kept(attribute), kept(value), topic(subject, attribute)
    return kept(kind), kept(origin), lineage, session, said_at, tokens, *about


def claim_told(row: Sequence[Any], holder: str) -> ClaimRow:
    """A claim from (claim, holder's number, kind … value)."""
    claim, _, kind, origin, lineage, session, said_at, tokens, subject, attribute, value = row
    if "\x01" in kind + origin + subject + attribute + value:
        kind, origin, subject, attribute, value = map(told, (kind, origin, subject, attribute, value))
    return tuple.__new__(
        ClaimRow, (claim, holder, kind, origin, lineage, session, said_at, tokens, subject, attribute, value)
    )


def event_key(event: str) -> bytes:
    """An event's id as its 8 bytes."""
    return bytes.fromhex(event[1:])


def event_told(row: Sequence[Any]) -> ArchivedEvent:
    """An archived event, from its row."""
    return ArchivedEvent(row[0], row[1], "e" + row[2].hex(), *row[3:])


def path_key(path: str) -> bytes:
    """What a source is looked for by: paths can be longer than what an index takes."""
    return sha256(path.encode("utf-8", "surrogatepass")).digest()[:16]


def source_told(row: Sequence[Any]) -> SourceRow:
    """What was noted of a file, from its row."""
    path, session, size, mtime_ns, inode, *rest = row
    return SourceRow(told(path), session, size, mtime_ns, int(inode), *rest)
