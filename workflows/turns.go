package workflows

import (
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// runTurn runs the next turn or continues the one that was carried over.
func (s *session) runTurn(ctx workflow.Context) {
	if s.turn == nil {
		s.begin()
	}
	t := s.turn
	result := t.run(ctx, s.refillAndJoin)
	if result.unfinished {
		return
	}
	s.state.Turn, s.turn = nil, nil
	s.state.Turns++
	s.worked = true
	s.state.Queue = slices.Insert(s.state.Queue, 0, result.untouched...)
	s.drop(ctx, t.dropped)
	s.last = t.ended
	s.deliver(ctx, result.outbox)
	s.report(ctx)
}

// refillAndJoin returns the messages that join the running turn, including those that
// wait in the store.
func (s *session) refillAndJoin(ctx workflow.Context) []protocol.MessageRef {
	s.refill(ctx)
	if s.turn.stopped { // meanwhile
		return nil
	}
	return s.joining()
}
