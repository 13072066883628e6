-- +goose Up
-- model is the one that the session was told to use, as provider/model; empty for
-- the configured one. A turn keeps to that which its session had when it began, and
-- a subagent to that of the turn that spawned it.
ALTER TABLE sessions ADD COLUMN model TEXT NOT NULL DEFAULT '';
ALTER TABLE turns ADD COLUMN model TEXT NOT NULL DEFAULT '';
ALTER TABLE subagents ADD COLUMN model TEXT NOT NULL DEFAULT '';

-- unpriced is how many of a turn's model calls have no known price.
ALTER TABLE turns ADD COLUMN unpriced BIGINT NOT NULL DEFAULT 0;
UPDATE turns SET unpriced = (SELECT COUNT(*) FROM usage WHERE usage.turn = turns.id AND usage.cost IS NULL);

CREATE INDEX subagents_parent ON subagents (parent);
