//go:build peers

package slacktest_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
)

// peersVariable names the folder that `make peers` installs the counterparts in.
const peersVariable = "HOLDFAST_PEERS"

// startBolt runs the bot in testdata and waits until it takes events.
func startBolt(t *testing.T, s *slacktest.Server, mode string) {
	t.Helper()
	dir := os.Getenv(peersVariable)
	require.NotEmpty(t, dir, "run this with `make peers`")
	cmd := exec.CommandContext(t.Context(), "node", "testdata/bolt.js", mode)
	cmd.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(dir, "node_modules"), "SLACK_API_URL="+s.APIURL(),
		"SLACK_BOT_TOKEN="+slacktest.BotToken, "SLACK_APP_TOKEN="+slacktest.AppToken, "SLACK_SIGNING_SECRET="+slacktest.SigningSecret)
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})

	ready := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if port, is := strings.CutPrefix(lines.Text(), "ready "); is {
				ready <- port
			}
		}
	}()
	select {
	case port := <-ready:
		if port != "0" {
			s.ServeEvents("http://127.0.0.1:" + port + "/slack/events")
			require.NoError(t, s.Challenge(t.Context()))
		}
	case <-bounded(t).Done():
		require.FailNow(t, "the bot does not start")
	}
}

// TestBolt runs a bot that uses Slack's Node library against the server.
func TestBolt(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"socket", "http"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := slacktest.Start(t)
			startBolt(t, s, mode)
			ctx := bounded(t)
			answers := func(d slacktest.Delivery) []slacktest.Message {
				require.NoError(t, d.Wait(ctx))
				require.NoError(t, s.Await(ctx, func() bool { return len(s.Thread(slacktest.General, d.TS)) > 1 }))
				return s.Thread(slacktest.General, d.TS)[1:]
			}

			asked := s.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" may you?")
			question := answers(asked)[0]
			require.Equal(t, "reply", question.Metadata.EventType)
			require.NoError(t, s.Await(ctx, func() bool { return len(s.Message(slacktest.General, asked.TS).Reactions) == 1 }), "it finds what it said")

			require.NoError(t, s.Click(slacktest.Ana, slacktest.General, question.TS, "approve", "a1").Wait(ctx))
			approved := func() bool {
				return s.Message(slacktest.General, question.TS).Text == "a1 approved by <@"+slacktest.Ana+">"
			}
			require.NoError(t, s.Await(ctx, approved))

			require.NoError(t, s.Slash(slacktest.Ana, slacktest.Secret, "/holdfast", "status").Wait(ctx))
			require.Equal(t, "on it: status", s.Channel(slacktest.Secret)[0].Text)

			file := answers(s.Say(slacktest.Ana, slacktest.General, "upload"))[0]
			require.Equal(t, "a,b\n1,2", string(file.Files[0].Content))
			require.Equal(t, "The report", file.Files[0].Title)

			stream := answers(s.Say(slacktest.Ana, slacktest.General, "stream"))[0]
			require.NoError(t, s.Await(ctx, func() bool { return !s.Message(slacktest.General, stream.TS).Streaming }))
			stream = s.Message(slacktest.General, stream.TS)
			require.Equal(t, "one two three", stream.Text)
			require.Equal(t, "reply", stream.Metadata.EventType)
			require.Equal(t, slacktest.Ana, stream.Recipient)

			s.Disconnect(slacktest.Refresh)
			answers(s.Say(slacktest.Ana, slacktest.General, "upload once more"))
		})
	}
}
