package dispatch

import (
	"context"
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"golang.org/x/sync/errgroup"
)

// A run that may be stray is looked at this often, with pauses: it may be about to close, or
// to begin a turn.
const (
	strayLooks = 5
	strayPause = 2 * time.Second
)

// endStray terminates the runs of sessions that the store knows no unfinished work of: its
// data is older than the engine's. Such a run may wait for days, for an approval for
// instance, and the session's messages would wait behind it.
func (d *Dispatcher) endStray(ctx context.Context) error {
	runs, err := d.listRunning(ctx)
	if err != nil {
		return err
	}
	var ending errgroup.Group
	ending.SetLimit(claimWorkers)
	for _, run := range runs {
		session, is := d.names.SessionOf(run.GetExecution().GetWorkflowId())
		if !is || !run.GetStartTime().AsTime().Before(d.began) {
			continue
		}
		idle, err := d.store.Idle(ctx, session, d.began)
		if err != nil {
			return errors.Join(err, ending.Wait())
		}
		if idle {
			ending.Go(func() error { return d.terminate(ctx, run) })
		}
	}
	return ending.Wait()
}

// terminate terminates a stray run, and signals again what it took. It leaves one alone that
// closes, has something under way, or now works on a turn that the store knows.
func (d *Dispatcher) terminate(ctx context.Context, run *workflowpb.WorkflowExecutionInfo) error {
	id, runID := run.GetExecution().GetWorkflowId(), run.GetExecution().GetRunId()
	session, _ := d.names.SessionOf(id)
	waits, err := d.waits(ctx, id, runID)
	if err != nil || !waits {
		return err
	}
	idle, err := d.store.Idle(ctx, session, d.began)
	if err != nil || !idle {
		return err
	}
	if err := d.sdk.TerminateWorkflow(ctx, id, runID, "the store, perhaps an older backup, knows nothing of it"); err != nil {
		return fmt.Errorf("terminate %s: %w", id, err)
	}
	d.log.Warn("terminated a run of which the store, perhaps an older backup, knows nothing", "workflow", id, "run", runID)
	_, err = d.signalPending(ctx, session)
	return err
}

// waits reports whether a run is open and has no task or activity under way, after a while.
func (d *Dispatcher) waits(ctx context.Context, id, runID string) (bool, error) {
	for range strayLooks {
		described, err := d.sdk.DescribeWorkflowExecution(ctx, id, runID)
		if err != nil {
			return false, fmt.Errorf("describe %s: %w", id, err)
		}
		if described.GetWorkflowExecutionInfo().GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
			return false, nil
		}
		if described.GetPendingWorkflowTask() == nil && len(described.GetPendingActivities()) == 0 {
			return true, nil
		}
		select {
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case <-time.After(strayPause):
		}
	}
	return false, nil
}
