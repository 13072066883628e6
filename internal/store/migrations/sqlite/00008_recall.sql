-- +goose Up
-- What people and models said, to be searched.
CREATE VIRTUAL TABLE recall USING fts5(
    content, turn, step UNINDEXED, rank_ UNINDEXED, idx UNINDEXED,
    tokenize = 'unicode61 remove_diacritics 2'
);
-- What is removed leaves the index at once, and not with its next merge.
INSERT INTO recall (recall, rank) VALUES ('secure-delete', 1);
INSERT INTO recall (content, turn, step, rank_, idx)
    SELECT content, turn, step, rank, idx FROM messages WHERE rank < 2 AND content <> '';
