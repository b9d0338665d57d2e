"""CHECK.2, EVID.10: where sentences begin and end, and what sort of block they stand in."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tallystick.language.sentences import Sentence, sentences
from tests.growth import assert_linear, repeated


def _texts(source: str) -> list[str]:
    return [sentence.text for sentence in sentences(source)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("All tests pass. Pushed.", ["All tests pass.", "Pushed."]),
        ("See\u00a0e.g. the page. It is\te.g. Long.", ["See\u00a0e.g. the page.", "It is\te.g. Long."]),
        ("It runs on e.g. Node.js and v3.11. Good!", ["It runs on e.g. Node.js and v3.11.", "Good!"]),
        ("See i.e. this one vs. that one.", ["See i.e. this one vs. that one."]),
        ("Really? Yes… maybe. Done!", ["Really?", "Yes… maybe.", "Done!"]),
        ("Ça va ? Oui ! Très bien.", ["Ça va ?", "Oui !", "Très bien."]),
        ("It took 3.5 s. Then it stopped.", ["It took 3.5 s.", "Then it stopped."]),
        ("**Done.** All green.", ["**Done.**", "All green."]),
        ('He said "It works. I saw it." and left. Then?', ['He said "It works. I saw it." and left.', "Then?"]),
        ("Run `a. b` first. Then go.", ["Run `a. b` first.", "Then go."]),
        ("it is down. we fix it", ["it is down.", "we fix it"]),
        (
            "A wrapped line that goes on for quite a while so that it was broken\nat its margin by an editor. Next.",
            [
                "A wrapped line that goes on for quite a while so that it was broken\nat its margin by an editor.",
                "Next.",
            ],
        ),
        ("All tests pass\nPushed to main", ["All tests pass", "Pushed to main"]),
        ("Here is what I did:\nnothing", ["Here is what I did:", "nothing"]),
        ("", []),
        (" \n\t\n", []),
    ],
)
def test_where_sentences_end(source: str, expected: list[str]) -> None:
    """CHECK.2: abbreviations, numbers, code and quotations end no sentence; punctuation, colons and short lines do."""
    assert _texts(source) == expected


def test_blocks_are_told_apart() -> None:
    """CHECK.2: prose, list items, headings, quoted lines, tables and code each say what they are, markers left out."""
    source = (
        "# Done. Really\n\nAll pass. Good.\n\n- one. two\n  goes on\n2. three\n\n> quoted. line\n\n| a | b |\n\n"
        "```py\nx = 1. \n```\n\n    indented()\n\nend"
    )
    assert [(s.block, s.text) for s in sentences(source)] == [
        ("heading", "Done. Really"),
        ("prose", "All pass."),
        ("prose", "Good."),
        ("list", "one."),
        ("list", "two\n  goes on"),
        ("list", "three"),
        ("quote", "> quoted. line"),
        ("table", "| a | b |"),
        ("code", "```py"),
        ("code", "x = 1."),
        ("code", "```"),
        ("code", "indented()"),
        ("prose", "end"),
    ]


def test_an_unclosed_fence_is_code_to_the_end() -> None:
    """CHECK.2: what stands in a fence that never closes asserts nothing."""
    assert {s.block for s in sentences("```\nAll tests pass.\n# no heading\n- no list")} == {"code"}


LINES = st.lists(
    st.sampled_from(
        [
            "# head",
            "- item. more",
            "* [x] done",
            "12. twelve",
            "> said",
            "| a | b |",
            "```",
            "~~~",
            "    code",
            "\ttab",
            "",
            "  ",
            "Some words. More",
            "e.g. this",
            "lower",
            "a\u2028b",
            "x\r",
            "***",
            "---",
            "“open",
            "`tick",
            '"',
            "#",
            "-",
            "1.",
            "end.  ",
            "é😀 \ud800. Z",
        ]
    )
    | st.text(max_size=12)
)


@settings(max_examples=400, deadline=None)
@given(LINES.map("\n".join))
@example("#")
@example("- ")
@example("1. 2. 3.")
@example("# \r0")
@example("- \x0b0")
@example("1. \u00a00")
def test_every_character_is_in_exactly_one_sentence(source: str) -> None:
    """CHECK.2, QUOTE.4: offsets are exact and in order, and only blanks and list and heading markers are in none."""
    position = 0
    outside = []
    for sentence in sentences(source):
        assert isinstance(sentence, Sentence)
        assert source[sentence.start : sentence.end] == sentence.text
        assert sentence.text
        assert sentence.text == sentence.text.strip()
        assert position <= sentence.start
        outside.append(source[position : sentence.start])
        position = sentence.end
    outside.append(source[position:])
    left = {piece for gap in outside for piece in gap.split()}
    assert all(piece.strip("#") == "" or piece in "-*+•–" or piece.rstrip(".)").isdigit() for piece in left), left


@settings(max_examples=200, deadline=None)
@given(LINES.map("\n".join), LINES.map("\n".join))
def test_a_blank_line_keeps_texts_apart(first: str, second: str) -> None:
    """CHECK.2: what follows a heading between blank lines is read as it would be alone, unless a fence is open."""
    if first.count("```") or first.count("~~~"):
        return
    alone = [(s.text, s.block) for s in sentences("# cut\n\n" + second)]
    together = [(s.text, s.block) for s in sentences(first + "\n\n# cut\n\n" + second)]
    assert together[len(together) - len(alone) :] == alone


PIECES = ("<a ", "a", ". ", '"a. ', "“. ", "`", "\n", "```\n", "a. b\n", "* * ", ">", " ")


@pytest.mark.parametrize("piece", PIECES)
def test_no_text_is_slow(piece: str) -> None:
    """EVID.10, failure case 34: unclosed tags, quotes and fences, or one line of megabytes, are split in linear time."""
    assert_linear(sentences, lambda length: repeated(piece, length), 100_000)
