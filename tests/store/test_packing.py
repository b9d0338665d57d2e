"""Parts in one row: packed and unpacked they are the same, and damaged bytes are told or read as something else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import TrailUnreadable
from tallystick.store.packing import body_of, packed, unpacked, without

names = st.from_regex(r"[a-z][a-z_]{0,9}(/[0-9]{1,7})?", fullmatch=True)
parts = st.lists(
    st.tuples(names, st.binary(min_size=32, max_size=32), st.binary(max_size=300)),
    max_size=6,
    unique_by=lambda row: row[0],
).map(sorted)


@given(parts, st.data())
def test_back_and_forth(rows: list[tuple[str, bytes, bytes]], data: st.DataObject) -> None:
    """TRAIL.7: what was packed comes back, whole, one by one, and without those that are erased."""
    kept = packed(rows)
    assert unpacked(7, kept) == rows
    for name, _, body in rows:
        assert body_of(7, kept, name) == body
    assert body_of(7, kept, "zzzzzzzzzzzz") is None
    gone = {row[0] for row in rows if data.draw(st.booleans())}
    assert unpacked(7, without(7, kept, gone)) == [row for row in rows if row[0] not in gone]


@given(parts, st.data())
def test_damaged_bytes(rows: list[tuple[str, bytes, bytes]], data: st.DataObject) -> None:
    """TRAIL.7: cut, lengthened or changed bytes name the entry or come to other parts; both ways of reading agree."""
    kept = bytearray(packed(rows) + data.draw(st.binary(max_size=3)))
    for _ in range(data.draw(st.integers(0, 3))):
        if kept:
            kept[data.draw(st.integers(0, len(kept) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(kept[: data.draw(st.integers(0, len(kept)))])
    try:
        found = unpacked(7, cut)
    except TrailUnreadable:
        return
    for name, _, body in found:
        if [each[0] for each in found].index(name) == [row for row in found if row[0] == name].index((name, _, body)):
            assert body_of(7, cut, name) is not None


@pytest.mark.parametrize("row", [("text", b"short", b"x"), ("é", bytes(32), b"x")])
def test_what_cannot_be_packed(row: tuple[str, bytes, bytes]) -> None:
    """TRAIL.4: a salt that is not 32 bytes and a name that is not ASCII are refused."""
    with pytest.raises(ValueError):
        packed([row])
