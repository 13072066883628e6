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
	// recentLimit bounds the message IDs that a session remembers. Beyond it the
	// store tells that a message was answered, at the price of an activity.
	recentLimit = 200
	// joinLimit bounds the messages that one step takes in.
	joinLimit = 100
)

// Session answers the messages of one conversation, in order and one turn at a
// time: its open run is the conversation's lock. It is started by
// SignalWithStart, completes when nothing is left to do, and never fails for a
// turn that did.
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

	turn     *turn  // the one that state.Turn is of; nil if there is none
	last     string // how the last turn ended, if not with the model's answer
	commands int    // being answered beside the turn
	refused  bool   // a message was refused since the last refill began
	// answering is held while a command is answered, so that of two which say the
	// opposite the first counts.
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
	// Receive would not notice that the session is cancelled; Await does.
	workflow.Go(ctx, func(ctx workflow.Context) {
		for workflow.Await(ctx, func() bool { return s.inbox.Len() > 0 }) == nil {
			s.drain(ctx)
		}
	})
	return nil
}

// run does one thing after the other until there is nothing to do or the
// history has grown long. Cancelled from outside, it ends what waits, so that
// nothing comes back by itself afterwards. A signal that was delivered and not
// read is lost when the run returns: nothing may yield between drain and return.
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
			s.rest(ctx)
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

// idle reports whether nothing is left to do, nor a report to come.
func (s *session) idle() bool { return !s.busy() && s.commands == 0 && len(s.state.Children) == 0 }

// busy reports whether there is something to do.
func (s *session) busy() bool {
	return s.turn != nil || len(s.state.Queue) > 0 || s.state.Overflow != nil
}

// rest waits until there is something to do, or nothing is left. Being cancelled is
// no reason to leave a command without its answer.
func (s *session) rest(ctx workflow.Context) {
	disconnected, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	_ = workflow.Await(disconnected, func() bool {
		return s.busy() || s.idle() || s.inbox.Len() > 0 || ctx.Err() != nil && len(s.state.Children) > 0
	})
}

// continues reports whether the session is to go on as a new run. What only this
// run knows is finished first: a cancellation, a stop, an answer being given.
func (s *session) continues(ctx workflow.Context) bool {
	return workflow.GetInfo(ctx).GetContinueAsNewSuggested() && ctx.Err() == nil &&
		s.commands == 0 && (s.turn == nil || !s.turn.stopped)
}

// drain takes in what the signal channel holds, without waiting.
func (s *session) drain(ctx workflow.Context) {
	var m protocol.MessageRef
	for s.inbox.ReceiveAsync(&m) {
		s.take(ctx, m)
		m = protocol.MessageRef{}
	}
}

// take puts a message where it belongs, once. What a command is about is settled
// here: what comes after it is none of its business.
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

// command does what a command asks of the turn, and returns what to answer.
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

// answerNow answers a command beside the running turn.
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

// executeAnswer answers a command after those before it, whatever becomes of ctx.
func (s *session) executeAnswer(ctx workflow.Context, input protocol.AnswerInput) (protocol.AnswerResult, error) {
	ctx, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	if err := s.answering.Lock(ctx); err != nil {
		return protocol.AnswerResult{}, err
	}
	defer s.answering.Unlock()
	return executeAnswer(ctx, input)
}

// stopTurn ends the running turn, or the one that is about to begin, and with it
// the messages that were about to join it. It reports whether there was one.
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

// begin makes the next message in line a turn.
func (s *session) begin() {
	first := s.pop()
	s.state.Turn = &protocol.TurnState{ID: first.ID, Sender: first.Sender, Joinable: first.Join, Step: 1, Messages: []string{first.ID}}
	s.turn = s.newTurn()
}

func (s *session) newTurn() *turn {
	return &turn{session: s.ref, model: s.model, limit: s.limits.Steps, state: s.state.Turn, joining: s.refillAndJoin, written: s.written, report: s.report, spawn: s.spawn}
}

// runTurn runs the next turn, or goes on with the one that was carried over.
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

// report tells the UI where the session stands; it writes no event.
func (s *session) report(ctx workflow.Context) {
	workflow.SetCurrentDetails(ctx, details(s.status(), s.last))
}

// drop ends messages that no turn took in.
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

// joining takes from the queue what may join the running turn: messages of the
// same sender, up to the first that may not, so that the order holds.
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

// written reports whether a message waits to join the running turn.
func (s *session) written() bool { return len(s.state.Queue) > 0 && s.joins(s.state.Queue[0]) }

func (s *session) joins(m protocol.MessageRef) bool {
	return s.state.Turn.Joinable && m.Command == domain.CommandNone && m.Join && m.Sender == s.state.Turn.Sender
}

// deliver sends a reply, if there is one to send. One that cannot be sent stays
// in the store and does not hold the session.
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

// carry is the input of the run that goes on from here. What the UI showed of
// the waiting messages is left behind, to keep it small.
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
