package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// outboundColumns are read by scanOutbound. A message answers the one that began its turn; it
// can be rated if it is the model's reply.
const outboundColumns = `id, turn, channel, session, chat, thread, text, state, fence, claims, platform_id, error, file, path, approval, claimed_at, first_claimed_at, idx,
	COALESCE((SELECT platform_id FROM inbox WHERE inbox.id = outbox.turn AND inbox.channel = outbox.channel AND inbox.chat = outbox.chat AND job = '' AND child = ''), ''),
	EXISTS (SELECT 1 FROM turns WHERE turns.id = outbox.turn AND turns.outbox = outbox.id AND status = 'done' AND steps > 0)`

// claimOutbox claims the message $1 at the time $2.
const claimOutbox = `UPDATE outbox SET fence = fence + 1, claims = claims + 1, claimed_at = $2, updated_at = $2,
	first_claimed_at = CASE WHEN claims = 0 THEN $2 ELSE first_claimed_at END WHERE id = $1 AND `

func scanOutbound(rows *sql.Rows) (out domain.Outbound, err error) {
	var claims int
	err = rows.Scan(&out.ID, &out.Turn, &out.Channel, &out.Session, &out.Chat, &out.Thread, &out.Text, &out.State, &out.Fence,
		&claims, &out.PlatformID, &out.Error, &out.File, &out.Path, &out.Approval, stamp{&out.ClaimedAt}, stamp{&out.FirstClaimedAt}, &out.Part, &out.ReplyTo, &out.Ratable)
	out.Claimed = claims > 1
	return out, err
}

// ClaimOutbox claims a pending message for one delivery attempt and fences off all
// earlier ones. Any other message is returned without a claim. Claimed reports an
// earlier claim that is still open: the message may have been posted. ErrNotFound if
// the message does not exist.
func (s *Store) ClaimOutbox(ctx context.Context, id string) (domain.Outbound, error) {
	return writing(ctx, s, "claim reply "+id, syncCommit, func(tx *runner) (domain.Outbound, error) {
		out, found, err := one(ctx, tx, scanOutbound, claimOutbox+`state = 'pending' RETURNING `+outboundColumns, id, now())
		if err != nil || found {
			return out, err
		}
		return tx.outbound(ctx, id)
	})
}

// behindLasts is how long after its last attempt an undelivered reply keeps later ones
// waiting: longer than the usual delay between two attempts.
const behindLasts = 2 * time.Minute

// Behind reports whether another session's earlier reply in the same place is being
// delivered, so that the message has to wait. Questions do not wait. A session keeps its own
// replies in order.
func (s *Store) Behind(ctx context.Context, id string) (behind bool, err error) {
	_, behind, err = find(ctx, s, "look for earlier replies", scanCount, `SELECT 1 FROM outbox AS later JOIN outbox AS earlier
			ON earlier.channel = later.channel AND earlier.chat = later.chat AND earlier.thread = later.thread
				AND earlier.session <> later.session
		WHERE later.id = $1 AND later.state = 'pending' AND later.parent = '' AND later.approval = ''
			AND earlier.state = 'pending' AND earlier.parent = '' AND earlier.id = 'o' || substr(earlier.turn, 2)
			AND (earlier.created_at < later.created_at OR earlier.created_at = later.created_at AND earlier.id < later.id)
			AND earlier.updated_at >= $2 LIMIT 1`,
		id, now().Add(-behindLasts))
	return behind, err
}

// Kept returns the kept messages of a chat, oldest first, without questions that no
// longer wait for an answer.
func (s *Store) Kept(ctx context.Context, channel, chat string) ([]domain.Outbound, error) {
	return list(ctx, s, "look for kept replies", scanOutbound, `SELECT `+outboundColumns+` FROM outbox
		WHERE state = 'kept' AND channel = $1 AND chat = $2
			AND (approval = '' OR EXISTS (SELECT 1 FROM approvals WHERE approvals.id = approval AND status = 'waiting'))
		ORDER BY created_at, id`, channel, chat)
}

// ClaimKept claims a kept message as [Store.ClaimOutbox] does a pending one; it stays
// kept until it is marked. ErrFenced if it was claimed or marked since the caller read it.
func (s *Store) ClaimKept(ctx context.Context, kept domain.Outbound) (domain.Outbound, error) {
	return writing(ctx, s, "claim kept reply "+kept.ID, syncCommit, func(tx *runner) (domain.Outbound, error) {
		out, found, err := one(ctx, tx, scanOutbound, claimOutbox+`state = 'kept' AND fence = $3 RETURNING `+outboundColumns, kept.ID, now(), kept.Fence)
		if err == nil && !found {
			err = ErrFenced
		}
		return out, err
	})
}

// MarkPlaceholder records the placeholder that becomes a claimed message by an edit.
// ErrFenced if a later claim was made.
func (s *Store) MarkPlaceholder(ctx context.Context, out domain.Outbound, platformID string) error {
	return s.mark(ctx, "record placeholder of", out.ID, out.Fence, out.State, `platform_id = $4`, platformID)
}

// MarkSent records that the message was posted. ErrFenced if a later claim was made.
func (s *Store) MarkSent(ctx context.Context, id string, fence int64, platformID string) error {
	return s.mark(ctx, "mark sent", id, fence, domain.OutboxSent, `platform_id = $4, claims = 0`, platformID)
}

// MarkFailed records that the message cannot be delivered. ErrFenced if a later claim
// was made.
func (s *Store) MarkFailed(ctx context.Context, id string, fence int64, reason string) error {
	return s.mark(ctx, "mark failed", id, fence, domain.OutboxFailed, `error = $4, claims = 0`, reason)
}

// Release records that the claimed attempt did not post, and why; it does not affect
// earlier attempts. Repeating it has no effect. ErrFenced if a later claim was made.
func (s *Store) Release(ctx context.Context, id string, fence int64, reason string) error {
	return s.release(ctx, "release", id, fence, domain.OutboxPending, reason)
}

// Keep is [Store.Release] for a message that cannot be delivered for now.
func (s *Store) Keep(ctx context.Context, id string, fence int64, reason string) error {
	return s.release(ctx, "keep", id, fence, domain.OutboxKept, reason)
}

// EndKept records that the claimed attempt at a kept message has ended without an outcome:
// it may have posted.
func (s *Store) EndKept(ctx context.Context, id string, fence int64, reason string) error {
	return s.mark(ctx, "end attempt at", id, fence, domain.OutboxKept, `error = $4, claimed_at = 0`, reason)
}

func (s *Store) release(ctx context.Context, doing, id string, fence int64, state domain.OutboxState, reason string) error {
	return s.mark(ctx, doing, id, fence, state, `error = $4, claims = claims - CASE WHEN claimed_at > 0 THEN 1 ELSE 0 END, claimed_at = 0`, reason)
}

// mark moves a claimed message to state. Repeating it is not an error.
func (s *Store) mark(ctx context.Context, doing, id string, fence int64, state domain.OutboxState, set, note string) error {
	return s.write(ctx, doing+" "+id, syncCommit, func(tx *runner) error {
		changed, err := tx.exec(ctx, `UPDATE outbox SET state = $3, updated_at = $5, `+set+`
			WHERE id = $1 AND fence = $2 AND state IN ('pending', 'kept')`, id, fence, string(state), note, now())
		if err != nil || changed == 1 {
			return err
		}
		out, err := tx.outbound(ctx, id)
		switch {
		case err != nil:
			return err
		case out.Fence != fence:
			return ErrFenced
		case out.State != state:
			return fmt.Errorf("the reply is already %s", out.State)
		}
		return nil
	})
}

func (r *runner) outbound(ctx context.Context, id string) (domain.Outbound, error) {
	return known(ctx, r, "reply", id, scanOutbound, `SELECT `+outboundColumns+` FROM outbox WHERE id = $1`)
}
