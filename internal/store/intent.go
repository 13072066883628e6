package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

func scanIntent(rows *sql.Rows) (i Intent, err error) {
	err = rows.Scan(&i.Turn, &i.Call, &i.Part, &i.Data)
	if len(i.Data) == 0 {
		i.Data = nil
	}
	return i, err
}

// Intend stores what a tool call is about to do unless an intent is stored already, and
// returns the stored one; fresh reports whether it is new. ErrTurnEnded if the turn is
// not running and has no such intent.
func (s *Store) Intend(ctx context.Context, in Intent) (stored []byte, fresh bool, err error) {
	if in.Data == nil {
		in.Data = []byte{}
	}
	err = s.write(ctx, fmt.Sprintf("intend %s %s", in.Call, in.Part), syncCommit, func(tx *runner) error {
		t, err := tx.turn(ctx, in.Turn, tx.sql.forShare)
		if err != nil {
			return err
		}
		if t.Status == domain.TurnRunning {
			if stored, fresh, err = one(ctx, tx, scanBytes, `INSERT INTO intents (turn, call, part, data, created_at)
				VALUES ($1, $2, $3, $4, $5) ON CONFLICT (turn, call, part) DO NOTHING RETURNING data`,
				in.Turn, in.Call, in.Part, in.Data, now()); err != nil || fresh {
				return err
			}
		}
		var found bool
		stored, found, err = one(ctx, tx, scanBytes, `SELECT data FROM intents WHERE turn = $1 AND call = $2 AND part = $3`,
			in.Turn, in.Call, in.Part)
		if err == nil && !found {
			return ErrTurnEnded
		}
		return err
	})
	if err != nil {
		return nil, false, err
	}
	return stored, fresh, nil
}

// Begun reports whether a tool call may have taken effect: it has an intent, or what it
// makes exists, a message, a subagent or a job.
func (s *Store) Begun(ctx context.Context, turn, call string) (begun bool, err error) {
	_, begun, err = find(ctx, s, "look for what "+call+" began", scanCount, `SELECT 1 FROM intents WHERE turn = $1 AND call = $2
		UNION ALL SELECT 1 FROM outbox WHERE id IN ($3, $4)
		UNION ALL SELECT 1 FROM subagents WHERE id = $2
		UNION ALL SELECT 1 FROM jobs WHERE id = $5
		LIMIT 1`, turn, call, domain.CallOutboxID(call, 0), domain.CallOutboxID(call, 1), domain.ShortID(call))
	return begun, err
}

// Intent returns the intent of a part of a tool call, if it has one.
func (s *Store) Intent(ctx context.Context, turn, call, part string) (intent []byte, found bool, err error) {
	return find(ctx, s, "read intent "+call+" "+part, scanBytes, `SELECT data FROM intents WHERE turn = $1 AND call = $2 AND part = $3`, turn, call, part)
}

// Intents returns the intents of all tool calls of a turn.
func (s *Store) Intents(ctx context.Context, turn string) ([]Intent, error) {
	return list(ctx, s, "read intents of "+turn, scanIntent, `SELECT turn, call, part, data FROM intents
		WHERE turn = $1 ORDER BY created_at, call, part`, turn)
}
