package workflows

import (
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// receive takes signals as they arrive, until the session is cancelled. Unlike
// [workflow.ReceiveChannel.Receive], Await returns then.
func (s *session) receive(ctx workflow.Context) {
	for workflow.Await(ctx, func() bool { return s.inbox.Len() > 0 && !s.refilling }) == nil {
		s.drain(ctx)
	}
}

// drain takes all received signals without blocking.
func (s *session) drain(ctx workflow.Context) {
	for _, m := range s.received() {
		s.take(ctx, m)
	}
}

// received reads all signals in the inbox.
func (s *session) received() (all []protocol.MessageRef) {
	for {
		var m protocol.MessageRef
		if !s.inbox.ReceiveAsync(&m) {
			return all
		}
		all = append(all, m)
	}
}

// take queues a message or acts on a command, once. A command applies to what arrived
// before it.
func (s *session) take(ctx workflow.Context, m protocol.MessageRef) {
	s.reported(m.Child)
	if slices.Contains(s.state.Recent, m.ID) || s.overflows(m) {
		return
	}
	switch {
	case m.Command == domain.CommandNew:
		s.remember(m.ID)
		s.stopTurn(m.Seq)
		s.stopChildren(ctx)
		s.state.Queue = slices.Insert(s.state.Queue, 0, m)
	case m.Immediate:
		s.remember(m.ID)
		s.answerNow(ctx, s.command(ctx, m))
	default:
		s.enqueue(m)
	}
}
