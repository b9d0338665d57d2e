-- The search index made anew from the texts, beside the one that is kept; the last statement counts where they differ.
ATTACH ':memory:' AS anew;
CREATE VIRTUAL TABLE anew.words USING fts5 (
    text, content = '', tokenize = 'unicode61 remove_diacritics 2', detail = 'none', columnsize = 0
);
INSERT INTO anew.words (rowid, text) SELECT claim, text FROM main.claim_text;
CREATE VIRTUAL TABLE temp.words_kept USING fts5vocab (main, words, instance);
CREATE VIRTUAL TABLE temp.words_due USING fts5vocab (anew, words, instance);
SELECT (SELECT count(*) FROM (SELECT term, doc FROM words_kept EXCEPT SELECT term, doc FROM words_due))
     + (SELECT count(*) FROM (SELECT term, doc FROM words_due EXCEPT SELECT term, doc FROM words_kept));
