package node

import (
	"bytes"
	"log/slog"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// TestADamagedStoreIsReportedAtStartup: with some pages overwritten it can be
// opened and accepts messages, but not answer them.
func TestADamagedStoreIsReportedAtStartup(t *testing.T) {
	t.Parallel()
	cfg := config.Default(t.TempDir())
	cfg.Model = DemoModel
	require.NoError(t, os.MkdirAll(cfg.DataDir(), 0o700))
	s, err := store.Open(t.Context(), store.Options{DSN: cfg.StoreDSN()})
	require.NoError(t, err)
	for i := range 500 {
		_, _, err := s.Accept(t.Context(), domain.Inbound{
			ID: strconv.Itoa(i), Session: "http:main", Channel: "http", Chat: "main", Text: "a message of some length",
		})
		require.NoError(t, err)
	}
	require.NoError(t, s.Close())

	file, err := os.OpenFile(cfg.StoreDSN(), os.O_RDWR, 0)
	require.NoError(t, err)
	info, err := file.Stat()
	require.NoError(t, err)
	_, err = file.WriteAt(bytes.Repeat([]byte("damage! "), 4096), info.Size()/2/4096*4096)
	require.NoError(t, err)
	require.NoError(t, file.Close())

	_, err = Open(t.Context(), cfg, slog.New(slog.DiscardHandler), Roles{Engine: true, Worker: true, Starter: true, Private: true})
	require.ErrorContains(t, err, cfg.StoreDSN())
	require.ErrorContains(t, err, "damaged")
}
