-- One log of a trail. Entries, parts and the archive are primary; everything from "claim" on is a view over them that
-- beliefs.effects fills, and can be dropped and rebuilt. Ids are 16-byte blobs, instants microseconds UTC.

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID, STRICT;

CREATE TABLE head (
    only     INTEGER PRIMARY KEY CHECK (only = 1),
    size     INTEGER NOT NULL,
    frontier BLOB NOT NULL,      -- roots of the complete subtrees, largest first, 32 bytes each
    at       INTEGER NOT NULL,
    epoch    INTEGER NOT NULL
) STRICT;

CREATE TABLE entry (
    seq   INTEGER PRIMARY KEY,
    at    INTEGER NOT NULL,
    canon BLOB NOT NULL,
    leaf  BLOB NOT NULL          -- RFC 6962 leaf hash of canon: names the entry that was changed
) STRICT;

CREATE TRIGGER entry_keeps BEFORE UPDATE ON entry BEGIN SELECT RAISE(ABORT, 'entries are never changed'); END;
CREATE TRIGGER entry_stays BEFORE DELETE ON entry BEGIN SELECT RAISE(ABORT, 'entries are never deleted'); END;
-- REPLACE deletes without asking the trigger above. FAIL, here and in INSERT OR FAIL, since ABORT would have SQLite keep a
-- journal of every single statement: 25 µs a claim, to undo the half of one that inserts a single row.
CREATE TRIGGER entry_once BEFORE INSERT ON entry WHEN EXISTS (SELECT 1 FROM entry WHERE seq = NEW.seq)
    BEGIN SELECT RAISE(FAIL, 'entries are never replaced'); END;

CREATE TABLE part (
    seq    INTEGER PRIMARY KEY,
    packed BLOB NOT NULL         -- all parts of the entry (store/packing.py)
) STRICT;

CREATE TRIGGER part_keeps BEFORE UPDATE ON part BEGIN SELECT RAISE(ABORT, 'parts are never changed'); END;
CREATE TRIGGER part_stays BEFORE DELETE ON part BEGIN SELECT RAISE(ABORT, 'parts are only erased'); END;
CREATE TRIGGER part_once BEFORE INSERT ON part WHEN EXISTS (SELECT 1 FROM part WHERE seq = NEW.seq)
    BEGIN SELECT RAISE(FAIL, 'parts are never replaced'); END;

CREATE TABLE node (
    level INTEGER NOT NULL,      -- from 1: the root of a complete subtree of 256^level leaves
    n     INTEGER NOT NULL,
    hash  BLOB NOT NULL,
    PRIMARY KEY (level, n)
) WITHOUT ROWID, STRICT;

CREATE TABLE block (
    block   INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    data    BLOB NOT NULL        -- zstd
) STRICT;

-- One that was erased has block -1 and an empty salt.
CREATE TABLE event (
    session INTEGER NOT NULL,
    n       INTEGER NOT NULL,
    event   BLOB NOT NULL,       -- 8 bytes
    block   INTEGER NOT NULL,
    offset  INTEGER NOT NULL,
    length  INTEGER NOT NULL,
    salt    BLOB NOT NULL,
    PRIMARY KEY (session, n)
) WITHOUT ROWID, STRICT;

-- Not unique: a forked session names the same archived bytes again (EVID.5).
CREATE INDEX event_by_id ON event (event);
CREATE INDEX event_by_block ON event (block);

CREATE TABLE same (
    key   BLOB PRIMARY KEY,      -- keyed digest: means nothing without the trail's digest key
    claim INTEGER NOT NULL
) WITHOUT ROWID, STRICT;

CREATE TABLE source (
    path     TEXT PRIMARY KEY,
    session  INTEGER NOT NULL,
    size     INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    inode    INTEGER NOT NULL,
    offset   INTEGER NOT NULL,
    line     INTEGER NOT NULL,
    digest   BLOB NOT NULL,
    calls    BLOB NOT NULL
) WITHOUT ROWID, STRICT;

CREATE INDEX source_by_session ON source (session);

CREATE TABLE holder (
    n  INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE
) STRICT;

-- A claim is its first version, the one with tx_from = claim; what never changes of it stands in every version again.
CREATE TABLE version (
    claim     INTEGER NOT NULL,
    tx_from   INTEGER NOT NULL,
    tx_to     INTEGER NOT NULL CHECK (tx_from < tx_to),
    valid     TEXT,              -- JSON list of [start, end); NULL is all of time
    holder    INTEGER NOT NULL,
    kind      TEXT NOT NULL,
    origin    TEXT NOT NULL,
    lineage   INTEGER NOT NULL,
    session   INTEGER NOT NULL,
    said_at   INTEGER NOT NULL,
    tokens    INTEGER NOT NULL,
    subject   TEXT NOT NULL,
    attribute TEXT NOT NULL,
    value     TEXT NOT NULL,
    PRIMARY KEY (claim, tx_from)
) WITHOUT ROWID, STRICT;

CREATE INDEX version_by_holder ON version (holder, claim, tx_to, kind);
CREATE INDEX version_by_valid_time ON version (holder, claim) WHERE valid IS NOT NULL;
CREATE INDEX claim_by_session ON version (session) WHERE claim = tx_from;
CREATE INDEX claim_by_subject ON version (subject, attribute, holder) WHERE claim = tx_from AND subject <> '';

-- How many claims a holder holds after an entry that opened or closed one: a count as of any point is one search.
CREATE TABLE held (
    holder INTEGER NOT NULL,
    seq    INTEGER NOT NULL,
    held   INTEGER NOT NULL,
    PRIMARY KEY (holder, seq)
) WITHOUT ROWID, STRICT;

CREATE TABLE verdict (
    claim  INTEGER NOT NULL,
    axis   TEXT NOT NULL,
    seq    INTEGER NOT NULL,
    value  TEXT NOT NULL,
    reason TEXT NOT NULL,
    judged INTEGER NOT NULL,     -- the entry whose verdict it is
    PRIMARY KEY (claim, axis, seq)
) WITHOUT ROWID, STRICT;

CREATE TABLE touch (
    claim   INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    kind    TEXT NOT NULL,
    said_at INTEGER NOT NULL,
    PRIMARY KEY (claim, seq)
) WITHOUT ROWID, STRICT;

CREATE INDEX touch_by_seq ON touch (seq);

CREATE TABLE link (
    seq   INTEGER NOT NULL,
    newer INTEGER NOT NULL,
    older INTEGER NOT NULL,
    kind  TEXT NOT NULL,
    tx_to INTEGER NOT NULL,
    PRIMARY KEY (seq, newer, older, kind)
) WITHOUT ROWID, STRICT;

CREATE INDEX link_by_kind ON link (kind, seq);
CREATE INDEX link_by_newer ON link (newer);
CREATE INDEX link_by_older ON link (older);

CREATE TABLE name (
    seq   INTEGER NOT NULL,
    what  TEXT NOT NULL,
    id    TEXT NOT NULL,
    name  TEXT NOT NULL,
    facts TEXT NOT NULL,
    tx_to INTEGER NOT NULL,
    PRIMARY KEY (seq, what)
) WITHOUT ROWID, STRICT;

CREATE TABLE epoch (
    epoch INTEGER PRIMARY KEY,
    seq   INTEGER NOT NULL,
    at    INTEGER NOT NULL
) STRICT;

-- The words of claims (store/words.py, which are separated by spaces here) and one for the kind, each with the number of the
-- holder behind it (in_index in reading.py). They are handed over again when a claim is taken out.
CREATE VIRTUAL TABLE words USING fts5 (
    text, content = '', tokenize = 'ascii', detail = 'none', columnsize = 0
);

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
