"""What every reader does to a text on its way in: cut what is too long, split off our own briefing, read its time.

Pure; each function is linear in its input, whatever the input (EVID.6, 8, 10).
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from tallystick.model.temporal import END_OF_TIME, SECOND, Instant
from tallystick.transcripts.protocol import MAX_TEXT_BYTES
from tallystick.verifiers.commands import actions

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_BRIEFING_NAME = "<tallystick-briefing"
_BRIEFING_OPENS = re.compile(r"<tallystick-briefing\b[^>\n]{0,400}>")
_BRIEFING_CLOSE = "</tallystick-briefing>"
_DRIVE = re.compile(r"/[A-Za-z]:")
_SURROGATE = re.compile("[\ud800-\udfff]")
_TYPE_NAME = re.compile(r"[A-Za-z0-9_./-]{1,60}\Z")
MOST_SCRIPT_CHARS = 20_000
"""Of a script that are read for the programs it runs."""
_OWN_TOOL = re.compile(r"(?:mcp__?)?tally(?:stick)?(?:__?|\.|/|\Z)")


class Piece(NamedTuple):
    """A stretch of a text that is all ours (a briefing coming back) or all not."""

    text: str
    briefing: bool


def pieces(text: str) -> list[Piece]:
    """``text`` cut at our own briefing blocks, in order; stretches of white space beside a block are left out.

    A block that begins a line and is never closed reaches to the end: the harness cut it, and what follows is ours. A
    tag that is mentioned in a sentence and never closed is words.
    """
    if _BRIEFING_NAME not in text:
        return [Piece(text, False)]
    found: list[Piece] = []
    at = 0
    last_close = text.rfind(_BRIEFING_CLOSE)
    for opened in _BRIEFING_OPENS.finditer(text):
        start = opened.start()
        closed = opened.end() <= last_close
        if start < at or not (closed or text[start - 1 : start] in ("", "\n")):
            continue
        end = text.index(_BRIEFING_CLOSE, opened.end()) + len(_BRIEFING_CLOSE) if closed else len(text)
        found += (Piece(text[at:start], False), Piece(text[start:end], True))
        at = end
    found.append(Piece(text[at:], False))
    return [piece for piece in found if piece.text.strip()]


def cut(text: str, limit: int = MAX_TEXT_BYTES) -> str:
    """``text`` itself, or its beginning of at most ``limit`` UTF-8 bytes, ended at a character boundary."""
    if len(text) * 4 <= limit or (len(text) <= limit and text.isascii()):
        return text
    data = text.encode("utf-8", "surrogatepass")
    return text if len(data) <= limit else data[:limit].decode("utf-8", "ignore")


def instant(stamp: str) -> Instant | None:
    """Microseconds UTC of an ISO 8601 time with an offset; None where there is no time, no offset, or a time that no clock
    of a session shows and no log can hold: before 1970, or after 2255 (EVID.8)."""
    try:
        moment = datetime.fromisoformat(stamp)
    except ValueError:
        return None
    if moment.tzinfo is None:
        return None
    found = (moment - _EPOCH) // _MICROSECOND
    return found if 0 <= found < END_OF_TIME else None


def milliseconds(stamp: float | None) -> Instant | None:
    """Microseconds UTC of a Unix time in milliseconds; None where there is none, or none that a clock of a session shows."""
    return int(stamp * 1000) if stamp is not None and 0 <= stamp < END_OF_TIME / 1000 else None


def path_of_uri(uri: str) -> str:
    """The path that a ``file:`` address names, on Windows without the slash before the drive; other text as it is."""
    if not uri.startswith("file:"):
        return uri
    try:
        path = unquote(urlsplit(uri).path, errors="replace")
    except ValueError:
        return ""
    return path[1:] if _DRIVE.match(path) else path


def unix_instant(stamp: object, per_second: int = 1) -> Instant | None:
    """Microseconds UTC of a Unix time in ``1 / per_second`` seconds (int, Decimal, or either as text); None as ``instant``."""
    try:
        number = Decimal(str(stamp)) if isinstance(stamp, int | str | Decimal) and not isinstance(stamp, bool) else None
        if number is None or not number.is_finite() or not 0 <= number < END_OF_TIME * per_second:
            return None
        found = int(number * SECOND / per_second)
    except (ArithmeticError, ValueError):
        return None
    return found if found < END_OF_TIME else None


def mended(data: bytes) -> bytes | None:
    """The JSON value in ``data`` with invalid UTF-8 and lone surrogates replaced by U+FFFD; None when it is no JSON."""
    try:
        text = json.dumps(json.loads(data.decode("utf-8", "replace")), ensure_ascii=False)
    except (ValueError, RecursionError):
        return None
    return _SURROGATE.sub("\ufffd", text).encode()


def type_name(name: str) -> str:
    """``name`` as it may stand in a report: names of types only, never content."""
    return name if _TYPE_NAME.match(name) else "unnamed"


def is_own_tool(tool: str) -> bool:
    """Whether ``tool`` is one of our own MCP tools, however the harness spells server and tool."""
    return _OWN_TOOL.match(tool) is not None


def runs_own_command(script: str) -> bool:
    """Whether any command of ``script`` has ``tally`` as its program (EVID.6: what it prints is ours, coming back)."""
    if "tally" not in script:
        return False
    programs = (action.program.partition(".")[0] for action in actions(script[:MOST_SCRIPT_CHARS]))
    return any(program in ("tally", "tallystick") for program in programs)
