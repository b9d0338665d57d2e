"""mini-SWE-agent trajectories of both forms: the contract, return codes, templates, and the real runs."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.model.evidence import Event, EventKind, Origin, Status
from tallystick.transcripts.mini_swe_agent import MINI_SWE_AGENT, MiniSweAgentReader
from tallystick.transcripts.protocol import RawRecord
from tests.transcripts.golden import CORPORA, expected_path, golden, sessions
from tests.transcripts.test_gemini_cli import DocumentContract

SHARED = Path(__file__).resolve().parents[2] / "../shared/data/transcripts"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not beside the repository")
SYSTEM = {"role": "system", "content": "You are a helpful assistant."}
TASK = {
    "role": "user",
    "content": "Please solve this issue: it crashes\n\nYou can execute bash commands and edit files …",
}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def runs(command: str, before: str = "Let me see.") -> dict[str, Any]:
    return {"role": "assistant", "content": f"{before}\n\n```bash\n{command}\n```"}


def listed(*messages: dict[str, Any]) -> bytes:
    """A 1.0 trajectory."""
    return json.dumps([SYSTEM, TASK, *messages], indent=2, ensure_ascii=False).encode()


def calls(command: str, call_id: str = "k1", **more: Any) -> dict[str, Any]:
    extra = {"actions": [{"command": command, "tool_call_id": call_id}], "timestamp": 1776073880.3366468}
    return {"role": "assistant", "content": "", "extra": extra, **more}


def answers(content: str, call_id: str = "k1", **extra: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content, "extra": extra}


def document(*messages: dict[str, Any], **more: Any) -> bytes:
    """A 1.1 trajectory."""
    whole = {"info": {"mini_version": "2.2.7"}, "messages": messages, "trajectory_format": "mini-swe-agent-1.1", **more}
    return json.dumps(whole, indent=2, ensure_ascii=False).encode()


def read(data: bytes, name: str = "out/x/run.traj.json") -> tuple[list[Event], MiniSweAgentReader]:
    reader = MINI_SWE_AGENT.reader(name)
    events = list(reader.read([RawRecord(1, 0, data)]))
    silent = sum(count for key, count in reader.counts.items() if key.startswith("record:"))
    assert reader.records == reader.records_with_events + silent + len(reader.problems)
    return events, reader


class TestContract(DocumentContract):
    """The contract, on three real runs of three forms."""

    adapter = MINI_SWE_AGENT

    def sources(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in sessions("mini-swe-agent")}

    def with_unknown(self, data: bytes) -> bytes:
        """A message of an unknown role at the end: a message's index is part of an id here."""
        whole = json.loads(data)
        messages = whole if isinstance(whole, list) else whole["messages"]
        messages.append({"role": "of_next_year", "content": "x"})
        return json.dumps(whole, indent=2).encode()


# --- return codes


@pytest.mark.parametrize(
    ("text", "status", "code", "flags"),
    [
        ("<returncode>0</returncode>\n<output>\nok\n</output>", Status.OK, 0, ()),
        ("<returncode>1</returncode>\n<output>\n</output>", Status.FAILED, 1, ()),
        ("<returncode>\n-9\n</returncode>\n<stderr>", Status.FAILED, -9, ()),
        ("<args>\n['docker', 'exec']\n</args>\n<returncode>\n2\n</returncode>", Status.FAILED, 2, ()),
        (
            "<returncode>0</returncode>\n<warning>\nThe output of your last command was too long.",
            Status.OK,
            0,
            ("truncated",),
        ),
        (
            "The last command <command>sleep 99</command> timed out and has been killed.",
            Status.UNKNOWN,
            None,
            ("interrupted",),
        ),
        ("diff --git a/x b/x\n<returncode>0</returncode>", Status.UNKNOWN, None, ()),
        ("<output>\n<returncode>0</returncode>", Status.UNKNOWN, None, ()),
        ("<args>\nx\ny\n</args>\n<returncode>0</returncode>", Status.UNKNOWN, None, ()),
        ("", Status.UNKNOWN, None, ()),
    ],
)
def test_results_of_the_older_form(text: str, status: Status, code: int | None, flags: tuple[str, ...]) -> None:
    """EVID.7: a return code counts at the very start of the result and nowhere else (pitfall 39)."""
    events, reader = read(listed(runs("pytest -x"), user(text)))
    result = events[-1]
    assert (result.kind, result.status, result.exit_code, result.flags) == (EventKind.TOOL_RESULT, status, code, flags)
    assert (result.command, result.call_id, result.text) == ("pytest -x", events[-2].call_id, text)
    assert reader.calls == {}


@pytest.mark.parametrize(
    ("content", "extra", "status", "code"),
    [
        ("<returncode>0</returncode>\n<output>", {"returncode": 0}, Status.OK, 0),
        ("<returncode>0</returncode>\n<output>", {"returncode": 2}, Status.FAILED, 2),
        ("all passed", {"returncode": 1}, Status.FAILED, 1),
        ("<returncode>3</returncode>", {}, Status.FAILED, 3),
        ("x", {}, Status.UNKNOWN, None),
        ("x", {"returncode": -1, "exception_info": "timed out"}, Status.UNKNOWN, -1),
    ],
)
def test_results_of_the_newer_form(content: str, extra: dict[str, Any], status: Status, code: int | None) -> None:
    """EVID.7, pitfall 50: the field counts before the words, and an exception leaves the ending unknown."""
    events, _ = read(document(SYSTEM, TASK, calls("make"), answers(content, **extra)))
    assert (events[-1].status, events[-1].exit_code, events[-1].command) == (status, code, "make")


@given(st.text(max_size=80).filter(lambda text: "tallystick" not in text))
def test_no_printed_text_changes_a_return_code(printed: str) -> None:
    """EVID.7: whatever a command prints, its return code stays."""
    events, _ = read(listed(runs("x"), user(f"<returncode>5</returncode>\n<output>\n{printed}")))
    assert (events[-1].status, events[-1].exit_code) == (Status.FAILED, 5)


def test_results_and_calls_without_their_other_half() -> None:
    """EVID.7: a result of no known call is unknown; a call without a result stays open (pitfall 26)."""
    events, reader = read(
        document(SYSTEM, TASK, answers("<returncode>0</returncode>", "gone", returncode=0), calls("a", "open"))
    )
    result = next(event for event in events if event.kind is EventKind.TOOL_RESULT)
    assert (result.status, result.exit_code) == (Status.UNKNOWN, None)
    assert list(reader.calls) == ["open"]


@pytest.mark.parametrize(
    "text",
    ["No command.", "```bash\na\n```\nand\n```bash\nb\n```", "```python\na\n```", "```bash\nnever closed"],
)
def test_an_answer_without_exactly_one_command_runs_none(text: str) -> None:
    """EVID.6, 7: such an answer is no call, and what comes back on the user role is the harness asking again."""
    events, _ = read(listed({"role": "assistant", "content": text}, user("Please always provide EXACTLY ONE action.")))
    assert [(event.kind.value, event.origin.value) for event in events[-2:]] == [
        ("message", "assistant"),
        ("message", "harness"),
    ]


def test_a_refusal_is_the_persons_words() -> None:
    """EVID.6, 7: a refused command was rejected, and the message given with the refusal is the person's."""
    text = "Command not executed. The user rejected your command with the following message:\nuse uv instead"
    result, feedback = read(listed(runs("pip install x"), user(text)))[0][-2:]
    assert (result.status, result.exit_code) == (Status.REJECTED, None)
    assert (feedback.origin, feedback.text, feedback.flags) == (Origin.USER, "use uv instead", ("feedback",))


# --- who is speaking


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("Please solve this issue: it crashes\n\nYou can execute bash commands and edit files to …", "it crashes"),
        (
            "<pr_description>\nConsider the following PR description:\nfix it</pr_description>\nDO NOT MODIFY tests",
            "fix it",
        ),
        (
            "<pr_description>\nConsider the following PR description:\na </pr_description> b</pr_description>\nrules",
            "a </pr_description> b",
        ),
        ("just do it", "just do it"),
    ],
)
def test_the_template_is_not_the_persons(text: str, own: str) -> None:
    """EVID.6: of the first prompt the issue is the person's and the template's rules are the harness's."""
    events, _ = read(json.dumps([SYSTEM, user(text), runs("ls")]).encode())
    assert [event.text for event in events if event.origin is Origin.USER] == [own]
    assert "".join(event.text for event in events if event.locator.index == 1) == text


def test_reasoning_times_and_index() -> None:
    """EVID.1, 8: reasoning is thinking; times are whole microseconds or none; the index is the place in ``messages``."""
    events, reader = read(
        document(SYSTEM, TASK, calls("ls", reasoning_content="Hmm."), instance_id="astropy__astropy-1")
    )
    assert [(event.kind.value, event.locator.index, event.at) for event in events[-2:]] == [
        ("thinking", 2, 1776073880336646),
        ("tool_call", 2, 1776073880336646),
    ]
    assert events[0].at is None
    assert (reader.facts.native_id, reader.facts.version) == ("astropy__astropy-1", "2.2.7")
    assert read(listed(runs("ls")), "a/b/c1_local.traj.json")[1].facts.native_id == "c1_local"


@pytest.mark.parametrize("stamp", ["1e400", "-5", "1e308", "null"])
def test_impossible_times_are_none(stamp: str) -> None:
    """EVID.8, pitfall 51: a time that no clock shows is no time."""
    data = document(SYSTEM, TASK, calls("ls")).replace(b"1776073880.3366468", stamp.encode())
    assert read(data)[0][-1].at is None


def test_our_own_command_is_marked() -> None:
    """EVID.6: what our own command prints is marked on call and result (failure case 36)."""
    events, _ = read(listed(runs("cd x && tally brief"), user("<returncode>0</returncode>")))
    assert [event.flags for event in events[-2:]] == [("own_tool",), ("own_tool",)]


# --- bytes


@pytest.mark.parametrize("data", [b"", b"[", b"[1,", b'{"info":{}}', b'{"messages":5}', b"[" * 5000])
def test_an_unreadable_document_is_a_problem(data: bytes) -> None:
    """EVID.2, 12: a document that cannot be read is one problem, never a crash."""
    events, reader = read(data)
    assert (events, reader.records, len(reader.problems)) == ([], 1, 1)


def test_odd_messages_are_problems_or_counted() -> None:
    """EVID.2, 3: a message of another shape is a problem, one of an unknown role is counted, the rest is read."""
    events, reader = read(listed({"role": ["secret"]}, {"role": "critic", "content": "x"}, runs("ls")))
    assert events[-1].command == "ls"
    assert (len(reader.problems), reader.counts["record:critic"]) == (1, 1)
    assert "secret" not in reader.problems[0].reason


def test_recognition() -> None:
    """EVID.12, pitfall 11: both forms are known by content; other lists of messages and the larger SWE-agent's files are not."""
    assert MINI_SWE_AGENT.recognises(listed(runs("ls"), user("<returncode>0</returncode>")), "a")
    assert MINI_SWE_AGENT.recognises(document(SYSTEM), "a")
    for other in (
        json.dumps([SYSTEM, user("hello")]).encode(),
        b'{"environment":"swe_main","trajectory":[],"history":[],"info":{}}',
        b'{"info":{"version":1},"messages":[]}',
    ):
        assert not MINI_SWE_AGENT.recognises(other, "x.json"), other


def test_no_text_makes_a_scan_slow() -> None:
    """EVID.10: a megabyte of whatever a pattern begins with is scanned in linear time."""
    began = process_time()
    for text in ("```bash\n" * 120_000, "```bash\nx\n```" * 80_000, "<returncode>" * 80_000, "<args>\n" * 140_000):
        read(listed({"role": "assistant", "content": text}, runs("ls"), user(text)))
    assert process_time() - began < 2


# --- real runs


@pytest.mark.parametrize("session", sessions("mini-swe-agent"), ids=lambda path: path.name)
def test_expected_events(session: Path) -> None:
    """EVID.1, 6, 7: the events of real runs are those that a person has read and kept."""
    assert golden(MINI_SWE_AGENT, session) == expected_path(session).read_text("utf-8")


@pytest.mark.shared_data
@needs_shared
def test_shared_runs_agree_with_a_plain_count() -> None:
    """EVID.3, 7: in 24 real runs calls, results and return codes are as many as the messages show."""
    paths = sorted(SHARED.glob("mini-swe-agent/*.json"))
    assert len(paths) == 24
    for path in paths:
        whole = json.loads(path.read_bytes())
        messages = whole if isinstance(whole, list) else whole["messages"]
        events, reader = read(path.read_bytes())
        codes: Counter[int] = Counter()
        for one in messages:
            if one["role"] == "tool":
                codes[one["extra"]["returncode"]] += 1
            elif one["role"] == "user" and "<returncode>" in one["content"][:400]:
                codes[int(one["content"].split("returncode>")[1].strip("</\n "))] += 1
        assert Counter(event.exit_code for event in events if event.exit_code is not None) == codes, path.name
        ran = sum(one["role"] == "assistant" for one in messages)
        silent = sum(not one.get("extra", {}).get("actions", [1]) for one in messages if one["role"] == "assistant")
        assert [event.kind for event in events].count(EventKind.TOOL_CALL) == ran - silent, path.name
        assert (reader.records, reader.problems) == (len(messages), []), path.name
        assert len({event.uid for event in events}) == len(events), path.name


@pytest.mark.shared_data
@needs_shared
def test_labelled_places_hold_the_labelled_words() -> None:
    """QUOTE.4: where a label names a message, an event of that message holds the labelled words."""
    tried = 0
    for one in (SHARED.parent / "gold.jsonl").read_text("utf-8").splitlines():
        label = json.loads(one)
        if "/mini-swe-agent/" in label["session"]:
            events, _ = read((SHARED.parent / label["session"]).read_bytes())
            there = [event for event in events if event.locator.index == label["locator"]["index"]]
            assert any(label["text"] in event.text for event in there), label["id"]
            tried += 1
    assert tried >= 4


def test_corpora_are_as_their_sources_say() -> None:
    """The files kept with the project are those that ``SOURCES.json`` names, unchanged, each with a licence beside it."""
    for harness in ("codex", "gemini-cli", "mini-swe-agent"):
        for source in json.loads((CORPORA / harness / "SOURCES.json").read_text("utf-8")):
            data = (CORPORA / harness / source["file"]).read_bytes()
            assert (hashlib.sha256(data).hexdigest(), len(data)) == (source["sha256"], source["size"])
            owner = "+".join(source["source_repo"].split("/")[-2:])
            assert list((CORPORA / harness).glob(f"{owner}.LICENSE*")), source["file"]
