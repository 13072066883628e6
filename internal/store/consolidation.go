package store

import (
	"context"
	"database/sql"
	"slices"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// Batch is a part of one session to be consolidated.
type Batch struct {
	ID       string // the same for the same turns
	Scope    string
	Session  string
	Turns    []string
	Messages []domain.Message // of those turns, in order
}

// DueScopes returns the memory scopes with turns to consolidate; see [Store.NextBatch].
func (s *Store) DueScopes(ctx context.Context, window int) ([]string, error) {
	// Sorted by the database, all rows would be read in that order.
	scopes, err := list(ctx, s, "read the scopes to consolidate", scanText, `SELECT scope FROM unconsolidated WHERE past = TRUE
		UNION ALL SELECT scope FROM unconsolidated WHERE past = FALSE AND messages >= $1`, window)
	slices.Sort(scopes)
	return slices.Compact(scopes), err
}

// Due reports whether turns of a session are to be consolidated into a scope.
func (s *Store) Due(ctx context.Context, scope, session string, window int) (found bool, err error) {
	_, found, err = find(ctx, s, "look for turns to consolidate", scanCount,
		`SELECT 1 FROM unconsolidated WHERE session = $1 AND scope = $2 AND (past OR messages >= $3) LIMIT 1`, session, scope, window)
	return found, err
}

// SessionScopes returns the scopes of a session's turns that are not consolidated.
func (s *Store) SessionScopes(ctx context.Context, session string) ([]string, error) {
	return list(ctx, s, "read the scopes of "+session, scanText,
		`SELECT DISTINCT scope FROM unconsolidated WHERE session = $1 ORDER BY scope`, session)
}

// epochTurns are the turns of an epoch that a scope has not taken in.
type epochTurns struct {
	session  string
	epoch    int
	messages int
	past     bool
}

func scanEpochTurns(rows *sql.Rows) (e epochTurns, err error) {
	return e, rows.Scan(&e.session, &e.epoch, &e.messages, &e.past)
}

// dueTurn is an ended turn that is not consolidated.
type dueTurn struct {
	id       string
	messages int
}

func scanDueTurn(rows *sql.Rows) (t dueTurn, err error) {
	return t, rows.Scan(&t.id, &t.messages)
}

// NextBatch returns the next turns of a scope to consolidate: at most limit messages of
// one session, but at least one turn. Turns of earlier epochs are always due. Once the
// current epoch has window messages, its oldest turns are due until about half a window
// remains.
func (s *Store) NextBatch(ctx context.Context, scope string, window, limit int) (batch Batch, found bool, err error) {
	err = s.read("read the next batch to consolidate", func(q *runner) error {
		var of epochTurns
		of, found, err = one(ctx, q, scanEpochTurns, `SELECT session, epoch, messages, past FROM unconsolidated
			WHERE scope = $1 AND past = TRUE ORDER BY session, epoch DESC LIMIT 1`, scope)
		if err == nil && !found {
			of, found, err = one(ctx, q, scanEpochTurns, `SELECT session, epoch, messages, past FROM unconsolidated
				WHERE scope = $1 AND past = FALSE AND messages >= $2 ORDER BY session LIMIT 1`, scope, window)
		}
		if err != nil || !found {
			return err
		}
		// Each turn has a message, so these exceed the limit.
		turns, err := many(ctx, q, scanDueTurn, `SELECT id, (SELECT COUNT(*) FROM messages WHERE messages.turn = turns.id) FROM turns
			WHERE session = $1 AND scope = $2 AND epoch <= $3 AND NOT consolidated AND status <> 'running' ORDER BY seq LIMIT $4`,
			of.session, scope, of.epoch, limit)
		if err != nil {
			return err
		}
		batch = Batch{Scope: scope, Session: of.session, Turns: of.oldest(turns, window, limit)}
		if found = len(batch.Turns) > 0; !found {
			return nil
		}
		batch.ID = domain.ConsolidationID(scope, batch.Turns[0], batch.Turns[len(batch.Turns)-1])
		for _, turn := range batch.Turns {
			rows, err := q.messages(ctx, turn)
			if err != nil {
				return err
			}
			batch.Messages = append(batch.Messages, rows...)
		}
		return nil
	})
	return batch, found, err
}

// oldest returns the IDs of the first turns to consolidate: at most limit messages, but at
// least one turn.
func (e epochTurns) oldest(turns []dueTurn, window, limit int) (ids []string) {
	left, taken := e.messages, 0
	for _, t := range turns {
		fits := len(ids) == 0 || taken+t.messages <= limit
		if !fits || !e.past && left < window && left-t.messages < window/2 {
			break
		}
		ids = append(ids, t.id)
		left, taken = left-t.messages, taken+t.messages
	}
	return ids
}

// countUnconsolidated adds the messages of a turn that ends to those that its memory has
// not taken in.
func (r *runner) countUnconsolidated(ctx context.Context, t domain.Turn) error {
	if t.Scope == "" {
		return nil
	}
	_, err := r.exec(ctx, `INSERT INTO unconsolidated (session, scope, epoch, messages, past)
		VALUES ($1, $2, $3, (SELECT COUNT(*) FROM messages WHERE turn = $4), $3 < (SELECT epoch FROM sessions WHERE key = $1))
		ON CONFLICT (session, scope, epoch) DO UPDATE SET messages = unconsolidated.messages + excluded.messages`,
		t.Session, t.Scope, t.Epoch, t.ID)
	return err
}

// Consolidation is a model's summary of a batch.
type Consolidation struct {
	ID      string // the batch's
	Scope   string
	Session string
	Entry   string // for the history
	Memory  string // the whole new memory; empty: unchanged
	Base    string // the version of the memory that the model was shown
}

// SaveConsolidation stores a model's answer and its cost. A later answer for the same
// batch replaces it.
func (s *Store) SaveConsolidation(ctx context.Context, c Consolidation, cost Completion) error {
	return s.write(ctx, "store consolidation "+c.ID, syncCommit, func(tx *runner) error {
		_, err := tx.exec(ctx, `INSERT INTO consolidations (id, scope, session, entry, memory, base, created_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7)
			ON CONFLICT (id) DO UPDATE SET entry = excluded.entry, memory = excluded.memory, base = excluded.base`,
			c.ID, c.Scope, c.Session, c.Entry, c.Memory, c.Base, now())
		if err != nil {
			return err
		}
		steps, _, err := one(ctx, tx, scanCount, `SELECT COUNT(*) FROM usage WHERE turn = $1`, c.ID)
		if err != nil {
			return err
		}
		cost.Turn, cost.Step = c.ID, steps+1
		return tx.insertUsage(ctx, cost)
	})
}

// Consolidation returns the consolidation of a batch, or ErrNotFound.
func (s *Store) Consolidation(ctx context.Context, id string) (Consolidation, error) {
	return get(ctx, s, "read consolidation "+id, scanConsolidation, `SELECT id, scope, session, entry, memory, base FROM consolidations WHERE id = $1`, id)
}

func scanConsolidation(rows *sql.Rows) (c Consolidation, err error) {
	return c, rows.Scan(&c.ID, &c.Scope, &c.Session, &c.Entry, &c.Memory, &c.Base)
}

// MarkConsolidated records that these turns are part of the memory.
func (s *Store) MarkConsolidated(ctx context.Context, turns []string) error {
	return s.write(ctx, "mark turns as consolidated", syncCommit, func(tx *runner) error {
		for _, turn := range turns {
			_, err := tx.exec(ctx, `UPDATE unconsolidated SET messages = messages - (SELECT COUNT(*) FROM messages WHERE turn = $1)
				WHERE (session, scope, epoch) = (SELECT session, scope, epoch FROM turns WHERE id = $1 AND NOT consolidated)`, turn)
			if err != nil {
				return err
			}
			if err := tx.each(ctx, turn, `UPDATE turns SET consolidated = TRUE WHERE id = $1`,
				`DELETE FROM unconsolidated WHERE messages <= 0
					AND (session, scope, epoch) = (SELECT session, scope, epoch FROM turns WHERE id = $1)`); err != nil {
				return err
			}
		}
		return nil
	})
}
