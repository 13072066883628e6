package command

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
)

// stopTimeout bounds the wait for a run to close.
const stopTimeout = 10 * time.Second

func runsStopCommand(env environment) *cobra.Command {
	return newCommand("stop ID", "Stop a run and its turn, by session key or workflow ID", func(cmd *cobra.Command, args []string) error {
		return withRuns(cmd.Context(), env, func(r runs) error {
			return r.stop(cmd.Context(), cmd.OutOrStdout(), args[0])
		})
	})
}

func (r runs) stop(ctx context.Context, w io.Writer, id string) error {
	run, err := r.find(ctx, id, "")
	if err != nil {
		return err
	}
	shown := oneLine(run.WorkflowID, keyLimit)
	if !run.Running() {
		return fmt.Errorf("%s is not running: it has been %s since %s", shown, run.Status, shownTime(run.ClosedAt))
	}
	ctx, cancel := context.WithTimeoutCause(ctx, stopTimeout, fmt.Errorf(
		"%s was asked to stop and is still open after %v; if no worker is running, it stops once one does", shown, stopTimeout))
	defer cancel()
	if err := r.temporal.Stop(ctx, run); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "stopped %s\n", shown)
	return err
}
