package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/holdfast-ai/holdfast/internal/protocol"
)

const (
	// heartbeatTimeout is after how long without a sign of life an activity's
	// worker counts as lost.
	heartbeatTimeout = 30 * time.Second
	// patience bounds how long an activity is retried. It outlasts a machine
	// that is switched off over a long holiday.
	patience = 30 * 24 * time.Hour
	// deliveryPatience bounds how long a reply waits for its channel, and with it
	// the messages behind it.
	deliveryPatience = 24 * time.Hour
	// toolMargin is what a tool call has beyond its own timeout, which the tool
	// enforces itself.
	toolMargin = time.Minute
)

// retry is the policy of every activity: how often is decided by the activity,
// which knows a hopeless error from a worker that was lost.
var retry = temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute}

// modelOptions are for model calls: slow, silent for long, watched by heartbeat.
func modelOptions(summary string) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		TaskQueue:              protocol.AgentQueue,
		StartToCloseTimeout:    time.Hour,
		ScheduleToCloseTimeout: patience,
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

// bookOptions are for what only touches the store.
func bookOptions(summary string) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		TaskQueue:              protocol.AgentQueue,
		StartToCloseTimeout:    time.Minute,
		ScheduleToCloseTimeout: patience,
		RetryPolicy:            &retry,
		Summary:                summary,
	}
}

// deliveryOptions are for sending replies.
func deliveryOptions(channel string) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		TaskQueue:              protocol.OutboxQueue(channel),
		StartToCloseTimeout:    2 * time.Minute,
		ScheduleToCloseTimeout: deliveryPatience,
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

// executeEndTurn closes a turn whatever becomes of ctx: that it was cancelled is
// mostly why.
func executeEndTurn(ctx workflow.Context, input protocol.EndTurnInput) (outbox string, err error) {
	ctx, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	var result protocol.EndTurnResult
	ctx = workflow.WithActivityOptions(ctx, bookOptions("end turn: "+string(input.Ending)))
	err = workflow.ExecuteActivity(ctx, protocol.EndTurnActivity, input).Get(ctx, &result)
	return result.Outbox, err
}

func executeAnswer(ctx workflow.Context, input protocol.AnswerInput) (protocol.AnswerResult, error) {
	var result protocol.AnswerResult
	ctx = workflow.WithActivityOptions(ctx, bookOptions("/"+string(input.Command)))
	err := workflow.ExecuteActivity(ctx, protocol.AnswerActivity, input).Get(ctx, &result)
	return result, err
}

// executeDeliver sends a reply. A session that is cancelled gives up those that it
// is sending, and still sends what it has to say to that.
func executeDeliver(ctx workflow.Context, channel, outbox string) error {
	if ctx.Err() != nil {
		var cancel workflow.CancelFunc
		ctx, cancel = workflow.NewDisconnectedContext(ctx)
		defer cancel()
	}
	ctx = workflow.WithActivityOptions(ctx, deliveryOptions(channel))
	return workflow.ExecuteActivity(ctx, protocol.DeliverActivity, protocol.DeliverInput{Outbox: outbox}).Get(ctx, nil)
}
