// Package workflows has the durable control flow: sessions and their turns. It is
// deterministic and does no I/O: contents are in the store, and activities do the work.
package workflows

import (
	"fmt"
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// Session answers the messages of one conversation, in order and one turn at a time. Its
// open run is the conversation's lock. SignalWithStart starts it; it completes when it is
// idle. A failed turn does not fail it.
func Session(ctx workflow.Context, input protocol.SessionInput) error {
	return newSession(ctx, input).run(ctx)
}

// session is one run of [Session].
type session struct {
	ref    domain.SessionRef
	model  string
	limits protocol.Limits
	state  protocol.SessionState
	inbox  workflow.ReceiveChannel

	turn      *turn  // the current turn, whose state is state.Turn; nil between turns
	last      string // how the last turn ended; empty if the model answered
	commands  int    // number of commands being answered
	delivery  delivery
	worked    bool // a turn ended in this run, so that runs that may not move make progress
	refilling bool // signals are left in the inbox until the queue is refilled
	// answering is locked while a command is answered, so that the first of two
	// conflicting commands wins.
	answering workflow.Mutex
}

func newSession(ctx workflow.Context, input protocol.SessionInput) *session {
	s := &session{
		ref:    input.Session,
		model:  input.Model,
		limits: input.Limits,
		state:  input.State,
		inbox:  workflow.GetSignalChannel(ctx, protocol.MessageSignal),

		answering: workflow.NewMutex(ctx),
	}
	if s.state.Turn != nil {
		s.turn = s.newTurn()
	}
	return s
}

// run works until the session is idle or its history is long. When it is cancelled it
// ends everything that is queued, which would otherwise be signalled again. Signals that
// are delivered but not read are lost when it returns, so nothing may yield between drain
// and return.
func (s *session) run(ctx workflow.Context) error {
	if err := workflow.SetQueryHandler(ctx, protocol.StatusQuery, func() (protocol.Status, error) {
		return s.status(), nil
	}); err != nil {
		return fmt.Errorf("set the status query's handler: %w", err)
	}
	workflow.Go(ctx, s.receive)
	s.resumeDelivery(ctx)
	for {
		s.drain(ctx)
		if ctx.Err() != nil {
			s.stopChildren(ctx)
			s.dropUndelivered()
		}
		switch {
		case s.idle():
			return ctx.Err()
		case s.continues(ctx) && s.delivery.running:
			s.pauseDelivery(ctx)
		case s.continues(ctx):
			return workflow.NewContinueAsNewErrorWithOptions(ctx, ontoCurrentBuild, workflow.GetInfo(ctx).WorkflowType.Name, s.carry())
		case !s.busy():
			s.resumeDelivery(ctx)
			s.awaitWork(ctx)
		case s.turn == nil && len(s.state.Queue) == 0:
			s.refill(ctx)
		case s.turn == nil && s.state.Queue[0].Command != domain.CommandNone:
			s.answer(ctx, s.command(ctx, s.pop()))
		default:
			s.runTurn(ctx)
		}
	}
}

// idle reports whether there is no work, no report is expected and all is delivered.
func (s *session) idle() bool {
	return !s.busy() && s.commands == 0 && len(s.state.Children) == 0 && !s.behind()
}

// busy reports whether there is a turn or a message to work on.
func (s *session) busy() bool {
	return s.turn != nil || len(s.state.Queue) > 0 || s.state.Overflow != nil
}

// awaitWork blocks until work arrives, or the session is idle or continues as new: commands
// lengthen the history while subagents work or wait for approval. It waits for commands being
// answered even if the session is cancelled.
func (s *session) awaitWork(ctx workflow.Context) {
	disconnected, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	_ = workflow.Await(disconnected, func() bool {
		return s.busy() || s.idle() || s.continues(ctx) || s.inbox.Len() > 0 || ctx.Err() != nil && len(s.state.Children) > 0
	})
}

// continues reports whether to continue as new: the history is long, or another build is
// current. A cancellation, a stop and commands being answered are not part of the state, so
// they are finished first. Deliveries alone add little to the history.
func (s *session) continues(ctx workflow.Context) bool {
	info := workflow.GetInfo(ctx)
	moves := s.worked && info.GetTargetWorkerDeploymentVersionChanged()
	return (info.GetContinueAsNewSuggested() || moves) && ctx.Err() == nil &&
		(s.busy() || len(s.state.Children) > 0) && s.commands == 0 && (s.turn == nil || !s.turn.stopped)
}

// ontoCurrentBuild moves a session that is pinned to a build to the one that is current. It
// changes nothing without Worker Versioning.
var ontoCurrentBuild = workflow.ContinueAsNewErrorOptions{
	InitialVersioningBehavior: workflow.ContinueAsNewVersioningBehaviorAutoUpgrade,
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
