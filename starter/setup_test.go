package starter_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/starter"
)

// engine is a Temporal that takes signals.
type engine struct {
	client.Client

	mu      sync.Mutex
	refuse  func(protocol.MessageRef) error // nil: takes all
	signals []protocol.MessageRef
	options []client.StartWorkflowOptions
}

func (e *engine) SignalWithStartWorkflow(
	ctx context.Context, _, _ string, arg any, options client.StartWorkflowOptions, _ any, _ ...any,
) (client.WorkflowRun, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	message := arg.(protocol.MessageRef)
	if e.refuse != nil {
		if err := e.refuse(message); err != nil {
			return nil, err
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	e.signals, e.options = append(e.signals, message), append(e.options, options)
	return nil, nil
}

// ScheduleClient returns one that takes every schedule.
func (e *engine) ScheduleClient() client.ScheduleClient { return schedules{} }

type schedules struct{ client.ScheduleClient }

func (schedules) Create(context.Context, client.ScheduleOptions) (client.ScheduleHandle, error) {
	return nil, nil
}

func (e *engine) setRefuse(refuse func(protocol.MessageRef) error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.refuse = refuse
}

// signalled returns the IDs of the messages that were signalled.
func (e *engine) signalled() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var ids []string
	for _, m := range e.signals {
		ids = append(ids, m.ID)
	}
	return ids
}

type bundle struct {
	*starter.Starter
	engine *engine
	store  *store.Store
	bus    *event.Local
}

func setup(t *testing.T) *bundle {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{DSN: filepath.Join(t.TempDir(), "store.db")})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	b := &bundle{engine: &engine{}, store: s, bus: event.NewLocal()}
	b.Starter, err = starter.New(starter.Options{Client: b.engine, Store: s, Events: b.bus, Model: "m", Steps: 3, Steer: true})
	require.NoError(t, err)
	return b
}

func inbound(id, text string) domain.Inbound {
	return domain.Inbound{Channel: "test", PlatformID: id, Chat: "c1", Sender: "ana", Text: text}
}

func (b *bundle) accept(t *testing.T, msg domain.Inbound) channels.Accepted {
	t.Helper()
	accepted, err := b.Accept(t.Context(), msg)
	require.NoError(t, err)
	b.Settle()
	return accepted
}

// begin begins a turn with an accepted message, or takes it into turn.
func (b *bundle) begin(t *testing.T, turn string, step int, message string) {
	t.Helper()
	_, err := b.store.Begin(t.Context(), store.BeginInput{Session: "test:c1", Channel: "test", Turn: turn, Step: step, Messages: []string{message}})
	require.NoError(t, err)
}

// answer ends a turn with a reply.
func (b *bundle) answer(t *testing.T, turn string, step int, reply string) {
	t.Helper()
	_, _, err := b.store.SaveCompletion(t.Context(), store.Completion{
		Turn: turn, Step: step, Message: domain.Message{Content: reply}, Final: true, Reply: reply,
		Usage: domain.Usage{PromptTokens: 3, CompletionTokens: 2},
	})
	require.NoError(t, err)
}
