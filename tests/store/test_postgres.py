"""The PostgreSQL store held to the store contract, and driven through random histories against the pure fold."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.beliefs import VerdictRow
from tallystick.model.entry import EntryKind, LogName
from tallystick.store.memory import MemoryStore
from tallystick.store.postgres import PostgresStore
from tallystick.store.postgres.columns import columns
from tallystick.store.postgres.connection import Address
from tallystick.store.postgres.rows import NUMBERS, kept, told
from tallystick.store.protocol import VIEWS, ArchivedEvent, BlockRow, Selection, SourceRow, Store
from tallystick.testing.store_contract import StoreContract
from tallystick.testing.trail_machine import trail_machine
from tallystick.testing.trails import trail_over
from tallystick.trail import Trail
from tests.store.postgres_server import DEBIAN_15, embedded, shared_server


class TestPostgresStore(StoreContract):
    """On the server of the development dependencies."""

    binaries = embedded()

    def make(self, folder: Path) -> Store:
        return PostgresStore(shared_server(self.binaries).url(trail=_name_of(folder)))

    def kept_entries(self, store: Store, log: LogName) -> Iterable[tuple[int, bytes]]:
        with shared_server(self.binaries).connect() as connection:
            sql = "SELECT seq, canon FROM tally.entry JOIN tally.trail USING (trail) WHERE name = %s AND log = %s ORDER BY seq"
            return connection.execute(sql, (_trail(store), NUMBERS[log])).fetchall()

    def overwrite_entry(self, store: Store, log: LogName, seq: int, canon: bytes) -> None:
        with shared_server(self.binaries).connect() as connection:
            connection.execute("SET session_replication_role = replica")
            sql = "UPDATE tally.entry SET canon = %s FROM tally.trail AS t WHERE t.trail = entry.trail AND name = %s"
            connection.execute(sql + " AND log = %s AND seq = %s", (canon, _trail(store), NUMBERS[log], seq))


if (DEBIAN_15 / "initdb").exists() and embedded() != DEBIAN_15:

    class TestPostgres15Store(TestPostgresStore):
        """Once more on the oldest server that will do."""

        binaries = DEBIAN_15


HOLDER = "5" * 32
EVERYTHING = Selection(2**40)


def _written(trail: Trail) -> None:
    """Claims of odd words and long ones, verdicts, links, names, a reconfirmation, an archive, notes of files."""
    long_word = "w" * 5000
    with trail.writing() as appender:
        digest = trail.outside.digest(trail.id, b"one")
        for n, word in enumerate(("port\x00", "déjà", long_word, "東京", "port")):
            facets = {
                "kind": f"fact{n % 2}\x00",
                "origin": "user",
                "session": 7,
                "subject": "s\x01" * 900,
                "attribute": "a",
            }
            parts = {"facets": json.dumps(facets).encode(), "text": f"the {word} is {n}".encode()}
            claim = appender.add(EntryKind.ASSERTED, parts, holder=HOLDER)
            body = json.dumps({"verdicts": [{"verifier": "quotation/1", "value": "verbatim", "reason": f"\x00{n}"}]})
            appender.add(EntryKind.JUDGED, {f"verdict/{claim}": body.encode()}, refs=[claim])
        appender.add(EntryKind.RECONFIRMED, {"facets": b'{"said_at": 5}'}, refs=[claim])
        appender.add(EntryKind.INTRODUCED, {"holder": b'{"name": "a\\u0000b"}'}, holder=HOLDER)
        appender.add(EntryKind.LINKED, {"same_as": b"{}"}, refs=[claim, claim - 2])
        rows = appender.rows
        rows.file([(digest, claim - 2), (digest, claim)])
        events = [ArchivedEvent(7, n, f"e{n % 3:016x}", n // 2, 10 * n, 10, bytes([n]) * 32) for n in range(6)]
        rows.archive([BlockRow(n, 7, bytes([n]) * 99) for n in range(3)], events)
        rows.note_source(SourceRow("/p" * 2000, 7, 1, 2, 2**64 - 1, 4, 5, b"d", b"[]"))
        rows.note_source(SourceRow("/q", 8, 1, 2, 3, 4, 5, b"d", b"[]"))


def _erased(trail: Trail) -> None:
    """One claim erased and folded anew, with its events, its block packed anew, and the notes of its session's files."""
    with trail.store.writing(LogName.MEMORY, lambda _: None) as rows:
        claim = 3
        row, text = rows.claim_row(claim), rows.text(claim)
        assert row is not None
        assert text is not None
        rows.erase({claim: ["facets", "text"], claim + 1: [f"verdict/{claim}"]}, [(claim, text)])
        name = next(each for each in rows.names("holder"))
        touch = rows.touches(9)[0]
        verdict = VerdictRow(claim, "outcome", claim + 1, "none", "", claim + 1)
        gone = row._replace(kind="", subject="", attribute="")
        moved = rows.claim_row(5)
        assert moved is not None
        rows.refold(
            [claim], [gone, moved._replace(kind="rule"), verdict, name._replace(name=""), touch._replace(said_at=-1)]
        )
        rows.erase_events([(7, 1), (7, 2), (7, 3)])
        rows.rename_events([(7, 2, f"e{3 * 2**40:016x}"), (7, 3, f"e{2**63:016x}")])
        rows.repack(0, b"new", [(0, 3)])
        rows.repack(1, None, [])
        rows.forget_sources(7)


def _answers(trail: Trail) -> list[Any]:
    """Everything that can be asked of what was written."""
    with trail.reading() as rows:
        words = ["port", "deja", "東京", "w" * 5000, "w" * 4999, "the", "nothing"]
        kinds = [None, ("fact0\x00",), ("rule",), ("",), ()]
        return [
            [list(rows.rows(view)) for view in VIEWS],
            [rows.newest([[word]], EVERYTHING._replace(kinds=kind), 9) for word in words for kind in kinds],
            [rows.newest([], EVERYTHING._replace(kinds=kind, holders=(HOLDER,)), 9) for kind in kinds],
            [rows.believed(EVERYTHING._replace(kinds=kind)) for kind in kinds],
            [rows.count(EVERYTHING._replace(kinds=kind, valid_at=at)) for kind in kinds for at in (None, 5, 2**62)],
            rows.standings(EVERYTHING._replace(derivations=("verbatim",), limit=2)),
            rows.about(HOLDER, "s\x01" * 900, "a"), rows.about(HOLDER, "", ""), rows.about("6" * 32, "", ""),
            rows.claims_of(7), [rows.parts(seq) for seq in range(rows.head().size)], rows.links_of(9), rows.made(12),
            rows.same(trail.outside.digest(trail.id, b"one")), rows.session_size(7), list(rows.events()),
            rows.archived([f"e{n:016x}" for n in range(4)]), list(rows.session_events(7, 1, 5)), list(rows.blocks()),
            rows.source("/p" * 2000), rows.source("/q"), rows.sources(7), rows.sources(8), [rows.versions(9), rows.touches(9)],
        ]  # fmt: skip


def test_every_answer_is_as_in_memory(tmp_path: Path) -> None:
    """TRAIL.9: odd words, long ones and what is left after an erasure: the database answers all as the reference store does."""
    trails = [trail_over(MemoryStore()), trail_over(_fresh(tmp_path))]
    for act in (_written, _erased):
        for trail in trails:
            act(trail)
        for expected, found in zip(*map(_answers, trails), strict=True):
            assert found == expected
        assert trails[1].store.check(LogName.MEMORY) == []
    trails[1].store.scrub(LogName.MEMORY)
    assert _answers(trails[1]) == _answers(trails[0])
    trails[1].store.close()


@given(st.text(st.characters(), max_size=40))
def test_any_text_is_kept(text: str) -> None:
    """TRAIL.9: whatever a text holds, PostgreSQL has room for what is kept of it, and it comes back."""
    assert told(kept(text)) == text
    assert "\x00" not in kept(text)
    kept(text).encode()


@pytest.mark.parametrize(
    "rows",
    [
        [(1, "a", b"x"), (-(2**63), "", b""), (2**63 - 1, '東京\n\\{}"', b"\x00\xff")],
        [(0, None, b"x"), (1, "NULL", b"y")],
        [(0, None, b"x")],
    ],
)
def test_columns_arrive_as_they_were_sent(rows: list[tuple[Any, ...]]) -> None:
    """TRAIL.1: the arrays that rows are sent in hold what the rows did."""
    with Address(shared_server(embedded()).url()).connect() as connection:
        sent = "SELECT * FROM unnest(%(a)b::bigint[], %(b)b::text[], %(c)b::bytea[])"
        values = dict(zip("abc", columns(rows), strict=True))
        assert connection.execute(sent, values, binary=True).fetchall() == rows


def _name_of(folder: Path) -> str:
    """A name for a trail of the test's own."""
    return uuid.uuid5(uuid.NAMESPACE_URL, str(folder)).hex[:12]


def _trail(store: Store) -> str:
    return store.location.rpartition("trail=")[2]


def _fresh(folder: Path) -> Store:
    return PostgresStore(shared_server(embedded()).url(trail=_name_of(folder)))


TestHistories = trail_machine(_fresh).TestCase
TestHistories.settings = settings(max_examples=max(5, settings().max_examples // 10), stateful_step_count=20)
