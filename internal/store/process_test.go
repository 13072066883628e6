package store_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// The environment of a process that this test starts.
const (
	envPath = "HOLDFAST_TEST_STORE"
	envName = "HOLDFAST_TEST_NAME"
)

func TestSQLiteKeepsWhatKilledProcessesAccepted(t *testing.T) {
	if path := os.Getenv(envPath); path != "" {
		acceptUntilKilled(t, path, os.Getenv(envName))
		return
	}
	t.Parallel()
	path := sqlite(t)
	var mu sync.Mutex
	var accepted []string
	var running sync.WaitGroup
	for _, name := range []string{"a", "b"} {
		running.Go(func() {
			ids, err := killedAfter(t, path, name, 50)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			accepted = append(accepted, ids...)
		})
	}
	running.Wait()
	require.Len(t, accepted, 100)

	s, err := store.Open(t.Context(), store.Options{DSN: path})
	require.NoError(t, err)
	for _, id := range accepted {
		_, err := s.Inbound(t.Context(), id)
		require.NoError(t, err)
	}
	require.NoError(t, s.Close())
}

// killedAfter runs a process of its own until it says that it accepted count
// messages, kills it in the middle of the next, and returns their IDs.
func killedAfter(t *testing.T, path, name string, count int) ([]string, error) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), envPath+"="+path, envName+"="+name)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var ids []string
	lines := bufio.NewScanner(out)
	for len(ids) < count && lines.Scan() {
		ids = append(ids, lines.Text())
	}
	if err := cmd.Process.Kill(); err != nil {
		return nil, err
	}
	_ = cmd.Wait()
	return ids, lines.Err()
}

func acceptUntilKilled(t *testing.T, path, name string) {
	s, err := store.Open(t.Context(), store.Options{DSN: path})
	require.NoError(t, err)
	for i := range 100_000 {
		id := fmt.Sprint(name, i)
		_, _, err := s.Accept(t.Context(), domain.Inbound{ID: id, Session: "test:" + name, Text: id})
		require.NoError(t, err)
		fmt.Println(id)
	}
}
