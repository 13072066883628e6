-- What channels need: files and what was gathered with a message, replies in
-- parts, drafts, pairings.

-- +goose Up
-- files and gathered are JSON, empty where there is nothing.
ALTER TABLE inbox ADD COLUMN platform_id TEXT NOT NULL DEFAULT '';
ALTER TABLE inbox ADD COLUMN files TEXT NOT NULL DEFAULT '';
ALTER TABLE inbox ADD COLUMN gathered TEXT NOT NULL DEFAULT '';
CREATE INDEX inbox_session ON inbox (session, seq);

ALTER TABLE messages ADD COLUMN sender_name TEXT NOT NULL DEFAULT '';

-- parent is the reply that a row is a part of, and idx its place. A row with a file
-- is sent as one: its content is text or, if there is a path, what is there.
ALTER TABLE outbox ADD COLUMN parent TEXT NOT NULL DEFAULT '';
ALTER TABLE outbox ADD COLUMN idx BIGINT NOT NULL DEFAULT 0;
ALTER TABLE outbox ADD COLUMN file TEXT NOT NULL DEFAULT '';
ALTER TABLE outbox ADD COLUMN path TEXT NOT NULL DEFAULT '';
CREATE INDEX outbox_parts ON outbox (parent, idx) WHERE parent <> '';
CREATE INDEX outbox_turn ON outbox (turn);

CREATE TABLE drafts (
    turn        TEXT PRIMARY KEY,
    channel     TEXT NOT NULL,
    chat        TEXT NOT NULL,
    thread      TEXT NOT NULL,
    platform_id TEXT NOT NULL,
    taken       BOOLEAN NOT NULL,
    claimed_at  BIGINT NOT NULL
);

CREATE TABLE pairings (
    channel     TEXT NOT NULL,
    sender      TEXT NOT NULL,
    name        TEXT NOT NULL,
    code        TEXT NOT NULL UNIQUE,
    created_at  BIGINT NOT NULL,
    approved_at BIGINT NOT NULL,
    PRIMARY KEY (channel, sender)
);
