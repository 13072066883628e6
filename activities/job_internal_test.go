package activities

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
)

func TestListJobs(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), store.Options{DSN: filepath.Join(t.TempDir(), "store.db")})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	a := &Agent{AgentOptions: AgentOptions{Store: s, Channels: ChannelOptions{IsOperator: func(r domain.Route) bool { return r.Sender == "root" }}}}
	_, err = s.AddJob(t.Context(), domain.Job{ID: "j", Message: "water the plants", Kind: domain.JobEvery, Spec: "3600", Session: "test:c1"}, "", 10)
	require.NoError(t, err)
	require.Contains(t, a.listJobs(t.Context(), domain.Inbound{Session: "test:c1", Sender: "ana"}), "- `j` **water the plants**: every 1h; next ")
	require.Equal(t, "There are no jobs.", a.listJobs(t.Context(), domain.Inbound{Session: "test:c2", Sender: "ana"}))
	require.Contains(t, a.listJobs(t.Context(), domain.Inbound{Session: "test:c2", Sender: "root"}), "`j`", "the operator sees all")
}
