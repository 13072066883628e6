package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// Job runs one occurrence of a job: it sends the job's message to its session, where it is
// a message like any other. A Temporal Schedule starts it.
func Job(ctx workflow.Context, input protocol.JobInput) (protocol.FireResult, error) {
	due := dueAt(ctx)
	result, err := executeFire(ctx, protocol.FireInput{Job: input.ID, Due: due})
	workflow.SetCurrentDetails(ctx, jobDetails(due, result))
	return result, err
}

// dueTime is the search attribute in which Temporal puts the scheduled time.
var dueTime = temporal.NewSearchAttributeKeyTime("TemporalScheduledStartTime")

// dueAt is the scheduled time of the run; its start if no schedule started it.
func dueAt(ctx workflow.Context) time.Time {
	if due, scheduled := workflow.GetTypedSearchAttributes(ctx).GetTime(dueTime); scheduled {
		return due.UTC()
	}
	return workflow.GetInfo(ctx).WorkflowStartTime.UTC()
}

// jobDetails is the outcome of a run in Markdown, for the UI.
func jobDetails(due time.Time, result protocol.FireResult) string {
	text := fmt.Sprintf("**Due** %s\n", due.Format(time.RFC3339))
	switch {
	case result.Skipped != "":
		text += "\n**Skipped** " + result.Skipped + "\n"
	case result.Session != "":
		text += fmt.Sprintf("\n**Session** `%s` · message `%s`\n", result.Session, result.Message)
	}
	return text
}
