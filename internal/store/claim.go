package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// Claim says what a process claims to reconcile. Rows that another transaction is
// claiming are skipped.
type Claim struct {
	Before time.Time // turns and subagents that began before
	Due    time.Time // whose last claim, or delay, ended by then
	Until  time.Time // when this claim ends
	Limit  int
}

// ClaimMessages claims messages that no turn has consumed, in order. A subagent's task is
// not among them: the subagent's workflow starts with it.
func (s *Store) ClaimMessages(ctx context.Context, c Claim) (all []domain.Inbound, err error) {
	err = s.write(ctx, "claim messages", asyncCommit, func(tx *runner) error {
		all, err = many(ctx, tx, scanInbound, `UPDATE inbox SET next_sweep_at = $1 WHERE id IN (SELECT id FROM inbox
			WHERE turn IS NULL AND channel <> 'subagent' AND next_sweep_at <= $2 ORDER BY +seq LIMIT $3`+tx.sql.skipLocked+`)
			RETURNING `+inboundColumns, c.Until, c.Due, c.Limit)
		return err
	})
	slices.SortFunc(all, func(a, b domain.Inbound) int { return cmp.Compare(a.Seq, b.Seq) })
	return all, err
}

// ClaimTurns claims running turns, oldest first.
func (s *Store) ClaimTurns(ctx context.Context, c Claim) (all []domain.Turn, err error) {
	err = s.write(ctx, "claim turns", asyncCommit, func(tx *runner) error {
		rows, err := many(ctx, tx, scanTurn, `UPDATE turns SET claimed_until = $1 WHERE id IN (SELECT id FROM turns
			WHERE status = 'running' AND started_at < $2 AND claimed_until <= $3 ORDER BY seq LIMIT $4`+tx.sql.skipLocked+`)
			RETURNING `+turnColumns, c.Until, c.Before, c.Due, c.Limit)
		for _, t := range rows {
			all = append(all, t.Turn)
		}
		return err
	})
	slices.SortFunc(all, func(a, b domain.Turn) int { return a.StartedAt.Compare(b.StartedAt) })
	return all, err
}

// ClaimSubagents claims running subagents, oldest first.
func (s *Store) ClaimSubagents(ctx context.Context, c Claim) (all []domain.Subagent, err error) {
	err = s.write(ctx, "claim subagents", asyncCommit, func(tx *runner) error {
		all, err = many(ctx, tx, scanSubagent, `UPDATE subagents SET claimed_until = $1 WHERE id IN (SELECT id FROM subagents
			WHERE status = 'running' AND created_at < $2 AND claimed_until <= $3 ORDER BY created_at LIMIT $4`+tx.sql.skipLocked+`)
			RETURNING `+subagentColumns, c.Until, c.Before, c.Due, c.Limit)
		return err
	})
	slices.SortFunc(all, func(a, b domain.Subagent) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return all, err
}
