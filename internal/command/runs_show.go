package command

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

func runsShowCommand(s setting) *cobra.Command {
	var run string
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Print a run, by session key or workflow ID: what it does, and its steps",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := openRuns(cmd.Context(), s)
			if err != nil {
				return err
			}
			defer r.client.Close()
			return r.show(cmd.Context(), cmd.OutOrStdout(), args[0], run)
		},
	}
	cmd.Flags().StringVar(&run, "run", "", "which run of that ID; the latest if not given")
	return cmd
}

func (r runs) show(ctx context.Context, w io.Writer, id, run string) error {
	described, err := r.describe(ctx, id, run)
	if err != nil {
		return err
	}
	info := described.WorkflowExecutionInfo
	id, run = info.Execution.WorkflowId, info.Execution.RunId
	steps, err := r.steps(ctx, id, run)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "workflow  %s\nrun       %s\nstatus    %s\nstarted   %s, %s\n", oneLine(id, keyLimit), run,
		statusName(info.Status), shownTime(info.StartTime.AsTime()), shownDuration(lasted(info)))
	if full, err := r.client.DescribeWorkflow(ctx, id, run); err == nil {
		if text, _ := full.GetStaticSummary(); text != "" {
			fmt.Fprintf(w, "summary   %s\n", oneLine(text, lineLimit))
		}
	}
	if tokens, cost := steps.spent(); tokens > 0 {
		fmt.Fprintf(w, "spent     %d tokens, cost %s\n", tokens, cost)
	}
	if r.ui != "" {
		fmt.Fprintf(w, "UI        %s\n", uiLink(r.ui, r.namespace, id, run))
	}
	if info.Status == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		r.showNow(ctx, w, id, run)
	}
	if err := printPending(w, described.PendingActivities, steps); err != nil {
		return err
	}
	return printSteps(w, steps)
}

// showNow prints what a running session says of itself.
func (r runs) showNow(ctx context.Context, w io.Writer, id, run string) {
	status, err := r.status(ctx, id, run)
	if err != nil {
		fmt.Fprintf(w, "now       it does not answer: %s\n", oneLine(err.Error(), lineLimit))
		return
	}
	fmt.Fprintf(w, "now       %s\nturn      %s, step %d, %d tokens, cost %s; %d messages queued, %d turns done\n",
		oneLine(status.Doing, lineLimit), status.Turn, status.Step, status.Tokens, domain.Dollars(status.Cost, status.Unpriced),
		status.Queued, status.Turns)
}

func printPending(w io.Writer, pending []*workflowpb.PendingActivityInfo, steps history) error {
	if len(pending) == 0 {
		return nil
	}
	fmt.Fprintln(w, "\npending:")
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, activity := range pending {
		failure := ""
		if activity.LastFailure != nil {
			failure = "last failure: " + oneLine(failureText(activity.LastFailure), lineLimit)
		}
		fmt.Fprintf(table, "  %s\t%s\tattempt %d\tsince %s\t%s\n", activity.ActivityType.GetName(),
			steps.title(activity.ActivityId), activity.Attempt, shownTime(activity.ScheduledTime.AsTime()), failure)
	}
	return table.Flush()
}

func printSteps(w io.Writer, steps history) error {
	fmt.Fprintln(w, "\nsteps:")
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, step := range steps.steps {
		took := ""
		if step.took > 0 {
			took = shownDuration(step.took)
		}
		fmt.Fprintf(table, "  +%s\t%s\t%s\t%s\t%s\n", shownDuration(step.at.Sub(steps.steps[0].at)), step.what,
			step.title, took, step.note)
	}
	return table.Flush()
}

// steps reads a run's history as far as it is written.
func (r runs) steps(ctx context.Context, id, run string) (history, error) {
	h := history{scheduled: map[int64]int{}, turns: map[string]protocol.CompleteResult{}}
	events := r.client.GetWorkflowHistory(ctx, id, run, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if err != nil {
			return history{}, fmt.Errorf("read the history of %s: %w", id, err)
		}
		h.add(event)
	}
	return h, nil
}

// step is an event that matters, or an activity with all of its events.
type step struct {
	at       time.Time
	took     time.Duration // 0: not known
	what     string
	title    string
	note     string
	activity string // its ID, for activities
	turn     string // that it is for, for model calls
}

// history is what happened in a run.
type history struct {
	steps     []step
	scheduled map[int64]int                      // activities' steps, by the event that scheduled them
	turns     map[string]protocol.CompleteResult // the last of each turn, which has its sums
}

// spent is what the model calls of the run used up, and of earlier runs for the turn
// that this one went on with.
func (h history) spent() (tokens int, cost string) {
	var sum shownCost
	for _, last := range h.turns {
		tokens += last.Usage.PromptTokens + last.Usage.CompletionTokens
		sum.Microdollars += last.Cost
		sum.Unpriced += last.Unpriced
	}
	return tokens, sum.String()
}

// title is that of an activity.
func (h history) title(activity string) string {
	for _, s := range h.steps {
		if s.activity == activity && activity != "" {
			return s.title
		}
	}
	return ""
}
