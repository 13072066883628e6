package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

const approvalColumns = `id, call, turn, workflow_id, tool, title, arguments, arguments_hash, channel, chat, thread, sender, status, decided_by,
	decided_from, decided_in, created_at, expires_at, decided_at`

const approvalByID = `SELECT ` + approvalColumns + ` FROM approvals WHERE id = $1`

func scanApproval(rows *sql.Rows) (a domain.Approval, err error) {
	return a, rows.Scan(&a.ID, &a.Call, &a.Turn, &a.WorkflowID, &a.Tool, &a.Title, &a.Arguments, &a.ArgumentsHash, &a.Channel, &a.Chat, &a.Thread,
		&a.Sender, &a.Status, &a.DecidedBy, &a.DecidedFrom, &a.DecidedIn, stamp{&a.CreatedAt}, stamp{&a.ExpiresAt}, stamp{&a.DecidedAt})
}

// AskApproval stores an approval that expires after timeout and, for push channels,
// puts text into the outbox under the ID outbox. An existing approval is returned
// unchanged, except that an overdue one is marked as expired. ErrTurnEnded if the turn
// is not running, ErrConflict if the call had other arguments.
func (s *Store) AskApproval(ctx context.Context, a domain.Approval, timeout time.Duration, text string) (stored domain.Approval, outbox string, err error) {
	a.ID = domain.ApprovalID(a.Call)
	err = s.write(ctx, "ask for approval of "+a.Call, syncCommit, func(tx *runner) error {
		t, err := tx.turn(ctx, a.Turn, tx.sql.forUpdate)
		if err != nil {
			return err
		}
		if t.Status != domain.TurnRunning {
			return ErrTurnEnded
		}
		if err := tx.expireApproval(ctx, a.ID); err != nil {
			return err
		}
		var found bool
		if stored, found, err = tx.approval(ctx, a.ID); err != nil {
			return err
		}
		route, err := tx.origin(ctx, t)
		if err != nil {
			return err
		}
		switch {
		case found && (stored.Call != a.Call || stored.ArgumentsHash != a.ArgumentsHash):
			return domain.ErrConflict
		case !found:
			stored, _, err = one(ctx, tx, scanApproval, `INSERT INTO approvals (`+approvalColumns+`)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 'waiting', '', '', '', $13, $14, 0) RETURNING `+approvalColumns,
				a.ID, a.Call, a.Turn, a.WorkflowID, a.Tool, a.Title, a.Arguments, a.ArgumentsHash, route.Channel, route.Chat, route.Thread, t.Sender,
				now(), now().Add(timeout))
		}
		if err != nil || !route.Push {
			return err
		}
		outbox = domain.ApprovalOutboxID(a.Call)
		return tx.insertOutbox(ctx, domain.Outbound{
			ID: outbox, Turn: t.ID, Session: t.Session, Channel: route.Channel, Chat: route.Chat, Thread: route.Thread,
			Text: text, Approval: a.ID,
		}, "")
	})
	return stored, outbox, err
}

// Origin returns where the request behind a turn came from: for a subagent's turn, where that
// of its parent did. ErrNotFound if there is no such turn.
func (s *Store) Origin(ctx context.Context, turn string) (domain.Route, error) {
	return reading(s, "read origin of "+turn, func(q *runner) (domain.Route, error) {
		t, err := q.turn(ctx, turn, "")
		if err != nil {
			return domain.Route{}, err
		}
		return q.origin(ctx, t)
	})
}

// origin returns the route of the request behind a turn: for a subagent, that of its
// parent's turn.
func (r *runner) origin(ctx context.Context, t turnRow) (domain.Route, error) {
	subagent, is, err := one(ctx, r, scanSubagent, `SELECT `+subagentColumns+` FROM subagents WHERE session = $1`, t.Session)
	if err != nil || is {
		return subagent.Route, err
	}
	return t.route(), nil
}

// DecideApproval decides a waiting approval. Others are returned unchanged. ErrNotFound
// if the approval does not exist.
func (s *Store) DecideApproval(ctx context.Context, d domain.Decision) (domain.Approval, error) {
	id := d.Approval
	return writing(ctx, s, "decide approval "+id, syncCommit, func(tx *runner) (domain.Approval, error) {
		if err := tx.expireApproval(ctx, id); err != nil {
			return domain.Approval{}, err
		}
		_, err := tx.exec(ctx, `UPDATE approvals SET status = $2, decided_by = $3, decided_from = $4, decided_in = $5, decided_at = $6
			WHERE id = $1 AND status = 'waiting'`, id, string(d.Status), d.By, d.From, d.In, now())
		if err != nil {
			return domain.Approval{}, err
		}
		return tx.knownApproval(ctx, id)
	})
}

// Approval returns an approval, or ErrNotFound.
func (s *Store) Approval(ctx context.Context, id string) (domain.Approval, error) {
	return reading(s, "read approval "+id, func(q *runner) (domain.Approval, error) { return q.knownApproval(ctx, id) })
}

// ApprovalDecidedIn returns the approval that a message decided, or ErrNotFound.
func (s *Store) ApprovalDecidedIn(ctx context.Context, message string) (domain.Approval, error) {
	return get(ctx, s, "look for the approval decided by "+message, scanApproval, `SELECT `+approvalColumns+` FROM approvals
		WHERE decided_in = $1 AND decided_in <> ''`, message)
}

// WaitingApprovals returns the waiting approvals, oldest first: those of one chat and
// thread if where names a channel, else all.
func (s *Store) WaitingApprovals(ctx context.Context, where domain.Route) ([]domain.Approval, error) {
	return list(ctx, s, "look for approvals that wait", scanApproval, `SELECT `+approvalColumns+` FROM approvals
		WHERE status = 'waiting' AND expires_at > $1 AND ($2 = '' OR channel = $2 AND chat = $3 AND thread = $4)
		ORDER BY created_at, id`, now(), where.Channel, where.Chat, where.Thread)
}

// Approvals returns the latest approvals, newest first, whether decided or not.
func (s *Store) Approvals(ctx context.Context, limit int) ([]domain.Approval, error) {
	return list(ctx, s, "list approvals", scanApproval, `SELECT `+approvalColumns+` FROM approvals
		ORDER BY created_at DESC, id DESC LIMIT $1`, limit)
}

// SessionApprovals returns the approvals that the turns of a session needed, by the keys of
// their calls.
func (s *Store) SessionApprovals(ctx context.Context, session string) (map[string]domain.Approval, error) {
	all, err := list(ctx, s, "read the approvals of "+session, scanApproval, `SELECT `+approvalColumns+` FROM approvals
		WHERE turn IN (SELECT id FROM turns WHERE session = $1)`, session)
	byCall := map[string]domain.Approval{}
	for _, a := range all {
		byCall[a.Call] = a
	}
	return byCall, err
}

// DroppedApprovals returns the approvals that a turn no longer needed, newest first.
func (s *Store) DroppedApprovals(ctx context.Context, turn string) ([]domain.Approval, error) {
	return list(ctx, s, "look for dropped approvals of "+turn, scanApproval, `SELECT `+approvalColumns+` FROM approvals
		WHERE turn = $1 AND status = 'dropped' ORDER BY decided_at DESC, id`, turn)
}

func (r *runner) approval(ctx context.Context, id string) (domain.Approval, bool, error) {
	return one(ctx, r, scanApproval, approvalByID, id)
}

func (r *runner) knownApproval(ctx context.Context, id string) (domain.Approval, error) {
	return known(ctx, r, "approval", id, scanApproval, approvalByID)
}

func (r *runner) expireApproval(ctx context.Context, id string) error {
	_, err := r.exec(ctx, `UPDATE approvals SET status = 'expired', decided_at = $2
		WHERE id = $1 AND status = 'waiting' AND expires_at <= $2`, id, now())
	return err
}

// dropApprovals withdraws the waiting approvals of a turn that ends.
func (r *runner) dropApprovals(ctx context.Context, turn string) error {
	_, err := r.exec(ctx, `UPDATE approvals SET status = 'dropped', decided_at = $2 WHERE turn = $1 AND status = 'waiting'`, turn, now())
	return err
}
