"""OpenTelemetry GenAI spans: the contracts, sessions out of traces, history told once, forms of messages, how calls ended."""

from __future__ import annotations

import json
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import UsageError
from tallystick.model.evidence import Event, EventKind, Status
from tallystick.testing.gather_contract import GatherContract
from tallystick.transcripts.otel_genai import OTEL_GENAI, OtelGenAiReader
from tallystick.transcripts.otel_genai_messages import parsed
from tallystick.transcripts.protocol import Member, RawRecord
from tallystick.transcripts.view import DiskView
from tests.growth import assert_linear, repeated
from tests.transcripts.golden import CORPORA, expected_path, golden, sessions
from tests.transcripts.test_gemini_cli import DocumentContract

SAMPLE = CORPORA / "otel-genai" / "traces.jsonl"
START = 1_780_000_000_000_000_000


def value(one: Any) -> dict[str, Any]:
    """A value as OTLP writes it."""
    if isinstance(one, dict):
        return {"kvlistValue": {"values": listed(one)}}
    if isinstance(one, list):
        return {"arrayValue": {"values": [value(each) for each in one]}}
    return {"intValue": str(one)} if isinstance(one, int) else {"stringValue": one}


def listed(attributes: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": value(one)} for key, one in attributes.items()]


def span(
    uid: str,
    operation: str,
    at: int,
    *,
    parent: str = "",
    trace: str = "t1",
    status: Any = None,
    events: Any = (),
    **told: Any,
) -> dict[str, Any]:
    """A span of a second; ``told`` are attributes below ``gen_ai.``, ``__`` for a dot."""
    given = {f"gen_ai.{name.replace('__', '.')}": one for name, one in told.items()}
    return {
        "traceId": trace,
        "spanId": uid,
        "parentSpanId": parent,
        "startTimeUnixNano": str(START + at * 10**9),
        "endTimeUnixNano": str(START + (at + 1) * 10**9),
        "attributes": listed({"gen_ai.operation.name": operation, **given}),
        "events": [{"name": name, "attributes": listed(more)} for name, more in events],
        "status": {} if status is None else {"code": status},
    }


def chat(uid: str, at: int, into: Any, out: Any, **more: Any) -> dict[str, Any]:
    return span(uid, "chat", at, input__messages=json.dumps(into), output__messages=json.dumps(out), **more)


def text(role: str, said: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": said}]}


def traces(*spans: Any, **resource: Any) -> dict[str, Any]:
    return {"resourceSpans": [{"resource": {"attributes": listed(resource)}, "scopeSpans": [{"spans": list(spans)}]}]}


def gathered(path: Path) -> list[Member]:
    with DiskView() as view:
        return list(OTEL_GENAI.gather(view, str(path)))


def read_file(path: Path) -> dict[str, tuple[list[Event], OtelGenAiReader]]:
    found = {}
    for member in gathered(path):
        reader = OTEL_GENAI.reader(member.name)
        events = list(reader.read([RawRecord(1, 0, member.load())]))
        silent = sum(count for key, count in reader.counts.items() if key.startswith("record:"))
        assert reader.records == reader.records_with_events + silent + len(reader.problems)
        found[member.name] = events, reader
    return found


@pytest.fixture
def read(tmp_path: Path) -> Any:
    """What is read of spans in one session, written to a file a line each."""

    def of(*spans: Any) -> tuple[list[Event], OtelGenAiReader]:
        path = tmp_path / "traces.jsonl"
        path.write_text("".join(json.dumps(traces(each)) + "\n" for each in spans))
        ((_, found),) = read_file(path).items()
        return found

    return of


def brief(events: list[Event]) -> list[tuple[str, str]]:
    return [(event.origin.value, event.text) for event in events]


class TestContract(DocumentContract):
    """The contract of readers, on the sessions of the sample."""

    adapter = OTEL_GENAI

    def sources(self) -> dict[str, bytes]:
        return {member.name: member.load() for member in gathered(SAMPLE)}

    def with_unknown(self, data: bytes) -> bytes:
        """A span of an operation of next year before each."""
        whole = json.loads(data)
        new = [span(f"new-{n}", "of_next_year", 0) for n in range(len(whole["spans"]))]
        whole["spans"] = [one for pair in zip(new, whole["spans"], strict=True) for one in pair]
        return json.dumps(whole).encode()

    def test_recognised_by_content(self) -> None:
        """EVID.12: a trace file is recognised by how it begins, in a line or over several, and other JSON is not."""
        for data in (
            SAMPLE.read_bytes(),
            json.dumps(traces(), indent=2).encode(),
            b'\xef\xbb\xbf{ "resourceSpans" :[]}',
        ):
            assert OTEL_GENAI.recognises(data[: 64 * 1024], "x")
        for other in (b"", b"{}", b"[]", b'{"resourceLogs":[]}', b'{"a":{"resourceSpans":[]}}', b"{\n", b"null"):
            assert not OTEL_GENAI.recognises(other, "traces.jsonl")


class TestLines(GatherContract):
    """The contract of gatherers, on the sample: a document a line."""

    adapter = OTEL_GENAI

    def place(self, folder: Path) -> Path:
        path = folder / "traces.jsonl"
        path.write_bytes(SAMPLE.read_bytes())
        return path

    def grown(self, file: Path) -> None:
        one = chat("new", 500, [text("user", "More?")], [text("assistant", "No.")], conversation__id="conv-41")
        with file.open("a") as stream:
            stream.write(json.dumps(traces(one)) + "\n")


class TestDocument(TestLines):
    """The same, as one document over several lines."""

    def place(self, folder: Path) -> Path:
        path = folder / "traces.json"
        lines = [json.loads(line) for line in SAMPLE.read_text().splitlines()]
        path.write_text(
            json.dumps({"resourceSpans": [one for line in lines for one in line["resourceSpans"]]}, indent=1)
        )
        return path

    def grown(self, file: Path) -> None:
        whole = json.loads(file.read_bytes())
        one = chat("new", 500, [text("user", "More?")], [text("assistant", "No.")], conversation__id="conv-41")
        whole["resourceSpans"] += traces(one)["resourceSpans"]
        file.write_text(json.dumps(whole, indent=1))


@pytest.mark.parametrize("session", sessions("otel-genai"), ids=lambda path: path.name)
def test_expected_events(session: Path) -> None:
    """EVID.1, 6, 7: the events of the sample are those that a person has read and kept."""
    assert golden(OTEL_GENAI, session) == expected_path(session).read_text("utf-8")


def test_both_forms_of_a_file_say_the_same(tmp_path: Path) -> None:
    """EVID.1: a document a line, one document in a line, and one over several lines give the same events."""
    lines = [json.loads(line) for line in SAMPLE.read_text().splitlines()]
    whole = {"resourceSpans": [one for line in lines for one in line["resourceSpans"]]}
    expected = {name: events for name, (events, _) in read_file(SAMPLE).items()}
    for indent in (None, 1):
        path = tmp_path / f"{indent}.json"
        path.write_text(json.dumps(whole, indent=indent))
        found = read_file(path)
        assert {name: [e.uid for e in events] for name, (events, _) in found.items()} == {
            name: [e.uid for e in events] for name, events in expected.items()
        }


# --- history


TURNS = st.lists(
    st.tuples(st.sampled_from(["yes", "go on", "a"]), st.sampled_from(["Done.", "ok", "a"])), min_size=1, max_size=6
)


@given(TURNS, st.booleans())
def test_history_is_told_once(turns: list[tuple[str, str]], structured: bool) -> None:
    """EVID.5: whatever is said, and said again, each turn is there once though every call repeats all before it (pitfall 17)."""
    history: list[Any] = []
    spans = []
    for number, (asked, answered) in enumerate(turns):
        history = [*history, text("user", asked)]
        out = [text("assistant", answered)]
        if structured:
            spans.append(span(f"s{number}", "chat", number, input__messages=history, output__messages=out))
        else:
            spans.append(chat(f"s{number}", number, history, out))
        history = [*history, *out]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "traces.jsonl"
        path.write_text("".join(json.dumps(traces(each)) + "\n" for each in reversed(spans)))
        ((events, _),) = read_file(path).values()
    assert [event.text for event in events] == [said for turn in turns for said in turn]
    assert len({event.uid for event in events}) == len(events)
    assert all(first.at <= second.at for first, second in pairwise(events) if first.at and second.at)


def test_an_answer_is_new_where_the_history_is_not_repeated(read: Any) -> None:
    """EVID.3: where calls do not send the history, or only its end, the same answer again is a second one."""
    events, _ = read(
        chat("a", 1, [text("user", "Fix it.")], [text("assistant", "Done.")]),
        chat("b", 2, [text("user", "Test it.")], [text("assistant", "Done.")]),
    )
    assert [event.text for event in events] == ["Fix it.", "Done.", "Test it.", "Done."]
    assert len({event.uid for event in events}) == 4


def test_ids_do_not_depend_on_which_span_is_there(read: Any) -> None:
    """EVID.1, 5: a message has the same id whether the call that first sent it is in the file or only a later one."""
    one = chat("a", 1, [text("user", "Hi.")], [text("assistant", "Ho.")])
    two = chat(
        "b", 2, [text("user", "Hi."), text("assistant", "Ho."), text("user", "Bye.")], [text("assistant", "Bye.")]
    )
    both, _ = read(one, two)
    late, _ = read(two)
    assert [event.uid for event in both] == [event.uid for event in late]


def test_spans_that_wrap_a_call_add_nothing(read: Any) -> None:
    """EVID.5: an agent's span, a second instrumentation around a call, and a span sent twice repeat what is known."""
    inner = chat("a", 2, [text("user", "Hi.")], [text("assistant", "Ho.")], parent="b")
    outer = chat("b", 2, [text("user", "Hi.")], [text("assistant", "Ho.")], parent="c")
    agent = {**chat("c", 2, [text("user", "Hi.")], [text("assistant", "Ho.")])}
    agent["attributes"][0] = listed({"gen_ai.operation.name": "invoke_agent"})[0]
    events, reader = read(inner, outer, agent, inner)
    assert brief(events) == [("user", "Hi."), ("assistant", "Ho.")]
    assert (reader.records, reader.counts["repeated"]) == (3, 4)


# --- sessions


def test_sessions_are_conversations(tmp_path: Path) -> None:
    """EVID.1: by conversation id over traces; a span without one has its trace's; a trace without one is a session."""
    said = {name: [text("user", name)] for name in "abcd"}
    spans = [
        chat("a", 1, said["a"], [], trace="t1", conversation__id="c/1"),
        chat("b", 2, said["b"], [], trace="t1"),
        chat("c", 3, said["c"], [], trace="t2", conversation__id="c/1"),
        chat("d", 4, said["d"], [], trace="t3"),
        {"traceId": "t4", "spanId": "e", "name": "GET", "attributes": listed({"http.method": "GET"})},
    ]
    path = tmp_path / "traces.json"
    path.write_text(json.dumps(traces(*spans, **{"vcs.repository.url.full": "https://x/y", "service.name": "s"})))
    found = read_file(path)
    assert {name: [event.text for event in events] for name, (events, _) in found.items()} == {
        "c_1": ["a", "b", "c"],
        "t3": ["d"],
    }
    facts = found["c_1"][1].facts
    assert (facts.native_id, facts.repository, facts.title) == ("c/1", "https://x/y", "s")


def test_a_sub_agents_part_is_its_own(tmp_path: Path) -> None:
    """EVID.6: an agent inside an agent has a thread; its prompt and its report are delegated (pitfalls 21, 47)."""
    spans = [
        span("root", "invoke_agent", 9),
        span("t", "execute_tool", 8, parent="root", tool__name="ask", tool__call__id="x", tool__call__result="Green."),
        {"traceId": "t1", "spanId": "http", "parentSpanId": "t", "attributes": []},
        span("sub", "invoke_agent", 7, parent="http"),
        chat("a", 1, [text("user", "Look.")], [text("assistant", "Green.")], parent="sub"),
        chat("b", 0, [text("user", "Fix it.")], [], parent="root"),
    ]
    path = tmp_path / "traces.json"
    path.write_text(json.dumps(traces(*spans)))
    found = read_file(path)
    assert {name: brief(events) for name, (events, _) in found.items()} == {
        "t1": [("user", "Fix it."), ("assistant", ""), ("delegated", "Green.")],
        "t1/sub": [("delegated", "Look."), ("assistant", "Green.")],
    }
    assert {event.thread for event in found["t1/sub"][0]} == {"sub"} == {found["t1/sub"][1].facts.thread}


@pytest.mark.parametrize("links", [[("a", "b"), ("b", "a")], [("a", "a"), ("b", "gone")]])
def test_circles_of_parents_end(tmp_path: Path, links: list[tuple[str, str]]) -> None:
    """EVID.2: spans that are their own ancestors are read as any."""
    path = tmp_path / "traces.json"
    path.write_text(json.dumps(traces(*(chat(uid, 1, [text("user", uid)], [], parent=up) for uid, up in links))))
    assert [event.text for events, _ in read_file(path).values() for event in events] == ["a", "b"]


# --- forms


CALL = {"type": "tool_call", "id": "x", "name": "bash", "arguments": {"command": "ls"}}
OLD_CALL = {"id": "x", "type": "function", "function": {"name": "bash", "arguments": '{"command":"ls"}'}}


@pytest.mark.parametrize(
    "told",
    [
        {
            "input__messages": json.dumps([text("user", "Hi.")]),
            "output__messages": json.dumps([{"role": "assistant", "parts": [CALL]}]),
        },
        {"input__messages": [text("user", "Hi.")], "output__messages": [{"role": "assistant", "parts": [CALL]}]},
        {
            "events": [
                ("gen_ai.user.message", {"content": "Hi."}),
                ("gen_ai.choice", {"index": 0, "message": json.dumps({"role": "assistant", "tool_calls": [OLD_CALL]})}),
            ]
        },
        {
            "events": [
                ("gen_ai.user.message", {"gen_ai.event.content": json.dumps({"role": "user", "content": "Hi."})}),
                ("gen_ai.choice", {"gen_ai.event.content": json.dumps({"message": {"tool_calls": [OLD_CALL]}})}),
            ]
        },
        {
            "events": [
                ("gen_ai.content.prompt", {"gen_ai.prompt": json.dumps([{"role": "user", "content": "Hi."}])}),
                (
                    "gen_ai.content.completion",
                    {"gen_ai.completion": json.dumps([{"role": "assistant", "tool_calls": [OLD_CALL]}])},
                ),
            ]
        },
        {
            "events": [
                (
                    "gen_ai.client.inference.operation.details",
                    {
                        "gen_ai.input.messages": [text("user", "Hi.")],
                        "gen_ai.output.messages": [{"role": "assistant", "parts": [CALL]}],
                    },
                )
            ]
        },
    ],
)
def test_every_form_of_messages_is_read(read: Any, told: dict[str, Any]) -> None:
    """EVID.6: attributes that are values or JSON in text, and the events of older conventions, say the same."""
    events, _ = read(span("a", "chat", 1, **told))
    assert brief(events) == [("user", "Hi."), ("assistant", '{"command":"ls"}')]
    assert (events[1].kind, events[1].call_id, events[1].command) == (EventKind.TOOL_CALL, "x", "ls")


def test_two_forms_in_one_span_are_one_saying(read: Any) -> None:
    """EVID.5: a span that has its messages as attributes and as events tells them once (pitfall 15)."""
    events, _ = read(
        span(
            "a",
            "chat",
            1,
            input__messages=[text("user", "Hi.")],
            output__messages=[text("assistant", "Ho.")],
            events=[
                ("gen_ai.user.message", {"content": "Hi."}),
                ("gen_ai.choice", {"message": json.dumps({"content": "Ho."})}),
            ],
        )
    )
    assert brief(events) == [("user", "Hi."), ("assistant", "Ho.")]


@pytest.mark.parametrize("size", range(1, 66))
def test_a_text_that_was_cut_off_is_read_as_far_as_it_goes(read: Any, size: int) -> None:
    """EVID.3: whole messages before the cut stand; the last is flagged, and no copy of one that is known whole (pitfall 45)."""
    whole = json.dumps([text("user", "First."), text("user", 'Second "one".')])
    first = chat("a", 1, [text("user", "First."), text("user", 'Second "one".')], [])
    events, _ = read(first, span("b", "chat", 2, input__messages=whole[:-size]))
    assert brief(events) == [("user", "First."), ("user", 'Second "one".')]
    alone, reader = read(span("b", "chat", 2, input__messages=whole[:-size]))
    assert alone[0].text == "First."
    if len(alone) > 1:
        assert 'Second "one".'.startswith(alone[1].text)
        assert alone[1].flags == ("truncated",)
    assert reader.counts["block:truncated"] == 1


@given(
    st.recursive(
        st.text(max_size=6) | st.integers(),
        lambda x: st.lists(x, max_size=3) | st.dictionaries(st.text(max_size=3), x, max_size=3),
    ),
    st.data(),
)
def test_any_cut_of_any_json_parses(one: Any, more: st.DataObject) -> None:
    """EVID.2: JSON in text that is cut anywhere past its opening gives a value, and says that it was cut."""
    said = json.dumps([one], ensure_ascii=False)
    found = parsed(said[: more.draw(st.integers(1, len(said) - 1))])
    assert isinstance(found.value, list)
    assert not found.whole


def test_no_text_makes_it_slow() -> None:
    """EVID.10: texts of brackets, quotes and escapes are closed in linear time."""
    for unit in ("[", '{"a":', '"', "\\", '"\\', ",", '[{"a":"b"},'):
        assert_linear(parsed, partial(repeated, unit, before="["), 20_000)


# --- calls


@pytest.mark.parametrize(
    ("ended", "status"),
    [
        ({"status": 2}, Status.FAILED),
        ({"status": "STATUS_CODE_ERROR"}, Status.FAILED),
        ({"status": 1}, Status.OK),
        ({"status": 0}, Status.UNKNOWN),
        ({}, Status.UNKNOWN),
    ],
)
@pytest.mark.parametrize("own", [True, False])
def test_how_a_call_ended(read: Any, ended: dict[str, Any], status: Status, own: bool) -> None:
    """EVID.7: by the tool span's status, wherever the result itself was kept; unset is not known (pitfalls 26, 38)."""
    answer = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "x", "response": "exit code 0"}]}
    told = {"tool__call__result": "exit code 0"} if own else {}
    events, _ = read(
        chat("a", 1, [], [{"role": "assistant", "parts": [CALL]}]),
        span("b", "execute_tool", 2, tool__name="bash", tool__call__id="x", **told, **ended),
        chat("c", 4, [{"role": "assistant", "parts": [CALL]}, answer], []),
    )
    call, result = events
    assert (call.command, result.command, result.call_id, result.tool) == ("ls", "ls", "x", "bash")
    assert (result.text, result.status, result.exit_code) == ("exit code 0", status, None)
    assert result.at == (START + 3 * 10**9) // 1000


def test_a_tool_span_alone_tells_call_and_result(read: Any) -> None:
    """EVID.7: without messages, a tool's span is its call and its result; without content, its call (pitfall 26)."""
    told = {"tool__name": "bash", "tool__call__arguments": '{"command": "tally brief"}'}
    events, reader = read(
        span("a", "execute_tool", 1, tool__call__result={"ok": 1}, status=1, **told),
        span("b", "execute_tool", 2, **told),
    )
    assert [(e.kind.value, e.text, e.status.value, e.flags) for e in events] == [
        ("tool_call", '{"command":"tally brief"}', "none", ("own_tool",)),
        ("tool_result", '{"ok":1}', "ok", ("own_tool",)),
        ("tool_call", '{"command":"tally brief"}', "none", ("own_tool",)),
    ]
    assert list(reader.calls) == ["span:b"]


# --- places


def test_what_cannot_be_read_hides_nothing_else(tmp_path: Path) -> None:
    """EVID.2: a bad line in the middle is an error that names it, a torn one at the end is yet to come (pitfalls 2, 3)."""
    good = [json.dumps(traces(chat(uid, 1, [text("user", uid)], [], trace=uid))) for uid in "ab"]
    path = tmp_path / "traces.jsonl"
    path.write_text(f'{good[0]}\n{{"resourceSpans": "gen_ai."\n{good[1]}\n{good[0][:-9]}')
    *found, bad = gathered(path)
    assert [member.name for member in found] == ["a", "b"]
    with pytest.raises(UsageError, match=r"traces\.jsonl: line-2: no OTLP JSON"):
        bad.load()


def test_traces_of_something_else_are_said_to_be(tmp_path: Path) -> None:
    """EVID.12: a trace file without any GenAI span is an error that says so."""
    path = tmp_path / "traces.json"
    path.write_text(json.dumps(traces({"traceId": "t", "spanId": "s", "name": "GET", "attributes": []})))
    (nothing,) = gathered(path)
    with pytest.raises(UsageError, match="none of them has gen_ai attributes"):
        nothing.load()


def test_spoilt_characters_are_replaced(tmp_path: Path) -> None:
    """EVID.2: a lone surrogate, as a limit on attributes leaves one, costs itself alone and is counted (pitfall 4)."""
    one = chat("a", 1, [text("user", "a XY b")], [])
    path = tmp_path / "traces.jsonl"
    path.write_bytes(json.dumps(traces(one)).encode().replace(b"XY", b"\\ud83d") + b"\n")
    ((events, reader),) = read_file(path).values()
    assert ([event.text for event in events], reader.counts["mended"]) == (["a \ufffd b"], 1)
