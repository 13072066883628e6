package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// approval asks a person about a call and returns when the call can be repeated: the
// question was answered or expired, or the turn was cancelled. It reports whether the user
// wrote something else instead. The decision is in the store; the signal only wakes the
// workflow.
func (t *turn) approval(ctx workflow.Context, call protocol.Call, asked protocol.PendingApproval) (withdrawn bool) {
	t.show(ctx, "waiting for approval "+asked.ID+" of "+call.Name+": "+call.Preview)
	ctx, cancel := workflow.WithCancel(ctx)
	defer cancel()
	if asked.Outbox != "" {
		// A channel that is away must not keep an answer from elsewhere waiting.
		workflow.Go(ctx, func(ctx workflow.Context) {
			if err := executeDeliver(ctx, asked.Channel, asked.Outbox); err != nil && ctx.Err() == nil {
				workflow.GetLogger(ctx).Error("question not delivered", "approval", asked.ID, "err", err)
			}
		})
	}
	decisions := workflow.GetSignalChannel(ctx, protocol.ApprovalSignal)
	_, err := workflow.AwaitWithTimeout(ctx, asked.Timeout+expiryMargin, func() bool { return decisions.Len() > 0 || t.canJoin() })
	withdrawn = err == nil && decisions.Len() == 0 && t.canJoin()
	drain(decisions)
	return withdrawn
}

// expiryMargin is added to a question's timeout, so that the store sees it as expired too.
const expiryMargin = time.Second
