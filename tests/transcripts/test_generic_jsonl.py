"""JSON lines by a mapping: the contracts, the example of the page, paths, roles, and what is said of a wrong mapping."""

from __future__ import annotations

import json
import re
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import UsageError
from tallystick.model.evidence import Event, EventKind, Origin, Status
from tallystick.plugins import adapters, ingest_tools
from tallystick.store.memory import MemoryStore
from tallystick.testing.gather_contract import GatherContract
from tallystick.testing.reader_contract import Framed, ReaderContract, insert_lines
from tallystick.testing.trails import trail_over
from tallystick.transcripts.generic_jsonl import ROLES, Mapped, adapter_by, mapping_of
from tallystick.transcripts.lines import LineSource, Position
from tallystick.transcripts.protocol import Gatherer, Reader
from tallystick.workflows.ingest import ingest
from tests.cli.surface import Tally
from tests.growth import assert_linear, repeated
from tests.transcripts.golden import CORPORA
from tests.transcripts.test_gemini_cli import DocumentContract

PAGE = (Path(__file__).resolve().parents[2] / "docs/formats/generic-jsonl.md").read_text("utf-8")
MAPPING, LINES = (
    re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[0] for kind in ("toml", "jsonl")
)
PLAIN = '[line]\nrole = "role"\ntext = "text"\n'
ALL = PLAIN + "".join(
    f'{name} = "{name}"\n' for name in ("time", "tool", "call_id", "command", "exit_code", "id", "cwd")
)


def mapped(said: str, taken: tuple[str, ...] = ()) -> Mapped:
    return mapping_of(said.encode(), "m.toml", taken)


def read(said: str, *lines: Any, name: str = "log.jsonl") -> tuple[list[Event], Reader]:
    data = b"".join((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in lines)
    reader = adapter_by(mapped(said)).reader(name)
    events = list(reader.read(LineSource(BytesIO(data), final=True)))
    silent = sum(count for key, count in reader.counts.items() if key.startswith("record:"))
    assert reader.records == reader.records_with_events + silent + len(reader.problems)
    return events, reader


LINE_OF_EACH = b"".join(
    json.dumps(line).encode() + b"\n"
    for line in (
        {"id": 1, "role": "user", "text": "Fix it.", "time": "2026-03-02T09:00:00Z", "cwd": "/work/shop"},
        {"id": 2, "role": "thinking", "text": "Hm.", "time": "2026-03-02T09:00:00"},
        {"id": 3, "role": "assistant", "text": "Yes.", "tool": "sh", "call_id": "c1", "command": "make"},
        {"id": 4, "role": "tool", "text": "done", "call_id": "c1", "exit_code": 0},
        {"role": "tool_call", "tool": "sh", "call_id": "c2", "command": "make test"},
        {"role": "tool", "text": "broken", "call_id": "c2", "exit_code": "2"},
        {"role": "summary", "text": "It was fixed."},
        {"role": "system", "text": "Be kind."},
        {"note": "no role"},
    )
)


class TestLines(ReaderContract):
    """The contract of readers, for a mapping without sessions: lines of a growing file."""

    adapter = adapter_by(mapped(ALL))

    def sources(self) -> dict[str, bytes]:
        return {"a/b/log.jsonl": LINE_OF_EACH}

    def with_unknown(self, data: bytes) -> bytes:
        """A line of a role of next year, and one without, before and after each."""
        return insert_lines(data, b'{"role":"of_next_year","text":"x"}', b'{"text":"x"}')

    def test_unknown_records_only_change_counts(self) -> None:
        """EVID.3: as for every reader; a line that has no id of its own is known by its place, which moves."""
        before, after = (self.read_all("x", data) for data in (LINE_OF_EACH, self.with_unknown(LINE_OF_EACH)))
        assert [event._replace(uid="").text for event in before.events] == [event.text for event in after.events]
        assert after.reader.counts["record:unknown:of_next_year"] == 10
        assert after.reader.counts["record:unknown:without-a-role"] == 11


class TestSession(DocumentContract):
    """The contract of readers, for the lines of one session that was gathered."""

    adapter = adapter_by(mapped(MAPPING))

    def sources(self) -> dict[str, bytes]:
        return {"r1": LINES.encode()}

    def with_unknown(self, data: bytes) -> bytes:
        """A line of a role of next year before each."""
        return insert_lines(data, b'{"kind":"of_next_year","run":{"id":"r1"}}')

    def frame(self, data: bytes, at: Position, *, final: bool) -> Framed:
        """The session's lines as one record; what is gathered is whole, however the file is torn."""
        whole = final or data == LINES.encode()
        return super().frame(data, at, final=True) if whole else Framed([], at)


class TestPlace(GatherContract):
    """The contract of gatherers, for a file of two sessions whose lines alternate."""

    adapter = adapter_by(mapped(MAPPING))  # type: ignore[assignment]

    def place(self, folder: Path) -> Path:
        path = folder / "log.jsonl"
        lines = LINES.splitlines()
        path.write_text("".join(line + "\n" + line.replace('"r1"', '"r2"') + "\n" for line in lines))
        return path

    def grown(self, file: Path) -> None:
        with file.open("a") as stream:
            stream.write(LINES.splitlines()[0].replace('"r1"', '"r2"').replace('"uid": 1', '"uid": 9') + "\n")


def test_the_pages_example(tmp_path: Path, command: Tally) -> None:
    """The example of docs/formats/generic-jsonl.md does what the page says, through the command."""
    mapping, log = tmp_path / "my-agent.toml", tmp_path / "log.jsonl"
    mapping.write_text(MAPPING)
    log.write_text(LINES)
    report = command.json("ingest", "--mapping", mapping, log)
    assert (report["sessions"], report["events"], report["problems"]) == (1, 5, [])
    assert report["counts"]["record:unknown:metrics"] == 1
    assert command.json("ingest", "--mapping", mapping, log)["skipped_unchanged"] == 1
    adapter = adapter_by(mapped(MAPPING))
    assert isinstance(adapter, Gatherer)
    reader = adapter.reader("r1")
    events = list(reader.read(LineSource(BytesIO(LINES.encode().replace(b"\n", b" \n")), final=True)))
    assert [(event.kind.value, event.origin.value, event.text) for event in events] == [
        ("message", "user", "Run the tests.\nNever touch the lock file."),
        ("message", "assistant", "I run them."),
        ("tool_call", "assistant", "pytest -q"),
        ("tool_result", "tool", "1 failed, 11 passed"),
        ("message", "assistant", "One test fails."),
    ]
    result = events[3]
    assert (result.tool, result.command, result.status, result.exit_code) == ("sh", "pytest -q", Status.FAILED, 1)
    assert events[0].at == 1780000000000000
    assert (reader.facts.harness, reader.facts.native_id, reader.facts.cwd) == ("my-agent", "r1", "/work/shop")


def test_a_growing_file_is_read_on(tmp_path: Path) -> None:
    """EVID.4: without sessions in the lines, a file that grew is read from where it ended, and a call finds its result."""
    path = tmp_path / "log.jsonl"
    lines = LINE_OF_EACH.splitlines(keepends=True)
    tools = ingest_tools({})._replace(adapters=[adapter_by(mapped(ALL))])
    trail = trail_over(MemoryStore())
    path.write_bytes(b"".join(lines[:3]))
    assert ingest(trail, [path], tools).events == 4
    path.write_bytes(b"".join(lines))
    grown = ingest(trail, [path], tools)
    assert (grown.events, grown.counts["records"], grown.problems) == (5, 6, [])


# --- paths


@pytest.mark.parametrize(
    ("path", "line", "found"),
    [
        ("a", {"a": "x"}, "x"),
        ("a.b", {"a": {"b": "x"}}, "x"),
        ('"a.b".c', {"a.b": {"c": "x"}}, "x"),
        (r'"a\"b"', {'a"b': "x"}, "x"),
        ("a[1].b", {"a": [{"b": "y"}, {"b": "x"}]}, "x"),
        ("a[*].b", {"a": [{"b": "x"}, {"c": 1}, {"b": "y"}, 5]}, "x\ny"),
        ("a[*][0]", {"a": [["x"], ["y"], []]}, "x\ny"),
        ("a", {"a": {"b": [1, 2.5]}}, '{"b":[1,"2.5"]}'),
        ("a", {"a": 7}, "7"),
        ("a.0", {"a": ["x"]}, ""),
        ("a[0]", {"a": {"0": "x"}}, ""),
        ("a", {"a": None}, ""),
        ("content with spaces", {"content with spaces": "x"}, "x"),
    ],
)
def test_paths(path: str, line: dict[str, Any], found: str) -> None:
    """A path finds what stands there, and nothing where something else does."""
    said = f"[line]\nrole = 'role'\ntext = '{path}'\n"
    events, _ = read(said, {"role": "user", **line})
    assert "".join(event.text for event in events) == found


@given(st.text(max_size=30))
def test_any_path_is_one_or_refused(path: str) -> None:
    """Whatever stands where a path should, it is a path or an error that names the key."""
    said = f'[line]\nrole = "role"\ntext = {json.dumps(path, ensure_ascii=True)}\n'
    why = "--mapping m.toml: "
    try:
        read(said, {"role": "user", "text": "x"})
    except UsageError as error:
        why = str(error)
    assert why.startswith("--mapping m.toml: ")


def test_no_path_and_no_line_is_slow() -> None:
    """EVID.10: a path of every place in lists of lists is bounded, and a long path is refused in linear time."""
    deep: Any = "x"
    for _ in range(3):
        deep = [deep] * 40
    events, _ = read("[line]\nrole = 'role'\ntext = 'a[*][*][*]'\n", {"role": "user", "a": deep})
    assert len(events[0].text) == 2 * 10_000 - 1
    for piece in ("a.", "[*]", '"', '\\"', "["):

        def refused(text: str) -> None:
            with pytest.raises(UsageError):
                mapped(f"[line]\nrole = 'r'\ntext = '''{text}'''\n")

        assert_linear(refused, partial(repeated, piece), 20_000)


# --- a wrong mapping


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("a = ", "not TOML"),
        ("\xff".encode("latin-1").decode("latin-1") + "=", "not TOML"),
        ("", r"a table \[line\] is missing"),
        ("line = 3", r"a table \[line\] is missing"),
        (PLAIN + "[lines]\n", "'lines' is not known; expected harness, line, roles, time_unit"),
        ('[line]\nrole = "role"\n', r"\[line\] text: missing"),
        (PLAIN + 'exitcode = "x"\n', r"\[line\] exitcode: not known; expected role, text, .*exit_code"),
        ('[line]\nrole = "role"\ntext = 3\n', r"\[line\] text: expected a path such as"),
        ('[line]\nrole = "role"\ntext = "a..b"\n', r"'a\.\.b' is none"),
        ('[line]\nrole = "role"\ntext = "[0].a"\n', "is none"),
        ('[line]\nrole = "role"\ntext = "$.a[?(@.b)]"\n', "is none"),
        (f'harness = "My Agent"\n{PLAIN}', "harness: expected a name of small letters"),
        (f'harness = "codex"\n{PLAIN}', "harness = 'codex': that harness has a reader of its own"),
        (f'time_unit = "minutes"\n{PLAIN}', "time_unit: expected one of iso, s, ms, us, ns"),
        (f'{PLAIN}[roles]\nbot = ["b"]\n', r"\[roles\] bot: not known; expected user, assistant"),
        (f'{PLAIN}[roles]\nuser = "person"\n', r"\[roles\] user: expected a list of names"),
        (f'{PLAIN}[roles]\nuser = ["x"]\nassistant = ["x"]\n', "'x' stands for both user and assistant"),
    ],
)
def test_a_wrong_mapping_is_refused(said: str, why: str) -> None:
    """The message names the file, the key and what was expected."""
    with pytest.raises(UsageError, match=f"--mapping m.toml: .*{why}"):
        mapped(said, tuple(each.name for each in adapters()))


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Tally:
    """The command line over a trail of its own."""
    return Tally(tmp_path, monkeypatch, capsys)


def test_a_mapping_that_does_not_fit_says_what_lines_have(tmp_path: Path, command: Tally) -> None:
    """EVID.12: a file in which nothing stands where the mapping says is refused, with the keys that its lines have."""
    mapping, log = tmp_path / "m.toml", tmp_path / "log.jsonl"
    mapping.write_text(PLAIN)
    log.write_text('{"role": "user", "message": "hi", "ts": 1}\n')
    for arguments, expected in (
        ([mapping, log], "has text = 'text', and no line has anything there; lines have 'role', 'message', 'ts'"),
        ([mapping], "name the files or folders"),
        ([mapping, "--harness", "codex", log], "--mapping and --harness"),
        ([tmp_path / "none.toml", log], "none.toml: No such file"),
        ([mapping, mapping], "not a transcript of generic-jsonl"),
    ):
        done = command("ingest", "--mapping", *arguments)
        assert done.code == 2
        assert expected in done.err


# --- lines


@pytest.mark.parametrize(("role", "name"), [(role, name) for role, names in ROLES.items() for name in names])
def test_roles(role: str, name: str) -> None:
    """EVID.6: the usual names of roles are known, and a mapping may give any name to any role, or take it away."""
    expected = {
        "user": (Origin.USER, EventKind.MESSAGE),
        "assistant": (Origin.ASSISTANT, EventKind.MESSAGE),
        "thinking": (Origin.ASSISTANT, EventKind.THINKING),
        "tool_call": (Origin.ASSISTANT, EventKind.TOOL_CALL),
        "tool_result": (Origin.TOOL, EventKind.TOOL_RESULT),
        "harness": (Origin.HARNESS, EventKind.MESSAGE),
        "summary": (Origin.ASSISTANT, EventKind.SUMMARY),
    }[role]
    line = {"role": name, "text": "x"}
    for said in (PLAIN, f'{PLAIN}[roles]\n{role} = ["{name}"]\n'):
        assert [(event.origin, event.kind) for event in read(said, line)[0]] == [expected]
    moved = read(f'{PLAIN}[roles]\ndelegated = ["{name}"]\n', line)[0]
    assert [event.origin for event in moved] == [Origin.DELEGATED]
    taken, reader = read(f"{PLAIN}[roles]\n{role} = []\n", line)
    assert (taken, reader.counts[f"record:unknown:{name}"]) == ([], 1)


@pytest.mark.parametrize(
    ("code", "status", "exit_code"),
    [
        (0, Status.OK, 0),
        ("0", Status.OK, 0),
        (-9, Status.FAILED, -9),
        (None, Status.UNKNOWN, None),
        ("none", Status.UNKNOWN, None),
        (1.5, Status.UNKNOWN, None),
        (True, Status.UNKNOWN, None),
    ],
)
def test_how_a_call_ended(code: Any, status: Status, exit_code: int | None) -> None:
    """EVID.7: by the exit code alone, where it is a whole number (pitfalls 26, 39)."""
    (event,) = read(ALL, {"role": "tool", "text": "Exit code 3", "command": "make", "exit_code": code})[0]
    assert (event.status, event.exit_code, event.command) == (status, exit_code, "make")


@pytest.mark.parametrize(
    ("unit", "said", "at"),
    [
        ("iso", "2026-03-02T09:00:00.5+01:00", 1772438400500000),
        ("iso", "2026-03-02T09:00:00", None),
        ("iso", 1772438400, None),
        ("s", 1772438400.25, 1772438400250000),
        ("s", "1772438400", 1772438400000000),
        ("ms", 1772438400250, 1772438400250000),
        ("us", 1772438400250001, 1772438400250001),
        ("ns", 1772438400250001999, 1772438400250001),
        ("s", 1e300, None),
        ("s", -1, None),
        ("s", True, None),
    ],
)
def test_times(unit: str, said: Any, at: int | None) -> None:
    """EVID.8: in the unit that the mapping says; a naive or impossible time is none, and counted (pitfall 51)."""
    events, reader = read(f'time_unit = "{unit}"\n{ALL}', {"role": "user", "text": "x", "time": said})
    assert ([event.at for event in events], reader.counts["time_not_read"]) == ([at], int(at is None))


def test_a_copy_of_a_line_is_one_event() -> None:
    """EVID.5: with an id, the same line again is the same event, and the id with other words another (pitfalls 13, 24)."""
    one, other = {"id": "a", "role": "user", "text": "x"}, {"id": "a", "role": "user", "text": "y"}
    uids = [event.uid for event in read(ALL, one, other, one)[0]]
    assert (uids[0] == uids[2], uids[0] == uids[1]) == (True, False)


def test_bad_lines_are_problems() -> None:
    """EVID.2: what is no JSON or no object is named by its line, the others are read (pitfalls 3, 4, 7)."""
    events, reader = read(
        ALL,
        b"{",
        b"[1]",
        b"null",
        b"\xef\xbb\xbf",
        {"role": "user", "text": "x\u2028y"},
        b'{"role":"user","text":"\\ud83d"}',
    )
    assert [event.text for event in events] == ["x\u2028y", "\ufffd"]
    assert [problem.line for problem in reader.problems] == [1, 2, 3, 4]
    assert reader.counts["mended"] == 1


def test_our_own_words_and_tools_are_known() -> None:
    """EVID.6: our briefing is split off, and our own command's output is marked (pitfall 36)."""
    block = "<tallystick-briefing>\nx\n</tallystick-briefing>"
    events, _ = read(
        ALL,
        {"role": "user", "text": f"{block}\nfix it"},
        {"role": "tool_call", "command": "tally brief", "call_id": "c", "tool": "sh"},
        {"role": "tool", "text": "y", "call_id": "c"},
    )
    assert [(event.origin.value, event.flags) for event in events] == [
        ("briefing", ()), ("user", ()), ("assistant", ("own_tool",)), ("tool", ("own_tool",)),
    ]  # fmt: skip


def test_other_harnesses_files_are_not_taken() -> None:
    """EVID.12: without a mapping no adapter reads lines of any shape; with one, its own fields must be there."""
    head = LINE_OF_EACH[: 64 * 1024]
    assert not any(adapter.recognises(head, "log.jsonl") for adapter in adapters())
    adapter = adapter_by(mapped(MAPPING))
    path = next((CORPORA / "claude-code").glob("*.jsonl"))
    with pytest.raises(UsageError, match=r"the mapping m\.toml has"):
        adapter.recognises(path.read_bytes()[: 64 * 1024], path.name)
