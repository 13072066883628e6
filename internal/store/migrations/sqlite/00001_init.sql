-- Times are microseconds since 1970 in UTC; 0 means none.

-- +goose Up
CREATE TABLE sessions (
    key        TEXT PRIMARY KEY,
    channel    TEXT NOT NULL,
    epoch      BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
) WITHOUT ROWID;

CREATE TABLE inbox (
    seq           INTEGER PRIMARY KEY,
    id            TEXT NOT NULL UNIQUE,
    session       TEXT NOT NULL,
    channel       TEXT NOT NULL,
    chat          TEXT NOT NULL,
    thread        TEXT NOT NULL,
    sender        TEXT NOT NULL,
    sender_name   TEXT NOT NULL,
    text          TEXT NOT NULL,
    command       TEXT NOT NULL,
    push          BOOLEAN NOT NULL,
    joins         BOOLEAN NOT NULL,
    sent_at       BIGINT NOT NULL,
    accepted_at   BIGINT NOT NULL,
    next_sweep_at BIGINT NOT NULL,
    turn          TEXT
);
CREATE INDEX inbox_unconsumed ON inbox (session) WHERE turn IS NULL;

CREATE TABLE turns (
    seq               INTEGER PRIMARY KEY,
    id                TEXT NOT NULL UNIQUE,
    session           TEXT NOT NULL,
    channel           TEXT NOT NULL,
    epoch             BIGINT NOT NULL,
    status            TEXT NOT NULL,
    sender            TEXT NOT NULL,
    chat              TEXT NOT NULL,
    thread            TEXT NOT NULL,
    push              BOOLEAN NOT NULL,
    reply             TEXT NOT NULL,
    outbox            TEXT NOT NULL,
    workflow_id       TEXT NOT NULL,
    run_id            TEXT NOT NULL,
    started_at        BIGINT NOT NULL,
    ended_at          BIGINT NOT NULL,
    prompt_tokens     BIGINT NOT NULL,
    completion_tokens BIGINT NOT NULL,
    steps             BIGINT NOT NULL,
    prompt            TEXT NOT NULL
);
CREATE INDEX turns_session ON turns (session, epoch, seq);
CREATE INDEX turns_running ON turns (session) WHERE status = 'running';

-- rank orders the rows of a step: 0 user messages, 1 the completion, 2 results.
-- output comes last: a transcript is read without touching its pages.
CREATE TABLE messages (
    turn       TEXT NOT NULL,
    step       BIGINT NOT NULL,
    rank       BIGINT NOT NULL,
    idx        BIGINT NOT NULL,
    role       TEXT NOT NULL,
    content    TEXT NOT NULL,
    reasoning  TEXT NOT NULL,
    tool_calls TEXT NOT NULL,
    call_id    TEXT NOT NULL,
    name       TEXT NOT NULL,
    failed     BOOLEAN NOT NULL,
    filled     BOOLEAN NOT NULL,
    sender     TEXT NOT NULL,
    source     TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    output     BLOB,
    PRIMARY KEY (turn, step, rank, idx)
);

CREATE TABLE prompts (
    hash    TEXT PRIMARY KEY,
    content TEXT NOT NULL
);

CREATE TABLE intents (
    turn       TEXT NOT NULL,
    call       TEXT NOT NULL,
    part       TEXT NOT NULL,
    data       BLOB NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (turn, call, part)
);

-- claims counts the claims of which nothing was recorded.
CREATE TABLE outbox (
    id          TEXT PRIMARY KEY,
    turn        TEXT NOT NULL,
    session     TEXT NOT NULL,
    channel     TEXT NOT NULL,
    chat        TEXT NOT NULL,
    thread      TEXT NOT NULL,
    text        TEXT NOT NULL,
    state       TEXT NOT NULL,
    fence       BIGINT NOT NULL DEFAULT 0,
    claims      BIGINT NOT NULL DEFAULT 0,
    claimed_at  BIGINT NOT NULL DEFAULT 0,
    platform_id TEXT NOT NULL DEFAULT '',
    error       TEXT NOT NULL DEFAULT '',
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL
);

CREATE TABLE usage (
    turn              TEXT NOT NULL,
    step              BIGINT NOT NULL,
    provider          TEXT NOT NULL,
    model             TEXT NOT NULL,
    prompt_tokens     BIGINT NOT NULL,
    completion_tokens BIGINT NOT NULL,
    duration_ms       BIGINT NOT NULL,
    created_at        BIGINT NOT NULL,
    PRIMARY KEY (turn, step)
) WITHOUT ROWID;
