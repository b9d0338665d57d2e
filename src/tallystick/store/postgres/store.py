"""All three logs of a trail in a PostgreSQL database: sessions, transactions, locks, and what the engine can tell of itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any
from uuid import UUID

import psycopg

from tallystick.errors import MachineError, TrailLocked, TrailUnreadable, TrailUnwritable
from tallystick.model.entry import Head, LogName
from tallystick.store.postgres import checking
from tallystick.store.postgres.connection import (
    LOCK_TIMEOUT_SECONDS,
    SESSION_ROLE,
    Address,
    closed,
    is_idle,
    is_lost,
    lock_key,
    newer,
)
from tallystick.store.postgres.log import PostgresLog
from tallystick.store.postgres.migrating import is_there, migrate, newest
from tallystick.store.postgres.reading import NOWHERE, PostgresReading, Where
from tallystick.store.postgres.rows import NUMBERS
from tallystick.store.protocol import Reading, Writing

_READ = (
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT size, frontier, at, epoch FROM tally.head WHERE log = {}"
)
_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock({})"
_HELD = (
    "SELECT pg_is_in_recovery() OR EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND granted"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    " AND (classid::bigint << 32 | objid::bigint) = %s)"
)
"""Whether a lock is held, without asking for it. A standby does not see the locks of its primary."""
_SIZE = "SELECT coalesce(max(size), 0) FROM tally.head WHERE log = %s"
_ASK_AGAIN_SECONDS = 0.05
_ERASED = (
    "part",
    "block",
    "event",
    "version",
    "verdict",
    "touch",
    "name",
    "search",
    "said_place",
    "said",
    "vector",
    "source",
)
"""Tables in which something is erased, or replaced by what does not say it."""


class _Session:
    """A connection under the role that owns nothing, bound to a trail or to none."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self.connection = connection
        self.trail: UUID | None = None

    def bind(self, trail: UUID) -> None:
        """From now on the session sees this trail and no other."""
        if trail != self.trail:
            self.connection.execute("SELECT set_config('tally.trail', %s, false)", (str(trail),))
            self.trail = trail


class PostgresStore:
    """Implements ``protocol.Store`` over one trail of a database, given as ``postgresql://user@host/db?trail=NAME``.

    Tables are made at the first write of any trail, and the trail at its own. Reading is repeatable and takes no lock that a
    writer waits for. A connection is used by one reading or writing at a time and kept for the next.
    """

    def __init__(self, url: str, *, lock_timeout_seconds: float = LOCK_TIMEOUT_SECONDS) -> None:
        """Raises ``UsageError`` where the URL cannot be read."""
        self._url = url
        self._address = Address(url)
        self.location = self._address.location
        self._timeout = lock_timeout_seconds
        self._trail: UUID | None = None
        self._idle: list[_Session] = []

    @contextmanager
    def reading(self, log: LogName) -> Iterator[Reading]:
        """See ``protocol.Store``. A trail that was never written reads as empty."""
        number = NUMBERS[LogName(log)]
        begun = self._begun(lambda session: _begin(session, _READ.format(number)), make=False)
        if begun is None:
            yield PostgresReading(_Nothing(), number, NOWHERE)
            return
        session, where = begun
        try:
            yield PostgresReading(session.connection, number, where or NOWHERE)
        except psycopg.Error as error:
            raise self._address.translated(error) from None
        finally:
            self._give_back(session)

    @contextmanager
    def writing(self, log: LogName, committed: Callable[[Head], None]) -> Iterator[Writing]:
        """See ``protocol.Store``: the log's lock first, then the transaction, and only then may the caller read a clock.

        The lock is taken twice. The one that the transaction has ends with it, by the server's word, whatever becomes of this
        process or of a pooler between; but it ends before ``committed`` could be told. So the session has it too, from
        before the transaction until ``committed`` has returned: both are one lock, and a session never waits for itself.
        """
        number = NUMBERS[LogName(log)]
        begun = self._begun(lambda session: self._lock(session, number), make=True)
        assert begun is not None
        session, key = begun
        committing = False
        try:
            _begin(session, _WRITE.format(key))
            draft = PostgresLog(session.connection, number, session.trail)
            # The server works on one statement while the next is being made; whoever asks something waits for all of it.
            with session.connection.pipeline():
                yield draft
                draft.finish()
                head = draft.head()
            committing = True
            session.connection.execute("COMMIT")
            committing = False
            committed(head)
        except psycopg.Error as error:
            raise self._address.translated(error, committing=committing) from None
        finally:
            self._give_back(session, unlock=key)

    def _lock(self, session: _Session, log: int) -> int:
        assert session.trail is not None
        key = lock_key(session.trail, log)
        try:
            session.connection.execute("SELECT pg_advisory_lock(%s)", (key,))
        except psycopg.errors.LockNotAvailable:
            self._give_back(session)
            raise self._locked() from None
        return key

    def _locked(self) -> MachineError:
        return TrailLocked(
            f"{self.location}: another session has been writing for {self._timeout:.0f} s; try again later"
        )

    def _begun(self, begin: Callable[[_Session], Any], *, make: bool) -> tuple[_Session, Any] | None:
        """A session and what ``begin`` came to in it; None where there is no such trail and none is made.

        A connection that was kept may have ended since: then nothing has been asked of it yet, and another is opened.
        """
        while True:
            kept = bool(self._idle)
            session = None
            try:
                session = self._idle.pop() if kept else self._opened(make=make)
                if session is None or not self._is_bound(session, make=make):
                    self._give_back(session)
                    return None
                return session, begin(session)
            except psycopg.Error as error:
                if session is not None:
                    closed(session.connection)
                if not (kept and is_lost(error)):
                    raise self._address.translated(error) from None

    def _opened(self, *, make: bool) -> _Session | None:
        connection = self._address.connect()
        try:
            if not is_there(connection):
                if not make:
                    closed(connection)
                    return None
                self._set_timeout(connection)
                migrate(connection, self._address)
            self._become_the_session(connection)
        except BaseException:
            closed(connection)
            raise
        return _Session(connection)

    def _become_the_session(self, connection: psycopg.Connection[Any]) -> None:
        try:
            connection.execute(f"SET ROLE {SESSION_ROLE}".encode())
        except psycopg.errors.InsufficientPrivilege:
            user = connection.info.user
            raise TrailUnreadable(
                f'{self.location}: an administrator has to let the user in: GRANT {SESSION_ROLE} TO "{user}"'
            ) from None
        row = connection.execute("SELECT max(number) FROM tally.migration").fetchone()
        applied = row[0] if row else 0
        if applied > newest():
            raise newer(self.location, applied)
        if applied < newest():
            connection.execute("RESET ROLE")
            self._set_timeout(connection)
            migrate(connection, self._address)
            connection.execute(f"SET ROLE {SESSION_ROLE}".encode())
        self._set_timeout(connection)
        connection.execute(
            "SET jit = off"
        )  # It costs a hundred milliseconds, and no statement of ours takes that long.
        # What was committed is durable, whatever the server's default: off would let go of the last of it.
        connection.execute(
            "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
        )
        guarded = connection.execute("SELECT row_security_active('tally.entry')").fetchone()
        if not guarded or not guarded[0]:
            raise TrailUnreadable(
                f"{self.location}: row-level security is off; every trail of the database would be seen"
            )

    def _set_timeout(self, connection: psycopg.Connection[Any]) -> None:
        milliseconds = max(1, round(self._timeout * 1000))
        connection.execute("SELECT set_config('lock_timeout', %s, false)", (f"{milliseconds}ms",))

    def _is_bound(self, session: _Session, *, make: bool) -> bool:
        if self._trail is None:
            row = session.connection.execute("SELECT tally.trail_named(%s, %s)", (self._address.trail, make)).fetchone()
            self._trail = row[0] if row else None
        if self._trail is None:
            return False
        session.bind(self._trail)
        return True

    def _give_back(self, session: _Session | None, *, unlock: int | None = None) -> None:
        if session is None:
            return
        connection = session.connection
        with suppress(psycopg.Error):
            if not connection.closed and not is_idle(connection):
                connection.execute("ROLLBACK")
            if unlock is not None and not connection.closed:
                connection.execute("SELECT pg_advisory_unlock(%s)", (unlock,))
            if is_idle(connection):
                self._idle.append(session)
                return
        closed(connection)  # A lock that it had goes with it.

    def written_since(self, log: LogName, size: int) -> bool:
        """See ``protocol.Store``: what the server says of the lock, then the head in a statement that begins after that."""
        number = NUMBERS[LogName(log)]
        begun = self._begun(lambda session: self._written_since(session, number, size), make=False)
        if begun is None:
            return size != 0
        session, found = begun
        self._give_back(session)
        return bool(found)

    def _written_since(self, session: _Session, log: int, size: int) -> bool:
        assert session.trail is not None
        held = session.connection.execute(_HELD, (lock_key(session.trail, log),)).fetchone()
        if held is None or held[0]:
            return True
        now = session.connection.execute(_SIZE, (log,)).fetchone()
        return now is None or now[0] != size

    def opener(self) -> Callable[[], PostgresStore]:
        """See ``protocol.Store``. It holds the password, if the URL does."""
        return partial(PostgresStore, self._url, lock_timeout_seconds=self._timeout)

    def check(self, log: LogName) -> list[str]:
        """See ``protocol.Store``: the schema and who may what in it as they were made, every index against its table where the
        extension amcheck is there, and the search index against the texts."""
        try:
            with self.reading(log) as rows:
                if self._trail is None:
                    return []
                assert isinstance(rows, PostgresReading)
                found = checking.schema_apart(rows.connection) or checking.indexes_apart(rows)
                return found or rows.counts_apart() + checking.search_apart(rows)
        except MachineError as error:
            return [str(error)]

    def scrub(self, log: LogName) -> None:
        """See ``protocol.Store``: the search index in as few rows as will do, and the tables written anew without what is dead.

        What the server's write-ahead log, its replicas and its backups still have cannot be told from here
        (docs/guides/postgresql.md).

        Raises:
            TrailUnwritable: the user does not own the tables; the message says what the owner runs.
        """
        if self._trail is None:
            with self.reading(log):
                pass
        if self._trail is None:
            return
        with self.writing(log, lambda _: None) as rows:
            assert isinstance(rows, PostgresLog)
            rows.join_runs()
        connection = self._address.connect()
        try:
            self._set_timeout(connection)
            self._vacuum(connection)
        except psycopg.Error as error:
            raise self._address.translated(error) from None
        finally:
            closed(connection)

    def _vacuum(self, connection: psycopg.Connection[Any]) -> None:
        """VACUUM FULL writes a table and its indexes anew; what is not the user's own it leaves out with a warning."""
        owns = "SELECT pg_has_role(current_user, relowner, 'USAGE') FROM pg_class WHERE oid = 'tally.part'::regclass"
        row = connection.execute(owns).fetchone()
        statement = f"VACUUM (FULL, ANALYZE) {', '.join(f'tally.{table}' for table in _ERASED)}"
        if not row or not row[0]:
            raise TrailUnwritable(
                f"{self.location}: {connection.info.user} does not own the tables; their owner runs: {statement}"
            )
        self._wait_for_readers(connection)
        connection.execute(statement.encode())

    def _wait_for_readers(self, connection: psycopg.Connection[Any]) -> None:
        """Until nobody reads who began before now: what they might still see is not given up."""
        row = connection.execute("SELECT pg_current_xact_id()::xid::text").fetchone()
        before = (
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            " AND backend_xmin IS NOT NULL AND age(backend_xmin) >= age(%s::xid)"
        )
        deadline = time.monotonic() + self._timeout
        while (found := connection.execute(before, (row[0] if row else "0",)).fetchone()) and found[0]:
            if time.monotonic() >= deadline:
                raise TrailLocked(
                    f"{self.location}: somebody has been reading the database since before the erasure, so its tables still hold"
                    " what was erased; run it again when they are done"
                )
            time.sleep(_ASK_AGAIN_SECONDS)

    def close(self) -> None:
        """See ``protocol.Store``."""
        while self._idle:
            closed(self._idle.pop().connection)


def _begin(session: _Session, statements: str) -> Where | None:
    """Begin, and give the row of the last of several statements, which go in one message."""
    cursor = session.connection.execute(statements.encode())
    while cursor.nextset():
        pass
    row = cursor.fetchone()
    return row if row and len(row) == 4 else None


class _Nothing:
    """Answers like a connection and like a cursor, and has no rows."""

    def execute(self, *_: Any, **__: Any) -> _Nothing:
        """No rows, whatever is asked."""
        return self

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def fetchone(self) -> None:
        """None."""

    def fetchall(self) -> list[Any]:
        """None."""
        return []
