package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/holdfast-ai/holdfast/internal/protocol"
)

const (
	// heartbeatTimeout is how long an activity may go without a heartbeat before its
	// worker counts as lost.
	heartbeatTimeout = 30 * time.Second
	// retryTimeout bounds how long an activity is retried: longer than a machine is
	// switched off over a holiday.
	retryTimeout = 30 * 24 * time.Hour
	// deliveryTimeout bounds how long a reply, and the messages behind it, wait for an
	// unreachable channel.
	deliveryTimeout = 24 * time.Hour
	// modelTimeout bounds one attempt at a model call.
	modelTimeout = time.Hour
	// fireTimeout bounds one attempt to fire a job, which is a transaction and a signal. It
	// is short because it also detects a lost worker.
	fireTimeout = 10 * time.Second
	// toolMargin is added to a tool call's timeout, which the tool enforces itself.
	toolMargin = time.Minute
)

// retry is the policy of every activity. It has no maximum of attempts: the activity
// returns a non-retryable error when another attempt cannot help.
var retry = temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute}

// storeActivityOptions are for activities that only access the store.
func storeActivityOptions(summary string) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		TaskQueue:              protocol.AgentQueue,
		StartToCloseTimeout:    time.Minute,
		ScheduleToCloseTimeout: retryTimeout,
		RetryPolicy:            &retry,
		Summary:                cut(summary, summaryLimit),
	}
}

// longActivityOptions are for activities that heartbeat.
func longActivityOptions(summary string, timeout time.Duration) workflow.ActivityOptions {
	options := storeActivityOptions(summary)
	options.StartToCloseTimeout, options.HeartbeatTimeout = timeout, heartbeatTimeout
	return options
}

// execute runs an activity and waits for its result.
func execute[R any](ctx workflow.Context, options workflow.ActivityOptions, activity string, input any) (result R, err error) {
	err = workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, options), activity, input).Get(ctx, &result)
	return result, err
}

// executeAlways is [execute] that ignores a cancellation of ctx.
func executeAlways[R any](ctx workflow.Context, options workflow.ActivityOptions, activity string, input any) (R, error) {
	ctx, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	return execute[R](ctx, options, activity, input)
}

func executeComplete(ctx workflow.Context, summary string, input protocol.CompleteInput) (protocol.CompleteResult, error) {
	return execute[protocol.CompleteResult](ctx, longActivityOptions(summary, modelTimeout), protocol.CompleteActivity, input)
}

func executeCallTool(ctx workflow.Context, summary string, call protocol.Call, input protocol.CallToolInput) workflow.Future {
	ctx = workflow.WithActivityOptions(ctx, longActivityOptions(summary, call.Timeout+toolMargin))
	return workflow.ExecuteActivity(ctx, protocol.CallToolActivity, input)
}

func executeEndTurn(ctx workflow.Context, input protocol.EndTurnInput) (outbox string, err error) {
	options := storeActivityOptions("end turn: " + string(input.Ending))
	result, err := executeAlways[protocol.EndTurnResult](ctx, options, protocol.EndTurnActivity, input)
	return result.Outbox, err
}

func executeRefill(ctx workflow.Context, input protocol.RefillInput) (protocol.RefillResult, error) {
	return executeAlways[protocol.RefillResult](ctx, storeActivityOptions("refill the queue"), protocol.RefillActivity, input)
}

func executeAnswer(ctx workflow.Context, input protocol.AnswerInput) (protocol.AnswerResult, error) {
	return execute[protocol.AnswerResult](ctx, storeActivityOptions("/"+string(input.Command)), protocol.AnswerActivity, input)
}

func executeReport(ctx workflow.Context, input protocol.ReportInput) error {
	_, err := executeAlways[struct{}](ctx, storeActivityOptions("report"), protocol.ReportActivity, input)
	return err
}

func executeConsolidate(ctx workflow.Context, input protocol.ConsolidateInput) (protocol.ConsolidateResult, error) {
	options := longActivityOptions("consolidate "+input.Scope, modelTimeout)
	return execute[protocol.ConsolidateResult](ctx, options, protocol.ConsolidateActivity, input)
}

func executeFire(ctx workflow.Context, input protocol.FireInput) (protocol.FireResult, error) {
	options := storeActivityOptions("fire " + input.Job)
	options.StartToCloseTimeout = fireTimeout
	return execute[protocol.FireResult](ctx, options, protocol.FireActivity, input)
}

// executeDeliver sends a reply. Cancelling the session aborts a delivery in progress;
// replies after the cancellation are still sent.
func executeDeliver(ctx workflow.Context, channel, outbox string) error {
	options := longActivityOptions("reply to "+channel, 2*time.Minute)
	options.TaskQueue, options.ScheduleToCloseTimeout = protocol.OutboxQueue(channel), deliveryTimeout
	deliver := execute[protocol.DeliverResult]
	if ctx.Err() != nil {
		deliver = executeAlways[protocol.DeliverResult]
	}
	_, err := deliver(ctx, options, protocol.DeliverActivity, protocol.DeliverInput{Outbox: outbox})
	return err
}
