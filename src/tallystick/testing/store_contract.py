"""What any store must hold to, as a test class and a state machine to inherit (TRAIL.1, 5, 7, 9, TIME.1-3, 8, 9, 12, 13,
ERASE.1, 2).

::

    class TestMyStore(StoreContract):
        def make(self, folder): return MyStore(folder)
        def kept_entries(self, store, log): ...        # (seq, canonical bytes), read without the store's own API
        def overwrite_entry(self, store, log, seq, canon): ...    # change one, past every guard

The two back doors are there so that the API under test cannot vouch for itself. ``trail_machine(make)`` gives a Hypothesis
state machine that drives one random history through the reference store and yours and compares both with ``pure_fold``.
"""

from __future__ import annotations

import json
import multiprocessing
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from hashlib import sha256
from multiprocessing.synchronize import Event as Signal
from pathlib import Path
from typing import Any

import pytest

from tallystick.beliefs import ALWAYS, ClaimRow, Link
from tallystick.errors import MachineError, UnknownId
from tallystick.log.canonical import entry_bytes, entry_from_bytes
from tallystick.model.entry import EntryKind, Head, LogName
from tallystick.model.evidence import Event, EventKind, Locator, Origin
from tallystick.store.protocol import VIEWS, Selection, SourceRow, Store, Writing
from tallystick.testing.trails import SetClock, trail_over
from tallystick.trail import Appender, Trail
from tallystick.trail.archive import ArchiveReader, repacked, unpacked
from tallystick.trail.erasing import Erasure, erase, with_copies
from tallystick.trail.verifying import verify_log
from tallystick.workflows.archiving import SessionArchive

HOLDER = "5" * 32


def said(appender: Appender, text: str, holder: str = HOLDER) -> int:
    """Assert ``text`` as a fact and return the claim."""
    facets = json.dumps({"kind": "fact", "origin": "assistant"}).encode()
    return appender.add(EntryKind.ASSERTED, {"facets": facets, "text": text.encode()}, holder=holder)


class Stopped(Exception):
    """Raised by tests in the middle of a write."""


class StoreContract(ABC):
    """Inherit, and say how a store is made and how its entries are reached behind its back."""

    @abstractmethod
    def make(self, folder: Path) -> Store:
        """A store over ``folder``, which may hold what an earlier one left there."""

    @abstractmethod
    def kept_entries(self, store: Store, log: LogName) -> Iterable[tuple[int, bytes]]:
        """(seq, canonical bytes) of every entry, in order, by another way than the store's."""

    @abstractmethod
    def overwrite_entry(self, store: Store, log: LogName, seq: int, canon: bytes) -> None:
        """Put other bytes in the place of an entry, as someone with the files at hand could."""

    @pytest.fixture
    def trail(self, tmp_path: Path) -> Iterable[Trail]:
        """A trail over a fresh store."""
        made = trail_over(self.make(tmp_path / "trail"), clock=SetClock())
        yield made
        made.store.close()

    def test_a_log_that_was_never_written_is_empty(self, trail: Trail) -> None:
        """TRAIL.5: before the first write every log reads as empty, and is sound."""
        for log in LogName:
            with trail.reading(log) as rows:
                assert rows.head().size == 0
                assert list(rows.entries()) == []
                assert rows.believed(Selection(0)) == []
                assert rows.seq_at(2**52) == -1
            assert verify_log(trail, log).sound

    def test_there_are_three_logs(self, trail: Trail) -> None:
        """TRAIL.5: a log by any other name is refused by name."""
        with pytest.raises((UnknownId, ValueError), match="diary"), trail.reading(LogName("diary")):
            pass

    def test_what_is_kept_is_what_was_committed(self, trail: Trail) -> None:
        """TRAIL.1: the entries that lie in the store are those the API shows, and they make the root it states."""
        with trail.writing() as appender:
            for n in range(5):
                said(appender, f"claim {n}")
        with trail.reading() as rows:
            shown = [(row.seq, row.canon) for row in rows.entries()]
        assert list(self.kept_entries(trail.store, LogName.MEMORY)) == shown
        assert len(shown) == 6
        assert verify_log(trail, LogName.MEMORY).sound

    def test_leaving_a_write_by_an_exception_leaves_no_trace(self, trail: Trail) -> None:
        """TRAIL.5: an append is all or nothing, flushed or not, and the next one follows what was there before."""
        with trail.writing() as appender:
            said(appender, "kept")
        before = list(self.kept_entries(trail.store, LogName.MEMORY))
        for flushed in (False, True):
            with pytest.raises(Stopped):
                self._stop_midway(trail, flushed=flushed)
            assert list(self.kept_entries(trail.store, LogName.MEMORY)) == before
        with trail.writing() as appender:
            assert said(appender, "next") == len(before)
        assert verify_log(trail, LogName.MEMORY).sound

    @staticmethod
    def _stop_midway(trail: Trail, *, flushed: bool) -> None:
        with trail.writing() as appender:
            said(appender, "dropped")
            if flushed:
                appender.flush()
            raise Stopped

    def test_the_head_is_told_once_after_each_commit(self, trail: Trail) -> None:
        """TRAIL.8: ``committed`` hears the head that readers find from then on, and nothing of a write that failed."""
        with trail.writing() as appender:
            said(appender, "first")
        told: list[Head] = []
        with trail.store.writing(LogName.MEMORY, told.append) as rows:
            head = rows.head()
            assert told == []
        with pytest.raises(Stopped), trail.store.writing(LogName.MEMORY, told.append):
            raise Stopped
        with trail.reading() as reading:
            assert told == [head] == [reading.head()]

    def test_a_reader_stays_where_it_began(self, trail: Trail, tmp_path: Path) -> None:
        """TIME.3: a reading that was begun before a commit gives the same answers after it."""
        with trail.writing() as appender:
            said(appender, "before")
        with trail.reading() as rows:
            head, held = rows.head(), rows.believed(Selection(2**40))
            with trail.writing() as appender:
                said(appender, "after")
            assert rows.head() == head
            assert rows.believed(Selection(2**40)) == held
        with trail.reading() as rows:
            assert rows.head().size == head.size + 1

    def test_who_is_writing_is_seen_and_not_kept_waiting(self, trail: Trail) -> None:
        """TIME.3: a write is told of while it is open and once it was committed, each log by itself, and is not disturbed."""
        assert not trail.store.written_since(LogName.MEMORY, 0)
        with trail.writing() as appender:
            said(appender, "before")
        with trail.reading() as rows:
            size = rows.head().size
            assert not trail.store.written_since(LogName.MEMORY, size)
            with trail.writing() as appender:
                assert trail.store.written_since(LogName.MEMORY, size)
                assert not trail.store.written_since(LogName.ACCESS, 0)
                said(appender, "after")
                appender.flush()
                assert trail.store.written_since(LogName.MEMORY, size)
            assert trail.store.written_since(LogName.MEMORY, size)
            assert not trail.store.written_since(LogName.MEMORY, size + 1)
        with pytest.raises(Stopped):
            self._stop_midway(trail, flushed=True)
        assert not trail.store.written_since(LogName.MEMORY, size + 1)

    def test_who_is_writing_elsewhere_is_seen(self, trail: Trail) -> None:
        """TIME.3: a write that another process has open is told of, and no more once that process is gone."""
        opener = trail.store.opener()
        if opener is None:
            pytest.skip("no other process could open it")
        with trail.writing() as appender:
            said(appender, "before")
        context = multiprocessing.get_context("spawn")
        begun, let_go = context.Event(), context.Event()
        process = context.Process(target=_write_elsewhere, args=(opener, begun, let_go))
        process.start()
        try:
            assert begun.wait(60)
            assert trail.store.written_since(LogName.MEMORY, 2)
        finally:
            let_go.set()
            process.join(60)
        assert process.exitcode == 0
        assert not trail.store.written_since(LogName.MEMORY, 2)

    def test_the_logs_do_not_touch_each_other(self, trail: Trail) -> None:
        """ACCESS.1: writing one log neither moves another nor waits for it."""
        with trail.writing() as appender:
            said(appender, "in memory")
            with trail.writing(LogName.ACCESS) as other:
                other.add(EntryKind.RECALLED, {"query": b"q"})
        for log, size in ((LogName.MEMORY, 2), (LogName.ACCESS, 2), (LogName.LEDGER, 0)):
            with trail.reading(log) as rows:
                assert rows.head().size == size
            assert verify_log(trail, log).sound

    @pytest.mark.parametrize("field", ["at", "clock", "kind", "actor", "holder", "refs", "parts", "v", "seq"])
    def test_a_changed_entry_is_named(self, trail: Trail, field: str) -> None:
        """TRAIL.7: an entry that was changed behind the store's back is found, whatever was changed of it."""
        with trail.writing() as appender:
            claims = [said(appender, f"claim {n}") for n in range(6)]
        with trail.reading() as rows:
            entry = entry_from_bytes(next(rows.entries(claims[2], claims[2] + 1)).canon)
        changed: dict[str, Any] = {
            "at": entry.at + 1, "clock": 1, "kind": EntryKind.RECONFIRMED, "actor": "0" * 32, "holder": "", "refs": (0,),
            "parts": entry.parts[:1], "v": 2, "seq": entry.seq + 1,
        }  # fmt: skip
        self.overwrite_entry(
            trail.store, LogName.MEMORY, entry.seq, entry_bytes(entry._replace(**{field: changed[field]}))
        )
        report = verify_log(trail, LogName.MEMORY)
        assert not report.sound
        assert report.checkpoint == "forked"
        assert report.bad[0].seq == entry.seq

    def test_what_cannot_be_read_is_an_error_of_one_line(self, trail: Trail) -> None:
        """TRAIL.7: an entry of garbage is reported by ``verify`` and never taken for an entry."""
        with trail.writing() as appender:
            claim = said(appender, "claim")
        self.overwrite_entry(trail.store, LogName.MEMORY, claim, b"\xff{garbage")
        report = verify_log(trail, LogName.MEMORY)
        assert report.bad[0].seq == claim
        assert "\n" not in report.bad[0].what

    def test_a_trail_is_refused_another_trails_log(self, trail: Trail) -> None:
        """TRAIL.7: one trail never appends to a log that says it is of another."""
        with trail.writing() as appender:
            said(appender, "mine")
        other = trail_over(trail.store, seed=9)
        told: list[Head] = []
        with other.store.writing(LogName.ACCESS, told.append) as rows:
            rows.set_meta("trail", "f" * 32)
        with pytest.raises(MachineError, match="belongs to another trail"), trail.writing(LogName.ACCESS):
            pass

    def test_what_is_erased_leaves_what_the_fold_makes_of_the_rest(self, trail: Trail) -> None:
        """ERASE.1, 2: parts, search terms, claims, valid times, verdicts, names and reconfirmations; the log stays sound."""
        with trail.writing() as appender:
            holder = appender.holder("project:one", "project")
            facets = {
                "kind": "decision",
                "origin": "user",
                "subject": "db",
                "attribute": "port",
                "value": "1",
                "said_at": 7,
            }
            valid = json.dumps({"intervals": [[0, 5]], "words": "then"}).encode()
            parts = {"facets": json.dumps(facets).encode(), "text": b"quokka port", "valid": valid, "quote": b"q"}
            claim = appender.add(EntryKind.ASSERTED, parts, holder=holder)
            other = said(appender, "the other port", holder)
            judged = appender.add(EntryKind.JUDGED, _verdicts(claim, other, value="verbatim"), refs=[claim, other])
            again = appender.add(EntryKind.JUDGED, _verdicts(claim, value="inferred"), refs=[claim])
            appender.add(EntryKind.UNDONE, {"because": b"b"}, refs=[again, claim])
            first = appender.add(EntryKind.JUDGED, _verdicts(other, value="verbatim"), refs=[other])
            last = appender.add(EntryKind.JUDGED, _verdicts(other, value="inferred"), refs=[other])
            appender.add(EntryKind.UNDONE, {"because": b"b"}, refs=[first, other])
            said_again = appender.add(EntryKind.RECONFIRMED, {"facets": b'{"said_at": 9}'}, refs=[claim])
            name = appender.add(EntryKind.INTRODUCED, {"attribute": b'{"name": "port", "subject": "db"}'})
            appender.add(EntryKind.UNDONE, {"because": b"b"}, refs=[name])
        gone = {
            claim: {"facets", "text", "valid", "quote"}, judged: {f"verdict/{claim}"}, again: {f"verdict/{claim}"},
            last: {f"verdict/{other}"}, said_again: {"facets"}, name: {"attribute"},
        }  # fmt: skip
        with trail.reading() as rows:
            before = {view: list(rows.rows(view)) for view in VIEWS}
        with trail.writing() as appender:
            seq = erase(appender, Erasure(gone, {}), "asked for")
        assert verify_log(trail, LogName.MEMORY).bad == ()
        with trail.reading() as rows:
            assert rows.claim_row(claim) == ClaimRow(claim, holder, "", "", claim, -1, -1, 0)
            assert [(v.tx_from, v.tx_to, v.valid) for v in rows.versions(claim)] == [(claim, seq, ALWAYS)]
            assert rows.verdicts(claim) == []
            assert [row.value for row in rows.verdicts(other)] == ["verbatim", "verbatim", "verbatim"]
            assert [touch.said_at for touch in rows.touches(claim) if touch.seq == said_again] == [-1]
            assert [(row.name, row.facts, row.tx_to) for row in rows.names("attribute")] == [("", "{}", name + 1)]
            assert rows.newest([["quokka"]], Selection(seq), 9) == []
            assert rows.newest([["port"]], Selection(seq), 9) == [other]
            assert rows.newest([["port"]], Selection(seq, (holder,), ("decision",)), 9) == []
            left = [name for seq, parts in rows.parts_between() for name, _, _ in parts if seq in gone]
            assert left == [f"verdict/{other}"]
            after = {view: list(rows.rows(view)) for view in VIEWS}
            assert [row for row in after["claim"] if row[0] != claim] == [
                row for row in before["claim"] if row[0] != claim
            ]
        for log in LogName:
            trail.store.scrub(log)
        assert verify_log(trail, LogName.MEMORY).bad == ()

    def test_vectors_stand_beside_claims_and_go_with_their_texts(self, trail: Trail) -> None:
        """ERASE.1: of each model the last that was kept, the newest claims first, of whoever is asked; none of what is erased."""
        with trail.writing() as appender:
            holder = appender.holder("project:one", "project")
            claims = [said(appender, f"claim {n}", holder) for n in range(6)]
            appender.rows.place("a/1", [(claim, bytes([n, 255])) for n, claim in enumerate(claims[:4])])
            appender.rows.place("a/1", [(claims[1], b"\x09\x09")])
            appender.rows.place("b/1", [(claims[2], b"\x07")])
        with trail.reading() as rows:
            mine = [(claims[4], b""), (claims[3], b"\x03\xff"), (claims[2], b"\x02\xff"), (claims[1], b"\x09\x09")]
            assert rows.vectors("a/1", claims[4], None, 4) == rows.vectors("a/1", claims[4], (holder,), 4) == mine
            assert rows.vectors("a/1", claims[4], ("0" * 32,), 4) == rows.vectors("a/1", -1, None, 4) == []
            assert rows.vectors("b/1", claims[2], None, 2) == [(claims[2], b"\x07"), (claims[1], b"")]
            assert sorted(set(rows.vector_claims())) == claims[:4]
        with trail.writing() as appender:
            erase(appender, Erasure({claims[2]: {"text"}}, {}), "asked for")
        with trail.reading() as rows:
            assert (
                rows.vectors("a/1", claims[2], None, 1) == rows.vectors("b/1", claims[2], None, 1) == [(claims[2], b"")]
            )
        assert verify_log(trail, LogName.MEMORY).sound
        with trail.writing() as appender:
            appender.rows.place("a/1", [(claims[2], b"\x01\x01")])
        (bad,) = verify_log(trail, LogName.MEMORY).bad
        assert (bad.seq, "vector" in bad.what) == (claims[2], True)

    def test_what_is_missing_and_was_not_erased_is_found(self, trail: Trail) -> None:
        """ERASE.1, TRAIL.7: a part or an archived event that is gone without an entry that says so, or there in spite of one."""
        with trail.writing() as appender:
            claim, other = said(appender, "one"), said(appender, "two")
            session = observed(appender, trail, "one", [f"event {n}" for n in range(3)])
        with trail.writing() as appender:
            erase(appender, Erasure({claim: {"text"}}, {session: {1}}), "asked for")
        assert verify_log(trail, LogName.MEMORY).bad == ()
        with trail.writing() as appender:
            appender.rows.erase({other: {"text"}}, [(other, "two")])
            appender.rows.erase_events([(session, 2)])
            places = {"parts": {str(other): ["facets"]}, "events": {str(session): [0]}}
            appender.add(
                EntryKind.ERASED, {"because": b"", "places": json.dumps(places).encode()}, refs=[other, session]
            )
        found = [bad.what for bad in verify_log(trail, LogName.MEMORY).bad]
        assert any("'text' is missing and no entry says that it was erased" in what for what in found)
        assert any("'facets' was erased and is there again" in what for what in found)
        assert any("is gone and no entry says that it was erased" in what for what in found)
        assert any(what.startswith("archived event") and "there again" in what for what in found)

    def test_what_nothing_vouches_for_is_found(self, trail: Trail) -> None:
        """TRAIL.7: a block of no event, one with more in it, a subtree that is not due, a fact, a link of nobody's."""
        with trail.writing() as appender:
            session = observed(appender, trail, "one", ["event"])
            claims = [said(appender, f"claim {n}") for n in range(2)]
            parts = {"facets": b"{}", "text": b"both", "because": b"b"}
            revised = appender.add(EntryKind.REVISED, parts, refs=claims, holder=HOLDER)
            appender.add(EntryKind.UNDONE, {"because": b"b"}, refs=[revised])
        assert verify_log(trail, LogName.MEMORY).bad == ()
        with trail.reading() as rows:
            (block,), where = list(rows.blocks()), list(rows.events())
            assert list(rows.block_uses()) == [(block.block, session, sum(row.length for row in where))]
            assert (rows.count_nodes(), rows.facts()["trail"], rows.facts()["log"]) == (0, trail.id, "memory")
        more, _ = repacked(unpacked(0, block.data) * 2, [(0, 2 * where[0].length)])
        edits: list[Callable[[Writing], None]] = [
            lambda rows: rows.archive([block._replace(block=9)], []),
            lambda rows: rows.repack(block.block, more, [(0, 0)]),
            lambda rows: rows.add_nodes([(8, 0, bytes(32))]),
            lambda rows: rows.set_meta("note", "hidden"),
            lambda rows: rows.set_meta("tombstones", "2"),
            lambda rows: rows.apply([Link(revised, 1, 2, "revises", revised + 1)], []),
        ]
        before = 0
        for edit in edits:  # One on top of the other: each has to add a problem.
            with trail.store.writing(LogName.MEMORY, lambda _: None) as rows:
                edit(rows)
            found = len(verify_log(trail, LogName.MEMORY).bad)
            assert found > before, edits.index(edit)
            before = found

    def test_a_block_packed_anew_keeps_every_other_record(self, trail: Trail) -> None:
        """ERASE.2, EVID.5: records move up where one went, those that another session shares too; an emptied block goes."""
        texts = [f"event {n} " + "x" * n for n in range(6)]
        with trail.writing() as appender:
            first = observed(appender, trail, "one", texts)
            second = observed(appender, trail, "two", [*texts[2:], "its own"])
            third = observed(appender, trail, "three", ["alone"])
        with trail.writing() as appender:
            copies = with_copies(appender.rows, {first: {0, 3}, third: {0}})
            assert copies == {first: {0, 3}, second: {1}, third: {0}}
            appender.rows.note_source(SourceRow("/gone", third, 1, 1, 1, 1, 1, b"d", b"{}"))
            appender.rows.note_source(SourceRow("/kept", first, 1, 1, 1, 1, 1, b"d", b"{}"))
            blocks = len(list(appender.rows.blocks()))
            erase(appender, Erasure({}, copies, [third]), "asked for", known=[(b"k" * 16, third)])
        assert verify_log(trail, LogName.MEMORY).bad == ()
        with trail.reading() as rows:
            reader = ArchiveReader(rows)
            assert [event.text for _, event in reader.session(first)] == [texts[n] for n in (1, 2, 4, 5)]
            assert [event.text for _, event in reader.session(second)] == [texts[2], texts[4], texts[5], "its own"]
            assert list(reader.session(third)) == []
            assert len(list(rows.blocks())) == blocks - 1
            assert [rows.session_size(each) for each in (first, second, third)] == [6, 5, 1]
            gone = next(iter(rows.session_events(third)))
            assert (gone.block, gone.offset, gone.length, gone.salt) == (-1, 0, 0, b"")
            assert rows.event(gone.event) == gone
            assert (rows.source("/gone"), rows.same(b"k" * 16)) == (None, third)
            assert rows.source("/kept") is not None
        with trail.writing() as appender:
            appender.rows.rename_events([(third, 0, "e" + "0" * 16), (first, 3, "e" + "1" * 16)])
        with trail.reading() as rows:
            assert rows.event(gone.event) is None
            assert rows.event("e" + "0" * 16) == gone._replace(event="e" + "0" * 16)
            renamed = rows.event("e" + "1" * 16)
            assert (renamed and renamed[:2], rows.session_size(first)) == ((first, 3), 6)
        assert verify_log(trail, LogName.MEMORY).bad == ()


def _write_elsewhere(opener: Callable[[], Store], begun: Signal, let_go: Signal) -> None:
    store = opener()
    with store.writing(LogName.MEMORY, lambda _: None):
        begun.set()
        assert let_go.wait(60)
    store.close()


def _verdicts(*claims: int, value: str) -> dict[str, bytes]:
    body = json.dumps({"verdicts": [{"verifier": "quotation/1", "value": value, "reason": "r"}]}).encode()
    return {f"verdict/{claim}": body for claim in claims}


def observed(appender: Appender, trail: Trail, session: str, texts: Iterable[str]) -> int:
    """A session in which these texts were said; the same text is the same record wherever it stands."""
    seq = appender.add(EntryKind.INTRODUCED, {"session": json.dumps({"name": session}).encode()}, holder=HOLDER)
    place = Locator(0, 0, 0, 0, 0)
    events = [
        (f"e{sha256(text.encode()).hexdigest()[:16]}", Event(text, EventKind.MESSAGE, Origin.TOOL, text, place))
        for text in texts
    ]
    SessionArchive("reader/1", "", lambda data: trail.outside.digest(trail.id, data)).keep(appender, seq, events)
    return seq
