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
    seq  INTEGER NOT NULL,
    name TEXT NOT NULL,
    salt BLOB NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (seq, name)
) WITHOUT ROWID, STRICT;

CREATE TRIGGER part_keeps BEFORE UPDATE ON part BEGIN SELECT RAISE(ABORT, 'parts are never changed'); END;
CREATE TRIGGER part_stays BEFORE DELETE ON part BEGIN SELECT RAISE(ABORT, 'parts are only erased'); END;
CREATE TRIGGER part_once BEFORE INSERT ON part WHEN EXISTS (SELECT 1 FROM part WHERE seq = NEW.seq AND name = NEW.name)
    BEGIN SELECT RAISE(FAIL, 'parts are never replaced'); END;

CREATE TABLE block (
    block   INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    data    BLOB NOT NULL        -- zstd
) STRICT;

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

CREATE TABLE claim (
    claim   INTEGER PRIMARY KEY,
    holder  BLOB NOT NULL,
    kind    TEXT NOT NULL,
    origin  TEXT NOT NULL,
    lineage INTEGER NOT NULL,
    session INTEGER NOT NULL,
    said_at INTEGER NOT NULL,
    tokens  INTEGER NOT NULL
) STRICT;

CREATE INDEX claim_by_session ON claim (session);

CREATE TABLE version (
    claim   INTEGER NOT NULL,
    tx_from INTEGER NOT NULL,
    tx_to   INTEGER NOT NULL CHECK (tx_from < tx_to),
    holder  BLOB NOT NULL,
    valid   TEXT,                -- JSON list of [start, end); NULL is all of time
    PRIMARY KEY (claim, tx_from)
) WITHOUT ROWID, STRICT;

CREATE INDEX version_by_holder ON version (holder, tx_from, tx_to);

CREATE TABLE verdict (
    claim  INTEGER NOT NULL,
    axis   TEXT NOT NULL,
    seq    INTEGER NOT NULL,
    value  TEXT NOT NULL,
    reason TEXT NOT NULL,
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
    PRIMARY KEY (seq, newer, older, kind)
) WITHOUT ROWID, STRICT;

CREATE TABLE name (
    seq   INTEGER NOT NULL,
    what  TEXT NOT NULL,
    id    TEXT NOT NULL,
    name  TEXT NOT NULL,
    facts TEXT NOT NULL,
    PRIMARY KEY (seq, what)
) WITHOUT ROWID, STRICT;

CREATE TABLE epoch (
    epoch INTEGER PRIMARY KEY,
    seq   INTEGER NOT NULL,
    at    INTEGER NOT NULL
) STRICT;

CREATE VIEW claim_text (claim, text) AS
    SELECT seq, CAST(body AS TEXT) FROM part WHERE name = 'text';

CREATE VIRTUAL TABLE words USING fts5 (
    text, content = 'claim_text', content_rowid = 'claim', tokenize = 'unicode61 remove_diacritics 2', detail = 'none',
    columnsize = 0
);
