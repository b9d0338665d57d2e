-- To format 3: the index of the archive, which is filled from the archive afterwards; and vectors, of which there are none yet.

-- The index of the archive (store/said.py): which event stands at a place, and the words that it is found by. They are handed over
-- again when an event is taken out.
CREATE TABLE said_place (
    place   INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    n       INTEGER NOT NULL,
    at      INTEGER NOT NULL     -- -1 where its record has no time
) STRICT;

CREATE UNIQUE INDEX said_place_by_event ON said_place (session, n);

CREATE VIRTUAL TABLE said USING fts5 (
    text, content = '', tokenize = 'ascii', detail = 'none', columnsize = 0
);

-- Vectors of claims' texts, by the model that made them, one signed byte a dimension. No evidence: `tally embed` makes them anew.
CREATE TABLE vector (
    claim INTEGER NOT NULL,
    model TEXT NOT NULL,
    data  BLOB NOT NULL,
    PRIMARY KEY (claim, model)
) WITHOUT ROWID, STRICT;
