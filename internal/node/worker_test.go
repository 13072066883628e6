package node_test

import (
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"github.com/holdfast-ai/holdfast/activities"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/dispatch"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/engine/enginetest"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/llm/openai"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/tool"
	"github.com/holdfast-ai/holdfast/worker"
)

func TestNewRequiresSomethingToServe(t *testing.T) {
	t.Parallel()
	_, err := worker.New(worker.Options{Agent: &activities.Agent{}})
	require.Error(t, err)
	c, err := client.NewLazyClient(client.Options{})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	_, err = worker.New(worker.Options{Client: c})
	require.Error(t, err)
}

// TestStopReleasesRunningActivities stops a worker in the middle of a model call: the
// next one goes on at once, not after a heartbeat timeout, and delivers.
func TestStopReleasesRunningActivities(t *testing.T) {
	t.Parallel()
	engine := enginetest.Start(t, protocol.SearchChannel, protocol.SearchSession, protocol.SearchSender)
	model := llmtest.NewServer(t, llmtest.Hang(), llmtest.Text("hello"))
	memory := channeltest.NewMemory("memory")
	c, err := client.DialContext(t.Context(), client.Options{
		HostPort: engine.Address(), Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	s, err := store.Open(t.Context(), store.Options{DSN: filepath.Join(t.TempDir(), "store.db")})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	provider, err := openai.New(openai.Options{BaseURL: model.URL})
	require.NoError(t, err)
	bus := event.NewLocal()
	agent, err := activities.NewAgent(activities.AgentOptions{
		Store: s, Events: bus, Workspace: t.TempDir(), Tools: activities.ToolOptions{Agent: &tool.Registry{}},
		Model: activities.ModelOptions{
			Model: activities.Model{Provider: provider, Service: "scripted", Name: llmtest.Model}, Window: 10,
		},
	})
	require.NoError(t, err)
	dispatcher, err := dispatch.NewDispatcher(dispatch.Options{
		Client: dispatch.New(c, "default", protocol.Names{}), Store: s, Events: bus, Limits: protocol.NewLimits(3, 0),
	})
	require.NoError(t, err)
	start := func() *worker.Worker {
		w, err := worker.New(worker.Options{
			Client: c, Agent: agent, Outboxes: map[string]*activities.Outbox{"memory": activities.NewOutbox(s, memory, t.TempDir())},
			Config: config.Default(t.TempDir()).Worker,
		})
		require.NoError(t, err)
		require.NoError(t, w.Start())
		return w
	}

	first := start()
	accepted, _, err := s.Accept(t.Context(), domain.Inbound{ID: "m1", Session: "memory:c1", Channel: "memory", Chat: "c1", Sender: "ana", Text: "hi", Push: true})
	require.NoError(t, err)
	require.NoError(t, dispatcher.SignalAccepted(t.Context(), accepted))
	require.NoError(t, model.Await(t.Context(), 1))
	first.Stop()

	started := time.Now()
	t.Cleanup(start().Stop)
	posted, err := memory.Await(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, "hello", posted[0].Text)
	require.Less(t, time.Since(started), 15*time.Second)
	require.Empty(t, model.Invalid())
}
