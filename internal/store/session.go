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
const sessionQuery = `SELECT s.key, s.channel, s.epoch, s.created_at, s.updated_at, s.model, COUNT(turns.id),
	COALESCE(SUM((SELECT COUNT(*) FROM messages WHERE messages.turn = turns.id)), 0),
	COALESCE(SUM(turns.prompt_tokens), 0), COALESCE(SUM(turns.completion_tokens), 0),
	COALESCE(SUM(turns.cost), 0), COALESCE(SUM(turns.unpriced), 0),
	EXISTS (SELECT 1 FROM turns WHERE turns.session = s.key AND turns.status = 'running')
		OR EXISTS (SELECT 1 FROM inbox WHERE inbox.session = s.key AND inbox.turn IS NULL)
	FROM (SELECT * FROM sessions %s) s LEFT JOIN turns ON turns.session = s.key
	GROUP BY s.key, s.channel, s.epoch, s.created_at, s.updated_at, s.model ORDER BY s.updated_at DESC, s.key DESC`

func scanSession(rows *sql.Rows) (s domain.Session, err error) {
	return s, rows.Scan(&s.Key, &s.Channel, &s.Epoch, stamp{&s.CreatedAt}, stamp{&s.UpdatedAt}, &s.Model,
		&s.Turns, &s.Messages, &s.PromptTokens, &s.CompletionTokens, &s.Cost, &s.Unpriced, &s.Running)
}

// Sessions returns the most recently used sessions, newest first. Those whose first message
// is still waiting are not among them; see [Store.NewSessions].
func (s *Store) Sessions(ctx context.Context, limit int) ([]domain.Session, error) {
	return list(ctx, s, "read sessions", scanSession, fmt.Sprintf(sessionQuery, `ORDER BY updated_at DESC, key DESC LIMIT $1`), limit)
}

// NewSessions returns sessions whose first message is still waiting, with nothing but their
// keys and channels.
func (s *Store) NewSessions(ctx context.Context, limit int) ([]domain.Session, error) {
	return list(ctx, s, "read new sessions", scanNewSession, `SELECT session, MIN(channel) FROM inbox
		WHERE turn IS NULL AND NOT EXISTS (SELECT 1 FROM sessions WHERE sessions.key = inbox.session)
		GROUP BY session ORDER BY session LIMIT $1`, limit)
}

func scanNewSession(rows *sql.Rows) (s domain.Session, err error) {
	s.Running = true
	return s, rows.Scan(&s.Key, &s.Channel)
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

// RunningSessions returns the keys of the sessions with a running turn or an undelivered
// reply, and of those with messages that wait for a turn, as far as they are among the last
// that were signalled.
func (s *Store) RunningSessions(ctx context.Context) ([]string, error) {
	return list(ctx, s, "read running sessions", scanText, `SELECT session FROM turns WHERE status = 'running'
		UNION SELECT session FROM (SELECT session FROM inbox WHERE turn IS NULL ORDER BY next_sweep_at DESC, seq DESC LIMIT $1) signalled
		UNION SELECT session FROM outbox WHERE state = 'pending' AND parent = '' ORDER BY 1`, signalledLimit)
}

// signalledLimit bounds the messages by which sessions are found that may have a run.
const signalledLimit = 200

// RunningTurns returns the IDs of a session's running turns.
func (s *Store) RunningTurns(ctx context.Context, session string) ([]string, error) {
	return list(ctx, s, "read running turns of "+session, scanText, `SELECT id FROM turns WHERE session = $1 AND status = 'running'`, session)
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
