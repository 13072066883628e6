package store

import (
	"context"
	"database/sql"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// Export is a session to export.
type Export struct {
	Session domain.Session
	Turns   []ExportTurn // those that have ended, oldest first
}

// ExportTurn is an ended turn of an exported session.
type ExportTurn struct {
	ID       string
	Messages int
	Past     bool // the model no longer sees it
}

// Export returns the exportable part of a session. ErrNotFound if it has no turns.
func (s *Store) Export(ctx context.Context, session string) (out Export, err error) {
	if out.Session, err = s.Session(ctx, session); err != nil {
		return Export{}, err
	}
	err = s.read("read turns of "+session, func(q *runner) error {
		out.Turns, err = many(ctx, q, scanExportTurn, `SELECT id, consolidated OR epoch < $2,
			(SELECT COUNT(*) FROM messages WHERE messages.turn = turns.id)
			FROM turns WHERE session = $1 AND status <> 'running' ORDER BY epoch, seq`, session, out.Session.Epoch)
		return err
	})
	return out, err
}

func scanExportTurn(rows *sql.Rows) (t ExportTurn, err error) {
	return t, rows.Scan(&t.ID, &t.Past, &t.Messages)
}

// ExportMessages returns the messages of a turn, in order. Full is set on results whose
// Content was cut.
func (s *Store) ExportMessages(ctx context.Context, turn string) (all []domain.Message, err error) {
	err = s.read("read messages of "+turn, func(q *runner) error {
		if all, err = q.messages(ctx, turn); err != nil {
			return err
		}
		for i, m := range all {
			all[i].Full, _, err = one(ctx, q, scanBytes, `SELECT output FROM messages
				WHERE turn = $1 AND step = $2 AND rank = $3 AND idx = $4 AND output IS NOT NULL`, m.Turn, m.Step, rank(m.Role), m.Index)
			if err != nil {
				return err
			}
		}
		return nil
	})
	return all, err
}
