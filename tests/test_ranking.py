"""Ranking: best first, by values that are fixed at the point asked about, and any text is a safe query (TIME.3)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tallystick import ranking
from tallystick.language.telling import telling_words
from tallystick.model.claim import Derivation, Outcome
from tallystick.ranking import MAX_QUERY_TOKENS, candidates, query_tokens, score

coverages = st.dictionaries(st.integers(0, 500), st.integers(0, 1_000_000), max_size=20)
standing = st.tuples(st.sampled_from(list(Derivation)), st.sampled_from(list(Outcome)))
VOCABULARY = ("ash", "birch", "cedar", "date", "elm")
corpora = st.lists(st.frozensets(st.sampled_from(VOCABULARY), min_size=1), max_size=60)
queries = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=5, unique=True)


def searched(corpus: Sequence[frozenset[str]], query: Sequence[str], as_of: int | None = None) -> dict[int, int]:
    """Candidates of a query over a corpus whose texts are claims 0, 1, 2 … as of a point."""
    last = len(corpus) - 1 if as_of is None else as_of
    said = dict(enumerate(corpus[: last + 1]))

    def newest(tokens: Sequence[Sequence[str]]) -> list[int]:
        return [n for n in reversed(said) if all(not said[n].isdisjoint(forms) for forms in tokens)][: ranking.EACH]

    def words_of(claims: Sequence[int]) -> dict[int, frozenset[str]]:
        return {n: said[n] for n in claims}

    found = candidates([(word,) for word in query], last, newest, words_of, ranking.EACH)
    return {claim: found.coverage(claim) for claim in found.best}


@given(coverages, st.data())
def test_an_order_without_ties(coverage: dict[int, int], data: st.DataObject) -> None:
    """TIME.3: the order is total and depends on nothing but what is handed in, in whatever order that is."""
    trust = {claim: data.draw(standing) for claim in coverage}
    order = score(coverage.__getitem__, trust)
    assert {each.claim for each in order} == set(coverage)
    assert order == sorted(order, key=lambda each: (-each.score, -each.claim))
    assert score(dict(reversed(coverage.items())).__getitem__, dict(reversed(trust.items()))) == order


@given(coverages, st.data())
def test_only_what_is_held_is_scored(coverage: dict[int, int], data: st.DataObject) -> None:
    """TIME.4: what was opened and is not held is never an item, and changes the score of none."""
    held = {claim for claim in coverage if data.draw(st.booleans())}
    order = score(coverage.__getitem__, dict.fromkeys(held, ("inferred", "none")))
    assert {each.claim: each.score for each in order} == {claim: coverage[claim] for claim in held}


@given(corpora, queries, st.integers(0, 59))
def test_what_comes_later_changes_nothing(corpus: list[frozenset[str]], query: list[str], as_of: int) -> None:
    """TIME.3: the candidates at a point, and their order, are the same whatever was said after it."""
    as_of = min(as_of, len(corpus) - 1)
    assert list(searched(corpus, query, as_of).items()) == list(searched(corpus[: as_of + 1], query).items())


@given(corpora, queries)
def test_more_of_the_query_is_never_worse(corpus: list[frozenset[str]], query: list[str]) -> None:
    """Everything that holds a word of the query is found, and a claim that holds more of it stands at least as high."""
    place = searched(corpus, query)
    assert set(place) == {n for n, said in enumerate(corpus) if not said.isdisjoint(query)}
    for one, other in product(place, place):
        if corpus[one] & set(query) > corpus[other] & set(query):
            assert place[one] >= place[other]


@given(corpora, queries)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_few_are_looked_at_and_the_best_are_found(
    monkeypatch: pytest.MonkeyPatch, corpus: list[frozenset[str]], query: list[str]
) -> None:
    """TIME.3: where words are common, the newest claim that holds the whole query is among the best all the same."""
    monkeypatch.setattr(ranking, "EACH", 3)
    place = searched(corpus, query)
    whole = [n for n, said in enumerate(corpus) if said >= set(query)]
    if whole:
        assert max(whole) == next(iter(place))
    for claim, points in place.items():
        if corpus[claim] >= set(query):
            assert points >= 999_990


def test_rare_words_weigh_more() -> None:
    """A word that few claims hold counts for more than one that is everywhere."""
    corpus = [frozenset({"ash"})] * 50 + [frozenset({"birch"})] + [frozenset({"ash"})] * 9
    assert next(iter(searched(corpus, ["ash", "birch"]))) == 50


def test_trust_decides_between_equals() -> None:
    """CARRY.4: among equals a verbatim claim stands above an inferred one, a contradicted one last; the newer breaks ties."""
    trust = {1: ("inferred", "none"), 2: ("verbatim", "none"), 3: ("verbatim", "contradicted"), 4: ("inferred", "none")}
    assert [each.claim for each in score(dict.fromkeys(trust, 500_000).__getitem__, trust)] == [2, 4, 1, 3]


@pytest.mark.parametrize("verdict", [("", ""), ("verbatim", "proven"), ("quoted", "none")])
def test_a_verdict_of_a_newer_version(verdict: tuple[str, str]) -> None:
    """TRAIL.9: a verdict that this version does not know counts for nothing and stops nothing."""
    assert [each.claim for each in score({1: 500_000}.__getitem__, {1: verdict})] == [1]


@given(st.text())
def test_any_text_is_a_query(text: str) -> None:
    """SEC.2: whatever is asked comes to at most 32 plain words, each with forms that are plain words."""
    tokens = query_tokens(text)
    assert len(tokens) <= MAX_QUERY_TOKENS
    for forms in tokens:
        assert forms
        assert all(form.isalnum() or any(each.isalnum() for each in form) for form in forms)
        assert all(form == form.lower() or not form.isascii() for form in forms)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("tests", "test"),
        ("testing", "tested"),
        ("retry policies", "retry policy"),
        ("Café", "cafe"),
        ("build", "building"),
    ],
)
def test_forms_of_a_word_meet(query: str, text: str) -> None:
    """A word is found in its plain English forms, and without its accents."""
    asked, stands = query_tokens(query)[-1], query_tokens(text)[-1]
    assert set(asked) & set(stands)


def test_stop_words_alone_are_asked_for() -> None:
    """A query of nothing but stop words is asked as it is; otherwise they are left out."""
    assert [forms[0] for forms in query_tokens("to be or not to be")] != []
    assert query_tokens("what is the port") == query_tokens("port")
    assert query_tokens("") == query_tokens(" .,; ") == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use advisory locks", "Do **not** use advisory locks"),
        ("Always squash commits", "Never squash commits!"),
        ("The host is up", "The host isn't up"),
        ("we ship on Friday", "we don't ship on Friday"),
    ],
)
def test_the_same_thing_either_way(one: str, other: str) -> None:
    """CARRY.4: texts that differ in negation, modal words and marks alone speak of the same thing."""
    assert telling_words(one) == telling_words(other) != []


@pytest.mark.parametrize(
    ("one", "other"),
    [("Deploy to staging", "Deploy to production"), ("retry 3 times", "retry 5 times"), ("a b", "b c")],
)
def test_another_thing(one: str, other: str) -> None:
    """Failure case 26: one other word, or number, and it is another thing."""
    assert telling_words(one) != telling_words(other)


@pytest.mark.parametrize("text", ["a" * 10**6, "a " * 500_000, "é" * 10**6, "\u0301" * 10**6, "1_" * 500_000])
def test_linear_time(text: str) -> None:
    """EVID.10: a query of a megabyte holds nothing up."""
    began = time.process_time()
    query_tokens(text)
    telling_words(text)
    assert time.process_time() - began < 5
