package platformtest

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/activities"
	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/approval"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/tool"
	"github.com/holdfast-ai/holdfast/internal/tool/message"
	"github.com/holdfast-ai/holdfast/starter"
)

// Point is a boundary at which a process can die.
type Point string

// The boundaries, in the order of a turn.
const (
	Accepted      Point = "accepted"       // a message is stored, and neither signalled nor acknowledged
	Drafted       Point = "drafted"        // the draft is shown, and where is not recorded
	DraftRecorded Point = "draft recorded" // it is
	Claimed       Point = "claimed"        // the reply is about to be posted
	Placed        Point = "placed"         // its placeholder is posted, and where is not recorded
	Posted        Point = "posted"         // the reply is posted, which is not recorded
	Recorded      Point = "recorded"       // it is, and Temporal does not know
)

// errDied is the error of everything in a process that has died.
var errDied = errors.New("the process has died")

// process is a starter and a worker. Once it has died it has no more effects: its store is
// closed, and its calls of the channel fail.
type process struct {
	t       *testing.T
	e       *engine
	ctx     context.Context
	cancel  context.CancelFunc
	store   *store.Store
	channel Channel
	agent   *activities.Agent
	outbox  *activities.Outbox
	running sync.WaitGroup

	mu    sync.Mutex
	dead  bool
	point Point // where it dies; empty: nowhere
	shown map[string]bool
	died  chan struct{}
}

// start starts a process that dies at a point.
func (w *world) start(point Point) *process {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.ctx)
	p := &process{
		t: w.t, e: w.engine, ctx: ctx, cancel: cancel, store: w.open(), channel: w.p.Open(w.t),
		point: point, shown: map[string]bool{}, died: make(chan struct{}),
	}
	if stored, ok := p.channel.(channels.Stored); ok {
		stored.UseStore(p.store)
	}
	p.outbox = activities.NewOutbox(p.store, p, w.dir)
	p.agent = w.agent(p)
	bus := event.NewLocal()
	receiver, err := starter.New(starter.Options{
		Dispatcher: p, Store: p.store, Events: bus, Names: protocol.Names{},
		Home: starter.HomeOptions{MayDecide: func(a domain.Approval, channel, person string) bool {
			return policy(w.t).May(channel, person, a.Channel, a.Sender)
		}},
	})
	require.NoError(w.t, err)
	p.running.Go(func() {
		if err := p.channel.Run(ctx, backend{receiver, p}); err != nil && ctx.Err() == nil {
			w.t.Errorf("the receiver of %s ended: %v", w.p.Name, err)
		}
	})
	p.running.Go(func() { _ = p.outbox.Sweep(ctx, w.p.Name) }) // what fails the next process sweeps
	w.engine.mu.Lock()
	w.engine.process = p
	w.engine.change()
	w.engine.mu.Unlock()
	w.process = p
	p.reconcile()
	if w.p.Listening != nil {
		w.p.Listening(w.t, p.channel)
	}
	return p
}

// open opens the store once more, as another process does.
func (w *world) open() *store.Store {
	w.t.Helper()
	s, err := store.Open(w.ctx, store.Options{DSN: filepath.Join(w.dir, "store.db")})
	require.NoError(w.t, err)
	w.t.Cleanup(func() { _ = s.Close() })
	return s
}

// policy asks before it pokes.
func policy(t *testing.T) approval.Policy {
	t.Helper()
	approvals, err := config.Approvals{Rules: []string{"ask poke"}, Timeout: time.Hour}.Policy()
	require.NoError(t, err)
	return approvals
}

// agent returns the activities of a process.
func (w *world) agent(p *process) *activities.Agent {
	w.t.Helper()
	var tools tool.Registry
	poke := tool.New("poke", "Does it.", tool.Repeatable, func(context.Context, tool.Call, struct{}) (tool.Result, error) {
		return tool.Result{Text: "poked"}, nil
	})
	require.NoError(w.t, tools.Register(poke))
	require.NoError(w.t, tools.Register(message.New(message.Options{
		Store: p.store, Outboxes: map[string]message.Outbox{w.p.Name: activities.MessageOutbox(p.outbox)}, Workspace: w.dir,
	})))
	agent, err := activities.NewAgent(activities.AgentOptions{
		Store: p.store, Events: event.NewLocal(), Workspace: w.dir, Tools: activities.ToolOptions{Agent: &tools},
		Model: activities.ModelOptions{
			Model: activities.Model{Provider: w.model, Service: "scripted", Name: "model"}, MaxTokens: 1000, Window: 10,
		},
		Approvals: activities.ApprovalOptions{Policy: policy(w.t), Decided: w.engine.decided},
		Channels: activities.ChannelOptions{
			Enrichers: map[string]channels.Enricher{w.p.Name: p}, Outboxes: map[string]*activities.Outbox{w.p.Name: p.outbox},
		},
		Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(w.t, err)
	return agent
}

// reconcile signals what earlier processes accepted and did not signal.
func (p *process) reconcile() {
	require.NoError(p.t, p.store.Unclaim(p.ctx))
	now := time.Now()
	waiting, err := p.store.ClaimMessages(p.ctx, store.Claim{Before: now, Due: now, Until: now.Add(time.Minute), Limit: 1000})
	require.NoError(p.t, err)
	for _, m := range waiting {
		p.e.signal(m)
	}
}

// reach dies if this is the point to, and reports whether the process is dead.
func (p *process) reach(point Point) bool {
	p.mu.Lock()
	if !p.dead && point == p.point {
		p.mu.Unlock()
		p.die()
		return true
	}
	defer p.mu.Unlock()
	return p.dead
}

// live has the process not die at a point any more.
func (p *process) live() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.point = ""
}

func (p *process) isDead() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead
}

// die ends the process.
func (p *process) die() {
	p.mu.Lock()
	if p.dead {
		p.mu.Unlock()
		return
	}
	p.dead = true
	shown := p.shown
	p.mu.Unlock()
	p.e.mu.Lock()
	p.e.process = nil
	p.e.change()
	p.e.mu.Unlock()
	p.cancel()
	_ = p.store.Close() // there is nobody to tell
	for turn := range shown {
		p.running.Go(func() { p.channel.Pause(p.ctx, turn) })
	}
	close(p.died)
}

// buried waits until the process has no more effects.
func (p *process) buried() {
	<-p.died
	p.running.Wait()
}

// SignalAccepted implements [starter.Dispatcher].
func (p *process) SignalAccepted(_ context.Context, m domain.Inbound) error {
	if p.reach(Accepted) {
		return errDied
	}
	p.e.signal(m)
	return nil
}

// SignalAgain implements [starter.Dispatcher].
func (p *process) SignalAgain(ctx context.Context, m domain.Inbound) error {
	return p.SignalAccepted(ctx, m)
}

// backend is the starter of a process.
type backend struct {
	*starter.Starter
	p *process
}

// Accept implements [channels.Backend].
func (b backend) Accept(ctx context.Context, msg domain.Inbound) (channels.Accepted, error) {
	if b.p.isDead() {
		return channels.Accepted{}, errDied
	}
	accepted, err := b.Starter.Accept(ctx, msg)
	if b.p.isDead() {
		return channels.Accepted{}, errDied
	}
	return accepted, err
}
