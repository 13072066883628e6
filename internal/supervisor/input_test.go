package supervisor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
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

// talk is a command that reads.
func talk(key, command string) supervisor.Spec {
	s := spec(key, command)
	s.Input, s.Owner = true, "me"
	return s
}

// shows waits until the command's output is text.
func shows(t *testing.T, p *supervisor.Process, text string) {
	t.Helper()
	eventually(t, func() bool { return output(t, p) == text }, text)
}

func TestInput(t *testing.T) {
	t.Parallel()

	t.Run("is read by the command in the order of writing", func(t *testing.T) {
		t.Parallel()
		s, _ := setup(t)
		p := start(t, s, talk("t.1.0", "cat"))
		var want strings.Builder
		for i := range 20 {
			line := fmt.Sprintf("line %d\n", i)
			want.WriteString(line)
			require.NoError(t, p.Write(strconv.Itoa(i), []byte(line), false))
		}
		shows(t, p, want.String())
		_, err := p.Status()
		require.ErrorIs(t, err, supervisor.ErrRunning)

		require.NoError(t, p.Write("last", []byte("end"), true))
		require.Zero(t, wait(t, p).Code)
		require.Equal(t, want.String()+"end", output(t, p))
	})

	t.Run("is written once per ID by concurrent writers", func(t *testing.T) {
		t.Parallel()
		s, dir := setup(t)
		p := start(t, s, talk("t.1.0", "cat"))
		var group sync.WaitGroup
		for range 20 {
			other, found := open(t, dir).Find("t.1.0")
			require.True(t, found)
			group.Go(func() { require.NoError(t, other.Write("same", []byte("x\n"), false)) })
		}
		group.Wait()
		require.NoError(t, p.Write("last", nil, true))
		wait(t, p)
		require.Equal(t, "x\n", output(t, p))
		require.NoError(t, p.Write("same", []byte("x\n"), false), "what was written is no error afterwards")
		require.ErrorIs(t, p.Write("new", []byte("x\n"), false), supervisor.ErrEnded)
	})

	t.Run("may be binary and larger than a pipe's buffer", func(t *testing.T) {
		t.Parallel()
		s, _ := setup(t)
		data := []byte(strings.Repeat("\x00\xff\n\"", 100_000))
		p := start(t, s, talk("t.1.0", "cat"))
		require.NoError(t, p.Write("a", data, true))
		wait(t, p)
		require.Equal(t, string(data), output(t, p))
	})

	t.Run("that is not read blocks neither the command nor its end", func(t *testing.T) {
		t.Parallel()
		s, dir := setup(t)
		gate := filepath.Join(dir, "gate")
		p := start(t, s, talk("t.1.0", "sleep 100 & until [ -e "+gate+" ]; do sleep 0.01; done"))
		require.NoError(t, p.Write("a", make([]byte, 1_000_000), false))
		require.NoError(t, os.WriteFile(gate, nil, 0o600))
		require.Zero(t, wait(t, p).Code)
	})

	t.Run("that was closed accepts no more", func(t *testing.T) {
		t.Parallel()
		s, _ := setup(t)
		p := start(t, s, talk("t.1.0", "cat; sleep 100"))
		require.NoError(t, p.Write("a", nil, true))
		require.ErrorIs(t, p.Write("b", []byte("x"), false), supervisor.ErrNoInput)
	})

	t.Run("has a limit", func(t *testing.T) {
		t.Parallel()
		s, _ := setup(t)
		p := start(t, s, talk("t.1.0", "cat >/dev/null"))
		require.NoError(t, p.Write("a", make([]byte, 5_000_000), false))
		require.ErrorIs(t, p.Write("b", make([]byte, 5_000_000), false), supervisor.ErrNoInput)
		require.NoError(t, p.Write("c", nil, true))
		require.Zero(t, wait(t, p).Code)
	})

	t.Run("is rejected for a command without input", func(t *testing.T) {
		t.Parallel()
		s, _ := setup(t)
		p := start(t, s, spec("t.1.0", "cat; sleep 100"))
		require.ErrorIs(t, p.Write("a", []byte("x"), false), supervisor.ErrNoInput)
	})

	t.Run("survives a writer that died in the middle", func(t *testing.T) {
		t.Parallel()
		s, dir := setup(t)
		p := start(t, s, talk("t.1.0", "cat"))
		require.NoError(t, p.Write("a", []byte("one\n"), false))
		half, err := json.Marshal(map[string]any{"id": "b", "data": []byte("two\n")})
		require.NoError(t, err)
		f, err := os.OpenFile(filepath.Join(dir, "t.1.0", "input"), os.O_APPEND|os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = f.Write(half[:len(half)-3])
		require.NoError(t, errors.Join(err, f.Close()))
		shows(t, p, "one\n")
		require.NoError(t, p.Write("b", []byte("two\n"), false))
		require.NoError(t, p.Write("c", nil, true))
		wait(t, p)
		require.Equal(t, "one\ntwo\n", output(t, p))
	})
}

func TestInputAfterTheStarterWasKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	effects := filepath.Join(dir, "effects")
	starter := elsewhere(t, "talk", dir, "t.1.0", "echo x >>"+effects+"; cat")
	awaitFile(t, effects)
	require.NoError(t, starter.Process.Kill())
	require.ErrorContains(t, starter.Wait(), "killed")

	s := open(t, dir)
	p := start(t, s, talk("t.1.0", "echo x >>"+effects+"; cat"))
	require.NoError(t, p.Write("a", []byte("hello\n"), false))
	shows(t, p, "hello\n")
	require.NoError(t, s.Stop(t.Context(), "t.1.0"))
	require.True(t, wait(t, p).Stopped)
	require.Equal(t, 1, lines(t, effects))
}

// Writers are killed at random moments and others finish their writes; the command
// reads each line once and in order.
func TestWritersAreKilled(t *testing.T) {
	t.Parallel()
	s, dir := setup(t)
	p := start(t, s, talk("t.1.0", "cat"))
	var want strings.Builder
	for i := range 15 {
		line := fmt.Sprintf("line %d\n", i)
		want.WriteString(line)
		writer := elsewhere(t, "write", dir, "t.1.0", line)
		select { // another instruction each time
		case <-time.After(time.Duration(i) * time.Millisecond):
		case <-t.Context().Done():
		}
		require.NoError(t, writer.Process.Signal(syscall.SIGKILL))
		_ = writer.Wait()
		require.NoError(t, p.Write(line, []byte(line), false))
	}
	require.NoError(t, p.Write("last", nil, true))
	wait(t, p)
	require.Equal(t, want.String(), output(t, p))
}

// write is the main of a process that gives a command a line.
func write(dir, key, line string) int {
	s, err := supervisor.New(supervisor.Options{Dir: dir})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	p, found := s.Find(key)
	if !found {
		return 1
	}
	if err := p.Write(line, []byte(line), false); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func TestOutputFrom(t *testing.T) {
	t.Parallel()
	s, dir := setup(t)
	p := start(t, s, spec("t.1.0", "echo hello"))
	wait(t, p)
	for offset, want := range map[int64]string{0: "hello\n", 4: "o\n", 6: "", 100: ""} {
		got, err := p.Output(offset)
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}

	require.Zero(t, p.Seen())
	require.NoError(t, p.See(4))
	require.NoError(t, p.See(2))
	again, found := open(t, dir).Find("t.1.0")
	require.True(t, found)
	require.EqualValues(t, 4, again.Seen())
}

func TestList(t *testing.T) {
	t.Parallel()
	s, dir := setup(t)
	before := time.Now().Add(-time.Minute)
	for _, key := range []string{"c.1.0", "a.1.0", "b.1.0"} {
		start(t, s, talk(key, "cat # "+key))
	}
	other := talk("other.1.0", "cat")
	other.Owner = "you"
	start(t, s, other)
	wait(t, start(t, s, spec("plain.1.0", "true")))
	require.NoError(t, s.Stop(context.Background(), "a.1.0"))
	require.NoError(t, s.Stop(context.Background(), "never.1.0"))

	found, err := open(t, dir).List("me")
	require.NoError(t, err)
	var keys []string
	for _, p := range found {
		info, err := p.Info()
		require.NoError(t, err)
		require.Equal(t, supervisor.Info{Process: p.Process, Key: info.Key, Owner: "me", Command: "cat # " + info.Key, StartedAt: info.StartedAt}, info)
		require.WithinRange(t, info.StartedAt, before, time.Now().Add(time.Minute))
		_, err = p.Status()
		require.Equal(t, info.Key == "a.1.0", err == nil)
		keys = append(keys, info.Key)
	}
	require.Equal(t, []string{"c.1.0", "a.1.0", "b.1.0"}, keys)

	_, err = s.Sweep(0)
	require.NoError(t, err)
	found, err = s.List("me")
	require.NoError(t, err)
	require.Len(t, found, 2)
}

func TestRunning(t *testing.T) {
	t.Parallel()
	s, dir := setup(t)
	for _, key := range []string{"b.1.0", "a.1.0", "ended.1.0"} {
		start(t, s, talk(key, "cat # "+key))
	}
	start(t, s, spec("plain.1.0", "sleep 100"))
	require.NoError(t, s.Stop(t.Context(), "ended.1.0"))

	running, err := open(t, dir).Running()
	require.NoError(t, err)
	require.Len(t, running, 2)
	require.Equal(t, "b.1.0", running[0].Key)
	require.Equal(t, supervisor.Info{Process: running[1].Process, Key: "a.1.0", Owner: "me", Command: "cat # a.1.0", StartedAt: running[1].StartedAt}, running[1])
}
