"""Sessions that are no files of their own: several in one place, or one in several files (EVID.3, 4, 12)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec
import pytest

from tallystick.errors import UsageError
from tallystick.model.entry import LogName
from tallystick.model.evidence import EventKind, Origin, SessionFacts
from tallystick.plugins import ingest_tools
from tallystick.store.memory import MemoryStore
from tallystick.store.outside import checkpoint_of
from tallystick.testing.gather_contract import GatherContract
from tallystick.testing.trails import trail_over
from tallystick.trail import Trail
from tallystick.transcripts.documents import DocumentReader, Message, Read
from tallystick.transcripts.protocol import FileState, FileView, Gatherer, Member, PendingCall
from tallystick.transcripts.view import DiskView
from tallystick.workflows.ingest import IngestReport, ingest
from tallystick.workflows.sessions import find_session
from tallystick.workflows.why import why


class _Reader(DocumentReader):
    harness = "toy"

    def messages(self, data: bytes) -> list[msgspec.Raw]:
        document: dict[str, Any] = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
        self.facts = SessionFacts(self.harness, msgspec.json.decode(document["id"]), cwd="/work/shop")
        return msgspec.json.decode(document["said"], type=list[msgspec.Raw])

    def message(self, message: Message) -> Read:
        text = msgspec.json.decode(message.data, type=str)
        return Read("user", self.texts(message, f"m{message.index}", text, EventKind.MESSAGE, Origin.USER))


class _Toy:
    name = "toy"
    framing = "gathered"

    def reader(self, name: str, calls: dict[str, PendingCall] | None = None) -> _Reader:
        return _Reader(name)

    def anchor(self, path: str) -> str:
        return path


class _Table(_Toy):
    """A database of sessions."""

    def recognises(self, head: bytes, name: str) -> bool:
        return head.startswith(b"SQLite format 3\0") and b"toy_session" in head

    def gather(self, view: FileView, anchor: str) -> Iterator[Member]:
        for name, changed in view.rows(anchor, "SELECT id, max(changed) FROM toy_session GROUP BY id ORDER BY id"):

            def load(name: object = name) -> bytes:
                said = view.rows(anchor, "SELECT text FROM toy_session WHERE id = ? ORDER BY rowid", (name,))
                return json.dumps({"id": name, "said": [text for (text,) in said]}).encode()

            yield Member(str(name), FileState(0, int(str(changed)), 0), load)


class _Folder(_Toy):
    """A folder of files for each session."""

    def recognises(self, head: bytes, name: str) -> bool:
        return head.startswith(b'"toy ')

    def anchor(self, path: str) -> str:
        return str(PurePosixPath(path).parent)

    def gather(self, view: FileView, anchor: str) -> Iterator[Member]:
        names = [name for name in view.names(anchor) if name.endswith(".json")]
        said = [json.loads(view.read(f"{anchor}/{name}")).removeprefix("toy ") for name in names]
        session = PurePosixPath(anchor).name
        yield Member(session, FileState(len(said), 0, 0), json.dumps({"id": session, "said": said}).encode)


def read(trail: Trail, *places: Path, adapter: Gatherer, **more: Any) -> IngestReport:
    """Ingest with one adapter."""
    tools = ingest_tools({"TALLY_PERSON": "ada"}, **more)._replace(adapters=[adapter])
    return ingest(trail, list(places), tools)


def said(trail: Trail, session: str) -> list[str]:
    """The texts of a session's events, as they are kept."""
    return [event.text for event in find_session(trail, session, []).events]


@pytest.fixture
def tell(tmp_path: Path) -> Callable[..., Path]:
    """Write what is said into the database, which is given back."""
    path = tmp_path / "toy.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE toy_session (id, changed INTEGER, text)")

    def add(session: str, *texts: object) -> Path:
        with sqlite3.connect(path) as database:
            at = database.execute("SELECT count(*) FROM toy_session").fetchone()[0]
            rows = [(session, at + n, text) for n, text in enumerate(texts, 1)]
            database.executemany("INSERT INTO toy_session VALUES (?, ?, ?)", rows)
        return path

    return add


@pytest.fixture
def trail() -> Trail:
    """A fresh one."""
    return trail_over(MemoryStore())


def test_a_database_of_sessions(trail: Trail, tell: Callable[..., Path]) -> None:
    """Each is a session of its own; unchanged, the file is not opened; changed, only what changed is read again."""
    tell("one", "Always run the linter.", "Thanks.")
    path = tell("two", "We decided to use Postgres.")
    first = read(trail, path.parent, adapter=_Table())
    assert (first.files, len(first.sessions), first.events, first.problems) == (2, 2, 3, [])
    assert said(trail, "one") == ["Always run the linter.", "Thanks."]
    again = read(trail, path.parent, adapter=_Table())
    assert (again.files, again.events, again.skipped_unchanged) == (0, 0, 1)
    tell("two", "And never MySQL.")
    grown = read(trail, path, adapter=_Table())
    assert (grown.files, grown.skipped_unchanged) == (1, 1)
    assert said(trail, "two") == ["We decided to use Postgres.", "And never MySQL."]
    thorough = read(trail, path, adapter=_Table(), thorough=True)
    assert (thorough.files, thorough.skipped_unchanged, thorough.counts["claims:asserted"]) == (0, 2, 0)


def test_where_a_claim_was_said(trail: Trail, tell: Callable[..., Path]) -> None:
    """The evidence names the file and the session in it, and knows whether the file is still there."""
    path = tell("one", "Always run the linter before every commit.")
    read(trail, path, adapter=_Table())
    with trail.reading() as rows:
        (claim,) = [int(str(row[0])) for row in rows.rows("claim")]
    assert [(line.source, line.source_state) for line in why(trail, claim, None).evidence] == [(f"{path}#one", "there")]
    path.unlink()
    assert [line.source_state for line in why(trail, claim, None).evidence] == ["source gone"]


def test_a_session_is_named_behind_its_file(trail: Trail, tell: Callable[..., Path]) -> None:
    """``path#name`` reads one straight from the file; a path to several asks which, a wrong name is said to be none."""
    tell("one", "Hello.")
    path = tell("two", "Good bye.")
    assert [event.text for event in find_session(trail, f"{path}#two", [_Table()]).events] == ["Good bye."]
    for wanted, why_not in ((str(path), "holds 2 sessions"), (f"{path}#three", "no session 'three'")):
        with pytest.raises(UsageError, match=why_not):
            find_session(trail, wanted, [_Table()])


def test_one_bad_session_does_not_hide_the_others(trail: Trail, tell: Callable[..., Path]) -> None:
    """A session that cannot be read is a problem that names it; the place counts as read when all of it was."""
    tell("bad", b"\xff")
    path = tell("good", "Hello.")

    class Fails(_Table):
        def gather(self, view: FileView, anchor: str) -> Iterator[Member]:
            for member in super().gather(view, anchor):

                def load(member: Member = member) -> bytes:
                    if member.name == "bad":
                        raise UsageError(f"{anchor}: damaged")
                    return member.load()

                yield member._replace(load=load)

    report = read(trail, path, adapter=Fails())
    assert [(each.file, each.reason) for each in report.problems] == [(f"{path}#bad", f"{path}: damaged")]
    assert said(trail, "good") == ["Hello."]
    assert read(trail, path, adapter=Fails()).problems == report.problems


def test_a_place_that_breaks_off_keeps_what_was_read(trail: Trail, tell: Callable[..., Path]) -> None:
    """EVID.2, TRAIL.10: the sessions before the break are kept and sealed; the place is refused by name, and tried again."""
    tell("one", "Hello.")
    path = tell("two", "Good bye.")

    class Breaks(_Table):
        def gather(self, view: FileView, anchor: str) -> Iterator[Member]:
            yield next(super().gather(view, anchor))
            raise UsageError(f"{anchor}: damaged from here on")

    report = read(trail, path, adapter=Breaks())
    assert said(trail, "one") == ["Hello."]
    assert [(each.path, each.reason) for each in report.refused] == [(str(path), "damaged from here on")]
    note = trail.outside.read_checkpoint(trail.id, LogName.MEMORY)
    head = None if note is None else checkpoint_of(note)
    with trail.reading() as rows:
        assert head is not None
        assert head.size == rows.head().size
    assert len(read(trail, path, adapter=_Table()).sessions) == 1


def test_one_session_in_many_files(trail: Trail, tmp_path: Path) -> None:
    """The files of a folder are one session, gathered once; a file more is read on."""
    folder = tmp_path / "conversation"
    folder.mkdir()
    for n in range(3):
        (folder / f"event-{n}.json").write_text(f'"toy message {n}"')
    report = read(trail, tmp_path, adapter=_Folder())
    assert (report.files, len(report.sessions), report.events, report.problems) == (1, 1, 3, [])
    assert read(trail, tmp_path, adapter=_Folder()).skipped_unchanged == 1
    (folder / "event-3.json").write_text('"toy message 3"')
    assert read(trail, folder / "event-3.json", adapter=_Folder()).files == 1
    assert said(trail, "conversation") == [f"message {n}" for n in range(4)]


def test_gatherers_are_told_from_other_adapters() -> None:
    """By what they have, not by what they call themselves."""
    tools = ingest_tools({})
    assert isinstance(_Table(), Gatherer)
    assert all(isinstance(each, Gatherer) == (each.framing == "gathered") for each in tools.adapters)


def test_the_view_is_what_adapters_are_handed() -> None:
    """The disk stands where the protocol is."""
    view: FileView = DiskView()
    assert view.names("/nowhere") == []


class TestTable(GatherContract):
    adapter = _Table()

    def place(self, folder: Path) -> Path:
        path = folder / "toy.db"
        with sqlite3.connect(path) as database:
            database.execute("CREATE TABLE toy_session (id, changed INTEGER, text)")
            database.executemany("INSERT INTO toy_session VALUES (?, ?, ?)", [("one", 1, "Hi."), ("two", 2, "Ho.")])
        return path

    def grown(self, file: Path) -> None:
        with sqlite3.connect(file) as database:
            database.execute("INSERT INTO toy_session VALUES ('two', 3, 'And more.')")
