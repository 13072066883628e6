package platformtest

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/workflows"
)

// patience is generous: only what hangs takes as long.
const patience = time.Minute

// holdActivity runs until the test ends, which keeps the clock from jumping to the next timer.
const holdActivity = "Hold"

// engine runs the workflows of sessions. It outlives the processes, as Temporal does: their
// activities are tried again in the next one.
type engine struct {
	t     *testing.T
	ctx   context.Context
	store *store.Store
	name  string // of the channel
	hold  bool

	mu      sync.Mutex
	changed chan struct{} // closed and replaced at every change
	process *process      // nil: none runs
	runs    map[string]*run
}

// run is the open run of a session.
type run struct {
	env     *testsuite.TestWorkflowEnvironment
	started bool
	waiting []protocol.MessageRef // until it has started
}

func (e *engine) change() {
	close(e.changed)
	e.changed = make(chan struct{})
}

// until waits until a condition holds, which is checked with the lock.
func (e *engine) until(ctx context.Context, condition func() bool) error {
	for {
		e.mu.Lock()
		ok, changed := condition(), e.changed
		e.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// signal is SignalWithStart.
func (e *engine) signal(m domain.Inbound) {
	ref := protocol.NewMessageRef(m)
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.runs[m.Session]
	switch {
	case r == nil:
		r = &run{waiting: []protocol.MessageRef{ref}}
		e.runs[m.Session] = r
		go e.work(m.Session, r)
	case !r.started:
		r.waiting = append(r.waiting, ref)
	default:
		r.env.SignalWorkflow(protocol.MessageSignal, ref)
	}
}

// work runs a session until no message is left: a signal that comes as the run ends is lost.
func (e *engine) work(session string, r *run) {
	for e.ctx.Err() == nil {
		e.execute(session, r)
		e.mu.Lock()
		pending, err := e.store.Pending(e.ctx, session, 0, math.MaxInt64, 1000)
		if err != nil || len(pending) == 0 {
			delete(e.runs, session)
			e.change()
			e.mu.Unlock()
			return
		}
		r.started = false
		for _, m := range pending {
			r.waiting = append(r.waiting, protocol.NewMessageRef(m))
		}
		e.mu.Unlock()
	}
}

// execute executes one run of a session.
func (e *engine) execute(session string, r *run) {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(4 * patience)
	env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: patience}) // a busy machine may stop us for a second
	env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: workflowID(session), TaskQueue: protocol.Names{}.AgentQueue()})
	env.RegisterWorkflowWithOptions(e.session, workflow.RegisterOptions{Name: protocol.SessionWorkflow})
	env.RegisterActivity(&proxy{e})
	env.RegisterDelayedCallback(func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		r.env, r.started = env, true
		for _, ref := range r.waiting {
			env.SignalWorkflow(protocol.MessageSignal, ref)
		}
		r.waiting = nil
	}, 0)
	env.ExecuteWorkflow(protocol.SessionWorkflow, protocol.SessionInput{
		Session: domain.SessionRef{Key: session, Channel: e.name}, Model: "scripted/model", Limits: protocol.NewLimits(10, 0),
	})
	if err := env.GetWorkflowError(); err != nil && e.ctx.Err() == nil {
		e.t.Errorf("session %s: %v", session, err)
	}
}

// session is [workflows.Session], which begins with a signal.
func (e *engine) session(ctx workflow.Context, input protocol.SessionInput) error {
	if e.hold {
		workflow.Go(ctx, func(ctx workflow.Context) {
			ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Hour})
			_ = workflow.ExecuteActivity(ctx, holdActivity).Get(ctx, nil) // until the session ends
		})
	}
	inbox := workflow.GetSignalChannel(ctx, protocol.MessageSignal)
	if err := workflow.Await(ctx, func() bool { return inbox.Len() > 0 }); err != nil {
		return err
	}
	return workflows.Session(ctx, input)
}

func workflowID(session string) string { return "session/" + session }

// decided signals a decision to the session that waits for it.
func (e *engine) decided(_ context.Context, id string, d protocol.ApprovalDecision) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for session, r := range e.runs {
		if workflowID(session) == id && r.started {
			r.env.SignalWorkflow(protocol.ApprovalSignal, d)
		}
	}
	return nil
}

// proxy has the activities: those of the process that runs.
type proxy struct{ e *engine }

// Hold is [holdActivity].
func (a *proxy) Hold(context.Context) error {
	<-a.e.ctx.Done()
	return nil
}

// Complete is that of [activities.Agent], as are the next ones.
func (a *proxy) Complete(ctx context.Context, in protocol.CompleteInput) (protocol.CompleteResult, error) {
	return call(ctx, a.e, in, func(p *process) func(context.Context, protocol.CompleteInput) (protocol.CompleteResult, error) {
		return p.agent.Complete
	}, func(r protocol.CompleteResult) bool { return r.Final && r.Outbox == "" })
}

// CallTool runs a tool.
func (a *proxy) CallTool(ctx context.Context, in protocol.CallToolInput) (protocol.CallToolResult, error) {
	return call(ctx, a.e, in, func(p *process) func(context.Context, protocol.CallToolInput) (protocol.CallToolResult, error) {
		return p.agent.CallTool
	}, nil)
}

// EndTurn ends a turn.
func (a *proxy) EndTurn(ctx context.Context, in protocol.EndTurnInput) (protocol.EndTurnResult, error) {
	return call(ctx, a.e, in, func(p *process) func(context.Context, protocol.EndTurnInput) (protocol.EndTurnResult, error) {
		return p.agent.EndTurn
	}, nil)
}

// Answer answers a command.
func (a *proxy) Answer(ctx context.Context, in protocol.AnswerInput) (protocol.AnswerResult, error) {
	return call(ctx, a.e, in, func(p *process) func(context.Context, protocol.AnswerInput) (protocol.AnswerResult, error) {
		return p.agent.Answer
	}, nil)
}

// Refill refills a queue.
func (a *proxy) Refill(ctx context.Context, in protocol.RefillInput) (protocol.RefillResult, error) {
	return call(ctx, a.e, in, func(p *process) func(context.Context, protocol.RefillInput) (protocol.RefillResult, error) {
		return p.agent.Refill
	}, nil)
}

// Deliver delivers a reply. It is tried for as long as it takes: the test environment makes
// ten attempts at most.
func (a *proxy) Deliver(ctx context.Context, in protocol.DeliverInput) (result protocol.DeliverResult, err error) {
	for {
		result, err = call(ctx, a.e, in, func(p *process) func(context.Context, protocol.DeliverInput) (protocol.DeliverResult, error) {
			return p.outbox.Deliver
		}, func(protocol.DeliverResult) bool { return true })
		failed, ok := errors.AsType[*temporal.ApplicationError](err)
		if err == nil || ok && failed.NonRetryable() || ctx.Err() != nil {
			return result, err
		}
	}
}

// The pauses before another attempt: in the test environment they take no time.
const (
	retryPause   = 10 * time.Millisecond
	longestPause = time.Second
)

// call runs an activity in the process that runs, once one does. If the process dies
// meanwhile, what it returns is lost. replied reports whether a reply was delivered.
func call[In, Out any](
	ctx context.Context, e *engine, in In, activity func(*process) func(context.Context, In) (Out, error), replied func(Out) bool,
) (out Out, err error) {
	p, err := e.alive()
	if err != nil {
		return out, temporal.NewNonRetryableApplicationError("the test has ended", "Ended", err)
	}
	live, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)() //nolint:contextcheck // the process's
	out, err = activity(p)(live, in)
	if err == nil && replied != nil && replied(out) {
		p.reach(Recorded)
	}
	if p.isDead() {
		return *new(Out), errDied
	}
	if err != nil {
		pause := retryPause
		if failed, ok := errors.AsType[*temporal.ApplicationError](err); ok {
			pause = min(max(pause, failed.NextRetryDelay()), longestPause)
		}
		time.Sleep(pause)
	}
	return out, err
}

// alive returns the process, once one runs.
func (e *engine) alive() (p *process, err error) {
	err = e.until(e.ctx, func() bool {
		p = e.process
		return p != nil
	})
	return p, err
}
