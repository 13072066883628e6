package workflows

import (
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// begin starts a turn with the next message of the queue.
func (s *session) begin() {
	first := s.pop()
	s.state.Turn = &protocol.TurnState{ID: first.ID, Sender: first.Sender, Joinable: first.Join, Step: 1, Messages: []string{first.ID}}
	s.turn = s.newTurn()
}

func (s *session) newTurn() *turn {
	return &turn{
		session: s.ref, model: s.model, limit: s.limits.Steps, state: s.state.Turn,
		canJoin: s.canJoin, behind: s.behind, report: s.report, spawn: s.spawn, continues: s.continues, decided: map[string]bool{},
	}
}

// stopTurn stops the running turn, or the next one, and drops the messages that were about
// to join it. It reports whether there was one. Seq is the sequence number of the command
// that stops it.
func (s *session) stopTurn(seq int64) bool {
	if s.turn == nil && (len(s.state.Queue) == 0 || s.state.Queue[0].Command != domain.CommandNone) {
		return false
	}
	if s.turn == nil {
		s.begin()
	}
	for waiting := s.joining(); len(waiting) > 0; waiting = s.joining() {
		s.turn.dropped = append(s.turn.dropped, waiting...)
	}
	if s.turn.state.Joinable {
		s.stopOverflow(s.turn.state.Sender, seq)
	}
	s.turn.halt()
	return true
}

// drop ends messages as stopped, without a turn.
func (s *session) drop(ctx workflow.Context, messages []protocol.MessageRef) {
	for dropped := range slices.Chunk(ids(messages), s.limits.Joins) {
		_, err := executeEndTurn(ctx, protocol.EndTurnInput{
			Session: s.ref, Turn: dropped[0], Messages: dropped, Ending: protocol.EndingStopped, Silent: true, Behind: s.behind(),
		})
		if err != nil {
			workflow.GetLogger(ctx).Error("messages not ended", "first", dropped[0], "err", err)
		}
	}
}
