package workflows

import (
	"slices"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// enqueue adds a message to the queue.
func (s *session) enqueue(m protocol.MessageRef) {
	s.state.Seq = max(s.state.Seq, m.Seq)
	m.Seq = 0 // keeps the state small
	s.state.Queue = append(s.state.Queue, m)
	s.remember(m.ID)
}

func (s *session) pop() protocol.MessageRef {
	first := s.state.Queue[0]
	s.state.Queue = slices.Delete(s.state.Queue, 0, 1)
	return first
}

// remember adds to the recent IDs, which include those in the queue.
func (s *session) remember(id string) {
	s.state.Recent = append(s.state.Recent, id)
	if extra := len(s.state.Recent) - s.limits.Recent - len(s.state.Queue); extra > 0 {
		s.state.Recent = slices.Delete(s.state.Recent, 0, extra)
	}
}

// overflows reports whether a message is left in the store because the queue is full, or
// was full and is not refilled yet.
func (s *session) overflows(m protocol.MessageRef) bool {
	if m.Command != domain.CommandNone || s.state.Overflow == nil && len(s.state.Queue) < s.limits.Queue {
		return false
	}
	if s.state.Overflow == nil {
		s.state.Overflow = &protocol.Overflow{}
	}
	return true
}

// stopOverflow extends a stop to the messages in the store that would have joined the
// turn: those that follow without a gap in the queue.
func (s *session) stopOverflow(sender string, seq int64) {
	if s.state.Overflow != nil && len(s.state.Queue) == 0 {
		s.state.Overflow.Stopped = &protocol.Stopped{Sender: sender, Before: seq}
	}
}

// joining removes the messages from the queue that may join the running turn. To keep the
// order it stops at the first that may not.
func (s *session) joining() []protocol.MessageRef {
	n := 0
	for n < min(len(s.state.Queue), s.limits.Joins) && s.joins(s.state.Queue[n]) {
		n++
	}
	joined := slices.Clone(s.state.Queue[:n])
	s.state.Queue = slices.Delete(s.state.Queue, 0, n)
	return joined
}

// canJoin reports whether the next message may join the running turn.
func (s *session) canJoin() bool { return len(s.state.Queue) > 0 && s.joins(s.state.Queue[0]) }

func (s *session) joins(m protocol.MessageRef) bool {
	return s.state.Turn.Joinable && m.Command == domain.CommandNone && m.Join && m.Sender == s.state.Turn.Sender
}
