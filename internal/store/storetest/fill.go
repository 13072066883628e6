package storetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx
	_ "modernc.org/sqlite"             // the driver sqlite
)

// Fill adds the past of a busy deployment to an existing store: sessions of so many turns
// each, answered in the months before, half of them in Slack channels with a memory of
// their own and half over HTTP with one memory for all. Every fourth turn used a tool, and
// some belonged to subagents, jobs and approvals. It writes 400,000 turns in about a
// minute.
func Fill(ctx context.Context, dsn string, sessions, turns int) error {
	driver := "sqlite"
	if strings.HasPrefix(dsn, "postgres") {
		driver = "pgx"
	}
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return fmt.Errorf("fill the store: %w", err)
	}
	defer db.Close()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("fill the store: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	sizes := strings.NewReplacer("{sessions}", strconv.Itoa(sessions), "{turns}", strconv.Itoa(turns),
		"{now}", strconv.FormatInt(time.Now().UnixMicro(), 10), "{minute}", strconv.FormatInt(time.Minute.Microseconds(), 10))
	for _, statement := range history {
		if _, err := tx.ExecContext(ctx, sizes.Replace(statement)); err != nil {
			return fmt.Errorf("fill the store: %w: %s", err, statement)
		}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("fill the store: %w", err)
	}
	if driver == "pgx" { // as its autovacuum would
		_, err = db.ExecContext(ctx, `VACUUM ANALYZE`)
	}
	return errors.Join(err, ctx.Err())
}

// history creates the rows, in SQL that both databases accept. Session n was used n
// minutes ago for the last time. The order of the keys is another one.
var history = []string{
	`CREATE TEMPORARY TABLE filled_sessions AS
		WITH RECURSIVE numbers (n) AS (SELECT CAST(0 AS BIGINT) UNION ALL SELECT n + 1 FROM numbers WHERE n < {sessions} - 1)
		SELECT n, CASE WHEN n % 2 = 0 THEN 'slack' ELSE 'http' END AS channel, 'F' || (n * 7919 % {sessions}) AS chat,
			(CASE WHEN n % 2 = 0 THEN 'slack' ELSE 'http' END) || ':F' || (n * 7919 % {sessions}) AS session,
			'U' || (n % 1000) AS sender, n % 2 = 0 AS push,
			CASE WHEN n % 2 = 0 THEN 'channel:slack:F' || (n * 7919 % {sessions}) ELSE 'workspace' END AS scope
		FROM numbers`,
	`CREATE TEMPORARY TABLE filled_turns AS
		WITH RECURSIVE numbers (k) AS (SELECT CAST(0 AS BIGINT) UNION ALL SELECT k + 1 FROM numbers WHERE k < {turns} - 1)
		SELECT filled_sessions.*, k, 'filled-' || n || '-' || k AS id, (n * {turns} + k) % 4 = 0 AS used_tool,
			{now} - (n + ({turns} - 1 - k) * 10) * {minute} AS at
		FROM filled_sessions CROSS JOIN numbers`,
	`INSERT INTO sessions (key, channel, created_at, updated_at)
		SELECT session, channel, {now} - (n + {turns} * 10) * {minute}, {now} - n * {minute} FROM filled_sessions`,
	`INSERT INTO inbox (id, platform_id, session, channel, chat, thread, sender, sender_name, text, files, enriched, command, push, queue,
			child, job, sent_at, accepted_at, next_sweep_at, turn)
		SELECT id, id, session, channel, chat, '', sender, 'Ana', 'Please look at question ' || id || ' of our list and answer it.', '', '', '', push, FALSE,
			'', CASE WHEN n % 100 = 0 THEN 'filled-job-' || (n % 1000) ELSE '' END, at, at, at + {minute} / 2, id FROM filled_turns ORDER BY at`,
	`INSERT INTO turns (id, session, channel, epoch, status, sender, chat, thread, push, reply, outbox, workflow_id, run_id, model, scope,
			started_at, ended_at, prompt, steps, prompt_tokens, completion_tokens, cost)
		SELECT id, session, channel, 0, 'done', sender, chat, '', push, 'The answer to ' || id, CASE WHEN push THEN 'out-' || id ELSE '' END,
			'session/' || session, 'filled-run', '', scope, at, at + {minute} / 10, 'filled-prompt-' || (n % 1000), 1, 2000, 200, 1000
		FROM filled_turns ORDER BY at`,
	`INSERT INTO messages (turn, step, rank, idx, role, content, reasoning, tool_calls, call_id, name, failed, filled, sender, sender_name, source, created_at)
		SELECT id, 1, 0, 0, 'user', 'Please look at question ' || id || ' of our list and answer it.', '', '', '', '', FALSE, FALSE, sender, 'Ana', id, at
		FROM filled_turns`,
	`INSERT INTO messages (turn, step, rank, idx, role, content, reasoning, tool_calls, call_id, name, failed, filled, sender, sender_name, source, created_at)
		SELECT id, 1, 1, 0, 'assistant', '', '', '[{"id":"c1","name":"grep","arguments":"{}"}]', '', '', FALSE, FALSE, '', '', '', at FROM filled_turns WHERE used_tool`,
	`INSERT INTO messages (turn, step, rank, idx, role, content, reasoning, tool_calls, call_id, name, failed, filled, sender, sender_name, source, created_at)
		SELECT id, 1, 2, 0, 'tool', 'notes.md:1: question ' || id, '', '', 'c1', 'grep', FALSE, FALSE, '', '', '', at FROM filled_turns WHERE used_tool`,
	`INSERT INTO messages (turn, step, rank, idx, role, content, reasoning, tool_calls, call_id, name, failed, filled, sender, sender_name, source, created_at)
		SELECT id, 2, 1, 0, 'assistant', 'The answer to ' || id || ' is what we agreed on last week: the harbour opens at nine, and the ferry leaves at ten.',
			'', '', '', '', FALSE, FALSE, '', '', '', at + {minute} / 10 FROM filled_turns`,
	`INSERT INTO recall (content, turn, step, rank_, idx)
		SELECT content, turn, step, rank, idx FROM messages WHERE turn LIKE 'filled-%' AND rank < 2 AND content <> ''`,
	`INSERT INTO unconsolidated (session, scope, epoch, messages, past)
		SELECT session, scope, 0, SUM(CASE WHEN used_tool THEN 4 ELSE 2 END), FALSE FROM filled_turns GROUP BY session, scope`,
	`INSERT INTO prompts (hash, content)
		SELECT 'filled-prompt-' || n, 'You are a helpful assistant. Today is day ' || n FROM filled_sessions WHERE n < 1000`,
	`INSERT INTO usage (turn, step, provider, model, prompt_tokens, cached_tokens, completion_tokens, cost, duration_ms, created_at)
		SELECT id, 1, 'openai', 'm', 2000, 0, 200, 1000, 900, at FROM filled_turns`,
	`INSERT INTO outbox (id, turn, session, channel, chat, thread, text, file, path, approval, parent, idx, state, platform_id, created_at, updated_at)
		SELECT 'out-' || id, id, session, channel, chat, '', 'The answer to ' || id, '', '', '', '', 0, CASE WHEN n % 1000 = 0 THEN 'failed' ELSE 'sent' END, id, at, at
		FROM filled_turns WHERE push`,
	`INSERT INTO intents (turn, call, part, data, created_at)
		SELECT id, id || '/1/0', 'grep', '', at FROM filled_turns WHERE used_tool`,
	`INSERT INTO approvals (id, call, turn, workflow_id, tool, title, arguments, arguments_hash, channel, chat, thread, sender, status, decided_by, decided_from, decided_in,
			created_at, expires_at, decided_at)
		SELECT 'approval-' || id, id || '/1/0', id, 'session/' || session, 'exec', 'ls', '{}', '', channel, chat, '', sender, 'approved', sender, channel || ' ' || chat, id, at, at + {minute}, at
		FROM filled_turns WHERE used_tool AND n % 10 = 0`,
	`INSERT INTO subagents (id, session, parent, channel, chat, thread, push, sender, sender_name, model, label, task, status, report, created_at, ended_at)
		SELECT 'filled-subagent-' || n, 'subagent:filled-' || n, session, channel, chat, '', push, sender, 'Ana', '', 'look it up', 'Look it up.', 'done', 'Done.',
			{now} - n * {minute}, {now} - n * {minute} FROM filled_sessions WHERE n % 50 = 0`,
	`INSERT INTO consolidations (id, scope, session, entry, memory, base, created_at)
		SELECT 'filled-consolidation-' || n, scope, session, 'An entry.', 'The memory.', '', {now} - n * {minute} FROM filled_sessions WHERE n % 20 = 0`,
	`INSERT INTO jobs (id, name, message, kind, spec, zone, session, channel, chat, thread, push, sender, sender_name, paused, scheduled, created_at, fired_at, ended_at, removed)
		SELECT 'filled-job-' || n, 'remind', 'Remind me.', 'at', '2026-01-01T00:00:00Z', 'UTC', session, channel, chat, '', push, sender, 'Ana', FALSE, FALSE,
			{now} - n * {minute}, {now} - n * {minute}, {now} - n * {minute}, FALSE FROM filled_sessions WHERE n % 100 = 0`,
	`DROP TABLE filled_turns`,
	`DROP TABLE filled_sessions`,
}
