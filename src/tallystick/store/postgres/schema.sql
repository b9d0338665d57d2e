-- Every trail of one database, as the migrations leave it. Every key starts with the trail; the three logs share tables
-- (log: 0 memory, 1 access, 2 ledger). Entries, parts and the archive are primary; everything from "holder" on is a view over
-- them that beliefs.effects fills, and can be dropped and rebuilt. Ids are bytes, instants microseconds UTC. Text that
-- PostgreSQL has no room for (the character 0) is written escaped (rows.kept).

-- Asked first: IF NOT EXISTS alone wants the right to make schemas even where an administrator has made this one.
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'tally') THEN
        CREATE SCHEMA tally;
    END IF;
END $$;
CREATE EXTENSION IF NOT EXISTS btree_gist WITH SCHEMA tally;

-- Who reads and writes: owns nothing, goes round no policy, and cannot log in. Roles belong to the whole server, so another
-- database may be making it at this very moment.
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'tally_session') THEN
        CREATE ROLE tally_session NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$;

CREATE TABLE tally.migration (
    number     integer PRIMARY KEY,
    name       text NOT NULL,
    digest     bytea NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
);

-- The trail that a session is bound to; NULL, and so none, where it is bound to none.
CREATE FUNCTION tally.bound() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT nullif(pg_catalog.current_setting('tally.trail', true), '')::uuid $$;

CREATE TABLE tally.trail (
    trail uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    name  text COLLATE "C" NOT NULL UNIQUE
);

CREATE TABLE tally.meta (
    trail uuid NOT NULL,
    log   smallint NOT NULL,
    key   text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,
    PRIMARY KEY (trail, log, key)
);
-- The trail's own id. Not unique: a copy under another name has the same.
CREATE INDEX meta_by_id ON tally.meta (value) WHERE key = 'trail' AND log = 0;

-- The trail of a name or an id, made where it is asked for: the one thing that is looked for outside the bound trail.
CREATE FUNCTION tally.trail_named(wanted text, made boolean) RETURNS uuid LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    found uuid;
BEGIN
    SELECT t.trail INTO found FROM tally.trail AS t WHERE t.name = wanted;
    IF found IS NULL THEN
        SELECT (array_agg(m.trail))[1] INTO found FROM tally.meta AS m
            WHERE m.value = wanted AND m.key = 'trail' AND m.log = 0 HAVING count(*) = 1;
    END IF;
    IF found IS NULL AND made THEN
        INSERT INTO tally.trail (name) VALUES (wanted) ON CONFLICT (name) DO NOTHING;
        SELECT t.trail INTO found FROM tally.trail AS t WHERE t.name = wanted;
    END IF;
    RETURN found;
END $$;

CREATE TABLE tally.head (
    trail    uuid NOT NULL,
    log      smallint NOT NULL,
    size     bigint NOT NULL,
    frontier bytea NOT NULL,            -- roots of the complete subtrees, largest first, 32 bytes each
    at       bigint NOT NULL,
    epoch    bigint NOT NULL,
    PRIMARY KEY (trail, log)
);

CREATE TABLE tally.entry (
    trail uuid NOT NULL,
    log   smallint NOT NULL,
    seq   bigint NOT NULL,
    at    bigint NOT NULL,
    canon bytea NOT NULL,
    leaf  bytea NOT NULL,               -- RFC 6962 leaf hash of canon: names the entry that was changed
    PRIMARY KEY (trail, log, seq)
);

CREATE TABLE tally.part (
    trail uuid NOT NULL,
    log   smallint NOT NULL,
    seq   bigint NOT NULL,
    data  bytea NOT NULL,               -- store/packing.py
    PRIMARY KEY (trail, log, seq)
);

CREATE TABLE tally.node (
    trail uuid NOT NULL,
    log   smallint NOT NULL,
    level smallint NOT NULL,
    n     bigint NOT NULL,
    hash  bytea NOT NULL,
    PRIMARY KEY (trail, log, level, n)
);

-- Entries stay as they are, whoever asks: these hold for the owner of the tables too, and for a superuser.
CREATE FUNCTION tally.refuse() RETURNS trigger LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION '% of tally.%: what was appended is never changed or deleted', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation';
END $$;

-- A part may shrink or go, and only while tally.erase runs, which says so in a setting of its transaction. Whoever sets it by hand
-- needs the right to change parts as well, and nobody but the owner has that: this keeps the owner from a slip.
CREATE FUNCTION tally.refuse_but_erasing() RETURNS trigger LANGUAGE plpgsql
    AS $$
BEGIN
    IF pg_catalog.current_setting('tally.erasing', true) = 'on' THEN
        IF TG_OP = 'DELETE' THEN
            RETURN OLD;
        END IF;
        IF (NEW.trail, NEW.log, NEW.seq) = (OLD.trail, OLD.log, OLD.seq)
                AND pg_catalog.octet_length(NEW.data) < pg_catalog.octet_length(OLD.data) THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION '% of tally.%: parts are only erased, by tally.erase', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE TRIGGER entry_stays BEFORE UPDATE OR DELETE ON tally.entry FOR EACH ROW EXECUTE FUNCTION tally.refuse();
CREATE TRIGGER entry_is_kept BEFORE TRUNCATE ON tally.entry FOR EACH STATEMENT EXECUTE FUNCTION tally.refuse();
CREATE TRIGGER part_stays BEFORE UPDATE OR DELETE ON tally.part FOR EACH ROW EXECUTE FUNCTION tally.refuse_but_erasing();
CREATE TRIGGER part_is_kept BEFORE TRUNCATE ON tally.part FOR EACH STATEMENT EXECUTE FUNCTION tally.refuse();

-- Leave only ``kept`` of the parts of an entry of the bound trail; nothing at all where it is empty.
CREATE FUNCTION tally.erase(of_log smallint, of_seq bigint, kept bytea) RETURNS void LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM set_config('tally.erasing', 'on', true);
    IF octet_length(kept) = 0 THEN
        DELETE FROM tally.part AS p WHERE p.trail = tally.bound() AND p.log = of_log AND p.seq = of_seq;
    ELSE
        UPDATE tally.part AS p SET data = kept
            WHERE p.trail = tally.bound() AND p.log = of_log AND p.seq = of_seq AND p.data <> kept;
    END IF;
    PERFORM set_config('tally.erasing', '', true);
END $$;

CREATE TABLE tally.block (
    trail   uuid NOT NULL,
    log     smallint NOT NULL,
    block   bigint NOT NULL,
    session bigint NOT NULL,
    data    bytea NOT NULL,             -- zstd
    PRIMARY KEY (trail, log, block)
);
ALTER TABLE tally.block ALTER COLUMN data SET STORAGE EXTERNAL;

CREATE TABLE tally.event (
    trail   uuid NOT NULL,
    log     smallint NOT NULL,
    session bigint NOT NULL,
    n       bigint NOT NULL,
    event   bytea NOT NULL,             -- 8 bytes
    block   bigint NOT NULL,            -- -1 where it was erased
    start   bigint NOT NULL,
    length  bigint NOT NULL,
    salt    bytea NOT NULL,
    PRIMARY KEY (trail, log, session, n)
);
-- Not unique: a forked session names the same archived bytes again (EVID.5).
CREATE INDEX event_by_id ON tally.event (trail, log, event);

CREATE TABLE tally.same (
    trail uuid NOT NULL,
    log   smallint NOT NULL,
    key   bytea NOT NULL,               -- keyed digest: means nothing without the trail's digest key
    claim bigint NOT NULL,
    PRIMARY KEY (trail, log, key)
);

CREATE TABLE tally.source (
    trail    uuid NOT NULL,
    log      smallint NOT NULL,
    key      bytea NOT NULL,            -- of the path, which can be too long for an index
    path     text NOT NULL,
    session  bigint NOT NULL,
    size     bigint NOT NULL,
    mtime_ns bigint NOT NULL,
    inode    numeric NOT NULL,          -- some file systems use all 64 bits
    start    bigint NOT NULL,
    line     bigint NOT NULL,
    digest   bytea NOT NULL,
    calls    bytea NOT NULL,
    PRIMARY KEY (trail, log, key)
);
CREATE INDEX source_by_session ON tally.source (trail, log, session);

-- Holders by number, so that a version needs four bytes for its own.
CREATE TABLE tally.holder (
    trail uuid NOT NULL,
    log   smallint NOT NULL,
    n     integer NOT NULL,
    id    bytea NOT NULL,
    PRIMARY KEY (trail, log, n),
    UNIQUE (trail, log, id)
);

-- How many claims of a holder are held after entry seq: counting is one look at an index.
CREATE TABLE tally.held (
    trail  uuid NOT NULL,
    log    smallint NOT NULL,
    holder integer NOT NULL,
    seq    bigint NOT NULL,
    held   bigint NOT NULL,
    PRIMARY KEY (trail, log, holder, seq)
);

-- What never changes of a claim stands in each of its versions; nearly every claim has one.
CREATE TABLE tally.version (
    trail     uuid NOT NULL,
    log       smallint NOT NULL,
    claim     bigint NOT NULL,
    tx_from   bigint NOT NULL,
    tx_to     bigint NOT NULL,
    valid     text,                     -- JSON list of [start, end); NULL is all of time
    holder    integer NOT NULL,
    kind      text COLLATE "C" NOT NULL,
    origin    text NOT NULL,
    lineage   bigint NOT NULL,
    session   bigint NOT NULL,
    said_at   bigint NOT NULL,
    tokens    bigint NOT NULL,
    subject   text NOT NULL,
    attribute text NOT NULL,
    value     text NOT NULL,
    topic     text COLLATE "C",         -- beginnings of subject and attribute, to look for; NULL where it is about nothing
    PRIMARY KEY (trail, log, claim, tx_from),
    CONSTRAINT version_is_not_empty CHECK (tx_from < tx_to),
    CONSTRAINT version_follows_its_claim CHECK (claim <= tx_from),
    -- Of a claim that was never amended there is one row, open since the claim was made: all but a few in a hundred. Those stay
    -- out of this index, which would cost as much as everything else that is written of a claim. Nothing can overlap them all
    -- the same: no two versions of a claim are open at once (version_open), and none begins closed or is opened again
    -- (version_runs_on), so that another version can only be there once the first is closed, and then it is in here.
    CONSTRAINT version_overlaps_none EXCLUDE USING gist
        (trail WITH =, log WITH =, claim WITH =, int8range(tx_from, nullif(tx_to, 9007199254740991)) WITH &&)
        WHERE (tx_from <> claim OR tx_to <> 9007199254740991)
);
CREATE UNIQUE INDEX version_open ON tally.version (trail, log, claim) WHERE tx_to = 9007199254740991;

CREATE FUNCTION tally.refuse_version() RETURNS trigger LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION '% of tally.version: a version begins open, is closed once, and keeps its place', TG_OP
        USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER version_begins_open BEFORE INSERT ON tally.version FOR EACH ROW
    WHEN (NEW.tx_to <> 9007199254740991) EXECUTE FUNCTION tally.refuse_version();
-- Column by column: of rows that are compared the server makes other parentheses each time it is dumped and restored.
CREATE TRIGGER version_runs_on BEFORE UPDATE ON tally.version FOR EACH ROW
    WHEN (NEW.trail <> OLD.trail OR NEW.log <> OLD.log OR NEW.claim <> OLD.claim OR NEW.tx_from <> OLD.tx_from
        OR (OLD.tx_to <> 9007199254740991 AND NEW.tx_to <> OLD.tx_to)) EXECUTE FUNCTION tally.refuse_version();
CREATE INDEX version_by_holder ON tally.version (trail, log, holder, claim);
CREATE INDEX version_by_kind ON tally.version (trail, log, holder, kind, claim) INCLUDE (tx_from, tx_to);
CREATE INDEX version_by_session ON tally.version (trail, log, session, claim);
CREATE INDEX version_closed ON tally.version (trail, log, tx_to) WHERE tx_to <> 9007199254740991;
CREATE INDEX version_opened_again ON tally.version (trail, log, tx_from) WHERE tx_from <> claim;
CREATE INDEX version_bounded ON tally.version (trail, log, holder, claim) WHERE valid IS NOT NULL;
CREATE INDEX version_about ON tally.version (trail, log, holder, topic, claim) WHERE topic IS NOT NULL;

CREATE TABLE tally.verdict (
    trail  uuid NOT NULL,
    log    smallint NOT NULL,
    claim  bigint NOT NULL,
    axis   text COLLATE "C" NOT NULL,
    seq    bigint NOT NULL,
    value  text NOT NULL,
    reason text NOT NULL,
    judged bigint NOT NULL,
    PRIMARY KEY (trail, log, claim, axis, seq)
);

CREATE TABLE tally.touch (
    trail   uuid NOT NULL,
    log     smallint NOT NULL,
    claim   bigint NOT NULL,
    seq     bigint NOT NULL,
    kind    text COLLATE "C" NOT NULL,
    said_at bigint NOT NULL
);
CREATE INDEX touch_by_claim ON tally.touch (trail, log, claim, seq);

CREATE TABLE tally.link (
    trail uuid NOT NULL,
    log   smallint NOT NULL,
    seq   bigint NOT NULL,
    newer bigint NOT NULL,
    older bigint NOT NULL,
    kind  text COLLATE "C" NOT NULL,
    tx_to bigint NOT NULL,
    PRIMARY KEY (trail, log, seq, newer, older, kind)
);
CREATE INDEX link_by_newer ON tally.link (trail, log, newer);
CREATE INDEX link_by_older ON tally.link (trail, log, older);

CREATE TABLE tally.name (
    trail uuid NOT NULL,
    log   smallint NOT NULL,
    seq   bigint NOT NULL,
    what  text COLLATE "C" NOT NULL,
    id    text NOT NULL,
    name  text NOT NULL,
    facts text NOT NULL,
    tx_to bigint NOT NULL,
    PRIMARY KEY (trail, log, seq, what)
);
CREATE INDEX name_by_what ON tally.name (trail, log, what, seq);

CREATE TABLE tally.epoch (
    trail uuid NOT NULL,
    log   smallint NOT NULL,
    epoch bigint NOT NULL,
    seq   bigint NOT NULL,
    at    bigint NOT NULL,
    PRIMARY KEY (trail, log, epoch)
);

-- Which claims of a holder hold a word, run by run: two bytes for each claim, its place in the run's block of 4096 seqs. A
-- B-tree, since row-level security lets no GIN index be used: its operators are not leakproof.
CREATE TABLE tally.search (
    trail  uuid NOT NULL,
    log    smallint NOT NULL,
    holder integer NOT NULL,
    word   text COLLATE "C" NOT NULL,   -- of the text; or the claim's kind, after an equals sign
    upto   bigint NOT NULL,             -- the largest claim of the run
    claims bytea NOT NULL,
    PRIMARY KEY (trail, log, holder, word, upto)
);
ALTER TABLE tally.search ALTER COLUMN claims SET STORAGE EXTERNAL;

-- The index of the archive (store/said.py): which event stands at a place, and the places that hold a word, run by run: two bytes
-- for each, within the run's block of 65,536.
CREATE TABLE tally.said_place (
    trail   uuid NOT NULL,
    log     smallint NOT NULL,
    place   bigint NOT NULL,
    session bigint NOT NULL,
    n       bigint NOT NULL,
    at      bigint NOT NULL,            -- -1 where its record has no time
    PRIMARY KEY (trail, log, place)
);
CREATE UNIQUE INDEX said_place_by_event ON tally.said_place (trail, log, session, n);

CREATE TABLE tally.said (
    trail  uuid NOT NULL,
    log    smallint NOT NULL,
    word   text COLLATE "C" NOT NULL,
    upto   bigint NOT NULL,             -- the largest place of the run
    places bytea NOT NULL,
    PRIMARY KEY (trail, log, word, upto)
);
ALTER TABLE tally.said ALTER COLUMN places SET STORAGE EXTERNAL;

-- Vectors of claims' texts, by the model that made them, one signed byte a dimension. No evidence: `tally embed` makes them anew.
CREATE TABLE tally.vector (
    trail uuid NOT NULL,
    log   smallint NOT NULL,
    claim bigint NOT NULL,
    model text COLLATE "C" NOT NULL,
    data  bytea NOT NULL,
    PRIMARY KEY (trail, log, claim, model)
);
ALTER TABLE tally.vector ALTER COLUMN data SET STORAGE EXTERNAL;

-- The server's statistics hold samples of what stands in a column. Of what a person could want gone it takes none.
ALTER TABLE tally.part ALTER COLUMN data SET STATISTICS 0;
ALTER TABLE tally.block ALTER COLUMN data SET STATISTICS 0;
ALTER TABLE tally.source ALTER COLUMN path SET STATISTICS 0, ALTER COLUMN calls SET STATISTICS 0;
ALTER TABLE tally.version ALTER COLUMN valid SET STATISTICS 0, ALTER COLUMN subject SET STATISTICS 0,
    ALTER COLUMN attribute SET STATISTICS 0, ALTER COLUMN value SET STATISTICS 0, ALTER COLUMN topic SET STATISTICS 0;
ALTER TABLE tally.verdict ALTER COLUMN reason SET STATISTICS 0;
ALTER TABLE tally.name ALTER COLUMN name SET STATISTICS 0, ALTER COLUMN facts SET STATISTICS 0;
ALTER TABLE tally.search ALTER COLUMN word SET STATISTICS 0, ALTER COLUMN claims SET STATISTICS 0;
ALTER TABLE tally.said ALTER COLUMN word SET STATISTICS 0, ALTER COLUMN places SET STATISTICS 0;
ALTER TABLE tally.vector ALTER COLUMN data SET STATISTICS 0;

-- A session sees and writes the trail that it is bound to, and so does the owner.
DO $$ DECLARE
    each text;
BEGIN
    FOREACH each IN ARRAY ARRAY['trail', 'meta', 'head', 'entry', 'part', 'node', 'block', 'event', 'same', 'source', 'holder',
            'held', 'version', 'verdict', 'touch', 'link', 'name', 'epoch', 'search', 'said_place', 'said',
            'vector'] LOOP
        EXECUTE format('ALTER TABLE tally.%I ENABLE ROW LEVEL SECURITY', each);
        EXECUTE format('ALTER TABLE tally.%I FORCE ROW LEVEL SECURITY', each);
        EXECUTE format('CREATE POLICY bound ON tally.%I USING (trail = tally.bound()) WITH CHECK (trail = tally.bound())', each);
        EXECUTE format('GRANT SELECT, INSERT ON tally.%I TO tally_session', each);
    END LOOP;
END $$;
-- tally.trail_named runs as the owner, and looks for names and ids.
CREATE POLICY named ON tally.trail TO CURRENT_USER USING (true) WITH CHECK (true);
CREATE POLICY named ON tally.meta FOR SELECT TO CURRENT_USER USING (key = 'trail');

REVOKE INSERT ON tally.trail FROM tally_session;
GRANT UPDATE ON tally.meta, tally.head, tally.block, tally.event, tally.same, tally.source, tally.held, tally.version, tally.verdict,
    tally.touch, tally.link, tally.name, tally.search, tally.vector TO tally_session;
GRANT DELETE ON tally.block, tally.source, tally.verdict, tally.search, tally.said_place, tally.said,
    tally.vector TO tally_session;
GRANT SELECT ON tally.migration TO tally_session;
REVOKE ALL ON FUNCTION tally.erase(smallint, bigint, bytea), tally.trail_named(text, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tally.erase(smallint, bigint, bytea), tally.trail_named(text, boolean) TO tally_session;
GRANT USAGE ON SCHEMA tally TO tally_session;
