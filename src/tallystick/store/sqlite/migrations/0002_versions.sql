-- From format 1 to 2: the parts of an entry in one row, subtrees of the tree kept, claims in their versions, counts kept. The
-- views are made anew from the entries afterwards (store/folding.py); here they only get their new shape, empty.
CREATE TEMP TABLE part_before AS SELECT seq, name, salt, body FROM part;
DROP TABLE part;
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

INSERT INTO part (seq, packed)
    SELECT seq, packed(seq, name, salt, body) FROM (SELECT seq, name, salt, body FROM part_before ORDER BY seq, name) GROUP BY seq;
DROP TABLE part_before;

CREATE INDEX event_by_block ON event (block);

DROP TABLE words;
DROP VIEW claim_text;
DROP TABLE claim;
DROP TABLE version;
DROP TABLE verdict;
DROP TABLE touch;
DROP TABLE link;
DROP TABLE name;
DROP TABLE epoch;

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
