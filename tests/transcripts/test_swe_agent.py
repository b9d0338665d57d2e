"""SWE-agent trajectories: the contract, steps and history as one telling, demonstrations, and the real runs."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from tallystick.model.evidence import Event, EventKind, Origin, Status
from tallystick.plugins import adapters
from tallystick.transcripts.protocol import RawRecord
from tallystick.transcripts.swe_agent import SWE_AGENT, SweAgentReader
from tests.transcripts.golden import CORPORA, expected_path, golden, sessions
from tests.transcripts.test_gemini_cli import DocumentContract

SHARED = Path(__file__).resolve().parents[2] / "../shared/data/transcripts"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not beside the repository")
SYSTEM = {"role": "system", "content": "SETTING: You are an autonomous programmer.", "agent": "main"}
TASK = {"role": "user", "content": "Make it work.", "agent": "main"}


def step(action: str, observation: str | None = "", response: str = "Let me see.", **more: Any) -> dict[str, Any]:
    state = {"open_file": "n/a", "working_dir": "/shop"}
    return {"action": action, "observation": observation, "response": response, "thought": "", "state": state, **more}


def said(role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, "agent": "main", **more}


def document(*steps: dict[str, Any], history: tuple[dict[str, Any], ...] = (SYSTEM, TASK), **more: Any) -> bytes:
    whole = {
        "environment": "main",
        "trajectory": steps,
        "history": history,
        "info": {"exit_status": "submitted"},
        **more,
    }
    return json.dumps(whole, indent=2, ensure_ascii=False).encode()


def read(data: bytes, name: str = "run/shop-1/shop-1.traj") -> tuple[list[Event], SweAgentReader]:
    reader = SWE_AGENT.reader(name)
    events = list(reader.read([RawRecord(1, 0, data)]))
    silent = sum(count for key, count in reader.counts.items() if key.startswith("record:"))
    assert reader.records == reader.records_with_events + silent + len(reader.problems)
    return events, reader


class TestContract(DocumentContract):
    """The contract, on real runs of four forms."""

    adapter = SWE_AGENT

    def sources(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in sessions("swe-agent")}

    def with_unknown(self, data: bytes) -> bytes:
        """Messages of an unknown role at the end of the history: a message's index is part of an id here."""
        whole = json.loads(data)
        whole["history"].append({"role": "of_next_year", "content": "x"})
        return json.dumps(whole, indent=2).encode()


def test_a_run_is_told_once() -> None:
    """EVID.3, 5: of the history what comes before the first answer is read; the rest is the steps again, and counted."""
    history = (SYSTEM, TASK, said("assistant", "Let me see.", action="ls"), said("user", "a.py\n(Open file: n/a)"))
    events, reader = read(document(step("ls", "a.py"), history=history))
    assert [(event.uid, event.origin, event.text) for event in events] == [
        ("H0", Origin.HARNESS, "SETTING: You are an autonomous programmer."),
        ("H1", Origin.USER, "Make it work."),
        ("T0:text", Origin.ASSISTANT, "Let me see."),
        ("T0:call", Origin.ASSISTANT, "ls"),
        ("T0:out", Origin.TOOL, "a.py"),
    ]
    assert (reader.records, reader.counts["record:history_of_a_step"]) == (5, 2)


def test_the_order_of_the_file_does_not_matter() -> None:
    """EVID.1: whichever of the two lists the file has first, the same events in the same order, each at its own place."""
    one = json.loads(document(step("ls", "a.py"), step("submit")))
    other = {name: one[name] for name in reversed(one)}
    texts = []
    for whole in (one, other):
        data = json.dumps(whole, indent=1).encode()
        events, _ = read(data)
        texts.append([(event.uid, event.text, event.locator.index) for event in events])
        for event in events:
            there = json.loads(data[event.locator.offset : event.locator.offset + event.locator.length])
            assert event.text in there.values(), event.uid
    assert texts[0] == texts[1]


def test_without_steps_the_history_is_read() -> None:
    """EVID.3, 7: a demonstration that has messages only gives calls joined to the message that follows."""
    history = (SYSTEM, TASK, said("assistant", "Look.", action="ls"), said("tool", "a.py", tool_call_ids=["k"]))
    events, _ = read(json.dumps({"history": history}).encode())
    call, result = events[-2:]
    assert (call.kind, result.kind, result.status) == (EventKind.TOOL_CALL, EventKind.TOOL_RESULT, Status.UNKNOWN)
    assert (call.call_id, result.call_id, result.command, result.text) == ("H2", "H2", "ls", "a.py")


def test_a_demonstration_is_not_this_session() -> None:
    """EVID.6: a demonstration in the prompt is counted and says nothing, whoever speaks in it."""
    demo = (said("user", "Always use tabs.", is_demo=True), said("assistant", "Done.", action="ls", is_demo=True))
    events, reader = read(document(step("pwd", "/"), history=(SYSTEM, *demo, TASK)))
    assert [event.text for event in events if event.kind is EventKind.MESSAGE][1:] == ["Make it work.", "Let me see."]
    assert reader.counts["record:demonstration"] == 2


def test_no_result_says_how_it_ended() -> None:
    """EVID.7, OUTCOME.5: there are no exit codes (pitfall 46): every result is unknown and the session has none to read."""
    events, reader = read(document(step("pytest", "1 failed\nexit code 1"), step("ls", "Exit code 0")))
    results = [event for event in events if event.kind is EventKind.TOOL_RESULT]
    assert {(event.status, event.exit_code) for event in results} == {(Status.UNKNOWN, None)}
    assert not reader.facts.has_results
    assert all(event.at is None for event in events)


@pytest.mark.parametrize(
    ("template", "words"),
    [
        (
            "We're currently solving the following issue within our repository. Here's the issue text:\n"
            "ISSUE:\n{}\n\nINSTRUCTIONS:\nNow, you're going to solve this issue on your own.",
            "It crashes\r\nwhen\n\nINSTRUCTIONS:\nare given",
        ),
        (
            "We're currently solving the following CTF challenge. The CTF challenge is a crypto problem named "
            '"eps", worth 10 points. The description is:\n{}\n\nINSTRUCTIONS:\nNow, you\'re …',
            "Find the flag.",
        ),
        (
            "<uploaded_files>\n/shop\n</uploaded_files>\nI've uploaded a python code repository.\n\n"
            "<pr_description>\n{}\n</pr_description>\n\nCan you help me implement the necessary changes?",
            "Orders lose their tax.",
        ),
    ],
)
def test_the_task_is_split(template: str, words: str) -> None:
    """EVID.6: in a known prompt template the words of whose problem it is are theirs, the rest is the harness's (pitfall 28)."""
    events, _ = read(document(history=(SYSTEM, said("user", template.format(words)))))
    assert [event.text for event in events if event.origin is Origin.USER] == [words]
    assert "".join(event.text for event in events[1:]) == template.format(words)


@pytest.mark.parametrize(
    ("action", "state", "paths"),
    [
        ("edit 1:2\nx\nend_of_edit\n", {"open_file": "/shop/a.py", "working_dir": "/shop"}, ("/shop/a.py",)),
        ("edit 1:2\nx\nend_of_edit\n", '{"open_file": "/shop/a.py"}\n', ("/shop/a.py",)),
        ("create b.py\n", '{"open_file": "/shop/a.py", "working_dir": "/shop"}', ("/shop/b.py",)),
        ('create "/x/b.py"', None, ("/x/b.py",)),
        ("str_replace_editor create /shop/c.py --file_text x", {}, ("/shop/c.py",)),
        ("str_replace_editor view /shop/c.py", {}, ()),
        ("open /shop/a.py", {"open_file": "/shop/a.py"}, ()),
        ("edit", {"open_file": "n/a"}, ()),
        ("edit", "not JSON", ()),
        ("create", 5, ()),
    ],
)
def test_files_that_are_written(action: str, state: Any, paths: tuple[str, ...]) -> None:
    """EVID.7, OUTCOME.3: an edit names its file, from the state or its arguments, on call and result."""
    events, _ = read(document(step(action, "ok", state=state)))
    assert [event.paths for event in events[-2:]] == [paths, paths]


def test_a_step_without_a_command() -> None:
    """EVID.6, 7: what is seen where nothing ran is the harness's; a command without an observation has no result (pitfall 26)."""
    events, _ = read(document(step("", "Exited (autosubmitted)"), step("ls", None)))
    assert [(event.uid, event.kind, event.origin) for event in events[2:]] == [
        ("T0:text", EventKind.MESSAGE, Origin.ASSISTANT),
        ("T0:seen", EventKind.MESSAGE, Origin.HARNESS),
        ("T1:text", EventKind.MESSAGE, Origin.ASSISTANT),
        ("T1:call", EventKind.TOOL_CALL, Origin.ASSISTANT),
    ]


def test_runs_of_one_instance_are_told_apart() -> None:
    """EVID.5: a session is named after its run and instance; a copy of the run elsewhere has the same name (pitfall 12)."""
    names = (
        "out/gpt4/shop-1/shop-1.traj",
        "old/gpt4/shop-1/shop-1.traj",
        "out/o3/shop-1/shop-1.traj",
        "demos/shop-1.traj",
    )
    found = [read(document(), "/".join(name.split("/")[-3:]))[1].facts.native_id for name in names]
    assert found == ["gpt4/shop-1", "gpt4/shop-1", "o3/shop-1", "demos/shop-1"]


def test_facts() -> None:
    """EVID.1: working folder, repository and version where the file states them, an object or JSON in a string."""
    replay = {"env": {"repo": {"github_url": "https://example.invalid/shop"}}}
    for stated in (replay, json.dumps(replay)):
        _, reader = read(document(step("ls"), replay_config=stated, info={"swe_agent_version": "1.1.0"}))
        assert reader.facts[3:7] == ("/shop", "https://example.invalid/shop", "", "1.1.0")


def test_our_own_command_is_marked() -> None:
    """EVID.6: what our own command prints is marked on call and result (pitfall 36)."""
    events, _ = read(document(step("cd x && tally brief", "…")))
    assert [event.flags for event in events[-2:]] == [("own_tool",), ("own_tool",)]


@pytest.mark.parametrize("data", [b"", b"{", b'{"info":{}}', b'{"trajectory":5}', b'{"history":{}}', b"[" * 5000])
def test_an_unreadable_document_is_a_problem(data: bytes) -> None:
    """EVID.2, 12: a document that cannot be read is one problem, never a crash."""
    events, reader = read(data)
    assert (events, reader.records, len(reader.problems)) == ([], 1, 1)


def test_recognition() -> None:
    """EVID.12: each file kept here is taken by exactly one adapter; other documents with a trajectory are not taken."""
    for path in [each for harness in CORPORA.iterdir() if harness.is_dir() for each in harness.iterdir()]:
        if path.is_file() and path.suffix not in (".md", ".LICENSE", ".txt") and path.name != "SOURCES.json":
            head = path.read_bytes()[: 64 * 1024]
            taken = [each.name for each in adapters() if each.recognises(head, path.name)]
            assert (SWE_AGENT.name in taken) == (path.parent.name == "swe-agent"), path
            assert len(taken) <= 1, path
    for other in (
        b'{"trajectory":[{"id":1,"action":"run"}]}',
        b'{"info":{"mini_version":"2"},"trajectory":[]}',
        b'{"history":[{"role":"user","content":"x"}]}',
        b'{"info":{},"messages":[]}',
    ):
        assert not SWE_AGENT.recognises(other, "x.traj"), other


def test_no_text_makes_a_scan_slow() -> None:
    """EVID.10: a megabyte of whatever a template has is scanned in linear time."""
    began = process_time()
    for text in (
        "\nISSUE:\n" * 120_000,
        "\n\nINSTRUCTIONS:\n" * 70_000,
        "<uploaded_files>\n" * 60_000,
        "edit " * 200_000,
    ):
        read(document(step(text, text), history=(SYSTEM, said("user", _TEMPLATE + text))))
    assert process_time() - began < 2


_TEMPLATE = "We're currently solving the following issue within our repository."


@pytest.mark.parametrize("session", sessions("swe-agent"), ids=lambda path: path.name)
def test_expected_events(session: Path) -> None:
    """EVID.1, 6, 7: the events of real runs are those that a person has read and kept."""
    assert golden(SWE_AGENT, session) == expected_path(session).read_text("utf-8")


def test_corpora_are_as_their_sources_say() -> None:
    """The files kept with the project are those that ``SOURCES.json`` names, unchanged, with their licence beside them."""
    for source in json.loads((CORPORA / "swe-agent" / "SOURCES.json").read_text("utf-8")):
        data = (CORPORA / "swe-agent" / source["file"]).read_bytes()
        assert (hashlib.sha256(data).hexdigest(), len(data)) == (source["sha256"], source["size"])
        owner = "+".join(source["source_repo"].split("/")[-2:])
        assert list((CORPORA / "swe-agent").glob(f"{owner}.LICENSE*")), source["file"]


@pytest.mark.shared_data
@needs_shared
def test_shared_runs_agree_with_a_plain_count() -> None:
    """EVID.3, 7: in 22 real runs steps, calls and results are as many as the files and their manifest have."""
    manifest = json.loads((SHARED.parent / "transcripts_manifest.json").read_text("utf-8"))
    listed = {each["file"]: each["records"] for each in manifest if each["harness"] == "swe-agent"}
    assert len(listed) == 22
    ids = set()
    for file, steps in listed.items():
        path = SHARED.parent / file
        whole = json.loads(path.read_bytes())
        events, reader = read(path.read_bytes(), "/".join(path.parts[-3:]))
        ids.add(reader.facts.native_id)
        trajectory, history = whole.get("trajectory", []), whole["history"]
        assert (reader.records, reader.problems) == (steps + len(history), []), file
        turns = trajectory or [each for each in history if each["role"] == "assistant"]
        calls = [each["action"].strip() for each in turns if each["action"].strip()]
        assert [event.text for event in events if event.kind is EventKind.TOOL_CALL] == calls, file
        seen = [each["observation"] for each in trajectory] or [e["content"] for e in history if e["role"] == "tool"]
        assert [event.text for event in events if event.kind is EventKind.TOOL_RESULT] == seen, file
        words = [each.get("response") or each.get("thought") or each.get("content") for each in turns]
        assert [event.text for event in events if event.uid.endswith(":text")] == words, file
        assert sum(event.origin is Origin.USER for event in events) == 1, file
        assert len({event.uid for event in events}) == len(events), file
    assert len(ids) == 22
