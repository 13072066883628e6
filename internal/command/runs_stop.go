package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
)

const (
	stopPatience = 10 * time.Second
	stopPoll     = 50 * time.Millisecond
)

func runsStopCommand(s setting) *cobra.Command {
	return &cobra.Command{
		Use:   "stop ID",
		Short: "Stop a run, by session key or workflow ID, with the turn that it is at",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := openRuns(cmd.Context(), s)
			if err != nil {
				return err
			}
			defer r.client.Close()
			return r.stop(cmd.Context(), cmd.OutOrStdout(), args[0])
		},
	}
}

// stop cancels a run, and those that it goes on as, and waits until none is open.
func (r runs) stop(ctx context.Context, w io.Writer, id string) error {
	described, err := r.describe(ctx, id, "")
	if err != nil {
		return err
	}
	info := described.WorkflowExecutionInfo
	id = info.Execution.WorkflowId
	shown := oneLine(id, keyLimit)
	if info.Status != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return fmt.Errorf("%s is not running: it has been %s since %s", shown, statusName(info.Status), shownTime(info.CloseTime.AsTime()))
	}
	ctx, cancel := context.WithTimeoutCause(ctx, stopPatience, fmt.Errorf(
		"%s was told to stop and is still open after %v; without a worker it stops once there is one", shown, stopPatience))
	defer cancel()
	for {
		run := info.Execution.RunId
		err := r.client.CancelWorkflow(ctx, id, run)
		if _, closed := errors.AsType[*serviceerror.NotFound](err); err != nil && !closed {
			return fmt.Errorf("stop %s: %w", shown, err)
		}
		status, err := r.awaitClosed(ctx, id, run)
		if err != nil {
			return err
		}
		if status != enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW {
			_, err := fmt.Fprintf(w, "stopped %s\n", shown)
			return err
		}
		if described, err = r.describe(ctx, id, ""); err != nil {
			return err
		}
		info = described.WorkflowExecutionInfo
	}
}

// awaitClosed looks at a run until it has closed: the engine may forget to tell
// who waits on a history.
func (r runs) awaitClosed(ctx context.Context, id, run string) (enumspb.WorkflowExecutionStatus, error) {
	ticker := time.NewTicker(stopPoll)
	defer ticker.Stop()
	for {
		described, err := r.client.DescribeWorkflowExecution(ctx, id, run)
		switch {
		case ctx.Err() != nil:
			return 0, context.Cause(ctx)
		case err != nil:
			return 0, fmt.Errorf("look at %s: %w", id, err)
		case described.WorkflowExecutionInfo.Status != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING:
			return described.WorkflowExecutionInfo.Status, nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
}
