package engine

import (
	"errors"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/server/common/log/tag"
)

// The server binds its port within a sync.OnceValue. That another process has taken
// it is an error of the engine, and no panic.
func TestFatalWithinAOnceValue(t *testing.T) {
	t.Parallel()
	s := &server{done: make(chan struct{})}
	err := s.run(t.Context(), func() error {
		sync.OnceValue(func() int {
			serverLog{fatal: s.fail}.Fatal("cannot listen", tag.Error(syscall.EADDRINUSE))
			return 0
		})()
		return errors.New("it went on")
	})
	require.ErrorIs(t, err, syscall.EADDRINUSE)
}
