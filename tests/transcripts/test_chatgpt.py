"""ChatGPT exports: the contracts, the path through a tree of messages, whose words they are, how calls ended."""

from __future__ import annotations

import json
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.model.evidence import Event, EventKind, Origin, Status
from tallystick.plugins import ingest_tools
from tallystick.store.memory import MemoryStore
from tallystick.testing.gather_contract import GatherContract
from tallystick.testing.trails import trail_over
from tallystick.transcripts.chatgpt import CHATGPT, ChatGptReader
from tallystick.transcripts.protocol import RawRecord
from tallystick.workflows.ingest import ingest
from tests.transcripts.golden import CORPORA, expected_path, golden, sessions
from tests.transcripts.test_gemini_cli import DocumentContract

SAMPLE = CORPORA / "chatgpt" / "conversations.json"


def node(
    uid: str, parent: str | None, role: str = "", content: Any = None, at: float = 1.0, **more: Any
) -> dict[str, Any]:
    """A node of the tree as the export has it; without a role, one that holds no message."""
    if isinstance(content, str):
        content = {"content_type": "text", "parts": [content]}
    message = {
        "id": uid,
        "author": {"role": role, "name": more.pop("name", None)},
        "create_time": at,
        "content": content,
        "recipient": more.pop("recipient", "all"),
        "metadata": more,
    }
    return {"id": uid, "parent": parent, "children": [], "message": message if role else None}


def conversation(*nodes: dict[str, Any], current: str | None = "", uid: str = "c1") -> dict[str, Any]:
    mapping = {each["id"]: each for each in nodes}
    current = nodes[-1]["id"] if current == "" else current
    return {"title": "T", "update_time": 9.5, "mapping": mapping, "current_node": current, "conversation_id": uid}


def read(whole: Any) -> tuple[list[Event], ChatGptReader]:
    data = whole if isinstance(whole, bytes) else json.dumps(whole).encode()
    reader = CHATGPT.reader("c1")
    events = list(reader.read([RawRecord(1, 0, data)]))
    silent = sum(count for key, count in reader.counts.items() if key.startswith("record:"))
    assert reader.records == reader.records_with_events + silent + len(reader.problems)
    return events, reader


def texts(whole: Any) -> list[str]:
    return [event.text for event in read(whole)[0]]


class TestContract(DocumentContract):
    """The contract of readers, on the conversations of the sample."""

    adapter = CHATGPT

    def sources(self) -> dict[str, bytes]:
        return {each["id"]: json.dumps(each, indent=1).encode() for each in json.loads(SAMPLE.read_bytes())}

    def with_unknown(self, data: bytes) -> bytes:
        """A message of a role of next year before each, on the path."""
        whole = json.loads(data)
        for uid, each in list(whole["mapping"].items()):
            if each["parent"]:
                whole["mapping"][f"new-{uid}"] = node(f"new-{uid}", each["parent"], "of_next_year", "x")
                each["parent"] = f"new-{uid}"
        return json.dumps(whole).encode()


class TestPlace(GatherContract):
    """The contract of gatherers, on a copy of the sample."""

    adapter = CHATGPT

    def place(self, folder: Path) -> Path:
        path = folder / "conversations-000.json"
        path.write_bytes(SAMPLE.read_bytes())
        return path

    def grown(self, file: Path) -> None:
        whole = json.loads(file.read_bytes())
        last = whole[0]["current_node"]
        whole[0]["mapping"]["next"] = node("next", last, "user", "And one thing more.")
        whole[0]["current_node"] = "next"
        file.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n")


@pytest.mark.parametrize("session", sessions("chatgpt"), ids=lambda path: path.name)
def test_expected_events(session: Path) -> None:
    """EVID.1, 6, 7: the events of the sample are those that a person has read and kept."""
    assert golden(CHATGPT, session) == expected_path(session).read_text("utf-8")


# --- the tree


def test_other_branches_are_counted_alone() -> None:
    """EVID.3, 6: an edited prompt and a second answer are alternates, and nothing that was accepted (pitfall 25)."""
    tree = [
        node("r", None),
        node("u", "r", "user", "Use Perl."),
        node("a", "u", "assistant", "We decided on Perl."),
        node("u2", "r", "user", "Use Python."),
        node("b", "u2", "assistant", "First answer."),
        node("c", "u2", "assistant", "Second answer."),
    ]
    events, reader = read(conversation(*tree))
    assert [event.text for event in events] == ["Use Python.", "Second answer."]
    assert reader.counts["record:alternate"] == 3
    assert texts(conversation(*tree, current="a")) == ["Use Perl.", "We decided on Perl."]


@given(st.permutations(range(7)))
def test_the_order_is_that_of_the_tree(order: list[int]) -> None:
    """EVID.1: however the nodes stand in the file, the events come from the root to the current node, each where it stands."""
    nodes = [node(f"n{k}", f"n{k - 1}" if k else None, "user", f"text {k}") for k in range(7)]
    data = json.dumps(conversation(*(nodes[k] for k in order), current="n6")).encode()
    events, _ = read(data)
    assert [event.text for event in events] == [f"text {k}" for k in range(7)]
    for event in events:
        place = event.locator
        assert json.loads(data[place.offset : place.offset + place.length])["id"] == event.uid
        assert list(json.loads(data)["mapping"])[place.index] == event.uid


@pytest.mark.parametrize("current", [None, "gone"])
def test_without_a_current_node_the_newest_leaf_is_it(current: str | None) -> None:
    """EVID.2: a tree that does not say where the person was ends with what was written last."""
    nodes = [
        node("u", None, "user", "Hi."),
        node("b", "u", "assistant", "New.", 5),
        node("a", "u", "assistant", "Old.", 2),
    ]
    assert texts(conversation(*nodes, current=current)) == ["Hi.", "New."]


def test_a_circle_of_parents_ends() -> None:
    """EVID.2: nodes that are each other's parents are read once."""
    assert texts(conversation(node("a", "b", "user", "A"), node("b", "a", "user", "B"))) == ["A", "B"]


def test_a_message_of_another_shape_is_one_problem() -> None:
    """EVID.2: the rest of the path is read, and the problem does not show the content."""
    events, reader = read(
        conversation(node("a", None, "user", "A"), node("b", "a", "user", ["secret"]), node("c", "b", "user", "C"))
    )
    assert [event.text for event in events] == ["A", "C"]
    assert ["secret" in each.reason for each in reader.problems] == [False]


# --- who is speaking


@pytest.mark.parametrize(
    ("one", "origin", "kind"),
    [
        (node("m", None, "user", "x"), Origin.USER, EventKind.MESSAGE),
        (node("m", None, "user", "x", is_visually_hidden_from_conversation=True), Origin.HARNESS, EventKind.MESSAGE),
        (node("m", None, "user", "x", is_user_system_message=True), Origin.HARNESS, EventKind.MESSAGE),
        (
            node("m", None, "user", {"content_type": "user_editable_context", "user_instructions": "x"}),
            Origin.HARNESS,
            EventKind.MESSAGE,
        ),
        (node("m", None, "system", "x"), Origin.HARNESS, EventKind.MESSAGE),
        (node("m", None, "system", "x", is_visually_hidden_from_conversation=True), Origin.HARNESS, EventKind.MESSAGE),
        (node("m", None, "assistant", "x"), Origin.ASSISTANT, EventKind.MESSAGE),
        (
            node("m", None, "assistant", {"content_type": "model_editable_context", "model_set_context": "x"}),
            Origin.HARNESS,
            EventKind.MESSAGE,
        ),
        (
            node("m", None, "assistant", {"content_type": "thoughts", "thoughts": [{"content": "x"}]}),
            Origin.ASSISTANT,
            EventKind.THINKING,
        ),
        (node("m", None, "assistant", "x", recipient="python"), Origin.ASSISTANT, EventKind.TOOL_CALL),
        (node("m", None, "tool", "x", name="python"), Origin.TOOL, EventKind.TOOL_RESULT),
        (
            node(
                "m",
                None,
                "user",
                {"content_type": "multimodal_text", "parts": [{"content_type": "audio_transcription", "text": "x"}]},
            ),
            Origin.USER,
            EventKind.MESSAGE,
        ),
    ],
)
def test_who_is_speaking(one: dict[str, Any], origin: Origin, kind: EventKind) -> None:
    """EVID.6: hidden messages and the client's own context are the harness; dictated words are the person's (pitfall 28)."""
    assert [(event.text, event.origin, event.kind) for event in read(conversation(one))[0]] == [("x", origin, kind)]


def test_our_own_briefing_is_split_off() -> None:
    """EVID.6: our block inside a prompt or an output is ours (pitfall 36)."""
    block = "<tallystick-briefing>\nx\n</tallystick-briefing>"
    out = node("b", "a", "tool", block, name="python")
    events, _ = read(conversation(node("a", None, "user", f"{block}\nfix it"), out))
    assert [event.origin for event in events] == [Origin.BRIEFING, Origin.USER, Origin.BRIEFING]


# --- calls


RAN = {"content_type": "execution_output", "text": "Traceback: success, exit code 0"}


@pytest.mark.parametrize(
    ("content", "metadata", "status"),
    [
        (RAN, {"aggregate_result": {"status": "success"}}, Status.OK),
        (RAN, {"aggregate_result": {"status": "failed_with_in_kernel_exception"}}, Status.FAILED),
        (RAN, {"aggregate_result": {"status": "of_next_year"}}, Status.UNKNOWN),
        (RAN, {"aggregate_result": {}}, Status.UNKNOWN),
        (RAN, {}, Status.UNKNOWN),
        ({"content_type": "system_error", "name": "E", "text": "t"}, {}, Status.FAILED),
        ({"content_type": "tether_quote", "text": "ok"}, {}, Status.UNKNOWN),
    ],
)
def test_how_a_call_ended(content: Any, metadata: Any, status: Status) -> None:
    """EVID.7: by the field that states it, never by what was printed (pitfalls 26, 38, 39)."""
    events, reader = read(
        conversation(
            node("c", None, "assistant", "1/0", recipient="python"),
            node("o", "c", "tool", content, name="python", **metadata),
        )
    )
    assert [(each.call_id, each.status, each.exit_code) for each in events] == [
        ("c", Status.NONE, None),
        ("c", status, None),
    ]
    assert not reader.calls


def test_results_are_joined_to_their_own_tools_call() -> None:
    """EVID.7: several results of one call, a tool with parts, a result without a call, a call without a result (pitfall 26)."""
    events, reader = read(
        conversation(
            node("a", None, "tool", "stray", name="browser"),
            node("b", "a", "assistant", "q", recipient="browser.search"),
            node("c", "b", "tool", "one", name="browser"),
            node("d", "c", "tool", "two", name="browser"),
            node("e", "d", "tool", "other", name="python"),
            node("f", "e", "assistant", "x", recipient="bio"),
        )
    )
    assert [(each.uid, each.call_id) for each in events] == [
        ("a", ""), ("b", "b"), ("c", "b"), ("d", "b"), ("e", ""), ("f", "f"),
    ]  # fmt: skip
    assert list(reader.calls) == ["f"]


# --- bytes


def test_times_are_seconds_or_nothing() -> None:
    """EVID.8: seconds with fractions, to the microsecond; none is none (pitfall 51)."""
    events, _ = read(conversation(node("a", None, "user", "A", 1780000000.123456), node("b", "a", "user", "B", None)))  # type: ignore[arg-type]
    assert [event.at for event in events] == [1780000000123456, None]


def test_what_is_no_text_is_counted() -> None:
    """EVID.3: pictures, attachments, unknown content and the client's own notes are each counted (pitfalls 5, 10)."""
    image = {"content_type": "multimodal_text", "parts": [{"content_type": "image_asset_pointer"}, "see"]}
    recap = {"content_type": "reasoning_recap", "content": "Thought for 4 seconds"}
    events, reader = read(
        conversation(
            node("a", None, "user", image, attachments=[{"name": "x.png"}]),
            node("b", "a", "assistant", recap),
            node("c", "b", "assistant", {"content_type": "of_next_year", "blob": 1}),
        )
    )
    assert [event.text for event in events] == ["see"]
    assert dict(reader.counts) == {
        "image": 1, "attachment": 1, "record:reasoning_recap": 1, "record:of_next_year": 1,
    }  # fmt: skip


def test_spoilt_characters_cost_themselves_alone() -> None:
    """EVID.2: a lone surrogate is replaced, in linear time however many messages there are (pitfall 4)."""
    nodes = [node(f"n{k}", f"n{k - 1}" if k else None, "user", "x" * 2000) for k in range(2000)]
    data = json.dumps(conversation(node("s", None, "user", "a XY b"), *nodes, current="s")).encode()
    began = process_time()
    events, reader = read(data.replace(b"XY", b"\\ud83d"))
    assert process_time() - began < 2
    assert ([event.text for event in events], reader.counts["mended"]) == (["a \ufffd b"], 1)


def test_a_newer_export_adds_what_is_new(tmp_path: Path) -> None:
    """EVID.4, 5: of an export that came again only changed conversations are read, and copies count once (pitfalls 13, 14)."""
    trail = trail_over(MemoryStore())
    tools = ingest_tools({"TALLY_PERSON": "ada"})
    old, new = tmp_path / "a" / "conversations.json", tmp_path / "b" / "conversations-000.json"
    for path in (old, new):
        path.parent.mkdir()
        path.write_bytes(SAMPLE.read_bytes())
    first = ingest(trail, [old], tools)
    assert (first.files, first.events, first.problems) == (2, 13, [])
    assert ingest(trail, [old], tools).skipped_unchanged == 1
    TestPlace().grown(new)
    again = ingest(trail, [new], tools)
    with trail.reading() as rows:
        assert len(list(rows.names("session"))) == 2
    assert again.counts["claims:asserted"] == 0
    TestPlace().grown(old)
    grown = ingest(trail, [old], tools)
    assert (grown.files, grown.skipped_unchanged) == (1, 1)
