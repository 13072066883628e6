package cli_test

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/cli"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
)

// person is the user of a terminal.
type person struct {
	t      *testing.T
	ctx    context.Context
	keys   io.Writer
	screen *output
	left   chan error
}

// sit opens a terminal with a conversation.
func (f *fixture) sit(t *testing.T, history string) *person {
	t.Helper()
	control, tty, err := pty.Open()
	require.NoError(t, err)
	require.NoError(t, pty.Setsize(control, &pty.Winsize{Rows: 30, Cols: 80}))
	p := &person{t: t, ctx: f.ctx, keys: control, screen: newOutput(), left: make(chan error, 1)}
	go func() { _, _ = io.Copy(p.screen, control) }()
	ctx, cancel := context.WithCancel(f.ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.left <- cli.Terminal(ctx, f.chat(), cli.TerminalOptions{In: tty, Out: tty, History: history})
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
		_ = tty.Close()
		_ = control.Close()
	})
	p.sees("Holdfast")
	p.sees("›")
	return p
}

func (p *person) types(keys string) {
	p.t.Helper()
	_, err := io.WriteString(p.keys, keys)
	require.NoError(p.t, err)
}

// sees waits until text appears.
func (p *person) sees(text string) {
	p.t.Helper()
	p.screen.await(p.ctx, p.t, func(s string) bool { return strings.Contains(s, text) })
}

func (p *person) leaves() {
	p.t.Helper()
	select {
	case err := <-p.left:
		require.NoError(p.t, err)
	case <-p.ctx.Done():
		p.t.Fatal("still there")
	}
}

const (
	ctrlC, ctrlD = "\x03", "\x04"
	enter, up    = "\r", "\x1b[A"
)

func TestTerminal(t *testing.T) {
	t.Parallel()

	t.Run("a reply is formatted as Markdown", func(t *testing.T) {
		t.Parallel()
		f := setup(t, channeltest.Hold)
		p := f.sit(t, filepath.Join(t.TempDir(), "history"))
		p.types("hi" + enter)
		m := f.accepted(t, 0)
		require.Equal(t, "hi", m.Text)
		f.emit(m, event.Event{Kind: event.ToolStart, Tool: "exec", Text: "ls -la", Step: 1})
		p.sees("exec: ls -la")
		f.emit(m, event.Event{Kind: event.Text, Text: "on its way", Step: 2})
		p.sees("on its way")
		f.end(m, channeltest.Answer{Reply: "- **bold** \x1b[2Jtext"})
		p.sees("• \x1b[1mbold\x1b[22m text")
		require.NotContains(t, p.screen.String(), "\x1b[2Jtext")
		p.types(ctrlD)
		p.leaves()
	})

	t.Run("Ctrl-C stops the turn, and quits at the prompt", func(t *testing.T) {
		t.Parallel()
		f := setup(t, holdAllButStop)
		p := f.sit(t, filepath.Join(t.TempDir(), "history"))
		p.types("hi" + enter)
		m := f.accepted(t, 0)
		p.sees("thinking")
		p.types(ctrlC)
		require.Equal(t, "/stop", f.accepted(t, 1).Text)
		f.end(m, channeltest.Answer{Reply: "Stopped.", Status: domain.ReplyFailed})
		p.sees("! Stopped.")
		p.types("again" + enter)
		m = f.accepted(t, 2)
		f.end(m, channeltest.Answer{Reply: "answered"})
		p.sees("answered")
		p.types(ctrlC)
		p.leaves()
	})

	t.Run("pasted text is one message, and the history survives the chat", func(t *testing.T) {
		t.Parallel()
		f := setup(t, nil)
		history := filepath.Join(t.TempDir(), "data", "history")
		p := f.sit(t, history)
		p.types("\x1b[200~one\rtwo\x1b[201~" + enter)
		require.Equal(t, "one\ntwo", f.accepted(t, 0).Text)
		p.sees("echo: one")
		p.types("three" + enter)
		p.sees("echo: three")
		p.types("/exit" + enter)
		p.leaves()

		p = f.sit(t, history)
		p.types(up + up)
		p.sees("one")
		p.types(enter)
		require.Equal(t, "one\ntwo", f.accepted(t, 2).Text)
		p.sees("echo: one")
		p.types(ctrlD)
		p.leaves()
	})

	t.Run("the reply to a message sent while the agent works is shown once", func(t *testing.T) {
		t.Parallel()
		f := setup(t, channeltest.Hold)
		p := f.sit(t, filepath.Join(t.TempDir(), "history"))
		p.types("one" + enter)
		first := f.accepted(t, 0)
		p.types("two" + enter)
		second := f.accepted(t, 1)
		f.end(first, channeltest.Answer{Reply: "first reply"})
		f.end(second, channeltest.Answer{Reply: "second reply"})
		p.sees("first reply")
		p.sees("second reply")
		p.types(ctrlD)
		p.leaves()
	})

	t.Run("a reply that was missed is shown first", func(t *testing.T) {
		t.Parallel()
		f := setup(t, channeltest.Hold)
		p := f.sit(t, filepath.Join(t.TempDir(), "history"))
		p.types("long job" + enter)
		m := f.accepted(t, 0)
		p.sees("thinking")
		p.types(ctrlD)
		p.leaves()

		p = f.sit(t, filepath.Join(t.TempDir(), "history"))
		p.sees("long job")
		p.sees("thinking")
		f.end(m, channeltest.Answer{Reply: "done at last"})
		p.sees("done at last")
		p.types(ctrlD)
		p.leaves()
	})
}
