"""A server that cannot be had, goes away, or refuses: one line that names it and says what to do, and nothing lost (TRAIL.5)."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tallystick.errors import (
    MachineError,
    NewerFormat,
    TallyError,
    TrailLocked,
    TrailUnreadable,
    TrailUnwritable,
    UsageError,
)
from tallystick.model.entry import LogName
from tallystick.store.postgres import PostgresStore
from tallystick.store.postgres.connection import Address
from tallystick.store.postgres.migrating import migrate, migrations
from tallystick.testing.store_contract import said
from tallystick.testing.trails import trail_over
from tallystick.trail.verifying import verify_log
from tests.cli.surface import Tally
from tests.store.postgres_server import PATIENCE_SECONDS, Server, embedded, own_server, shared_server

SECRET = "s3cret-pa55"
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def server() -> Server:
    return shared_server(embedded())


@pytest.fixture
def database(server: Server) -> Iterator[str]:
    """A fresh one."""
    name = f"f{uuid.uuid4().hex[:12]}"
    server.make_database(name)
    yield name
    with server.connect("postgres") as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


@pytest.fixture
def role(server: Server, database: str) -> Iterator[str]:
    """A user who may log in, and nothing else."""
    name = f"u{uuid.uuid4().hex[:10]}"
    with server.connect("postgres") as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN".encode())
    yield name
    with server.connect(database) as connection:
        connection.execute(f"DROP OWNED BY {name} CASCADE".encode())
        connection.execute(f"REASSIGN OWNED BY {name} TO postgres; DROP ROLE {name}".encode())


def refusal(url: str, kind: type[TallyError] = MachineError) -> str:
    """What reading, and then writing, is refused with: the same kind of error, on one line, without the password."""
    messages: list[str] = []
    for act in ("reading", "writing"):
        try:
            store = PostgresStore(url, lock_timeout_seconds=5)
            with closing(store):
                with pytest.raises(kind) as refused:
                    _touch(store, act)
                messages.append(str(refused.value))
        except UsageError as error:
            assert kind is UsageError
            messages.append(str(error))
    for message in messages:
        assert "\n" not in message
        assert SECRET not in message
    return messages[-1]


def _touch(store: PostgresStore, act: str) -> None:
    if act == "reading":
        with store.reading(LogName.MEMORY):
            pass
    else:
        with store.writing(LogName.MEMORY, lambda _: None):
            pass


def test_nobody_listens(tmp_path: Path) -> None:
    """A server that is not there is named, with its address and what to look at."""
    assert "cannot be reached" in refusal(f"postgresql://ada:{SECRET}@127.0.0.1:1/tally?trail=mine")
    message = refusal(f"postgresql://ada:{SECRET}@/tally?host={tmp_path}&trail=mine")
    assert f"postgresql://ada@/tally?host={tmp_path}&trail=mine: cannot be reached" in message


def test_no_such_host() -> None:
    """A name that stands for no machine is named."""
    message = refusal(f"postgresql://ada:{SECRET}@no-such-host.invalid/tally?trail=mine")
    assert (
        "postgresql://ada@no-such-host.invalid/tally?trail=mine: cannot be reached; check that the server runs"
        in message
    )


def test_a_host_that_never_answers() -> None:
    """Who takes a connection and says nothing is waited for as long as ``connect_timeout`` says."""
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        port = silent.getsockname()[1]
        assert "cannot be reached" in refusal(f"postgresql://ada:{SECRET}@127.0.0.1:{port}/tally?connect_timeout=2")


def test_no_such_database(server: Server) -> None:
    """A database that is not there is named."""
    assert "no such database" in refusal(server.url("nowhere"))


def test_a_wrong_password() -> None:
    """A password that is wrong, or missing, is said to be, and is never shown; the right one is not shown either."""
    with own_server(password=SECRET) as server:
        for wrong in ("wr0ng-one", ""):
            server.password = wrong
            message = refusal(server.url(trail="mine"), TrailUnreadable)
            assert "wrong password" in message
            assert not wrong or wrong not in message
        server.password = SECRET
        store = PostgresStore(server.url(trail="mine"))
        with closing(store):
            trail = trail_over(store)
            with trail.writing() as appender:
                said(appender, "with the right one")
            assert SECRET not in store.location + repr(store)
            assert verify_log(trail, LogName.MEMORY).sound


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://ada:{SECRET}@host/db?nonsense=1",
        f"postgresql://ada:{SECRET}@host/db?trail=",
        f"postgresql://ada:{SECRET}@host/db?trail=a%00b",
        f"postgresql://ada:{SECRET}@[::1/db",
        f"postgresql://ada@host/db?password={SECRET}&x=y",
        f"postgresql://ada:{SECRET}@host/db?trail={'x' * 300}",
    ],
)
def test_an_address_that_is_none(url: str) -> None:
    """A URL that cannot be read is refused as wrong usage, without its password."""
    assert "postgresql://" in (message := refusal(url, UsageError)) or "trail=" in message


class OldServer:
    """Speaks as much of the protocol as says which version it is."""

    def __init__(self, version: str, encoding: str) -> None:
        self._said = {"server_version": version, "server_encoding": encoding, "client_encoding": "UTF8",
                      "standard_conforming_strings": "on", "integer_datetimes": "on"}  # fmt: skip
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection:
                (length,) = struct.unpack(">i", connection.recv(4))
                connection.recv(length - 4)
                connection.sendall(_message(b"R", struct.pack(">i", 0)))
                for name, value in self._said.items():
                    connection.sendall(_message(b"S", f"{name}\0{value}\0".encode()))
                connection.sendall(_message(b"Z", b"I"))
                connection.recv(1000)

    def close(self) -> None:
        self._socket.close()


def _message(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack(">i", len(body) + 4) + body


@pytest.mark.parametrize(
    ("version", "encoding", "named"),
    [("14.9", "UTF8", "PostgreSQL 14; a trail needs 15 or newer"), ("16.1", "LATIN1", "encoding is LATIN1")],
)
def test_a_server_that_will_not_do(version: str, encoding: str, named: str) -> None:
    """A server that is too old, or a database that cannot hold every text, is named with what is needed."""
    with closing(OldServer(version, encoding)) as old:
        options = "sslmode=disable&gssencmode=disable"
        assert named in refusal(f"postgresql://ada@127.0.0.1:{old.port}/tally?{options}", TrailUnreadable)


def test_a_statement_timeout(server: Server, database: str) -> None:
    """A statement that the server stops is named as that; nothing of the write stays, and the next one goes on."""
    trail = trail_over(PostgresStore(server.url(database, trail="mine")))
    with trail.writing() as appender:
        said(appender, "kept")
    hasty = trail_over(PostgresStore(server.url(database, trail="mine", options="-c%20statement_timeout=150")))
    hasty._id, hasty.outside = trail.id, trail.outside
    with server.connect(database) as other, other.transaction():
        other.execute("LOCK TABLE tally.entry IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(TrailUnwritable, match="statement_timeout"), hasty.writing() as appender:  # noqa: PT012
            said(appender, "dropped")
            appender.flush()
        with pytest.raises(TrailUnwritable, match="statement_timeout"), hasty.store.reading(LogName.MEMORY) as rows:
            list(rows.entries())
    with hasty.writing() as appender:
        said(appender, "next")
    report = verify_log(trail, LogName.MEMORY)
    assert (report.sound, report.size) == (True, 3)
    for each in (trail, hasty):
        each.store.close()


def test_a_lock_that_is_not_to_be_had(server: Server, database: str) -> None:
    """TRAIL.6: who waits too long for another writer is told who has been in the way for how long."""
    store, other = (PostgresStore(server.url(database, trail="mine"), lock_timeout_seconds=0.1) for _ in range(2))
    with closing(store), closing(other):
        with store.writing(LogName.MEMORY, lambda _: None):
            with pytest.raises(TrailLocked, match="mine: another session has been writing for 0 s"):
                _touch(other, "writing")
            _touch(other, "reading")
        _touch(other, "writing")


def test_the_session_is_ended_in_mid_append(server: Server, database: str) -> None:
    """TRAIL.5: a connection that goes in the middle of a write leaves nothing of it, and the same store goes on by another."""
    store = PostgresStore(server.url(database, trail="mine"))
    trail = trail_over(store)
    with closing(store):
        with trail.writing() as appender:
            said(appender, "kept")
        for flushed in (False, True):
            with pytest.raises(TrailUnwritable, match="the server went away"), trail.writing() as appender:  # noqa: PT012
                said(appender, "dropped")
                if flushed:
                    appender.flush()
                _end_sessions(server, database)
                said(appender, "dropped too")
            report = verify_log(trail, LogName.MEMORY)
            assert (report.sound, report.size) == (True, 2)
        with pytest.raises(TrailUnwritable, match="the server went away"), trail.reading() as rows:  # noqa: PT012
            _end_sessions(server, database)
            list(rows.entries())
        with trail.writing() as appender:
            assert said(appender, "next") == 2


def _end_sessions(server: Server, database: str) -> None:
    with server.connect("postgres") as connection:
        sql = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = %s"
        assert connection.execute(sql, (database,)).fetchall()


def test_a_session_that_ended_while_it_was_idle_is_no_error(server: Server, database: str) -> None:
    """A connection that is kept for the next command and ended meanwhile is replaced without a word."""
    store = PostgresStore(server.url(database, trail="mine"))
    trail = trail_over(store)
    with closing(store):
        for n in range(3):
            with trail.writing() as appender:
                said(appender, f"claim {n}")
            _end_sessions(server, database)
            with trail.reading() as rows:
                assert rows.head().size == n + 2
            _end_sessions(server, database)


def test_the_server_is_killed_in_mid_append() -> None:
    """TRAIL.5: ``kill -9`` of the server in the middle of a write: what was committed is there when it comes back, the rest
    is not, and the same command then completes."""
    with own_server() as server:
        store = PostgresStore(server.url(trail="mine"))
        trail = trail_over(store)
        with closing(store):
            with trail.writing() as appender:
                said(appender, "kept")
            with pytest.raises(MachineError) as refused, trail.writing() as appender:  # noqa: PT012
                for n in range(600):
                    said(appender, f"dropped {n}")
                appender.flush()
                server.kill()
                said(appender, "dropped")
            assert "the server went away" in str(refused.value)
            with pytest.raises(TrailUnreadable, match="cannot be reached"), trail.reading():
                pass
            server.start()
            report = verify_log(trail, LogName.MEMORY)
            assert (report.sound, report.size) == (True, 2)
            with trail.writing() as appender:
                assert said(appender, "next") == 2
            assert verify_log(trail, LogName.MEMORY).sound


def test_read_only(server: Server, database: str) -> None:
    """A standby, or a session that may not write, is named; a trail on it is read all the same."""
    store = PostgresStore(server.url(database, trail="mine"))
    _touch(store, "writing")
    store.close()
    standby = PostgresStore(server.url(database, trail="mine", options="-c%20default_transaction_read_only=on"))
    with closing(standby):
        _touch(standby, "reading")
        with pytest.raises(TrailUnwritable, match="read-only"):
            trail_over(standby).writing().__enter__()


def test_a_user_who_may_not_make_tables(server: Server, database: str, role: str) -> None:
    """Nothing is there and the user may make nothing: the message is what an administrator runs, and then it works."""
    url = server.url(database, user=role, trail="mine")
    store = PostgresStore(url)
    with closing(store):
        _touch(store, "reading")
        with pytest.raises(TrailUnwritable, match="an administrator runs: ") as refused:
            _touch(store, "writing")
        with server.connect(database) as connection:
            for statement in str(refused.value).partition("an administrator runs: ")[2].split("; "):
                if statement.startswith("CREATE ROLE") and _is_role(connection):
                    continue
                connection.execute(statement.encode())
        trail = trail_over(store)
        with trail.writing() as appender:
            said(appender, "as a user who owns the tables and is no superuser")
        assert verify_log(trail, LogName.MEMORY).bad == ()
        with store.writing(LogName.MEMORY, lambda _: None) as draft:
            draft.erase({1: ["text"]}, [(1, "as a user who owns the tables and is no superuser")])
        store.scrub(LogName.MEMORY)
        with store.reading(LogName.MEMORY) as rows:
            assert [part.name for part in rows.parts(1)] == ["facets"]
        with server.connect(database, user=role) as owner:
            assert owner.execute("SELECT count(*) FROM tally.entry").fetchone() == (0,)
        by_id = PostgresStore(server.url(database, user=role, trail=trail.id))
        with closing(by_id), by_id.reading(LogName.MEMORY) as rows:
            assert rows.head().size == 2


def _is_role(connection: Any) -> bool:
    return connection.execute("SELECT 1 FROM pg_roles WHERE rolname = 'tally_session'").fetchone() is not None


def test_a_user_who_was_not_let_in(server: Server, database: str, role: str) -> None:
    """The tables are there and the user may not read them: the message names the grant, and then it works."""
    owner = PostgresStore(server.url(database, trail="mine"))
    _touch(owner, "writing")
    owner.close()
    url = server.url(database, user=role, trail="mine")
    message = refusal(url)
    grant = f'GRANT tally_session TO "{role}"'
    assert message.endswith(grant)
    with server.connect(database) as connection:
        connection.execute(grant.encode())
    store = PostgresStore(url)
    with closing(store):
        for act in ("reading", "writing"):
            _touch(store, act)


def test_btree_gist_is_missing(server: Server, database: str) -> None:
    """A server without its contrib package is named with what to install; nothing half-made is left."""
    with server.connect(database) as connection:
        connection.execute(
            "CREATE FUNCTION absent() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION"
            " 'extension \"btree_gist\" is not available' USING ERRCODE = 'undefined_file'; END $$;"
            "CREATE EVENT TRIGGER absent ON ddl_command_start WHEN TAG IN ('CREATE EXTENSION') EXECUTE FUNCTION absent()"
        )
        store = PostgresStore(server.url(database, trail="mine"))
        with closing(store), pytest.raises(TrailUnwritable, match="lacks the extension btree_gist; install"):
            _touch(store, "writing")
        assert connection.execute("SELECT count(*) FROM pg_namespace WHERE nspname = 'tally'").fetchone() == (0,)


def test_the_driver_is_missing() -> None:
    """Without psycopg the extra to install is named, on one line, whatever the command."""
    code = (
        "import sys; sys.modules['psycopg'] = None; from tallystick.cli.starting import run;"
        f" sys.exit(run(['verify', '--trail', 'postgresql://ada:{SECRET}@host/db']))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pip install 'tallystick[postgres]'" in done.stderr
    assert done.stderr.count("\n") == 1
    assert SECRET not in done.stderr


def test_a_folder_needs_no_driver() -> None:
    """A trail in a folder never loads the driver."""
    code = (
        "import sys; from tallystick.plugins import open_trail; from tallystick.config import Places;"
        " open_trail(Places('t', 's')); sys.exit('psycopg' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_migrations_are_numbered_and_run_once(server: Server, database: str) -> None:
    """The files are numbered from 1 without gaps; many who come at once apply each once; those that were are not run again."""
    assert [each.number for each in migrations()] == list(range(1, len(migrations()) + 1))
    stores = [PostgresStore(server.url(database, trail=f"t{n}")) for n in range(6)]
    failures: list[BaseException] = []

    def write(store: PostgresStore) -> None:
        try:
            with trail_over(store).writing() as appender:
                said(appender, "at once")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(store,)) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for store in stores:
        store.close()
    assert failures == []
    applied = "SELECT number, applied_at FROM tally.migration ORDER BY number"
    with server.connect(database) as connection:
        before = connection.execute(applied).fetchall()
        again = PostgresStore(server.url(database, trail="t0"))
        with closing(again):
            _touch(again, "writing")
            address = Address(server.url(database))
            with address.connect() as other:
                migrate(other, address)
        assert connection.execute(applied).fetchall() == before
        assert [number for number, _ in before] == [each.number for each in migrations()]
        assert connection.execute("SELECT count(*) FROM tally.trail").fetchone() == (6,)


def test_tables_of_another_version(server: Server, database: str) -> None:
    """Tables that a newer tallystick made, or that were made by an edited file, are refused and stay as they are."""
    _touch(store := PostgresStore(server.url(database, trail="mine")), "writing")
    store.close()
    with server.connect(database) as connection:
        connection.execute("INSERT INTO tally.migration (number, name, digest) VALUES (99, '0099_later.sql', '')")
        assert "migration 99" in refusal(server.url(database, trail="mine"), NewerFormat)
        connection.execute("DELETE FROM tally.migration WHERE number = 99; UPDATE tally.migration SET digest = 'x'")
        address = Address(server.url(database))
        with address.connect() as other, pytest.raises(TrailUnreadable, match="not the one that was applied"):
            migrate(other, address)


def test_at_the_command_line(tally: Tally, server: Server, database: str) -> None:
    """cli.md: every verb works on a database as on a folder; what fails is one line, with exit code 3."""
    tally.setenv({"TALLY_TRAIL": server.url(database, trail="mine")})
    first = tally.remember("the port is 5432")
    tally.json("revise", first, "the port is 5433", "--because", "read the config")
    assert tally.texts() == ["the port is 5433"]
    assert tally.json("recall", "port")["items"][0]["text"] == "the port is 5433"
    assert tally.sound()
    assert "revised" in tally("why", first).out
    assert "trail=mine" in tally("verify").out + tally("doctor").out
    message = tally.refused("verify", "--trail", f"postgresql://ada:{SECRET}@127.0.0.1:1/tally", code=3)
    assert "cannot be reached" in message
    assert SECRET not in message


ENDINGS = {
    "57P01": (
        "SELECT pg_terminate_backend(%s)",
        "the server went away; nothing was kept of what was under way, run the command",
    ),
    "57014": ("SELECT pg_cancel_backend(%s)", "nothing was kept of it: raise statement_timeout, or try again"),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_command_that_is_ended_in_mid_append(server: Server, database: str, ending: str, tmp_path: Path) -> None:
    """TRAIL.5: all that a person sees is one line, without the password, the statement or the words; nothing is lost, and the
    same command then goes through."""
    url = server.url(database, trail="mine").replace("postgres@", f"postgres:{SECRET}@")
    environment = {**os.environ, "TALLY_TRAIL": url, "TALLY_STATE": str(tmp_path / "state")}

    def begun(*arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "tallystick", *arguments]
        return subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    assert begun("remember", "the port is 5432").communicate(timeout=PATIENCE_SECONDS)[1] == ""
    statement, advice = ENDINGS[ending]
    with server.connect(database) as other, other.transaction():
        other.execute("LOCK TABLE tally.entry IN ACCESS EXCLUSIVE MODE")
        ended = begun("remember", "the host is db.example")
        with server.connect("postgres") as killer:
            waiting = "SELECT pid FROM pg_stat_activity WHERE datname = %s AND wait_event_type = 'Lock'"
            while (row := killer.execute(waiting, (database,)).fetchone()) is None:
                assert ended.poll() is None
            killer.execute(statement.encode(), row)
        said_of_it = ended.communicate(timeout=PATIENCE_SECONDS)
    assert (ended.returncode, said_of_it[0], said_of_it[1].count("\n")) == (3, "", 1), said_of_it
    assert advice in said_of_it[1]
    for secret in (SECRET, "SELECT", "db.example"):
        assert secret not in said_of_it[1]
    again = begun("remember", "the host is db.example")
    assert again.communicate(timeout=PATIENCE_SECONDS)[1] == ""
    verified = begun("verify").communicate(timeout=PATIENCE_SECONDS)
    assert "sound, 7 entries" in verified[0], verified
