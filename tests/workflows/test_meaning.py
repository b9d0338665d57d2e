"""Searching by meaning as well as by words: both orders fused, stable as of a point, logged, and gone with what is erased."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tallystick.embedders.protocol import packed
from tallystick.errors import UsageError
from tallystick.model.entry import LogName
from tallystick.ranking import HYBRID, METHOD
from tallystick.store.memory import MemoryStore
from tallystick.store.words import words
from tallystick.testing.told import PROJECT, newest, tell
from tallystick.testing.trails import trail_over
from tallystick.trail import Trail
from tallystick.trail.erasing import Erasure, erase
from tallystick.workflows import recall as recalling
from tallystick.workflows.amend import retract
from tallystick.workflows.placing import AT_ONCE, place_claims
from tallystick.workflows.recall import Recalled, recall
from tallystick.workflows.scoping import Scope
from tests.cli.surface import Tally

MINE = Scope(asked=(PROJECT,))
TOPICS = (("disk", "drive", "storage", "full", "space"), ("deploy", "release", "ship", "rollout"), ("port", "socket"))


class ByTopic:
    """A model that knows which words are about one thing."""

    name = "topics/1"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        self.asked += texts
        return [packed([sum(word in topic for word in words(text)) for topic in TOPICS] + [0.01]) for text in texts]


@pytest.fixture
def trail() -> Trail:
    """A fresh one."""
    return trail_over(MemoryStore())


def found(trail: Trail, query: str, model: ByTopic | None, as_of: str | None = None) -> Recalled:
    return recall(trail, query, MINE, as_of=as_of, embedder=model)


def texts(answer: Recalled) -> list[str | None]:
    return [belief.text for belief, _ in answer.items]


def test_found_in_other_words(trail: Trail) -> None:
    """What says the same in other words is found, and what holds the word itself stands before it."""
    tell(trail, "no storage left on the build machine")
    tell(trail, "the disk is full")
    tell(trail, "releases go out on Fridays")
    assert texts(found(trail, "disk", None)) == ["the disk is full"]
    by_both = found(trail, "disk", ByTopic())
    assert texts(by_both)[:2] == ["the disk is full", "no storage left on the build machine"]
    assert (found(trail, "disk", None).method, by_both.method) == (METHOD, HYBRID)


def test_logged_with_both_ranks(trail: Trail) -> None:
    """ACCESS.1: of each item of the pool its score and its rank in either order."""
    full, left = tell(trail, "the disk is full"), tell(trail, "no storage left")
    answer = found(trail, "disk", ByTopic())
    with trail.reading(LogName.ACCESS) as rows:
        pool = json.loads(next(part.body for part in rows.parts(answer.recall) if part.name == "pool"))
    assert pool["method"] == HYBRID
    assert [(each[0], each[2:]) for each in pool["pool"]] == [(full, [1, 2]), (left, [0, 1])]


def test_the_past_stays_as_it_was(trail: Trail) -> None:
    """TIME.3: as of a point the order is the same whatever was said, retracted or placed since, and whoever asked before."""
    model = ByTopic()
    claims = [tell(trail, text) for text in ("the disk is full", "no space on the drive", "storage is cheap")]
    point = str(newest(trail))
    first = found(trail, "disk", model, point)
    tell(trail, "a new drive for more storage space")
    retract(trail, claims[1], "r")
    place_claims(trail, model)
    again = found(trail, "disk", model, point)
    assert [(each.row.claim, score) for each, score in again.items] == [
        (each.row.claim, score) for each, score in first.items
    ]
    assert claims[1] not in [each.row.claim for each, _ in found(trail, "disk", model).items]


def test_placing_may_be_stopped_and_goes_on(trail: Trail) -> None:
    """Each claim is placed once, the newest first; what was placed before a stop stays."""
    model = ByTopic()
    claims = [tell(trail, f"disk number {n}") for n in range(AT_ONCE + 10)]
    told: list[tuple[int, int]] = []

    def stops(done: int, of: int) -> None:
        told.append((done, of))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        place_claims(trail, model, stops)
    assert told == [(AT_ONCE, len(claims))]
    assert place_claims(trail, model)[:2] == (10, AT_ONCE)
    assert place_claims(trail, model)[:2] == (0, len(claims))
    assert model.asked[0] == f"disk number {len(claims) - 1}"
    assert len(model.asked) == len(claims)


def test_too_many_without_a_vector(trail: Trail, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search places a few claims by itself; of many it says what to run, and that words alone do without."""
    monkeypatch.setattr(recalling, "PLACED_FIRST", 2)
    for n in range(3):
        tell(trail, f"disk number {n}")
    with pytest.raises(UsageError, match=r"3 claims have no vector of topics/1 yet; run `tally embed`"):
        found(trail, "disk", ByTopic())
    assert len(found(trail, "disk", None).items) == 3
    place_claims(trail, ByTopic())
    assert len(found(trail, "disk", ByTopic()).items) == 3


def test_what_is_erased_is_not_placed_again(trail: Trail) -> None:
    """ERASE.1: a text that is gone has no vector, is not asked for one, and holds up no search."""
    model = ByTopic()
    claim, other = tell(trail, "the disk is full"), tell(trail, "the drive is full")
    place_claims(trail, model)
    with trail.writing() as appender:
        erase(appender, Erasure({claim: {"text"}}, {}), "asked for")
    model.asked.clear()
    assert place_claims(trail, model).placed == 0
    assert [each.row.claim for each, _ in found(trail, "disk", model).items] == [other]
    assert model.asked == ["disk"]


def test_any_query(trail: Trail) -> None:
    """EVID.10: every query is safe, and one that points nowhere finds nothing by meaning."""
    tell(trail, "the disk is full")
    for query in ("", " ", '"', "NEAR(", "\x00", "🙂", "disk " * 3000):
        found(trail, query, ByTopic())


def test_from_the_command_line(tally: Tally, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the model in a package: `tally embed` once, then `recall` finds by meaning; `--words` does as it did before."""
    tally.remember("the build machine has no room left on its drive")
    tally.remember("releases go out every Friday")
    assert tally.json("recall", "disk space is exhausted")["items"] == []
    refused = tally("embed")
    assert (refused.code, "TALLY_EMBEDDER=minilm" in refused.err) == (2, True)
    monkeypatch.setenv("TALLY_EMBEDDER", "minilm")
    assert tally.json("embed") == {"model": "minilm-l6-int8/1", "placed": 2, "there": 0}
    answer = tally.json("recall", "disk space is exhausted")
    assert answer["items"][0]["text"] == "the build machine has no room left on its drive"
    assert answer["method"] == HYBRID
    assert tally.json("recall", "disk space is exhausted", "--words")["items"] == []
    monkeypatch.setenv("TALLY_EMBEDDER", "gpt")
    wrong = tally("recall", "disk")
    assert (wrong.code, "expected off, minilm" in wrong.err) == (2, True)


def test_erased_from_the_file(tally: Tally, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """ERASE.1: the vector of what is forgotten is in no file of the trail."""
    import apsw

    claim = tally.remember("the build machine has no room left on its drive")
    monkeypatch.setenv("TALLY_EMBEDDER", "minilm")
    tally.json("embed")
    (database,) = tmp_path.rglob("memory.db")
    with apsw.Connection(str(database)) as read:
        vector = bytes(read.execute("SELECT data FROM vector").get)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any(vector in path.read_bytes() for path in files)
    tally.json("forget", claim, "--because", "asked")
    assert not any(vector in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
