package schedule

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/internal/dispatch"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

type arguments struct {
	Action  string `json:"action"`
	Message string `json:"message,omitempty"`
	Name    string `json:"name,omitempty"`
	At      string `json:"at,omitempty"`
	Every   int    `json:"every_seconds,omitempty"`
	Cron    string `json:"cron_expr,omitempty"`
	Zone    string `json:"tz,omitempty"`
	ID      string `json:"job_id,omitempty"`
}

// Tool returns the agent's cron tool.
func (j *Jobs) Tool() tool.Tool {
	return tool.New("cron", `Manage reminders and recurring tasks. When one is due, you get its message as a request; your answer goes to
this conversation. Actions: add, list, remove (job_id). add takes a self-contained message and a time:
at (2026-03-04T15:30:00+01:00), every_seconds, or cron_expr (0 9 * * 1-5) with tz (Europe/Berlin).`,
		tool.Keyed, j.run)
}

func (j *Jobs) run(ctx context.Context, call tool.Call, args arguments) (tool.Result, error) {
	switch strings.ToLower(strings.TrimSpace(args.Action)) {
	case "add":
		return j.add(ctx, call, args)
	case "list":
		return j.list(ctx, call)
	case "remove":
		return j.remove(ctx, call, strings.TrimSpace(args.ID))
	default:
		return tool.Result{}, fmt.Errorf("unknown action %q; use add, list or remove", args.Action)
	}
}

// seconds returns n seconds, or the longest duration that is shorter.
func seconds(n int) time.Duration {
	const limit = math.MaxInt64 / int64(time.Second)
	return time.Duration(min(max(int64(n), -limit), limit)) * time.Second
}

// add creates the job of a call, unless an earlier attempt stored it. The time of a stored
// job is not checked again: it may have passed.
func (j *Jobs) add(ctx context.Context, call tool.Call, args arguments) (tool.Result, error) {
	id := domain.ShortID(call.Key)
	job, err := j.o.Store.Job(ctx, id)
	if errors.Is(err, domain.ErrNotFound) {
		var usual string
		if usual, err = j.usualZone(ctx, call.Turn()); err != nil {
			return tool.Result{}, retryable(err)
		}
		if job, err = Parse(Request{
			Name: args.Name, Message: args.Message, At: args.At, Every: seconds(args.Every), Cron: args.Cron,
			Zone: args.Zone, Usual: usual, Shortest: j.o.Shortest, Now: time.Now(),
		}); err != nil {
			return tool.Result{}, err
		}
		job.ID = id
	}
	if err != nil {
		return tool.Result{}, retryable(err)
	}
	job, err = j.Add(ctx, job, call.Turn())
	switch {
	case errors.Is(err, store.ErrTooMany), errors.Is(err, dispatch.ErrInvalidSchedule):
		return tool.Result{}, err
	case err != nil:
		return tool.Result{}, retryable(err)
	}
	return tool.Result{Text: "Added.\n" + List([]domain.Job{job}, time.Now())}, nil
}

// usualZone returns the time zone of the user who began a turn; empty if unknown.
func (j *Jobs) usualZone(ctx context.Context, turn string) (string, error) {
	in, err := j.o.Store.Inbound(ctx, turn)
	if err != nil || in.Enriched == nil {
		return "", err
	}
	return in.Enriched.Zone, nil
}

func (j *Jobs) list(ctx context.Context, call tool.Call) (tool.Result, error) {
	jobs, err := j.visible(ctx, call)
	if err != nil {
		return tool.Result{}, retryable(err)
	}
	return tool.Result{Text: List(jobs, time.Now())}, nil
}

// visible returns the jobs that the caller may see and remove: those of the conversation,
// or all for the operator.
func (j *Jobs) visible(ctx context.Context, call tool.Call) ([]domain.Job, error) {
	route, err := j.o.Store.Route(ctx, call.Turn())
	if err != nil {
		return nil, err
	}
	session := call.Session
	if j.o.IsOperator != nil && j.o.IsOperator(route) {
		session = ""
	}
	return j.o.Store.Jobs(ctx, session)
}

func (j *Jobs) remove(ctx context.Context, call tool.Call, id string) (tool.Result, error) {
	if id == "" {
		return tool.Result{}, errors.New("job_id is missing; the action list shows the IDs")
	}
	jobs, err := j.visible(ctx, call)
	if err != nil {
		return tool.Result{}, retryable(err)
	}
	if !slices.ContainsFunc(jobs, func(job domain.Job) bool { return job.ID == id }) {
		return j.removedBefore(ctx, id)
	}
	if err := j.Remove(ctx, id); err != nil && !errors.Is(err, domain.ErrNotFound) {
		return tool.Result{}, retryable(err)
	}
	return tool.Result{Text: "Removed."}, nil
}

// removedBefore returns the result for a job that is not active: an earlier attempt may
// have removed it.
func (j *Jobs) removedBefore(ctx context.Context, id string) (tool.Result, error) {
	job, err := j.o.Store.Job(ctx, id)
	switch {
	case err == nil && job.Removed:
		return tool.Result{Text: "Removed."}, nil
	case err == nil || errors.Is(err, domain.ErrNotFound):
		return tool.Result{}, fmt.Errorf("no job %q here; the action list shows the jobs", id)
	default:
		return tool.Result{}, retryable(err)
	}
}

// retryable marks an error as temporary: another attempt may succeed.
func retryable(err error) error { return fmt.Errorf("%w: %w", tool.ErrRetry, err) }
