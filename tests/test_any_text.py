"""What every reader of text promises: an answer to anything, and a cost that grows with the length (EVID.10, case 34)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tallystick.errors import ProofError
from tallystick.extractors import (
    rules_accepted,
    rules_choice,
    rules_loops,
    rules_report,
    rules_statements,
    rules_withdrawn,
)
from tallystick.extractors.rules_statements import Statement, statements
from tallystick.language.anchors import anchors
from tallystick.language.modality import hedges, mood
from tallystick.language.polarity import modals, negation_scope, negations, polarity
from tallystick.language.sentences import sentences
from tallystick.language.telling import telling_words
from tallystick.log.checkpoint import parse
from tallystick.log.proof import FIRST_LINE, parse_proof
from tallystick.redaction import redact
from tallystick.transcripts import cline_records
from tallystick.transcripts.texts import path_of_uri
from tallystick.verifiers import outputs
from tallystick.verifiers.commands import actions
from tallystick.verifiers.departure import departure, governing_negation
from tallystick.verifiers.folding import fold, fold_literally
from tallystick.verifiers.markdown import markdown_edits
from tallystick.verifiers.outcome_claims import outcome_claims
from tallystick.verifiers.settling import settle
from tallystick.verifiers.shell import simple_commands
from tallystick.verifiers.superseding import frame
from tallystick.workflows.queries import read_query
from tallystick.workflows.search import excerpt
from tests.growth import assert_linear, repeated


def _or_refused(read: Callable[[bytes], object]) -> Callable[[str], object]:
    """What is read of bytes, or why it is refused."""

    def answer(text: str) -> object:
        try:
            return read(text.encode("utf-8", "surrogatepass"))
        except ProofError as error:
            return str(error)

    return answer


def _of_statements(read: Callable[[Sequence[Statement]], object]) -> Callable[[str], object]:
    return lambda text: read(statements(text))


READERS: dict[str, Callable[[str], object]] = {
    "sentences": sentences,
    "mood": mood,
    "hedges": hedges,
    "polarity": polarity,
    "negation_scope": negation_scope,
    "negations": negations,
    "modals": modals,
    "telling_words": telling_words,
    "anchors": anchors,
    "redact": redact,
    "read_query": lambda text: read_query(text).places(text),
    "excerpt": lambda text: excerpt(text, [(len(text) // 3, len(text) // 2)]),
    "actions": actions,
    "simple_commands": simple_commands,
    "settle": settle,
    "fold": lambda text: fold(text).text,
    "fold_literally": lambda text: fold_literally(text).text,
    "markdown_edits": markdown_edits,
    "outcome_claims": outcome_claims,
    "test_counts": outputs.test_counts,
    "git_facts": outputs.git_facts,
    "cleanliness": outputs.cleanliness,
    "listed_paths": outputs.listed_paths,
    "error_paths": outputs.error_paths,
    "added_lines": outputs.added_lines,
    "bad_end": outputs.bad_end,
    "figures": outputs.figures,
    "frame": frame,
    "departure from its own words": lambda text: departure(text, text),
    "departure from half": lambda text: departure(text, text[: len(text) // 2]),
    "departure, all before": lambda text: departure("the tests pass", "the tests pass", text),
    "governing_negation": governing_negation,
    "statements": statements,
    "drafted": rules_statements.drafted,
    "is_pasted": rules_statements.is_pasted,
    "open_ends": lambda text: rules_loops.open_ends(statements(text), unanswered=True),
    "reports": lambda text: rules_report.reports(statements(text), answering=False),
    "on_the_way": _of_statements(rules_report.on_the_way),
    "taken_back": _of_statements(rules_withdrawn.taken_back),
    "parse_proof": _or_refused(parse_proof),
    "the rest of a proof": _or_refused(lambda data: parse_proof(f"{FIRST_LINE}\nindex 1\n".encode() + data)),
    "parse_checkpoint": _or_refused(parse),
    "proposed": _of_statements(rules_accepted.proposed),
    "offer_of": _of_statements(rules_choice.offer_of),
    "tags of a harness": cline_records.pieces,
    "what an answer says and calls": cline_records.spoken,
    "what a result announces": cline_records.header,
    "how a command ended": lambda text: cline_records.ending("execute_command", text, failed=False),
    "path_of_uri": lambda text: path_of_uri(f"file://{text}"),
}

FRAGMENTS = (
    *"\"'`“”«»’()[]{}<>a1.,;:!?…-—_*#|/\\~=+&$@%^éßİ漢 \t\n\r\xa0\u200b\0",
    *("``", "```", "**", "&&", "||", "$(", "<<EOF", "\n\n", "- ", "1. ", "> ", "    ", "https://", "\x1b[0m", "\ud800"),
    *("not", "no", "don't", "if", "will", "e.g.", "the tests", "pass", "failed", "fixed", "I'll use", "instead of"),
    *("git commit", "a.py", "FAILED", "ok", "never", "always", "ne", "pas", "abcdef0", "token=", "1,234"),
)
ANYTHING = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=4), max_size=30).map("".join)
FEW = st.lists(st.sampled_from(FRAGMENTS), max_size=2).map("".join)
PIECE = st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=5).map("".join)
SHORT = 4_000
SLOW_ONCE = [("", "!", "&:"), ('"', "a.\t", '"'), ("", "“. ", ""), ("", "<a ", ""), ("(", "*_", "x"), ("", "not, ", "")]
"""(before, piece, after) that cost the square of their length in some reader once, and kinds like them."""
# A growth is measured over tens of milliseconds, so a tenth of the profile's examples: the search is for `make fuzz`.
SEARCHED = settings().max_examples // 10


@pytest.mark.parametrize("name", READERS)
@example("'")
@example("''x' ''y'.")
@given(ANYTHING)
def test_any_text_has_an_answer(name: str, text: str) -> None:
    """EVID.10: no text makes a reader fail, and the same text has the same answer."""
    assert READERS[name](text) == READERS[name](text)


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=SEARCHED)
@given(FEW, PIECE, FEW)
def test_cost_grows_with_the_length(name: str, before: str, piece: str, after: str) -> None:
    """EVID.10, failure case 34: what repeats in a text, open or closed around it, never costs the square of its length."""
    assert_linear(READERS[name], partial(repeated, piece, before=before, after=after), SHORT)


@pytest.mark.parametrize("name", READERS)
def test_what_was_slow_once_is_not(name: str) -> None:
    """EVID.10, failure case 34: the texts that were found slow, each in every reader."""
    for before, piece, after in SLOW_ONCE:
        assert_linear(READERS[name], partial(repeated, piece, before=before, after=after), SHORT)
