"""``cite``, ``answers`` and ``context``, and that what is kept of a recall or a briefing is what was printed (ACCESS.1–3)."""

from __future__ import annotations

import hashlib
import io
import json
import sys
from types import SimpleNamespace

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tallystick.testing.strategies import texts
from tests.cli.surface import Tally
from tests.cli.test_bad_input import tally_in_a_process, writing_elsewhere
from tests.sessions import CLOCK, ClaudeCode

NOW = int(CLOCK)
SECOND = 1_000_000


def numbers(tally: Tally) -> list[str]:
    """The recalls and briefings that were logged, by their ids, in order."""
    base = apsw.Connection(str(tally.trail / "access.db"))
    found = [json.loads(canon) for (canon,) in base.execute("SELECT canon FROM entry ORDER BY seq")]
    base.close()
    return [f"r{(each['refs'] or [each['seq']])[0]}" for each in found if each["kind"] == "surfaced"]


def given_back(tally: Tally, name: str) -> str:
    """What ``tally context`` prints; nothing may stand on stderr."""
    done = tally("context", name)
    assert (done.code, done.err) == (0, "")
    return done.out


@settings(
    max_examples=max(10, settings().max_examples // 10), suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(texts, min_size=1, max_size=4), st.lists(texts, max_size=2), st.booleans(), st.integers(1, 5))
def test_the_context_is_what_was_printed(
    tally: Tally, claims: list[str], queries: list[str], as_json: bool, limit: int
) -> None:
    """ACCESS.3: for any claims and questions, in either form, what was printed is given back byte for byte, and nothing else;
    an answer's context is that of all it was shown, in the order of time."""
    form = ["--json"] if as_json else []
    for text in claims:
        tally("remember", "--", text)
    before = len(numbers(tally)) if (tally.trail / "access.db").exists() else 0
    printed = [tally("recall", *form, "--limit", limit, "--", query).out for query in [*queries, claims[0]]]
    printed.append(tally("brief", *form).out)
    ids = numbers(tally)[before:]
    assert [given_back(tally, name) for name in ids] == printed
    done = tally.json("cite", *(each for name in ids for each in ("--recall", name)))
    assert given_back(tally, done["answer"]) == "".join(printed)
    document = tally.json("context", done["answer"])
    assert [each["text"] for each in document["contexts"]] == printed
    assert [each["sha256"] for each in document["contexts"]] == [
        hashlib.sha256(each.encode()).hexdigest() for each in printed
    ]


@pytest.mark.parametrize(
    ("encoding", "command"),
    [
        ("ascii", ["recall", "naïve"]),
        ("ascii", ["recall", "naïve", "--json"]),
        ("latin-1", ["recall", "naïve"]),
        ("latin-1", ["brief", "--json"]),
        ("utf-8", ["brief"]),
    ],
)
def test_the_bytes_of_a_process(tally: Tally, encoding: str, command: list[str]) -> None:
    """ACCESS.3: what is kept are the characters that were shown, also where the terminal lacks some; as UTF-8, the very bytes."""
    tally.remember("naïve 日本 😀 ✓")
    printed = tally_in_a_process(tally, *command, PYTHONIOENCODING=encoding)
    assert (printed.returncode, printed.stderr) == (0, b"")
    kept = tally_in_a_process(tally, "context", numbers(tally)[0], PYTHONIOENCODING=encoding)
    assert (kept.returncode, kept.stderr) == (0, b"")
    if encoding == "latin-1":
        assert kept.stdout.decode() == printed.stdout.decode("latin-1")
    else:
        assert kept.stdout == printed.stdout


def test_cite(tally: Tally) -> None:
    """ACCESS.2: an answer is bound to what it used of what it was shown; the newest showing of all of it, or the one named."""
    first, second = tally.remember("the port is 5432"), tally.remember("the port is taken")
    named = tally.json("recall", "port")["recall"]
    tally.json("recall", "taken")
    done = tally.json("cite", "It is 5432.", "--claims", f"{first}, {second}")
    assert done == {
        "answer": done["answer"],
        "claims": [first, second],
        "ignored": [],
        "recalls": [named],
        "corrected": [],
    }
    one = tally.json("cite", "It is 5432.", "--recall", named, "--claims", first)
    assert (one["claims"], one["ignored"], one["recalls"]) == ([first], [second], [named])
    none = tally.json("cite", "--briefing", named)
    assert (none["claims"], none["ignored"]) == ([], [first, second])
    shown = tally("cite", "--claims", first, "--claims", second[1:], "--recall", named).out
    assert f"cites {first}, {second} of {named}" in shown
    assert tally.sound()


def test_cite_from_stdin(tally: Tally, monkeypatch: pytest.MonkeyPatch) -> None:
    """ACCESS.2, SEC.2: ``-`` reads the answer from stdin, whatever bytes come; no more than the limit is ever read."""
    claim = tally.remember("the port is 5432")
    tally.json("recall", "port")

    class Endless(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            assert 0 < size < 2_000_000
            return b"x" * size

    for stream, expected in ((io.BytesIO(b"It is\n5432 \xff"), "It is\n5432 \ufffd"), (Endless(), None)):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=stream))
        if expected is None:
            assert "1,000,000" in tally.refused("cite", "-", "--claims", claim)
        else:
            answer = tally.json("cite", "-", "--claims", claim)["answer"]
            assert tally.json("context", answer)["text"] == expected
    monkeypatch.setattr(sys, "stdin", None)
    assert "stdin" in tally.refused("cite", "-", "--claims", claim)


def test_cite_refuses(tally: Tally) -> None:
    """ACCESS.2: a claim or a recall that is none, or a claim that was not shown there, is named in one line, and nothing kept."""
    claim, other = tally.remember("the port is 5432"), tally.remember("the sky is blue")
    recall = tally.json("recall", "port")["recall"]
    size = tally.json("verify")["logs"]["access"]["size"]
    for arguments, named in (
        (["x"], "--claims"),
        (["x", "--claims", ","], "--claims"),
        (["x", "--claims", "c999"], "c999"),
        (["x", "--claims", "5o"], "'5o'"),
        (["x", "--claims", other, "--recall", recall], other),
        (["x", "--claims", claim, "--recall", "r999"], "r999"),
        (["x", "--claims", claim, "--recall", "5"], "'5'"),
        (["x", "--claims", claim, "--recall", "r" + "9" * 40], "r999"),
        (["x", "--claims", claim, "--recall", ""], "''"),
        (["", "--claims", claim], "empty"),
    ):
        assert named in tally.refused("cite", *arguments)
    assert tally.json("verify")["logs"]["access"]["size"] == size
    assert "never shown" in tally.refused("cite", "x", "--claims", claim, "--trail", tally.folder / "new")
    assert not (tally.folder / "new").exists()


def test_case_30_answers_of_a_corrected_claim(tally: Tally) -> None:
    """ACCESS.2, bitemporal case 30: the correction names the answers that cited the claim, and they name the correction."""
    claim, other = tally.remember("the port is 5432"), tally.remember("the port is taken")
    recall = tally.json("recall", "port")["recall"]
    answer = tally.json("cite", "It is 5432.\nSurely.", "--claims", claim)["answer"]
    second = tally.json("cite", "--claims", other)["answer"]
    assert tally.json("answers", "--affected") == {"seq": 6, "items": [], "more": False, "next": None}
    tally.clock(NOW + SECOND)
    done = tally.json("revise", claim, "the port is 5433", "--because", "read the config")
    assert done["affected_answers"] == [answer]
    (item,) = tally.json("answers", "--cited", claim)["items"]
    assert item == {
        "id": answer,
        "at": "2026-04-01T00:00:00Z",
        "claims": [claim],
        "recalls": [recall],
        "text": "It is 5432.\nSurely.",
        "corrected": [
            {"claim": claim, "seq": done["seq"], "kind": "correction", "by": done["id"], "because": "read the config"}
        ],
    }
    assert tally.json("answers", "--affected")["items"] == [item]
    assert [each["id"] for each in tally.json("answers")["items"]] == [answer, second]
    assert tally.json("answers", "--cited", claim, "--as-of", done["seq"])["items"] == [item]
    (before,) = tally.json("answers", "--cited", claim, "--as-of", "2026-04-01T00:00:00.500000Z")["items"]
    assert before == {**item, "corrected": []}
    human = tally("answers").out
    assert f"{answer} 2026-04-01T00:00:00Z cites {claim} of {recall}: It is 5432. Surely.\n" in human
    assert f"\n  {claim} correction at {done['seq']} → {done['id']}: read the config\n" in human
    why = tally.json("why", claim)["answers"]
    assert [(each["id"], each["kind"]) for each in why] == [
        (recall, "surfaced"), (answer, "cited"), (second, "ignored"), (answer, "corrected"),
    ]  # fmt: skip
    assert f"cited: {answer}\nignored: {second}\ncorrected: {answer}\n" in tally("why", claim).out
    again = tally("retract", other, "--because", "r").out
    assert f"answers that cited it: {second}\n" in again
    assert tally.sound()


def test_pages_and_wrong_ids(tally: Tally) -> None:
    """cli.md: answers come in pages that name the next one; an id that is none is refused by name."""
    claim = tally.remember("the port is 5432")
    tally.json("recall", "port")
    given_ = [tally.json("cite", f"answer {n}", "--claims", claim)["answer"] for n in range(3)]
    page = tally.json("answers", "--limit", "2")
    assert ([each["id"] for each in page["items"]], page["more"], page["next"]) == (given_[:2], True, given_[1])
    rest = tally.json("answers", "--limit", "2", "--after", page["next"])
    assert ([each["id"] for each in rest["items"]], rest["more"]) == (given_[2:], False)
    assert f"more with --after {given_[0]}\n" in tally("answers", "--limit", "1").out
    assert tally("answers", "--after", "a999").out == "no answers as of 4\n"
    for arguments in (
        ["--after", "9"],
        ["--after", "c3"],
        ["--cited", "c999"],
        ["--cited", "zebra"],
        ["--as-of", "99"],
    ):
        assert arguments[1] in tally.refused("answers", *arguments)
    for wrong in ("a999", "r999", "c3", "12", "", "a", "a" + "9" * 30, "a-1"):
        assert (wrong[:30] or "''") in tally.refused("context", "--", wrong)
    assert "a5" not in tally.refused("context", given_[0], "--as-of", claim[1:]) or given_[0] == "a5"


def test_nothing_to_list(tally: Tally) -> None:
    """ACCESS.2: without a trail there are no answers, and asking makes none."""
    assert tally.json("answers") == {"seq": -1, "items": [], "more": False, "next": None}
    assert tally("answers").out == "no answers as of -1\n"
    tally.refused("context", "a1")
    tally.refused("answers", "--cited", "c3")
    assert not tally.trail.exists()


def test_an_erased_context(tally: Tally) -> None:
    """ACCESS.3: where one of its contexts is gone no other byte is printed: one line says which, and the exit code is 3."""
    claim = tally.remember("the port is 5432")
    first, second = (tally.json("recall", "port")["recall"] for _ in range(2))
    answer = tally.json("cite", "It is.", "--claims", claim, "--recall", first, "--recall", second)["answer"]
    base = apsw.Connection(str(tally.trail / "access.db"))
    base.execute(
        "DROP TRIGGER part_keeps; DROP TRIGGER part_stays; DELETE FROM part WHERE seq = ?", (int(second[1:]) + 1,)
    )
    base.close()
    assert tally.refused("context", answer, code=3) == f"tally: {second}: the context was erased\n"
    assert tally.refused("context", second, code=3)
    assert given_back(tally, first).startswith('{"recall"')
    document = tally.json("context", answer, code=3)
    assert [(each["id"], each["state"], each["text"] is None) for each in document["contexts"]] == [
        (first, "kept", False), (second, "erased", True),
    ]  # fmt: skip


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_what_is_forgotten_is_in_no_context(tally: Tally, form: list[str]) -> None:
    """ACCESS.2, 3, ERASE.1, 2: forgetting a claim, or a text, takes every context and answer that has its words, in either form;
    the answer is told that its claim was erased."""
    words = 'the "vault" of mini\\x is open'
    claim, other = tally.remember(words), tally.remember("the port is 5432")
    first = tally("recall", "vault", *form).out
    tally("brief", *form)
    tally.json("recall", "port")
    gone = tally.json("cite", f"I think {words}.", "--claims", claim, "--recall", "r1")["answer"]
    stays = tally.json("cite", "It is 5432.", "--claims", other)["answer"]
    if form:
        tally.json("retract", claim, "--because", "no")
    text = ["--text", words] if form else [claim]
    done = tally.json("forget", *text, "--because", "asked to")
    assert {place["state"] for place in done["places"] if place["place"] == "access log"} == {"erased"}
    assert first
    for name in ("r1", gone, numbers(tally)[1]):
        assert "erased" in tally.refused("context", name, code=3)
    assert "5432" in given_back(tally, stays)
    size = tally.json("verify")["logs"]["access"]["size"]
    items = {item["id"]: item for item in tally.json("answers")["items"]}
    assert tally.json("verify")["logs"]["access"]["size"] == size  # Marked already, and each step once.
    kinds = [each["kind"] for each in items[gone]["corrected"]]
    assert (items[gone]["text"], kinds) == (None, ["retracted", "erased"] if form else ["erased"])
    marks = [each for each in tally.json("why", claim)["answers"] if each["kind"] == "corrected"]
    assert [each["id"] for each in marks] == [gone] * len(kinds)
    assert (items[stays]["text"], items[stays]["corrected"]) == ("It is 5432.", [])
    assert tally.json("why", other)["answers"][-1]["kind"] == "cited"
    assert b"of mini" not in b"".join(path.read_bytes() for path in tally.trail.iterdir())
    assert tally.sound()


def test_a_changed_context_is_not_given_back(tally: Tally) -> None:
    """ACCESS.3, TRAIL.7: bytes that are not the ones committed to are no context: one line, exit 3."""
    claim = tally.remember("the port is 5432")
    recall = tally.json("recall", "port")["recall"]
    answer = tally.json("cite", "--claims", claim)["answer"]
    base = apsw.Connection(str(tally.trail / "access.db"))
    packed = base.execute("SELECT packed FROM part WHERE seq = ?", (int(recall[1:]) + 1,)).get
    base.execute("DROP TRIGGER part_keeps")
    base.execute("UPDATE part SET packed = ? WHERE seq = ?", (packed.replace(b"5432", b"9999"), int(recall[1:]) + 1))
    base.close()
    for name in (answer, recall):
        assert "context" in tally.refused("context", name, code=3)


def test_a_session_that_goes_on_corrects_too(tally: Tally) -> None:
    """ACCESS.2: what an ingest withdraws counts as every other retraction, and is marked by that ingest."""
    session = ClaudeCode("pr", cwd=str(tally.project)).says("Please fix the retry loop.")
    session.answers("The retry loop in retry.py is rewritten. Want me to open a PR for the retry loop?")
    path = session.write(tally.folder / "pr.jsonl")
    tally.json("ingest", path)
    (item,) = tally.json("recall", "retry loop")["items"]
    answer = tally.json("cite", "A PR is still to be opened.", "--claims", item["id"])["answer"]
    session.says("No, leave it.").answers("Done.").write(path)
    assert tally.json("ingest", path)["counts"]["claims:withdrawn"] == 1
    assert tally.json("why", item["id"])["answers"][-1]["kind"] == "corrected"
    (found,) = tally.json("answers", "--affected")["items"]
    assert (found["id"], [each["kind"] for each in found["corrected"]]) == (answer, ["retracted"])


def test_a_new_value_of_a_registered_attribute_corrects_too(tally: Tally) -> None:
    """ACCESS.2, TIME.7: where another value takes a claim's place as it is remembered, who cited it is marked as well."""
    tally.json("register", "db", "port", "--because", "one port")
    about = ["--about", "db", "port"]
    claim = tally.remember("the port is 5432", *about, "5432")
    tally.json("recall", "port")
    answer = tally.json("cite", "--claims", claim)["answer"]
    new = tally.remember("the port is 5433", *about, "5433")
    assert tally.json("why", claim)["answers"][-1] == {"id": answer, "kind": "corrected", "at": "2026-04-01T00:00:00Z"}
    ((each,),) = (item["corrected"] for item in tally.json("answers", "--affected")["items"])
    assert (each["claim"], each["by"]) == (claim, new)


def test_case_34_a_context_that_cannot_be_kept_is_not_shown(tally: Tally) -> None:
    """ACCESS.1, bitemporal case 34: where the access log cannot be written, recall, brief and cite print nothing and fail; what
    was answered and corrected is told all the same."""
    claim = tally.remember("the port is 5432")
    tally.json("recall", "port")
    answer = tally.json("cite", "--claims", claim)["answer"]
    tally.setenv({"TALLY_LOCK_TIMEOUT": "0.05"})
    with writing_elsewhere(tally.trail / "access.lock"):
        for command in (["recall", "port"], ["recall", "port", "--json"], ["brief"], ["cite", "--claims", claim]):
            assert "access.lock" in tally.refused(*command, code=3)
        retracted = tally("retract", claim, "--because", "r", "--json")
        listed = tally("answers", "--affected", "--json")
    assert (retracted.code, retracted.json["affected_answers"]) == (0, [answer])
    assert "not marked yet" in retracted.err
    assert (listed.code, [each["id"] for each in listed.json["items"]]) == (0, [answer])
    assert "access.lock" in listed.err
    assert tally.json("why", claim)["answers"][-1]["kind"] == "cited"
    assert [each["id"] for each in tally.json("answers", "--affected")["items"]] == [answer]
    assert tally.json("why", claim)["answers"][-1]["kind"] == "corrected"
