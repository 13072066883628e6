package supervisor_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// alive reports whether the process whose ID is in the file at path is there and
// not a zombie.
func alive(t *testing.T, path string) bool {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	require.NoError(t, err)
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		_, after, _ := strings.Cut(string(stat), ") ")
		return !strings.HasPrefix(after, "Z")
	}
	return syscall.Kill(pid, 0) == nil
}

func TestTimeout(t *testing.T) {
	t.Parallel()

	t.Run("ends the command", func(t *testing.T) {
		t.Parallel()
		s, _ := setup(t)
		slow := spec("t.1.0", "echo begun; sleep 100; echo not reached")
		slow.Timeout = 100 * time.Millisecond

		p := start(t, s, slow)
		exit := wait(t, p)

		require.True(t, exit.TimedOut)
		require.False(t, exit.Stopped)
		require.Equal(t, "SIGTERM", exit.Signal)
		require.Equal(t, "begun\n", output(t, p))
		require.Less(t, exit.DurationMS, int64(2000))
	})

	t.Run("lets the command clean up", func(t *testing.T) {
		t.Parallel()
		s, _ := setup(t)
		slow := spec("t.1.0", "trap 'echo cleaned; exit 7' TERM; while true; do sleep 0.02; done")
		slow.Timeout = 300 * time.Millisecond

		p := start(t, s, slow)
		exit := wait(t, p)

		require.True(t, exit.TimedOut)
		require.Equal(t, 7, exit.Code)
		require.Contains(t, output(t, p), "cleaned\n")
	})

	t.Run("kills a command that ignores it", func(t *testing.T) {
		t.Parallel()
		s, _ := setup(t)
		stubborn := spec("t.1.0", "trap '' TERM; while true; do sleep 0.05; done")
		stubborn.Timeout = 100 * time.Millisecond

		exit := wait(t, start(t, s, stubborn))

		require.True(t, exit.TimedOut)
		require.Equal(t, "SIGKILL", exit.Signal)
		require.GreaterOrEqual(t, exit.DurationMS, int64(2000))
	})
}

func TestStop(t *testing.T) {
	t.Parallel()

	t.Run("ends a command that ignores SIGTERM, and the children of its children", func(t *testing.T) {
		t.Parallel()
		s, dir := setup(t)
		child := filepath.Join(dir, "child")
		p := start(t, s, spec("t.1.0", "trap '' TERM; sh -c 'sh -c \"echo \\$\\$ >"+child+".new; mv "+child+".new "+child+"; while true; do sleep 0.05; done\" & wait'"))
		eventually(t, func() bool { return exists(child) }, "the grandchild runs")
		require.True(t, alive(t, child))

		began := time.Now()
		require.NoError(t, s.Stop(t.Context(), "t.1.0"))

		require.Less(t, time.Since(began), 2*time.Second)
		eventually(t, func() bool { return !alive(t, child) }, "the grandchild is gone")
		exit := wait(t, p)
		require.True(t, exit.Stopped)
		require.False(t, exit.TimedOut)
		require.Equal(t, "SIGKILL", exit.Signal)
	})

	t.Run("ends several at the same time", func(t *testing.T) {
		t.Parallel()
		s, dir := setup(t)
		keys := []string{"t.1.0", "t.1.1", "t.1.2", "t.1.3"}
		for _, key := range keys {
			ready := filepath.Join(dir, key+".ready")
			start(t, s, spec(key, "trap '' TERM; touch "+ready+"; while true; do sleep 0.05; done"))
			eventually(t, func() bool { return exists(ready) }, "the command runs")
		}

		began := time.Now()
		require.NoError(t, s.Stop(t.Context(), keys...))

		require.Less(t, time.Since(began), 3*time.Second, "one after the other takes a second each")
		for _, key := range keys {
			p, found := s.Find(key)
			require.True(t, found)
			require.True(t, wait(t, p).Stopped)
		}
	})

	t.Run("works from another process's view and twice", func(t *testing.T) {
		t.Parallel()
		s, dir := setup(t)
		p := start(t, s, spec("t.1.0", "sleep 100"))

		require.NoError(t, open(t, dir).Stop(t.Context(), "t.1.0"))
		require.NoError(t, s.Stop(t.Context(), "t.1.0"))

		require.True(t, wait(t, p).Stopped)
	})

	t.Run("leaves ended subagents alone", func(t *testing.T) {
		t.Parallel()
		s, _ := setup(t)
		p := start(t, s, spec("t.1.0", "exit 5"))
		ended := wait(t, p)

		require.NoError(t, s.Stop(t.Context(), "t.1.0"))

		require.Equal(t, ended, wait(t, p))
	})

	t.Run("prevents a later start", func(t *testing.T) {
		t.Parallel()
		s, dir := setup(t)
		effect := filepath.Join(dir, "effect")
		require.NoError(t, s.Stop(t.Context(), "t.1.0"))

		p := start(t, s, spec("t.1.0", "touch "+effect))
		exit := wait(t, p)

		require.True(t, exit.Stopped)
		require.Equal(t, -1, exit.Code)
		require.Empty(t, output(t, p))
		require.False(t, exists(effect))
	})
}

func TestBackgroundChildren(t *testing.T) {
	t.Parallel()

	t.Run("that keep the output open do not block the command, and are killed", func(t *testing.T) {
		t.Parallel()
		s, dir := setup(t)
		child := filepath.Join(dir, "child")
		p := start(t, s, spec("t.1.0", "sleep 100 & echo $! >"+child+"; echo done"))

		began := time.Now()
		exit := wait(t, p)

		require.Zero(t, exit.Code)
		require.Less(t, time.Since(began), 10*time.Second)
		require.Equal(t, "done\n", output(t, p))
		eventually(t, func() bool { return !alive(t, child) }, "the child is gone")
	})

	t.Run("have a moment to write", func(t *testing.T) {
		t.Parallel()
		s, _ := setup(t)

		p := start(t, s, spec("t.1.0", "(sleep 0.2; echo late) & echo early"))
		wait(t, p)

		require.Equal(t, "early\nlate\n", output(t, p))
	})

	t.Run("that left the group continue, and block neither the command nor the lock", func(t *testing.T) {
		t.Parallel()
		s, dir := setup(t)
		child := filepath.Join(dir, "child")
		p := start(t, s, spec("t.1.0", "setsid sh -c 'echo $$ >"+child+".new; mv "+child+".new "+child+"; exec sleep 100' & until [ -e "+child+" ]; do sleep 0.01; done"))
		t.Cleanup(func() { end(t, child) })

		require.Zero(t, wait(t, p).Code)

		require.True(t, alive(t, child))
		require.NoError(t, os.Remove(filepath.Join(dir, "t.1.0", "exit.json")))
		_, err := p.Wait(t.Context())
		require.Error(t, err, "without its record the command counts as lost, so the lock is free")
	})
}

// end kills the process whose ID is in the file at path.
func end(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
}
