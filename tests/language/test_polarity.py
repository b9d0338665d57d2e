"""CHECK.6, QUOTE.7: negation, its scope, and the modal words."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.language.polarity import modals, negation_scope, negations, polarity


@pytest.mark.parametrize(
    ("sentence", "expected", "sign", "under"),
    [
        ("The host is up.", (), 1, []),
        ("The host is unreachable.", (), 1, []),
        ("The host isn't unreachable.", ("not",), -1, ["unreachable"]),
        ("It is no longer asleep.", ("no",), -1, ["longer asleep"]),
        ("No failures were found.", ("no",), -1, ["failures were found"]),
        ("There are no failures.", ("no",), -1, ["failures"]),
        ("PR #12 was **not** merged", ("not",), -1, ["merged"]),
        ("Don't stop until tests are green.", ("not",), -1, ["stop"]),
        ("Do **not** use Postgres advisory locks", ("not",), -1, ["use Postgres advisory locks"]),
        ("It was never pushed, but it is built.", ("never",), -1, ["pushed"]),
        ("It cannot fail.", ("not",), -1, ["fail"]),
        ("It won’t work.", ("not",), -1, ["work"]),
        ("The migration failed to complete.", (), -1, []),
        ("Nothing was not pushed.", ("nothing", "not"), 1, ["was not pushed"]),
        ("It builds without errors.", ("without",), 1, ["errors"]),
        ("It ended with no errors.", ("no",), 1, ["errors"]),
        ("Sessions are tied to commits, not branches", ("not",), 1, ["branches"]),
        ("No, the port is 5433.", (), 1, []),
        ("It not only builds but runs.", (), 1, []),
        ("No problem, it builds.", (), 1, []),
        ("Fixed the test that didn't run.", ("not",), 1, ["run"]),
        ("It runs because nothing failed.", ("nothing",), 1, ["failed"]),
        ("Les tests ne passent pas.", ("pas",), -1, ["passent pas"]),
        ("Je n'ai rien poussé.", ("rien",), -1, ["ai rien poussé"]),
        ("Sans erreur, tout est vert.", ("sans",), 1, ["erreur"]),
        ("Run it with --no-verify.", (), 1, []),
        ("Set `not_null` and `NO_COLOR`.", (), 1, []),
    ],
)
def test_negation_and_its_scope(sentence: str, expected: tuple[str, ...], sign: int, under: list[str]) -> None:
    """CHECK.6: polarity follows the scope of negation; identifiers, options and interjections negate nothing."""
    assert negations(sentence) == expected
    assert polarity(sentence) == sign
    assert [sentence[start:end].rstrip("*.") for start, end in negation_scope(sentence)] == under


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("You must not, and should never, delete it; you may look.", ("must", "should", "may")),
        ("I'll check; it can't wait, it won't.", ("will", "can", "will")),
        ("On May 5 it could run.", ("could",)),
        ("You have to push; it needs to be green.", ("must", "must")),
        ("Les tests doivent passer, il faut attendre.", ("doit", "faut")),
        ("All tests pass.", ()),
        ("The `should_run` flag is set.", ()),
    ],
)
def test_modals_in_order(text: str, expected: tuple[str, ...]) -> None:
    """QUOTE.7: each modal of a claim must be in its quote, so each is listed, contractions opened."""
    assert modals(text) == expected


WORDS = st.sampled_from(
    "not no never isn't don't won't without nothing pas ne la host is up , . but and it must may 5 ** ` x_y é \ud800 \n".split(
        " "
    )
)


@settings(max_examples=300, deadline=None)
@given(st.lists(WORDS, max_size=20).map(" ".join) | st.text(max_size=60))
def test_ranges_are_exact_in_order_and_apart(text: str) -> None:
    """CHECK.6: a scope is a range of the text itself, never blank, and no negation means no scope."""
    done = 0
    for start, end in negation_scope(text):
        assert done <= start < end <= len(text)
        assert text[start:end].strip() == text[start:end] != ""
        done = end
    if not negations(text):
        assert negation_scope(text) == []
    assert polarity(text) in (1, -1)


@given(st.sampled_from(["The tests pass", "The PR was merged", "It is running", "The branch has been pushed"]))
def test_a_negation_turns_the_sign(sentence: str) -> None:
    """CHECK.6: "not" after the auxiliary and "no longer" deny what the sentence affirmed; "not only" does not."""
    words = sentence.split(" ")
    at = 3 if words[2] in ("was", "is", "has") else 2
    assert polarity(sentence) == 1
    assert polarity(" ".join([*words[:at], "not", *words[at:]])) == -1
    assert polarity(" ".join([*words[:at], "no", "longer", *words[at:]])) == -1
    assert polarity(" ".join([*words[:at], "not", "only", *words[at:]])) == 1


@pytest.mark.parametrize("piece", ["not ", "neither ", "whether or not ", "n't", "ne pas "])
def test_no_text_is_slow(piece: str) -> None:
    """EVID.10: a megabyte of negations is read in linear time."""
    times = []
    for size in (100_000, 1_000_000):
        text = piece * (size // len(piece))
        begin = time.process_time()
        negations(text), modals(text), polarity(text), negation_scope(text)
        times.append(time.process_time() - begin)
    assert times[1] < 20 * times[0] + 0.3
