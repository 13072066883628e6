-- +goose Up
-- A job is a prompt that is run at times (kind and spec: at a time, every so many
-- seconds, by a cron expression in a zone) in a session of its own, by the route
-- of the turn that made it; session is that turn's. scheduled: Temporal has a
-- schedule for it, as far as we know.
CREATE TABLE jobs (
    id          TEXT PRIMARY KEY,
    name        TEXT NOT NULL,
    message     TEXT NOT NULL,
    kind        TEXT NOT NULL,
    spec        TEXT NOT NULL,
    zone        TEXT NOT NULL,
    session     TEXT NOT NULL,
    channel     TEXT NOT NULL,
    chat        TEXT NOT NULL,
    thread      TEXT NOT NULL,
    push        BOOLEAN NOT NULL,
    sender      TEXT NOT NULL,
    sender_name TEXT NOT NULL,
    paused      BOOLEAN NOT NULL,
    scheduled   BOOLEAN NOT NULL,
    created_at  BIGINT NOT NULL,
    fired_at    BIGINT NOT NULL,
    ended_at    BIGINT NOT NULL,
    removed     BOOLEAN NOT NULL
);
CREATE INDEX jobs_live ON jobs (session) WHERE ended_at = 0;
