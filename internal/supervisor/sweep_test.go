package supervisor_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/supervisor"
)

func TestRemove(t *testing.T) {
	t.Parallel()
	s, dir := setup(t)
	p := start(t, s, spec("t.1.0", "sleep 100"))

	require.ErrorIs(t, s.Remove("t.1.0"), supervisor.ErrRunning)
	require.NoError(t, s.Stop(t.Context(), "t.1.0"))
	wait(t, p)
	require.NoError(t, s.Remove("t.1.0"))
	require.NoError(t, s.Remove("t.1.0"))

	require.False(t, exists(filepath.Join(dir, "t.1.0")))
	_, found := s.Find("t.1.0")
	require.False(t, found)
}

func TestSweep(t *testing.T) {
	t.Parallel()
	s, dir := setup(t)
	wait(t, start(t, s, spec("ended.1.0", "true")))
	start(t, s, spec("running.1.0", "sleep 100"))
	require.NoError(t, s.Stop(t.Context(), "stopped.1.0"))

	removed, err := s.Sweep(time.Hour)
	require.NoError(t, err)
	require.Zero(t, removed)

	removed, err = s.Sweep(0)
	require.NoError(t, err)
	require.Equal(t, 2, removed)
	require.True(t, exists(filepath.Join(dir, "running.1.0")))
	require.False(t, exists(filepath.Join(dir, "ended.1.0")))
	require.False(t, exists(filepath.Join(dir, "stopped.1.0")))
	require.Equal(t, s.Place(), open(t, dir).Place())
}
