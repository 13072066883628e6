package workflows

import (
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// awaitAnswer asks a person about a call and waits until the call can be repeated: the
// question was answered or expired, the next message withdraws it, or the turn was
// cancelled. It reports false if the session has to continue as new first.
func (t *turn) awaitAnswer(ctx workflow.Context, call protocol.Call, asked protocol.PendingApproval) bool {
	question := asked.ID + " of " + call.Name + ": " + call.Preview
	t.questions = append(t.questions, question)
	defer func() { t.questions = slices.DeleteFunc(t.questions, func(q string) bool { return q == question }) }()
	t.showQuestions(ctx)
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
	answered := func() bool { return t.decided[asked.ID] || t.canJoin() }
	continues := func() bool { return t.calling == 0 && t.continues(ctx) }
	inTime, err := workflow.AwaitWithTimeout(ctx, asked.Timeout+expiryMargin, func() bool { return answered() || continues() })
	return err != nil || !inTime || answered()
}

// expiryMargin is added to a question's timeout, so that the store sees it as expired too.
const expiryMargin = time.Second

// receiveDecisions notes which approvals were decided, until the turn ends. The decisions
// are in the store; the signals only wake the calls that wait for them.
func (t *turn) receiveDecisions(ctx workflow.Context) {
	signals := workflow.GetSignalChannel(ctx, protocol.ApprovalSignal)
	for workflow.Await(ctx, func() bool { return signals.Len() > 0 }) == nil {
		var decision protocol.ApprovalDecision
		for signals.ReceiveAsync(&decision) {
			t.decided[decision.Approval] = true
		}
	}
}

// withdraws forgets what is known of an answered question, and reports whether the user
// wrote something else instead of deciding.
func (t *turn) withdraws(approval string) bool {
	decided := t.decided[approval]
	delete(t.decided, approval)
	return !decided && t.canJoin()
}

// showQuestions shows in the UI which questions are open, if any.
func (t *turn) showQuestions(ctx workflow.Context) {
	if len(t.questions) > 0 {
		t.show(ctx, "waiting for approval "+strings.Join(t.questions, ", "))
	}
}
