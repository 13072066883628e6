package store

import (
	"cmp"
	"context"
	"database/sql"
	"slices"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/text"
)

// turnRow is a turn with the columns that only the store uses.
type turnRow struct {
	domain.Turn
	seq     int64
	channel string
	chat    string // of its first message: where the reply goes
	thread  string
	push    bool   // the reply to a message it consumed must be delivered
	prompt  string // hash of the last system prompt
}

// route returns where the turn's reply goes.
func (t turnRow) route() domain.Route {
	return domain.Route{Channel: t.channel, Chat: t.chat, Thread: t.thread, Sender: t.Sender, Push: t.push}
}

const turnColumns = `seq, id, session, channel, epoch, status, sender, chat, thread, push, reply, outbox, workflow_id, run_id,
	started_at, ended_at, prompt_tokens, completion_tokens, steps, prompt, cost, scope, model, unpriced`

func scanTurn(rows *sql.Rows) (t turnRow, err error) {
	return t, rows.Scan(&t.seq, &t.ID, &t.Session, &t.channel, &t.Epoch, &t.Status, &t.Sender, &t.chat, &t.thread,
		&t.push, &t.Reply, &t.Outbox, &t.WorkflowID, &t.RunID, stamp{&t.StartedAt}, stamp{&t.EndedAt},
		&t.PromptTokens, &t.CompletionTokens, &t.Steps, &t.prompt, &t.Cost, &t.Scope, &t.Model, &t.Unpriced)
}

func scanDomainTurn(rows *sql.Rows) (domain.Turn, error) {
	t, err := scanTurn(rows)
	return t.Turn, err
}

// turn returns a turn or ErrNotFound. lock is empty or one of the lock suffixes.
func (r *runner) turn(ctx context.Context, id, lock string) (turnRow, error) {
	if id == removedTurn {
		return turnRow{Turn: domain.Turn{ID: id, Status: domain.TurnDone}}, nil
	}
	return known(ctx, r, "turn", id, scanTurn, `SELECT `+turnColumns+` FROM turns WHERE id = $1`+lock)
}

// insertTurn stores a turn and determines its model.
func (r *runner) insertTurn(ctx context.Context, t turnRow) (turnRow, error) {
	t, _, err := one(ctx, r, scanTurn, `INSERT INTO turns
		(id, session, channel, epoch, status, sender, chat, thread, push, reply, outbox, workflow_id, run_id,
			started_at, ended_at, prompt_tokens, completion_tokens, steps, prompt, scope, model)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, 0, 0, 0, '', $16,
			COALESCE((SELECT model FROM subagents WHERE session = $2), (SELECT model FROM sessions WHERE key = $2), ''))
		RETURNING `+turnColumns,
		t.ID, t.Session, t.channel, t.Epoch, string(t.Status), t.Sender, t.chat, t.thread, t.push, t.Reply, t.Outbox,
		t.WorkflowID, t.RunID, t.StartedAt, t.EndedAt, t.Scope)
	return t, err
}

// updateTurn stores the fields of a turn that may change. Its row must be locked.
func (r *runner) updateTurn(ctx context.Context, t turnRow) error {
	_, err := r.exec(ctx, `UPDATE turns SET status = $2, push = $3, reply = $4, outbox = $5, ended_at = $6,
		prompt_tokens = $7, completion_tokens = $8, steps = $9, prompt = $10, cost = $11, unpriced = $12,
		workflow_id = $13, run_id = $14 WHERE id = $1`,
		t.ID, string(t.Status), t.push, t.Reply, t.Outbox, t.EndedAt,
		t.PromptTokens, t.CompletionTokens, t.Steps, t.prompt, t.Cost, t.Unpriced, t.WorkflowID, t.RunID)
	return err
}

// end closes t, all of whose messages are stored, and puts its reply into the outbox if a
// message asks for delivery and the turn has not written to that chat itself. The caller
// stores t.
func (r *runner) end(ctx context.Context, t *turnRow, status domain.TurnStatus, reply string, silent bool) error {
	t.Status, t.Reply, t.EndedAt = status, clean(reply), now()
	if err := r.countUnconsolidated(ctx, t.Turn); err != nil {
		return err
	}
	if silent || !t.push {
		return nil
	}
	if said, err := r.said(ctx, *t); err != nil || (said && status == domain.TurnDone) {
		return err
	}
	t.Outbox = domain.OutboxID(t.ID)
	return r.insertOutbox(ctx, domain.Outbound{
		ID: t.Outbox, Turn: t.ID, Session: t.Session, Channel: t.channel, Chat: t.chat, Thread: t.thread, Text: t.Reply,
	}, "")
}

// touchSession creates the session if necessary and returns its epoch. On Postgres it
// locks the row, which serializes the beginning and ending of a session's turns.
func (r *runner) touchSession(ctx context.Context, key, channel string) (epoch int, err error) {
	epoch, _, err = one(ctx, r, scanCount, `INSERT INTO sessions (key, channel, created_at, updated_at)
		VALUES ($1, $2, $3, $3) ON CONFLICT (key) DO UPDATE SET updated_at = excluded.updated_at RETURNING epoch`,
		key, channel, now())
	return epoch, err
}

// taken is the result of [runner.take].
type taken struct {
	turn    turnRow          // empty ID: other turns consumed all messages, so it was not created
	rows    []domain.Message // all of the turn's
	inbound []domain.Inbound // the messages it consumed, if it was created now; else nil
	other   string           // a turn that had consumed one of the messages
}

// take creates the turn if necessary and gives it the messages that no other turn has,
// with a user row at the step for each. Step 0 is the one after the last completion. An
// ended turn is returned unchanged.
func (r *runner) take(ctx context.Context, in BeginInput) (taken, error) {
	var got taken
	epoch, err := r.touchSession(ctx, in.Session, in.Channel)
	if err != nil {
		return taken{}, err
	}
	found, err := r.found(ctx, in.Turn, &got)
	if err != nil || found && got.turn.Status != domain.TurnRunning {
		return got, err
	}
	if in.Step == 0 {
		in.Step = lastStep(got.rows) + 1
	}
	var inbound []domain.Inbound
	push := false
	for _, id := range in.Messages {
		message, err := r.consume(ctx, id, in.Turn)
		if err != nil {
			return taken{}, err
		}
		if message.Turn != clean(in.Turn) {
			got.other = message.Turn
			continue
		}
		inbound = append(inbound, message)
		push = push || message.Push
	}
	switch {
	case !found && len(inbound) == 0:
		return got, nil
	case !found:
		got.inbound = inbound
		first := inbound[0]
		got.turn, err = r.insertTurn(ctx, turnRow{
			Turn: domain.Turn{
				ID: in.Turn, Session: in.Session, Epoch: epoch, Status: domain.TurnRunning, Sender: first.Sender,
				WorkflowID: in.WorkflowID, RunID: in.RunID, StartedAt: now(), Scope: in.scope(first),
			},
			channel: in.Channel, chat: first.Chat, thread: first.Thread, push: push,
		})
	case push && !got.turn.push, got.turn.RunID != in.RunID && in.RunID != "":
		got.turn.push = got.turn.push || push
		got.turn.WorkflowID, got.turn.RunID = cmp.Or(in.WorkflowID, got.turn.WorkflowID), cmp.Or(in.RunID, got.turn.RunID)
		err = r.updateTurn(ctx, got.turn)
	}
	if err != nil {
		return taken{}, err
	}
	got.rows, err = r.insertUsers(ctx, got.rows, in.Turn, in.Step, inbound)
	return got, err
}

// found reads and locks the turn and its rows if it exists.
func (r *runner) found(ctx context.Context, id string, got *taken) (found bool, err error) {
	got.turn, found, err = one(ctx, r, scanTurn, `SELECT `+turnColumns+` FROM turns WHERE id = $1`+r.sql.forUpdate, id)
	if err != nil || !found {
		return false, err
	}
	got.rows, err = r.messages(ctx, id)
	return true, err
}

// insertUsers adds a user row for each message that has none yet, and returns all rows
// in order.
func (r *runner) insertUsers(ctx context.Context, rows []domain.Message, turn string, step int, inbound []domain.Inbound) ([]domain.Message, error) {
	at, index := len(rows), 0
	for i, m := range rows {
		if m.Step == step && m.Role == domain.RoleUser {
			index++
		} else if m.Step >= step {
			at = min(at, i)
		}
	}
	for _, in := range inbound {
		isSource := func(m domain.Message) bool { return m.Role == domain.RoleUser && m.Source == in.ID }
		if slices.ContainsFunc(rows, isSource) {
			continue
		}
		m, _, err := r.insertMessage(ctx, domain.Message{
			Turn: turn, Step: step, Index: index, Role: domain.RoleUser,
			Content: said(in), Sender: in.Sender, SenderName: in.Name(), Source: in.ID,
		})
		if err != nil {
			return nil, err
		}
		rows = slices.Insert(rows, at, m)
		at, index = at+1, index+1
	}
	return rows, nil
}

// lastStep returns the step of the last completion, or 0.
func lastStep(rows []domain.Message) int {
	last := 0
	for _, m := range rows {
		if m.Role == domain.RoleAssistant {
			last = max(last, m.Step)
		}
	}
	return last
}

// said returns a message's text as the model reads it.
func said(in domain.Inbound) string {
	switch {
	case in.Enriched != nil:
		return in.Enriched.Text
	case in.IsOurs():
		return in.Text
	default:
		return text.Escape(in.Text)
	}
}
