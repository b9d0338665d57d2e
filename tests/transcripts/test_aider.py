"""Aider's chat history: the contracts, who wrote which line, and the real history with its 1,133 runs."""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.model.evidence import Event, EventKind, Origin
from tallystick.testing.gather_contract import GatherContract
from tallystick.transcripts.aider import AIDER, AiderReader
from tallystick.transcripts.protocol import RawRecord
from tallystick.transcripts.view import DiskView
from tests.growth import assert_linear
from tests.transcripts.golden import CORPORA, expected_path, golden, sessions
from tests.transcripts.turns import TurnContract

SHARED = Path(__file__).resolve().parents[2] / "../shared/data/transcripts"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not beside the repository")
HEADER = "# aider chat started at 2024-08-20 12:50:09\n\n"
OPENING = "> /home/me/.venv/bin/aider --lint  \n> Aider v0.51.2-dev  \n> Git repo: .git with 30 files  \n"


def run(*turns: str, header: str = HEADER) -> bytes:
    """A run as Aider writes it."""
    return "".join((header, OPENING, *turns)).encode()


def asked(text: str) -> str:
    """A prompt as Aider writes it."""
    return "\n#### " + "  \n#### ".join(text.split("\n")) + "  \n"


def answered(text: str) -> str:
    """A model's answer as Aider writes it."""
    return f"\n{text}\n\n"


def read(data: bytes, name: str = "2024-08-20T12:50:09") -> tuple[list[Event], AiderReader]:
    reader = AIDER.reader(name)
    events = list(reader.read([RawRecord(1, 0, data)]))
    silent = sum(count for key, count in reader.counts.items() if key.startswith("record:"))
    assert reader.records == reader.records_with_events + silent + len(reader.problems)
    return events, reader


def said(data: bytes) -> list[tuple[str, str]]:
    """Who said what, behind what Aider prints at the start of a run."""
    events = [(event.origin.value, event.text) for event in read(data)[0]]
    assert events.pop(0) == ("harness", OPENING.replace("> ", "").replace("  \n", "\n").strip())
    return events


def gathered(path: Path) -> dict[str, tuple[list[Event], AiderReader]]:
    """What each run of a history is read as, by the name of the member."""
    with DiskView() as view:
        return {member.name: read(member.load(), member.name) for member in AIDER.gather(view, path.as_posix())}


class TestContract(TurnContract):
    """A small run with every kind of turn, and a real one."""

    adapter = AIDER

    def sources(self) -> dict[str, bytes]:
        with DiskView() as view:
            _, _, real, *_ = AIDER.gather(view, str(CORPORA / "aider" / "chat-history@excerpt.md"))
        small = run(
            asked("/ask why?"), asked(" why?"), answered("Because.\n\n> so"), "> Tokens: 1k sent.\nCost: $1  \n"
        )
        return {"2024-08-20T12:50:09": small, "real": real.load().partition(b"\n<!-- in")[0] + b"\n"}

    def with_unknown(self, data: bytes) -> bytes:
        """An empty prompt at the end."""
        return data + b"\n#### <blank>  \n"


class TestPlaces(GatherContract):
    adapter = AIDER

    def place(self, folder: Path) -> Path:
        path = folder / ".aider.chat.history.md"
        later = HEADER.replace("12:50:09", "13:00:00")
        path.write_bytes(b"\n" + run(asked("hi"), answered("Hello.")) + b"\n" + run(asked("bye"), header=later))
        return path

    def grown(self, file: Path) -> None:
        with file.open("ab") as history:
            history.write(answered("Good bye.").encode())

    def test_a_new_run_leaves_the_others_as_they_were(self, tmp_path: Path) -> None:
        """EVID.4: when another run begins, the ones before it have the same state and the same bytes."""
        file = self.place(tmp_path)
        before = self.members(file)
        with file.open("ab") as history:
            history.write(b"\n" + run(header=HEADER.replace("12:50:09", "14:00:00")))
        after = self.members(file)
        assert list(after) == [*before, "2024-08-20T14:00:00"]
        assert {name: after[name] for name in before} == before

    def test_what_was_edited_has_another_state(self, tmp_path: Path) -> None:
        """EVID.4: a run that was rewritten in as many bytes is read again."""
        file = self.place(tmp_path)
        before = self.members(file)
        file.write_bytes(file.read_bytes().replace(b"Hello.", b"Hallo."))
        after = self.members(file)
        assert [after[name][0] == before[name][0] for name in after] == [False, True]

    def test_runs_that_started_in_one_second(self, tmp_path: Path) -> None:
        """EVID.1: two runs of one second are two sessions with ids of their own."""
        file = tmp_path / ".aider.chat.history.md"
        file.write_bytes(run(asked("one")) + b"\n" + run(asked("two")))
        found = gathered(file)
        assert list(found) == ["2024-08-20T12:50:09", "2024-08-20T12:50:09~2"]
        assert len({reader.facts.native_id for _, reader in found.values()}) == 2


# --- who wrote it


def test_who_wrote_which_line() -> None:
    """EVID.6, 8: prompts are the person's, lines behind ``>`` Aider's, the rest the model's; nothing has a time."""
    data = run(
        asked("add a test\n\nfor `x`"),
        answered("Done.\n\n#### What I did\n\n> quoted\n\ntests/a.py\n<<<<<<< SEARCH\n=======\n> x\n>>>>>>> REPLACE"),
        "> Tokens: 1k sent.  \n> Applied edit to tests/a.py  \n> Commit 14fb59f test: Add one  \n",
        "> \n> Add it? (Y)es/(N)o [Yes]: n  \n",
    )
    assert said(data)[0] == ("user", "add a test\n\nfor `x`")
    assert [origin for origin, _ in said(data)[1:]] == ["assistant", "harness", "harness", "harness", "harness"]
    assert said(data)[1][1].endswith("> x\n>>>>>>> REPLACE")
    assert [text for _, text in said(data)[3:5]] == ["Applied edit to tests/a.py", "Commit 14fb59f test: Add one"]
    assert all(event.at is None for event in read(data)[0])


def test_what_a_command_printed_is_no_answer() -> None:
    """EVID.6: of a message of many lines only the first has the mark, and only the last the break: none is the model's."""
    printed = "> ==== test session starts ====\nplatform darwin\n\n#### not a prompt\n\n3 passed  \n"
    question = "> Add the output to the chat?\n(y/n) y  \n"
    assert said(run(asked("/run pytest"), printed, question, answered("All tests pass."))) == [
        ("user", "/run pytest"),
        (
            "harness",
            "==== test session starts ====\nplatform darwin\n\n#### not a prompt\n\n3 passed\n"
            "Add the output to the chat?\n(y/n) y",
        ),
        ("assistant", "All tests pass."),
    ]


@pytest.mark.parametrize("command", ["/ask", "/code", "/architect", "/help"])
def test_a_prompt_behind_a_command_is_said_once(command: str) -> None:
    """EVID.5: Aider repeats what stands behind a command as a prompt: one turn (pitfall 32)."""
    events, reader = read(run(asked(f"{command} why is\nit red?"), asked(" why is\nit red?"), answered("Paint.")))
    assert [event.text for event in events if event.origin is Origin.USER] == [f"{command} why is\nit red?"]
    assert reader.counts["record:copy"] == 1
    assert len([each for each in said(run(asked("hi"), asked("hi"))) if each[0] == "user"]) == 2


def test_what_aider_puts_into_the_persons_mouth() -> None:
    """EVID.6: a linter's output, looked-up documents and the plan handed to the editor are not the person's (pitfalls 28, 34)."""
    lint = "# Fix any errors below, if possible.\n\n## Running: lint.sh a.py\n\nF401 unused"
    looked_up = "# Question: hi\n\n# Relevant docs:\n\n<doc>\nAlways use tabs.\n</doc>"
    plan = "Change `a`.\n\n1. Rename it."
    handed = (asked("/architect do it"), answered(plan), "> Edit the files? (Y)es/(N)o [Yes]: y  \n", asked(plan))
    for data in (run(asked(lint)), run(asked("/help hi"), asked(looked_up))):
        assert said(data)[-1][0] == "harness"
        assert read(data)[0][-1].flags == ("expanded",)
    assert [origin for origin, _ in said(run(*handed))] == ["user", "assistant", "harness", "delegated"]


def test_undo_is_the_persons_word() -> None:
    """EVID.6: a person's ``/undo`` and what Aider says it took back are both kept."""
    undone = "> Removed: 36dadc4 feat: Add handling  \n> Now at:  d868d1d copy  \n"
    assert said(run(asked("/undo"), undone))[0] == ("user", "/undo")
    assert [origin for origin, _ in said(run(asked("/undo"), undone))] == ["user", "harness", "harness"]


def test_our_own_briefing_is_split_off() -> None:
    """EVID.6: our block inside a prompt is ours; the words around it are the person's (pitfall 36)."""
    block = "<tallystick-briefing>\nx\n</tallystick-briefing>"
    assert said(run(asked(f"{block}\nfix it"))) == [("briefing", block), ("user", "\nfix it")]


def test_there_are_no_results() -> None:
    """OUTCOME.5: Aider keeps no results with a status, so nothing can be held against what was said (pitfall 46)."""
    events, reader = read(run(asked("/test"), "> 1 failed  \n", answered("Fixed.")))
    assert not reader.facts.has_results
    assert {event.kind for event in events} == {EventKind.MESSAGE}


# --- bytes


def test_a_history_without_its_beginning(tmp_path: Path) -> None:
    """EVID.3, 6: what stands before the first header is a session of its own, in which nobody is taken for the model."""
    path = tmp_path / "history.md"
    path.write_bytes(
        b"-*- mode: fundamental -*-\n> lint failed  \n\nand so on\n" + asked("hi").encode() + b"\n" + run()
    )
    events, reader = gathered(path)["headless"]
    assert [event.origin.value for event in events] == ["harness", "harness", "user"]
    assert reader.counts["record:mode_line"] == 1
    assert len(gathered(path)) == 2


def test_windows_line_ends_are_the_same(tmp_path: Path) -> None:
    """EVID.1: the same run with CR LF has the same texts (pitfall 7)."""
    data = run(asked("one\ntwo"), answered("a\n\nb"), "> Tokens: 1  \n")
    path = tmp_path / "history.md"
    path.write_bytes(b"\xef\xbb\xbf" + (data + b"\n" + run(header=HEADER.replace("12", "13"))).replace(b"\n", b"\r\n"))
    found = [[event.text.replace("\r", "") for event in events] for events, _ in gathered(path).values()]
    assert found == [[event.text for event in read(data)[0]], [event.text for event in read(run())[0]]]


def test_where_a_run_was(tmp_path: Path) -> None:
    """EVID.5: the folder of the history is where the run was; a copy elsewhere has the same ids, and no place moves."""
    data = run(asked("hi"), answered("Hello.\n<!-- in /elsewhere -->"))
    ids = []
    for name in ("a", "a-longer-name"):
        path = tmp_path / name / ".aider.chat.history.md"
        path.parent.mkdir()
        path.write_bytes(b"\n" + data)
        ((events, reader),) = gathered(path).values()
        assert reader.facts.cwd == path.parent.as_posix()
        assert reader.facts.version == "0.51.2-dev"
        ids.append((reader.facts.native_id, events))
        path.write_bytes(data)
        assert gathered(path)["2024-08-20T12:50:09"][0] == events
    assert ids[0] == ids[1]
    assert events == read(data)[0]
    assert read(data)[1].facts.cwd == ""


def test_spoilt_characters_are_replaced() -> None:
    """EVID.2: invalid UTF-8 costs its characters, not the turn (failure case 37)."""
    events, reader = read(run(asked("a XY b")).replace(b"XY", b"\xff\xed\xa0\xbd"))
    assert events[-1].text.startswith("a \ufffd")
    assert reader.counts["mended"] == 1


@given(
    st.lists(
        st.sampled_from(["> a  ", "> b", "#### c  ", "#### d", "e", "f  ", "", ">  ", "> Tokens: 1", "\u2028", "#"])
    )
)
def test_every_line_is_in_one_turn(lines: list[str]) -> None:
    """EVID.3: whatever lines stand together, each that is not blank is in one turn, in order, and none is read twice."""
    data = "\n".join(lines).encode()
    reader = AIDER.reader("x")
    if not data.strip():
        return
    turns = reader.turns(data)
    assert b" ".join(data[turn.start : turn.end] for turn in turns).split() == data.split()
    assert all(one.end <= two.start for one, two in pairwise(turns))


def test_a_run_that_is_still_written() -> None:
    """EVID.2: cut behind any line, the events are those of the whole run, but for the last that may go on."""
    data = run(
        asked("one\ntwo"), answered("a\n\nb"), "> Tokens: 1.\nCost: 2  \n> Commit 14fb59f x  \n", asked("/run a")
    )
    whole = {event.uid: event.text for event in read(data)[0]}
    for cut in (found.end() for found in re.finditer(rb"\n", data)):
        texts = {event.uid: event.text for event in read(data[:cut])[0]}
        *before, last = texts or ["", ""]
        assert all(whole[uid] == texts[uid] for uid in before if uid)
        assert not texts or whole[last].startswith(texts[last])


def test_other_texts_are_not_recognised() -> None:
    """EVID.12: Markdown that quotes or mentions a history is none; the name alone does not make one."""
    for other in (
        b"# Notes\n\n# aider chat started at 2024-08-20 12:50:09\n\n",
        b"> quoted\n\n# aider chat started at 2024-08-20 12:50:09\n",
        b"#### Heading\n\ntext\n",
        b"# aider chat started at noon\n",
    ):
        assert not AIDER.recognises(other, ".aider.chat.history.md"), other
    assert AIDER.recognises(b"> a line of it  \n" * 9_000, ".aider.chat.history.md")
    assert not AIDER.recognises(b"> a line of it  \n" * 9_000, "notes.md")


@pytest.mark.parametrize(
    "piece", ["> x", "> x  \n", "#### x  \n", "\n\n", "x\n", "> Tokens: 1\n", HEADER, "-*- ", "<!-- in ", "/a "]
)
def test_no_text_makes_a_scan_slow(piece: str) -> None:
    """EVID.10: whatever repeats in a history, it is read at a cost that grows with its length."""

    def cost(text: str) -> object:
        return AIDER.recognises(text.encode(), "x"), read(run(asked("hi")) + text.encode())[0]

    assert_linear(cost, partial(_repeated, piece), 20_000)


def _repeated(piece: str, length: int) -> str:
    return piece * (length // len(piece))


# --- real runs


@pytest.mark.parametrize("session", sessions("aider"), ids=lambda path: path.name)
def test_expected_events(session: Path) -> None:
    """EVID.1, 6: the events of real runs are those that a person has read and kept."""
    assert golden(AIDER, session) == expected_path(session).read_text("utf-8")


@pytest.mark.shared_data
@needs_shared
def test_the_real_history_agrees_with_a_plain_count() -> None:
    """EVID.3, 5: all runs have ids of their own, every prompt line is read, and a run cut out of the file is the same one."""
    path = SHARED / "aider" / "chat-history.md"
    data = path.read_bytes()
    found = gathered(path)
    assert (
        len(found)
        == len({reader.facts.native_id for _, reader in found.values()})
        == 1 + data.count(b"\n# aider chat started at ")
    )
    assert len(found) == 1 + 1133
    assert [name for name, (_, reader) in found.items() if reader.problems] == []
    prompts = re.findall(rb"(?m)(?:^#### [^\n]*  \n)+", data)
    # All 9,030 of the manifest but seven headings and examples inside answers, and one prompt that was edited by hand.
    assert sum(prompt.count(b"\n") for prompt in prompts) == 9_030 - 8
    counts: Counter[str] = sum((reader.counts for _, reader in found.values()), Counter())
    events = [event for events, _ in found.values() for event in events]
    theirs = [event for event in events if event.origin is Origin.USER or "expanded" in event.flags]
    assert len(theirs) + counts["record:copy"] + counts["record:blank"] == len(prompts)
    assert not any(
        re.search(r"platform darwin|(?m:^#### .*  $)", event.text)
        for event in events
        if event.origin is Origin.ASSISTANT
    )
    for cut in sorted((SHARED / "aider" / "runs").glob("*/.aider.chat.history.md")):
        ((name, (alone, reader)),) = gathered(cut).items()
        there, whole = found[name]
        assert alone == there
        assert reader.facts == whole.facts._replace(cwd=cut.parent.as_posix())
