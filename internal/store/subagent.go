package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// ErrTooMany is returned where as many run already as may.
var ErrTooMany = errors.New("too many are running")

// SubagentStatus says how a subagent is or ended.
type SubagentStatus string

// The statuses of a subagent.
const (
	SubagentRunning SubagentStatus = "running"
	SubagentDone    SubagentStatus = "done"
	SubagentFailed  SubagentStatus = "failed"
	SubagentStopped SubagentStatus = "stopped" // by a user, who is told nothing more of it
)

// Subagent is a task that a turn handed to an agent of its own.
type Subagent struct {
	ID        string // key of the call that spawned it
	Session   string // its own
	Parent    string // session that its report goes to
	Label     string
	Task      string
	Status    SubagentStatus
	Report    string // once ended
	CreatedAt time.Time
	EndedAt   time.Time // zero while running

	route      Route
	senderName string
}

const subagentColumns = `id, session, parent, label, task, status, report, created_at, ended_at,
	channel, chat, thread, push, sender, sender_name`

func scanSubagent(rows *sql.Rows) (a Subagent, err error) {
	return a, rows.Scan(&a.ID, &a.Session, &a.Parent, &a.Label, &a.Task, &a.Status, &a.Report, stamp{&a.CreatedAt}, stamp{&a.EndedAt},
		&a.route.Channel, &a.route.Chat, &a.route.Thread, &a.route.Push, &a.route.Sender, &a.senderName)
}

// SpawnInput is a task to be handed over.
type SpawnInput struct {
	ID    string // key of the call
	Turn  string // that makes the call
	Label string
	Task  string
	Limit int // how many may run at once for one session
}

// Spawn stores a subagent and its task, as an accepted message of its session. One
// that is there is returned as it is. ErrTooMany if the limit is reached,
// ErrTurnEnded if the turn is not running.
func (s *Store) Spawn(ctx context.Context, in SpawnInput) (a Subagent, err error) {
	err = s.write(ctx, "spawn "+in.ID, durable, func(tx *runner) error {
		var found bool
		if a, found, err = tx.subagent(ctx, in.ID); err != nil || found {
			return err
		}
		t, err := tx.turn(ctx, in.Turn, tx.update)
		if err != nil {
			return err
		}
		if t.Status != TurnRunning {
			return ErrTurnEnded
		}
		running, _, err := one(ctx, tx, scanCount, `SELECT COUNT(*) FROM subagents WHERE parent = $1 AND status = 'running'`, t.Session)
		if err != nil {
			return err
		}
		if running >= in.Limit {
			return ErrTooMany
		}
		name, _, err := one(ctx, tx, scanText, `SELECT sender_name FROM messages WHERE turn = $1 AND rank = 0 ORDER BY step, idx LIMIT 1`, t.ID)
		if err != nil {
			return err
		}
		session := protocol.SubagentSession(in.ID)
		a, _, err = one(ctx, tx, scanSubagent, `INSERT INTO subagents (`+subagentColumns+`, model)
			VALUES ($1, $2, $3, $4, $5, 'running', '', $6, 0, $7, $8, $9, $10, $11, $12, $13) RETURNING `+subagentColumns,
			in.ID, session, t.Session, in.Label, in.Task, now(), t.channel, t.chat, t.thread, t.push, t.Sender, name, t.Model)
		if err != nil {
			return err
		}
		_, err = tx.insertInbound(ctx, Inbound{
			ID: protocol.TaskMessage(in.ID), Session: session, Channel: protocol.SubagentChannel, Chat: in.ID,
			Sender: t.Sender, SenderName: name, Text: in.Task, SentAt: now(),
		})
		return err
	})
	if err != nil {
		return Subagent{}, err
	}
	return a, nil
}

// EndSubagent records how a subagent ended and, unless it was stopped, puts what it
// reports into its parent's inbox, to be signalled; both once: message has no ID
// if there is nothing to signal. ErrNotFound if there is no such subagent.
func (s *Store) EndSubagent(ctx context.Context, id string, status SubagentStatus, report string) (message Inbound, err error) {
	err = s.write(ctx, "end subagent "+id, durable, func(tx *runner) error {
		a, ended, err := one(ctx, tx, scanSubagent, `UPDATE subagents SET status = $2, report = $3, ended_at = $4
			WHERE id = $1 AND status = 'running' RETURNING `+subagentColumns, id, string(status), report, now())
		switch {
		case err != nil:
			return err
		case ended && a.Status != SubagentStopped:
			_, err = tx.insertInbound(ctx, a.message())
		case !ended:
			var found bool
			if a, found, err = tx.subagent(ctx, id); err == nil && !found {
				return ErrNotFound
			}
		}
		if err != nil || a.Status == SubagentStopped {
			return err
		}
		message, err = tx.inbound(ctx, protocol.ReportMessage(id))
		return err
	})
	if err != nil {
		return Inbound{}, err
	}
	return message, nil
}

// message is what the subagent tells its parent.
func (a Subagent) message() Inbound {
	text := fmt.Sprintf("[Report of the subagent %q (%s), which %s]\nTask: %s\n\nResult:\n%s\n\n"+
		"[Tell the user in one or two sentences what came of it, in plain words. Leave out subagents and IDs.]",
		a.Label, protocol.ShortID(a.ID), a.outcome(), a.Task, a.Report)
	return Inbound{
		ID: protocol.ReportMessage(a.ID), Session: a.Parent, Channel: a.route.Channel, Chat: a.route.Chat, Thread: a.route.Thread,
		Push: a.route.Push, Sender: a.route.Sender, SenderName: a.senderName, Text: text, Child: a.ID, SentAt: now(),
	}
}

func (a Subagent) outcome() string {
	if a.Status == SubagentFailed {
		return "failed"
	}
	return "is done"
}

// Subagents returns the running subagents of a session, oldest first; of all
// sessions if parent is empty.
func (s *Store) Subagents(ctx context.Context, parent string) (all []Subagent, err error) {
	err = s.read("read subagents", func(q *runner) error {
		all, err = many(ctx, q, scanSubagent, `SELECT `+subagentColumns+` FROM subagents
			WHERE status = 'running' AND ($1 = '' OR parent = $1) ORDER BY created_at, id`, parent)
		return err
	})
	return all, err
}

// Subagent returns a subagent, or ErrNotFound.
func (s *Store) Subagent(ctx context.Context, id string) (a Subagent, err error) {
	err = s.read("read subagent "+id, func(q *runner) error {
		var found bool
		if a, found, err = q.subagent(ctx, id); err == nil && !found {
			return ErrNotFound
		}
		return err
	})
	return a, err
}

func (r *runner) stopSubagents(ctx context.Context, parent string) error {
	_, err := r.exec(ctx, `UPDATE subagents SET status = 'stopped', ended_at = $2 WHERE parent = $1 AND status = 'running'`, parent, now())
	return err
}

func (r *runner) subagent(ctx context.Context, id string) (Subagent, bool, error) {
	return one(ctx, r, scanSubagent, `SELECT `+subagentColumns+` FROM subagents WHERE id = $1`, id)
}
