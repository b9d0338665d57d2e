"""``tally forget`` and what other commands say of what it erased (ERASE)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tallystick.workflows import forget as forgetting
from tallystick.workflows.places import Place
from tests.cli.surface import Tally
from tests.sessions import ClaudeCode

SECRET = "Kestrel-7731"


def ingested(tally: Tally) -> Path:
    """A session in which an assistant names the secret; the path of its file."""
    session = ClaudeCode("one", cwd=str(tally.project)).says("Always run the linter before committing.")
    session.calls("Write", {"file_path": f"/x/docs/{SECRET}.md", "content": "x"}, "File created successfully")
    path = session.answers(f"Created `docs/{SECRET}.md` with the settings.").write(tally.folder / "one.jsonl")
    tally.json("ingest", path)
    return path


def the_claim(tally: Tally) -> str:
    return next(str(item["id"]) for item in tally.believed() if SECRET in item["text"])


def states(document: Any, place: str) -> list[str]:
    return [each["state"] for each in document["places"] if each["place"] == place]


def test_it_reports_each_place(tally: Tally) -> None:
    """ERASE.1: places with state and count, the claims, the entry; exit 0, and the trail verifies."""
    ingested(tally)
    claim = the_claim(tally)
    tally.json("brief")
    document = tally.json("forget", claim, "--because", "asked for")
    assert {"place", "state", "count"} <= set(document["places"][0])
    assert (document["claims"], document["proposal"], document["dry_run"]) == ([claim], None, False)
    assert states(document, "parts") == ["erased"]
    assert states(document, "access log") == ["erased"]
    assert states(document, "archive") == ["not found", "kept"]
    assert states(document, "keyed digests") == ["kept"]
    assert states(document, "transcripts") == ["kept"]
    for place in ("vectors", "vault", "exports", "backups", "ledger log"):
        assert states(document, place) == ["not found"]
    assert states(document, "free pages") == ["erased"]
    assert tally.sound()
    assert tally.json("why", claim)["claim"]["erased"]["seq"] == document["seq"]
    human = tally("why", claim).out
    assert f"[erased at {document['seq']}" in human
    assert "asked for" in human


def test_a_tombstone_is_shown_as_of_before(tally: Tally) -> None:
    """ERASE.2: replay as of before gives the id, what erased it and why, and no word of it; diff lists it."""
    ingested(tally)
    claim = the_claim(tally)
    before = str(tally.json("verify")["size"] - 1)
    done = tally.json("forget", claim, "--because", "asked for")
    (item,) = (item for item in tally.believed("--holder", "*", "--as-of", before) if item["id"] == claim)
    assert item["text"] is None
    assert (item["erased"]["seq"], item["erased"]["because"]) == (done["seq"], "asked for")
    assert f"[erased at {done['seq']}" in tally("replay", "--holder", "*", "--as-of", before).out
    assert tally.json("diff", before, "--holder", "*")["erased"][0]["id"] == claim
    assert [item["id"] for item in tally.json("recall", SECRET, "--as-of", before)["items"]] == []
    assert claim not in str(tally.json("brief", "--as-of", before)["lines"])
    assert SECRET not in tally("why", claim, "--as-of", before).out


def test_a_persons_words_are_proposed(tally: Tally) -> None:
    """ERASE.4: exit 1 with the proposal's id, and the claim is held as before."""
    path = ingested(tally)
    rule = next(item["id"] for item in tally.believed() if "linter" in item["text"])
    document = tally.json("forget", rule, "--because", "asked for", code=1)
    assert document["proposal"] == f"p{tally.json('verify')['size'] - 1}"
    assert document["personal"] == [rule]
    assert states(document, "parts") == ["proposed", "kept"][:1]
    assert rule in {item["id"] for item in tally.believed()}
    done = tally("forget", "--session", path, "--because", "asked for")
    assert done.code == 1
    assert "needs the person's key" in done.out


def test_every_selector(tally: Tally) -> None:
    """ERASE.1: a session by our id, by the harness's, by its file; a text; a holder; each tells what it would take."""
    path = ingested(tally)
    ours = f"s{tally.json('why', the_claim(tally))['evidence'][0]['span']['session'].removeprefix('s')}"
    native = ClaudeCode("one").id
    for arguments in (
        [ours],
        ["--session", ours],
        ["--session", native[:8]],
        ["--session", path],
        ["--holder", tally.project],
    ):
        document = tally.json("forget", *arguments, "--dry-run")
        assert states(document, "archive")[0] == "found", arguments
        assert document["dry_run"] is True
    assert states(tally.json("forget", "--text", SECRET, "--dry-run"), "archive") == ["found"]
    assert "nothing was changed" in tally("forget", "--text", SECRET, "--dry-run").out


def test_what_is_wrong_is_said(tally: Tally) -> None:
    """ERASE.1: nothing, too much, an unknown thing, no reason or one that repeats it: one line, and nothing changes."""
    assert "nothing was ever written" in tally.refused("forget", "c1", "--because", "x")
    path = ingested(tally)
    size = tally.json("verify")["size"]
    claim = the_claim(tally)
    wrong: list[tuple[list[Any], str]] = [
        ([], "one thing"), (["c1", "--text", "x"], "one thing"), (["c999"], "no such claim"), (["s999"], "no such session"),
        (["--text", ""], "empty"), (["--holder", "nobody"], "no such holder"), (["--holder", "*"], "delete its folder"),
        (["x9"], "not a claim id"), (["--session", tally.folder], "no such session"),
    ]  # fmt: skip
    for arguments, reason in wrong:
        assert reason in tally.refused("forget", *arguments, "--because", "asked for"), arguments
    assert "--because" in tally.refused("forget", claim)
    assert "repeats" in tally.refused("forget", "--text", SECRET, "--because", f"about {SECRET}")
    other = ClaudeCode("other").says("hello").write(tally.folder / "other.jsonl")
    assert "never ingested" in tally.refused("forget", "--session", other, "--because", "asked for")
    assert tally.json("verify")["size"] == size
    assert path.exists()


def test_an_export_is_remembered_and_opened(tally: Tally) -> None:
    """ERASE.1: exit 1 while a file that was exported to has it; made anew, it imports with its tombstones and verifies."""
    ingested(tally)
    claim = the_claim(tally)
    file = tally.folder / "out.jsonl"
    tally.json("export", file)
    document = tally.json("forget", claim, "--because", "asked for", code=1)
    assert states(document, "exports") == ["found"]
    assert next(each for each in document["places"] if each["place"] == "exports")["where"] == [str(file)]
    tally.json("export", file)
    assert states(tally.json("forget", claim, "--because", "asked for"), "exports") == ["not found"]
    tally.setenv({"TALLY_TRAIL": str(tally.folder / "copy"), "TALLY_STATE": str(tally.folder / "copy-state")})
    tally.json("import", file)
    assert tally.sound()
    assert tally.json("why", claim)["claim"]["erased"]["because"] == "asked for"


def test_a_bundle_is_opened_too(tally: Tally) -> None:
    """ERASE.1: a proved replay in a file has the words of claims; one that was made after the erasure has a tombstone."""
    ingested(tally)
    claim = the_claim(tally)
    tally("checkpoint")
    file = tally.folder / "believed.tally-bundle"
    tally.json("replay", "--holder", "*", "--prove", file)
    document = tally.json("forget", claim, "--because", "asked for", code=1)
    assert states(document, "exports") == ["found"]
    assert states(tally.json("forget", "--text", "Kestrel-77", "--dry-run"), "exports") == ["found"]
    tally("checkpoint")
    tally.json("replay", "--holder", "*", "--prove", file)
    assert states(tally.json("forget", claim, "--because", "asked for"), "exports") == ["not found"]


def test_a_session_that_was_forgotten_can_be_imported(tally: Tally, monkeypatch: pytest.MonkeyPatch) -> None:
    """ERASE.2, 3: tombstones of archived events travel; an export in which one is missing for no reason is refused."""
    path = ingested(tally)
    propose = forgetting.forget

    def with_key(*arguments: Any, **named: Any) -> Any:
        return propose(*arguments, **named, persons_key=True)

    monkeypatch.setattr("tallystick.cli.commands.forget.forget", with_key)
    tally.json("forget", "--session", path, "--because", "asked for")
    file = tally.folder / "out.jsonl"
    tally.json("export", file)
    lines = file.read_text().splitlines(keepends=True)
    cut = tally.folder / "cut.jsonl"
    cut.write_text("".join(line for line in lines if '"part": "places"' not in line and '"part":"places"' not in line))
    tally.setenv({"TALLY_TRAIL": str(tally.folder / "copy"), "TALLY_STATE": str(tally.folder / "copy-state")})
    assert "missing" in tally.refused("import", cut)
    tally.json("import", file)
    assert tally.sound()
    report = tally.json("ingest", path)
    assert report["counts"]["events_forgotten"] == 4
    assert tally.believed() == []
    assert tally.sound()


def test_the_doctor_says_what_is_left_to_do(tally: Tally, monkeypatch: pytest.MonkeyPatch) -> None:
    """ERASE.1: an erasure that was stopped before free pages were given up is bad news until it is run again."""
    ingested(tally)
    claim = the_claim(tally)
    unfinished = Place("free pages", "cannot tell", 1, "stopped")
    with monkeypatch.context() as patch:
        patch.setattr(forgetting, "_scrubbed", lambda _trail: unfinished)
        assert tally("forget", claim, "--because", "asked for").code == 3
    checks = {check["name"]: check for check in tally("doctor", "--json").json["checks"]}
    assert checks["erasure"]["state"] == "bad"
    tally.json("forget", claim, "--because", "asked for")
    assert "erasure" not in {check["name"] for check in tally("doctor", "--json").json["checks"]}
