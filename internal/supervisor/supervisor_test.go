package supervisor_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/supervisor"
	"github.com/holdfast-ai/holdfast/internal/testrun"
)

// waitLimit is how long a test waits for a condition.
const waitLimit = 30 * time.Second

// TestMain lets the test binary be the supervisor, and a process that starts a
// command, or writes to one, and is killed.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case supervisor.Subcommand:
			os.Exit(supervisor.Main(os.Args[2:]))
		case "start":
			os.Exit(startAndWait(os.Args[2], spec(os.Args[3], os.Args[4])))
		case "talk":
			os.Exit(startAndWait(os.Args[2], talk(os.Args[3], os.Args[4])))
		case "write":
			os.Exit(write(os.Args[2], os.Args[3], os.Args[4]))
		}
	}
	testrun.Parallel(16)
	os.Exit(m.Run())
}

// startAndWait is the main of a process that starts a command and waits for it.
func startAndWait(dir string, spec supervisor.Spec) int {
	s, err := supervisor.New(supervisor.Options{Dir: dir})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	p, err := s.Start(context.Background(), spec)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if _, err := p.Wait(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func spec(key, command string) supervisor.Spec {
	return supervisor.Spec{
		Key: key, Command: command, Dir: os.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")},
		Timeout: 2 * time.Minute, MaxOutput: 20_000_000,
	}
}

func setup(t *testing.T) (s *supervisor.Supervisor, dir string) {
	t.Helper()
	dir = t.TempDir()
	return open(t, dir), dir
}

func open(t *testing.T, dir string) *supervisor.Supervisor {
	t.Helper()
	s, err := supervisor.New(supervisor.Options{Dir: dir})
	require.NoError(t, err)
	return s
}

func start(t *testing.T, s *supervisor.Supervisor, spec supervisor.Spec) *supervisor.Process {
	t.Helper()
	p, err := s.Start(t.Context(), spec)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop(context.Background(), spec.Key)) })
	return p
}

func wait(t *testing.T, p *supervisor.Process) supervisor.Exit {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	exit, err := p.Wait(ctx)
	require.NoError(t, err)
	return exit
}

func output(t *testing.T, p *supervisor.Process) string {
	t.Helper()
	text, err := p.Output(0)
	require.NoError(t, err)
	return string(text)
}

func eventually(t *testing.T, condition func() bool, what string) {
	t.Helper()
	require.Eventually(t, condition, waitLimit, 2*time.Millisecond, what)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func lines(t *testing.T, path string) int {
	t.Helper()
	data, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return 0
	}
	require.NoError(t, err)
	return strings.Count(string(data), "\n")
}

func TestCommand(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name    string
		command string
		output  string
		code    int
		signal  string
	}{
		{name: "succeeds", command: "echo hello", output: "hello\n"},
		{name: "fails", command: "echo no >&2; exit 3", output: "no\n", code: 3},
		{name: "mixes both streams in order", command: "echo a; echo b >&2; echo c", output: "a\nb\nc\n"},
		{name: "dies of a signal", command: "kill -9 $$", code: 137, signal: "SIGKILL"},
		{name: "has a child that dies of a signal", command: "sh -c 'kill -15 $$'; exit $?", code: 143},
		{name: "is not found", command: "no-such-program-at-all 2>/dev/null", code: 127},
		{name: "writes bytes that are no text", command: `printf '\000\377\376\n'`, output: "\x00\xff\xfe\n"},
		{name: "reads nothing", command: "cat; echo end", output: "end\n"},
		{name: "dies of the default signals", command: "sh -c 'kill -TERM $$'; sh -c 'kill -HUP $$'; sh -c 'kill -INT $$'; exit 0", code: 0},
		{name: "sees only its environment", command: "env | grep -v -e ^PWD= -e ^SHLVL= -e ^_= -e ^OLDPWD= | cut -d= -f1", output: "PATH\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, _ := setup(t)

			p := start(t, s, spec("t.1.0", tt.command))
			exit := wait(t, p)

			require.Equal(t, tt.code, exit.Code)
			require.Equal(t, tt.signal, exit.Signal)
			require.Empty(t, exit.Error)
			require.False(t, exit.TimedOut || exit.Stopped || exit.Truncated)
			require.WithinDuration(t, time.Now(), exit.StartedAt, waitLimit)
			if tt.signal == "" {
				got := output(t, p)
				if tt.output != "" {
					require.Equal(t, tt.output, got)
				}
				require.EqualValues(t, len(got), exit.OutputBytes)
			}
		})
	}
}

func TestStart(t *testing.T) {
	t.Parallel()

	t.Run("a missing directory is reported", func(t *testing.T) {
		t.Parallel()
		s, _ := setup(t)
		bad := spec("t.1.0", "true")
		bad.Dir = "/no/such/directory"

		exit := wait(t, start(t, s, bad))

		require.Equal(t, -1, exit.Code)
		require.Contains(t, exit.Error, "no such file or directory")
	})

	t.Run("an unsafe key is rejected", func(t *testing.T) {
		t.Parallel()
		s, _ := setup(t)
		for _, key := range []string{"", ".", "..", "../x", "a/b", "a\x00b", ".place", strings.Repeat("k", 201)} {
			_, err := s.Start(t.Context(), spec(key, "true"))
			require.ErrorContains(t, err, "invalid key")
			require.Error(t, s.Stop(t.Context(), key))
			require.Error(t, s.Remove(key))
		}
	})

	t.Run("a supervisor that cannot run is an error that says why", func(t *testing.T) {
		t.Parallel()
		s, err := supervisor.New(supervisor.Options{
			Dir: t.TempDir(), Executable: "/bin/sh", Args: []string{"-c", "echo no such luck >&2; exit 1"},
		})
		require.NoError(t, err)

		_, err = s.Start(t.Context(), spec("t.1.0", "true"))

		require.ErrorContains(t, err, "no such luck")
	})

	t.Run("another key is another command", func(t *testing.T) {
		t.Parallel()
		s, dir := setup(t)
		effects := filepath.Join(dir, "effects")

		wait(t, start(t, s, spec("t.1.0", "echo x >>"+effects)))
		wait(t, start(t, s, spec("t.1.1", "echo x >>"+effects)))

		require.Equal(t, 2, lines(t, effects))
	})
}

func TestFind(t *testing.T) {
	t.Parallel()
	s, dir := setup(t)

	_, found := s.Find("t.1.0")
	require.False(t, found)

	wait(t, start(t, s, spec("t.1.0", "echo hello; exit 4")))
	p, found := open(t, dir).Find("t.1.0")
	require.True(t, found)
	exit, err := p.Status()
	require.NoError(t, err)
	require.Equal(t, 4, exit.Code)
	require.Equal(t, "hello\n", output(t, p))
}

func TestPlace(t *testing.T) {
	t.Parallel()
	s, dir := setup(t)
	other, _ := setup(t)

	require.NotEmpty(t, s.Place())
	require.Equal(t, s.Place(), open(t, dir).Place())
	require.NotEqual(t, s.Place(), other.Place())
}

func TestWaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s, dir := setup(t)
	gate := filepath.Join(dir, "gate")
	p := start(t, s, spec("t.1.0", "until [ -e "+gate+" ]; do sleep 0.01; done"))
	reason := errors.New("the worker shuts down")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(reason)

	_, err := p.Wait(ctx)
	require.ErrorIs(t, err, reason)

	require.NoError(t, os.WriteFile(gate, nil, 0o600))
	require.Zero(t, wait(t, p).Code)
}

func TestStatus(t *testing.T) {
	t.Parallel()
	s, dir := setup(t)
	gate := filepath.Join(dir, "gate")
	p := start(t, s, spec("t.1.0", "until [ -e "+gate+" ]; do sleep 0.01; done; exit 3"))
	_, err := p.Status()
	require.ErrorIs(t, err, supervisor.ErrRunning)
	require.NoError(t, os.WriteFile(gate, nil, 0o600))
	wait(t, p)
	exit, err := p.Status()
	require.NoError(t, err)
	require.Equal(t, 3, exit.Code)

	lost := start(t, s, spec("t.2.0", "kill -9 $PPID; sleep 100"))
	eventually(t, func() bool { _, err := lost.Status(); return errors.Is(err, supervisor.ErrLost) }, "it is lost")
}
