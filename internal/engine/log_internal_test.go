package engine

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/server/common/log/tag"
)

// The server binds its port inside a sync.OnceValue. A port in use must be an error of
// the engine, not a panic.
func TestFatalWithinAOnceValue(t *testing.T) {
	t.Parallel()
	s := &server{done: make(chan struct{})}
	err := s.run(t.Context(), func() error {
		sync.OnceValue(func() int {
			serverLog{fatal: s.fail}.Fatal("cannot listen", tag.Error(syscall.EADDRINUSE))
			return 0
		})()
		return errors.New("Fatal returned")
	})
	require.ErrorIs(t, err, syscall.EADDRINUSE)
}

func TestCancelledWorkIsNoWarning(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l := serverLog{logger: slog.New(slog.NewTextHandler(&out, nil)), quiet: new(atomic.Bool)}
	l.Warn("Fail to process task", tag.Error(context.Canceled))
	require.Empty(t, out.String())
	l.Warn("Fail to process task", tag.Error(syscall.EADDRINUSE))
	require.Contains(t, out.String(), "level=WARN")
}
