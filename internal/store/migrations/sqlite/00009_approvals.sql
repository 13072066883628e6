-- +goose Up
-- A question whether a tool call may be run: by whom and where it is answered
-- (channel, chat, thread), which workflow waits for that, for which arguments
-- (a hash) it is, what of them was shown, and what came of it (decided_in is the message that says so).
CREATE TABLE approvals (
    id          TEXT PRIMARY KEY,
    call        TEXT NOT NULL,
    turn        TEXT NOT NULL,
    workflow_id TEXT NOT NULL,
    tool        TEXT NOT NULL,
    title       TEXT NOT NULL,
    shown       TEXT NOT NULL,
    arguments   TEXT NOT NULL,
    channel     TEXT NOT NULL,
    chat        TEXT NOT NULL,
    thread      TEXT NOT NULL,
    sender      TEXT NOT NULL,
    status      TEXT NOT NULL,
    decided_by  TEXT NOT NULL,
    decided_in  TEXT NOT NULL,
    created_at  BIGINT NOT NULL,
    expires_at  BIGINT NOT NULL,
    decided_at  BIGINT NOT NULL
);
CREATE INDEX approvals_turn ON approvals (turn);
CREATE INDEX approvals_decided ON approvals (decided_in) WHERE decided_in <> '';
CREATE INDEX approvals_waiting ON approvals (channel, chat, thread) WHERE status = 'waiting';

-- The approval that an outbound message asks for.
ALTER TABLE outbox ADD COLUMN approval TEXT NOT NULL DEFAULT '';
