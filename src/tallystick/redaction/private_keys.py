"""Private key blocks (PEM, OpenSSH, PGP): whole, with one end cut off, numbered by a viewer, or escaped inside JSON."""

from __future__ import annotations

import re

from tallystick.redaction.found import Finder, Found

_KEY_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_LINES = re.compile(
    r"(?:[ \t]*+(?:\\{1,4}[rn]|[\r\n])(?:[ \t>+|→:-]|\d{1,5}[→\t:|])*+"
    r"(?:[A-Za-z0-9+/=]{16,}+|[A-Za-z][A-Za-z-]{2,30}+: [^\n\\\"]{0,200}+|(?=\\{1,4}[rn]|[\r\n])))+"
)
_KEY_BODY = re.compile(r"[A-Za-z0-9+/=]{16}")
_KEY_TAIL_LINE = re.compile(r"[ \t>+|→:-]*+(?:\d{1,5}[→\t:|][ \t]*+)?+([A-Za-z0-9+/=]{1,128}+)[ \t\r]*+$")
_TRAILING_BREAKS = re.compile(r"(?:\s|\\{1,4}[rn])+$")
_MAX_KEY = 32_768
_MAX_TAIL = 8_192


def _private_key(text: str, start: int, end: int) -> Found | None:
    """From BEGIN to END; where the END is missing, the lines that can belong to it."""
    begin = _KEY_BEGIN.match(text, start)
    if begin is None:
        return None
    limit = text.find("-----BEGIN", begin.end(), begin.end() + _MAX_KEY)
    limit = limit if limit >= 0 else begin.end() + _MAX_KEY
    mark = text.find("-----END", begin.end(), limit)
    if mark >= 0 and (close := _KEY_END.match(text, mark)) and _KEY_BODY.search(text, begin.end(), mark):
        return Found(start, close.end(), "private-key", 0)
    lines = _KEY_LINES.match(text, begin.end(), limit)
    if lines and _KEY_BODY.search(text, begin.end(), lines.end()):
        blank = _TRAILING_BREAKS.search(text, max(begin.end(), lines.end() - 64), lines.end())
        return Found(start, blank.start() if blank else lines.end(), "private-key", 0)
    return None


def _private_key_end(text: str, start: int, end: int) -> Found | None:
    """The last lines of a key whose BEGIN was cut off."""
    close = _KEY_END.match(text, start)
    if close is None:
        return None
    separator = "\n" if text[start - 1 : start] == "\n" else "\\n"
    window = max(0, start - _MAX_TAIL)
    begin = line_end = start
    while line_end > window:
        line_start = text.rfind(separator, window, line_end)
        line = text[max(line_start + len(separator) if line_start >= 0 else window, line_end - 200) : line_end]
        content = _KEY_TAIL_LINE.match(line)
        if (content is None and line.strip()) or (content and len(content[1]) < 16 and begin != start):
            break
        if content is None and line_end != start:
            break
        if content:
            begin = line_start + len(separator) if line_start >= 0 else window
        line_end = line_start
    return Found(begin, close.end(), "private-key", 0) if begin < start else None


def finders() -> list[tuple[str, Finder]]:
    """The two ends of a key block."""
    return [("-----BEGIN ", _private_key), ("-----END ", _private_key_end)]
