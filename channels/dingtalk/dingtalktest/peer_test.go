//go:build peers

package dingtalktest_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/dingtalk/dingtalktest"
)

// peersVariable names the folder that `make peers` installs the counterparts in.
const peersVariable = "HOLDFAST_PEERS"

// TestPeerDingTalkStream runs a bot that uses DingTalk's own Node library against the server:
// its connections, pushes with their answers, pings and clicks.
func TestPeerDingTalkStream(t *testing.T) {
	t.Parallel()
	dir := os.Getenv(peersVariable)
	require.NotEmpty(t, dir, "run this with `make peers`")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s := dingtalktest.Start(t)

	cmd := exec.CommandContext(ctx, "node", "testdata/bot.mjs")
	cmd.Env = append(os.Environ(), "PEERS="+dir, "DINGTALK_URL="+s.URL(), "CLIENT_ID="+dingtalktest.ClientID, "CLIENT_SECRET="+dingtalktest.ClientSecret)
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	clicks := make(chan string, 10)
	go func() {
		for scanner := bufio.NewScanner(out); scanner.Scan(); {
			if click, is := strings.CutPrefix(scanner.Text(), "click "); is {
				clicks <- click
			}
		}
	}()
	connected := func(n int) { require.NoError(t, s.Await(ctx, func() bool { return s.Connections() == n })) }

	connected(1)
	require.NoError(t, s.Say(dingtalktest.Ana, "Grüße").Wait(ctx))
	require.Equal(t, "echo: Grüße", s.Posts()[0].Text)
	require.NoError(t, s.Click(dingtalktest.Ana, "card-1", "approve").Wait(ctx))
	require.Equal(t, "card-1 "+dingtalktest.Ana+" approve", <-clicks)
	s.Send(map[string]any{"type": "SYSTEM", "headers": map[string]any{"topic": "ping", "messageId": "p1"}, "data": `{"opaque":"x1"}`})
	require.NoError(t, s.Await(ctx, func() bool { return s.Answer("p1") == `{"opaque":"x1"}` }))

	s.Leave(10 * time.Millisecond)
	connected(0)
	connected(1)
	require.NoError(t, s.Say(dingtalktest.Ana, "again").Wait(ctx))
	s.Cut()
	connected(0)
	connected(1)
	require.NoError(t, s.Say(dingtalktest.Ana, "and again").Wait(ctx))
	require.Len(t, s.Posts(), 3)
}
