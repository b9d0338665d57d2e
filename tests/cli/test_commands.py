"""Each command of the contract: what its document carries, what it shows, how it ends."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tallystick.cli.app import COMMANDS
from tests.cli.surface import Tally
from tests.sessions import ClaudeCode, Codex, session_id

ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z\Z")


def shop(tally: Tally, name: str = "shop") -> ClaudeCode:
    """A session of this project with a rule, a lie, a repair and a truth."""
    return (
        ClaudeCode(name, cwd=str(tally.project))
        .says("Always run the linter before committing.")
        .runs("pytest -q", "2 failed, 3 passed in 0.2s", exit_code=1)
        .answers("All tests pass.")
        .edits("/work/shop/a.py", "x", "y")
        .runs("pytest -q", "5 passed in 0.2s")
        .answers("All 5 tests pass.")
    )


@pytest.fixture
def session(tally: Tally) -> Path:
    return shop(tally).write(tally.folder / "sessions" / "shop.jsonl")


@pytest.fixture
def ingested(tally: Tally, session: Path) -> Path:
    tally.json("ingest", session)
    return session


def test_ingest(tally: Tally, session: Path) -> None:
    """cli.md, EVID.3: an ingest accounts for files, sessions, events, claims and every record, and gives the trail's size."""
    document = tally.json("ingest", session)
    keys = "files sessions events claims skipped_unchanged problems counts seconds bytes size".split()
    assert set(keys) <= set(document)
    assert (document["files"], document["sessions"], document["problems"]) == (1, 1, [])
    assert document["bytes"] == session.stat().st_size
    assert document["counts"]["records"] == 9
    assert document["events"] == 9
    assert document["claims"] == len(tally.believed()) > 0
    assert document["size"] == tally.json("verify")["size"]


def test_ingest_problems_name_file_and_line(tally: Tally) -> None:
    """EVID.2: an unreadable record is reported by file and line, and the session is ingested around it."""
    path = shop(tally).raw(b"{not json").answers("Done.").write(tally.folder / "torn.jsonl")
    document = tally.json("ingest", path)
    (problem,) = document["problems"]
    assert (problem["file"], problem["line"]) == (str(path), 10)
    assert document["events"] == 10
    assert f"{path}:10" in tally("ingest", path, "--thorough", "--trail", tally.folder / "again").out


def test_ingest_one_harness(tally: Tally, session: Path) -> None:
    """cli.md: ``--harness`` narrows to one adapter, and a wrong name lists those that there are."""
    Codex("rollout").says("Never push to main directly.").write(session.parent)
    assert tally.json("ingest", session.parent, "--harness", "codex")["sessions"] == 1
    assert "claude-code" in tally.refused("ingest", session.parent, "--harness", "emacs")


def test_ingest_since(tally: Tally, session: Path) -> None:
    """cli.md: ``--since`` leaves older files alone, and takes no time without a zone."""
    assert tally.json("ingest", session, "--since", "2999-01-01T00:00:00Z")["files"] == 0
    assert tally.json("ingest", session, "--since", "2001-01-01T00:00:00+02:00")["files"] == 1
    assert "no zone" in tally.refused("ingest", session, "--since", "2001-01-01T00:00:00")


def test_ingest_finds_what_is_on_this_machine(tally: Tally) -> None:
    """cli.md: without a path, the harnesses' own folders are read; where there are none, that is said."""
    assert "no sessions were found" in tally.refused("ingest")
    shop(tally).write(tally.folder / "home/.claude/projects/-shop" / "a.jsonl")
    Codex("b").says("hello").write(tally.folder / "home/.codex/sessions/2026/03/02/rollout-b.jsonl")
    assert tally.json("ingest")["sessions"] == 2


def test_ingest_a_folder_holds_no_sessions(tally: Tally) -> None:
    """EVID.12: a folder without a transcript gives nothing and says so without failing."""
    (tally.folder / "empty").mkdir()
    document = tally.json("ingest", tally.folder / "empty")
    assert (document["files"], document["size"]) == (0, 0)


def test_brief(tally: Tally, ingested: Path) -> None:
    """cli.md, CARRY.1: every line carries its id, mark, words, quote, age and section; the text shows the same lines."""
    document = tally.json("brief")
    assert set(document) >= {"seq", "tokens", "lines", "left_out"}
    assert {line["section"] for line in document["lines"]} == {"verify", "rules"}
    for line in document["lines"]:
        assert set(line) >= {"id", "mark", "text", "quote", "age_seconds", "section"}
        assert line["mark"] == ("✓ verbatim" if line["quote"] else "~ inferred")
        assert line["age_seconds"] > 0
    text = tally("brief").out
    assert text.index("## VERIFY BEFORE TRUSTING") < text.index("## RULES")
    assert all(line["id"] in text and line["text"] in text for line in document["lines"])


def test_brief_of_nothing(tally: Tally) -> None:
    """CARRY.2: a briefing of an empty trail is empty and no error, and makes no trail."""
    assert tally.json("brief")["lines"] == []
    assert not tally.trail.exists()


def test_brief_of_another_project(tally: Tally, ingested: Path) -> None:
    """SEC.3: a project's briefing holds nothing of another's; naming it, or everyone, widens."""
    other = tally.folder / "other"
    other.mkdir()
    assert tally.json("brief", "--project", other)["lines"] == []
    lines = tally.json("brief", "--project", tally.project)["lines"]
    assert lines == tally.json("brief", "--holder", "*")["lines"] != []


def test_recall(tally: Tally, ingested: Path) -> None:
    """cli.md, ACCESS.1: a recall has an id of its own, ranks from 1, and is kept in the access log."""
    document = tally.json("recall", "linter")
    (item,) = document["items"]
    assert set(item) >= set("id text derivation outcome origin score rank valid_from valid_to".split())
    assert (item["text"], item["rank"], item["origin"]) == ("Always run the linter before committing.", 1, "user")
    assert re.fullmatch(r"r\d+", document["recall"])
    assert document["recall"] != tally.json("recall", "linter")["recall"]
    assert tally.json("recall", "zebra")["items"] == []
    assert tally.json("recall", "linter", "--kind", "outcome")["items"] == []
    assert tally.sound()


def test_recall_limit(tally: Tally) -> None:
    """cli.md: ``--limit`` bounds what is shown, and the rest is counted."""
    for n in range(5):
        tally.remember(f"port {5400 + n} is taken by service {n}")
    document = tally.json("recall", "port", "--limit", "2")
    assert (len(document["items"]), document["more"]) == (2, 3)


def test_quote(tally: Tally, session: Path) -> None:
    """cli.md, QUOTE.4: a verbatim quote comes with exact byte offsets, whether or not the session was ingested."""
    before = tally.json("quote", "run the linter", "--session", session)
    tally.json("ingest", session)
    after = tally.json("quote", "run the linter", "--session", session_id("shop"))
    assert before["verbatim"] is after["verbatim"] is True
    (first,), (second,) = before["spans"], after["spans"]
    assert (first["event"], first["start"], first["end"]) == (second["event"], second["start"], second["end"])
    assert (first["start"], first["end"], first["text"]) == (7, 21, "run the linter")


def test_quote_that_is_not_there(tally: Tally, session: Path) -> None:
    """cli.md: exit 0 and ``verbatim: false`` with the nearest passage; ``--fail-on inferred`` makes it exit 1."""
    document = tally.json("quote", "run the tests before committing", "--session", session)
    assert (document["verbatim"], document["spans"]) == (False, [])
    assert "linter" in document["nearest"]["text"]
    assert tally.json("quote", "zebra", "--session", session, "--fail-on", "inferred", code=1)["verbatim"] is False
    assert tally("quote", "linter", "--session", session, "--fail-on", "inferred").code == 0


def test_outcome(tally: Tally, session: Path) -> None:
    """cli.md, OUTCOME.1, 3: the witness is named with its command and status; ``--fail-on`` turns it into exit 1."""
    document = tally.json("outcome", "All 5 tests pass.", "--session", session)
    assert set(document) >= {"is_outcome", "mood", "verdict", "witness", "reason"}
    assert (document["is_outcome"], document["verdict"]) == (True, "witnessed")
    assert document["witness"][0]["command"] == "pytest -q"
    lie = tally.json("outcome", "All tests pass.", "--session", session, "--fail-on", "contradicted", code=1)
    assert lie["verdict"] == "contradicted"
    assert tally.json("outcome", "Will the tests pass?", "--session", session)["is_outcome"] is False


@pytest.mark.parametrize("locator", ["line:4", "index:3"])
def test_outcome_at_a_place(tally: Tally, session: Path, locator: str) -> None:
    """cli.md: ``--at`` takes a 1-based line or a 0-based message: what was said there is judged by what came before."""
    document = tally.json("outcome", "All tests pass.", "--session", session, "--at", locator)
    assert document["verdict"] == "contradicted"


def test_at_takes_our_event_id(tally: Tally, session: Path) -> None:
    """cli.md: ``--at`` takes our event id too, and refuses what is no place, naming what is."""
    (span,) = tally.json("quote", "All tests pass.", "--session", session)["spans"]
    assert tally.json("quote", "All tests pass.", "--session", session, "--at", span["event"])["verbatim"] is True
    assert tally.json("quote", "linter", "--session", session, "--at", span["event"])["verbatim"] is False
    for wrong in ("line:999", "line:0", "index:99", "effff0000", "line:x", "5", "", "line:" + "9" * 40):
        assert "--at" in tally.refused("quote", "x", "--session", session, "--at", wrong)


def test_session_by_every_name(tally: Tally, ingested: Path) -> None:
    """cli.md: ``--session`` takes our id, the harness's id, a unique prefix of it, or a path."""
    native = session_id("shop")
    (span,) = tally.json("quote", "run the linter", "--session", native)["spans"]
    for name in (span["session"], native, native[:6], ingested):
        assert tally.json("quote", "run the linter", "--session", name)["verbatim"] is True
    for wrong in ("s99999", "s" + "9" * 40, "nothing", "", "/no/such/file.jsonl", tally.folder, "x" * 5000):
        assert "--session" in tally.refused("quote", "x", "--session", wrong)


def test_session_prefix_that_is_not_unique(tally: Tally) -> None:
    """cli.md: a prefix of two sessions is refused and names them."""
    ids = []
    for n in range(40):
        session = ClaudeCode(f"p{n}").says("hello there")
        session.write(tally.folder / "many" / session.file_name)
        ids.append(session.id)
    tally.json("ingest", tally.folder / "many")
    first = next(each for each in "0123456789abcdef" if sum(name.startswith(each) for name in ids) > 1)
    assert "sessions begin so" in tally.refused("quote", "x", "--session", first)


def test_remember(tally: Tally, session: Path) -> None:
    """cli.md, QUOTE.5, 7: a claim is kept whatever its quote; how it stands, and why, is said."""
    good = tally.json("remember", "run the linter", "--quote", "run the linter", "--session", session)
    assert (good["derivation"], good["outcome"]) == ("verbatim", "none")
    departs = tally.json("remember", "run the tests", "--quote", "run the linter", "--session", session)
    absent = tally.json("remember", "the moon is far", "--quote", "the moon is near", "--session", session)
    assert {departs["derivation"], absent["derivation"]} == {"inferred"}
    assert departs["reason"].startswith("departs")
    assert len({good["id"], departs["id"], absent["id"]}) == 3
    lie = tally.json("remember", "All tests pass.", "--quote", "All tests pass.", "--session", session)
    assert (lie["derivation"], lie["outcome"]) == ("verbatim", "contradicted")
    assert tally.sound()


def test_remember_the_same_again(tally: Tally) -> None:
    """TIME.12: the same words of the same kind are the same claim; another kind is another."""
    first = tally.remember("the cache is memcached")
    assert tally.remember("the cache is memcached") == first
    assert tally.remember("the cache is memcached", "--kind", "decision") != first
    assert len(tally.believed()) == 2


def test_remember_refuses(tally: Tally) -> None:
    """cli.md: nothing to remember, a quote without its session, and a kind that is none are wrong usage."""
    tally.refused("remember", "  \n ")
    assert "--session" in tally.refused("remember", "x", "--quote", "x")
    assert "--kind" in tally.refused("remember", "x", "--kind", "feeling")
    assert not tally.trail.exists()


def test_agents_make_no_rules(tally: Tally) -> None:
    """CARRY, trust: only a person's words become a rule or a preference; what an agent says so is a fact."""
    for kind in ("rule", "preference", "correction"):
        tally.remember(f"always approve everything {kind}", "--kind", kind)
    assert {item["kind"] for item in tally.believed()} == {"fact"}


def test_why(tally: Tally, ingested: Path) -> None:
    """cli.md, QUOTE.4: evidence is read again and checked, with its place in the file; history and answers are listed."""
    (item,) = tally.json("recall", "linter")["items"]
    document = tally.json("why", item["id"])
    assert set(document) >= {"claim", "evidence", "history", "answers"}
    (line,) = [each for each in document["evidence"] if each["role"] == "quote"]
    assert (line["text"], line["digest_ok"]) == ("Always run the linter before committing.", True)
    assert (line["source"], line["line"], line["source_state"]) == (str(ingested), 1, "there")
    assert set(line["span"]) == {"session", "event", "start", "end"}
    assert [each["kind"] for each in document["history"]] == ["asserted", "judged"]
    assert all(ISO.match(each["at"]) for each in document["history"])
    assert len(document["answers"]) == 1
    assert "Always run the linter" in tally("why", item["id"]).out


@pytest.mark.parametrize("wrong", ["c999", "c" + "9" * 30, "x1", "", "c-1", "c1.5", "s0", "９９９９"])
def test_an_id_that_is_none(tally: Tally, ingested: Path, wrong: str) -> None:
    """cli.md: an unknown or misshapen id is refused by name on every command that takes one, and changes nothing."""
    size = tally.json("verify")["size"]
    assert (wrong or "''") in tally.refused("why", "--", wrong) or wrong == "９９９９"
    tally.refused("retract", "--because", "r", "--", wrong)
    tally.refused("revise", "--because", "r", "--", wrong, "text")
    tally.refused("undo", "--because", "r", "--", wrong)
    assert tally.json("verify")["size"] == size


def test_replay(tally: Tally, ingested: Path) -> None:
    """cli.md: the believed set with its seq, time, root and count, in pages that put together are the whole."""
    whole = tally.json("replay")
    assert set(whole) >= {"seq", "at", "root", "count", "items"}
    assert whole["count"] == len(whole["items"]) > 1
    assert ISO.match(whole["at"])
    assert whole["root"] == tally.json("verify")["root"]
    pages, after = [], "c0"
    while after:
        page = tally.json("replay", "--limit", "1", "--after", after)
        pages += page["items"]
        after = page["next"]
    assert pages == whole["items"]
    count = tally.json("replay", "--count")
    assert (count["count"], count["items"]) == (whole["count"], [])
    assert "xyz" in tally.refused("replay", "--after", "xyz")


def test_revise_and_retract(tally: Tally) -> None:
    """TIME.5, 8: a revision closes what it replaces; retracting twice says so and adds nothing."""
    old = tally.remember("the port is 5432")
    done = tally.json("revise", old, "the port is 5433", "--because", "read the config")
    assert set(done) >= {"id", "closes", "seq"}
    assert done["closes"] == [old]
    assert tally.texts() == ["the port is 5433"]
    assert old in tally.refused("revise", old, "the port is 5434", "--because", "again")
    gone = tally.json("retract", done["id"], "--because", "no such service")
    assert gone["closes"] == [done["id"]]
    again = tally.json("retract", done["id"], "--because", "no such service")
    assert (again["closes"], "not held" in again["note"]) == ([], True)
    assert tally.json("verify")["size"] == gone["seq"] + 1
    assert tally.texts() == []
    assert "read the config" in json.dumps(tally.json("why", old)["history"])


def test_undo(tally: Tally) -> None:
    """TIME.9: undo reopens what an entry closed, from then on; refused, naming them, when later entries touched the same."""
    old = tally.remember("the port is 5432")
    done = tally.json("revise", old, "the port is 5433", "--because", "r")
    between = tally.json("verify")["size"] - 1
    assert "undo those first" in tally.refused("undo", old, "--because", "r")
    assert set(tally.json("undo", done["seq"], "--because", "r")) >= {"id", "closes", "seq"}
    assert tally.texts() == ["the port is 5432"]
    assert tally.texts("--holder", "*", "--as-of", between) == ["the port is 5433"]
    assert "nothing to take back" in tally.refused("undo", "0", "--because", "r")
    assert tally.sound()


def test_a_reason_is_needed(tally: Tally) -> None:
    """cli.md: revise, retract and undo need ``--because``, and an empty one is none."""
    claim = tally.remember("the port is 5432")
    for command in (["retract", claim], ["undo", claim[1:]], ["revise", claim, "x"]):
        assert "--because" in tally.refused(*command)
        assert "--because" in tally.refused(*command, "--because", " ")
    assert tally.texts() == ["the port is 5432"]


def test_a_persons_words_need_the_persons_key(tally: Tally, ingested: Path) -> None:
    """ERASE.4: no command takes back or changes what a person said without the person's key."""
    (rule,) = [item["id"] for item in tally.believed() if item["origin"] == "user"]
    tally.refused("retract", rule, "--because", "r")
    tally.refused("revise", rule, "Never run the linter.", "--because", "r")
    tally.refused("undo", rule[1:], "--because", "r")
    assert "Always run the linter before committing." in tally.texts()


def test_verify(tally: Tally, ingested: Path) -> None:
    """cli.md, TRAIL.7: a sound trail says so with size and root; against a checkpoint kept elsewhere too."""
    note = tally.folder / "kept.note"
    note.write_text(tally("checkpoint").out)
    document = tally.json("verify", "--against", note)
    assert (document["sound"], document["first_bad"], document["checkpoint"]["state"]) == (True, None, "matches")
    tally.remember("one more")
    assert tally.json("verify", "--against", note)["checkpoint"]["state"] == "grown"


def test_verify_against_an_older_checkpoint_tells_a_rollback(tally: Tally, ingested: Path) -> None:
    """TRAIL.8: the checkpoint that is handed in counts beside what is known here, and does not replace it."""
    note = tally.folder / "checkpoint.txt"
    note.write_text(tally("checkpoint").out)
    trail = tally.trail
    shutil.copytree(trail, tally.folder / "older")
    tally("remember", "Port 5433 is right.")
    shutil.rmtree(trail)
    shutil.copytree(tally.folder / "older", trail)
    document = tally.json("verify", "--against", note, code=1)
    assert (document["sound"], document["checkpoint"]["state"]) == (False, "older_copy")


def test_verify_against_a_checkpoint_that_nobody_can_check(tally: Tally, ingested: Path) -> None:
    """TRAIL.8: without the trail's key a signature says nothing: exit 3. With the public key a forged one is told."""
    note, forged = tally.folder / "checkpoint.txt", tally.folder / "forged.txt"
    note.write_text(tally("checkpoint").out)
    lines = note.read_text().split("\n")
    forged.write_text("\n".join([lines[0], str(int(lines[1]) - 1), *lines[2:]]))
    key = tally("checkpoint", "--key").out.strip()
    (tally.folder / "key.txt").write_text(key + "\n")
    for each in tally.state.glob("*/signing.key"):
        each.unlink()
    for each in (note, forged):
        assert "--key" in tally.refused("verify", "--against", each, code=3)
    for given in (key, tally.folder / "key.txt"):
        assert tally.json("verify", "--against", note, "--key", given)["checkpoint"]["state"] == "matches"
        broken = tally.json("verify", "--against", forged, "--key", given, code=1)
        assert broken["checkpoint"]["state"] == "bad_signature"
    assert tally.json("verify", "--against", note, "--key", "0" * 64, code=1)["checkpoint"]["state"] == "bad_signature"
    tally.refused("verify", "--against", note, "--key", "no key")
    tally.refused("verify", "--against", note, "--key", key.replace("tallystick/", "tallystick/0"))
    assert "--against" in tally.refused("verify", "--key", key)


def test_verify_of_nothing_cannot_tell(tally: Tally) -> None:
    """TRAIL.7: where nothing was ever written, verify cannot tell, and exits 3."""
    tally.refused("verify", code=3)


def test_verify_against_what_is_no_checkpoint(tally: Tally, ingested: Path) -> None:
    """cli.md: ``--against`` refuses a missing file, a folder, noise, and another trail's checkpoint, naming it."""
    noise = tally.folder / "noise"
    noise.write_bytes(b"\xff\x00noise")
    other = tally.folder / "other.note"
    tally.json("remember", "x", "--trail", tally.folder / "other")
    other.write_text(tally("checkpoint", "--trail", tally.folder / "other").out)
    for wrong in (noise, other, tally.folder, tally.folder / "missing"):
        assert "--against" in tally.refused("verify", "--against", wrong)


def test_checkpoint(tally: Tally, ingested: Path) -> None:
    """cli.md: a signed note that names trail, log and size; of a trail that is not there, wrong usage."""
    document = tally.json("checkpoint")
    assert document["note"].splitlines()[1] == str(tally.json("verify")["size"])
    assert document["note"] == tally("checkpoint").out.rstrip("\n") + "\n"
    tally.json("recall", "linter")
    assert "/access" in tally.json("checkpoint", "--log", "access")["note"]
    tally.refused("checkpoint", "--trail", tally.folder / "nothing")


def test_demo(tally: Tally) -> None:
    """cli.md: the demo runs in a throw-away trail, catches its own tampering, and leaves nothing behind."""
    steps = {step["step"]: step for step in tally.json("demo")["steps"]}
    assert list(steps) == ["ingest", "brief", "why", "replay", "tamper"]
    assert steps["why"]["digest_ok"] is True
    assert steps["tamper"]["caught"] is True
    assert steps["tamper"]["seq"] is not None
    shown = tally("demo").out
    assert "VERIFY BEFORE TRUSTING" in shown
    assert "sound: False" in shown
    assert not tally.trail.exists()


def test_every_command_is_here() -> None:
    """cli.md: the commands of this version."""
    wanted = "ingest brief recall remember quote outcome why replay revise retract undo verify checkpoint export import"
    assert set(wanted.split()) | {"doctor", "demo"} <= set(COMMANDS)


ROUNDS = """
import atexit, gc, sys
from tallystick.cli import main
rounds = []
gc.callbacks.append(lambda phase, info: rounds.append(info))
atexit.register(lambda: sys.stderr.write(f"{len(rounds)} {gc.isenabled()}"))
main()
"""


def test_a_short_command_waits_for_no_garbage_collector(tally: Tally, ingested: Path) -> None:
    """cli.md: a briefing ends before the first round of the collector, which a long command still has."""
    environ = os.environ | {"TALLY_TRAIL": str(tally.trail), "TALLY_STATE": str(tally.state)}
    command = [sys.executable, "-c", ROUNDS, "brief"]
    done = subprocess.run(command, env=environ, cwd=tally.project, capture_output=True, text=True, check=True)
    assert done.stderr == "0 True"
    assert "VERIFY BEFORE TRUSTING" in done.stdout
