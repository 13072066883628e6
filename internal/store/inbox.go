package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// sweepAfter is how long an accepted message has, to be consumed, before the
// sweeper looks after it.
const sweepAfter = 30 * time.Second

const inboundColumns = `inbox.id, inbox.session, inbox.channel, inbox.chat, inbox.thread, inbox.sender, inbox.sender_name,
	inbox.text, inbox.command, inbox.push, inbox.joins, inbox.sent_at, inbox.accepted_at, COALESCE(inbox.turn, ''),
	inbox.files, inbox.gathered, inbox.platform_id, inbox.child, inbox.job`

func scanInbound(rows *sql.Rows) (in domain.Inbound, err error) {
	var joins bool
	err = rows.Scan(&in.ID, &in.Session, &in.Channel, &in.Chat, &in.Thread, &in.Sender, &in.SenderName,
		&in.Text, &in.Command, &in.Push, &joins, stamp{&in.SentAt}, stamp{&in.AcceptedAt}, &in.Turn,
		document{&in.Files}, document{&in.Gathered}, &in.PlatformID, &in.Child, &in.Job)
	in.Queue = !joins
	return in, err
}

// Accept stores a message, unless it is there already, and returns it as stored;
// fresh says that it was not there. ErrConflict if its ID belongs to a message
// with another text or session; of one whose session was removed the text is not
// known any more. AcceptedAt and Turn are the store's to set.
func (s *Store) Accept(ctx context.Context, in domain.Inbound) (stored domain.Inbound, fresh bool, err error) {
	err = s.write(ctx, "accept message "+in.ID, durable, func(tx *runner) error {
		if fresh, err = tx.insertInbound(ctx, in); err != nil {
			return err
		}
		stored, err = tx.inbound(ctx, in.ID)
		return err
	})
	if err != nil {
		return domain.Inbound{}, false, err
	}
	sameText := stored.Text == clean(in.Text) || stored.Turn == removedTurn
	if stored.Session != clean(in.Session) || !sameText {
		return domain.Inbound{}, false, fmt.Errorf("accept message %s: %w", in.ID, domain.ErrConflict)
	}
	return stored, fresh, nil
}

// insertInbound stores a message, unless it is there, and reports whether it was not.
func (r *runner) insertInbound(ctx context.Context, in domain.Inbound) (fresh bool, err error) {
	files, err := encode(len(in.Files) > 0, in.Files)
	if err != nil {
		return false, err
	}
	accepted := now()
	changed, err := r.exec(ctx, `INSERT INTO inbox
		(id, session, channel, chat, thread, sender, sender_name, text, command, push, joins, sent_at, accepted_at, next_sweep_at,
			files, platform_id, child, job)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18) ON CONFLICT (id) DO NOTHING`,
		in.ID, in.Session, in.Channel, in.Chat, in.Thread, in.Sender, in.SenderName, in.Text, string(in.Command),
		in.Push, !in.Queue, in.SentAt, accepted, accepted.Add(sweepAfter), files, in.PlatformID, in.Child, in.Job)
	return changed == 1, err
}

// Inbound returns an accepted message, or ErrNotFound.
func (s *Store) Inbound(ctx context.Context, id string) (in domain.Inbound, err error) {
	err = s.read("read message "+id, func(q *runner) error {
		in, err = q.inbound(ctx, id)
		return err
	})
	return in, err
}

// MessageState returns an accepted message and the turn that consumed it, nil
// while there is none; or ErrNotFound. A turn that was removed is one that is done
// and has no reply.
func (s *Store) MessageState(ctx context.Context, id string) (in domain.Inbound, turn *domain.Turn, err error) {
	err = s.read("read state of message "+id, func(q *runner) error {
		if in, err = q.inbound(ctx, id); err != nil || in.Turn == "" {
			return err
		}
		row, err := q.turn(ctx, in.Turn, "")
		turn = &row.Turn
		return err
	})
	if err != nil {
		return domain.Inbound{}, nil, err
	}
	return in, turn, nil
}

// Unswept returns messages that no turn has consumed and whose time to be looked
// after has come, oldest first. A subagent's task needs none: who spawned it starts it.
func (s *Store) Unswept(ctx context.Context, now time.Time, limit int) (all []domain.Inbound, err error) {
	err = s.read("read unswept messages", func(q *runner) error {
		all, err = many(ctx, q, scanInbound, `SELECT `+inboundColumns+` FROM inbox
			WHERE turn IS NULL AND channel <> 'subagent' AND next_sweep_at <= $1 ORDER BY +seq LIMIT $2`, now, limit)
		return err
	})
	return all, err
}

// Unconsumed returns messages that no turn has consumed, oldest first.
func (s *Store) Unconsumed(ctx context.Context, limit int) (all []domain.Inbound, err error) {
	err = s.read("read unconsumed messages", func(q *runner) error {
		all, err = many(ctx, q, scanInbound, `SELECT `+inboundColumns+` FROM inbox
			WHERE turn IS NULL AND channel <> 'subagent' ORDER BY +seq LIMIT $1`, limit)
		return err
	})
	return all, err
}

// Postpone sets when the sweeper looks at a message next. It does nothing to one
// that was consumed. Relaxed.
func (s *Store) Postpone(ctx context.Context, id string, until time.Time) error {
	return s.write(ctx, "postpone message "+id, relaxed, func(tx *runner) error {
		_, err := tx.exec(ctx, `UPDATE inbox SET next_sweep_at = $2 WHERE id = $1 AND turn IS NULL`, id, until)
		return err
	})
}

func (r *runner) inbound(ctx context.Context, id string) (domain.Inbound, error) {
	in, found, err := one(ctx, r, scanInbound, `SELECT `+inboundColumns+` FROM inbox WHERE id = $1`, id)
	if err == nil && !found {
		err = fmt.Errorf("message %q: %w", id, domain.ErrNotFound)
	}
	return in, err
}

// consume gives a message to a turn, unless another has it: then that one's ID
// is in Turn of what is returned.
func (r *runner) consume(ctx context.Context, id, turn string) (domain.Inbound, error) {
	in, taken, err := one(ctx, r, scanInbound, `UPDATE inbox SET turn = $2
		WHERE id = $1 AND (turn IS NULL OR turn = $2) RETURNING `+inboundColumns, id, turn)
	if err != nil || taken {
		return in, err
	}
	return r.inbound(ctx, id)
}

// consumed returns a turn's messages in the order in which it took them in.
func (r *runner) consumed(ctx context.Context, turn string) ([]domain.Inbound, error) {
	return many(ctx, r, scanInbound, `SELECT `+inboundColumns+` FROM messages JOIN inbox ON inbox.id = messages.source
		WHERE messages.turn = $1 AND messages.rank = 0 ORDER BY messages.step, messages.idx`, turn)
}
