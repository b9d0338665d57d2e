"""Cookies and ids of sessions: the values in ``Cookie`` and ``Set-Cookie`` headers, and under the names that servers use.

What is taken out of a header reaches from the first value that could have been issued to the last; a choice of language
or colours is none. Attributes after it, and names, stay.
"""

from __future__ import annotations

import re

from tallystick.redaction.assignments import is_reference
from tallystick.redaction.found import Finder, Found, begins, has_digit_and_letter

_HEADER = re.compile(r"(?:\\{0,3}[\"'])?[ \t]{0,2}:[ \t]{0,2}(?:\\{0,3}[\"'`])?(?=[^\s=;:]{1,64}=)")
_PAIR = re.compile(r";?[ \t]{0,2}(?P<name>[A-Za-z0-9_.$-]{1,64})=(?P<value>[^\s;\"'`\\<>{}]{0,512}+)")
_REST = re.compile(r"[^\s;\"'`\\<>{}]*+")
_MOST_PAIRS = 12
_LEAST = 16
"""An id of a session is at least this long."""
_STATISTICS = ("_ga", "_gid", "_gcl", "_fbp", "Expires", "expires", "Max-Age", "Domain")


def _header(text: str, start: int, end: int) -> Found | None:
    header = _HEADER.match(text, end)
    if header is None:
        return None
    at, first, last = header.end(), -1, -1
    for _ in range(_MOST_PAIRS):
        pair = _PAIR.match(text, at)
        if pair is None:
            break
        at = pair.end()
        if not pair["name"].startswith(_STATISTICS) and _is_issued(pair["value"]):
            first = pair.start("value") if first < 0 else first
            last = at
    if first < 0:
        return None
    rest = _REST.match(text, last)
    return Found(first, rest.end() if rest else last, "cookie", 1)


def _is_issued(value: str) -> bool:
    return len(value) >= _LEAST and has_digit_and_letter(value) and not is_reference(value)


_ASSIGNED = re.compile(
    r"(?:\\{0,3}[\"'])?(?:=|[ \t]{0,2}:[ \t]{0,2})(?:\\{0,3}[\"'`])?(?P<value>[A-Za-z0-9%._+/=-]{16,512}+)"
)
_NAMES = (
    *("PHPSESSID", "JSESSIONID", "ASPSESSIONID", "ASP.NET_SessionId", "connect.sid", "laravel_session", "CFTOKEN"),
    *("ci_session", "_session_id", "sessionid", "session-token", "next-auth.session-token", "authjs.session-token"),
)
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")


def _named(text: str, start: int, end: int) -> Found | None:
    assigned = _ASSIGNED.match(text, end) if begins(text, start) else None
    if assigned is None or not _is_issued(assigned["value"]) or _UUID.match(assigned["value"]):
        return None
    first, last = assigned.span("value")
    rest = _REST.match(text, last) if last - first == 512 else None
    return Found(first, rest.end() if rest else last, "session-id", 2)


def finders() -> list[tuple[str, Finder]]:
    """The header's name, and the names of cookies."""
    return [*(("ookie", _header), ("OOKIE", _header)), *((name, _named) for name in _NAMES)]
