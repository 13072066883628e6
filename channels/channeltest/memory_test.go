package channeltest_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	platform := func(m *channeltest.Memory) channeltest.Platform {
		return channeltest.Platform{
			Name: "memory", Push: true, Threads: true,
			Receiver: m, Deliver: m.Deliver,
			Sender: m, Posted: m.Posted, Fail: m.Fail, LoseResponse: m.LoseResponse, Close: m.Close, Limit: m.Limit,
		}
	}
	channeltest.Run(t, func(*testing.T) channeltest.Platform { return platform(channeltest.NewMemory("memory")) })
	channeltest.RunSender(t, func(*testing.T) channeltest.Platform {
		m := channeltest.NewMemory("memory")
		m.RecognizeKeys(time.Hour)
		return platform(m)
	})
}

func TestMemoryBlocks(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	m := channeltest.NewMemory("memory")
	release := m.Block()
	go func() { _, _ = m.Send(ctx, domain.Outbound{ID: "o1", Chat: "c1", Text: "hi"}) }()
	require.NoError(t, m.AwaitCalls(ctx, 1))
	require.Empty(t, m.Posted())
	release()
	posted, err := m.Await(ctx, 1)
	require.NoError(t, err)
	require.Equal(t, "o1", posted[0].ID)
}

func TestBackendWatchersMissNothing(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	b := channeltest.NewBackend(channeltest.Hold)
	id := b.MessageID("test", "", "1")
	kinds := make(chan event.Kind, 10)
	watched := make(chan error, 1)
	go func() { watched <- b.Watch(ctx, id, func(e event.Event) { kinds <- e.Kind }) }()
	require.NoError(t, b.Await(ctx, func(c channeltest.Counts) bool { return c.Watching == 1 }))

	accepted, err := b.Accept(ctx, domain.Inbound{Channel: "test", PlatformID: "1", Chat: "c", Thread: "t", Text: "hi"})
	require.NoError(t, err)
	require.Equal(t, channels.Accepted{Message: id, Session: "test:c:t", WorkflowID: "session/test:c:t"}, accepted)
	b.Emit(id, event.Event{Kind: event.Text, Text: "H"})
	b.End(id, channeltest.Answer{Reply: "Hi"})
	require.NoError(t, <-watched)
	require.Equal(t, event.Text, <-kinds)
	require.Equal(t, event.Done, <-kinds)
	state, err := b.Message(ctx, id)
	require.NoError(t, err)
	require.Equal(t, "Hi", state.Text)
}
