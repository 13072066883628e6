package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// Batch is a part of one session that is to be consolidated.
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
	current     bool // it is of its session's present epoch
	messages    int
}

func scanDueTurn(rows *sql.Rows) (t dueTurn, err error) {
	return t, rows.Scan(&t.id, &t.session, &t.current, &t.messages)
}

// dueLimit bounds the turns of a scope that are looked at once.
const dueLimit = 10_000

// NextBatch returns what of a scope is to be consolidated next, at most limit
// messages of one session but at least one turn, and whether there is anything:
// all of earlier epochs, and of the present one, once it has window messages, so
// many of its oldest turns that less than window stay, and no less than the newest
// half as far as turns are whole.
func (s *Store) NextBatch(ctx context.Context, scope string, window, limit int) (batch Batch, found bool, err error) {
	err = s.read("look for what is to be consolidated", func(q *runner) error {
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

// dueOf returns the turns of the first session that has any to be consolidated.
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

// DueScopes returns the scopes that may have something to be consolidated.
func (s *Store) DueScopes(ctx context.Context) (scopes []string, err error) {
	err = s.read("look for memories to be consolidated", func(q *runner) error {
		scopes, err = many(ctx, q, scanText, `SELECT DISTINCT scope FROM turns
			WHERE scope <> '' AND NOT consolidated AND status <> 'running' ORDER BY scope`)
		return err
	})
	return scopes, err
}

// SessionScopes returns the scopes of a session's turns that are not consolidated.
func (s *Store) SessionScopes(ctx context.Context, session string) (scopes []string, err error) {
	err = s.read("look for the memory of "+session, func(q *runner) error {
		scopes, err = many(ctx, q, scanText, `SELECT DISTINCT scope FROM turns
			WHERE session = $1 AND scope <> '' AND NOT consolidated ORDER BY scope`, session)
		return err
	})
	return scopes, err
}

// Consolidation is what a model made of a batch.
type Consolidation struct {
	ID      string // the batch's
	Scope   string
	Session string
	Entry   string // for the history
	Memory  string // the whole new memory; empty: as it was
	Base    string // the version of the memory that the model was shown
}

// SaveConsolidation stores what a model answered, and what that cost: calls count
// from 1. A later answer for the same batch replaces it.
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

// Consolidation returns what a model made of a batch, or ErrNotFound.
func (s *Store) Consolidation(ctx context.Context, id string) (c Consolidation, err error) {
	err = s.read("read consolidation "+id, func(q *runner) error {
		var found bool
		c, found, err = one(ctx, q, scanConsolidation, `SELECT id, scope, session, entry, memory, base FROM consolidations WHERE id = $1`, id)
		if err == nil && !found {
			return domain.ErrNotFound
		}
		return err
	})
	return c, err
}

func scanConsolidation(rows *sql.Rows) (c Consolidation, err error) {
	return c, rows.Scan(&c.ID, &c.Scope, &c.Session, &c.Entry, &c.Memory, &c.Base)
}

// MarkConsolidated records that the memory has taken in these turns.
func (s *Store) MarkConsolidated(ctx context.Context, turns []string) error {
	return s.write(ctx, "mark turns as consolidated", syncCommit, func(tx *runner) error {
		args := make([]any, len(turns))
		places := make([]string, len(turns))
		for i, turn := range turns {
			args[i], places[i] = turn, fmt.Sprintf("$%d", i+1)
		}
		_, err := tx.exec(ctx, `UPDATE turns SET consolidated = TRUE WHERE id IN (`+strings.Join(places, ", ")+`)`, args...)
		return err
	})
}
