"""Canonical JSON (RFC 8785) of integers, strings, booleans, null, lists and maps: equal values, equal bytes (TRAIL.2).

Floats, integers beyond 2^53 − 1, lone surrogates, duplicate keys and keys that are not strings are refused, so that two
encoders can never disagree over the same value. ``entry_bytes`` is the fast path for entries, whose fields are known to
need no escaping; a property test holds it equal to the ``rfc8785`` package.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from hashlib import sha256
from typing import Any

from tallystick.errors import CanonicalError
from tallystick.log.strict_json import within_limits
from tallystick.model.entry import FORMAT, Entry

MAX_INTEGER = 2**53 - 1
SALT_BYTES = 32

Json = None | bool | int | str | list[Any] | tuple[Any, ...] | dict[str, Any]

_ID = re.compile(r"[0-9a-f]{32}\Z")
_DIGEST = re.compile(r"[0-9a-f]{64}\Z")
_NAME = re.compile(r"[a-z][a-z_]*(/[0-9]+)?\Z")


def encode(value: Json) -> bytes:
    """The RFC 8785 bytes of ``value``.

    Raises:
        CanonicalError: the value holds something canonical JSON refuses; the message says what and where.
    """
    _refuse(value, "$")
    try:
        text = json.dumps(_ordered(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise CanonicalError(f"lone surrogate at character {error.start} of the encoded value") from None


def decode(data: bytes) -> Any:
    """The value whose canonical bytes are ``data``.

    Raises:
        CanonicalError: ``data`` is not JSON within ``strict_json``'s limits, has duplicate keys or floats, or is not in
            canonical form.
    """
    if not within_limits(data):
        raise CanonicalError("JSON that is nested too deep, or has too long a number")
    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=_no_duplicates, parse_float=_no_float)
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise CanonicalError(f"not canonical JSON: {error}") from None
    if encode(value) != data:
        raise CanonicalError("JSON that is not in canonical form")
    return value


def entry_bytes(entry: Entry) -> bytes:
    """The canonical bytes of an entry that ``check_entry`` would let pass.

    Empty ``holder`` and ``xrefs`` are left out; ``refs`` and ``parts`` never are.
    """
    trail, log, seq, at, clock, kind, actor, holder, refs, parts, xrefs, v = entry
    actor_at, holder_to_parts, trail_to_v = _repeated(actor, holder, kind, log, trail)
    said = ",".join([f'"{name}":"{digest}"' for name, digest in parts])
    about = ",".join(map(str, refs)) if refs else ""
    across = ""
    if xrefs:
        inner = ",".join([f'"{name}":[{",".join(map(str, seqs))}]' for name, seqs in xrefs])
        across = f',"xrefs":{{{inner}}}'
    return (
        f'{actor_at}{at},"clock":{clock},{holder_to_parts}{{{said}}},"refs":[{about}],"seq":{seq},{trail_to_v}{v}{across}}}'
    ).encode("ascii")


@lru_cache(maxsize=256)
def _repeated(actor: str, holder: str, kind: str, log: str, trail: str) -> tuple[str, str, str]:
    """What few entries differ in, written once: up to the value of ``at``, from the holder to ``parts``, and to ``v``."""
    whose = f'"holder":"{holder}",' if holder else ""
    return f'{{"actor":"{actor}","at":', f'{whose}"kind":"{kind}","log":"{log}","parts":', f'"trail":"{trail}","v":'


def entry_from_bytes(data: bytes) -> Entry:
    """The entry whose canonical bytes are ``data``.

    Raises:
        CanonicalError: not canonical, a field is missing, of the wrong type or out of range, or unknown to this format;
            a newer format may have fields of its own (TRAIL.9).
    """
    try:
        value = json.loads(data.decode("utf-8"))
        entry = Entry(
            trail=value["trail"],
            log=value["log"],
            seq=value["seq"],
            at=value["at"],
            clock=value["clock"],
            kind=value["kind"],
            actor=value["actor"],
            holder=value.get("holder", ""),
            refs=tuple(value["refs"]),
            parts=tuple(value["parts"].items()),
            xrefs=tuple((log, tuple(seqs)) for log, seqs in value.get("xrefs", {}).items()),
            v=value["v"],
        )
        check_entry(entry)
        encoded = entry_bytes(entry)
    except CanonicalError:
        raise
    except (KeyError, TypeError, AttributeError) as error:
        raise CanonicalError(f"not an entry: {error!r}") from None
    except (ValueError, RecursionError) as error:
        raise CanonicalError(f"not canonical JSON: {error}") from None
    if entry.v > FORMAT:
        check_newer(data)
    elif encoded != data:  # Whatever is not canonical is encoded otherwise: spaces, order, a key twice, an escape.
        raise CanonicalError("an entry that is not in canonical form, or has unknown fields")
    return entry


def check_newer(data: bytes) -> None:
    """Raise ``CanonicalError`` unless the bytes of an entry of a newer format are canonical, ASCII, and free of escapes."""
    value = decode(data)
    if not data.isascii() or b"\\" in data or b"\x7f" in data:
        raise CanonicalError("an entry that is not in plain ASCII")
    if value.get("holder") == "" or value.get("xrefs") == {}:
        raise CanonicalError("an entry with an empty holder or empty references into other logs, which are left out")


# Ids, kinds and part names repeat from entry to entry, so most are looked up and not matched again.
@lru_cache(maxsize=4096)
def is_id(text: str) -> bool:
    """Whether ``text`` is an id as trails, actors and holders have: 32 lower-case hex digits."""
    return _ID.match(text) is not None


@lru_cache(maxsize=4096)
def _is_name(text: str) -> bool:
    return _NAME.match(text) is not None


# Not looked up: each is met once, and would push the others out.
_is_numbered = _NAME.match


def is_digest(text: str) -> bool:
    """Whether ``text`` is a digest as leaves have of parts: 64 lower-case hex digits."""
    return _DIGEST.match(text) is not None


def check_entry(entry: Entry) -> None:
    """Raise ``CanonicalError`` unless every field is in its alphabet and range."""
    check_fields(entry)
    for name, digest in entry.parts:
        if not is_digest(digest):
            raise CanonicalError(f"entry {entry.seq}: the digest of part {name!r} is not 64 hex digits")


def check_fields(entry: Entry) -> None:
    """``check_entry`` for an entry whose digests ``part_digest`` just made, or are about to be compared with it."""
    trail, log, seq, at, clock, kind, actor, holder, refs, parts, xrefs, v = entry
    if not _are_names(trail, log, kind, actor, holder):
        raise CanonicalError(f"entry {seq}: ids are 32 lower-case hex digits, kind and log are lower-case words")
    for number in (seq, v, *refs):
        if type(number) is not int or not 0 <= number <= MAX_INTEGER:
            raise CanonicalError(f"entry {seq}: {number!r} is not an integer of 0 … 2^53−1")
    if v < 1:
        raise CanonicalError(f"entry {seq}: {v} is no format; the first is 1")
    if refs and max(refs) >= seq:
        raise CanonicalError(f"entry {seq}: it refers to entry {max(refs)}, which is not before it")
    for instant in (at, clock):
        if type(instant) is not int or not -MAX_INTEGER <= instant <= MAX_INTEGER:
            raise CanonicalError(f"entry {seq}: {instant!r} is not an instant in microseconds")
    before = ""
    for name, _ in parts:
        if name <= before or not (_is_numbered(name) if "/" in name else _is_name(name)):
            raise CanonicalError(f"entry {seq}: part {name!r} is out of order or misnamed")
        before = name
    if xrefs:
        _check_xrefs(entry)


@lru_cache(maxsize=256)
def _are_names(trail: str, log: str, kind: str, actor: str, holder: str) -> bool:
    return is_id(trail) and is_id(actor) and (holder == "" or is_id(holder)) and _is_name(kind) and _is_name(log)


def _check_xrefs(entry: Entry) -> None:
    before = ""
    for log, seqs in entry.xrefs:
        in_range = all(type(seq) is int and 0 <= seq <= MAX_INTEGER for seq in seqs)
        if log <= before or not _is_name(log) or not seqs or not in_range:
            raise CanonicalError(
                f"entry {entry.seq}: references into log {log!r} are empty, out of order or out of range"
            )
        before = log


def part_digest(salt: bytes, body: bytes) -> str:
    """Hex ``SHA-256(salt ‖ body)``: what a leaf says of a part (TRAIL.4).

    Raises:
        CanonicalError: the salt is not 32 bytes.
    """
    if len(salt) != SALT_BYTES:
        raise CanonicalError(f"a salt is {SALT_BYTES} bytes, got {len(salt)}")
    return sha256(salt + body).hexdigest()


def _refuse(value: Json, place: str) -> None:
    """Walk ``value`` and raise at the first thing that canonical JSON refuses."""
    kind = type(value)
    if value is None or kind is bool or kind is str:
        return
    if kind is int:
        if not -MAX_INTEGER <= value <= MAX_INTEGER:  # type: ignore[operator]
            raise CanonicalError(f"{place}: integer beyond 2^53−1")
        return
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise CanonicalError(f"{place}: key {key!r} is not a string")
            _refuse(item, f"{place}.{key}")
        return
    if isinstance(value, list | tuple):
        for position, item in enumerate(value):
            _refuse(item, f"{place}[{position}]")
        return
    raise CanonicalError(f"{place}: {kind.__name__} has no canonical form here")


def _ordered(value: Json) -> Json:
    """``value`` with keys in UTF-16 order, which is what RFC 8785 sorts by (not code-point order beyond U+FFFF)."""
    if isinstance(value, dict):
        # Of ASCII the two orders are one, and that needs no codec loaded.
        keys = sorted(value) if all(map(str.isascii, value)) else sorted(value, key=_utf16)
        return {key: _ordered(value[key]) for key in keys}
    if isinstance(value, list | tuple):
        return [_ordered(item) for item in value]
    return value


def _utf16(key: str) -> bytes:
    return key.encode("utf-16-be", "surrogatepass")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise CanonicalError("duplicate keys in one object")
    return made


def _no_float(text: str) -> Any:
    raise CanonicalError(f"a float: {text}")
