"""Edits at rest, by someone who has the files, SQL and time, and puts the guards back afterwards (TRAIL.1, 7, 8)."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

import apsw
import pytest
import zstandard

from tallystick.errors import MachineError
from tallystick.log.canonical import entry_bytes, entry_from_bytes, part_digest
from tallystick.log.merkle import leaf_hash
from tallystick.model.entry import LogName
from tallystick.model.temporal import ValidTime
from tallystick.store.packing import body_of, packed, unpacked, without
from tallystick.testing.store_contract import said
from tallystick.trail import Trail
from tallystick.trail.verifying import Report, verify_log
from tallystick.workflows.amend import retract, revise
from tests.store.places import on_disk, reports, take_in, write_session


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A trail of a session, ten claims of our own, a retraction, a revision and a recall."""
    trail = on_disk(tmp_path)
    take_in(trail, write_session(tmp_path / "session.jsonl"))
    with trail.writing() as appender:
        holder = appender.holder("project:here", "project")
        claims = [said(appender, f"fact number {n}", holder) for n in range(10)]
        appender.add("linked", {"contradicts": b"{}"}, refs=claims[:2])
        verdict = b'{"verdicts":[{"verifier":"quotation/1","value":"verbatim","reason":"","spans":[]}]}'
        appender.add("judged", {f"verdict/{claims[3]}": verdict}, refs=[claims[3]])
    retract(trail, claims[4], "no more")
    revise(trail, claims[5], "fact number five", "so", change=False, valid=ValidTime(), count_tokens=len)
    trail.store.close()
    assert _verified(tmp_path).bad == ()
    return tmp_path


def _verified(folder: Path, log: LogName = LogName.MEMORY, against: bytes | None = None) -> Report:
    trail = on_disk(folder)
    try:
        return verify_log(trail, log, against)
    finally:
        trail.store.close()


def _edit(folder: Path, *statements: str, values: tuple[object, ...] = (), log: str = "memory") -> None:
    """Change the database with its triggers away, and put them back word for word."""
    database = apsw.Connection(str(folder / "trail" / f"{log}.db"))
    database.create_scalar_function("with_part", _with_part, 4)
    database.create_scalar_function("without_part", _without_part, 2)
    database.create_scalar_function("salt_of", lambda *given: _part(*given)[0], 2)
    database.create_scalar_function("body_of", lambda *given: _part(*given)[1], 2)
    triggers = list(database.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"))
    for name, _ in triggers:
        database.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        database.execute(statement, values if "?" in statement else ())
    for _, sql in triggers:
        database.execute(sql)
    database.close()


def _with_part(*given: Any) -> bytes:
    """``packed`` with one part of a name, salt and body."""
    data, name, salt, body = given
    rest = [part for part in unpacked(0, data) if part[0] != name]
    pieces = [(name, salt.ljust(32, b"\0")[:32], body), *rest]
    return packed(sorted(pieces))


def _without_part(*given: Any) -> bytes:
    data, name = given
    return without(0, data, [name])


def _part(data: Any, name: Any) -> tuple[bytes, bytes]:
    return next((salt, body) for each, salt, body in unpacked(0, data) if each == name)


def _entries(folder: Path) -> list[bytes]:
    database = apsw.Connection(str(folder / "trail" / "memory.db"))
    found = [row[0] for row in database.execute("SELECT canon FROM entry ORDER BY seq")]
    database.close()
    return found


def _facts(folder: Path) -> list[int]:
    """Seqs of our ten claims."""
    database = apsw.Connection(str(folder / "trail" / "memory.db"))
    found = [
        seq
        for seq, data in database.execute("SELECT seq, packed FROM part")
        if re.fullmatch(rb"fact number .", body_of(seq, data, "text") or b"")
    ]
    database.close()
    return sorted(found)[:10]


@pytest.mark.parametrize("verb", ["UPDATE entry SET at = at + 1", "DELETE FROM entry", "UPDATE part SET packed = x'00'",
                                  "DELETE FROM part", "INSERT OR REPLACE INTO entry SELECT seq, at, x'00', leaf FROM entry",
                                  "REPLACE INTO part SELECT seq, x'00' FROM part"])  # fmt: skip
def test_the_engine_refuses_changes(folder: Path, verb: str) -> None:
    """TRAIL.1: UPDATE, DELETE and REPLACE of entries and parts are refused by the engine itself."""
    database = apsw.Connection(str(folder / "trail" / "memory.db"))
    with pytest.raises(apsw.ConstraintError, match=r"never|only"):
        database.execute(verb)
    database.close()
    assert _verified(folder).bad == ()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("CREATE TABLE words_more (a)", "words_more"),
        ("CREATE VIEW words_seen AS SELECT * FROM part", "words_seen"),
        ("CREATE INDEX words_by_block ON words_data (block)", "words_by_block"),
        ("CREATE TRIGGER words_trap AFTER INSERT ON words_data BEGIN DELETE FROM source; END", "words_trap"),
        ("CREATE TRIGGER words_data AFTER INSERT ON words_data BEGIN DELETE FROM source; END", "words_data"),
        ("INSERT INTO words_config VALUES ('rank', 'bm25(10.0)')", "words"),
        ("UPDATE words_config SET v = 5", "words"),
    ],
)  # fmt: skip
def test_whatever_is_added_to_the_schema_is_told(folder: Path, change: str, named: str) -> None:
    """TRAIL.1: a table, view, index or trigger that is none of ours, by whatever name and on whatever table."""
    database = apsw.Connection(str(folder / "trail" / "memory.db"))
    database.execute(change)
    database.close()
    assert [bad.what for bad in _verified(folder).bad] == [f"the schema of {named} was changed"]


def test_a_missing_guard_is_told(folder: Path) -> None:
    """TRAIL.1: with a trigger dropped and nothing else changed, ``verify`` says so."""
    database = apsw.Connection(str(folder / "trail" / "memory.db"))
    database.execute("DROP TRIGGER entry_keeps")
    database.close()
    assert [bad.what for bad in _verified(folder).bad] == ["the schema of entry_keeps was changed"]


ENTRY_EDITS = {
    "changed": "UPDATE entry SET canon = CAST(replace(CAST(canon AS TEXT), '\"clock\":1', '\"clock\":2') AS BLOB)"
    " WHERE seq = {seq}",
    "changed in its time column": "UPDATE entry SET at = at - 1 WHERE seq = {seq}",
    "deleted": "DELETE FROM entry WHERE seq = {seq}",
    "doubled": "UPDATE entry SET (canon, leaf) = (SELECT canon, leaf FROM entry WHERE seq = {seq} + 1) WHERE seq = {seq}",
    "given another leaf hash": "UPDATE entry SET leaf = zeroblob(32) WHERE seq = {seq}",
    "emptied": "UPDATE entry SET canon = x'' WHERE seq = {seq}",
    "given another part": "UPDATE part SET packed = with_part(packed, 'quote', zeroblob(32), x'78') WHERE seq = {seq}",
    "robbed of a part": "UPDATE part SET packed = without_part(packed, 'text') WHERE seq = {seq}",
    "robbed of all parts": "DELETE FROM part WHERE seq = {seq}",
    "given parts that are cut": "UPDATE part SET packed = substr(packed, 1, 50) WHERE seq = {seq}",
    "given another text": "UPDATE part SET packed = with_part(packed, 'text', salt_of(packed, 'text'),"
    " CAST('fact number 99' AS BLOB)) WHERE seq = {seq}",
    "given another salt": "UPDATE part SET packed = with_part(packed, 'text', zeroblob(32), body_of(packed, 'text'))"
    " WHERE seq = {seq}",
    "given the text of another": "UPDATE part SET packed = (SELECT packed FROM part WHERE seq = {seq} + 1) WHERE seq = {seq}",
}  # fmt: skip


@pytest.mark.parametrize("edit", ENTRY_EDITS.values(), ids=ENTRY_EDITS.keys())
def test_an_edited_entry_or_part_is_named(folder: Path, edit: str) -> None:
    """TRAIL.7: changed, deleted, doubled, emptied, robbed or exchanged: the first bad entry is that one."""
    seq = _facts(folder)[6]
    _edit(folder, edit.format(seq=seq))
    assert _verified(folder).bad[0].seq == seq


def test_entries_in_another_order_are_named(folder: Path) -> None:
    """TRAIL.7: two entries exchanged, in part and in whole: the first of them is named."""
    first, second = _facts(folder)[2:4]
    canons = _entries(folder)
    for seq, canon in ((first, canons[second]), (second, canons[first])):
        _edit(folder, f"UPDATE entry SET canon = ?, leaf = ? WHERE seq = {seq}", values=(canon, leaf_hash(canon)))
    assert _verified(folder).bad[0].seq == first


def test_an_inserted_entry_is_named(folder: Path) -> None:
    """TRAIL.7: an entry put in at the end, canonical and with its leaf hash, is not taken for one of the log's."""
    canons = _entries(folder)
    entry = entry_from_bytes(canons[-1])
    canon = entry_bytes(entry._replace(seq=entry.seq + 1, parts=()))
    _edit(folder, "INSERT INTO entry VALUES (?, ?, ?, ?)", values=(entry.seq + 1, entry.at, canon, leaf_hash(canon)))
    assert _verified(folder).bad[0].seq == entry.seq + 1


def test_a_part_of_no_entry_is_named(folder: Path) -> None:
    """TRAIL.7: a part under a seq that no entry has."""
    size = len(_entries(folder))
    _edit(folder, "INSERT INTO part SELECT ?, packed FROM part LIMIT 1", values=(size + 4,))
    assert _verified(folder).bad[0].seq == size + 4


def test_an_entry_rewritten_with_everything_that_follows_from_it(folder: Path) -> None:
    """TRAIL.7, 8: text, salt, digest, entry and leaf hash all made anew: the head kept outside does not agree."""
    seq = _facts(folder)[6]
    entry = entry_from_bytes(_entries(folder)[seq])
    salt, body = b"s" * 32, b"fact number 99"
    parts = tuple((name, part_digest(salt, body) if name == "text" else digest) for name, digest in entry.parts)
    canon = entry_bytes(entry._replace(parts=parts))
    _edit(folder, f"UPDATE part SET packed = with_part(packed, 'text', ?, ?) WHERE seq = {seq}", values=(salt, body))
    _edit(folder, f"UPDATE entry SET canon = ?, leaf = ? WHERE seq = {seq}", values=(canon, leaf_hash(canon)))
    report = _verified(folder)
    assert report.checkpoint == "forked"
    assert any("head" in bad.what for bad in report.bad)


VIEW_EDITS = {
    "claim kind": ("UPDATE version SET kind = 'rule' WHERE claim = {6}", 6),
    "claim deleted": ("DELETE FROM version WHERE claim = {6}", 6),
    "claim inserted": ("INSERT INTO version SELECT {6} - 1000, {6} - 1000, tx_to, valid, holder, kind, origin, lineage, session,"
                       " said_at, tokens, subject, attribute, value FROM version WHERE claim = {6}", None),
    "belief ended": ("UPDATE version SET tx_to = {8} WHERE claim = {6}", 8),
    "belief begun later": ("UPDATE version SET tx_from = tx_from + 1 WHERE claim = {6}", 6),
    "belief in another's memory": ("UPDATE version SET holder = 1 - holder WHERE claim = {6}", 6),
    "valid time": ("UPDATE version SET valid = '[[0,1]]' WHERE claim = {6}", 6),
    "verdict": ("UPDATE verdict SET value = 'verbatim', reason = 'trust me' WHERE claim = {3}", None),
    "verdict inserted": ("INSERT INTO verdict VALUES ({6}, 'derivation', {6}, 'verbatim', '', {6})", 6),
    "retraction's touch": ("DELETE FROM touch WHERE claim = {4}", None),
    "link": ("DELETE FROM link WHERE kind = 'contradicts'", None),
    "name": ("UPDATE name SET name = 'project:elsewhere' WHERE name = 'project:here'", None),
    "epoch": ("INSERT INTO epoch VALUES (1, {6}, 0)", 6),
}  # fmt: skip


@pytest.mark.parametrize(("edit", "named"), VIEW_EDITS.values(), ids=VIEW_EDITS.keys())
def test_an_edited_view_is_named(folder: Path, edit: str, named: int | None) -> None:
    """TRAIL.7: a view that is not what the entries say is found, with the entry that it is about."""
    facts = _facts(folder)
    _edit(folder, edit.format(*facts))
    bad = _verified(folder).bad
    assert "view" in bad[0].what
    assert named is None or bad[0].seq == facts[named]


@pytest.mark.parametrize(
    "edit",
    [
        "INSERT INTO words (words, rowid, text) SELECT 'delete', claim, 'fact' || char(57344) || holder FROM version"
        " WHERE claim = {6}",
        "INSERT INTO words (rowid, text) VALUES ({6}, 'another word')",
        "DELETE FROM words_data WHERE id > 10",
    ],
)
def test_an_edited_search_index_is_told(folder: Path, edit: str) -> None:
    """TRAIL.7: words taken out of the search index, put into it, or all of it gone."""
    _edit(folder, edit.format(*_facts(folder)))
    assert any("search index" in bad.what or "words" in bad.what for bad in _verified(folder).bad)


def _reworded(folder: Path) -> bytes:
    database = apsw.Connection(str(folder / "trail" / "memory.db"))
    data = zstandard.ZstdDecompressor().decompress(database.execute("SELECT data FROM block").get)
    database.close()
    return zstandard.ZstdCompressor().compress(data.replace(b"linter", b"banana"))


UNVOUCHED = {
    "holder": "INSERT INTO holder VALUES (99, randomblob(16))",
    "block of no event": "INSERT INTO block SELECT block + 9, session, data FROM block",
    "block of another session": "UPDATE block SET session = session + 1",
    "block with more behind it": "UPDATE block SET data = CAST(data || x'736563726574' AS BLOB)",
    "subtree of level 0": "INSERT INTO node VALUES (0, 5, zeroblob(32))",
    "subtree of level 8": "INSERT INTO node VALUES (8, 0, zeroblob(32))",
    "subtree before the first": "INSERT INTO node VALUES (1, -1, zeroblob(32))",
    "fact": "INSERT INTO meta VALUES ('note', 'hidden')",
    "fact with another value": "INSERT INTO meta VALUES ('unscrubbed', 'hidden')",
    "fact gone": "DELETE FROM meta WHERE key = 'log'",
}


@pytest.mark.parametrize("edit", UNVOUCHED.values(), ids=UNVOUCHED.keys())
def test_a_row_that_nothing_vouches_for_is_told(folder: Path, edit: str) -> None:
    """TRAIL.7: what no entry, event or claim accounts for is found, in every table."""
    _edit(folder, edit)
    assert _verified(folder).bad


ARCHIVE_EDITS = {
    "reworded": "UPDATE block SET data = ?1",
    "no longer compressed": "UPDATE block SET data = x'0011' WHERE ?1 <> 0",
    "gone": "DELETE FROM block WHERE ?1 <> 0",
    "event elsewhere": "UPDATE event SET offset = offset + 1 WHERE n = 2 AND ?1 <> 0",
    "event under another id": "UPDATE event SET event = x'0102030405060708' WHERE n = 2 AND ?1 <> 0",
    "event gone": "DELETE FROM event WHERE n = 2 AND ?1 <> 0",
    "event salted anew": "UPDATE event SET salt = zeroblob(32) WHERE n = 2 AND ?1 <> 0",
    "event put in": "INSERT INTO event SELECT session, 99, event, block, offset, length, salt FROM event WHERE n = 2 AND ?1 <> 0",
    "event of no session": "INSERT INTO event SELECT -1, n, event, block, offset, length, salt FROM event WHERE ?1 <> 0",
}


@pytest.mark.parametrize("edit", ARCHIVE_EDITS.values(), ids=ARCHIVE_EDITS.keys())
def test_an_edited_archive_is_named(folder: Path, edit: str) -> None:
    """TRAIL.7, EVID.11: archived words that were changed, moved, lost or put in; the entry that observed them is named."""
    observed = next(seq for seq, canon in enumerate(_entries(folder)) if b'"kind":"observed"' in canon)
    _edit(folder, edit, values=(_reworded(folder),))
    bad = [each for each in _verified(folder).bad if "archived" in each.what]
    assert bad
    assert bad[0].seq == (observed if "INSERT" not in edit else -1)


def test_the_head_row_and_the_facts_of_a_log_are_checked(folder: Path) -> None:
    """TRAIL.7: another size, root, time or trail than the entries'."""
    size = len(_entries(folder))
    for edit, back in (
        ("UPDATE head SET size = size - 1", "UPDATE head SET size = size + 1"),
        ("UPDATE head SET at = at + 1", "UPDATE head SET at = at - 1"),
        ("UPDATE head SET epoch = 3", "UPDATE head SET epoch = 0"),
        ("UPDATE meta SET value = 'access' WHERE key = 'log'", "UPDATE meta SET value = 'memory' WHERE key = 'log'"),
    ):
        _edit(folder, edit)
        bad = _verified(folder).bad
        assert bad, edit
        assert bad[0].seq in (size - 1, -1), edit
        _edit(folder, back)
        assert _verified(folder).bad == ()
    _edit(folder, f"UPDATE meta SET value = '{'0' * 32}' WHERE key = 'trail'")
    assert _verified(folder).bad[0].seq == 0


@pytest.fixture
def grown(folder: Path) -> tuple[Path, Path]:
    """(a trail, an older copy of its files): five entries were appended in between."""
    older = folder / "older"
    shutil.copytree(folder / "trail", older)
    _append(folder, "later", 5)
    return folder, older


def _append(folder: Path, word: str, count: int) -> None:
    trail = on_disk(folder, seed=77)
    with trail.writing() as appender:
        for n in range(count):
            said(appender, f"{word} {n}")
    trail.seal()
    trail.store.close()


def _put_back(folder: Path, older: Path) -> None:
    shutil.rmtree(folder / "trail")
    shutil.copytree(older, folder / "trail")


def test_an_older_copy_put_back(grown: tuple[Path, Path]) -> None:
    """TRAIL.8: the message says that it is an older copy and how much is missing; nothing may be appended to it."""
    folder, older = grown
    size = len(_entries(folder))
    _put_back(folder, older)
    report = _verified(folder)
    assert report.checkpoint == "older_copy"
    assert report.bad[0].seq == size - 5
    assert f"an older copy was put back, or the end cut off cleanly: {size - 5} entries of {size}" in report.bad[0].what
    with pytest.raises(MachineError, match="its end was cut off or an older copy was put back"):
        _append(folder, "more", 1)


def test_who_was_there_before_an_older_copy_is_introduced_again(folder: Path) -> None:
    """TRAIL.8: a process that outlives a restore appends as nobody whom the restored log does not know, however it grew."""
    trail = on_disk(folder, seed=5)
    shutil.copytree(folder / "trail", folder / "older")
    before = Trail(trail.store, trail.outside, clock=trail.clock, entropy=os.urandom, actor="alice")
    with before.writing() as appender:
        said(appender, "one")
    before.store.close()
    _put_back(folder, folder / "older")
    with trail.store.reading(LogName.MEMORY) as rows:
        trail.outside.write_head(before.id, LogName.MEMORY, rows.head())
    _append(folder, "another", 5)
    with before.writing() as appender:
        said(appender, "two")
    with before.reading() as rows:
        known = {name.id for name in rows.names("actor")}
        assert {entry_from_bytes(row.canon).actor for row in rows.entries()} <= known
    before.store.close()


def test_a_tail_cut_off(grown: tuple[Path, Path]) -> None:
    """TRAIL.8: entries and parts cut off at the end with the rest left as it was: the message says truncated."""
    folder, _ = grown
    size = len(_entries(folder))
    _edit(folder, f"DELETE FROM entry WHERE seq >= {size - 3}", f"DELETE FROM part WHERE seq >= {size - 3}")
    report = _verified(folder)
    assert report.checkpoint == "truncated"
    assert report.bad[0].seq == size - 3
    assert any(f"truncated: {size - 3} entries are left of {size}" in bad.what for bad in report.bad)


def test_two_heads_of_one_size(grown: tuple[Path, Path]) -> None:
    """TRAIL.8: two trails that grew apart from one copy: the message says so, by the head or by anyone's checkpoint."""
    folder, older = grown
    shown_to_another = on_disk(folder).seal()
    state = folder / "state-of-then"
    shutil.copytree(folder / "state", state)
    trail_id = next(path.name for path in state.iterdir())
    _put_back(folder, older)
    (folder / "state" / trail_id / "memory.head").unlink()
    (folder / "state" / trail_id / "memory.checkpoint").unlink()
    _append(folder, "other", 5)
    assert _verified(folder).checkpoint == "matches"
    report = _verified(folder, against=shown_to_another)
    assert report.checkpoint == "forked"
    assert "two heads of one size" in report.bad[-1].what
    _append(folder, "other", 1)
    assert "its first entries are not the ones written down" in _verified(folder, against=shown_to_another).bad[-1].what
    shutil.rmtree(folder / "state")
    shutil.copytree(state, folder / "state")
    assert _verified(folder).checkpoint == "forked"


def test_a_whole_log_gone(grown: tuple[Path, Path]) -> None:
    """TRAIL.8: a log whose file is gone is known to have been, as long as another log tells whose it was."""
    folder, _ = grown
    trail = on_disk(folder)
    with trail.writing(LogName.ACCESS) as appender:
        appender.add("recalled", {"query": b"q"})
    trail.store.close()
    shutil.copytree(folder / "trail", folder / "whole")
    for log in (LogName.ACCESS, LogName.MEMORY):
        _put_back(folder, folder / "whole")
        (folder / "trail" / f"{log}.db").unlink()
        report = _verified(folder, log)
        assert report.checkpoint == "older_copy"
        assert report.bad[0].seq == 0


def test_a_checkpoint_that_was_tampered_with(folder: Path) -> None:
    """TRAIL.8: another root under the old signature, or another trail's checkpoint, is no witness."""
    trail = on_disk(folder)
    note = trail.seal()
    trail.store.close()
    lines = note.split(b"\n")
    forged = b"\n".join([lines[0], str(int(lines[1]) - 1).encode(), *lines[2:]])
    assert _verified(folder, against=forged).checkpoint == "bad_signature"
    foreign = note.replace(note[11:43], b"f" * 32)
    assert _verified(folder, against=foreign).checkpoint == "unreadable"
    assert _verified(folder, against=note).checkpoint == "matches"


@pytest.mark.parametrize("bit", range(8))
def test_a_word_changed_in_the_search_index_is_noticed(tmp_path: Path, bit: int) -> None:
    """TRAIL.7: a flip in the last letter of an indexed word, in which the engine's own checksum can cancel, is noticed."""
    trail = on_disk(tmp_path)
    with trail.writing() as appender:
        for n in range(4):
            said(appender, f"cache {n}")
    trail.store.close()
    connection = apsw.Connection(str(tmp_path / "trail" / "memory.db"))
    ((block, data),) = connection.execute("SELECT id, block FROM words_data WHERE instr(block, CAST('cache' AS BLOB))")
    at = data.index(b"cache") + len("cache") - 1
    changed = data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]
    connection.execute("UPDATE words_data SET block = ? WHERE id = ?", (changed, block))
    connection.close()
    assert not reports(tmp_path)[LogName.MEMORY].sound


def test_no_room_to_check_in_is_not_unsound(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TRAIL.5, 7: where there is no room to make the search index anew, that is what is said, and nothing of the trail."""

    def no_room() -> str:
        raise apsw.FullError("database or disk is full")

    monkeypatch.setattr("tallystick.store.sqlite.store.index_made_anew", no_room)
    with pytest.raises(MachineError, match="the disk is full"):
        _verified(folder)
    monkeypatch.undo()
    assert _verified(folder).sound
