package store

import (
	"context"
	"database/sql"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// Rate stores a person's rating of a turn's reply in place of their earlier one, and reports
// whether that changed it. A rating older than the stored one changes nothing.
// ErrNotFound if no such reply was sent to the chat.
func (s *Store) Rate(ctx context.Context, r domain.Rating) (changed bool, err error) {
	err = s.write(ctx, "rate "+r.Turn, syncCommit, func(tx *runner) error {
		reply, err := tx.outbound(ctx, domain.OutboxID(r.Turn))
		if err != nil {
			return err
		}
		if reply.Channel != r.Channel || reply.Chat != r.Chat {
			return domain.ErrNotFound
		}
		before, rated, err := one(ctx, tx, scanRating, `SELECT turn, sender, good, rated_at FROM ratings WHERE turn = $1 AND sender = $2`, r.Turn, r.Sender)
		if err != nil {
			return err
		}
		stored, err := tx.exec(ctx, `INSERT INTO ratings (turn, sender, good, rated_at) VALUES ($1, $2, $3, $4)
			ON CONFLICT (turn, sender) DO UPDATE SET good = excluded.good, rated_at = excluded.rated_at WHERE ratings.rated_at <= excluded.rated_at`,
			r.Turn, r.Sender, r.Good, r.At)
		changed = stored == 1 && (!rated || before.Good != r.Good)
		return err
	})
	return changed, err
}

// Ratings returns the ratings of a session's replies by turn, oldest first.
func (s *Store) Ratings(ctx context.Context, session string) (map[string][]domain.Rating, error) {
	all, err := list(ctx, s, "read the ratings of "+session, scanRating, `SELECT turn, sender, good, rated_at FROM ratings
		WHERE turn IN (SELECT id FROM turns WHERE session = $1) ORDER BY rated_at, sender`, session)
	byTurn := map[string][]domain.Rating{}
	for _, r := range all {
		byTurn[r.Turn] = append(byTurn[r.Turn], r)
	}
	return byTurn, err
}

func scanRating(rows *sql.Rows) (r domain.Rating, err error) {
	return r, rows.Scan(&r.Turn, &r.Sender, &r.Good, stamp{&r.At})
}
