package cli_test

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/cli"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// holdAllButAnswers replies only to approvals and denials.
func holdAllButAnswers(m domain.Inbound) *channeltest.Answer {
	if id, is := strings.CutPrefix(m.Text, "/approve "); is {
		return &channeltest.Answer{Reply: "Approved.\n`" + id + "`"}
	}
	if id, is := strings.CutPrefix(m.Text, "/deny "); is {
		return &channeltest.Answer{Reply: "Denied.\n`" + id + "`"}
	}
	return nil
}

// asks is the event of a question; begins is the start of its call.
func asks(id, command string) event.Event {
	return event.Event{Kind: event.Approval, ID: id, Tool: "exec", Text: command}
}

func begins(id, command string) event.Event {
	return event.Event{Kind: event.ToolStart, ID: id, Tool: "exec", Text: command, Step: 1}
}

func has(text string) func(string) bool {
	return func(s string) bool { return strings.Contains(s, text) }
}

// asked is a message from a person who can answer questions.
type asked struct {
	m        domain.Inbound
	errs     *output
	out      *output
	terminal io.WriteCloser
	ended    chan error
}

func (f *fixture) ask(t *testing.T) *asked {
	t.Helper()
	in, terminal := io.Pipe()
	a := &asked{errs: newOutput(), out: newOutput(), terminal: terminal, ended: make(chan error, 1)}
	go func() {
		a.ended <- cli.Ask(f.ctx, f.chat(), "push it", cli.LinesOptions{In: in, Typing: true, Out: a.out, Err: a.errs})
	}()
	t.Cleanup(func() { _ = terminal.Close() })
	a.m = f.accepted(t, 0)
	return a
}

func TestAskedMeanwhile(t *testing.T) {
	t.Parallel()

	t.Run("the person at the terminal answers each question once", func(t *testing.T) {
		t.Parallel()
		f := setup(t, holdAllButAnswers)
		a := f.ask(t)
		for range 2 {
			f.emit(a.m, asks("ab12", "git \x1b[2Jpush\n--force"))
		}
		f.emit(a.m, asks("cd34", "git tag"))
		a.errs.await(f.ctx, t, has("May I run this?\n  exec: git push\n  --force\nRun it? [y/n] "))
		_, err := io.WriteString(a.terminal, "what?\nYes\n")
		require.NoError(t, err)
		require.Equal(t, "/approve ab12", f.accepted(t, 1).Text)
		require.Equal(t, a.m.Chat, f.accepted(t, 1).Chat)
		f.emit(a.m, begins("ab12", "git push\n--force"))
		_, err = io.WriteString(a.terminal, "n\n")
		require.NoError(t, err)
		require.Equal(t, "/deny cd34", f.accepted(t, 2).Text)
		a.errs.await(f.ctx, t, has("Denied. `cd34`\n"))
		f.emit(a.m, asks("ab12", "git push\n--force"))
		f.end(a.m, channeltest.Answer{Reply: "Pushed."})
		require.NoError(t, <-a.ended)
		require.Equal(t, "Pushed.\n", a.out.String())
		require.Equal(t, "May I run this?\n  exec: git push\n  --force\nRun it? [y/n] Run it? [y/n] Approved. `ab12`\n"+
			"May I run this?\n  exec: git tag\nRun it? [y/n] Denied. `cd34`\n", a.errs.String())
		unseen, err := f.chat().Unseen()
		require.NoError(t, err)
		require.Empty(t, unseen)
	})

	t.Run("a question answered elsewhere goes away", func(t *testing.T) {
		t.Parallel()
		f := setup(t, holdAllButAnswers)
		a := f.ask(t)
		f.emit(a.m, asks("ab12", "git push"))
		a.errs.await(f.ctx, t, has("git push"))
		f.emit(a.m, begins("xy99", "git push"))
		f.emit(a.m, begins("ab12", "git push"))
		a.errs.await(f.ctx, t, has("no longer waiting for approval\n"))
		f.emit(a.m, asks("cd34", "git tag"))
		a.errs.await(f.ctx, t, has("git tag"))
		f.end(a.m, channeltest.Answer{Reply: "Done."})
		require.NoError(t, <-a.ended)
		require.Equal(t, 1, strings.Count(a.errs.String(), "no longer waiting for approval"))
		require.Len(t, f.backend.Accepted(), 1)
	})

	t.Run("a question is repeated if its answer could not be sent", func(t *testing.T) {
		t.Parallel()
		f := setup(t, holdAllButAnswers)
		f.options.Agent = &deaf{Agent: f.options.Agent}
		a := f.ask(t)
		f.emit(a.m, asks("ab12", "git push"))
		_, err := io.WriteString(a.terminal, "y\ny\n")
		require.NoError(t, err)
		require.Equal(t, "/approve ab12", f.accepted(t, 1).Text)
		f.end(a.m, channeltest.Answer{Reply: "Done."})
		require.NoError(t, <-a.ended)
		require.Contains(t, a.errs.String(), "answer not sent: holdfast: status 400: what?\nMay I run this?")
	})

	t.Run("without a person it says how to answer", func(t *testing.T) {
		t.Parallel()
		f := setup(t, holdAllButAnswers)
		a := f.ask(t)
		require.NoError(t, a.terminal.Close())
		how := "waiting for approval: exec: git push\nanswer with `holdfast approvals approve ab12` or `holdfast approvals deny ab12`\n"
		f.emit(a.m, asks("ab12", "git push"))
		a.errs.await(f.ctx, t, has(how))
		f.end(a.m, channeltest.Answer{Reply: "Done."})
		require.NoError(t, <-a.ended)

		errs, ended := newOutput(), make(chan error, 1)
		go func() { ended <- cli.Ask(f.ctx, f.chat(), "again", cli.LinesOptions{Out: io.Discard, Err: errs}) }()
		again := f.accepted(t, 1)
		for range 2 {
			f.emit(again, asks("ab12", "git push"))
		}
		f.emit(again, begins("ab12", "git push"))
		errs.await(f.ctx, t, has(how))
		f.end(again, channeltest.Answer{Reply: "Done."})
		require.NoError(t, <-ended)
		require.Equal(t, how, errs.String())
	})

	t.Run("typed lines are answers while a question is open", func(t *testing.T) {
		t.Parallel()
		f := setup(t, holdAllButAnswers)
		in, terminal := io.Pipe()
		errs, out, ended := newOutput(), newOutput(), make(chan error, 1)
		go func() {
			ended <- cli.Lines(f.ctx, f.chat(), cli.LinesOptions{In: in, Out: out, Err: errs, Typing: true})
		}()
		_, err := io.WriteString(terminal, "push it\n")
		require.NoError(t, err)
		m := f.accepted(t, 0)
		f.emit(m, asks("ab12", "git push"))
		errs.await(f.ctx, t, has("Run it?"))
		_, err = io.WriteString(terminal, "y\n")
		require.NoError(t, err)
		require.Equal(t, "/approve ab12", f.accepted(t, 1).Text)
		f.end(m, channeltest.Answer{Reply: "Pushed."})
		_, err = io.WriteString(terminal, "y\n/quit\n")
		require.NoError(t, err)
		m = f.accepted(t, 2)
		require.Equal(t, "y", m.Text)
		f.end(m, channeltest.Answer{Reply: "Yes?"})
		require.NoError(t, <-ended)
		require.Equal(t, "Pushed.\nYes?\n", out.String())
	})
}

// deaf is an agent that rejects the first answer to a question.
type deaf struct {
	cli.Agent
	refused bool
}

func (d *deaf) Send(ctx context.Context, session, id, text string) error {
	if strings.HasPrefix(text, "/approve ") && !d.refused {
		d.refused = true
		return &remote.Error{Service: "holdfast", Status: 400, Err: errors.New("what?")}
	}
	return d.Agent.Send(ctx, session, id, text)
}

func TestTerminalAsks(t *testing.T) {
	t.Parallel()

	t.Run("y and n are answers while a question is open, everything else is a message", func(t *testing.T) {
		t.Parallel()
		f := setup(t, holdAllButAnswers)
		p := f.sit(t, filepath.Join(t.TempDir(), "history"))
		p.types("push it" + enter)
		m := f.accepted(t, 0)
		f.emit(m, asks("ab12", "git push"))
		p.sees("May I run this?")
		p.sees("Run it? [y/n] exec: git push")
		p.types("yellow" + enter)
		second := f.accepted(t, 1)
		require.Equal(t, "yellow", second.Text)
		f.emit(second, asks("ab12", "git push"))
		f.emit(second, asks("cd34", "git tag"))
		p.sees("(1 more) Run it? [y/n] exec: git push")
		p.types("y" + enter)
		require.Equal(t, "/approve ab12", f.accepted(t, 2).Text)
		p.sees("Approved. `ab12`")
		p.types("no" + enter)
		require.Equal(t, "/deny cd34", f.accepted(t, 3).Text)
		p.sees("Denied. `cd34`")
		p.types("n" + enter)
		require.Equal(t, "n", f.accepted(t, 4).Text)
		require.Equal(t, 2, strings.Count(p.screen.String(), "May I run this?"))
		p.types(ctrlD)
		p.leaves()
	})

	t.Run("a question goes away when answered elsewhere, or when its message ends", func(t *testing.T) {
		t.Parallel()
		f := setup(t, holdAllButAnswers)
		p := f.sit(t, filepath.Join(t.TempDir(), "history"))
		p.types("push it" + enter)
		m := f.accepted(t, 0)
		f.emit(m, asks("ab12", "git push"))
		p.sees("Run it?")
		f.emit(m, begins("ab12", "git push"))
		p.sees("no longer waiting for approval: exec: git push")
		f.emit(m, asks("cd34", "git tag"))
		p.sees("  exec: git tag")
		f.end(m, channeltest.Answer{Reply: "Stopped.", Status: domain.ReplyFailed})
		p.sees("! Stopped.")
		p.types("y" + enter)
		require.Equal(t, "y", f.accepted(t, 1).Text)
		p.types(ctrlD)
		p.leaves()
	})

	t.Run("a question is repeated if its answer could not be sent", func(t *testing.T) {
		t.Parallel()
		f := setup(t, holdAllButAnswers)
		f.options.Agent = &deaf{Agent: f.options.Agent}
		p := f.sit(t, filepath.Join(t.TempDir(), "history"))
		p.types("push it" + enter)
		f.emit(f.accepted(t, 0), asks("ab12", "git push"))
		p.sees("Run it?")
		p.types("y" + enter)
		p.sees("! answer not sent: holdfast: status 400: what?")
		p.types("y" + enter)
		require.Equal(t, "/approve ab12", f.accepted(t, 1).Text)
		p.types(ctrlD)
		p.leaves()
	})
}
