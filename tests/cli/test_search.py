"""``search``, ``sessions`` and ``show`` at the command line: documents, pages, scope, what was erased, and what is refused."""

from __future__ import annotations

import pytest

from tests.cli.surface import Tally
from tests.sessions import ClaudeCode


@pytest.fixture
def filled(tally: Tally) -> Tally:
    """A session of the project one stands in, and one of another."""
    mine = (
        ClaudeCode("mine", cwd=str(tally.project))
        .says("The port of the cache is 5433.")
        .runs("pytest -q", "1 failed", exit_code=1)
    )
    mine.answers("The tests failed. \x1b[31mZephyrine\u202e.\n\tDone.")
    other = ClaudeCode("other", cwd="/work/other").says("Another port is 5434.")
    folder = tally.folder / "sessions"
    folder.mkdir()
    for each in (mine, other):
        each.write(folder)
    tally.json("ingest", folder)
    return tally


def test_search(filled: Tally) -> None:
    """SEARCH.4, SEC.3: what is found has its session, event, place, time, role, tool; the project alone by default."""
    document = filled.json("search", "ports")
    (item,) = document["items"]
    assert not document["more"]
    assert (item["role"], item["kind"], item["line"], item["at"][:10]) == ("user", "message", 1, "2026-03-02")
    assert [item["excerpt"][start:end] for start, end in item["marks"]] == ["port"]
    assert len(filled.json("search", "--holder", "*", "port")["items"]) == 2
    assert len(filled.json("search", "--project", "/work/other", "port")["items"]) == 1
    failed = filled.json("search", "--exit", "failed")["items"]
    assert [(each["tool"], each["exit_code"]) for each in failed] == [("Bash", 1)]
    assert filled.json("search", "--exit", "1", "--tool", "bash")["items"] == failed
    assert filled.json("search", "--exit", "2")["items"] == []
    assert "»port« of the cache" in filled("search", "port", "5433").out
    assert "\x1b" not in filled("search", "zephyrine").out
    assert filled.json("search", "--session", item["session"], "--as-of", document["seq"], "port")["items"] == [item]


def test_refused(filled: Tally) -> None:
    """SEARCH.3: what cannot be looked for is named in one line."""
    for arguments in (
        [],
        ["->"],
        ["--exit", "x"],
        ["--since", "noon", "x"],
        ["--session", "s9999", "x"],
        ["--holder", "no", "x"],
    ):
        filled.refused("search", *arguments)
    for arguments in (
        ["s9999"],
        ["s1", "--event", "x"],
        ["s1", "--event", "99"],
        ["s1", "--event", "1", "--after", "1"],
    ):
        filled.refused("show", *arguments)


def test_sessions_and_their_events(filled: Tally) -> None:
    """SEARCH.5: sessions with what they hold, and their events a page at a time, in order."""
    (session,) = filled.json("sessions")["items"]
    assert (session["harness"], session["events"], session["erased"], session["began"][:10]) == (
        "claude-code",
        4,
        0,
        "2026-03-02",
    )
    assert filled.json("sessions", "--holder", "*")["count"] == 2
    assert filled.json("sessions", "--until", "2026-03-02")["items"] == []
    assert filled.json("sessions", "--harness", "codex")["items"] == []
    whole = filled.json("show", session["session"])
    assert [item["n"] for item in whole["items"]] == [0, 1, 2, 3]
    first = filled.json("show", session["session"], "--limit", 3)
    rest = filled.json("show", session["session"], "--after", first["next"])
    assert first["items"] + rest["items"] == whole["items"]
    assert rest["next"] is None
    (one,) = filled.json("show", session["name"], "--event", whole["items"][2]["event"])["items"]
    assert (one["command"], one["exit_code"], one["n"]) == ("pytest -q", 1, 2)
    assert filled.json("show", session["session"], "--event", 2)["items"] == [one]
    shown = filled("show", session["session"]).out
    assert "The port of the cache is 5433." in shown
    assert "\x1b" not in shown
    (other,) = filled.json("sessions", "--project", "/work/other")["items"]
    assert "--holder '*'" in filled.refused("show", other["session"])
    assert filled.json("show", "--holder", "*", other["session"])["items"]


def test_what_was_erased(filled: Tally) -> None:
    """SEARCH.5, ERASE.2: an erased event is found no more, and is shown as erased, at every point."""
    (session,) = filled.json("sessions")["items"]
    before = filled.json("sessions")["seq"]
    filled.json("forget", "--text", "Zephyrine", "--because", "asked for")
    assert filled.json("search", "zephyrine")["items"] == []
    for point in ([], ["--as-of", before]):
        items = filled.json("show", session["session"], *point)["items"]
        assert [("erased" in item) for item in items] == [False, False, False, True]
        assert items[3]["erased"]["because"] == "asked for"
    assert "[erased at" in filled("show", session["session"]).out
    (now,) = filled.json("sessions")["items"]
    assert (now["events"], now["erased"]) == (3, 1)
    assert filled.sound()
