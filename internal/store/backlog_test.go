package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

func backlog(t *testing.T, b *bundle) {
	counted := func() domain.Backlog {
		now, err := b.Backlog(t.Context())
		require.NoError(t, err)
		return now
	}
	require.Zero(t, counted())
	b.accept(t, "m1", "m2", "m3")
	require.Equal(t, domain.Backlog{Messages: 3}, counted())
	b.begin(t, step("m1", 1, "m1", "m2"))
	require.Equal(t, domain.Backlog{Messages: 1, Turns: 1}, counted())

	b.complete(t, "m1", 1, "exec", "exec")
	asked, _, err := b.AskApproval(t.Context(), domain.Approval{Call: "m1.1.0", Turn: "m1", Tool: "exec"}, time.Hour, "")
	require.NoError(t, err)
	_, _, err = b.AskApproval(t.Context(), domain.Approval{Call: "m1.1.1", Turn: "m1", Tool: "exec"}, -time.Second, "")
	require.NoError(t, err)
	require.Equal(t, domain.Backlog{Messages: 1, Turns: 1, Approvals: 1}, counted(), "the second came too late")
	_, err = b.DecideApproval(t.Context(), domain.Decision{Approval: asked.ID, Status: "approved"})
	require.NoError(t, err)
	b.complete(t, "m1", 2)
	require.Equal(t, domain.Backlog{Messages: 1}, counted())
}
