package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/text"
)

// recallLimit bounds, in bytes, the indexed part of a message: Postgres does not index
// more than a megabyte of text.
const recallLimit = 100_000

// Recalled is a message found by [Store.Recall].
type Recalled struct {
	Session    string
	Turn       string
	Role       domain.Role
	SenderName string
	CreatedAt  time.Time
	Snippet    string // the words and what is around them
}

func scanRecalled(rows *sql.Rows) (r Recalled, err error) {
	return r, rows.Scan(&r.Session, &r.Turn, &r.Role, &r.SenderName, stamp{&r.CreatedAt}, &r.Snippet)
}

// Recall searches the turns of a memory scope, except one, for messages with all of the
// words or, failing that, some of them; best matches first.
func (s *Store) Recall(ctx context.Context, scope, but string, words []string, limit int) (found []Recalled, err error) {
	err = s.read("search what was said", func(q *runner) error {
		for _, between := range []string{" ", " OR "} {
			found, err = many(ctx, q, scanRecalled, q.sql.recall, anded(words, between), scope, but, limit)
			if err != nil || len(found) > 0 {
				return err
			}
		}
		return nil
	})
	return found, err
}

// anded returns a query that both databases accept: quoted words, joined by a space or
// OR.
func anded(words []string, between string) string {
	quoted := make([]string, 0, len(words))
	for _, word := range words {
		if word = strings.TrimSpace(strings.ReplaceAll(word, `"`, " ")); word != "" {
			quoted = append(quoted, `"`+word+`"`)
		}
	}
	if len(quoted) == 0 {
		return `""`
	}
	return strings.Join(quoted, between)
}

// remember adds a message to the full-text index.
func (r *runner) remember(ctx context.Context, m domain.Message) error {
	if m.Role == domain.RoleTool || m.Content == "" {
		return nil
	}
	_, err := r.exec(ctx, `INSERT INTO recall (content, turn, step, rank_, idx) VALUES ($1, $2, $3, $4, $5)`,
		text.Cut(m.Content, recallLimit), m.Turn, m.Step, rank(m.Role), m.Index)
	if err != nil {
		return fmt.Errorf("index the message: %w", err)
	}
	return nil
}

const recallJoins = ` FROM recall JOIN turns ON turns.id = recall.turn
	JOIN messages ON messages.turn = recall.turn AND messages.step = recall.step
		AND messages.rank = recall.rank_ AND messages.idx = recall.idx`

const recallColumns = `SELECT turns.session, recall.turn, messages.role, messages.sender_name, messages.created_at, `
