package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

const (
	// HeartbeatTimeout is how long an activity may go without a heartbeat before its
	// worker counts as lost.
	HeartbeatTimeout = 30 * time.Second
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

// names are those of the deployment that the workflow belongs to.
func names(ctx workflow.Context) protocol.Names {
	return protocol.NamesOf(workflow.GetInfo(ctx).TaskQueueName)
}

// controlOptions are for activities that only access the store.
func controlOptions(ctx workflow.Context, summary string) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		TaskQueue:              names(ctx).ControlQueue(),
		StartToCloseTimeout:    time.Minute,
		ScheduleToCloseTimeout: retryTimeout,
		RetryPolicy:            &retry,
		Summary:                cut(summary, summaryLimit),
	}
}

// longOptions are for activities that heartbeat.
func longOptions(ctx workflow.Context, queue, summary string, timeout time.Duration) workflow.ActivityOptions {
	options := controlOptions(ctx, summary)
	options.TaskQueue, options.StartToCloseTimeout, options.HeartbeatTimeout = queue, timeout, HeartbeatTimeout
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
	return execute[protocol.CompleteResult](ctx, longOptions(ctx, names(ctx).AgentQueue(), summary, modelTimeout), protocol.CompleteActivity, input)
}

func executeCallTool(ctx workflow.Context, summary string, call protocol.Call, input protocol.CallToolInput) (result protocol.CallToolResult, err error) {
	options := longOptions(ctx, names(ctx).ToolsQueue(), summary, call.Timeout+toolMargin)
	err = atPlaces(ctx, options, placeTimeout, func(a attempt) (place string, err error) {
		input.Tried = a.tried
		result, err = execute[protocol.CallToolResult](ctx, a.options, protocol.CallToolActivity, input)
		return result.Place, err
	})
	return result, err
}

func executeEndTurn(ctx workflow.Context, input protocol.EndTurnInput) (outbox string, err error) {
	err = atPlaces(ctx, controlOptions(ctx, "end turn: "+string(input.Ending)), placeTimeout, func(a attempt) (place string, err error) {
		input.Tried = a.tried
		result, err := executeAlways[protocol.EndTurnResult](ctx, a.options, protocol.EndTurnActivity, input)
		outbox = result.Outbox
		return result.Place, err
	})
	return outbox, err
}

func executeRefill(ctx workflow.Context, input protocol.RefillInput) (protocol.RefillResult, error) {
	return executeAlways[protocol.RefillResult](ctx, controlOptions(ctx, "refill the queue"), protocol.RefillActivity, input)
}

func executeAnswer(ctx workflow.Context, input protocol.AnswerInput) (result protocol.AnswerResult, err error) {
	timeout := placeTimeout
	if input.Command == domain.CommandStatus {
		timeout = glanceTimeout
	}
	err = atPlaces(ctx, controlOptions(ctx, "/"+string(input.Command)), timeout, func(a attempt) (place string, err error) {
		input.Tried, input.Silent = a.tried, a.silent
		result, err = execute[protocol.AnswerResult](ctx, a.options, protocol.AnswerActivity, input)
		input.Stopped, input.Commands = input.Stopped || result.Stopped, input.Commands+result.Commands
		return result.Place, err
	})
	return result, err
}

func executeReport(ctx workflow.Context, input protocol.ReportInput) error {
	_, err := executeAlways[struct{}](ctx, controlOptions(ctx, "report"), protocol.ReportActivity, input)
	return err
}

func executeConsolidate(ctx workflow.Context, input protocol.ConsolidateInput) (protocol.ConsolidateResult, error) {
	options := longOptions(ctx, names(ctx).AgentQueue(), "consolidate "+input.Scope, modelTimeout)
	return execute[protocol.ConsolidateResult](ctx, options, protocol.ConsolidateActivity, input)
}

func executeFire(ctx workflow.Context, input protocol.FireInput) (protocol.FireResult, error) {
	options := controlOptions(ctx, "fire "+input.Job)
	options.StartToCloseTimeout = fireTimeout
	return execute[protocol.FireResult](ctx, options, protocol.FireActivity, input)
}

// executeDeliver sends a reply. Cancelling ctx aborts a delivery in progress, and waits until
// it has ended; replies after the cancellation are still sent.
func executeDeliver(ctx workflow.Context, channel, outbox string) error {
	options := longOptions(ctx, names(ctx).OutboxQueue(channel), "reply to "+channel, 2*time.Minute)
	options.ScheduleToCloseTimeout, options.WaitForCancellation = deliveryTimeout, true
	deliver := execute[protocol.DeliverResult]
	if ctx.Err() != nil {
		deliver = executeAlways[protocol.DeliverResult]
	}
	_, err := deliver(ctx, options, protocol.DeliverActivity, protocol.DeliverInput{Outbox: outbox})
	return err
}
