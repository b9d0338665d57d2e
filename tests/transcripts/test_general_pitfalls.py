"""Pitfalls of reading that concern every harness, held on the readers where they show."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

from tallystick.model.evidence import EventKind, Origin, Status
from tallystick.plugins import adapters
from tallystick.transcripts.claude_code import CLAUDE_CODE
from tallystick.transcripts.protocol import RawRecord
from tests.transcripts.test_claude_code import assistant, call, jsonl, read, record, result, text, user


def test_a_file_that_is_nearly_all_progress_is_read_in_bounded_memory() -> None:
    """EVID.10, pitfall 6: sixty megabytes of progress records leave their number, and no more memory than one of them."""
    progress = jsonl(record("progress", 1, data={"type": "bash_progress", "output": "x" * 30_000}))
    words = jsonl(user(2, "Use port 5433."))
    n = 2_000

    def records() -> Iterator[RawRecord]:
        for number in range(1, n + 1):
            yield RawRecord(number, (number - 1) * len(progress), progress)
        yield RawRecord(n + 1, n * len(progress), words)

    reader = CLAUDE_CODE.reader("session.jsonl")
    tracemalloc.start()
    try:
        said = [event.text for event in reader.read(records())]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert said == ["Use port 5433."]
    assert reader.counts["record:progress"] == n
    assert peak < 20 * len(progress)


def test_a_message_over_several_records_is_read_block_by_block_in_order() -> None:
    """EVID.1, pitfall 19: records of one message give its blocks in order, each once and under an id of its own."""
    blocks = [
        {"type": "thinking", "thinking": "hm"},
        text("I will look."),
        call("a", "Bash", command="ls"),
        text("Done."),
    ]
    records = [assistant(number, block) for number, block in enumerate(blocks, 1)]
    for each in records:
        each["message"]["id"] = "msg_01"
    events = read(*records).events
    assert [event.kind for event in events] == [
        EventKind.THINKING,
        EventKind.MESSAGE,
        EventKind.TOOL_CALL,
        EventKind.MESSAGE,
    ]
    assert len({event.uid for event in events}) == len(blocks)


def test_records_whose_parent_is_missing_are_read_where_they_stand() -> None:
    """EVID.3, pitfall 20: a parent that is not in the file, and a boundary without one, drop nothing and move nothing."""
    events = read(
        user(1, "first", parentUuid="00000000-0000-0000-0000-999999999999"),
        record("system", 2, subtype="compact_boundary", parentUuid=None, logicalParentUuid="gone", content="Compacted"),
        user(3, "second", parentUuid=None),
        assistant(4, text("third"), parentUuid="also-gone"),
    ).events
    assert [event.text for event in events] == ["first", "second", "third"]


def test_a_result_that_was_put_elsewhere_is_part_of_the_evidence() -> None:
    """EVID.7, pitfall 45: what is left of an output that was too long says so, and its ending is the harness's."""
    kept = "<persisted-output>\nOutput too large (88KB). Full output saved to: /x\n\nPreview:\nall fine\n</persisted-output>"
    event = read(assistant(1, call("a", "Bash", command="make")), user(2, [result("a", kept)])).events[1]
    assert "persisted" in event.flags
    assert (event.kind, event.origin, event.status) == (EventKind.TOOL_RESULT, Origin.TOOL, Status.OK)


def test_a_file_of_another_harness_is_refused_whatever_it_is_called() -> None:
    """EVID.12, pitfall 11: the content decides which reader takes a file; no other takes it under the reader's own name."""
    codex = b'{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"a","cwd":"/w"}}\n'
    gemini = b'{"sessionId":"a","projectHash":"b","startTime":"2026-01-01T00:00:00Z","messages":[]}'
    heads = {"claude-code": jsonl(user(1, "hello")), "codex": codex, "gemini-cli": gemini}
    for name in ("session-2026.json", "a.jsonl", "rollout-2026-01-01.jsonl", "x.traj.json"):
        for harness, head in heads.items():
            taken = [adapter.name for adapter in adapters() if adapter.recognises(head, name)]
            assert taken == [harness], name
