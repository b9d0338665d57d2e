"""After forgetting, the bytes are gone from every file, and no guess is confirmed by what is left (ERASE.2, 3).

A searcher that knows the text reads everything: bytes, tables, search terms, what is compressed or encoded. Each test first
shows that it finds the text where it is known to be.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import apsw
import pytest
import zstandard

from tallystick.config import Places
from tallystick.model.entry import LogName
from tallystick.model.temporal import UNKNOWN_VALID_TIME
from tallystick.plugins import ingest_tools, open_trail
from tallystick.store.sqlite import SqliteStore
from tallystick.trail import Trail
from tallystick.trail.archive import record_bytes
from tallystick.workflows.amend import retract, revise
from tallystick.workflows.brief import make_briefing
from tallystick.workflows.exports import note_export
from tallystick.workflows.forget import Forgotten, Selector, forget
from tallystick.workflows.ingest import ingest
from tallystick.workflows.places import Place
from tallystick.workflows.portable import export_lines
from tallystick.workflows.recall import recall
from tallystick.workflows.remember import Said, Tools, remember
from tallystick.workflows.scoping import EVERYONE, Scope
from tallystick.workflows.selecting import all_parts
from tallystick.workflows.sessions import find_session
from tests.searching import Hit, confirmed, forms, search
from tests.sessions import CLOCK, ClaudeCode

WORDS = ("Zephyrine", "quokkaflux", "Ж7731ö")
TEXT = " ".join(WORDS)
"""Its words stand nowhere else."""
ALL = Scope((EVERYONE,))


class Disk(NamedTuple):
    """A trail on disk, with all that is written for it."""

    trail: Trail
    folder: Path

    def search(self) -> set[tuple[str, str]]:
        """(file, way) of everything that still has the text or one of its words; the trail is closed for it."""
        self.trail.store.close()
        hits = search(self.folder / "data", [TEXT, *WORDS]) + search(self.folder / "state", [TEXT, *WORDS])
        return {(hit.file, hit.way) for hit in hits}

    def forget(self, **what: object) -> Forgotten:
        """With the person's key."""
        return forget(self.trail, Selector(**what), "asked for", persons_key=True)  # type: ignore[arg-type]


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    """Folders of its own: ``data`` and ``state``, and sessions beside them."""
    monkeypatch.setenv("TALLY_CLOCK", CLOCK)
    trail = open_trail(Places(tmp_path / "data", tmp_path / "state"))
    (tmp_path / "sessions").mkdir()
    yield Disk(trail, tmp_path)
    trail.store.close()


def fill(disk: Disk) -> list[str]:
    """The text in every place that there is; gives the ids of the events that have it."""
    session = (
        ClaudeCode("one").says(f"Never call it {TEXT} in the docs.").says("Always run the linter before committing.")
    )
    session.edits(f"/work/shop/{TEXT}.py", "a", "b").runs(f"echo '{TEXT}'", f"{TEXT}\n" * 40)
    session.calls("Write", {"file_path": f"/work/shop/docs/{TEXT}.md", "content": "x"}, "File created successfully")
    session.answers(f"Created `docs/{TEXT}.md` with the settings.")
    fork = ClaudeCode("fork")
    fork.records = [record.replace(session.id.encode(), fork.id.encode()) for record in session.records[:4]]
    other = ClaudeCode("other", cwd=f"/work/{TEXT}").says("Never deploy on a Friday.")
    where = disk.folder / "sessions"
    ingest(disk.trail, [each.write(where) for each in (session, fork, other)], ingest_tools({"TALLY_PERSON": "ada"}))
    said = Said(f"the code name is {TEXT}", "fact", "", UNKNOWN_VALID_TIME)  # type: ignore[arg-type]
    claim = remember(disk.trail, said, None, Tools(len, "project:/work/shop", "person:ada")).id
    revise(
        disk.trail, claim, "the code name is Heron", f"{TEXT} was never used", change=False, valid=UNKNOWN_VALID_TIME,
        count_tokens=len,
    )  # fmt: skip
    recall(disk.trail, f"what is {TEXT}?", ALL, as_of=None)
    make_briefing(disk.trail, ALL, as_of=None, budget=4000)
    with disk.trail.reading() as rows:
        sessions = [name.seq for name in rows.names("session")]
    events = [event for seq in sessions for event in find_session(disk.trail, f"s{seq}", ()).events]
    return sorted({event.uid for event in events if TEXT in event.text + event.command + "".join(event.paths)})


def test_the_searcher_finds_what_is_there(tmp_path: Path) -> None:
    """ERASE.2: whatever way a text is kept in a file, the searcher finds it there."""
    (tmp_path / "sub").mkdir()
    plain = TEXT.encode()
    kept = {
        "raw": b"xx" + plain,
        "utf16": "…".encode("utf-16-le") + TEXT.encode("utf-16-le"),
        "json": json.dumps({"a": TEXT}).encode(),
        "zstd": b"\0\0\0" + zstandard.ZstdCompressor().compress(b"before " + plain + b" after"),
        "zlib": zlib.compress(b"blob 12\0" + plain),
        "sub/deep": base64.b64encode(b"ab" + zstandard.ZstdCompressor().compress(plain)),
        "base64": base64.b64encode(b"some bytes " + plain + b" and more"),
        "hex": plain.hex().encode(),
    }
    for name, data in kept.items():
        (tmp_path / name).write_bytes(data)
    found = {hit.file for hit in search(tmp_path, [TEXT])}
    assert found == set(kept)
    assert search(tmp_path, ["never written down"]) == []
    for shift in range(6):
        assert any(form in base64.b64encode(b"x" * shift + plain + b"yz") for form in forms(TEXT).values()), shift


def test_no_bytes_are_left_of_a_text(disk: Disk) -> None:
    """ERASE.2: pages, write-ahead log, tables, compressed blocks and search terms hold it before, and nothing does after."""
    fill(disk)
    before = {way for _, way in disk.search()}
    assert {"raw", "raw>zstd", "term", "term of the archive", "table part", "table block>zstd", "table name"} <= before
    done = disk.forget(text=TEXT)
    assert done.exit_code == 0
    for word in WORDS:
        disk.forget(text=word)
    assert disk.search() == set()
    assert [path.stat().st_size for path in (disk.folder / "data").glob("*-wal")] in ([], [0, 0])


def test_no_bytes_are_left_of_a_claim(disk: Disk) -> None:
    """ERASE.2: a claim that no session said is gone from everything with its answers, its reasons and its search terms."""
    said = Said(f"the code name is {TEXT}", "fact", "", UNKNOWN_VALID_TIME)  # type: ignore[arg-type]
    claim = remember(disk.trail, said, None, Tools(len, "project:/work/shop", "person:ada")).id
    make_briefing(disk.trail, ALL, as_of=None, budget=4000)
    retract(disk.trail, claim, f"{TEXT} is over")
    assert {file for file, _ in disk.search()} == {"memory.db", "access.db"}
    assert disk.forget(claim=claim).exit_code == 0
    assert disk.search() == set()


def test_no_bytes_are_left_of_a_session(disk: Disk) -> None:
    """ERASE.2: what only a session and its fork said is gone with it; reading its files again brings nothing back."""
    session = ClaudeCode("one").says(f"Never call it {TEXT} in the docs.").runs(f"echo '{TEXT}'", TEXT)
    fork = ClaudeCode("fork")
    fork.records = [record.replace(session.id.encode(), fork.id.encode()) for record in session.records]
    paths = [each.write(disk.folder / "sessions") for each in (session, fork)]
    ingest(disk.trail, paths, ingest_tools({"TALLY_PERSON": "ada"}))
    make_briefing(disk.trail, ALL, as_of=None, budget=4000)
    with disk.trail.reading() as rows:
        first = rows.names("session")[0].seq
    assert disk.search()
    assert disk.forget(session=first).exit_code == 0
    assert disk.search() == set()
    for path in paths:
        path.touch()
    ingest(disk.trail, paths, ingest_tools({"TALLY_PERSON": "ada"}, thorough=True))
    assert disk.search() == set()


def test_no_guess_is_confirmed(disk: Disk) -> None:
    """ERASE.2, TRAIL.4: before, each salt confirms the words it stands before; after, no digest and no salt confirms a guess."""
    events = fill(disk)
    with disk.trail.reading() as rows:
        sessions = [name.seq for name in rows.names("session")]
    contents = [event for seq in sessions for event in find_session(disk.trail, f"s{seq}", ()).events]
    records = [record_bytes(event) for event in contents if TEXT in event.text]
    guesses = [TEXT.encode(), f"the code name is {TEXT}".encode(), f"{TEXT} was never used".encode(), records[0]]
    for log in (LogName.MEMORY, LogName.ACCESS):
        with disk.trail.reading(log) as rows:
            guesses += [part.body for part in all_parts(rows) if TEXT.encode() in part.body]
    disk.trail.store.close()
    assert len(confirmed(disk.folder / "data", guesses)) >= 3
    disk.forget(text=TEXT)
    keys = _keys(disk.folder)
    disk.trail.store.close()
    assert keys
    assert confirmed(disk.folder / "data", [*guesses, *(f"erased\0text\0{TEXT}".encode(),)], events) == []
    assert disk.trail.outside.digest(disk.trail.id, f"erased\0text\0{TEXT}".encode()) in keys


def _keys(folder: Path) -> list[bytes]:
    """The keyed digests that are filed: with the key from outside a guess can be tested on them, which is their price."""
    database = apsw.Connection(str(folder / "data" / "memory.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return [bytes(row[0]) for row in database.execute("SELECT key FROM same")]
    finally:
        database.close()


def test_a_manifest_confirms_a_record_only_while_its_salt_is_there(disk: Disk) -> None:
    """ERASE.2: the digests of archived events stay in the manifest, and without their salts they confirm nothing."""
    (event,) = fill(disk)[:1]
    with disk.trail.reading() as rows:
        sessions = [name.seq for name in rows.names("session")]
    contents = {each.uid: each for seq in sessions for each in find_session(disk.trail, f"s{seq}", ()).events}
    record = _record(disk.folder, event)
    assert TEXT in contents[event].text + contents[event].command
    disk.trail.store.close()
    assert confirmed(disk.folder / "data", [record], [event])
    disk.forget(text=TEXT)
    disk.trail.store.close()
    assert confirmed(disk.folder / "data", [record], [event]) == []


def _record(folder: Path, event: str) -> bytes:
    database = apsw.Connection(str(folder / "data" / "memory.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        block, offset, length = next(
            database.execute("SELECT block, offset, length FROM event WHERE event = ?", (bytes.fromhex(event[1:]),))
        )
        data = database.execute("SELECT data FROM block WHERE block = ?", (block,)).get
        return zstandard.ZstdDecompressor().decompress(data)[offset : offset + length]
    finally:
        database.close()


def test_an_export_that_has_it_is_found(disk: Disk) -> None:
    """ERASE.1: an export is opened and said to have it; once it is deleted, or made anew, it is not."""
    fill(disk)
    file = disk.folder / "export.jsonl"
    note_export(disk.trail, file)
    file.write_bytes(b"".join(export_lines(disk.trail)))
    assert any(">zstd" in hit.way for hit in search(disk.folder, [TEXT]) if hit.file == "export.jsonl")
    done = disk.forget(text=TEXT)
    assert done.exit_code == 1
    assert _exports(done) == [("found", (str(file),))]
    assert _exports(disk.forget(text=TEXT)) == [("found", (str(file),))]
    file.write_bytes(b"".join(export_lines(disk.trail)))
    assert _exports(disk.forget(text=TEXT)) == [("not found", (str(file),))]
    file.write_bytes(b"{torn")
    assert _exports(disk.forget(text=TEXT)) == [("cannot tell", (str(file),))]
    assert disk.forget(text=TEXT).exit_code == 3
    file.unlink()
    assert disk.forget(text=TEXT).exit_code == 0


def test_an_exports_name_goes_and_a_damaged_list_is_said(disk: Disk) -> None:
    """ERASE.1, 2: the list of exports outside the trail has no path with the text in it; one that is damaged cannot be told."""
    fill(disk)
    note_export(disk.trail, disk.folder / f"{TEXT}.jsonl")
    note_export(disk.trail, disk.folder / "other.jsonl")
    assert ("exports.json", "json") in {
        (file.rpartition("/")[2], form.partition(" of")[0]) for file, _, form in _outside(disk)
    }
    assert _exports(disk.forget(text=TEXT))[0][0] == "not found"
    assert _outside(disk) == []
    assert disk.trail.outside.exports(disk.trail.id) == [str(disk.folder / "other.jsonl")]
    (disk.folder / "state" / disk.trail.id / "exports.json").write_bytes(b"{")
    done = disk.forget(text=TEXT)
    assert (_exports(done)[0][0], done.exit_code) == ("cannot tell", 3)


def _outside(disk: Disk) -> list[Hit]:
    return search(disk.folder / "state", [TEXT])


def _exports(done: Forgotten) -> list[tuple[str, tuple[str, ...]]]:
    return [(place.state, place.where) for place in done.places if place.place == "exports"]


def test_while_somebody_reads_it_cannot_be_told(disk: Disk) -> None:
    """ERASE.1: with a reader on the old pages free pages may hold it: cannot tell, and running it again finishes."""
    fill(disk)
    disk.trail.store.close()
    quick = Trail(
        SqliteStore(disk.folder / "data", lock_timeout_seconds=0.2), disk.trail.outside, clock=disk.trail.clock,
        entropy=lambda size: b"e" * size,
    )  # fmt: skip
    reader = apsw.Connection(str(disk.folder / "data" / "memory.db"))
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM entry").get
    done = forget(quick, Selector(text=TEXT), "asked for", persons_key=True)
    assert done.exit_code == 3
    assert _free_pages(done).state == "cannot tell"
    reader.execute("ROLLBACK")
    reader.close()
    again = forget(quick, Selector(text=TEXT), "asked for", persons_key=True)
    assert (again.exit_code, again.seq, _free_pages(again).state) == (0, -1, "erased")
    quick.store.close()
    assert not any(way == "raw" for file, way in disk.search() if file == "memory.db")


def _free_pages(done: Forgotten) -> Place:
    return next(place for place in done.places if place.place == "free pages")
