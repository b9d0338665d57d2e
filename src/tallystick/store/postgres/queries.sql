-- Every statement of the PostgreSQL store, by name. None names the trail in its conditions: row-level security adds it to every
-- one, and a connection is refused on which it does not. Numbers are cast, since a parameter of another type uses no index.

-- name: head
SELECT size, frontier, at, epoch FROM tally.head WHERE log = %(log)s;

-- name: set_head
INSERT INTO tally.head (trail, log, size, frontier, at, epoch)
    VALUES (%(trail)s, %(log)s, %(size)s, %(frontier)s, %(at)s, %(epoch)s)
    ON CONFLICT (trail, log) DO UPDATE SET size = excluded.size, frontier = excluded.frontier, at = excluded.at,
        epoch = excluded.epoch;

-- name: meta
SELECT value FROM tally.meta WHERE log = %(log)s AND key = %(key)s;

-- name: facts
SELECT key, value FROM tally.meta WHERE log = %(log)s ORDER BY key;

-- name: set_meta
INSERT INTO tally.meta (trail, log, key, value) VALUES (%(trail)s, %(log)s, %(key)s, %(value)s)
    ON CONFLICT (trail, log, key) DO UPDATE SET value = excluded.value;

-- name: add_entries
INSERT INTO tally.entry (trail, log, seq, at, canon, leaf)
    SELECT %(trail)s, %(log)s, * FROM unnest(%(a)b::bigint[], %(b)b::bigint[], %(c)b::bytea[], %(d)b::bytea[]);

-- name: add_parts
INSERT INTO tally.part (trail, log, seq, data) SELECT %(trail)s, %(log)s, * FROM unnest(%(a)b::bigint[], %(b)b::bytea[]);

-- name: add_nodes
INSERT INTO tally.node (trail, log, level, n, hash)
    SELECT %(trail)s, %(log)s, * FROM unnest(%(a)b::smallint[], %(b)b::bigint[], %(c)b::bytea[]);

-- name: entries
SELECT seq, at, canon, leaf FROM tally.entry
    WHERE log = %(log)s AND seq >= %(start)s::bigint AND seq < %(stop)s::bigint ORDER BY seq LIMIT %(run)s;

-- name: nodes
SELECT hash FROM tally.node
    WHERE log = %(log)s AND level = %(level)s AND n >= %(start)s::bigint AND n < %(stop)s::bigint ORDER BY n;

-- name: count_nodes
SELECT count(*) FROM tally.node WHERE log = %(log)s;

-- name: leaves
SELECT leaf FROM tally.entry WHERE log = %(log)s AND seq >= %(start)s::bigint AND seq < %(stop)s::bigint ORDER BY seq;

-- name: parts
SELECT seq, data FROM tally.part
    WHERE log = %(log)s AND seq >= %(start)s::bigint AND seq < %(stop)s::bigint ORDER BY seq LIMIT %(run)s;

-- name: parts_of
SELECT seq, data FROM tally.part WHERE log = %(log)s AND seq = ANY (%(seqs)b::bigint[]) ORDER BY seq;

-- name: erase
SELECT tally.erase(%(log)s::smallint, %(seq)s::bigint, %(data)s);

-- name: at_of
SELECT seq, at FROM tally.entry WHERE log = %(log)s AND seq = ANY (%(seqs)s::bigint[]) ORDER BY seq;

-- name: epochs
SELECT epoch, seq, at FROM tally.epoch WHERE log = %(log)s ORDER BY epoch;

-- name: add_epochs
INSERT INTO tally.epoch (trail, log, epoch, seq, at)
    SELECT %(trail)s, %(log)s, (SELECT count(*) FROM tally.epoch WHERE log = %(log)s) + n, seq, at
    FROM unnest(%(a)b::bigint[], %(b)b::bigint[]) WITH ORDINALITY AS e (seq, at, n);

-- name: count_epochs
UPDATE tally.head SET epoch = (SELECT count(*) FROM tally.epoch WHERE log = %(log)s) WHERE log = %(log)s;

-- name: holders
SELECT n, id FROM tally.holder WHERE log = %(log)s ORDER BY n;

-- name: add_holders
INSERT INTO tally.holder (trail, log, n, id) SELECT %(trail)s, %(log)s, * FROM unnest(%(a)b::integer[], %(b)b::bytea[]);

-- name: held
-- The running number of each holder as of a point.
SELECT h.n, (SELECT held FROM tally.held WHERE log = %(log)s AND holder = h.n AND seq <= %(as_of)s::bigint
    ORDER BY seq DESC LIMIT 1)
    FROM unnest(%(holders)s::integer[]) AS h (n);

-- name: add_held
INSERT INTO tally.held (trail, log, holder, seq, held)
    SELECT %(trail)s, %(log)s, * FROM unnest(%(a)b::integer[], %(b)b::bigint[], %(c)b::bigint[])
    ON CONFLICT (trail, log, holder, seq) DO UPDATE SET held = excluded.held;

-- name: add_versions
INSERT INTO tally.version (trail, log, claim, tx_from, tx_to, valid, holder, kind, origin, lineage, session, said_at, tokens,
        subject, attribute, value, topic)
    SELECT %(trail)s, %(log)s, * FROM unnest(%(a)b::bigint[], %(b)b::bigint[], %(c)b::bigint[], %(d)b::text[], %(e)b::integer[],
        %(f)b::text[], %(g)b::text[], %(h)b::bigint[], %(i)b::bigint[], %(j)b::bigint[], %(k)b::bigint[], %(l)b::text[],
        %(m)b::text[], %(n)b::text[], %(o)b::text[]);

-- name: close_versions
UPDATE tally.version AS v SET tx_to = c.seq
    FROM unnest(%(a)b::bigint[], %(b)b::bigint[]) AS c (claim, seq)
    WHERE v.log = %(log)s AND v.claim = c.claim AND v.tx_to = 9007199254740991;

-- name: claim_rows
SELECT claim, holder, kind, origin, lineage, session, said_at, tokens, subject, attribute, value FROM tally.version
    WHERE log = %(log)s AND claim = ANY (%(claims)s::bigint[]) AND tx_from = claim ORDER BY claim;

-- name: claims_of
SELECT claim, holder, kind, origin, lineage, session, said_at, tokens, subject, attribute, value FROM tally.version
    WHERE log = %(log)s AND session = %(session)s::bigint AND tx_from = claim ORDER BY claim;

-- name: about
SELECT claim, holder, kind, origin, lineage, session, said_at, tokens, subject, attribute, value FROM tally.version
    WHERE log = %(log)s AND holder = %(holder)s AND topic = %(topic)s AND topic IS NOT NULL AND subject = %(subject)s
        AND attribute = %(attribute)s AND tx_from = claim ORDER BY claim;

-- name: about_nothing
SELECT claim, holder, kind, origin, lineage, session, said_at, tokens, subject, attribute, value FROM tally.version
    WHERE log = %(log)s AND holder = %(holder)s AND topic IS NULL AND tx_from = claim ORDER BY claim;

-- name: set_claims
-- What was folded anew, into every version of each claim.
UPDATE tally.version AS v SET kind = c.kind, origin = c.origin, lineage = c.lineage, session = c.session, said_at = c.said_at,
        tokens = c.tokens, subject = c.subject, attribute = c.attribute, value = c.value, topic = c.topic
    FROM unnest(%(a)b::bigint[], %(b)b::text[], %(c)b::text[], %(d)b::bigint[], %(e)b::bigint[], %(f)b::bigint[],
        %(g)b::bigint[], %(h)b::text[], %(i)b::text[], %(j)b::text[], %(k)b::text[])
        AS c (claim, kind, origin, lineage, session, said_at, tokens, subject, attribute, value, topic)
    WHERE v.log = %(log)s AND v.claim = c.claim;

-- name: set_valid
-- When a claim holds, folded anew.
UPDATE tally.version AS v SET valid = c.valid
    FROM unnest(%(a)b::bigint[], %(b)b::bigint[], %(c)b::text[]) AS c (claim, tx_from, valid)
    WHERE v.log = %(log)s AND v.claim = c.claim AND v.tx_from = c.tx_from;

-- name: versions
SELECT claim, tx_from, tx_to, valid FROM tally.version WHERE log = %(log)s AND claim = %(claim)s::bigint ORDER BY tx_from;

-- name: versions_changed
-- Those that an entry opened first, opened again, or closed.
SELECT claim, tx_from, tx_to, valid FROM tally.version
    WHERE log = %(log)s AND claim = %(seq)s::bigint AND tx_from = claim
UNION SELECT claim, tx_from, tx_to, valid FROM tally.version
    WHERE log = %(log)s AND tx_from = %(seq)s::bigint AND tx_from <> claim
UNION SELECT claim, tx_from, tx_to, valid FROM tally.version
    WHERE log = %(log)s AND tx_to = %(seq)s::bigint AND tx_to <> 9007199254740991
ORDER BY 1, 2;

-- name: add_verdicts
INSERT INTO tally.verdict (trail, log, claim, axis, seq, value, reason, judged)
    SELECT %(trail)s, %(log)s, * FROM unnest(%(a)b::bigint[], %(b)b::text[], %(c)b::bigint[], %(d)b::text[], %(e)b::text[],
        %(f)b::bigint[])
    ON CONFLICT (trail, log, claim, axis, seq) DO UPDATE SET value = excluded.value, reason = excluded.reason,
        judged = excluded.judged;

-- name: drop_verdicts
DELETE FROM tally.verdict WHERE log = %(log)s AND claim = ANY (%(claims)s::bigint[]);

-- name: verdicts
SELECT claim, axis, seq, value, reason, judged FROM tally.verdict
    WHERE log = %(log)s AND claim = %(claim)s::bigint ORDER BY axis, seq;

-- name: add_touches
INSERT INTO tally.touch (trail, log, claim, seq, kind, said_at)
    SELECT %(trail)s, %(log)s, * FROM unnest(%(a)b::bigint[], %(b)b::bigint[], %(c)b::text[], %(d)b::bigint[]);

-- name: set_touches
UPDATE tally.touch AS t SET kind = c.kind, said_at = c.said_at
    FROM unnest(%(a)b::bigint[], %(b)b::bigint[], %(c)b::text[], %(d)b::bigint[]) AS c (claim, seq, kind, said_at)
    WHERE t.log = %(log)s AND t.claim = c.claim AND t.seq = c.seq;

-- name: touches
SELECT claim, seq, kind, said_at FROM tally.touch
    WHERE log = %(log)s AND claim = %(claim)s::bigint ORDER BY seq, kind, said_at;

-- name: add_links
INSERT INTO tally.link (trail, log, seq, newer, older, kind, tx_to)
    SELECT %(trail)s, %(log)s, * FROM unnest(%(a)b::bigint[], %(b)b::bigint[], %(c)b::bigint[], %(d)b::text[], %(e)b::bigint[]);

-- name: end_links
UPDATE tally.link SET tx_to = %(tx_to)s WHERE log = %(log)s AND seq = %(seq)s::bigint AND tx_to = 9007199254740991;

-- name: end_names
UPDATE tally.name SET tx_to = %(tx_to)s
    WHERE log = %(log)s AND seq = %(seq)s::bigint AND what = 'attribute' AND tx_to = 9007199254740991;

-- name: links_made
SELECT seq, newer, older, kind, tx_to FROM tally.link
    WHERE log = %(log)s AND seq = %(seq)s::bigint ORDER BY newer, older, kind;

-- name: attributes_made
SELECT seq, what, id, name, facts, tx_to FROM tally.name
    WHERE log = %(log)s AND seq = %(seq)s::bigint AND what = 'attribute';

-- name: links
SELECT seq, newer, older, kind, tx_to FROM tally.link
    WHERE log = %(log)s AND seq <= %(as_of)s::bigint AND tx_to > %(as_of)s::bigint AND kind = %(kind)s ORDER BY seq, newer, older;

-- name: links_of
SELECT seq, newer, older, kind, tx_to FROM tally.link WHERE log = %(log)s AND newer = %(claim)s::bigint
UNION SELECT seq, newer, older, kind, tx_to FROM tally.link WHERE log = %(log)s AND older = %(claim)s::bigint
ORDER BY 1, 2, 3, 4;

-- name: add_names
INSERT INTO tally.name (trail, log, seq, what, id, name, facts, tx_to)
    SELECT %(trail)s, %(log)s, * FROM unnest(%(a)b::bigint[], %(b)b::text[], %(c)b::text[], %(d)b::text[], %(e)b::text[],
        %(f)b::bigint[]);

-- name: set_names
UPDATE tally.name AS t SET id = c.id, name = c.name, facts = c.facts
    FROM unnest(%(a)b::bigint[], %(b)b::text[], %(c)b::text[], %(d)b::text[], %(e)b::text[], %(f)b::bigint[])
        AS c (seq, what, id, name, facts, tx_to)
    WHERE t.log = %(log)s AND t.seq = c.seq AND t.what = c.what;

-- name: names
SELECT seq, what, id, name, facts, tx_to FROM tally.name WHERE log = %(log)s AND what = %(what)s ORDER BY seq;

-- name: found
-- Pages: the claims of a selection by holder (and by kind), each from its own place in an index, so that no filter makes the
-- next hundred dear. Replaced by the caller: {shelves}, {place}.
SELECT v.* FROM {shelves} CROSS JOIN LATERAL (
    SELECT claim, tx_from, tx_to, valid, holder, kind, origin, lineage, session, said_at, tokens, subject, attribute, value
    FROM tally.version
    WHERE log = %(log)s AND {place} AND claim > %(after)s::bigint AND tx_from <= %(as_of)s::bigint AND tx_to > %(as_of)s::bigint
    ORDER BY claim LIMIT %(limit)s
) AS v ORDER BY v.claim LIMIT %(limit)s;

-- name: newest_verdicts
-- Of each claim and axis the last by the point.
SELECT DISTINCT ON (claim, axis) claim, axis, value, reason FROM tally.verdict
    WHERE log = %(log)s AND {claims} AND seq <= %(as_of)s::bigint ORDER BY claim, axis, seq DESC;

-- name: said_again
-- Of each claim when it was last said again by the point.
SELECT claim, max(said_at) FROM tally.touch
    WHERE log = %(log)s AND {claims} AND seq <= %(as_of)s::bigint AND said_at > -1 GROUP BY claim;

-- name: parts_among
SELECT seq, data FROM tally.part WHERE log = %(log)s AND {claims};

-- name: count_bounded
-- Valid times, of a holder's claims that do not hold for all of time.
SELECT valid FROM tally.version
    WHERE log = %(log)s AND holder = ANY (%(holders)s::integer[]) AND valid IS NOT NULL AND tx_from <= %(as_of)s::bigint
        AND tx_to > %(as_of)s::bigint;

-- name: count_found
-- Filters are added by the caller: {place}.
SELECT count(*) FROM tally.version
    WHERE log = %(log)s AND {place} AND claim > %(after)s::bigint AND tx_from <= %(as_of)s::bigint AND tx_to > %(as_of)s::bigint;

-- name: file
INSERT INTO tally.same (trail, log, key, claim)
    SELECT %(trail)s, %(log)s, * FROM unnest(%(a)b::bytea[], %(b)b::bigint[])
    ON CONFLICT (trail, log, key) DO UPDATE SET claim = excluded.claim;

-- name: same
SELECT claim FROM tally.same WHERE log = %(log)s AND key = %(key)s;

-- name: add_blocks
INSERT INTO tally.block (trail, log, block, session, data)
    SELECT %(trail)s, %(log)s, * FROM unnest(%(a)b::bigint[], %(b)b::bigint[], %(c)b::bytea[]);

-- name: block
SELECT data FROM tally.block WHERE log = %(log)s AND block = %(block)s::bigint;

-- name: blocks
SELECT block, session, data FROM tally.block WHERE log = %(log)s AND block > %(after)s::bigint ORDER BY block LIMIT %(run)s;

-- name: block_uses
SELECT block, session, sum(length)::bigint FROM tally.event
    WHERE log = %(log)s AND block >= 0
    GROUP BY block, session ORDER BY block, session;

-- name: next_block
SELECT coalesce(max(block) + 1, 0) FROM tally.block WHERE log = %(log)s;

-- name: set_block
UPDATE tally.block SET data = %(data)s WHERE log = %(log)s AND block = %(block)s::bigint;

-- name: drop_block
DELETE FROM tally.block WHERE log = %(log)s AND block = %(block)s::bigint;

-- name: move_events
-- Those of other sessions too, which repeat the records of the one whose block it is (EVID.5).
UPDATE tally.event AS e SET start = m.new FROM unnest(%(a)b::bigint[], %(b)b::bigint[]) AS m (old, new)
    WHERE e.log = %(log)s AND e.block = %(block)s::bigint AND e.start = m.old;

-- name: add_events
INSERT INTO tally.event (trail, log, session, n, event, block, start, length, salt)
    SELECT %(trail)s, %(log)s, * FROM unnest(%(a)b::bigint[], %(b)b::bigint[], %(c)b::bytea[], %(d)b::bigint[], %(e)b::bigint[],
        %(f)b::bigint[], %(g)b::bytea[]);

-- name: erase_events
UPDATE tally.event AS e SET block = -1, start = 0, length = 0, salt = ''
    FROM unnest(%(a)b::bigint[], %(b)b::bigint[]) AS g (session, n) WHERE e.log = %(log)s AND e.session = g.session AND e.n = g.n;

-- name: rename_events
UPDATE tally.event AS e SET event = g.event
    FROM unnest(%(a)b::bigint[], %(b)b::bigint[], %(c)b::bytea[]) AS g (session, n, event)
    WHERE e.log = %(log)s AND e.session = g.session AND e.n = g.n;

-- name: event
SELECT session, n, event, block, start, length, salt FROM tally.event
    WHERE log = %(log)s AND event = ANY (%(events)s::bytea[]) ORDER BY session, n;

-- name: session_size
SELECT coalesce(max(n) + 1, 0) FROM tally.event WHERE log = %(log)s AND session = %(session)s::bigint;

-- name: session_events
SELECT session, n, event, block, start, length, salt FROM tally.event
    WHERE log = %(log)s AND session = %(session)s::bigint AND n >= %(first)s::bigint AND n < %(stop)s::bigint
    ORDER BY n LIMIT %(run)s;

-- name: events
SELECT session, n, event, block, start, length, salt FROM tally.event
    WHERE log = %(log)s AND (session, n) > (%(session)s::bigint, %(n)s::bigint) ORDER BY session, n LIMIT %(run)s;

-- name: note_source
INSERT INTO tally.source (trail, log, key, path, session, size, mtime_ns, inode, start, line, digest, calls)
    VALUES (%(trail)s, %(log)s, %(key)s, %(path)s, %(session)s, %(size)s, %(mtime_ns)s, %(inode)s, %(start)s, %(line)s,
        %(digest)s, %(calls)s)
    ON CONFLICT (trail, log, key) DO UPDATE SET session = excluded.session, size = excluded.size, mtime_ns = excluded.mtime_ns,
        inode = excluded.inode, start = excluded.start, line = excluded.line, digest = excluded.digest, calls = excluded.calls;

-- name: source
SELECT path, session, size, mtime_ns, inode, start, line, digest, calls FROM tally.source
    WHERE log = %(log)s AND key = %(key)s;

-- name: sources
SELECT path, session, size, mtime_ns, inode, start, line, digest, calls FROM tally.source
    WHERE log = %(log)s AND session = %(session)s::bigint ORDER BY path COLLATE "C";

-- name: forget_sources
DELETE FROM tally.source WHERE log = %(log)s AND session = %(session)s::bigint;

-- name: rows_claim
SELECT claim, holder, kind, origin, lineage, session, said_at, tokens, subject, attribute, value FROM tally.version
    WHERE log = %(log)s AND tx_from = claim ORDER BY claim;

-- name: rows_version
SELECT claim, tx_from, tx_to, valid FROM tally.version WHERE log = %(log)s ORDER BY claim, tx_from;

-- name: rows_verdict
SELECT claim, axis, seq, value, reason, judged FROM tally.verdict WHERE log = %(log)s ORDER BY claim, axis, seq;

-- name: rows_touch
SELECT claim, seq, kind, said_at FROM tally.touch WHERE log = %(log)s ORDER BY claim, seq, kind, said_at;

-- name: rows_link
SELECT seq, newer, older, kind, tx_to FROM tally.link WHERE log = %(log)s ORDER BY seq, newer, older, kind;

-- name: rows_name
SELECT seq, what, id, name, facts, tx_to FROM tally.name WHERE log = %(log)s ORDER BY seq, what;

-- name: rows_epoch
SELECT epoch, seq, at FROM tally.epoch WHERE log = %(log)s ORDER BY epoch;

-- name: add_runs
INSERT INTO tally.search (trail, log, holder, word, upto, claims)
    SELECT %(trail)s, %(log)s, * FROM unnest(%(a)b::integer[], %(b)b::text[], %(c)b::bigint[], %(d)b::bytea[]);

-- name: runs
-- Of the words, within a stretch of claims.
SELECT word, upto, claims FROM tally.search
    WHERE log = %(log)s AND holder = ANY (%(holders)s::integer[]) AND word = ANY (%(words)s::text[])
        AND upto >= %(start)s::bigint AND upto < %(stop)s::bigint;

-- name: runs_of_kinds
-- Of every claim, whatever its words.
SELECT word, upto, claims FROM tally.search
    WHERE log = %(log)s AND holder = ANY (%(holders)s::integer[]) AND word >= '=' AND word < '>'
        AND upto >= %(start)s::bigint AND upto < %(stop)s::bigint;

-- name: runs_of_claim
-- Of one holder: the run of each word that the claim can be in, by the block of 4096 that it is in.
SELECT word, upto, claims FROM tally.search
    WHERE log = %(log)s AND holder = %(holder)s AND word = ANY (%(words)s::text[])
        AND upto >= %(claim)s::bigint AND upto < (%(claim)s::bigint / 4096 + 1) * 4096 ORDER BY word, upto;

-- name: drop_run
DELETE FROM tally.search WHERE log = %(log)s AND holder = %(holder)s AND word = %(word)s AND upto = %(upto)s::bigint;

-- name: rows_search
SELECT holder, word, upto, claims FROM tally.search WHERE log = %(log)s;

-- name: add_said_places
INSERT INTO tally.said_place (trail, log, place, session, n, at)
    SELECT %(trail)s, %(log)s, * FROM unnest(%(a)b::bigint[], %(b)b::bigint[], %(c)b::bigint[], %(d)b::bigint[]);

-- name: is_said_place
SELECT EXISTS (SELECT FROM tally.said_place WHERE log = %(log)s AND place = %(place)s::bigint);

-- name: last_said_place
-- The last below a place.
SELECT coalesce(max(place), 0) FROM tally.said_place WHERE log = %(log)s AND place < %(stop)s::bigint;

-- name: said_bounds
-- The first place and the last.
SELECT min(place), max(place) FROM tally.said_place WHERE log = %(log)s;

-- name: said_place_of
SELECT place FROM tally.said_place WHERE log = %(log)s AND session = %(session)s::bigint AND n = %(n)s::bigint;

-- name: said_span
SELECT count(*), coalesce(min(nullif(at, -1)), -1), coalesce(max(at), -1) FROM tally.said_place
    WHERE log = %(log)s AND session = %(session)s::bigint AND n < %(stop)s::bigint;

-- name: said_places
SELECT place, session, n, at FROM tally.said_place WHERE log = %(log)s AND place > %(after)s::bigint ORDER BY place LIMIT %(run)s;

-- name: said_places_among
-- Newest first.
SELECT place, session, n, at FROM tally.said_place
    WHERE log = %(log)s AND place = ANY (%(places)s::bigint[]) ORDER BY place DESC;

-- name: drop_said_place
DELETE FROM tally.said_place WHERE log = %(log)s AND place = %(place)s::bigint;

-- name: add_said_runs
INSERT INTO tally.said (trail, log, word, upto, places)
    SELECT %(trail)s, %(log)s, * FROM unnest(%(a)b::text[], %(b)b::bigint[], %(c)b::bytea[]);

-- name: said_runs
-- Of the words, within whole blocks.
SELECT word, upto, places FROM tally.said
    WHERE log = %(log)s AND word = ANY (%(words)s::text[]) AND upto >= %(start)s::bigint AND upto < %(stop)s::bigint;

-- name: said_runs_of_place
-- The run of each word that the place can be in, by the block of 65,536 that it is in.
SELECT word, upto, places FROM tally.said
    WHERE log = %(log)s AND word = ANY (%(words)s::text[])
        AND upto >= %(place)s::bigint AND upto < (%(place)s::bigint / 65536 + 1) * 65536 ORDER BY word, upto;

-- name: said_beginning
-- Every word that begins so.
SELECT DISTINCT word FROM tally.said WHERE log = %(log)s AND word >= %(first)s AND word < %(last)s;

-- name: drop_said_run
DELETE FROM tally.said WHERE log = %(log)s AND word = %(word)s AND upto = %(upto)s::bigint;

-- name: rows_said
SELECT word, upto, places FROM tally.said
    WHERE log = %(log)s AND (word, upto) > (%(word)s, %(upto)s::bigint) ORDER BY word, upto LIMIT %(run)s;

-- name: join_said_runs
-- One run for each word and block, in the place of the many that slices leave.
WITH gone AS (DELETE FROM tally.said WHERE log = %(log)s RETURNING word, upto, places)
INSERT INTO tally.said (trail, log, word, upto, places)
    SELECT %(trail)s, %(log)s, word, max(upto), string_agg(places, '' ORDER BY upto)
    FROM gone GROUP BY word, upto / 65536;

-- name: holders_apart
-- A holder of whom there is no claim: no row where all have one.
SELECT id FROM tally.holder AS h WHERE log = %(log)s
    AND NOT EXISTS (SELECT FROM tally.version AS v WHERE v.log = %(log)s AND v.holder = h.n) LIMIT 1;

-- name: held_apart
-- A number of held claims that is not what the versions come to: no row where all are.
WITH changes AS (
    SELECT holder, tx_from AS seq, 1 AS by FROM tally.version WHERE log = %(log)s
    UNION ALL SELECT holder, tx_to, -1 FROM tally.version WHERE log = %(log)s AND tx_to <> 9007199254740991
), due AS (
    SELECT holder, seq, sum(sum(by)) OVER (PARTITION BY holder ORDER BY seq) AS held FROM changes GROUP BY holder, seq
), kept AS (SELECT holder, seq, held FROM tally.held WHERE log = %(log)s)
SELECT seq FROM due FULL JOIN kept USING (holder, seq) WHERE due.held IS DISTINCT FROM kept.held LIMIT 1;

-- name: versions_apart
-- A version that does not say of its claim what the first one says: no row where all do.
SELECT v.claim FROM tally.version AS v JOIN tally.version AS f ON f.log = %(log)s AND f.claim = v.claim AND f.tx_from = v.claim
WHERE v.log = %(log)s AND v.tx_from <> v.claim
    AND (v.holder, v.kind, v.origin, v.lineage, v.session, v.said_at, v.tokens, v.subject, v.attribute, v.value, v.topic)
    IS DISTINCT FROM
    (f.holder, f.kind, f.origin, f.lineage, f.session, f.said_at, f.tokens, f.subject, f.attribute, f.value, f.topic) LIMIT 1;

-- name: texts
-- What should be found: holder, kind and parts of every claim.
SELECT v.claim, v.holder, v.kind, p.data FROM tally.version AS v
    JOIN tally.part AS p ON p.log = %(log)s AND p.seq = v.claim
    WHERE v.log = %(log)s AND v.tx_from = v.claim AND v.claim > %(after)s::bigint ORDER BY v.claim LIMIT %(run)s;

-- name: join_runs
-- One run for each word, holder and block of 4096, in the place of the many that single appends leave.
WITH gone AS (DELETE FROM tally.search WHERE log = %(log)s RETURNING holder, word, upto, claims)
INSERT INTO tally.search (trail, log, holder, word, upto, claims)
    SELECT %(trail)s, %(log)s, holder, word, max(upto), string_agg(claims, '' ORDER BY upto)
    FROM gone GROUP BY holder, word, upto / 4096;

-- name: amcheck
-- Where the extension is, if the user may use it.
SELECT quote_ident(n.nspname) FROM pg_catalog.pg_extension AS e JOIN pg_catalog.pg_namespace AS n ON n.oid = e.extnamespace
    WHERE e.extname = 'amcheck' AND has_schema_privilege(n.oid, 'USAGE')
        AND has_function_privilege(to_regprocedure(quote_ident(n.nspname) || '.bt_index_check(regclass)'), 'EXECUTE');

-- name: indexes
SELECT c.oid::regclass::text FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    JOIN pg_catalog.pg_am AS a ON a.oid = c.relam WHERE n.nspname = 'tally' AND c.relkind = 'i' AND a.amname = 'btree' ORDER BY 1;

-- name: vectors
-- Of the claims of some holders, or of all of them, newest first.
SELECT v.claim, coalesce(x.data, ''::bytea) FROM tally.version AS v
    LEFT JOIN tally.vector AS x ON x.log = v.log AND x.claim = v.claim AND x.model = %(model)s
    WHERE v.log = %(log)s AND v.claim = v.tx_from AND v.claim <= %(as_of)s::bigint
        AND v.holder = ANY (%(holders)s::integer[])
    ORDER BY v.claim DESC LIMIT %(limit)s;

-- name: vector_claims
SELECT DISTINCT claim FROM tally.vector WHERE log = %(log)s;

-- name: place_vectors
INSERT INTO tally.vector (trail, log, model, claim, data)
    SELECT %(trail)s, %(log)s, %(model)s, * FROM unnest(%(a)b::bigint[], %(b)b::bytea[])
    ON CONFLICT (trail, log, claim, model) DO UPDATE SET data = excluded.data;

-- name: erase_vectors
DELETE FROM tally.vector WHERE log = %(log)s AND claim = ANY (%(claims)s::bigint[]);
