"""CHECK.3, QUOTE.7: the typed things in a text, their kinds, values and places."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tallystick.language.anchors import AnchorKind, anchors
from tests.growth import assert_linear, repeated

SHARED = Path(__file__).resolve().parents[2] / "../shared/data"

EXAMPLES: list[tuple[str, list[tuple[str, str]]]] = [
    ("took 30 s and 5.75 MB", [("number", "30 s"), ("number", "5.75 MB")]),
    ("42% of 3 packs (down from 29)", [("number", "42%"), ("number", "3"), ("number", "29")]),
    (
        "1,234 lines, 10k rows, 50ms, 2x, 300 seconds",
        [("number", v) for v in ("1,234", "10k", "50ms", "2x", "300 seconds")],
    ),
    (
        "lines 918-920, 3/4 done, at 12:30 on 2024-01-05",
        [("number", v) for v in ("918", "920", "3", "4", "12:30", "2024-01-05")],
    ),
    ("v2.1.4, Python 3.11, 1.2.3-rc.1", [("version", "v2.1.4"), ("version", "3.11"), ("version", "1.2.3-rc.1")]),
    (
        "src/foo/bar.py:12 and ./x ../y/z ~/a.txt /usr/bin",
        [("path", v) for v in ("src/foo/bar.py:12", "./x", "../y/z", "~/a.txt", "/usr/bin")],
    ),
    ("README.md, `Cargo.lock` and .gitignore", [("path", "README.md"), ("path", "Cargo.lock"), ("path", ".gitignore")]),
    (r"C:\Users\x\a.txt", [("path", r"C:\Users\x\a.txt")]),
    ("_bmad-output/planning/prd.md", [("path", "_bmad-output/planning/prd.md")]),
    ("and/or yes/no I/O CI/CD N/A TCP/IP", []),
    (
        "fixed in c2b0273. commit deadbee, commit 1234567",
        [("commit", "c2b0273"), ("commit", "deadbee"), ("commit", "1234567")],
    ),
    ("defaced the 1234567 facades", [("number", "1234567")]),
    (
        "#175, PR 12, PR #13, owner/repo#5, ABC-12",
        [("issue", v) for v in ("#175", "PR 12", "#13", "owner/repo#5", "ABC-12")],
    ),
    ("UTF-8 and SHA-256", []),
    (
        "mini.local, 10.0.0.1:8080, user@host.example",
        [("host", "mini.local"), ("host", "10.0.0.1"), ("port", "8080"), ("host", "user@host.example")],
    ),
    (
        "localhost:3000, port 5433 and :8080",
        [("host", "localhost"), ("port", "3000"), ("port", "5433"), ("port", "8080")],
    ),
    ("MAX_RETRIES=3 $HOME ${FOO_BAR}", [("env", "MAX_RETRIES"), ("number", "3"), ("env", "$HOME"), ("env", "FOO_BAR")]),
    ("see https://x.y/z?q=1). (https://a.b/c_(d))", [("url", "https://x.y/z?q=1"), ("url", "https://a.b/c_(d)")]),
    (
        "git push --no-verify -v `-race` --flag=value",
        [("flag", "--no-verify"), ("flag", "-v"), ("flag", "-race"), ("flag", "--flag")],
    ),
    (
        "snake_case camelCase PascalCase store.Get",
        [("symbol", v) for v in ("snake_case", "camelCase", "PascalCase", "store.Get")],
    ),
    (
        "call() foo.bar() __init__ std::fs::read FR31",
        [("symbol", v) for v in ("call()", "foo.bar()", "__init__", "std::fs::read", "FR31")],
    ),
    ("`filepath` is `still used` in `feature/x`", [("symbol", "filepath"), ("path", "feature/x")]),
    ("**bold** _emphasis_ ~~gone~~ e.g. i.e. it's file(s)", []),
    ("**v1.2.3** and *src/a.py*, “#12”", [("version", "v1.2.3"), ("path", "src/a.py"), ("issue", "#12")]),
    ("pkg@1.2.3 and @scope/pkg", [("symbol", "pkg"), ("version", "1.2.3"), ("symbol", "@scope/pkg")]),
    ("l’UX et 30 secondes", [("number", "30 secondes")]),
    ("The tests pass, and the linter complains.", []),
]


@pytest.mark.parametrize(("text", "expected"), EXAMPLES, ids=[text[:40] for text, _ in EXAMPLES])
def test_kinds_and_values(text: str, expected: list[tuple[str, str]]) -> None:
    """CHECK.3, CHECK.7: anchors are typed, numbers keep their unit, and words of prose are none."""
    assert [(a.kind.value, a.value) for a in anchors(text)] == expected


@pytest.mark.parametrize(
    ("text", "expected"), [row for row in EXAMPLES if row[1]], ids=[text[:40] for text, e in EXAMPLES if e]
)
@pytest.mark.parametrize("frame", ["The thing: {}", "{}.", "({})", "- {}\n- more", "{}\n"])
def test_what_stands_around_changes_nothing(frame: str, text: str, expected: list[tuple[str, str]]) -> None:
    """CHECK.3: list markers, brackets and full stops around a text add no anchors and take none."""
    assert [(a.kind.value, a.value) for a in anchors(frame.format(text))] == expected


RUNS = st.sampled_from(
    [text for text, _ in EXAMPLES]
    + [
        "`",
        "://",
        "(",
        ")",
        "**",
        "https://",
        "x://y",
        "commit",
        "PR",
        "é",
        "\ud800",
        "\n",
        ".",
        "_",
        "$",
        "~",
        "#",
        "()",
    ]
)


@settings(max_examples=400, deadline=None)
@given(
    st.lists(RUNS, max_size=8).flatmap(lambda parts: st.sampled_from(["", " "]).map(lambda glue: glue.join(parts)))
    | st.text(max_size=60)
)
@example("took 5.75 MB://host")
@example("see http://x/PR 12")
@example("see http://x/port 80")
def test_places_are_exact_in_order_and_apart(text: str) -> None:
    """CHECK.3, QUOTE.4: each value is what stands at its place, places are in order and never overlap."""
    done = 0
    for anchor in anchors(text):
        assert text[anchor.start : anchor.end] == anchor.value != ""
        assert anchor.start >= done
        assert isinstance(anchor.kind, AnchorKind)
        done = anchor.end


@given(st.integers(0, 10**9), st.sampled_from(["", " s", "%", " MB", "ms", " minutes", "k"]))
def test_a_number_keeps_its_unit(number: int, unit: str) -> None:
    """CHECK.7: numbers compare with their units, so the unit is part of the value, and it begins where the number does."""
    written = f"{number}{unit}"
    assert [(a.kind, a.value) for a in anchors(f"it took {written}, then ended")] == [(AnchorKind.NUMBER, written)]


@given(st.text("0123456789abcdef", min_size=7, max_size=40))
def test_a_hash_is_a_commit_by_its_letters_and_digits(digits: str) -> None:
    """CHECK.3: 7 to 40 hexadecimal digits are a commit when they mix letters and digits, or after the word "commit"."""
    mixed = not digits.isdigit() and not digits.isalpha()
    alone = [a.kind for a in anchors(f"see {digits} there")]
    assert (AnchorKind.COMMIT in alone) == mixed
    assert [(a.kind, a.value) for a in anchors(f"commit {digits}")] == [(AnchorKind.COMMIT, digits)]


PIECES = ("<a ", "A=b=c ", "a", "a ", "a/", "1,234", "://", "a://", "`a", "a@", "a-b-", "commit ", "deadbee", "*")


@pytest.mark.parametrize("piece", PIECES)
def test_no_text_is_slow(piece: str) -> None:
    """EVID.10, failure case 34: a megabyte of anything, with blanks or without, is read in linear time."""
    assert_linear(anchors, lambda length: repeated(piece, length), 100_000)


@pytest.mark.shared_data
@pytest.mark.skipif(not SHARED.is_dir(), reason="shared data is absent")
def test_real_sessions_are_read_at_speed() -> None:
    """EVID.10: anchors of what was written in real sessions, two megabytes a second at least, places exact."""
    texts = []
    for path in sorted((SHARED / "transcripts/claude-code").rglob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").split("\n"):
            if '"type":"text"' in line:
                try:
                    content = json.loads(line)["message"]["content"]
                except (ValueError, KeyError, TypeError):
                    continue
                texts += [block["text"] for block in content if isinstance(block, dict) and block.get("type") == "text"]
    begin = time.process_time()
    found = [anchors(text) for text in texts]
    spent = time.process_time() - begin
    assert all(text[a.start : a.end] == a.value for text, each in zip(texts, found, strict=True) for a in each)
    assert {a.kind for each in found for a in each} == set(AnchorKind)
    assert spent < max(1.0, sum(map(len, texts)) / 1_000_000)
