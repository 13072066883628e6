package starter_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/dispatch"
	"github.com/holdfast-ai/holdfast/internal/dispatch/dispatchtest"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/starter"
)

type bundle struct {
	*starter.Starter
	engine *dispatchtest.Engine
	store  *store.Store
	bus    *event.Local
}

func setup(t *testing.T) *bundle {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{DSN: filepath.Join(t.TempDir(), "store.db")})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	b := &bundle{engine: &dispatchtest.Engine{}, store: s, bus: event.NewLocal()}
	d, err := dispatch.NewDispatcher(dispatch.Options{
		Client: dispatch.New(b.engine, "default", protocol.Names{}), Store: s, Events: b.bus, Model: "m", Limits: protocol.NewLimits(3, 0),
	})
	require.NoError(t, err)
	b.Starter, err = starter.New(starter.Options{Dispatcher: d, Store: s, Events: b.bus, Steer: true})
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
