package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// BackgroundReplies returns the replies of a session to jobs and subagents' reports
// that ended after a time, in the order in which they ended, at most limit.
func (s *Store) BackgroundReplies(ctx context.Context, session string, after time.Time, limit int) ([]domain.BackgroundReply, error) {
	return list(ctx, s, "read background replies of "+session, scanBackgroundReply, `SELECT turns.id, turns.status, turns.reply, turns.ended_at, inbox.job <> '',
			COALESCE(jobs.name, ''), COALESCE(jobs.message, ''), COALESCE(subagents.label, '')
		FROM turns JOIN inbox ON inbox.id = turns.id
			LEFT JOIN jobs ON jobs.id = inbox.job LEFT JOIN subagents ON subagents.id = inbox.child
		WHERE turns.session = $1 AND turns.ended_at > $2 AND (inbox.job <> '' OR inbox.child <> '')
		ORDER BY turns.ended_at, turns.seq LIMIT $3`, session, after, limit)
}

func scanBackgroundReply(rows *sql.Rows) (r domain.BackgroundReply, err error) {
	var status domain.TurnStatus
	var isJob bool
	var job domain.Job
	err = rows.Scan(&r.Turn, &status, &r.Text, stamp{&r.EndedAt}, &isJob, &job.Name, &job.Message, &r.Label)
	r.Status, r.Cause = status.Reply(), domain.CauseSubagent
	if isJob {
		r.Cause, r.Label = domain.CauseJob, job.Label()
	}
	return r, err
}
