package store

import (
	"context"
	"database/sql"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

const draftColumns = `drafts.turn, drafts.channel, drafts.chat, drafts.thread, drafts.platform_id, drafts.claimed_at, drafts.taken,
	EXISTS (SELECT 1 FROM outbox WHERE outbox.turn = drafts.turn AND outbox.approval <> '' AND outbox.state = 'sent')
		OR EXISTS (SELECT 1 FROM turns WHERE turns.id = drafts.turn AND turns.status = 'stopped')`

func scanDraft(rows *sql.Rows) (d domain.Draft, err error) {
	return d, rows.Scan(&d.Turn, &d.Channel, &d.Chat, &d.Thread, &d.PlatformID, stamp{&d.ClaimedAt}, &d.Taken, &d.Replace)
}

// ClaimDraft reserves the turn's draft for the caller, who is about to post it. It
// reports false if the turn is not running or has a draft.
func (s *Store) ClaimDraft(ctx context.Context, turn string) (claimed bool, err error) {
	err = s.write(ctx, "claim draft of "+turn, syncCommit, func(tx *runner) error {
		t, found, err := one(ctx, tx, scanTurn, `SELECT `+turnColumns+` FROM turns WHERE id = $1 AND status = 'running'`+tx.sql.forShare, turn)
		if err != nil || !found {
			return err
		}
		changed, err := tx.exec(ctx, `INSERT INTO drafts (turn, channel, chat, thread, platform_id, taken, claimed_at)
			VALUES ($1, $2, $3, $4, '', FALSE, $5) ON CONFLICT (turn) DO NOTHING`, turn, t.channel, t.chat, t.thread, now())
		claimed = changed == 1
		return err
	})
	return claimed, err
}

// PostedDraft records where the claimed draft is. It reports false if the reply
// went out without it.
func (s *Store) PostedDraft(ctx context.Context, turn, platformID string) (bool, error) {
	changed, err := s.exec(ctx, "record draft of "+turn, syncCommit, `UPDATE drafts SET platform_id = $2 WHERE turn = $1 AND NOT taken`, turn, platformID)
	return changed == 1, err
}

// Draft returns the draft of a turn, or ErrNotFound.
func (s *Store) Draft(ctx context.Context, turn string) (domain.Draft, error) {
	return get(ctx, s, "read draft of "+turn, scanDraft, `SELECT `+draftColumns+` FROM drafts WHERE turn = $1`, turn)
}

// TakeDraft has the turn's reply take over its draft and returns that as it then
// is: from now on PostedDraft reports false. ErrNotFound if the turn has no draft.
func (s *Store) TakeDraft(ctx context.Context, turn string) (domain.Draft, error) {
	return writing(ctx, s, "take draft of "+turn, syncCommit, func(tx *runner) (domain.Draft, error) {
		return required(ctx, tx, scanDraft, `UPDATE drafts SET taken = TRUE WHERE turn = $1 RETURNING `+draftColumns, turn)
	})
}

// DropDraft forgets a turn's draft. The commit is asynchronous: dropping a
// draft twice is harmless.
func (s *Store) DropDraft(ctx context.Context, turn string) error {
	_, err := s.exec(ctx, "drop draft of "+turn, asyncCommit, `DELETE FROM drafts WHERE turn = $1`, turn)
	return err
}

// StaleDrafts returns the drafts of ended turns that have no reply to take them over.
func (s *Store) StaleDrafts(ctx context.Context, channel string) ([]domain.Draft, error) {
	return list(ctx, s, "read stale drafts", scanDraft, `SELECT `+draftColumns+` FROM drafts JOIN turns ON turns.id = drafts.turn
		WHERE drafts.channel = $1 AND turns.status <> 'running' AND turns.outbox = '' LIMIT 100`, channel)
}
