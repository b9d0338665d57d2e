-- The index of the archive; the archives that are there are read into it afterwards.

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
ALTER TABLE tally.said ALTER COLUMN word SET STATISTICS 0, ALTER COLUMN places SET STATISTICS 0;

DO $$ DECLARE
    each text;
BEGIN
    FOREACH each IN ARRAY ARRAY['said_place', 'said'] LOOP
        EXECUTE format('ALTER TABLE tally.%I ENABLE ROW LEVEL SECURITY', each);
        EXECUTE format('ALTER TABLE tally.%I FORCE ROW LEVEL SECURITY', each);
        EXECUTE format('CREATE POLICY bound ON tally.%I USING (trail = tally.bound()) WITH CHECK (trail = tally.bound())', each);
        EXECUTE format('GRANT SELECT, INSERT, DELETE ON tally.%I TO tally_session', each);
    END LOOP;
END $$;
