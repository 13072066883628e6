-- +goose Up
-- cost is millionths of a US dollar; NULL where no price is known.
ALTER TABLE usage ADD COLUMN cached_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage ADD COLUMN cost BIGINT;
CREATE INDEX usage_created ON usage (created_at);

-- scope is whose memory a turn belongs to; empty for none. A turn is consolidated
-- once its memory has taken it in: then the model is not shown it again.
ALTER TABLE turns ADD COLUMN cost BIGINT NOT NULL DEFAULT 0;
ALTER TABLE turns ADD COLUMN scope TEXT NOT NULL DEFAULT '';
ALTER TABLE turns ADD COLUMN consolidated BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX turns_unconsolidated ON turns (scope, session, seq) WHERE NOT consolidated AND scope <> '';

-- What a model answered when it was asked to consolidate some turns.
CREATE TABLE consolidations (
    id         TEXT PRIMARY KEY,
    scope      TEXT NOT NULL,
    session    TEXT NOT NULL,
    entry      TEXT NOT NULL,
    memory     TEXT NOT NULL,
    base       TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

-- Every version of a file of memory that was read or written.
CREATE TABLE versions (
    path       TEXT NOT NULL,
    hash       TEXT NOT NULL,
    content    BLOB NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (path, hash)
);
