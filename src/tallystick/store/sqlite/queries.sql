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

-- name: facts
SELECT key, value FROM meta ORDER BY key;

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
INSERT OR FAIL INTO part (seq, packed) VALUES (?, ?);

-- name: parts
SELECT packed FROM part WHERE seq = ?;

-- name: parts_between
-- start, stop
SELECT seq, packed FROM part WHERE seq >= ? AND seq < ? ORDER BY seq;

-- name: erase_parts
DELETE FROM part WHERE seq = ?;

-- name: add_node
INSERT INTO node (level, n, hash) VALUES (?, ?, ?);

-- name: nodes
-- level, start, stop
SELECT hash FROM node WHERE level = ? AND n >= ? AND n < ? ORDER BY n;

-- name: count_nodes
SELECT count(*) FROM node;

-- name: leaves
-- start, stop
SELECT leaf FROM entry WHERE seq >= ? AND seq < ? ORDER BY seq;

-- name: holders
SELECT n, id FROM holder ORDER BY n;

-- name: add_holder
INSERT INTO holder (n, id) VALUES (?, ?);

-- name: claim_row
SELECT claim, holder, kind, origin, lineage, session, said_at, tokens, subject, attribute, value
FROM version WHERE claim = ? AND tx_from = claim;

-- name: add_version
-- claim, tx_from, tx_to, valid, holder, kind, origin, lineage, session, said_at, tokens, subject, attribute, value
INSERT INTO version VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: add_later_version
-- tx_from, tx_to, valid, claim
INSERT INTO version SELECT claim, ?, ?, ?, holder, kind, origin, lineage, session, said_at, tokens, subject, attribute, value
    FROM version WHERE claim = ? AND tx_from = claim;

-- name: holder_of
SELECT holder FROM version WHERE claim = ? AND tx_from = claim;

-- name: refold_claim
-- kind, origin, lineage, session, said_at, tokens, subject, attribute, value, claim
UPDATE version SET kind = ?, origin = ?, lineage = ?, session = ?, said_at = ?, tokens = ?, subject = ?, attribute = ?, value = ?
    WHERE claim = ?;

-- name: refold_version
-- valid, claim, tx_from
UPDATE version SET valid = ? WHERE claim = ? AND tx_from = ?;

-- name: held_before
-- holder, seq
SELECT held FROM held WHERE holder = ? AND seq <= ? ORDER BY seq DESC LIMIT 1;

-- name: add_held
INSERT INTO held (holder, seq, held) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET held = excluded.held;

-- name: close_version
-- tx_to, claim, END_OF_TIME
UPDATE OR FAIL version SET tx_to = ? WHERE claim = ? AND tx_to = ?;

-- name: open_version
-- claim, END_OF_TIME
SELECT claim, tx_from, tx_to, valid FROM version WHERE claim = ? AND tx_to = ?;

-- name: versions
SELECT claim, tx_from, tx_to, valid FROM version WHERE claim = ? ORDER BY tx_from;

-- name: claims_changed
-- seq, seq
SELECT claim FROM touch WHERE seq = ? UNION SELECT claim FROM version WHERE claim = ? AND tx_from = claim ORDER BY 1;

-- name: add_verdict
INSERT INTO verdict (claim, axis, seq, value, reason, judged) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET value = excluded.value, reason = excluded.reason, judged = excluded.judged;

-- name: verdicts
SELECT claim, axis, seq, value, reason, judged FROM verdict WHERE claim = ? ORDER BY axis, seq;

-- name: erase_verdicts
DELETE FROM verdict WHERE claim = ?;

-- name: add_touch
INSERT INTO touch (claim, seq, kind, said_at) VALUES (?, ?, ?, ?);

-- name: touches
SELECT claim, seq, kind, said_at FROM touch WHERE claim = ? ORDER BY seq;

-- name: add_link
INSERT INTO link (seq, newer, older, kind, tx_to) VALUES (?, ?, ?, ?, ?);

-- name: end_links
-- tx_to, seq, END_OF_TIME
UPDATE link SET tx_to = ? WHERE seq = ? AND tx_to = ?;

-- name: end_names
-- tx_to, seq, END_OF_TIME
UPDATE name SET tx_to = ? WHERE seq = ? AND what = 'attribute' AND tx_to = ?;

-- name: links_made
SELECT seq, newer, older, kind, tx_to FROM link WHERE seq = ? ORDER BY newer, older, kind;

-- name: attributes_made
SELECT seq, what, id, name, facts, tx_to FROM name WHERE seq = ? AND what = 'attribute';

-- name: versions_apart
-- A version that does not say of its claim what the first one says: no row where all do.
SELECT v.claim FROM version AS v JOIN version AS f ON f.claim = v.claim AND f.tx_from = v.claim
WHERE v.tx_from <> v.claim AND (v.holder, v.kind, v.origin, v.lineage, v.session, v.said_at, v.tokens, v.subject, v.attribute,
    v.value) <> (f.holder, f.kind, f.origin, f.lineage, f.session, f.said_at, f.tokens, f.subject, f.attribute, f.value) LIMIT 1;

-- name: refold_name
-- name, facts, seq, what
UPDATE name SET name = ?, facts = ? WHERE seq = ? AND what = ?;

-- name: refold_touch
-- said_at, claim, seq
UPDATE touch SET said_at = ? WHERE claim = ? AND seq = ?;

-- name: links
-- kind, as_of, as_of
SELECT seq, newer, older, kind, tx_to FROM link WHERE kind = ? AND seq <= ? AND tx_to > ? ORDER BY seq, newer, older;

-- name: links_of
-- claim, claim
SELECT seq, newer, older, kind, tx_to FROM link WHERE newer = ?
    UNION SELECT seq, newer, older, kind, tx_to FROM link WHERE older = ? ORDER BY 1, 2, 3, 4;

-- name: about
-- subject, attribute, holder
SELECT claim, holder, kind, origin, lineage, session, said_at, tokens, subject, attribute, value
FROM version WHERE subject = ? AND attribute = ? AND holder = ? AND claim = tx_from AND subject <> '' ORDER BY claim;

-- name: add_name
INSERT INTO name (seq, what, id, name, facts, tx_to) VALUES (?, ?, ?, ?, ?, ?);

-- name: names
SELECT seq, what, id, name, facts, tx_to FROM name WHERE what = ? ORDER BY seq;

-- name: add_epoch
-- seq, at
INSERT INTO epoch (epoch, seq, at) SELECT count(*) + 1, ?, ? FROM epoch;

-- name: epochs
SELECT epoch, seq, at FROM epoch ORDER BY epoch;

-- name: add_words
INSERT INTO words (rowid, text) VALUES (?, ?);

-- name: erase_words
-- claim, text
INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?);

-- name: newest
-- query, as_of, limit
SELECT rowid FROM words WHERE words MATCH ? AND rowid <= ? ORDER BY rowid DESC LIMIT ?;

-- name: held_at
-- as_of (4 times), after; what narrows it further is added by the caller, and the order
SELECT v.claim, holder, v.kind, origin, lineage, session, said_at, tokens, subject, attribute, value, tx_from, tx_to, valid,
       (SELECT packed FROM part WHERE seq = v.claim),
       (SELECT json_group_array(json_array(axis, value, reason)) FROM
           (SELECT axis, value, reason FROM verdict WHERE claim = v.claim AND seq <= ? ORDER BY axis, seq)),
       (SELECT max(said_at) FROM touch WHERE claim = v.claim AND seq <= ?)
FROM version AS v WHERE tx_from <= ? AND tx_to > ? AND claim > ?;

-- name: words_apart
-- A word whose claims are not those that hold it, after ``index_made_anew``: no row where the index is as it should be. One
-- statement, since it runs beside a thread that reads, and would wait for the interpreter at each row.
SELECT term FROM (
    SELECT term, group_concat(doc) AS claims FROM words_kept GROUP BY term
    UNION ALL
    SELECT term, group_concat(doc) FROM words_due GROUP BY term
) GROUP BY term HAVING count(*) <> 2 OR min(claims) <> max(claims) LIMIT 1;

-- name: holders_apart
-- A holder of whom there is no claim: no row where all have one.
SELECT id FROM holder WHERE n NOT IN (SELECT holder FROM version) LIMIT 1;

-- name: held_apart
-- A holder's number of claims that is not what its versions come to: no row where all are.
SELECT holder, seq FROM (
    SELECT holder, seq, sum(change) OVER (PARTITION BY holder ORDER BY seq) AS held FROM (
        SELECT holder, seq, sum(change) AS change FROM (
            SELECT holder, tx_from AS seq, 1 AS change FROM version
            UNION ALL
            SELECT holder, tx_to, -1 FROM version WHERE tx_to < ?
        ) GROUP BY holder, seq
    )
    EXCEPT SELECT holder, seq, held FROM held
) UNION ALL
SELECT NULL, NULL FROM (SELECT count(*) AS kept FROM held) WHERE kept <>
    (SELECT count(*) FROM (SELECT holder, tx_from FROM version UNION SELECT holder, tx_to FROM version WHERE tx_to < ?))
LIMIT 1;

-- name: standings
-- as_of (5 times), after; what narrows it further is added by the caller. Looked up for each claim, so that a project of a few
-- claims does not pay for a trail of many.
SELECT claim, kind, origin,
       max(said_at, coalesce((SELECT max(said_at) FROM touch WHERE claim = v.claim AND seq <= ?), -1)), tokens,
       coalesce(nullif((SELECT value FROM verdict WHERE claim = v.claim AND axis = 'derivation' AND seq <= ?
           ORDER BY seq DESC LIMIT 1), ''), 'inferred'),
       coalesce(nullif((SELECT value FROM verdict WHERE claim = v.claim AND axis = 'outcome' AND seq <= ?
           ORDER BY seq DESC LIMIT 1), ''), 'none'),
       valid
FROM version AS v WHERE tx_from <= ? AND tx_to > ? AND claim > ?;

-- name: count
-- as_of (twice), after; what narrows it further is added by the caller
SELECT count(*) FROM version AS v WHERE tx_from <= ? AND tx_to > ? AND claim > ?;

-- name: dated
-- as_of (twice), after; what narrows it further is added by the caller: those that state when they hold
SELECT valid FROM version AS v WHERE valid IS NOT NULL AND tx_from <= ? AND tx_to > ? AND claim > ?;

-- name: held_by_all
-- as_of
SELECT coalesce(sum((SELECT held FROM held WHERE holder = h.n AND seq <= ? ORDER BY seq DESC LIMIT 1)), 0) FROM holder AS h;

-- name: vectors
-- model, as_of; what narrows it further is added by the caller, and the order
SELECT v.claim, coalesce(x.data, x'') FROM version AS v LEFT JOIN vector AS x ON x.claim = v.claim AND x.model = ?
WHERE v.claim = v.tx_from AND v.claim <= ?;

-- name: vector_claims
SELECT DISTINCT claim FROM vector;

-- name: place_vector
INSERT OR REPLACE INTO vector (model, claim, data) VALUES (?, ?, ?);

-- name: erase_vectors
DELETE FROM vector WHERE claim = ?;

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

-- name: block_uses
SELECT block, session, sum(length) FROM event WHERE block >= 0 GROUP BY block, session ORDER BY block, session;

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
SELECT claim, holder, kind, origin, lineage, session, said_at, tokens, subject, attribute, value
FROM version WHERE session = ? AND claim = tx_from ORDER BY claim;

-- name: erase_event
-- session, n
UPDATE event SET block = -1, offset = 0, length = 0, salt = x'' WHERE session = ? AND n = ?;

-- name: rename_event
-- event, session, n
UPDATE event SET event = ? WHERE session = ? AND n = ?;

-- name: erase_block
DELETE FROM block WHERE block = ?;

-- name: repack_block
-- data, block
UPDATE block SET data = ? WHERE block = ?;

-- name: places_in_block
SELECT offset, session, n FROM event WHERE block = ?;

-- name: move_event
-- offset, session, n
UPDATE event SET offset = ? WHERE session = ? AND n = ?;

-- name: add_said_place
-- place, session, n, at
INSERT INTO said_place (place, session, n, at) VALUES (?, ?, ?, ?);

-- name: is_said_place
SELECT EXISTS (SELECT 1 FROM said_place WHERE place = ?);

-- name: last_said_place
-- The last below a place.
SELECT coalesce(max(place), 0) FROM said_place WHERE place < ?;

-- name: said_place_of
-- session, n
SELECT place FROM said_place WHERE session = ? AND n = ?;

-- name: said_span
-- session, stop
SELECT count(*), coalesce(min(nullif(at, -1)), -1), coalesce(max(at), -1) FROM said_place WHERE session = ? AND n < ?;

-- name: said_places
SELECT place, session, n, at FROM said_place ORDER BY place;

-- name: erase_said_place
DELETE FROM said_place WHERE place = ?;

-- name: add_said
-- place, words
INSERT INTO said (rowid, text) VALUES (?, ?);

-- name: erase_said
-- place, words
INSERT INTO said (said, rowid, text) VALUES ('delete', ?, ?);

-- name: said
-- query, first, last, sessions as JSON (twice); newest first
SELECT p.place, p.session, p.n, p.at FROM said CROSS JOIN said_place AS p ON p.place = said.rowid
    WHERE said MATCH ? AND said.rowid BETWEEN ? AND ?
        AND (? IS NULL OR p.session IN (SELECT value FROM json_each(?)))
    ORDER BY said.rowid DESC;

-- name: said_words
-- After said_kept is there.
SELECT k.term, p.session, p.n FROM temp.said_kept AS k LEFT JOIN said_place AS p ON p.place = k.doc;

-- name: forget_sources
DELETE FROM source WHERE session = ?;

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
SELECT claim, holder, kind, origin, lineage, session, said_at, tokens, subject, attribute, value
FROM version WHERE claim = tx_from ORDER BY claim;

-- name: rows_version
SELECT claim, tx_from, tx_to, valid FROM version ORDER BY claim, tx_from;

-- name: rows_verdict
SELECT claim, axis, seq, value, reason, judged FROM verdict ORDER BY claim, axis, seq;

-- name: rows_touch
SELECT claim, seq, kind, said_at FROM touch ORDER BY claim, seq;

-- name: rows_link
SELECT seq, newer, older, kind, tx_to FROM link ORDER BY seq, newer, older, kind;

-- name: rows_name
SELECT seq, what, id, name, facts, tx_to FROM name ORDER BY seq, what;

-- name: rows_epoch
SELECT epoch, seq, at FROM epoch ORDER BY epoch;
