package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// ErrBusy reports that an earlier message is not answered yet.
var ErrBusy = errors.New("an earlier message is not answered yet")

const jobColumns = `id, name, message, kind, spec, zone, session, channel, chat, thread, push, sender, sender_name,
	paused, scheduled, created_at, fired_at, ended_at, removed`

const jobByID = `SELECT ` + jobColumns + ` FROM jobs WHERE id = $1`

func scanJob(rows *sql.Rows) (j domain.Job, err error) {
	return j, rows.Scan(&j.ID, &j.Name, &j.Message, &j.Kind, &j.Spec, &j.Zone, &j.Session,
		&j.Route.Channel, &j.Route.Chat, &j.Route.Thread, &j.Route.Push, &j.Route.Sender, &j.SenderName,
		&j.Paused, &j.Scheduled, stamp{&j.CreatedAt}, stamp{&j.FiredAt}, stamp{&j.EndedAt}, &j.Removed)
}

// AddJob stores a job with the session and route of the turn that creates it; without a
// turn, as given. An existing job is returned unchanged. ErrTooMany if the session has
// limit active jobs, ErrTurnEnded if the turn is not running.
func (s *Store) AddJob(ctx context.Context, j domain.Job, turn string, limit int) (stored domain.Job, err error) {
	err = s.write(ctx, "add job "+j.ID, syncCommit, func(tx *runner) error {
		var found bool
		if stored, found, err = tx.job(ctx, j.ID); err != nil || found {
			return err
		}
		if turn != "" {
			if err := tx.routeJob(ctx, &j, turn); err != nil {
				return err
			}
		}
		live, _, err := one(ctx, tx, scanCount, `SELECT COUNT(*) FROM jobs WHERE session = $1 AND ended_at = 0`, j.Session)
		if err != nil {
			return err
		}
		if live >= limit {
			return ErrTooMany
		}
		stored, _, err = one(ctx, tx, scanJob, `INSERT INTO jobs (`+jobColumns+`)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, FALSE, FALSE, $14, 0, 0, FALSE) RETURNING `+jobColumns,
			j.ID, j.Name, j.Message, string(j.Kind), j.Spec, j.Zone, j.Session,
			j.Route.Channel, j.Route.Chat, j.Route.Thread, j.Route.Push, j.Route.Sender, j.SenderName, now())
		return err
	})
	return stored, err
}

// routeJob gives a job the route of a turn. A job created by another job's turn belongs
// to the conversation in which that job was created.
func (r *runner) routeJob(ctx context.Context, j *domain.Job, turn string) error {
	t, err := r.turn(ctx, turn, r.sql.forUpdate)
	if err != nil {
		return err
	}
	if t.Status != domain.TurnRunning {
		return ErrTurnEnded
	}
	if j.SenderName, _, err = one(ctx, r, scanText, `SELECT sender_name FROM messages
		WHERE turn = $1 AND rank = 0 ORDER BY step, idx LIMIT 1`, t.ID); err != nil {
		return err
	}
	j.Route = t.route()
	j.Session, err = r.madeIn(ctx, t.Session)
	return err
}

// madeIn returns the session that created the job if session is a job's own, else
// session.
func (r *runner) madeIn(ctx context.Context, session string) (string, error) {
	parent, found, err := r.job(ctx, domain.JobOf(session))
	if err != nil || !found {
		return session, err
	}
	return parent.Session, nil
}

// Jobs returns the active jobs of a session, oldest first; of all sessions if session
// is empty. For a job's own session they are those of the session that created it.
func (s *Store) Jobs(ctx context.Context, session string) (all []domain.Job, err error) {
	err = s.read("read jobs", func(q *runner) error {
		if session, err = q.madeIn(ctx, session); err != nil {
			return err
		}
		all, err = many(ctx, q, scanJob, `SELECT `+jobColumns+` FROM jobs
			WHERE `+openJob+` AND ended_at = 0 AND ($1 = '' OR session = $1) ORDER BY created_at, id`, session)
		return err
	})
	return all, err
}

// AllJobs returns the jobs of all sessions, including ended ones, oldest first.
func (s *Store) AllJobs(ctx context.Context) ([]domain.Job, error) {
	return list(ctx, s, "read all jobs", scanJob, `SELECT `+jobColumns+` FROM jobs ORDER BY created_at, id`)
}

// JobTurns returns the last turns that a job began, newest first.
func (s *Store) JobTurns(ctx context.Context, id string, limit int) ([]domain.Turn, error) {
	return list(ctx, s, "read turns of job "+id, scanDomainTurn, `SELECT `+turnColumns+` FROM turns WHERE id IN (
			SELECT id FROM inbox WHERE job = $1 AND job <> '' AND turn = id ORDER BY seq DESC LIMIT $2)
		ORDER BY seq DESC`, id, limit)
}

// openJob selects the jobs that are active or still have a schedule, as an index does.
const openJob = `(ended_at = 0 OR scheduled)`

// UnsettledJobs returns the jobs whose Temporal schedule may need a change: active jobs
// that have none or fire once, and ended jobs that still have one.
func (s *Store) UnsettledJobs(ctx context.Context) ([]domain.Job, error) {
	return list(ctx, s, "read unsettled jobs", scanJob, `SELECT `+jobColumns+` FROM jobs
		WHERE `+openJob+` AND (ended_at > 0 OR kind = 'at' OR NOT scheduled) ORDER BY created_at, id`)
}

// Job returns a job, including an ended one, or ErrNotFound.
func (s *Store) Job(ctx context.Context, id string) (domain.Job, error) {
	return get(ctx, s, "read job "+id, scanJob, jobByID, id)
}

// ScheduledJob records whether Temporal has a schedule for a job.
func (s *Store) ScheduledJob(ctx context.Context, id string, scheduled bool) error {
	return s.changeJob(ctx, id, `scheduled = $2 WHERE id = $1`, scheduled)
}

// PauseJob pauses or resumes a job. ErrNotFound if no such job is active.
func (s *Store) PauseJob(ctx context.Context, id string, paused bool) error {
	return s.changeJob(ctx, id, `paused = $2 WHERE id = $1 AND ended_at = 0`, paused)
}

// RemoveJob ends a job. ErrNotFound if no such job is active.
func (s *Store) RemoveJob(ctx context.Context, id string) error {
	return s.changeJob(ctx, id, `ended_at = $2, removed = TRUE WHERE id = $1 AND ended_at = 0`, now())
}

func (s *Store) changeJob(ctx context.Context, id, change string, value any) error {
	return s.change(ctx, "change job "+id, `UPDATE jobs SET `+change, id, value)
}

func (r *runner) job(ctx context.Context, id string) (domain.Job, bool, error) {
	return one(ctx, r, scanJob, jobByID, id)
}

// Firing is one occurrence of a job or the heartbeat.
type Firing struct {
	Message domain.Inbound // with Enriched set, since no channel can add it
	Job     string         // the job of the message; empty: not of a job
	Last    bool           // this ends the job
	Skip    bool           // only if all its earlier messages in the session are answered
	Beside  string         // another session to use in that case; empty: none
}

// Fire accepts the message of a firing once. ErrNotFound if the job is not active,
// ErrBusy if the firing is skipped.
func (s *Store) Fire(ctx context.Context, f Firing) (stored domain.Inbound, err error) {
	err = s.write(ctx, "fire "+f.Message.ID, syncCommit, func(tx *runner) error {
		stored, err = tx.inbound(ctx, f.Message.ID)
		if !errors.Is(err, domain.ErrNotFound) {
			return err
		}
		if err := tx.fired(ctx, f); err != nil {
			return err
		}
		f.Message.Job = f.Job
		busy, err := tx.busy(ctx, f.Message)
		switch {
		case err != nil:
			return err
		case busy && f.Skip:
			return ErrBusy
		case busy && f.Beside != "":
			f.Message.Session = f.Beside
		}
		stored, _, err = tx.accept(ctx, f.Message)
		return err
	})
	return stored, err
}

// busy reports whether the session has an unanswered message of the job; in a job's own
// session, any unanswered message.
func (r *runner) busy(ctx context.Context, in domain.Inbound) (bool, error) {
	job := in.Job
	if in.Session == domain.JobSession(job) {
		job = ""
	}
	_, busy, err := one(ctx, r, scanCount, `SELECT 1 FROM inbox WHERE session = $1 AND turn IS NULL AND ($2 = '' OR job = $2)
		UNION ALL SELECT 1 FROM turns WHERE session = $1 AND status = 'running'
			AND ($2 = '' OR EXISTS (SELECT 1 FROM inbox WHERE inbox.id = turns.id AND inbox.job = $2)) LIMIT 1`, in.Session, job)
	return busy, err
}

// fired records that a job fires.
func (r *runner) fired(ctx context.Context, f Firing) error {
	if f.Job == "" {
		return nil
	}
	ended := time.Time{}
	if f.Last {
		ended = now()
	}
	changed, err := r.exec(ctx, `UPDATE jobs SET fired_at = $2, ended_at = $3 WHERE id = $1 AND ended_at = 0`, f.Job, now(), ended)
	if err == nil && changed == 0 {
		return domain.ErrNotFound
	}
	return err
}
