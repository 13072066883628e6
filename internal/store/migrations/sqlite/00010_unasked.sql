-- +goose Up
-- The job whose message a message is.
ALTER TABLE inbox ADD COLUMN job TEXT NOT NULL DEFAULT '';
UPDATE inbox SET job = COALESCE((SELECT jobs.id FROM jobs
        WHERE inbox.session = 'job:' || jobs.id OR inbox.session LIKE 'job:' || jobs.id || ':%' LIMIT 1), '')
    WHERE session LIKE 'job:%' AND child = '';
CREATE INDEX inbox_job ON inbox (job, seq) WHERE job <> '';

CREATE INDEX turns_ended ON turns (session, ended_at);
