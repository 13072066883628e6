package shell_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/tool"
)

func TestSessionAttempts(t *testing.T) {
	t.Parallel()
	shutdown := errors.New("the worker shuts down")

	// interrupted makes an attempt that ends with cause while it waits.
	interrupted := func(t *testing.T, c *conversation, cause error, key, name string, arguments args, begun func() bool) (tool.Result, error) {
		t.Helper()
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		var result tool.Result
		var err error
		var group sync.WaitGroup
		arguments["wait_seconds"] = 20
		c.journal(key) // made before two goroutines look for it
		group.Go(func() { result, err = c.attempt(ctx, t, key, name, arguments) })
		require.Eventually(t, begun, patience, 2*time.Millisecond)
		cancel(cause)
		group.Wait()
		return result, err
	}

	t.Run("exec_start starts once", func(t *testing.T) {
		t.Parallel()
		c := converse(t)
		_, err := interrupted(t, c, shutdown, first, "exec_start", args{"command": greeter}, func() bool { return c.effects(t) != "" })
		require.ErrorIs(t, err, shutdown)
		for range 2 {
			c.until(t, "ready\n[session turn.1.0 is running", first, "exec_start", args{"command": greeter})
		}
		require.Equal(t, "x\n", c.effects(t))
	})

	t.Run("exec_start completes after the store was unavailable", func(t *testing.T) {
		t.Parallel()
		c := converse(t)
		away := errors.New("the store is away")
		c.journal(first).FailNext(away, true)
		_, err := c.attempt(t.Context(), t, first, "exec_start", args{"command": greeter})
		require.ErrorIs(t, err, tool.ErrRetry)
		c.until(t, "ready", first, "exec_start", args{"command": greeter})
		require.Equal(t, "x\n", c.effects(t))
	})

	t.Run("exec_write writes once", func(t *testing.T) {
		t.Parallel()
		c := converse(t)
		c.until(t, "ready", first, "exec_start", args{"command": greeter})
		for range 3 {
			_, err := interrupted(t, c, shutdown, "turn.2.0", "exec_write", args{"session": first, "input": "Ana"}, func() bool { return strings.Contains(c.effects(t), "Ana") })
			require.ErrorIs(t, err, shutdown)
		}
		for range 2 {
			text := c.until(t, "Ana", "turn.2.0", "exec_write", args{"session": first, "input": "Ana"})
			require.Equal(t, "hello Ana\n[session turn.1.0 is running; output bytes 7 to 16]", text)
		}
		c.until(t, "Ana", "turn.2.1", "exec_write", args{"session": first, "input": "Ana"})
		require.Equal(t, "x\nhello Ana\nhello Ana\n", c.effects(t))

		c.must(t, "turn.3.0", "exec_stop", args{"session": first})
		text := c.must(t, "turn.2.0", "exec_write", args{"session": first, "input": "Ana"})
		require.NotContains(t, text, "nothing was written")
	})

	t.Run("exec_read returns the same again, or more", func(t *testing.T) {
		t.Parallel()
		c := converse(t)
		c.until(t, "ready", first, "exec_start", args{"command": greeter})
		c.until(t, "Ana", "turn.2.0", "exec_write", args{"session": first, "input": "Ana"})
		read := args{"session": first, "wait_seconds": short}
		require.Equal(t, "[session turn.1.0 is running]", c.must(t, "turn.3.0", "exec_read", read))
		write := args{"session": first, "input": "Bo"}
		c.until(t, "hello Bo\n", "turn.3.1", "exec_write", write)
		require.Contains(t, c.must(t, "turn.3.0", "exec_read", read), "hello Bo\n")
		require.Contains(t, c.must(t, "turn.3.1", "exec_write", write), "hello Bo\n")
		require.Equal(t, "[session turn.1.0 is running]", c.must(t, "turn.3.2", "exec_read", read))
	})

	t.Run("an abandoned exec_read consumes no output", func(t *testing.T) {
		t.Parallel()
		for _, cause := range []error{shutdown, tool.ErrStopped} {
			c := converse(t)
			c.must(t, first, "exec_start", args{"command": "until [ -e go ]; do sleep 0.01; done; echo more; sleep 100", "wait_seconds": short})
			journal := c.journal("turn.2.0")
			_, err := interrupted(t, c, cause, "turn.2.0", "exec_read", args{"session": first}, func() bool { return len(journal.Intents()) > 0 })
			require.ErrorIs(t, err, cause)
			require.NoError(t, os.WriteFile(c.path("go"), nil, 0o600))
			c.until(t, "more", "turn.3.0", "exec_read", args{"session": first})
		}
	})

	t.Run("exec_stop stops once", func(t *testing.T) {
		t.Parallel()
		c := converse(t)
		c.until(t, "up", first, "exec_start", args{"command": "trap 'echo stopping >>effects; exit 0' TERM; echo up; while true; do sleep 0.01; done"})
		text := c.must(t, "turn.2.0", "exec_stop", args{"session": first})
		require.Contains(t, text, "[session turn.1.0 has ended, was stopped, exit status 0")
		require.Equal(t, text, c.must(t, "turn.2.0", "exec_stop", args{"session": first}))
		require.Equal(t, "stopping\n", c.effects(t))
	})

	t.Run("a user's stop permanently ends a session that is starting", func(t *testing.T) {
		t.Parallel()
		c := converse(t)
		result, err := interrupted(t, c, tool.ErrStopped, first, "exec_start", args{"command": greeter}, func() bool { return c.effects(t) != "" })
		require.NoError(t, err)
		require.True(t, result.Failed)
		require.Contains(t, result.Text, "[stopped]")
		result, err = c.attempt(t.Context(), t, first, "exec_start", args{"command": greeter})
		require.NoError(t, err)
		require.Contains(t, result.Text, "has ended, was stopped")
		require.Equal(t, "x\n", c.effects(t))
	})

	t.Run("and no other session", func(t *testing.T) {
		t.Parallel()
		c := converse(t)
		c.must(t, first, "exec_start", args{"command": greeter})
		for key, name := range map[string]string{"turn.2.0": "exec_write", "turn.2.1": "exec_read"} {
			arguments := args{"session": first}
			if name == "exec_write" {
				arguments["input"] = "Ana"
			}
			journal := c.journal(key)
			_, err := interrupted(t, c, tool.ErrStopped, key, name, arguments, func() bool { return len(journal.Intents()) > 0 })
			require.ErrorIs(t, err, tool.ErrStopped)
		}
		c.until(t, "hello Bo", "turn.3.0", "exec_write", args{"session": first, "input": "Bo"})
	})

	t.Run("only exec_start notes what a stopped turn ends", func(t *testing.T) {
		t.Parallel()
		c := converse(t)
		c.must(t, first, "exec_start", args{"command": greeter})
		c.must(t, "turn.2.0", "exec_write", args{"session": first, "input": "Ana", "wait_seconds": short})
		c.must(t, "turn.2.1", "exec_read", args{"session": first, "wait_seconds": short})
		c.must(t, "turn.2.2", "exec_stop", args{"session": first})
		for key, journal := range c.journals {
			require.Len(t, journal.Intents(), 1, key)
			_, command := journal.Intents()["exec"]
			require.Equal(t, key == first, command, key)
		}
	})

	t.Run("where the command did not start it belongs elsewhere", func(t *testing.T) {
		t.Parallel()
		c := converse(t)
		c.must(t, first, "exec_start", args{"command": greeter})
		calls := map[string]string{first: "exec_start", "turn.2.0": "exec_write", "turn.2.1": "exec_read", "turn.2.2": "exec_stop"}
		attempt := func(key string) error {
			arguments := args{"session": first}
			switch calls[key] {
			case "exec_start":
				arguments = args{"command": greeter, "wait_seconds": short}
			case "exec_write":
				arguments = args{"session": first, "input": "Ana", "wait_seconds": short}
			}
			_, err := c.attempt(t.Context(), t, key, calls[key], arguments)
			return err
		}
		for _, key := range []string{"turn.2.0", "turn.2.1", "turn.2.2"} {
			require.NoError(t, attempt(key))
		}
		here := *c
		c.options.Host, c.commands = "two", t.TempDir()
		for key := range calls {
			var elsewhere *tool.ElsewhereError
			require.ErrorAs(t, attempt(key), &elsewhere)
			require.Equal(t, newSupervisor(t, here.commands).Place(), elsewhere.Place)
		}
		*c = here
		require.Equal(t, 1, strings.Count(c.effects(t), "x\n"))
	})
}
