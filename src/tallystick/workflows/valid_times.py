"""The part ``valid`` of an entry: when a claim was said to hold, how exactly, and in which words (TIME.10, 11)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import NamedTuple

from tallystick.beliefs import ALWAYS, object_of
from tallystick.model.temporal import ValidTime
from tallystick.store.protocol import Belief, Reading

_UNKNOWN = "unknown"


class Stated(NamedTuple):
    """How a claim's valid time was stated, beside the intervals themselves."""

    precision: str | None = None
    """``year`` | ``month`` | ``day`` | ``second``; None where nothing was stated."""
    zone: str | None = None
    """Of bare dates; None for UTC."""
    words: str | None = None
    flags: tuple[str, ...] = ()


def valid_part(valid: ValidTime) -> bytes:
    """The bytes of a ``valid`` part."""
    said: dict[str, object] = {
        "end_known": valid.end_known,
        "flags": list(valid.flags),
        "intervals": [list(interval) for interval in valid.intervals],
        "precision": valid.precision,
        "start_known": valid.start_known,
        "words": valid.words,
    }
    if valid.zone:
        said["zone"] = valid.zone
    return json.dumps(said, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode("utf-8", "replace")


def stated(rows: Reading, claim: int) -> Stated:
    """How the entry that opened a claim stated its valid time; nothing where it states none, or it was erased."""
    return _said(next((part.body for part in rows.parts(claim) if part.name == "valid"), b""))


def _said(body: bytes) -> Stated:
    said = object_of(body)
    precision, zone, words = (_text(said.get(name)) for name in ("precision", "zone", "words"))
    listed = said.get("flags")
    flags = tuple(flag for flag in listed if isinstance(flag, str)) if isinstance(listed, list) else ()
    return Stated(None if precision == _UNKNOWN else precision, zone, words, flags)


def precisions(beliefs: Iterable[Belief]) -> dict[int, str | None]:
    """How exactly the valid time of each belief was stated; None where it holds for all of time, since then none was."""
    return {
        belief.row.claim: None
        if belief.stated is None or belief.version.valid == ALWAYS
        else _said(belief.stated).precision
        for belief in beliefs
    }


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
