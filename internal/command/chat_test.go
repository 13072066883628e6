package command

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/node"
)

// said is the output of a chat.
type said struct {
	out, err string
}

// chatHome is the config of a home for chats.
func chatHome(t *testing.T, url string) config.Config {
	t.Helper()
	cfg := config.Default(t.TempDir())
	cfg.Model = "scripted/model"
	cfg.Providers["scripted"] = config.Provider{Kind: "custom", BaseURL: url, APIKey: "key", Timeout: time.Minute}
	return cfg
}

// chatOn runs a chat until it ends.
func chatOn(ctx context.Context, cfg config.Config, o chatOptions) (said, error) {
	var out, errs bytes.Buffer
	o.stdout, o.stderr = &out, &errs
	if o.stdin == nil {
		o.stdin = strings.NewReader("")
	}
	err := chat(ctx, cfg, slog.New(slog.DiscardHandler), o)
	return said{out.String(), errs.String()}, err
}

// once are the options of `chat -m TEXT`.
func once(text string) chatOptions { return chatOptions{message: text, once: true} }

func TestChatHostsTheAgent(t *testing.T) {
	t.Parallel()
	model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
		var heard []string
		for _, m := range r.Messages {
			if m.Role == "user" {
				text, _, _ := strings.Cut(m.Content.Text, "\n")
				heard = append(heard, text)
			}
		}
		if strings.Contains(r.LastUser(), "refuse") {
			return llmtest.Refuse(401, "invalid_api_key", "wrong key")
		}
		return llmtest.Text("**heard** " + strings.Join(heard, " | "))
	})
	cfg := chatHome(t, model.URL)

	first, err := chatOn(t.Context(), cfg, once("one"))
	require.NoError(t, err)
	require.Equal(t, said{out: "**heard** one\n"}, first)

	o := once("-")
	o.stdin = strings.NewReader("two\n")
	second, err := chatOn(t.Context(), cfg, o)
	require.NoError(t, err)
	require.Equal(t, "**heard** one | two\n", second.out)

	other := chatOptions{session: "other", stdin: strings.NewReader("three\nfour\n")}
	third, err := chatOn(t.Context(), cfg, other)
	require.NoError(t, err)
	require.Equal(t, "**heard** three\n**heard** three | four\n", third.out)

	failed, err := chatOn(t.Context(), cfg, once("refuse"))
	require.Error(t, err)
	require.NotContains(t, err.Error(), "\n")
	require.Empty(t, failed.out)

	_, err = chatOn(t.Context(), cfg, once("  "))
	require.EqualError(t, err, "the message is empty")
}

func TestChatShowsAReplyThatTheLastChatMissed(t *testing.T) {
	t.Parallel()
	model := llmtest.NewServer(t, llmtest.Hang(), llmtest.Text("done at last"))
	cfg := chatHome(t, model.URL)
	ctx, kill := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := chatOn(ctx, cfg, once("long job"))
		ended <- err
	}()
	waiting, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	require.NoError(t, model.Await(waiting, 1))
	kill()
	require.ErrorContains(t, <-ended, "unfinished turns resume later")

	next, err := chatOn(waiting, cfg, chatOptions{})
	require.NoError(t, err)
	require.Equal(t, said{out: "done at last\n"}, next)
	next, err = chatOn(waiting, cfg, chatOptions{})
	require.NoError(t, err)
	require.Empty(t, next.out)
}

func TestChatUsesWhatRuns(t *testing.T) {
	t.Parallel()
	up := startNode(t, echo(t).URL)
	require.NoError(t, node.WriteRun(up.cfg.DataDir(), node.RunInfo{PID: os.Getpid(), API: up.APIURL()}))
	got, err := chatOn(t.Context(), up.cfg, once("hi"))
	require.NoError(t, err)
	require.Equal(t, "echo 1\n", got.out)

	elsewhere := config.Default(t.TempDir())
	elsewhere.Temporal.Address = "127.0.0.1:1"
	elsewhere.Channels.HTTP.Listen = strings.TrimPrefix(up.APIURL(), "http://")
	got, err = chatOn(t.Context(), elsewhere, once("hi"))
	require.NoError(t, err)
	require.Equal(t, "echo 2\n", got.out)

	listener, err := net.Listen("tcp", "127.0.0.1:0") // accepts connections without answering
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	elsewhere.Channels.HTTP.Listen = listener.Addr().String()
	_, err = chatOn(t.Context(), elsewhere, once("hi"))
	require.ErrorContains(t, err, "holdfast starter")
}

func TestChatProcess(t *testing.T) {
	t.Parallel()
	model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
		if strings.Contains(r.LastUser(), "hang") {
			return llmtest.Hang()
		}
		return llmtest.Text("fine")
	})
	h := newHome(t, model.URL)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()

	cmd := h.chat(ctx, t, "-m", "hi")
	stdout, err := cmd.Output()
	require.NoError(t, err)
	require.Equal(t, "fine\n", string(stdout))

	cmd = h.chat(ctx, t, "-m", "hang", "--session", "two")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	require.NoError(t, model.Await(ctx, 2))
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	printed, err := io.ReadAll(out)
	require.NoError(t, err)
	require.Empty(t, printed)
	require.Error(t, cmd.Wait())
	require.Equal(t, 130, cmd.ProcessState.ExitCode())
}

// chat returns the command `holdfast chat` for this home.
func (h *home) chat(ctx context.Context, t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	path, err := binary()
	require.NoError(t, err)
	cmd := exec.CommandContext(ctx, path, append([]string{"chat"}, args...)...)
	cmd.Env = h.environ
	cmd.Stderr = t.Output()
	return cmd
}
