package store

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"

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
				break
			}
		}
		return err
	})
	for i, r := range found {
		found[i].Snippet = excerpt(r.Snippet, words)
	}
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

// recallQuery finds messages and only then reads them. %[1]s is their score, %[2]s the
// index, %[3]s the condition.
const recallQuery = `SELECT found.session, found.turn, messages.role, messages.sender_name, messages.created_at, messages.content
	FROM (SELECT turns.session, turns.seq, recall.turn, recall.step, recall.rank_, recall.idx, %[1]s AS score
		FROM %[2]s JOIN turns ON turns.id = recall.turn
		WHERE %[3]s AND turns.scope = $2 AND turns.id <> $3
		ORDER BY score, turns.seq DESC, recall.step DESC LIMIT $4) found
	JOIN messages ON messages.turn = found.turn AND messages.step = found.step
		AND messages.rank = found.rank_ AND messages.idx = found.idx
	ORDER BY found.score, found.seq DESC, found.step DESC`

// excerptBefore and excerptAfter bound, in bytes, what an excerpt shows before and after
// the start of the first word.
const (
	excerptBefore = 100
	excerptAfter  = 250
)

// excerpt returns the first of the words in content, in any case, and what is around it.
func excerpt(content string, words []string) string {
	at := 0
	if pattern := anyOf(words); pattern != nil {
		if match := pattern.FindStringIndex(content); match != nil {
			at = match[0]
		}
	}
	from, to := text.Boundary(content, max(0, at-excerptBefore)), text.Boundary(content, min(len(content), at+excerptAfter))
	short := content[from:to]
	if from > 0 {
		short = "… " + short
	}
	if to < len(content) {
		short += " …"
	}
	return short
}

// anyOf matches the words, wherever neither a letter nor a digit is before them; nil
// without words.
func anyOf(words []string) *regexp.Regexp {
	var quoted []string
	for _, word := range words {
		if parts := strings.FieldsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }); len(parts) > 0 {
			quoted = append(quoted, regexp.QuoteMeta(parts[0]))
		}
	}
	if len(quoted) == 0 {
		return nil
	}
	return regexp.MustCompile(`(?i)(?:^|[^\pL\pN])(?:` + strings.Join(quoted, "|") + `)`)
}
