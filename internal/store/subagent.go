package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/text"
)

// ErrTooMany reports that the limit of active subagents or jobs is reached.
var ErrTooMany = errors.New("too many are running")

const subagentColumns = `id, session, parent, label, task, status, report, created_at, ended_at,
	channel, chat, thread, push, sender, sender_name`

const subagentByID = `SELECT ` + subagentColumns + ` FROM subagents WHERE id = $1`

func scanSubagent(rows *sql.Rows) (a domain.Subagent, err error) {
	return a, rows.Scan(&a.ID, &a.Session, &a.Parent, &a.Label, &a.Task, &a.Status, &a.Report, stamp{&a.CreatedAt}, stamp{&a.EndedAt},
		&a.Route.Channel, &a.Route.Chat, &a.Route.Thread, &a.Route.Push, &a.Route.Sender, &a.SenderName)
}

// SpawnInput is a task for a new subagent.
type SpawnInput struct {
	ID    string // key of the call
	Turn  string // that makes the call
	Label string
	Task  string
	Limit int // concurrent subagents of one session
}

// Spawn stores a subagent and accepts its task as a message of its session. An existing
// subagent is returned unchanged. ErrTooMany if the limit is reached, ErrTurnEnded if
// the turn is not running.
func (s *Store) Spawn(ctx context.Context, in SpawnInput) (a domain.Subagent, err error) {
	err = s.write(ctx, "spawn "+in.ID, syncCommit, func(tx *runner) error {
		var found bool
		if a, found, err = tx.subagent(ctx, in.ID); err != nil || found {
			return err
		}
		t, err := tx.turn(ctx, in.Turn, tx.sql.forUpdate)
		if err != nil {
			return err
		}
		if t.Status != domain.TurnRunning {
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
		session := domain.SubagentSession(in.ID)
		a, _, err = one(ctx, tx, scanSubagent, `INSERT INTO subagents (`+subagentColumns+`, model)
			VALUES ($1, $2, $3, $4, $5, 'running', '', $6, 0, $7, $8, $9, $10, $11, $12, $13) RETURNING `+subagentColumns,
			in.ID, session, t.Session, in.Label, in.Task, now(), t.channel, t.chat, t.thread, t.push, t.Sender, name, t.Model)
		if err != nil {
			return err
		}
		_, _, err = tx.accept(ctx, domain.Inbound{
			ID: domain.TaskMessage(in.ID), Session: session, Channel: domain.SubagentChannel, Chat: in.ID,
			Sender: t.Sender, SenderName: name, Text: in.Task, SentAt: now(), Queue: true,
		})
		return err
	})
	return a, err
}

// EndSubagent records how a subagent ended and, unless it was stopped, accepts its
// report as a message of its parent. Both happen once. The result is the message to
// signal; its ID is empty if there is none. ErrNotFound if the subagent does not exist.
func (s *Store) EndSubagent(ctx context.Context, id string, status domain.SubagentStatus, report string) (message domain.Inbound, err error) {
	err = s.write(ctx, "end subagent "+id, syncCommit, func(tx *runner) error {
		a, ended, err := one(ctx, tx, scanSubagent, `UPDATE subagents SET status = $2, report = $3, ended_at = $4
			WHERE id = $1 AND status = 'running' RETURNING `+subagentColumns, id, string(status), report, now())
		switch {
		case err != nil:
			return err
		case ended && a.Status != domain.SubagentStopped:
			_, _, err = tx.accept(ctx, reportMessage(a))
		case !ended:
			a, err = required(ctx, tx, scanSubagent, subagentByID, id)
		}
		if err != nil || a.Status == domain.SubagentStopped {
			return err
		}
		message, err = tx.inbound(ctx, domain.ReportMessage(id))
		return err
	})
	return message, err
}

// reportMessage returns the message by which a subagent reports to its parent.
func reportMessage(a domain.Subagent) domain.Inbound {
	outcome := "is done"
	if a.Status == domain.SubagentFailed {
		outcome = "failed"
	}
	report := fmt.Sprintf("[Report of the subagent %q (%s), which %s]\nTask: %s\n\nResult:\n%s\n\n"+
		"[Tell the user in one or two sentences the outcome, in plain words. Do not mention subagents or IDs.]",
		text.Line(a.Label), domain.ShortID(a.ID), outcome, text.Escape(a.Task), text.Escape(a.Report))
	return domain.Inbound{
		ID: domain.ReportMessage(a.ID), Session: a.Parent, Channel: a.Route.Channel, Chat: a.Route.Chat, Thread: a.Route.Thread,
		Push: a.Route.Push, Queue: true, Sender: a.Route.Sender, SenderName: a.SenderName, Text: report, Child: a.ID, SentAt: now(),
	}
}

// Subagents returns the running subagents of a session, oldest first; of all
// sessions if parent is empty.
func (s *Store) Subagents(ctx context.Context, parent string) ([]domain.Subagent, error) {
	return list(ctx, s, "read subagents", scanSubagent, `SELECT `+subagentColumns+` FROM subagents
		WHERE status = 'running' AND ($1 = '' OR parent = $1) ORDER BY created_at, id`, parent)
}

// Subagent returns a subagent, or ErrNotFound.
func (s *Store) Subagent(ctx context.Context, id string) (domain.Subagent, error) {
	return get(ctx, s, "read subagent "+id, scanSubagent, subagentByID, id)
}

func (r *runner) stopSubagents(ctx context.Context, parent string) error {
	_, err := r.exec(ctx, `UPDATE subagents SET status = 'stopped', ended_at = $2 WHERE parent = $1 AND status = 'running'`, parent, now())
	return err
}

func (r *runner) subagent(ctx context.Context, id string) (domain.Subagent, bool, error) {
	return one(ctx, r, scanSubagent, subagentByID, id)
}
