package command

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/node"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// delegating is a model that hands over n tasks when it is asked to, works on each
// in steps model calls as a subagent, each but the last a call of work, and sums up
// each report.
func delegating(t testing.TB, n, steps int, work llmtest.Call) *llmtest.Server {
	return llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
		subagent := strings.HasPrefix(r.Messages[0].Content.Text, "# Subagent")
		asked := r.LastUser()
		switch {
		case subagent && len(r.Messages) < 2*steps:
			return llmtest.Calls(work)
		case subagent:
			task, _, _ := strings.Cut(asked, "\n")
			return llmtest.Text("did " + task)
		case strings.HasPrefix(asked, "[Report of the subagent"):
			_, result, _ := strings.Cut(asked, "Result:\n")
			result, _, _ = strings.Cut(result, "\n")
			return llmtest.Text("summary: " + result)
		case strings.HasPrefix(asked, "delegate") && len(r.Results()) == 0:
			var calls []llmtest.Call
			for i := range n {
				calls = append(calls, llmtest.Call{
					ID: fmt.Sprintf("s%d", i), Name: "spawn", Arguments: fmt.Sprintf(`{"task":"task %d","label":"part %d"}`, i, i),
				})
			}
			return llmtest.Calls(calls...)
		default:
			return llmtest.Text("handed over")
		}
	})
}

func TestSubagents(t *testing.T) {
	t.Parallel()

	t.Run("each report is summarized once, in the chat that asked for it", func(t *testing.T) {
		t.Parallel()
		memory := channeltest.NewMemory("memory")
		model := delegating(t, 5, 4, llmtest.Call{ID: "c", Name: "list_dir", Arguments: `{"path":"."}`})
		n := startNode(t, model.URL, func(_ *config.Config, r *node.Roles) { r.Push = map[string]node.PushChannel{"memory": memory} })
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		require.NoError(t, memory.Deliver(ctx, domain.Inbound{PlatformID: "1", Chat: "c", Thread: "t", Sender: "ana", Text: "delegate"}))
		posted, err := memory.Await(ctx, 6)
		require.NoError(t, err)
		n.closedCost(t, "memory:c:t")
		said := map[string]int{}
		for _, msg := range memory.Posted() {
			require.Equal(t, "c t", msg.Chat+" "+msg.Thread)
			said[msg.Text]++
		}
		require.Len(t, posted, 6)
		want := map[string]int{"handed over": 1}
		for i := range 5 {
			want[fmt.Sprintf("summary: did task %d", i)] = 1
		}
		require.Equal(t, want, said)
		require.Empty(t, model.Invalid())
	})

	t.Run("a sixth is refused, and a stop ends them", func(t *testing.T) {
		t.Parallel()
		model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
			switch {
			case strings.HasPrefix(r.Messages[0].Content.Text, "# Subagent"):
				return llmtest.Hang()
			case strings.HasPrefix(r.LastUser(), "delegate") && len(r.Results()) == 0:
				var calls []llmtest.Call
				for i := range 6 {
					calls = append(calls, llmtest.Call{ID: fmt.Sprintf("s%d", i), Name: "spawn", Arguments: `{"task":"a task whose text is longer than thirty characters"}`})
				}
				return llmtest.Calls(calls...)
			case len(r.Results()) > 0:
				require.Contains(t, r.Results()[5], "5 subagents are already running")
				return llmtest.Text("handed over")
			default:
				return llmtest.Text("hello")
			}
		})
		n := startNode(t, model.URL)
		require.Equal(t, "handed over", n.ask(t, "main", "delegate").Text)
		require.NoError(t, model.Await(t.Context(), 7))
		require.Contains(t, n.ask(t, "main", "/status").Text, "(a task whose text is longer th…)")
		running, err := n.store.Subagents(t.Context(), "http:main")
		require.NoError(t, err)
		begun, err := n.client.GetWorkflowHistory(t.Context(), protocol.Names{}.Session(running[0].Session), "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT).Next()
		require.NoError(t, err)
		require.Equal(t, 5*time.Second, begun.GetWorkflowExecutionStartedEventAttributes().GetWorkflowTaskTimeout().AsDuration(), "its worker may die")
		before := time.Now()
		require.Equal(t, "Stopped.", n.ask(t, "main", "/stop").Text)
		running, err = n.store.Subagents(t.Context(), "http:main")
		require.NoError(t, err)
		require.Empty(t, running)
		require.Eventually(t, func() bool {
			sessions, err := n.store.RunningSessions(t.Context())
			return err == nil && len(sessions) == 0
		}, patience, 10*time.Millisecond)
		t.Logf("stopped after %v", time.Since(before))
		require.Equal(t, "hello", n.ask(t, "main", "hi").Text)
	})

	t.Run("one that is terminated is reported as failed", func(t *testing.T) {
		t.Parallel()
		model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
			switch {
			case strings.HasPrefix(r.Messages[0].Content.Text, "# Subagent"):
				return llmtest.Hang()
			case strings.HasPrefix(r.LastUser(), "[Report"):
				require.Contains(t, r.LastUser(), "which failed")
				return llmtest.Text("it failed")
			case len(r.Results()) > 0:
				return llmtest.Text("handed over")
			default:
				return llmtest.Calls(llmtest.Call{ID: "s", Name: "spawn", Arguments: `{"task":"work"}`})
			}
		})
		memory := channeltest.NewMemory("memory")
		n := startNode(t, model.URL, func(_ *config.Config, r *node.Roles) { r.Push = map[string]node.PushChannel{"memory": memory} })
		ctx, cancel := context.WithTimeout(t.Context(), 3*patience)
		defer cancel()
		require.NoError(t, memory.Deliver(ctx, domain.Inbound{PlatformID: "1", Chat: "c", Sender: "ana", Text: "go"}))
		require.NoError(t, model.Await(ctx, 3))
		running, err := n.store.Subagents(ctx, "memory:c")
		require.NoError(t, err)
		require.Len(t, running, 1)
		require.NoError(t, n.client.TerminateWorkflow(ctx, protocol.Names{}.Session(running[0].Session), "", "a test"))
		posted, err := memory.Await(ctx, 2)
		require.NoError(t, err)
		require.Equal(t, "it failed", posted[1].Text)
	})
}
