package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// ErrSessionBusy reports a session that has unfinished work; the error says which.
var ErrSessionBusy = errors.New("the session is busy")

// removedTurn is the placeholder turn of a message whose session was removed. The message
// stays known, without its text, so that a redelivery is not answered again.
const removedTurn = "removed"

// deliveryAge is how long an undelivered reply counts as work: longer than its retries.
const deliveryAge = 48 * time.Hour

// work describes the unfinished work of a session s; empty if idle. $1 is the time
// since which undelivered replies count.
var work = fmt.Sprintf(workFormat, "")

// workFormat is work that counts waiting messages under a condition.
const workFormat = `CASE
	WHEN EXISTS (SELECT 1 FROM turns WHERE turns.session = s.key AND turns.status = 'running') THEN 'a turn is running'
	WHEN EXISTS (SELECT 1 FROM inbox WHERE inbox.session = s.key AND inbox.turn IS NULL %s) THEN 'a message is waiting for its turn'
	WHEN EXISTS (SELECT 1 FROM subagents WHERE (subagents.parent = s.key OR subagents.session = s.key)
		AND subagents.status = 'running') THEN 'a subagent is running'
	WHEN EXISTS (SELECT 1 FROM outbox WHERE outbox.session = s.key AND outbox.state <> 'sent'
		AND outbox.state <> 'failed' AND outbox.created_at >= $1) THEN 'a reply is not delivered yet'
	ELSE '' END`

// Idle reports whether a session, which need not exist, has no unfinished work but messages
// accepted since a time.
func (s *Store) Idle(ctx context.Context, session string, since time.Time) (bool, error) {
	doing, err := get(ctx, s, "look for work of "+session, scanText, `SELECT `+fmt.Sprintf(workFormat, "AND inbox.accepted_at < $3")+
		` FROM (SELECT CAST($2 AS TEXT) AS key) s`, now().Add(-deliveryAge), session, since)
	return doing == "", err
}

// Removal is a part of a session to remove: its oldest turns, or a subagent's, with
// what belongs to them outside of the store.
type Removal struct {
	Session  string
	Turns    []string
	Messages []string // IDs of inbound messages, by which attached files are kept
	Results  []string // keys of calls whose whole result may be in a file
	before   time.Time
}

// Unused returns idle sessions last used before a time, least recently used first. It
// starts with those after a given one; a zero one is before all.
func (s *Store) Unused(ctx context.Context, before time.Time, after Used, limit int) ([]Used, error) {
	return list(ctx, s, "read unused sessions", scanUsed, `SELECT key, updated_at FROM sessions s
		WHERE updated_at < $2 AND (updated_at, key) > ($3, $4) AND `+work+` = ''
		ORDER BY updated_at, key LIMIT $5`, now().Add(-deliveryAge), before, after.At, after.Session, limit)
}

// Used says when a session was used last.
type Used struct {
	Session string
	At      time.Time
}

func scanUsed(rows *sql.Rows) (u Used, err error) { return u, rows.Scan(&u.Session, stamp{&u.At}) }

// ofTurn selects the rows of the inbox that the turn $1 consumed.
const ofTurn = `id IN (SELECT source FROM messages WHERE messages.turn = $1 AND rank = 0 UNION ALL SELECT $1) AND turn = $1`

// Removable returns the next part of a session to remove, at most limit turns. Callers
// alternate it with Remove until it returns ErrNotFound. ErrSessionBusy if the session
// has unfinished work or, unless before is zero, was used since then.
func (s *Store) Removable(ctx context.Context, session string, before time.Time, limit int) (Removal, error) {
	return reading(s, "look for the rows of "+session, func(q *runner) (Removal, error) { return q.removable(ctx, session, before, limit) })
}

func (r *runner) removable(ctx context.Context, session string, before time.Time, limit int) (Removal, error) {
	part := Removal{Session: session, before: before}
	if err := r.atRest(ctx, session, before); err != nil {
		return Removal{}, err
	}
	child, found, err := one(ctx, r, scanText, `SELECT subagents.session FROM subagents JOIN sessions ON sessions.key = subagents.session
		WHERE subagents.parent = $1 LIMIT 1`, session)
	if err != nil {
		return Removal{}, err
	}
	if found {
		return r.removable(ctx, child, before, limit)
	}
	part.Turns, err = many(ctx, r, scanText, `SELECT id FROM turns WHERE session = $1 ORDER BY epoch, seq LIMIT $2`, session, limit)
	if err != nil {
		return Removal{}, err
	}
	for _, turn := range part.Turns {
		messages, err := many(ctx, r, scanText, `SELECT id FROM inbox WHERE `+ofTurn, turn)
		if err != nil {
			return Removal{}, err
		}
		results, err := many(ctx, r, scanMessage, `SELECT `+messageColumns+` FROM messages WHERE turn = $1 AND output IS NOT NULL`, turn)
		if err != nil {
			return Removal{}, err
		}
		part.Messages = append(part.Messages, messages...)
		for _, m := range results {
			part.Results = append(part.Results, domain.CallKey(m.Turn, m.Step, m.Index))
		}
	}
	return part, nil
}

// atRest returns nil if a session may be removed.
func (r *runner) atRest(ctx context.Context, session string, before time.Time) error {
	doing, _, err := one(ctx, r, scanText, `SELECT `+work+` FROM (SELECT CAST($2 AS TEXT) AS key) s`, now().Add(-deliveryAge), session)
	if err != nil {
		return err
	}
	if doing != "" {
		return fmt.Errorf("%w: %s", ErrSessionBusy, doing)
	}
	used, found, err := one(ctx, r, scanTime, `SELECT updated_at FROM sessions WHERE key = $1`, session)
	switch {
	case err != nil:
		return err
	case !found:
		return fmt.Errorf("session %q: %w", session, domain.ErrNotFound)
	case !before.IsZero() && !used.Before(before):
		return fmt.Errorf("%w: it was used at %s", ErrSessionBusy, used.Format(time.RFC3339))
	}
	return nil
}

// Remove removes a part of a session, and the session with the last part. Its cost and
// its message IDs are kept. Errors are those of Removable.
func (s *Store) Remove(ctx context.Context, part Removal) error {
	return s.write(ctx, "remove turns of "+part.Session, syncCommit, func(tx *runner) error {
		// The row is locked first: from here on no turn of the session begins.
		if err := tx.lockSession(ctx, part.Session); err != nil {
			return err
		}
		if err := tx.atRest(ctx, part.Session, part.before); err != nil {
			return err
		}
		if err := tx.each(ctx, part.Session, `DELETE FROM unconsolidated WHERE session = $1`); err != nil {
			return err
		}
		prompts := map[string]bool{}
		for _, id := range part.Turns {
			t, err := tx.turn(ctx, id, "")
			if errors.Is(err, domain.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			if t.prompt != "" {
				prompts[t.prompt] = true
			}
			if err := tx.removeTurn(ctx, t); err != nil {
				return err
			}
		}
		_, left, err := one(ctx, tx, scanCount, `SELECT 1 FROM turns WHERE session = $1 LIMIT 1`, part.Session)
		if err != nil {
			return err
		}
		if !left {
			if err := tx.removeSession(ctx, part.Session); err != nil {
				return err
			}
		}
		return tx.removePrompts(ctx, prompts)
	})
}

func (r *runner) lockSession(ctx context.Context, session string) error {
	_, _, err := one(ctx, r, scanText, `SELECT key FROM sessions WHERE key = $1`+r.sql.forUpdate, session)
	return err
}

func (r *runner) removeTurn(ctx context.Context, t turnRow) error {
	_, err := r.exec(ctx, `UPDATE inbox SET turn = $2, text = '', sender = '', sender_name = '', platform_id = '', files = '', enriched = ''
		WHERE `+ofTurn, t.ID, removedTurn)
	if err != nil {
		return err
	}
	return r.each(ctx, t.ID, r.sql.forget,
		`DELETE FROM messages WHERE turn = $1`, `DELETE FROM intents WHERE turn = $1`, `DELETE FROM drafts WHERE turn = $1`,
		`DELETE FROM outbox WHERE turn = $1`, `DELETE FROM approvals WHERE turn = $1`, `DELETE FROM ratings WHERE turn = $1`,
		`DELETE FROM turns WHERE id = $1`)
}

// removeSession removes the rest of a session without turns. Sessions of its subagents
// are removed before it, except those that never began; active jobs that it created
// stay.
func (r *runner) removeSession(ctx context.Context, session string) error {
	return r.each(ctx, session,
		`DELETE FROM inbox WHERE turn IS NULL AND session IN (SELECT session FROM subagents WHERE parent = $1)`,
		`DELETE FROM subagents WHERE parent = $1 OR session = $1`,
		`DELETE FROM consolidations WHERE session = $1`,
		`DELETE FROM chats WHERE session = $1`,
		`DELETE FROM jobs WHERE session = $1 AND ended_at > 0 AND NOT scheduled`,
		`DELETE FROM sessions WHERE key = $1`)
}

// removePrompts removes the prompts that no turn refers to.
func (r *runner) removePrompts(ctx context.Context, hashes map[string]bool) error {
	if r.sql.freezePrompts != "" && len(hashes) > 0 {
		if _, err := r.exec(ctx, r.sql.freezePrompts); err != nil {
			return err
		}
	}
	for hash := range hashes {
		if err := r.each(ctx, hash, `DELETE FROM prompts WHERE hash = $1
			AND NOT EXISTS (SELECT 1 FROM turns WHERE turns.prompt = $1 AND turns.prompt <> '')`); err != nil {
			return err
		}
	}
	return nil
}

// each executes statements that take the same single argument.
func (r *runner) each(ctx context.Context, arg string, statements ...string) error {
	for _, statement := range statements {
		if _, err := r.exec(ctx, statement, arg); err != nil {
			return err
		}
	}
	return nil
}
