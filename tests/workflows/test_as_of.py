"""Asking about the past: every read path takes a point, names it, and answers the same whatever came since (TIME.1–4, 10, 11)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.cli.surface import Done, Tally
from tests.sessions import CLOCK, ClaudeCode

NOW = int(CLOCK)
HOUR = 3_600_000_000
READS: dict[str, Callable[[Tally, str], Done]] = {
    "brief": lambda tally, point: tally("brief", "--as-of", point, "--holder", "*"),
    "brief --json": lambda tally, point: tally("brief", "--as-of", point, "--json"),
    "recall": lambda tally, point: tally("recall", "port linter tests", "--as-of", point, "--json", "--holder", "*"),
    "replay": lambda tally, point: tally("replay", "--as-of", point, "--holder", "*", "--json"),
    "replay count": lambda tally, point: tally("replay", "--as-of", point, "--count", "--json"),
    "why": lambda tally, point: tally("why", CLAIM, "--as-of", point, "--json"),
    "answers": lambda tally, point: tally("answers", "--as-of", point, "--json", "--holder", "*"),
    "answers that cite": lambda tally, point: tally("answers", "--cited", CLAIM, "--as-of", point),
    "context": lambda tally, point: tally("context", ANSWER, "--as-of", point),
    "register": lambda tally, point: tally("register", "--as-of", point, "--json"),
    "diff": lambda tally, point: tally("diff", "--all", "--json", "--holder", "*", "--", "0", point),
}
CLAIM = "c3"
ANSWER = "a3"
REGISTERED = 9


def answers(tally: Tally, point: str) -> dict[str, str]:
    """Every read path's answer at a point, the recall's own number aside."""
    given = {}
    for name, ask in READS.items():
        done = ask(tally, point)
        assert (done.code, done.err) == (0, ""), name
        given[name] = done.out.partition('"seq"')[2] if name == "recall" else done.out
    return given


@pytest.fixture
def past(tally: Tally) -> Tally:
    """A trail with some history; ``CLAIM`` is its first claim."""
    assert tally.remember("the port of the test database is 5432") == CLAIM
    tally.json("recall", "port")
    assert tally.json("cite", "It is 5432.", "--claims", CLAIM)["answer"] == ANSWER
    tally.remember("the linter runs before every commit")
    tally.remember("All tests pass")
    assert tally.json("register", "mini", "state", "--because", "one at a time")["seq"] == REGISTERED
    return tally


def later(tally: Tally) -> None:
    """Everything that can happen to what is believed, and sessions that tell of earlier days."""
    tally.clock(NOW + HOUR)
    session = ClaudeCode("late", cwd=str(tally.project)).says("Always run the linter on every port. Never skip tests.")
    session.runs("pytest -q", "5 passed").answers("All tests pass")
    path = session.write(tally.folder / "late.jsonl")
    tally.json("ingest", path)
    tally.json("remember", "All tests pass", "--quote", "All tests pass", "--session", path)
    for n in range(20):
        tally.remember(f"port {n} has a linter and tests")
    tally.json("revise", CLAIM, "the port of the test database is 5433", "--because", "moved", "--kind", "change")
    linter = next(item["id"] for item in tally.believed() if item["text"] == "the linter runs before every commit")
    tally.json("retract", linter, "--because", "it does not")
    tally.json("cite", "It was 5432.", "--claims", CLAIM)
    tally.json("recall", "port")
    tally.json("brief")
    tally.json("undo", REGISTERED, "--because", "it has two")
    tally.json("register", "*", "port", "--because", "one at a time")


def test_repeatable(past: Tally) -> None:
    """TIME.3, 4: the answer at a past seq is the same bytes after any later append: ranking, evidence, commands, answers."""
    seq = str(past.json("verify")["size"] - 1)
    first = answers(past, seq)
    later(past)
    assert answers(past, seq) == first
    assert answers(past, str(past.json("verify")["size"] - 1)) != first
    assert past.sound()


def test_the_three_ways_to_name_a_point(past: Tally) -> None:
    """TIME.4, cli.md: a seq, an instant and a checkpoint file of one point give one answer, on every read path."""
    note = past.folder / "then.note"
    note.write_text(past("checkpoint").out)
    seq = str(past.json("verify")["size"] - 1)
    later(past)
    by_seq = answers(past, seq)
    assert answers(past, "2026-04-01T00:00:00Z") == by_seq
    assert answers(past, "2026-04-01T02:30:00+02:00") == by_seq
    assert answers(past, "2026-04-01 02:59 Europe/Berlin") == by_seq
    assert answers(past, str(note)) == by_seq


def test_half_open(tally: Tally) -> None:
    """TIME.1: as-of exactly at the opening a claim is in, exactly at the closing it is out; never both, never neither."""
    old = tally.remember("the port is 5432")
    tally.clock(NOW + HOUR)
    done = tally.json("revise", old, "the port is 5433", "--because", "r")
    opened, closed = int(old[1:]), done["seq"]
    for seq, expected in (
        (opened - 1, []),
        (opened, ["the port is 5432"]),
        (closed - 1, ["the port is 5432"]),
        (closed, ["the port is 5433"]),
    ):
        assert tally.texts("--holder", "*", "--as-of", seq) == expected
    assert tally.texts("--holder", "*", "--as-of", "2026-04-01T00:59:59.999999Z") == ["the port is 5432"]
    assert tally.texts("--holder", "*", "--as-of", "2026-04-01T01:00:00Z") == ["the port is 5433"]


@pytest.mark.parametrize("name", READS)
def test_points_that_are_none(past: Tally, name: str) -> None:
    """TIME.2, 4, 10: the future, a naive time, noise, and another trail's or a forged checkpoint are refused with the reason."""
    note = past("checkpoint").out
    forged, other, noise = (past.folder / each for each in ("forged.note", "other.note", "noise.note"))
    lines = note.splitlines(keepends=True)
    forged.write_text("".join([lines[0], "2\n", *lines[2:]]))
    past.json("remember", "x", "--trail", past.folder / "other")
    other.write_text(past("checkpoint", "--trail", past.folder / "other").out)
    noise.write_bytes(b"\xff\x00")
    size = past.json("verify")["size"]
    reasons = {
        "2026-04-01T00:00:01Z": "later than now",
        "2999-01-01T00:00:00Z": "later than now",
        "2026-04-01T00:00:00": "no zone",
        "2026-04-01": "no zone",
        "2026-02-30T00:00:00Z": "not a time",
        "yesterday": "not a time",
        "": "not a time",
        "2026-04-01 00:00 Mars/Olympus": "time zone",
        str(size): f"the newest is {size - 1}",
        "9" * 30: "the newest is",
        "-1": "not a time",
        str(other): "a checkpoint of",
        str(forged): "forged.note",
        str(noise): "noise.note",
    }
    for point, reason in reasons.items():
        done = READS[name](past, point)
        assert (done.code, done.out) == (2, ""), (point, done)
        assert reason in done.err, (point, done.err)
        assert done.err.count("\n") == 1
    assert past.json("verify")["size"] == size


def test_before_the_beginning(past: Tally) -> None:
    """TIME.1, 2: an instant before the first entry is refused by every read, with when the trail begins."""
    for when in ("2020-01-01T00:00:00Z", "1969-01-01T00:00:00Z", "0001-01-01T00:00:00Z"):
        for name, read in READS.items():
            done = read(past, when)
            assert (done.code, done.out) == (2, ""), (name, when)
            assert "is before the trail, which begins at 2026-04-01T00:00:00Z" in done.err
    assert past.json("replay", "--as-of", "0")["count"] == 0


def test_an_as_of_search_finds_what_was_held_then(past: Tally) -> None:
    """TIME.4: a search as of a point finds only what was held then, what was closed since included."""
    seq = str(past.json("verify")["size"] - 1)
    past.json("retract", CLAIM, "--because", "gone")
    assert past.json("recall", "port")["items"] == []
    (item,) = past.json("recall", "port", "--as-of", seq)["items"]
    assert item["id"] == CLAIM


def test_a_correction_and_a_change(tally: Tally) -> None:
    """TIME.5: "it was never so" leaves no valid time; "it is different since May" leaves all before it."""
    never = tally.remember("the db is Mongo")
    tally.json("revise", never, "the db is Postgres", "--because", "never was", "--kind", "correction")
    moved = tally.remember("the host is mini")
    tally.json(
        "revise", moved, "the host is maxi", "--because", "moved", "--kind", "change", "--valid-from", "2026-02-01"
    )

    def on(day: str) -> set[str]:
        return set(tally.texts("--holder", "*", "--valid-at", f"{day}T00:00:00Z"))

    assert on("2026-01-31") == {"the db is Postgres", "the host is mini"}
    assert on("2026-02-01") == {"the db is Postgres", "the host is maxi"}
    assert tally.sound()


def test_a_change_without_a_date(tally: Tally) -> None:
    """TIME.5, bitemporal case 10: a change told without a date holds from when it was told, and the old until then."""
    old = tally.remember("the host is mini")
    tally.clock(NOW + HOUR)
    tally.json("revise", old, "the host is maxi", "--because", "moved", "--kind", "change")
    assert tally.texts("--holder", "*", "--valid-at", "2026-04-01T00:59:59Z") == ["the host is mini"]
    assert tally.texts("--holder", "*", "--valid-at", "2026-04-01T01:00:00Z") == ["the host is maxi"]


def test_a_partial_overwrite(tally: Tally) -> None:
    """TIME.7, bitemporal case 12: a correction of part of a claim's time narrows it; it keeps its id and evidence."""
    old = tally.remember("X is on call", "--valid-from", "2026-01-01", "--valid-to", "2026-01-10")
    before = tally.json("verify")["size"] - 1
    tally.json(
        "revise", old, "Y is on call", "--because", "swap", "--valid-from", "2026-01-04", "--valid-to", "2026-01-06"
    )
    days = {
        day: tally.texts("--holder", "*", "--valid-at", f"2026-01-{day:02}T00:00:00Z") for day in (1, 3, 4, 5, 6, 9, 10)
    }
    x, y = ["X is on call"], ["Y is on call"]
    assert days == {1: x, 3: x, 4: y, 5: y, 6: x, 9: x, 10: []}
    assert old in {item["id"] for item in tally.believed()}
    assert tally.texts("--holder", "*", "--valid-at", "2026-01-05T00:00:00Z", "--as-of", before) == x


def test_valid_times_that_are_none(tally: Tally) -> None:
    """TIME.10, 11: a start that is not before the end, and naive or impossible times, are refused; nothing is kept."""
    for wrong in (
        ["--valid-from", "2026-02-01", "--valid-to", "2026-02-01"],
        ["--valid-from", "2026-02-02", "--valid-to", "2026-02-01"],
        ["--valid-from", "2026-02-01T00:00:00"],
        ["--valid-from", "2026-13"],
        ["--valid-to", "soon"],
        ["--valid-from", "9999"],
    ):
        tally.refused("remember", "x", *wrong)
    assert "no zone" in tally.refused("replay", "--valid-at", "2026-02-01T00:00:00")
    assert not tally.trail.exists()


def test_what_holds_now(tally: Tally) -> None:
    """CARRY.4, TIME.1: a briefing shows what holds now, not what held when something was last written."""
    tally.remember("the freeze is on", "--valid-to", "2026-04-02T00:00:00Z")
    tally.remember("the new office opens", "--valid-from", "2026-04-02T00:00:00Z")
    assert [line["text"] for line in tally.json("brief")["lines"]] == ["the freeze is on"]
    tally.clock(NOW + 48 * HOUR)
    assert [line["text"] for line in tally.json("brief")["lines"]] == ["the new office opens"]


def test_retract_and_say_again(tally: Tally) -> None:
    """TIME.8: retract, then the same again: held in two stretches, with the reason of the retraction kept in between."""
    first = tally.remember("the cache is memcached")
    gone = tally.json("retract", first, "--because", "saw Redis")["seq"]
    second = tally.remember("the cache is memcached")
    held = [bool(tally.texts("--holder", "*", "--as-of", n)) for n in (int(first[1:]), gone - 1, gone, int(second[1:]))]
    assert held == [True, True, False, True]
    assert "saw Redis" in str(tally.json("why", first)["history"])


def test_two_holders(tally: Tally, monkeypatch: pytest.MonkeyPatch) -> None:
    """TIME.12: two projects that hold the same sentence hold two claims; retracting one leaves the other."""
    mine = tally.remember("the port is 5432")
    other = tally.folder / "other"
    other.mkdir()
    monkeypatch.chdir(other)
    theirs = tally.remember("the port is 5432")
    assert mine != theirs
    tally.json("retract", theirs, "--because", "r")
    assert tally.json("recall", "port")["items"] == []
    monkeypatch.chdir(tally.project)
    assert [item["id"] for item in tally.json("recall", "port")["items"]] == [mine]
