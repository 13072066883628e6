-- +goose Up
-- What people and models said, to be searched.
CREATE TABLE recall (
    content TEXT NOT NULL,
    turn    TEXT NOT NULL,
    step    BIGINT NOT NULL,
    rank_   BIGINT NOT NULL,
    idx     BIGINT NOT NULL,
    words   tsvector GENERATED ALWAYS AS (to_tsvector('simple', content)) STORED
);
CREATE INDEX recall_words ON recall USING gin (words);
CREATE INDEX recall_turn ON recall (turn);
INSERT INTO recall (content, turn, step, rank_, idx)
    SELECT left(content, 100000), turn, step, rank, idx FROM messages WHERE rank < 2 AND content <> '';
