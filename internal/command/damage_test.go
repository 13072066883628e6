package command

import (
	"bytes"
	"log/slog"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// TestADamagedStoreIsNoticedAtTheStart: with some pages overwritten it can be
// opened and accepts messages, but not answer them.
func TestADamagedStoreIsNoticedAtTheStart(t *testing.T) {
	t.Parallel()
	cfg := config.Default(t.TempDir())
	cfg.Model = demoModel
	require.NoError(t, os.MkdirAll(cfg.DataDir(), 0o700))
	s, err := store.Open(t.Context(), store.Options{DSN: storeDSN(cfg)})
	require.NoError(t, err)
	for i := range 500 {
		_, _, err := s.Accept(t.Context(), store.Inbound{
			ID: strconv.Itoa(i), Session: "http:main", Channel: "http", Chat: "main", Text: "a message of some length",
		})
		require.NoError(t, err)
	}
	require.NoError(t, s.Close())

	file, err := os.OpenFile(storeDSN(cfg), os.O_RDWR, 0)
	require.NoError(t, err)
	info, err := file.Stat()
	require.NoError(t, err)
	_, err = file.WriteAt(bytes.Repeat([]byte("damage! "), 4096), info.Size()/2/4096*4096)
	require.NoError(t, err)
	require.NoError(t, file.Close())

	_, err = openNode(t.Context(), cfg, slog.New(slog.DiscardHandler), roles{engine: true, worker: true, starter: true, private: true})
	require.ErrorContains(t, err, storeDSN(cfg))
	require.ErrorContains(t, err, "damaged")
}
