package command

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/node"
)

// display records what is written to a terminal.
type display struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements [io.Writer].
func (d *display) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text.Write(p)
}

// String implements [fmt.Stringer].
func (d *display) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text.String()
}

// chatOnTerminal opens a chat on a terminal. leave exits it.
func chatOnTerminal(t *testing.T, cfg config.Config) (shown *display, leave func()) {
	t.Helper()
	control, tty, err := pty.Open()
	require.NoError(t, err)
	require.NoError(t, pty.Setsize(control, &pty.Winsize{Rows: 30, Cols: 100}))
	shown = &display{}
	go func() { _, _ = io.Copy(shown, control) }() // ends with an error on Linux
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	ended := make(chan error, 1)
	go func() {
		defer close(ended)
		ended <- chat(ctx, cfg, slog.New(slog.DiscardHandler), chatOptions{session: "main", stdin: tty, stdout: tty, stderr: tty})
	}()
	leave = func() {
		_, err := io.WriteString(control, "\x04")
		require.NoError(t, err)
		require.NoError(t, <-ended)
	}
	t.Cleanup(func() {
		cancel()
		for range ended {
		}
		_ = tty.Close()
		_ = control.Close()
	})
	require.Eventually(t, func() bool { return strings.Contains(shown.String(), "session main") }, patience, 10*time.Millisecond)
	return shown, leave
}

// TestBackgroundReplies has a job and a subagent answer in a conversation whose replies
// nobody is sent.
func TestBackgroundReplies(t *testing.T) {
	t.Parallel()
	model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
		asked, _, _ := strings.Cut(r.LastUser(), "\n\n[")
		arguments, isCron := strings.CutPrefix(asked, "cron ")
		switch {
		case strings.HasPrefix(r.Messages[0].Content.Text, "# Subagent"):
			return llmtest.Text("dug")
		case strings.HasPrefix(asked, "[Report of the subagent"):
			return llmtest.Text("The digging is done.")
		case strings.HasPrefix(asked, "[Scheduled job"):
			return llmtest.Text("Water the plants!")
		case len(r.Results()) > 0:
			return llmtest.Text(r.Results()[0])
		case isCron:
			return llmtest.Calls(llmtest.Call{ID: "c", Name: "cron", Arguments: arguments})
		case strings.HasPrefix(asked, "delegate"):
			return llmtest.Calls(llmtest.Call{ID: "s", Name: "spawn", Arguments: `{"task":"dig","label":"digging"}`})
		default:
			return llmtest.Text("hello")
		}
	})
	cfg, r, _ := jobHome(t, func(c *config.Config) {
		c.Providers["scripted"] = config.Provider{Kind: "custom", BaseURL: model.URL, APIKey: "key", Timeout: time.Minute}
	})
	n, _ := startOn(t, cfg, r)
	require.NoError(t, node.WriteRun(cfg.DataDir(), n.note("")))
	background := func(number int) []domain.BackgroundReply {
		t.Helper()
		var all []domain.BackgroundReply
		require.Eventually(t, func() bool {
			var err error
			all, err = n.api.Background(t.Context(), "http:main", time.Time{})
			return err == nil && len(all) >= number
		}, patience, 10*time.Millisecond)
		require.Len(t, all, number)
		return all
	}

	shown, leave := chatOnTerminal(t, cfg)
	job := jobID(t, n.ask(t, "main", `cron {"action":"add","name":"plants","message":"remind me to water them","every_seconds":3600}`).Text)
	require.Equal(t, "http:main", n.runJob(t, job).Session)
	first := background(1)[0]
	require.Equal(t, domain.BackgroundReply{
		Turn: first.Turn, Cause: domain.CauseJob, Label: "plants", Status: domain.ReplyDone, Text: "Water the plants!", EndedAt: first.EndedAt,
	}, first)
	n.ask(t, "main", "delegate")
	second := background(2)[1]
	require.Equal(t, domain.BackgroundReply{
		Turn: second.Turn, Cause: domain.CauseSubagent, Label: "digging", Status: domain.ReplyDone, Text: "The digging is done.", EndedAt: second.EndedAt,
	}, second)
	after, err := n.api.Background(t.Context(), "http:main", first.EndedAt)
	require.NoError(t, err)
	require.Equal(t, []domain.BackgroundReply{second}, after)
	for _, text := range []string{`[job "plants", `, "Water the plants!", `[subagent "digging", `, "The digging is done."} {
		require.Eventually(t, func() bool { return strings.Contains(shown.String(), text) }, patience, 10*time.Millisecond, text)
	}
	leave()

	transcript, err := n.api.Transcript(t.Context(), "http:main")
	require.NoError(t, err)
	said := fmt.Sprint(transcript)
	require.Contains(t, said, "Water the plants!")
	require.Contains(t, said, "The digging is done.")

	n.runJob(t, job)
	background(3)
	once, err := chatOn(t.Context(), cfg, once("hi"))
	require.NoError(t, err)
	require.Equal(t, "hello\n", once.out, "one message waits for its own reply")
	for _, want := range []string{`^\[job "plants", [\d:]+\]\nWater the plants!\nhello\n$`, `^hello\n$`} {
		lines, err := chatOn(t.Context(), cfg, chatOptions{session: "main", stdin: strings.NewReader("hi\n")})
		require.NoError(t, err)
		require.Regexp(t, want, lines.out)
	}
}
