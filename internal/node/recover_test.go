package node

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/mocks"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/dispatch"
	"github.com/holdfast-ai/holdfast/internal/engine"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// An engine that is too busy to answer, right after its start, ends nothing.
func TestRecoverWithABusyEngine(t *testing.T) {
	t.Parallel()
	stored, err := store.Open(t.Context(), store.Options{DSN: filepath.Join(t.TempDir(), "store.db")})
	require.NoError(t, err)
	defer stored.Close()
	busy := &mocks.Client{}
	busy.On("ListWorkflow", mock.Anything, mock.Anything).Return(nil, context.DeadlineExceeded)
	n := &Node{Config: config.Default(t.TempDir()), log: slog.New(slog.DiscardHandler), Engine: &engine.Engine{}, Store: stored, Temporal: dispatch.New(busy, "default", protocol.Names{})}
	require.NoError(t, n.recover(t.Context()))
	busy.AssertNumberOfCalls(t, "ListWorkflow", recoverTries)

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, n.recover(ended), context.Canceled)
}
