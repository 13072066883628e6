package workflows

import (
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// refillBelow is the length of the queue at which it is refilled.
const refillBelow = 50

// refill adds messages from the store to the queue once it is short. Signals received in
// the meantime are taken in the order of their sequence numbers, so that a stop applies
// to the messages that came before it and to no others.
func (s *session) refill(ctx workflow.Context) {
	if s.state.Overflow == nil || len(s.state.Queue) > refillBelow {
		return
	}
	s.refilling = true
	result, err := executeRefill(ctx, protocol.RefillInput{Session: s.ref.Key, After: s.state.Seq})
	s.refilling = false
	if err != nil {
		workflow.GetLogger(ctx).Error("queue not refilled", "err", err)
		s.state.Overflow = nil // the dispatcher signals the messages again
		return
	}
	received := s.received()
	var dropped []protocol.MessageRef
	for _, m := range result.Messages {
		for len(received) > 0 && received[0].Seq < m.Seq {
			s.take(ctx, received[0])
			received = received[1:]
		}
		if stopped := s.state.Overflow.Stopped; stopped != nil && !stopped.Covers(m) {
			s.state.Overflow.Stopped = nil
		}
		switch {
		case slices.Contains(s.state.Recent, m.ID):
		case s.state.Overflow.Stopped != nil:
			dropped = append(dropped, m)
		default:
			s.enqueue(m)
		}
	}
	s.state.Seq = max(s.state.Seq, result.Seq)
	if !result.More {
		s.state.Overflow = nil
	}
	for _, m := range received {
		s.take(ctx, m)
	}
	s.drop(ctx, dropped)
}
