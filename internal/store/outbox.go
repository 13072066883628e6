package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// outboundColumns are read by scanOutbound. A message answers the one that began its turn.
const outboundColumns = `id, turn, channel, session, chat, thread, text, state, fence, claims, platform_id, error, file, path, approval, claimed_at, idx,
	COALESCE((SELECT platform_id FROM inbox WHERE inbox.id = outbox.turn AND inbox.channel = outbox.channel AND inbox.chat = outbox.chat AND job = '' AND child = ''), '')`

func scanOutbound(rows *sql.Rows) (out domain.Outbound, err error) {
	var claims int
	err = rows.Scan(&out.ID, &out.Turn, &out.Channel, &out.Session, &out.Chat, &out.Thread, &out.Text, &out.State, &out.Fence,
		&claims, &out.PlatformID, &out.Error, &out.File, &out.Path, &out.Approval, stamp{&out.ClaimedAt}, &out.Part, &out.ReplyTo)
	out.Claimed = claims > 1
	return out, err
}

// ClaimOutbox claims a message for one delivery attempt and fences off all earlier
// ones. A sent or failed message is returned without a claim. Claimed reports an
// earlier claim that is still open: the message may have been posted. ErrNotFound if
// the message does not exist.
func (s *Store) ClaimOutbox(ctx context.Context, id string) (domain.Outbound, error) {
	return writing(ctx, s, "claim reply "+id, syncCommit, func(tx *runner) (domain.Outbound, error) {
		out, found, err := one(ctx, tx, scanOutbound, `UPDATE outbox
			SET fence = fence + 1, claims = claims + 1, claimed_at = $2, updated_at = $2
			WHERE id = $1 AND state = 'pending' RETURNING `+outboundColumns, id, now())
		if err != nil || found {
			return out, err
		}
		return tx.outbound(ctx, id)
	})
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
	return s.mark(ctx, "release", id, fence, domain.OutboxPending,
		`error = $4, claims = claims - CASE WHEN claimed_at > 0 THEN 1 ELSE 0 END, claimed_at = 0`, reason)
}

// mark moves a claimed message from pending to state. Repeating it is not an error.
func (s *Store) mark(ctx context.Context, doing, id string, fence int64, state domain.OutboxState, set, note string) error {
	return s.write(ctx, doing+" "+id, syncCommit, func(tx *runner) error {
		changed, err := tx.exec(ctx, `UPDATE outbox SET state = $3, updated_at = $5, `+set+`
			WHERE id = $1 AND fence = $2 AND state = 'pending'`, id, fence, string(state), note, now())
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
