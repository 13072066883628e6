// Package workflows has the durable control flow: sessions and their turns. It is
// deterministic and does no I/O; what it refers to is in the store, and what
// touches the world is an activity.
package workflows

import (
	"fmt"
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

const (
	// recentLimit bounds the message IDs kept to drop duplicates. Older duplicates cost an
	// activity, which finds in the store that the message was answered.
	recentLimit = 200
	// joinLimit bounds the messages that join a turn in one step.
	joinLimit = 100
)

// Session answers the messages of one conversation, in order and one turn at a time. Its
// open run is the conversation's lock. SignalWithStart starts it; it completes when it is
// idle. A failed turn does not fail it.
func Session(ctx workflow.Context, input protocol.SessionInput) error {
	s := newSession(ctx, input)
	if err := s.setup(ctx); err != nil {
		return err
	}
	return s.run(ctx)
}

// session is one run of [Session].
type session struct {
	ref    domain.SessionRef
	model  string
	limits protocol.Limits
	state  protocol.SessionState
	inbox  workflow.ReceiveChannel

	turn     *turn  // the current turn, whose state is state.Turn; nil between turns
	last     string // how the last turn ended; empty if the model answered
	commands int    // number of commands being answered
	refused  bool   // a message was refused since the last refill began
	// answering is held while a command is answered, so that the first of two conflicting
	// commands wins.
	answering workflow.Mutex
}

func newSession(ctx workflow.Context, input protocol.SessionInput) *session {
	return &session{
		ref:    input.Session,
		model:  input.Model,
		limits: input.Limits,
		state:  input.State,
		inbox:  workflow.GetSignalChannel(ctx, protocol.MessageSignal),

		answering: workflow.NewMutex(ctx),
	}
}

func (s *session) setup(ctx workflow.Context) error {
	if s.state.Turn != nil {
		s.turn = s.newTurn()
	}
	if err := workflow.SetQueryHandler(ctx, protocol.StatusQuery, func() (protocol.Status, error) {
		return s.status(), nil
	}); err != nil {
		return fmt.Errorf("set the status query's handler: %w", err)
	}
	// Unlike Receive, Await returns when the session is cancelled.
	workflow.Go(ctx, func(ctx workflow.Context) {
		for workflow.Await(ctx, func() bool { return s.inbox.Len() > 0 }) == nil {
			s.drain(ctx)
		}
	})
	return nil
}

// run works until the session is idle or its history is long. When it is cancelled it
// ends everything that is queued, which would otherwise be signalled again. Signals that
// are delivered but not read are lost when it returns, so nothing may yield between drain
// and return.
func (s *session) run(ctx workflow.Context) error {
	for {
		s.drain(ctx)
		if ctx.Err() != nil {
			s.stopChildren(ctx)
		}
		switch {
		case s.idle():
			return ctx.Err()
		case !s.busy():
			s.awaitWork(ctx)
		case s.continues(ctx):
			return workflow.NewContinueAsNewError(ctx, Session, s.carry())
		case s.turn == nil && len(s.state.Queue) == 0:
			s.refill(ctx)
		case s.turn == nil && s.state.Queue[0].Command != domain.CommandNone:
			s.answer(ctx, s.command(ctx, s.pop()))
		default:
			s.runTurn(ctx)
		}
	}
}

// idle reports whether there is no work and no report is expected.
func (s *session) idle() bool { return !s.busy() && s.commands == 0 && len(s.state.Children) == 0 }

// busy reports whether there is a turn or a message to work on.
func (s *session) busy() bool {
	return s.turn != nil || len(s.state.Queue) > 0 || s.state.Overflow != nil
}

// awaitWork blocks until work arrives or the session is idle. It waits for commands being
// answered even if the session is cancelled.
func (s *session) awaitWork(ctx workflow.Context) {
	disconnected, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	_ = workflow.Await(disconnected, func() bool {
		return s.busy() || s.idle() || s.inbox.Len() > 0 || ctx.Err() != nil && len(s.state.Children) > 0
	})
}

// continues reports whether to continue as new. A cancellation, a stop and commands being
// answered are not part of the state, so they are finished first.
func (s *session) continues(ctx workflow.Context) bool {
	return workflow.GetInfo(ctx).GetContinueAsNewSuggested() && ctx.Err() == nil &&
		s.commands == 0 && (s.turn == nil || !s.turn.stopped)
}

// drain takes all received signals without blocking.
func (s *session) drain(ctx workflow.Context) {
	var m protocol.MessageRef
	for s.inbox.ReceiveAsync(&m) {
		s.take(ctx, m)
		m = protocol.MessageRef{}
	}
}

// take queues a message or acts on a command, once. A command applies to what arrived
// before it.
func (s *session) take(ctx workflow.Context, m protocol.MessageRef) {
	s.reported(m.Child)
	if slices.Contains(s.state.Recent, m.ID) || s.refuse(m) {
		return
	}
	if m.Command == domain.CommandNone {
		s.enqueue(m)
		return
	}
	s.remember(m.ID)
	switch spec, _ := domain.LookupCommand(m.Command); {
	case m.Command == domain.CommandNew:
		s.stopTurn(m.Seq)
		s.stopChildren(ctx)
		s.state.Queue = slices.Insert(s.state.Queue, 0, m)
	case spec.Immediate:
		s.answerNow(ctx, s.command(ctx, m))
	default:
		workflow.GetLogger(ctx).Warn("unknown command dropped", "command", string(m.Command))
	}
}

// enqueue adds a message to the queue.
func (s *session) enqueue(m protocol.MessageRef) {
	s.state.Seq = max(s.state.Seq, m.Seq)
	m.Seq = 0 // keeps the state small
	s.state.Queue = append(s.state.Queue, m)
	s.remember(m.ID)
}

// remember adds to the recent IDs, which include those in the queue.
func (s *session) remember(id string) {
	s.state.Recent = append(s.state.Recent, id)
	if extra := len(s.state.Recent) - recentLimit - len(s.state.Queue); extra > 0 {
		s.state.Recent = slices.Delete(s.state.Recent, 0, extra)
	}
}

// command applies a command to the turn and returns the input of its answer.
func (s *session) command(ctx workflow.Context, m protocol.MessageRef) protocol.AnswerInput {
	input := protocol.AnswerInput{Session: s.ref, Message: m.ID, Command: m.Command}
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

// stopTurn stops the running turn, or the next one, and drops the messages that were about
// to join it. It reports whether there was one. Seq is the number of the message that
// stops it.
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

// begin starts a turn with the next message of the queue.
func (s *session) begin() {
	first := s.pop()
	s.state.Turn = &protocol.TurnState{ID: first.ID, Sender: first.Sender, Joinable: first.Join, Step: 1, Messages: []string{first.ID}}
	s.turn = s.newTurn()
}

func (s *session) newTurn() *turn {
	return &turn{session: s.ref, model: s.model, limit: s.limits.Steps, state: s.state.Turn, joining: s.refillAndJoin, written: s.written, report: s.report, spawn: s.spawn}
}

// runTurn runs the next turn or continues the one that was carried over.
func (s *session) runTurn(ctx workflow.Context) {
	if s.turn == nil {
		s.begin()
	}
	t := s.turn
	result := t.run(ctx)
	if result.unfinished {
		return
	}
	s.state.Turn, s.turn = nil, nil
	s.state.Turns++
	s.state.Queue = slices.Insert(s.state.Queue, 0, result.untouched...)
	s.drop(ctx, t.dropped)
	s.last = t.ended
	s.deliver(ctx, result.outbox)
	s.report(ctx)
}

// report shows the session's status in the UI. It writes no event.
func (s *session) report(ctx workflow.Context) {
	workflow.SetCurrentDetails(ctx, details(s.status(), s.last))
}

// drop ends messages as stopped, without a turn.
func (s *session) drop(ctx workflow.Context, messages []protocol.MessageRef) {
	for dropped := range slices.Chunk(ids(messages), joinLimit) {
		_, err := executeEndTurn(ctx, protocol.EndTurnInput{
			Session: s.ref, Turn: dropped[0], Messages: dropped, Ending: protocol.EndingStopped, Silent: true,
		})
		if err != nil {
			workflow.GetLogger(ctx).Error("messages not ended", "first", dropped[0], "err", err)
		}
	}
}

// joining removes the messages from the queue that may join the running turn. To keep the
// order it stops at the first that may not.
func (s *session) joining() []protocol.MessageRef {
	n := 0
	for n < min(len(s.state.Queue), joinLimit) && s.joins(s.state.Queue[n]) {
		n++
	}
	joined := slices.Clone(s.state.Queue[:n])
	s.state.Queue = slices.Delete(s.state.Queue, 0, n)
	return joined
}

// refillAndJoin is joining, also of messages that wait in the store.
func (s *session) refillAndJoin(ctx workflow.Context) []protocol.MessageRef {
	if s.refill(ctx); s.turn.stopped { // meanwhile
		return nil
	}
	return s.joining()
}

// written reports whether the next message may join the running turn.
func (s *session) written() bool { return len(s.state.Queue) > 0 && s.joins(s.state.Queue[0]) }

func (s *session) joins(m protocol.MessageRef) bool {
	return s.state.Turn.Joinable && m.Command == domain.CommandNone && m.Join && m.Sender == s.state.Turn.Sender
}

// deliver sends a reply unless outbox is empty. A reply that cannot be sent stays in the
// store and does not block the session.
func (s *session) deliver(ctx workflow.Context, outbox string) {
	if outbox == "" {
		return
	}
	if err := executeDeliver(ctx, s.ref.Channel, outbox); err != nil {
		workflow.GetLogger(ctx).Error("reply not delivered", "outbox", outbox, "err", err)
	}
}

func (s *session) pop() protocol.MessageRef {
	first := s.state.Queue[0]
	s.state.Queue = slices.Delete(s.state.Queue, 0, 1)
	return first
}

// carry is the input of the next run. Previews of queued messages are left out to keep it
// small.
func (s *session) carry() protocol.SessionInput {
	state := s.state
	state.Queue = slices.Clone(state.Queue)
	for i := range state.Queue {
		state.Queue[i].Preview = ""
	}
	return protocol.SessionInput{Session: s.ref, Model: s.model, Limits: s.limits, State: state}
}

func (s *session) status() protocol.Status {
	status := protocol.Status{Queued: len(s.state.Queue), Turns: s.state.Turns, Children: s.state.Children}
	if s.turn != nil {
		status.Turn = s.turn.state.ID
		status.Step = s.turn.state.Step
		status.Tokens = s.turn.state.Tokens
		status.Cost, status.Unpriced = s.turn.state.Cost, s.turn.state.Unpriced
		status.Doing = s.turn.doing
	}
	return status
}
