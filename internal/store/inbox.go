package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// sweepAfter is how long an accepted message may stay unconsumed before a dispatcher
// signals it again.
const sweepAfter = 30 * time.Second

const inboundColumns = `inbox.seq, inbox.id, inbox.platform_id, inbox.session, inbox.channel, inbox.chat, inbox.thread,
	inbox.sender, inbox.sender_name, inbox.text, inbox.files, inbox.enriched, inbox.command, inbox.push, inbox.queue,
	inbox.child, inbox.job, inbox.sent_at, inbox.accepted_at, COALESCE(inbox.turn, '')`

func scanInbound(rows *sql.Rows) (in domain.Inbound, err error) {
	return in, rows.Scan(inboundFields(&in)...)
}

func inboundFields(in *domain.Inbound) []any {
	return []any{
		&in.Seq, &in.ID, &in.PlatformID, &in.Session, &in.Channel, &in.Chat, &in.Thread,
		&in.Sender, &in.SenderName, &in.Text,
		document{&in.Files},
		document{&in.Enriched},
		&in.Command, &in.Push, &in.Queue,
		&in.Child, &in.Job,
		stamp{&in.SentAt},
		stamp{&in.AcceptedAt},
		&in.Turn,
	}
}

// previousColumn is Inbound.Previous.
const previousColumn = `COALESCE((SELECT MAX(earlier.seq) FROM inbox AS earlier
	WHERE earlier.session = inbox.session AND earlier.turn IS NULL AND earlier.channel <> 'subagent' AND earlier.seq < inbox.seq), 0)`

func scanAccepted(rows *sql.Rows) (in domain.Inbound, err error) {
	return in, rows.Scan(append(inboundFields(&in), &in.Previous)...)
}

// Accept stores a message unless it exists and returns the stored one; fresh reports
// whether it is new. ErrConflict if the ID belongs to a message with another text or
// session; the text is not compared once the message's session was removed. The store
// sets Seq, AcceptedAt and Turn.
func (s *Store) Accept(ctx context.Context, in domain.Inbound) (stored domain.Inbound, fresh bool, err error) {
	err = s.write(ctx, "accept message "+in.ID, syncCommit, func(tx *runner) error {
		stored, fresh, err = tx.accept(ctx, in)
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

// accept stores a message unless it exists. Inserts into a session are serialized, so
// that a message with a lower Seq is never committed after one with a higher Seq.
func (r *runner) accept(ctx context.Context, in domain.Inbound) (stored domain.Inbound, fresh bool, err error) {
	files, err := encode(len(in.Files) > 0, in.Files)
	if err != nil {
		return domain.Inbound{}, false, err
	}
	enriched, err := encode(in.Enriched != nil, in.Enriched)
	if err != nil {
		return domain.Inbound{}, false, err
	}
	if r.sql.serialize != "" {
		if _, err := r.exec(ctx, r.sql.serialize, in.Session); err != nil {
			return domain.Inbound{}, false, err
		}
	}
	accepted := now()
	stored, fresh, err = one(ctx, r, scanAccepted, `INSERT INTO inbox
		(id, platform_id, session, channel, chat, thread, sender, sender_name, text, files, enriched, command, push, queue,
			child, job, sent_at, accepted_at, next_sweep_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
		ON CONFLICT (id) DO NOTHING RETURNING `+inboundColumns+`, `+previousColumn,
		in.ID, in.PlatformID, in.Session, in.Channel, in.Chat, in.Thread, in.Sender, in.SenderName, in.Text, files, enriched,
		string(in.Command), in.Push, in.Queue, in.Child, in.Job, in.SentAt, accepted, accepted.Add(sweepAfter))
	if err != nil || fresh {
		return stored, fresh, err
	}
	stored, err = r.inbound(ctx, in.ID)
	return stored, false, err
}

// Pending returns the messages of a session that no turn has consumed, with sequence
// numbers between after and before, both exclusive, in order.
func (s *Store) Pending(ctx context.Context, session string, after, before int64, limit int) ([]domain.Inbound, error) {
	return list(ctx, s, "read pending messages of "+session, scanInbound, `SELECT `+inboundColumns+` FROM inbox
		WHERE session = $1 AND turn IS NULL AND channel <> 'subagent' AND seq > $2 AND seq < $3 ORDER BY seq LIMIT $4`,
		session, after, before, limit)
}

// Inbound returns an accepted message, or ErrNotFound.
func (s *Store) Inbound(ctx context.Context, id string) (domain.Inbound, error) {
	return reading(s, "read message "+id, func(q *runner) (domain.Inbound, error) { return q.inbound(ctx, id) })
}

// MessageState returns an accepted message and the turn that consumed it, nil if none
// has; or ErrNotFound. A removed turn is returned as done, without a reply.
func (s *Store) MessageState(ctx context.Context, id string) (in domain.Inbound, turn *domain.Turn, err error) {
	err = s.read("read state of message "+id, func(q *runner) error {
		if in, err = q.inbound(ctx, id); err != nil || in.Turn == "" {
			return err
		}
		row, err := q.turn(ctx, in.Turn, "")
		turn = &row.Turn
		return err
	})
	return in, turn, err
}

// Postpone sets when the sweeper looks at a message next. It does nothing to one
// that was consumed. The commit is asynchronous.
func (s *Store) Postpone(ctx context.Context, id string, until time.Time) error {
	_, err := s.exec(ctx, "postpone message "+id, asyncCommit, `UPDATE inbox SET next_sweep_at = $2 WHERE id = $1 AND turn IS NULL`, id, until)
	return err
}

// PostponeAll has the sweeper look again at the waiting messages of a session, up to a
// sequence number, when each is twice as old, but after least and at most most. The commit
// is asynchronous.
func (s *Store) PostponeAll(ctx context.Context, session string, last int64, least, most time.Duration) error {
	at := now()
	_, err := s.exec(ctx, "postpone messages of "+session, asyncCommit, `UPDATE inbox SET next_sweep_at = CASE
			WHEN accepted_at >= $3 THEN $4 WHEN accepted_at <= $5 THEN $6 ELSE $7 - accepted_at + $7 END
		WHERE session = $1 AND turn IS NULL AND seq <= $2`,
		session, last, at.Add(-least), at.Add(least), at.Add(-most), at.Add(most), at)
	return err
}

func (r *runner) inbound(ctx context.Context, id string) (domain.Inbound, error) {
	return known(ctx, r, "message", id, scanInbound, `SELECT `+inboundColumns+` FROM inbox WHERE id = $1`)
}

// consume assigns a message to a turn unless another turn has it: Turn of the result is
// then the other turn.
func (r *runner) consume(ctx context.Context, id, turn string) (domain.Inbound, error) {
	in, taken, err := one(ctx, r, scanInbound, `UPDATE inbox SET turn = $2
		WHERE id = $1 AND (turn IS NULL OR turn = $2) RETURNING `+inboundColumns, id, turn)
	if err != nil || taken {
		return in, err
	}
	return r.inbound(ctx, id)
}

// Consumed returns the messages that a turn has consumed, in order; none for a command.
func (s *Store) Consumed(ctx context.Context, turn string) ([]domain.Inbound, error) {
	return reading(s, "read messages of "+turn, func(q *runner) ([]domain.Inbound, error) { return q.consumed(ctx, turn) })
}

func (r *runner) consumed(ctx context.Context, turn string) ([]domain.Inbound, error) {
	return many(ctx, r, scanInbound, `SELECT `+inboundColumns+` FROM messages JOIN inbox ON inbox.id = messages.source
		WHERE messages.turn = $1 AND messages.rank = 0 ORDER BY messages.step, messages.idx`, turn)
}
