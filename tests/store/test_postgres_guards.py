"""What the database itself refuses: another trail's rows, a changed entry, overlapping versions; and who waits for whom."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import pytest

from tallystick.errors import TrailLocked, TrailUnwritable
from tallystick.model.entry import EntryKind, LogName
from tallystick.store.outside import OutsideFolder
from tallystick.store.packing import packed
from tallystick.store.postgres import PostgresStore
from tallystick.store.protocol import Reading, Selection
from tallystick.testing.store_contract import observed, said
from tallystick.testing.trails import SetClock, trail_over
from tallystick.trail import Trail
from tallystick.trail.verifying import verify_log
from tests.store.postgres_server import PATIENCE_SECONDS, Server, embedded, shared_server

ROOT = Path(__file__).resolve().parents[2]
LAST = 2**53 - 1


class Place(NamedTuple):
    """A database of the test's own."""

    server: Server
    database: str
    opened: list[PostgresStore]

    def url(self, trail: str = "mine", **query: str) -> str:
        return self.server.url(self.database, trail=trail, **query)

    def store(self, trail: str = "mine", **options: float) -> PostgresStore:
        self.opened.append(PostgresStore(self.url(trail), **options))
        return self.opened[-1]

    def connect(self, trail: uuid.UUID | None = None, *, bound: bool = True) -> psycopg.Connection[Any]:
        """As a superuser; or, with a trail, as the store's sessions are."""
        made = self.server.connect(self.database)
        if trail is not None:
            made.execute("SET ROLE tally_session")
            made.execute("SELECT set_config('tally.trail', %s, false)", (str(trail) if bound else "",))
        return made

    def key(self, trail: str = "mine") -> uuid.UUID:
        with self.connect() as connection:
            row = connection.execute("SELECT trail FROM tally.trail WHERE name = %s", (trail,)).fetchone()
        assert row is not None
        return uuid.UUID(str(row[0]))


@pytest.fixture
def place() -> Iterator[Place]:
    server = shared_server(embedded())
    name = f"d{uuid.uuid4().hex[:12]}"
    server.make_database(name)
    made = Place(server, name, [])
    yield made
    for store in made.opened:
        store.close()
    with server.connect("postgres") as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def written(place: Place, name: str = "mine", count: int = 3, seed: int = 0) -> Trail:
    """A trail with some claims in every table that a plain claim reaches."""
    trail = trail_over(place.store(name), seed=seed)
    with trail.writing() as appender:
        holder = appender.holder("project:one", "project")
        for n in range(count):
            claim = said(appender, f"claim {n} of {name}", holder)
        body = b'{"verdicts":[{"verifier":"quotation/1","value":"verbatim","reason":"so"}]}'
        appender.add(EntryKind.JUDGED, {f"verdict/{claim}": body}, refs=[claim])
        appender.add(EntryKind.LINKED, {"same_as": b"{}"}, refs=[claim, claim - 1])
        appender.add(EntryKind.RETRACTED, refs=[claim])
    return trail


def tables(connection: psycopg.Connection[Any]) -> list[str]:
    """Those that hold trails."""
    rows = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'tally' AND tablename <> 'migration'")
    return sorted(row[0] for row in rows)


def test_a_session_sees_its_own_trail_alone(place: Place) -> None:
    """Two trails in one database: plain SQL without a condition gives a session the rows of the trail it is bound to."""
    for seed, name in enumerate(("mine", "theirs")):
        written(place, name, seed=seed)
    mine, theirs = place.key("mine"), place.key("theirs")
    seen = 0
    with place.connect() as everything, place.connect(mine) as session, place.connect(mine, bound=False) as unbound:
        for table in tables(everything):
            sql = f"SELECT trail, count(*) FROM tally.{table} GROUP BY trail".encode()
            rows = dict(everything.execute(sql).fetchall())
            seen += len(rows) == 2
            assert dict(session.execute(sql).fetchall()) == {trail: n for trail, n in rows.items() if trail == mine}
            assert unbound.execute(sql).fetchall() == []
        assert seen > 9
        assert session.execute("UPDATE tally.head SET size = 0 WHERE trail = %s", (theirs,)).rowcount == 0
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
            session.execute("INSERT INTO tally.meta (trail, log, key, value) VALUES (%s, 0, 'a', 'b')", (theirs,))


def test_what_a_session_may_do(place: Place) -> None:
    """The role of the sessions owns nothing, goes round no policy, and may not change an entry, a part, a table or a name."""
    written(place)
    with place.connect() as connection, place.connect(place.key()) as session:
        role = "SELECT rolsuper, rolbypassrls, rolcanlogin, rolcreaterole FROM pg_roles WHERE rolname = 'tally_session'"
        assert connection.execute(role).fetchone() == (False, False, False, False)
        owned = "SELECT count(*) FROM pg_class WHERE pg_get_userbyid(relowner) = 'tally_session'"
        assert connection.execute(owned).fetchone() == (0,)
        for table in tables(connection):
            guarded = f"SELECT relrowsecurity, relforcerowsecurity FROM pg_class WHERE oid = 'tally.{table}'::regclass"
            assert connection.execute(guarded.encode()).fetchone() == (True, True), table
        for statement in (
            "UPDATE tally.entry SET at = 0", "DELETE FROM tally.entry", "TRUNCATE tally.entry", "DELETE FROM tally.part",
            "UPDATE tally.part SET data = ''", "DELETE FROM tally.version", "UPDATE tally.trail SET name = 'x'",
            "ALTER TABLE tally.entry DISABLE TRIGGER ALL", "DROP POLICY bound ON tally.entry", "DELETE FROM tally.migration",
        ):  # fmt: skip
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                session.execute(statement.encode())


def test_every_key_starts_with_the_trail(place: Place) -> None:
    """Trails can be spread over servers: every index but those that look for a trail itself begins with its key."""
    written(place)
    with place.connect() as connection:
        rows = connection.execute(
            "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'tally' AND tablename <> 'migration'"
        )
        others = {name for name, definition in rows if "(trail" not in definition.split(" USING ")[1]}
    assert others == {"trail_name_key", "meta_by_id"}


@pytest.mark.parametrize("table", ["entry", "part"])
@pytest.mark.parametrize("verb", ["UPDATE tally.{} SET seq = seq + 100", "DELETE FROM tally.{}", "TRUNCATE tally.{}"])
def test_what_was_appended_stays(place: Place, table: str, verb: str) -> None:
    """TRAIL.1: triggers refuse to change, delete or truncate entries and parts, to the owner and a superuser too."""
    trail = written(place)
    with place.connect() as connection, pytest.raises(psycopg.errors.IntegrityConstraintViolation, match=r"never|only"):
        connection.execute(verb.format(table).encode())
    assert verify_log(trail, LogName.MEMORY).sound


def test_nothing_is_appended_in_the_place_of_another(place: Place) -> None:
    """TRAIL.1: an entry or a part of a seq that is taken is refused, and nothing of the write stays."""
    trail = written(place)
    with trail.reading() as rows:
        kept, head, frontier = list(rows.entries()), rows.head(), rows.frontier()
    with pytest.raises(Exception, match="contradict"), trail.store.writing(LogName.MEMORY, lambda _: None) as draft:
        draft.append(kept[1:2], [], [], frontier, head.at)
    with trail.reading() as rows:
        assert list(rows.entries()) == kept


@pytest.mark.parametrize(
    "versions",
    [
        [(5, LAST), (7, LAST)],  # Two open.
        [(5, 9), (8, LAST)],  # The first closed later than the next opened.
        [(5, 7), (7, 12), (10, LAST)],
        [(5, 20), (7, 9)],
        [(5, LAST), (7, 9)],  # Beside one that was never closed.
        [(5, 5)],
        [(5, 4)],
        [(5, 7), (4, 5)],
    ],
)
def test_versions_do_not_overlap(place: Place, versions: list[tuple[int, int]]) -> None:
    """TIME.1: of one claim no two versions hold at one point, and none is empty: the database refuses them, however made."""
    written(place)
    mine = place.key()
    add = "INSERT INTO tally.version SELECT %s, 1, 5, %s, %s, NULL, 1, 'fact', 'user', 5, -1, -1, 0, '', '', '', NULL"
    close = "UPDATE tally.version SET tx_to = %s WHERE log = 1 AND claim = 5 AND tx_from = %s"

    def grown(session: psycopg.Connection[Any]) -> None:
        for start, stop in versions:
            session.execute(add, (mine, start, LAST))
            if stop != LAST:
                session.execute(close, (stop, start))

    def at_once(session: psycopg.Connection[Any]) -> None:
        for start, stop in versions:
            session.execute(add, (mine, start, stop))

    for made in (grown, at_once):
        with (
            place.connect(mine) as session,
            session.transaction(force_rollback=True),
            pytest.raises(psycopg.errors.IntegrityError),
            session.transaction(),
        ):
            made(session)


def test_a_closed_version_stays_closed(place: Place) -> None:
    """TIME.3: what was closed is neither opened again nor moved, so that the past stays what it was."""
    written(place)
    with place.connect() as connection:
        for change in (f"tx_to = {LAST}", "tx_to = tx_to + 1", "tx_from = tx_from + 1", "claim = claim - 1"):
            with pytest.raises(psycopg.errors.IntegrityConstraintViolation):
                connection.execute(f"UPDATE tally.version SET {change} WHERE tx_to <> {LAST}".encode())


def test_the_clock_is_read_once_the_lock_is_had(place: Place) -> None:
    """TRAIL.6: a writer that waits reads the clock after the other has committed, so that time follows seq."""
    trail = written(place)
    other = trail_over(place.store())
    other._id, other.outside = trail.id, trail.outside
    asked = threading.Event()
    began = threading.Event()

    class Clock(SetClock):
        def __call__(self) -> int:
            asked.set()
            return self.now

    other.clock = Clock()

    def write() -> None:
        began.set()
        with other.writing() as appender:
            said(appender, "second")

    thread = threading.Thread(target=write)
    with trail.writing() as appender:
        thread.start()
        assert began.wait(PATIENCE_SECONDS)
        assert not asked.wait(0.4)
        said(appender, "first")
    thread.join(PATIENCE_SECONDS)
    assert asked.is_set()
    with trail.reading() as rows:
        texts = [rows.text(belief.row.claim) for belief in rows.believed(Selection(2**40))][-2:]
    assert texts == ["first", "second"]


def test_the_head_is_told_before_another_writes(place: Place) -> None:
    """TRAIL.8: until ``committed`` has returned nobody else has the lock, and others read what was committed already."""
    trail = written(place)
    impatient = place.store(lock_timeout_seconds=0.05)
    refused: list[str] = []

    def committed(head: object) -> None:
        with impatient.reading(LogName.MEMORY) as rows:
            assert rows.head() == head
        try:
            with impatient.writing(LogName.MEMORY, lambda _: None):
                refused.append("had it")
        except TrailLocked as error:
            refused.append(str(error))

    with trail.store.writing(LogName.MEMORY, committed):
        pass
    assert len(refused) == 1
    assert "another session has been writing" in refused[0]
    with impatient.writing(LogName.MEMORY, lambda _: None):
        pass


def test_logs_and_trails_do_not_wait_for_each_other(place: Place) -> None:
    """ACCESS.1: another log, or another trail of the same database, is written while one is."""
    trail, other = written(place), written(place, "theirs", seed=1)
    with trail.writing() as appender:
        said(appender, "in memory")
        with trail.writing(LogName.ACCESS) as access:
            access.add(EntryKind.RECALLED, {"query": b"q"})
        with other.writing() as theirs:
            said(theirs, "theirs")
    assert all(verify_log(each, LogName.MEMORY).sound for each in (trail, other))


def test_readers_and_the_writer_do_not_wait(place: Place) -> None:
    """TIME.3: while a long transaction appends and commits, readers answer at once, and an answer as of a point repeats."""
    trail = written(place)
    reader = place.store(lock_timeout_seconds=0.05)
    with trail.writing() as appender:
        claims = [said(appender, f"more {n}") for n in range(700)]
        appender.flush()
        with reader.reading(LogName.MEMORY) as rows:
            size = rows.head().size
            before = _as_of(rows, size - 1)
            appender.add(EntryKind.RETRACTED, refs=[3])
            appender.flush()
    assert claims
    with reader.reading(LogName.MEMORY) as rows:
        with trail.writing() as appender:
            said(appender, "while it is read")
        assert _as_of(rows, size - 1) == before
        assert rows.newest([["more"]], Selection(2**40), 2000) == claims[::-1]


def _as_of(rows: Reading, seq: int) -> list[Any]:
    """Everything that is answered of a point; when a version that held at it ended later is no answer of it."""
    held = [belief._replace(version=belief.version._replace(tx_to=0)) for belief in rows.believed(Selection(seq))]
    return [
        held,
        rows.standings(Selection(seq)),
        rows.count(Selection(seq)),
        rows.newest([["claim"]], Selection(seq), 9),
    ]


def test_a_log_that_is_being_read_can_be_written_at_once(place: Place) -> None:
    """TRAIL.6: a reader that stays keeps no writer waiting."""
    trail = written(place)
    reader = place.store()
    with reader.reading(LogName.MEMORY) as rows:
        before = list(rows.entries())
        quick = trail_over(place.store(lock_timeout_seconds=0.05))
        quick._id, quick.outside = trail.id, trail.outside
        with quick.writing() as appender:
            said(appender, "at once")
        assert list(rows.entries()) == before


def test_many_processes_append_at_once(place: Place, tmp_path: Path) -> None:
    """TRAIL.6: 6 processes × 8 appends from an empty database: all kept, in one valid tree, each writer's own in its order."""
    command = [sys.executable, "-m", "tests.store.appending_process", str(tmp_path), "6", "8", place.url()]
    made = subprocess.Popen(command, cwd=ROOT)
    while len(list(tmp_path.glob("*.ready"))) < 6:
        assert made.poll() is None
    (tmp_path / "go").touch()
    assert made.wait(PATIENCE_SECONDS) == 0
    trail = trail_over(place.store())
    trail.outside = OutsideFolder(tmp_path / "state")
    with trail.reading() as rows:
        texts = [belief.text or "" for belief in rows.believed(Selection(2**40))]
    by_writer = {f"w{n}": [text for text in texts if text.startswith(f"w{n} ")] for n in range(6)}
    assert by_writer == {f"w{n}": [f"w{n} says {each}" for each in range(8)] for n in range(6)}
    assert verify_log(trail, LogName.MEMORY).sound


def test_a_part_is_erased_and_nothing_else(place: Place) -> None:
    """An erased part is gone, from the index too; the others of its entry stay; and none can be put in its place."""
    trail = written(place)
    store = trail.store
    with trail.reading() as rows:
        claim = rows.newest([["claim"]], Selection(2**40), 1)[0]
        before = rows.parts(claim)
    with store.writing(LogName.MEMORY, lambda _: None) as draft:
        draft.erase({claim: ["text"]}, [(claim, "claim 2 of mine")])
    with store.reading(LogName.MEMORY) as rows:
        assert rows.parts(claim) == [part for part in before if part.name != "text"]
        assert rows.text(claim) is None
        assert claim not in rows.newest([["claim"]], Selection(2**40), 9)
        assert rows.newest([["claim"]], Selection(2**40), 9)
    assert store.check(LogName.MEMORY) == []
    larger = packed([("text", bytes(32), b"x" * 1000)])
    with place.connect(place.key()) as session:
        for call in ("SELECT tally.erase(0::smallint, %s, %s)",):
            with pytest.raises(psycopg.errors.IntegrityConstraintViolation, match="only erased"):
                session.execute(call, (claim, larger))
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            session.execute("SET tally.erasing = 'on'; DELETE FROM tally.part")


def test_scrubbed_files_hold_nothing_of_what_was_erased(place: Place) -> None:
    """Once scrubbed, erased words are in no file of the database, statistics included; before, they were (the write-ahead log
    aside)."""
    secret = "xylophonesecret"
    facets = json.dumps({"kind": "fact", "subject": secret, "attribute": secret, "value": secret}).encode()
    verdict = json.dumps({"verdicts": [{"verifier": "quotation/1", "value": "inferred", "reason": secret}]}).encode()
    trail = trail_over(place.store())
    with trail.writing() as appender:
        for n in range(40):  # So many that the server has something to sample.
            said(appender, f"another claim {n}", "5" * 32)
        claim = appender.add(EntryKind.ASSERTED, {"facets": facets, "text": secret.encode()}, holder="5" * 32)
        judged = appender.add(EntryKind.JUDGED, {f"verdict/{claim}": verdict}, refs=[claim])
    with place.connect() as connection:
        connection.execute("ANALYZE")
    assert _files_with(place, secret)
    with trail.store.writing(LogName.MEMORY, lambda _: None) as draft:
        row = draft.claim_row(claim)
        assert row is not None
        draft.erase({claim: ["facets", "text"], judged: [f"verdict/{claim}"]}, [(claim, secret)])
        draft.refold([claim], [row._replace(subject="", attribute="", value="", kind="")])
    assert _files_with(place, secret)
    trail.store.scrub(LogName.MEMORY)
    assert _files_with(place, secret) == []
    assert trail.store.check(LogName.MEMORY) == []
    with trail.reading() as rows:
        assert rows.newest([["another"]], Selection(90), 5) == [claim - n for n in range(1, 6)]


def _files_with(place: Place, words: str) -> list[str]:
    """The database's files in which the words are."""
    with place.connect() as connection:
        connection.execute("CHECKPOINT")
        row = connection.execute("SELECT oid FROM pg_database WHERE datname = current_database()").fetchone()
        assert row is not None
    folder = place.server.folder / "data" / "base" / str(row[0])
    return [path.name for path in sorted(folder.iterdir()) if words.encode() in path.read_bytes()]


def test_only_the_owner_scrubs(place: Place) -> None:
    """A user who does not own the tables is told what their owner has to run."""
    written(place)
    user = f"u{uuid.uuid4().hex[:8]}"
    with place.connect() as connection:
        connection.execute(f"CREATE ROLE {user} LOGIN; GRANT tally_session TO {user}".encode())
    guest = PostgresStore(place.server.url(place.database, user=user, trail="mine"))
    with pytest.raises(TrailUnwritable, match=r"VACUUM \(FULL, ANALYZE\) tally\.part"):
        guest.scrub(LogName.MEMORY)
    with guest.reading(LogName.MEMORY) as rows:
        assert rows.head().size > 3
    guest.close()
    with place.connect() as connection:
        connection.execute(f"DROP ROLE {user}".encode())


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("DROP TRIGGER entry_stays ON tally.entry", "trigger entry_stays on entry"),
        ("ALTER TABLE tally.part DISABLE TRIGGER part_stays", "trigger part_stays on part"),
        ("DROP POLICY bound ON tally.part; CREATE POLICY bound ON tally.part USING (true)", "policy bound on part"),
        ("ALTER TABLE tally.version DROP CONSTRAINT version_overlaps_none", "constraint version_overlaps_none on version"),
        ("CREATE OR REPLACE FUNCTION tally.refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
         "function refuse()"),
        ("GRANT DELETE ON tally.entry TO tally_session", "right of tally_session on entry was changed"),
        ("ALTER POLICY named ON tally.trail TO tally_session", "policy named on trail was changed"),
        ("CREATE RULE keep AS ON UPDATE TO tally.meta DO INSTEAD NOTHING", "rule keep on meta was added"),
        ("CREATE VIEW tally.spy AS SELECT * FROM tally.part; GRANT SELECT ON tally.spy TO PUBLIC", "view spy was added"),
        ("GRANT EXECUTE ON FUNCTION tally.erase TO PUBLIC", "right of PUBLIC on function erase"),
        ("ALTER TABLE tally.head NO FORCE ROW LEVEL SECURITY", "table head"),
        ("UPDATE tally.held SET held = held + 1 WHERE seq = (SELECT min(seq) FROM tally.held)", "counts of claims held"),
        ("DELETE FROM tally.search WHERE word = 'claim'", "search index"),
        ("UPDATE tally.search SET word = 'clam' WHERE word = 'claim'", "search index"),
    ],
)  # fmt: skip
def test_what_was_changed_of_the_guards_is_named(place: Place, change: str, named: str) -> None:
    """TRAIL.1, 7: ``verify`` names a trigger, policy, constraint, function or right that is not as it was made."""
    trail = written(place)
    assert trail.store.check(LogName.MEMORY) == []
    assert trail.store.check(LogName.LEDGER) == []
    with place.connect() as connection:
        connection.execute(change.encode())
    found = trail.store.check(LogName.MEMORY)
    assert any(named in each for each in found), found
    assert not verify_log(trail, LogName.MEMORY).sound


def test_found_by_name_or_by_id(place: Place) -> None:
    """A trail is opened by its name or by its id; a name that nobody wrote under reads as empty and is not made."""
    trail = written(place)
    by_id = place.store(trail.id)
    nobody = place.store("nobody")
    with by_id.reading(LogName.MEMORY) as rows:
        assert rows.meta("trail") == trail.id
    with nobody.reading(LogName.MEMORY) as rows:
        assert rows.head().size == 0
        assert list(rows.rows("claim")) == []
        assert rows.count(Selection(9)) == 0
    with place.connect() as connection:
        assert connection.execute("SELECT name FROM tally.trail").fetchall() == [("mine",)]


def test_a_damaged_index_is_named_where_amcheck_is(place: Place) -> None:
    """TRAIL.7: where the extension amcheck is there, an index whose bytes were changed is named by ``verify``."""
    trail = written(place, count=300)
    with place.connect() as connection:
        connection.execute(
            "CREATE EXTENSION amcheck; GRANT EXECUTE ON FUNCTION bt_index_check(regclass) TO tally_session"
        )
        row = connection.execute("SELECT pg_relation_filepath('tally.entry_pkey')").fetchone()
        assert trail.store.check(LogName.MEMORY) == []
        trail.store.close()
        connection.execute("CHECKPOINT")
    assert row is not None
    file = place.server.folder / "data" / str(row[0])
    with place.server.connect("postgres") as connection:  # Nothing of the file stays in the server's memory.
        connection.execute(
            f"CREATE DATABASE {place.database}copy TEMPLATE {place.database} STRATEGY file_copy".encode()
        )
        oid = connection.execute(
            "SELECT oid FROM pg_database WHERE datname = %s", (f"{place.database}copy",)
        ).fetchone()
    assert oid is not None
    data = bytearray((copy := file.parents[1] / str(oid[0]) / file.name).read_bytes())
    middle = data.index(struct.pack("<q", 150))
    data[middle : middle + 8] = struct.pack("<q", 7)
    copy.write_bytes(data)
    store = Place(place.server, f"{place.database}copy", place.opened).store()
    assert any("entry_pkey" in found for found in store.check(LogName.MEMORY))
    store.close()
    with place.server.connect("postgres") as connection:
        connection.execute(f"DROP DATABASE {place.database}copy WITH (FORCE)".encode())


def test_a_reader_of_before_is_waited_for(place: Place) -> None:
    """ERASE.2: while somebody reads who might still see what was erased, scrubbing says so and does not call it done."""
    trail = trail_over(place.store())
    with trail.writing() as appender:
        claim = said(appender, "xylophonesecret")
    hurried = place.store(lock_timeout_seconds=0.2)
    with trail.store.reading(LogName.MEMORY):
        with trail.store.writing(LogName.MEMORY, lambda _: None) as draft:
            draft.erase({claim: ["text"]}, [(claim, "xylophonesecret")])
        with pytest.raises(TrailLocked, match="since before the erasure"):
            hurried.scrub(LogName.MEMORY)
    hurried.scrub(LogName.MEMORY)
    assert _files_with(place, "xylophonesecret") == []


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE tally.link SET tx_to = 9007199254740991 WHERE older = (SELECT max(older) FROM tally.link WHERE kind = 'revises')",
        "INSERT INTO tally.block SELECT trail, log, 99, session, data FROM tally.block LIMIT 1",
        "UPDATE tally.block SET session = session + 1",
        "UPDATE tally.block SET data = data || '\\x00'::bytea",
        "INSERT INTO tally.node SELECT trail, log, 9, 0, leaf FROM tally.entry LIMIT 1",
        "INSERT INTO tally.node SELECT trail, log, 0, 7, leaf FROM tally.entry LIMIT 1",
        "INSERT INTO tally.node SELECT trail, log, 1, 0, leaf FROM tally.entry LIMIT 1",
        "INSERT INTO tally.holder SELECT trail, log, 77, '\\x00'::bytea FROM tally.head LIMIT 1",
        "INSERT INTO tally.meta SELECT trail, log, 'note', 'hidden' FROM tally.head LIMIT 1",
        "DELETE FROM tally.meta WHERE key = 'log'",
        "UPDATE tally.meta SET value = 'ledger' WHERE key = 'log'",
    ],
)
def test_a_row_that_nothing_vouches_for_is_noticed(place: Place, edit: str) -> None:
    """TRAIL.7: one of two links that ended, a block of no event, an undue subtree, a holder of no claim, a fact."""
    trail = written(place)
    with trail.writing() as appender:
        observed(appender, trail, "session", ["one", "two"])
        claims = [said(appender, f"more {n}") for n in range(2)]
        parts = {"facets": b"{}", "text": b"both", "because": b"b"}
        revised = appender.add(EntryKind.REVISED, parts, refs=claims, holder="5" * 32)
        appender.add(EntryKind.UNDONE, {"because": b"b"}, refs=[revised])
    assert verify_log(trail, LogName.MEMORY).bad == ()
    with place.connect() as connection:
        assert connection.execute(edit.encode()).rowcount
    assert not verify_log(trail, LogName.MEMORY).sound
