package dispatch_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/dispatch"
	"github.com/holdfast-ai/holdfast/internal/dispatch/dispatchtest"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// bundle is a dispatcher on a Temporal that records signals.
type bundle struct {
	*dispatch.Dispatcher
	engine *dispatchtest.Engine
	store  *store.Store
}

func setup(t *testing.T) *bundle {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{DSN: filepath.Join(t.TempDir(), "store.db")})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	b := &bundle{engine: &dispatchtest.Engine{}, store: s}
	b.Dispatcher = b.another(t)
	return b
}

// another returns the dispatcher of another process on the same store and engine.
func (b *bundle) another(t *testing.T) *dispatch.Dispatcher {
	t.Helper()
	d, err := dispatch.NewDispatcher(dispatch.Options{
		Client: dispatch.New(b.engine, "default", protocol.Names{}), Store: b.store, Events: event.NewLocal(), Model: "m", Limits: protocol.NewLimits(3, 0),
	})
	require.NoError(t, err)
	return d
}

// store stores a message of a chat.
func (b *bundle) put(t *testing.T, chat, text string) domain.Inbound {
	t.Helper()
	stored, _, err := b.store.Accept(t.Context(), domain.Inbound{
		ID: domain.MessageID("test", chat, text), Session: domain.SessionKey("test", chat, ""),
		Channel: "test", Chat: chat, Sender: "ana", Text: text,
	})
	require.NoError(t, err)
	return stored
}

// accept stores a message and signals it, and returns its ID.
func (b *bundle) accept(t *testing.T, chat, text string) string {
	t.Helper()
	m := b.put(t, chat, text)
	_ = b.SignalAccepted(t.Context(), m)
	return m.ID
}

// begin has a turn in a run consume a message.
func (b *bundle) begin(t *testing.T, m domain.Inbound, run string) {
	t.Helper()
	_, err := b.store.Begin(t.Context(), store.BeginInput{
		Session: m.Session, Channel: m.Channel, Turn: m.ID, Step: 1, Messages: []string{m.ID},
		WorkflowID: protocol.Names{}.Session(m.Session), RunID: run,
	})
	require.NoError(t, err)
}

// answer has a turn consume and answer a message.
func (b *bundle) answer(t *testing.T, message string) {
	t.Helper()
	_, err := b.store.Begin(t.Context(), store.BeginInput{Session: "test:c1", Channel: "test", Turn: message, Step: 1, Messages: []string{message}})
	require.NoError(t, err)
	_, _, err = b.store.SaveCompletion(t.Context(), store.Completion{
		Turn: message, Step: 1, Message: domain.Message{Content: "done"}, Final: true, Reply: "done",
	})
	require.NoError(t, err)
}

// reconcile runs Reconcile until the test's bubble ends.
func (b *bundle) reconcile(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.Reconcile(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
}
