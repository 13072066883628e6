package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/cli"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

func TestAsk(t *testing.T) {
	t.Parallel()

	t.Run("it prints only the reply and leaves no note", func(t *testing.T) {
		t.Parallel()
		f := setup(t, func(m domain.Inbound) *channeltest.Answer {
			return &channeltest.Answer{Reply: "**" + m.Text + "**\n\n- `a`"}
		})
		var out bytes.Buffer
		f.options.Session = "a/b"
		require.NoError(t, cli.Ask(f.ctx, f.chat(), "hi", cli.LinesOptions{Out: &out}))
		require.Equal(t, "**hi**\n\n- `a`\n", out.String())
		require.Equal(t, "a/b", f.accepted(t, 0).Chat)
		unseen, err := f.chat().Unseen()
		require.NoError(t, err)
		require.Empty(t, unseen)
	})

	t.Run("control sequences in the reply are removed for a terminal", func(t *testing.T) {
		t.Parallel()
		f := setup(t, func(domain.Inbound) *channeltest.Answer {
			return &channeltest.Answer{Reply: "\x1b[2J\x1b]0;mine\aheard\x1b[1m"}
		})
		control, tty, err := pty.Open()
		require.NoError(t, err)
		defer control.Close()
		require.NoError(t, cli.Ask(f.ctx, f.chat(), "hi", cli.LinesOptions{Out: tty, Err: io.Discard}))
		require.NoError(t, tty.Close())
		line, err := bufio.NewReader(control).ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "heard", strings.TrimRight(line, "\r\n"))
	})

	t.Run("the first failure of the model is told, the others are retries", func(t *testing.T) {
		t.Parallel()
		f := setup(t, channeltest.Hold)
		var out bytes.Buffer
		notes := newOutput()
		asked := make(chan error, 1)
		go func() { asked <- cli.Ask(f.ctx, f.chat(), "hi", cli.LinesOptions{Out: &out, Err: notes}) }()
		m := f.accepted(t, 0)
		f.emit(m, event.Event{Kind: event.Retry, Text: "attempt 1 of 8 failed: http://127.0.0.1:1/v1 cannot be reached"})
		f.emit(m, event.Event{Kind: event.Retry, Text: "attempt 2 of 8 failed: http://127.0.0.1:1/v1 cannot be reached"})
		notes.await(f.ctx, t, func(s string) bool { return s != "" })
		f.end(m, channeltest.Answer{Reply: "hello"})
		require.NoError(t, <-asked)
		require.Equal(t, "attempt 1 of 8 failed: http://127.0.0.1:1/v1 cannot be reached\n", notes.String())
		require.Equal(t, "hello\n", out.String())
	})

	t.Run("a failed turn is a one-line error", func(t *testing.T) {
		t.Parallel()
		f := setup(t, func(domain.Inbound) *channeltest.Answer {
			return &channeltest.Answer{Reply: "No answer.\nTry again.", Status: domain.ReplyFailed}
		})
		var out bytes.Buffer
		err := cli.Ask(f.ctx, f.chat(), "hi", cli.LinesOptions{Out: &out})
		require.EqualError(t, err, "No answer. Try again.")
		require.ErrorAs(t, err, new(*cli.TurnError))
		require.Empty(t, out.String())
	})

	t.Run("it retries while the agent is unreachable", func(t *testing.T) {
		t.Parallel()
		f := setup(t, nil)
		f.backend.FailAccept(2)
		var out, notes bytes.Buffer
		require.NoError(t, cli.Ask(f.ctx, f.chat(), "hi", cli.LinesOptions{Out: &out, Err: &notes}))
		require.Contains(t, notes.String(), "not connected, will send when it is back\n")
		require.Equal(t, "echo: hi\n", out.String())
		require.Len(t, f.backend.Accepted(), 1)
	})

	t.Run("a refused message is an error and leaves no note", func(t *testing.T) {
		t.Parallel()
		f := setup(t, nil)
		err := cli.Ask(f.ctx, f.chat(), " ", cli.LinesOptions{Out: new(bytes.Buffer)})
		require.Equal(t, 400, remote.As(err).Status)
		unseen, err := f.chat().Unseen()
		require.NoError(t, err)
		require.Empty(t, unseen)
	})

	t.Run("an interrupt stops the turn", func(t *testing.T) {
		t.Parallel()
		f := setup(t, holdAllButStop)
		interrupt := make(chan struct{})
		asked := make(chan error, 1)
		var out bytes.Buffer
		go func() { asked <- cli.Ask(f.ctx, f.chat(), "hi", cli.LinesOptions{Out: &out, Interrupt: interrupt}) }()
		first := f.accepted(t, 0)
		close(interrupt)
		require.Equal(t, "/stop", f.accepted(t, 1).Text)
		require.Equal(t, first.Chat, f.accepted(t, 1).Chat)
		f.end(first, channeltest.Answer{Reply: "Stopped.", Status: domain.ReplyFailed})
		require.ErrorIs(t, <-asked, cli.ErrInterrupted)
		require.Empty(t, out.String())
	})
}

func TestUnseen(t *testing.T) {
	t.Parallel()
	f := setup(t, channeltest.Hold)
	for i, text := range []string{"one", "two\nlines"} {
		killed, kill := context.WithCancel(f.ctx)
		asked := make(chan error, 1)
		go func() { asked <- cli.Ask(killed, f.chat(), text, cli.LinesOptions{Out: new(bytes.Buffer)}) }()
		f.accepted(t, i)
		kill()
		require.ErrorIs(t, <-asked, context.Canceled)
	}
	f.end(f.accepted(t, 0), channeltest.Answer{Reply: "ONE"})
	f.end(f.accepted(t, 1), channeltest.Answer{Reply: "TWO"})

	other := f.options
	other.Session = "other"
	unseen, err := cli.New(other).Unseen()
	require.NoError(t, err)
	require.Empty(t, unseen)
	unseen, err = f.chat().Unseen()
	require.NoError(t, err)
	require.Len(t, unseen, 2)
	require.Equal(t, "two\nlines", unseen[1].Text)

	for _, want := range []string{"ONE\nTWO\n", ""} { // each is shown once
		var out, errs bytes.Buffer
		require.NoError(t, cli.Lines(f.ctx, f.chat(), cli.LinesOptions{In: strings.NewReader(""), Out: &out, Err: &errs}))
		require.Equal(t, want, out.String())
		require.Empty(t, errs.String())
	}
}

func TestLines(t *testing.T) {
	t.Parallel()

	t.Run("each line is a message, up to /quit", func(t *testing.T) {
		t.Parallel()
		f := setup(t, func(m domain.Inbound) *channeltest.Answer {
			if m.Text == "fail" {
				return &channeltest.Answer{Reply: "No answer.", Status: domain.ReplyFailed}
			}
			return channeltest.Echo(m)
		})
		var out, errs bytes.Buffer
		in := strings.NewReader("one\r\n\n  \nfail\n/status\n/quit\nmore\n")
		require.NoError(t, cli.Lines(f.ctx, f.chat(), cli.LinesOptions{In: in, Out: &out, Err: &errs}))
		require.Equal(t, "echo: one\necho: /status\n", out.String())
		require.Equal(t, "No answer.\n", errs.String())
	})

	t.Run("an interrupt ends it while it waits for input", func(t *testing.T) {
		t.Parallel()
		f := setup(t, nil)
		interrupt := make(chan struct{})
		close(interrupt)
		var out bytes.Buffer
		err := cli.Lines(f.ctx, f.chat(), cli.LinesOptions{In: blocked{f.ctx}, Out: &out, Err: &out, Interrupt: interrupt})
		require.ErrorIs(t, err, cli.ErrInterrupted)
	})

	t.Run("it reports a message that was noted but never sent", func(t *testing.T) {
		t.Parallel()
		f := setup(t, nil)
		away := f.options
		away.Agent = unreachable{}
		gone, cancel := context.WithCancel(f.ctx)
		cancel()
		require.Error(t, cli.Ask(gone, cli.New(away), "lost", cli.LinesOptions{Out: new(bytes.Buffer)}))
		var out, errs bytes.Buffer
		require.NoError(t, cli.Lines(f.ctx, f.chat(), cli.LinesOptions{In: strings.NewReader(""), Out: &out, Err: &errs}))
		require.Equal(t, "never sent: lost\n", errs.String())
	})
}

// blocked is a terminal without input.
type blocked struct {
	ctx context.Context
}

func (b blocked) Read([]byte) (int, error) {
	<-b.ctx.Done()
	return 0, b.ctx.Err()
}

// unreachable is an agent that no message reaches.
type unreachable struct {
	cli.Agent
}

func (unreachable) Send(ctx context.Context, _, _, _ string) error {
	return &remote.Error{Service: "holdfast", Err: context.DeadlineExceeded}
}
