package store

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// SaveEnriched stores what a channel added to a message. The first writer wins; all
// writers are returned the stored message. ErrNotFound if the message was never accepted.
// The commit is asynchronous: the message can be enriched again.
func (s *Store) SaveEnriched(ctx context.Context, id string, g domain.Enriched) (in domain.Inbound, err error) {
	text, err := encode(true, g)
	if err != nil {
		return domain.Inbound{}, fmt.Errorf("save the enriched message %s: %w", id, err)
	}
	err = s.write(ctx, "save the enriched message "+id, asyncCommit, func(tx *runner) error {
		if _, err := tx.exec(ctx, `UPDATE inbox SET enriched = $2 WHERE id = $1 AND enriched = ''`, id, text); err != nil {
			return err
		}
		in, err = tx.inbound(ctx, id)
		return err
	})
	return in, err
}

// Before returns when the session's message before this one was sent; zero if it
// is the first.
func (s *Store) Before(ctx context.Context, id string) (sent time.Time, err error) {
	sent, _, err = find(ctx, s, "look before message "+id, scanTime, `SELECT before.sent_at FROM inbox JOIN inbox AS before
		ON before.session = inbox.session AND before.seq < inbox.seq
		WHERE inbox.id = $1 ORDER BY before.seq DESC LIMIT 1`, id)
	return sent, err
}

// Known reports whether a session has an accepted message.
func (s *Store) Known(ctx context.Context, session string) (known bool, err error) {
	_, known, err = find(ctx, s, "look for session "+session, scanCount, `SELECT 1 FROM inbox WHERE session = $1 LIMIT 1`, session)
	return known, err
}

// Unanswered returns the messages of a push channel that no turn has consumed or
// whose turn is running, oldest first.
func (s *Store) Unanswered(ctx context.Context, channel string, limit int) ([]domain.Inbound, error) {
	return list(ctx, s, "read unanswered messages", scanInbound, `SELECT `+inboundColumns+` FROM inbox
		WHERE inbox.push AND inbox.channel = $1 AND inbox.seq IN (
			SELECT seq FROM inbox WHERE turn IS NULL
			UNION ALL
			SELECT taken.seq FROM turns JOIN messages ON messages.turn = turns.id AND messages.rank = 0
				JOIN inbox AS taken ON taken.id = messages.source
			WHERE turns.status = 'running')
		ORDER BY inbox.seq LIMIT $2`, channel, limit)
}
