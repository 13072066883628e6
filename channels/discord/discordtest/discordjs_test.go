//go:build peers

package discordtest_test

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

	"github.com/holdfast-ai/holdfast/channels/discord/discordtest"
)

// startDiscordJS runs the bot in testdata and waits until it is connected.
func startDiscordJS(t *testing.T, s *discordtest.Server) {
	t.Helper()
	dir := os.Getenv("HOLDFAST_PEERS")
	require.NotEmpty(t, dir, "run this with `make peers`")
	cmd := exec.CommandContext(t.Context(), "node", "testdata/discordjs.js")
	cmd.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(dir, "node_modules"), "DISCORD_API="+strings.TrimSuffix(s.APIURL(), "/v10"), "DISCORD_TOKEN="+discordtest.Token)
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	ready := make(chan struct{})
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if lines.Text() == "ready" {
				close(ready)
			}
		}
	}()
	select {
	case <-ready:
	case <-time.After(time.Minute):
		require.FailNow(t, "the bot does not start")
	}
}

// TestPeerDiscordJS runs a bot that uses discord.js against the server.
func TestPeerDiscordJS(t *testing.T) {
	t.Parallel()
	s := discordtest.Start(t)
	startDiscordJS(t, s)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	answers := func(channel string, n int) []discordtest.Message {
		t.Helper()
		require.Eventually(t, func() bool { return len(s.Ours(channel)) >= n }, time.Minute, 5*time.Millisecond)
		return s.Ours(channel)
	}
	require.Equal(t, []string{"status"}, s.Commands())

	asked := s.Say(discordtest.Ana, discordtest.General, discordtest.Mention+" may you?")
	require.Eventually(t, func() bool { return answers(discordtest.General, 1)[0].Content == "May I, please?" }, time.Minute, 5*time.Millisecond,
		"the same nonce is the same message, which is in the history")
	question := answers(discordtest.General, 1)[0]
	require.False(t, question.Pinged)
	require.Equal(t, asked.ID, question.Reference.MessageID)
	require.Len(t, s.Messages(discordtest.General)[0].Reactions["👀"], 1)
	require.Len(t, s.Calls("POST", "/typing"), 1)
	kind, _, err := s.Click(discordtest.Ana, discordtest.General, question.ID, "approve:a1").Answer(ctx)
	require.NoError(t, err)
	require.Equal(t, 6, kind)
	require.Eventually(t, func() bool { return s.Ours(discordtest.General)[0].Content == "approve:a1 by ana" }, time.Minute, 5*time.Millisecond)

	kind, text, err := s.Command(discordtest.Ana, discordtest.General, "status", "").Answer(ctx)
	require.NoError(t, err)
	require.Equal(t, 5, kind)
	require.Equal(t, "on it", text)
	kind, text, err = s.Command(discordtest.Ana, s.Direct(discordtest.Ana), "status", "").Answer(ctx)
	require.NoError(t, err)
	require.Equal(t, 4, kind)
	require.Equal(t, "idle", text)

	s.Say(discordtest.Ana, discordtest.General, discordtest.Mention+" read", discordtest.WithFile("a.txt", "text/plain", "some text"))
	file := answers(discordtest.General, 2)[1]
	require.Equal(t, "SOME TEXT", string(file.Attachments[0].Content))
	require.Equal(t, "upper.txt", file.Attachments[0].Filename)

	s.Say(discordtest.Ana, s.Direct(discordtest.Ana), "hello")
	require.Equal(t, "psst", answers(s.Direct(discordtest.Ana), 1)[0].Content)
	thread := s.OpenThread(discordtest.Ana, discordtest.General, "", "plans")
	s.Say(discordtest.Ana, thread, "hello")
	require.Equal(t, "in plans of #general", answers(thread, 1)[0].Content)

	s.CloseWith(4000)
	s.Say(discordtest.Ana, thread, "while it is gone")
	answers(thread, 2)
	_, resumed := s.Sessions()
	require.Equal(t, 1, resumed)
	s.Move()
	s.Say(discordtest.Ana, thread, "while it moves")
	answers(thread, 3)
	s.CloseWith(4009)
	require.NoError(t, s.AwaitSessions(ctx, 2, 0))
	s.Say(discordtest.Ana, thread, "in a new session")
	answers(thread, 4)
}
