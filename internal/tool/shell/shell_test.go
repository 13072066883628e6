package shell_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/supervisor"
	"github.com/holdfast-ai/holdfast/internal/testrun"
	"github.com/holdfast-ai/holdfast/internal/tool"
	"github.com/holdfast-ai/holdfast/internal/tool/shell"
	"github.com/holdfast-ai/holdfast/internal/tool/tooltest"
)

const patience = 30 * time.Second

// TestMain lets the test binary be the supervisor, and a worker that is killed.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case supervisor.Subcommand:
			os.Exit(supervisor.Main(os.Args[2:]))
		case "worker":
			os.Exit(worker(os.Args[2], os.Args[3], os.Args[4], os.Args[5], os.Args[6]))
		}
	}
	testrun.Parallel(16)
	os.Exit(m.Run())
}

// bundle is an exec tool and one call of it.
type bundle struct {
	options  shell.Options
	journal  *tooltest.Journal
	commands string // the supervisor's directory
}

func setup(t *testing.T) *bundle {
	t.Helper()
	commands := t.TempDir()
	b := &bundle{journal: tooltest.NewJournal(), commands: commands, options: shell.Options{
		Supervisor: newSupervisor(t, commands), Places: newPlaces(nil), Workspace: t.TempDir(), Restrict: true, Host: "one", BootID: "first",
	}}
	// Clean up after a failed test.
	t.Cleanup(func() { require.NoError(t, b.options.Supervisor.Stop(context.Background(), key)) })
	return b
}

const key = "turn.1.0"

func newSupervisor(t *testing.T, dir string) *supervisor.Supervisor {
	t.Helper()
	s, err := supervisor.New(supervisor.Options{Dir: dir})
	require.NoError(t, err)
	return s
}

func (b *bundle) path(name string) string { return filepath.Join(b.options.Workspace, name) }

// call makes one attempt.
func (b *bundle) call(ctx context.Context, t *testing.T, arguments map[string]any) (tool.Result, error) {
	t.Helper()
	return b.show(ctx, t, arguments, nil)
}

func (b *bundle) show(ctx context.Context, t *testing.T, arguments map[string]any, progress func(string)) (tool.Result, error) {
	t.Helper()
	exec, err := shell.New(b.options)
	require.NoError(t, err)
	encoded, err := json.Marshal(arguments)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return exec.Run(ctx, tool.Call{Key: key, Arguments: encoded, Journal: b.journal, Progress: progress})
}

// awaitFile waits until the file has content.
func (b *bundle) awaitFile(t *testing.T, name string) {
	t.Helper()
	require.Eventually(t, func() bool {
		info, err := os.Stat(b.path(name))
		return err == nil && info.Size() > 0
	}, patience, 2*time.Millisecond, name)
}

// count is a command that leaves a line in a file each time it runs.
const count = "echo x >>effects; "

func (b *bundle) requireEffects(t *testing.T, n int) {
	t.Helper()
	data, err := os.ReadFile(b.path("effects"))
	if n == 0 {
		require.ErrorIs(t, err, os.ErrNotExist)
		return
	}
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("x\n", n), string(data))
}

func TestExec(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name      string
		arguments map[string]any
		text      string
		failed    bool
	}{
		{name: "a command that succeeds", arguments: map[string]any{"command": "echo hi"}, text: "hi\n[exit status 0]"},
		{name: "one without output", arguments: map[string]any{"command": "true"}, text: "[exit status 0]"},
		{name: "one without a last newline", arguments: map[string]any{"command": "printf hi"}, text: "hi\n[exit status 0]"},
		{name: "one that fails", arguments: map[string]any{"command": "echo no >&2; exit 3"}, text: "no\n[exit status 3]", failed: true},
		{name: "one that a signal ends", arguments: map[string]any{"command": "kill -9 $$"}, text: "[exit status 137, SIGKILL]", failed: true},
		{name: "one that takes too long", arguments: map[string]any{"command": "exec sleep 100", "timeout": 0.1}, text: "[timed out after 100ms]\n[exit status 143, SIGTERM]", failed: true},
		{name: "one that cannot be run", arguments: map[string]any{"command": "a\x00b"}, text: "[could not be started: ", failed: true},
		{name: "one in a directory of the workspace", arguments: map[string]any{"command": "basename $PWD", "working_dir": "sub"}, text: "sub\n[exit status 0]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			require.NoError(t, os.Mkdir(b.path("sub"), 0o700))

			got, err := b.call(t.Context(), t, tt.arguments)

			require.NoError(t, err)
			require.Equal(t, tt.failed, got.Failed)
			if strings.HasSuffix(tt.text, "]") {
				require.Equal(t, tt.text, got.Text)
			} else {
				require.Contains(t, got.Text, tt.text)
			}
		})
	}

	t.Run("runs in the workspace", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		got, err := b.call(t.Context(), t, map[string]any{"command": "pwd; touch here"})
		require.NoError(t, err)
		require.Equal(t, b.options.Workspace+"\n[exit status 0]", got.Text)
		require.FileExists(t, b.path("here"))
	})

	t.Run("shows the last line while the command runs", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		shown := make(chan string, 1)
		var once sync.Once
		got, err := b.show(t.Context(), t, map[string]any{"command": "echo one; echo two; until [ -e go ]; do sleep 0.01; done"}, func(line string) {
			once.Do(func() {
				shown <- line
				_ = os.WriteFile(b.path("go"), nil, 0o600)
			})
		})
		require.NoError(t, err)
		require.Equal(t, "one\ntwo\n[exit status 0]", got.Text)
		require.Equal(t, "two", <-shown)
	})
}

func TestWorkingDir(t *testing.T) {
	t.Parallel()

	for _, dir := range []string{"..", "/", "sub/../..", "link"} {
		t.Run("outside is refused: "+dir, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			require.NoError(t, os.Mkdir(b.path("sub"), 0o700))
			require.NoError(t, os.Symlink("/", b.path("link")))

			_, err := b.call(t.Context(), t, map[string]any{"command": count, "working_dir": dir})

			require.ErrorContains(t, err, "outside the workspace")
		})
	}

	t.Run("outside the workspace is allowed without the restriction", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.options.Restrict = false
		got, err := b.call(t.Context(), t, map[string]any{"command": "pwd", "working_dir": "/"})
		require.NoError(t, err)
		require.Equal(t, "/\n[exit status 0]", got.Text)
	})

	t.Run("a missing directory or a file is reported", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		require.NoError(t, os.WriteFile(b.path("file"), nil, 0o600))
		_, err := b.call(t.Context(), t, map[string]any{"command": count, "working_dir": "missing"})
		require.ErrorContains(t, err, "no such file or directory")
		_, err = b.call(t.Context(), t, map[string]any{"command": count, "working_dir": "file"})
		require.ErrorContains(t, err, "not a directory")
		b.requireEffects(t, 0)
	})
}

func TestEnvironment(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-secret")
	t.Setenv("TZ", "Europe/Zurich")
	b := setup(t)
	b.options.Env = []string{"EXTRA=more", "LANG=de_CH.UTF-8"}

	got, err := b.call(t.Context(), t, map[string]any{"command": "env; tr '\\0' '\\n' </proc/$PPID/environ"})

	require.NoError(t, err)
	require.NotContains(t, got.Text, "sk-secret")
	require.Contains(t, got.Text, "\nHOME="+b.options.Workspace+"\n")
	for _, variable := range []string{"TERM=dumb", "TZ=Europe/Zurich", "EXTRA=more", "LANG=de_CH.UTF-8", "PATH=" + os.Getenv("PATH")} {
		require.Contains(t, got.Text, variable+"\n")
	}
}

func TestTimeouts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.options.Timeout, b.options.MaxTimeout = 20*time.Second, 100*time.Second
	exec, err := shell.New(b.options)
	require.NoError(t, err)

	base := exec.Limit(json.RawMessage(`{}`)) - 20*time.Second
	require.Positive(t, base)
	tests := map[string]time.Duration{
		`{"timeout":50}`: 50 * time.Second, `{"timeout":1e300}`: 100 * time.Second, `{"timeout":-1}`: 20 * time.Second,
		`{"timeout":"x"}`: 20 * time.Second, `nonsense`: 20 * time.Second, ``: 20 * time.Second,
	}
	for arguments, want := range tests {
		require.Equal(t, want+base, exec.Limit(json.RawMessage(arguments)), arguments)
	}
}

func TestAttempts(t *testing.T) {
	t.Parallel()
	waiting := map[string]any{"command": count + "until [ -e go ]; do sleep 0.01; done; echo done; exit 6"}

	// begin makes an attempt that ends with cause when the command runs.
	begin := func(t *testing.T, b *bundle, cause error) (tool.Result, error) {
		t.Helper()
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		var result tool.Result
		var err error
		var group sync.WaitGroup
		group.Go(func() { result, err = b.call(ctx, t, waiting) })
		b.awaitFile(t, "effects")
		cancel(cause)
		group.Wait()
		return result, err
	}
	shutdown := errors.New("the worker shuts down")

	t.Run("when the worker dies the command continues and the next attempt has its result", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		_, err := begin(t, b, shutdown)
		require.ErrorIs(t, err, shutdown)

		require.NoError(t, os.WriteFile(b.path("go"), nil, 0o600))
		for range 2 {
			got, err := b.call(t.Context(), t, waiting)
			require.NoError(t, err)
			require.Equal(t, tool.Result{Text: "done\n[exit status 6]", Failed: true}, got)
		}
		b.requireEffects(t, 1)
	})

	t.Run("when the user stops the command it is killed for good", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		began := time.Now()
		got, err := begin(t, b, tool.ErrStopped)
		require.NoError(t, err)
		require.True(t, got.Failed)
		require.Contains(t, got.Text, "[stopped]")
		require.Less(t, time.Since(began), 10*time.Second)

		again, err := b.call(t.Context(), t, waiting)
		require.NoError(t, err)
		require.Equal(t, got, again)
		b.requireEffects(t, 1)
	})

	t.Run("a call that was stopped before it began never runs", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(tool.ErrStopped)
		got, err := b.call(ctx, t, map[string]any{"command": count + "until [ -e go ]; do sleep 0.01; done"})
		require.NoError(t, err)
		require.True(t, got.Failed)
		require.Equal(t, tool.Result{Text: "[stopped]", Failed: true}, got)
		b.requireEffects(t, 0)
	})

	t.Run("an attempt that died before starting anything is completed", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		away := errors.New("the store is away")
		b.journal.FailNext(away, true)
		_, err := b.call(t.Context(), t, map[string]any{"command": count})
		require.ErrorIs(t, err, away)
		require.ErrorIs(t, err, tool.ErrRetry)
		b.requireEffects(t, 0)

		_, err = b.call(t.Context(), t, map[string]any{"command": count})
		require.NoError(t, err)
		b.requireEffects(t, 1)
	})

	t.Run("a command that deleted its directory is still found", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		require.NoError(t, os.Mkdir(b.path("sub"), 0o700))
		remove := map[string]any{"command": "rmdir ../sub; echo removed", "working_dir": "sub"}
		first, err := b.call(t.Context(), t, remove)
		require.NoError(t, err)
		again, err := b.call(t.Context(), t, remove)
		require.NoError(t, err)
		require.Equal(t, first, again)
	})

	t.Run("on another machine the outcome is unknown unless the first answers", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		_, err := begin(t, b, shutdown)
		require.ErrorIs(t, err, shutdown)
		here := b.options
		b.options.Host, b.options.Supervisor = "two", newSupervisor(t, t.TempDir())

		_, err = b.call(t.Context(), t, waiting)

		require.ErrorIs(t, err, tool.ErrOutcomeUnknown)
		require.ErrorContains(t, err, "machine one")
		b.requireEffects(t, 1)
		b.options = here
	})

	t.Run("with another directory of commands the outcome is unknown", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		_, err := b.call(t.Context(), t, map[string]any{"command": count})
		require.NoError(t, err)
		b.options.Supervisor = newSupervisor(t, t.TempDir())

		_, err = b.call(t.Context(), t, map[string]any{"command": count})

		require.ErrorIs(t, err, tool.ErrOutcomeUnknown)
		b.requireEffects(t, 1)
	})

	t.Run("after a reboot a result that was written is used", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		first, err := b.call(t.Context(), t, map[string]any{"command": count + "echo out"})
		require.NoError(t, err)
		b.options.BootID = "second"

		again, err := b.call(t.Context(), t, map[string]any{"command": count + "echo out"})

		require.NoError(t, err)
		require.Equal(t, first, again)
		b.requireEffects(t, 1)
	})

	t.Run("after a reboot the outcome is unknown without a result", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.journal.FailNext(errors.New("the machine goes down"), true)
		_, err := b.call(t.Context(), t, map[string]any{"command": count})
		require.Error(t, err)
		b.options.BootID = "second"

		_, err = b.call(t.Context(), t, map[string]any{"command": count})

		require.ErrorIs(t, err, tool.ErrOutcomeUnknown)
		require.ErrorContains(t, err, "rebooted")
		b.requireEffects(t, 0)
	})

	t.Run("after a lost supervisor the outcome is unknown and the output so far is reported", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		_, err := b.call(t.Context(), t, map[string]any{"command": count + "echo so far; until [ -s " + filepath.Join(b.commands, key, "output") + " ]; do sleep 0.01; done; kill -9 $PPID; sleep 100"})
		require.ErrorIs(t, err, tool.ErrOutcomeUnknown)
		require.ErrorContains(t, err, "so far")
		b.requireEffects(t, 1)
	})
}

func TestNew(t *testing.T) {
	t.Parallel()

	t.Run("names the tool and how it is retried", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.options.Host, b.options.BootID = "", ""
		exec, err := shell.New(b.options)
		require.NoError(t, err)
		require.Equal(t, "exec", exec.Spec.Name)
		require.Equal(t, tool.Keyed, exec.Kind)
		require.Contains(t, string(exec.Spec.Parameters), `"required":["command"]`)
	})

	t.Run("a relative workspace is an error", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.options.Workspace = "somewhere"
		_, err := shell.New(b.options)
		require.ErrorContains(t, err, "absolute")
	})
}
