package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// SaveCompletion stores a completion and its cost, and ends the turn if it is final;
// outbox is then the ID of the reply to deliver, if any message of the turn asks for
// delivery. The first writer wins; later ones get what is stored. ErrTurnEnded if the
// turn is not running and has no such completion, ErrNotFound if the turn does not
// exist.
func (s *Store) SaveCompletion(ctx context.Context, c Completion) (stored domain.Message, outbox string, err error) {
	m := c.Message
	m.Turn, m.Step, m.Index, m.Role = c.Turn, c.Step, 0, domain.RoleAssistant
	err = s.write(ctx, fmt.Sprintf("save completion of %s step %d", c.Turn, c.Step), syncCommit, func(tx *runner) error {
		t, err := tx.turn(ctx, c.Turn, tx.sql.forUpdate)
		if err != nil {
			return err
		}
		outbox = t.Outbox
		if t.Status != domain.TurnRunning {
			var found bool
			if stored, found, err = tx.message(ctx, m.Turn, m.Step, rankCompletion, 0); err == nil && !found {
				return ErrTurnEnded
			}
			return err
		}
		var fresh bool
		if stored, fresh, err = tx.insertMessage(ctx, m); err != nil || !fresh {
			return err
		}
		if err := tx.account(ctx, &t, c); err != nil {
			return err
		}
		if c.Final {
			if err := tx.end(ctx, &t, domain.TurnDone, c.Reply, c.Silent); err != nil {
				return err
			}
		}
		outbox = t.Outbox
		return tx.updateTurn(ctx, t)
	})
	return stored, outbox, err
}

// account stores a completion's cost and system prompt and adds the cost to t.
func (r *runner) account(ctx context.Context, t *turnRow, c Completion) error {
	t.Steps++
	t.AddCall(c.Usage, c.Cost, c.Priced)
	err := r.insertUsage(ctx, c)
	if err != nil || c.Prompt == "" {
		return err
	}
	sum := sha256.Sum256([]byte(clean(c.Prompt)))
	hash := hex.EncodeToString(sum[:])
	if t.prompt == hash {
		return nil
	}
	t.prompt = hash
	_, err = r.exec(ctx, `INSERT INTO prompts (hash, content) VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING`, hash, c.Prompt)
	return err
}

func (r *runner) insertUsage(ctx context.Context, c Completion) error {
	_, err := r.exec(ctx, `INSERT INTO usage (turn, step, provider, model, prompt_tokens, completion_tokens, duration_ms, created_at,
			cached_tokens, cost)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (turn, step) DO NOTHING`,
		c.Turn, c.Step, c.Provider, c.Model, c.Usage.PromptTokens, c.Usage.CompletionTokens, c.Duration.Milliseconds(), now(),
		c.Cached, sql.NullInt64{Int64: c.Cost, Valid: c.Priced})
	return err
}

// EndTurn ends a turn that the model did not finish and leaves a transcript that models
// accept: the messages are consumed, each tool call has a result, and the reply, if
// any, is the last completion. It returns the turn; an ended one is not changed. If the
// turn does not exist and another one consumed its messages, the result has no ID.
func (s *Store) EndTurn(ctx context.Context, e End) (turn domain.Turn, err error) {
	err = s.write(ctx, "end "+e.Turn, syncCommit, func(tx *runner) error {
		got, err := tx.take(ctx, BeginInput{
			Session: e.Session, Channel: e.Channel, Turn: e.Turn, Messages: e.Messages,
			WorkflowID: e.WorkflowID, RunID: e.RunID,
		})
		if err != nil {
			return err
		}
		turn = got.turn.Turn
		if turn.ID == "" || turn.Status != domain.TurnRunning {
			return nil
		}
		if err := tx.fillMissingResults(ctx, got.rows, e.Fill); err != nil {
			return err
		}
		if e.Reply != "" {
			reply := domain.Message{Turn: e.Turn, Step: lastStep(got.rows) + 1, Role: domain.RoleAssistant, Content: e.Reply}
			if _, _, err := tx.insertMessage(ctx, reply); err != nil {
				return err
			}
		}
		if err := tx.dropApprovals(ctx, e.Turn); err != nil {
			return err
		}
		if err := tx.end(ctx, &got.turn, e.Status, e.Reply, e.Silent); err != nil {
			return err
		}
		turn = got.turn.Turn
		return tx.updateTurn(ctx, got.turn)
	})
	return turn, err
}

// fillMissingResults adds a result with the text to each tool call without one.
func (r *runner) fillMissingResults(ctx context.Context, rows []domain.Message, text string) error {
	type call struct{ step, index int }
	answered := map[call]bool{}
	for _, m := range rows {
		if m.Role == domain.RoleTool {
			answered[call{m.Step, m.Index}] = true
		}
	}
	for _, m := range rows {
		for i, c := range m.ToolCalls {
			if answered[call{m.Step, i}] {
				continue
			}
			_, _, err := r.insertMessage(ctx, domain.Message{
				Turn: m.Turn, Step: m.Step, Index: i, Role: domain.RoleTool,
				Content: text, CallID: c.ID, Name: c.Name, Failed: true, Filled: true,
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// AnswerInput is the answer to a command.
type AnswerInput struct {
	Session    string
	Channel    string
	Message    string // inbound ID; the turn gets it too
	Reply      string
	WorkflowID string
	RunID      string
	Reset      bool // begin a new epoch: the model no longer sees the transcript so far
	Stop       bool // stop the session's subagents
	Silent     bool // make no outbox row
	// Model is the session's new model, as provider/model, or empty for the configured
	// one; nil changes nothing.
	Model *string
}

// Answer answers a command: it consumes the message with a turn without transcript. If
// a turn consumed the message before, that turn is returned, fresh is false and nothing
// is changed. ErrNotFound if the message was never accepted.
func (s *Store) Answer(ctx context.Context, in AnswerInput) (turn domain.Turn, fresh bool, err error) {
	err = s.write(ctx, "answer "+in.Message, syncCommit, func(tx *runner) error {
		epoch, err := tx.touchSession(ctx, in.Session, in.Channel)
		if err != nil {
			return err
		}
		message, err := tx.inbound(ctx, in.Message)
		if err != nil {
			return err
		}
		if message.Turn != "" {
			t, err := tx.turn(ctx, message.Turn, "")
			turn = t.Turn
			return err
		}
		if _, err := tx.consume(ctx, in.Message, in.Message); err != nil {
			return err
		}
		t := turnRow{
			Turn: domain.Turn{
				ID: in.Message, Session: in.Session, Epoch: epoch, Sender: message.Sender,
				WorkflowID: in.WorkflowID, RunID: in.RunID, StartedAt: now(),
			},
			channel: in.Channel, chat: message.Chat, thread: message.Thread, push: message.Push,
		}
		if err := tx.end(ctx, &t, domain.TurnDone, in.Reply, in.Silent); err != nil {
			return err
		}
		if t, err = tx.insertTurn(ctx, t); err != nil {
			return err
		}
		turn, fresh = t.Turn, true
		if in.Model != nil {
			if _, err := tx.exec(ctx, `UPDATE sessions SET model = $2 WHERE key = $1`, in.Session, *in.Model); err != nil {
				return err
			}
		}
		if in.Stop {
			if err := tx.stopSubagents(ctx, in.Session); err != nil {
				return err
			}
		}
		if in.Reset {
			err = tx.each(ctx, in.Session, `UPDATE sessions SET epoch = epoch + 1 WHERE key = $1`,
				`UPDATE unconsolidated SET past = TRUE WHERE session = $1`)
		}
		return err
	})
	return turn, fresh, err
}
