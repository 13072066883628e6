package shell_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/supervisor"
	"github.com/holdfast-ai/holdfast/internal/tool"
	"github.com/holdfast-ai/holdfast/internal/tool/shell"
	"github.com/holdfast-ai/holdfast/internal/tool/tooltest"
)

type args map[string]any

// conversation has a worker that is restarted for every call.
type conversation struct {
	options  shell.Options
	commands string // the supervisor's directory
	session  string // the conversation's key
	journals map[string]*tooltest.Journal
	tried    []string // places that do not answer
}

func converse(t *testing.T) *conversation {
	t.Helper()
	commands := t.TempDir()
	c := &conversation{
		commands: commands, session: "cli:me", journals: map[string]*tooltest.Journal{},
		options: shell.Options{Workspace: t.TempDir(), Restrict: true, Host: "one", BootID: "first"},
	}
	c.options.Places = newPlaces(c.journals)
	t.Cleanup(func() { c.end(t, commands) })
	return c
}

// end ends the commands in a supervisor's directory.
func (c *conversation) end(t *testing.T, commands string) {
	s := newSupervisor(t, commands)
	for key := range c.journals {
		if _, found := s.Find(key); found {
			require.NoError(t, s.Stop(context.Background(), key))
		}
	}
}

func (c *conversation) journal(key string) *tooltest.Journal {
	if c.journals[key] == nil {
		c.journals[key] = tooltest.NewJournal()
	}
	return c.journals[key]
}

// attempt makes one attempt at the call of that key.
func (c *conversation) attempt(ctx context.Context, t *testing.T, key, name string, arguments args) (tool.Result, error) {
	t.Helper()
	c.options.Supervisor = newSupervisor(t, c.commands)
	tools, err := shell.NewSessions(c.options)
	require.NoError(t, err)
	var registry tool.Registry
	require.NoError(t, registry.Register(tools...))
	found, err := registry.Lookup(t.Context(), name)
	require.NoError(t, err)
	encoded, err := json.Marshal(arguments)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return found.Run(ctx, tool.Call{Key: key, Session: c.session, Arguments: encoded, Journal: c.journal(key), Tried: c.tried})
}

func (c *conversation) must(t *testing.T, key, name string, arguments args) string {
	t.Helper()
	result, err := c.attempt(t.Context(), t, key, name, arguments)
	require.NoError(t, err)
	require.False(t, result.Failed, result.Text)
	return result.Text
}

// until makes attempts at a call until its result has the text.
func (c *conversation) until(t *testing.T, text, key, name string, arguments args) string {
	t.Helper()
	arguments["wait_seconds"] = short
	for deadline := time.Now().Add(patience); ; {
		result := c.must(t, key, name, arguments)
		if strings.Contains(result, text) {
			return result
		}
		require.True(t, time.Now().Before(deadline), result)
	}
}

func (c *conversation) path(name string) string { return filepath.Join(c.options.Workspace, name) }

func (c *conversation) effects(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(c.path("effects"))
	if os.IsNotExist(err) {
		return ""
	}
	require.NoError(t, err)
	return string(data)
}

const (
	first = "turn.1.0" // the call that starts a session, and so its name
	short = 0.05
)

// greeter is a command that answers.
const greeter = `echo x >>effects; echo ready; while read name; do echo "hello $name" | tee -a effects; done; echo bye`

func TestSession(t *testing.T) {
	t.Parallel()
	c := converse(t)

	text := c.until(t, "ready\n", first, "exec_start", args{"command": greeter})
	require.Equal(t, "ready\n[session turn.1.0 is running; output bytes 1 to 6]", text)

	text = c.until(t, "Ana\n", "turn.2.0", "exec_write", args{"session": first, "input": "Ana"})
	require.Equal(t, "hello Ana\n[session turn.1.0 is running; output bytes 7 to 16]", text)
	text = c.until(t, "Cy\n", "turn.2.1", "exec_write", args{"session": first, "input": "Bo\nCy\n"})
	require.Contains(t, text, "hello Bo\nhello Cy\n[")

	text = c.must(t, "turn.3.0", "exec_read", args{"session": first, "wait_seconds": short})
	require.Equal(t, "[session turn.1.0 is running]", text)
	text = c.must(t, "turn.3.1", "exec_read", args{"session": first, "wait_seconds": short, "offset": 7})
	require.Contains(t, text, "hello Ana\nhello Bo\nhello Cy\n[session turn.1.0 is running; output bytes 7 to ")

	text = c.must(t, "turn.4.0", "exec_write", args{"session": first, "input": "", "close": true, "wait_seconds": 20})
	require.Regexp(t, `^bye\n\[session turn\.1\.0 has ended, exit status 0; output bytes 35 to 38\]$`, text)

	result, err := c.attempt(t.Context(), t, "turn.5.0", "exec_write", args{"session": first, "input": "late"})
	require.NoError(t, err)
	require.True(t, result.Failed)
	require.Equal(t, "[session turn.1.0 has ended, exit status 0]\n[the input was not written]", result.Text)
	text = c.must(t, "turn.6.0", "exec_stop", args{"session": first})
	require.Equal(t, "[session turn.1.0 has ended, exit status 0]", text)
	require.Equal(t, "x\nhello Ana\nhello Bo\nhello Cy\n", c.effects(t))
}

func TestSessionInput(t *testing.T) {
	t.Parallel()
	c := converse(t)
	c.must(t, first, "exec_start", args{"command": "od -An -c", "wait_seconds": short})
	c.must(t, "turn.2.0", "exec_write", args{"session": first, "input": "a", "wait_seconds": short})
	c.must(t, "turn.2.1", "exec_write", args{"session": first, "input": "b\n", "wait_seconds": short})
	c.must(t, "turn.2.2", "exec_write", args{"session": first, "input": "", "wait_seconds": short})
	c.must(t, "turn.2.3", "exec_write", args{"session": first, "input": "c", "raw": true, "wait_seconds": short})
	text := c.must(t, "turn.2.4", "exec_write", args{"session": first, "input": "", "close": true, "wait_seconds": 20})
	output, _, _ := strings.Cut(text, "\n[")
	require.Equal(t, []string{"a", `\n`, "b", `\n`, `\n`, "c"}, strings.Fields(output))

	_, err := c.attempt(t.Context(), t, "turn.3.0", "exec_write", args{"session": "turn.2.0", "input": "x"})
	require.ErrorContains(t, err, `this conversation has no session "turn.2.0"`)
}

func TestSessionEnds(t *testing.T) {
	t.Parallel()

	t.Run("by itself, at once, as a failure", func(t *testing.T) {
		t.Parallel()
		c := converse(t)
		result, err := c.attempt(t.Context(), t, first, "exec_start", args{"command": "echo no; exit 3", "wait_seconds": 20})
		require.NoError(t, err)
		require.True(t, result.Failed)
		require.Equal(t, "no\n[session turn.1.0 has ended, exit status 3; output bytes 1 to 3]", result.Text)
	})

	t.Run("by exec_stop, with all its processes", func(t *testing.T) {
		t.Parallel()
		c := converse(t)
		c.until(t, "up", first, "exec_start", args{"command": "trap '' TERM; (while true; do echo x >>effects; sleep 0.01; done) & echo up; wait"})
		text := c.must(t, "turn.2.0", "exec_stop", args{"session": first})
		require.Contains(t, text, "[session turn.1.0 has ended, was stopped, exit status 137, SIGKILL")
		before := c.effects(t)
		require.Never(t, func() bool { return c.effects(t) != before }, 100*time.Millisecond, 20*time.Millisecond)
	})

	t.Run("when it expires", func(t *testing.T) {
		t.Parallel()
		c := converse(t)
		c.options.Lifetime = 300 * time.Millisecond
		result, err := c.attempt(t.Context(), t, first, "exec_start", args{"command": "exec sleep 100", "timeout": 1000, "wait_seconds": 20})
		require.NoError(t, err)
		require.True(t, result.Failed)
		require.Equal(t, "[session turn.1.0 has ended, timed out, exit status 143, SIGTERM]", result.Text)

		c.options.Lifetime = 0
		result, err = c.attempt(t.Context(), t, "turn.2.0", "exec_start", args{"command": "exec sleep 100", "timeout": 0.1, "wait_seconds": 20})
		require.NoError(t, err)
		require.Contains(t, result.Text, "timed out")
	})

	t.Run("with more output than is kept", func(t *testing.T) {
		t.Parallel()
		c := converse(t)
		text := c.must(t, first, "exec_start", args{"command": "head -c 11000000 /dev/zero | tr '\\0' y", "wait_seconds": 20})
		require.Contains(t, text, "has ended, exit status 0; not all of its 11000000 bytes of output were kept; output bytes 1 to 10000000]")
	})

	t.Run("with its supervisor", func(t *testing.T) {
		t.Parallel()
		c := converse(t)
		c.until(t, "ready", first, "exec_start", args{"command": "echo ready; read go; kill -9 $PPID; sleep 100"})
		result, err := c.attempt(t.Context(), t, "turn.2.0", "exec_write", args{"session": first, "input": "", "wait_seconds": 20})
		require.NoError(t, err)
		require.True(t, result.Failed)
		require.Equal(t, "[session turn.1.0 was lost; how it ended is unknown]", result.Text)
		result, err = c.attempt(t.Context(), t, "turn.2.1", "exec_read", args{"session": first, "offset": 1})
		require.NoError(t, err)
		require.True(t, result.Failed)
		require.Contains(t, result.Text, "ready\n[session turn.1.0 was lost")
	})
}

func TestConversationSessions(t *testing.T) {
	t.Parallel()

	t.Run("are listed only for their owner", func(t *testing.T) {
		t.Parallel()
		c := converse(t)
		require.Equal(t, "no sessions", c.must(t, "turn.0.0", "exec_read", args{}))
		c.must(t, first, "exec_start", args{"command": "\ncat\necho " + strings.Repeat("long", 100), "wait_seconds": short})
		c.must(t, "turn.2.0", "exec_start", args{"command": "true " + strings.Repeat("ä", 100), "wait_seconds": 20})
		require.Regexp(t, `^turn\.1\.0 is running; started \d+s ago: cat\nturn\.2\.0 has ended, exit status 0; started \d+s ago: true ä+…$`,
			c.must(t, "turn.3.0", "exec_read", args{}))

		c.session = "slack:other"
		require.Equal(t, "no sessions", c.must(t, "turn.4.0", "exec_read", args{}))
		for key, name := range map[string]string{"turn.5.0": "exec_read", "turn.5.1": "exec_stop"} {
			_, err := c.attempt(t.Context(), t, key, name, args{"session": first})
			require.ErrorContains(t, err, "this conversation has no session")
		}
		_, err := c.attempt(t.Context(), t, "turn.5.2", "exec_write", args{"session": first, "input": "x"})
		require.ErrorContains(t, err, "this conversation has no session")
		c.session = "cli:me"
		require.Equal(t, "[session turn.1.0 is running]", c.must(t, "turn.6.0", "exec_read", args{"session": first, "wait_seconds": short}))
	})

	t.Run("are separate from commands of exec, and not addressable by path", func(t *testing.T) {
		t.Parallel()
		c := converse(t)
		c.options.Supervisor = newSupervisor(t, c.commands)
		run, err := shell.New(c.options)
		require.NoError(t, err)
		_, err = run.Run(t.Context(), tool.Call{Key: "exec.1.0", Session: c.session, Arguments: []byte(`{"command":"true"}`), Journal: c.journal("exec.1.0")})
		require.NoError(t, err)
		for i, name := range []string{"exec.1.0", "../x", "", strings.Repeat("x", 1000), "\x00"} {
			_, err := c.attempt(t.Context(), t, fmt.Sprint("turn.1.", i), "exec_stop", args{"session": name})
			require.ErrorContains(t, err, "this conversation has no session")
		}
	})

	t.Run("are none for an empty command", func(t *testing.T) {
		t.Parallel()
		c := converse(t)
		for i, command := range []string{"", " \n\t"} {
			_, err := c.attempt(t.Context(), t, fmt.Sprint("turn.1.", i), "exec_start", args{"command": command})
			require.ErrorContains(t, err, "the command is empty")
		}
		require.Equal(t, "no sessions", c.must(t, "turn.2.0", "exec_read", args{}))
	})

	t.Run("are limited in number", func(t *testing.T) {
		t.Parallel()
		c := converse(t)
		key := func(i int) string { return fmt.Sprintf("turn.%d.0", i) }
		for i := range 10 {
			c.must(t, key(i), "exec_start", args{"command": "cat", "wait_seconds": 0.001})
		}
		_, err := c.attempt(t.Context(), t, key(10), "exec_start", args{"command": count})
		require.ErrorContains(t, err, "10 sessions are already running")
		require.ErrorContains(t, err, key(9)+" is running")
		c.must(t, key(3), "exec_start", args{"command": "cat", "wait_seconds": 0.001})
		c.must(t, "turn.20.0", "exec_stop", args{"session": key(4)})
		c.must(t, key(10), "exec_start", args{"command": "cat", "wait_seconds": 0.001})
		c.session = "cli:you"
		c.must(t, key(11), "exec_start", args{"command": "cat", "wait_seconds": 0.001})
	})

	t.Run("are forgotten some time after they ended", func(t *testing.T) {
		t.Parallel()
		c := converse(t)
		c.must(t, first, "exec_start", args{"command": "cat", "wait_seconds": short})
		c.must(t, "turn.2.0", "exec_start", args{"command": "true", "wait_seconds": 20})
		_, err := newSupervisor(t, c.commands).Sweep(0)
		require.NoError(t, err)
		require.Regexp(t, `^turn\.1\.0 is running[^\n]*$`, c.must(t, "turn.3.0", "exec_read", args{}))
	})
}

func TestSessionsRespectRestriction(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-secret")
	c := converse(t)
	c.options.Env = []string{"EXTRA=more"}
	text := c.must(t, first, "exec_start", args{"command": "pwd; env; tr '\\0' '\\n' </proc/$PPID/environ", "wait_seconds": 20})
	require.Contains(t, text, c.options.Workspace+"\n")
	require.Contains(t, text, "EXTRA=more\n")
	require.NotContains(t, text, "sk-secret")

	_, err := c.attempt(t.Context(), t, "turn.2.0", "exec_start", args{"command": count, "working_dir": ".."})
	require.ErrorContains(t, err, "outside the workspace")
	require.Empty(t, c.effects(t))
}

func TestSessionTools(t *testing.T) {
	t.Parallel()
	c := converse(t)
	c.options.Supervisor, c.options.Lifetime, c.options.MaxTimeout = newSupervisor(t, c.commands), 90*time.Minute, 10*time.Minute
	tools, err := shell.NewSessions(c.options)
	require.NoError(t, err)
	var names []string
	for _, made := range tools {
		names = append(names, made.Spec.Name)
		require.Equal(t, tool.Keyed, made.Kind)
		require.False(t, made.ReadOnly)
		base := made.Limit([]byte(`{}`)) - time.Second
		require.Positive(t, base)
		for arguments, want := range map[string]time.Duration{
			`{"wait_seconds":50}`: 50 * time.Second, `{"wait_seconds":1e9}`: 10 * time.Minute, `{"wait_seconds":"x"}`: time.Second, `no`: time.Second,
		} {
			require.Equal(t, want+base, made.Limit([]byte(arguments)), arguments)
		}
	}
	require.Equal(t, []string{"exec_start", "exec_read", "exec_write", "exec_stop"}, names)
	require.Contains(t, tools[0].Spec.Description, "1h30m0s at most")
	require.Contains(t, tools[0].Spec.Description, "10 MB")

	c.options.Workspace = "somewhere"
	_, err = shell.NewSessions(c.options)
	require.ErrorContains(t, err, "absolute")
}

// A session can be used after the worker that started it was killed.
func TestSessionOutlivesKilledWorker(t *testing.T) {
	t.Parallel()
	c := converse(t)
	self, err := os.Executable()
	require.NoError(t, err)
	worker := exec.Command(self, "worker", c.commands, c.options.Workspace, c.session, first, greeter)
	worker.Stderr = os.Stderr
	said, err := worker.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, worker.Start())
	line, err := bufio.NewReader(said).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "started\n", line)
	require.NoError(t, worker.Process.Kill())
	require.ErrorContains(t, worker.Wait(), "killed")

	// The killed worker's journal is in a store, where this attempt finds it.
	data, err := json.Marshal(map[string]string{"host": "one", "boot_id": "first", "place": newSupervisor(t, c.commands).Place()})
	require.NoError(t, err)
	_, fresh, err := c.journal(first).Intend(t.Context(), "exec", data)
	require.NoError(t, err)
	require.True(t, fresh)
	c.until(t, "ready\n[session turn.1.0 is running", first, "exec_start", args{"command": greeter})
	c.until(t, "hello Ana", "turn.2.0", "exec_write", args{"session": first, "input": "Ana"})
	require.Contains(t, c.must(t, "turn.3.0", "exec_read", args{"session": first, "offset": 1, "wait_seconds": short}), "ready\nhello Ana\n")
	require.Contains(t, c.must(t, "turn.4.0", "exec_stop", args{"session": first}), "was stopped")
	require.Equal(t, "x\nhello Ana\n", c.effects(t))
}

// worker is the main of a process that starts a session and waits to be killed.
func worker(commands, workspace, conversation, key, command string) int {
	fail := func(err error) int {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	s, err := supervisor.New(supervisor.Options{Dir: commands})
	if err != nil {
		return fail(err)
	}
	tools, err := shell.NewSessions(shell.Options{Supervisor: s, Places: newPlaces(nil), Workspace: workspace, Restrict: true, Host: "one", BootID: "first"})
	if err != nil {
		return fail(err)
	}
	arguments, err := json.Marshal(args{"command": command})
	if err != nil {
		return fail(err)
	}
	result, err := tools[0].Run(context.Background(), tool.Call{Key: key, Session: conversation, Arguments: arguments, Journal: tooltest.NewJournal()})
	if err != nil {
		return fail(err)
	}
	if !strings.Contains(result.Text, "is running") {
		return fail(errors.New(result.Text))
	}
	fmt.Println("started")
	select {}
}
