-- Times are microseconds since 1970 in UTC; 0 means unset. Costs are millionths of a
-- US dollar. Models are given as provider/model.

-- +goose Up
-- id names this database, so that a worker recognizes work that belongs to another one.
CREATE TABLE store (id TEXT NOT NULL);
INSERT INTO store (id) VALUES (substr(replace(gen_random_uuid()::text, '-', ''), 1, 16));

-- model is the one chosen with /model; empty: the configured one. place is where its
-- background commands run, mcp_place where the processes of the MCP servers that it uses
-- run; empty: it has none.
CREATE TABLE sessions (
    key        TEXT PRIMARY KEY,
    channel    TEXT NOT NULL,
    epoch      BIGINT NOT NULL DEFAULT 0,
    model      TEXT NOT NULL DEFAULT '',
    place      TEXT NOT NULL DEFAULT '',
    mcp_place  TEXT NOT NULL DEFAULT '',
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX sessions_placed ON sessions (place, key) WHERE place > '';
CREATE INDEX sessions_mcp_placed ON sessions (mcp_place) WHERE mcp_place > '';
CREATE INDEX sessions_used ON sessions (updated_at, key);

-- seq follows the commit order within a session. files and enriched are JSON or empty.
-- child is the subagent whose report the message is, job the job that sent it.
CREATE TABLE inbox (
    seq           BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id            TEXT NOT NULL UNIQUE,
    platform_id   TEXT NOT NULL,
    session       TEXT NOT NULL,
    channel       TEXT NOT NULL,
    chat          TEXT NOT NULL,
    thread        TEXT NOT NULL,
    sender        TEXT NOT NULL,
    sender_name   TEXT NOT NULL,
    text          TEXT NOT NULL,
    files         TEXT NOT NULL,
    enriched      TEXT NOT NULL,
    command       TEXT NOT NULL,
    push          BOOLEAN NOT NULL,
    queue         BOOLEAN NOT NULL,
    child         TEXT NOT NULL,
    job           TEXT NOT NULL,
    sent_at       BIGINT NOT NULL,
    accepted_at   BIGINT NOT NULL,
    next_sweep_at BIGINT NOT NULL,
    turn          TEXT
);
CREATE INDEX inbox_unconsumed ON inbox (session, turn, seq) WHERE turn IS NULL; -- with turn, SQLite prefers it to inbox_session
CREATE INDEX inbox_due ON inbox (next_sweep_at, seq) WHERE turn IS NULL;
CREATE INDEX inbox_session ON inbox (session, seq);
CREATE INDEX inbox_job ON inbox (job, seq) WHERE job <> '';

-- scope is the memory scope. A consolidated turn is part of its memory and no longer
-- shown to the model.
CREATE TABLE turns (
    seq               BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
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
    model             TEXT NOT NULL,
    scope             TEXT NOT NULL,
    consolidated      BOOLEAN NOT NULL DEFAULT FALSE,
    started_at        BIGINT NOT NULL,
    ended_at          BIGINT NOT NULL,
    claimed_until     BIGINT NOT NULL DEFAULT 0,
    prompt            TEXT NOT NULL DEFAULT '',
    steps             BIGINT NOT NULL DEFAULT 0,
    prompt_tokens     BIGINT NOT NULL DEFAULT 0,
    completion_tokens BIGINT NOT NULL DEFAULT 0,
    cost              BIGINT NOT NULL DEFAULT 0,
    unpriced          BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX turns_session ON turns (session, epoch, seq);
CREATE INDEX turns_ended ON turns (session, ended_at);
CREATE INDEX turns_running ON turns (session) WHERE status = 'running';
CREATE INDEX turns_unconsolidated ON turns (session, epoch, seq) WHERE NOT consolidated;
CREATE INDEX turns_prompt ON turns (prompt) WHERE prompt <> '';

-- What memories have not taken in of ended turns, counted by session and epoch. Past:
-- the epoch has ended.
CREATE TABLE unconsolidated (
    session  TEXT NOT NULL,
    scope    TEXT NOT NULL,
    epoch    BIGINT NOT NULL,
    messages BIGINT NOT NULL,
    past     BOOLEAN NOT NULL,
    PRIMARY KEY (session, scope, epoch)
);
CREATE INDEX unconsolidated_due ON unconsolidated (past, messages, scope);
CREATE INDEX unconsolidated_scope ON unconsolidated (scope, past, messages);

-- rank orders the rows of a step: 0 user messages, 1 the completion, 2 results.
-- output comes last: reading a transcript does not touch its pages.
CREATE TABLE messages (
    turn        TEXT NOT NULL,
    step        BIGINT NOT NULL,
    rank        BIGINT NOT NULL,
    idx         BIGINT NOT NULL,
    role        TEXT NOT NULL,
    content     TEXT NOT NULL,
    reasoning   TEXT NOT NULL,
    tool_calls  TEXT NOT NULL,
    call_id     TEXT NOT NULL,
    name        TEXT NOT NULL,
    failed      BOOLEAN NOT NULL,
    filled      BOOLEAN NOT NULL,
    sender      TEXT NOT NULL,
    sender_name TEXT NOT NULL,
    source      TEXT NOT NULL,
    created_at  BIGINT NOT NULL,
    output      BYTEA,
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
    data       BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (turn, call, part)
);

-- claims counts the open claims, the oldest of which was made at first_claimed_at. parent is the reply that a row is a part of, idx its
-- position. A row with a file is sent as a file, whose content is text or, with a path,
-- the file there. approval is the approval that the message asks for.
CREATE TABLE outbox (
    id          TEXT PRIMARY KEY,
    turn        TEXT NOT NULL,
    session     TEXT NOT NULL,
    channel     TEXT NOT NULL,
    chat        TEXT NOT NULL,
    thread      TEXT NOT NULL,
    text        TEXT NOT NULL,
    file        TEXT NOT NULL,
    path        TEXT NOT NULL,
    approval    TEXT NOT NULL,
    parent      TEXT NOT NULL,
    idx         BIGINT NOT NULL,
    state       TEXT NOT NULL,
    fence       BIGINT NOT NULL DEFAULT 0,
    claims      BIGINT NOT NULL DEFAULT 0,
    claimed_at  BIGINT NOT NULL DEFAULT 0,
    first_claimed_at BIGINT NOT NULL DEFAULT 0,
    platform_id TEXT NOT NULL DEFAULT '',
    error       TEXT NOT NULL DEFAULT '',
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL
);
CREATE INDEX outbox_parts ON outbox (parent, idx) WHERE parent <> '';
CREATE INDEX outbox_turn ON outbox (turn);
CREATE INDEX outbox_pending ON outbox (created_at) WHERE state = 'pending' AND parent = '';
CREATE INDEX outbox_undelivered ON outbox (session) WHERE state <> 'sent';
CREATE INDEX outbox_behind ON outbox (channel, chat, thread, created_at) WHERE state = 'pending' AND parent = '';
CREATE INDEX outbox_kept ON outbox (channel, chat) WHERE state = 'kept';

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

-- Chats of clients that send all of a conversation with each message and name none. said is
-- a hash of what has been said, as the client has it; empty while a request is answered.
-- request is a hash of the last request until the client has its answer, and message the
-- platform's ID of its message.
CREATE TABLE chats (
    session TEXT PRIMARY KEY,
    name    TEXT NOT NULL,
    said    TEXT NOT NULL,
    request TEXT NOT NULL,
    message TEXT NOT NULL
);
CREATE INDEX chats_said ON chats (said) WHERE said <> '';
CREATE UNIQUE INDEX chats_request ON chats (request) WHERE request <> '';

-- How far a receiver has read its platform.
CREATE TABLE cursors (
    channel TEXT NOT NULL,
    name    TEXT NOT NULL,
    cursor  TEXT NOT NULL,
    PRIMARY KEY (channel, name)
);

-- A subagent has its own session; its report goes to the session that spawned it
-- (parent), by the route of the turn that did.
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
    model       TEXT NOT NULL,
    label       TEXT NOT NULL,
    task        TEXT NOT NULL,
    status      TEXT NOT NULL,
    report      TEXT NOT NULL,
    created_at  BIGINT NOT NULL,
    ended_at    BIGINT NOT NULL,
    claimed_until BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX subagents_running ON subagents (parent) WHERE status = 'running';
CREATE INDEX subagents_parent ON subagents (parent);

-- cost is NULL if the price is unknown. turn is a turn or a consolidation.
CREATE TABLE usage (
    turn              TEXT NOT NULL,
    step              BIGINT NOT NULL,
    provider          TEXT NOT NULL,
    model             TEXT NOT NULL,
    prompt_tokens     BIGINT NOT NULL,
    cached_tokens     BIGINT NOT NULL,
    completion_tokens BIGINT NOT NULL,
    cost              BIGINT,
    duration_ms       BIGINT NOT NULL,
    created_at        BIGINT NOT NULL,
    PRIMARY KEY (turn, step)
);
CREATE INDEX usage_created ON usage (created_at);

-- What a model answered when asked to consolidate some turns.
CREATE TABLE consolidations (
    id         TEXT PRIMARY KEY,
    scope      TEXT NOT NULL,
    session    TEXT NOT NULL,
    entry      TEXT NOT NULL,
    memory     TEXT NOT NULL,
    base       TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX consolidations_session ON consolidations (session);

-- Every version of a memory file that was read or written.
CREATE TABLE versions (
    path       TEXT NOT NULL,
    hash       TEXT NOT NULL,
    content    BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (path, hash)
);

-- A job is a scheduled prompt; session is the one that created it, the route that of
-- the turn that did. scheduled: Temporal has a schedule for it, as far as we know.
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
CREATE INDEX jobs_open ON jobs (created_at, id) WHERE (ended_at = 0 OR scheduled);
CREATE INDEX jobs_session ON jobs (session);

-- An approval is a question whether a tool call may run: where it is asked, which
-- workflow waits for it, the arguments as shown and the hash of the actual ones, and
-- the decision. decided_in is the message that made it, if one did.
CREATE TABLE approvals (
    id             TEXT PRIMARY KEY,
    call           TEXT NOT NULL,
    turn           TEXT NOT NULL,
    workflow_id    TEXT NOT NULL,
    tool           TEXT NOT NULL,
    title          TEXT NOT NULL,
    arguments      TEXT NOT NULL,
    arguments_hash TEXT NOT NULL,
    channel        TEXT NOT NULL,
    chat           TEXT NOT NULL,
    thread         TEXT NOT NULL,
    sender         TEXT NOT NULL,
    status         TEXT NOT NULL,
    decided_by     TEXT NOT NULL,
    decided_from   TEXT NOT NULL,
    decided_in     TEXT NOT NULL,
    created_at     BIGINT NOT NULL,
    expires_at     BIGINT NOT NULL,
    decided_at     BIGINT NOT NULL
);
CREATE INDEX approvals_turn ON approvals (turn);
CREATE INDEX approvals_decided ON approvals (decided_in) WHERE decided_in <> '';
CREATE INDEX approvals_created ON approvals (created_at, id);
CREATE INDEX approvals_waiting ON approvals (channel, chat, thread) WHERE status = 'waiting';

-- What people think of replies: their last rating.
CREATE TABLE ratings (
    turn     TEXT NOT NULL,
    sender   TEXT NOT NULL,
    good     BOOLEAN NOT NULL,
    rated_at BIGINT NOT NULL,
    PRIMARY KEY (turn, sender)
);

-- The worker processes that run beside others.
CREATE TABLE workers (
    identity      TEXT PRIMARY KEY,
    seen_at       BIGINT NOT NULL,
    claimed_until BIGINT NOT NULL DEFAULT 0
);

-- The full-text index of what people and models said.
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
