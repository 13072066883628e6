package command

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/node"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// TestApprovalsOutliveARun has two questions of one step wait while its history grows until
// the session has to continue as new, and answers them the other way round.
func TestApprovalsOutliveARun(t *testing.T) {
	t.Parallel()
	dir := llmtest.Call{Name: "list_dir", Arguments: `{"path":"."}`}
	model := llmtest.NewServer(t, llmtest.Calls(dir, dir), llmtest.Text("done"))
	n := startNode(t, model.URL, func(cfg *config.Config, r *node.Roles) {
		cfg.Approvals.Rules, r.HistoryLimit = []string{"ask list_dir"}, 200
	})
	m := n.send(t, "main", "", "list it")
	var waiting []domain.Approval
	require.Eventually(t, func() (all bool) {
		var err error
		waiting, err = n.store.WaitingApprovals(t.Context(), domain.Route{})
		return err == nil && len(waiting) == 2
	}, patience, 10*time.Millisecond)
	require.Eventually(t, func() bool {
		other := protocol.ApprovalDecision{Approval: "other"}
		err := n.client.SignalWorkflow(t.Context(), protocol.Names{}.Session("http:main"), "", protocol.ApprovalSignal, other)
		return err == nil && len(n.chain(t, "http:main")) == 2
	}, patience, time.Millisecond)
	for _, asked := range []domain.Approval{waiting[1], waiting[0]} {
		require.Contains(t, n.ask(t, "main", "/approve "+asked.ID).Text, "Approved.")
	}
	require.Equal(t, "done", n.await(t, m).Text)
	require.Equal(t, 2, model.Count(), "no model call is made twice")
	n.replay(t, "http:main", "continued-approvals")
}
