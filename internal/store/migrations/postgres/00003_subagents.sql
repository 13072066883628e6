-- +goose Up
-- A subagent is a session of its own (session); what it reports goes to the session
-- that spawned it (parent), by the route of the turn that did.
CREATE TABLE subagents (
    id          TEXT PRIMARY KEY,
    session     TEXT NOT NULL UNIQUE,
    parent      TEXT NOT NULL,
    channel     TEXT NOT NULL,
    chat        TEXT NOT NULL,
    thread      TEXT NOT NULL,
    push        BOOLEAN NOT NULL,
    sender      TEXT NOT NULL,
    sender_name TEXT NOT NULL,
    label       TEXT NOT NULL,
    task        TEXT NOT NULL,
    status      TEXT NOT NULL,
    report      TEXT NOT NULL,
    created_at  BIGINT NOT NULL,
    ended_at    BIGINT NOT NULL
);
CREATE INDEX subagents_running ON subagents (parent) WHERE status = 'running';

-- The subagent whose report a message is.
ALTER TABLE inbox ADD COLUMN child TEXT NOT NULL DEFAULT '';
