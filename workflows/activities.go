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
	// toolMargin is added to a tool call's timeout, which the tool enforces itself.
	toolMargin = time.Minute
)

// retry is the policy of every activity. It has no maximum of attempts: the activity
// returns a non-retryable error when another attempt cannot help.
var retry = temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute}

// modelOptions are for model calls, which may take long.
func modelOptions(summary string) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		TaskQueue:              protocol.AgentQueue,
		StartToCloseTimeout:    time.Hour,
		ScheduleToCloseTimeout: retryTimeout,
		HeartbeatTimeout:       heartbeatTimeout,
		RetryPolicy:            &retry,
		Summary:                cut(summary, summaryLimit),
	}
}

// toolOptions are for tool calls.
func toolOptions(summary string, timeout time.Duration) workflow.ActivityOptions {
	options := modelOptions(summary)
	options.StartToCloseTimeout = timeout + toolMargin
	return options
}

// storeActivityOptions are for activities that only access the store.
func storeActivityOptions(summary string) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		TaskQueue:              protocol.AgentQueue,
		StartToCloseTimeout:    time.Minute,
		ScheduleToCloseTimeout: retryTimeout,
		RetryPolicy:            &retry,
		Summary:                summary,
	}
}

// deliveryOptions are for sending replies.
func deliveryOptions(channel string) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		TaskQueue:              protocol.OutboxQueue(channel),
		StartToCloseTimeout:    2 * time.Minute,
		ScheduleToCloseTimeout: deliveryTimeout,
		HeartbeatTimeout:       heartbeatTimeout,
		RetryPolicy:            &retry,
		Summary:                "reply to " + channel,
	}
}

func executeComplete(ctx workflow.Context, summary string, input protocol.CompleteInput) (protocol.CompleteResult, error) {
	var result protocol.CompleteResult
	ctx = workflow.WithActivityOptions(ctx, modelOptions(summary))
	err := workflow.ExecuteActivity(ctx, protocol.CompleteActivity, input).Get(ctx, &result)
	return result, err
}

func executeCallTool(ctx workflow.Context, summary string, call protocol.Call, input protocol.CallToolInput) workflow.Future {
	ctx = workflow.WithActivityOptions(ctx, toolOptions(summary, call.Timeout))
	return workflow.ExecuteActivity(ctx, protocol.CallToolActivity, input)
}

// executeEndTurn ends a turn, also if ctx is cancelled.
func executeEndTurn(ctx workflow.Context, input protocol.EndTurnInput) (outbox string, err error) {
	ctx, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	var result protocol.EndTurnResult
	ctx = workflow.WithActivityOptions(ctx, storeActivityOptions("end turn: "+string(input.Ending)))
	err = workflow.ExecuteActivity(ctx, protocol.EndTurnActivity, input).Get(ctx, &result)
	return result.Outbox, err
}

// executeRefill reads pending messages, also if ctx is cancelled.
func executeRefill(ctx workflow.Context, input protocol.RefillInput) (result protocol.RefillResult, err error) {
	ctx, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	ctx = workflow.WithActivityOptions(ctx, storeActivityOptions("refill the queue"))
	err = workflow.ExecuteActivity(ctx, protocol.RefillActivity, input).Get(ctx, &result)
	return result, err
}

func executeAnswer(ctx workflow.Context, input protocol.AnswerInput) (protocol.AnswerResult, error) {
	var result protocol.AnswerResult
	ctx = workflow.WithActivityOptions(ctx, storeActivityOptions("/"+string(input.Command)))
	err := workflow.ExecuteActivity(ctx, protocol.AnswerActivity, input).Get(ctx, &result)
	return result, err
}

// executeDeliver sends a reply. Cancelling the session aborts a delivery in progress;
// replies after the cancellation are still sent.
func executeDeliver(ctx workflow.Context, channel, outbox string) error {
	if ctx.Err() != nil {
		var cancel workflow.CancelFunc
		ctx, cancel = workflow.NewDisconnectedContext(ctx)
		defer cancel()
	}
	ctx = workflow.WithActivityOptions(ctx, deliveryOptions(channel))
	return workflow.ExecuteActivity(ctx, protocol.DeliverActivity, protocol.DeliverInput{Outbox: outbox}).Get(ctx, nil)
}
