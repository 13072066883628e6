package supervisor_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/supervisor"
)

func TestStarterIsKilled(t *testing.T) {
	t.Parallel()

	for _, point := range []string{".place", "t.1.0", "t.1.0/lock", "t.1.0/spec.json", "t.1.0/log", "t.1.0/output", "t.1.0/started", "effects"} {
		t.Run("when there is "+point, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			effects, gate := filepath.Join(dir, "effects"), filepath.Join(dir, "gate")
			command := "echo x >>" + effects + "; until [ -e " + gate + " ]; do sleep 0.01; done; echo done"
			starter := startElsewhere(t, dir, "t.1.0", command)

			awaitFile(t, filepath.Join(dir, point))
			require.NoError(t, starter.Process.Kill())
			require.ErrorContains(t, starter.Wait(), "killed")

			p := start(t, open(t, dir), spec("t.1.0", command))
			require.NoError(t, os.WriteFile(gate, nil, 0o600))
			require.Zero(t, wait(t, p).Code)
			require.Equal(t, "done\n", output(t, p))
			require.Equal(t, 1, lines(t, effects))
		})
	}

	t.Run("at any moment", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		for i := range 25 {
			key, effects := fmt.Sprintf("t.1.%d", i), filepath.Join(dir, fmt.Sprintf("effects%d", i))
			command := "echo x >>" + effects
			starter := startElsewhere(t, dir, key, command)
			select { // a kill at a set time is the point: it hits another instruction each time
			case <-time.After(time.Duration(i) * 2 * time.Millisecond):
			case <-t.Context().Done():
			}
			require.NoError(t, starter.Process.Kill())
			_ = starter.Wait()

			p := start(t, open(t, dir), spec(key, command))
			require.Zero(t, wait(t, p).Code)
			require.Equal(t, 1, lines(t, effects))
		}
	})
}

func startElsewhere(t *testing.T, dir, key, command string) *exec.Cmd {
	t.Helper()
	return elsewhere(t, "start", dir, key, command)
}

// elsewhere starts a process with one of the mains of this test binary.
func elsewhere(t *testing.T, arguments ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self, arguments...)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	return cmd
}

// awaitFile spins, to continue as soon as possible after the file appears.
func awaitFile(t *testing.T, path string) {
	t.Helper()
	for deadline := time.Now().Add(waitLimit); !exists(path); {
		require.True(t, time.Now().Before(deadline), path)
	}
}

func TestRacingStarters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	effects := filepath.Join(dir, "effects")
	command := "echo x >>" + effects + "; exit 9"

	var exits [50]supervisor.Exit
	var errs [50]error
	var group sync.WaitGroup
	for i := range exits {
		s := open(t, dir)
		group.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
			defer cancel()
			p, err := s.Start(ctx, spec("t.1.0", command))
			if err != nil {
				errs[i] = err
				return
			}
			exits[i], errs[i] = p.Wait(ctx)
		})
	}
	group.Wait()

	for i := range exits {
		require.NoError(t, errs[i])
		require.Equal(t, 9, exits[i].Code)
		require.Equal(t, exits[0], exits[i])
	}
	require.Equal(t, 1, lines(t, effects))
}

func TestSupervisorIsKilled(t *testing.T) {
	t.Parallel()
	s, dir := setup(t)
	pids, effects := filepath.Join(dir, "pids"), filepath.Join(dir, "effects")
	p := start(t, s, spec("t.1.0", "echo x >>"+effects+"; echo $PPID $$ >"+pids+".new; mv "+pids+".new "+pids+"; while true; do sleep 0.05; done"))
	eventually(t, func() bool { return exists(pids) }, "the command runs")
	data, err := os.ReadFile(pids)
	require.NoError(t, err)
	parent, child, _ := strings.Cut(strings.TrimSpace(string(data)), " ")
	pid, err := strconv.Atoi(parent)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "child"), []byte(child), 0o600))

	require.NoError(t, syscall.Kill(pid, syscall.SIGTERM))
	require.NoError(t, syscall.Kill(pid, syscall.SIGHUP))
	_, err = p.Status()
	require.ErrorIs(t, err, supervisor.ErrRunning, "what may come from a terminal does not end it")
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))

	_, err = p.Wait(t.Context())
	require.ErrorIs(t, err, supervisor.ErrLost)
	again := start(t, open(t, dir), spec("t.1.0", "echo x >>"+effects))
	_, err = again.Wait(t.Context())
	require.ErrorIs(t, err, supervisor.ErrLost)
	require.Equal(t, 1, lines(t, effects))
	eventually(t, func() bool { return !alive(t, filepath.Join(dir, "child")) }, "the command does not outlive it")
}

func TestLateSupervisorRunsNothing(t *testing.T) {
	t.Parallel()
	s, dir := setup(t)
	effects := filepath.Join(dir, "effects")
	wait(t, start(t, s, spec("ended.1.0", "echo x >>"+effects)))
	_, err := start(t, s, spec("lost.1.0", "echo x >>"+effects+"; kill -9 $PPID")).Wait(t.Context())
	require.ErrorIs(t, err, supervisor.ErrLost)
	start(t, s, spec("running.1.0", "echo x >>"+effects+"; sleep 100"))
	eventually(t, func() bool { return lines(t, effects) == 3 }, "all ran")

	self, err := os.Executable()
	require.NoError(t, err)
	for _, key := range []string{"ended.1.0", "lost.1.0", "running.1.0", "removed.1.0"} {
		require.NoError(t, exec.Command(self, supervisor.Subcommand, filepath.Join(dir, key)).Run(), key)
	}

	require.Equal(t, 3, lines(t, effects))
	require.False(t, exists(filepath.Join(dir, "removed.1.0")))
}

func TestDirectoryIsDeleted(t *testing.T) {
	t.Parallel()
	s, dir := setup(t)
	child := filepath.Join(t.TempDir(), "child")
	_, err := s.Start(t.Context(), spec("t.1.0", "echo $$ >"+child+".new; mv "+child+".new "+child+"; exec sleep 100"))
	require.NoError(t, err)
	eventually(t, func() bool { return exists(child) }, "the command runs")

	// It may just be writing a file there.
	eventually(t, func() bool { return os.RemoveAll(filepath.Join(dir, "t.1.0")) == nil }, "its folder is gone")

	eventually(t, func() bool { return !alive(t, child) }, "the command is gone")
}
