package metrics_test

import (
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/metrics"
	"github.com/holdfast-ai/holdfast/internal/store"
)

func TestBacklog(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), store.Options{DSN: filepath.Join(t.TempDir(), "store.db")})
	require.NoError(t, err)
	m := metrics.New("v1")
	m.Watch(s, slog.New(slog.DiscardHandler))
	for _, id := range []string{"m1", "m2", "m3"} {
		_, _, err := s.Accept(t.Context(), domain.Inbound{ID: id, Session: "test:c1", Channel: "test", Text: "hello"})
		require.NoError(t, err)
	}
	_, err = s.Begin(t.Context(), store.BeginInput{Session: "test:c1", Channel: "test", Turn: "m1", Step: 1, Messages: []string{"m1"}})
	require.NoError(t, err)
	all := series(t, m, "holdfast_")
	delete(all, `holdfast_build_info{version="v1"}`)
	require.Equal(t, map[string]float64{
		"holdfast_store_up": 1, "holdfast_messages_waiting": 2, "holdfast_turns_running": 1, "holdfast_approvals_waiting": 0,
	}, all)
	requireLint(t, m)

	require.NoError(t, s.Close())
	all = series(t, m, "holdfast_")
	delete(all, `holdfast_build_info{version="v1"}`)
	require.Equal(t, map[string]float64{"holdfast_store_up": 0}, all, "what else is counted can still be read")
}
