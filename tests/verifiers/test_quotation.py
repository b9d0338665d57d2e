from __future__ import annotations

import random
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from benchmarks.quality.quotes import alterations, bare, gold, session_paths, stands
from hypothesis import given
from hypothesis import strategies as st

from tallystick.model.claim import Derivation
from tallystick.model.evidence import Event, EventKind, Locator, Origin
from tallystick.verifiers.folding import fold
from tallystick.verifiers.nearest import difference
from tallystick.verifiers.quotation import QuoteSpan, QuoteVerdict, span_reads, verify_quote, verify_quotes

SHARED = Path(__file__).resolve().parents[2] / "../shared"
SEED = 20261130
USER, ASSISTANT, TOOL, BRIEFING = Origin.USER, Origin.ASSISTANT, Origin.TOOL, Origin.BRIEFING


def event(text: str, origin: Origin = USER, uid: str = "e0", flags: tuple[str, ...] = ()) -> Event:
    kind = EventKind.TOOL_RESULT if origin is TOOL else EventKind.MESSAGE
    return Event(uid, kind, origin, text, Locator(1, 0, 0, 0, 0), flags=flags)


def session(*texts: str | tuple[str, Origin]) -> list[Event]:
    pairs = [(t, USER) if isinstance(t, str) else t for t in texts]
    return [event(text, origin, f"e{n}") for n, (text, origin) in enumerate(pairs)]


def words_at(events: Sequence[Event], span: QuoteSpan) -> str:
    text = next(e.text for e in events if e.uid == span.event)
    return text.encode("utf-8", "replace")[span.start : span.end].decode()


# The failure cases


REFUSED = {
    "1 a digit more": ("limit is 30. Do not exceed it", "limit is **300**. Do not exceed it", "no_match"),
    "1 a digit less": ("limit is 30. Do not exceed it", "limit is 3", "boundary"),
    "2 operator": ("a - b", "a + b", "no_match"),
    "2 sign at a line start": ("x =\n+ 5 units", "- 5 units", "no_match"),
    "2 sign cut off": ("it is -5 degrees", "5 degrees", "boundary"),
    "2 minus is not a hyphen": ("set x to a − b here", "set x to a - b here", "no_match"),
    "4 negation in front": ("don't ship the retry loop until we pick", "ship the retry loop until we pick", "negated"),
    "4 negation with an aside": (
        "You should not, under any circumstances, delete the production database",
        "delete the production database",
        "negated",
    ),
    "4 never": ("We never run migrations on Friday", "run migrations on Friday", "negated"),
    "4 in bold": ("Do **not** push to main", "push to main", "negated"),
    "4 over a line break": ("you must not\npush to main", "push to main", "negated"),
    "4 instead of": ("use Postgres instead of adding Mongo", "adding Mongo", "negated"),
    "8 another number": ("2 packs (down from 29)", "3 packs (down from 29)", "no_match"),
    "8 another word": ("the tests passed", "the tests failed", "no_match"),
    "8 never and always": ("we never retry", "we always retry", "no_match"),
    "8 another identifier": ("Couverture FR1–FR31 : OK.", "Couverture FR1–FR30 : OK.", "no_match"),
    "case": ("Use Postgres for it", "use postgres for it", "no_match"),
    "word order": ("alice told bob", "bob told alice", "no_match"),
    "a word left out": ("do not delete the database", "do delete the database", "no_match"),
    "cut apostrophe": ("We can't ship this", "We can", "boundary"),
    "cut decimal": ("it took 3.5 hours", "it took 3", "boundary"),
    "cut percent": ("done to 95% now", "done to 95", "boundary"),
    "cut identifier": ("set MAX_RETRIES now", "set MAX", "boundary"),
    "another list number": ("1. wash\n2. rinse", "3. rinse", "no_match"),
    "number of a sentence, taken for a list number": ("limit is 30. Do not exceed", "300. Do not exceed", "no_match"),
    "cut number, taken for a list number": ("limit is 30. Do not exceed", "0. Do not exceed", "boundary"),
    "nothing": ("some words", "", "empty"),
    "only escapes": ("some words - more", r"\n\t\n", "empty"),
    "only marks": ("some words - more", " -- ** … ", "empty"),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED.keys())
def test_refused(case: tuple[str, str, str]) -> None:
    """QUOTE.1, 2, 5; failure cases 1, 2, 4, 8: what the source does not say in these words is inferred, with a reason."""
    text, quote, reason = case
    verdict = verify_quote(quote, session("Good morning to all.", text))
    assert (verdict.derivation, verdict.reason) == (Derivation.INFERRED, reason)


FOUND = {
    "1 the whole sentence": ("The limit is 30. Do not exceed it", "The limit is 30.", "The limit is 30."),
    "7 curly quotes": ("he said \"stop\" and 'go'", "he said “stop” and ‘go’", "he said \"stop\" and 'go'"),
    "7 no-break space": ("it is 10 km away", "it is 10\u00a0km away", "it is 10 km away"),
    "7 em dash": ("done — all of it", "done - all of it", "done — all of it"),
    "7 back-ticks": ("run `make test` first", "run make test first", "run `make test` first"),
    "7 bold dropped": ("this is **very** important", "this is very important", "this is **very** important"),
    "7 bold added": ("the limit is 30", "the limit is **30**", "the limit is 30"),
    "7 re-wrapped": ("one two three four", "one two\n   three four", "one two three four"),
    "7 NFD": ("un résumé court", "un re\u0301sume\u0301 court", "un résumé court"),
    "7 list marker dropped": ("todo:\n- wash the car\n- dry it", "wash the car dry it", "wash the car\n- dry it"),
    "list number kept": ("1. wash the car\n2. dry it", "2. dry it", "dry it"),
    "a list on one line": ("1. wash it\n2. dry it", "1. wash it 2. dry it", "1. wash it\n2. dry it"),
    "half of a bold pair": ("**Beware: do** that", "**Beware: do", "Beware: do"),
    "half of a code span": ("call `f(x) * g(x)` now", "`f(x) * g", "`f(x) * g"),
    "code without its ticks": ("run `a — b` now", "a — b", "a — b"),
    "out of a fence": ("```py\nx = a ** b  # *so*\n```", "x = a ** b  # *so*", "x = a ** b  # *so*"),
    "escapes in a quote": ('first\n\tsecond "third"', r"first\n\tsecond \"third\"", 'first\n\tsecond "third"'),
    "escapes in the source": (r'{"text":"a\nb c"}', r"a\nb c", r"a\nb c"),
    "Windows path": (r"open C:\new\table.txt now", r"open C:\new\table.txt", r"open C:\new\table.txt"),
    "Chinese without spaces": ("这是重点内容", "重点", "重点"),
    "after a negated clause": ("don't panic, the port is 5433", "the port is 5433", "the port is 5433"),
    "not only": ("not only fast but safe", "fast but safe", "fast but safe"),
    "do not forget": ("don't forget to run the tests", "run the tests", "run the tests"),
    "next list item": ("- don't push\n- run the tests", "run the tests", "run the tests"),
    "with its negation": ("don't ship it yet", "don't ship it", "don't ship it"),
    "colours": ("\x1b[32m3 passed\x1b[0m in 2s", "3 passed in 2s", "3 passed\x1b[0m in 2s"),
    "emphasis at the edges": ("we _see_ it", "_see_ it", "_see_ it"),
}


@pytest.mark.parametrize("case", FOUND.values(), ids=FOUND.keys())
def test_found(case: tuple[str, str, str]) -> None:
    """QUOTE.1, 4; failure cases 1, 7: words that stand there are verbatim, with the exact bytes they stand at."""
    text, quote, words = case
    events = session("Good morning.", text)
    verdict = verify_quote(quote, events)
    assert (verdict.derivation, verdict.reason) == (Derivation.VERBATIM, "contiguous")
    assert words_at(events, verdict.spans[0]).strip("*`") == words.strip("*`")
    assert span_reads(text, verdict.spans[0].start, verdict.spans[0].end, quote)


def test_ellipsis_is_stitched() -> None:
    """QUOTE.3; failure case 3: a quote that skips words is inferred, and the spans of its pieces show what it skipped."""
    events = session("You should not, under any circumstances, delete the production database")
    for joint in ("...", "…", "[...]", "[…]", "(...)", " . . ."[:0] + "...."):
        verdict = verify_quote(f"You should {joint} delete the production database", events)
        assert (verdict.derivation, verdict.reason) == (Derivation.INFERRED, "stitched")
        assert [words_at(events, span) for span in verdict.spans] == ["You should", "delete the production database"]


def test_an_ellipsis_of_the_source_is_no_stitch() -> None:
    """QUOTE.1: words with an ellipsis that the source itself has are contiguous."""
    assert verify_quote("wait ... what is it", session("wait ... what is it?")).reason == "contiguous"


def test_pieces_out_of_order_or_of_one_word_are_no_stitch() -> None:
    """QUOTE.3: pieces in another order are another sentence, and single words stand anywhere."""
    events = session("first the lock, then the key")
    assert verify_quote("then the key ... first the lock", events).reason == "no_match"
    assert verify_quote("first ... key", events).reason == "no_match"


def test_an_echo_hides_no_support() -> None:
    """QUOTE.1, 6: a quote that our briefing has in other Markdown is still found where a person said it."""
    events = session(("the —", BRIEFING), "the\n- the")
    verdict = verify_quote("the\n-", events)
    assert (verdict.reason, [span.event for span in verdict.spans]) == ("contiguous", ["e1"])


@pytest.mark.parametrize("between", [(), ("something else", "more")])
def test_two_events_joined_are_stitched(between: tuple[str, ...]) -> None:
    """QUOTE.3; failure case 6, pitfall 54: the end of one event and the start of a later one are two quotes."""
    events = session("please rebase off parent, **then push**", *between, ("Done. Rebased `3` commits now", ASSISTANT))
    verdict = verify_quote("off parent, then push Done. Rebased 3 commits", events)
    assert (verdict.derivation, verdict.reason) == (Derivation.INFERRED, "stitched")
    spans = [words_at(events, span) for span in verdict.spans]
    assert [fold(span).text for span in spans] == ["off parent, then push", "Done. Rebased 3 commits"]


def test_a_short_event_is_a_piece_when_it_is_whole() -> None:
    """QUOTE.3: "push" is all that was said, so it may be a piece; one word of many may not."""
    joined = "push Pushed successfully."
    assert verify_quote(joined, session("push", "Pushed successfully.")).reason == "stitched"
    assert verify_quote(joined, session("let me push", "Pushed successfully.")).reason == "no_match"


def test_our_own_briefing_matches_nothing() -> None:
    """QUOTE.6; failure case 9: words found only in the injected briefing, or printed by our own tool, are an echo."""
    words = "the limit is 30 requests"
    briefing = verify_quote(words, [event(words, BRIEFING)])
    assert (briefing.derivation, briefing.reason, briefing.spans) == (Derivation.INFERRED, "echo", ())
    assert verify_quote(words, [event(words, TOOL, flags=("own_tool",))]).reason == "echo"


@pytest.mark.parametrize(
    "shown", ["the limit is 30 requests", "Note: **the limit is 30 requests** a minute", "limit is 30"]
)
def test_an_assistant_repeating_what_was_surfaced_is_an_echo(shown: str) -> None:
    """QUOTE.6: containment either way, folded; a person's words and another tool's fresh output count."""
    quote = "the limit is 30 requests"
    said = f"I see, {quote}."
    for origin in (ASSISTANT, Origin.DELEGATED, Origin.HARNESS):
        assert verify_quote(quote, [event(said, origin)], surfaced=[shown]).reason == "echo"
        assert verify_quote(quote, [event(said, origin)]).derivation is Derivation.VERBATIM
    for origin in (USER, TOOL):
        assert verify_quote(quote, [event(said, origin)], surfaced=[shown]).derivation is Derivation.VERBATIM


def test_a_word_in_common_is_no_echo() -> None:
    """QUOTE.6: fewer than three words in common are no sign of repetition, unless they are all there is."""
    events = [event("use the port 5433 for it", ASSISTANT)]
    assert verify_quote("the port 5433 for it", events, surfaced=["the port"]).derivation is Derivation.VERBATIM
    assert verify_quote("port 5433", events, surfaced=["port 5433"]).reason == "echo"
    assert verify_quote("port 5433 for it", events, surfaced=["sport 5433 for it"]).derivation is Derivation.VERBATIM


def test_the_tail_of_a_long_result() -> None:
    """QUOTE.4; failure case 10: results are searched whole."""
    text = "é line of output\n" * 12_000 + "FAILED tests/test_x.py::test_y - assert 1 == 2"
    events = [event(text, TOOL)]
    verdict = verify_quote("FAILED tests/test_x.py::test_y - assert 1 == 2", events)
    assert words_at(events, verdict.spans[0]) == "FAILED tests/test_x.py::test_y - assert 1 == 2"


def test_a_value_replaced_later_was_still_said() -> None:
    """Failure case 11: the quotation verifier says what was said; currency is another matter."""
    events = session("the port is 5432", "sorry, the port is 5433")
    assert verify_quote("the port is 5432", events).derivation is Derivation.VERBATIM


def test_the_best_place_comes_first() -> None:
    """QUOTE.4, 6: a person before a tool before an assistant, then the earliest; at most twenty places."""
    said = "the port is 5433"
    events = session((said, ASSISTANT), (said, TOOL), (said, ASSISTANT), (said, USER), (f"{said}, {said}", USER))
    verdict = verify_quote(said, events)
    assert [span.event for span in verdict.spans] == ["e3", "e4", "e4", "e1", "e0", "e2"]
    assert len(verify_quote(said, session(*[said] * 50)).spans) == 20


def test_a_negated_place_is_no_place() -> None:
    """QUOTE.7; failure case 4: the same words said elsewhere without the negation are support, and only that place is listed."""
    events = session("don't ship the loop", "fine, ship the loop")
    verdict = verify_quote("ship the loop", events)
    assert verdict.derivation is Derivation.VERBATIM
    assert [span.event for span in verdict.spans] == ["e1"]


def test_the_nearest_passage_says_what_differs() -> None:
    """QUOTE.5; failure case 8: the nearest words of the source, where they stand, and the difference in words."""
    events = session("We talked about lunch.", "Clean. 0 loose objects, **2 packs** (down from 29).")
    verdict = verify_quote("0 loose objects, 3 packs (down from 29)", events)
    assert verdict.nearest is not None
    assert verdict.nearest.event == "e1"
    assert verdict.nearest.differs == "'3' where the source has '2'"
    assert (
        words_at(events, QuoteSpan(verdict.nearest.event, verdict.nearest.start, verdict.nearest.end))
        == verdict.nearest.text
    )
    assert "2 packs" in verdict.nearest.text


def test_nothing_near_is_said_to_be_near() -> None:
    """QUOTE.5; failure case 33: an invented quote has no nearest passage, and none when it is not asked for."""
    events = session("We talked about lunch.", ("0 loose objects", BRIEFING))
    assert verify_quote("quarterly revenue tripled in Osaka", events).nearest is None
    assert verify_quote("0 loose objects, 3", events).nearest is None
    assert verify_quote("We talked about dinner.", events, nearest=False).nearest is None


@pytest.mark.parametrize(
    ("quote", "source", "said"),
    [
        ("do delete it", "do not delete it", "'not' of the source is left out"),
        ("do not delete it", "do delete it", "'not' is not in the source"),
        ("a b c d e f g h", "1 b 2 d 3 f 4 h", "and 1 more"),
    ],
)
def test_difference_in_words(quote: str, source: str, said: str) -> None:
    """QUOTE.5: words left out, put in and exchanged are told apart, three at most."""
    assert said in difference(quote, source)


def test_many_quotes_are_judged_as_one_by_one() -> None:
    """QUOTE.8: a verdict depends on the quote and the session, not on the other quotes."""
    events = session("The limit is 30. Do not exceed it", ("don't ship `it`, **now**", ASSISTANT), "a\nb\n- c")
    quotes = [
        "limit is 30",
        "limit is 3",
        "ship it",
        "ship it, now",
        "",
        "b c",
        "b ... c d",
        "exceed it don't ship",
        "limit is 30",
    ]
    assert verify_quotes(quotes, events) == [verify_quote(quote, events) for quote in quotes]
    assert verify_quotes(quotes, iter(events)) == verify_quotes(quotes, events)
    assert verify_quotes([], events) == []
    assert [v.reason for v in verify_quotes(quotes, [])] == ["no_match"] * 4 + ["empty"] + ["no_match"] * 4


def test_a_span_that_reads_otherwise_is_noticed() -> None:
    """QUOTE.4: the re-check fails when the bytes moved, were cut inside a character, or lie outside."""
    text = "é The limit is 30."
    assert span_reads(text, 3, 19, "The limit is 30.")
    for start, end in ((2, 17), (3, 18), (1, 19), (3, 99), (19, 3), (0, 0), (-16, 19)):
        assert not span_reads(text, start, end, "The limit is 30.")
    assert not span_reads(text.replace("30", "31"), 3, 19, "The limit is 30.")


# Properties


WORDS = (
    "the limit is 30 now run `make` **bold** _soft_ — a – “so” don't not café cafe\u0301 x=1 a-b 3.5 MAX_RETRIES , . ok"
)
LINE = st.lists(st.sampled_from(WORDS.split()), min_size=1, max_size=12).map(" ".join)
MARKED_LINE = st.tuples(st.sampled_from(["", "- ", "> ", "1. ", "## ", "    "]), LINE).map(
    lambda parts: parts[0] + parts[1]
)
TEXT = st.lists(MARKED_LINE, min_size=1, max_size=5).map(lambda lines: "\n".join(lines))
EVENTS = st.lists(st.tuples(TEXT, st.sampled_from(list(Origin))), min_size=1, max_size=5)
UNLISTED = st.lists(LINE, min_size=1, max_size=5)
"""Without line markers, which may be dropped (QUOTE.1) and so would need an oracle that knows them."""


@given(EVENTS, st.data())
def test_words_cut_from_an_event_are_found_there(texts: list[tuple[str, Origin]], data: st.DataObject) -> None:
    """QUOTE.1, 4: whatever run of words is cut from a person's event is found, and its span, read again, is the quote."""
    events = [*session(*texts), event(data.draw(TEXT), USER, "mine")]
    words = events[-1].text.split(" ")
    start = data.draw(st.integers(0, len(words) - 1))
    quote = " ".join(words[start : data.draw(st.integers(start + 1, len(words)))])
    verdict = verify_quote(quote, events)
    assert verdict.reason in ("contiguous", "negated", "empty")
    by_uid = {e.uid: e.text for e in events}
    for span in verdict.spans:
        assert span_reads(by_uid[span.event], span.start, span.end, quote)
        assert fold(words_at(events, span)).text.replace("*", "").replace("_", "") == fold(quote).text.replace(
            "*", ""
        ).replace("_", "")


@given(EVENTS, TEXT, st.data())
def test_less_evidence_never_gives_more_trust(texts: list[tuple[str, Origin]], quote: str, data: st.DataObject) -> None:
    """QUOTE.8: with events taken away, or more of them surfaced by us, an inferred quote never becomes verbatim."""
    events = session(*texts)
    quote = data.draw(
        st.sampled_from([quote, *(e.text for e in events), *(e.text[len(e.text) // 2 :] for e in events)])
    )
    fewer = [e for e in events if data.draw(st.booleans())]
    surfaced = data.draw(st.lists(st.sampled_from([e.text for e in events])))
    whole = verify_quote(quote, events)
    for less in (verify_quote(quote, fewer), verify_quote(quote, events, surfaced=surfaced)):
        assert less.derivation is Derivation.INFERRED or whole.derivation is Derivation.VERBATIM


@given(EVENTS, st.text(max_size=40) | TEXT)
def test_the_same_question_has_the_same_answer(texts: list[tuple[str, Origin]], quote: str) -> None:
    """QUOTE.8: the verifier is a function; any text at all gets a verdict that keeps its promises."""
    events = session(*texts)
    verdict = verify_quote(quote, events)
    assert verdict == verify_quote(quote, events)
    assert (verdict.derivation is Derivation.VERBATIM) == (verdict.reason == "contiguous")
    assert len(verdict.spans) <= 20
    assert not any(e.origin is BRIEFING and span.event == e.uid for span in verdict.spans for e in events)


@given(UNLISTED, st.randoms(use_true_random=False))
def test_altered_quotes_pass_only_where_they_stand(texts: list[str], rng: random.Random) -> None:
    """QUOTE.1, 2: changed digits, operators, case and words never pass unless the session has the changed words too."""
    events = session(*texts)
    altered = list(alterations(rng, events, 20))
    standing = [bare(e.text) for e in events]
    for each, verdict in zip(altered, verify_quotes([a.text for a in altered], events), strict=True):
        assert verdict.derivation is Derivation.INFERRED or stands(each.text, standing), each


# Hostile input


LONG = 1_000_000
HOSTILE: dict[str, tuple[list[str], list[str]]] = {
    "nested quotes": ([("a " * n).strip() for n in range(1, 600)], ["a " * (LONG // 20)]),
    "self-similar quote": (["a" * 5_000], ["a" * LONG]),
    "long quote": (["word " * (LONG // 5)], ["word " * (LONG // 5 - 1)]),
    "many ellipses": (["a b ... " * 20_000], ["a b " * 20_000]),
    "assignments": (["A=b=c " * 50], ["A=b=c" * (LONG // 5)]),
    "unclosed tags": (["<a><b> c"], ["<a>" * (LONG // 3)]),
    "negations": (["ship it"], ["don't " * (LONG // 8) + "ship it"]),
    "commas": (["ship it"], ["not, a, " * (LONG // 8) + "ship it"]),
    "one long word": (["x" * 999], ["x" * LONG]),
    "many short events": (["the end of it the start of it"], ["the end of it"] * 20_000),
    "marks": (["*a* b"], ["*a " * (LONG // 3)]),
    "a common word": (["a"], ["a " * (LONG // 2)]),
}


@pytest.mark.parametrize("case", HOSTILE.values(), ids=HOSTILE.keys())
def test_no_input_is_slow(case: tuple[list[str], list[str]]) -> None:
    """EVID.10; failure case 34: a megabyte of anything is judged in seconds."""
    quotes, texts = case
    events = session(*texts)
    started = time.process_time()
    verdicts = verify_quotes(quotes, events, surfaced=texts[:1])
    assert len(verdicts) == len(quotes)
    assert time.process_time() - started < 20


def test_lone_surrogates_are_read() -> None:
    """Failure case 37, pitfall 4: a lone surrogate in the source or in the quote is no error, and offsets stay those of
    the bytes."""
    events = session("bad \ud83d then the limit is 30")
    verdict = verify_quote("the limit is 30", events)
    start = len("bad \ufffd then ".encode())
    assert verdict.spans == (QuoteSpan("e0", start, start + 15),)
    assert verify_quote("bad \ud83d", events).derivation is Derivation.VERBATIM


# Real sessions


@pytest.mark.shared_data
@pytest.mark.skipif(not SHARED.exists(), reason="the shared data is not here")
def test_labelled_quotes() -> None:
    """QUOTE.1-3: every labelled quote that matches is found on its record, every other is refused."""
    result = gold(SHARED)
    assert result["wrong"] == []
    assert result["matches found"]["n"] >= 10
    assert result["non-matches refused"]["n"] >= 10


@pytest.mark.shared_data
@pytest.mark.skipif(not SHARED.exists(), reason="the shared data is not here")
def test_altered_quotes_of_real_sessions() -> None:
    """QUOTE.1, 2: of a thousand alterations none passes that an independent search does not find in the session."""
    from benchmarks.quality.quotes import altered

    assert len(session_paths(SHARED)) > 30
    result = altered(SHARED, random.Random(SEED), 1_000)
    assert result["refused or truly there"]["n"] == 1_000
    assert result["passed"] == [], f"seed {SEED}"


def test_verdicts_are_values() -> None:
    """QUOTE.8: a verdict can be compared, hashed and kept."""
    verdict = verify_quote("a b", session("a b"))
    assert isinstance(verdict, QuoteVerdict)
    assert hash(verdict) == hash(verify_quote("a b", session("a b")))
