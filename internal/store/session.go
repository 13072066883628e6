package store

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// sessionQuery reads sessions with their sums; %s selects them.
const sessionQuery = `SELECT s.key, s.channel, s.epoch, s.created_at, s.updated_at, s.model,
	(SELECT COUNT(*) FROM turns WHERE turns.session = s.key),
	(SELECT COUNT(*) FROM turns JOIN messages ON messages.turn = turns.id WHERE turns.session = s.key),
	(SELECT COALESCE(SUM(turns.prompt_tokens), 0) FROM turns WHERE turns.session = s.key),
	(SELECT COALESCE(SUM(turns.completion_tokens), 0) FROM turns WHERE turns.session = s.key),
	(SELECT COALESCE(SUM(turns.cost), 0) FROM turns WHERE turns.session = s.key),
	(SELECT COALESCE(SUM(turns.unpriced), 0) FROM turns WHERE turns.session = s.key)
	FROM (SELECT * FROM sessions %s) s ORDER BY s.updated_at DESC, s.key`

func scanSession(rows *sql.Rows) (s domain.Session, err error) {
	return s, rows.Scan(&s.Key, &s.Channel, &s.Epoch, stamp{&s.CreatedAt}, stamp{&s.UpdatedAt}, &s.Model,
		&s.Turns, &s.Messages, &s.PromptTokens, &s.CompletionTokens, &s.Cost, &s.Unpriced)
}

// Sessions returns the most recently used sessions, newest first.
func (s *Store) Sessions(ctx context.Context, limit int) ([]domain.Session, error) {
	return list(ctx, s, "read sessions", scanSession, fmt.Sprintf(sessionQuery, `ORDER BY updated_at DESC, key LIMIT $1`), limit)
}

// Session returns a session that has had a turn, or ErrNotFound.
func (s *Store) Session(ctx context.Context, key string) (domain.Session, error) {
	return get(ctx, s, "read session "+key, scanSession, fmt.Sprintf(sessionQuery, `WHERE key = $1`), key)
}

// SessionModel returns the model chosen for a session, as provider/model; empty for the
// configured one.
func (s *Store) SessionModel(ctx context.Context, key string) (model string, err error) {
	model, _, err = find(ctx, s, "read model of "+key, scanText, `SELECT model FROM sessions WHERE key = $1`, key)
	return model, err
}

// RunningSessions returns the keys of sessions with a running turn or an unconsumed
// message.
func (s *Store) RunningSessions(ctx context.Context) ([]string, error) {
	return list(ctx, s, "read running sessions", scanText, `SELECT session FROM turns WHERE status = 'running'
		UNION SELECT session FROM inbox WHERE turn IS NULL ORDER BY 1`)
}

// Turn returns a turn, or ErrNotFound.
func (s *Store) Turn(ctx context.Context, id string) (domain.Turn, error) {
	t, err := reading(s, "read turn", func(q *runner) (turnRow, error) { return q.turn(ctx, id, "") })
	return t.Turn, err
}

// Route returns where a turn's reply goes, or ErrNotFound.
func (s *Store) Route(ctx context.Context, turn string) (domain.Route, error) {
	t, err := reading(s, "read route of "+turn, func(q *runner) (turnRow, error) { return q.turn(ctx, turn, "") })
	return t.route(), err
}

// Turns returns the last turns of a session, newest first.
func (s *Store) Turns(ctx context.Context, session string, limit int) ([]domain.Turn, error) {
	return list(ctx, s, "read turns of "+session, scanDomainTurn, `SELECT `+turnColumns+` FROM turns
		WHERE session = $1 ORDER BY epoch DESC, seq DESC LIMIT $2`, session, limit)
}

// Transcript returns the last messages of an epoch of a session, oldest first,
// including those of a running turn. Epoch -1 is the current one; limit 0 is all.
// ErrNotFound if no message was ever accepted for the session.
func (s *Store) Transcript(ctx context.Context, session string, epoch, limit int) (all []domain.Message, err error) {
	if limit <= 0 {
		limit = math.MaxInt32
	}
	err = s.read("read transcript of "+session, func(q *runner) error {
		current, found, err := one(ctx, q, scanCount, `SELECT epoch FROM sessions WHERE key = $1
			UNION ALL SELECT 0 FROM inbox WHERE session = $1 AND turn IS NULL ORDER BY 1 DESC LIMIT 1`, session)
		if err != nil {
			return err
		}
		if !found {
			return domain.ErrNotFound
		}
		if epoch < 0 {
			epoch = current
		}
		all, err = many(ctx, q, scanMessage, `SELECT `+messageColumns+` FROM turns JOIN messages ON messages.turn = turns.id
			WHERE turns.session = $1 AND turns.epoch = $2`+newestFirst+` LIMIT $3`, session, epoch, limit)
		slices.Reverse(all)
		return err
	})
	return all, err
}
