package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

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

// dueTurn is an ended turn that is not consolidated.
type dueTurn struct {
	id, session string
	current     bool // it belongs to its session's current epoch
	messages    int
}

func scanDueTurn(rows *sql.Rows) (t dueTurn, err error) {
	return t, rows.Scan(&t.id, &t.session, &t.current, &t.messages)
}

// dueLimit bounds the turns of a scope per read.
const dueLimit = 10_000

// NextBatch returns the next turns of a scope to consolidate: at most limit messages of
// one session, but at least one turn. Turns of earlier epochs are always due. Once the
// current epoch has window messages, its oldest turns are due until about half a window
// remains.
func (s *Store) NextBatch(ctx context.Context, scope string, window, limit int) (batch Batch, found bool, err error) {
	err = s.read("read the next batch to consolidate", func(q *runner) error {
		turns, err := many(ctx, q, scanDueTurn, `SELECT turns.id, turns.session, turns.epoch = sessions.epoch,
				(SELECT COUNT(*) FROM messages WHERE messages.turn = turns.id)
			FROM turns JOIN sessions ON sessions.key = turns.session
			WHERE turns.scope = $1 AND turns.scope <> '' AND NOT turns.consolidated AND turns.status <> 'running'
			ORDER BY turns.session, turns.seq LIMIT $2`, scope, dueLimit)
		if err != nil {
			return err
		}
		due := dueOf(turns, window)
		if len(due) == 0 {
			return nil
		}
		found = true
		batch = Batch{Scope: scope, Session: due[0].session}
		for messages := 0; len(due) > 0 && (messages == 0 || messages+due[0].messages <= limit); due = due[1:] {
			messages += max(due[0].messages, 1)
			batch.Turns = append(batch.Turns, due[0].id)
			rows, err := q.messages(ctx, due[0].id)
			if err != nil {
				return err
			}
			batch.Messages = append(batch.Messages, rows...)
		}
		batch.ID = domain.ConsolidationID(scope, batch.Turns[0], batch.Turns[len(batch.Turns)-1])
		return nil
	})
	return batch, found, err
}

// dueOf returns the due turns of the first session that has any.
func dueOf(turns []dueTurn, window int) []dueTurn {
	for len(turns) > 0 {
		end, messages := 0, 0
		for end < len(turns) && turns[end].session == turns[0].session {
			if turns[end].current {
				messages += turns[end].messages
			}
			end++
		}
		due, over := 0, messages >= window
		for due < end && (!turns[due].current || over && (messages >= window || messages-turns[due].messages >= window/2)) {
			if turns[due].current {
				messages -= turns[due].messages
			}
			due++
		}
		if due > 0 {
			return turns[:due]
		}
		turns = turns[end:]
	}
	return nil
}

// DueScopes returns the scopes that may have turns to consolidate.
func (s *Store) DueScopes(ctx context.Context) ([]string, error) {
	return list(ctx, s, "read the scopes to consolidate", scanText, `SELECT DISTINCT scope FROM turns
		WHERE scope <> '' AND NOT consolidated AND status <> 'running' ORDER BY scope`)
}

// SessionScopes returns the scopes of a session's turns that are not consolidated.
func (s *Store) SessionScopes(ctx context.Context, session string) ([]string, error) {
	return list(ctx, s, "read the scopes of "+session, scanText, `SELECT DISTINCT scope FROM turns
		WHERE session = $1 AND scope <> '' AND NOT consolidated ORDER BY scope`, session)
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
	args := make([]any, len(turns))
	places := make([]string, len(turns))
	for i, turn := range turns {
		args[i], places[i] = turn, fmt.Sprintf("$%d", i+1)
	}
	_, err := s.exec(ctx, "mark turns as consolidated", syncCommit,
		`UPDATE turns SET consolidated = TRUE WHERE id IN (`+strings.Join(places, ", ")+`)`, args...)
	return err
}
