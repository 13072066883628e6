package store

import (
	"context"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// Send puts a message into the outbox in addition to the turn's reply, under an ID
// chosen by the caller. An existing message is left unchanged. ErrTurnEnded if the turn
// is not running and has no such message.
func (s *Store) Send(ctx context.Context, out domain.Outbound) error {
	return s.write(ctx, "send message "+out.ID, syncCommit, func(tx *runner) error {
		t, err := tx.turn(ctx, out.Turn, tx.sql.forShare)
		if err != nil {
			return err
		}
		if t.Status != domain.TurnRunning {
			_, err := tx.outbound(ctx, out.ID)
			if err != nil {
				return ErrTurnEnded
			}
			return nil
		}
		out.Session = t.Session
		return tx.insertOutbox(ctx, out, "")
	})
}

// said reports whether the turn has sent its own message to the chat of its reply since
// it last consumed a user's message.
func (r *runner) said(ctx context.Context, t turnRow) (bool, error) {
	_, said, err := one(ctx, r, scanCount, `SELECT 1 FROM outbox
		WHERE turn = $1 AND parent = '' AND file = '' AND approval = '' AND state = 'sent' AND channel = $2 AND chat = $3 AND thread = $4
			AND created_at >= (SELECT COALESCE(MAX(created_at), 0) FROM messages WHERE turn = $1 AND rank = 0) LIMIT 1`,
		t.ID, t.channel, t.chat, t.thread)
	return said, err
}

// SplitOutbox splits a message into parts, each with its own outbox row and claims, and
// returns their IDs in order. The first split wins. ErrNotFound if the message does not
// exist.
func (s *Store) SplitOutbox(ctx context.Context, id string, parts []domain.Part) (ids []string, err error) {
	err = s.write(ctx, "split reply "+id, syncCommit, func(tx *runner) error {
		out, err := tx.outbound(ctx, id)
		if err != nil {
			return err
		}
		if ids, err = tx.parts(ctx, id); err != nil || len(ids) > 0 {
			return err
		}
		for i, part := range parts {
			row := out
			row.ID, row.Part, row.Text, row.File = domain.PartID(id, i+1), i+1, part.Text, part.File
			if err := tx.insertOutbox(ctx, row, id); err != nil {
				return err
			}
			ids = append(ids, row.ID)
		}
		return nil
	})
	return ids, err
}

// OutboxParts returns the IDs of a message's parts, in order; none if it is sent whole.
func (s *Store) OutboxParts(ctx context.Context, id string) ([]string, error) {
	return reading(s, "read parts of reply "+id, func(q *runner) ([]string, error) { return q.parts(ctx, id) })
}

func (r *runner) parts(ctx context.Context, id string) ([]string, error) {
	return many(ctx, r, scanText, `SELECT id FROM outbox WHERE parent = $1 AND parent <> '' ORDER BY idx`, id)
}

// insertOutbox creates a row unless it exists.
func (r *runner) insertOutbox(ctx context.Context, out domain.Outbound, parent string) error {
	_, err := r.exec(ctx, `INSERT INTO outbox (id, turn, session, channel, chat, thread, text, state, created_at, updated_at,
			parent, idx, file, path, approval)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10, $11, $12, $13, $14) ON CONFLICT (id) DO NOTHING`,
		out.ID, out.Turn, out.Session, out.Channel, out.Chat, out.Thread, out.Text, string(domain.OutboxPending), now(),
		parent, out.Part, out.File, out.Path, out.Approval)
	return err
}

// Undelivered returns why replies of a session failed or are kept, by turn.
func (s *Store) Undelivered(ctx context.Context, session string) (reasons map[string]string, err error) {
	err = s.read("look for undelivered replies of "+session, func(q *runner) error {
		rows, err := many(ctx, q, scanOutbound, `SELECT `+outboundColumns+` FROM outbox
			WHERE session = $1 AND state <> 'sent' AND state <> 'pending' AND parent = ''`, session)
		reasons = make(map[string]string, len(rows))
		for _, out := range rows {
			reasons[out.Turn] = out.Error
		}
		return err
	})
	return reasons, err
}

// Outbox returns an outbound message, or ErrNotFound.
func (s *Store) Outbox(ctx context.Context, id string) (domain.Outbound, error) {
	return reading(s, "read reply "+id, func(q *runner) (domain.Outbound, error) { return q.outbound(ctx, id) })
}
