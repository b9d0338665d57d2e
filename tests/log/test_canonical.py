"""Canonical bytes against the reference implementation of RFC 8785 and its vectors."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import CanonicalError
from tallystick.log import canonical
from tallystick.model.entry import Entry

VECTORS = Path(__file__).resolve().parents[2] / "vectors" / "jcs"

integers = st.integers(-canonical.MAX_INTEGER, canonical.MAX_INTEGER)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
values = st.recursive(
    st.none() | st.booleans() | integers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=15,
)
ids = st.integers(0, 2**128 - 1).map(lambda n: f"{n:032x}")
names = st.from_regex(r"[a-z][a-z_]{0,8}(/[0-9]{1,4})?", fullmatch=True)
digests = st.integers(0, 2**256 - 1).map(lambda n: f"{n:064x}")
seqs = st.integers(0, canonical.MAX_INTEGER)
entries = st.builds(
    Entry,
    trail=ids,
    log=st.sampled_from(["memory", "access", "ledger"]),
    seq=seqs,
    v=st.integers(1, 9),
    at=integers,
    clock=integers,
    kind=st.from_regex(r"[a-z][a-z_]{0,12}", fullmatch=True),
    actor=ids,
    holder=st.just("") | ids,
    refs=st.lists(seqs, max_size=4).map(tuple),
    parts=st.dictionaries(names, digests, max_size=5).map(lambda d: tuple(sorted(d.items()))),
    xrefs=st.dictionaries(st.sampled_from(["access", "memory"]), st.lists(seqs, min_size=1, max_size=3)).map(
        lambda d: tuple((k, tuple(v)) for k, v in sorted(d.items()))
    ),
).map(lambda entry: entry._replace(refs=tuple(ref for ref in entry.refs if ref < entry.seq)))


@given(values)
def test_equal_bytes_with_the_reference(value: Any) -> None:
    """TRAIL.2: the encoder and the ``rfc8785`` package agree on every value, and decoding gives it back."""
    data = canonical.encode(value)
    assert data == rfc8785.dumps(value)
    assert canonical.decode(data) == value


@given(entries)
def test_entries_by_the_fast_path_equal_the_reference(entry: Entry) -> None:
    """TRAIL.2: an entry's bytes are the reference encoding of its fields, and reading them gives the entry."""
    fields: dict[str, Any] = {
        **{name: getattr(entry, name) for name in ("actor", "at", "clock", "kind", "log", "seq", "trail", "v")},
        "parts": dict(entry.parts),
        "refs": list(entry.refs),
    }
    if entry.holder:
        fields["holder"] = entry.holder
    if entry.xrefs:
        fields["xrefs"] = {log: list(seqs_) for log, seqs_ in entry.xrefs}
    data = canonical.entry_bytes(entry)
    assert data == rfc8785.dumps(fields)
    assert canonical.entry_from_bytes(data) == entry


@pytest.mark.parametrize("name", ["arrays", "french", "structures", "unicode", "values", "weird"])
def test_official_vectors(name: str) -> None:
    """TRAIL.2: the vectors come out byte for byte; those with floats are refused."""
    value = json.loads((VECTORS / "input" / f"{name}.json").read_text("utf-8"))
    if name in ("structures", "values"):
        with pytest.raises(CanonicalError, match="float"):
            canonical.encode(value)
    else:
        assert canonical.encode(value) == (VECTORS / "output" / f"{name}.json").read_bytes()


@pytest.mark.parametrize(
    "value",
    [1.0, float("nan"), 2**53, -(2**53), "\ud800", {"a": ["\udfff"]}, {1: "a"}, {"a": {"b": 1.5}}, b"bytes", {None: 1}],
)
def test_what_is_refused(value: Any) -> None:
    """TRAIL.2: floats, large integers, lone surrogates and keys that are not strings are refused."""
    with pytest.raises(CanonicalError):
        canonical.encode(value)


@pytest.mark.parametrize(
    "data",
    [
        b'{"a":1,"a":1}',
        b'{"b":1,"a":2}',
        b'{"a": 1}',
        b"1.0",
        b"9007199254740992",
        b'"\\ud800"',
        b"[1,]",
        b"\xff",
        b"NaN",
    ],
)
def test_bytes_that_are_not_canonical(data: bytes) -> None:
    """TRAIL.2: duplicate keys, another order, white space, floats and broken text are refused on reading as well."""
    with pytest.raises(CanonicalError):
        canonical.decode(data)


def test_a_short_salt_is_refused() -> None:
    """TRAIL.4: a salt is 32 bytes."""
    assert len(canonical.part_digest(b"s" * 32, b"x")) == 64
    for size in (0, 16, 31, 33):
        with pytest.raises(CanonicalError, match="salt"):
            canonical.part_digest(b"s" * size, b"x")


@given(entries, st.data())
def test_no_changed_byte_reads_as_the_same_entry(entry: Entry, data: st.DataObject) -> None:
    """TRAIL.2: change any byte of an entry, and it is refused or reads as another entry."""
    canon = bytearray(canonical.entry_bytes(entry))
    place = data.draw(st.integers(0, len(canon) - 1))
    canon[place] ^= 1 << data.draw(st.integers(0, 7))
    with contextlib.suppress(CanonicalError):
        assert canonical.entry_from_bytes(bytes(canon)) != entry
