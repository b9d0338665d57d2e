"""The fold reads parts by a fast decoder where it can; whatever they hold, that changes nothing of what is believed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.beliefs import ClaimRow, Effects, VerdictRow, effects
from tallystick.model.entry import Entry, EntryKind
from tallystick.store.memory_views import Views

ID = "0" * 32
NOT_ASCII = '"é": 0'
"""A member that means nothing, and that only the slow way can read past."""

_scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.sampled_from(["fact", "quotation/1", "outcome/1", "verbatim", "\ud800", "😀", "é", "\x00"]),
    st.text(max_size=4),
)
_values = st.recursive(
    _scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
)
_facets = st.dictionaries(
    st.sampled_from(["kind", "origin", "session", "said_at", "tokens", "other"]), _scalars | _values, max_size=6
)
_verdict = st.dictionaries(st.sampled_from(["verifier", "value", "reason", "spans"]), _scalars | _values, max_size=4)
_verdicts = st.fixed_dictionaries({"verdicts": st.lists(_verdict | _values, max_size=3) | _values})


def _opened(facets: bytes) -> Effects:
    entry = Entry(ID, "memory", 5, 0, 0, EntryKind.ASSERTED, ID, ID, (), (("facets", "0" * 64),))
    return effects(entry, {"facets": facets}, Views())


def _judged(body: bytes) -> Effects:
    entry = Entry(ID, "memory", 6, 0, 0, EntryKind.JUDGED, ID, "", (5,), (("verdict/5", "0" * 64),))
    return effects(entry, {"verdict/5": body}, Views())


def _slow(body: str) -> bytes:
    return ("{" + NOT_ASCII + (", " if body.strip() != "{}" else "") + body[1:]).encode("utf-8", "surrogatepass")


@given(_facets)
def test_facets_mean_the_same_either_way(said: dict[str, object]) -> None:
    """TRAIL.9: the facets of a claim give the same rows whether the fast decoder takes them or refuses them."""
    body = json.dumps(said)
    assert _opened(body.encode()) == _opened(_slow(body))


@given(_verdicts)
def test_verdicts_mean_the_same_either_way(said: dict[str, object]) -> None:
    """TIME.13: verdicts give the same rows whether the fast decoder takes them or refuses them."""
    body = json.dumps(said)
    assert _judged(body.encode()) == _judged(_slow(body))


@pytest.mark.parametrize(
    "body",
    [
        '{"kind": "fact", "kind": "decision"}',
        '{"kind": "fact", "kind": 1}',
        '{"kind": 1, "kind": "fact"}',
        '{"session": 1.0, "kind": "fact"}',
        '{"session": -0, "kind": "fact"}',
        '{"session": 9007199254740993, "kind": "fact"}',
        '{"said_at": true, "kind": "fact"}',
        '{"x": NaN, "kind": "fact"}',
        '{"x": "\\ud800", "kind": "fact"}',
        '{"\\u006bind": "fact"}',
        '{"x": 01, "kind": "fact"}',
        '{"kind": "fact",}',
        '{"kind": "fact"} x',
        '{"kind": "fact", "x": ' + "[" * 100_000 + "]" * 100_000 + "}",
    ],
)
def test_odd_json_means_the_same_either_way(body: str) -> None:
    """TRAIL.9: doubled keys, numbers out of form or range, odd escapes, trailing bytes and deep nesting, either way."""
    assert _opened(body.encode()) == _opened(_slow(body))


def test_the_fast_way_is_taken() -> None:
    """TIME.12: plain facets and verdicts are read as they stand."""
    claim, _ = _opened(b'{"kind":"fact","origin":"user","session":3,"said_at":7,"tokens":9,"by":"rules/1"}')
    assert claim == ClaimRow(5, ID, "fact", "user", 5, 3, 7, 9)
    (verdict,) = _judged(
        b'{"verdicts":[{"reason":"contiguous","spans":[],"value":"verbatim","verifier":"quotation/1"}]}'
    )
    assert verdict == VerdictRow(5, "derivation", 6, "verbatim", "contiguous", 6)
