package command

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/internal/dispatch"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/text"
)

func runsShowCommand(env environment) *cobra.Command {
	var runID string
	cmd := newCommand("show ID", "Show a run and its steps, by session key or workflow ID", func(cmd *cobra.Command, args []string) error {
		return withRuns(cmd.Context(), env, func(r runs) error {
			return r.show(cmd.Context(), cmd.OutOrStdout(), args[0], runID)
		})
	})
	cmd.Flags().StringVar(&runID, "run", "", "run ID; default: the latest run")
	return cmd
}

func (r runs) show(ctx context.Context, w io.Writer, id, runID string) error {
	run, err := r.find(ctx, id, runID)
	if err != nil {
		return err
	}
	history, err := r.temporal.History(ctx, run)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "workflow  %s\nrun       %s\nstatus    %s\nstarted   %s, %s\n", oneLine(run.WorkflowID, keyLimit), run.RunID,
		run.Status, shownTime(run.StartedAt), shownDuration(run.Duration()))
	if text := r.temporal.Summary(ctx, run); text != "" {
		fmt.Fprintf(w, "summary   %s\n", oneLine(text, lineLimit))
	}
	if tokens, cost, unpriced := history.Spent(); tokens > 0 {
		fmt.Fprintf(w, "spent     %d tokens, cost %s\n", tokens, domain.Dollars(cost, unpriced))
	}
	if r.ui != "" {
		fmt.Fprintf(w, "UI        %s\n", uiLink(r.ui, r.namespace, run.WorkflowID, run.RunID))
	}
	if run.Running() {
		r.showNow(ctx, w, run)
	}
	if err := printPending(w, run.Pending, history); err != nil {
		return err
	}
	return printSteps(w, history.Steps)
}

// showNow prints the status that a running session reports.
func (r runs) showNow(ctx context.Context, w io.Writer, run dispatch.Run) {
	status, err := r.temporal.Status(ctx, run)
	if err != nil {
		fmt.Fprintf(w, "now       no answer: %s\n", oneLine(err.Error(), lineLimit))
		return
	}
	fmt.Fprintf(w, "now       %s\nturn      %s, step %d, %d tokens, cost %s; %s queued, %s done\n",
		oneLine(status.Doing, lineLimit), status.Turn, status.Step, status.Tokens, domain.Dollars(status.Cost, status.Unpriced),
		text.Count(status.Queued, "message"), text.Count(status.Turns, "turn"))
}

func printPending(w io.Writer, pending []dispatch.PendingActivity, history dispatch.History) error {
	if len(pending) == 0 {
		return nil
	}
	fmt.Fprintln(w, "\npending:")
	table := newTable(w)
	for _, activity := range pending {
		failure := ""
		if activity.LastFailure != "" {
			failure = "last failure: " + oneLine(activity.LastFailure, lineLimit)
		}
		fmt.Fprintf(table, "  %s\t%s\tattempt %d\tsince %s\t%s\n", activity.Type, oneLine(history.Title(activity.ID), lineLimit),
			activity.Attempt, shownTime(activity.ScheduledAt), failure)
	}
	return table.Flush()
}

func printSteps(w io.Writer, steps []dispatch.Step) error {
	fmt.Fprintln(w, "\nsteps:")
	table := newTable(w)
	for _, step := range steps {
		took := ""
		if step.Took > 0 {
			took = shownDuration(step.Took)
		}
		fmt.Fprintf(table, "  +%s\t%s\t%s\t%s\t%s\n", shownDuration(step.At.Sub(steps[0].At)), step.What,
			oneLine(step.Title, lineLimit), took, oneLine(step.Note, lineLimit))
	}
	return table.Flush()
}
