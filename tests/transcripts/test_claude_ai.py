"""Claude.ai exports: the contracts, blocks and attachments, whose words they are, branches, how calls ended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tallystick.model.evidence import Event, EventKind, Origin, Status
from tallystick.plugins import ingest_tools
from tallystick.store.memory import MemoryStore
from tallystick.testing.gather_contract import GatherContract
from tallystick.testing.trails import trail_over
from tallystick.transcripts.claude_ai import CLAUDE_AI, ClaudeAiReader
from tallystick.transcripts.protocol import RawRecord
from tallystick.workflows.ingest import ingest
from tests.transcripts.golden import CORPORA, expected_path, golden, sessions
from tests.transcripts.test_gemini_cli import DocumentContract

SAMPLE = CORPORA / "claude-ai" / "conversations.json"
AT = "2026-05-28T09:00:00.000000Z"


def message(uid: str, sender: str, *blocks: Any, **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": each} if isinstance(each, str) else each for each in blocks]
    return {"uuid": uid, "sender": sender, "text": "", "content": content, "created_at": AT, **more}


def conversation(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"uuid": "c1", "name": "T", "updated_at": AT, "chat_messages": messages, **more}


def read(*messages: Any, **more: Any) -> tuple[list[Event], ClaudeAiReader]:
    reader = CLAUDE_AI.reader("c1")
    events = list(reader.read([RawRecord(1, 0, json.dumps(conversation(*messages, **more)).encode())]))
    silent = sum(count for key, count in reader.counts.items() if key.startswith("record:"))
    assert reader.records == reader.records_with_events + silent + len(reader.problems)
    return events, reader


class TestContract(DocumentContract):
    """The contract of readers, on the conversations of the sample."""

    adapter = CLAUDE_AI

    def sources(self) -> dict[str, bytes]:
        return {each["uuid"]: json.dumps(each, indent=1).encode() for each in json.loads(SAMPLE.read_bytes())}

    def with_unknown(self, data: bytes) -> bytes:
        """A message of a sender of next year before each, and a block of next year in each."""
        whole = json.loads(data)
        found = []
        for each in whole["chat_messages"]:
            if each.get("content"):
                each["content"].append({"type": "of_next_year", "text": "x"})
            before = each.get("parent_message_uuid")
            found += [message(f"new-{each['uuid']}", "of_next_year", "x", parent_message_uuid=before), each]
            if before:
                each["parent_message_uuid"] = f"new-{each['uuid']}"
        return json.dumps({**whole, "chat_messages": found}).encode()


class TestPlace(GatherContract):
    """The contract of gatherers, on a copy of the sample."""

    adapter = CLAUDE_AI

    def place(self, folder: Path) -> Path:
        path = folder / "conversations.json"
        path.write_bytes(SAMPLE.read_bytes())
        return path

    def grown(self, file: Path) -> None:
        whole = json.loads(file.read_bytes())
        whole[1]["chat_messages"].append(message("next", "human", "And one thing more."))
        file.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n")


@pytest.mark.parametrize("session", sessions("claude-ai"), ids=lambda path: path.name)
def test_expected_events(session: Path) -> None:
    """EVID.1, 6, 7: the events of the sample are those that a person has read and kept."""
    assert golden(CLAUDE_AI, session) == expected_path(session).read_text("utf-8")


def test_what_was_attached_is_supplied_and_not_typed() -> None:
    """EVID.6: pasted text is the person's evidence, apart from their words and marked so (pitfall 35)."""
    pasted = {"file_name": "", "extracted_content": "ERROR: disk full"}
    events, reader = read(
        message("m", "human", "See.", attachments=[pasted, {"file_name": "a.pdf"}], files=[{"file_name": "p"}])
    )
    assert [(event.text, event.origin, event.flags) for event in events] == [
        ("See.", Origin.USER, ()),
        ("ERROR: disk full", Origin.USER, ("pasted",)),
    ]
    assert reader.counts["attachment"] == 2


def test_nothing_is_decided_by_a_paste(tmp_path: Path) -> None:
    """EVID.6: what a pasted text says in the first person is no rule or decision of who pasted it; typed, it is."""
    rule = "Never use tabs in this repository."
    claims = []
    for number, one in enumerate(
        [message("m", "human", rule), message("m", "human", "See.", attachments=[{"extracted_content": rule}])]
    ):
        path = tmp_path / f"{number}.json"
        path.write_text(json.dumps([conversation(one)]))
        claims.append(ingest(trail_over(MemoryStore()), [path], ingest_tools({})).claims)
    assert claims == [1, 0]


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (message("m", "human", text="old form"), ["old form"]),
        (message("m", "human", "block", text="copy of the block"), ["block"]),
        (message("m", "human", "", text="only here"), ["only here"]),
        ({"uuid": "m", "sender": "human", "text": "no blocks"}, ["no blocks"]),
        (message("m", "human", {"type": "voice_note", "text": "dictated"}, text="x"), ["dictated"]),
        (message("m", "human", {"type": "of_next_year"}, text="not supported"), []),
    ],
)
def test_words_stand_in_blocks_or_in_text(one: Any, said: list[str]) -> None:
    """EVID.5: the message's text repeats its blocks and counts where there are none (pitfall 15)."""
    assert [event.text for event in read(one)[0]] == said


def test_branches() -> None:
    """EVID.3, 6: of two answers or an edited prompt, what was gone on from is read, the other counted (pitfall 25)."""
    root = "00000000-0000-4000-8000-000000000000"
    tree = [
        message("a", "human", "Perl.", parent_message_uuid=root),
        message("b", "assistant", "Decided: Perl.", parent_message_uuid="a"),
        message("c", "human", "Python.", parent_message_uuid=root),
        message("d", "assistant", "One.", parent_message_uuid="c"),
        message("e", "assistant", "Two.", parent_message_uuid="c"),
    ]
    events, reader = read(*tree)
    assert [event.text for event in events] == ["Python.", "Two."]
    assert reader.counts["record:alternate"] == 3
    assert [event.text for event in read(*tree, current_leaf_message_uuid="b")[0]] == ["Perl.", "Decided: Perl."]


@pytest.mark.parametrize(
    "parents", [[None, None, None], ["r", "gone", "gone"], ["r", None, "b"], ["r", "a", "c"], ["c", "a", "b"]]
)
def test_a_broken_chain_drops_nothing(parents: list[Any]) -> None:
    """EVID.3: a message that names no parent, or one that is not there, goes on from the one before it (pitfall 20)."""
    listed = [message(uid, "human", uid, parent_message_uuid=up) for uid, up in zip("abc", parents, strict=True)]
    assert [event.text for event in read(*listed)[0]] == ["a", "b", "c"]


def tool(uid: str | None, name: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": uid, "name": name, "input": {"q": 1}, "start_timestamp": "2026-05-28T09:00:01Z"}


def result(uid: str | None, name: str, content: Any = "out", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": uid, "name": name, "content": content, **more}


def test_results_are_joined_by_id_or_by_order() -> None:
    """EVID.7: to the call of that id, else to the oldest of that tool; a result without a call says nothing (pitfall 26)."""
    events, reader = read(
        message("m", "assistant", tool("x", "a"), tool(None, "b"), tool(None, "b"), result("x", "a", is_error=False)),
        message("n", "assistant", tool(None, "b"), result(None, "b", is_error=True), result(None, "c", is_error=False)),
    )
    joined = [(e.uid, e.call_id, e.status.value) for e in events if e.kind is EventKind.TOOL_RESULT]
    assert joined == [("m:3", "x", "ok"), ("n:1", "n:0", "failed"), ("n:2", "", "unknown")]
    assert list(reader.calls) == ["m:1", "m:2"]


@pytest.mark.parametrize(("error", "status"), [(None, Status.UNKNOWN), (False, Status.OK), (True, Status.FAILED)])
def test_how_a_call_ended(error: bool | None, status: Status) -> None:
    """EVID.7: by the flag; where it is absent, not known (pitfall 38)."""
    events, _ = read(message("m", "assistant", tool("x", "a"), result("x", "a", "Exit code 1", is_error=error)))
    assert (events[1].status, events[1].exit_code) == (status, None)


def test_times_of_blocks_and_of_messages() -> None:
    """EVID.8: a block's own time, else its message's; a naive time is none (pitfall 51)."""
    events, _ = read(
        message("m", "assistant", "a", tool("x", "a")), message("n", "human", "b", created_at="2026-05-28T09:00:00")
    )
    assert [event.at for event in events] == [1779958800000000, 1779958801000000, None]


def test_what_is_no_text_is_counted() -> None:
    """EVID.3: unknown blocks and senders and pictures, each by its type (pitfalls 5, 10)."""
    image = {"type": "image", "source": {"data": "AAAA"}}
    out = [{"type": "text", "text": "t"}, image, {"type": "knowledge", "title": "k"}]
    events, reader = read(
        message("m", "assistant", {"type": "of_next_year"}, image, tool("x", "a"), result("x", "a", out)),
        message("n", "robot", "x"),
    )
    assert [event.text for event in events] == ['{"q":1}', 't\n{"type": "knowledge", "title": "k"}']
    assert dict(reader.counts) == {"block:of_next_year": 1, "image": 2, "record:robot": 1}


def test_a_message_of_another_shape_is_one_problem() -> None:
    """EVID.2: the others are read, and the problem does not show the content."""
    events, reader = read(
        message("a", "human", "A"), {"uuid": "b", "sender": 5, "text": "secret"}, message("c", "human", "C")
    )
    assert [event.text for event in events] == ["A", "C"]
    assert ["secret" in each.reason for each in reader.problems] == [False]
