"""The parts of one entry in one row: a third of the rows, and of the time that it takes to keep and to read them.

Part by part, in order of name: one byte that says how long the name is, the name, the salt of 32 bytes, four bytes (big
endian) that say how long the body is, and the body. Storage only: no commitment depends on it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import lru_cache

from tallystick.errors import TrailUnreadable

_SALT, _LENGTH = 32, 4
from_bytes = int.from_bytes

Packed = tuple[int, bytes]
"""(seq, the parts of that entry)."""
Unpacked = tuple[str, bytes, bytes]
"""(name, salt, body)."""


def packed(parts: Iterable[Unpacked]) -> bytes:
    """The parts of one entry, which come in order of name, as the bytes of its row.

    Raises:
        ValueError: a salt is not 32 bytes, or a name or body is too long.
    """
    pieces: list[bytes] = []
    for name, salt, body in parts:
        if len(salt) != _SALT:
            raise ValueError(f"part {name!r}: a salt is {_SALT} bytes, got {len(salt)}")
        pieces += (_named(name), salt, len(body).to_bytes(_LENGTH, "big"), body)
    return b"".join(pieces)


@lru_cache(maxsize=256)
def _named(name: str) -> bytes:
    said = name.encode("ascii")
    return bytes((len(said),)) + said


def unpacked(seq: int, data: bytes) -> list[Unpacked]:
    """The parts of entry ``seq``, in order of name.

    Raises:
        TrailUnreadable: the bytes are damaged; the message names the entry.
    """
    found: list[Unpacked] = []
    at, end = 0, len(data)
    try:
        while at < end:
            name_end = at + 1 + data[at]
            salt_end = name_end + _SALT
            body_at = salt_end + _LENGTH
            after = body_at + from_bytes(data[salt_end:body_at], "big")
            if name_end == at + 1 or after > end:
                raise ValueError
            found.append((str(data[at + 1 : name_end], "ascii"), data[name_end:salt_end], data[body_at:after]))
            at = after
    except (ValueError, IndexError):
        raise TrailUnreadable(f"entry {seq}: its parts are damaged; run `tally verify`") from None
    return found


def told_apart(seq: int, data: bytes) -> list[Unpacked]:
    """``unpacked``, or, where the bytes are damaged, all of them as one part that has no name."""
    try:
        return unpacked(seq, data)
    except TrailUnreadable:
        return [("", b"", data)]


def body_of(seq: int, data: bytes, name: str) -> bytes | None:
    """The body of one part of entry ``seq``; None where it has none of that name.

    Raises:
        TrailUnreadable: see ``unpacked``.
    """
    wanted = _named(name)
    at, end = 0, len(data)
    while at < end:
        salt_end = at + 1 + data[at] + _SALT
        body_at = salt_end + _LENGTH
        after = body_at + from_bytes(data[salt_end:body_at], "big")
        if data[at] == 0 or body_at > end or after > end:
            raise TrailUnreadable(f"entry {seq}: its parts are damaged; run `tally verify`")
        if data.startswith(wanted, at):
            return data[body_at:after]
        at = after
    return None


def without(seq: int, data: bytes, names: Collection[str]) -> bytes:
    """The bytes without the parts of these names.

    Raises:
        TrailUnreadable: see ``unpacked``.
    """
    return packed(part for part in unpacked(seq, data) if part[0] not in names)
