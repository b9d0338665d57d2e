"""Every file of the shared sessions in one trail: nothing lost, nothing twice, as many of everything as a plain count finds."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tallystick.model.evidence import Event, EventKind, Origin
from tallystick.plugins import ingest_tools
from tallystick.store.sqlite import SqliteStore
from tallystick.testing.trails import trail_over
from tallystick.trail import Trail
from tallystick.trail.archive import ArchiveReader
from tallystick.workflows.ingest import IngestReport, ingest, session_facts

DATA = Path(__file__).resolve().parents[2] / "../shared/data"
pytestmark = [
    pytest.mark.shared_data,
    pytest.mark.skipif(not DATA.is_dir(), reason="the shared data is not here"),
]
REFUSED = {"transcripts/codex/neurodata/history.jsonl": "credential, configuration and history files are never read"}
"""Files that are no transcripts, and why they say they are refused."""
NOT_JSON = 4
"""Lines of the two image fixtures that are no JSON: their makers' comments."""
RECORDS = {"swe-agent": 227 + 489, "aider": 8485}
"""Records of a folder, where the manifest counts something else: of SWE-agent it has the steps and not the history, of
aider lines of prompts and not turns."""
SOURCES = {"openhands": 1, "aider": 1133 + 1 + 14}
"""What a folder is read from, where that is not a file each: the files of a conversation of OpenHands are one, and aider's
history holds a run after the other (and is there again in excerpts)."""


class Row(NamedTuple):
    """What there is of one harness in the trail, copies once."""

    sessions: int
    turns: int
    """Messages of a person."""
    calls: int
    results: int
    exit_codes: int


TABLE = {
    "aider": Row(984, 1634, 0, 0, 0),
    "claude-code": Row(83, 378, 2722, 2722, 80),
    "codex": Row(45, 414, 1474, 1460, 1439),
    "gemini-cli": Row(3, 4, 12, 12, 6),
    "mini-swe-agent": Row(24, 24, 993, 981, 971),
    "openhands": Row(1, 3, 3, 3, 0),
    "specstory": Row(16, 85, 735, 0, 0),
    "swe-agent": Row(22, 22, 232, 232, 0),
}


class Session(NamedTuple):
    """One session of the trail."""

    facts: dict[str, str]
    events: list[Event]

    @property
    def harness(self) -> str:
        return self.facts["harness"]


class Read(NamedTuple):
    """All files as they were read, a folder after the other."""

    trail: Trail
    reports: dict[str, IngestReport]
    sessions: list[Session]


def listed() -> dict[str, list[dict[str, Any]]]:
    """Folder → what the manifest says of its files."""
    found = defaultdict(list)
    for each in json.loads((DATA / "transcripts_manifest.json").read_text("utf-8")):
        found[each["file"].split("/")[1]].append(each)
    return dict(found)


def sessions_of(trail: Trail) -> list[Session]:
    with trail.reading() as rows:
        return [
            Session(
                {"name": name.name, **session_facts(name)},
                [event for _, event in ArchiveReader(rows).session(name.seq)],
            )
            for name in rows.names("session")
        ]


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Read]:
    store = SqliteStore(tmp_path_factory.mktemp("every"))
    trail = trail_over(store)
    tools = ingest_tools({"TALLY_PERSON": "ada"})
    reports = {
        folder: ingest(trail, [DATA / each["file"] for each in files], tools) for folder, files in listed().items()
    }
    yield Read(trail, reports, sessions_of(trail))
    store.close()


def row(sessions: list[Session], harness: str) -> Row:
    mine = [each for each in sessions if each.harness == harness]
    events = [event for each in mine for event in each.events]
    kinds = Counter(event.kind for event in events)
    turns = sum(event.kind is EventKind.MESSAGE and event.origin is Origin.USER for event in events)
    codes = sum(event.exit_code is not None for event in events)
    return Row(len(mine), turns, kinds[EventKind.TOOL_CALL], kinds[EventKind.TOOL_RESULT], codes)


def test_nothing_is_missing() -> None:
    """EVID.12: the manifest has the 273 files, each of them is there, and no folder is left out but those that are named."""
    folders = listed()
    assert sum(map(len, folders.values())) == 273
    assert all((DATA / each["file"]).is_file() for files in folders.values() for each in files)


def test_every_record_is_accounted_for(read: Read) -> None:
    """EVID.3: every file is read, or refused with its reason; every record is in one account, as many as the manifest has."""
    assert set(read.reports) == set(listed())
    for folder, report in read.reports.items():
        files = [each for each in listed()[folder] if each["file"] not in REFUSED]
        counts = report.counts
        expected = RECORDS.get(folder, sum(each["records"] for each in files))
        assert counts["records"] + counts["lines_skipped"] == expected, folder
        silent = sum(n for kind, n in counts.items() if kind.startswith("record:"))
        assert counts["records"] == counts["records_with_events"] + silent + counts["records_unreadable"], folder
        assert report.files == SOURCES.get(folder, len(files)), folder
        refused = {problem.file: problem.reason for problem in report.problems if not problem.line}
        named = {str(DATA / file): reason for file, reason in REFUSED.items() if file.split("/")[1] == folder}
        assert refused == named, folder
    problems = [problem for report in read.reports.values() for problem in report.problems if problem.line]
    assert len(problems) == NOT_JSON
    assert {problem.file.rpartition("/")[2] for problem in problems} == {
        "images-in-tool-results.jsonl",
        "images-in-user-messages.jsonl",
    }


def test_no_two_sessions_have_one_id(read: Read) -> None:
    """EVID.5: harness, native id and thread name a session, and every session has events."""
    ids = Counter((each.harness, each.facts["name"], each.facts.get("thread", "")) for each in read.sessions)
    assert set(ids.values()) == {1}
    assert all(each.facts["name"] and each.events for each in read.sessions)


def test_the_table(read: Read) -> None:
    """EVID.3, 7: sessions, turns, calls, results and exit codes of each harness, copies once: a table that a person has read."""
    assert {harness: row(read.sessions, harness) for harness in {each.harness for each in read.sessions}} == TABLE


# --- a plain count, which knows the formats and none of the product


class Plain(NamedTuple):
    """Ids of calls and results, and exit codes by the id of their call."""

    calls: set[str]
    results: set[str]
    codes: dict[str, int]


def objects(path: Path) -> Iterator[dict[str, Any]]:
    """The JSON objects of a file of lines, glued ones too."""
    for line in path.read_text("utf-8", "replace").split("\n"):
        at = 0
        while (at := line.find("{", at)) >= 0:
            try:
                found, at = json.JSONDecoder().raw_decode(line, at)
            except ValueError:
                break
            yield found


def text_of(content: Any) -> str:
    parts = content if isinstance(content, list) else [{"text": content}]
    return "\n".join(str(part.get("text") or "") for part in parts if isinstance(part, dict))


def plain_claude_code() -> Plain:
    found = Plain(set(), set(), {})
    for folder in ("claude-code", "claude-code-records"):
        for each in listed()[folder]:
            for record in objects(DATA / each["file"]):
                message = record.get("message")
                content = message.get("content") if isinstance(message, dict) else None
                for block in content if isinstance(content, list) else []:
                    if block.get("type") == "tool_use":
                        found.calls.add(block["id"])
                    if block.get("type") == "tool_result":
                        found.results.add(block["tool_use_id"])
                        code = re.match(r"Exit code (\d+)", text_of(block.get("content")))
                        if block.get("is_error") and code:
                            found.codes[block["tool_use_id"]] = int(code[1])
                        notes = record.get("toolUseResult")
                        task = notes.get("task") if isinstance(notes, dict) else None
                        if isinstance(task, dict) and isinstance(task.get("exitCode"), int):
                            found.codes[block["tool_use_id"]] = task["exitCode"]  # A look at a background command.
    return found


def plain_codex() -> Plain:
    found = Plain(set(), set(), {})
    for each in listed()["codex"]:
        for record in objects(DATA / each["file"]):
            payload = record.get("payload") or {}
            kind, call = payload.get("type") or "", str(payload.get("call_id"))
            if kind in ("function_call", "custom_tool_call", "local_shell_call"):
                found.calls.add(call)
            if kind in ("function_call_output", "custom_tool_call_output"):
                found.results.add(call)
                output = payload["output"]
                if code := re.match(
                    r'Exit code: (-?\d+)\nWall|(?s:\{"output":.*"metadata":\{"exit_code":(-?\d+))', output
                ):
                    found.codes[call] = int(code[1] or code[2])
    return found


def plain_gemini_cli() -> Plain:
    found = Plain(set(), set(), {})
    for each in listed()["gemini-cli"]:
        for message in json.loads((DATA / each["file"]).read_bytes())["messages"]:
            for call in message.get("toolCalls") or ():
                found.calls.add(call["id"])
                if call.get("result"):
                    found.results.add(call["id"])
                if code := re.search(r"\\nExit Code: (\d+)\\n", json.dumps(call.get("result"))):
                    found.codes[call["id"]] = int(code[1])
    return found


@pytest.mark.parametrize(
    ("harness", "count"),
    [("claude-code", plain_claude_code), ("codex", plain_codex), ("gemini-cli", plain_gemini_cli)],
    ids=["claude-code", "codex", "gemini-cli"],
)
def test_calls_are_those_of_a_plain_count(read: Read, harness: str, count: Any) -> None:
    """EVID.3, 7: where calls have ids, the trail has each call and result of the files and no other, with their exit codes."""
    plain = count()
    events = [event for each in read.sessions if each.harness == harness for event in each.events if event.call_id]
    events = [
        event for event in events if not event.call_id.startswith("bash:")
    ]  # What a person ran has no id of its own.
    assert {event.call_id for event in events if event.kind is EventKind.TOOL_CALL} == plain.calls
    assert {event.call_id for event in events if event.kind is EventKind.TOOL_RESULT} == plain.results
    assert {event.call_id: event.exit_code for event in events if event.exit_code is not None} == plain.codes


def test_mini_swe_agent_is_as_a_plain_count(read: Read) -> None:
    """EVID.3, 7: return codes are those that stand in the messages, and every run has one person's task."""
    codes: Counter[int] = Counter()
    for each in listed()["mini-swe-agent"]:
        whole = json.loads((DATA / each["file"]).read_bytes())
        for one in whole if isinstance(whole, list) else whole["messages"]:
            if one["role"] == "tool":
                codes[one["extra"]["returncode"]] += 1
            elif one["role"] == "user" and "<returncode>" in one["content"][:400]:
                codes[int(one["content"].split("returncode>")[1].strip("</\n "))] += 1
    events = [event for each in read.sessions if each.harness == "mini-swe-agent" for event in each.events]
    assert Counter(event.exit_code for event in events if event.exit_code is not None) == codes


def test_swe_agent_is_as_a_plain_count(read: Read) -> None:
    """EVID.3, 7: a step is a call and a result; the one history without steps has as many as it has answers."""
    wholes = [json.loads((DATA / each["file"]).read_bytes()) for each in listed()["swe-agent"]]
    steps = sum(len(each.get("trajectory", ())) for each in wholes)
    answers = sum(one["role"] == "assistant" for each in wholes if "trajectory" not in each for one in each["history"])
    found = row(read.sessions, "swe-agent")
    assert (found.calls, found.results) == (steps + answers, steps + answers)


def test_a_prompt_is_a_persons(read: Read) -> None:
    """EVID.6: every plain prompt of Claude Code, Codex and Gemini CLI stands in the trail as a person's words."""
    words = {event.text.strip() for each in read.sessions for event in each.events if event.origin is Origin.USER}
    prompts = []
    for each in listed()["codex"]:
        found = [record.get("payload") or {} for record in objects(DATA / each["file"])]
        prompts += [one["message"] for one in found if one.get("type") == "user_message"]
    for each in listed()["claude-code"]:
        for record in objects(DATA / each["file"]):
            if record.get("type") == "user" and not record.get("isMeta") and not record.get("isSidechain"):
                prompts.append(record["message"]["content"])
    plain = [text.strip() for text in prompts if isinstance(text, str) and re.match(r"[A-Za-z][^<]{3,200}\Z", text)]
    harness = ("Caveat:", "Warmup")
    missing = {text for text in plain if text not in words and not text.startswith(harness)}
    assert (missing, len(plain) > 300) == (set(), True)


# --- conversions are second tellings


def test_conversions_count_nothing_twice(read: Read) -> None:
    """EVID.5, TIME.12: 28 sessions told again are sessions of their own that name the first; what both say is one claim."""
    paths = sorted((DATA / "transcripts/atif").glob("*/agent/trajectory.json"))
    before = claims(read.trail)
    report = ingest(read.trail, paths, ingest_tools({"TALLY_PERSON": "ada"}))
    assert (report.files, len(report.sessions), report.problems) == (28, 28, [])
    steps = sum(len(json.loads(path.read_bytes())["steps"]) for path in paths)
    assert report.counts["records"] == steps
    after = claims(read.trail)
    assert set(after.values()) == {1}
    assert set(after) >= set(before)
    known = {(each.harness, each.facts["name"]) for each in read.sessions}
    told = [each.facts for each in sessions_of(read.trail) if each.harness == "atif"]
    assert len({facts["name"] for facts in told}) == 28
    first = [facts for facts in told if (facts["name"].partition("/")[0], facts["parent"]) in known]
    assert len(first) == 22  # All but the six of SWE-agent, which state no run.


def claims(trail: Trail) -> Counter[tuple[object, ...]]:
    """How often each claim is held, by holder, kind and words."""
    with trail.reading() as rows:
        held = [row for row in rows.rows("claim") if isinstance(row[0], int) and rows.open_version(row[0])]
        return Counter((each[1], each[2], rows.text(each[0])) for each in held if isinstance(each[0], int))
