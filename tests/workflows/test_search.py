"""Search over what was said: stems and exact pieces, filters, scope, points in time, and that any text is a query."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tallystick.config import Places
from tallystick.errors import UsageError
from tallystick.plugins import ingest_tools, open_trail
from tallystick.store.stems import stem
from tallystick.trail import Trail
from tallystick.workflows.forget import Selector, forget
from tallystick.workflows.ingest import ingest
from tallystick.workflows.queries import read_query
from tallystick.workflows.scoping import EVERYONE, Scope
from tallystick.workflows.search import Found, Searching, excerpt, search
from tests.sessions import CLOCK, START, ClaudeCode

ALL = Scope((EVERYONE,))
NOTHING = Searching()


def _trail(folder: Path) -> Trail:
    trail = open_trail(Places(folder / "data", folder / "state"))
    (folder / "sessions").mkdir()
    shop = ClaudeCode("shop").says("We deployed src/api/client.ts to mini.local, see #123 and fix re-run.")
    shop.runs("pytest -q tests/test_cart.py", "1 failed in 0.1s", exit_code=1).runs(
        "make lint", "no\x1b[31m problems\u202e"
    )
    shop.answers("The café's cache holds deadbeefcafe12345678 now. Deploying twice is harmless; never say --no-verify.")
    fork = ClaudeCode("fork")
    fork.records = [record.replace(shop.id.encode(), fork.id.encode()) for record in shop.records[:3]]
    other = ClaudeCode("other", cwd="/work/other").says(
        "Deploy gemini.local instead, see #1234 and src/api/client.tsx."
    )
    files = [each.write(folder / "sessions") for each in (shop, fork, other)]
    ingest(trail, files, ingest_tools({"TALLY_PERSON": "ada"}))
    return trail


@pytest.fixture(scope="module")
def trail(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trail]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TALLY_CLOCK", CLOCK)
        made = _trail(tmp_path_factory.mktemp("searched"))
        yield made
        made.store.close()


def ask(
    trail: Trail, query: str, scope: Scope = ALL, as_of: str | None = None, limit: int = 20, **narrowed: object
) -> Found:
    return search(trail, query, scope, as_of=as_of, narrowed=Searching(**narrowed), limit=limit)  # type: ignore[arg-type]


def marked(found: Found) -> list[list[str]]:
    return [[hit.excerpt[start:end] for start, end in hit.marks] for hit in found.items]


@pytest.mark.parametrize(
    ("query", "marks"),
    [
        ("deploy", [["Deploying"], ["deployed"], ["Deploy"]]),
        ("DEPLOYMENTS of the", [["Deploying"], ["deployed"], ["Deploy"]]),
        ('"deployed src/api"', [["deployed src/api"]]),
        ('"deploy src/api"', []),
        ("src/api/client.ts", [["src/api/client.ts"]]),
        ("SRC/api/client.tsx", [["src/api/client.tsx"]]),
        ("(mini.local)", [["mini.local"]]),
        ("gemini.local.", [["gemini.local"]]),
        ("#123", [["#123"]]),
        ("re-run", [["re-run"]]),
        ("rerun", []),
        ("--no-verify", [["--no-verify"]]),
        ("deadbee1", []),
        ("deadbeefcafe1", [["deadbeefcafe12345678"]]),
        ("caching harmless", [["cache", "harmless"]]),
        ("café", [["café"]]),
        ("what is the cache", [["cache"]]),
        ("cache zebra", []),
        ("“never say”", [["never say"]]),
        ('"1 failed in"', [["1 failed in"]]),
    ],
)  # fmt: skip
def test_what_a_query_finds(trail: Trail, query: str, marks: list[list[str]]) -> None:
    """SEARCH.1, 2: natural words by stem, exact pieces as written and never inside of longer words; newest first, copies once."""
    assert sorted(marked(ask(trail, query))) == sorted(marks)


@given(st.text(max_size=80) | st.text("\"'“”*:()^-+ANDORNEAR\x00\ue010{}[]\\", max_size=80))
@example('"')
@example("NEAR(a b)")
@example("a* OR text:b")
@example('x" OR 1=1 --')
@example("\ud800")
def test_any_text_is_a_query(trail: Trail, query: str) -> None:
    """SEARCH.3: whatever is typed is looked for, or refused in a line; it is never syntax."""
    try:
        found = ask(trail, query)
    except UsageError as error:
        assert "\n" not in str(error)  # noqa: PT017  # It may be found as well.
        return
    asked = read_query(query)
    for hit in found.items:
        assert hit.excerpt.isprintable()
        assert all(0 <= start < end <= len(hit.excerpt) for start, end in hit.marks)
        assert asked.words


@given(st.data())
def test_what_was_said_is_found(trail: Trail, data: st.DataObject) -> None:
    """SEARCH.1, 2: any run of words of any event, in quotes or as it is, finds that event."""
    everything = ask(trail, "", roles=("user", "assistant", "tool"), limit=99).items
    hit = data.draw(st.sampled_from(everything))
    said = hit.event.text.replace('"', " ").split()
    start = data.draw(st.integers(0, len(said) - 1))
    piece = " ".join(said[start : data.draw(st.integers(start + 1, len(said)))])
    for query in (f'"{piece}"', piece):
        if read_query(query).words and piece.isprintable():
            assert hit.event.uid in {each.event.uid for each in ask(trail, query, limit=99).items}, query


def test_filters(trail: Trail) -> None:
    """SEARCH.4: by role, tool, how it ended, harness, session and time, each alone and together."""
    assert [hit.event.origin for hit in ask(trail, "deploy", roles=("assistant",)).items] == ["assistant"]
    assert [hit.event.status for hit in ask(trail, "", exit="failed").items] == ["failed"]
    assert len(ask(trail, "pytest", tools=("bash",)).items) == 2
    assert ask(trail, "lint", exit="failed").items == ()
    assert ask(trail, "deploy", harness="codex").items == ()
    assert len(ask(trail, "deploy", harness="claude-code").items) == 3
    session = ask(trail, "gemini.local").items[0].session
    assert len(ask(trail, "", session=session).items) == 1
    assert ask(trail, "cache", session=session).items == ()
    begin = int(START.timestamp() * 1_000_000)
    minute = 60_000_000
    assert len(ask(trail, "deploy", since=begin, until=begin + 90 * 60 * minute).items) == 3
    assert ask(trail, "deploy", until=begin).items == ()
    last = max(hit.event.at or 0 for hit in ask(trail, "deploy").items)
    assert [hit.event.at for hit in ask(trail, "deploy", since=last).items] == [last]
    assert last not in [hit.event.at for hit in ask(trail, "deploy", until=last).items]


def test_scope(trail: Trail) -> None:
    """SEC.3: the project one stands in and the person, unless wider is asked for."""
    assert len(ask(trail, "deploy", Scope(project="project:/work/shop", person="person:ada")).items) == 2
    assert len(ask(trail, "deploy", Scope(project="project:/work", person="")).items) == 3
    assert ask(trail, "deploy", Scope(project="project:/elsewhere", person="")).items == ()
    with pytest.raises(UsageError, match="no such holder"):
        ask(trail, "deploy", Scope(("nobody",)))


def test_pages_and_limits(trail: Trail) -> None:
    """SEARCH.3, 4: there being more is said; a query that has no word, or is too long, is refused by name."""
    found = ask(trail, "deploy", limit=1)
    assert (len(found.items), found.more, ask(trail, "deploy", limit=3).more) == (1, True, False)
    for query in ("", "-> ...", "x" * 5000):
        with pytest.raises(UsageError):
            ask(trail, query)


def test_as_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TIME.1, ERASE.2: what had not been observed by a point is not found at it; what was erased is found at none."""
    monkeypatch.setenv("TALLY_CLOCK", CLOCK)
    trail = open_trail(Places(tmp_path / "data", tmp_path / "state"))
    session = ClaudeCode("one").says("The port is 5433.")
    tools = ingest_tools({"TALLY_PERSON": "ada"})
    ingest(trail, [session.write(tmp_path)], tools)
    before = ask(trail, "port").point.seq
    ingest(trail, [session.says("The port is 5434 since today.").write(tmp_path)], tools)
    assert len(ask(trail, "port").items) == 2
    assert [hit.n for hit in ask(trail, "port", as_of=str(before)).items] == [0]
    assert forget(trail, Selector(text="5433"), "asked for", persons_key=True).exit_code == 0
    assert [hit.n for hit in ask(trail, "port").items] == [1]
    assert ask(trail, "port", as_of=str(before)).items == ()
    trail.store.close()


def test_excerpts_are_safe(trail: Trail) -> None:
    """CARRY.3: nothing of an excerpt is obeyed by a terminal or hidden from a reader."""
    (hit,) = ask(trail, "problems").items
    assert "\x1b" not in hit.excerpt
    assert "\u202e" not in hit.excerpt
    assert excerpt("a" * 500 + " needle " + "b" * 500, [(501, 507)])[0].count("…") == 2


@pytest.mark.parametrize(
    ("word", "root"),
    [
        ("deploying", "deploy"), ("deployments", "deploy"), ("caches", "cach"), ("happy", "happi"), ("relational", "relat"),
        ("hopping", "hop"), ("running", "run"), ("agreed", "agre"), ("electricity", "electr"), ("a1b2", "a1b2"), ("is", "is"),
        ("東京", "東京"), ("sky", "sky"), ("generalizations", "gener"), ("oscillators", "oscil"),
    ],
)  # fmt: skip
def test_stems(word: str, root: str) -> None:
    """SEARCH.1: Porter's own examples."""
    assert stem(word) == root
