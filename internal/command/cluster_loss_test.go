package command

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
)

// TestClusterLoss kills a worker in the middle of a model call, and freezes the one that took
// over: each time another goes on, and the frozen one changes nothing when it wakes.
func TestClusterLoss(t *testing.T) {
	t.Parallel()
	thaw, calls := make(chan struct{}), make(chan time.Time, 10)
	model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
		if !strings.Contains(r.LastUser(), "think") {
			return llmtest.Text("hello")
		}
		calls <- time.Now()
		switch len(calls) {
		case 1:
			return llmtest.Hang()
		case 2:
			return llmtest.Text("from the frozen one").After(thaw)
		}
		return llmtest.Text("answered")
	})
	c := startCluster(t, model.URL)
	starter, first := c.add(t, "starter"), c.add(t, "worker")
	asked := starter.send(t, "main", "think")
	require.NoError(t, model.Await(t.Context(), 1))

	second := c.add(t, "worker")
	first.kill()
	lost := time.Now()
	require.NoError(t, model.Await(t.Context(), 2))
	killed := time.Since(lost)
	third := c.add(t, "worker")
	second.signal(t, syscall.SIGSTOP)
	lost = time.Now()
	require.Equal(t, "answered", starter.await(t, asked).Text)
	frozen := time.Since(lost)
	t.Logf("taken over %v after kill -9, %v after SIGSTOP", killed.Round(time.Millisecond), frozen.Round(time.Millisecond))
	require.Less(t, killed, 8*time.Second)
	require.Less(t, frozen, 8*time.Second)

	// The frozen one gets the model's answer when it wakes, and then the next message.
	close(thaw)
	second.signal(t, syscall.SIGCONT)
	third.kill()
	require.Equal(t, "hello", starter.await(t, starter.send(t, "main", "hi")).Text)
	transcript, err := starter.api().Transcript(t.Context(), "http:main")
	require.NoError(t, err)
	var said []string
	for _, m := range transcript {
		if m.Role == domain.RoleAssistant {
			said = append(said, m.Content)
		}
	}
	require.Equal(t, []string{"answered", "hello"}, said)
	require.Equal(t, 4, model.Count())
	require.Empty(t, model.Invalid())
}
