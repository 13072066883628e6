package command

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/node"
)

// TestApprovalInChats checks that approvals are requested in the chat of the turn, also
// for calls of subagents and jobs.
func TestApprovalInChats(t *testing.T) {
	t.Parallel()
	answered := func(m *channeltest.Memory, t *testing.T, n int, id, sender, text string) domain.Outbound {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		require.NoError(t, m.Deliver(ctx, domain.Inbound{PlatformID: id, Chat: "c", Thread: "t", Sender: sender, Text: text}))
		posted, err := m.Await(ctx, n)
		require.NoError(t, err)
		last := posted[n-1]
		require.Equal(t, "c t", last.Chat+" "+last.Thread)
		return last
	}
	start := func(t *testing.T, model *llmtest.Server, approvers ...string) (*testNode, *channeltest.Memory) {
		t.Helper()
		memory := channeltest.NewMemory("memory")
		return startNode(t, model.URL, func(cfg *config.Config, r *node.Roles) {
			cfg.Approvals.Rules, cfg.Approvals.Approvers = []string{"allow exec echo *", "ask exec"}, approvers
			r.Push = map[string]node.PushChannel{"memory": memory}
		}), memory
	}

	t.Run("a call of the agent", func(t *testing.T) {
		t.Parallel()
		n, memory := start(t, llmtest.NewServer(t,
			llmtest.Calls(llmtest.Call{Name: "exec", Arguments: `{"command":"echo free"}`}),
			llmtest.Calls(llmtest.Call{Name: "exec", Arguments: `{"command":"echo asked > effect"}`}),
			llmtest.Text("done")))
		asked := answered(memory, t, 1, "1", "ana", "go")
		require.Contains(t, asked.Text, "echo asked > effect")
		require.Len(t, asked.Approval, 8)
		require.Contains(t, answered(memory, t, 2, "2", "bob", "/approve").Text, "You may not answer this")
		require.NoFileExists(t, filepath.Join(n.cfg.Workspace, "effect"))
		require.Contains(t, answered(memory, t, 3, "3", "bob", "/status").Text, "waiting for approval "+asked.Approval)
		answered(memory, t, 5, "4", "ana", "/approve "+asked.Approval)
		require.FileExists(t, filepath.Join(n.cfg.Workspace, "effect"))
		require.Contains(t, answered(memory, t, 6, "5", "ana", "/approve "+asked.Approval).Text, "Already approved by memory:ana.")
		require.Contains(t, n.ask(t, "main", "/deny "+asked.Approval).Text, "Already approved")
	})

	t.Run("a subagent's call, by an approver", func(t *testing.T) {
		t.Parallel()
		n, memory := start(t, delegating(t, 1, 2, llmtest.Call{ID: "c", Name: "exec", Arguments: `{"command":"touch effect"}`}), "memory:bob")
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		require.NoError(t, memory.Deliver(ctx, domain.Inbound{PlatformID: "1", Chat: "c", Thread: "t", Sender: "ana", Text: "delegate"}))
		_, err := memory.Await(ctx, 2) // the delegation and the approval request
		require.NoError(t, err)
		require.Contains(t, answered(memory, t, 3, "2", "ana", "/approve").Text, "You may not answer this: memory:bob may.")
		answered(memory, t, 5, "3", "bob", "/approve")
		require.FileExists(t, filepath.Join(n.cfg.Workspace, "effect"))
		var texts []string
		for _, m := range memory.Posted() {
			texts = append(texts, m.Text)
		}
		require.Contains(t, texts, "summary: did task 0")
	})

	t.Run("a stop withdraws a subagent's question", func(t *testing.T) {
		t.Parallel()
		n, memory := start(t, delegating(t, 1, 2, llmtest.Call{ID: "c", Name: "exec", Arguments: `{"command":"touch effect"}`}))
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		require.NoError(t, memory.Deliver(ctx, domain.Inbound{PlatformID: "1", Chat: "c", Thread: "t", Sender: "ana", Text: "delegate"}))
		posted, err := memory.Await(ctx, 2)
		require.NoError(t, err)
		asked := posted[0].Approval + posted[1].Approval
		answered(memory, t, 3, "2", "ana", "/stop")
		require.Eventually(t, func() bool {
			a, err := n.store.Approval(ctx, asked)
			return err == nil && a.Status == domain.ApprovalDropped
		}, patience, 10*time.Millisecond)
		require.Contains(t, answered(memory, t, 4, "3", "ana", "/approve "+asked).Text, "No longer needed")
		require.NoFileExists(t, filepath.Join(n.cfg.Workspace, "effect"))
	})
}
