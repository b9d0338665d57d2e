"""JSON that every decoder reads alike: limits that are looked at before any is asked, and the object in a part (TRAIL.9).

How deep a decoder goes depends on its stack, and how long a number it takes on its settings. What is beyond the limits, which
are fixed in docs/spec/trail.md, is therefore no JSON to any reader here.
"""

from __future__ import annotations

import json
import re
from typing import Any

DEEPEST = 128
"""Arrays and objects within each other, the outermost one counted."""
LONGEST_NUMBER = 256
"""Digits in a row outside of strings. A double holds any number of so many."""

_SURELY_WITHIN = min(2 * DEEPEST, LONGEST_NUMBER)
"""Bytes: an array or object takes two, a digit one. Nearly every part that a writer of ours makes is shorter."""
_TOKENS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]|[0-9]++', re.DOTALL)
"""A string, also one that does not end, a bracket, or digits."""
_AS_NOUGHTS = bytes(ord("0") if chr(byte).isdecimal() else byte for byte in range(256))
_ONE_TOO_MANY = b"0" * (LONGEST_NUMBER + 1)


def within_limits(data: bytes) -> bool:
    """Whether JSON is nested no deeper, and has no more digits in a row, than every decoder takes; of anything else, any answer.

    Where the answer is yes, no decoder goes deeper than a few hundred levels before it is done or finds what is wrong.
    """
    if len(data) <= _SURELY_WITHIN:
        return True
    if data.count(b"[") + data.count(b"{") <= DEEPEST and _ONE_TOO_MANY not in data.translate(_AS_NOUGHTS):
        return True
    depth = 0
    for found in _TOKENS.finditer(data):
        token = found[0]
        if token in b"[{":
            depth += 1
        elif token in b"]}":
            depth -= 1
        if depth > DEEPEST or (len(token) > LONGEST_NUMBER and token[:1] != b'"'):
            return False
    return True


def json_value(body: bytes) -> Any:
    """The value whose JSON, in UTF-8 and within the limits, ``body`` is.

    Raises:
        ValueError: it is no such thing; ``NaN`` and the infinities are none either.
    """
    if not within_limits(body):
        raise ValueError("JSON that is nested too deep, or has too long a number")
    return _decode(body.decode("utf-8"))


def object_of(body: bytes) -> dict[str, Any]:
    """The JSON object in the body of a part; an empty one where it was erased or is something else."""
    try:
        value = json_value(body)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")


_decode = json.JSONDecoder(parse_constant=_refuse).decode
