package cli_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/cli"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// say publishes the reply of a job.
func (f *fixture) say(turn, text string) {
	f.backend.Say("http:main", domain.BackgroundReply{
		Turn: turn, Cause: domain.CauseJob, Label: "plants", Status: domain.ReplyDone, Text: text,
	})
}

// lines is a chat that reads lines.
type lines struct {
	in   *io.PipeWriter
	out  *output
	left chan error
}

func (f *fixture) lines() *lines {
	in, typed := io.Pipe()
	l := &lines{in: typed, out: newOutput(), left: make(chan error, 1)}
	chat := f.chat()
	go func() { l.left <- cli.Lines(f.ctx, chat, cli.LinesOptions{In: in, Out: l.out, Err: l.out}) }()
	return l
}

func (f *fixture) sees(t *testing.T, l *lines, text string) {
	t.Helper()
	l.out.await(f.ctx, t, func(s string) bool { return strings.Contains(s, text) })
}

func TestBackgroundRepliesInLines(t *testing.T) {
	t.Parallel()
	f := setup(t, channeltest.Hold)
	f.say("t0", "long before")
	l := f.lines()
	_, err := fmt.Fprintln(l.in, "hi")
	require.NoError(t, err)
	m := f.accepted(t, 0)
	f.say("t1", "water them")
	f.sees(t, l, "water them\n")
	f.end(m, channeltest.Answer{Reply: "hello"})
	f.sees(t, l, "hello\n")
	f.say("t2", "while nobody types")
	f.sees(t, l, "nobody types\n")

	_, err = fmt.Fprintln(l.in, "joins the job")
	require.NoError(t, err)
	m = f.accepted(t, 1)
	turn := f.backend.MessageID(m.Channel, m.Scope, m.PlatformID)
	f.say(turn, "one for both")
	f.sees(t, l, "one for both\n")
	f.end(m, channeltest.Answer{Reply: "one for both"})
	_, err = fmt.Fprintln(l.in, "/quit")
	require.NoError(t, err)
	require.NoError(t, <-l.left)
	require.Regexp(t, `^\[job "plants", [\d:]+\]\nwater them\nhello\n\[job "plants", [\d:]+\]\nwhile nobody types\n\[job "plants", [\d:]+\]\none for both\n$`, l.out.String())

	f.backend.Say("http:main", domain.BackgroundReply{
		Turn: "t3", Cause: domain.CauseSubagent, Label: "\x1b[2Jdig\nhere", Status: domain.ReplyFailed, Text: "No answer.",
		EndedAt: time.Now().AddDate(1, 0, 0),
	})
	for _, want := range []string{`^\[subagent "dig here", [A-Z][a-z]{2} \d+ \d\d:\d\d\]\nNo answer.\n$`, `^$`} {
		l := f.lines()
		require.NoError(t, l.in.Close())
		require.NoError(t, <-l.left)
		require.Regexp(t, want, l.out.String())
	}
}

func TestBackgroundRepliesStartWithTheFirstMessage(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	for i := range 150 {
		f.say(fmt.Sprintf("early %d", i), "early")
	}
	out := newOutput()
	require.NoError(t, cli.Ask(f.ctx, f.chat(), "remind me", cli.LinesOptions{Out: out}))
	for i := range 150 {
		f.say(fmt.Sprintf("late %d", i), fmt.Sprintf("late %d.", i))
	}
	require.NoError(t, cli.Ask(f.ctx, f.chat(), "hi", cli.LinesOptions{Out: out}))
	require.Equal(t, "echo: remind me\necho: hi\n", out.String(), "Ask prints only the reply to its message")

	l := f.lines()
	require.NoError(t, l.in.Close())
	require.NoError(t, <-l.left)
	require.NotContains(t, l.out.String(), "early")
	require.Equal(t, 150, strings.Count(l.out.String(), "late"))
	require.Contains(t, l.out.String(), "late 149.\n")

	notes, err := os.ReadDir(f.options.Dir)
	require.NoError(t, err)
	for _, note := range notes {
		if !note.IsDir() {
			require.NoError(t, os.WriteFile(filepath.Join(f.options.Dir, note.Name()), []byte("2026-13"), 0o600))
		}
	}
	l = f.lines()
	require.NoError(t, l.in.Close())
	require.NoError(t, <-l.left)
	require.Empty(t, l.out.String(), "a damaged file counts as missing")
}

func TestBackgroundRepliesOnTheScreen(t *testing.T) {
	t.Parallel()
	f := setup(t, channeltest.Hold)
	history := filepath.Join(t.TempDir(), "history")
	p := f.sit(t, history)
	f.say("t1", "**water** them")
	p.sees(`[job "plants", `)
	p.sees("\x1b[1mwater\x1b[22m them")
	p.types("hi" + enter)
	m := f.accepted(t, 0)
	p.sees("thinking")
	f.say("t2", "while it works")
	p.sees("while it works")
	f.end(m, channeltest.Answer{Reply: "hello"})
	p.sees("hello")
	p.types(ctrlD)
	p.leaves()

	f.say("t3", "while it was closed")
	p = f.sit(t, history)
	p.sees("while it was closed")
	require.NotContains(t, p.screen.String(), "water")
	require.NotContains(t, p.screen.String(), "while it works")
	p.types(ctrlD)
	p.leaves()
}
