package dispatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/holdfast-ai/holdfast/internal/protocol"
)

const (
	// queryTimeout bounds the status query, which needs a worker to answer.
	queryTimeout = 2 * time.Second
	// lookTimeout bounds looking at the outcome of a run.
	lookTimeout = 5 * time.Second
	// closePoll is how often a run is described that is expected to close. A client
	// that waits on a history may miss its end, see docs/decisions.md.
	closePoll = 50 * time.Millisecond
	// idlePoll is how often open runs are counted.
	idlePoll = 10 * time.Millisecond
)

// ErrNoRun is wrapped by errors about runs that Temporal does not know.
var ErrNoRun = errors.New("no such run")

// Run is an execution of a workflow.
type Run struct {
	WorkflowID string
	RunID      string
	Status     string // "running", "completed", "continued as new" …
	StartedAt  time.Time
	ClosedAt   time.Time // zero while running
	Pending    []PendingActivity
}

// Statuses of runs that callers compare with.
const (
	StatusRunning        = "running"
	statusContinuedAsNew = "continued as new"
)

// PendingActivity is an activity that is scheduled or running.
type PendingActivity struct {
	ID          string
	Type        string
	Attempt     int
	ScheduledAt time.Time
	LastFailure string // of the previous attempt; empty for none
}

// Running reports whether the run is open.
func (r Run) Running() bool { return r.Status == StatusRunning }

// Duration is how long the run took, or has taken so far.
func (r Run) Duration() time.Duration {
	end := r.ClosedAt
	if end.IsZero() {
		end = time.Now()
	}
	return max(end.Sub(r.StartedAt), 0)
}

// Run finds a run by its workflow ID or its session's key. An empty runID is the latest.
func (c *Client) Run(ctx context.Context, id, runID string) (Run, error) {
	var missing error
	for _, candidate := range []string{id, c.names.Session(id)} {
		described, err := c.sdk.DescribeWorkflowExecution(ctx, candidate, runID)
		if err == nil {
			run := newRun(described.WorkflowExecutionInfo)
			for _, activity := range described.PendingActivities {
				run.Pending = append(run.Pending, pendingActivity(activity))
			}
			return run, nil
		}
		if !isNotFound(err) {
			return Run{}, fmt.Errorf("describe run %s: %w", id, err)
		}
		missing = cmp.Or(missing, err)
	}
	return Run{}, fmt.Errorf("%w: %w", ErrNoRun, missing)
}

func newRun(info *workflowpb.WorkflowExecutionInfo) Run {
	run := Run{
		WorkflowID: info.GetExecution().GetWorkflowId(), RunID: info.GetExecution().GetRunId(),
		Status: statusName(info.GetStatus()), StartedAt: info.GetStartTime().AsTime(),
	}
	if info.CloseTime != nil {
		run.ClosedAt = info.CloseTime.AsTime()
	}
	return run
}

func pendingActivity(info *workflowpb.PendingActivityInfo) PendingActivity {
	pending := PendingActivity{
		ID: info.ActivityId, Type: info.ActivityType.GetName(), Attempt: int(info.Attempt), ScheduledAt: info.ScheduledTime.AsTime(),
	}
	if info.LastFailure != nil {
		pending.LastFailure = failureText(info.LastFailure)
	}
	return pending
}

// Summary returns a run's summary as the UI shows it, or an empty string.
func (c *Client) Summary(ctx context.Context, run Run) string {
	described, err := c.sdk.DescribeWorkflow(ctx, run.WorkflowID, run.RunID)
	if err != nil {
		return ""
	}
	summary, _ := described.GetStaticSummary()
	return summary
}

// Status asks a running session what it does.
func (c *Client) Status(ctx context.Context, run Run) (status protocol.Status, err error) {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	answer, err := c.sdk.QueryWorkflow(ctx, run.WorkflowID, run.RunID, protocol.StatusQuery)
	if err != nil {
		return status, err
	}
	return status, answer.Get(&status)
}

// Stop cancels a run and the runs it continues as, and returns once none is open or,
// with the context's cause, when ctx ends.
func (c *Client) Stop(ctx context.Context, run Run) error {
	for {
		if err := c.sdk.CancelWorkflow(ctx, run.WorkflowID, run.RunID); err != nil && !isNotFound(err) {
			return fmt.Errorf("stop %s: %w", run.WorkflowID, err)
		}
		closed, err := c.awaitClosed(ctx, run)
		if err != nil || closed.Status != statusContinuedAsNew {
			return err
		}
		if run, err = c.Run(ctx, run.WorkflowID, ""); err != nil {
			return err
		}
	}
}

func (c *Client) awaitClosed(ctx context.Context, run Run) (Run, error) {
	ticker := time.NewTicker(closePoll)
	defer ticker.Stop()
	for {
		described, err := c.Run(ctx, run.WorkflowID, run.RunID)
		switch {
		case ctx.Err() != nil:
			return Run{}, context.Cause(ctx)
		case err != nil:
			return Run{}, err
		case !described.Running():
			return described, nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return Run{}, context.Cause(ctx)
		}
	}
}

// AwaitIdle waits until no run is open, for at most timeout. A reply is stored a moment
// before its run closes.
func (c *Client) AwaitIdle(timeout time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	for ctx.Err() == nil {
		running, err := c.sdk.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{
			Namespace: c.namespace, Query: c.runningQuery(),
		})
		if err != nil || running.GetCount() == 0 {
			return
		}
		time.Sleep(idlePoll)
	}
}

// FailedConsolidation returns when and why the last consolidation of a memory scope
// failed; why is empty if it did not fail or Temporal no longer knows it.
func (c *Client) FailedConsolidation(ctx context.Context, scope string) (at time.Time, why string) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	run, err := c.Run(ctx, c.names.Consolidation(scope), "")
	if err != nil || run.Running() {
		return time.Time{}, ""
	}
	var result protocol.ConsolidateResult
	if err := c.sdk.GetWorkflow(ctx, run.WorkflowID, run.RunID).Get(ctx, &result); err != nil {
		return run.ClosedAt, "`holdfast runs show " + run.WorkflowID + "` says why"
	}
	return run.ClosedAt, result.Failure
}

// wordBreak matches where a word of a status in camel case ends.
var wordBreak = regexp.MustCompile(`([a-z])([A-Z])`)

// statusName formats a status for people: "continued as new".
func statusName(status enumspb.WorkflowExecutionStatus) string {
	return strings.ToLower(wordBreak.ReplaceAllString(status.String(), "$1 $2"))
}
