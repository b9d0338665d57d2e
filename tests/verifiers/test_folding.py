from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.verifiers.boundaries import cuts_word
from tallystick.verifiers.folding import STRAIGHT, fold, fold_literally, may_hide_characters

DASHES = "–—―‑"

PIECES = st.sampled_from(
    [
        "limit", "30", "3.5", "-7", "don't", "MAX_RETRIES", "__init__", "café", "cafe\u0301", "e\u0301\u0323", "重点", "하\u1161",
        "한", "\ud83d", "😀", "**bold**", "*soft*", "_soft_", "`code *x*`", "**", "*", "_", "`", "~~gone~~", "“so”", "‘it’",
        "5′", "a – b", "one — two", "rust‑lang", "zero\u200bwidth", "soft\u00adhyphen", "\u202eRTL\u202c", "\x1b[31mred\x1b[0m",
        "\n- item", "\n1. first", "\n> said", "\n## Title", "\n```\n- code\n```\n", "\n~~~\n*x*\n", "\t", "\u00a0", "\u2009",
        "\n\n", "  ", "x", ".", ",", "(", ")", "Å", "\u212b", "\\n", '\\"',
    ]
)  # fmt: skip
TEXTS = st.lists(st.one_of(PIECES, st.text(max_size=4)), max_size=40).map(lambda pieces: " ".join(pieces)) | st.lists(
    PIECES, max_size=40
).map("".join)

SAME = {
    "curly quotes": ("He said “stop” and ‘go’", "He said \"stop\" and 'go'"),
    "low quotes": ("„so“", '"so"'),
    "em dash between words": ("one — two", "one - two"),
    "en dash in a range": ("3–5 days", "3-5 days"),
    "horizontal bar": ("one ― two", "one - two"),
    "non-breaking hyphen": ("rust‑lang", "rust-lang"),
    "no-break and thin spaces": ("10\u00a0000\u2009km", "10 000 km"),
    "line breaks and tabs": ("one\n\ttwo\r\nthree", "one two three"),
    "composition": ("re\u0301sume\u0301", "résumé"),
    "Hangul composition": ("\u1112\u1161\u11ab", "한"),
    "zero-width and soft hyphen": ("ze\u200bro\u00adwidth\ufeff", "zerowidth"),
    "bidi controls": ("\u202eabc\u202c", "abc"),
    "terminal colours": ("\x1b[1;32m3 passed\x1b[0m", "3 passed"),
    "bold": ("a **b c** d", "a b c d"),
    "bold by underscores": ("a __b c__ d", "a b c d"),
    "bold over a line break": ("a **b\nc** d", "a b c d"),
    "emphasis": ("we *do* and _see_ it", "we do and see it"),
    "strike": ("~~old~~ new", "old new"),
    "back-ticks": ("run `make test` now", "run make test now"),
    "a tick before a fence": ("a ` b\n```\n*x*\n```\nc ` *d*", "a b *x* c d"),
    "double back-ticks": ("run ``make`` now", "run make now"),
    "bold around code": ("**`make`** it", "make it"),
    "bold in Chinese": ("这是**重点**内容", "这是重点内容"),
    "list markers": ("- one\n* two\n+ three\n1. four", "one two three four"),
    "headings": ("## Title\ntext", "Title text"),
    "quotations": ("> said\n> again", "said again"),
    "quoted list": ("> - said", "said"),
}
DIFFERENT = {
    "case": ("Passed", "passed"),
    "digits": ("30", "300"),
    "operators": ("a - b", "a + b"),
    "minus is not a hyphen": ("a − b", "a - b"),
    "dash between operands": ("x = a – b", "x = a - b"),
    "dash between numbers": ("10 – 3", "10 - 3"),
    "dash in code": ("`a — b`", "`a - b`"),
    "never NFKC: superscript": ("x²", "x2"),
    "never NFKC: full width": ("１０", "10"),
    "never NFKC: ligature": ("ﬁle", "file"),
    "ellipsis is not three points": ("so…", "so..."),
    "power": ("2**3", "23"),
    "lone star": ("a * b", "a b"),
    "glob": ("src/**/*.py", "src//.py"),
    "lone underscore": ("a _ b", "a b"),
    "identifier": ("MAX_RETRIES", "MAXRETRIES"),
    "dunder": ("__init__", "init"),
    "private name": ("_private", "private"),
    "test names": ("Gemini_JSON_-_empty_messages", "GeminiJSON-empty_messages"),
    "stars in code": ("`*args`", "`args`"),
    "emphasis in a fence": ("```\n*x* y\n```", "```\nx y\n```"),
    "marker in a fence": ("```\n- x\n```", "```\nx\n```"),
    "marker in the middle": ("see - x", "see x"),
    "number in the middle": ("step 1. go", "step go"),
    "comparison at a line start": ("x\n>= 3", "x 3"),
    "feet": ("5′", "5'"),
    "word order": ("a b", "b a"),
    "negation": ("do not", "do"),
}


@pytest.mark.parametrize("pair", SAME.values(), ids=SAME.keys())
def test_the_table_folds(pair: tuple[str, str]) -> None:
    """QUOTE.1, pitfall 53: what the table lists is folded, on whichever side it stands."""
    assert fold(pair[0]).text == pair[1]
    assert fold(pair[1]).text in (pair[1], fold(pair[0]).text.replace("*", ""))


@pytest.mark.parametrize("pair", DIFFERENT.values(), ids=DIFFERENT.keys())
def test_nothing_else_folds(pair: tuple[str, str]) -> None:
    """QUOTE.1: case, digits, letters, operators, signs, negation, word order and the "not where" column stay."""
    assert fold(pair[0]).text != fold(pair[1]).text


def test_escapes_are_characters_only_in_quotes_and_outside_code() -> None:
    r"""QUOTE.1: \n, \t and \" left in a quote become the character; in a source or in code they are content."""
    assert fold(r"one\ntwo\tthree \"four\"", quote=True).text == 'one two three "four"'
    assert fold(r"one\ntwo").text == r"one\ntwo"
    assert fold(r"print `a\nb` now", quote=True).text == r"print a\nb now"


@given(TEXTS)
def test_every_character_leads_back_to_where_it_came_from(text: str) -> None:
    """QUOTE.4: each folded character stands, composed and straightened, at its exact place in the source's bytes."""
    folded = fold(text)
    encoded = folded.source.encode()
    assert len(encoded) == len(text.encode("utf-8", "surrogatepass"))
    last = (0, 0)
    for position, char in enumerate(folded.text):
        span = folded.byte_span(position, position + 1)
        assert span[0] >= last[1] or span == last  # one cluster may compose to two characters
        last = span
        shown = "".join(c for c in encoded[span[0] : span[1]].decode() if unicodedata.category(c) != "Cf")
        if char == " ":
            assert not any(c.isalnum() for c in shown)
        elif shown[0] in DASHES:
            assert char in (shown[0], "-")
        else:
            assert char in unicodedata.normalize("NFC", shown + "".join(STRAIGHT.get(c, c) for c in shown))


@given(TEXTS, st.data())
def test_a_span_covers_its_words(text: str, data: st.DataObject) -> None:
    """QUOTE.4: byte and character spans name the same stretch, whatever was dropped inside."""
    folded = fold(text)
    if not folded.text:
        return
    start = data.draw(st.integers(0, len(folded.text) - 1))
    end = data.draw(st.integers(start + 1, len(folded.text)))
    chars, span = folded.char_span(start, end), folded.byte_span(start, end)
    assert folded.source.encode()[span[0] : span[1]].decode() == folded.source[chars[0] : chars[1]]
    assert span[0] == folded.byte_span(start, start + 1)[0]
    assert span[1] == folded.byte_span(end - 1, end)[1]


@given(TEXTS)
def test_folded_text_is_one_line_without_outer_space(text: str) -> None:
    """QUOTE.1: runs of white space are one space, and both folds keep every letter and digit of plain text."""
    for folded in (fold(text), fold_literally(text)):
        assert folded.text == " ".join(folded.text.split())


@given(st.text(alphabet="abc XYZ 019\n\t", max_size=80))
def test_plain_words_only_lose_white_space(text: str) -> None:
    """QUOTE.1: a text with nothing to fold is folded to its words."""
    assert fold(text).text == " ".join(text.split())


@given(TEXTS)
def test_hidden_characters_are_known(text: str) -> None:
    """QUOTE.1: a text said to hide nothing shows its letters as its folded form does."""
    if not may_hide_characters(text):
        letters = [c for c in text if c.isascii() and c.isalpha()]
        assert [c for c in fold(text).text if c.isascii() and c.isalpha()] == letters or not text.isascii()


CUTS = [
    ("limit is 30.", 10, True),
    ("limit is 30. Do", 11, False),
    ("can't", 3, True),
    ("can't", 4, True),
    ("the users' logs", 9, False),
    ("3.5 MB", 1, True),
    ("1,000", 1, True),
    ("12:30", 2, True),
    ("95% done", 2, True),
    ("-7 degrees", 1, True),
    ("$30 a month", 1, True),
    ("2019-2024", 5, True),
    ("re-read", 3, False),
    ("a b", 1, False),
    ("这是重点", 2, False),
    ("共30个", 1, False),
    ("e\u0323x", 1, True),
    ("MAX_RETRIES", 4, True),
]


@pytest.mark.parametrize(("text", "at", "cuts"), CUTS)
def test_word_boundaries(text: str, at: int, cuts: bool) -> None:
    """QUOTE.2: a cut through a word or a number is one; an apostrophe, sign, point or percent sign belongs to it."""
    assert cuts_word(text, at) is cuts


HOSTILE = {
    "stars": "*" * 1_000_000,
    "spaced stars": "*a " * 333_000,
    "underscores": "_" * 999_999 + "a",
    "word underscores": "a" + "_" * 999_998 + "b",
    "opening emphasis": " _a" * 333_000,
    "back-ticks": "`" * 1_000_000,
    "spaced back-ticks": "` " * 500_000,
    "growing back-ticks": " ".join("`" * n for n in range(1, 1400)),
    "unclosed fences": "\n```" * 250_000,
    "spaces": " " * 1_000_000,
    "spaces and line breaks": (" " * 999 + "\n") * 1_000,
    "line breaks": "\n" * 1_000_000,
    "quotation markers": ">" * 1_000_000,
    "spaced markers": "> - " * 250_000,
    "marker lines": "\n- " * 333_000,
    "numbers": "\n" + "1" * 999_999,
    "hashes": "\n" + "#" * 999_999,
    "tildes": "~" * 1_000_000,
    "marks on one letter": "a" + "\u0301\u0316" * 300_000,
    "Hangul vowels": "\u1100" + "\u1161" * 300_000,
    "ideographs": "重" * 300_000 + "e\u0301",
    "dashes": "a – " * 200_000,
    "escape sequences": "\x1b[" * 500_000,
    "long colour": "\x1b[" + "1;" * 500_000,
    "backslashes": "\\" * 1_000_000,
    "surrogates": "\ud800" * 300_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_folding_is_linear(text: str) -> None:
    """EVID.10: one megabyte of anything is folded, and led back, in seconds."""
    started = time.process_time()
    folded = fold(text, quote=True)
    if folded.text:
        assert folded.byte_span(0, len(folded.text))[1] <= len(folded.source.encode())
    assert time.process_time() - started < 6
