-- The search index made anew from the texts, beside the one that is kept, and the words of both. The transaction
-- stays open, so that the words are read as of the same moment as the texts, whoever appends meanwhile.
ATTACH '' AS anew;
BEGIN;
CREATE VIRTUAL TABLE anew.words USING fts5 (
    text, content = '', tokenize = 'ascii', detail = 'none', columnsize = 0
);
INSERT INTO anew.words (rowid, text)
    SELECT claim, indexed FROM (
        SELECT v.claim, indexed(v.claim, p.packed, v.holder, v.kind) AS indexed
        FROM main.version AS v JOIN main.part AS p ON p.seq = v.claim
        WHERE v.claim = v.tx_from
    ) WHERE indexed IS NOT NULL;
CREATE VIRTUAL TABLE temp.words_kept USING fts5vocab (main, words, instance);
CREATE VIRTUAL TABLE temp.words_due USING fts5vocab (anew, words, instance);
