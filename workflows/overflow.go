package workflows

import (
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

const (
	// queueLimit bounds the queue, so that what a run carries over stays under 64 KB.
	// Further messages stay in the store, and so do all that come after them, until the
	// queue is refilled from there in order.
	queueLimit = 500
	// refillBelow is the length of the queue at which it is refilled.
	refillBelow = 50
)

// refuse reports whether a message is left in the store because the queue is full, or was
// full and is not refilled yet.
func (s *session) refuse(m protocol.MessageRef) bool {
	if m.Command != domain.CommandNone || s.state.Overflow == nil && len(s.state.Queue) < queueLimit {
		return false
	}
	if s.state.Overflow == nil {
		s.state.Overflow = &protocol.Overflow{}
	}
	s.refused = true
	return true
}

// refill adds messages from the store to the queue once it is short. Messages refused
// during the activity may be missing in its result, so they are fetched by the next one.
func (s *session) refill(ctx workflow.Context) {
	if s.state.Overflow == nil || len(s.state.Queue) > refillBelow {
		return
	}
	s.refused = false
	result, err := executeRefill(ctx, protocol.RefillInput{Session: s.ref.Key, After: s.state.Seq})
	if err != nil {
		workflow.GetLogger(ctx).Error("queue not refilled", "err", err)
		s.state.Overflow = nil // the dispatcher signals the messages again
		return
	}
	stopped := s.state.Overflow.Stopped
	var dropped []protocol.MessageRef
	for _, m := range result.Messages {
		if stopped != nil && !stopped.Covers(m) {
			stopped = nil
		}
		switch {
		case slices.Contains(s.state.Recent, m.ID):
		case stopped != nil:
			dropped = append(dropped, m)
		default:
			s.enqueue(m)
		}
	}
	s.state.Seq = max(s.state.Seq, result.Seq)
	s.state.Overflow.Stopped = stopped
	if !result.More && !s.refused {
		s.state.Overflow = nil
	}
	s.drop(ctx, dropped)
}

// stopOverflow extends a stop to the messages in the store that would have joined the
// turn: those that follow without a gap in the queue.
func (s *session) stopOverflow(sender string, seq int64) {
	if s.state.Overflow != nil && len(s.state.Queue) == 0 {
		s.state.Overflow.Stopped = &protocol.Stopped{Sender: sender, Before: seq}
	}
}
