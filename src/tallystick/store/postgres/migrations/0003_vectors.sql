-- The vectors of claims' texts; there are none yet.

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
ALTER TABLE tally.vector ALTER COLUMN data SET STATISTICS 0;
ALTER TABLE tally.vector ENABLE ROW LEVEL SECURITY;
ALTER TABLE tally.vector FORCE ROW LEVEL SECURITY;
CREATE POLICY bound ON tally.vector USING (trail = tally.bound()) WITH CHECK (trail = tally.bound());
GRANT SELECT, INSERT, UPDATE, DELETE ON tally.vector TO tally_session;
