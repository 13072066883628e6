//go:build peers

package qqtest_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/qq/qqtest"
)

// TestPeerBot runs a bot with a library by somebody else against the server.
func TestPeerBot(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("HOLDFAST_PEERS")
	require.NotEmpty(t, dir, "run this with `make peers`")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s := qqtest.Start(t, qqtest.Heartbeat(100*time.Millisecond))
	cmd := exec.CommandContext(ctx, "node", "testdata/bot.js")
	cmd.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(dir, "node_modules"), "QQ_URL="+s.URL(), "QQ_APP_ID="+qqtest.AppID, "QQ_SECRET="+qqtest.Secret)
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	go func() {
		for lines.Scan() {
			t.Log(lines.Text())
		}
	}()
	require.NoError(t, s.AwaitConnections(ctx, 1))

	answers := func(chat, text string) qqtest.Sent {
		before := len(s.Sent())
		asked := s.Say(chat, qqtest.Ana, text)
		require.NoError(t, s.Await(ctx, func() bool { return len(s.Sent()) > before }))
		got := s.Sent()[before]
		require.Equal(t, asked.ID, got.ReplyTo)
		require.Equal(t, chat, got.Chat)
		return got
	}
	require.Equal(t, "echo: hello", answers(qqtest.AnaChat, "hello").Text)
	require.Equal(t, "echo: hello", answers(qqtest.OpsChat, "hello").Text)
	picture := answers(qqtest.AnaChat, "a picture, please")
	require.Equal(t, []any{7, 1, "a picture"}, []any{picture.Type, picture.FileType, string(picture.Content)})

	before := s.Connections()
	s.Disconnect(4009)
	require.NoError(t, s.AwaitConnections(ctx, before+1))
	require.True(t, strings.HasPrefix(answers(qqtest.AnaChat, "again").Text, "echo: again"))
}
