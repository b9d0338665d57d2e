"""Ranking: best first, by values that are fixed at the point asked about, and any text is a safe query (TIME.3)."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.language.telling import telling_words
from tallystick.model.claim import Derivation, Outcome
from tallystick.ranking import MAX_QUERY_TOKENS, Scored, query_tokens, score

found = st.dictionaries(st.integers(0, 500), st.sets(st.integers(0, 5), min_size=1), max_size=20)
standing = st.tuples(st.sampled_from(list(Derivation)), st.sampled_from(list(Outcome)))


def scored(given_found: dict[int, set[int]], opened: int = 1000) -> list[Scored]:
    return score(given_found, opened, dict.fromkeys(given_found, ("inferred", "none")))


@given(found, st.data())
def test_an_order_without_ties(hits: dict[int, set[int]], data: st.DataObject) -> None:
    """TIME.3: the order is total and depends on nothing but what is handed in, in whatever order that is."""
    trust = {claim: data.draw(standing) for claim in hits}
    order = score(hits, 1000, trust)
    assert {each.claim for each in order} == set(hits)
    assert order == sorted(order, key=lambda each: (-each.score, -each.claim))
    assert score(dict(reversed(hits.items())), 1000, dict(reversed(trust.items()))) == order


@given(found, st.data())
def test_only_what_is_held_is_scored(hits: dict[int, set[int]], data: st.DataObject) -> None:
    """TIME.4: what was opened and is not held weighs in the rarity of words and is never an item."""
    held = {claim for claim in hits if data.draw(st.booleans())}
    order = score(hits, 1000, dict.fromkeys(held, ("inferred", "none")))
    whole = {each.claim: each.score for each in scored(hits)}
    assert {each.claim: each.score for each in order} == {claim: whole[claim] for claim in held}


@given(found)
def test_more_of_the_query_is_never_worse(hits: dict[int, set[int]]) -> None:
    """A claim that holds everything another holds, and more, stands at least as high."""
    place = {each.claim: each.score for each in scored(hits)}
    for one in hits:
        for other in hits:
            if hits[one] > hits[other]:
                assert place[one] >= place[other]


def test_rare_words_weigh_more() -> None:
    """A word that few claims hold counts for more than one that is everywhere."""
    hits = {claim: {0} for claim in range(50)} | {99: {1}}
    assert scored(hits)[0].claim == 99


def test_trust_decides_between_equals() -> None:
    """CARRY.4: among equals a verbatim claim stands above an inferred one, a contradicted one last; the newer breaks ties."""
    trust = {1: ("inferred", "none"), 2: ("verbatim", "none"), 3: ("verbatim", "contradicted"), 4: ("inferred", "none")}
    assert [each.claim for each in score({n: {0} for n in trust}, 100, trust)] == [2, 4, 1, 3]


@pytest.mark.parametrize("verdict", [("", ""), ("verbatim", "proven"), ("quoted", "none")])
def test_a_verdict_of_a_newer_version(verdict: tuple[str, str]) -> None:
    """TRAIL.9: a verdict that this version does not know counts for nothing and stops nothing."""
    assert [each.claim for each in score({1: {0}}, 10, {1: verdict})] == [1]


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
