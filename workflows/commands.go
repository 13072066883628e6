package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// command applies a command to the turn and returns the input of its answer.
func (s *session) command(ctx workflow.Context, m protocol.MessageRef) protocol.AnswerInput {
	input := protocol.AnswerInput{Session: s.ref, Message: m.ID, Command: m.Command, Behind: s.behind()}
	if m.Command == domain.CommandStop {
		turn, children := s.stopTurn(m.Seq), s.stopChildren(ctx)
		input.Stopped = turn || children
	}
	if m.Command == domain.CommandStatus || m.Command == domain.CommandUsage {
		status := s.status()
		input.Status = &status
	}
	return input
}

// answerNow answers a command concurrently with the turn.
func (s *session) answerNow(ctx workflow.Context, input protocol.AnswerInput) {
	s.commands++
	workflow.Go(ctx, func(ctx workflow.Context) {
		s.answer(ctx, input)
		s.commands--
	})
}

func (s *session) answer(ctx workflow.Context, input protocol.AnswerInput) {
	result, err := s.executeAnswer(ctx, input)
	if err != nil {
		workflow.GetLogger(ctx).Error("command not answered", "command", string(input.Command), "err", err)
		return
	}
	s.deliver(ctx, result.Outbox)
}

// executeAnswer answers a command after earlier ones, also if ctx is cancelled.
func (s *session) executeAnswer(ctx workflow.Context, input protocol.AnswerInput) (protocol.AnswerResult, error) {
	ctx, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	if err := s.answering.Lock(ctx); err != nil {
		return protocol.AnswerResult{}, err
	}
	defer s.answering.Unlock()
	return executeAnswer(ctx, input)
}
