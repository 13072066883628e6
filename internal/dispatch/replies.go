package dispatch

import (
	"context"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// canceled is the state of a workflow that was asked to stop, which ends its deliveries.
var canceled = enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED.String()

// reconcileReplies delivers stored replies that no workflow delivers, because the engine
// lost it or because it was terminated.
func (d *Dispatcher) reconcileReplies(ctx context.Context, turns []domain.Turn) {
	for _, turn := range turns {
		d.report(ctx, "reply not reconciled", d.reconcileReply(ctx, turn), "turn", turn.ID)
	}
}

// reconcileReply signals the message that began the turn. The session finds that it was
// answered and delivers the reply.
func (d *Dispatcher) reconcileReply(ctx context.Context, turn domain.Turn) error {
	state, err := d.state(ctx, d.names.Session(turn.Session))
	if err != nil || state == running || state == canceled {
		return err
	}
	message, err := d.store.Inbound(ctx, turn.ID)
	if err != nil {
		return err
	}
	message.Command = domain.CommandNone // it was carried out
	message.Queue = true                 // a turn that it joined would not deliver the reply
	d.log.Warn("delivering a reply without a workflow", "session", turn.Session, "turn", turn.ID)
	return d.signal(ctx, message)
}
