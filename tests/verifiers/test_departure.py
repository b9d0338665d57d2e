from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.verifiers.departure import departure, governing_negation

DEPARTS = {
    "5 another name": ("use Mongo", "use Postgres", "", "word 'mongo'"),
    "another name in a sentence": ("We deploy to production", "We deploy to staging", "", "word 'production'"),
    "another outcome": ("the tests failed", "the tests passed", "", "word 'failed'"),
    "4 negation in front": ("ship the retry loop", "ship the retry loop until we pick", "don't ", "negation 'not'"),
    "4 negation in front, claim as the quote": ("ship it", "ship it", "please do not ", "negation"),
    "negation added": ("do not use Postgres", "use Postgres", "", "negation 'not'"),
    "negation dropped": ("use Postgres", "never use Postgres for it", "", "negation 'never'"),
    "negation contracted": ("We ship on Friday", "We don't ship on Friday", "", "negation 'not'"),
    "another negation": ("we never retry on errors", "we do not retry on errors", "", "negation 'never'"),
    "without": ("run without retries", "run the retries", "", "negation 'without'"),
    "number": ("The limit is 300", "the limit is 30", "", "number '300'"),
    "number added": ("The limit is 30 requests", "the limit holds", "", "number '30"),
    "unit": ("wait 30 ms before a retry", "wait 30 s before a retry", "", "number '30 ms'"),
    "unit added": ("wait 30 seconds", "wait 30", "", "number '30 seconds'"),
    "hexadecimal": ("the mask is 0x1F", "the mask is 0x2F", "", "number '0x1F'"),
    "percent": ("done to 95%", "done to 95", "", "number '95%'"),
    "sign": ("the offset is -5", "the offset is 5", "", "number '-5'"),
    "spelled number": ("we need three tables", "we need two tables", "", "number 'three'"),
    "path": ("edit src/app/main.py", "edit src/app/other.py", "", "path 'src/app/main.py'"),
    "path cut": ("edit src/app.py", "edit old/src/app.py", "", "path 'src/app.py'"),
    "identifier": ("set MAX_RETRIES", "set MAX_RETRY", "", "identifier 'MAX_RETRIES'"),
    "identifier case": ("set `maxRetries` here", "set `max_retries` here", "", "identifier 'maxRetries'"),
    "issue": ("closes issue #12", "closes issue #13", "", "'#12'"),
    "version": ("upgrade to v1.2.3", "upgrade to v1.2.4", "", "version 'v1.2.3'"),
    "flag": ("pass --no-verify", "pass --verify", "", "flag '--no-verify'"),
    "modal": ("we must use Postgres", "we use Postgres", "", "modal 'must'"),
    "another modal": ("we will deploy today", "we might deploy today", "", "modal 'will'"),
}


@pytest.mark.parametrize("case", DEPARTS.values(), ids=DEPARTS.keys())
def test_departs(case: tuple[str, str, str, str]) -> None:
    """QUOTE.7; failure cases 4, 5: what the claim says beyond its quote, or leaves out of it, is named."""
    claim, quote, before, said = case
    reason = departure(claim, quote, before)
    assert reason is not None
    assert said in reason


HOLDS = {
    "the same words": ("use Postgres", "use Postgres", ""),
    "part of the quote": ("use Postgres", "use Postgres, not Mongo", ""),
    "the negation is the claim's too": ("don't ship the retry loop", "ship the retry loop", "please don't "),
    "contracted negation": ("We do not ship on Friday", "We don't ship on Friday", ""),
    "unit by another name": ("wait 30 seconds", "wait 30 s", ""),
    "no unit in the claim": ("the timeout is 30", "the timeout is 30 s", ""),
    "number by value": ("at most 1000 requests", "at most 1,000 requests", ""),
    "number in words": ("we need two tables", "we need 2 tables", ""),
    "words for a number": ("we need 2 tables", "we need two tables", ""),
    "back-ticks": ("set MAX_RETRIES to 3", "set `MAX_RETRIES` to **3**", ""),
    "call": ("call run_all() first", "call `run_all` first", ""),
    "inflected": ("tests pass in CI", "the tests passed in CI", ""),
    "shortened": ("port 5433", "sorry, the port is 5433 since Sunday", ""),
    "negation of another clause": ("the port is 5433", "the port is 5433", "don't panic, "),
    "do not forget": ("run the tests", "run the tests", "don't forget to "),
    "French": ("utiliser Postgres", "utiliser Postgres pour les verrous", ""),
}


@pytest.mark.parametrize("case", HOLDS.values(), ids=HOLDS.keys())
def test_holds(case: tuple[str, str, str]) -> None:
    """QUOTE.7: a claim that says no more than its quote does not depart from it."""
    assert departure(*case) is None


GOVERNS = {
    "don't ": "don't",
    "Please do not ": "not",
    "You should not, under any circumstances, ": "not",
    "we agreed to never again ": "never",
    "I told you not to ": "not",
    "it is **not** ": "not",
    "we can’t ": "can’t",
    "I don't think that ": "don't",
    "use X instead of ": "instead of",
    "we were unable to ": "unable to",
    "do not commit and ": "not",
    "you must not\n": "not",
    "il ne faut ": "ne",
}
GOVERNS_NOT = [
    "",
    "I know. ",
    "Don't panic. ",
    "Don't panic, ",
    "if not, ",
    "not only ",
    "why not ",
    "whether or not ",
    "do not forget to ",
    "no problem (",
    "It is not done; ",
    "There is no error and ",
    "don't wait until ",
    "- don't push\n- ",
    "Not that one.\n\n",
    "we did not stop because ",
    "nothing was found: ",
    "I will not wait for the very slow and long running job over there to end ",
]


@pytest.mark.parametrize(("before", "word"), GOVERNS.items())
def test_governing(before: str, word: str) -> None:
    """Failure case 4: a negation in front of the quote, in its clause, belongs to what was said."""
    assert governing_negation(before, "ship it") == word


@pytest.mark.parametrize("before", GOVERNS_NOT)
def test_not_governing(before: str) -> None:
    """Failure case 4: a negation of another clause, or one that denies nothing, is not the quote's."""
    assert governing_negation(before, "ship it") is None


WORD = st.sampled_from(
    "use the limit is 30 s not never must src/app.py MAX_RETRIES #12 v1.2.3 don't two , . tests pass `x_y` **b** 5% -3".split()
)
SENTENCE = st.lists(WORD, min_size=1, max_size=10).map(" ".join)


@given(SENTENCE)
def test_a_claim_never_departs_from_its_own_words(sentence: str) -> None:
    """QUOTE.7: what is said word for word is in the quote."""
    assert departure(sentence, sentence) is None


@given(SENTENCE, st.sampled_from(["300", "src/other.py", "OTHER_NAME", "#77", "v9.9.9", "never", "might", "--force"]))
def test_what_is_added_departs(sentence: str, added: str) -> None:
    """QUOTE.7: a number, path, identifier, negation or modal that the quote has not is always noticed."""
    if added not in sentence:
        assert departure(f"{sentence} and {added} then", sentence) is not None


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_any_text_has_an_answer(claim: str, quote: str, before: str) -> None:
    """QUOTE.8: no text raises, and the answer is the same each time."""
    reason = departure(claim, quote, before)
    assert reason is None or reason.strip()
    assert reason == departure(claim, quote, before)


MEGABYTES = ["not, a", "don't ", "1", "a.b/", "$", "ab ", "9, ", "`x_1` "]


@pytest.mark.parametrize("unit", MEGABYTES)
def test_departure_is_linear(unit: str) -> None:
    """EVID.10: a claim, quote or context of 400 kB is compared in seconds."""
    text = unit * (400_000 // len(unit))
    started = time.process_time()
    assert departure(text, text, text) is not None
    departure(text[:9_000], text, text)
    departure(text, "the quote", text)
    departure("the claim 7", text, text)
    assert time.process_time() - started < 25
