package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// Claim selects the rows that a process claims to reconcile. Rows that another transaction is
// claiming are skipped.
type Claim struct {
	Before time.Time // turns and subagents that began before, replies stored before
	Due    time.Time // whose last claim, or delay, ended by then
	Until  time.Time // when this claim ends
	Limit  int
}

// claim runs an UPDATE whose %s is the suffix that skips locked rows.
func claim[T any](ctx context.Context, s *Store, doing string, scan scan[T], query string, args ...any) ([]T, error) {
	return writing(ctx, s, doing, asyncCommit, func(tx *runner) ([]T, error) {
		return many(ctx, tx, scan, fmt.Sprintf(query, tx.sql.skipLocked), args...)
	})
}

// Unclaim ends all claims and delays: what waits is due.
func (s *Store) Unclaim(ctx context.Context) error {
	return s.write(ctx, "release claims", asyncCommit, func(tx *runner) error {
		if _, err := tx.exec(ctx, `UPDATE inbox SET next_sweep_at = $1 WHERE turn IS NULL AND next_sweep_at > $1`, now()); err != nil {
			return err
		}
		for _, statement := range []string{
			`UPDATE turns SET claimed_until = 0 WHERE status = 'running' AND claimed_until > 0`,
			`UPDATE turns SET claimed_until = 0 WHERE claimed_until > 0 AND id IN (SELECT turn FROM outbox WHERE state = 'pending' AND parent = '')`,
			`UPDATE subagents SET claimed_until = 0 WHERE status = 'running' AND claimed_until > 0`,
		} {
			if _, err := tx.exec(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
}

// ClaimMessages claims messages that no turn has consumed, those due first. A subagent's
// task is not among them: the subagent's workflow starts with it.
func (s *Store) ClaimMessages(ctx context.Context, c Claim) ([]domain.Inbound, error) {
	all, err := claim(ctx, s, "claim messages", scanInbound, `UPDATE inbox SET next_sweep_at = $1 WHERE id IN (SELECT id FROM inbox
		WHERE turn IS NULL AND channel <> 'subagent' AND next_sweep_at <= $2 ORDER BY next_sweep_at, seq LIMIT $3%s)
		RETURNING `+inboundColumns, c.Until, c.Due, c.Limit)
	slices.SortFunc(all, func(a, b domain.Inbound) int { return cmp.Compare(a.Seq, b.Seq) })
	return all, err
}

// ClaimTurns claims running turns, those first whose last claim is the oldest.
func (s *Store) ClaimTurns(ctx context.Context, c Claim) ([]domain.Turn, error) {
	all, err := claim(ctx, s, "claim turns", scanDomainTurn, `UPDATE turns SET claimed_until = $1 WHERE id IN (SELECT id FROM turns
		WHERE status = 'running' AND started_at < $2 AND claimed_until <= $3 ORDER BY claimed_until, seq LIMIT $4%s)
		RETURNING `+turnColumns, c.Until, c.Before, c.Due, c.Limit)
	slices.SortFunc(all, func(a, b domain.Turn) int { return a.StartedAt.Compare(b.StartedAt) })
	return all, err
}

// ClaimUndelivered claims ended turns whose reply was stored after since and is not delivered,
// oldest first. A reply that was stored or claimed for delivery after c.Before is skipped.
// A claim lasts as long again as the reply is old.
func (s *Store) ClaimUndelivered(ctx context.Context, c Claim, since time.Time) ([]domain.Turn, error) {
	all, err := claim(ctx, s, "claim undelivered replies", scanDomainTurn, `UPDATE turns SET claimed_until = $1 - ended_at + $1
		WHERE id IN (SELECT turns.id FROM outbox JOIN turns ON turns.id = outbox.turn AND turns.outbox = outbox.id
			WHERE outbox.state = 'pending' AND outbox.parent = '' AND outbox.created_at > $5 AND outbox.created_at < $2
				AND outbox.claimed_at < $2 AND turns.claimed_until <= $3 ORDER BY outbox.created_at LIMIT $4%s)
		RETURNING `+turnColumns, c.Until, c.Before, c.Due, c.Limit, since)
	slices.SortFunc(all, func(a, b domain.Turn) int { return a.EndedAt.Compare(b.EndedAt) })
	return all, err
}

// ClaimSubagents claims running subagents, those first whose last claim is the oldest.
func (s *Store) ClaimSubagents(ctx context.Context, c Claim) ([]domain.Subagent, error) {
	all, err := claim(ctx, s, "claim subagents", scanSubagent, `UPDATE subagents SET claimed_until = $1 WHERE id IN (SELECT id FROM subagents
		WHERE status = 'running' AND created_at < $2 AND claimed_until <= $3 ORDER BY claimed_until, created_at LIMIT $4%s)
		RETURNING `+subagentColumns, c.Until, c.Before, c.Due, c.Limit)
	slices.SortFunc(all, func(a, b domain.Subagent) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return all, err
}
