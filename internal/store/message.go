package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// The ranks order the rows of a step: what users said, what the model answered,
// what its calls gave.
const (
	rankUser = iota
	rankCompletion
	rankResult
)

const messageColumns = `messages.turn, messages.step, messages.idx, messages.role, messages.content, messages.reasoning,
	messages.tool_calls, messages.call_id, messages.name, messages.failed, messages.filled, messages.sender,
	messages.source, messages.created_at, messages.sender_name`

const messageByKey = `SELECT ` + messageColumns + ` FROM messages WHERE turn = $1 AND step = $2 AND rank = $3 AND idx = $4`

const newestFirst = ` ORDER BY turns.seq DESC, messages.step DESC, messages.rank DESC, messages.idx DESC`

func scanMessage(rows *sql.Rows) (m domain.Message, err error) {
	var calls string
	err = rows.Scan(&m.Turn, &m.Step, &m.Index, &m.Role, &m.Content, &m.Reasoning, &calls, &m.CallID, &m.Name,
		&m.Failed, &m.Filled, &m.Sender, &m.Source, stamp{&m.CreatedAt}, &m.SenderName)
	if err != nil || calls == "" {
		return m, err
	}
	if err := json.Unmarshal([]byte(calls), &m.ToolCalls); err != nil {
		return m, fmt.Errorf("tool calls of %s step %d: %w", m.Turn, m.Step, err)
	}
	return m, nil
}

func rank(role domain.Role) int {
	switch role {
	case domain.RoleUser:
		return rankUser
	case domain.RoleAssistant:
		return rankCompletion
	default:
		return rankResult
	}
}

// insertMessage stores a row unless it exists, and returns the stored one. CreatedAt
// defaults to now.
func (r *runner) insertMessage(ctx context.Context, m domain.Message) (stored domain.Message, fresh bool, err error) {
	calls, err := encodeCalls(m.ToolCalls)
	if err != nil {
		return domain.Message{}, false, err
	}
	stored, fresh, err = one(ctx, r, scanMessage, `INSERT INTO messages
		(turn, step, rank, idx, role, content, reasoning, tool_calls, call_id, name, failed, filled, sender, source, created_at, output, sender_name)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
		ON CONFLICT (turn, step, rank, idx) DO NOTHING RETURNING `+messageColumns,
		m.Turn, m.Step, rank(m.Role), m.Index, string(m.Role), m.Content, m.Reasoning, calls, m.CallID, m.Name,
		m.Failed, m.Filled, m.Sender, m.Source, cmp.Or(m.CreatedAt, now()), m.Full, m.SenderName)
	if err == nil && fresh {
		err = r.remember(ctx, m)
	}
	if err != nil || fresh {
		return stored, fresh, err
	}
	stored, _, err = r.message(ctx, m.Turn, m.Step, rank(m.Role), m.Index)
	return stored, false, err
}

func encodeCalls(calls []domain.ToolCall) (string, error) {
	if len(calls) == 0 {
		return "", nil
	}
	cleaned := slices.Clone(calls)
	for i, call := range cleaned {
		cleaned[i] = domain.ToolCall{ID: clean(call.ID), Name: clean(call.Name), Arguments: clean(call.Arguments)}
	}
	data, err := json.Marshal(cleaned)
	return string(data), err
}

func (r *runner) message(ctx context.Context, turn string, step, rank, index int) (domain.Message, bool, error) {
	return one(ctx, r, scanMessage, messageByKey, turn, step, rank, index)
}

// messages returns all rows of a turn, in order.
func (r *runner) messages(ctx context.Context, turn string) ([]domain.Message, error) {
	return many(ctx, r, scanMessage, `SELECT `+messageColumns+` FROM messages
		WHERE turn = $1 ORDER BY step, rank, idx`, turn)
}

// earlier returns the last rows, at most window, of the unconsolidated turns before t
// in its epoch, starting at a user message. If a long turn leaves none, it returns the
// gist of the last turn.
func (r *runner) earlier(ctx context.Context, t turnRow, window int) ([]domain.Message, error) {
	if window <= 0 {
		return nil, nil
	}
	rows, err := many(ctx, r, scanMessage, `SELECT `+messageColumns+` FROM turns JOIN messages ON messages.turn = turns.id
		WHERE turns.session = $1 AND turns.epoch = $2 AND turns.seq < $3 AND turns.status <> 'running' AND NOT turns.consolidated`+
		newestFirst+` LIMIT $4`, t.Session, t.Epoch, t.seq, window)
	if err != nil {
		return nil, err
	}
	slices.Reverse(rows)
	for i, m := range rows {
		if m.Role == domain.RoleUser {
			return rows[i:], nil
		}
	}
	return r.gist(ctx, t)
}

// gist returns the user messages and the answer of the last turn before t in its epoch.
func (r *runner) gist(ctx context.Context, t turnRow) ([]domain.Message, error) {
	last, found, err := one(ctx, r, scanText, `SELECT id FROM turns
		WHERE session = $1 AND epoch = $2 AND seq < $3 AND status <> 'running' AND steps > 0 ORDER BY seq DESC LIMIT 1`,
		t.Session, t.Epoch, t.seq)
	if err != nil || !found {
		return nil, err
	}
	rows, err := r.messages(ctx, last)
	return slices.DeleteFunc(rows, func(m domain.Message) bool { return m.Role == domain.RoleTool || len(m.ToolCalls) > 0 }), err
}

// Completion returns a step's completion, or ErrNotFound.
func (s *Store) Completion(ctx context.Context, turn string, step int) (domain.Message, error) {
	return get(ctx, s, fmt.Sprintf("read completion of %s step %d", turn, step), scanMessage, messageByKey, turn, step, rankCompletion, 0)
}

// Result returns the result of a tool call and whether it exists.
func (s *Store) Result(ctx context.Context, turn string, step, index int) (domain.Message, bool, error) {
	return find(ctx, s, fmt.Sprintf("read result of %s step %d call %d", turn, step, index), scanMessage, messageByKey, turn, step, rankResult, index)
}

// SaveResult stores the result of the tool call given by Turn, Step and Index. The
// first writer wins; later ones get what is stored. ErrTurnEnded if the turn is not
// running and has no such result.
func (s *Store) SaveResult(ctx context.Context, m domain.Message) (stored domain.Message, err error) {
	m.Role = domain.RoleTool
	err = s.write(ctx, fmt.Sprintf("save result of %s step %d call %d", m.Turn, m.Step, m.Index), syncCommit, func(tx *runner) error {
		t, err := tx.turn(ctx, m.Turn, tx.sql.forShare)
		if err != nil {
			return err
		}
		if t.Status == domain.TurnRunning {
			stored, _, err = tx.insertMessage(ctx, m)
			return err
		}
		var found bool
		if stored, found, err = tx.message(ctx, m.Turn, m.Step, rankResult, m.Index); err == nil && !found {
			return ErrTurnEnded
		}
		return err
	})
	return stored, err
}
