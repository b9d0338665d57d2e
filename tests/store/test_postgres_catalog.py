"""What was changed of a database so that other rows are read, or others may read them, is noticed and named (TRAIL.1, 7)."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tallystick.model.entry import LogName
from tallystick.store.postgres import PostgresStore
from tallystick.store.postgres.checking import CATALOG, catalog, catalog_lines, schema_apart
from tallystick.store.postgres.connection import Address
from tallystick.store.postgres.migrating import HERE, migrate
from tallystick.store.statements import text
from tallystick.testing.store_contract import said
from tallystick.testing.trails import trail_over
from tallystick.trail.verifying import verify_log
from tests.store.postgres_server import DEBIAN_15, Server, embedded, shared_server

SERVERS = [embedded()] + [DEBIAN_15] * ((DEBIAN_15 / "initdb").exists() and embedded() != DEBIAN_15)
LOGIN_TRIGGERS = 170_000
"""The first server, as ``server_version_num`` says it, that runs something when a session begins."""


@pytest.fixture(scope="module", params=SERVERS, ids=lambda binaries: binaries.parts[-2])
def server(request: pytest.FixtureRequest) -> Server:
    return shared_server(request.param)


class Made(NamedTuple):
    """A database with a trail in it, whose tables ``owner`` owns; ``guest`` may log in and is a member of tally_session."""

    server: Server
    name: str
    owner: str
    guest: str

    def url(self, user: str) -> str:
        return self.server.url(self.name, user=user, trail="mine")


@pytest.fixture(scope="module", params=["a superuser's", "nobody's"])
def made(server: Server, request: pytest.FixtureRequest) -> Iterator[Made]:
    """Once made by a superuser, and once by a user who is none."""
    owner, guest = (f"{prefix}{uuid.uuid4().hex[:8]}" for prefix in "og")
    attributes = "SUPERUSER" if request.param == "a superuser's" else "CREATEROLE"
    name = f"c{uuid.uuid4().hex[:12]}"
    with server.connect("postgres") as connection:
        connection.execute(f"CREATE ROLE {owner} LOGIN {attributes}; CREATE ROLE {guest} LOGIN".encode())
    server.make_database(name, owner)
    with server.connect(name) as connection:
        if connection.execute("SELECT FROM pg_roles WHERE rolname = 'tally_session'").fetchone() is None:
            connection.execute("CREATE ROLE tally_session NOLOGIN")
        connection.execute(f"GRANT tally_session TO {owner} WITH ADMIN OPTION; GRANT tally_session TO {guest}".encode())
    place = Made(server, name, owner, guest)
    store = PostgresStore(place.url(owner))
    trail = trail_over(store)
    with trail.writing() as appender:
        said(appender, "the port is 5433")
    store.close()
    yield place
    with server.connect("postgres") as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())
        connection.execute(f"DROP ROLE {owner}, {guest}".encode())


def apart(made: Made, change: str) -> list[str]:
    """What a session of ours says of the schema after a superuser's change, which is then taken back."""
    with Address(made.url("postgres")).connect() as connection, connection.transaction(force_rollback=True):
        if not change.startswith("SET"):
            connection.execute(change.encode())
        connection.execute("SET LOCAL ROLE tally_session")
        if change.startswith("SET"):
            connection.execute(change.encode())
        return schema_apart(connection)


CHANGES: list[tuple[str, str | set[str]]] = [
    # Policies.
    ("ALTER POLICY named ON tally.trail TO tally_session", "policy named on trail was changed"),
    ("ALTER POLICY named ON tally.meta TO tally_session", "policy named on meta was changed"),
    ("ALTER POLICY named ON tally.meta TO PUBLIC", "policy named on meta was changed"),
    ("ALTER POLICY named ON tally.meta TO guest_", "policy named on meta was changed"),
    ("ALTER POLICY bound ON tally.part USING (true)", "policy bound on part was changed"),
    ("DROP POLICY bound ON tally.part", "policy bound on part is missing"),
    ("CREATE POLICY all_of_it ON tally.part TO tally_session USING (true)", "policy all_of_it on part was added"),
    ("ALTER TABLE tally.part DISABLE ROW LEVEL SECURITY", "table part was changed"),
    ("ALTER TABLE tally.part NO FORCE ROW LEVEL SECURITY", "table part was changed"),
    # Rules.
    ("CREATE RULE keep AS ON UPDATE TO tally.meta DO INSTEAD NOTHING", "rule keep on meta was added"),
    ("CREATE RULE leak AS ON INSERT TO tally.part DO ALSO SELECT 1", "rule leak on part was added"),
    ("CREATE RULE keep AS ON DELETE TO tally.part DO INSTEAD NOTHING", "rule keep on part was added"),
    # Other relations of the schema.
    ("CREATE VIEW tally.spy AS SELECT * FROM tally.part; GRANT SELECT ON tally.spy TO PUBLIC",
     {"view spy was added", "right of PUBLIC on spy was added"}),
    ("CREATE MATERIALIZED VIEW tally.spy AS SELECT * FROM tally.part", "materialized view spy was added"),
    ("CREATE SEQUENCE tally.counted", "sequence counted was added"),
    ("CREATE FOREIGN DATA WRAPPER far; CREATE SERVER far FOREIGN DATA WRAPPER far;"
     " CREATE FOREIGN TABLE tally.away (a integer) SERVER far", "foreign table away was added"),
    ("CREATE TABLE tally.extra (a integer)", "table extra was added"),
    ("CREATE TABLE tally.extra (a integer) PARTITION BY LIST (a)", "partitioned table extra was added"),
    ("CREATE TYPE tally.pair AS (a integer)", "type tally.pair was added"),
    ("CREATE DOMAIN tally.small AS integer", "type tally.small was added"),
    ("CREATE COLLATION tally.plain FROM \"C\"", "collation tally.plain was added"),
    ("CREATE OPERATOR tally.=== (LEFTARG = bytea, RIGHTARG = bytea, FUNCTION = byteaeq)",
     "operator tally.===(pg_catalog.bytea,pg_catalog.bytea) was added"),
    ("CREATE STATISTICS public.sampled ON subject, value FROM tally.version", "statistics object public.sampled was added"),
    ("ALTER TABLE tally.head ADD COLUMN more integer", "table head was changed"),
    ("ALTER TABLE tally.held ALTER COLUMN held SET DEFAULT 7", "table held was changed"),
    ("ALTER TABLE tally.touch SET UNLOGGED", "table touch was changed"),
    ("DROP TABLE tally.held", {"table held is missing", "constraint held_pkey on held is missing",
     "index held_pkey is missing", "policy bound on held is missing", "right of tally_session on held is missing"}),
    # Others that show what stands in the schema, or add to it.
    ("CREATE VIEW public.spy AS SELECT * FROM tally.part; GRANT SELECT ON public.spy TO guest_", "view public.spy was added"),
    ("CREATE VIEW public.spy AS SELECT * FROM tally.part; GRANT SELECT (data) ON public.spy TO PUBLIC",
     "view public.spy was added"),
    ("CREATE VIEW public.a AS SELECT * FROM tally.part; CREATE VIEW public.b AS SELECT * FROM public.a;"
     " GRANT SELECT ON public.b TO PUBLIC", "view public.b was added"),
    ("CREATE MATERIALIZED VIEW public.spy AS SELECT * FROM tally.part", "materialized view public.spy was added"),
    ("CREATE TABLE public.spare () INHERITS (tally.part)", "child public.spare of tally.part was added"),
    ("CREATE TABLE public.before (trail uuid); ALTER TABLE tally.trail INHERIT public.before",
     "child tally.trail of public.before was added"),
    ("CREATE TABLE public.pin (trail uuid REFERENCES tally.trail)", "constraint pin_trail_fkey on public.pin was added"),
    # Triggers and constraints.
    ("DROP TRIGGER entry_stays ON tally.entry", "trigger entry_stays on entry is missing"),
    ("ALTER TABLE tally.part DISABLE TRIGGER part_stays", "trigger part_stays on part was changed"),
    ("ALTER TABLE tally.part ENABLE REPLICA TRIGGER part_stays", "trigger part_stays on part was changed"),
    ("CREATE TRIGGER more BEFORE INSERT ON tally.part FOR EACH ROW EXECUTE FUNCTION tally.refuse()",
     "trigger more on part was added"),
    ("ALTER TABLE tally.version DROP CONSTRAINT version_is_not_empty",
     "constraint version_is_not_empty on version is missing"),
    ("DROP INDEX tally.version_open", "index version_open is missing"),
    # Functions.
    ("CREATE OR REPLACE FUNCTION tally.refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
     "function refuse() was changed"),
    ("CREATE FUNCTION tally.spy() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM tally.part'",
     {"function spy() was added", "right of PUBLIC on function spy() was added"}),
    ("CREATE FUNCTION tally.bound(a integer) RETURNS uuid LANGUAGE sql AS 'SELECT NULL::uuid'",
     {"function bound(a integer) was added", "right of PUBLIC on function bound(a integer) was added"}),
    ("ALTER FUNCTION tally.bound() SECURITY DEFINER", "function bound() was changed"),
    ("ALTER FUNCTION tally.bound() LEAKPROOF", "function bound() was changed"),
    ("ALTER FUNCTION tally.bound() SET tally.trail = ''", "function bound() was changed"),
    ("ALTER FUNCTION tally.trail_named(text, boolean) RESET search_path",
     "function trail_named(wanted text, made boolean) was changed"),
    # Rights.
    ("GRANT EXECUTE ON FUNCTION tally.erase(smallint, bigint, bytea) TO PUBLIC",
     "right of PUBLIC on function erase(of_log smallint, of_seq bigint, kept bytea) was added"),
    ("REVOKE EXECUTE ON FUNCTION tally.erase(smallint, bigint, bytea) FROM tally_session",
     "right of tally_session on function erase(of_log smallint, of_seq bigint, kept bytea) is missing"),
    ("GRANT ALL ON tally.part TO PUBLIC", "right of PUBLIC on part was added"),
    ("GRANT SELECT ON tally.part TO guest_", "right of guest_ on part was added"),
    ("GRANT SELECT (data) ON tally.part TO guest_", "right of guest_ on part was added"),
    ("GRANT UPDATE (canon) ON tally.entry TO tally_session", "right of tally_session on entry was changed"),
    ("GRANT SELECT ON tally.entry TO tally_session WITH GRANT OPTION", "right of tally_session on entry was changed"),
    ("REVOKE UPDATE ON tally.search FROM tally_session", "right of tally_session on search was changed"),
    ("GRANT USAGE ON SCHEMA tally TO PUBLIC", "right of PUBLIC on schema tally was added"),
    ("GRANT CREATE ON SCHEMA tally TO tally_session", "right of tally_session on schema tally was changed"),
    ("ALTER DEFAULT PRIVILEGES FOR ROLE owner_ IN SCHEMA tally GRANT SELECT ON TABLES TO PUBLIC",
     "default acl for role owner_ in schema tally on tables was added"),
    ("GRANT SET ON PARAMETER session_replication_role TO tally_session",
     "right of tally_session on the parameter session_replication_role was added"),
    # Owners and roles.
    ("ALTER TABLE tally.part OWNER TO guest_", {"table part was changed", "right of guest_ on part was added"}),
    ("ALTER FUNCTION tally.bound() OWNER TO guest_",
     {"function bound() was changed", "right of guest_ on function bound() was added"}),
    ("ALTER SCHEMA tally OWNER TO guest_", {"schema tally was changed", "right of guest_ on schema tally was added"}),
    ("ALTER TABLE tally.part OWNER TO tally_session",
     {"table part was changed", "right of tally_session on part was changed"}),
    ("ALTER ROLE tally_session BYPASSRLS", "role tally_session was changed"),
    ("ALTER ROLE tally_session SUPERUSER", "role tally_session was changed"),
    ("ALTER ROLE tally_session LOGIN", "role tally_session was changed"),
    ("ALTER ROLE tally_session CREATEROLE", "role tally_session was changed"),
    ("CREATE ROLE above_; GRANT above_ TO tally_session", "membership of tally_session in above_ was added"),
    ("GRANT pg_write_all_data TO tally_session", "membership of tally_session in pg_write_all_data was added"),
    # Settings, and what runs by itself.
    ("ALTER DATABASE database_ SET tally.erasing = 'on'", "setting tally.erasing of the database was added"),
    ("ALTER ROLE guest_ SET session_replication_role = replica", "setting session_replication_role of the role guest_ was added"),
    ("SET LOCAL tally.erasing = 'on'", "setting tally.erasing was added"),
    ("CREATE FUNCTION tally.runs() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END';"
     " CREATE EVENT TRIGGER runs ON ddl_command_end EXECUTE FUNCTION tally.runs()",
     {"event trigger runs was added", "function runs() was added", "right of PUBLIC on function runs() was added"}),
    # What would hide it.
    ("CREATE VIEW tally.spy AS SELECT 1; ALTER EXTENSION btree_gist ADD VIEW tally.spy", "view spy was added"),
    ("CREATE FUNCTION tally.spy() RETURNS bigint LANGUAGE sql AS 'SELECT 1'; ALTER EXTENSION btree_gist ADD FUNCTION tally.spy()",
     {"function spy() was added", "right of PUBLIC on function spy() was added"}),
    ('CREATE ROLE "(owner)"; ALTER TABLE tally.part OWNER TO "(owner)"',
     {"table part was changed", 'right of "(owner)" on part was added'}),
    ('CREATE ROLE "PUBLIC"; ALTER POLICY bound ON tally.part TO "PUBLIC"', "policy bound on part was changed"),
    ('ALTER TABLE tally.held RENAME TO "held\nx"', {"table held is missing", "table held x was added"}),
    ('CREATE TABLE tally."held " (a integer)', "table held was changed"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "named"), CHANGES, ids=[change[:60] for change, _ in CHANGES])
def test_a_change_is_named(made: Made, change: str, named: str | set[str]) -> None:
    """Each is in one line what was added, is lacking or was changed, and nothing else is said to be."""

    def filled(words: str) -> str:
        return words.replace("owner_", made.owner).replace("guest_", made.guest).replace("database_", made.name)

    found = set(apart(made, filled(change)))
    expected = {filled(each) for each in ({named} if isinstance(named, str) else named)}
    if '"held\nx"' in change:  # Whatever stood on the table stands on another one now.
        assert expected <= {_short(each) for each in found}
    else:
        assert {_short(each) for each in found} == expected
    assert not any("\n" in each for each in found)


def _short(found: str) -> str:
    return found.removesuffix(" since the schema was made").removesuffix(" in the schema")


def test_a_login_trigger_is_named(made: Made) -> None:
    """What runs at every login can change what a session sees."""
    with made.server.connect(made.name) as connection:
        if connection.info.server_version < LOGIN_TRIGGERS:
            pytest.skip("this server has none")
    change = (
        "CREATE FUNCTION public.runs() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END';"
        "CREATE EVENT TRIGGER runs ON login EXECUTE FUNCTION public.runs()"
    )
    assert list(map(_short, apart(made, change))) == ["event trigger runs was added"]


@pytest.mark.parametrize(
    "change",
    [
        "SELECT 1",
        "CREATE ROLE another_ LOGIN IN ROLE tally_session",
        "CREATE ROLE another_ LOGIN; GRANT tally_session TO another_ WITH ADMIN OPTION",
        "CREATE ROLE keeper_ LOGIN BYPASSRLS IN ROLE pg_read_all_data",
        "CREATE ROLE root_ SUPERUSER; GRANT SELECT ON tally.part TO root_",
        "ALTER ROLE guest_ SET search_path = public",
        "ALTER ROLE guest_ SET statement_timeout = '5s'",
        "ALTER DATABASE database_ SET statement_timeout = '5s'",
        "CREATE TABLE public.mine (a integer); GRANT ALL ON public.mine TO PUBLIC",
        "CREATE VIEW public.mine AS SELECT count(*) FROM tally.entry",
        "ALTER TABLE tally.part SET (autovacuum_vacuum_scale_factor = 0.01)",
        "CREATE EXTENSION amcheck WITH SCHEMA tally; GRANT EXECUTE ON FUNCTION tally.bt_index_check(regclass) TO tally_session",
        "CREATE EXTENSION pg_trgm WITH SCHEMA public",
        "CREATE FUNCTION public.runs() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END';"
        " CREATE EVENT TRIGGER runs ON ddl_command_end EXECUTE FUNCTION public.runs()",
        "CREATE PUBLICATION all_of_it FOR TABLES IN SCHEMA tally",
        "ANALYZE",
    ],
)
def test_what_an_administrator_may_do_is_no_change(made: Made, change: str) -> None:
    """Users who log in, a role that makes backups, settings, tuning, replication, and objects elsewhere raise no alarm."""
    assert apart(made, change.replace("guest_", made.guest).replace("database_", made.name)) == []


@pytest.mark.parametrize("path", ["tally", "evil, pg_catalog"])
def test_where_names_are_looked_for_changes_nothing(made: Made, path: str) -> None:
    """With a ``search_path`` by which a user's session would find our tables, or functions of others before the server's."""
    evil = (
        "CREATE SCHEMA evil; GRANT USAGE ON SCHEMA evil TO PUBLIC; CREATE FUNCTION evil.concat_ws(text, VARIADIC text[])"
        " RETURNS text LANGUAGE sql AS $$ SELECT 'evil' $$; CREATE FUNCTION evil.octet_length(bytea) RETURNS integer"
        " LANGUAGE sql AS 'SELECT 0'"
    )
    with made.server.connect(made.name) as connection:
        connection.execute(f"{evil}; ALTER ROLE {made.guest} SET search_path = {path}".encode())
        store = PostgresStore(made.url(made.guest))
        try:
            assert store.check(LogName.MEMORY) == []
            assert verify_log(trail_over(store), LogName.MEMORY).bad == ()
        finally:
            store.close()
            connection.execute(f"ALTER ROLE {made.guest} RESET search_path; DROP SCHEMA evil CASCADE".encode())


def test_a_second_user_finds_it_sound(made: Made) -> None:
    """An untouched database is sound to its owner and to a user who was only let in; and what was changed, to neither."""
    for user in (made.owner, made.guest):
        store = PostgresStore(made.url(user))
        try:
            assert [store.check(log) for log in LogName] == [[], [], []]
            with made.server.connect(made.name) as connection:
                connection.execute("GRANT EXECUTE ON FUNCTION tally.erase(smallint, bigint, bytea) TO PUBLIC")
                assert "right of PUBLIC on function erase" in store.check(LogName.MEMORY)[0]
                assert not verify_log(trail_over(store), LogName.MEMORY).sound
                connection.execute("REVOKE EXECUTE ON FUNCTION tally.erase(smallint, bigint, bytea) FROM PUBLIC")
            assert store.check(LogName.MEMORY) == []
        finally:
            store.close()


def test_a_dump_that_was_restored_is_sound(made: Made) -> None:
    """``pg_dump`` and ``psql`` bring over everything that is compared."""
    copy = f"{made.name}copy"
    made.server.make_database(copy, made.owner)
    dump = made.server.folder / f"{copy}.sql"
    dump.write_text("")
    dump.chmod(0o666)
    try:
        made.server._call("pg_dump", "-h", made.server.folder, "-U", "postgres", "-f", dump, made.name)
        made.server._call(
            "psql", "-q", "-v", "ON_ERROR_STOP=1", "-h", made.server.folder, "-U", "postgres", "-f", dump, copy
        )
        assert apart(made._replace(name=copy), "SELECT 1") == []
    finally:
        with made.server.connect("postgres") as connection:
            connection.execute(f"DROP DATABASE {copy} WITH (FORCE)".encode())


def test_the_schema_is_what_the_migrations_make(server: Server) -> None:
    """schema.sql, all migrations in order, and the catalog that ``check`` compares with are one and the same, on each server."""
    name = f"m{uuid.uuid4().hex[:12]}"
    server.make_database(name)
    address = Address(server.url(name))
    with address.connect() as connection:
        migrate(connection, address)
        migrated = catalog_lines(catalog(connection))
        connection.execute("DROP SCHEMA tally CASCADE")
        connection.execute(text(HERE, "schema.sql").encode())
        assert catalog_lines(catalog(connection)) == migrated
    with server.connect("postgres") as other:
        other.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())
    assert migrated == text(HERE, CATALOG)
    assert len(migrated.splitlines()) > 100
