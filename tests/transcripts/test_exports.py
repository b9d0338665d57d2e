"""Exports of many conversations: cut at their brackets as they stream by, whatever their size and wherever they are torn."""

from __future__ import annotations

import json
import tracemalloc
from io import BytesIO, RawIOBase
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import UsageError
from tallystick.plugins import adapters
from tallystick.testing.reader_contract import with_other_values
from tallystick.transcripts import exports
from tallystick.transcripts.exports import Elements, Named, conversations, first_keys
from tallystick.transcripts.protocol import Gatherer, RawRecord
from tallystick.transcripts.view import DiskView
from tests.transcripts.golden import CORPORA

KEYS = st.text(alphabet='ab"\\{}[]:, é\u2028', max_size=5)
VALUES = st.recursive(
    st.none() | st.integers() | KEYS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.lists(st.dictionaries(KEYS, VALUES, max_size=3), max_size=5)


class Pieces(RawIOBase):
    """A stream that gives a few bytes at a time."""

    def __init__(self, data: bytes, size: int) -> None:
        self._inner = BytesIO(data)
        self._size = size

    def read(self, size: int = -1) -> bytes:
        return self._inner.read(self._size)


def cut(data: bytes, size: int = 1 << 20, **more: Any) -> tuple[list[exports.Element], bool]:
    elements = Elements(Pieces(data, size), **more)  # type: ignore[arg-type]
    return list(elements), elements.whole


@given(OBJECTS, st.integers(1, 60), st.booleans(), st.sampled_from([None, 1]))
def test_every_object_of_an_array_is_found(listed: list[Any], size: int, escaped: bool, indent: int | None) -> None:
    """EVID.1, 10: however the file is cut into pieces, its objects are found whole, where they stand."""
    data = json.dumps(listed, ensure_ascii=escaped, indent=indent).encode()
    found, whole = cut(data, size)
    assert whole
    assert [json.loads(each.data or b"") for each in found] == listed
    assert all(data[each.offset : each.offset + each.length] == each.data for each in found)


@given(OBJECTS, st.integers(1, 60), st.data())
def test_a_torn_array_is_read_to_the_tear(listed: list[Any], size: int, more: st.DataObject) -> None:
    """EVID.2: the objects before the tear are there, and the array says that it is not whole."""
    data = json.dumps(listed).encode()
    found, whole = cut(data[: more.draw(st.integers(0, len(data) - 1))], size)
    assert not whole
    assert [json.loads(each.data or b"") for each in found] == listed[: len(found)]


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_what_is_too_long_is_passed_over(size: int) -> None:
    """EVID.10: an object beyond the bound is not held, and those after it are found."""
    data = json.dumps([{"a": 1}, {"b": "x" * 500}, {"c": [{}]}]).encode()
    found, whole = cut(data, size, most_bytes=100)
    assert [(each.data and json.loads(each.data), each.length) for each in found] == [
        ({"a": 1}, 8),
        (None, 509),
        ({"c": [{}]}, 11),
    ]
    assert whole


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """EVID.10: of an export of 64 MB no more than a conversation and a piece are held while it is gathered."""
    path = tmp_path / "conversations.json"
    with path.open("wb") as file:
        file.write(b"[")
        for number in range(64):
            file.write(b"," * (number > 0) + b'{"id":"c%d","said":"%s"}' % (number, b"x" * 1_000_000))
        file.write(b"]")
    tracemalloc.start()
    with DiskView() as view:
        members = list(conversations(view, str(path), lambda data: Named(json.loads(data)["id"], 0)))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert [member.name for member in members] == [f"c{number}" for number in range(64)]
        assert len(members[63].load()) == len(b'{"id":"c63","said":""}') + 1_000_000
    assert peak < 12_000_000


def test_no_bytes_make_it_slow() -> None:
    """EVID.10: whatever a token begins with, repeated, takes linear time, in pieces of any size."""
    began = process_time()
    for mark in (b"[", b"{", b'"', b"\\", b'"\\', b'{"', b'"a"', b"]", b'{"a":"', b"[{}", b'"\\"'):
        data = b"[{" + mark * (200_000 // len(mark))
        cut(data, 1000)
        cut(data)
        first_keys(data[: 64 * 1024])
    assert process_time() - began < 6


@pytest.mark.parametrize(
    ("data", "keys"),
    [
        (b'[{"a":{"b":1},"c":[{"d":2}],"e":"f:"}, {"g":1}]', {"a", "c", "e"}),
        (b'\xef\xbb\xbf \n{ "a" : "\\"b\\":" , "c', {"a"}),
        (b'{"a":"unclosed, "b":', {"a"}),
        (b"[[]]", set()),
        (b"", set()),
        (b"[1]", set()),
    ],
)
def test_first_keys(data: bytes, keys: set[str]) -> None:
    """EVID.12: only keys of the first object itself count for what a file is."""
    assert first_keys(data) == keys


def test_names_and_states(tmp_path: Path) -> None:
    """EVID.2, 4: a name that is none, or taken, is the place; a change of any byte is a change of state; a tear is an error."""
    path = tmp_path / "conversations.json"
    named = [{"id": "a"}, {"id": "a"}, {"id": "../x#y"}, {"id": "b", "t": 1}]
    path.write_text(json.dumps(named))

    def name(data: bytes) -> Named:
        return Named(json.loads(data)["id"], json.loads(data).get("t", 0))

    with DiskView() as view:
        before = list(conversations(view, str(path), name))
        assert [each.name for each in before] == ["a", "conversation-2", "conversation-3", "b"]
        path.write_text(json.dumps(named).replace("y", "z"))
        with pytest.raises(UsageError, match="changed while it was read"):
            before[2].load()
        after = list(conversations(view, str(path), name))
        assert [old.state == new.state for old, new in zip(before, after, strict=True)] == [True, True, False, True]
        path.write_text(json.dumps(named)[:-1])
        *_, torn = conversations(view, str(path), name)
        with pytest.raises(UsageError, match=r"conversations\.json: conversation-5: the file ends in the middle"):
            torn.load()


@pytest.mark.parametrize("harness", ["chatgpt", "claude-ai", "otel-genai"])
def test_any_value_in_a_place_is_gathered(harness: str, tmp_path: Path) -> None:
    """EVID.2: whatever stands where a value is expected, gathering and reading end, with events or an error of ours."""
    (adapter,) = (each for each in adapters() if each.name == harness)
    assert isinstance(adapter, Gatherer)
    (source,) = json.loads((CORPORA / harness / "SOURCES.json").read_text("utf-8"))
    path = tmp_path / source["file"]
    for data in with_other_values((CORPORA / harness / source["file"]).read_bytes(), times=60):
        path.write_bytes(data)
        with DiskView() as view:
            for member in adapter.gather(view, str(path)):
                try:
                    document = member.load()
                except UsageError:
                    continue
                reader = adapter.reader(member.name)
                for event in reader.read([RawRecord(1, 0, document)]):
                    event.text.encode()
