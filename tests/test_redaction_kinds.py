"""EVID.9: every kind of secret that the documentation lists is taken out, in the texts that agents' sessions have."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest
from benchmarks.quality.made_contexts import Positive, positives
from benchmarks.quality.made_lookalikes import negatives
from benchmarks.quality.redaction import HELD_BACK_SEED, SEED, judged

from tallystick.model.claim import Derivation
from tallystick.model.evidence import Event, EventKind, Locator, Origin
from tallystick.redaction import Redaction, redact, redact_event
from tallystick.verifiers.quotation import verify_quotes

PAGE = Path(__file__).parents[1] / "docs/spec/secrets.md"
PER_SHAPE = 10
UNNAMED = {"asana-token", "mailgun-key"}
"""Kinds with a form that is taken out only under a name of a secret: alone it is digits, or a hash."""
LEAST = 0.98


def _texts() -> list[Positive]:
    return [
        *positives(SEED, PER_SHAPE, held_back=False),
        *positives(HELD_BACK_SEED, PER_SHAPE, held_back=True),
    ]


TEXTS = _texts()


def _kinds_of_the_page() -> set[str]:
    rows = re.findall(r"^\| `([a-z0-9-]+)` \|", PAGE.read_text("utf-8"), re.MULTILINE)
    assert sorted(rows) == sorted(set(rows))
    return set(rows)


def test_made_up_secrets_are_taken_out() -> None:
    """EVID.9, pitfall 56: of each kind nearly all are gone, counted under a name of theirs, and the text around them is
    untouched."""
    verdicts = defaultdict(list)
    for text in TEXTS:
        verdicts[text.kind].append(judged(text))
    assert len(verdicts) > 100
    for kind, found in verdicts.items():
        assert all(verdict.apart for verdict in found), kind
        assert all(verdict.named for verdict in found if verdict.out), kind
        assert kind in UNNAMED or sum(verdict.out for verdict in found) >= 0.9 * len(found), kind
    every = [verdict for found in verdicts.values() for verdict in found]
    assert sum(verdict.out for verdict in every) >= LEAST * len(every)


def test_the_page_lists_the_kinds() -> None:
    """EVID.9: a replacement names a kind of docs/spec/secrets.md, and each of them is what some text comes to."""
    counted = {kind for text in TEXTS for kind in redact(text.text).counts}
    examples = {kind for text in EXAMPLES for kind in redact(text).counts}
    page = _kinds_of_the_page()
    assert len(page) >= 25
    assert counted | examples | redact("a.b@example.com", emails=True).counts.keys() == page


EXAMPLES = (
    'MNEMONIC="legal winner thank year wave sausage worth useful legal winner thank yellow"',
    "Authorization: SSWS 00QCjAl4MlV-WPXM-kf0Rh1b",
    "https://oapi.dingtalk.com/robot/send?access_token=" + "0f" * 32,
    "https://b.s3.amazonaws.com/x?X-Amz-Date=20260101&X-Amz-Signature=" + "a1" * 32,
)


@pytest.mark.parametrize("text", EXAMPLES)
def test_kinds_that_are_not_made_up(text: str) -> None:
    """EVID.9: phrases of wallets, unusual schemes of authorization, signed addresses."""
    assert sum(redact(text).counts.values()) == 1


def test_a_second_look_finds_nothing_more() -> None:
    """EVID.9: what is left of every made-up text is left as it is."""
    for text in TEXTS:
        once = redact(text.text).text
        assert redact(once) == Redaction(once, {})


def test_lookalikes_are_left_alone() -> None:
    """EVID.9: hashes, ids, images, lock files, minified code, dumps and placeholders stay: at most two in a hundred differ."""
    texts = [text for _, text in negatives(SEED, 10)]
    touched = [text for text in texts if redact(text).counts]
    assert len(touched) <= 0.02 * len(texts), touched


ORDINARY = (
    "model_session_id=test-session-1767707456 path=/tmp",
    'print(\\"A widget of a password:\\")\\nprint(\\"next\\")',
    "Cookie: theme=dark2; lang=de1",
    "cookie = SimpleCookie()\ncookie: dict[str, str] = {}",
    "_ga=GA1.2.1234567890.1234567890",
    "POSTHOG_KEY=phc_99T7muzafUMMZX15H8XePbMSreEUzahHbtWjy3l5Qbv",
    "https://0123456789abcdef0123456789abcdef@o1.ingest.sentry.io/2",
    "const key = `token-${session.token_id2}`; const passwordKey = `user-${id}`;",
    "set the password in the form",
    "git config user.name abc123def456",
    "ENV PATH /usr/local/bin2",
    "machine learning login page password field",
    "ports: 5432:5432 db:5432:tcp",
    '{"auth": "password"} {"author": "abcdefgh"} {"auth": "bm90IGEgcGFpcg=="}',
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSURkekNDQWwrZ0F3SUJBZ0lFQWdBQXVUQU5CZ2txaGtpRzl3MEJBUXNG",
    "mnemonic: a device such as a pattern of letters that assists in remembering something",
    "the path patterns of patches",
    "key-value and re_compile fw_version",
)


@pytest.mark.parametrize("text", ORDINARY)
def test_what_comes_near_the_new_kinds_stays(text: str) -> None:
    """EVID.9: headers, names and beginnings that secrets have in common with ordinary words are none by themselves."""
    assert redact(text) == Redaction(text, {})


@pytest.mark.parametrize("colour", ["\x1b[1m", "\x1b[1;32m", "\\u001b[31m", "\\033[0m"])
def test_a_colour_is_no_part_of_a_word(colour: str) -> None:
    """EVID.9: a token after a colour code begins there, and a value before one ends there."""
    assert redact(f"{colour}hf_aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYzA{colour}").counts == {"huggingface-token": 1}
    assert redact(f"DB_PASSWORD=hunter2x{colour} next") == Redaction(
        f"DB_PASSWORD=[redacted:password]{colour} next", {"password": 1}
    )


def _archived(text: str) -> Event:
    return redact_event(Event("u1:0", EventKind.MESSAGE, Origin.ASSISTANT, text, Locator(3, 2, 1, 400, 90)))[0]


@pytest.mark.parametrize("text", TEXTS[:: len(TEXTS) // 25], ids=lambda text: text.kind)
def test_words_around_a_secret_still_verify(text: Positive) -> None:
    """EVID.9, QUOTE.1, pitfall 56: what was quoted from an archived event stands in it, the replacement inside the quote
    or beside it."""
    read = _archived(f"We decided to keep the cache warm.\n{text.text}\nThe build passed with 12 tests.")
    assert "[redacted:" in read.text
    at = read.text.index("[redacted:")
    with_it = read.text[read.text.rfind("\n", 0, at) + 1 : read.text.index("]", at) + 1]
    verdicts = verify_quotes(["We decided to keep the cache warm.", "The build passed with 12 tests.", with_it], [read])
    assert [verdict.derivation for verdict in verdicts] == [Derivation.VERBATIM] * 3
