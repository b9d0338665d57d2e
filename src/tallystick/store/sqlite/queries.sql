-- Every statement of the SQLite store, by name. Parameters are positional, in the order of the comment.

-- name: head
-- Where the log stands.
SELECT size, frontier, at, epoch FROM head WHERE only = 1;

-- name: set_head
-- size, frontier, at, epoch
INSERT INTO head (only, size, frontier, at, epoch) VALUES (1, ?, ?, ?, ?)
    ON CONFLICT (only) DO UPDATE SET size = excluded.size, frontier = excluded.frontier, at = excluded.at, epoch = excluded.epoch;

-- name: meta
SELECT value FROM meta WHERE key = ?;

-- name: set_meta
INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value;

-- name: add_entry
INSERT OR FAIL INTO entry (seq, at, canon, leaf) VALUES (?, ?, ?, ?);

-- name: entries
-- start, stop
SELECT seq, at, canon, leaf FROM entry WHERE seq >= ? AND seq < ? ORDER BY seq;

-- name: at_of
SELECT at FROM entry WHERE seq = ?;

-- name: add_part
INSERT OR FAIL INTO part (seq, name, salt, body) VALUES (?, ?, ?, ?);

-- name: parts
SELECT seq, name, salt, body FROM part WHERE seq = ? ORDER BY name;

-- name: all_parts
SELECT seq, name, salt, body FROM part ORDER BY seq, name;

-- name: add_claim
INSERT INTO claim (claim, holder, kind, origin, lineage, session, said_at, tokens) VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: claim_row
SELECT claim, holder, kind, origin, lineage, session, said_at, tokens FROM claim WHERE claim = ?;

-- name: add_version
-- claim, tx_from, tx_to, holder, valid
INSERT INTO version (claim, tx_from, tx_to, holder, valid) VALUES (?, ?, ?, ?, ?);

-- name: close_version
-- tx_to, claim, END_OF_TIME
UPDATE version SET tx_to = ? WHERE claim = ? AND tx_to = ?;

-- name: versions
SELECT claim, tx_from, tx_to, valid FROM version WHERE claim = ? ORDER BY tx_from;

-- name: claims_changed
-- seq, seq
SELECT claim FROM touch WHERE seq = ? UNION SELECT claim FROM claim WHERE claim = ? ORDER BY 1;

-- name: add_verdict
INSERT INTO verdict (claim, axis, seq, value, reason) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET value = excluded.value, reason = excluded.reason;

-- name: verdicts
SELECT claim, axis, seq, value, reason FROM verdict WHERE claim = ? ORDER BY axis, seq;

-- name: add_touch
INSERT INTO touch (claim, seq, kind, said_at) VALUES (?, ?, ?, ?);

-- name: touches
SELECT claim, seq, kind, said_at FROM touch WHERE claim = ? ORDER BY seq;

-- name: add_link
INSERT INTO link (seq, newer, older, kind) VALUES (?, ?, ?, ?);

-- name: links
-- as_of, kind
SELECT seq, newer, older, kind FROM link WHERE seq <= ? AND kind = ? ORDER BY seq, newer, older;

-- name: add_name
INSERT INTO name (seq, what, id, name, facts) VALUES (?, ?, ?, ?, ?);

-- name: names
SELECT seq, what, id, name, facts FROM name WHERE what = ? ORDER BY seq;

-- name: add_epoch
-- seq, at
INSERT INTO epoch (epoch, seq, at) SELECT count(*) + 1, ?, ? FROM epoch;

-- name: epochs
SELECT epoch, seq, at FROM epoch ORDER BY epoch;

-- name: add_words
INSERT INTO words (rowid, text) VALUES (?, ?);

-- name: matching
-- query, as_of
SELECT rowid FROM words WHERE words MATCH ? AND rowid <= ? ORDER BY rowid;

-- name: believed
-- as_of (5 times), after; the holder and kind filters are added by the caller
SELECT c.claim, c.holder, c.kind, c.origin, c.lineage, c.session, c.said_at, c.tokens, v.tx_from, v.tx_to, v.valid,
       p.body, d.value, d.reason, o.value, o.reason,
       max(c.said_at, coalesce((SELECT max(said_at) FROM touch WHERE claim = v.claim AND seq <= ?), -1))
FROM version AS v
CROSS JOIN claim AS c ON c.claim = v.claim
LEFT JOIN part AS p ON p.seq = v.claim AND p.name = 'text'
LEFT JOIN verdict AS d ON d.claim = v.claim AND d.axis = 'derivation' AND d.seq =
    (SELECT max(seq) FROM verdict WHERE claim = v.claim AND axis = 'derivation' AND seq <= ?)
LEFT JOIN verdict AS o ON o.claim = v.claim AND o.axis = 'outcome' AND o.seq =
    (SELECT max(seq) FROM verdict WHERE claim = v.claim AND axis = 'outcome' AND seq <= ?)
WHERE v.tx_from <= ? AND v.tx_to > ? AND v.claim > ?;

-- name: words_apart
-- A word whose claims are not those that hold it, after ``index_made_anew``: no row where the index is as it should be. One
-- statement, since it runs beside a thread that reads, and would wait for the interpreter at each row.
SELECT term FROM (
    SELECT term, group_concat(doc) AS claims FROM words_kept GROUP BY term
    UNION ALL
    SELECT term, group_concat(doc) FROM words_due GROUP BY term
) GROUP BY term HAVING count(*) <> 2 OR min(claims) <> max(claims) LIMIT 1;

-- name: standings
-- as_of (5 times), after; the holder and kind filters are added by the caller. Looked up for each claim, so that a project
-- of a few claims does not pay for a trail of many.
SELECT v.claim, c.kind, c.origin,
       max(c.said_at, coalesce((SELECT max(said_at) FROM touch WHERE claim = v.claim AND seq <= ?), -1)), c.tokens,
       coalesce(nullif((SELECT value FROM verdict WHERE claim = v.claim AND axis = 'derivation' AND seq <= ?
           ORDER BY seq DESC LIMIT 1), ''), 'inferred'),
       coalesce(nullif((SELECT value FROM verdict WHERE claim = v.claim AND axis = 'outcome' AND seq <= ?
           ORDER BY seq DESC LIMIT 1), ''), 'none'),
       v.valid
FROM version AS v
CROSS JOIN claim AS c ON c.claim = v.claim
WHERE v.tx_from <= ? AND v.tx_to > ? AND v.claim > ?;

-- name: text
SELECT body FROM part WHERE seq = ? AND name = 'text';

-- name: count
-- as_of (twice), after; filters are added by the caller
SELECT count(*) FROM version AS v CROSS JOIN claim AS c ON c.claim = v.claim
WHERE v.tx_from <= ? AND v.tx_to > ? AND v.claim > ?;

-- name: file
INSERT INTO same (key, claim) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET claim = excluded.claim;

-- name: same
SELECT claim FROM same WHERE key = ?;

-- name: add_block
INSERT INTO block (block, session, data) VALUES (?, ?, ?);

-- name: block
SELECT data FROM block WHERE block = ?;

-- name: blocks
SELECT block, session, data FROM block ORDER BY block;

-- name: next_block
SELECT coalesce(max(block) + 1, 0) FROM block;

-- name: add_event
INSERT INTO event (session, n, event, block, offset, length, salt) VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: event
SELECT session, n, event, block, offset, length, salt FROM event WHERE event = ? ORDER BY session, n LIMIT 1;

-- name: session_size
SELECT coalesce(max(n) + 1, 0) FROM event WHERE session = ?;

-- name: archived
-- as many keys as the caller puts in
SELECT session, n, event, block, offset, length, salt FROM event WHERE event IN (?) ORDER BY session, n;

-- name: events
SELECT session, n, event, block, offset, length, salt FROM event ORDER BY session, n;

-- name: claims_of
SELECT claim, holder, kind, origin, lineage, session, said_at, tokens FROM claim WHERE session = ? ORDER BY claim;

-- name: session_events
SELECT session, n, event, block, offset, length, salt FROM event WHERE session = ? AND n >= ? AND n < ? ORDER BY n;

-- name: note_source
INSERT OR REPLACE INTO source (path, session, size, mtime_ns, inode, offset, line, digest, calls)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: source
SELECT path, session, size, mtime_ns, inode, offset, line, digest, calls FROM source WHERE path = ?;

-- name: sources
SELECT path, session, size, mtime_ns, inode, offset, line, digest, calls FROM source WHERE session = ? ORDER BY path;

-- name: rows_claim
SELECT claim, holder, kind, origin, lineage, session, said_at, tokens FROM claim ORDER BY claim;

-- name: rows_version
SELECT claim, tx_from, tx_to, valid, holder FROM version ORDER BY claim, tx_from;

-- name: rows_verdict
SELECT claim, axis, seq, value, reason FROM verdict ORDER BY claim, axis, seq;

-- name: rows_touch
SELECT claim, seq, kind, said_at FROM touch ORDER BY claim, seq;

-- name: rows_link
SELECT seq, newer, older, kind FROM link ORDER BY seq, newer, older, kind;

-- name: rows_name
SELECT seq, what, id, name, facts FROM name ORDER BY seq, what;

-- name: rows_epoch
SELECT epoch, seq, at FROM epoch ORDER BY epoch;
